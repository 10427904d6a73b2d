/* events.js: what happens on the server, told to every tab. A browser opens six connections to a server at most, and a stream holds one: so
 * one tab, the one that has the lock, listens, and tells the others; when it closes, the lock passes on. */
import { read } from "./event_stream.js";

const NAME = "rvm.events";
const TOPICS = "/events?topics=run,live,program";
const AGAIN_MS = [500, 1000, 2000, 5000];

const channel = new BroadcastChannel(NAME);
const listeners = new Map();

/* take(data) for each event of that name: run, live, program, or open and closed for the stream itself. */
export function on(name, take) {
    listeners.set(name, [...(listeners.get(name) ?? []), take]);
}

const tell = (message) => (listeners.get(message.event) ?? []).forEach((take) => take(message.data));
channel.onmessage = (e) => tell(e.data);

const pass = (message) => (channel.postMessage(message), tell(message));

async function listen() {
    let last = null;
    for (let failures = 0; ; failures++) {
        try {
            await read(TOPICS, last, undefined, (e) => {
                failures = 0;
                if (e.id) last = e.id;
                pass({ event: e.event, data: e.data ? JSON.parse(e.data) : null });
            });
        } catch (error) {
            pass({ event: "closed", data: { status: error.status ?? 0 } });
            if (error.status === 404) return new Promise(() => {}); /* a server without a stream */
        }
        await new Promise((r) => setTimeout(r, AGAIN_MS[Math.min(failures, AGAIN_MS.length - 1)]));
    }
}

/* Locks are there for secure pages only, which those of this machine are: elsewhere each tab listens itself. */
export function begin() {
    if (navigator.locks) navigator.locks.request(NAME, listen).catch(() => {});
    else listen();
}

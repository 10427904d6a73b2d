/* event_stream.js: Server-Sent Events by fetch, since an EventSource sends no token. */
import { request } from "./api.js";

/* One event: its fields. Lines that begin with a colon are heartbeats. */
function parse(block) {
    const event = { event: "message", data: "", id: null };
    for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        if (colon < 1) continue;
        const field = line.slice(0, colon);
        const value = line.slice(colon + 1).replace(/^ /, "");
        event[field] = field === "data" && event.data ? `${event.data}\n${value}` : value;
    }
    return event.data ? event : null;
}

/* Reads events until the stream ends; the last id that was seen is told by each. */
export async function read(path, last, signal, take) {
    const response = await request("GET", path, undefined, undefined, signal, last ? { "Last-Event-ID": last } : {});
    if (!response.ok || !response.body) throw Object.assign(new Error("no stream"), { status: response.status });
    take({ event: "open" });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        blocks.map(parse).forEach((e) => e && take(e));
    }
}

/* session.js: a run that stands still on the server, and is moved: time travel. One move is on its way at a time; of those that are asked for
 * meanwhile, steps add up and the last place to go to wins. */
import { batch, computed, signal } from "@preact/signals";
import * as s from "./state.js";
import * as api from "./api.js";
import { kindOf } from "./kinds.js";
import { remember } from "./permalink.js";
import { toText } from "./values.js";

/* {id, kind, fn, program, source, forward, swept}: instructions of each leg; null: none is open. */
export const session = signal(null);
/* Where it stands: {at, swept, frames, places, reached, error, why}, and what it showed before, to tell what changed. */
export const here = signal(null);
export const before = signal(null);
export const direction = signal(1); /* of the last move */
/* Which way the counter went: a sweep goes on by going back. */
export const facing = computed(() => (here.value?.swept ? -direction.value : direction.value));
export const stops = signal([]); /* {line, condition: "" or an expression}, in order of lines */
export const bookmarks = signal([]); /* {at, swept, line} */
export const visited = signal([]); /* the last positions */
export const busy = signal(false);

const VISITED = 40;
const LINK_MS = 200;

export const line = computed(() => (session.value?.source === s.source.value ? (here.value?.frames[0]?.line ?? 0) : 0));
export const canTravel = () => s.has("POST /sessions") && /^(run|backward|grad)$/.test(kindOf(s.kind.value).id);

function standing(answer) {
    if (!answer.position) throw new api.ApiError(400, answer);
    return { ...answer.position, frames: answer.frames ?? [], places: answer.places ?? [], reached: answer.reached, error: answer.ok === false ? answer.error : null, why: answer.why };
}

/* Further is later in the run: the second leg is behind the first. */
const after = (a, b) => (a.swept === b.swept ? a.at - b.at : a.swept ? 1 : -1);

function arrive(answer) {
    const now = standing(answer);
    const then = here.value;
    batch(() => {
        if (then && after(now, then)) direction.value = Math.sign(after(now, then));
        before.value = then;
        here.value = now;
        visited.value = [...visited.value, { at: now.at, swept: now.swept }].slice(-VISITED);
    });
    link();
}

/* The address leads to the position, where a run of the server is the same call; behind the last of many moves. */
let linking = 0;
function link() {
    clearTimeout(linking);
    linking = setTimeout(() => session.value?.run && here.value && remember(session.value.run, here.value), LINK_MS);
}

async function ask(what) {
    const start = performance.now();
    arrive(await api.move(session.value.id, what));
    performance.measure("move", { start });
}

/* ---- moves ---- */

let pending = null;

const merged = (a, b) => (a && "by" in a && "by" in b ? { by: a.by + b.by } : a && "lines" in a && "lines" in b ? { lines: a.lines + b.lines } : b);

/* The last leg is known once the run was gone through, which what is asked for meanwhile waits for. */
const resolved = (what) => (what.last ? { to: "end", swept: session.value.kind === "grad" && session.value.swept > 0 } : what);

async function movePending() {
    while (pending) {
        const next = pending;
        pending = null;
        await ask(resolved(next));
    }
}

/* {last: true}: to the end of all | {to, swept} | {by} | {lines} | {run: "forward" or "backward"} | {write: place} */
export async function move(what) {
    if (!session.value) return;
    pending = merged(pending, what);
    if (busy.value) return;
    busy.value = true;
    try {
        await movePending();
    } catch (error) {
        lost(error);
    } finally {
        busy.value = false;
    }
}

/* A session ends when nobody asks it anything for some time. */
function lost(error) {
    pending = null;
    if (error.status !== 404 && error.status !== 410) return void (s.announced.value = error.message);
    close();
    s.announced.value = "The session has ended; open it again.";
}

/* ---- opening ---- */

/* What ends a run that could go on. */
const isLimit = (error) => /^(FUEL|CANCELLED)$/.test(error?.code ?? "");

/* Goes through one leg, and notes its length under that name: the answer where it ended. */
async function measureLeg(name, to) {
    const answer = await api.move(session.value.id, to);
    const { at, error } = standing(answer);
    session.value = { ...session.value, [name]: Math.abs(at), failed: !!error && !isLimit(error) };
    if (isLimit(error)) s.announced.value = `The run is longer: ${error.message}`;
    return answer;
}

/* Goes through the run once, so that the timeline knows its length; where that fails, it stops there. Shown is only where it ends: a position
 * that went by would be taken for one to go on from. */
async function measure() {
    const { kind } = session.value;
    const end = await measureLeg("forward", { to: kind === "backward" ? "start" : "end" });
    return kind === "grad" && end.ok !== false ? measureLeg("swept", { to: "end", swept: true }) : end;
}

const texts = (args) => JSON.stringify(Object.entries(args).map(([k, v]) => [k, typeof v === "string" ? v : toText(v)]));

/* The run that is shown, if that is the same call. */
export function runOf(call) {
    const run = s.run.value;
    const same = run?.id && ["program", "fn", "kind", "of", "wrt"].every((k) => (run[k] ?? "") === (call[k] ?? "")) && texts(run.args) === texts(call.args);
    return same ? run : null;
}

/* call: as a run's {program, fn, kind, args, of, wrt}. Stands at a position, or at the failure where the run fails, or at the start. */
export async function openSession(call, at = null) {
    await close();
    pending = null;
    busy.value = true;
    try {
        const opened = await api.openSession(call);
        if (opened.ok === false) throw new api.ApiError(422, opened);
        batch(() => {
            session.value = { ...call, id: opened.id, run: runOf(call), source: s.source.value, forward: 0, swept: 0 };
            visited.value = [];
            bookmarks.value = [];
        });
        const end = await measure();
        if (stops.value.length) await sendStops();
        direction.value = call.kind === "backward" ? -1 : 1;
        if (at || !session.value.failed) await ask({ to: at?.at ?? 0, swept: at?.swept ?? false });
        else arrive(end);
        visited.value = [];
        s.panel.value = "session";
        await movePending().catch(lost); /* what was asked for while it opened */
    } catch (error) {
        if (!here.value) await close();
        s.announced.value = error.message;
        throw error;
    } finally {
        busy.value = false;
    }
}

export async function close() {
    const open = session.value;
    batch(() => ((session.value = null), (here.value = null), (before.value = null)));
    clearTimeout(linking);
    if (open?.run === s.run.value && open?.run) remember(open.run);
    if (open) await api.closeSession(open.id).catch(() => {});
}

/* Who leaves the page leaves no session behind. */
addEventListener("pagehide", () => session.value && api.leaveSession(session.value.id));

/* ---- stops and bookmarks ---- */

const sendStops = () => api.setStops(session.value.id, stops.value);

export const toggleStop = (line) => setStops(stops.value.some((p) => p.line === line) ? stops.value.filter((p) => p.line !== line) : [...stops.value, { line, condition: "" }].sort((a, b) => a.line - b.line));
export const setCondition = (line, condition) => setStops(stops.value.map((p) => (p.line === line ? { line, condition: condition.trim() } : p)));

/* Lines were written before them. */
export const moveStops = (lines) => (stops.value = stops.value.map((p, k) => ({ ...p, line: lines[k] })).filter((p, k) => k === 0 || p.line !== lines[k - 1]));

async function setStops(now) {
    const was = stops.value;
    stops.value = now;
    if (!session.value) return;
    const answer = await sendStops().catch((error) => error.body ?? { ok: false, error });
    if (answer.ok !== false) return;
    stops.value = was;
    s.announced.value = answer.error.message;
    await sendStops().catch(() => {});
}

export function bookmark() {
    const { at, swept } = here.value;
    if (!bookmarks.value.some((b) => b.at === at && b.swept === swept)) bookmarks.value = [...bookmarks.value, { at, swept, line: line.value }];
}

/* ---- the folded line ---- */

/* x of a position, from 0 to forward; the second leg is scaled to the first. */
export function xOf(open, { at, swept }) {
    if (open.kind === "backward") return open.forward + at;
    return swept ? open.forward * (1 - at / Math.max(1, open.swept)) : at;
}

export function positionOf(open, x, swept) {
    if (open.kind === "backward") return { to: Math.round(x) - open.forward, swept: false };
    return swept && open.swept ? { to: Math.round((1 - x / Math.max(1, open.forward)) * open.swept), swept: true } : { to: Math.round(x), swept: false };
}

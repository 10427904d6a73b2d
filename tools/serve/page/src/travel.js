/* travel.js: the panel of a session: its timeline, the buttons that move it, where it stands. */
import { html } from "htm/preact";
import { useMemo, useRef, useState } from "preact/hooks";
import * as s from "./state.js";
import * as t from "./session.js";
import { callOf } from "./actions.js";
import { scales, drawTimeline, drawCursor, drawStop } from "./timeline_draw.js";
import { useCanvas } from "./memory.js";
import { useWidth } from "./use_width.js";
import { folded } from "./timeline_data.js";
import { Places } from "./places.js";
import { Log } from "./line_log.js";
import { Prose } from "./prose.js";
import { count } from "./format.js";
import { showLine } from "./editor.js";

const KEYS = [
    { label: "start", symbol: "|◀", title: "to the start", what: () => ({ to: "start", swept: false }) },
    { label: "back to a stop", symbol: "◀◀", title: "backward, to the last stop before (Alt-,)", what: () => ({ run: "backward" }) },
    { label: "a line back", symbol: "◀", title: "a line backward (Alt-ArrowLeft)", what: () => ({ lines: -1 }) },
    { label: "an instruction back", symbol: "‹", title: "an instruction backward", what: () => ({ by: -1 }) },
    { label: "an instruction", symbol: "›", title: "an instruction forward", what: () => ({ by: 1 }) },
    { label: "a line", symbol: "▶", title: "a line forward (Alt-ArrowRight)", what: () => ({ lines: 1 }) },
    { label: "to a stop", symbol: "▶▶", title: "forward, to the next stop (Alt-.)", what: () => ({ run: "forward" }) },
    { label: "end", symbol: "▶|", title: "to the end", what: () => ({ last: true }) },
];

/* What the machine held makes the ground of the line, where a run of the same call tells; not one that failed, which went back to its start. */
function dataOf(open) {
    const { run } = open;
    const held = run?.profile?.memory?.samples.length > 1 && run.result.ok !== false ? folded(run) : null;
    const flat = (x) => [{ x: 0, held: 1, trail: 0 }, { x, held: 1, trail: 0 }];
    const data = held ?? { most: 1, forward: open.kind === "backward" ? null : flat(open.forward), back: open.kind === "run" ? null : flat(open.forward), backIs: open.kind === "backward" ? "backward" : "swept" };
    return { ...data, back: open.kind === "run" ? null : data.back, extent: Math.max(1, open.forward), plain: !held };
}

const isBelow = (open, p) => open.kind === "backward" || p.swept;

function Line() {
    const open = t.session.value;
    const host = useRef(null);
    const canvas = useRef(null);
    const width = useWidth(host);
    const data = useMemo(() => dataOf(open), [open]);
    const now = t.here.value;
    const paint = (context, colours) => {
        drawTimeline(context, data, width, colours);
        for (const p of t.visited.value) drawStop(context, data, width, t.xOf(open, p), isBelow(open, p), colours.muted, 2);
        for (const b of t.bookmarks.value) drawStop(context, data, width, t.xOf(open, b), isBelow(open, b), colours.bad, 5);
        if (now) drawCursor(context, data, width, t.xOf(open, now), isBelow(open, now), colours.text, t.facing.value);
    };
    useCanvas(canvas, width, paint, [data, now, t.direction.value, t.bookmarks.value]);
    const seek = (e) => {
        const at = scales(data, width);
        t.move(t.positionOf(open, at.count(e.offsetX), !!data.back && (!data.forward || e.offsetY > at.axis)));
    };
    const key = (e) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
        if (!by || e.altKey) return;
        e.preventDefault();
        t.move({ by: by * (e.shiftKey ? Math.max(1, Math.round(open.forward / 20)) : 1) });
    };
    return html`<div ref=${host} class="timeline"><canvas ref=${canvas} tabindex="0" role="application" aria-label=${`Timeline of ${count(open.forward)} instructions: arrow keys step, with Shift by a twentieth`} onPointerDown=${(e) => (e.target.setPointerCapture(e.pointerId), seek(e))} onPointerMove=${(e) => e.buttons && seek(e)} onKeyDown=${key} /></div>`;
}

/* Where it stands, and where to go: what is being typed stays, whatever arrives meanwhile, until it is entered or left. */
function Position({ now }) {
    const [typed, setTyped] = useState(null);
    const enter = (e) => (setTyped(null), t.move({ to: Number(e.target.value), swept: now.swept }));
    return html`<input class="mono position" aria-label="Position" value=${typed ?? String(now.at)} onInput=${(e) => setTyped(e.target.value)} onChange=${enter} onBlur=${() => setTyped(null)} />`;
}

function Where() {
    const now = t.here.value;
    const open = t.session.value;
    const frame = now.frames[0];
    const back = t.facing.value < 0;
    return html`<div class="where"><span class=${back ? "way back" : "way"}>${now.swept ? (back ? "◀ sweeping back" : "the sweep undone ▶") : back ? "◀ backward" : "forward ▶"}</span>
        <label>${now.swept ? "swept" : "at"} <${Position} now=${now} /></label><span class="quiet">of ${count(now.swept ? open.swept : open.forward)}</span>
        ${frame && html`<span><code>${frame.function}</code>${frame.line ? html`, <button class="link" onClick=${() => showLine(frame.line)}>line ${frame.line}</button>` : ""}</span>`}
        ${now.frames.length > 1 && html`<span class="quiet">called by ${now.frames.slice(1).map((f) => html`<code>${f.function}</code>${f.line ? `:${f.line}` : ""} `)}</span>`}
        <button class="small" onClick=${t.bookmark}>Bookmark</button>
        ${t.bookmarks.value.map((b) => html`<button class="small" onClick=${() => t.move({ to: b.at, swept: b.swept })}>⚑ ${count(b.at)}${b.line ? `, line ${b.line}` : ""}</button>`)}</div>`;
}

/* Lines at which it stops, each with a condition over the places there. */
function Stops() {
    return html`<div class="stops"><h4>Stops</h4>${t.stops.value.length ? null : html`<span class="quiet">none: click beside the number of a line, or press Alt-s in the editor</span>`}
        ${t.stops.value.map((p) => html`<span key=${p.line} class="stop-entry"><button class="link" onClick=${() => showLine(p.line)}>line ${p.line}</button> <label>if <input class="mono" placeholder="always" aria-label=${`Condition of the stop at line ${p.line}`} value=${p.condition} onChange=${(e) => t.setCondition(p.line, e.target.value)} /></label><button class="small" aria-label=${`Remove the stop at line ${p.line}`} onClick=${() => t.toggleStop(p.line)}>✕</button></span>`)}</div>`;
}

export function Travel() {
    const open = t.session.value;
    if (open && !t.here.value) return html`<p role="status">Goes through the run once, to know its length …</p>`;
    if (!open)
        return html`<div><p>Hold the run still, and move through it both ways: each position is a number, and what changed is marked.</p>
            <p class="next"><button disabled=${!s.program.value?.ok || !t.canTravel() || t.busy.value} onClick=${() => t.openSession(callOf(s.program.value)).catch(() => {})}>Step through this call</button></p></div>`;
    const error = t.here.value.error;
    return html`<div class="travel"><h3 class="mono title">${open.fn} <span class="quiet">${open.kind}</span> <button class="small" onClick=${() => t.openSession(callOf(s.program.value)).catch(() => {})}>Again, as called above</button> <button class="small" onClick=${t.close}>Close</button></h3>
        <${Line} />
        <div class="keys-row" role="group" aria-label="Move">${KEYS.map((k) => html`<button class="small" title=${k.title} aria-label=${k.label} onClick=${() => t.move(k.what())}>${k.symbol}</button>`)}</div>
        <${Where} />
        ${error && html`<div class="failure" role="alert"><p class="code">${error.code}</p><p class="message"><${Prose} text=${error.message} /></p>${open.failed && html`<p class="hint">The run stands before the instruction that failed. Go back from here: a line at a time, to a stop, or to where a place was written last.</p>`}</div>`}
        ${t.here.value.why && html`<p class="why" role="alert"><${Prose} text=${t.here.value.why} /></p>`}
        <${Stops} />
        <${Places} />
        <${Log} />
        ${open.kind !== "backward" && s.real.value !== "fix" && html`<p class="quiet small-print">A position is always reached on the way forward, from a kept state: so it is the same, bit for bit, however you come to it.</p>`}</div>`;
}

/* memory.js: what the machine held while it ran. That both legs stay low and level is the point of running backward. */
import { html } from "htm/preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import * as s from "./state.js";
import { bytes, count } from "./format.js";
import { scheme } from "./scheme.js";
import { modePatterns } from "./modes.js";
import { folded } from "./timeline_data.js";
import { drawTimeline, drawCursor, scales, HEIGHT } from "./timeline_draw.js";
import { useWidth } from "./use_width.js";

export function timelineColours(context) {
    const style = getComputedStyle(document.documentElement);
    const c = (n) => style.getPropertyValue(n).trim();
    const ink = { forward: c("--forward-ink"), backward: c("--backward-ink"), swept: c("--swept-ink") };
    return { muted: c("--muted"), line: c("--line"), text: c("--text"), bad: c("--bad"), font: `12px ${c("--sans")}`, fill: modePatterns(context, style), ink };
}

/* The last point of a leg at or before x. */
function pointAt(points, x) {
    let low = 0;
    let high = points.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (points[middle].x <= x) low = middle;
        else high = middle - 1;
    }
    return points[low];
}

const told = (data, x) => {
    const parts = [`${count(Math.round(x))} instructions from the start`];
    if (data.forward) parts.push(`going forward it held ${bytes(pointAt(data.forward, x).held)}`);
    if (data.back) parts.push(`on the way back ${bytes(pointAt(data.back, x).held)}`);
    return parts.join("; ");
};

/* A canvas that is given its size is made anew, so only where that differs. */
function sized(c, width) {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(HEIGHT * ratio)];
    if (c.width !== w || c.height !== h) {
        [c.width, c.height] = [w, h];
        c.style.width = `${width}px`;
        c.style.height = `${HEIGHT}px`;
    }
    const context = c.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

/* Of the scheme at hand, for all canvases. */
let colours = null;
const coloursOf = (context) => (colours?.scheme === scheme.value ? colours : (colours = { scheme: scheme.value, ...timelineColours(context) }));

export function useCanvas(canvas, width, paint, depends) {
    useLayoutEffect(() => {
        const context = sized(canvas.current, width);
        paint(context, coloursOf(context));
    }, [width, scheme.value, ...depends]);
}

function Chart({ run }) {
    const host = useRef(null);
    const canvas = useRef(null);
    const width = useWidth(host);
    const data = useMemo(() => folded(run), [run]);
    const [x, setX] = useState(null);
    const draw = (context, colours) => {
        drawTimeline(context, data, width, colours);
        if (x === null) return;
        if (data.forward) drawCursor(context, data, width, x, false, colours.ink.forward);
        if (data.back) drawCursor(context, data, width, x, true, colours.ink[data.backIs]);
    };
    useCanvas(canvas, width, draw, [data, x]);
    const key = (e) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
        if (!by) return;
        e.preventDefault();
        setX(Math.max(0, Math.min(data.extent, (x ?? 0) + (by * data.extent) / 50)));
    };
    return html`<div ref=${host} class="timeline"><canvas ref=${canvas} tabindex="0" role="application" aria-label="Memory over the run: left and right arrow keys move along it" onMouseMove=${(e) => setX(scales(data, width).count(e.offsetX))} onMouseLeave=${() => setX(null)} onKeyDown=${key} />
        <p class="told" aria-live="polite">${x === null ? "" : told(data, x)}</p></div>`;
}

export function Memory() {
    const run = s.run.value;
    const memory = run?.profile?.memory;
    if (!memory || memory.samples.length < 2) return html`<p class="quiet">A run of some length shows here what the machine held at each moment.</p>`;
    return html`<div><p>What the machine held at each moment of the program${run.kind === "grad" ? ": above on the way forward, below on the way back, where derivatives are gathered" : ""}. The trail, which is what a tape would be, held <b>${bytes(memory.peak.trail)}</b> at most.</p><${Chart} run=${run} /></div>`;
}

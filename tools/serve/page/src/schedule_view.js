/* schedule_view.js: the moves of a schedule (docs/schedules.md) as a picture: time to the right, states upward, a bar as long as a place holds
 * a state. Where a program plays a schedule, that is what its run did. */
import { html } from "htm/preact";

const FORWARD = 0;
const UNCOMPUTE = 1;
const CELL = 12;
const PITCH = 14;

/* Reversible moves alone: {bars: [{state, from, to}], time, states}, or null. */
export function barsOf(moves) {
    if (!Array.isArray(moves) || !moves.length || !moves.every((m) => Array.isArray(m) && m.length === 4 && (m[0] === FORWARD || m[0] === UNCOMPUTE))) return null;
    const open = new Map([[0, { state: 0, from: 0 }]]);
    const bars = [];
    moves.forEach(([kind, row, , state], k) => {
        if (kind === FORWARD) open.set(row, { state, from: k });
        else if (open.has(row)) bars.push({ ...open.get(row), to: k + 1 }), open.delete(row);
    });
    for (const bar of open.values()) bars.push({ ...bar, to: moves.length });
    return { bars, time: moves.length, states: Math.max(...bars.map((b) => b.state)) };
}

export function Schedule({ moves }) {
    const s = barsOf(moves);
    if (!s || s.time > 4000) return null;
    const height = (s.states + 1) * PITCH;
    const y = (state) => height - (state + 1) * PITCH + 1;
    const most = Math.max(...Array.from({ length: s.time }, (_, k) => s.bars.filter((b) => b.from <= k && k < b.to).length));
    return html`<figure class="schedule"><div class="scroll" tabindex="0" role="region" aria-label="The schedule"><svg width=${s.time * CELL + 70} height=${height + 20} role="img" aria-label=${`States 0 to ${s.states} over ${s.time} moves, at most ${most} at a time`}>
        ${s.bars.map((b) => html`<rect class="pebble" x=${60 + b.from * CELL} y=${y(b.state)} width=${(b.to - b.from) * CELL - 1} height=${PITCH - 3} rx="3" />`)}
        ${Array.from({ length: s.states + 1 }, (_, k) => html`<text x="52" y=${y(k) + 10} class="axis-text">${k ? `state ${k}` : "start"}</text>`)}
        </svg></div><figcaption>${s.time} runs of the step, time to the right: a bar as long as a state is held. Half of them run the step backward, which frees a place; at most ${most} of ${s.states + 1} states are there at a time.</figcaption></figure>`;
}

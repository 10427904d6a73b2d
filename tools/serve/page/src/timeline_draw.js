/* timeline_draw.js: the folded timeline on a canvas:
 *
 *        memory ▲  forward  ───────────────▶ ╮
 *        ───────┼───────────────────────────  │ the run turns
 *               ▼  back     ◀─────────────── ╯
 */
import { bytes, short } from "./format.js";
import { ticks, byteTicks } from "./ticks.js";

export const MARGIN = { left: 76, right: 26, top: 12, bottom: 26 };
export const HEIGHT = 220;

/* Between what is drawn and what it stands for. */
export function scales(data, width) {
    const inner = width - MARGIN.left - MARGIN.right;
    const { forward, back } = data;
    const usable = HEIGHT - MARGIN.top - MARGIN.bottom;
    const axis = MARGIN.top + usable * (forward && back ? 0.5 : forward ? 1 : 0);
    const reach = (forward && back ? usable / 2 : usable) - 8;
    return {
        axis,
        x: (n) => MARGIN.left + (n / data.extent) * inner,
        count: (px) => Math.max(0, Math.min(data.extent, ((px - MARGIN.left) / inner) * data.extent)),
        y: (amount, below) => axis + (below ? 1 : -1) * (amount / data.most) * reach,
        inner,
    };
}

function leg(context, points, at, below, fill, line, of) {
    const path = new Path2D();
    points.forEach((p, k) => {
        if (k) path.lineTo(at.x(p.x), at.y(of(points[k - 1]), below));
        path[k ? "lineTo" : "moveTo"](at.x(p.x), at.y(of(p), below));
    });
    const area = new Path2D(path);
    area.lineTo(at.x(points[points.length - 1].x), at.axis);
    area.lineTo(at.x(points[0].x), at.axis);
    context.fillStyle = fill;
    context.fill(area);
    context.strokeStyle = line;
    context.lineWidth = 1.6;
    context.stroke(path);
}

function axes(context, data, at, width, colours) {
    context.strokeStyle = context.fillStyle = colours.muted;
    context.font = colours.font;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    for (const below of data.plain ? [] : [false, true]) {
        if (!(below ? data.back : data.forward)) continue;
        for (const t of byteTicks(data.most, 3)) {
            const y = Math.round(at.y(t, below)) + 0.5;
            context.strokeStyle = colours.line;
            context.beginPath(), context.moveTo(MARGIN.left, y), context.lineTo(width - MARGIN.right, y), context.stroke();
            context.textAlign = "right";
            if (t || !below) context.fillText(bytes(t), MARGIN.left - 6, y);
        }
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const t of ticks(data.extent, Math.max(2, Math.floor(at.inner / 110)))) context.fillText(short(t), at.x(t), HEIGHT - MARGIN.bottom + 8);
    context.strokeStyle = colours.text;
    context.beginPath(), context.moveTo(MARGIN.left, at.axis + 0.5), context.lineTo(width - MARGIN.right, at.axis + 0.5), context.stroke();
}

/* The arc at the right where the run turns back. */
function turn(context, at, width, colours) {
    const x = width - MARGIN.right + 3;
    const r = 15;
    context.strokeStyle = colours.text;
    context.lineWidth = 1.6;
    context.beginPath(), context.arc(x, at.axis, r, -Math.PI / 2, Math.PI / 2), context.stroke();
    context.beginPath(), context.moveTo(x + 5, at.axis + r - 5), context.lineTo(x, at.axis + r), context.lineTo(x + 5, at.axis + r + 5), context.stroke();
}

export function drawTimeline(context, data, width, colours) {
    const at = scales(data, width);
    context.clearRect(0, 0, width, HEIGHT);
    if (data.forward?.length) leg(context, data.forward, at, false, colours.fill.forward, colours.ink.forward, (p) => p.held);
    if (data.back?.length) leg(context, data.back, at, true, colours.fill[data.backIs], colours.ink[data.backIs], (p) => p.held);
    axes(context, data, at, width, colours);
    if (data.forward && data.back) turn(context, at, width, colours);
    for (const [leg, below] of [[data.forward, false], [data.back, true]])
        if (leg?.some((p) => p.trail)) trail(context, leg, at, below, colours);
}

function trail(context, points, at, below, colours) {
    context.strokeStyle = colours.bad;
    context.setLineDash([3, 3]);
    context.beginPath();
    points.forEach((p, k) => context[k ? "lineTo" : "moveTo"](at.x(p.x), at.y(p.trail, below)));
    context.stroke();
    context.setLineDash([]);
}

/* A line at x on the side of its leg, with a head that says the direction. */
export function drawCursor(context, data, width, x, below, colour, direction = 0) {
    const at = scales(data, width);
    const px = at.x(x);
    const end = below ? HEIGHT - MARGIN.bottom : MARGIN.top;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2;
    context.beginPath(), context.moveTo(px, at.axis), context.lineTo(px, end), context.stroke();
    const head = 7 * (direction || (below ? -1 : 1));
    context.beginPath(), context.moveTo(px + head, at.axis), context.lineTo(px - head / 3, at.axis - 5), context.lineTo(px - head / 3, at.axis + 5), context.fill();
}

/* A dot on the line: a bookmark, or where one has been. */
export function drawStop(context, data, width, x, below, colour, radius) {
    const at = scales(data, width);
    context.fillStyle = colour;
    context.beginPath(), context.arc(at.x(x), at.axis + (below ? 12 : -12), radius, 0, 2 * Math.PI), context.fill();
}

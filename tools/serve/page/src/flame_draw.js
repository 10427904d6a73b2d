/* flame_draw.js: draws a laid out call tree on a canvas. What is narrower than half a pixel is left out, and of neighbours within one pixel
 * all but the first, so that a frame costs what the screen shows rather than what the tree holds. */
export const ROW = 21;
const NARROW = 0.5;

/* Of a difference: more, less, the same. */
const sign = (change, total) => (Math.abs(change) <= 1e-9 * total ? "same" : change > 0 ? "more" : "less");

export function draw(context, view) {
    const { tree, layout, width, from, span, top, height, paints, selected, found, change } = view;
    const { left, depth } = layout;
    const scale = width / span;
    const reached = new Float64Array(layout.rows).fill(-1);
    context.clearRect(0, 0, width, height);
    context.font = paints.font;
    context.textBaseline = "middle";
    for (let k = 0; k < left.length; k++) {
        const w = tree.total[k] * scale;
        if (w < NARROW) continue;
        const x = (left[k] - from) * scale;
        const y = depth[k] * ROW - top;
        if (x + w < 0 || x > width || y + ROW < 0 || y > height) continue;
        const end = Math.floor(x + w);
        if (w < 1 && end <= reached[depth[k]]) continue;
        reached[depth[k]] = end;
        const kind = change ? sign(change[k], tree.total[k]) : tree.mode[k];
        box(context, Math.max(x, 0), y, Math.min(x + w, width), paints, kind, found && !found.has(tree.name[k]), k === selected);
        if (w > 28) text(context, tree.names[tree.name[k]], Math.max(x, 0), y, Math.min(x + w, width), paints);
    }
}

function box(context, x, y, end, paints, kind, faint, selected) {
    const w = Math.max(1, end - x - (end - x > 3 ? 1 : 0));
    context.globalAlpha = faint ? 0.3 : 1;
    context.fillStyle = paints.fill[kind];
    context.fillRect(x, y, w, ROW - 1);
    context.globalAlpha = 1;
    if (!selected) return;
    context.strokeStyle = paints.ink;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(1, w - 2), ROW - 3);
}

/* Names stand on a plate, or the hatching would run through them. */
function text(context, name, x, y, end, paints) {
    const room = Math.floor((end - x - 10) / paints.letter);
    if (room < 2) return;
    const shown = name.length <= room ? name : `${name.slice(0, room - 1)}…`;
    context.fillStyle = paints.plate;
    context.fillRect(x + 3, y + 3, shown.length * paints.letter + 4, ROW - 7);
    context.fillStyle = paints.ink;
    context.fillText(shown, x + 5, y + ROW / 2);
}

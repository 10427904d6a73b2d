/* modes.js: what an instruction ran for (rvm_profile.h). Each mode has a colour and a hatching, so that neither alone has to carry the
 * meaning; colours are read from the style sheet, which knows the scheme. */
export const MODES = [
    { id: "forward", label: "forward", hatch: "none", what: "runs forward" },
    { id: "compute", label: "compute", hatch: "rising", what: "computes what is taken back later" },
    { id: "undo", label: "undo", hatch: "falling", what: "takes back what compute did" },
    { id: "backward", label: "backward", hatch: "dots", what: "runs backward" },
    { id: "swept", label: "swept", hatch: "cross", what: "runs backward with derivatives" },
];

/* Counts of one mode, of the counter going up and down. */
export const countOf = (own, mode) => (own[mode] ? own[mode][0] + own[mode][1] : 0);
export const sumOf = (own) => MODES.reduce((n, m) => n + countOf(own, m.id), 0);

function hatch(context, kind, ink) {
    context.strokeStyle = context.fillStyle = ink;
    context.lineWidth = 1;
    context.beginPath();
    if (kind === "rising" || kind === "cross") for (let x = -8; x <= 8; x += 8) context.moveTo(x, 8), context.lineTo(x + 8, 0);
    if (kind === "falling" || kind === "cross") for (let x = -8; x <= 8; x += 8) context.moveTo(x, 0), context.lineTo(x + 8, 8);
    context.stroke();
    if (kind === "dots") context.fillRect(1, 1, 2, 2), context.fillRect(5, 5, 2, 2);
}

/* Fills for a canvas: a pattern of 8 by 8 for each mode, by the colours of `style`. */
export function modePatterns(context, style) {
    const ink = style.getPropertyValue("--hatch").trim();
    return Object.fromEntries(
        MODES.map((m) => {
            const tile = document.createElement("canvas");
            tile.width = tile.height = 8;
            const c = tile.getContext("2d");
            c.fillStyle = style.getPropertyValue(`--${m.id}`).trim();
            c.fillRect(0, 0, 8, 8);
            hatch(c, m.hatch, ink);
            return [m.id, context.createPattern(tile, "repeat")];
        }),
    );
}

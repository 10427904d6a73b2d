/* change_patterns.js: fills of a difference: more leans up, less leans down, the same is plain. */
const LEAN = { more: [0, 8, 8, 0], less: [0, 0, 8, 8], same: null };

export function changePatterns(context, style) {
    return Object.fromEntries(
        Object.entries(LEAN).map(([kind, line]) => {
            const tile = document.createElement("canvas");
            tile.width = tile.height = 8;
            const c = tile.getContext("2d");
            c.fillStyle = style.getPropertyValue(`--${kind}`).trim();
            c.fillRect(0, 0, 8, 8);
            c.strokeStyle = style.getPropertyValue("--hatch").trim();
            if (line) c.beginPath(), c.moveTo(line[0], line[1]), c.lineTo(line[2], line[3]), c.stroke();
            return [kind, context.createPattern(tile, "repeat")];
        }),
    );
}

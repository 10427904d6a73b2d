/* numbers.js: a value on the page: a few numbers as they are, each on its colour; many as a picture that tells under the pointer. */
import { html } from "htm/preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { shapeOf } from "./values.js";
import { real, count } from "./format.js";
import { flatten, extent, level, ramp, paint, grid } from "./heat.js";
import { scheme } from "./scheme.js";

const FEW = 32;

function Few({ value, most, coloured }) {
    if (Array.isArray(value)) {
        const nested = Array.isArray(value[0]);
        return html`<span class=${nested ? "rows" : "row"}>${value.map((v) => html`<${Few} value=${v} most=${most} coloured=${coloured} />`)}</span>`;
    }
    const t = coloured ? level(Number(value), most) : 0;
    const cell = useRef(null);
    useLayoutEffect(() => void cell.current.style.setProperty("--level", `${Math.round(100 * Math.abs(t))}%`), [t]);
    return html`<span ref=${cell} class=${`number ${t < 0 ? "negative" : t > 0 ? "positive" : ""}`} title=${String(value)}>${real(value)}</span>`;
}

function indexText(k, shape) {
    const at = [];
    for (let d = shape.length - 1; d >= 0; d--) at.unshift(k % shape[d]), (k = Math.floor(k / shape[d]));
    return `[${at.join(", ")}]`;
}

const summaryOf = ({ most, norm, odd }, shape) => `${shape.map(count).join(" × ")} numbers, up to ${real(most)} in magnitude, norm ${real(norm)}${odd ? `, ${odd} not finite` : ""}`;

function Picture({ name, value, shape }) {
    const canvas = useRef(null);
    const [told, setTold] = useState("");
    const start = performance.now();
    const { data, size } = useMemo(() => {
        const flat = flatten(value, shape);
        return { data: flat, size: extent(flat) };
    }, [value]);
    const { columns, rows } = grid(shape);
    const zoom = Math.max(1, Math.min(24, Math.floor(560 / columns), Math.floor(260 / rows) || 1));
    useLayoutEffect(() => {
        const c = canvas.current.getContext("2d");
        const image = c.createImageData(columns, rows);
        paint(new Uint32Array(image.data.buffer), data, size.most, ramp(getComputedStyle(document.documentElement)));
        c.putImageData(image, 0, 0);
        canvas.current.style.width = `${columns * zoom}px`;
        performance.measure("heat", { start });
    }, [data, scheme.value]);
    const over = (e) => {
        const box = canvas.current.getBoundingClientRect();
        const column = Math.floor(((e.clientX - box.left) / box.width) * columns);
        const row = Math.floor(((e.clientY - box.top) / box.height) * rows);
        const k = row * columns + column;
        setTold(k >= 0 && k < data.length ? `${name}${indexText(k, shape)} = ${data[k]}` : "");
    };
    const summary = summaryOf(size, shape);
    return html`<figure class="picture"><canvas ref=${canvas} width=${columns} height=${rows} role="img" aria-label=${`${name}: ${summary}`} onMouseMove=${over} onMouseLeave=${() => setTold("")} /><figcaption>${told || summary}</figcaption></figure>`;
}

export function Numbers({ name, value, coloured }) {
    const shape = shapeOf(value);
    const n = shape.reduce((a, b) => a * b, 1);
    if (n > FEW) return html`<${Picture} name=${name} value=${value} shape=${shape} />`;
    const most = coloured ? extent(flatten(value, shape)).most : 0;
    return html`<span class="few"><${Few} value=${value} most=${most} coloured=${coloured} /></span>`;
}

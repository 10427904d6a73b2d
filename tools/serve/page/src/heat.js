/* heat.js: numbers as colours: signed, logarithmic, 0 neutral; as many as a million. A picture of one pixel an element is filled and then
 * scaled, so that time is that of a pass over the numbers. */

/* Six decades below the largest magnitude are told apart. */
const DECADES = 6;
const STEPS = 255;

/* Into a flat array; nested lists are rows. NaN stays. */
export function flatten(value, shape) {
    const n = shape.reduce((a, b) => a * b, 1);
    const out = new Float64Array(n);
    let at = 0;
    const walk = (v) => {
        if (!Array.isArray(v)) out[at++] = typeof v === "number" ? v : v === "inf" ? Infinity : v === "-inf" ? -Infinity : Number(v);
        else if (!Array.isArray(v[0]) && typeof v[0] === "number") for (let k = 0; k < v.length; k++) out[at++] = v[k];
        else v.forEach(walk);
    };
    walk(value);
    return out;
}

export function extent(data) {
    let most = 0;
    let least = Infinity;
    let squares = 0;
    let odd = 0;
    for (let k = 0; k < data.length; k++) {
        const a = Math.abs(data[k]);
        if (a > most && a < Infinity) most = a;
        if (a < least && a > 0) least = a;
        if (a < Infinity) squares += a * a;
        else odd++;
    }
    return { most, least: least === Infinity ? 0 : least, norm: Math.sqrt(squares), odd };
}

/* -1 … 1 */
export function level(x, most) {
    if (!x || !most) return 0;
    const t = 1 + Math.log10(Math.abs(x) / most) / DECADES;
    return t <= 0 ? 0 : Math.sign(x) * t;
}

const mix = (a, b, t) => a.map((x, k) => Math.round(x + (b[k] - x) * t));
const parse = (text) => text.match(/[\da-f]{2}/gi).map((h) => parseInt(h, 16));

/* Colours of levels, as pixels: below 0, above it, and last what is no number. */
export function ramp(style) {
    const colour = (name) => parse(style.getPropertyValue(name).trim());
    const zero = colour("--zero");
    const table = new Uint32Array(2 * STEPS + 2);
    const pixel = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    for (let k = -STEPS; k <= STEPS; k++) table[k + STEPS] = pixel(mix(zero, colour(k < 0 ? "--negative" : "--positive"), Math.abs(k) / STEPS));
    table[2 * STEPS + 1] = pixel(colour("--nan"));
    return table;
}

export function paint(pixels, data, most, table) {
    const scale = 1 / (DECADES * Math.LN10);
    const log = Math.log(most);
    for (let k = 0; k < data.length; k++) {
        const x = data[k];
        const a = x < 0 ? -x : x;
        if (!(a < Infinity)) pixels[k] = table[2 * STEPS + 1];
        else {
            const t = a > 0 ? 1 + (Math.log(a) - log) * scale : 0;
            const step = t > 0 ? (t * STEPS + 0.5) | 0 : 0;
            pixels[k] = table[STEPS + (x < 0 ? -step : step)];
        }
    }
}

/* Rows and columns of the picture: a matrix as it is, a vector wrapped where it is long, more dimensions as blocks of rows. */
export function grid(shape) {
    const n = shape.reduce((a, b) => a * b, 1);
    if (shape.length > 1) return { columns: shape[shape.length - 1], rows: n / shape[shape.length - 1] };
    const columns = n <= 128 ? n : Math.ceil(Math.sqrt(n * 4));
    return { columns, rows: Math.ceil(n / columns) };
}

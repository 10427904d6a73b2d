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

/* By the upper bits of a double (sign, exponent, 6 of the mantissa): its colour. So a number costs no logarithm but a look-up. */
const KEPT = 18;
function coloursOfBits(most, table) {
    const colours = new Uint32Array(1 << KEPT);
    const scale = Math.log10(2) / DECADES;
    const top = Math.log2(most);
    for (let bits = 0; bits < colours.length; bits++) {
        const exponent = (bits >> 6) & 0x7ff;
        const t = exponent ? 1 + (exponent - 1023 + MANTISSA[bits & 63] - top) * scale : 0;
        const step = t > 0 ? (Math.min(t, 1) * STEPS + 0.5) | 0 : 0;
        colours[bits] = exponent === 0x7ff ? table[2 * STEPS + 1] : table[STEPS + (bits >> (KEPT - 1) ? -step : step)];
    }
    return colours;
}
const MANTISSA = Float64Array.from({ length: 64 }, (_, k) => Math.log2(1 + (k + 0.5) / 64));

export function paint(pixels, data, most, table) {
    const halves = new Uint32Array(data.buffer, data.byteOffset, 2 * data.length);
    const colours = coloursOfBits(most || 1, table);
    for (let k = 0; k < data.length; k++) pixels[k] = colours[halves[2 * k + 1] >>> (32 - KEPT)];
}

/* Rows and columns of the picture: a matrix as it is, a vector wrapped where it is long, more dimensions as blocks of rows. */
export function grid(shape) {
    const n = shape.reduce((a, b) => a * b, 1);
    if (shape.length > 1) return { columns: shape[shape.length - 1], rows: n / shape[shape.length - 1] };
    const columns = n <= 128 ? n : Math.ceil(Math.sqrt(n * 4));
    return { columns, rows: Math.ceil(n / columns) };
}

/* format.js: numbers and times as people read them. */
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
export const count = (n) => grouped.format(n);

/* Three digits, fewer where they are 0. */
const three = (x) => String(+x.toPrecision(3));

const PREFIXES = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
];
export function short(n) {
    for (const [size, prefix] of PREFIXES) if (n >= size) return `${three(n / size)} ${prefix}`;
    return three(n);
}

export function bytes(n) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let k = 0;
    while (n >= 1024 && k < 4) (n /= 1024), k++;
    return `${k ? three(n) : n} ${units[k]}`;
}

export function seconds(s) {
    if (s < 1e-3) return `${three(s * 1e6)} µs`;
    return s < 1 ? `${three(s * 1e3)} ms` : `${three(s)} s`;
}

export const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(part === whole ? 0 : 2)} %` : "");

/* A real in a few digits; all of them are in its title. */
export function real(x) {
    if (typeof x === "bigint" || typeof x === "string") return String(x);
    if (Number.isInteger(x) && Math.abs(x) < 1e15) return String(x);
    return Number.isFinite(x) ? String(+x.toPrecision(7)) : String(x);
}

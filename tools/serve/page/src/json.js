/* json.js: JSON with whole numbers beyond 2^53, which an i64 may be: they become BigInt where the browser shows a reviver the
 * source text, and are parsed in the plain, fast way where no number is that long. */
const LONG = /[[,:]-?\d{16,}[\],}]/;

const exact = (key, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && context && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;

export const parse = (text) => (LONG.test(text) ? JSON.parse(text, exact) : JSON.parse(text));

/* NaN and infinities are strings there. */
export const toNumber = (x) => (typeof x === "number" ? x : Number(x === "inf" ? Infinity : x === "-inf" ? -Infinity : x));

/* values.js: values as the commands write them (docs/commands.md, Values): text of arguments from results, shapes, elements. */

/* As the text of an argument: all digits. */
export function toText(value) {
    if (Array.isArray(value)) return `[${value.map(toText).join(",")}]`;
    return typeof value === "number" && Object.is(value, -0) ? "-0" : String(value);
}

export function shapeOf(value) {
    const shape = [];
    for (let v = value; Array.isArray(v); v = v[0]) shape.push(v.length);
    return shape;
}

export const flat = (value) => (Array.isArray(value) ? value.flat(Infinity) : [value]);

/* What looks wrong in the text of an argument, or null; the server has the last word. */
export function complaint(text, parameter) {
    const t = text.trim();
    if (!t) return parameter.role === "accumulate" && !parameter.shape.length ? null : "needs a value";
    if (/^(zeros|ones)\(/.test(t) || /^&/.test(t)) return null;
    const dims = parameter.shape.length;
    if (dims && !t.startsWith("[".repeat(dims))) return `needs ${dims === 1 ? "a list, as [1,2,3]" : `lists ${dims} deep, as ${"[".repeat(dims)}1,2${"]".repeat(dims)}`}`;
    if (!dims && t.startsWith("[")) return "is a single number";
    let depth = 0;
    for (const c of t) depth += c === "[" ? 1 : c === "]" ? -1 : 0;
    if (depth) return "brackets do not match";
    if (!dims && parameter.type === "i64" && !/^[+-]?(\d+|0x[\da-f]+)(e\d+)?$/i.test(t)) return "is a whole number";
    return null;
}

/* A first value for a parameter: 0, or zeros of its shape where lengths are known or small. */
export function initial(parameter) {
    const { shape, type, role } = parameter;
    if (!shape.length) return role === "accumulate" ? "0" : type === "i64" ? "1" : "0.5";
    return `zeros(${shape.map((n) => (typeof n === "number" ? n : 3)).join(",")})`;
}

/* The greatest distance between two values of one shape, and whether all bits agree. */
export function distance(a, b) {
    const x = flat(a);
    const y = flat(b);
    let most = 0;
    let same = x.length === y.length;
    for (let k = 0; k < x.length && k < y.length; k++) {
        if (x[k] === y[k]) continue;
        same = false;
        most = Math.max(most, Math.abs(Number(x[k]) - Number(y[k])));
    }
    return { most, same };
}

/* pprof.mjs: the sum of the samples' values of a profile in pprof's format: a message of protocol buffers, not compressed. */
const SAMPLE = 2;
const SAMPLE_VALUES = 2;

/* [value, where the next thing stands] */
function varint(bytes, at) {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * unit;
        if (byte < 128) return [value, at];
    }
}

/* [field, number, or bytes] for each field of a message: those of other kinds are not among pprof's. */
function* fields(bytes) {
    for (let at = 0, key, value; at < bytes.length; ) {
        [key, at] = varint(bytes, at);
        [value, at] = varint(bytes, at);
        const isBytes = key % 8 === 2;
        yield [Math.floor(key / 8), isBytes ? bytes.subarray(at, at + value) : value];
        if (isBytes) at += value;
    }
}

const all = (bytes, wanted) => [...fields(bytes)].filter(([field]) => field === wanted).map(([, value]) => value);

export function pprofTotal(bytes) {
    const values = all(bytes, SAMPLE).flatMap((sample) => all(sample, SAMPLE_VALUES));
    return values.reduce((n, v) => n + (typeof v === "number" ? v : varint(v, 0)[0]), 0);
}

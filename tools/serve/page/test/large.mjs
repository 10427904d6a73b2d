/* large.mjs: a run, as a file that the page opens, with as many call paths and as many numbers of a gradient as it has to bear. */
const SIBLINGS = 10;

/* A tree of `n` paths, ten callees each. */
const paths = (n) =>
    Array.from({ length: n }, (_, k) => ({ function: `f${k % 997}`, parent: k ? Math.floor((k - 1) / SIBLINGS) : null, file: "large.rasm", line: 1, calls: 1, recursions: 0, shared: false, total: 0, own: { forward: [1 + (k % 7), 0] } }));

export function largeRun(nodes, numbers) {
    const all = paths(nodes);
    const instructions = all.reduce((n, p) => n + p.own.forward[0], 0);
    const x = Array.from({ length: numbers }, (_, k) => Math.sin(k) * 10 ** (k % 6));
    const source = "fn large(out: real, x: real[n])\n    for i in 0..n\n        out += x[i] ^ 2\n    end\nend\n";
    const profile = { of: "large", instructions, modes: { forward: [instructions, 0] }, kinds: [], functions: [], lines: [], paths: all, memory: { peak: { states: 8, trail: 0, stack: 0, shadows: 0 }, samples: [] }, erased: {} };
    return JSON.stringify({ format: "rvm run", version: 1, name: "large.rasm", real: "f64", source, fn: "large", kind: "grad", of: "out", args: { out: "0", x: "[1,2]" }, result: { ok: true, values: { out: 1 }, gradients: { out: x } }, profile });
}

/* kinds.js: what can be asked of a function: the buttons of the call form, each with the members of a run that it needs. */
export const KINDS = [
    { id: "run", label: "Run", symbol: "▶", title: "from inputs to results", profiled: true },
    { id: "backward", label: "Backward", symbol: "◀", title: "from results to inputs, by the same code", profiled: true },
    { id: "grad", label: "Gradient", symbol: "∂", title: "forward, then back with derivatives: no tape", of: true, wrt: true, profiled: true },
    { id: "jac", label: "Jacobian", symbol: "J", title: "every result by every input", wrt: true },
    { id: "hess", label: "Hessian", symbol: "H", title: "second derivatives of one number", of: true, wrt: true },
    { id: "check", label: "Check", symbol: "✓", title: "forward and back, and derivatives against each other" },
];

export const kindOf = (id) => KINDS.find((k) => k.id === id) ?? KINDS[0];

const isReal = (p) => /^(f64|f32|fix)$/.test(p.type);

/* Names that --of may take: scalars that the function writes, first those that it only adds to. */
export function outputs(f) {
    const reals = (f?.parameters ?? []).filter((p) => isReal(p) && p.role !== "read");
    const first = (p) => (p.role === "accumulate" && !p.shape.length ? 0 : p.shape.length ? 2 : 1);
    return reals.sort((a, b) => first(a) - first(b)).map((p) => (p.shape.length ? `${p.name}[${p.shape.map(() => 0).join(",")}]` : p.name));
}

export const inputs = (f) => (f?.parameters ?? []).filter(isReal).map((p) => p.name);

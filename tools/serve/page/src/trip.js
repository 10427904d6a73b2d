/* trip.js: there and back: which run a run took back, and how far what came back is from what had gone in. */
import * as s from "./state.js";
import { distance } from "./values.js";
import { parse } from "./json.js";

const valueOf = (text) => {
    const zeros = /^(zeros|ones)\(([\d, ]+)\)$/.exec(String(text).trim());
    if (zeros) return zeros[2].split(",").map(Number).reduceRight((v, n) => Array.from({ length: n }, () => v), zeros[1] === "ones" ? 1 : 0);
    try {
        return parse(String(text));
    } catch {
        return null;
    }
};

const opposite = { run: "backward", backward: "run" };
const sameValues = (args, values) => Object.entries(values).every(([k, v]) => k in args && distance(valueOf(args[k]), v).same);

/* The run before whose results this one began with. */
const outward = (run) => s.runs.value.find((r) => r !== run && r.kind === opposite[run.kind] && r.fn === run.fn && r.program === run.program && r.result.ok !== false && r.result.values && sameValues(run.args, r.result.values));

/* {same, most}, or null: this run is no way back. */
export function returned(run) {
    if (!opposite[run.kind] || run.result.ok === false || !run.result.values) return null;
    const out = outward(run);
    if (!out) return null;
    const apart = Object.entries(out.args).map(([k, text]) => distance(valueOf(text), run.result.values[k]));
    return { same: apart.every((d) => d.same), most: Math.max(0, ...apart.map((d) => d.most)) };
}

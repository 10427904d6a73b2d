/* examples.js: programs to begin with. Sources are those of examples/, put in when the page is built (build.mjs); `whole` has what a file
 * includes in its place. */
import leapfrog from "examples:leapfrog.rasm";
import bessel from "examples:papers/bessel.rasm?whole";
import forgotten from "examples:forgotten.rasm";
import gmm from "examples:gmm/gmm.rasm";
import rle from "examples:rle.rasm";
import heat from "examples:coprocessor/heat.rasm";
import { pebbles } from "./pebbles.js";

const SUN_EARTH = { q: "[[0,0,0],[1,0,0]]", v: "[[0,0,0],[0,6.28,0]]", m: "[1,3e-6]", h: "0.001" };
const points = Array.from({ length: 24 }, (_, k) => [+(Math.cos(k) + (k % 2 ? 1.5 : -1)).toFixed(3), +Math.sin(2 * k + 1).toFixed(3)]);
const STEPS = 8;

export const EXAMPLES = [
    { title: "Planets and back", text: "250 steps of an orbit; then run it backward from the end", name: "leapfrog.rasm", source: leapfrog, fn: "leapfrog", kind: "run", args: { ...SUN_EARTH, steps: "250" } },
    { title: "Bessel's series", text: "a value, and its derivative through every term of the sum", name: "bessel.rasm", source: bessel, fn: "bessel_j", kind: "grad", of: "out", wrt: "z", args: { out: "0", v: "2", z: "1" } },
    { title: "A forgotten change", text: "a run that fails where the damage shows, not where it was done", name: "forgotten.rasm", source: forgotten, fn: "mean_square", kind: "run", args: { out: "0", x: "[3,1,4,1,5]" } },
    { title: "Mixture's gradient", text: "the likelihood of 24 points, by every mean and covariance", name: "gmm.rasm", source: gmm, fn: "gmm", kind: "grad", of: "out", wrt: "alphas,means,icf", args: { out: "0", alphas: "[0.1,-0.2]", means: "[[1,0.5],[-1,0]]", icf: "[[0.1,0.2,0.3],[-0.1,0,0.4]]", x: JSON.stringify(points), gamma: "1", m: "0" } },
    { title: "Encoding, undone", text: "text from its run lengths, by the encoder run backward", name: "rle.rasm", source: rle, fn: "encode", kind: "backward", args: { text: "[0,0,0,0,0,0]", value: "[7,5,9,0,0,0]", count: "[3,2,1,0,0,0]", last: "2" } },
    { title: "Pebbles", text: `a schedule: ${STEPS} steps of a heated rod, their states in ${pebbles(STEPS).rows} places`, name: "heat.rasm", source: heat, fn: "heat", kind: "run", args: { y1: "zeros(9)", y: "[0,0,0,0,1,0,0,0,0]", env: "[0.2]", rows: String(pebbles(STEPS).rows), moves: JSON.stringify(pebbles(STEPS).moves) } },
];

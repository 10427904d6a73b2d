/* live_profile.js: what is told of a run that goes on, as a profile for the flame graph: its busiest call paths so far. */
import { computed } from "@preact/signals";
import * as s from "./state.js";
import { MODES, sumOf } from "./modes.js";

const ownOf = (counts) => Object.fromEntries(MODES.map((m, k) => [m.id, [counts[k], 0]]).filter(([, [n]]) => n));

const pathOf = ([parent, fn, ...counts]) => ({ parent, function: s.program.value?.functions[fn]?.name ?? `function ${fn}`, line: 0, own: ownOf(counts) });

export const liveProfile = computed(() => {
    const told = s.running.value?.paths;
    if (!told?.length) return null;
    const paths = told.map(pathOf);
    const modes = Object.fromEntries(MODES.filter((m) => paths.some((p) => p.own[m.id])).map((m) => [m.id, true]));
    return { of: s.fn.value, live: true, paths, modes, instructions: paths.reduce((n, p) => n + sumOf(p.own), 0) };
});

/* timeline_data.js: a run as a folded line. x is the instructions from the program's start; the way forward stands above the axis, the way
 * back below, so that what stands at one x is the same moment of the program. */
const held = (m) => m.states + m.trail + m.stack + m.shadows;

/* Instructions of the way forward; 0: there was none. */
const outward = (run) => (run.kind === "backward" ? 0 : (run.result.stats?.forward ?? run.profile.instructions));

/* {extent, forward, back}: each leg a list of {x, held, trail} by x, or null. The way back is scaled to the way forward: it may take
 * more instructions, since it computes again what compute parts had taken back. */
export function folded(run) {
    const { samples } = run.profile.memory;
    const turn = outward(run);
    const all = run.profile.instructions;
    const extent = turn || all;
    const point = (x, m) => ({ x, held: held(m), trail: m.trail });
    const forward = samples.filter((m) => m.instructions <= turn).map((m) => point(m.instructions, m));
    const back = samples.filter((m) => m.instructions >= turn).map((m) => point((extent * (all - m.instructions)) / Math.max(1, all - turn), m));
    return { extent, most: Math.max(1, ...samples.map(held)), forward: turn ? forward : null, back: all > turn ? back.reverse() : null, backIs: run.kind === "backward" ? "backward" : "swept" };
}

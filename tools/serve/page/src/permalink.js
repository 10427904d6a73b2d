/* permalink.js: #program/run/position in the address; a position in the sweep begins with s. A link carries no token: who follows it needs one of
 * his own. */
export function remember(run, position = null) {
    const parts = [run.program, run.id, position && `${position.swept ? "s" : ""}${position.at}`].filter((x) => x !== undefined && x !== null);
    history.replaceState(null, "", `${location.pathname}${location.search}#${parts.join("/")}`);
}

export function linked() {
    const [program, run, position] = location.hash.slice(1).split("/");
    const at = /^(s?)(-?\d+)$/.exec(position ?? "");
    return /^[\da-f]{32}$/.test(program ?? "") ? { program, run: run || null, position: at && { swept: !!at[1], at: Number(at[2]) } } : null;
}

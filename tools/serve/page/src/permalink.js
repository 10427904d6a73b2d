/* permalink.js: #program/run/position in the address. A link carries no token: who follows it needs one of his own. */
export function remember(run, position) {
    const parts = [run.program, run.id, position].filter((x) => x !== undefined && x !== null);
    history.replaceState(null, "", `${location.pathname}${location.search}#${parts.join("/")}`);
}

export function linked() {
    const [program, run, position] = location.hash.slice(1).split("/");
    return /^[\da-f]{32}$/.test(program ?? "") ? { program, run: run || null, position: position === undefined ? null : Number(position) } : null;
}

/* pebbles.js: Bennett's schedule by halves, as `rvm schedule --by bennett:2` makes it (docs/schedules.md): the moves by which state n appears
 * and all others disappear again. A move is [kind, target row, source row, state]; kind 0 runs a step, 1 takes it back. */
export function pebbles(n) {
    const moves = [];
    const free = [];
    let rows = 2;
    const take = () => free.pop() ?? rows++;
    /* State `to` appears in a row, from state `from` in row `at`; back: it disappears from there. */
    const walk = (from, to, at, row, back) => {
        if (to - from === 1) return void moves.push([back ? 1 : 0, row, at, to]);
        const middle = (from + to) / 2;
        const half = take();
        walk(from, middle, at, half, false);
        walk(middle, to, half, row, back);
        walk(from, middle, at, half, true);
        free.push(half);
    };
    walk(0, n, 0, 1, false);
    return { moves, rows };
}

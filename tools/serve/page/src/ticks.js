/* ticks.js: round numbers along an axis. */
export function ticks(most, wanted) {
    const raw = most / wanted;
    const power = 10 ** Math.floor(Math.log10(raw || 1));
    const step = [1, 2, 5, 10].map((f) => f * power).find((f) => f >= raw) ?? power;
    const list = [];
    for (let x = 0; x <= most * 1.0001; x += step) list.push(x);
    return list;
}

/* Of bytes: powers of 2. */
export function byteTicks(most, wanted) {
    let step = 1;
    while (most / step > wanted) step *= 2;
    return Array.from({ length: Math.floor(most / step) + 1 }, (_, k) => k * step);
}

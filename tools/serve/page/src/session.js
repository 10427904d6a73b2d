/* session.js: a machine that is held at a position, and moves. */
import { signal } from "@preact/signals";

export const stops = signal([]); /* {line} */
export const here = signal(null); /* {position, line, direction} */

export function toggleStop(line) {
    stops.value = stops.value.some((t) => t.line === line) ? stops.value.filter((t) => t.line !== line) : [...stops.value, { line }];
}

/* state.js: what the page knows, as signals. Modules read them and show; actions.js changes them. */
import { signal, computed } from "@preact/signals";

export const source = signal("");
export const sourceName = signal("program.rasm");
/* Other sources that it includes, by name; null: none were uploaded. */
export const files = signal(null);
/* The program is the server's, and is not to be uploaded: the server is read-only, or it is bytecode, of which a listing is shown. */
export const kept = signal(false);
/* What the server said of the source: null (not asked yet), or {ok, id, functions, diagnostics}; `checking` while it is asked. */
export const program = signal(null);
export const checking = signal(false);

export const fn = signal("");
export const kind = signal("run");
export const args = signal({}); /* name: text */
export const of = signal("");
export const wrt = signal("");
export const real = signal("f64"); /* what the type of that name means */

/* The run that is shown: {id, fn, kind, args, program, answer, profile, live}, and the one it is compared with. */
export const run = signal(null);
export const base = signal(null);
export const running = signal(null); /* {id, instructions, share, lines} while one runs */
export const runs = signal([]);

/* {routes: Set, limits} of the server; connection: "" or what is wrong with it. */
export const server = signal({ routes: new Set(), limits: {}, readOnly: false });
export const connection = signal("");
export const has = (route) => server.value.routes.has(route);

export const panel = signal("result");
export const announced = signal(""); /* said to screen readers */

export const theFunction = computed(() => program.value?.functions?.find((f) => f.name === fn.value) ?? null);
export const profile = computed(() => run.value?.profile ?? null);

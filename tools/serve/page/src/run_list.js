/* run_list.js: runs that the server keeps, beside those of this page. Of the former the list holds the head only; the rest is fetched when
 * it is looked at. */
import * as s from "./state.js";
import * as api from "./api.js";
import * as events from "./events.js";
import { shown } from "./actions.js";

const headOf = (r) => ({ ...r, at: 1000 * r.created, head: true });

export async function loadRuns() {
    if (!s.has("GET /runs")) return;
    const { runs } = await api.listRuns();
    const here = new Map(s.runs.value.map((r) => [r.id, r]));
    const kept = new Set(runs.map((r) => r.id));
    const others = s.runs.value.filter((r) => !kept.has(r.id) && !r.head);
    s.runs.value = [...others, ...runs.map((r) => here.get(r.id) ?? headOf(r))];
}

events.on("run", ({ state }) => {
    if (state !== "running" && s.panel.value === "runs") loadRuns().catch(() => {});
});

/* With its source, call, result and profile. */
export async function whole(run) {
    if (!run.head) return run;
    const [answer, request] = await Promise.all([api.getRun(run.id), api.runRequest(run.id)]);
    const program = await api.programWhole(request.program);
    const found = { ...(await shown(answer, { fn: run.fn, args: {}, ...request })), ...program, kept: program.kept || s.server.value.readOnly, at: run.at };
    s.runs.value = s.runs.value.map((r) => (r.id === run.id ? found : r));
    return found;
}

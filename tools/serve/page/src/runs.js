/* runs.js: the list of runs: show one again, compare with it, export it. */
import { html } from "htm/preact";
import { useEffect } from "preact/hooks";
import * as s from "./state.js";
import * as api from "./api.js";
import { show, announce } from "./actions.js";
import { exportRun, exportProfile, EXPORTS } from "./files.js";
import { loadRuns, whole } from "./run_list.js";
import { count } from "./format.js";

const when = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });

const say = (promise) => promise.catch((error) => announce(error.message));

async function compare(run) {
    s.base.value = await whole(run);
    if (!s.base.value.profile) return announce("That run counted nothing");
    s.panel.value = "profile";
}

const canWrite = () => !s.server.value.readOnly;

async function pin(run) {
    await api.pinRun(run.id, !run.pinned);
    s.runs.value = s.runs.value.map((r) => (r === run ? { ...run, pinned: !run.pinned } : r));
}

async function remove(run) {
    if (run.id) await api.deleteRun(run.id);
    s.runs.value = s.runs.value.filter((r) => r !== run);
}

/* What the head of a kept run says, or a run of this page. */
const endOf = (run) => (run.head ? run.status : run.result.ok === false ? (run.result.error?.code ?? "CHECK") : "OK");

function Row({ run }) {
    const now = run.id !== null && run.id === s.run.value?.id;
    const told = `${run.fn} ${run.kind}`;
    return html`<tr class=${now ? "now" : ""}><td>${run.at ? when.format(run.at) : "–"}</td><th scope="row"><button class="link mono" onClick=${() => say(whole(run).then(show))}>${told}</button></th>
        <td>${endOf(run) === "OK" ? "✓" : html`<span class="bad">✗ ${endOf(run)}</span>`}</td><td>${run.result?.stats ? count(run.result.stats.instructions) : ""}</td>
        <td class="actions">
            <button class="small" aria-label=${`Compare with ${told}`} onClick=${() => say(compare(run))}>Compare</button>
            <button class="small" aria-label=${`Export ${told}`} onClick=${() => say(whole(run).then(exportRun))}>Export</button>
            ${run.id && canWrite() && s.has("PUT /runs/{id}/pin") && html`<button class="small" aria-pressed=${!!run.pinned} title="Kept, however old it gets" aria-label=${`Keep ${told}`} onClick=${() => say(pin(run))}>Keep</button>`}
            ${run.id && canWrite() && s.has("DELETE /runs/{id}") && html`<button class="small" aria-label=${`Delete ${told}`} onClick=${() => say(remove(run))}>Delete</button>`}
        </td></tr>`;
}

function Exports() {
    const run = s.run.value;
    if (!run?.id || !run.profile) return null;
    return html`<p class="exports">Counts of the run shown, for other tools: ${EXPORTS.map((f) => html`<button class="small" onClick=${() => say(exportProfile(run, f))}>${f.label}</button> `)}</p>`;
}

export function Runs() {
    useEffect(() => void say(loadRuns()), []);
    if (!s.runs.value.length) return html`<p class="quiet">Runs are kept here: show one again, compare two, export one as a file that the page of another server opens.</p>`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Runs"><table class="runs"><thead><tr><th scope="col">at</th><th scope="col">run</th><th scope="col">ended</th><th scope="col">instructions</th><th scope="col"><span class="unseen">what to do with it</span></th></tr></thead>
        <tbody>${s.runs.value.map((r) => html`<${Row} key=${r.id ?? r.at} run=${r} />`)}</tbody></table></div><${Exports} />`;
}

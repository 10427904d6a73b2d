/* results.js: what a run gave: values, derivatives, checks, or where and why it failed. */
import { html } from "htm/preact";
import * as s from "./state.js";
import { Numbers } from "./numbers.js";
import { takeBack, callOf } from "./actions.js";
import { canTravel, openSession } from "./session.js";
import { showLine } from "./editor.js";
import { count, seconds, bytes, short } from "./format.js";
import { returned } from "./trip.js";
import { Schedule, barsOf } from "./schedule_view.js";
import { Prose } from "./prose.js";

const WAYS = { run: "forward", backward: "backward", grad: "forward, then back with derivatives" };

function Stats({ run }) {
    const st = run.result.stats;
    if (!st) return null;
    return html`<p class="stats">${count(st.instructions)} instructions${WAYS[run.kind] ? `, ${WAYS[run.kind]}` : ""}, in ${seconds(st.seconds)}. Memory at most ${bytes(st.memory_peak)}; ${st.bits_erased ? html`<b>${count(st.bits_erased)} bits</b> erased` : html`<b>nothing erased</b>`}.</p>`;
}

/* One word an instruction is what a tape of operator overloading keeps at the least. */
function Tape({ run }) {
    const st = run.result.stats;
    if (run.kind !== "grad" || !st?.forward) return null;
    const tape = 8 * st.forward;
    if (tape < 4 * st.memory_peak) return null;
    return html`<p class="moral">A tape of ${short(st.forward)} instructions, at 8 bytes each, would take <b>${bytes(tape)}</b>. This sweep took every value back instead, and held <b>${bytes(st.memory_peak)}</b>.</p>`;
}

function Failure({ run }) {
    const e = run.result.error ?? {};
    return html`<div class="failure" role="alert">
        <p class="code">${e.code}${e.line ? html` · <button class="link" onClick=${() => showLine(e.line)}>line ${e.line}</button>` : ""}</p>
        <p class="message"><${Prose} text=${e.message} /></p>
        ${e.hint && html`<p class="hint"><${Prose} text=${e.hint} /></p>`}
        ${canTravel() && run.program && html`<p class="next"><button onClick=${() => openSession(callOf(s.program.value)).catch(() => {})}>Stop at the failure, and walk back</button></p>`}
        ${run.result.restored_text && html`<p class="restored">${run.result.restored ? "↩ " : ""}${run.result.restored_text}</p>`}
    </div>`;
}

const gradientsOf = (r) => r.gradients ?? r.adjoints ?? null;

function Values({ run }) {
    const r = run.result;
    const names = Object.keys(r.values ?? {}).filter((n) => n !== "moves" || !barsOf(r.values[n])); /* which has a picture */
    const gradients = gradientsOf(r);
    if (!names.length) return null;
    return html`<table class="values"><thead><tr><th scope="col">name</th><th scope="col">${run.kind === "backward" ? "before" : "value"}</th>${gradients && html`<th scope="col">d ${run.of} / d name</th>`}</tr></thead>
        <tbody>${names.map(
            (n) => html`<tr key=${n}><th scope="row" class="mono">${n}</th><td><${Numbers} name=${n} value=${r.values[n]} /></td>
            ${gradients && html`<td>${n in gradients ? html`<${Numbers} name=${`d ${run.of} / d ${n}`} value=${gradients[n]} coloured=${true} />` : html`<span class="quiet">–</span>`}</td>`}</tr>`,
        )}</tbody></table>`;
}

function Matrices({ title, of }) {
    return Object.entries(of ?? {}).flatMap(([y, by]) => Object.entries(by).map(([x, value]) => html`<div class="matrix"><h3 class="mono">${title(y, x)}</h3><${Numbers} name=${title(y, x)} value=${value} coloured=${true} /></div>`));
}

function Checks({ checks }) {
    return html`<table class="checks"><thead><tr><th scope="col">check</th><th scope="col">of</th><th scope="col">result</th></tr></thead><tbody>${checks.map((c) => {
        const good = c.result === "ok";
        return html`<tr class=${good ? "good" : "bad"}><th scope="row">${c.check}</th><td>${c.what}${c.worst && html` <span class="quiet mono">${c.worst}</span>`}</td><td>${good ? "✓ ok" : `✗ ${c.result}`}${c.note && html`<br /><span class="quiet">${c.note}</span>`}</td></tr>`;
    })}</tbody></table>`;
}

/* Whether what came back is what had gone in. */
function Returned({ run }) {
    const trip = returned(run);
    if (!trip) return null;
    return html`<p class="moral back"><b>${trip.same ? "↩ Back where it began, to the last bit." : `↩ Back where it began, to within ${trip.most.toExponential(1)}.`}</b> ${
        trip.same ? "Nothing had been saved on the way: the same code, run backward, undid each step." : "Nothing had been saved on the way. What is left is the rounding of floating-point numbers: where real is fix, all bits come back."
    }</p>`;
}

function Next({ run }) {
    if (run.result.ok === false || !run.result.values) return null;
    if (run.kind === "run") return html`<p class="next"><button disabled=${!!s.running.value} onClick=${takeBack}>◀ Run it backward from these results</button></p>`;
    if (run.kind === "backward") return html`<p class="next"><button disabled=${!!s.running.value} onClick=${takeBack}>▶ Run it forward again from here</button></p>`;
    return null;
}

export function Result() {
    const run = s.run.value;
    if (!run) return html`<p class="quiet">Run the function, and its results stand here. Ctrl-Enter runs it from anywhere.</p>`;
    const r = run.result;
    return html`<div class="result">
        <h3 class="mono title">${run.fn} <span class="quiet">${run.kind}</span></h3>
        ${r.ok === false && r.error && html`<${Failure} run=${run} />`}
        <${Returned} run=${run} />
        <${Next} run=${run} />
        <${Schedule} moves=${r.values?.moves} />
        <${Values} run=${run} />
        ${r.output && html`<pre class="mono output">${r.output.map((piece) => (piece.base64 ? "(bytes)" : (piece.stdout ?? piece.stderr))).join("")}</pre>`}
        <${Matrices} title=${(y, x) => `d ${y} / d ${x}`} of=${r.jacobian} />
        <${Matrices} title=${(y, x) => `d² ${run.of} / d ${y} d ${x}`} of=${r.hessian} />
        ${r.checks && html`<${Checks} checks=${r.checks} />`}
        <${Tape} run=${run} />
        <${Stats} run=${run} />
    </div>`;
}

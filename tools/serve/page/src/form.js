/* form.js: a call: which function, with which values, and what is asked of it. */
import { html } from "htm/preact";
import * as s from "./state.js";
import { KINDS, kindOf, outputs, inputs } from "./kinds.js";
import { complaint } from "./values.js";
import { start, cancel, chooseFunction } from "./actions.js";
import { short, bytes, seconds } from "./format.js";
import { showLine } from "./editor.js";
import { Prose } from "./prose.js";

const ROLES = {
    read: "is only read",
    accumulate: "is only added to",
    own: "changes",
};

function set(name, text) {
    s.args.value = { ...s.args.value, [name]: text };
}

const typeText = (p) => (p.shape.length ? `${p.type}[${p.shape.join(", ")}]` : p.type);

function Parameter({ p }) {
    const text = s.args.value[p.name] ?? "";
    const wrong = complaint(text, p);
    return html`<div class="field">
        <label for=${`arg-${p.name}`}><b>${p.name}</b> <span class="type">${typeText(p)}</span> <span class=${`role ${p.role}`}>${ROLES[p.role] ?? p.role}</span></label>
        <input id=${`arg-${p.name}`} class="mono" value=${text} spellcheck="false" autocomplete="off" aria-invalid=${wrong ? "true" : "false"} aria-describedby=${wrong ? `bad-${p.name}` : null} onInput=${(e) => set(p.name, e.target.value)} onKeyDown=${(e) => e.key === "Enter" && start()} />
        ${wrong && html`<span class="complaint" id=${`bad-${p.name}`}>${wrong}</span>`}
    </div>`;
}

function Options({ f }) {
    const kind = kindOf(s.kind.value);
    const can = outputs(f);
    return html`<div class="options">
        ${kind.of &&
        html`<div class="field"><label for="of">derivative of</label>
            <input id="of" class="mono" list="outputs" value=${s.of.value} onInput=${(e) => (s.of.value = e.target.value)} />
            <datalist id="outputs">${can.map((o) => html`<option value=${o} />`)}</datalist></div>`}
        ${kind.wrt && html`<div class="field"><label for="wrt">with respect to <span class="type">(all reals)</span></label><input id="wrt" class="mono" placeholder=${inputs(f).join(",")} value=${s.wrt.value} onInput=${(e) => (s.wrt.value = e.target.value)} /></div>`}
    </div>`;
}

function Progress() {
    const r = s.running.value;
    return html`<div class="progress" role="status">
        <progress value=${r.share >= 0 ? r.share : null} max="1" aria-label="share of the run that is done" />
        <span>${r.instructions ? `${short(r.instructions)} instructions` : "running"}</span>
        ${r.id && s.has("DELETE /runs/{id}") && html`<button class="small" onClick=${cancel}>Cancel</button>`}
    </div>`;
}

export function Limits() {
    const l = s.server.value.limits;
    if (!l.fuel) return null;
    return html`<p class="limits">At most ${short(l.fuel)} instructions, ${bytes(l.memory)}, ${seconds(l.seconds)} a run${s.server.value.readOnly ? "" : `; uploads of ${bytes(l.upload)}`}.</p>`;
}

function go(kind) {
    s.kind.value = kind;
    start();
}

/* A click on what is not asked yet, and needs to know more, shows these fields first. */
function Buttons({ f }) {
    const differentiable = outputs(f).length > 0;
    return html`<div class="kinds" role="group" aria-label="What to do">
        ${KINDS.filter((k) => differentiable || !(k.of || k.wrt)).map(
            (k) => html`<button class=${`kind ${s.kind.value === k.id ? "chosen" : ""} k-${k.id}`} title=${k.title} aria-pressed=${s.kind.value === k.id} disabled=${!!s.running.value || !s.program.value?.ok} onClick=${() => go(k.id)}><span aria-hidden="true" class="symbol">${k.symbol}</span> ${k.label}</button>`,
        )}
    </div>`;
}

export function CallForm() {
    const p = s.program.value;
    const f = s.theFunction.value;
    if (p && !p.ok) return html`<section class="card call"><h2>Call</h2><${Wrong} diagnostics=${p.diagnostics} /></section>`;
    if (!f) return html`<section class="card call"><h2>Call</h2><p class="quiet">${s.checking.value ? "Assembling …" : "A program has functions to call here."}</p></section>`;
    return html`<section class="card call" aria-label="Call">
        <div class="head"><h2><label for="fn">Call</label></h2>
            <select id="fn" class="mono" value=${f.name} onChange=${(e) => chooseFunction(e.target.value)}>${p.functions.map((g) => html`<option value=${g.name}>${g.name}</option>`)}</select>
        </div>
        <div class="fields">${f.parameters.map((x) => html`<${Parameter} key=${x.name} p=${x} />`)}</div>
        <${Options} f=${f} />
        <${Buttons} f=${f} />
        ${s.running.value && html`<${Progress} />`}
    </section>`;
}

function Wrong({ diagnostics }) {
    return html`<ul class="wrong">${diagnostics.map((d) => html`<li class=${d.severity === "warning" ? "warning" : ""}>
        ${d.line && html`<button class="link" onClick=${() => showLine(d.line)}>line ${d.line}</button>: `}<${Prose} text=${d.message} />${d.hint && html`<span class="hint"><${Prose} text=${d.hint} /></span>`}</li>`)}</ul>`;
}

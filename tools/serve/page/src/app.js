/* app.js: the page as a whole: its head, the editor beside the call, and the panels below. */
import { html } from "htm/preact";
import { useRef } from "preact/hooks";
import * as s from "./state.js";
import { Editor } from "./editor.js";
import { CallForm, Limits } from "./form.js";
import { Result } from "./results.js";
import { Flame } from "./flame.js";
import { Costs } from "./costs.js";
import { Memory } from "./memory.js";
import { Travel } from "./travel.js";
import { Runs } from "./runs.js";
import { Intro, Choice, introduced, foldIntro } from "./intro.js";
import { HeatChoice } from "./heat_choice.js";
import { turnScheme, scheme } from "./scheme.js";
import { Connection } from "./connection.js";
import { Keys, keysShown } from "./keys.js";
import { openFile, saveSource } from "./files.js";
import { chooseReal } from "./actions.js";

const ALL = [
    { id: "result", label: "Result", show: () => html`<${Result} />` },
    { id: "session", label: "Step", show: () => html`<${Travel} />`, when: () => s.has("POST /sessions") },
    { id: "profile", label: "Where it went", show: () => html`<${Flame} /><${Costs} />` },
    { id: "memory", label: "Memory", show: () => html`<${Memory} />` },
    { id: "runs", label: "Runs", show: () => html`<${Runs} />` },
];

/* Those whose endpoints the server has. */
const panels = () => ALL.filter((p) => !p.when || p.when());

function Head() {
    return html`<header class="top"><h1><img src="icon.svg" alt="" width="26" height="26" /> rvm <span>a machine that runs backward</span></h1>
        <div class="tools">
            <button class="small" aria-expanded=${!introduced.value} onClick=${() => foldIntro(!introduced.value)}>${introduced.value ? "What is this?" : "Hide the introduction"}</button>
            <button class="small" onClick=${() => (keysShown.value = true)}>Keys</button>
            <button class="small" onClick=${turnScheme}>${scheme.value === "dark" ? "Light" : "Dark"}</button>
        </div></header>`;
}

function SourceCard() {
    const file = useRef(null);
    return html`<section class="card source" aria-label="Program">
        <div class="head"><h2>Program</h2><span class="mono quiet name">${s.sourceName.value}</span>
            <span class=${`verdict ${s.program.value ? (s.program.value.ok ? "ok" : "bad") : ""}`} role="status">${s.checking.value ? "…" : s.program.value ? (s.program.value.ok ? "✓ verified" : "✗ has errors") : ""}</span>
            <span class="spring" />
            <label class="heat-choice">real <select aria-label="What real means" value=${s.real.value} disabled=${s.kept.value} onChange=${(e) => chooseReal(e.target.value)}>${["f64", "f32", "fix"].map((r) => html`<option value=${r}>${r}</option>`)}</select></label>
            <span class="pair">${!s.server.value.readOnly && html`<button class="small" onClick=${() => file.current.click()}>Open</button>`}<input ref=${file} type="file" hidden accept=".rasm,.json,text/plain" onChange=${(e) => openFile(e.target)} />
            <button class="small" onClick=${saveSource}>Save</button></span></div>
        <${Editor} />
        <div class="foot"><${Limits} /><${HeatChoice} /></div>
    </section>`;
}

function arrow(e) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (!move) return;
    const all = panels();
    const k = all.findIndex((p) => p.id === s.panel.value);
    const to = all[(k + move + all.length) % all.length].id;
    s.panel.value = to;
    document.getElementById(`tab-${to}`).focus();
}

function Panels() {
    const all = panels();
    const now = all.find((p) => p.id === s.panel.value) ?? all[0];
    return html`<section class="card panels"><div class="tabs" role="tablist" aria-label="Of this run" onKeyDown=${arrow}>${all.map(
        (p) => html`<button role="tab" id=${`tab-${p.id}`} aria-selected=${p === now} aria-controls="panel" tabindex=${p === now ? 0 : -1} onClick=${() => (s.panel.value = p.id)}>${p.label}</button>`,
    )}</div><div id="panel" role="tabpanel" aria-labelledby=${`tab-${now.id}`} tabindex="0">${now.show()}</div></section>`;
}

export function App() {
    return html`<${Head} /><${Connection} />
        <main><h2 class="unseen">Programs, forward and backward</h2>
            ${introduced.value ? html`<${Choice} brief=${true} />` : html`<${Intro} />`}
            <div class="work"><${SourceCard} /><div class="side"><${CallForm} /><${Panels} /></div></div>
        </main>
        <div class="unseen" role="status" aria-live="polite">${s.announced.value}</div>
        <${Keys} />`;
}

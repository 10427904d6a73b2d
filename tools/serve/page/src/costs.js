/* costs.js: the exact counts as tables: by function, by line, by kind of instruction. The flame graph says the same as a picture. */
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import * as s from "./state.js";
import { MODES, countOf, sumOf } from "./modes.js";
import { count, percent } from "./format.js";
import { showLine } from "./editor.js";
import { liveProfile } from "./live_profile.js";

const byCount = (a, b) => b.count - a.count;
const kindName = (k) => `${k.mnemonic}${k.row ? `.${k.row}` : ""}`;

function mergedKinds(kinds) {
    const all = new Map();
    for (const k of kinds) {
        const name = `${kindName(k)} ${k.type}`;
        const at = all.get(name) ?? { name, own: {}, count: 0 };
        const n = (at.own[k.mode] ??= [0, 0]);
        n[k.direction === "up" ? 0 : 1] += k.count;
        at.count += k.count;
        all.set(name, at);
    }
    return [...all.values()];
}

const TABLES = {
    function: (p) => p.functions.map((f) => ({ name: f.name, own: f.own, count: sumOf(f.own), calls: f.calls, total: f.total })),
    line: (p) => p.lines.map((l) => ({ name: `${l.file && l.file.startsWith("std/") ? `${l.file}:` : "line "}${l.line}`, own: l.own, count: sumOf(l.own), line: l.file?.startsWith("std/") ? 0 : l.line })),
    kind: (p) => mergedKinds(p.kinds),
};

const SHOWN = 200;

export function Costs() {
    const [by, setBy] = useState("function");
    const profile = s.profile.value;
    if (!profile || liveProfile.value) return null; /* these are of the run before */
    const modes = MODES.filter((m) => profile.modes[m.id]);
    const rows = TABLES[by](profile).sort(byCount);
    return html`<div class="costs">
        <div class="choice" role="group" aria-label="Costs by">${[["function", "By function"], ["line", "By line"], ["kind", "By instruction"]].map(([v, text]) => html`<button class="small" aria-pressed=${v === by} onClick=${() => setBy(v)}>${text}</button>`)}</div>
        <div class="scroll" tabindex="0" role="region" aria-label="Counts"><table><thead><tr><th scope="col">${by}</th><th scope="col">own</th><th scope="col">share</th>${modes.map((m) => html`<th scope="col"><span class=${`swatch m-${m.id}`} /> ${m.label}</th>`)}${by === "function" && html`<th scope="col">calls</th><th scope="col">with callees</th>`}</tr></thead>
        <tbody>${rows.slice(0, SHOWN).map(
            (r) => html`<tr key=${r.name}><th scope="row" class="mono">${r.line ? html`<button class="link" onClick=${() => showLine(r.line)}>${r.name}</button>` : r.name}</th><td>${count(r.count)}</td><td>${percent(r.count, profile.instructions)}</td>${modes.map((m) => html`<td>${countOf(r.own, m.id) ? count(countOf(r.own, m.id)) : "·"}</td>`)}${by === "function" && html`<td>${count(r.calls)}</td><td>${count(r.total)}</td>`}</tr>`,
        )}</tbody></table></div>
        ${rows.length > SHOWN && html`<p class="quiet">and ${count(rows.length - SHOWN)} more</p>`}
    </div>`;
}

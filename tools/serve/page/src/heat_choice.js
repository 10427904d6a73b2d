/* heat_choice.js: which mode the editor's gutter counts. */
import { html } from "htm/preact";
import { heatMode } from "./heat_gutter.js";
import { profile } from "./state.js";
import { MODES } from "./modes.js";

export function HeatChoice() {
    const p = profile.value;
    if (!p) return null;
    return html`<label class="heat-choice">counts <select value=${heatMode.value} onChange=${(e) => (heatMode.value = e.target.value)}><option value="">all</option>${MODES.filter((m) => p.modes[m.id]).map((m) => html`<option value=${m.id}>${m.label}</option>`)}</select></label>`;
}

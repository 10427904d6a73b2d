/* programs.js: those of a read-only server, which stand where examples do elsewhere. */
import { html } from "htm/preact";
import { signal } from "@preact/signals";
import * as api from "./api.js";
import { openKept } from "./actions.js";

export const programs = signal([]);
export const loadPrograms = async () => (programs.value = (await api.listPrograms()).programs);

export function Programs() {
    return html`<nav class="examples" aria-label="Programs"><h2>Programs here</h2><ul>${programs.value.map((p) => html`<li key=${p.id}><button onClick=${() => openKept(p.id).catch(() => {})}><b>${p.name}</b></button></li>`)}</ul></nav>`;
}

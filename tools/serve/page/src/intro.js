/* intro.js: the first minute: what the machine does, in three pictures, and programs to try, one click each. */
import { html } from "htm/preact";
import { signal } from "@preact/signals";
import { EXAMPLES } from "./examples.js";
import { server } from "./state.js";
import { open, start } from "./actions.js";
import { Programs } from "./programs.js";

const KEY = "rvm.intro";
export const introduced = signal(localStorage.getItem(KEY) === "folded");

export function foldIntro(folded) {
    introduced.value = folded;
    localStorage.setItem(KEY, folded ? "folded" : "open");
}

const MORALS = [
    { picture: "back", title: "It takes steps back", text: "Every instruction has an inverse. So a program also runs from its results to its inputs, and nothing is saved on the way." },
    { picture: "gradient", title: "So gradients need no tape", text: "Derivatives flow from results to inputs. Others record every step for that; this machine goes back through the run itself." },
    { picture: "cause", title: "So a failure leads to its cause", text: "A run that fails stops before the instruction that failed, and goes back from there, to what made the value wrong." },
];

/* Arrows of the pictures: forward above, backward below. */
const PICTURES = {
    back: html`<path class="fwd" d="M8 14h76m-7-6 7 6-7 6" /><path class="bwd" d="M84 34H8m7-6-7 6 7 6" />`,
    gradient: html`<path class="fwd" d="M8 14h76m-7-6 7 6-7 6" /><path class="swp" d="M84 34H8m7-6-7 6 7 6" /><text x="46" y="30" class="d">∂</text>`,
    cause: html`<path class="fwd" d="M8 14h58" /><path class="fail" d="m68 8 12 12m0-12L68 20" /><path class="bwd" d="M74 26c0 12-22 12-40 8m8-7-8 7 9 5" /><circle class="spot" cx="28" cy="33" r="4" />`,
};

export async function openExample(example) {
    await open(example);
    start();
}

export function Intro() {
    return html`<section class="intro" aria-label="What this is">
        <div class="morals">${MORALS.map((m) => html`<div class="moral-card"><svg viewBox="0 0 92 48" aria-hidden="true">${PICTURES[m.picture]}</svg><div><h2>${m.title}</h2><p>${m.text}</p></div></div>`)}</div>
        <${Choice} />
    </section>`;
}

export const Choice = ({ brief }) => (server.value.readOnly ? html`<${Programs} />` : html`<${Examples} brief=${brief} />`);

function Examples({ brief }) {
    return html`<nav class=${brief ? "examples brief" : "examples"} aria-label="Examples"><h2>Try one</h2><ul>${EXAMPLES.map((e) => html`<li><button onClick=${() => openExample(e).catch(() => {})}><b>${e.title}</b>${!brief && html`<span>${e.text}</span>`}</button></li>`)}</ul></nav>`;
}

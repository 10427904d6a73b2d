/* scheme.js: light or dark: that of the system, or the one chosen here. Canvases draw again when it changes. */
import { signal } from "@preact/signals";

const query = matchMedia("(prefers-color-scheme: dark)");
const KEY = "rvm.scheme";
let chosen = localStorage.getItem(KEY);

const now = () => chosen ?? (query.matches ? "dark" : "light");
export const scheme = signal(now());

function apply() {
    document.documentElement.dataset.scheme = now();
    scheme.value = now();
}

export function turnScheme() {
    chosen = now() === "dark" ? "light" : "dark";
    localStorage.setItem(KEY, chosen);
    apply();
}

query.addEventListener("change", apply);
apply();

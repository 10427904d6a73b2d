/* keys.js: keys that work everywhere, and the list of them. */
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import * as s from "./state.js";
import { start, cancel } from "./actions.js";
import { focusEditor } from "./editor.js";
import { move } from "./session.js";

export const keysShown = signal(false);

const show = (panel) => () => {
    s.panel.value = panel;
    document.getElementById(`tab-${panel}`)?.focus();
};
const ask = (kind) => () => {
    s.kind.value = kind;
    start();
};

/* Alt with a letter, since letters alone are typed. */
const KEYS = [
    { key: "Ctrl-Enter", says: "do the chosen thing again", on: (e) => (e.ctrlKey || e.metaKey) && e.key === "Enter", does: start },
    ...[
        ["f", "run forward", ask("run")],
        ["b", "run backward", ask("backward")],
        ["g", "gradient", ask("grad")],
        ["c", "check", ask("check")],
        ["e", "to the editor (Escape, then Tab leaves it)", focusEditor],
        ["1", "result", show("result")],
        ["2", "where it went", show("profile")],
        ["3", "memory", show("memory")],
        ["4", "runs", show("runs")],
        ["5", "step through the run", show("session")],
        [",", "in a session: back to a stop", () => move({ run: "backward" })],
        [".", "in a session: on to a stop", () => move({ run: "forward" })],
        ["arrowleft", "in a session: a line back", () => move({ lines: -1 })],
        ["arrowright", "in a session: a line on", () => move({ lines: 1 })],
        ["x", "cancel the run", cancel],
    ].map(([key, says, does]) => ({ key: `Alt-${key.replace("arrow", "arrow ")}`, says, does, on: (e) => e.altKey && !e.ctrlKey && e.key.toLowerCase() === key })),
    { key: "Alt-h", says: "this list", on: (e) => e.altKey && e.key.toLowerCase() === "h", does: () => (keysShown.value = !keysShown.value) },
];

export function listen() {
    document.addEventListener("keydown", (e) => {
        const key = KEYS.find((k) => k.on(e));
        if (!key || e.defaultPrevented) return;
        e.preventDefault();
        key.does();
    });
}

export function Keys() {
    const dialog = useRef(null);
    useEffect(() => {
        if (keysShown.value && !dialog.current.open) dialog.current.showModal();
        if (!keysShown.value && dialog.current.open) dialog.current.close();
    }, [keysShown.value]);
    return html`<dialog ref=${dialog} class="keys" aria-labelledby="keys-title" onClose=${() => (keysShown.value = false)}><h2 id="keys-title">Keys</h2>
        <dl>${KEYS.map((k) => html`<div><dt><kbd>${k.key}</kbd></dt><dd>${k.says}</dd></div>`)}<div><dt><kbd>Alt-s</kbd></dt><dd>in the editor: stop at this line, or no more</dd></div><div><dt><kbd>Ctrl-z</kbd></dt><dd>undo in the editor</dd></div><div><dt><kbd>arrows, Enter, Escape</kbd></dt><dd>in the flame graph: move, zoom in, out</dd></div></dl>
        <button onClick=${() => (keysShown.value = false)}>Close</button></dialog>`;
}

/* breakpoints.js: the gutter in which a click, or Alt-s, sets a stop. */
import { StateEffect, StateField, RangeSet } from "@codemirror/state";
import { EditorView, gutter, GutterMarker, keymap } from "@codemirror/view";
import { moveStops, stops, toggleStop } from "./session.js";

const change = StateEffect.define();
const mark = new (class extends GutterMarker {
    toDOM() {
        const dot = document.createElement("span");
        dot.className = "stop";
        dot.title = "a run stops before this line";
        return dot;
    }
})();

const field = StateField.define({
    create: () => RangeSet.empty,
    update(set, tr) {
        for (const e of tr.effects) if (e.is(change)) return e.value;
        return set.map(tr.changes);
    },
});

export function showStops(view) {
    const doc = view.state.doc;
    const lines = stops.value.map((p) => p.line).filter((n) => n <= doc.lines);
    if (view.state.field(field, false)) view.dispatch({ effects: change.of(RangeSet.of(lines.map((n) => mark.range(doc.line(n).from)))) });
}

const numberAt = (view, at) => view.state.doc.lineAt(at).number;

/* Marks go along with their lines. */
function follow(u) {
    if (!u.docChanged || !stops.value.length) return;
    const lines = [];
    u.state.field(field).between(0, u.state.doc.length, (from) => void lines.push(numberAt(u, from)));
    if (lines.length === stops.value.length && lines.some((n, k) => n !== stops.value[k].line)) moveStops(lines);
}

export const breakpoints = () => [
    field,
    EditorView.updateListener.of(follow),
    gutter({ class: "breaks", renderEmptyElements: true, markers: (v) => v.state.field(field), initialSpacer: () => mark, domEventHandlers: { mousedown: (view, block) => (toggleStop(numberAt(view, block.from)), true) } }),
    keymap.of([{ key: "Alt-s", run: (view) => (toggleStop(numberAt(view, view.state.selection.main.head)), true) }]),
];

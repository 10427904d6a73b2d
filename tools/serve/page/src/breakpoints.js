/* breakpoints.js: the gutter in which a click sets a stop. It is there where the server has sessions, which stop at it. */
import { StateEffect, StateField, RangeSet } from "@codemirror/state";
import { gutter, GutterMarker, EditorView } from "@codemirror/view";
import { has } from "./state.js";
import { stops, toggleStop } from "./session.js";

const change = StateEffect.define();
const mark = new (class extends GutterMarker {
    toDOM() {
        return document.createTextNode("●");
    }
})();

const field = StateField.define({
    create: () => RangeSet.empty,
    update(set, tr) {
        for (const e of tr.effects) if (e.is(change)) return e.value;
        return set.map(tr.changes);
    },
});

export function setStops(view) {
    const doc = view.state.doc;
    const lines = stops.value.map((t) => t.line).filter((n) => n >= 1 && n <= doc.lines);
    view.dispatch({ effects: change.of(RangeSet.of(lines.sort((a, b) => a - b).map((n) => mark.range(doc.line(n).from)))) });
}

const click = (view, block) => (toggleStop(view.state.doc.lineAt(block.from).number), true);

export const breakpoints = () =>
    has("POST /sessions")
        ? [field, gutter({ class: "breaks", markers: (v) => v.state.field(field), domEventHandlers: { mousedown: click }, initialSpacer: () => mark }), EditorView.domEventHandlers({})]
        : [];

/* line_mark.js: the line at which a session stands, by the direction it came in. */
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import { line, facing } from "./session.js";

const change = StateEffect.define();

const field = StateField.define({
    create: () => Decoration.none,
    update(set, tr) {
        for (const e of tr.effects) if (e.is(change)) return e.value;
        return set.map(tr.changes);
    },
    provide: (f) => EditorView.decorations.from(f),
});

export function showMark(view) {
    const number = line.value;
    const doc = view.state.doc;
    if (!number || number > doc.lines) return view.dispatch({ effects: change.of(Decoration.none) });
    const from = doc.line(number).from;
    const mark = Decoration.line({ class: facing.value < 0 ? "here back" : "here" });
    view.dispatch({ effects: [change.of(Decoration.set(mark.range(from))), EditorView.scrollIntoView(from, { y: "nearest", yMargin: 60 })] });
}

export const lineMark = () => field;

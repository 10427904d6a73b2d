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

function mark(view, number, back) {
    const doc = view.state.doc;
    if (!number || number > doc.lines) return view.dispatch({ effects: change.of(Decoration.none) });
    const from = doc.line(number).from;
    const set = Decoration.set(Decoration.line({ class: back ? "here back" : "here" }).range(from));
    view.dispatch({ effects: [change.of(set), EditorView.scrollIntoView(from, { y: "nearest", yMargin: 60 })] });
}

/* With the next frame, as all else that shows a position: an answer waits for no layout. */
let due = 0;
export function showMark(view) {
    const number = line.value, back = facing.value < 0;
    cancelAnimationFrame(due);
    due = requestAnimationFrame(() => mark(view, number, back));
}

export const lineMark = () => field;

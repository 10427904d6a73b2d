/* line_mark.js: the line at which a session stands, in the colour of its direction. */
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import { here } from "./session.js";

const change = StateEffect.define();

const field = StateField.define({
    create: () => Decoration.none,
    update(set, tr) {
        for (const e of tr.effects) if (e.is(change)) return e.value;
        return set.map(tr.changes);
    },
    provide: (f) => EditorView.decorations.from(f),
});

export function setMark(view) {
    const at = here.value;
    const doc = view.state.doc;
    const there = at && at.line >= 1 && at.line <= doc.lines;
    const set = there ? Decoration.set(Decoration.line({ class: at.direction < 0 ? "here back" : "here" }).range(doc.line(at.line).from)) : Decoration.none;
    view.dispatch({ effects: there ? [change.of(set), EditorView.scrollIntoView(doc.line(at.line).from)] : change.of(set) });
}

export const lineMark = () => field;

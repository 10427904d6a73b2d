/* heat_gutter.js: beside each line, how often its instructions ran, exactly, a part of a bar for each mode. The longest bar is the
 * busiest line; widths are logarithmic, since inner loops dwarf the rest. */
import { StateEffect, StateField, RangeSet } from "@codemirror/state";
import { EditorView, gutter, GutterMarker } from "@codemirror/view";
import { MODES, countOf, sumOf } from "./modes.js";
import { count, short } from "./format.js";
import { sourceName } from "./state.js";
import { signal } from "@preact/signals";

/* Which mode the gutter shows: "" all. */
export const heatMode = signal("");

const BAR = 42;
const change = StateEffect.define();

class Heat extends GutterMarker {
    constructor(own, total, most) {
        super();
        Object.assign(this, { own, total, most });
    }
    eq(other) {
        return other.total === this.total && other.most === this.most && JSON.stringify(other.own) === JSON.stringify(this.own);
    }
    toDOM() {
        const cell = document.createElement("div");
        cell.className = "heat-cell";
        cell.append(this.total < 1e5 ? String(this.total) : short(this.total).replace(" ", ""));
        const bar = cell.appendChild(document.createElement("span"));
        bar.className = "heat-bar";
        bar.style.width = `${2 + (BAR - 2) * (Math.log1p(this.total) / Math.log1p(this.most))}px`;
        const parts = MODES.filter((m) => countOf(this.own, m.id));
        for (const m of parts) {
            const part = bar.appendChild(document.createElement("span"));
            part.className = `m-${m.id}`;
            part.style.flexGrow = countOf(this.own, m.id);
        }
        cell.title = parts.map((m) => `${m.label} ${count(countOf(this.own, m.id))}`).join("\n");
        return cell;
    }
}

const field = StateField.define({
    create: () => RangeSet.empty,
    update(set, tr) {
        for (const e of tr.effects) if (e.is(change)) return e.value;
        return set.map(tr.changes);
    },
});

/* Lines of the program's own file: what it includes counts in other files. */
export function ownLines(profile) {
    const name = sourceName.value;
    const others = profile.lines.filter((l) => l.file && !l.file.startsWith("std/"));
    const file = others.some((l) => l.file === name) ? name : others[0]?.file;
    return others.filter((l) => l.file === file);
}

const narrowed = (own, mode) => (mode ? { [mode]: own[mode] } : own);

/* Of a run that goes on: its busiest lines so far, of all modes together. */
export const liveLines = (live) => live.filter(([file]) => file === 0).map(([, line, n]) => ({ line, own: { forward: [n, 0] } }));

export function setHeat(view, counted) {
    const mode = heatMode.value;
    const doc = view.state.doc;
    const lines = counted.map((l) => ({ line: l.line, own: narrowed(l.own, mode) })).filter((l) => l.line <= doc.lines && sumOf(l.own));
    const most = Math.max(1, ...lines.map((l) => sumOf(l.own)));
    const marks = lines.map((l) => new Heat(l.own, sumOf(l.own), most).range(doc.line(l.line).from));
    view.dispatch({ effects: change.of(RangeSet.of(marks, true)) });
}

/* Without counts the gutter takes no room. */
const room = EditorView.editorAttributes.compute([field], (state) => ({ class: state.field(field).size ? "" : "uncounted" }));

export const heatGutter = () => [field, room, gutter({ class: "heat", markers: (v) => v.state.field(field) })];

/* editor.js: CodeMirror in a shadow root, where its style sheet is a constructed one, which a strict Content-Security-Policy allows. */
import { html } from "htm/preact";
import { useEffect, useRef } from "preact/hooks";
import { effect } from "@preact/signals";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, drawSelection, highlightActiveLine, highlightActiveLineGutter } from "@codemirror/view";
import { history } from "@codemirror/commands";
import { setDiagnostics, lintKeymap } from "@codemirror/lint";
import { language, newline, outdent } from "./language.js";
import { heatGutter, setHeat, ownLines, liveLines } from "./heat_gutter.js";
import { editorKeys } from "./editor_keys.js";
import { breakpoints, showStops } from "./breakpoints.js";
import { lineMark, showMark } from "./line_mark.js";
import { theme } from "./editor_theme.js";
import * as s from "./state.js";
import { setSource, start, shownFunction } from "./actions.js";

/* A diagnostic's place: its line, column and the length of the mark below its source line. */
function placed(doc, d) {
    if (!d.line || d.line > doc.lines) return { from: 0, to: 0 };
    const line = doc.line(d.line);
    const from = Math.min(line.to, line.from + Math.max(0, (d.column ?? 1) - 1));
    const marked = /\^~*/.exec((d.source ?? "").split("\n").pop());
    const rest = /^[\w']+|^\S/.exec(line.text.slice(from - line.from));
    const width = Math.max(marked?.[0].length ?? 1, rest?.[0].length ?? 1);
    return { from, to: Math.min(line.to, from + width) };
}

const isHere = (d) => !d.file || d.file === s.sourceName.value || !d.file.startsWith("std/");

function diagnosticsOf(doc) {
    const found = [...(s.program.value?.diagnostics ?? [])];
    const run = s.run.value;
    if (run?.result.ok === false && run.source === doc.toString()) found.push(...(run.result.diagnostics ?? [run.result.error]));
    return found.filter((d) => d?.line && isHere(d)).map((d) => ({ ...placed(doc, d), severity: d.severity === "warning" ? "warning" : "error", message: d.hint ? `${d.message}\n${d.hint}` : d.message }));
}

const fromOutside = Annotation.define();
const writable = new Compartment();
const stopping = new Compartment();

/* A word that ends a block goes where the block began. */
function settle(u) {
    if (!u.docChanged || !u.transactions.some((t) => t.isUserEvent("input.type"))) return;
    const changes = outdent(u.state, u.state.selection.main.head);
    if (changes) u.view.dispatch({ changes });
}

const extensions = () => [
    lineNumbers(),
    stopping.of([]),
    heatGutter(),
    lineMark(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    EditorState.tabSize.of(4),
    writable.of([]),
    EditorView.updateListener.of(settle),
    language,
    theme,
    keymap.of([{ key: "Mod-Enter", run: () => (start(), true) }, { key: "Enter", run: newline }, ...lintKeymap, ...editorKeys]),
    EditorView.contentAttributes.of({ "aria-label": "Source of the program", spellcheck: "false", tabindex: "0" }),
    EditorView.updateListener.of((u) => u.docChanged && !u.transactions.some((t) => t.annotation(fromOutside)) && setSource(u.view.state.doc.toString())),
];

/* Other modules show a line by this. */
let view = null;
export function showLine(number) {
    if (!view || number < 1 || number > view.state.doc.lines) return;
    const line = view.state.doc.line(number);
    view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: "center" }) });
}
export const focusEditor = () => view?.focus();

/* Its first line at the top, with what is said before it. */
function showFunction(v, name) {
    const lines = v.state.doc.toString().split("\n");
    let k = lines.findIndex((l) => l.startsWith(`fn ${name}(`));
    while (k > 1 && lines[k - 1].startsWith("#")) k--;
    if (k > 0) v.dispatch({ effects: EditorView.scrollIntoView(v.state.doc.line(k + 1).from, { y: "start", yMargin: 4 }) });
}

function counted() {
    const live = s.running.value?.lines;
    if (live) return liveLines(live);
    return s.profile.value && s.run.value.source === s.source.value ? ownLines(s.profile.value) : [];
}

function follow(v) {
    const ends = [
        effect(() => {
            const text = s.source.value;
            if (text !== v.state.doc.toString())
                v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: text }, annotations: fromOutside.of(true), selection: { anchor: 0 }, scrollIntoView: true });
        }),
        effect(() => {
            s.program.value, s.run.value;
            v.dispatch(setDiagnostics(v.state, diagnosticsOf(v.state.doc)));
        }),
        effect(() => setHeat(v, counted())),
        effect(() => v.dispatch({ effects: stopping.reconfigure(s.has("POST /sessions") ? breakpoints() : []) })),
        effect(() => showMark(v)),
        effect(() => (s.server.value, showStops(v))),
        effect(() => v.dispatch({ effects: writable.reconfigure(EditorState.readOnly.of(s.kept.value)) })),
        effect(() => shownFunction.value && showFunction(v, shownFunction.value.name)),
    ];
    return () => ends.forEach((end) => end());
}

export function Editor() {
    const host = useRef(null);
    useEffect(() => {
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        view = new EditorView({ state: EditorState.create({ doc: s.source.value, extensions: extensions() }), parent: root, root });
        const end = follow(view);
        performance.mark("usable");
        return () => (end(), view.destroy(), (view = null));
    }, []);
    return html`<div class="editor" ref=${host}></div>`;
}

/* language.js: colours of the assembly language in the editor. No token spans lines, so words are matched on what is visible; what is right,
 * the assembler says. */
import { Decoration, MatchDecorator, ViewPlugin } from "@codemirror/view";

const KEYWORDS =
    "fn const include let reg type if else end from while for in step compute do undo forget loop until call uncall unchecked and or not parallel set drop push pop pushc popc assert swap cswap neg inc dec inv rot irot hadamard ihadamard rol ror start halt";
const TYPES = "i64 f64 f32 fix real complex lns acc read own";

/* In the order in which they are tried; a name that is none of these words has no colour. */
const TOKENS = [
    ["comment", "#.*"],
    ["string", '"(?:[^"\\\\]|\\\\.)*"?'],
    ["keyword", `\\b(?:${KEYWORDS.replaceAll(" ", "|")})\\b(?!')`],
    ["type", `\\b(?:${TYPES.replaceAll(" ", "|")})\\b(?!')`],
    ["function", "&[A-Za-z_][\\w']*|\\b[A-Za-z_][\\w']*(?=(?:\\[[^\\]]*\\])?\\()"],
    [null, "\\b[A-Za-z_][\\w']*"],
    ["number", "(?:0x[\\da-f_]+|\\d[\\d_]*(?:\\.(?!\\.)[\\d_]*)?(?:e[+-]?\\d+)?i?|\\.\\d[\\d_]*(?:e[+-]?\\d+)?)"],
    ["operator", "[-+*/^%<>=&|~]+|\\.\\."],
];

const marks = TOKENS.map(([name]) => name && Decoration.mark({ class: `tok-${name}` }));
const decorator = new MatchDecorator({
    regexp: new RegExp(TOKENS.map(([, pattern]) => `(${pattern})`).join("|"), "gi"),
    decoration: (match) => marks[match.slice(1).findIndex((group) => group !== undefined)],
});

export const language = ViewPlugin.define((view) => ({
    decorations: decorator.createDeco(view),
    update(u) {
        this.decorations = decorator.updateDeco(u, this.decorations);
    },
}), { decorations: (plugin) => plugin.decorations });

const OPENS = /^\s*((fn|if|for|while|from|compute|parallel|unchecked|else|do)\b|loop$)/;
const CLOSES = /^\s*((end|undo|forget|loop|else|do)$|until\b)/;
const STEP = 4;

const depth = (text) => /^ */.exec(text)[0].length;

/* The Enter key: as deep as the line before, and a step more behind what opens a block. */
export function newline({ state, dispatch }) {
    const { from, to } = state.selection.main;
    const line = state.doc.lineAt(from);
    const indent = depth(line.text) + (OPENS.test(line.text.slice(0, from - line.from)) ? STEP : 0);
    dispatch(state.update({ changes: { from, to, insert: `\n${" ".repeat(indent)}` }, selection: { anchor: from + 1 + indent }, scrollIntoView: true, userEvent: "input" }));
    return true;
}

/* What closes a block, once typed, goes back a step. */
export function outdent(state, at) {
    const line = state.doc.lineAt(at);
    if (!CLOSES.test(line.text) || line.number === 1) return null;
    const before = state.doc.line(line.number - 1).text;
    const want = Math.max(0, depth(before) - (OPENS.test(before) ? 0 : STEP));
    return depth(line.text) > want ? { from: line.from, to: line.from + depth(line.text) - want } : null;
}

/* editor_keys.js: the editor's keys, by name: CodeMirror's own keymaps would bring its parsers along. Tab is not among them, so that it
 * leaves the editor. */
import * as c from "@codemirror/commands";

const move = (key, run, shift, more) => ({ key, run, shift, preventDefault: true, ...more });

export const editorKeys = [
    ...c.historyKeymap,
    move("ArrowLeft", c.cursorCharLeft, c.selectCharLeft),
    move("ArrowRight", c.cursorCharRight, c.selectCharRight),
    move("ArrowUp", c.cursorLineUp, c.selectLineUp),
    move("ArrowDown", c.cursorLineDown, c.selectLineDown),
    move("Mod-ArrowLeft", c.cursorGroupLeft, c.selectGroupLeft, { mac: "Alt-ArrowLeft" }),
    move("Mod-ArrowRight", c.cursorGroupRight, c.selectGroupRight, { mac: "Alt-ArrowRight" }),
    move("Home", c.cursorLineBoundaryBackward, c.selectLineBoundaryBackward),
    move("End", c.cursorLineBoundaryForward, c.selectLineBoundaryForward),
    move("Mod-Home", c.cursorDocStart, c.selectDocStart),
    move("Mod-End", c.cursorDocEnd, c.selectDocEnd),
    move("PageUp", c.cursorPageUp, c.selectPageUp),
    move("PageDown", c.cursorPageDown, c.selectPageDown),
    { key: "Mod-a", run: c.selectAll },
    { key: "Mod-Backspace", run: c.deleteGroupBackward },
    { key: "Mod-Delete", run: c.deleteGroupForward },
    { key: "Mod-/", run: c.toggleLineComment },
];

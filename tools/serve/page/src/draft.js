/* draft.js: what is in the editor survives a reload, in this browser alone. */
import * as s from "./state.js";

const KEY = "rvm.draft";

export function keepDraft() {
    try {
        localStorage.setItem(KEY, JSON.stringify({ source: s.source.value, name: s.sourceName.value, files: s.files.value, fn: s.fn.value, kind: s.kind.value, args: s.args.value, of: s.of.value, wrt: s.wrt.value, real: s.real.value }));
    } catch {
        /* full, or refused: then it does not survive */
    }
}

export function draft() {
    try {
        return JSON.parse(localStorage.getItem(KEY));
    } catch {
        return null;
    }
}

/* files.js: programs and runs from and to files of whoever looks at the page. A run is exported whole, as one file that the page of another
 * server opens: its source, its call, its results and counts. */
import * as s from "./state.js";
import * as api from "./api.js";
import { open, check, announce } from "./actions.js";

export function save(name, content, type) {
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export const saveSource = () => save(s.sourceName.value, s.source.value, "text/plain");

const FORMAT = "rvm run";
const text = (value) => JSON.stringify(value, (_, v) => (typeof v === "bigint" ? JSON.rawJSON?.(String(v)) ?? String(v) : v), 1);

export function exportRun(run) {
    const { at, source, name, files, real, fn, kind, args, of, wrt, result, profile } = run;
    save(`${fn}.${kind}.rvm.json`, text({ format: FORMAT, version: 1, at, source, name, files, real, fn, kind, args, of, wrt, result, profile }), "application/json");
}

export const EXPORTS = [
    { id: "speedscope", label: "speedscope", ending: "speedscope.json" },
    { id: "folded", label: "folded stacks", ending: "folded" },
    { id: "pprof", label: "pprof", ending: "pb" },
];

export async function exportProfile(run, format) {
    save(`${run.fn}.${run.kind}.${format.ending}`, await api.profileFile(run.id, format.id));
}

async function openRun(found) {
    await open(found);
    const program = await check();
    const { format, version, ...kept } = found;
    const run = { ...kept, id: null, program: program.id };
    s.run.value = run;
    s.runs.value = [run, ...s.runs.value];
}

export async function openFile(input) {
    const file = input.files[0];
    input.value = "";
    if (!file) return;
    const content = await file.text();
    let found = null;
    try {
        found = JSON.parse(content);
    } catch {
        /* a source */
    }
    try {
        if (found?.format === FORMAT) await openRun(found);
        else await open({ source: content, name: file.name });
        announce(`Opened ${file.name}`);
    } catch (error) {
        announce(error.message);
    }
}

/* actions.js: what a user does: check the source, run, take results back as inputs, open an example or a run. */
import { batch, signal } from "@preact/signals";
import * as api from "./api.js";
import * as s from "./state.js";
import { kindOf, outputs } from "./kinds.js";
import { initial, toText } from "./values.js";
import { remember } from "./permalink.js";
import { keepDraft } from "./draft.js";
import * as events from "./events.js";
import { close as closeSession, stops } from "./session.js";

export const announce = (text) => (s.announced.value = text);

/* ---- the connection ---- */

function note(error) {
    if (!(error instanceof api.ApiError)) throw error;
    if (error.status === 401) s.connection.value = "token";
    else if (!error.status) s.connection.value = "down";
}

async function answered(promise) {
    try {
        const answer = await promise;
        if (s.connection.value) s.connection.value = "";
        return answer;
    } catch (error) {
        note(error);
        throw error;
    }
}

/* What the server has. */
export async function meet() {
    try {
        const about = await answered(api.about());
        s.server.value = { routes: new Set(about.routes.map((r) => `${r.method} ${r.path}`)), limits: about.limits, version: about.version, readOnly: about.read_only };
    } catch {
        /* what is wrong stands on the page */
    }
}

/* ---- the source ---- */

let asked = null;
let timer = 0;

export function setSource(text, name) {
    s.source.value = text;
    if (name) s.sourceName.value = name;
    keepDraft();
    clearTimeout(timer);
    timer = setTimeout(() => check().catch(() => {}), 250);
}

function suitArguments(f) {
    const old = s.args.value;
    s.args.value = Object.fromEntries((f?.parameters ?? []).map((p) => [p.name, old[p.name] ?? initial(p)]));
    const can = outputs(f);
    if (!can.some((o) => o === s.of.value || s.of.value.startsWith(o.split("[")[0]))) s.of.value = can[0] ?? "";
}

export function chooseReal(real) {
    s.real.value = real;
    keepDraft();
    check().catch(() => {});
}

export function chooseFunction(name) {
    batch(() => {
        s.fn.value = name;
        suitArguments(s.theFunction.value);
        if (kindOf(s.kind.value).of && !s.of.value) s.kind.value = "run";
    });
}

/* Functions that others call are likelier parts than wholes: the last one of its own is what a reader of the source would run. */
const likely = (functions, text) => {
    const own = functions.filter((f) => !f.name.includes("'") && new RegExp(`^fn ${f.name}\\(`, "m").test(text));
    return (own.find((f) => f.name === "main") ?? own[own.length - 1] ?? functions[0])?.name ?? "";
};

/* The call fits the program. */
function suit() {
    if (!s.theFunction.value) s.fn.value = likely(s.program.value.functions, s.source.value);
    suitArguments(s.theFunction.value);
}

/* Counts what is opened: what comes late for it is not shown. */
let opening = 0;
export const isAnyOpen = () => opening > 0;

/* A program of the server, by its id. */
export async function openKept(id, call = {}) {
    const mine = ++opening;
    const whole = await answered(api.programWhole(id));
    if (mine === opening) await open({ ...call, ...whole, kept: whole.kept || s.server.value.readOnly });
}

/* Uploads the source, unless that was done; resolves to the program. */
export async function check() {
    clearTimeout(timer);
    if (s.kept.value) return s.program.value;
    const text = s.source.value;
    const real = s.real.value;
    if (s.program.value?.text === text && s.program.value.real === s.real.value) return s.program.value;
    asked?.abort();
    asked = new AbortController();
    s.checking.value = true;
    try {
        const answer = await answered(api.upload(text, s.sourceName.value, s.files.value, real, asked.signal));
        if (s.source.value !== text || s.real.value !== real) return check();
        batch(() => {
            s.program.value = { ...answer, ok: answer.ok !== false && !!answer.id, functions: answer.functions ?? [], diagnostics: answer.diagnostics ?? [], text, real };
            s.checking.value = false;
            if (!s.program.value.ok) return;
            suit();
        });
        return s.program.value;
    } catch (error) {
        if (error.name !== "AbortError") {
            s.checking.value = false;
            if (error.body?.diagnostics) s.program.value = { ok: false, functions: [], text, real, ...error.body };
            else if (error.status) s.program.value = { ok: false, functions: [], diagnostics: [{ severity: "error", code: error.code ?? String(error.status), message: error.message }], text, real };
        }
        throw error;
    }
}

/* ---- runs ---- */

/* One at a time, but for what was opened before. */
const isRunning = (mine) => s.running.value?.opening === mine;

/* Waits for a run that takes longer; how far it is, events tell, too. */
async function finished(answer, mine) {
    while (answer.state === "running" || answer.state === "waiting") {
        if (isRunning(mine)) s.running.value = { ...s.running.value, id: answer.id, instructions: answer.instructions, share: answer.share };
        await new Promise((r) => setTimeout(r, 250));
        answer = await answered(api.getRun(answer.id));
    }
    return answer;
}

events.on("live", (live) => {
    if (s.running.value?.id === live.id) s.running.value = { ...s.running.value, ...live };
});

async function profileOf(answer) {
    return answer.profiled ? api.profile(answer.id) : null;
}

/* The program that is open. */
const here = () => ({ source: s.source.value, name: s.sourceName.value, files: s.files.value, kept: s.kept.value, info: s.kept.value ? s.program.value : null, real: s.real.value });

/* A run of the server as the page shows it. */
export async function shown(answer, request) {
    const profile = await profileOf(answer);
    return { id: answer.id, ...request, result: answer, profile, ...here(), at: Date.now() };
}

export const callOf = (program) => {
    const { profile, ...call } = requestOf(program);
    return call;
};

function requestOf(program) {
    const kind = kindOf(s.kind.value);
    const given = Object.entries(s.args.value).filter(([, text]) => text.trim() !== "");
    const request = { program: program.id, fn: s.fn.value, kind: kind.id, args: Object.fromEntries(given.map(([k, v]) => [k, v.trim()])) };
    if (kind.of && s.of.value) request.of = s.of.value;
    if (kind.wrt && s.wrt.value.trim()) request.wrt = s.wrt.value.trim();
    if (kind.profiled) request.profile = true;
    return request;
}

const failure = (error) => ({ ok: false, error: { code: error.code ?? "SERVER", message: error.message, ...error.body?.error } });

export async function start() {
    if (isRunning(opening)) return;
    s.running.value = { since: Date.now(), opening };
    const mine = opening; /* a run that ends when another program is open is in the list alone */
    let request = null;
    try {
        const program = await check();
        if (!program.ok) return announce("The program has errors");
        request = requestOf(program);
        const where = here();
        const run = { ...(await shown(await finished(await answered(api.startRun(request)), mine), request)), ...where };
        batch(() => {
            s.runs.value = [run, ...s.runs.value.filter((r) => r.id !== run.id)].slice(0, 100);
            if (mine !== opening) return;
            s.run.value = run;
            if (s.panel.value === "runs" || s.panel.value === "intro") s.panel.value = "result";
        });
        if (mine !== opening) return;
        remember(run);
        announce(run.result.ok === false ? `Failed: ${run.result.error?.message}` : "Done");
    } catch (error) {
        if (error.name === "AbortError") return;
        if (mine !== opening) return;
        if (request) s.run.value = { ...request, result: failure(error), profile: null, ...here() };
        announce(error.message);
    } finally {
        if (isRunning(mine)) s.running.value = null;
    }
}

export async function cancel() {
    const id = s.running.value?.id;
    if (id) await api.deleteRun(id).catch(() => {});
}

/* Results become arguments; then the other way. */
export function takeBack() {
    const run = s.run.value;
    batch(() => {
        s.args.value = { ...s.args.value, ...Object.fromEntries(Object.entries(run.result.values).map(([k, v]) => [k, toText(v)])) };
        s.kind.value = run.kind === "backward" ? "run" : "backward";
    });
    return start();
}

/* ---- opening ---- */

export async function open({ source, name, files = null, kept = false, info = null, fn, kind = "run", args = {}, of = "", wrt = "", real = "f64" }) {
    opening++;
    closeSession();
    batch(() => {
        if (source !== s.source.value) stops.value = [];
        s.run.value = null;
        s.files.value = files;
        s.kept.value = kept;
        s.program.value = kept ? { ...info, ok: true, text: source, real } : null;
        s.source.value = source;
        s.sourceName.value = name ?? "program.rasm";
        s.fn.value = fn ?? "";
        s.kind.value = kind;
        s.args.value = args;
        s.of.value = of;
        s.wrt.value = wrt;
        s.real.value = real;
        s.panel.value = "result";
    });
    if (!kept) keepDraft();
    if (kept) suit();
    else await check();
    shownFunction.value = { name: s.fn.value };
}

/* The function whose definition the editor is to show. */
export const shownFunction = signal(null);

/* Shows a run again, with its program and its call. */
export async function show(run) {
    await open({ ...run, args: Object.fromEntries(Object.entries(run.args).map(([k, v]) => [k, typeof v === "string" ? v : toText(v)])) });
    s.run.value = run;
    remember(run);
}

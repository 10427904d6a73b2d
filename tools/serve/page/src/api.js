/* api.js: the server's HTTP API (docs/server.md), by name. What a server does not have is found out once, from its list of routes. */
import { parse } from "./json.js";
import { token } from "./token.js";

const BASE = "/api/v1";

/* An answer that is no result: its HTTP status, and the error of `--json` where there is one. */
export class ApiError extends Error {
    constructor(status, body) {
        super(body?.error?.message ?? (status ? `the server answered ${status}` : "the server does not answer"));
        this.status = status;
        this.body = body;
        this.code = body?.error?.code;
    }
}

const headers = (more) => ({ ...(token() ? { Authorization: `Bearer ${token()}` } : {}), ...more });

export async function request(method, path, body, type, signal, more = {}) {
    let response;
    try {
        response = await fetch(BASE + path, { method, body, signal, headers: headers(type ? { "Content-Type": type, ...more } : more) });
    } catch (e) {
        if (e.name === "AbortError") throw e;
        throw new ApiError(0, null);
    }
    return response;
}

async function json(method, path, body, type, signal) {
    const response = await request(method, path, body, type, signal);
    let answer = null;
    try {
        answer = parse(await response.text());
    } catch {
        /* no JSON: the status tells */
    }
    /* What was uploaded or run is wrong, and the body says where: that is an answer. */
    const told = answer && ((response.status === 400 && answer.diagnostics) || response.status === 422);
    if (!response.ok && !told) throw new ApiError(response.status, answer);
    return answer ?? {};
}

const send = (method, path, value) => json(method, path, JSON.stringify(value), "application/json");

/* files: other sources, of which the one called `name` includes some; or null. */
export function upload(source, name, files, real, signal) {
    const path = `/programs?name=${encodeURIComponent(name)}&real=${real}`;
    const whole = files && JSON.stringify({ main: name, files: { ...files, [name]: source } });
    return json("POST", path, whole ?? source, files ? "application/json" : "text/plain; charset=utf-8", signal);
}

async function text(path) {
    const response = await request("GET", path);
    if (!response.ok) throw new ApiError(response.status, null);
    return { type: response.headers.get("Content-Type") ?? "", body: await response.text() };
}

/* {source, name, real, files, info, kept}: what was uploaded; of bytecode its listing, which cannot be uploaded again. */
export async function programWhole(id) {
    const info = await program(id);
    const { type, body } = await text(`/programs/${id}/source`);
    const found = { name: info.name, real: info.real, files: null, kept: false, info };
    if (type.startsWith("text/plain")) return { ...found, source: body };
    if (!type.startsWith("application/json")) return { ...found, source: (await text(`/programs/${id}/listing`)).body, kept: true };
    const { main, files } = parse(body);
    return { ...found, source: files[main], name: main, files };
}
export const listPrograms = () => json("GET", "/programs");
export const program = (id) => json("GET", `/programs/${id}`);
export const startRun = (run) => send("POST", "/runs", run);
export const getRun = (id) => json("GET", `/runs/${id}`);
export const runRequest = (id) => json("GET", `/runs/${id}/request`);
export const listRuns = () => json("GET", "/runs");
export const pinRun = (id, on) => json(on ? "PUT" : "DELETE", `/runs/${id}/pin`);
export const deleteRun = (id) => json("DELETE", `/runs/${id}`);
export const profile = (id) => json("GET", `/runs/${id}/profile?format=json`);
export async function profileFile(id, format) {
    const response = await request("GET", `/runs/${id}/profile?format=${format}`);
    if (!response.ok) throw new ApiError(response.status, null);
    return response.blob();
}

export const openSession = (call) => send("POST", "/sessions", call);
export const closeSession = (id) => json("DELETE", `/sessions/${id}`);
export const leaveSession = (id) => fetch(`${BASE}/sessions/${id}`, { method: "DELETE", headers: headers(), keepalive: true }).catch(() => {});
export const move = (id, what) => send("POST", `/sessions/${id}/move`, what);
export const setStops = (id, stops) => send("PUT", `/sessions/${id}/stops`, { lines: stops.map((p) => (p.condition ? { line: p.line, if: p.condition } : p.line)) });
export const sessionLog = (id, what) => send("POST", `/sessions/${id}/log`, what);

/* What this server has and allows: {version, limits, routes: ["GET /runs", ...]}. */
export const about = () => json("GET", "");

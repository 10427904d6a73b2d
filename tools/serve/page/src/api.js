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

export const upload = (source, name, real, signal) => json("POST", `/programs?name=${encodeURIComponent(name)}&real=${real}`, source, "text/plain; charset=utf-8", signal);
export const programSource = async (id) => {
    const response = await request("GET", `/programs/${id}/source`);
    if (!response.ok) throw new ApiError(response.status, null);
    return response.text();
};
export const program = (id) => json("GET", `/programs/${id}`);
export const startRun = (run) => send("POST", "/runs", run);
export const getRun = (id) => json("GET", `/runs/${id}`);
export const runRequest = (id) => json("GET", `/runs/${id}/request`);
export const listRuns = () => json("GET", "/runs");
export const deleteRun = (id) => json("DELETE", `/runs/${id}`);
export const profile = (id) => json("GET", `/runs/${id}/profile?format=json`);
export async function profileFile(id, format) {
    const response = await request("GET", `/runs/${id}/profile?format=${format}`);
    if (!response.ok) throw new ApiError(response.status, null);
    return response.blob();
}

/* What this server has and allows: {version, limits, routes: ["GET /runs", ...]}. */
export const about = () => json("GET", "");

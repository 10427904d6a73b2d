/* connection.js: what stands between the page and its server: a token that is missing or wrong, or a server that is gone, which is asked
 * again until it is back. */
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import * as s from "./state.js";
import { setToken } from "./token.js";
import { meet, check } from "./actions.js";
import * as events from "./events.js";

const AGAIN = 2000;

events.on("closed", ({ status }) => (s.connection.value = status === 401 ? "token" : status ? s.connection.value : "down"));
events.on("open", () => s.connection.value === "down" && back());

async function back() {
    s.program.value = null;
    await meet();
    if (!s.connection.value) await check().catch(() => {});
}

function Token() {
    const [text, setText] = useState("");
    const enter = (e) => (e.preventDefault(), setToken(text.trim().replace(/^.*token=/, "")), back());
    return html`<form class="notice" role="alert" onSubmit=${enter}><label for="token">This server wants its token, which it printed where it was started: paste it, or the whole address.</label>
        <input id="token" class="mono" type="password" autocomplete="off" value=${text} onInput=${(e) => setText(e.target.value)} /><button>Enter</button></form>`;
}

export function Connection() {
    const wrong = s.connection.value;
    useEffect(() => {
        if (wrong !== "down") return;
        const timer = setInterval(back, AGAIN);
        return () => clearInterval(timer);
    }, [wrong]);
    if (wrong === "token") return html`<${Token} />`;
    if (wrong === "down") return html`<p class="notice" role="alert">The server does not answer. What you write stays here; the page tries again by itself.</p>`;
    return null;
}

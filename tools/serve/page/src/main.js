/* main.js: begins: the token, the server, then what the address links to, or what was in the editor last, or the first example. */
import { render } from "preact";
import { html } from "htm/preact";
import { takeToken } from "./token.js";
import { App } from "./app.js";
import { callOf, isAnyOpen, meet, open, openKept, show } from "./actions.js";
import { canTravel, openSession } from "./session.js";
import { whole } from "./run_list.js";
import { linked } from "./permalink.js";
import { draft } from "./draft.js";
import { listen } from "./keys.js";
import { EXAMPLES } from "./examples.js";
import { openExample } from "./intro.js";
import { loadPrograms, programs } from "./programs.js";
import * as s from "./state.js";
import * as events from "./events.js";
import "./page.css";

async function follow(link) {
    if (!link.run) return openKept(link.program);
    await show(await whole({ id: link.run, at: Date.now(), program: link.program, head: true }));
    if (link.position && canTravel()) await openSession(callOf(s.program.value), link.position).catch(() => {});
}

/* A read-only server has programs of its own. */
async function first() {
    const kept = draft();
    if (!s.server.value.readOnly) return kept ? open(kept) : openExample(EXAMPLES[0]);
    await loadPrograms();
    if (programs.value.length) return openKept(programs.value[0].id);
}

async function begin() {
    takeToken();
    const link = linked();
    const host = document.getElementById("page");
    host.replaceChildren();
    render(html`<${App} />`, host);
    listen();
    await meet();
    events.begin();
    if (!isAnyOpen()) await (link ? follow(link).catch(first) : first()); /* who clicks at once has chosen */
}

begin().catch(() => {}); /* what the server said stands on the page */

/* main.js: begins: the token, the server, then what the address links to, or what was in the editor last, or the first example. */
import { render } from "preact";
import { html } from "htm/preact";
import { takeToken } from "./token.js";
import { App } from "./app.js";
import { meet, open, show } from "./actions.js";
import { whole } from "./run_list.js";
import { linked } from "./permalink.js";
import { draft } from "./draft.js";
import { listen } from "./keys.js";
import { EXAMPLES } from "./examples.js";
import { openExample } from "./intro.js";
import * as api from "./api.js";
import * as events from "./events.js";
import "./page.css";

async function follow(link) {
    if (link.run) return show(await whole({ id: link.run, at: Date.now(), program: link.program, head: true }));
    const { name, real } = await api.program(link.program);
    return open({ source: await api.programSource(link.program), name, real });
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
    const kept = draft();
    const first = () => (kept ? open(kept) : openExample(EXAMPLES[0]));
    await (link ? follow(link).catch(first) : first());
}

begin().catch(() => {}); /* what the server said stands on the page */

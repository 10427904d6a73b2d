/* line_log.js: values at a line, logged afterwards: all that passed there in the whole run, without running it again by hand. */
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import * as t from "./session.js";
import * as api from "./api.js";
import * as s from "./state.js";
import { toText } from "./values.js";
import { count } from "./format.js";

const SHOWN = 500;

export function Log() {
    const [line, setLine] = useState("");
    const [names, setNames] = useState("");
    const [entries, setEntries] = useState(null);
    const ask = async (e) => {
        e.preventDefault();
        const places = names.split(/[\s,]+/).filter(Boolean);
        try {
            const answer = await api.sessionLog(t.session.value.id, { line: Number(line || t.line.value), from: t.session.value.kind === "backward" ? -t.session.value.forward : 0, to: "end", swept: false, ...(places.length ? { places } : {}) });
            setEntries(answer.entries ?? []);
            if (answer.ok === false && !answer.entries?.length) s.announced.value = answer.error.message;
        } catch (error) {
            s.announced.value = error.message;
        }
    };
    return html`<form class="log" onSubmit=${ask}><label>Log at line <input class="mono" inputmode="numeric" placeholder=${String(t.line.value || "")} value=${line} onInput=${(e) => setLine(e.target.value)} /></label>
        <label>places <input class="mono" placeholder="all" value=${names} onInput=${(e) => setNames(e.target.value)} /></label><button class="small">Log</button></form>
        ${entries && html`<div class="scroll" tabindex="0" role="region" aria-label="Log"><table><thead><tr><th scope="col">position</th><th scope="col">places</th></tr></thead><tbody>${entries.slice(0, SHOWN).map(
            (e) => html`<tr key=${e.position.at}><th scope="row"><button class="link" onClick=${() => t.move({ to: e.position.at, swept: e.position.swept })}>${count(e.position.at)}</button></th><td class="mono">${e.places.map((p) => `${p.name} = ${toText(p.value)}`).join("  ")}</td></tr>`,
        )}</tbody></table></div><p class="quiet">${count(entries.length)} times${entries.length > SHOWN ? `, of which ${SHOWN} are shown` : ""}</p>`}`;
}

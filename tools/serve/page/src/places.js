/* places.js: what is held where a session stands: values, what changed since the last move, shadows beside them, and for each the way back to
 * where it was written last. */
import { html } from "htm/preact";
import * as t from "./session.js";
import { Numbers } from "./numbers.js";

/* Elements come in one list, row by row. */
function nested(list, shape) {
    if (shape.length < 2) return list;
    const size = list.length / shape[0];
    return Array.from({ length: shape[0] }, (_, k) => nested(list.slice(k * size, (k + 1) * size), shape.slice(1)));
}

/* An array of which only a part came is shown as a list. */
const whole = (value, shape) => (Array.isArray(value) && shape.reduce((a, b) => a * b, 1) === value.length ? nested(value, shape) : value);

const text = (x) => JSON.stringify(x, (_, v) => (typeof v === "bigint" ? String(v) : v));

/* Since the last move, within the same function. */
function isChanged(place, key) {
    const then = t.before.value;
    if (!then || then.frames[0]?.function !== t.here.value.frames[0]?.function) return false;
    const old = then.places.find((p) => p.name === place.name);
    return !old || text(old[key]) !== text(place[key]);
}

function Cell({ place, name, coloured }) {
    const changed = isChanged(place, name);
    return html`<td class=${changed ? "changed" : ""}>${changed && html`<span class="unseen">changed: </span>`}<${Numbers} name=${place.name} value=${whole(place[name], place.shape)} coloured=${coloured} /></td>`;
}

export function Places() {
    const { places } = t.here.value;
    if (!places.length) return html`<p class="quiet">Nothing is held here.</p>`;
    const shadows = places.some((p) => "shadow" in p);
    return html`<table class="values places"><thead><tr><th scope="col">place</th><th scope="col">value</th>${shadows && html`<th scope="col">shadow</th>`}<th scope="col"><span class="unseen">last write</span></th></tr></thead><tbody>${places.map(
        (p) => html`<tr key=${p.name}><th scope="row" class="mono">${p.name}</th><${Cell} place=${p} name="value" />${shadows && ("shadow" in p ? html`<${Cell} place=${p} name="shadow" coloured=${true} />` : html`<td class="quiet">–</td>`)}
            <td><button class="small" title="back to where it was written last" aria-label=${`Back to the last write of ${p.name}`} onClick=${() => t.move({ write: p.name })}><span aria-hidden="true">↶ </span>last write</button></td></tr>`,
    )}</tbody></table>`;
}

/* flame.js: the flame graph's panel: what it shows, and how it is moved in, by pointer and by keys. */
import { html } from "htm/preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import * as s from "./state.js";
import { MODES, modePatterns } from "./modes.js";
import { callTree, differences } from "./call_tree.js";
import { layOut, nodeAt } from "./flame_layout.js";
import { draw, ROW } from "./flame_draw.js";
import { changePatterns } from "./change_patterns.js";
import { scheme } from "./scheme.js";
import { count, percent } from "./format.js";
import { useWidth } from "./use_width.js";
import { showLine } from "./editor.js";
import { liveProfile } from "./live_profile.js";

function paintsOf(context) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const font = `12px ${colour("--mono")}`;
    context.font = font;
    const fill = changePatterns(context, style);
    const patterns = modePatterns(context, style);
    MODES.forEach((m, k) => (fill[k] = patterns[m.id]));
    fill[-1] = colour("--all");
    return { fill, font, ink: colour("--text"), plate: colour("--plate"), letter: context.measureText("m").width };
}

/* Where a key goes from node k. */
function step(tree, layout, k, key) {
    const parent = tree.parent[k];
    const siblings = (of) => {
        const list = [];
        for (let c = layout.first[of]; c >= 0; c = layout.next[c]) list.push(c);
        return list;
    };
    if (key === "ArrowUp") return parent >= 0 ? parent : k;
    if (key === "ArrowDown") return layout.first[k] >= 0 ? layout.first[k] : k;
    if (parent < 0) return k;
    const list = siblings(parent);
    return list[list.indexOf(k) + (key === "ArrowRight" ? 1 : -1)] ?? k;
}

/* Of a tree of which a smaller one may have been shown. */
const within = (tree, k) => (k < tree.parent.length ? k : 0);

/* What is selected, and what the whole width shows, after a key. */
function pressed(tree, layout, { selected, zoom }, key) {
    const k = within(tree, selected);
    if (key === "Enter") return { selected: k, zoom: k };
    if (key === "Escape") return { selected: k, zoom: 0 };
    return { selected: step(tree, layout, k, key), zoom };
}

function describe(tree, k, change) {
    const names = [];
    for (let q = k; q >= 0; q = tree.parent[q]) names.unshift(tree.names[tree.name[q]]);
    const parts = [`${names.slice(1).join(" → ") || names[0]}: ${count(tree.total[k])} instructions, ${percent(tree.total[k], tree.total[0])}`];
    if (tree.own[k] !== tree.total[k]) parts.push(`own ${count(tree.own[k])}`);
    if (change) parts.push(change[k] ? `${change[k] > 0 ? "+" : "−"}${count(Math.abs(change[k]))}` : "as before");
    return parts.join(", ");
}

export function FlameCanvas({ tree, layout, change, profile, search }) {
    const host = useRef(null);
    const canvas = useRef(null);
    const width = useWidth(host);
    const [view, setView] = useState({ selected: 0, zoom: 0 });
    useEffect(() => setView({ selected: 0, zoom: 0 }), [profile.live || tree]);
    const at = within(tree, view.zoom);
    const chosen = within(tree, view.selected);
    const select = (k) => k >= 0 && setView((v) => ({ ...v, selected: k }));
    const height = layout.rows * ROW;
    const found = useMemo(() => search && new Set(tree.names.map((n, k) => (n.toLowerCase().includes(search.toLowerCase()) ? k : -1))), [search, tree]);
    useLayoutEffect(() => {
        const ratio = devicePixelRatio || 1;
        canvas.current.width = width * ratio;
        canvas.current.height = height * ratio;
        canvas.current.style.width = `${width}px`;
        canvas.current.style.height = `${height}px`;
        const context = canvas.current.getContext("2d");
        const start = performance.now();
        context.scale(ratio, ratio);
        draw(context, { tree, layout, width, height, top: 0, from: layout.left[at], span: tree.total[at] || 1, paints: paintsOf(context), selected: chosen, found, change });
        performance.measure("flame", { start });
    }, [tree, layout, width, at, chosen, found, change, scheme.value]);
    const under = (e) => {
        const x = layout.left[at] + (e.offsetX / width) * tree.total[at];
        return nodeAt(tree, layout, x, Math.floor(e.offsetY / ROW));
    };
    /* By what the last key led to, which may not have been drawn. */
    const key = (e) => {
        if (!/^(Arrow.*|Enter|Escape)$/.test(e.key)) return;
        e.preventDefault();
        setView((v) => pressed(tree, layout, v, e.key));
    };
    const line = profile?.paths[tree.path[chosen]]?.line;
    return html`<div class="flame" ref=${host}>
        <canvas ref=${canvas} tabindex="0" role="application" aria-label="Flame graph: arrow keys move, Enter zooms in, Escape out" onMouseMove=${(e) => select(under(e))} onClick=${(e) => { const k = under(e); if (k >= 0) setView({ selected: k, zoom: k }); }} onKeyDown=${key} />
        <p class="told" aria-live=${profile.live ? "off" : "polite"}>${describe(tree, chosen, change)}${line ? html` <button class="link" onClick=${() => showLine(line)}>called in line ${line}</button>` : ""}</p>
        ${at > 0 && html`<button class="small" onClick=${() => setView((v) => ({ ...v, zoom: 0 }))}>Whole graph</button>`}
    </div>`;
}

function Legend({ modes }) {
    return html`<ul class="legend">${MODES.filter((m) => modes[m.id]).map((m) => html`<li><span class=${`swatch m-${m.id}`} /> ${m.label} <span class="quiet">${m.what}</span></li>`)}</ul>`;
}

const Choice = ({ label, value, set, options }) =>
    html`<div class="choice" role="group" aria-label=${label}>${options.map(([v, text]) => html`<button class="small" aria-pressed=${v === value} onClick=${() => set(v)}>${text}</button>`)}</div>`;

export function Flame() {
    const live = liveProfile.value;
    const profile = live ?? s.profile.value;
    const [inverted, setInverted] = useState(false);
    const [order, setOrder] = useState("time");
    const [byMode, setByMode] = useState(true);
    const [search, setSearch] = useState("");
    const against = live ? null : (s.base.value?.profile ?? null);
    const tree = useMemo(() => profile && callTree(profile, { inverted, byMode }), [profile, inverted, byMode]);
    const layout = useMemo(() => tree && layOut(tree, order), [tree, order]);
    const compared = useMemo(() => tree && against && against !== profile && differences(tree, callTree(against, { inverted, byMode })), [tree, against, profile]);
    if (!profile) return html`<p class="quiet">A run, a backward run and a gradient count exactly what they execute; the graph of it stands here.</p>`;
    return html`<div>
        ${live && html`<p class="against">The run goes on: its busiest call paths so far.</p>`}
        <div class="bar">
            <${Choice} label="Direction" value=${inverted} set=${setInverted} options=${[[false, "Callers first"], [true, "Inverted"]]} />
            <${Choice} label="Order" value=${order} set=${setOrder} options=${[["time", "In order of time"], ["size", "Largest first"]]} />
            <${Choice} label="Modes" value=${byMode} set=${setByMode} options=${[[true, "By mode"], [false, "Together"]]} />
            <input class="search" type="search" placeholder="Find a function" aria-label="Find a function" value=${search} onInput=${(e) => setSearch(e.target.value)} />
        </div>
        ${compared && html`<p class="against">Compared with <b class="mono">${s.base.value.fn} ${s.base.value.kind}</b>: width is now, colour is change. <button class="small" onClick=${() => (s.base.value = null)}>Compare no more</button></p>`}
        <${FlameCanvas} tree=${tree} layout=${layout} change=${compared ? compared.change : null} profile=${profile} search=${search} />
        ${compared ? html`<${Changes} tree=${tree} compared=${compared} />` : html`<${Legend} modes=${profile.modes} />`}
    </div>`;
}

function Changes({ compared }) {
    const nothing = compared.change.every((c) => c === 0) && !compared.gone.length;
    if (nothing) return html`<p class="moral">Nothing changed: both runs executed the same instructions.</p>`;
    return html`<ul class="legend"><li><span class="swatch c-more" /> more than before</li><li><span class="swatch c-less" /> less</li><li><span class="swatch c-same" /> as before</li></ul>
        ${compared.gone.length > 0 && html`<h3>Gone</h3><ul class="gone">${compared.gone.slice(0, 50).map((g) => html`<li><span class="mono">${g.names.join(" → ")}</span> <span class="quiet">${count(g.total)} instructions</span></li>`)}</ul>`}`;
}

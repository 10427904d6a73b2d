/* page.mjs RVM [STEPS]: what a user of the page waits for, in chromium against a server of its own: the page, and steps of a session by its
 * own buttons, as often as a key that is held repeats. */
import { startServer } from "../../tools/serve/page/test/server.mjs";
import { startBrowser } from "./browser.mjs";

const [rvm, given] = process.argv.slice(2);
const STEPS = Number(given ?? 400);
const LOADS = 21;
const REPEAT_MS = 33;

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
function tell(what, times) {
    const sorted = [...times].sort((a, b) => a - b);
    console.log(`${what.padEnd(42)} p50 ${at(sorted, 0.5).toFixed(1).padStart(5)} ms   p99 ${at(sorted, 0.99).toFixed(1).padStart(5)} ms   of ${sorted.length}`);
}

/* What expressions below call. */
const HELPERS = `
    globalThis.pause = (ms) => new Promise((r) => setTimeout(r, ms));
    globalThis.until = async (found) => { for (;;) { const x = found(); if (x) return x; await pause(5); } };
    globalThis.press = (text) => until(() => [...document.querySelectorAll("button")].find((b) => b.textContent.includes(text) && !b.disabled)).then((b) => b.click());
    globalThis.moved = () => new Promise((r) => new PerformanceObserver((list, o) => { const [m] = list.getEntriesByName("move"); if (m) o.disconnect(), r(m.startTime + m.duration); }).observe({ type: "measure" }));
    globalThis.painted = () => new Promise((r) => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => r(performance.now()); c.port2.postMessage(0); }));
    globalThis.often = async (n, once) => { const all = []; for (let k = 0; k < n; k++) { const start = performance.now(); all.push(await once(start)); await pause(${REPEAT_MS} - (performance.now() - start)); } return all; };
    true`;

/* [ms until the page has the answer, ms until a frame shows it]. */
const steps = (label) => `often(${STEPS}, async (start) => { const there = moved(); document.querySelector('[aria-label="${label}"]').click(); const t = await there; return [t - start, await painted() - start]; })`;
const bare = `often(${STEPS}, async (start) => { await (await fetch("/healthz")).text(); return performance.now() - start; })`;
const usable = `until(() => performance.getEntriesByName("usable")[0]?.startTime)`;

async function loads(browser, url) {
    const all = [];
    for (let k = 0; k < LOADS; k++) {
        const page = await browser.open(url);
        await page.ask(HELPERS);
        all.push(await page.ask(usable));
        await page.close();
    }
    return all;
}

async function session(browser, url) {
    const page = await browser.open(url);
    await page.ask(HELPERS);
    await page.ask(`press("Mixture").then(() => until(() => document.querySelector(".number.positive"))).then(() => true)`);
    await page.ask(`until(() => [...document.querySelectorAll("[role=tab]")].find((t) => t.textContent.startsWith("Step"))).then((t) => t.click())`);
    await page.ask(`press("Step through this call").then(() => until(() => document.querySelector("[aria-label=Position]"))).then(() => pause(500))`);
    return page;
}

const server = await startServer(rvm);
const browser = await startBrowser();
try {
    tell("the page is usable, nothing cached", await loads(browser, server.open));
    const page = await session(browser, server.open);
    tell("a bare request, /healthz", await page.ask(bare));
    for (const label of ["an instruction", "an instruction back", "a line", "a line back"]) {
        const times = await page.ask(steps(label));
        tell(`${label}: the answer is there`, times.map(([there]) => there));
        tell(`${label}: a frame shows it`, times.map(([, shown]) => shown));
    }
} finally {
    await browser.stop();
    await server.stop();
    server.clean();
}

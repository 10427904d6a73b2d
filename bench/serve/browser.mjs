/* browser.mjs: a chromium that is only told expressions. What a driver of tests watches besides (each request, with the stack that made it)
 * would be measured, too. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHROMIUM } from "../../tools/serve/page/test/server.mjs";

/* Its protocol over pipes: JSON, each message ended by a zero. */
function protocol(child) {
    const waiting = new Map();
    let last = 0, text = "";
    child.stdio[4].setEncoding("utf8").on("data", (d) => {
        const messages = (text + d).split("\0");
        text = messages.pop();
        for (const { id, result, error } of messages.map((m) => JSON.parse(m)).filter((m) => m.id)) {
            const { resolve, reject } = waiting.get(id);
            error ? reject(new Error(error.message)) : resolve(result);
        }
    });
    return (method, params = {}, sessionId = undefined) =>
        new Promise((resolve, reject) => {
            waiting.set(++last, { resolve, reject });
            child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
        });
}

async function evaluate(send, sessionId, expression) {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
}

export async function startBrowser() {
    if (!CHROMIUM) throw new Error("chromium is not installed");
    const folder = mkdtempSync(join(tmpdir(), "rvm-browser-"));
    const child = spawn(CHROMIUM, ["--headless", "--no-sandbox", "--remote-debugging-pipe", `--user-data-dir=${folder}`], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const over = new Promise((r) => child.on("exit", r));
    const send = protocol(child);
    return {
        /* A page that shares nothing with those before; {ask: its value of an expression, close}. */
        async open(url) {
            const { browserContextId } = await send("Target.createBrowserContext");
            const { targetId } = await send("Target.createTarget", { url, browserContextId, width: 1400, height: 1000 });
            const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
            return { ask: (expression) => evaluate(send, sessionId, expression), close: () => send("Target.disposeBrowserContext", { browserContextId }) };
        },
        async stop() {
            await send("Browser.close").catch(() => {});
            await over;
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

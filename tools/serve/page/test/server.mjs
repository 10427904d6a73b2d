/* server.mjs: a server for a test: started on a port of its own, with a store in a folder of its own; it can be stopped and started again. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/* Undefined: none is installed. */
export const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

const TOKEN = "a-token-for-this-test-alone";

export async function startServer(rvm, { port = 0, folder = mkdtempSync(join(tmpdir(), "rvm-page-")), more = [] } = {}) {
    writeFileSync(join(folder, "token"), TOKEN);
    const child = spawn(rvm, ["serve", "--listen", `127.0.0.1:${port}`, "--store", join(folder, "store.db"), "--token-file", join(folder, "token"), "--log", "error", ...more], { stdio: ["ignore", "pipe", "inherit"] });
    process.once("exit", () => child.kill("SIGTERM")); /* however the test ends */
    const line = await new Promise((resolve, reject) => {
        let text = "";
        child.stdout.on("data", (d) => (text += d).includes("\n") && resolve(text));
        child.on("exit", (code) => reject(new Error(`rvm serve ended with ${code}`)));
    });
    const url = line.trim().split("#")[0];
    const over = new Promise((r) => child.on("exit", r));
    return {
        url,
        open: `${url}#token=${TOKEN}`,
        ask: (path, { type, ...rest } = {}) => fetch(url + path.slice(1), { ...rest, headers: { Authorization: `Bearer ${TOKEN}`, ...(type ? { "Content-Type": type } : {}) } }),
        stop: () => (child.kill("SIGTERM"), over),
        again: () => startServer(rvm, { port: new URL(url).port, folder, more }),
        clean: () => rmSync(folder, { recursive: true, force: true }),
    };
}

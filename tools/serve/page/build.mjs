/* build.mjs OUT [--table]: bundles the page into the folder OUT: index.html, page.js, page.css, icon.svg. With --table, also writes
 * OUT/page_files.c: these files, gzipped, as the table of page_files.h. */
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync, copyFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
/* Where examples/ and std/ stand; the build's copy of this folder lies elsewhere. */
const root = process.env.RVM_ROOT ?? resolve(here, "../../..");
const [out, table] = process.argv.slice(2);

/* Numbers for the test runner are of no use to a reader. */
const readable = (text) => text.replace(/^#: .*\n/gm, "");

/* What a program includes stands in the same paths on the server, from std/ on. */
const standard = (text) => text.replace(/^(include ")(?:\.\.\/)+(std\/)/gm, "$1$2");
const whole = (text) => text.replace(/^include "(std\/[^"]+)"\n?/gm, (_, path) => `\n${readFileSync(join(root, path), "utf8")}`);

const examples = {
    name: "examples",
    setup(b) {
        b.onResolve({ filter: /^examples:/ }, (a) => ({ path: a.path.slice("examples:".length), namespace: "examples" }));
        b.onLoad({ filter: /.*/, namespace: "examples" }, ({ path }) => {
            const [name, how] = path.split("?");
            const file = join(root, "examples", name);
            const text = standard(readable(readFileSync(file, "utf8")));
            return { contents: how === "whole" ? whole(text) : text, loader: "text", watchFiles: [file] };
        });
    },
};

await build({
    entryPoints: { page: join(here, "src/main.js") },
    outdir: out,
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [examples],
});
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, "src", name), join(out, name));

const FILES = [
    ["/", "index.html", "text/html; charset=utf-8"],
    ["/page.js", "page.js", "text/javascript; charset=utf-8"],
    ["/page.css", "page.css", "text/css; charset=utf-8"],
    ["/icon.svg", "icon.svg", "image/svg+xml"],
];
const LIMIT = 150 * 1024;

const lines = (bytes) => bytes.toString("hex").replace(/../g, "0x$&,").replace(/.{100}/g, "$&\n");

function row([path, file, type], k) {
    const content = readFileSync(join(out, file));
    const bytes = gzipSync(content, { level: 9 });
    const etag = createHash("sha256").update(content).digest("hex").slice(0, 32);
    return { bytes, array: `static const unsigned char file_${k}[] = {\n${lines(bytes)}\n};\n`, entry: `    {"${path}", "${type}", "\\"${etag}\\"", file_${k}, sizeof file_${k}, true},\n` };
}

mkdirSync(out, { recursive: true });
const rows = FILES.map(row);
const size = rows.reduce((n, r) => n + r.bytes.length, 0);
if (size > LIMIT) throw new Error(`the page has ${size} bytes gzipped; at most ${LIMIT} are allowed`);
console.log(`page: ${size} bytes gzipped`);
if (table === "--table")
    writeFileSync(
        join(out, "page_files.c"),
        `/* Made by build.mjs of the sources in tools/serve/page. */\n#include "page_files.h"\n\n${rows.map((r) => r.array).join("")}\nconst page_file page_files[] = {\n${rows.map((r) => r.entry).join("")}};\nconst size_t page_files_count = ${rows.length};\nconst bool page_is_whole = true;\n`,
    );

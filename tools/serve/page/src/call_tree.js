/* call_tree.js: trees for the flame graph, made of a profile's call paths: as they were called, or inverted, leaves first; apart by mode
 * or together. A tree is flat arrays, parents before children, so that a hundred thousand nodes cost no objects:
 *
 *   parent[k]   -1 at the bottom      name[k], mode[k]   into names and MODES (-1: all together)
 *   own[k], total[k]                  path[k]            of the profile, where the node is one path; else -1
 */
import { MODES, countOf } from "./modes.js";

class Builder {
    constructor() {
        this.parent = [];
        this.name = [];
        this.mode = [];
        this.own = [];
        this.path = [];
        this.names = [];
        this.numbers = new Map();
    }
    number(name) {
        let n = this.numbers.get(name);
        if (n === undefined) this.numbers.set(name, (n = this.names.push(name) - 1));
        return n;
    }
    add(parent, name, mode, own, path) {
        this.name.push(this.number(name));
        this.mode.push(mode);
        this.own.push(own);
        this.path.push(path);
        return this.parent.push(parent) - 1;
    }
    done() {
        const total = Float64Array.from(this.own);
        for (let k = total.length - 1; k > 0; k--) if (this.parent[k] >= 0) total[this.parent[k]] += total[k];
        return { parent: Int32Array.from(this.parent), name: Int32Array.from(this.name), mode: Int8Array.from(this.mode), own: Float64Array.from(this.own), total, path: Int32Array.from(this.path), names: this.names };
    }
}

const ownOf = (path, mode) => (mode < 0 ? MODES.reduce((n, m) => n + countOf(path.own, m.id), 0) : countOf(path.own, MODES[mode].id));

/* Paths of one mode (or of all) below `root`; those under which nothing ran are left out. */
function addPaths(b, paths, mode, root) {
    const total = Float64Array.from(paths, (p) => ownOf(p, mode));
    for (let k = paths.length - 1; k >= 0; k--) if (paths[k].parent !== null) total[paths[k].parent] += total[k];
    const node = new Int32Array(paths.length).fill(-1);
    paths.forEach((p, k) => {
        if (total[k]) node[k] = b.add(p.parent === null ? root : node[p.parent], p.function, mode, ownOf(p, mode), k);
    });
}

/* The same by leaves: below each function those that called it. */
function addInverted(b, paths, mode, root) {
    const children = new Map();
    paths.forEach((p, k) => {
        const own = ownOf(p, mode);
        if (!own) return;
        let at = root;
        for (let q = k; q !== null; q = paths[q].parent) {
            const key = `${at} ${paths[q].function}`;
            let next = children.get(key);
            if (next === undefined) children.set(key, (next = b.add(at, paths[q].function, mode, 0, q)));
            at = next;
        }
        b.own[at] += own;
    });
}

export function callTree(profile, { inverted = false, byMode = true } = {}) {
    const b = new Builder();
    const root = b.add(-1, profile.of ?? "all", -1, 0, -1);
    const add = inverted ? addInverted : addPaths;
    if (!byMode) add(b, profile.paths, -1, root);
    else
        MODES.forEach((m, mode) => {
            if (profile.modes[m.id]) add(b, profile.paths, mode, b.add(root, m.label, mode, 0, -1));
        });
    return b.done();
}

/* Each node's names from the bottom up, as one text: how nodes of two trees are matched. */
export function keysOf(tree) {
    const keys = new Array(tree.parent.length);
    for (let k = 0; k < keys.length; k++) keys[k] = tree.parent[k] < 0 ? "" : `${keys[tree.parent[k]]}\n${tree.names[tree.name[k]]}`;
    return keys;
}

/* change[k]: the node's total less that of its like in `before`; gone: what `before` alone has, largest first, no node below another. */
export function differences(tree, before) {
    const old = new Map();
    const keys = keysOf(before);
    keys.forEach((key, k) => old.set(key, k));
    const change = new Float64Array(tree.total.length);
    const seen = new Set();
    keysOf(tree).forEach((key, k) => {
        const at = old.get(key);
        change[k] = tree.total[k] - (at === undefined ? 0 : before.total[at]);
        seen.add(key);
    });
    const gone = [];
    keys.forEach((key, k) => {
        if (!seen.has(key) && seen.has(key.slice(0, key.lastIndexOf("\n")))) gone.push({ names: key.split("\n").slice(1), total: before.total[k] });
    });
    return { change, gone: gone.sort((a, b) => b.total - a.total) };
}

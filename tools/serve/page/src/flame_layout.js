/* flame_layout.js: where the nodes of a call tree stand: from left[k], which is width total[k], in row depth[k]. Siblings by size, or in the
 * order in which they were first entered. */
export function layOut(tree, order) {
    const n = tree.parent.length;
    const depth = new Int32Array(n);
    const left = new Float64Array(n);
    const first = new Int32Array(n).fill(-1);
    const next = new Int32Array(n).fill(-1);
    let deepest = 0;
    for (let k = 0; k < n; k++) {
        depth[k] = tree.parent[k] < 0 ? 0 : depth[tree.parent[k]] + 1;
        deepest = Math.max(deepest, depth[k]);
    }
    const ranked = Int32Array.from({ length: n }, (_, k) => k);
    if (order === "size") ranked.sort((a, b) => depth[a] - depth[b] || tree.mode[a] - tree.mode[b] || tree.total[b] - tree.total[a] || a - b);
    for (let r = n - 1; r >= 0; r--) {
        const k = ranked[r];
        const p = tree.parent[k];
        if (p >= 0) (next[k] = first[p]), (first[p] = k);
    }
    for (let k = 0; k < n; k++) {
        let x = left[k];
        for (let c = first[k]; c >= 0; c = next[c]) (left[c] = x), (x += tree.total[c]);
    }
    return { left, depth, first, next, rows: deepest + 1 };
}

/* The node at x, in counts, of a row; -1: none. Down from the root, so that it takes as many steps as there are siblings. */
export function nodeAt(tree, layout, x, row) {
    let k = 0;
    while (k >= 0 && layout.depth[k] < row) {
        let c = layout.first[k];
        while (c >= 0 && !(x >= layout.left[c] && x < layout.left[c] + tree.total[c])) c = layout.next[c];
        k = c;
    }
    return k;
}

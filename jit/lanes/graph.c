/* graph.c: the flow graph of an instance: natural loops, and immediate post-dominators.
 *
 * A back edge counts as one to its loop's exit, and an edge out of a loop as none: what is left is acyclic, a loop is passed
 * from its header through its latch to its exit, and the edges out of loops are noted where they begin.
 */
#include "flow.h"
#include "support.h"

bool rvm__is_in_loop(const rvm__flow *w, uint32_t node, uint32_t loop) {
    for (uint32_t l = w->nodes[node].loop; l != RVM__NO_LOOP; l = w->loops[l].parent)
        if (l == loop) return true;
    return false;
}

/* Postorder, from `order[n - 1]`, the entry, down to the end; by `out` or `succ`. */
static uint32_t sort(rvm__flow *w, bool forward) {
    uint32_t *stack = rvm__realloc(w->al, NULL, 0, w->n * sizeof *stack), top = 0, done = 0;
    uint8_t *at = rvm__realloc(w->al, NULL, 0, w->n);
    if (!stack || !at) {
        rvm__no_flow(w, "out of memory");
        goto end;
    }
    for (uint32_t n = 0; n < w->n; n++) w->nodes[n].order = RVM__NO_NODE, at[n] = 0;
    stack[top++] = 0;
    at[0] = 1;
    while (top) {
        const uint32_t n = stack[top - 1];
        const rvm__node *b = &w->nodes[n];
        const uint32_t count = forward ? b->nout : b->nsucc, k = at[n] - 1u;
        if (k < count) {
            const uint32_t to = forward ? b->out[k] : b->succ[k];
            at[n]++;
            if (!at[to]) at[to] = 1, stack[top++] = to;
        } else {
            w->nodes[n].order = done;
            w->order[done++] = n;
            top--;
        }
    }
end:
    rvm__realloc(w->al, stack, w->n * sizeof *stack, 0);
    rvm__realloc(w->al, at, w->n, 0);
    return done;
}

static uint32_t common(const rvm__flow *w, uint32_t a, uint32_t b) {
    while (a != b) {
        while (w->nodes[a].order < w->nodes[b].order) a = w->nodes[a].dominator;
        while (w->nodes[b].order < w->nodes[a].order) b = w->nodes[b].dominator;
    }
    return a;
}

static void find_dominators(rvm__flow *w) {
    for (uint32_t n = 0; n < w->n; n++) w->nodes[n].dominator = RVM__NO_NODE;
    w->nodes[0].dominator = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = w->n; k-- > 0;) {
            const rvm__node *b = &w->nodes[w->order[k]];
            for (uint32_t s = 0; b->dominator != RVM__NO_NODE && s < b->nsucc; s++) {
                rvm__node *to = &w->nodes[b->succ[s]];
                const uint32_t now = to->dominator == RVM__NO_NODE ? w->order[k] : common(w, to->dominator, w->order[k]);
                if (b->succ[s] && now != to->dominator) to->dominator = now, changed = true;
            }
        }
    }
}

/* Preorder of the dominators' tree: what a node dominates stands behind it, all together. */
static void number_dominated(rvm__flow *w) {
    for (uint32_t n = 0; n < w->n; n++) w->nodes[n].dominated = 1;
    for (uint32_t k = 0; k + 1 < w->n; k++) { /* in postorder: what it dominates comes before it */
        const rvm__node *b = &w->nodes[w->order[k]];
        w->nodes[b->dominator].dominated += b->dominated;
    }
    for (uint32_t n = 0; n < w->n; n++) w->nodes[n].join = 1; /* where its next child begins */
    w->nodes[0].first = 0;
    for (uint32_t k = w->n - 1; k-- > 0;) {
        rvm__node *b = &w->nodes[w->order[k]], *by = &w->nodes[b->dominator];
        b->first = by->first + by->join;
        by->join += b->dominated;
    }
}

bool rvm__dominates(const rvm__flow *w, uint32_t a, uint32_t b) {
    return w->nodes[b].first - w->nodes[a].first < w->nodes[a].dominated;
}

static void find_predecessors(rvm__flow *w) {
    uint32_t all = 0;
    for (uint32_t n = 0; n < w->n; n++)
        for (uint32_t s = 0; s < w->nodes[n].nsucc; s++) w->nodes[w->nodes[n].succ[s]].nbefore++;
    for (uint32_t n = 0; n < w->n; n++) {
        rvm__node *b = &w->nodes[n];
        b->before = all;
        all += b->nbefore;
        b->nbefore = 0;
    }
    for (uint32_t n = 0; n < w->n; n++)
        for (uint32_t s = 0; s < w->nodes[n].nsucc; s++) {
            rvm__node *to = &w->nodes[w->nodes[n].succ[s]];
            w->before[to->before + to->nbefore++] = n;
        }
}

/* All from which the latch is reached without the header. */
static bool fill_loop(rvm__flow *w, uint32_t loop) {
    const rvm__loop *l = &w->loops[loop];
    uint32_t *stack = rvm__realloc(w->al, NULL, 0, w->n * sizeof *stack), top = 0;
    if (!stack) return rvm__no_flow(w, "out of memory");
    w->nodes[l->header].loop = w->nodes[l->latch].loop = loop;
    if (l->latch != l->header) stack[top++] = l->latch;
    while (top) {
        const rvm__node *b = &w->nodes[stack[--top]];
        for (uint32_t k = 0; k < b->nbefore; k++) {
            const uint32_t n = w->before[b->before + k];
            if (w->nodes[n].loop == loop || !rvm__dominates(w, l->header, n)) continue;
            w->nodes[n].loop = loop;
            stack[top++] = n;
        }
    }
    rvm__realloc(w->al, stack, w->n * sizeof *stack, 0);
    return true;
}

/* From outer loops to inner ones. */
static bool find_loops(rvm__flow *w) {
    for (uint32_t k = w->n; k-- > 0;) {
        const uint32_t h = w->order[k];
        uint32_t latch = RVM__NO_NODE;
        for (uint32_t s = 0; s < w->nodes[h].nbefore; s++) {
            const uint32_t n = w->before[w->nodes[h].before + s];
            if (w->nodes[n].order > w->nodes[h].order) continue;
            if (latch != RVM__NO_NODE || !rvm__dominates(w, h, n)) return rvm__no_flow(w, "a loop of another form");
            latch = n;
        }
        if (latch == RVM__NO_NODE) continue;
        w->loops[w->nloops] = (rvm__loop){.header = h, .latch = latch, .exit = RVM__NO_NODE, .parent = w->nodes[h].loop};
        if (!fill_loop(w, w->nloops++)) return false;
    }
    return true;
}

static bool find_exits(rvm__flow *w) {
    for (uint32_t n = 0; n < w->n; n++)
        for (uint32_t s = 0; s < w->nodes[n].nsucc; s++) {
            const uint32_t to = w->nodes[n].succ[s], loop = w->nodes[n].loop;
            if (loop == RVM__NO_LOOP || rvm__is_in_loop(w, to, loop)) continue;
            rvm__loop *l = &w->loops[loop];
            if (w->nodes[to].loop != l->parent || (l->exit != RVM__NO_NODE && l->exit != to))
                return rvm__no_flow(w, "a loop with several ends");
            l->exit = to;
        }
    for (uint32_t l = 0; l < w->nloops; l++)
        if (w->loops[l].exit == RVM__NO_NODE) return rvm__no_flow(w, "a loop without an end");
    return true;
}

static void find_ways(rvm__flow *w) {
    for (uint32_t n = 0; n < w->n; n++) {
        rvm__node *b = &w->nodes[n];
        for (uint32_t s = 0; s < b->nsucc; s++) {
            const bool in = b->loop != RVM__NO_LOOP, back = in && w->loops[b->loop].header == b->succ[s];
            if (back)
                b->out[b->nout++] = w->loops[b->loop].exit;
            else if (!in || rvm__is_in_loop(w, b->succ[s], b->loop))
                b->out[b->nout++] = b->succ[s];
        }
        if (b->nout == 2 && b->out[0] == b->out[1]) b->nout = 1;
    }
}

static bool find_post_dominators(rvm__flow *w) {
    if (sort(w, true) != w->n) return rvm__no_flow(w, "control of another form");
    for (uint32_t k = 0; k < w->n; k++) {
        rvm__node *b = &w->nodes[w->order[k]];
        if (!b->nout && k) return rvm__no_flow(w, "several ends");
        b->join = k ? b->out[0] : RVM__NO_NODE;
        for (uint32_t s = 1; s < b->nout; s++) {
            uint32_t x = b->join, y = b->out[s];
            while (x != y)
                if (w->nodes[x].order > w->nodes[y].order)
                    x = w->nodes[x].join;
                else
                    y = w->nodes[y].join;
            b->join = x;
        }
        for (uint32_t s = 0; s < b->nout; s++) w->nodes[b->out[s]].nin++;
    }
    return true;
}

/* An edge to where all bail out is none. */
static bool leave_out(rvm__node *b) {
    for (uint32_t s = 0; s < b->nsucc; s++) {
        if (b->succ[s] != RVM__NO_NODE) continue;
        b->bails_out = (uint8_t)(s + 1);
        b->nsucc--;
        b->succ[0] = b->succ[1 - s];
        return b->nsucc && b->succ[0] != RVM__NO_NODE;
    }
    return true;
}

bool rvm__graph_find(rvm__flow *w) {
    for (uint32_t n = 0; n < w->n; n++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(w->nodes[n].b);
        const LLVMOpcode op = LLVMGetInstructionOpcode(end);
        const unsigned count = LLVMGetNumSuccessors(end);
        if ((op != LLVMBr && op != LLVMRet) || count > 2) return rvm__no_flow(w, "control of another kind");
        w->nodes[n].nsucc = count;
        w->nodes[n].loop = RVM__NO_LOOP;
        for (unsigned s = 0; s < count; s++) w->nodes[n].succ[s] = rvm__node_of(w, LLVMGetSuccessor(end, s));
        if (!leave_out(&w->nodes[n])) return rvm__no_flow(w, "it always bails out");
    }
    if (sort(w, false) != w->n) return rvm__no_flow(w, "control that is not reached");
    find_dominators(w);
    number_dominated(w);
    find_predecessors(w);
    if (!find_loops(w) || !find_exits(w)) return false;
    find_ways(w);
    return find_post_dominators(w);
}

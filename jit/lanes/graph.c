/* graph.c: the flow graph of an instance: natural loops, and immediate post-dominators.
 *
 * A back edge counts as one to its loop's exit, and an edge out of a loop as none: what is left is acyclic, a loop is passed
 * from its header through its latch to its exit, and the edges out of loops are noted where they begin.
 */
#include "group.h"
#include "support.h"

bool rvm__is_in_loop(const rvm__group *g, uint32_t node, uint32_t loop) {
    for (uint32_t l = g->nodes[node].loop; l != RVM__NO_LOOP; l = g->loops[l].parent)
        if (l == loop) return true;
    return false;
}

/* Postorder, from `order[n - 1]`, the entry, down to the end; by `out` or `succ`. */
static uint32_t sort(rvm__group *g, bool forward) {
    uint32_t *stack = rvm__realloc(&rvm__libc_allocator, NULL, 0, g->n * sizeof *stack), top = 0, done = 0;
    uint8_t *at = rvm__realloc(&rvm__libc_allocator, NULL, 0, g->n);
    if (!stack || !at) {
        rvm__no_group(g, "out of memory");
        goto end;
    }
    for (uint32_t n = 0; n < g->n; n++) g->nodes[n].order = RVM__NO_NODE, at[n] = 0;
    stack[top++] = 0;
    at[0] = 1;
    while (top) {
        const uint32_t n = stack[top - 1];
        const rvm__node *b = &g->nodes[n];
        const uint32_t count = forward ? b->nout : b->nsucc, k = at[n] - 1u;
        if (k < count) {
            const uint32_t to = forward ? b->out[k] : b->succ[k];
            at[n]++;
            if (!at[to]) at[to] = 1, stack[top++] = to;
        } else {
            g->nodes[n].order = done;
            g->order[done++] = n;
            top--;
        }
    }
end:
    rvm__realloc(&rvm__libc_allocator, stack, g->n * sizeof *stack, 0);
    rvm__realloc(&rvm__libc_allocator, at, g->n, 0);
    return done;
}

static uint32_t common(const rvm__group *g, uint32_t a, uint32_t b) {
    while (a != b) {
        while (g->nodes[a].order < g->nodes[b].order) a = g->nodes[a].dominator;
        while (g->nodes[b].order < g->nodes[a].order) b = g->nodes[b].dominator;
    }
    return a;
}

static void find_dominators(rvm__group *g) {
    for (uint32_t n = 0; n < g->n; n++) g->nodes[n].dominator = RVM__NO_NODE;
    g->nodes[0].dominator = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = g->n; k-- > 0;) {
            const rvm__node *b = &g->nodes[g->order[k]];
            for (uint32_t s = 0; b->dominator != RVM__NO_NODE && s < b->nsucc; s++) {
                rvm__node *to = &g->nodes[b->succ[s]];
                const uint32_t now = to->dominator == RVM__NO_NODE ? g->order[k] : common(g, to->dominator, g->order[k]);
                if (b->succ[s] && now != to->dominator) to->dominator = now, changed = true;
            }
        }
    }
}

static bool dominates(const rvm__group *g, uint32_t a, uint32_t b) {
    while (b != a && b) b = g->nodes[b].dominator;
    return a == b;
}

/* All from which the latch is reached without the header. */
static void fill_loop(rvm__group *g, uint32_t loop) {
    const rvm__loop *l = &g->loops[loop];
    g->nodes[l->header].loop = g->nodes[l->latch].loop = loop;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < g->n; n++) {
            rvm__node *b = &g->nodes[n];
            if (b->loop == loop || !dominates(g, l->header, n)) continue;
            for (uint32_t s = 0; s < b->nsucc; s++)
                if (b->succ[s] != l->header && g->nodes[b->succ[s]].loop == loop) b->loop = loop, changed = true;
        }
    }
}

/* From outer loops to inner ones. */
static bool find_loops(rvm__group *g) {
    for (uint32_t k = g->n; k-- > 0;) {
        const uint32_t h = g->order[k];
        uint32_t latch = RVM__NO_NODE;
        for (uint32_t n = 0; n < g->n; n++)
            for (uint32_t s = 0; s < g->nodes[n].nsucc; s++) {
                if (g->nodes[n].succ[s] != h || g->nodes[n].order > g->nodes[h].order) continue;
                if (latch != RVM__NO_NODE || !dominates(g, h, n)) return rvm__no_group(g, "a loop of another form");
                latch = n;
            }
        if (latch == RVM__NO_NODE) continue;
        g->loops[g->nloops] = (rvm__loop){.header = h, .latch = latch, .exit = RVM__NO_NODE, .parent = g->nodes[h].loop};
        fill_loop(g, g->nloops++);
    }
    return true;
}

static bool find_exits(rvm__group *g) {
    for (uint32_t n = 0; n < g->n; n++)
        for (uint32_t s = 0; s < g->nodes[n].nsucc; s++) {
            const uint32_t to = g->nodes[n].succ[s], loop = g->nodes[n].loop;
            if (loop == RVM__NO_LOOP || rvm__is_in_loop(g, to, loop)) continue;
            rvm__loop *l = &g->loops[loop];
            if (g->nodes[to].loop != l->parent || (l->exit != RVM__NO_NODE && l->exit != to))
                return rvm__no_group(g, "a loop with several ends");
            l->exit = to;
        }
    for (uint32_t l = 0; l < g->nloops; l++)
        if (g->loops[l].exit == RVM__NO_NODE) return rvm__no_group(g, "a loop without an end");
    return true;
}

static void find_ways(rvm__group *g) {
    for (uint32_t n = 0; n < g->n; n++) {
        rvm__node *b = &g->nodes[n];
        for (uint32_t s = 0; s < b->nsucc; s++) {
            const bool in = b->loop != RVM__NO_LOOP, back = in && g->loops[b->loop].header == b->succ[s];
            if (back)
                b->out[b->nout++] = g->loops[b->loop].exit;
            else if (!in || rvm__is_in_loop(g, b->succ[s], b->loop))
                b->out[b->nout++] = b->succ[s];
        }
        if (b->nout == 2 && b->out[0] == b->out[1]) b->nout = 1;
    }
}

static bool find_post_dominators(rvm__group *g) {
    if (sort(g, true) != g->n) return rvm__no_group(g, "control of another form");
    for (uint32_t k = 0; k < g->n; k++) {
        rvm__node *b = &g->nodes[g->order[k]];
        if (!b->nout && k) return rvm__no_group(g, "several ends");
        b->join = k ? b->out[0] : RVM__NO_NODE;
        for (uint32_t s = 1; s < b->nout; s++) {
            uint32_t x = b->join, y = b->out[s];
            while (x != y)
                if (g->nodes[x].order > g->nodes[y].order)
                    x = g->nodes[x].join;
                else
                    y = g->nodes[y].join;
            b->join = x;
        }
        for (uint32_t s = 0; s < b->nout; s++) g->nodes[b->out[s]].nin++;
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

bool rvm__graph_find(rvm__group *g) {
    for (uint32_t n = 0; n < g->n; n++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(g->nodes[n].b);
        const LLVMOpcode op = LLVMGetInstructionOpcode(end);
        const unsigned count = LLVMGetNumSuccessors(end);
        if ((op != LLVMBr && op != LLVMRet) || count > 2) return rvm__no_group(g, "control of another kind");
        g->nodes[n].nsucc = count;
        g->nodes[n].loop = RVM__NO_LOOP;
        for (unsigned s = 0; s < count; s++) g->nodes[n].succ[s] = rvm__node_of(g, LLVMGetSuccessor(end, s));
        if (!leave_out(&g->nodes[n])) return rvm__no_group(g, "it always gives up");
    }
    if (sort(g, false) != g->n) return rvm__no_group(g, "control that is not reached");
    find_dominators(g);
    if (!find_loops(g) || !find_exits(g)) return false;
    find_ways(g);
    return find_post_dominators(g);
}

/* blocks.c: statements with a block. */
#include "generator.h"

/* A block of its own: its locals go at its end, and so do the locks that they held. */
static void nested(generator *g, int statements) {
    const bool compute = g->in_compute;
    const int vars = g->nvars;
    int locks[MAX_VARS];
    for (int k = 0; k < vars; k++) locks[k] = g->vars[k].locks;
    g->in_compute = false;
    g->indent++;
    g->depth++;
    block(g, statements);
    g->depth--;
    g->indent--;
    g->in_compute = compute;
    g->nvars = vars;
    g->touched &= bit(vars) - 1;
    for (int k = 0; k < vars; k++) g->vars[k].locks = locks[k];
}

static void otherwise(generator *g, int statements) {
    if (chance(g, 2)) {
        line(g);
        put(g, "else");
        nested(g, statements);
    }
    line(g);
    put(g, "end");
}

bool branch(generator *g) {
    line(g);
    put(g, "if ");
    const set read = condition(g, 0);
    lock(g, read, 1);
    nested(g, 3);
    otherwise(g, 3);
    lock(g, read, -1);
    return true;
}

/* The trail remembers which way it was: what the condition reads may change. */
bool forgetful_branch(generator *g) {
    if (!g->fair.leaves_trail) return false;
    g->done.leaves_trail = true;
    line(g);
    put(g, "if ");
    condition(g, 0);
    put(g, " -> drop");
    nested(g, 3);
    otherwise(g, 3);
    return true;
}

/* A flag that the branch raises, a postcondition on it, and the way back. */
bool flagged_branch(generator *g) {
    if (full(g)) return false;
    const int z = declare(g, PLAIN, RVM_I64, 0);
    const char *flag = g->vars[z].name;
    capture c;
    line(g);
    put(g, "let %s: i64", flag);
    capture_begin(g, &c);
    const set read = condition(g, bit(z)) | bit(z);
    char *cond = capture_end(g, &c);
    lock(g, read, 1);
    g->vars[z].readable = false; /* or a local that read it would be released behind the change */
    line(g);
    put(g, "if %s -> %s == 1", cond, flag);
    nested(g, 2);
    put(g, "\n%*s%s += 1", 4 * g->indent + 4, "", flag);
    otherwise(g, 2);
    line(g);
    put(g, "if %s == 1 -> %s", flag, cond);
    put(g, "\n%*s%s -= 1", 4 * g->indent + 4, "", flag);
    line(g);
    put(g, "end");
    g->vars[z].readable = true;
    lock(g, read & ~bit(z), -1); /* the flag must be 0 again when it goes: nobody else may write it */
    free(cond);
    return true;
}

static void repeated(generator *g, int statements) {
    const int weight = g->weight;
    g->weight *= AXIS;
    nested(g, statements);
    g->weight = weight;
}

static bool deep_enough(const generator *g) {
    return full(g) || g->weight > 20;
}

bool counted(generator *g) {
    if (deep_enough(g)) return false;
    const int vars = g->nvars;
    capture c;
    set read = 0;
    line(g);
    capture_begin(g, &c);
    if (chance(g, 3)) {
        read |= bound(g);
        put(g, "..-1 step -1");
    } else {
        put(g, "0..");
        read |= bound(g);
    }
    char *range = capture_end(g, &c);
    const int i = declare(g, PLAIN, RVM_I64, 0);
    put(g, "for %s in %s", g->vars[i].name, range);
    lock(g, read | bit(i), 1);
    repeated(g, 3);
    line(g);
    put(g, "end");
    g->nvars = vars;
    lock(g, read, -1);
    g->touched &= bit(vars) - 1;
    free(range);
    return true;
}

bool conditional_loop(generator *g) {
    if (deep_enough(g)) return false;
    const int k = declare(g, PLAIN, RVM_I64, 0);
    const char *name = g->vars[k].name;
    capture c;
    line(g);
    put(g, "let %s: i64", name);
    lock(g, bit(k), 1); /* for good: the generator counts with it */
    capture_begin(g, &c);
    g->vars[k].readable = false; /* as a flag is not */
    const set read = bound(g);
    char *limit = capture_end(g, &c);
    lock(g, read, 1);
    line(g);
    put(g, "from %s == 0 while %s < %s", name, name, limit);
    repeated(g, 3);
    put(g, "\n%*s%s += 1", 4 * g->indent + 4, "", name);
    line(g);
    put(g, "end");
    line(g);
    put(g, "%s -= %s", name, limit);
    g->vars[k].readable = true;
    lock(g, read, -1);
    free(limit);
    return true;
}

/* The trail remembers how often; what the condition reads may change. */
bool forgetful_loop(generator *g) {
    if (deep_enough(g) || !g->fair.leaves_trail) return false;
    const int k = declare(g, PLAIN, RVM_I64, 0);
    const char *name = g->vars[k].name;
    g->done.leaves_trail = true;
    line(g);
    put(g, "let %s: i64", name);
    lock(g, bit(k), 1);
    g->vars[k].readable = false;
    line(g);
    put(g, "while %s < ", name);
    bound(g);
    if (chance(g, 2)) {
        put(g, " and ");
        condition(g, 0);
    }
    repeated(g, 3);
    put(g, "\n%*s%s += 1", 4 * g->indent + 4, "", name);
    line(g);
    put(g, "end");
    line(g);
    put(g, "drop %s", name);
    g->vars[k].readable = true;
    return true;
}

/* ---- parallel blocks ---- */

/* Adds to *which a variable that instances share so; what is no parameter's or local's as a whole is none. */
static void share(generator *g, set *which, bool own) {
    int found = -1;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++) {
        const variable *v = &g->vars[k];
        if (*which >> k & 1 || v->sort == VALUE || v->locks || v->index >= 0 || !v->readable) continue;
        if (own ? v->summed || !v->ndim : v->summed || v->sort == LOGARITHM) continue;
        if (chance(g, ++seen)) found = k;
    }
    if (found >= 0) *which |= bit(found);
}

bool instances(generator *g) {
    if (deep_enough(g)) return false;
    const int vars = g->nvars;
    const bool outer = g->in_parallel;
    const effects fair = g->fair;
    variable before[MAX_VARS];
    set own = 0, sums = 0;
    for (uint32_t n = rng_below(&g->r, 3); n > 0; n--) share(g, &own, true);
    sums = own;
    for (uint32_t n = rng_below(&g->r, 3); n > 0; n--) share(g, &sums, false);
    sums &= ~own;
    capture c;
    line(g);
    capture_begin(g, &c);
    hide(g, own | sums, false); /* or the bound would be changed */
    set read = bound(g);
    hide(g, own | sums, true);
    char *range = capture_end(g, &c);
    memcpy(before, g->vars, sizeof before);
    const int i = declare(g, PLAIN, RVM_I64, 0);
    put(g, "parallel %s in 0..%s", g->vars[i].name, range);
    for (int k = 0; k < vars; k++) {
        variable *v = &g->vars[k];
        if (own >> k & 1) {
            v->index = i;
        } else if (sums >> k & 1) {
            v->summed = true;
            v->readable = false;
        } else if (!v->summed) {
            v->locks++;
        }
    }
    g->vars[i].locks++;
    g->in_parallel = true;
    g->fair.stack = g->fair.leaves_stack = false;
    repeated(g, 4);
    g->fair = fair;
    g->in_parallel = outer;
    line(g);
    put(g, "end");
    memcpy(g->vars, before, sizeof before);
    g->nvars = vars;
    g->touched = (g->touched | read) & (bit(vars) - 1);
    free(range);
    return true;
}

/* ---- regions ---- */

bool region(generator *g) {
    const set before = g->touched;
    const int vars = g->nvars;
    const bool compute = g->in_compute;
    const effects fair = g->fair, done = g->done;
    line(g);
    put(g, "compute");
    g->touched = 0;
    g->in_compute = true;
    g->fair.leaves_trail = true; /* on a segment of its own */
    g->fair.leaves_stack = false;
    g->indent++;
    g->depth++;
    block(g, 4);
    g->in_compute = false;
    g->depth--;
    g->indent--;
    g->fair = fair;
    g->done.leaves_trail = done.leaves_trail;
    const set used = g->touched;
    lock(g, used, 1);
    line(g);
    put(g, "do");
    nested(g, 3);
    line(g);
    put(g, "undo");
    lock(g, used, -1);
    g->nvars = vars;
    g->in_compute = compute;
    g->touched = (g->touched | used | before) & (bit(vars) - 1);
    return true;
}

/* What is on the stack is 0 meanwhile, and must stay so. */
bool stacked(generator *g) {
    const int k = pick_any(g, true, 0);
    const bool copy = chance(g, 2);
    const effects fair = g->fair;
    if (k < 0 || !g->fair.stack) return false;
    g->done.stack = true;
    g->touched |= bit(k);
    line(g);
    put(g, "%s %s", copy ? "pushc" : "push", g->vars[k].name);
    g->vars[k].locks++;
    g->vars[k].readable = copy;
    g->fair.leaves_stack = false;
    g->depth++;
    block(g, 2); /* no scope: its locals go with the block around */
    g->depth--;
    g->fair = fair;
    g->vars[k].readable = true;
    g->vars[k].locks--;
    line(g);
    put(g, "%s %s", copy ? "popc" : "pop", g->vars[k].name);
    return true;
}

/* Nothing is overwritten here: uncalled in an exact run, what is put back would no longer be compared. */
bool unchecked(generator *g) {
    const effects fair = g->fair;
    line(g);
    put(g, "unchecked");
    g->fair.leaves_trail = false;
    nested(g, 2);
    g->fair = fair;
    line(g);
    put(g, "end");
    return true;
}

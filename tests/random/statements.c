/* statements.c: statements without a block. */
#include "generator.h"
#include "instruction.h"

/* A factor near 1. */
static void scale(generator *g, sort s, rvm_type type, set except) {
    put(g, chance(g, 2) ? " *= " : " /= ");
    if (s == COMPLEX) {
        put(g, "complex(1 + 0.1 * %s(", rvm_type_name(type));
        bounded(g, type, except, 1);
        put(g, "), 0.1 * %s(", rvm_type_name(type));
        bounded(g, type, except, 1);
        put(g, "))");
    } else {
        put(g, "1 + 0.1 * ");
        bounded(g, type, except, 1);
    }
}

static void add(generator *g, sort s, rvm_type type, set except) {
    put(g, chance(g, 2) ? " += " : " -= ");
    value(g, s, type, except);
}

bool update(generator *g) {
    const int k = pick_any(g, true, -1);
    if (k < 0) return false;
    const rvm_type type = g->vars[k].type;
    const sort s = g->vars[k].sort == COMPLEX && chance(g, 2) ? PLAIN : g->vars[k].sort;
    line(g);
    if (s == PLAIN)
        put_place(g, k, bit(k));
    else
        put_whole(g, k, bit(k));
    if (s == LOGARITHM) {
        put(g, chance(g, 2) ? " *= " : " /= ");
        value(g, s, type, bit(k));
    } else if (type == RVM_I64 && chance(g, 4)) {
        put(g, " %s %d", chance(g, 2) ? "*=" : "/=", 2 * (int)rng_below(&g->r, 1000) - 999);
    } else if (type == RVM_I64 && chance(g, 4)) {
        put(g, " ^= ");
        value(g, s, type, bit(k));
    } else if (rvm__is_floating(type) && chance(g, 3)) {
        scale(g, s, type, bit(k));
    } else {
        add(g, s, type, bit(k));
    }
    return true;
}

/* What is only added to. */
bool accumulate(generator *g) {
    int k = -1;
    uint32_t seen = 0;
    for (int j = 0; j < g->nvars; j++)
        if (g->vars[j].summed && !g->vars[j].locks && chance(g, ++seen)) k = j;
    if (k < 0) return false;
    line(g);
    put_whole(g, k, bit(k));
    add(g, g->vars[k].sort, g->vars[k].type, bit(k));
    return true;
}

bool in_place(generator *g) {
    static const char *const of_i64[] = {"neg ", "not ", "inc ", "dec ", "rol ", "ror "};
    const int k = pick_any(g, true, -1);
    if (k < 0) return false;
    const uint32_t which = rng_below(&g->r, g->vars[k].type == RVM_I64 ? 6 : 1);
    line(g);
    put(g, "%s", g->vars[k].sort == LOGARITHM ? "inv " : of_i64[which]);
    put_whole(g, k, bit(k));
    if (which >= 4) put(g, ", %u", rng_below(&g->r, 64));
    return true;
}

/* swap, cswap, rot, irot, hadamard, ihadamard on two different variables. */
bool two_places(generator *g) {
    static const char *const words[] = {"swap ", "rot ", "irot ", "hadamard ", "ihadamard "};
    const int a = pick_any(g, true, -1);
    if (a < 0) return false;
    const sort s = g->vars[a].sort;
    const rvm_type type = g->vars[a].type;
    const int b = pick_sort(g, s, type, bit(a), true, -1);
    if (b < 0) return false;
    const set except = bit(a) | bit(b);
    const uint32_t which = rng_below(&g->r, type == RVM_I64 || s == LOGARITHM ? 1 : 5);
    const int c = which == 0 && chance(g, 2) ? pick(g, RVM_I64, except, false, 0) : -1;
    line(g);
    if (c >= 0) {
        put(g, "cswap %s, ", g->vars[c].name);
        g->touched |= bit(c);
    } else {
        put(g, "%s", words[which]);
    }
    put_whole(g, a, except);
    put(g, ", ");
    if (s == PLAIN)
        put_place(g, b, except);
    else
        put_whole(g, b, except);
    if (which == 1 || which == 2) {
        put(g, ", ");
        leaf(g, type, except);
    }
    return true;
}

/* set, with a condition or without; what is written may read its target. */
bool overwrite(generator *g) {
    const int k = pick_any(g, true, -1);
    if (k < 0 || !g->fair.leaves_trail) return false;
    const sort s = g->vars[k].sort == COMPLEX && chance(g, 3) ? PLAIN : g->vars[k].sort;
    line(g);
    put(g, "set ");
    if (s == PLAIN)
        put_place(g, k, bit(k));
    else
        put_whole(g, k, bit(k));
    put(g, " = ");
    value(g, s, g->vars[k].type, 0);
    if (chance(g, 3)) {
        put(g, " if ");
        condition(g, 0);
    }
    g->done.leaves_trail = true;
    return true;
}

/* drop of a scalar, an element, or a whole array. */
bool discard(generator *g) {
    const int k = pick_any(g, true, chance(g, 3) ? 1 : -1);
    if (k < 0 || !g->fair.leaves_trail) return false;
    line(g);
    put(g, "drop ");
    if (g->vars[k].ndim && g->vars[k].index < 0 && chance(g, 2))
        put(g, "%s", g->vars[k].name), g->touched |= bit(k);
    else
        put_whole(g, k, bit(k));
    g->done.leaves_trail = true;
    return true;
}

/* What is pushed and stays there. */
bool garbage(generator *g) {
    const int k = pick_any(g, true, -1);
    if (k < 0 || !g->fair.leaves_stack) return false;
    line(g);
    put(g, chance(g, 2) ? "push " : "pushc ");
    put_whole(g, k, bit(k));
    g->done.stack = g->done.leaves_stack = true;
    return true;
}

/* A local with a value. In compute it may change, since that is taken back; elsewhere it and what it read are locked. */
bool local(generator *g) {
    if (full(g) || (!g->in_compute && !chance(g, 3))) return false;
    const uint32_t which = rng_below(&g->r, 8);
    const sort s = which == 6 ? COMPLEX : which == 7 ? LOGARITHM : PLAIN;
    const rvm_type type = s == LOGARITHM ? RVM_F64 : s == COMPLEX ? RVM_F64 + rng_below(&g->r, 3) : any_type(g);
    const set before = g->touched;
    const bool array = g->in_compute && chance(g, 3);
    capture c;
    g->touched = 0;
    line(g);
    capture_begin(g, &c);
    if (array && s == PLAIN)
        leaf(g, type, ~(set)0);
    else
        value(g, s, type, 0);
    char *text = capture_end(g, &c);
    const set read = g->touched;
    const int t = declare(g, s, type, array);
    put(g, "let %s: ", g->vars[t].name);
    put_type(g, s, type);
    put(g, array ? "[4] = %s" : " = %s", text);
    if (!g->in_compute) lock(g, read | bit(t), 1);
    g->touched |= before | bit(t);
    free(text);
    return true;
}

bool assertion(generator *g) {
    line(g);
    put(g, "assert ");
    leaf(g, RVM_FIX, 0);
    put(g, " < 1000000");
    return true;
}

/* expressions.c: values. Reals are bounded, so that no loop makes them grow beyond what comes back within rounding. */
#include "generator.h"
#include "instruction.h"

static void expression(generator *g, rvm_type type, set except, int depth);

rvm_type any_type(generator *g) {
    return (rvm_type)rng_below(&g->r, RVM_TYPE_COUNT);
}

void leaf(generator *g, rvm_type type, set except) {
    const int y = type == RVM_F64 && chance(g, 5) ? pick_sort(g, LOGARITHM, type, except, false, -1) : -1;
    const int k = y >= 0 || chance(g, 5) ? -1 : pick(g, type, except, false, -1);
    if (y >= 0) {
        put(g, "log(");
        put_whole(g, y, except);
        put(g, ")");
    } else if (k >= 0)
        put_place(g, k, except);
    else if (type == RVM_I64)
        put(g, "%d", (int)rng_below(&g->r, 2000) - 1000);
    else
        put(g, "%.3f", rng_real(&g->r, -2, 2));
}

/* Both sides of an operator, one of them a place: constants alone are exact, and might fit no i64. */
static void sides(generator *g, const char *operator, set except, int depth) {
    const int k = pick(g, RVM_I64, except, false, -1);
    const bool left = chance(g, 2);
    if (left && k >= 0)
        put_place(g, k, except);
    else
        expression(g, RVM_I64, except, depth);
    put(g, " %s ", k >= 0 ? operator : "&");
    if (!left && k >= 0)
        put_place(g, k, except);
    else
        expression(g, RVM_I64, except, depth);
}

static void integer(generator *g, set except, int depth) {
    static const char *const infix[] = {"+", "-", "*", "&", "|", "^^", "<<", ">>", "<", ">=", "==", "!="};
    static const char *const prefix[] = {"min", "max", "lshr"};
    uint32_t form = rng_below(&g->r, 8);
    if (form < 5) {
        put(g, "(");
        sides(g, infix[rng_below(&g->r, sizeof infix / sizeof *infix)], except, depth);
        put(g, ")");
    } else if (form < 6) {
        put(g, "%s(", prefix[rng_below(&g->r, sizeof prefix / sizeof *prefix)]);
        expression(g, RVM_I64, except, depth);
        put(g, ", ");
        expression(g, RVM_I64, except, depth);
        put(g, ")");
    } else {
        put(g, "(");
        expression(g, RVM_I64, except, depth);
        put(g, " %s (", chance(g, 2) ? "//" : "%");
        expression(g, RVM_I64, except, depth);
        put(g, " | 1))");
    }
}

void bounded(generator *g, rvm_type type, set except, int depth) {
    static const char *const functions[] = {"sin", "cos", "tanh", "atan", "erf"};
    switch (rng_below(&g->r, 4)) {
    case 0:
        put(g, "exp(-(");
        expression(g, type, except, depth);
        put(g, ") ^ 2)");
        break;
    case 1:
        put(g, "(1 / (1 + tanh(");
        expression(g, type, except, depth);
        put(g, ") ^ 2))");
        break;
    default:
        put(g, "%s(", functions[rng_below(&g->r, sizeof functions / sizeof *functions)]);
        expression(g, type, except, depth);
        put(g, ")");
    }
}

/* Of what an i64, a fix, and on f32 an f64 holds. */
static void converted(generator *g, rvm_type type, set except) {
    const rvm_type from = !rvm__is_floating(type) || chance(g, 2) ? RVM_I64
                          : type == RVM_F32 && chance(g, 2)       ? RVM_F64
                                                                  : RVM_FIX;
    const int other = pick(g, from, except, false, 0);
    if (other < 0) {
        leaf(g, type, except);
        return;
    }
    put(g, "%s(", rvm_type_name(type));
    put_place(g, other, except);
    put(g, from == RVM_I64 ? " & 7)" : ")");
}

static void either(generator *g, set except) {
    put(g, "select(");
    expression(g, RVM_I64, except, 0);
    put(g, " > 0, ");
}

static void real(generator *g, rvm_type type, set except, int depth) {
    const int z = chance(g, 8) ? pick_sort(g, COMPLEX, type, except, false, -1) : -1;
    if (z >= 0) {
        put(g, chance(g, 2) ? "abs(" : "angle(");
        put_whole(g, z, except);
        put(g, ")");
        return;
    }
    switch (rng_below(&g->r, 6)) {
    case 0: bounded(g, type, except, depth); break;
    case 1:
        put(g, "%s(", chance(g, 2) ? "min" : "max");
        expression(g, type, except, depth);
        put(g, ", ");
        expression(g, type, except, depth);
        put(g, ")");
        break;
    case 2:
        either(g, except);
        expression(g, type, except, depth);
        put(g, ", ");
        expression(g, type, except, depth);
        put(g, ")");
        break;
    case 3: converted(g, type, except); break;
    default:
        put(g, "(");
        expression(g, type, except, depth);
        put(g, chance(g, 2) ? " + " : " - ");
        expression(g, type, except, depth);
        put(g, ")");
    }
}

static void expression(generator *g, rvm_type type, set except, int depth) {
    if (depth <= 0 || chance(g, 4))
        leaf(g, type, except);
    else if (type == RVM_I64)
        integer(g, except, depth - 1);
    else
        real(g, type, except, depth - 1);
}

void increment(generator *g, rvm_type type, set except) {
    if (type == RVM_I64)
        expression(g, type, except, 2);
    else
        bounded(g, type, except, 2);
}

/* A complex number of modulus below 3; with `right`, its real part is above 1. Constants alone would have the type of
 * `real`. */
static void of_parts(generator *g, rvm_type type, set except, bool right) {
    const int n = type == RVM_F64 ? -1 : pick(g, RVM_I64, except, false, 0);
    const char *const as = rvm_type_name(type);
    put(g, right ? "complex(2 + 0.5 * %s(" : "complex(%s(", as);
    bounded(g, type, except, 1);
    put(g, "), ");
    if (n >= 0) {
        put(g, "0.5 * cos(%s(%s & 7)) + 0.5 * ", as, g->vars[n].name);
        g->touched |= bit(n);
    }
    put(g, "%s(", as);
    bounded(g, type, except, 1);
    put(g, "))");
}

static void complex_value(generator *g, rvm_type type, set except, int depth) {
    static const char *const right[] = {"log(", "sqrt(", "inv("}, *const any[] = {"exp(", "conj(", "sin(", "cosh("};
    const int z = chance(g, 4) ? pick_sort(g, COMPLEX, type, except, false, -1) : -1;
    if (z >= 0) {
        char *w = whole_text(g, z, except);
        put(g, "(%s / (2 + sqr(abs(%s))))", w, w);
        free(w);
        return;
    }
    switch (rng_below(&g->r, depth > 0 ? 7 : 3)) {
    case 0: of_parts(g, type, except, false); return;
    case 1:
        put(g, "%s", right[rng_below(&g->r, 3)]);
        of_parts(g, type, except, true);
        break;
    case 2:
        put(g, "%s", any[rng_below(&g->r, 4)]);
        of_parts(g, type, except, false);
        break;
    case 3:
        put(g, "(");
        complex_value(g, type, except, depth - 1);
        put(g, " %c ", "+-*"[rng_below(&g->r, 3)]);
        complex_value(g, type, except, depth - 1);
        break;
    case 4:
        put(g, "(");
        complex_value(g, type, except, depth - 1);
        put(g, " / ");
        of_parts(g, type, except, true);
        break;
    case 5:
        put(g, "(");
        of_parts(g, type, except, true);
        put(g, " ^ %s(", rvm_type_name(type));
        bounded(g, type, except, 1);
        put(g, ")");
        break;
    case 6:
        either(g, except);
        complex_value(g, type, except, depth - 1);
        put(g, ", ");
        complex_value(g, type, except, depth - 1);
        break;
    }
    put(g, ")");
}

/* Between 1/100 and 100. */
static void lns_value(generator *g, set except, int depth) {
    static const char *const functions[] = {"sqrt(", "cbrt(", "inv("};
    const int y = chance(g, 3) ? pick_sort(g, LOGARITHM, RVM_F64, except, false, -1) : -1;
    if (y >= 0) {
        put(g, "max(lns(0.2), min(lns(4), ");
        put_whole(g, y, except);
        put(g, "))");
        return;
    }
    switch (rng_below(&g->r, depth > 0 ? 5 : 1)) {
    case 0:
        put(g, "lns(1.9 + ");
        bounded(g, RVM_F64, except, 1);
        break;
    case 1:
        put(g, "(");
        lns_value(g, except, depth - 1);
        put(g, " %c ", "*/"[rng_below(&g->r, 2)]);
        lns_value(g, except, depth - 1);
        break;
    case 2:
        put(g, "%s", functions[rng_below(&g->r, 3)]);
        lns_value(g, except, depth - 1);
        break;
    case 3:
        put(g, "(");
        lns_value(g, except, depth - 1);
        put(g, " ^ ");
        bounded(g, RVM_F64, except, 1);
        break;
    case 4:
        either(g, except);
        lns_value(g, except, depth - 1);
        put(g, ", ");
        lns_value(g, except, depth - 1);
        break;
    }
    put(g, ")");
}

void value(generator *g, sort s, rvm_type type, set except) {
    switch (s) {
    case PLAIN: increment(g, type, except); break;
    case COMPLEX:
        if (type != RVM_F64 && pick(g, RVM_I64, except, false, 0) < 0)
            put(g, "complex(0.25, -0.5)"); /* it takes the type that it meets; deeper down it would not */
        else
            complex_value(g, type, except, 2);
        break;
    case LOGARITHM: lns_value(g, except, 2); break;
    case VALUE: break;
    }
}

set condition(generator *g, set except) {
    set before = g->touched;
    g->touched = 0;
    const rvm_type type = any_type(g);
    const int y = chance(g, 8) ? pick_sort(g, LOGARITHM, RVM_F64, except, false, -1) : -1;
    if (y >= 0)
        put_whole(g, y, except);
    else
        leaf(g, type, except);
    put(g, chance(g, 2) ? " > " : " <= ");
    if (y >= 0)
        put(g, "%.2f", rng_real(&g->r, 0.5, 2));
    else if (type == RVM_I64)
        leaf(g, type, except);
    else
        put(g, "%.2f", rng_real(&g->r, -1, 1));
    set read = g->touched;
    g->touched |= before;
    return read;
}

set bound(generator *g) {
    int k = chance(g, 2) ? -1 : pick(g, RVM_I64, 0, false, 0);
    if (k < 0) {
        put(g, "%u", rng_below(&g->r, AXIS + 1));
        return 0;
    }
    put(g, "(%s & 3)", g->vars[k].name);
    g->touched |= bit(k);
    return bit(k);
}

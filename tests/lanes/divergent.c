/* divergent.c: see divergent.h. */
#include "divergent.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MOST_NAMES = 12, MOST_DEPTH = 2, HELPERS = 2 };

typedef struct names {
    char text[MOST_NAMES][20];
    uint32_t n;
} names;

/* Names by what may be done with them here. */
typedef struct scope {
    names reals, ints;       /* read, also by conditions */
    names moving;            /* reals that change: read by expressions */
    names targets, itargets; /* written */
    names sums, isums;       /* added to */
} scope;

typedef struct writer {
    rng r;
    FILE *out;
    int indent, depth, fresh, helpers; /* helpers: functions that may be called */
    scope at;
} writer;

static bool chance(writer *w, uint32_t one_in) {
    return rng_below(&w->r, one_in) == 0;
}

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(w->out, format, list);
    va_end(list);
}

static void line(writer *w) {
    put(w, "\n%*s", 4 * w->indent, "");
}

static void add_name(names *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_name(names *to, const char *format, ...) {
    va_list list;
    if (to->n == MOST_NAMES) return;
    va_start(list, format);
    vsnprintf(to->text[to->n++], sizeof *to->text, format, list);
    va_end(list);
}

static const char *any(writer *w, const names *of) {
    return of->text[rng_below(&w->r, of->n)];
}

/* ---- expressions ---- */

static void integer(writer *w, int depth) {
    static const char *const between[] = {"+", "-", "*", "&", "|"};
    const uint32_t which = depth ? rng_below(&w->r, 8) : 5;
    if (which < 5) {
        put(w, "(");
        integer(w, depth - 1);
        put(w, " %s ", between[which]);
        integer(w, depth - 1);
        put(w, ")");
    } else if (which == 6) {
        put(w, "(");
        integer(w, depth - 1);
        put(w, " %s %u)", chance(w, 2) ? "//" : "%", 2 * rng_below(&w->r, 4) + 3);
    } else if (chance(w, 5) || !w->at.ints.n) {
        put(w, "%u", rng_below(&w->r, 9));
    } else {
        put(w, "%s", any(w, &w->at.ints));
    }
}

/* Between -4 and 4 or so; without the name `except`. */
static void real(writer *w, int depth, const char *except) {
    static const char *const of_one[] = {"sin(", "cos(", "abs(", "0.5 * exp(-abs(", "sqrt(0.1 + abs("};
    static const char *const closed[] = {")", ")", ")", "))", "))"};
    const uint32_t which = depth ? rng_below(&w->r, 11) : 9;
    if (which < 5) {
        put(w, "%s", of_one[which]);
        real(w, depth - 1, except);
        put(w, "%s", closed[which]);
    } else if (which < 7) {
        put(w, which == 5 ? "min(" : "max(");
        real(w, depth - 1, except);
        put(w, ", ");
        real(w, depth - 1, except);
        put(w, ")");
    } else if (which < 9) {
        put(w, "(");
        real(w, depth - 1, except);
        put(w, which == 7 ? " + " : " - ");
        real(w, depth - 1, except);
        put(w, ") * 0.5");
    } else {
        const names *from = w->at.moving.n && chance(w, 2) ? &w->at.moving : &w->at.reals;
        const char *name = any(w, from);
        if (chance(w, 8) || (except && !strcmp(name, except)))
            put(w, "%.3f", rng_real(&w->r, -2, 2));
        else
            put(w, "%s", name);
    }
}

static void condition(writer *w, int depth) {
    static const char *const than[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth && chance(w, 4)) {
        put(w, "(");
        condition(w, depth - 1);
        put(w, chance(w, 2) ? " and " : " or ");
        condition(w, depth - 1);
        put(w, ")");
    } else if (w->at.reals.n && chance(w, 2)) {
        const char *name = any(w, &w->at.reals);
        put(w, "%s %s ", name, than[rng_below(&w->r, 4)]);
        const char *other = any(w, &w->at.reals);
        if (chance(w, 2) || !strcmp(name, other))
            put(w, "%.2f", rng_real(&w->r, -1, 1));
        else
            put(w, "%s", other);
    } else {
        put(w, "(");
        integer(w, 1);
        put(w, " & 3) %s %u", than[rng_below(&w->r, 6)], rng_below(&w->r, 3));
    }
}

/* ---- statements ---- */

static void block(writer *w, int statements);

static void nested(writer *w) {
    w->indent++;
    w->depth++;
    block(w, 3);
    w->depth--;
    w->indent--;
}

static void update(writer *w) {
    const scope *s = &w->at;
    line(w);
    if (s->itargets.n && chance(w, 3)) {
        put(w, "%s %s ", any(w, &s->itargets), chance(w, 3) ? "^=" : chance(w, 2) ? "+=" : "-=");
        integer(w, 2);
    } else if (s->sums.n && chance(w, 3)) {
        put(w, "%s %s ", any(w, &s->sums), chance(w, 2) ? "+=" : "-=");
        real(w, 2, NULL);
    } else if (s->isums.n && chance(w, 4)) {
        put(w, "%s += ", any(w, &s->isums));
        integer(w, 2);
    } else {
        const char *y = any(w, &s->targets);
        const bool factor = chance(w, 3);
        put(w, "%s %s ", y, factor ? (chance(w, 2) ? "*=" : "/=") : chance(w, 2) ? "+=" : "-=");
        if (factor) put(w, "1 + 0.1 * sin(");
        real(w, 2, y);
        if (factor) put(w, ")");
    }
}

static void branch(writer *w) {
    line(w);
    put(w, "if ");
    condition(w, 1);
    nested(w);
    if (!chance(w, 3)) {
        line(w);
        put(w, "else");
        nested(w);
    }
    line(w);
    put(w, "end");
}

/* As many trips as the instance says. */
static void counted(writer *w) {
    const names ints = w->at.ints;
    const int j = w->fresh++;
    line(w);
    put(w, "for j%d in 0..(", j);
    integer(w, 1);
    put(w, " & 3)");
    add_name(&w->at.ints, "j%d", j);
    nested(w);
    w->at.ints = ints;
    line(w);
    put(w, "end");
}

/* `count` is 0 before and what the condition makes of it behind: to be taken back, or to be taken away by the same. */
static void trips(writer *w, int count) {
    const names ints = w->at.ints;
    line(w);
    put(w, "from c%d == 0 while c%d < (", count, count);
    integer(w, 1);
    put(w, " & 7)");
    if (chance(w, 2)) {
        put(w, " and ");
        condition(w, 1);
    }
    add_name(&w->at.ints, "c%d", count);
    nested(w);
    w->at.ints = ints;
    put(w, "\n%*sc%d += 1", 4 * w->indent + 4, "", count);
    line(w);
    put(w, "end");
}

/* The trips counted, and what they leave in locals, are read by `do`. */
static void region(writer *w) {
    const scope before = w->at;
    const int v = w->fresh++;
    const bool array = chance(w, 3);
    line(w);
    put(w, "compute");
    w->indent++;
    line(w);
    put(w, "let v%d: real = ", v);
    real(w, 1, NULL);
    line(w);
    put(w, "let c%d: i64", v);
    if (array) put(w, "\n%*slet w%d: real[4] = 0", 4 * w->indent, "", v);
    w->at.targets.n = w->at.itargets.n = w->at.sums.n = w->at.isums.n = 0;
    add_name(&w->at.targets, "v%d", v);
    if (array) add_name(&w->at.targets, "w%d[%s & 3]", v, any(w, &w->at.ints));
    w->at.moving = w->at.targets;
    trips(w, v);
    w->indent--;
    w->at = before;
    add_name(&w->at.reals, "v%d", v);
    add_name(&w->at.ints, "c%d", v);
    if (array) add_name(&w->at.reals, "w%d[%u]", v, rng_below(&w->r, 4));
    line(w);
    put(w, "do");
    nested(w);
    line(w);
    put(w, "undo");
    w->at = before;
}

static void call(writer *w) {
    const scope *s = &w->at;
    line(w);
    put(w, "call h%u(%s, ", rng_below(&w->r, (uint32_t)w->helpers), any(w, &s->targets));
    real(w, 1, NULL);
    put(w, ", %s, ", any(w, &s->reals));
    integer(w, 1);
    put(w, ")");
}

static void block(writer *w, int statements) {
    update(w);
    for (uint32_t n = rng_below(&w->r, (uint32_t)statements + 1); n > 0; n--) {
        const uint32_t which = w->depth < MOST_DEPTH ? rng_below(&w->r, 7) : 0;
        if (which < 2)
            update(w);
        else if (which < 4)
            branch(w);
        else if (which == 4)
            counted(w);
        else if (which == 5)
            region(w);
        else if (w->helpers && !w->at.moving.n)
            call(w);
        else
            branch(w);
    }
}

/* ---- programs ---- */

static void helper(writer *w, int k) {
    w->at = (scope){0};
    add_name(&w->at.targets, "y");
    add_name(&w->at.reals, "a");
    add_name(&w->at.reals, "b");
    add_name(&w->at.ints, "k");
    put(w, "fn h%d(y: real, a: real, b: real, k: i64)", k);
    w->indent = 1;
    w->depth = MOST_DEPTH - 1;
    branch(w);
    block(w, 1);
    put(w, "\nend\n");
    w->helpers = k + 1;
}

char *divergent_program(uint64_t seed) {
    char *text = NULL;
    size_t size = 0;
    writer w = {.r = {seed}, .out = open_memstream(&text, &size)};
    if (!w.out) abort();
    for (int k = 0; k < HELPERS; k++) helper(&w, k);
    w.at = (scope){0};
    add_name(&w.at.targets, "y[i]");
    add_name(&w.at.itargets, "z[i]");
    if (chance(&w, 2)) add_name(&w.at.sums, "s");
    if (chance(&w, 8)) add_name(&w.at.sums, "g[k[i] & 3]");
    if (chance(&w, 2)) add_name(&w.at.isums, "t");
    add_name(&w.at.reals, "a[i]");
    add_name(&w.at.reals, "b[i]");
    add_name(&w.at.ints, "k[i]");
    add_name(&w.at.ints, "i");
    put(&w, "fn main_fn(y: real[n], z: i64[n], s: real, t: i64, g: real[4], a: real[n], b: real[n], k: i64[n])");
    put(&w, "\n    parallel i in 0..n");
    w.indent = 2;
    w.depth = 0;
    branch(&w);
    block(&w, 3);
    put(&w, "\n    end\nend\n");
    fclose(w.out);
    return text;
}

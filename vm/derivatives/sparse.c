/* sparse.c: a Jacobian whose pattern the caller knows. Lines that share no line of the other kind are taken in one run
 * (columns by tangents, rows by sweeps): greedy colouring at distance two. What a run gives in a crossing line then belongs
 * to the one coloured line that has an entry there.
 *
 * Below, `line` is a column or a row, whichever is coloured, and `cross` one of the other kind. The pattern is kept both
 * ways.
 */
#include <math.h>
#include <string.h>

#include "answers.h"
#include "spec.h"
#include "support.h"

#define BAD(code, ...) return rvm__fail(err, code, NULL, 0, 0, __VA_ARGS__)

/* Entries of one kind of lines: those of line k are other[start[k]..start[k + 1]), numbered in the caller's order. */
typedef struct lines {
    int64_t n, *start, *other, *number;
} lines;

typedef struct colouring {
    int64_t *colour, n; /* of each line; how many */
} colouring;

typedef struct compression {
    rvm__work w;
    const rvm_sparse *pattern;
    lines rows, columns;
    bool by_columns;
    colouring colours;
    double *value, *direction; /* direction: a random one over lines */
    void *block;
    size_t bytes;
} compression;

static rvm_status check_pattern(const rvm__work *w, const rvm_sparse *p, rvm_error *err) {
    if (p->rows != w->rows || p->columns != w->columns)
        BAD(RVM_ERR_SHAPE, "the pattern is %lld by %lld, the Jacobian %lld by %lld", (long long)p->rows,
            (long long)p->columns, (long long)w->rows, (long long)w->columns);
    if (!p->row_start) BAD(RVM_ERR_USAGE, "the pattern has no row_start");
    if (p->row_start[0] != 0) BAD(RVM_ERR_ARGUMENT, "the pattern's rows begin at %lld, not 0", (long long)p->row_start[0]);
    for (int64_t i = 0; i < p->rows; i++) /* all of them before any is followed */
        if (p->row_start[i + 1] < p->row_start[i])
            BAD(RVM_ERR_ARGUMENT, "row %lld of the pattern has a negative length", (long long)i);
    if (p->row_start[p->rows] && !p->column) BAD(RVM_ERR_USAGE, "the pattern has no columns");
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t e = p->row_start[i]; e < p->row_start[i + 1]; e++)
            if (p->column[e] < 0 || p->column[e] >= p->columns)
                BAD(RVM_ERR_ARGUMENT, "row %lld of the pattern has column %lld: there are %lld", (long long)i,
                    (long long)p->column[e], (long long)p->columns);
    return RVM_OK;
}

/* Rows as given, columns by counting. */
static void fill_lines(const rvm_sparse *p, lines *rows, lines *columns) {
    memset(columns->start, 0, (size_t)(p->columns + 2) * sizeof *columns->start);
    for (int64_t i = 0; i <= p->rows; i++) rows->start[i] = p->row_start[i];
    for (int64_t e = 0; e < p->row_start[p->rows]; e++) {
        rows->other[e] = p->column[e];
        rows->number[e] = e;
        columns->start[p->column[e] + 2]++;
    }
    for (int64_t j = 2; j < p->columns + 2; j++) columns->start[j] += columns->start[j - 1];
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
            const int64_t at = columns->start[p->column[e] + 1]++;
            columns->other[at] = i;
            columns->number[at] = e;
        }
}

/* The first line, by its number, that has the same cross twice; or -1. */
static int64_t repeated(const lines *l, int64_t *seen, int64_t crosses) {
    memset(seen, 0, (size_t)crosses * sizeof *seen);
    for (int64_t k = 0; k < l->n; k++)
        for (int64_t e = l->start[k]; e < l->start[k + 1]; e++) {
            if (seen[l->other[e]] == k + 1) return k;
            seen[l->other[e]] = k + 1;
        }
    return -1;
}

/* In order, each line the least colour that no line at distance two has. taken: a mark for each colour. */
static void colour_lines(const lines *l, const lines *cross, int64_t *taken, colouring *c) {
    c->n = 0;
    for (int64_t k = 0; k < l->n; k++) c->colour[k] = -1;
    memset(taken, 0, (size_t)l->n * sizeof *taken);
    for (int64_t k = 0; k < l->n; k++) {
        for (int64_t e = l->start[k]; e < l->start[k + 1]; e++)
            for (int64_t g = cross->start[l->other[e]]; g < cross->start[l->other[e] + 1]; g++)
                if (c->colour[cross->other[g]] >= 0) taken[c->colour[cross->other[g]]] = k + 1;
        int64_t colour = 0;
        while (taken[colour] == k + 1) colour++;
        if (l->start[k] == l->start[k + 1]) continue; /* an empty line needs no run */
        c->colour[k] = colour;
        if (colour >= c->n) c->n = colour + 1;
    }
}

/* ---- storage ---- */

static int64_t *cut(char **at, int64_t n) {
    int64_t *p = (int64_t *)(void *)*at;
    *at += (size_t)n * sizeof *p;
    return p;
}

static rvm_status allocate(compression *c, rvm_error *err) {
    const int64_t rows = c->pattern->rows, columns = c->pattern->columns, n = c->pattern->row_start[rows];
    const int64_t most = (rows > columns ? rows : columns) + 1;
    c->bytes = (size_t)(rows + columns + 4 + 4 * n + 4 * most) * sizeof(int64_t);
    char *at = c->block = rvm__resize(c->w.m, NULL, 0, c->bytes);
    if (!at) return rvm__no_memory(c->w.m, err);
    c->rows = (lines){.n = rows, .start = cut(&at, rows + 2)};
    c->columns = (lines){.n = columns, .start = cut(&at, columns + 2)};
    c->rows.other = cut(&at, n);
    c->rows.number = cut(&at, n);
    c->columns.other = cut(&at, n);
    c->columns.number = cut(&at, n);
    c->colours.colour = cut(&at, most);
    c->direction = (double *)(void *)cut(&at, most);
    return RVM_OK;
}

/* ---- runs ---- */

static rvm_status run(compression *c, rvm_error *err) {
    return c->by_columns ? rvm__work_tangent(&c->w, err) : rvm__work_adjoint(&c->w, err);
}

static void set_colour(void *of, int64_t colour) {
    compression *c = of;
    const lines *l = c->by_columns ? &c->columns : &c->rows;
    rvm__work_reset(&c->w);
    for (int64_t k = 0; k < l->n; k++)
        if (c->colours.colour[k] == colour) rvm__work_set(&c->w, c->by_columns, k, 1);
}

static rvm_status run_one(void *of, rvm_error *err) {
    return run(of, err);
}

static void get_colour(void *of, int64_t colour) {
    const compression *c = of;
    const lines *l = c->by_columns ? &c->columns : &c->rows;
    for (int64_t k = 0; k < l->n; k++)
        for (int64_t e = l->start[k]; c->colours.colour[k] == colour && e < l->start[k + 1]; e++)
            c->value[l->number[e]] = rvm__work_get(&c->w, !c->by_columns, l->other[e]);
}

static rvm_status run_colours(compression *c, rvm_error *err) {
    return rvm__work_each(&c->w, c->by_columns, &(rvm__directions){c, c->colours.n, set_colour, run_one, get_colour}, err);
}

/* ---- what the pattern misses ---- */

/* In [0.5, 1) with either sign, the same on every machine. */
static double random_direction(uint64_t k) {
    uint64_t z = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z ^= z >> 27;
    const double x = 0.5 + (double)(z >> 12) * 0x1p-53;
    return z & 1 ? -x : x;
}

/* One cross line by itself: the first entry in it that is not 0 and that the pattern lacks. Where there is none, what runs
 * give is not linear in their seeds: it overflowed, say. */
static rvm_status name_missing(compression *c, int64_t cross, double sum, double got, rvm_error *err) {
    const lines *x = c->by_columns ? &c->rows : &c->columns;
    const int64_t n = c->by_columns ? c->columns.n : c->rows.n;
    char row[200], column[200];
    rvm__work_reset(&c->w);
    rvm__work_set(&c->w, !c->by_columns, cross, 1);
    rvm_status status = c->by_columns ? rvm__work_adjoint(&c->w, err) : rvm__work_tangent(&c->w, err);
    for (int64_t k = 0; k < n && !status; k++) {
        const double v = rvm__work_get(&c->w, c->by_columns, k);
        bool has = v == 0;
        for (int64_t e = x->start[cross]; e < x->start[cross + 1] && !has; e++) has = x->other[e] == k;
        if (has) continue;
        const int64_t i = c->by_columns ? cross : k, j = c->by_columns ? k : cross;
        rvm_derivative_name(c->w.m, c->w.q, false, i, row, sizeof row);
        rvm_derivative_name(c->w.m, c->w.q, true, j, column, sizeof column);
        BAD(RVM_ERR_ARGUMENT, "the pattern misses entry (%lld, %lld): d %s / d %s is %.9g", (long long)i, (long long)j, row,
            column, v);
    }
    if (status) return status;
    rvm_derivative_name(c->w.m, c->w.q, !c->by_columns, cross, row, sizeof row);
    BAD(RVM_ERR_CHECK,
        "the entries of %s `%s` cannot be right: along a random direction they make %.9g, and a run along it "
        "%.9g; the pattern misses none",
        c->by_columns ? "row" : "column", row, sum, got);
}

/* What a sum of rounded entries may be off by, relative to the size of its terms; *least: at least, since entries of fix are
 * rounded to multiples of 2^-43. */
static double roughness(const compression *c, double *least) {
    double rough = 1e-9;
    *least = 0;
    for (uint32_t k = 0; k < c->w.q->nargs; k++) {
        const rvm_type t = c->w.params[k].type;
        if (t != RVM_I64 && t != RVM_F64) rough = 1e-4;
        if (t == RVM_FIX) *least = 1e-8;
    }
    return rough;
}

/* The largest term of the lines that meet a cross line: what they are rounded by may be all that it has. */
static double largest_around(const compression *c, int64_t cross) {
    const lines *l = c->by_columns ? &c->columns : &c->rows, *x = c->by_columns ? &c->rows : &c->columns;
    double most = 0;
    for (int64_t e = x->start[cross]; e < x->start[cross + 1]; e++)
        for (int64_t line = x->other[e], g = l->start[line]; g < l->start[line + 1]; g++)
            most = fmax(most, fabs(c->value[l->number[g]] * c->direction[line]));
    return most;
}

/* A run along all lines at once, against what the entries give: where they differ, something is missing. */
static rvm_status probe(compression *c, rvm_error *err) {
    const lines *l = c->by_columns ? &c->columns : &c->rows, *x = c->by_columns ? &c->rows : &c->columns;
    rvm__work_reset(&c->w);
    for (int64_t k = 0; k < l->n; k++) {
        c->direction[k] = random_direction((uint64_t)k);
        rvm__work_set(&c->w, c->by_columns, k, c->direction[k]);
    }
    rvm_status status = run(c, err);
    double least, wrong_sum = 0, wrong_got = 0;
    const double rough = roughness(c, &least);
    int64_t wrong = -1;
    for (int64_t i = 0; i < x->n && !status; i++) {
        double sum = 0, size = 0;
        const double got = rvm__work_get(&c->w, !c->by_columns, i);
        for (int64_t e = x->start[i]; e < x->start[i + 1]; e++) {
            const double term = c->value[x->number[e]] * c->direction[x->other[e]];
            sum += term;
            size += fabs(term);
        }
        const double off = fabs(sum - got), allowed = fmax(least, rough * fmax(size, fabs(got)));
        if (sum == got || (isnan(sum) && isnan(got)) || (isfinite(off) && off <= allowed)) continue;
        if (isfinite(off) && off <= rough * largest_around(c, i)) continue;
        wrong = i, wrong_sum = sum, wrong_got = got;
        break;
    }
    return status || wrong < 0 ? status : name_missing(c, wrong, wrong_sum, wrong_got, err);
}

/* ---- all of it ---- */

/* Colours the lines of the method; for RVM_AUTO of both kinds, and takes the cheaper. */
static void choose(compression *c, rvm_method method) {
    int64_t *taken = (int64_t *)(void *)c->direction; /* as long as the longer kind, and not yet needed */
    int64_t rows = 0;
    if (method != RVM_BY_TANGENTS) colour_lines(&c->rows, &c->columns, taken, &c->colours), rows = c->colours.n;
    c->by_columns = method != RVM_BY_ADJOINTS;
    if (c->by_columns) colour_lines(&c->columns, &c->rows, taken, &c->colours);
    if (method != RVM_AUTO || rvm__tangents_are_cheaper(c->colours.n, rows)) return;
    c->by_columns = false;
    colour_lines(&c->rows, &c->columns, taken, &c->colours);
}

static rvm_status compress(compression *c, rvm_method method, rvm_error *err) {
    rvm_status status = check_pattern(&c->w, c->pattern, err);
    if (!status) status = rvm__work_needs(c->value, c->pattern->row_start[c->pattern->rows], "value", err);
    if (!status) status = allocate(c, err);
    if (status) return status;
    fill_lines(c->pattern, &c->rows, &c->columns);
    const int64_t twice = repeated(&c->rows, c->colours.colour, c->columns.n);
    if (twice >= 0) BAD(RVM_ERR_ARGUMENT, "row %lld of the pattern has a column twice", (long long)twice);
    choose(c, method);
    c->w.cost.method = c->by_columns ? "tangent" : "adjoint";
    c->w.cost.colours = c->colours.n;
    status = run_colours(c, err);
    return status ? status : probe(c, err);
}

rvm_status rvm_jacobian_sparse(rvm_machine *m, const rvm_derivative_spec *q, rvm_method method, const rvm_sparse *pattern,
                               double *value, rvm_cost *cost, rvm_error *err) {
    compression c = {.pattern = pattern, .value = value};
    RVM__NEEDS(pattern);
    if ((unsigned)method > RVM_BY_ADJOINTS)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no method of a Jacobian has number %d", (int)method);
    rvm_status status = rvm__work_begin(&c.w, m, q, err);
    if (status) return status;
    method = rvm__method_by_hand(c.w.p, (uint32_t)q->fn, method);
    status = rvm__fail_in(err, compress(&c, method, err), c.w.p, q->fn);
    rvm__resize(m, c.block, c.bytes, 0);
    rvm__work_end(&c.w, cost);
    return status;
}

void rvm_sparse_free(rvm_machine *m, rvm_sparse *s) {
    if (!m || !s) return;
    if (s->row_start) rvm__resize(m, s->row_start, (size_t)(s->rows + 1 + 2 * s->row_start[s->rows]) * sizeof(int64_t), 0);
    *s = (rvm_sparse){0};
}

/* sparse.c: compressed Jacobians of random patterns (banded, arrows, bipartite at random, entries of a row in any order)
 * against the dense one, by both methods; and that the colouring is one. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "rvm_derivatives.h"

static const char source[] = "fn rows(y: real[m], x: real[n], start: i64[l], column: i64[k])\n"
                             "    for i in 0..m\n"
                             "        for e in start[i]..start[i + 1]\n"
                             "            y[i] += (e + 1.5) * sin(x[column[e]] + 0.1 * i)\n"
                             "        end\n"
                             "    end\n"
                             "end\n";

enum { MOST = 24, ENTRIES = MOST * MOST };

typedef struct pattern {
    int64_t m, n, start[MOST + 1], column[ENTRIES];
} pattern;

/* Whether an entry is at (i, j), by the kind of pattern. */
static bool has_entry(int kind, int64_t i, int64_t j, int64_t width, rng *r) {
    switch (kind) {
    case 0: return llabs(i - j) <= width;                        /* a band */
    case 1: return i == j || i == 0 || j == 0;                   /* an arrow */
    case 2: return i == j || (i >= width && j == i - width);     /* two diagonals */
    case 3: return i / (width + 1) == j / (width + 1) || j == 0; /* blocks, and a dense column */
    default: return rng_below(r, 6) == 0;
    }
}

static void fill(pattern *p, int kind, rng *r) {
    const int64_t width = rng_below(r, 4);
    p->m = 1 + rng_below(r, MOST);
    p->n = 1 + rng_below(r, MOST);
    p->start[0] = 0;
    for (int64_t i = 0; i < p->m; i++) {
        int64_t at = p->start[i];
        for (int64_t j = 0; j < p->n; j++) {
            if (!has_entry(kind, i, j, width, r)) continue;
            const int64_t k = p->start[i] + rng_below(r, (uint32_t)(at - p->start[i] + 1)); /* shuffled as it grows */
            p->column[at++] = p->column[k];
            p->column[k] = j;
        }
        p->start[i + 1] = at;
    }
}

/* The least number of colours there can be: the longest crossing line. */
static int64_t longest(const pattern *p, bool by_columns) {
    int64_t count[MOST] = {0}, most = 0;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) count[by_columns ? i : p->column[e]]++;
    for (int64_t k = 0; k < MOST; k++) most = count[k] > most ? count[k] : most;
    return most;
}

typedef struct fixture {
    rvm_machine *m;
    rvm_derivative_spec q;
    double y[MOST], x[MOST];
    rvm_arg args[4];
    rvm_part of, by;
} fixture;

static void ask(fixture *f, const rvm_program *program, pattern *p, rng *r) {
    for (int k = 0; k < MOST; k++) f->y[k] = 0, f->x[k] = rng_real(r, -2, 2);
    f->args[0] = rvm_arg_array_f64(f->y, 1, &p->m);
    f->args[1] = rvm_arg_array_f64(f->x, 1, &p->n);
    f->args[2] = rvm_arg_array_i64(p->start, 1, (int64_t[]){p->m + 1});
    f->args[3] = rvm_arg_array_i64(p->column, 1, &p->start[p->m]);
    f->of = (rvm_part){0, -1};
    f->by = (rvm_part){1, -1};
    f->q = (rvm_derivative_spec){.fn = rvm_program_find(program, "rows"),
                                 .args = f->args,
                                 .nargs = 4,
                                 .outputs = &f->of,
                                 .noutputs = 1,
                                 .inputs = &f->by,
                                 .ninputs = 1};
}

static void compare(fixture *f, pattern *p, rvm_method method, const char *about) {
    static double J[MOST * MOST], value[ENTRIES];
    rvm_error e;
    rvm_cost cost;
    const rvm_sparse given = {.rows = p->m, .columns = p->n, .row_start = p->start, .column = p->column};
    cr_assert(rvm_jacobian(f->m, &f->q, method, J, NULL, &e) == RVM_OK, "%s: %s", about, e.message);
    for (int64_t e_ = 0; e_ < p->start[p->m]; e_++) value[e_] = NAN;
    cr_assert(rvm_jacobian_sparse(f->m, &f->q, method, &given, value, &cost, &e) == RVM_OK, "%s: %s", about, e.message);
    int64_t nonzero = 0, found = 0;
    for (int64_t k = 0; k < p->m * p->n; k++) nonzero += J[k] != 0;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t k = p->start[i]; k < p->start[i + 1]; k++) {
            const double expected = J[i * p->n + p->column[k]];
            found += expected != 0;
            cr_assert(value[k] == expected, "%s: entry (%d, %d) is %.17g, not %.17g", about, (int)i, (int)p->column[k],
                      value[k], expected);
        }
    cr_assert(found == nonzero, "%s: the pattern is whole", about);
    const bool by_columns = cost.method[0] == 't';
    cr_assert(method == RVM_AUTO || by_columns == (method == RVM_BY_TANGENTS));
    const int64_t least = longest(p, by_columns), lines = by_columns ? p->n : p->m;
    cr_assert(cost.colours >= least && cost.colours <= lines, "%s: %d colours, at least %d", about, (int)cost.colours,
              (int)least);
    if (p->start[p->m]) cr_assert(cost.tangents + cost.adjoints == (uint64_t)cost.colours + 1, "%s: and a probe", about);
}

Test(sparse, random_patterns) {
    report rep = {.name = "sparse"};
    rvm_error e;
    fixture f;
    rng r = {31};
    rvm_program *program = assemble_text(source, NULL, &rep);
    cr_assert(program && rvm_machine_new(program, NULL, &f.m, &e) == RVM_OK);
    for (int k = 0; k < 150; k++) {
        static pattern p;
        char about[40];
        fill(&p, k % 5, &r);
        ask(&f, program, &p, &r);
        for (int method = RVM_AUTO; method <= RVM_BY_ADJOINTS; method++) {
            snprintf(about, sizeof about, "pattern %d, method %d", k, method);
            compare(&f, &p, (rvm_method)method, about);
        }
    }
    rvm_machine_free(f.m);
    rvm_program_free(program);
}

/* A band is coloured with as many colours as it is wide, however the entries of its rows stand. */
Test(sparse, bands_need_their_width) {
    report rep = {.name = "sparse"};
    rvm_error e;
    fixture f;
    rng r = {7};
    static pattern p;
    double value[ENTRIES];
    rvm_cost cost;
    rvm_program *program = assemble_text(source, NULL, &rep);
    cr_assert(program && rvm_machine_new(program, NULL, &f.m, &e) == RVM_OK);
    for (int64_t width = 0; width < 4; width++) {
        p.m = p.n = MOST;
        for (int64_t i = 0, at = 0; i < p.m; i++) {
            for (int64_t j = i + width; j >= i - width; j--)
                if (j >= 0 && j < p.n) p.column[at++] = j;
            p.start[i + 1] = at;
        }
        ask(&f, program, &p, &r);
        const rvm_sparse given = {.rows = p.m, .columns = p.n, .row_start = p.start, .column = p.column};
        cr_assert(rvm_jacobian_sparse(f.m, &f.q, RVM_BY_TANGENTS, &given, value, &cost, &e) == RVM_OK, "%s", e.message);
        cr_assert(cost.colours == 2 * width + 1, "width %d: %d", (int)width, (int)cost.colours);
    }
    rvm_machine_free(f.m);
    rvm_program_free(program);
}

/* An entry that is what rounding leaves of one, beside others of its row that are not. */
Test(sparse, rounding_is_no_missing_entry) {
    static const char root[] = "fn root(y: real, x: real)\n"
                               "    let k = 0\n"
                               "    from k == 0 while k < 7\n"
                               "        set y = 0.5 * (y + x / y)\n"
                               "        k += 1\n"
                               "    end\n"
                               "    drop k\n"
                               "end\n";
    report rep = {.name = "sparse"};
    rvm_error e;
    rvm_machine *m;
    rvm_program *program = assemble_text(root, NULL, &rep);
    rvm_arg arg[2] = {rvm_arg_f64(1), rvm_arg_f64(0.7)};
    int64_t start[2] = {0, 2}, column[2] = {0, 1};
    double value[2];
    const rvm_part of = {0, -1}, by[2] = {{0, -1}, {1, -1}};
    const rvm_derivative_spec q = {.args = arg, .nargs = 2, .outputs = &of, .noutputs = 1, .inputs = by, .ninputs = 2};
    const rvm_sparse given = {.rows = 1, .columns = 2, .row_start = start, .column = column};
    cr_assert(program && rvm_machine_new(program, NULL, &m, &e) == RVM_OK);
    cr_assert(rvm_jacobian_sparse(m, &q, RVM_BY_ADJOINTS, &given, value, NULL, &e) == RVM_OK, "%s", e.message);
    cr_assert(value[0] != 0 && fabs(value[0]) < 1e-60 && fabs(value[1] - 0.5 / sqrt(0.7)) < 1e-12);
    rvm_machine_free(m);
    rvm_program_free(program);
}

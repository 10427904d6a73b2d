/* derivatives.c: the interface of rvm_derivatives.h: colourings, damaged patterns, sparse Hessians, memory. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "harness.h"
#include "rvm_derivatives.h"

static const char source[] = "fn band(y: real[n], x: real[n], k: i64)\n"
                             "    for i in 0..n\n"
                             "        y[i] += x[i] ^ 2\n"
                             "    end\n"
                             "    for i in 1..n\n"
                             "        y[i] += x[i - 1] * x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn sum(out: real, x: real[n])\n"
                             "    compute\n"
                             "        let y: real[n] = 0\n"
                             "        call band(y, x, 0)\n"
                             "    do\n"
                             "        for i in 0..n\n"
                             "            out += sin(y[i])\n"
                             "        end\n"
                             "    undo\n"
                             "end\n"
                             "fn mixing(out: real, x: real, n: i64)\n"
                             "    compute\n"
                             "        let s: real[n] = x\n"
                             "        for i in 0..n\n"
                             "            s[i] += i * x * s[(i + 1) % n]\n"
                             "        end\n"
                             "        for t in 1..12\n"
                             "            for i in 0..n\n"
                             "                s[i] += sin(s[(i + t) % n])\n"
                             "            end\n"
                             "        end\n"
                             "    do\n"
                             "        for i in 0..n\n"
                             "            out += s[i] * s[n - 1 - i]\n"
                             "        end\n"
                             "    undo\n"
                             "end\n"
                             "fn infinite(y: real[n], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        compute\n"
                             "            let t = x[i] * x[i]\n"
                             "        do\n"
                             "            y[i] += asin(t)\n"
                             "        undo\n"
                             "    end\n"
                             "end\n"
                             "fn observe(r: real[m], c: real[p, 3], s: real[q, 2], at: i64[m], of: i64[m])\n"
                             "    for i in 0..m\n"
                             "        for d in 0..3\n"
                             "            r[i] += c[at[i], d] * s[of[i], 0]\n"
                             "        end\n"
                             "        r[i] += s[of[i], 1] ^ 2\n"
                             "    end\n"
                             "end\n";

enum { N = 6 };

typedef struct fixture {
    report rep;
    rvm_program *p;
    rvm_machine *m;
    double y[N], x[N];
    rvm_arg args[3];
    rvm_part of, by;
    rvm_derivative_spec q;
    rvm_error e;
} fixture;

static void open_with(fixture *f, const char *fn, const rvm_allocator *al) {
    *f = (fixture){.rep = {.name = "derivatives"}};
    rvm_options o = rvm_options_default();
    o.allocator = al;
    f->p = assemble_text(source, NULL, &f->rep);
    cr_assert(f->p);
    const bool band = !strcmp(fn, "band");
    for (int k = 0; k < N; k++) f->x[k] = k + 0.5;
    f->args[0] = band ? rvm_arg_array_f64(f->y, 1, (int64_t[]){N}) : rvm_arg_f64(0);
    f->args[1] = rvm_arg_array_f64(f->x, 1, (int64_t[]){N});
    f->args[2] = rvm_arg_i64(0);
    f->of = (rvm_part){0, -1};
    f->by = (rvm_part){1, -1};
    f->q = (rvm_derivative_spec){.fn = rvm_program_find(f->p, fn),
                                 .args = f->args,
                                 .nargs = band ? 3 : 2,
                                 .outputs = &f->of,
                                 .noutputs = 1,
                                 .inputs = &f->by,
                                 .ninputs = 1};
    if (rvm_machine_new(f->p, &o, &f->m, &f->e)) f->m = NULL;
}

static void close_(fixture *f) {
    rvm_machine_free(f->m);
    rvm_program_free(f->p);
}

/* Lower bidiagonal. */
static int64_t starts[N + 1] = {0, 1, 3, 5, 7, 9, 11}, columns[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5};

Test(derivatives, coloured_jacobian_is_the_jacobian) {
    fixture f;
    double J[N * N], value[11];
    rvm_cost cost;
    open_with(&f, "band", NULL);
    const rvm_sparse pattern = {.rows = N, .columns = N, .row_start = starts, .column = columns};
    for (int method = RVM_AUTO; method <= RVM_BY_ADJOINTS; method++) {
        cr_assert(rvm_jacobian(f.m, &f.q, (rvm_method)method, J, NULL, &f.e) == RVM_OK, "%s", f.e.message);
        cr_assert(rvm_jacobian_sparse(f.m, &f.q, (rvm_method)method, &pattern, value, &cost, &f.e) == RVM_OK, "%s",
                  f.e.message);
        cr_assert(cost.colours == 2);
        for (int i = 0; i < N; i++)
            for (int64_t e = starts[i]; e < starts[i + 1]; e++) cr_assert(value[e] == J[i * N + columns[e]]);
    }
    for (int k = 0; k < N; k++) cr_assert(f.x[k] == k + 0.5 && f.y[k] == 0, "arguments come back");
    close_(&f);
}

Test(derivatives, a_missing_entry_is_named) {
    static const int64_t missing[][2] = {{3, 2}, {5, 5}, {0, 0}};
    for (size_t k = 0; k < 3; k++)
        for (int method = RVM_BY_TANGENTS; method <= RVM_BY_ADJOINTS; method++) {
            fixture f;
            int64_t start[N + 1] = {0}, column[11], n = 0;
            double value[11];
            char expected[64];
            open_with(&f, "band", NULL);
            for (int64_t i = 0; i < N; start[++i] = n)
                for (int64_t e = starts[i]; e < starts[i + 1]; e++)
                    if (i != missing[k][0] || columns[e] != missing[k][1]) column[n++] = columns[e];
            const rvm_sparse pattern = {.rows = N, .columns = N, .row_start = start, .column = column};
            cr_assert(rvm_jacobian_sparse(f.m, &f.q, (rvm_method)method, &pattern, value, NULL, &f.e) == RVM_ERR_ARGUMENT);
            cr_assert(f.e.line == 1 && strcmp(f.e.file, "test.rasm") == 0, "%s:%u", f.e.file, f.e.line);
            snprintf(expected, sizeof expected, "entry (%d, %d): d y[%d] / d x[%d]", (int)missing[k][0], (int)missing[k][1],
                     (int)missing[k][0], (int)missing[k][1]);
            cr_assert(strstr(f.e.message, expected), "%s, not %s", f.e.message, expected);
            close_(&f);
        }
}

Test(derivatives, damaged_patterns_are_refused) {
    static int64_t decreasing[N + 1] = {0, 1 << 30, 3, 5, 7, 9, 11}, late[N + 1] = {1, 1, 3, 5, 7, 9, 11};
    static int64_t outside[] = {0, 0, 6, 1, 2, 2, 3, 3, 4, 4, 5}, twice[] = {0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5};
    fixture f;
    double value[11];
    open_with(&f, "band", NULL);
    const rvm_sparse bad[] = {{.rows = N, .columns = N, .row_start = decreasing, .column = columns},
                              {.rows = N, .columns = N, .row_start = late, .column = columns},
                              {.rows = N, .columns = N, .row_start = starts, .column = outside},
                              {.rows = N, .columns = N, .row_start = starts, .column = twice},
                              {.rows = N, .columns = N - 1, .row_start = starts, .column = columns}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const rvm_status st = rvm_jacobian_sparse(f.m, &f.q, RVM_AUTO, &bad[k], value, NULL, &f.e);
        cr_assert(st == (k < 4 ? RVM_ERR_ARGUMENT : RVM_ERR_SHAPE), "pattern %zu: %s", k, rvm_status_name(st));
    }
    close_(&f);
}

/* A sweep finds the pattern, entries that are 0 here included, and the entries. */
Test(derivatives, entries_are_found) {
    fixture f;
    double J[N * N];
    rvm_sparse s;
    rvm_cost cost;
    open_with(&f, "band", NULL);
    f.x[2] = 0;
    cr_assert(rvm_jacobian(f.m, &f.q, RVM_BY_TANGENTS, J, NULL, &f.e) == RVM_OK);
    cr_assert(rvm_jacobian_entries(f.m, &f.q, &s, &cost, &f.e) == RVM_OK, "%s", f.e.message);
    cr_assert(s.rows == N && s.columns == N && cost.adjoints == 1 && !strcmp(cost.method, "sweep"));
    for (int i = 0; i <= N; i++) cr_assert(s.row_start[i] == starts[i], "row %d", i);
    for (int i = 0; i < N; i++)
        for (int64_t e = starts[i]; e < starts[i + 1]; e++)
            cr_assert(s.column[e] == columns[e] && fabs(s.value[e] - J[i * N + columns[e]]) < 1e-15, "%d", i);
    cr_assert(f.x[2] == 0 && f.x[3] == 3.5 && f.y[2] == 0, "arguments come back");
    rvm_sparse_free(f.m, &s);
    rvm_sparse_free(f.m, &s);
    close_(&f);
}

/* An infinite partial makes the adjoint, which is 0, NaN: what comes of that is no entry. */
Test(derivatives, entries_of_infinite_partials) {
    fixture f;
    rvm_sparse s;
    open_with(&f, "sum", NULL);
    f.q.fn = rvm_program_find(f.p, "infinite");
    f.args[0] = rvm_arg_array_f64(f.y, 1, (int64_t[]){N});
    for (int k = 0; k < N; k++) f.x[k] = 1;
    cr_assert(rvm_jacobian_entries(f.m, &f.q, &s, NULL, &f.e) == RVM_OK, "%s", f.e.message);
    for (int i = 0; i < N; i++)
        cr_assert(s.row_start[i + 1] == i + 1 && s.column[i] == i && s.value[i] > 1e300, "%g", s.value[i]);
    rvm_sparse_free(f.m, &s);
    close_(&f);
}

/* What bundle adjustment looks like: every residual is of one camera and one point. */
Test(derivatives, blocks_need_as_many_colours_as_a_row_has_entries) {
    enum { CAMERAS = 4, POINTS = 9, M = CAMERAS * POINTS, COLUMNS = 3 * CAMERAS + 2 * POINTS };
    report rep = {.name = "derivatives"};
    rvm_error e;
    rvm_machine *m = NULL;
    rvm_cost cost;
    double r[M] = {0}, c[3 * CAMERAS], s[2 * POINTS], value[5 * M];
    int64_t at[M], of[M], start[M + 1] = {0}, column[5 * M];
    rvm_program *p = assemble_text(source, NULL, &rep);
    cr_assert(p && rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    for (int k = 0; k < 3 * CAMERAS; k++) c[k] = k - 3.5;
    for (int k = 0; k < 2 * POINTS; k++) s[k] = k + 0.25;
    for (int i = 0; i < M; i++) {
        at[i] = i % CAMERAS, of[i] = i / CAMERAS;
        for (int d = 0; d < 5; d++) column[5 * i + d] = d < 3 ? 3 * at[i] + d : 3 * CAMERAS + 2 * of[i] + d - 3;
        start[i + 1] = 5 * (i + 1);
    }
    rvm_arg given[] = {rvm_arg_array_f64(r, 1, (int64_t[]){M}), rvm_arg_array_f64(c, 2, (int64_t[]){CAMERAS, 3}),
                       rvm_arg_array_f64(s, 2, (int64_t[]){POINTS, 2}), rvm_arg_array_i64(at, 1, (int64_t[]){M}),
                       rvm_arg_array_i64(of, 1, (int64_t[]){M})};
    const rvm_part rows = {0, -1}, by[] = {{1, -1}, {2, -1}};
    const rvm_derivative_spec q = {.fn = rvm_program_find(p, "observe"),
                                   .args = given,
                                   .nargs = 5,
                                   .outputs = &rows,
                                   .noutputs = 1,
                                   .inputs = by,
                                   .ninputs = 2};
    const rvm_sparse pattern = {.rows = M, .columns = COLUMNS, .row_start = start, .column = column};
    cr_assert(rvm_jacobian_sparse(m, &q, RVM_AUTO, &pattern, value, &cost, &e) == RVM_OK, "%s", e.message);
    cr_assert(cost.colours == 5 && cost.tangents == 6 && cost.adjoints == 0);
    cr_assert(value[5 * 7] == s[2 * of[7]] && value[5 * 7 + 4] == 2 * s[2 * of[7] + 1]);
    rvm_machine_free(m);
    rvm_program_free(p);
}

Test(derivatives, sparse_hessian_is_the_hessian) {
    fixture f;
    double H[2][N * N];
    rvm_sparse s;
    open_with(&f, "sum", NULL);
    cr_assert(rvm_hessian(f.m, &f.q, NULL, RVM_BY_SWEEP, H[0], NULL, &f.e) == RVM_OK, "%s", f.e.message);
    cr_assert(rvm_hessian(f.m, &f.q, NULL, RVM_BY_HVP, H[1], NULL, &f.e) == RVM_OK, "%s", f.e.message);
    cr_assert(rvm_hessian_sparse(f.m, &f.q, NULL, &s, NULL, &f.e) == RVM_OK, "%s", f.e.message);
    cr_assert(s.rows == N && s.columns == N && s.row_start[N] == 3 * N - 2, "tridiagonal");
    for (int i = 0; i < N; i++) {
        double row[N] = {0};
        for (int64_t e = s.row_start[i]; e < s.row_start[i + 1]; e++) {
            cr_assert(e == s.row_start[i] || s.column[e] > s.column[e - 1]);
            row[s.column[e]] = s.value[e];
        }
        for (int j = 0; j < N; j++)
            cr_assert(row[j] == H[0][i * N + j] && fabs(row[j] - H[1][i * N + j]) <= 1e-12 * (1 + fabs(row[j])));
    }
    rvm_sparse_free(f.m, &s);
    close_(&f);
}

/* One parameter, and many places alive that all hang together: the sweep is given up for a product. */
Test(derivatives, sweep_is_given_up_where_products_are_cheaper) {
    report rep = {.name = "derivatives"};
    rvm_error e;
    rvm_machine *m = NULL;
    rvm_cost cost;
    double H[3];
    rvm_program *p = assemble_text(source, NULL, &rep);
    cr_assert(p && rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    rvm_arg given[] = {rvm_arg_f64(0), rvm_arg_f64(0.01), rvm_arg_i64(100)};
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {.fn = rvm_program_find(p, "mixing"),
                                   .args = given,
                                   .nargs = 3,
                                   .outputs = &of,
                                   .noutputs = 1,
                                   .inputs = &by,
                                   .ninputs = 1};
    for (int method = 0; method < 3; method++) {
        const rvm_method methods[] = {RVM_BY_SWEEP, RVM_BY_HVP, RVM_AUTO};
        cr_assert(rvm_hessian(m, &q, NULL, methods[method], &H[method], &cost, &e) == RVM_OK, "%s", e.message);
    }
    cr_assert(!strcmp(cost.method, "hvp") && cost.updates > 0, "%s", cost.method);
    cr_assert(fabs(H[0] - H[1]) <= 1e-8 * fabs(H[1]) && H[1] == H[2] && H[1] != 0, "%g %g %g", H[0], H[1], H[2]);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* exp(x) exp(-x), whose partials by its factors overflow where they are multiplied, is constant. */
Test(derivatives, sweep_is_given_up_where_it_overflows) {
    report rep = {.name = "derivatives"};
    rvm_error e;
    rvm_machine *m = NULL;
    rvm_cost cost;
    double H = 1;
    rvm_program *p = assemble_text("fn one(y: real, x: real)\n    y += exp(x) * exp(-x)\nend\n", NULL, &rep);
    cr_assert(p && rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    rvm_arg given[] = {rvm_arg_f64(0), rvm_arg_f64(400)};
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = 0, .args = given, .nargs = 2, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
    cr_assert(rvm_hessian(m, &q, NULL, RVM_AUTO, &H, &cost, &e) == RVM_OK, "%s", e.message);
    cr_assert(H == 0 && !strcmp(cost.method, "hvp"), "%g by %s", H, cost.method);
    rvm_machine_free(m);
    rvm_program_free(p);
}

/* The same beside compute parts that nest too deep for f'grad, so that there are no products: what the sweep gives. */
Test(derivatives, sweep_is_kept_where_there_are_no_products) {
    report rep = {.name = "derivatives"};
    rvm_error e;
    rvm_machine *m = NULL;
    rvm_cost cost;
    double H = 1, w[18] = {0};
    char text[2000];
    int n = snprintf(text, sizeof text, "fn one(y: real, x: real, w: real[18])\ny += exp(x) * exp(-x)\n");
    for (int k = 1; k < 18; k++) n += snprintf(text + n, sizeof text - (size_t)n, "compute\n");
    n += snprintf(text + n, sizeof text - (size_t)n, "w[0] += sin(x)\n");
    for (int k = 1; k < 18; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "do\nw[%d] += sin(w[%d])\nundo\n", k, k - 1);
    snprintf(text + n, sizeof text - (size_t)n, "end\n");
    rvm_program *p = assemble_text(text, NULL, &rep);
    cr_assert(p && rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    const int64_t shape[] = {18};
    rvm_arg given[] = {rvm_arg_f64(0), rvm_arg_f64(400), rvm_arg_array_f64(w, 1, shape)};
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = 0, .args = given, .nargs = 3, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
    cr_assert(rvm_hessian(m, &q, NULL, RVM_BY_HVP, &H, &cost, &e) == RVM_ERR_UNSUPPORTED);
    cr_assert(rvm_hessian(m, &q, NULL, RVM_AUTO, &H, &cost, &e) == RVM_OK, "%s", e.message);
    cr_assert(isnan(H) && !strcmp(cost.method, "sweep"), "%g by %s", H, cost.method);
    rvm_machine_free(m);
    rvm_program_free(p);
}

Test(derivatives, specs_that_have_no_answer) {
    fixture f;
    double v[N * N] = {0};
    open_with(&f, "band", NULL);
    cr_assert(rvm_hessian(f.m, &f.q, NULL, RVM_AUTO, v, NULL, &f.e) == RVM_ERR_ARGUMENT &&
              strstr(f.e.message, "one number"));
    const rvm_part integer = {2, -1}, none = {7, -1}, element = {1, N};
    const rvm_part *wrong[] = {&integer, &none, &element};
    for (size_t k = 0; k < 3; k++) {
        f.q.inputs = wrong[k];
        cr_assert(rvm_jacobian(f.m, &f.q, RVM_AUTO, v, NULL, &f.e) == RVM_ERR_ARGUMENT);
        cr_assert(k || (strstr(f.e.message, "`k` is i64") && f.e.line == 1), "%s", f.e.message);
    }
    close_(&f);
}

/* All of it, with the n-th allocation of the machine failing: MEMORY, and nothing is lost. */
static rvm_status everything(fixture *f) {
    double H[N * N], v[N] = {1, 2}, hv[N];
    int64_t begin[] = {0, N}, all[N] = {0, 1, 2, 3, 4, 5};
    const rvm_sparse row = {.rows = 1, .columns = N, .row_start = begin, .column = all};
    rvm_sparse s = {0};
    uint32_t points;
    rvm_status st = rvm_hessian(f->m, &f->q, NULL, RVM_BY_SWEEP, H, NULL, &f->e);
    if (!st) st = rvm_hessian_sparse(f->m, &f->q, NULL, &s, NULL, &f->e);
    rvm_sparse_free(f->m, &s);
    if (!st) st = rvm_jacobian_entries(f->m, &f->q, &s, NULL, &f->e);
    rvm_sparse_free(f->m, &s);
    if (!st) st = rvm_hvp(f->m, &f->q, NULL, v, hv, NULL, &f->e);
    if (!st) st = rvm_jacobian(f->m, &f->q, RVM_BY_ADJOINTS, H, NULL, &f->e);
    if (!st) st = rvm_jacobian(f->m, &f->q, RVM_BY_TANGENTS, H, NULL, &f->e);
    if (!st) st = rvm_hessian(f->m, &f->q, NULL, RVM_BY_HVP, H, NULL, &f->e);
    if (!st) st = rvm_nonsmooth_points(f->m, &f->q, v, NULL, 0, &points, &f->e);
    if (!st) st = rvm_jacobian_sparse(f->m, &f->q, RVM_AUTO, &row, hv, NULL, &f->e);
    return st;
}

static void each_failure(bool sticky) {
    rvm_status st = RVM_ERR_MEMORY;
    for (uint64_t n = 1; st != RVM_OK && n < 100000; n++) {
        counting c;
        fixture f;
        counting_init(&c);
        c.fail_at = n;
        c.sticky = sticky;
        open_with(&f, "sum", &c.al);
        st = f.m ? everything(&f) : RVM_ERR_MEMORY;
        cr_assert(st == RVM_OK || st == RVM_ERR_MEMORY, "allocation %d: %s", (int)n, f.e.message);
        cr_assert(!st || !f.m || strstr(f.e.message, "out of memory"), "allocation %d: %s", (int)n, f.e.message);
        close_(&f);
        cr_assert(c.live_blocks == 0 && !c.mismatch, "allocation %d", (int)n);
    }
    cr_assert(st == RVM_OK);
}

Test(derivatives, out_of_memory_at_each_allocation, .timeout = 120) {
    each_failure(true);
    each_failure(false);
}

/* How often the text occurs in a derived function's instructions. */
static int occurrences(const char *name, const char *of) {
    report rep = {.name = "occurrences"};
    rvm_program *derived = NULL,
                *p = assemble_text("fn f(y: real, x: real)\n    let t = exp(x)\n    y += t * t\nend\n", NULL, &rep);
    rvm_error e;
    uint32_t fn = 0;
    int n = 0;
    cr_assert(!rvm_program_derive(p, name, &derived, &fn, &e), "%s", e.message);
    for (uint32_t pc = 0; pc < rvm_program_code_size(derived, fn); pc++) {
        char text[200];
        rvm_program_instruction_text(derived, fn, pc, text, sizeof text);
        n += strstr(text, of) != NULL;
    }
    rvm_program_free(derived);
    rvm_program_free(p);
    return n;
}

/* Where y appeared as f, partials that are made of f take y. */
Test(derivatives, partials_take_f_from_what_appeared) {
    cr_assert_eq(occurrences("f", "exp"), 2);
    cr_assert_eq(occurrences("f'tan", "exp"), 2);
    cr_assert_eq(occurrences("f'adj", "exp"), 2);
}

/* -0 + x is x for every x, so that compilers leave the sum out. */
Test(derivatives, sums_begin_with_what_adds_nothing) {
    cr_assert_eq(occurrences("f'adj", ", -0.0"), 1);
}

/* A constant factor has no tangent, though its partial is infinite: neither where all operands are registers, nor elements.
 */
Test(derivatives, constants_beside_infinity) {
    report rep = {.name = "constants"};
    static const char *const texts[] = {
        "fn f(y: real, x: real)\n    let a = x * x\n    let t = a * 2\n    y += t\nend\n",
        "fn f(y: real[1], x: real[1])\n    let a: real[1] = 0\n    a[0] += x[0] * x[0]\n    y[0] += a[0] * 2\n"
        "    a[0] -= x[0] * x[0]\nend\n"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        rvm_program *p = assemble_text(texts[k], NULL, &rep);
        rvm_machine *m;
        rvm_error e;
        double y = 1, x = 1e155, v = 1, jv = 0;
        const int64_t one = 1;
        rvm_options o = rvm_options_default();
        o.unchecked = true;
        rvm_arg arg[2] = {k ? rvm_arg_array_f64(&y, 1, &one) : rvm_arg_f64(y),
                          k ? rvm_arg_array_f64(&x, 1, &one) : rvm_arg_f64(x)};
        const rvm_part of = {0, -1}, by = {1, -1};
        const rvm_derivative_spec spec = {
            .args = arg, .nargs = 2, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
        cr_assert(p && rvm_machine_new(p, &o, &m, &e) == RVM_OK);
        cr_assert(rvm_jvp(m, &spec, &v, &jv, NULL, &e) == RVM_OK, "%s", e.message);
        cr_assert(jv == 4e155, "%zu: %g", k, jv);
        rvm_machine_free(m);
        rvm_program_free(p);
    }
}

/* What a constant multiplies has its tangent times that, though it is infinite itself. */
Test(derivatives, constants_times_infinity) {
    report rep = {.name = "constants"};
    static const char text[] = "fn times(y: real, k: i64)\n    y *= 2 + real(k)\nend\n"
                               "fn by(y: real, k: i64)\n    y /= 2 + real(k)\nend\n";
    rvm_program *p = assemble_text(text, NULL, &rep);
    for (uint32_t fn = 0; fn < 2; fn++) {
        rvm_machine *m;
        rvm_error e;
        rvm_arg a[2] = {rvm_arg_f64(INFINITY), rvm_arg_i64(2)};
        a[0].active = true;
        a[0].shadow.f = 1;
        cr_assert(p && rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
        cr_assert(rvm_tangent(m, fn, a, 2, &e) == RVM_OK, "%s", e.message);
        cr_assert(a[0].shadow.f == (fn ? 0.25 : 4), "%g", a[0].shadow.f);
        rvm_machine_free(m);
    }
    rvm_program_free(p);
}

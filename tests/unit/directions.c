/* directions.c: columns of Jacobians and Hessians, natively some at once (vm/native/directions.c): the same bits as one by
 * one, as often as there are columns, and where they may not. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "jit_fixture.h"
#include "rvm_derivatives.h"

static const char source[] = "fn own(y: real[n], s: real, x: real[n], k: i64)\n"
                             "    for i in 0..n\n"
                             "        y[i] *= exp(x[i])\n"
                             "        s += y[i] * x[n - 1 - i]\n"
                             "        k += 1\n"
                             "    end\n"
                             "end\n"
                             "fn table(y: real[m], A: real[m, n], z: real)\n"
                             "    z *= 3\n"
                             "    for i in 0..m\n"
                             "        for j in 0..n\n"
                             "            y[i] += A[i, j] * z / (1 + A[i, n - 1 - j] ^ 2)\n"
                             "        end\n"
                             "    end\n"
                             "end\n"
                             "fn loss(out: real, x: real[n])\n"
                             "    compute\n"
                             "        let square: real[n] = 0\n"
                             "        for i in 0..n\n"
                             "            square[i] += x[i] ^ 2\n"
                             "        end\n"
                             "    do\n"
                             "        for i in 0..n - 1\n"
                             "            out += 100 * (x[i + 1] - square[i]) ^ 2 + (1 - x[i]) ^ 2\n"
                             "        end\n"
                             "    undo\n"
                             "end\n"
                             "fn loses(out: real, x: real[n])\n"
                             "    for i in 0..n\n"
                             "        x[i] *= 1e-200\n"
                             "        x[i] *= 1e-200\n"
                             "        out += x[i] * x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn vanishes(y: real[n], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        y[i] *= 1e-200\n"
                             "        y[i] *= 1e-200\n"
                             "        y[i] += x[i] * x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn starts(y: real[n], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        y[i] += 2\n"
                             "        y[i] *= x[i]\n"
                             "        y[i] += x[i] ^ 3\n"
                             "    end\n"
                             "end\n"
                             "fn blocks(y: real[n], x: real[n])\n"
                             "    parallel i in 0..n\n"
                             "        y[i] += x[i] * x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn fails(y: real[n], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        assert x[i] < 30\n"
                             "        y[i] += x[i] * x[i]\n"
                             "    end\n"
                             "end\n"
                             "fn cube(y: real[n, 1, 1, 1], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        y[i, 0, 0, 0] += x[i] ^ 3\n"
                             "    end\n"
                             "end\n"
                             "fn overlaps(y: real[n], x: real[n])\n"
                             "    for i in 0..n\n"
                             "        y[i] *= x[i]\n"
                             "    end\n"
                             "end\n";

enum { MOST_N = 301, MOST_ENTRIES = MOST_N * MOST_N }; /* so many columns take several blocks */
typedef struct asked {
    double x[MOST_N], y[MOST_N], J[MOST_ENTRIES], scalar;
    int64_t k;
    rvm_cost cost;
    rvm_status status;
    bool tiers, rows; /* rows: by adjoints */
    char message[600];
} asked;

/* By a machine with an engine, or without. */
static void ask(rvm_program *p, rvm_jit *j, const char *fn, int64_t n, asked *a) {
    const int64_t square[2] = {n / 4, 4}, deep[4] = {n, 1, 1, 1};
    rvm_machine *m;
    rvm_arg arg[4];
    rvm_part of[2] = {{0, -1}, {1, -1}}, by[2] = {{1, -1}, {2, -1}};
    const bool is_own = !strcmp(fn, "own"), is_table = !strcmp(fn, "table"), is_loss = !strncmp(fn, "los", 3);
    *a = (asked){.scalar = 1.5, .tiers = a->tiers, .rows = a->rows};
    for (int i = 0; i < MOST_N; i++) a->x[i] = 0.1 + sin(i), a->y[i] = 1 + 0.1 * i;
    if (!strcmp(fn, "fails")) a->x[n - 1] = 31;
    arg[0] = is_loss ? rvm_arg_f64(0) : rvm_arg_array_f64(a->y, 1, is_table ? square : &n);
    arg[1] = is_table ? rvm_arg_array_f64(a->x, 2, square) : rvm_arg_array_f64(a->x, 1, &n);
    if (!strcmp(fn, "cube")) arg[0] = rvm_arg_array_f64(a->y, 4, deep);
    arg[0].fresh = !strcmp(fn, "starts"); /* what stands there is not read */
    if (!strcmp(fn, "overlaps")) arg[0].data = a->x + 1;
    arg[2] = rvm_arg_f64(a->scalar);
    if (is_own) arg[2] = arg[1], arg[1] = rvm_arg_f64(a->scalar), arg[3] = rvm_arg_i64(0), by[0].param = 0;
    cr_assert(rvm_program_find(p, fn) >= 0, "%s", fn);
    const rvm_derivative_spec q = {.fn = rvm_program_find(p, fn),
                                   .args = arg,
                                   .nargs = is_own     ? 4
                                            : is_table ? 3
                                                       : 2,
                                   .outputs = of,
                                   .noutputs = is_own ? 2 : 1,
                                   .inputs = by,
                                   .ninputs = is_own || is_table ? 2 : 1};
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    if (j) cr_assert(rvm_jit_attach(j, m, &e) == RVM_OK);
    for (int twice = 0; twice < 2; twice++)
        a->status = is_loss ? rvm_hessian(m, &q, NULL, RVM_BY_HVP, a->J, &a->cost, &e)
                            : rvm_jacobian(m, &q, a->rows ? RVM_BY_ADJOINTS : RVM_BY_TANGENTS, a->J, &a->cost, &e);
    snprintf(a->message, sizeof a->message, "%s", a->status ? e.message : "");
    for (int64_t k = 0; k < n && is_loss && j && !a->status; k++) { /* one product alone */
        double v[MOST_N] = {0}, hv[MOST_N];
        v[k] = 1;
        cr_assert(rvm_hvp(m, &q, NULL, v, hv, NULL, &e) == RVM_OK, "%s", e.message);
        for (int64_t i = 0; i < n; i++)
            cr_assert(a->tiers || a->J[i * n + k] == hv[i], "%d, %d: %.17g, alone %.17g", (int)i, (int)k, a->J[i * n + k],
                      hv[i]);
    }
    a->scalar = arg[is_own ? 1 : 2].value.f;
    a->k = is_own ? arg[3].value.i : 0;
    rvm_machine_free(m);
}

static void note(void *userdata, const rvm_jit_notice *n) {
    unsigned *blocks = userdata;
    const char *columns = strstr(n->function, "'columns");
    if (columns && !n->status) *blocks += 1 + 100 * n->grouped;
}

static const struct {
    const char *function;
    int64_t n;
    bool at_once;
    double least; /* the largest difference that may be; HVP natively is another program than interpreted */
} all[] = {{"own", 3, false, 0},     {"own", 4, true, 0},     {"own", 5, true, 0},          {"own", 32, true, 0},
           {"own", 100, true, 0},    {"table", 4, false, 0},  {"table", 16, true, 0},       {"table", 96, true, 0},
           {"loss", 7, false, 1e-9}, {"loss", 8, true, 1e-9}, {"loss", MOST_N, true, 1e-9}, {"blocks", 40, false, 0},
           {"fails", 40, true, 0},   {"loses", 9, true, 0},   {"cube", 40, false, 0},       {"overlaps", 40, false, 0},
           {"starts", 9, true, 0}};

static rvm_jit *native_engine(unsigned *blocks, bool tiers) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j;
    o.level = 0;
    o.tiers = o.wait = tiers;
    o.hot = tiers ? 1 : 0;
    o.threads = 0; /* each block is compiled once */
    o.notice = note;
    o.userdata = blocks;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    return j;
}

static void compare(bool tiers) {
    static asked is, native;
    unsigned blocks;
    rvm_jit *j = native_engine(&blocks, tiers);
    rvm_program *p;
    cr_assert(rvm_assemble(source, strlen(source), "directions.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        const char *fn = all[t].function;
        blocks = 0;
        ask(p, NULL, fn, all[t].n, &is);
        native.tiers = tiers;
        ask(p, j, fn, all[t].n, &native);
        cr_assert(is.status == native.status && !strcmp(is.message, native.message), "%s: %s", fn, native.message);
        if (!tiers) cr_assert((blocks != 0) == all[t].at_once, "%s, %d: %u", fn, (int)all[t].n, blocks);
        if (!tiers && blocks) cr_assert(blocks % 100 * 100 == blocks / 100 * 100, "not in lanes");
        for (int k = 0; k < MOST_ENTRIES && !is.status; k++)
            cr_assert(all[t].least ? fabs(is.J[k] - native.J[k]) <= all[t].least : is.J[k] == native.J[k],
                      "%s, %d: %d: %g, %g", fn, (int)all[t].n, k, is.J[k], native.J[k]);
        cr_assert(is.status || is.cost.tangents == native.cost.tangents, "%s", fn);
        cr_assert(!memcmp(is.x, native.x, sizeof is.x) && !memcmp(is.y, native.y, sizeof is.y));
        cr_assert(is.scalar == native.scalar && is.k == native.k, "%s: %g, %d", fn, native.scalar, (int)native.k);
    }
    rvm_program_free(p);
    rvm_jit_free(j);
}

Test(directions, the_same_bits) {
    compare(false);
}

/* Rows by gradients, which come back to their start. */
Test(directions, rows) {
    static const struct {
        const char *function;
        int64_t n;
        bool at_once;
    } each[] = {{"own", 6, false},   {"own", 7, true},    {"own", 41, true},
                {"table", 64, true}, {"fails", 40, true}, {"vanishes", 9, true}};
    static asked is, native;
    unsigned blocks;
    rvm_jit *j = native_engine(&blocks, false);
    rvm_program *p;
    cr_assert(rvm_assemble(source, strlen(source), "directions.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    is.rows = native.rows = true;
    for (size_t t = 0; t < sizeof each / sizeof *each; t++) {
        const char *fn = each[t].function;
        blocks = 0;
        ask(p, NULL, fn, each[t].n, &is);
        ask(p, j, fn, each[t].n, &native);
        cr_assert(is.status == native.status && !strcmp(is.message, native.message), "%s: %s", fn, native.message);
        cr_assert((blocks != 0) == each[t].at_once, "%s, %d: %u", fn, (int)each[t].n, blocks);
        for (int k = 0; k < MOST_ENTRIES && !is.status; k++)
            cr_assert(is.J[k] == native.J[k], "%s, %d: %d: %g, %g", fn, (int)each[t].n, k, is.J[k], native.J[k]);
        cr_assert(is.status || (is.cost.adjoints == native.cost.adjoints && !native.cost.tangents), "%s", fn);
        cr_assert(!memcmp(is.x, native.x, sizeof is.x) && !memcmp(is.y, native.y, sizeof is.y));
    }
    rvm_program_free(p);
    rvm_jit_free(j);
}

Test(directions, in_tiers) {
    compare(true);
}

/* Of x, n values, by a function of them and of y, which has as many. */
typedef struct vector {
    rvm_program *p;
    rvm_machine *m;
    rvm_arg arg[2];
    rvm_part of, by;
    rvm_derivative_spec q;
} vector;

static void open_vector(vector *f, const char *fn, double *y, double *x, int64_t n) {
    *f = (vector){.arg = {rvm_arg_array_f64(y, 1, &n), rvm_arg_array_f64(x, 1, &n)}, .of = {0, -1}, .by = {1, -1}};
    cr_assert(rvm_assemble(source, strlen(source), "directions.rasm", NULL, &f->p, &e, NULL, NULL) == RVM_OK, "%s",
              e.message);
    cr_assert(rvm_machine_new(f->p, NULL, &f->m, &e) == RVM_OK);
    f->q = (rvm_derivative_spec){.fn = rvm_program_find(f->p, fn),
                                 .args = f->arg,
                                 .nargs = 2,
                                 .outputs = &f->of,
                                 .noutputs = 1,
                                 .inputs = &f->by,
                                 .ninputs = 1};
}

static void close_vector(vector *f) {
    rvm_machine_free(f->m);
    rvm_program_free(f->p);
}

/* The weights of results that are fresh are not. */
Test(directions, fresh_results) {
    double x[3] = {1, 2, 3}, y[3] = {5, 5, 5}, weights[3] = {1, 2, 1}, v[3] = {1, 1, 0}, hv[3], H[9];
    vector f;
    open_vector(&f, "starts", y, x, 3);
    f.arg[0].fresh = true;
    cr_assert(rvm_hvp(f.m, &f.q, weights, v, hv, NULL, &e) == RVM_OK, "%s", e.message);
    cr_assert(rvm_hessian(f.m, &f.q, weights, RVM_BY_HVP, H, NULL, &e) == RVM_OK, "%s", e.message);
    cr_assert(hv[0] == 6 && hv[1] == 24 && hv[2] == 0 && H[0] == 6 && H[4] == 24 && H[8] == 18, "%g %g %g", hv[0], H[4],
              H[8]);
    close_vector(&f);
}

/* A pattern's colours are directions, too: of a full one as many as columns. */
Test(directions, colours) {
    enum { N = 12 };
    unsigned blocks = 0;
    rvm_jit *j = native_engine(&blocks, false);
    double x[N], y[N] = {0}, value[N * N];
    int64_t start[N + 1], column[N * N];
    rvm_cost cost;
    vector f;
    for (int k = 0; k <= N; k++) start[k] = N * k;
    for (int k = 0; k < N * N; k++) column[k] = k % N, x[k % N] = k % N * 0.25;
    open_vector(&f, "fails", y, x, N);
    cr_assert(rvm_jit_attach(j, f.m, &e) == RVM_OK);
    const rvm_sparse pattern = {.rows = N, .columns = N, .row_start = start, .column = column};
    cr_assert(rvm_jacobian_sparse(f.m, &f.q, RVM_BY_TANGENTS, &pattern, value, &cost, &e) == RVM_OK, "%s", e.message);
    cr_assert(cost.colours == N && blocks, "%d colours, %u blocks", (int)cost.colours, blocks);
    for (int k = 0; k < N * N; k++) cr_assert(value[k] == (k % (N + 1) ? 0 : 2 * x[k % N]), "%d: %g", k, value[k]);
    close_vector(&f);
    rvm_jit_free(j);
}

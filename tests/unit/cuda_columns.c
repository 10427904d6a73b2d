/* cuda_columns.c: Jacobians and Hessians of functions with parallel blocks of their own, on a device: columns, or rows, all
 * in one launch, where that has the bits that they have one by one. By what stands in for a driver (tests/grid). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"
#include "try_one_in.h"

/* The local array of `model` takes more than a kilobyte. In a sweep v of `shared` gains chunk by chunk, since its indices do
 * not depend on the instance; w of `model` does not. What recurses is no part of a kernel. */
static const char text[] = "fn model(y: real[n], s: real, x: real[n], w: real[m], v: real[m])\n"
                           "    parallel i in 0..n\n"
                           "        compute\n"
                           "            let t: real[140] = 0\n"
                           "            for k in 0..4\n"
                           "                t[k] += x[i] ^ 2 * w[(i + k) % m] + w[i % m] * x[i] / 3\n"
                           "            end\n"
                           "        do\n"
                           "            y[i] += t[0] * t[1] / (1 + t[2] ^ 2)\n"
                           "            s += t[3] * x[i]\n"
                           "        undo\n"
                           "    end\n"
                           "    s += w[0] * w[1]\n"
                           "end\n"
                           "fn shared(y: real[n], s: real, x: real[n], w: real[m], v: real[m])\n"
                           "    parallel i in 0..n\n"
                           "        for k in 0..m\n"
                           "            y[i] += x[i] * v[k] * w[k] / (k + 1)\n"
                           "        end\n"
                           "        s += x[i] * w[1] ^ 2\n"
                           "    end\n"
                           "end\n"
                           "fn again(s: real, x: real, n: i64)\n"
                           "    if n > 0\n"
                           "        s += x ^ 2\n"
                           "        call again(s, x, n - 1)\n"
                           "    end\n"
                           "end\n"
                           "fn recurses(y: real[n], s: real, x: real[n], w: real[m], v: real[m])\n"
                           "    call again(s, w[1], 3)\n"
                           "    parallel i in 0..n\n"
                           "        y[i] += x[i] * w[i % m] ^ 2\n"
                           "    end\n"
                           "end\n";
enum { N = 300, MANY = 33000, M = 9 };
typedef struct run {
    double x[MANY], y[MANY], J[(MANY + 1) * M], H[M * M], w[M], v[M];
    rvm_cuda_totals first, all;
    unsigned compiled; /* blocks over columns */
} run;
typedef struct asked {
    const char *fn;
    rvm_method method;
    int64_t n;
    bool hessian, always; /* always: a CTA each column; */
    bool alike;           /* of the Hessian the bits are compared, with those of products one after the other, too */
    int blocks, again,
        nested; /* that run on the device, for the Jacobian, again for all, and of all those a CTA each column */
    unsigned compiled;
} asked;

static void note(void *userdata, const rvm_jit_notice *n) {
    run *r = userdata;
    r->compiled += !n->status && strstr(n->function, "'columns");
}

static void derive(rvm_machine *m, rvm_cuda *c, const asked *q, run *r) {
    rvm_error e;
    rvm_arg a[5] = {rvm_arg_array_f64(r->y, 1, &q->n), rvm_arg_f64(2), rvm_arg_array_f64(r->x, 1, &q->n),
                    rvm_arg_array_f64(r->w, 1, (int64_t[]){M}), rvm_arg_array_f64(r->v, 1, (int64_t[]){M})};
    const rvm_part of[2] = {{0, -1}, {1, -1}}, by = {3, -1};
    rvm_derivative_spec d = {.fn = rvm_program_find(rvm_machine_program(m), q->fn),
                             .args = a,
                             .nargs = 5,
                             .outputs = of,
                             .noutputs = 2,
                             .inputs = &by,
                             .ninputs = 1};
    cr_assert(!rvm_jacobian(m, &d, q->method, r->J, NULL, &e), "%s", e.message);
    if (c) rvm_cuda_stats(c, &r->first);
    cr_assert(!rvm_jacobian(m, &d, q->method, r->J, NULL, &e), "%s", e.message);
    d.outputs = &of[1], d.noutputs = 1;
    if (q->hessian) cr_assert(!rvm_hessian(m, &d, NULL, RVM_BY_HVP, r->H, NULL, &e), "%s", e.message);
    if (c) rvm_cuda_stats(c, &r->all);
    cr_assert_eq(a[1].value.f, 2);
}

enum where { INTERPRETED, NATIVE, THERE };

/* Interpreted, natively, on a device. False: no LLVM. */
static bool ask(const asked *q, enum where where, run *r) {
    rvm_program *p;
    rvm_machine *m;
    rvm_jit *j = NULL;
    rvm_cuda *c = NULL;
    rvm_error e;
    rvm_options unchecked = rvm_options_default();
    rvm_jit_options o = rvm_jit_options_default();
    o.threads = 0;
    rvm_cuda_options d = rvm_cuda_options_default();
    unchecked.unchecked = unchecked.trust = true;
    o.tiers = false;
    o.level = 1;
    o.cache = "";
    o.notice = note;
    o.userdata = r;
    d.least = 0;
    if (q->always) d.nested = RVM_CUDA_ALWAYS;
    memset(r, 0, sizeof *r);
    for (int k = 0; k < MANY; k++) r->x[k] = sin(k) + .1, r->y[k] = k;
    for (int k = 0; k < M; k++) r->w[k] = 1 + .1 * k, r->v[k] = cos(k);
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    cr_assert(!rvm_assemble(text, sizeof text - 1, "t", NULL, &p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(p, &unchecked, &m, &e));
    const bool good = !where || !rvm_jit_new(&o, &j, &e);
    if (where && good) cr_assert(!rvm_jit_attach(j, m, &e), "%s", e.message);
    if (where == THERE && good) cr_assert(!rvm_cuda_new(&d, &c, &e) && !rvm_cuda_attach(c, m, &e), "%s", e.message);
    if (good) derive(m, c, q, r);
    rvm_machine_free(m);
    rvm_cuda_free(c);
    rvm_jit_free(j);
    rvm_program_free(p);
    return good;
}

static void compare(const asked *q) {
    static run is, native, there;
    ask(q, INTERPRETED, &is);
    if (!ask(q, THERE, &there)) return;
    cr_assert(!memcmp(is.J, there.J, sizeof is.J) && there.J[0] != 0, "%s", q->fn);
    for (int k = 0; k < M * M; k++) /* interpreted it is another program */
        cr_assert(fabs(is.H[k] - there.H[k]) <= 1e-12 * fabs(is.H[k]), "%s: %d: %g, %g", q->fn, k, is.H[k], there.H[k]);
    if (q->alike && ask(q, NATIVE, &native)) cr_assert(!memcmp(native.H, there.H, sizeof native.H), "%s", q->fn);
    cr_assert(!memcmp(is.y, there.y, sizeof is.y) && !memcmp(is.w, there.w, sizeof is.w));
    const int first = (int)there.first.blocks, all = (int)there.all.blocks, nested = (int)there.all.nested;
    cr_assert(!there.all.on_host && there.compiled == q->compiled, "%s: %u: %s", q->fn, there.compiled, there.all.why);
    cr_assert(first == q->blocks && all == q->blocks + q->again && nested == q->nested, "%s: %d, %d, %d: %s", q->fn, first,
              all, nested, there.all.why);
}

Test(cuda_columns, of_functions_with_blocks) {
    static const asked all[] = {
        {"model", RVM_BY_TANGENTS, N, true, false, false, 1, 2, 3, 2},
        {"model", RVM_BY_ADJOINTS, N, false, false, false, 1, 1, 0, 1}, /* rows enough for a thread each */
        {"shared", RVM_BY_TANGENTS, N, true, false, true, 1, 2, 3, 2},
        {"shared", RVM_BY_ADJOINTS, 20, false, false, false, 1, 1, 2, 1},
        {"recurses", RVM_BY_TANGENTS, N, false, false, false, M, M, 0, 1},
        {"model", RVM_BY_TANGENTS, MANY, false, false, false, M, M, 0, 0},
        {"model", RVM_BY_ADJOINTS, N, false, true, false, 1, 1, 2, 1}};
    for (size_t k = 0; k + 4 * (TRY_ONE_IN > 1) < sizeof all / sizeof *all; k++) compare(&all[k]);
}

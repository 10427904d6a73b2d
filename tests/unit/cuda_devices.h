/* cuda_devices.h: what tests of several devices run, and on what. */
#ifndef RVM_TESTS_CUDA_DEVICES_H
#define RVM_TESTS_CUDA_DEVICES_H

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"
#include "try_one_in.h"

static const char text[] =
    "fn work(s: real, t: real, out: real[m], y: real[n], z: real[n], h: i64[m], q: i64[n], x: real[n], w: real[m])\n"
    "    parallel i in 0..n\n"
    "        s += x[i] * w[0]\n"
    "        t -= x[i]\n"
    "        y[i] += x[i] * 3 - 1\n"
    "        z[i] *= 1 + x[i] * x[i]\n"
    "        swap z[i], y[i]\n"
    "        q[n - 1 - i] ^= i * 7\n"
    "        h[i * i % m] += i\n"
    "        for j in 0..m\n"
    "            out[j] += x[i] * w[j]\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn chain(out: real[n], x: real[n], k: i64[n])\n"
    "    compute\n"
    "        let t: real[n] = 0\n"
    "        let u: real[n] = 3\n"
    "        parallel i in 0..n\n"
    "            t[i] += 2 * x[i]\n"
    "        end\n"
    "    do\n"
    "        parallel i in 0..n\n"
    "            out[i] += u[i] * t[k[i]]\n"
    "        end\n"
    "    undo\n"
    "end\n"
    "fn twice(out: real[n], x: real[n])\n"
    "    compute\n"
    "        let t: real[n] = 0\n"
    "    do\n"
    "        for k in 1..3\n"
    "            compute\n"
    "                parallel i in 0..n\n"
    "                    t[i] += k * x[i]\n"
    "                end\n"
    "            do\n"
    "                parallel i in 0..n\n"
    "                    out[n - 1 - i] += t[i]\n"
    "                end\n"
    "            undo\n"
    "        end\n"
    "    undo\n"
    "end\n"
    "fn mixed(out: real[n], x: real[n], k: i64[n])\n"
    "    compute\n"
    "        let t: real[n] = 0\n"
    "        parallel i in 0..n\n"
    "            t[i] += x[i]\n"
    "        end\n"
    "    do\n"
    "        parallel i in 0..n\n"
    "            out[i] += t[i]\n"
    "        end\n"
    "        compute\n"
    "            let c: real\n"
    "            parallel i in 0..n\n"
    "                t[k[i]] += x[i]\n"
    "                if x[i] > 50\n"
    "                    c += x[i]\n" /* which no kernel does, strictly */
    "                end\n"
    "            end\n"
    "        do\n"
    "            out[0] += 0 * c\n"
    "            parallel i in 0..n\n"
    "                out[i] += t[i]\n"
    "            end\n"
    "        undo\n"
    "    undo\n"
    "end\n"
    "fn sized(out: real[n], x: real[n], m: i64)\n"
    "    parallel i in 0..n\n"
    "        compute\n"
    "            let t: real[m] = 0\n"
    "            for j in 0..m\n"
    "                t[j] += x[i] * j\n"
    "            end\n"
    "        do\n"
    "            out[i] += t[m - 1]\n"
    "        undo\n"
    "    end\n"
    "end\n"
    "fn scatter(out: real[m], x: real[n], k: i64[n])\n"
    "    parallel i in 0..n\n"
    "        out[k[i]] += x[i]\n"
    "    end\n"
    "end\n";
enum { N = 2500, M = 5, DEVICES = 3, LONG = 150000 };

/* As if an instance took long, so that a block runs in several pieces. */
#define NEVER(i, more) "for " i " in 0..0\n" more "end\n"
#define LASTING(more)  NEVER("a", NEVER("b", NEVER("c", NEVER("d", NEVER("e", NEVER("f", NEVER("g", more)))))))

/* What fn work changes, and reads. */
typedef struct data {
    double s, t, out[M], y[N], z[N], x[N], w[M];
    int64_t h[M], q[N], k[N];
} data;

typedef struct fixture {
    rvm_program *p;
    rvm_machine *m;
    rvm_jit *j;
    rvm_cuda *c;
    data d;
    rvm_error e;
} fixture;

static inline void fill(data *d) {
    memset(d, 0, sizeof *d);
    d->s = .1, d->t = -3;
    for (int i = 0; i < N; i++) d->x[i] = sin(i) * exp(i % 40 - 20), d->y[i] = cos(i), d->z[i] = i + 1, d->q[i] = -i;
    for (int i = 0; i < N; i++) d->k[i] = (i * 7) % N;
    for (int j = 0; j < M; j++) d->w[j] = .3 + j, d->out[j] = 1. / (j + 1);
}

static inline fixture *begin_made(fixture *f, bool fast, const rvm_options *o) {
    rvm_jit_options jit = rvm_jit_options_default();
    jit.threads = 0;
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    setenv("RVM_GRID_DEVICES", "4", 1);
    jit.tiers = false;
    jit.level = 0;
    jit.fast_math = fast;
    cr_assert(!rvm_machine_new(f->p, o, &f->m, &f->e));
    fill(&f->d);
    if (rvm_jit_new(&jit, &f->j, &f->e)) cr_skip("no LLVM");
    cr_assert(!rvm_jit_attach(f->j, f->m, &f->e));
    return f;
}

static inline fixture *begin_of(const char *source, bool fast, const rvm_options *o) {
    fixture *f = calloc(1, sizeof *f);
    cr_assert(!rvm_assemble(source, strlen(source), "t", NULL, &f->p, &f->e, NULL, NULL), "%s", f->e.message);
    return begin_made(f, fast, o);
}

static inline fixture *begin_file(const char *path, const rvm_options *o) {
    fixture *f = calloc(1, sizeof *f);
    cr_assert(!rvm_open(path, NULL, &f->p, &f->e, NULL, NULL), "%s", f->e.message);
    return begin_made(f, false, o);
}

static inline fixture *begin_with(bool fast, const rvm_options *o) {
    return begin_of(text, fast, o);
}

static inline rvm_options unchecked(void) {
    rvm_options o = rvm_options_default();
    o.unchecked = o.trust = true;
    o.trail = RVM_TRAIL_OFF;
    return o;
}

static inline fixture *begin(bool fast) {
    const rvm_options o = unchecked();
    return begin_with(fast, &o);
}

static inline fixture *begin_program(const char *source, bool fast) {
    const rvm_options o = unchecked();
    return begin_of(source, fast, &o);
}

static inline void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_cuda_free(f->c);
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
    free(f);
}

static inline rvm_status open_devices(fixture *f, int n, uint64_t least) {
    static const int numbers[] = {2, 0, 3, 1};
    rvm_cuda_options o = rvm_cuda_options_default();
    o.least = least;
    o.devices = numbers;
    o.ndevices = n;
    const rvm_status st = rvm_cuda_new(&o, &f->c, &f->e);
    return st ? st : rvm_cuda_attach(f->c, f->m, &f->e);
}

static inline rvm_arg reals(double *x, int64_t n) {
    return rvm_arg_array_f64(x, 1, (int64_t[]){n});
}
static inline rvm_arg numbers(int64_t *x, int64_t n) {
    return rvm_arg_array_i64(x, 1, (int64_t[]){n});
}

static inline void bind_work(data *d, rvm_arg *a) {
    a[0] = rvm_arg_f64(d->s), a[1] = rvm_arg_f64(d->t);
    a[2] = reals(d->out, M), a[3] = reals(d->y, N), a[4] = reals(d->z, N);
    a[5] = numbers(d->h, M), a[6] = numbers(d->q, N);
    a[7] = reals(d->x, N), a[8] = reals(d->w, M);
}

static inline rvm_cuda_totals totals(const fixture *f) {
    rvm_cuda_totals t;
    rvm_cuda_stats(f->c, &t);
    return t;
}

static rvm_machine *to_cancel;
static inline void cancel(int signal_got) {
    (void)signal_got;
    rvm_machine_cancel(to_cancel);
}
static inline void cancel_in_launch(fixture *f, const char *launch) {
    to_cancel = f->m;
    signal(SIGUSR1, cancel);
    setenv("RVM_GRID_SIGNAL", launch, 1);
}

static inline void expect_same(const data *a, const data *b, const char *what) {
    cr_assert(a->s == b->s && a->t == b->t, "%s: %.17g, not %.17g", what, a->s, b->s);
    cr_assert(!memcmp(a->out, b->out, sizeof a->out), "%s: sums of elements", what);
    cr_assert(!memcmp(a->y, b->y, sizeof a->y) && !memcmp(a->z, b->z, sizeof a->z), "%s: own elements", what);
    cr_assert(!memcmp(a->h, b->h, sizeof a->h) && !memcmp(a->q, b->q, sizeof a->q), "%s: whole numbers", what);
}

#endif

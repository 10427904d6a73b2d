/* cuda.c: blocks on a device, faults of it, and arrays that stay there; by what stands in for a driver (tests/grid). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

/* Blocks change arrays and registers of their surroundings; `scaled` is used on both sides. */
static const char text[] = "fn cost(out: real, r: real[n], w: real[2], x: real[n], y: real[n])\n"
                           "    compute\n"
                           "        let scaled: real[2] = 0\n"
                           "        for k in 0..2\n"
                           "            scaled[k] += 2 * w[k]\n"
                           "        end\n"
                           "    do\n"
                           "        parallel i in 0..n\n"
                           "            r[i] += scaled[0] * x[i] + scaled[1] - y[i]\n"
                           "            out += (scaled[0] * x[i] + scaled[1] - y[i]) ^ 2\n"
                           "        end\n"
                           "    undo\n"
                           "end\n"
                           "fn pick(r: real[n], x: real[m], k: i64[n])\n"
                           "    parallel i in 0..n\n"
                           "        r[i] += x[k[i]]\n"
                           "    end\n"
                           "end\n"
                           "fn outside(r: real[n], x: real[n])\n"
                           "    x[0] += 1\n"
                           "    parallel i in 0..n\n"
                           "        r[i] += x[i]\n"
                           "    end\n"
                           "    x[1] += r[0]\n"
                           "end\n"
                           "fn through(out: real[n], x: real[n], k: i64[n], m: i64)\n"
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
                           "        out[m] += 1\n"
                           "    undo\n"
                           "end\n";
enum { N = 2500 };

typedef struct fixture {
    rvm_program *p;
    rvm_machine *m;
    rvm_jit *j;
    rvm_cuda *c;
    double r[N], x[N], y[N], w[2], r_b[N], w_b[2];
    rvm_error e;
} fixture;

static void use_grid(void) {
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
}

static bool begin(fixture *f) {
    rvm_jit_options o = rvm_jit_options_default();
    o.threads = 0;
    rvm_options unchecked = rvm_options_default();
    memset(f, 0, sizeof *f);
    o.tiers = false;
    o.level = 0;
    unchecked.unchecked = unchecked.trust = true;
    unchecked.trail = RVM_TRAIL_OFF;
    cr_assert(!rvm_assemble(text, sizeof text - 1, "t", NULL, &f->p, &f->e, NULL, NULL), "%s", f->e.message);
    cr_assert(!rvm_machine_new(f->p, &unchecked, &f->m, &f->e));
    for (int k = 0; k < N; k++) f->x[k] = sin(k), f->y[k] = cos(3 * k);
    f->w[0] = .5, f->w[1] = -.25;
    if (rvm_jit_new(&o, &f->j, &f->e)) return false; /* no LLVM */
    cr_assert(!rvm_jit_attach(f->j, f->m, &f->e));
    return true;
}

static void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_cuda_free(f->c);
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
}

static rvm_status open_device(fixture *f) {
    rvm_cuda_options o = rvm_cuda_options_default();
    o.least = 0;
    const rvm_status st = rvm_cuda_new(&o, &f->c, &f->e);
    return st ? st : rvm_cuda_attach(f->c, f->m, &f->e);
}

static rvm_status run_cost(fixture *f, rvm_arg *a, double *out) {
    a[0] = rvm_arg_f64(0);
    a[1] = rvm_arg_array_f64(f->r, 1, (int64_t[]){N});
    a[2] = rvm_arg_array_f64(f->w, 1, (int64_t[]){2});
    a[3] = rvm_arg_array_f64(f->x, 1, (int64_t[]){N});
    a[4] = rvm_arg_array_f64(f->y, 1, (int64_t[]){N});
    memset(f->r, 0, sizeof f->r);
    const rvm_status st = rvm_call(f->m, rvm_program_find(f->p, "cost"), a, 5, &f->e);
    *out = a[0].value.f;
    return st;
}

/* ---- no device ---- */

static void expect_none(const char *name, const char *value, const char *said) {
    rvm_cuda *c = NULL;
    rvm_error e = {0};
    use_grid();
    setenv(name, value, 1);
    cr_assert_eq(rvm_cuda_new(NULL, &c, &e), RVM_ERR_UNSUPPORTED);
    cr_assert_null(c);
    cr_assert(strstr(e.message, said), "%s", e.message);
}

Test(cuda, no_driver) {
    expect_none("RVM_CUDA_DRIVER", "/nowhere/libcuda.so", "there is no CUDA driver");
}
Test(cuda, no_device) {
    expect_none("RVM_GRID_DEVICES", "0", "there is no CUDA device");
}
Test(cuda, old_driver) {
    expect_none("RVM_GRID_VERSION", "11020", "of version 11.2; 11.3 is the least");
}
Test(cuda, old_device) {
    expect_none("RVM_GRID_MAJOR", "6", "7.5 is the least that will do");
}
Test(cuda, not_a_driver) {
    expect_none("RVM_CUDA_DRIVER", "libm.so.6", "has no cuInit");
}

Test(cuda, wrong_device) {
    rvm_cuda_options o = rvm_cuda_options_default();
    rvm_cuda_device about;
    rvm_cuda *c;
    rvm_error e;
    int n;
    use_grid();
    o.device = 3;
    cr_assert_eq(rvm_cuda_new(&o, &c, &e), RVM_ERR_USAGE);
    cr_assert(strstr(e.message, "no device 3: there are 1"), "%s", e.message);
    cr_assert(!rvm_cuda_count(&n, &e) && n == 1);
    cr_assert(!rvm_cuda_describe(0, &about, &e) && about.major == 9 && !about.slow_double);
    cr_assert_eq(rvm_cuda_describe(-1, &about, &e), RVM_ERR_USAGE);
}

/* ---- faults in the middle: what a block gives is what it gives without a device ---- */

/* Each call of that function of the driver fails once. */
static void fail_each(const char *function, int most) {
    rvm_arg a[5];
    double expected, got;
    fixture *f = malloc(sizeof *f);
    static double r[N];
    use_grid();
    if (!begin(f)) goto done;
    cr_assert(!run_cost(f, a, &expected));
    memcpy(r, f->r, sizeof r);
    for (int k = 1; k <= most; k++) {
        char asked[40];
        snprintf(asked, sizeof asked, "%s:%d", function, k);
        setenv("RVM_GRID_FAIL", asked, 1);
        setenv("RVM_GRID_RESET", "1", 1);
        if (!open_device(f)) {
            cr_assert(!run_cost(f, a, &got), "%s", f->e.message);
            cr_assert(got == expected && !memcmp(r, f->r, sizeof r), "%s", asked);
        }
        rvm_machine_free(f->m);
        rvm_options o = rvm_options_default();
        o.unchecked = o.trust = true;
        o.trail = RVM_TRAIL_OFF;
        cr_assert(!rvm_machine_new(f->p, &o, &f->m, &f->e) && !rvm_jit_attach(f->j, f->m, &f->e));
        rvm_cuda_free(f->c);
        f->c = NULL;
    }
done:
    end(f);
    free(f);
}

Test(cuda, out_of_memory) {
    fail_each("allocate", 12);
}
Test(cuda, a_launch_fails) {
    fail_each("launch", 4);
}
Test(cuda, an_upload_fails) {
    fail_each("upload", 8);
}
Test(cuda, a_download_fails) {
    fail_each("download", 5);
}
Test(cuda, a_module_fails) {
    fail_each("module_load", 3);
}

/* A device that is lost: each block from then on says where and why. */
static void lose(const char *number, const char *said) {
    rvm_cuda_totals t;
    rvm_arg a[5];
    double out;
    fixture *f = malloc(sizeof *f);
    use_grid();
    setenv("RVM_GRID_FAIL", "launch:1", 1), setenv("RVM_GRID_ERROR", number, 1), setenv("RVM_GRID_RESET", "1", 1);
    if (begin(f) && !open_device(f)) {
        cr_assert(!run_cost(f, a, &out));
        rvm_cuda_stats(f->c, &t);
        cr_assert(t.on_host == 1 && !t.blocks && strstr(t.why, "line 8: the device fails when a kernel is launched"), "%s",
                  t.why);
        cr_assert(strstr(t.why, said), "%s: %s", number, t.why);
        for (int k = 0; k < 2; k++) {
            cr_assert(!run_cost(f, a, &out));
            rvm_cuda_stats(f->c, &t);
            cr_assert(strstr(t.why, "line 8: the device is lost since line 8: the device fails when a kernel is launched"),
                      "%s", t.why);
            cr_assert(strstr(t.why, said), "%s: %s", number, t.why);
        }
    }
    end(f);
    free(f);
}

Test(cuda, says_why) {
    lose("700", "(CUDA_ERROR, 700)");
    lose("702", "the launch timed out and was terminated (CUDA_ERROR_LAUNCH_TIMEOUT, 702): it ran longer than the watchdog");
    lose("719", "unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED, 719)");
    lose("999", "(CUDA_ERROR, 999)");
}

/* What each block of the source took there. */
Test(cuda, blocks) {
    rvm_cuda_block b[3];
    rvm_cuda_totals t;
    rvm_arg a[5];
    double out;
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (begin(f) && !open_device(f)) {
        cr_assert(!rvm_cuda_blocks(f->c, b, 3));
        for (int k = 0; k < 3; k++) cr_assert(!run_cost(f, a, &out));
        rvm_arg r[2] = {rvm_arg_array_f64(f->r, 1, (int64_t[]){N}), rvm_arg_array_f64(f->x, 1, (int64_t[]){N})};
        cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "outside"), r, 2, &f->e));
        rvm_cuda_stats(f->c, &t);
        cr_assert(rvm_cuda_blocks(f->c, NULL, 0) == 2 && rvm_cuda_blocks(f->c, b, 1) == 2);
        cr_assert(rvm_cuda_blocks(f->c, b, 3) == 2);
        cr_assert(!strcmp(b[0].file, "t") && !strcmp(b[0].function, "cost") && b[0].line == 8 && b[0].runs == 3);
        cr_assert(!strcmp(b[1].file, "t") && !strcmp(b[1].function, "outside") && b[1].line == 21 && b[1].runs == 1,
                  "%s:%u: %s: %d", b[1].file, b[1].line, b[1].function, (int)b[1].runs);
        cr_assert(b[0].launches >= 3 && b[0].launches + b[1].launches == t.launches);
        cr_assert(b[0].seconds > 0 && b[1].seconds > 0 && fabs(b[0].seconds + b[1].seconds - t.kernels) < 1e-9);
    }
    end(f);
    free(f);
}

/* Machines none of whose blocks are kernels say so. */
Test(cuda, says_why_none) {
    static const struct {
        bool checked, exact, profile;
        const char *said;
    } rows[] = {{false, false, false, NULL},
                {true, false, false, "it is checked"},
                {false, true, false, "it restores every bit"},
                {false, false, true, "counted for a profile"}};
    rvm_arg a[5];
    double expected, out;
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f)) goto done;
    cr_assert(!run_cost(f, a, &expected));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        rvm_cuda_totals t;
        rvm_options o = rvm_options_default();
        o.unchecked = !rows[k].checked, o.exact = rows[k].exact, o.profile = rows[k].profile;
        rvm_machine_free(f->m);
        cr_assert(!rvm_machine_new(f->p, &o, &f->m, &f->e) && !rvm_jit_attach(f->j, f->m, &f->e));
        cr_assert(!open_device(f) && !run_cost(f, a, &out) && out == expected);
        rvm_cuda_stats(f->c, &t);
        if (rows[k].said)
            cr_assert(t.why_none && strstr(t.why_none, rows[k].said) && !t.blocks, "row %zu: %s", k,
                      t.why_none ? t.why_none : "");
        else
            cr_assert(!t.why_none && t.blocks);
        rvm_machine_free(f->m);
        f->m = NULL;
        rvm_cuda_free(f->c);
        f->c = NULL;
    }
done:
    end(f);
    free(f);
}

Test(cuda, an_instance_fails) {
    rvm_cuda_totals t;
    int64_t k[3] = {0, 5, 1};
    double r[3] = {1, 2, 3}, x[2] = {4, 5};
    rvm_options checked = rvm_options_default();
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f)) goto done;
    rvm_machine_free(f->m);
    checked.unchecked = true; /* but for indices */
    cr_assert(!rvm_machine_new(f->p, &checked, &f->m, &f->e) && !rvm_jit_attach(f->j, f->m, &f->e));
    cr_assert(!open_device(f));
    rvm_arg a[3] = {rvm_arg_array_f64(r, 1, (int64_t[]){3}), rvm_arg_array_f64(x, 1, (int64_t[]){2}),
                    rvm_arg_array_i64(k, 1, (int64_t[]){3})};
    cr_assert_eq(rvm_call(f->m, rvm_program_find(f->p, "pick"), a, 3, &f->e), RVM_ERR_INDEX);
    cr_assert_eq(f->e.line, 16);
    cr_assert(r[0] == 5 && r[1] == 2 && r[2] == 3); /* it stands where it failed */
    rvm_cuda_stats(f->c, &t);
    cr_assert(strstr(t.why, "line 15: an instance fails"), "%s", t.why);
done:
    end(f);
    free(f);
}

static rvm_arg on_device(rvm_cuda *c, rvm_cuda_array **to, const void *from, size_t n) {
    rvm_error e;
    cr_assert(!rvm_cuda_array_new(c, n, to, &e), "%s", e.message);
    if (from) cr_assert(!rvm_cuda_array_upload(*to, 0, n, from, &e));
    return rvm_arg_array_f64(rvm_cuda_array_data(*to), 1, (int64_t[]){(int64_t)n});
}

/* An array that is half there: the argument goes on behind its end. */
Test(cuda, too_few_elements_there) {
    rvm_cuda_array *r, *x;
    double got[5];
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f) || open_device(f)) goto done;
    rvm_arg a[2] = {on_device(f->c, &r, NULL, 5), on_device(f->c, &x, f->x, 5)};
    a[0].shape[0] = a[1].shape[0] = 6;
    cr_assert_eq(rvm_call(f->m, rvm_program_find(f->p, "outside"), a, 2, &f->e), RVM_ERR_SHAPE);
    cr_assert(strstr(f->e.message, "`r` of outside takes 6 elements of an array on a device, which has 5"), "%s",
              f->e.message);
    a[0].shape[0] = a[1].shape[0] = 3;
    a[1].data = (double *)a[1].data + 3;
    cr_assert_eq(rvm_call(f->m, rvm_program_find(f->p, "outside"), a, 2, &f->e), RVM_ERR_SHAPE);
    cr_assert(strstr(f->e.message, "`x` of outside takes 3 elements of an array on a device, which has 2"), "%s",
              f->e.message);
    cr_assert(!rvm_cuda_array_download(r, 0, 5, got, &f->e));
    for (int k = 0; k < 5; k++) cr_assert_eq(got[k], 0);
    rvm_cuda_array_free(r), rvm_cuda_array_free(x);
done:
    end(f);
    free(f);
}

#ifdef RVM_GRID_NVTX
/* A block is a range for a profiler. */
Test(cuda, ranges) {
    char path[] = "/tmp/rvm_ranges_XXXXXX", said[200] = "";
    rvm_arg a[5];
    double out;
    fixture *f = malloc(sizeof *f);
    const int fd = mkstemp(path);
    cr_assert(fd >= 0);
    setenv("NVTX_INJECTION64_PATH", RVM_GRID_NVTX, 1);
    setenv("RVM_RANGES", path, 1);
    use_grid();
    if (begin(f) && !open_device(f)) {
        cr_assert(!run_cost(f, a, &out));
        cr_assert(read(fd, said, sizeof said - 1) > 0);
        cr_assert_str_eq(said, "cost, line 8\nend\n");
    }
    end(f);
    free(f);
    close(fd);
    unlink(path);
}
#endif

/* ---- arrays that stay ---- */

Test(cuda, arrays_stay) {
    rvm_cuda_totals before, after;
    rvm_cuda_array *r, *w, *x, *y;
    rvm_arg a[5];
    double expected, *got = malloc(N * sizeof *got);
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f)) goto done;
    cr_assert(!run_cost(f, a, &expected) && !open_device(f));
    a[0] = rvm_arg_f64(0);
    a[1] = on_device(f->c, &r, NULL, N);
    a[2] = on_device(f->c, &w, f->w, 2);
    a[3] = on_device(f->c, &x, f->x, N);
    a[4] = on_device(f->c, &y, f->y, N);
    rvm_cuda_stats(f->c, &before);
    for (int k = 0; k < 3; k++) {
        a[0].value.f = 0;
        cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "cost"), a, 5, &f->e), "%s", f->e.message);
        cr_assert_eq(a[0].value.f, expected);
    }
    rvm_cuda_stats(f->c, &after);
    cr_assert_eq(after.blocks, 3);
    cr_assert_lt(after.uploaded - before.uploaded, 200); /* `scaled` alone */
    cr_assert_eq(after.downloaded, sizeof f->w);         /* w, once: nobody changes it */
    cr_assert(!rvm_cuda_array_download(r, 0, N, got, &f->e));
    for (int k = 0; k < N; k++) cr_assert_float_eq(got[k], 3 * f->r[k], 1e-12);
    cr_assert_eq(rvm_cuda_array_download(r, 1, N, got, &f->e), RVM_ERR_USAGE);
    rvm_cuda_array_free(r), rvm_cuda_array_free(w), rvm_cuda_array_free(x), rvm_cuda_array_free(y);
done:
    end(f);
    free(f);
    free(got);
}

/* Local arrays that only blocks use: t begins as 0 there, u is copied once, and neither comes back. */
static void bind_through(fixture *f, rvm_arg *a, int64_t *k, int64_t m, double *out) {
    memset(out, 0, N * sizeof *out);
    for (int i = 0; i < N; i++) k[i] = (i * 7) % N;
    a[0] = rvm_arg_array_f64(out, 1, (int64_t[]){N});
    a[1] = rvm_arg_array_f64(f->x, 1, (int64_t[]){N});
    a[2] = rvm_arg_array_i64(k, 1, (int64_t[]){N});
    a[3] = rvm_arg_i64(m);
}

static void expect_through(const fixture *f, const int64_t *k, const double *out, int n) {
    for (int i = 0; i < n; i++) cr_assert_eq(out[i], 3 * (2 * f->x[k[i]]), "%d: %.17g", i, out[i]);
}

Test(cuda, local_arrays_stay) {
    enum { ARRAY = N * sizeof(double) };
    rvm_cuda_totals t;
    rvm_arg a[4];
    int64_t *k = malloc(N * sizeof *k);
    double *out = malloc(N * sizeof *out);
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f) || open_device(f)) goto done;
    bind_through(f, a, k, N - 1, out);
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "through"), a, 4, &f->e), "%s", f->e.message);
    out[N - 1] -= 1;
    expect_through(f, k, out, N);
    rvm_cuda_stats(f->c, &t);
    cr_assert_eq(t.blocks, 2);
    cr_assert_lt(t.uploaded, 4 * ARRAY + 500); /* x, k, u, out */
    cr_assert_eq(t.downloaded, ARRAY);         /* out */
done:
    end(f);
    free(f);
    free(k);
    free(out);
}

/* Where instance `bad` fails, or the line behind the blocks, they are the host's. */
static void fail_through(int bad, int64_t m, const char *why) {
    rvm_cuda_totals t;
    rvm_arg a[4];
    rvm_variable v;
    rvm_options o = rvm_options_default();
    int64_t *k = malloc(N * sizeof *k);
    double *out = malloc(N * sizeof *out);
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f)) goto done;
    rvm_machine_free(f->m);
    o.unchecked = true; /* but for indices */
    cr_assert(!rvm_machine_new(f->p, &o, &f->m, &f->e) && !rvm_jit_attach(f->j, f->m, &f->e) && !open_device(f));
    bind_through(f, a, k, m, out);
    if (bad < N) k[bad] = N;
    cr_assert(!rvm_machine_bind(f->m, rvm_program_find(f->p, "through"), a, 4, RVM_PRIMAL, false, &f->e));
    cr_assert_eq(rvm_machine_forward(f->m, &f->e), RVM_ERR_INDEX);
    expect_through(f, k, out, bad);
    for (uint32_t n = 0; rvm_machine_variable(f->m, 0, n, &v); n++)
        for (int i = 0; i < N && v.ndim && (!strcmp(v.name, "t") || !strcmp(v.name, "u")); i++)
            cr_assert_eq(((const double *)v.data)[i], v.name[0] == 't' ? 2 * f->x[i] : 3);
    rvm_cuda_stats(f->c, &t);
    cr_assert(strstr(t.why, why) && (*why || t.blocks == 2), "%s", t.why);
done:
    end(f);
    free(f);
    free(k);
    free(out);
}

Test(cuda, local_arrays_come_back_for_a_block) {
    fail_through(1700, 0, "line 34: an instance fails");
}
Test(cuda, local_arrays_come_back_for_a_side_exit) {
    fail_through(N, N, "");
}

/* Columns of a Jacobian: what no run changes is copied once for all. */
Test(cuda, columns_hold_what_they_read) {
    enum { ARRAY = N * sizeof(double) };
    static double J[2 * N], expected[2 * N];
    const rvm_part of = {1, -1}, by = {2, -1};
    rvm_cuda_totals t;
    rvm_arg a[5];
    double out;
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f)) goto done;
    cr_assert(!run_cost(f, a, &out));
    const rvm_derivative_spec q = {.fn = rvm_program_find(f->p, "cost"),
                                   .args = a,
                                   .nargs = 5,
                                   .outputs = &of,
                                   .inputs = &by,
                                   .noutputs = 1,
                                   .ninputs = 1};
    cr_assert(!rvm_jacobian(f->m, &q, RVM_BY_TANGENTS, expected, NULL, &f->e) && !open_device(f));
    cr_assert(!rvm_jacobian(f->m, &q, RVM_BY_TANGENTS, J, NULL, &f->e), "%s", f->e.message);
    cr_assert(!memcmp(J, expected, sizeof J));
    rvm_cuda_stats(f->c, &t);
    cr_assert_eq(t.blocks, 2);
    cr_assert_lt(t.uploaded, 6 * ARRAY + 200); /* x and y; twice r and r_d */
done:
    end(f);
    free(f);
}

/* What code around the blocks uses is the host's for the run; then on the device again. */
Test(cuda, arrays_used_outside) {
    rvm_cuda_array *r, *x;
    double got[3];
    const double from[3] = {1, 2, 3};
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f) || open_device(f)) goto done;
    rvm_arg a[2] = {on_device(f->c, &r, NULL, 3), on_device(f->c, &x, from, 3)};
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "outside"), a, 2, &f->e), "%s", f->e.message);
    cr_assert(!rvm_cuda_array_download(x, 0, 3, got, &f->e));
    cr_assert(got[0] == 2 && got[1] == 4 && got[2] == 3);
    cr_assert(rvm_cuda_array_pointer(r));
    cr_assert(!rvm_cuda_array_download(r, 0, 3, got, &f->e));
    cr_assert(got[0] == 2 && got[1] == 2 && got[2] == 3);
    rvm_machine_free(f->m); /* interpreted, too */
    cr_assert(!rvm_machine_new(f->p, NULL, &f->m, &f->e) && !rvm_jit_attach(f->j, f->m, &f->e) &&
              !rvm_cuda_attach(f->c, f->m, &f->e));
    cr_assert(!rvm_call(f->m, rvm_program_find(f->p, "outside"), a, 2, &f->e), "%s", f->e.message);
    cr_assert(!rvm_cuda_array_download(r, 0, 3, got, &f->e));
    cr_assert(got[0] == 5 && got[1] == 6 && got[2] == 6);
    rvm_cuda_array_free(r), rvm_cuda_array_free(x);
done:
    end(f);
    free(f);
}

Test(cuda, gradients_of_arrays_that_stay) {
    rvm_cuda_array *r, *r_b, *x, *y;
    rvm_arg a[5];
    double expected[2];
    fixture *f = malloc(sizeof *f);
    use_grid();
    if (!begin(f)) goto done;
    for (int k = 0; k < 2; k++) {
        a[0] = rvm_arg_f64(0);
        a[1] = rvm_arg_array_f64(f->r, 1, (int64_t[]){N});
        a[3] = rvm_arg_array_f64(f->x, 1, (int64_t[]){N});
        a[4] = rvm_arg_array_f64(f->y, 1, (int64_t[]){N});
        a[1].shadow_data = f->r_b;
        if (k) {
            cr_assert(!open_device(f));
            a[1] = on_device(f->c, &r, NULL, N);
            on_device(f->c, &r_b, f->r_b, N);
            a[1].shadow_data = rvm_cuda_array_data(r_b);
            a[3] = on_device(f->c, &x, f->x, N);
            a[4] = on_device(f->c, &y, f->y, N);
        }
        a[0].active = a[1].active = true;
        a[0].shadow.f = 1;
        memset(f->w_b, 0, sizeof f->w_b);
        a[2] = rvm_arg_array_f64(f->w, 1, (int64_t[]){2});
        a[2].active = true;
        a[2].shadow_data = f->w_b;
        cr_assert(!rvm_gradient(f->m, rvm_program_find(f->p, "cost"), a, 5, &f->e), "%s", f->e.message);
        if (!k) memcpy(expected, f->w_b, sizeof expected);
    }
    cr_assert(expected[0] != 0 && f->w_b[0] == expected[0] && f->w_b[1] == expected[1]);
    rvm_cuda_totals t;
    rvm_cuda_stats(f->c, &t);
    cr_assert_gt(t.blocks, 0);
    rvm_cuda_array_free(r), rvm_cuda_array_free(r_b), rvm_cuda_array_free(x), rvm_cuda_array_free(y);
done:
    end(f);
    free(f);
}

Test(cuda, arrays_of_the_callers) {
    rvm_cuda_array *a, *b = NULL;
    double got[4] = {0};
    rvm_error e;
    rvm_cuda *c;
    use_grid();
    cr_assert(!rvm_cuda_new(NULL, &c, &e));
    cr_assert(!rvm_cuda_array_new(c, 4, &a, &e));
    cr_assert(!rvm_cuda_array_upload(a, 1, 2, (double[]){5, 6}, &e));
    cr_assert(!rvm_cuda_array_wrap(c, rvm_cuda_array_pointer(a) + 8, 2, &b, &e));
    cr_assert(!rvm_cuda_array_download(b, 0, 2, got, &e) && got[0] == 5 && got[1] == 6);
    rvm_cuda_array_free(b);
    cr_assert_eq(rvm_cuda_array_wrap(c, 12, 2, &b, &e), RVM_ERR_USAGE);
    cr_assert_eq(rvm_cuda_array_wrap(c, 0, 2, &b, &e), RVM_ERR_USAGE);
    rvm_cuda_free(c); /* and a */
}

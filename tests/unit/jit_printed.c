/* jit_printed.c: the interface rvm_jit.h: printing code, of the host and of devices. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "jit_fixture.h"

static const char sum[] = "fn sum(y: real, x: real[n])\n"
                          "    for i in 0..n\n"
                          "        y += x[i]\n"
                          "    end\n"
                          "end\n";

static rvm_status dump(const telling *f, uint32_t fn, int direction, rvm_jit_form form, const rvm_options *o,
                       char **printed) {
    size_t size = 0;
    FILE *out = open_memstream(printed, &size);
    const rvm_status st = rvm_jit_dump(f->j, f->p, fn, direction, o, form, out, &e);
    fclose(out);
    return st;
}

Test(jit_printed, of_the_host) {
    telling f;
    char *printed;
    rvm_options exact = rvm_options_default();
    telling_begin(&f, sum);
    exact.exact = true;
    const struct {
        uint32_t fn;
        int direction;
        rvm_jit_form form;
        const rvm_options *o;
        rvm_status status;
        const char *text;
    } rows[] = {
        {0, 1, RVM_JIT_IR, NULL, RVM_OK, "fadd double"},    {0, -1, RVM_JIT_IR, NULL, RVM_OK, "fsub double"},
        {0, 1, RVM_JIT_ASSEMBLY, NULL, RVM_OK, "rvm_need"}, {1, 1, RVM_JIT_IR, NULL, RVM_ERR_USAGE, ""},
        {0, 0, RVM_JIT_IR, NULL, RVM_ERR_USAGE, ""},        {0, 1, RVM_JIT_IR, &exact, RVM_OK, "rvm__native_keep"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const rvm_status st = dump(&f, rows[k].fn, rows[k].direction, rows[k].form, rows[k].o, &printed);
        cr_expect(st == rows[k].status && strstr(printed, rows[k].text) && !*printed == (st != RVM_OK), "row %zu: %s", k,
                  st ? e.message : printed);
        free(printed);
    }
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    cr_assert(rvm_jit_dump(f.j, f.p, 0, 1, NULL, RVM_JIT_IR, full, &e) == RVM_ERR_IO);
    fclose(full);
    cr_assert(!f.told.compiled && !f.told.refused); /* nothing is kept */
    telling_end(&f);
}

/* What is seldom called leaves no upper halves to the library's code: a call costs tens of nanoseconds more with them.
 * At level 0 it is called as all else is. */
Test(jit_printed, upper_halves) {
#if defined __x86_64__
    telling f;
    char *printed;
    rvm_options exact = rvm_options_default();
    if (!__builtin_cpu_supports("avx2")) cr_skip_test("there are no upper halves");
    telling_begin_at(&f, sum, 1);
    exact.exact = true;
    cr_assert(!dump(&f, 0, 1, RVM_JIT_ASSEMBLY, &exact, &printed), "%s", e.message);
    const char *from = strstr(printed, "\nrvm.seldom.rvm__native_keep:");
    const char *clears = from ? strstr(from, "vzeroupper\n") : NULL, *calls = from ? strstr(from, "call") : NULL;
    cr_expect(clears && calls && clears < calls, "%s", printed);
    free(printed);
    telling_end(&f);
#endif
}

/* Kernels are of unchecked code: of other, each block is named, with the reason. */
Test(jit_printed, kernels) {
    static const char block[] = "fn f(y: real[n], x: real[n])\n"
                                "    parallel i in 0..n\n"
                                "        y[i] += x[i]\n"
                                "    end\n"
                                "end\n";
    const struct {
        bool unchecked, trust, exact;
        rvm_trail trail;
        const char *said;
    } rows[] = {
        {.said = "line 2: its code is checked"},
        {.trust = true, .said = "line 2: its code is checked"},
        {.trail = RVM_TRAIL_OFF, .said = "line 2: its code is checked"},
        {.trust = true, .trail = RVM_TRAIL_OFF, .said = "line 2: its code is checked"},
        {.exact = true, .said = "restores every bit"},
        {.unchecked = true, .exact = true, .said = "restores every bit"},
    };
    telling f;
    telling_begin(&f, block);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *printed;
        rvm_options o = rvm_options_default();
        o.unchecked = rows[k].unchecked, o.trust = rows[k].trust, o.exact = rows[k].exact;
        if (rows[k].trail) o.trail = rows[k].trail;
        const rvm_status st = dump(&f, 0, 1, RVM_JIT_PTX, &o, &printed);
        cr_expect(st == RVM_ERR_UNSUPPORTED && strstr(e.message, rows[k].said) && !strstr(printed, ".entry"),
                  "row %zu: %d: %s", k, (int)st, e.message);
        free(printed);
    }
    telling_end(&f);
}

static size_t count(const char *all, const char *part) {
    size_t n = 0;
    for (; (all = strstr(all, part)); all += strlen(part)) n++;
    return n;
}

/* The machine rounds a double after each operation on f32; a device computes in single precision, and what goes around a
 * loop stays so. No instruction flushes denormals. f64 stays f64 up to where it is rounded. */
Test(jit_printed, kernels_of_f32) {
    static const char block[] = "fn f(y: f32[n], x: f32[n])\n"
                                "    parallel i in 0..n\n"
                                "        y[i] += (x[i] + 3) * x[i] - sqrt(x[i]) / 7\n"
                                "    end\n"
                                "end\n"
                                "fn g(y: f32[n], x: f32[m])\n"
                                "    parallel i in 0..n\n"
                                "        for j in 0..m\n"
                                "            y[i] += x[j] * x[j]\n"
                                "        end\n"
                                "    end\n"
                                "end\n"
                                "fn h(y: f32[n], x: f32[n], z: real[n])\n"
                                "    parallel i in 0..n\n"
                                "        y[i] += f32(f64(x[i]) * z[i])\n"
                                "    end\n"
                                "end\n"
                                "fn k(y: f32[n], x: f32[m])\n"
                                "    parallel i in 0..n\n"
                                "        compute\n"
                                "            let t: f32 = 0\n"
                                "            for j in 0..m\n"
                                "                t += x[j] * x[j]\n"
                                "            end\n"
                                "        do\n"
                                "            y[i] += t\n"
                                "        undo\n"
                                "    end\n"
                                "end\n";
    static const struct {
        uint32_t fn;
        const char *has[6], *lacks[6];
    } rows[] = {
        {0, {"add.rn.f32", "mul.rn.f32", "sqrt.rn.f32", "div.rn.f32"}, {"rn.f64 ", ".ftz", "approx", "fma"}},
        {1, {"mul.rn.f32", "add.rn.f32"}, {"rn.f64 ", ".ftz", "fma", "mov.f64"}},
        {2, {"mul.rn.f64", "add.rn.f32"}, {"mul.rn.f32"}},
        {3, {"mul.rn.f32", "add.rn.f32"}, {"rn.f64 ", ".ftz", "fma", "mov.f64"}},
    };
    telling f;
    rvm_options o = rvm_options_default();
    telling_begin(&f, block);
    o.unchecked = true;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *printed;
        const rvm_status st = dump(&f, rows[k].fn, 1, RVM_JIT_PTX, &o, &printed);
        const bool none = st == RVM_ERR_UNSUPPORTED && strstr(e.message, "no code for devices");
        cr_expect(none || !st, "row %zu: %s", k, e.message);
        for (const char *const *one = rows[k].has; *one && !st; one++)
            cr_expect(strstr(printed, *one), "row %zu lacks %s: %s", k, *one, printed);
        for (const char *const *one = rows[k].lacks; *one && !st; one++)
            cr_expect(!strstr(printed, *one), "row %zu has %s: %s", k, *one, printed);
        const size_t loads = count(printed, "ld.f64") + count(printed, "ld.global.f64") + count(printed, "ld.global.nc.f64");
        cr_expect(count(printed, "cvt.rn.f32.f64") <= loads + (rows[k].fn == 2), "row %zu rounds again: %s", k, printed);
        free(printed);
    }
    telling_end(&f);
}

/* With fast math no operation on f32 is a double's, elementary functions included, and quotients and square roots are good
 * approximations. Of f64 there are loads, stores and conversions. */
Test(jit_printed, fast_kernels_of_f32) {
    static const char block[] = "fn f(y: f32[n], x: f32[n])\n"
                                "    parallel i in 0..n\n"
                                "        y[i] += (x[i] + 3) * x[i] - sqrt(x[i]) / (x[i] + 7) + 1 / x[i]\n"
                                "    end\n"
                                "end\n"
                                "fn g(y: f32[n], x: f32[n])\n"
                                "    parallel i in 0..n\n"
                                "        hadamard y[i], x[i]\n"
                                "        y[i] += max(abs(x[i]), -x[i] / 3)\n"
                                "    end\n"
                                "end\n"
                                "fn h(y: f32[n], x: f32[n])\n"
                                "    parallel i in 0..n\n"
                                "        y[i] += exp(-x[i]) * log(x[i] + 2) + tanh(x[i]) - atan2(x[i], 3) + x[i] ^ 0.3\n"
                                "    end\n"
                                "end\n";
    static const struct {
        uint32_t fn;
        const char *has[6];
    } rows[] = {{0, {"fma.rn.f32", "add.f32", "sqrt.approx.f32", "div.full.f32", "rcp.approx.f32"}},
                {1, {"mul.f32", "add.f32", "selp.f32"}},
                {2, {"fma.rn.f32", "ex2.approx"}}};
    static const char *const lacks[] = {"add.f64", "sub.f64",  "mul.f64",     "rn.f64 ", "rcp.rn",     "sqrt.rn", "neg.f64",
                                        "abs.f64", "selp.f64", "setp.gt.f64", "mov.f64", "div.approx", "ftz.f64"};
    telling f;
    rvm_options o = rvm_options_default();
    rvm_jit_options fast = rvm_jit_options_default();
    telling_begin(&f, block);
    rvm_jit_free(f.j);
    fast.cache = "";
    fast.fast_math = true;
    cr_assert(!rvm_jit_new(&fast, &f.j, &e));
    o.unchecked = true;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *printed;
        const rvm_status st = dump(&f, rows[k].fn, 1, RVM_JIT_PTX, &o, &printed);
        const bool none =
            st == RVM_ERR_UNSUPPORTED && (strstr(e.message, "no code for devices") || strstr(e.message, "libdevice"));
        cr_expect(none || !st, "row %zu: %s", k, e.message);
        for (const char *const *one = rows[k].has; *one && !st; one++)
            cr_expect(strstr(printed, *one), "row %zu lacks %s: %s", k, *one, printed);
        for (size_t n = 0; n < sizeof lacks / sizeof *lacks && !st; n++)
            cr_expect(!strstr(printed, lacks[n]), "row %zu has %s: %s", k, lacks[n], printed);
        free(printed);
    }
    telling_end(&f);
}

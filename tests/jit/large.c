/* large.c: functions so large that native code takes few of LLVM's passes (jit/llvm/large.c): results, counts and failures
 * are the interpreter's, those of the gradient too, and the time to compile does not grow with the square of the size. */
#include "harness.h"
#include "rvm_jit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 1 << 18 };

typedef struct text {
    char s[ROOM];
    size_t n;
} text;

#define ADD(t, ...) ((t)->n += (size_t)snprintf((t)->s + (t)->n, ROOM - (t)->n, __VA_ARGS__))

/* Values that live until all are released, and branches behind them; what x is at most is asked for in between. */
static void write_function(text *t, int lets, int ifs) {
    t->n = 0;
    ADD(t, "fn f(x: real, y: real)\n    let t0: real = x * 0.5\n");
    for (int k = 1; k < lets; k++) {
        ADD(t, "    let t%d: real = t%d * 0.99 + %d.0\n", k, k - 1, k % 7);
        if (k == lets / 2) ADD(t, "    assert x < 100.0\n");
    }
    for (int k = 0; k < ifs; k++)
        ADD(t, "    if x > %d.5\n        y += x * %d.0\n    else\n        y -= t%d\n    end\n", k, k, k % lets);
    ADD(t, "    y += t%d * x\nend\n", lets - 1);
}

typedef struct outcome {
    rvm_status status;
    rvm_error e;
    rvm_stats stats;
    rvm_arg args[4];
} outcome;

/* `reason`: of the native code, whether there is any. */
static bool run(report *r, rvm_program *p, uint32_t fn, double x, rvm_jit *j, outcome *o) {
    rvm_machine *m = NULL;
    rvm_error e = {0};
    const uint32_t n = rvm_program_param_count(p, fn);
    memset(o, 0, sizeof *o);
    for (uint32_t k = 0; k < n; k++) o->args[k] = rvm_arg_f64(k ? 0.25 * k : x);
    if (!report_ok(r, "machine", rvm_machine_new(p, NULL, &m, &e), &e)) return false;
    bool good = !j || report_ok(r, "attach", rvm_jit_attach(j, m, &e), &e);
    if (good) {
        o->status = rvm_call(m, fn, o->args, n, &o->e);
        rvm_machine_stats(m, &o->stats);
        if (j) good = report_ok(r, "native", rvm_jit_reason(m, &e), &e);
    }
    rvm_machine_free(m);
    return good;
}

static rvm_jit *compiler(report *r) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    rvm_error e = {0};
    o.tiers = false;
    o.cache = "";
    report_ok(r, "native code", rvm_jit_new(&o, &j, &e), &e);
    return j;
}

static bool compare(report *r, rvm_program *p, uint32_t fn, double x, rvm_jit *j) {
    outcome is, want;
    bool good = j && run(r, p, fn, x, NULL, &want) && run(r, p, fn, x, j, &is);
    r->checks++;
    if (good && (is.status != want.status || is.e.line != want.e.line))
        good = report_fail(r, "status %d in line %u, expected %d in %u", is.status, is.e.line, want.status, want.e.line);
    if (good && is.stats.forward != want.stats.forward)
        good = report_fail(r, "%llu instructions, expected %llu", (unsigned long long)is.stats.forward,
                           (unsigned long long)want.stats.forward);
    for (int k = 0; good && k < 4; k++)
        if (memcmp(&is.args[k].value, &want.args[k].value, sizeof want.args[k].value))
            good = report_fail(r, "argument %d is %.17g, expected %.17g", k, is.args[k].value.f, want.args[k].value.f);
    return good;
}

static rvm_program *assembled(report *r, const text *t) {
    const rvm_asm_options a = {.real = RVM_F64};
    rvm_program *p = NULL;
    rvm_error e = {0};
    report_ok(r, "assemble", rvm_assemble(t->s, t->n, "large.rasm", &a, &p, &e, NULL, NULL), &e);
    return p;
}

static bool same_results(report *r, text *t) {
    write_function(t, 330, 260);
    rvm_program *p = assembled(r, t);
    if (!p) return false;
    const uint32_t f = (uint32_t)rvm_program_find(p, "f");
    rvm_jit *j = compiler(r);
    r->about = "values";
    bool good = compare(r, p, f, 3, j);
    r->about = "a failure";
    good = good && compare(r, p, f, 200, j);
    rvm_jit_free(j);
    rvm_program_free(p);
    return good;
}

static bool same_gradient(report *r, text *t) {
    rvm_program *d = NULL;
    rvm_error e = {0};
    uint32_t fn = 0;
    write_function(t, 200, 100);
    rvm_program *p = assembled(r, t);
    rvm_jit *j = compiler(r);
    r->about = "gradient";
    const bool good =
        p && report_ok(r, "derive", rvm_program_derive(p, "f'grad", &d, &fn, &e), &e) && compare(r, d, fn, 3, j);
    rvm_jit_free(j);
    rvm_program_free(d);
    rvm_program_free(p);
    return good;
}

/* Processor time, of the first call and what it compiles. */
static bool time_of(report *r, text *t, int lets, double *seconds) {
    outcome o;
    write_function(t, lets, 0);
    rvm_program *p = assembled(r, t);
    rvm_jit *j = p ? compiler(r) : NULL;
    const clock_t since = clock();
    const bool good = j && run(r, p, (uint32_t)rvm_program_find(p, "f"), 3, j, &o);
    *seconds = (double)(clock() - since) / CLOCKS_PER_SEC;
    rvm_jit_free(j);
    rvm_program_free(p);
    return good;
}

static bool grows_slowly(report *r, text *t) {
    enum { FEW = 200, TIMES = 4, MOST = 6 };
    double few, many;
    r->about = "growth";
    r->checks++;
    if (!time_of(r, t, FEW, &few) || !time_of(r, t, FEW, &few) || !time_of(r, t, FEW * TIMES, &many)) return false;
    if (many <= MOST * few) return true;
    return report_fail(r, "%d times the size takes %.2f s in place of %.2f", TIMES, many, few);
}

int main(void) {
    static text t;
    report r = {.name = "large"};
    const bool good = same_results(&r, &t) && same_gradient(&r, &t) && grows_slowly(&r, &t);
    return good ? 0 : 1;
}

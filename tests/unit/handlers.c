/* handlers.c: runs of the interpreter take no more of the C stack the longer they are: each handler ends by a jump to the
 * next, or returns (interp/step.h). On a small stack a call that stays a call overflows it. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "harness.h"

enum { TRIPS = 4000, STACK = 256 << 10 };

static const char text[] =
    "fn add(y: i64, x: i64)\n"
    "    y += x\n"
    "end\n"
    "fn reals(n: i64, y: real, z: real, s: f32, s1: f32, u: fix, u1: fix, a: real[m], b: real[2, 2, 2])\n"
    "    for i in 0..n\n"
    "        compute\n"
    "            let t = y * 0.5\n"
    "            let v = t + a[1]\n"
    "            let w: f32 = s * 0.25\n"
    "            let q: fix = u * 0.5\n"
    "        do\n"
    "            z += (v + sin(t)) * 1e-6\n"
    "            s1 += w * 0.001\n"
    "            u1 += q * 0.001\n"
    "            b[1, 0, 1] += v * 1e-6\n"
    "        undo\n"
    "        a[0] += y * 1e-6\n"
    "        y += a[1] * 1e-9\n"
    "        z -= b[1, 1, 0] * a[0]\n"
    "        neg y\n"
    "        hadamard y, z\n"
    "        swap a[0], a[1]\n"
    "        swap y, z\n"
    "        y *= 1.000001\n"
    "        push z\n"
    "        pop z\n"
    "    end\n"
    "end\n"
    "fn integers(n: i64, k: i64, l: i64, c: i64[m])\n"
    "    for i in 0..n\n"
    "        k += i\n"
    "        l ^= k\n"
    "        swap k, l\n"
    "        k -= 3\n"
    "        k += l // 3\n"
    "        c[1] += k\n"
    "        let e = i < 7\n"
    "        if i < 9\n"
    "            c[0] += e\n"
    "        end\n"
    "        call add(k, l)\n"
    "        parallel j in 0..m\n"
    "            c[j] ^= 5\n"
    "        end\n"
    "    end\n"
    "end\n"
    "fn overwritten(n: i64, y: real, k: i64)\n"
    "    for i in 0..n\n"
    "        set y = y * 0.999 + 1\n"
    "        set k = k + i\n"
    "    end\n"
    "end\n";

typedef struct task {
    const rvm_program *p;
    rvm_options o;
    rvm_mode mode;
    const char *fn;
    rvm_status status;
    rvm_error e;
} task;

/* There and back, by a sweep where there is one; with keep_shadows, forward again. */
static void move(task *t, rvm_machine *m) {
    if ((t->status = rvm_machine_forward(m, &t->e))) return;
    if (t->mode != RVM_GRADIENT) {
        t->status = rvm_machine_backward(m, &t->e);
        return;
    }
    if ((t->status = rvm_machine_sweep(m, &t->e)) || !t->o.keep_shadows) return;
    t->status = rvm_machine_forward(m, &t->e);
}

static void *run(void *p) {
    task *t = p;
    rvm_machine *m = NULL;
    rng r = {1};
    const int64_t fn = rvm_program_find(t->p, t->fn);
    args a = args_new(t->p, fn);
    args_random(&a, t->p, fn, 2, &r);
    a.a[0].value.i = TRIPS;
    args_activate(&a, NULL);
    t->status = rvm_machine_new(t->p, &t->o, &m, &t->e);
    if (!t->status) t->status = rvm_machine_bind(m, fn, a.a, a.n, t->mode, false, &t->e);
    if (!t->status) move(t, m);
    rvm_machine_free(m);
    args_free(&a);
    return NULL;
}

static void check(task t, const char *fn) {
    pthread_attr_t a;
    pthread_t thread;
    t.fn = fn;
    cr_assert(!pthread_attr_init(&a) && !pthread_attr_setstacksize(&a, STACK));
    cr_assert(!pthread_create(&thread, &a, run, &t) && !pthread_join(thread, NULL));
    pthread_attr_destroy(&a);
    cr_assert(t.status == RVM_OK, "%s, mode %d: %s", fn, (int)t.mode, t.e.message);
}

Test(handlers, leave_nothing_on_the_c_stack) {
    report rep = {.name = "handlers"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    cr_assert(p);
    for (int k = 0; k < 8; k++) {
        task t = {.p = p, .o = rvm_options_default(), .mode = (rvm_mode)(k % 3)};
        t.o.unchecked = k >= 3;
        t.o.keep_shadows = k >= 6;
        t.o.tolerance = 1e-3;
        check(t, "reals");
        check(t, "integers");
        check(t, "overwritten");
    }
    rvm_program_free(p);
}

Test(handlers, leave_nothing_in_exact_runs) {
    report rep = {.name = "handlers"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    cr_assert(p);
    for (int k = 0; k < 3; k++) {
        task t = {.p = p, .o = rvm_options_default(), .mode = (rvm_mode)k};
        t.o.exact = true;
        check(t, "reals");
    }
    rvm_program_free(p);
}

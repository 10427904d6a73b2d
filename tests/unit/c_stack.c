/* c_stack.c: recursion of native code on a stack of few bytes: the same results as on a large one, the same interpreted. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "harness.h"

enum { LETS = 24, MANY_LETS = 400, DEEP = 9000 };

/* Some values that live across a call of itself; forward and backward the stack is needed. */
static void write_program(char *to, size_t size, int lets) {
    size_t n = (size_t)snprintf(to, size, "fn deep(y: real, n: i64, x: real)\n    if n > 0\n");
    for (int k = 0; k < lets; k++) n += (size_t)snprintf(to + n, size - n, "        let t%d = x / %d + n\n", k, k + 2);
    n += (size_t)snprintf(to + n, size - n, "        let m: i64 = n - 1\n        call deep(y, m, x)\n");
    for (int k = 0; k < lets; k++) n += (size_t)snprintf(to + n, size - n, "        y += t%d / n\n", k);
    n += (size_t)snprintf(to + n, size - n, "    end\nend\n");
    cr_assert(n < size);
}

typedef struct task {
    rvm_options o;
    rvm_jit *j;
    const rvm_program *p;
    double y, back;
    rvm_status status, why;
    rvm_error e, reason;
    uint32_t frames;
} task;

static void *run(void *p) {
    task *t = p;
    rvm_machine *m = NULL;
    rvm_stats s = {0};
    rvm_arg a[] = {rvm_arg_f64(1), rvm_arg_i64(DEEP), rvm_arg_f64(0.75)};
    t->status = rvm_machine_new(t->p, &t->o, &m, &t->e);
    if (!t->status && t->j) t->status = rvm_jit_attach(t->j, m, &t->e);
    if (!t->status) t->status = rvm_call(m, 0, a, 3, &t->e);
    if (!t->status && t->j) t->why = rvm_jit_reason(m, &t->reason);
    t->y = a[0].value.f;
    if (!t->status) t->status = rvm_uncall(m, 0, a, 3, &t->e);
    t->back = a[0].value.f;
    if (m) rvm_machine_stats(m, &s);
    t->frames = s.depth_peak;
    rvm_machine_free(m);
    return NULL;
}

static void run_with(task *t, size_t stack) {
    pthread_attr_t a;
    pthread_t thread;
    cr_assert(!pthread_attr_init(&a) && !pthread_attr_setstacksize(&a, stack));
    cr_assert(!pthread_create(&thread, &a, run, t) && !pthread_join(thread, NULL));
    pthread_attr_destroy(&a);
}

static void compare(task *t, size_t stack, const task *expected) {
    run_with(t, stack);
    cr_assert(t->status == RVM_OK, "%zu bytes: %s", stack, t->e.message);
    cr_assert(t->y == expected->y && t->back == expected->back && t->frames == expected->frames,
              "%zu bytes: %.17g, %.17g back, %u frames; expected %.17g, %.17g, %u", stack, t->y, t->back, t->frames,
              expected->y, expected->back, expected->frames);
}

static void check(bool tiers) {
    static char text[1 << 14];
    report rep = {.name = "stack"};
    rvm_jit_options o = rvm_jit_options_default();
    write_program(text, sizeof text, LETS);
    task t = {.o = rvm_options_default(), .p = assemble_text(text, NULL, &rep)};
    cr_assert(t.p);
    o.cache = "";
    o.level = 1;
    o.tiers = tiers;
    o.wait = true;
    o.hot = tiers ? 20000 : 0;
    for (int unchecked = 0; unchecked < 2; unchecked++) {
        t.o.unchecked = unchecked;
        t.j = NULL;
        run_with(&t, 256 << 10);
        const task expected = t;
        if (rvm_jit_new(&o, &t.j, &t.e)) cr_skip_test("%s", t.e.message);
        compare(&t, 256 << 10, &expected);
        cr_assert(t.why == RVM_OK, "%s", t.reason.message);
        compare(&t, 128 << 10, &expected);
        compare(&t, 16 << 20, &expected);
        rvm_jit_free(t.j);
    }
    rvm_program_free((rvm_program *)(uintptr_t)t.p);
}

Test(c_stack, native) {
    check(false);
}

Test(c_stack, in_tiers) {
    check(true);
}

static void take_size(void *userdata, const rvm_jit_notice *n) {
    *(size_t *)userdata = n->stack_size;
}

/* Of the frames of what a program with so many is compiled to; 0 where there is no compiler. */
static size_t frames_of(int lets) {
    static char text[1 << 15];
    report rep = {.name = "stack"};
    rvm_jit_options o = rvm_jit_options_default();
    rvm_options machine = rvm_options_default();
    rvm_arg a[] = {rvm_arg_f64(1), rvm_arg_i64(1), rvm_arg_f64(0.75)};
    rvm_error e = {0};
    rvm_machine *m;
    rvm_jit *j;
    size_t size = 0;
    write_program(text, sizeof text, lets);
    rvm_program *p = assemble_text(text, NULL, &rep);
    o.cache = "";
    o.tiers = false;
    o.notice = take_size;
    o.userdata = &size;
    if (rvm_jit_new(&o, &j, &e)) cr_skip_test("%s", e.message);
    cr_assert(p && !rvm_machine_new(p, &machine, &m, &e) && !rvm_jit_attach(j, m, &e) && !rvm_call(m, 0, a, 3, &e), "%s",
              e.message);
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
    return size;
}

Test(c_stack, frames_are_counted) {
    if (TRY_ONE_IN > 1) return; /* in LLVM */
    const size_t few = frames_of(LETS), many = frames_of(MANY_LETS);
    cr_assert(many - few >= (MANY_LETS - LETS) * sizeof(rvm_value), "%zu and %zu bytes", few, many);
}

Test(c_stack, too_small) { /* for any code: it is interpreted, which is said */
#ifdef __SANITIZE_ADDRESS__
    cr_skip_test("with the sanitizer the interpreter takes more");
#endif
    static char text[1 << 14];
    report rep = {.name = "stack"};
    rvm_jit_options o = rvm_jit_options_default();
    write_program(text, sizeof text, LETS);
    task t = {.o = rvm_options_default(), .p = assemble_text(text, NULL, &rep)};
    o.cache = "";
    o.tiers = false;
    cr_assert(t.p);
    run_with(&t, 64 << 10);
    const task expected = t;
    if (rvm_jit_new(&o, &t.j, &t.e)) cr_skip_test("%s", t.e.message);
    run_with(&t, 1 << 20); /* compiles */
    compare(&t, 36 << 10, &expected);
    cr_assert(t.why == RVM_ERR_UNSUPPORTED && strstr(t.reason.message, "bytes of the thread's stack"), "%s",
              t.reason.message);
    rvm_jit_free(t.j);
    rvm_program_free((rvm_program *)(uintptr_t)t.p);
}

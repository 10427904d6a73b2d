/* by_hand.c: derivatives written by hand where runs go instruction by instruction: what stops them, turns them around, and
 * what they refuse. The cases derivatives/by_hand_*.rasm take them through every engine and mode. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rvm.h"
#include "rvm_asm.h"
#include "rvm_debug.h"

/* The derivatives are three times those of the code: so a sum of them tells which were taken. */
static const char source[] = "fn square(y: real, x: real)\n"
                             "    y += x ^ 2\n"
                             "end\n"
                             "fn square'adj(y: real, y_b: real, x: real, x_b: real)\n"
                             "    uncall square(y, x)\n"
                             "    x_b += 6 * (x * y_b)\n"
                             "end\n"
                             "fn square'tan(y: real, y_d: real, x: real, x_d: real)\n"
                             "    call square(y, x)\n"
                             "    y_d += 6 * (x * x_d)\n"
                             "end\n"
                             "fn sum(out: real, x: real)\n"
                             "    call square(out, x)\n"
                             "    out += x * 0.1\n"
                             "    call square(out, x)\n"
                             "end\n"
                             "fn leaves(y: real, x: real)\n"
                             "    y += x\n"
                             "end\n"
                             "fn leaves'adj(y: real, y_b: real, x: real, x_b: real)\n"
                             "    uncall leaves(y, x)\n"
                             "    x_b += 3 * y_b\n"
                             "    let t: real\n"
                             "    set t = x\n"
                             "    t -= x\n"
                             "end\n"
                             "fn left(out: real, x: real)\n"
                             "    call leaves(out, x)\n"
                             "    out += x\n"
                             "end\n"
                             "fn by_x(y: real, x: real, k: real)\n"
                             "    y += x * k\n"
                             "end\n"
                             "fn by_x'adj[y, x](y: real, y_b: real, x: real, x_b: real, k: real)\n"
                             "    uncall by_x(y, x, k)\n"
                             "    x_b += 3 * (k * y_b)\n"
                             "end\n"
                             "fn both(out: real, x: real)\n"
                             "    call by_x(out, x, x)\n"
                             "    out += x\n"
                             "end\n"
                             "fn code(y: real, x: real, x_b: real)\n"
                             "    call sum'grad(y, 1, x, x_b)\n"
                             "end\n";
static rvm_error e;

typedef struct fixture {
    rvm_program *p;
    rvm_machine *m;
    rvm_arg a[3];
    int64_t fn;
} fixture;

static void set(fixture *f, rvm_mode mode) {
    f->a[0] = rvm_arg_f64(0.25), f->a[1] = rvm_arg_f64(1.7), f->a[2] = rvm_arg_f64(0);
    for (int k = 0; k < 2; k++) f->a[k].active = true, f->a[k].shadow.f = 0;
    f->a[mode == RVM_TANGENT].shadow.f = 1;
}

static void begin(fixture *f, const char *name, rvm_mode mode, const rvm_options *o) {
    cr_assert(!rvm_assemble(source, strlen(source), "t.rasm", NULL, &f->p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(f->p, o, &f->m, &e));
    f->fn = rvm_program_find(f->p, name);
    set(f, mode);
}

static void end(fixture *f) {
    rvm_machine_free(f->m);
    rvm_program_free(f->p);
}

/* Where the step into a rule finds no memory the run stands as it was, but for a cancel that came meanwhile. */
typedef struct failing {
    rvm_machine *m;
    int left; /* allocations till one fails, in which the run is cancelled; 0: none does */
} failing;

static void *allocate(void *userdata, void *p, size_t old_size, size_t new_size) {
    failing *f = userdata;
    (void)old_size;
    if (!new_size) return free(p), NULL;
    if (!f->left || --f->left) return realloc(p, new_size);
    rvm_machine_cancel(f->m);
    return NULL;
}

Test(by_hand, cancelled_where_memory_fails) {
    int failures = 0;
    for (int k = 1; k < 6; k++) {
        failing by = {0};
        const rvm_allocator al = {.alloc = allocate, .userdata = &by};
        rvm_options o = rvm_options_default();
        fixture f;
        o.allocator = &al;
        o.profile = true; /* which takes memory there, and before */
        begin(&f, "square", RVM_TANGENT, &o);
        cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_TANGENT, false, &e));
        by = (failing){f.m, k};
        if (rvm_machine_forward(f.m, &e) == RVM_ERR_MEMORY) {
            failures++;
            cr_expect_eq(rvm_machine_forward(f.m, &e), RVM_ERR_CANCELLED, "%d", k);
            cr_expect(!rvm_machine_forward(f.m, &e), "%s", e.message);
        }
        by.left = 0;
        end(&f);
    }
    cr_expect_gt(failures, 0);
}

/* In slices of `fuel` instructions. */
static rvm_status in_slices(fixture *f, rvm_status (*move)(rvm_machine *, rvm_error *)) {
    rvm_status status;
    int slices = 0;
    while ((status = move(f->m, &e)) == RVM_ERR_FUEL) slices++;
    cr_expect(slices > 2, "%d", slices);
    return status;
}

Test(by_hand, sweeps_go_on_where_fuel_ended_them) {
    rvm_options o = rvm_options_default();
    fixture f;
    o.fuel = 1;
    o.keep_shadows = true;
    begin(&f, "sum", RVM_GRADIENT, &o);
    cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_GRADIENT, false, &e));
    cr_assert(!in_slices(&f, rvm_machine_forward));
    cr_assert(!in_slices(&f, rvm_machine_sweep), "%s", e.message);
    cr_expect_float_eq(f.a[1].shadow.f, 2 * 6 * 1.7 + 0.1, 1e-14);
    cr_expect_float_eq(f.a[0].value.f, 0.25, 1e-14);
    cr_assert(!in_slices(&f, rvm_machine_forward), "%s", e.message); /* the sweep is taken back */
    cr_expect_float_eq(f.a[1].shadow.f, 0, 1e-14);
    cr_assert(!in_slices(&f, rvm_machine_sweep));
    cr_expect_float_eq(f.a[1].shadow.f, 2 * 6 * 1.7 + 0.1, 1e-14);
    end(&f);
}

/* A step of the sweep leads into the rule, whose lines are its own, and back out of it. */
Test(by_hand, steps_lead_into_rules) {
    rvm_options o = rvm_options_default();
    rvm_goal goal = {.to = {.swept = true, .at = 1}};
    rvm_arrival how;
    rvm_location at;
    fixture f;
    o.keep_shadows = true;
    begin(&f, "sum", RVM_GRADIENT, &o);
    cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_GRADIENT, false, &e));
    cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e), "%s", e.message);
    cr_assert(rvm_machine_frames(f.m) == 2 && rvm_machine_location(f.m, 0, -1, &at));
    cr_expect(!strcmp(at.function, "square'adj") && at.direction > 0 && at.line > 3 && at.line < 8, "%s %u", at.function,
              at.line);
    cr_assert(rvm_machine_location(f.m, 1, -1, &at) && !strcmp(at.function, "sum") && at.line == 15);
    const rvm_stop stop = {.fn = (uint32_t)rvm_program_find(f.p, "square'adj"), .pc = 2};
    goal = (rvm_goal){.to = {.swept = true, .at = INT64_MAX}, .stops = &stop, .nstops = 1};
    for (int k = 0; k < 2; k++)
        cr_expect(!rvm_machine_run_to(f.m, &goal, &how, &e) && how.reached == RVM_REACHED_STOP, "%d: %d", k, how.reached);
    goal = (rvm_goal){.to = {false, 0}};
    cr_assert(!rvm_machine_run_to(f.m, &goal, &how, &e), "%s", e.message);
    cr_expect_float_eq(f.a[1].shadow.f, 0, 1e-14);
    end(&f);
}

/* On the bound function itself, too: as programs have it. */
Test(by_hand, gradients_and_tangents_by_modes) {
    static const char *const names[] = {"sum", "square"};
    for (int k = 0; k < 8; k++) {
        rvm_options o = rvm_options_default();
        fixture f, g;
        const bool tangent = k & 1;
        const char *name = names[k >> 1 & 1];
        begin(&g, name, tangent ? RVM_TANGENT : RVM_GRADIENT, &o);
        o.exact = k & 4;
        o.profile = !o.exact;
        begin(&f, name, tangent ? RVM_TANGENT : RVM_GRADIENT, &o);
        cr_assert(!(tangent ? rvm_tangent : rvm_gradient)(f.m, f.fn, f.a, 2, &e), "%d: %s", k, e.message);
        cr_assert(!(tangent ? rvm_tangent : rvm_gradient)(g.m, g.fn, g.a, 2, &e), "%d: %s", k, e.message);
        for (int i = 0; i < 2; i++) cr_expect(f.a[i].shadow.i == g.a[i].shadow.i, "%d: %g", k, f.a[i].shadow.f);
        cr_expect(!o.exact || tangent || f.a[0].value.f == 0.25, "%d: %.17g", k, f.a[0].value.f);
        end(&f);
        end(&g);
    }
}

static void refused(const char *name, const rvm_options *o, const char *text, uint32_t line) {
    fixture f;
    begin(&f, name, RVM_GRADIENT, o);
    cr_expect(rvm_gradient(f.m, f.fn, f.a, 2, &e) == RVM_ERR_UNSUPPORTED, "%s", name);
    cr_expect(strstr(e.message, text) && e.line == line, "%s: %u: %s", name, e.line, e.message);
    cr_expect(f.a[0].value.f == 0.25 && f.a[1].shadow.f == 0, "%s has changed arguments", name);
    end(&f);
}

Test(by_hand, what_is_refused_names_the_rule) {
    rvm_options undo = rvm_options_default(), exact = rvm_options_default();
    undo.keep_shadows = true;
    exact.exact = true;
    refused("left", &undo, "`leaves'adj`, written by hand, leaves something on the trail", 20);
    refused("both", &undo, "`by_x'adj", 34);
    refused("both", &exact, "does not serve all that is active here", 34);
    exact.keep_shadows = true;
    refused("sum", &exact, "`square'adj`, written by hand, cannot be taken back in exact runs", 4);
}

/* What an exact run has recorded of sum, its adjoint by hand does not take back: the program says so. */
Test(by_hand, exact_programs) {
    rvm_options o = rvm_options_default();
    rvm_asm_options as = {.exact = true};
    fixture f;
    cr_assert(!rvm_assemble(source, strlen(source), "t.rasm", &as, &f.p, &e, NULL, NULL), "%s", e.message);
    o.exact = true;
    cr_assert(!rvm_machine_new(f.p, &o, &f.m, &e));
    set(&f, RVM_GRADIENT);
    f.fn = rvm_program_find(f.p, "code");
    cr_expect(rvm_call(f.m, f.fn, f.a, 3, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "is written by hand"), "%s",
              e.message);
    end(&f);
}

/* Of shadows exact runs keep no record: within a rule, and in the code that runs behind it, they only go on. */
Test(by_hand, exact_tangents_do_not_turn_within) {
    rvm_options o = rvm_options_default();
    fixture f;
    int within = 0;
    bool done = false;
    o.exact = true;
    begin(&f, "sum", RVM_TANGENT, &o);
    cr_assert(!rvm_machine_bind(f.m, f.fn, f.a, 2, RVM_TANGENT, false, &e));
    while (!done) {
        cr_assert(!rvm_machine_step(f.m, 1, &done, &e), "%s", e.message);
        if (rvm_machine_frames(f.m) < 2) continue;
        within++;
        cr_expect(rvm_machine_step(f.m, -1, NULL, &e) == RVM_ERR_UNSUPPORTED && strstr(e.message, "cannot turn back here"));
    }
    cr_expect(within > 8, "%d", within);
    cr_expect_float_eq(f.a[0].shadow.f, 2 * 6 * 1.7 + 0.1, 1e-14);
    cr_assert(!rvm_machine_backward(f.m, &e), "%s", e.message);
    cr_expect(f.a[0].value.f == 0.25);
    end(&f);
}

/* What the adjoint takes from the trail has tangents there, since it is f's own code that left it. */
Test(by_hand, tangents_of_an_adjoint_that_takes_from_the_trail) {
    static const char trail[] = "fn moved(y: real, x: real)\n"
                                "    set y = y + x ^ 2\n"
                                "end\n"
                                "fn moved'tan(y: real, y_d: real, x: real, x_d: real)\n"
                                "    call moved(y, x)\n"
                                "    y_d += 2 * (x * x_d)\n"
                                "end\n"
                                "fn code(y: real, x: real, x_b: real)\n"
                                "    call moved'grad(y, 1, x, x_b)\n"
                                "end\n";
    rvm_asm_options as = {.exact = true};
    rvm_options o = rvm_options_default();
    fixture f;
    o.exact = true;
    cr_assert(!rvm_assemble(trail, strlen(trail), "t.rasm", &as, &f.p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(f.p, &o, &f.m, &e));
    set(&f, RVM_TANGENT);
    f.a[0].shadow.f = 2;
    f.a[2].active = true;
    cr_assert(!rvm_tangent(f.m, rvm_program_find(f.p, "code"), f.a, 3, &e), "%s", e.message);
    cr_expect(f.a[0].value.f == 0.25 && f.a[0].shadow.f == 2, "%.17g %.17g", f.a[0].value.f, f.a[0].shadow.f);
    cr_expect(f.a[2].value.f == 2 * 1.7 && f.a[2].shadow.f == 2, "%.17g %.17g", f.a[2].value.f, f.a[2].shadow.f);
    end(&f);
}

static const char halves[] = "fn halve(y: real, x: real)\n"
                             "    y += x\n"
                             "    y *= 0.5\n"
                             "end\n"
                             "fn halve'tan(y: real, y_d: real, x: real, x_d: real)\n"
                             "    call halve(y, x)\n"
                             "    y_d += x_d\n"
                             "    y_d *= 0.5\n"
                             "end\n"
                             "fn halve'adj(y: real, y_b: real, x: real, x_b: real)\n"
                             "    y_b *= 0.5\n"
                             "    x_b += y_b\n"
                             "    uncall halve(y, x)\n"
                             "end\n"
                             "fn code(out: real, y: real, x: real)\n"
                             "    compute\n"
                             "        for i in 0..60\n"
                             "            call halve(y, x)\n"
                             "        end\n"
                             "    do\n"
                             "        out += x * y\n"
                             "    undo\n"
                             "    out += y * y\n"
                             "end\n";

/* Of what a compute part borrows, which 60 halvings would leave as noise: a tangent comes back; an adjoint has no way. */
Test(by_hand, exact_borrowed) {
    rvm_options o = rvm_options_default();
    o.exact = true;
    for (int k = 0; k < 2; k++) {
        rvm_machine *m;
        rvm_program *p;
        rvm_arg a[3] = {{.type = RVM_F64}, {.type = RVM_F64, .value.f = 0.4}, {.type = RVM_F64, .value.f = 0.7}};
        for (int i = 0; i < 3; i++) a[i].active = true;
        cr_assert(!rvm_assemble(halves, strlen(halves), "t.rasm", NULL, &p, &e, NULL, NULL), "%s", e.message);
        cr_assert(!rvm_machine_new(p, &o, &m, &e));
        const int64_t fn = rvm_program_find(p, "code");
        if (k) {
            a[0].shadow.f = 1;
            cr_expect(rvm_gradient(m, fn, a, 3, &e) == RVM_ERR_UNSUPPORTED && e.line == 18, "%d: %s", e.line, e.message);
        } else {
            a[1].shadow.f = 1, a[2].shadow.f = 0.6;
            cr_assert(!rvm_tangent(m, fn, a, 3, &e), "%s", e.message);
            cr_expect_float_eq(a[0].shadow.f, 0.8 + 0.84, 1e-14);
            cr_expect(a[1].value.f == 0.4 && a[1].shadow.f == 1, "%.17g %.17g", a[1].value.f, a[1].shadow.f);
        }
        rvm_machine_free(m);
        rvm_program_free(p);
    }
}

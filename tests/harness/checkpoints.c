/* checkpoints.c: gradients whose loops run again from snapshots are those of the trail. */
#include "harness.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef rvm_status (*run_fn)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *);

/* Whether a loop that the call may reach is run again. */
static bool any_taken(const subject *s) {
    rvm_checkpointed loops[16];
    rvm_error e = {0};
    uint32_t n = 0;
    if (!report_ok(s->rep, "loops", rvm_program_checkpointed(s->program, s->fn, loops, 16, &n, &e), &e)) return false;
    for (uint32_t k = 0; k < n && k < 16; k++)
        if (!loops[k].why) return true;
    return false;
}

/* dir: where states go that a tiny trail has no room for; or NULL. */
static bool run(const subject *s, run_fn f, uint32_t states, const char *dir, rvm_jit *j, const args *seeds, args *out) {
    rvm_machine *m = NULL;
    rvm_error e = {0};
    rvm_options o = s->options;
    o.checkpoints = states;
    o.trail_limit = dir ? 4096 : states ? o.trail_limit : 0;
    o.checkpoint_dir = dir;
    *out = args_copy(seeds);
    bool good = report_ok(s->rep, "machine", rvm_machine_new(s->program, &o, &m, &e), &e);
    good = good && (!j || report_ok(s->rep, "attach", rvm_jit_attach(j, m, &e), &e));
    good = good && report_ok(s->rep, states ? "checkpoints" : "trail", f(m, s->fn, out->a, out->n, &e), &e);
    rvm_machine_free(m);
    return good;
}

/* Values that come back are within what going back may leave, which steps that run again leave less of. */
static bool same(const subject *s, const char *what, args *expected, args *got, int how) {
    return args_agree(s->rep, what, s->program, s->fn, expected, got, how, fmax(s->restore, 1e-12)) &&
           args_agree(s->rep, what, s->program, s->fn, expected, got, how | COMPARE_SHADOWS, 1e-12);
}

static bool is_empty(const char *dir) {
    uint32_t n = 0;
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return d && !n;
}

/* native: natively, too. The number of states is one in the program that is compiled. */
static bool check_states(const subject *s, run_fn f, uint32_t states, const char *dir, bool native, args *seeds,
                         args *expected) {
    args by = {0}, natively = {0};
    rvm_jit *j = native && s->native && s->native_orders && is_short(s) ? s->native->way[NATIVE_WHOLE] : NULL;
    bool good = run(s, f, states, dir, NULL, seeds, &by) && same(s, "by checkpoints", expected, &by, 0);
    good = good && (!j || (run(s, f, states, dir, j, seeds, &natively) &&
                           same(s, "by checkpoints, natively", &by, &natively, COMPARE_BITS)));
    args_free(&by);
    args_free(&natively);
    return good;
}

static bool is_native(const subject *s, unsigned k, unsigned which) {
    return (k + which + s->turn) % 2 == 0;
}

/* Natively each number of states by one of the two functions, by the other in the next turn: compiling takes most of the
 * time. */
static bool check_one(const subject *s, run_fn f, unsigned which, args *seeds) {
    enum { FIVE = 2 };
    static const uint32_t states[] = {1, 2, [FIVE] = 5, RVM_CHECKPOINTS_AUTO};
    args by_trail = {0};
    bool good = run(s, f, 0, NULL, NULL, seeds, &by_trail);
    for (unsigned k = 0; good && k < sizeof states / sizeof *states; k++)
        if (!s->few || k == s->turn % 4)
            good = check_states(s, f, states[k], NULL, is_native(s, k, which), seeds, &by_trail);
    char dir[] = "/tmp/rvm_checkpoints_XXXXXX";
    if (good && !s->few && mkdtemp(dir)) {
        good = check_states(s, f, states[FIVE], dir, is_native(s, FIVE, which), seeds, &by_trail);
        if (!is_empty(dir)) good = report_fail(s->rep, "files are left in %s", dir);
        rmdir(dir);
    }
    args_free(&by_trail);
    return good;
}

bool check_checkpoints(const subject *s, args *seeds) {
    return !any_taken(s) || (check_one(s, rvm_gradient, 0, seeds) && check_one(s, rvm_value_and_gradient, 1, seeds));
}

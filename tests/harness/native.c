/* native.c: one call natively and by the interpreter, side by side: the same bits, errors, places and counts.
 *
 * What is not compared: the counts that rvm_jit.h says are others; and where a run stops for want of fuel or by a cancel,
 * since native code polls less often in loops around straight code. */
#include "sides.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    const subject *s;
    const engine *e;
    rvm_jit *j;
    const char *way; /* that it runs */
    side side[SIDES];
} pair;

/* Instructions from which on the interpreter's loops, or at once all that it calls, go native. */
static const uint64_t hot[NATIVE_WAYS] = {[NATIVE_TIERS] = 1, [NATIVE_LATER] = 23};

bool native_open(natives *n, const char *cpu, unsigned level, unsigned threads, bool lanes, report *r) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_error e = {0};
    *n = (natives){0};
    o.cpu = cpu;
    o.level = level;
    o.cache = ""; /* compiled each time */
    o.threads = threads;
    o.wait = true;
    for (int k = 0; k < NATIVE_WAYS; k++) {
        o.tiers = k != NATIVE_WHOLE;
        o.hot = hot[k];
        o.no_lanes = !lanes || k == NATIVE_LATER; /* so that instances of blocks run one by one, too */
        if (rvm_jit_new(&o, &n->way[k], &e)) goto none;
    }
    o.no_lanes = false;
    o.tiers = false;
    o.any_lengths = true;
    if (!rvm_jit_new(&o, &n->any, &e)) return true;
none:
    report_skip(r, "native code: %s", e.message);
    native_close(n);
    return false;
}

bool native_open_device(natives *n, int devices, report *r) {
    static const int numbers[] = {0, 1, 2, 3};
    rvm_cuda_options o = rvm_cuda_options_default();
    rvm_error e = {0};
    o.least = 0;
    o.devices = numbers;
    o.ndevices = devices;
    return !rvm_cuda_new(&o, &n->device, &e) || report_fail(r, "device: %s", e.message);
}

bool native_device_ran(const natives *n, int devices) {
    rvm_cuda_totals d;
    rvm_cuda_stats(n->device, &d);
    printf("%" PRIu64 " blocks on the device, %" PRIu64 " on several, %" PRIu64 " a CTA each instance; %" PRIu64
           " not, the last: %s\n",
           d.blocks, d.split, d.nested, d.on_host, d.why);
    return d.blocks && (devices == 1 || d.split);
}

void native_close(natives *n) {
    for (int k = 0; k < NATIVE_WAYS; k++) rvm_jit_free(n->way[k]);
    rvm_jit_free(n->any);
    rvm_cuda_free(n->device);
    *n = (natives){0};
}

/* One in three runs. */
static bool is_for_any(const subject *s, const engine *e) {
    return (rvm_program_function_count(s->program) + s->turn + e->unchecked + e->trust) % 3 == 0;
}

static bool pair_open(pair *x, const subject *s, int way, const engine *e, rvm_options o) {
    static const char *const names[NATIVE_WAYS] = {"natively", "in tiers", "in tiers, later"};
    *x = (pair){.s = s, .e = e, .j = s->native->way[way], .way = names[way]};
    if (way == NATIVE_WHOLE && s->native->any && is_for_any(s, e)) x->j = s->native->any, x->way = "natively, any lengths";
    for (int k = 0; k < SIDES; k++) {
        side *y = &x->side[k];
        y->a = args_copy(s->in);
        if (!side_open(s, &o, y, k == NATIVE ? x->j : NULL)) return false;
        y->status = rvm_machine_bind(y->m, s->fn, y->a.a, y->a.n, RVM_PRIMAL, s->inverse, &y->e);
    }
    return true;
}

static void go(pair *x, side *y, bool back) {
    y->status = back != x->s->inverse ? rvm_machine_backward(y->m, &y->e) : rvm_machine_forward(y->m, &y->e);
}

/* Natively, unless it cannot be compiled, which is said. */
static bool ran_natively(const pair *x) {
    rvm_error e = {0};
    const rvm_status why = rvm_jit_reason(x->side[NATIVE].m, &e);
    if (why == RVM_ERR_UNSUPPORTED) report_interpreted(x->s->rep, "a run", &e);
    if (why && why != RVM_ERR_UNSUPPORTED) report_fail(x->s->rep, "compiling: %s: %s", rvm_status_name(why), e.message);
    return !why;
}

/* ---- comparing both sides ---- */

static bool differs(const pair *x, const char *what, const char *of, unsigned long long expected, unsigned long long got) {
    return report_fail(x->s->rep, "%s, %s, %s: %s: expected %llx, got %llx", x->e->name, x->way, what, of, expected, got);
}

static bool same_status(const pair *x, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "%s, %s, %s", x->e->name, x->way, what);
    return sides_end_alike(x->s->rep, text, x->side);
}

static const rvm_scalar *element(const rvm_variable *v, size_t k) {
    const rvm_scalar *at = v->data;
    for (int d = v->ndim - 1; d >= 0; k /= (size_t)v->shape[d--]) at += (int64_t)(k % (size_t)v->shape[d]) * v->stride[d];
    return at;
}

static bool same_variable(const pair *x, const char *what, const rvm_variable *i, const rvm_variable *n) {
    size_t count = 1;
    if (strcmp(i->name, n->name) != 0 || i->ndim != n->ndim)
        return report_fail(x->s->rep, "%s, %s, %s: expected `%s`, got `%s`", x->e->name, x->way, what, i->name, n->name);
    if (!i->ndim && i->value.i != n->value.i) return differs(x, what, i->name, (uint64_t)i->value.i, (uint64_t)n->value.i);
    for (int d = 0; d < i->ndim; d++) {
        if (i->shape[d] != n->shape[d]) return differs(x, what, i->name, (uint64_t)i->shape[d], (uint64_t)n->shape[d]);
        count *= (size_t)i->shape[d];
    }
    for (size_t k = 0; i->ndim && k < count; k++) {
        const rvm_scalar *a = element(i, k), *b = element(n, k);
        if (a->i != b->i) return differs(x, what, i->name, (uint64_t)a->i, (uint64_t)b->i);
    }
    return true;
}

/* The same frames at the same places, with the same in them. */
static bool same_frame(const pair *x, const char *what, uint32_t frame) {
    rvm_machine *i = x->side[INTERPRETED].m, *n = x->side[NATIVE].m;
    for (int direction = -1; direction <= 1; direction += 2) {
        rvm_location a = {0}, b = {0};
        rvm_machine_location(i, frame, direction, &a);
        rvm_machine_location(n, frame, direction, &b);
        if (a.fn != b.fn || a.pc != b.pc || a.direction != b.direction)
            return report_fail(x->s->rep, "%s, %s, %s: frame %u: expected %s:%u %+d, got %s:%u %+d", x->e->name, x->way,
                               what, frame, a.function, a.pc, a.direction, b.function, b.pc, b.direction);
    }
    for (uint32_t k = 0;; k++) {
        rvm_variable a = {.name = "nothing"}, b = {.name = "nothing"};
        const bool more = rvm_machine_variable(i, frame, k, &a), too = rvm_machine_variable(n, frame, k, &b);
        if ((more || too) && !same_variable(x, what, &a, &b)) return false;
        if (!more) return true;
    }
}

static bool same_stats(const pair *x, const char *what) {
    rvm_stats i, n;
    rvm_machine_stats(x->side[INTERPRETED].m, &i);
    rvm_machine_stats(x->side[NATIVE].m, &n);
#define SAME(field)                                                                                                         \
    if (i.field != n.field) return differs(x, what, #field, i.field, n.field)
    SAME(forward);
    SAME(backward);
    if (!x->e->unchecked) SAME(calls); /* uncomputing that nobody observes is left out */
    SAME(depth_peak);
    SAME(trail_cells);
    SAME(trail_peak);
    if (!x->e->discards) { /* what nobody reads counts as one value a `drop` */
        SAME(bits_trail);
        SAME(bits_shadows);
        SAME(bits_forgotten);
    }
    SAME(bits_stack);
    SAME(stack_left);
    SAME(exact_updates);
    SAME(exact_bits);
    SAME(exact_peak);
#undef SAME
    for (int k = 0; k < RVM_RESIDUES; k++)
        if (i.residues[k].value != n.residues[k].value || i.residues[k].pc != n.residues[k].pc)
            return report_fail(x->s->rep, "%s, %s, %s: expected a residue of %g at %u, got %g at %u", x->e->name, x->way,
                               what, i.residues[k].value, i.residues[k].pc, n.residues[k].value, n.residues[k].pc);
    return true;
}

static bool same(pair *x, const char *what) {
    rvm_machine *i = x->side[INTERPRETED].m, *n = x->side[NATIVE].m;
    char about[80];
    snprintf(about, sizeof about, "%s, %s, %s", x->e->name, x->way, what);
    bool good = same_status(x, what) && args_agree(x->s->rep, about, x->s->program, x->s->fn, &x->side[INTERPRETED].a,
                                                   &x->side[NATIVE].a, COMPARE_BITS, 0);
    if (good && rvm_machine_frames(i) != rvm_machine_frames(n))
        return differs(x, what, "frames", rvm_machine_frames(i), rvm_machine_frames(n));
    for (uint32_t k = 0; good && k < rvm_machine_frames(i); k++) good = same_frame(x, what, k);
    return good && same_stats(x, what);
}

/* ---- runs ---- */

static bool both(pair *x, bool back, const char *what) {
    for (int k = 0; k < SIDES; k++) go(x, &x->side[k], back);
    return same(x, what);
}

/* There, back and there again, from end to end or to where it fails. *executed: instructions there; 0: not natively, or it
 * fails, as exact runs may. */
static bool check_moves(const subject *s, int way, const engine *e, args *out, uint64_t *executed) {
    pair x;
    rvm_stats stats = {0};
    *executed = 0;
    bool good = pair_open(&x, s, way, e, engine_options(s, e)) && same(&x, "bind") && !x.side[NATIVE].status;
    good = good && both(&x, false, "there");
    const bool fails = x.side[NATIVE].status;
    if (good && ran_natively(&x)) {
        rvm_machine_stats(x.side[NATIVE].m, &stats);
        *executed = stats.forward + stats.backward;
        *out = args_copy(&x.side[NATIVE].a);
    }
    if (good && *executed) good = both(&x, true, "back") && both(&x, false, "there again");
    if (fails) *executed = 0;
    sides_close(x.side);
    return good;
}

typedef struct stop {
    const char *name;
    uint64_t part; /* of the fuel that the run takes: one part in so many; 0: a cancel */
    bool back;     /* then to where it began */
} stop;
static const stop stops[] = {{"out of fuel, on", 3, false},
                             {"out of fuel, back", 2, true},
                             {"cancelled, on", 0, false},
                             {"cancelled, back", 0, true}};

static bool stopped(rvm_status st) {
    return st == RVM_ERR_FUEL || st == RVM_ERR_CANCELLED;
}

/* Stopped on the way, if it is; then to the end, or back. */
static bool check_stop(const subject *s, int way, const engine *e, const stop *how, args *out, uint64_t executed) {
    rvm_options o = engine_options(s, e);
    pair x;
    if (how->part) o.fuel = executed / how->part + 1;
    bool good = pair_open(&x, s, way, e, o);
    side *n = &x.side[NATIVE];
    if (!good) goto done;
    if (!how->part) rvm_machine_cancel(n->m);
    go(&x, n, false);
    for (uint64_t k = 0; k < 2 * how->part + 4 && (stopped(n->status) || (how->back && !k && !n->status)); k++)
        go(&x, n, how->back);
    rvm_machine_unbind(n->m);
    good = report_ok(s->rep, how->name, n->status, &n->e) &&
           args_agree(s->rep, how->name, s->program, s->fn, how->back ? s->in : out, &n->a,
                      how->back && !e->exact ? (s->derived ? COMPARE_REAL_FIX : 0) : COMPARE_BITS, s->restore);
done:
    sides_close(x.side);
    return good;
}

static bool check_stops(const subject *s, int way, const engine *e, args *out, uint64_t executed) {
    bool good = true;
    for (unsigned k = 0; good && executed && k < sizeof stops / sizeof *stops; k++)
        good = (stops[k].back && s->derived && s->no_undoing) || check_stop(s, way, e, &stops[k], out, executed);
    return good;
}

static bool check_engine(const subject *s, int way, const engine *e) {
    args out = {0};
    uint64_t executed;
    bool good = check_moves(s, way, e, &out, &executed) && check_stops(s, way, e, &out, executed);
    args_free(&out);
    return good;
}

/* What need not turn back leaves dead instructions out: the same results, also where it stops and goes on. */
static bool check_one_way(const subject *s, int way) {
    static const engine e = {.name = "trust, trail off", .unchecked = true, .trust = true, .discards = true};
    const stop ways[] = {{"out of fuel, on", 3, false}, {"cancelled, on", 0, false}};
    args out = {0};
    pair x;
    bool good = pair_open(&x, s, way, &e, engine_options(s, &e)) && !x.side[NATIVE].status && both(&x, false, "one way");
    const bool native = good && !x.side[NATIVE].status && ran_natively(&x);
    rvm_stats stats = {0};
    if (native) rvm_machine_stats(x.side[NATIVE].m, &stats);
    if (native) out = args_copy(&x.side[NATIVE].a);
    sides_close(x.side);
    for (unsigned k = 0; native && good && k < 2; k++)
        good = check_stop(s, way, &e, &ways[k], &out, stats.forward + stats.backward);
    args_free(&out);
    return good;
}

/* Restoring every bit, there and back; checked, or trusting, also where it stops on the way and turns. */
static bool check_exact_natively(const subject *s, int way) {
    static const engine trusting = {.name = "exact, trust", .unchecked = true, .trust = true, .exact = true};
    args out = {0};
    uint64_t executed; /* 0: not where a release leaves something over */
    bool good = check_moves(s, way, &exact_engine, &out, &executed);
    if (good && executed)
        good = (s->turn / 2 + (unsigned)way) % 2 ? check_stops(s, way, &exact_engine, &out, executed)
                                                 : check_engine(s, way, &trusting);
    args_free(&out);
    return good;
}

static bool is_wanted(const subject *s) {
    return s->native && s->native->way[NATIVE_WHOLE];
}

bool is_short(const subject *s) {
    enum { LONGEST = 300 };
    uint32_t n = 0;
    for (uint32_t fn = 0; fn < s->program->nfunctions; fn++) n += s->program->functions[fn].ncode;
    return n <= LONGEST;
}

/* In tiers each function is compiled by itself, with all that it calls: not where many call many. */
static bool are_few(const subject *s) {
    return rvm_program_function_count(s->program) <= 8 && is_short(s);
}

/* Each way with one engine. */
static bool is_paired(const subject *s, int way, unsigned k) {
    return (k + (unsigned)way) % engine_count == s->turn % engine_count;
}

/* As a whole always; in tiers one way or the other: compiling takes most of the time. */
static bool is_its_turn(const subject *s, int way) {
    return way == NATIVE_WHOLE || (s->turn + (unsigned)way) % 2;
}

/* Blocks of unchecked code on a device, there and back, with one engine; and where what nobody reads is left out: of a
 * derived program one of the two. */
static bool check_device(const subject *s) {
    args out = {0};
    uint64_t executed;
    unsigned k = s->turn % engine_count;
    if (s->derived && s->turn % 2) return check_one_way(s, NATIVE_WHOLE);
    while (!engines[k].unchecked) k = (k + 1) % engine_count;
    const bool good = check_moves(s, NATIVE_WHOLE, &engines[k], &out, &executed);
    args_free(&out);
    return good && (s->derived || check_one_way(s, NATIVE_WHOLE));
}

bool check_native(const subject *s) {
    if (is_wanted(s) && s->native->device) return (s->derived && s->native_orders < 1) || check_device(s);
    if (!is_wanted(s) || (s->derived && (s->native_orders < 1 || !is_short(s)))) return true;
    const unsigned which = s->turn % (engine_count + 1);
    if (s->derived || !is_short(s)) /* some way, another for another program */
        return which == engine_count ? check_one_way(s, NATIVE_WHOLE) : check_engine(s, NATIVE_WHOLE, &engines[which]);
    for (int way = 0; way < (are_few(s) ? NATIVE_WAYS : 1); way++) {
        if (!s->native->way[way] || !is_its_turn(s, way)) continue;
        for (unsigned k = 0; k < engine_count; k++)
            if (is_paired(s, way, k) && !check_engine(s, way, &engines[k])) return false;
        if (is_paired(s, way, 0) && !check_one_way(s, way)) return false;
        if (is_paired(s, way, 1) && !check_exact_natively(s, way)) return false;
    }
    return true;
}

bool check_native_exactly(const subject *s) {
    return !is_wanted(s) || s->native->device || check_exact_natively(s, NATIVE_WHOLE);
}

/* Unchecked, anything may come out, but nothing may break. What fails nevertheless, by a check that is not dropped, fails
 * alike, in the same state: so does a group of instances of which one fails. */
static bool run_unchecked(const subject *s, rvm_status expected, int way) {
    const engine *e = &engines[1];
    rvm_options o = engine_options(s, e);
    pair x;
    bool good = true;
    if (!o.fuel) o.fuel = 10000000;
    if (pair_open(&x, s, way, e, o) && !x.side[NATIVE].status) {
        for (int k = 0; k < SIDES; k++) go(&x, &x.side[k], false);
        const bool fails = expected == RVM_ERR_DOMAIN && x.side[INTERPRETED].status == expected;
        if (fails) good = same(&x, "to the failure") && both(&x, true, "back from it");
        if (!x.side[NATIVE].status) go(&x, &x.side[NATIVE], true);
    }
    sides_close(x.side);
    return good;
}

static bool check_failing(const subject *s, int way) {
    const engine *e = &engines[0];
    pair x;
    rvm_status expected = RVM_OK;
    bool good = pair_open(&x, s, way, e, engine_options(s, e)) && same(&x, "bind");
    const side *i = &x.side[INTERPRETED], *n = &x.side[NATIVE];
    if (!good || n->status) goto done;
    for (int k = 0; k < SIDES; k++) go(&x, &x.side[k], false);
    expected = i->status;
    if (!stopped(i->status))
        good = same(&x, "to the failure") && both(&x, true, "back from it") && both(&x, false, "to the failure again");
    else if (i->status != n->status)
        good = report_fail(s->rep, "natively: expected %s, got %s", rvm_status_name(i->status), rvm_status_name(n->status));
done:
    sides_close(x.side);
    return good && run_unchecked(s, expected, way);
}

bool check_native_failure(const subject *s) {
    for (int way = 0; is_wanted(s) && way < NATIVE_WAYS; way++)
        if (s->native->way[way] && !check_failing(s, way)) return false;
    return true;
}

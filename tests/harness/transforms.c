/* transforms.c: derived functions against the modes of the machine, bit for bit, and as programs of their own.
 *
 *     f'inv (y)          against rvm_uncall      f'adj (y, y_b)   against rvm_sweep
 *     f'tan (x, x_d)     against rvm_tangent     f'grad (x, x_b)  against rvm_gradient
 *
 * The first of these also go there and back in every engine, and round trips of their program; then the same is asked of the
 * derivatives of each, up to the order of the subject as long as runs are short.
 *
 * Where a call leaves something on a trail or on the stack, its outputs alone do not say where it began: then f'inv and
 * f'adj must fail as the modes do, and f'grad is what runs them.
 */
#include "harness.h"
#include "program.h"
#include "transform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND_ORDER = 20000, THIRD_ORDER = 600 }; /* instructions of the run of which derivatives are still taken */

typedef struct derivation {
    const subject *s;
    uint8_t active[RVM_MAX_PARAMS + 1];
    args x, y, v, w; /* inputs; outputs; inputs with tangents; inputs with seeds */
    uint64_t instructions;
    bool left; /* something on a trail or on the stack */
} derivation;

/* ---- arguments: each active one becomes two ---- */

static args interleave(const args *a, const uint8_t *active) {
    args list = {0, calloc(2 * a->n + 1, sizeof *list.a)};
    if (!list.a) abort();
    for (uint32_t i = 0; i < a->n; i++) {
        rvm_arg *value = &list.a[list.n++], *shadow = value + 1;
        *value = a->a[i];
        if (!active[i]) continue;
        *shadow = a->a[i];
        shadow->value = a->a[i].shadow;
        shadow->data = a->a[i].shadow_data;
        list.n++;
    }
    args copy = args_copy(&list);
    free(list.a);
    for (uint32_t i = 0; i < copy.n; i++) copy.a[i].active = false;
    return copy;
}

/* The other way, in the shape of `like`. */
static args separate(args *derived, const args *like, const uint8_t *active) {
    args a = args_copy(like);
    uint32_t at = 0;
    for (uint32_t i = 0; i < a.n; at += active[i++] ? 2 : 1)
        for (size_t k = 0; k < arg_count(&a.a[i]); k++) {
            *arg_value(&a.a[i], k) = *arg_value(&derived->a[at], k);
            if (active[i]) *arg_shadow(&a.a[i], k) = *arg_value(&derived->a[at + 1], k);
        }
    return a;
}

/* ---- one transform ---- */

typedef rvm_status (*run_fn)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *);

static rvm_status run(const rvm_program *p, int64_t fn, run_fn f, const subject *s, args *a, rvm_stats *stats,
                      rvm_error *e) {
    rvm_machine *m = NULL;
    rvm_status st = rvm_machine_new(p, &s->options, &m, e);
    if (!st) st = f(m, fn, a->a, a->n, e);
    if (!st && stats) rvm_machine_stats(m, stats);
    rvm_machine_free(m);
    return st;
}

static const struct {
    const char *tick;
    run_fn mode;
} kinds[RVM_TRANSFORM_COUNT] = {[RVM_INVERSE] = {"'inv", rvm_uncall},
                                [RVM_TANGENT_OF] = {"'tan", rvm_tangent},
                                [RVM_ADJOINT] = {"'adj", rvm_sweep},
                                [RVM_GRADIENT_OF] = {"'grad", rvm_gradient}};

/* What the mode starts from: the outputs with the seeds for an adjoint, and so on. */
static args inputs(derivation *d, rvm_transform kind) {
    if (kind == RVM_INVERSE) return args_copy(&d->y);
    args a = args_copy(kind == RVM_TANGENT_OF ? &d->v : &d->w);
    for (uint32_t i = 0; kind == RVM_ADJOINT && i < a.n; i++)
        for (size_t k = 0; k < arg_count(&a.a[i]); k++) *arg_value(&a.a[i], k) = *arg_value(&d->y.a[i], k);
    return a;
}

static bool check_derived(const subject *s, int order);

/* Values of the size m come back as near to 0 as the tolerance of m is. */
static double size_of(args *a) {
    double most = 1;
    for (uint32_t i = 0; i < a->n; i++)
        for (size_t k = 0; a->a[i].type != RVM_I64 && k < arg_count(&a->a[i]); k++) {
            most = fmax(most, fabs(arg_real(a->a[i].type, *arg_value(&a->a[i], k))));
            if (a->a[i].active) most = fmax(most, fabs(arg_real(a->a[i].type, *arg_shadow(&a->a[i], k))));
        }
    return most;
}

/* Of tangents, whose terms a program adds in another order; to be multiplied by their size. */
static double rounding(const args *a) {
    for (uint32_t i = 0; i < a->n; i++)
        if (a->a[i].type == RVM_F32) return 1e-4;
    return 1e-10;
}

/* The derived program by itself: there and back, round trips, and its own derivatives. */
static bool check_as_program(derivation *d, rvm_transform kind, const rvm_program *p, uint32_t fn, args *in, int order) {
    subject t = *d->s;
    args out = {0};
    t.program = p;
    t.fn = fn;
    t.in = in;
    t.inverse = false;
    t.derived = t.few = true;
    t.turn += (unsigned)kind;
    t.active = NULL;
    if (!d->s->derived) t.restore *= fmax(size_of(&d->x), size_of(&d->y)) * (rounding(&d->x) > 1e-10 ? F32_COARSER : 1);
    if (t.no_undoing && order == 1) report_skip(t.rep, "undoing derivatives: %s", t.no_undoing);
    const bool natively =
        t.turn / (engine_count + 1) % 2; /* of all engines every other time: compiling takes most of the time */
    bool good = order > 1 ||
                ((t.no_undoing || check_run(&t, &out)) && (!natively || check_native(&t)) && check_round_trips(p, t.rep));
    args_free(&out);
    return good && check_derived(&t, order + 1);
}

/* What was left cannot be taken back. */
static bool must_fail(const derivation *d, const char *what, rvm_status st) {
    d->s->rep->checks++;
    if (st == RVM_ERR_TRAIL || st == RVM_ERR_STACK) return true;
    if (st == RVM_ERR_UNSUPPORTED && rvm_program_by_hand(d->s->program, (uint32_t)d->s->fn, RVM_ADJOINT)) return true;
    return report_fail(d->s->rep, "%s: expected TRAIL or STACK from the outputs alone, got %s", what, rvm_status_name(st));
}

/* A sweep and the program that is one drop as many gradients, unless the function computes gradients itself. */
static bool same_erased(derivation *d, const char *what, const rvm_program *p, uint32_t fn, const args *in) {
    subject t = *d->s;
    args x = args_copy(&d->x), a = args_copy(in), b = inputs(d, RVM_ADJOINT);
    rvm_error e = {0};
    rvm_stats itself = {0}, program = {0}, sweep = {0};
    t.options.trail = RVM_TRAIL_OFF;
    rvm_status st = run(t.program, t.fn, rvm_call, &t, &x, &itself, &e);
    if (!st) st = run(p, fn, rvm_call, &t, &a, &program, &e);
    if (!st) st = run(t.program, t.fn, rvm_sweep, &t, &b, &sweep, &e);
    args_free(&x);
    args_free(&a);
    args_free(&b);
    d->s->rep->checks++;
    if (st || itself.bits_shadows || program.bits_shadows == sweep.bits_shadows) return report_ok(d->s->rep, what, st, &e);
    return report_fail(d->s->rep, "%s: expected %llu bits of gradients to be erased, as by the sweep, got %llu", what,
                       (unsigned long long)sweep.bits_shadows, (unsigned long long)program.bits_shadows);
}

/* ---- in exact runs ---- */

static rvm_status derive_exactly(const derivation *d, rvm_transform kind, const uint8_t *active, rvm_program **p,
                                 uint32_t *fn, rvm_error *e) {
    rvm_status st = rvm__program_copy(d->s->program, &d->s->program->al, p, e);
    if (st) return st;
    (*p)->exact = true;
    st = rvm__transform_declare(*p, (uint32_t)d->s->fn, kind, active, fn, e);
    return st ? st : rvm__transform_resolve(*p, e);
}

static bool check_exactly_above(const subject *s, rvm_transform kind, int order);

/* Whether an exact run may end so: it refuses, or rounding leaves something over where a computation of its own goes back,
 * as what f uncalls does, and an adjoint alone; or a fix has no room. f'grad takes back what f did. */
static bool may_end(rvm_transform kind, rvm_status st, const rvm_error *e) {
    if (st == RVM_ERR_UNSUPPORTED || st == RVM_ERR_DEPTH || st == RVM_ERR_OVERFLOW) return true;
    if (kind == RVM_GRADIENT_OF) return false;
    if (kind != RVM_TANGENT_OF) return true;
    return st == RVM_ERR_RELEASE || st == RVM_ERR_STACK || (st == RVM_ERR_TRAIL && strstr(e->message, "must be 0"));
}

/* What a derivative leaves is what the mode leaves; its own run takes back every bit. */
static bool check_exactly(derivation *d, rvm_transform kind, const uint8_t *active, const args *want, args *in, int order) {
    subject t = *d->s;
    rvm_error e = {0};
    rvm_program *p = NULL;
    uint32_t fn = 0;
    args by_mode = args_copy(want), out = args_copy(in), got = {0};
    rvm_status st = RVM_OK;
    const rvm_status derived = derive_exactly(d, kind, active, &p, &fn, &e);
    const bool refused = derived == RVM_ERR_UNSUPPORTED && strstr(e.message, "cannot be set aside");
    if (refused) report_skip(t.rep, "derived for exact runs: %s", e.message);
    bool good = refused || report_ok(t.rep, "derived for exact runs", derived, &e);
    if (refused) goto done;
    t.options.exact = true;
    if (good) st = run(p, fn, rvm_call, &t, &out, NULL, &e);
    rvm_status mode = RVM_ERR_UNSUPPORTED;
    if (good && !st && (kind == RVM_GRADIENT_OF || kind == RVM_TANGENT_OF)) {
        mode = run(d->s->program, d->s->fn, kinds[kind].mode, &t, &by_mode, NULL, &e);
        good = mode == RVM_ERR_OVERFLOW || report_ok(t.rep, "by mode", mode, &e); /* a program adds other terms first */
    }
    if (good && !mode) {
        got = separate(&out, &by_mode, active);
        const char *name = rvm_program_function_name(p, fn);
        good = good && args_agree(t.rep, name, d->s->program, d->s->fn, &by_mode, &got, COMPARE_BITS, 0) &&
               args_agree(t.rep, name, d->s->program, d->s->fn, &by_mode, &got, COMPARE_REAL_FIX | COMPARE_SHADOWS,
                          rounding(&by_mode) * size_of(&by_mode));
    }
    if (good && st && may_end(kind, st, &e))
        report_skip(t.rep, "exactly, %s: %s", rvm_program_function_name(p, fn), e.message);
    else
        good = good && report_ok(t.rep, "exactly", st, &e);
    t.options.exact = false;
    t.program = p;
    t.fn = fn;
    t.in = in;
    t.inverse = false;
    t.derived = t.few = true;
    t.active = NULL;
    const bool natively = d->s->native_orders >= 1 && is_short(&t) && (t.turn + (unsigned)kind) % RVM_TRANSFORM_COUNT == 0;
    if (good && !st) good = check_exact(&t, &out) && (!natively || check_native_exactly(&t)); /* one of them */
    t.options.exact = true;
    if (good && !st && order < d->s->orders && !t.no_derivatives) good = check_exactly_above(&t, kind, order + 1);
done:
    args_free(&by_mode);
    args_free(&out);
    args_free(&got);
    rvm_program_free(p);
    return good;
}

static bool check_kind(derivation *d, rvm_transform kind, int order) {
    const subject *s = d->s;
    rvm_program *p = NULL;
    rvm_error e = {0};
    uint32_t fn;
    char what[300];
    uint8_t none[RVM_MAX_PARAMS + 1] = {0}, *active = kind == RVM_INVERSE ? none : d->active;
    snprintf(what, sizeof what, "%s%s", rvm_program_function_name(s->program, (uint32_t)s->fn), kinds[kind].tick);
    rvm_status st = rvm_program_transform(s->program, (uint32_t)s->fn, kind, active, &p, &fn, &e);
    if (!report_ok(s->rep, what, st, &e)) return false;
    bool good = true;
    args want = inputs(d, kind), in = interleave(&want, active), got = args_copy(&in), back = {0};
    st = run(s->program, s->fn, kinds[kind].mode, s, &want, NULL, &e);
    if (d->left && (kind == RVM_INVERSE || kind == RVM_ADJOINT)) {
        good = must_fail(d, what, st) && must_fail(d, what, run(p, fn, rvm_call, s, &got, NULL, &e));
        goto done;
    }
    good = report_ok(s->rep, what, st, &e) && report_ok(s->rep, what, run(p, fn, rvm_call, s, &got, NULL, &e), &e);
    if (good) {
        back = separate(&got, &want, active);
        /* Shadows appear as -0 in sweeps that are programs. */
        int how = kind == RVM_TANGENT_OF ? COMPARE_REAL_FIX : COMPARE_BITS | COMPARE_ZEROS;
        good = args_agree(s->rep, what, s->program, s->fn, &want, &back, COMPARE_BITS, 0) &&
               (kind == RVM_INVERSE || args_agree(s->rep, what, s->program, s->fn, &want, &back, how | COMPARE_SHADOWS,
                                                  rounding(&want) * size_of(&want)));
    }
    if (good && order == 1 && kind == RVM_ADJOINT && !s->no_erased) good = same_erased(d, what, p, fn, &in);
    good = good && check_as_program(d, kind, p, fn, &in, order);
    const bool by_hand = rvm_program_by_hand(s->program, (uint32_t)s->fn, RVM_ADJOINT);
    if (good && order == 1 && !by_hand && runs_exactly(s)) {
        args first = inputs(d, kind);
        good = check_exactly(d, kind, active, &first, &in, order);
        args_free(&first);
    }
done:
    args_free(&want);
    args_free(&in);
    args_free(&got);
    args_free(&back);
    rvm_program_free(p);
    return good;
}

/* Inputs and outputs of the function, and what the run takes. */
static bool run_primal(derivation *d) {
    const subject *s = d->s;
    rvm_error e = {0};
    rvm_stats stats = {0};
    d->x = args_copy(s->in);
    if (s->inverse && !report_ok(s->rep, "inputs", run(s->program, s->fn, rvm_uncall, s, &d->x, NULL, &e), &e)) return false;
    d->y = args_copy(&d->x);
    if (!report_ok(s->rep, "outputs", run(s->program, s->fn, rvm_call, s, &d->y, &stats, &e), &e)) return false;
    d->instructions = stats.forward + stats.backward + stats.swept;
    d->left = stats.trail_cells || stats.stack_left;
    return true;
}

/* *any: some parameter is active. */
static bool give_shadows(derivation *d, uint64_t seed, bool *any) {
    const subject *s = d->s;
    rvm_error e = {0};
    rng r = {seed};
    for (uint32_t i = 0; i < d->x.n; i++) d->active[i] = d->x.a[i].type != RVM_I64 && (!s->active || s->active[i]);
    if (!report_ok(s->rep, "active parameters", rvm_program_close_active(s->program, (uint32_t)s->fn, d->active, &e), &e))
        return false;
    bool *only = calloc(d->x.n + 1, sizeof *only);
    for (uint32_t i = 0; i < d->x.n; i++) *any = (only[i] = d->active[i]) || *any;
    args_activate(&d->x, only);
    free(only);
    d->v = args_copy(&d->x);
    d->w = args_copy(&d->x);
    args_random_shadows(&d->v, &r);
    args_random_shadows(&d->w, &r);
    return true;
}

static void derivation_free(derivation *d) {
    args_free(&d->x);
    args_free(&d->y);
    args_free(&d->v);
    args_free(&d->w);
}

/* Of a function that was derived for exact runs: the tangent, and of a tangent the gradient. */
static bool check_exactly_above(const subject *s, rvm_transform kind, int order) {
    derivation d = {.s = s};
    bool any = false, good = run_primal(&d) && (d.instructions > SECOND_ORDER || give_shadows(&d, 98, &any));
    for (int k = 0; good && any && k < RVM_TRANSFORM_COUNT; k++) {
        if (k != RVM_TANGENT_OF && (k != RVM_GRADIENT_OF || kind != RVM_TANGENT_OF)) continue;
        args want = inputs(&d, (rvm_transform)k), in = interleave(&want, d.active);
        good = check_exactly(&d, (rvm_transform)k, d.active, &want, &in, order);
        args_free(&want);
        args_free(&in);
    }
    derivation_free(&d);
    return good;
}

/* All transforms of a function of order - 1 derivations. */
static bool check_derived(const subject *s, int order) {
    static const uint64_t most[] = {0, UINT64_MAX, SECOND_ORDER, THIRD_ORDER};
    derivation d = {.s = s};
    if (order > s->orders) return true;
    bool any = false, good = run_primal(&d);
    if (!good) goto done;
    if (d.instructions > most[order]) {
        if (order == 2)
            report_skip(s->rep, "second order: %llu instructions are too many", (unsigned long long)d.instructions);
        goto done;
    }
    good = give_shadows(&d, (uint64_t)order + 99, &any);
    for (int k = 0; good && k < RVM_TRANSFORM_COUNT; k++)
        if (k == RVM_INVERSE || (any && !s->no_derivatives)) good = check_kind(&d, (rvm_transform)k, order);
done:
    derivation_free(&d);
    return good;
}

bool check_transforms(const subject *s) {
    if (s->no_transforms) {
        report_skip(s->rep, "transforms: %s", s->no_transforms);
        return true;
    }
    return check_derived(s, 1);
}

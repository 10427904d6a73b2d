/* native.c: --engine=jit: runs and derivatives as native code; auto: runs, once that pays; --dump: that code.
 *
 * Where there is no native code the interpreter runs, which gives the same, and --verbose says why. A derivative is the run
 * of a program: of f'tan; of f, then of f'adj from its outputs, or f'grad where the outputs alone do not say what the run
 * did. If that fails the interpreter runs, too, from the start, since its errors speak of f. With auto a gradient goes so
 * where f takes long; else the interpreter sweeps. */
#include "tool.h"
#include "isa.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void say(const tool *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const tool *t, const char *format, ...) {
    va_list list;
    char title[32];
    if (!t->o.verbose) return;
    command_title(t->command, title);
    fprintf(stderr, "%s: ", title);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

static void on_notice(void *userdata, const rvm_jit_notice *n) {
    char way[480];
    const int at = snprintf(way, sizeof way, n->line ? "%s, from the loop at line %u on" : "%s",
                            n->direction < 0 ? "backward" : "forward", n->line);
    if (n->lengths[0]) snprintf(way + at, sizeof way - (size_t)at, ", for %s", n->lengths);
    if (n->cache) say(userdata, "the cache: %s", n->cache);
    if (n->blocks)
        say(userdata, "%s, %s: %u of %u parallel blocks may run in threads%s%s", n->function, way, n->in_threads, n->blocks,
            n->serial[0] ? "; " : "", n->serial);
    if (n->status)
        say(userdata, "%s, %s, is interpreted: %s", n->function, way, n->reason);
    else if (n->cached)
        say(userdata, "%s, %s: %zu bytes of native code from the cache; %.2f ms", n->function, way, n->code_size,
            1e3 * n->seconds[RVM_JIT_LINK]);
    else
        say(userdata,
            "%s, %s: %zu bytes of native code; %.1f ms: lowering %.1f, optimising %.1f, emitting %.1f, linking %.1f",
            n->function, way, n->code_size,
            1e3 * (n->seconds[RVM_JIT_LOWER] + n->seconds[RVM_JIT_OPTIMISE] + n->seconds[RVM_JIT_EMIT] +
                   n->seconds[RVM_JIT_LINK]),
            1e3 * n->seconds[RVM_JIT_LOWER], 1e3 * n->seconds[RVM_JIT_OPTIMISE], 1e3 * n->seconds[RVM_JIT_EMIT],
            1e3 * n->seconds[RVM_JIT_LINK]);
    if (n->grouped) say(userdata, "%s, %s: parallel blocks in lanes: %u", n->function, way, n->grouped);
    if (n->single) say(userdata, "%s, %s: not in lanes: %u: %s", n->function, way, n->single, n->why_single);
}

static rvm_status open_jit(tool *t, bool tiers, rvm_error *err) {
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit_totals totals;
    o.fast_math = t->o.fast_math;
    o.tiers = tiers;
    o.cache = t->o.cache && strcmp(t->o.cache, "off") == 0 ? "" : t->o.cache;
    if (option_given(&t->o, threads)) o.threads = t->o.threads ? (unsigned)t->o.threads : RVM_JIT_ALL_THREADS;
    o.vector_math = t->o.vector_math;
    o.any_lengths = t->o.any_lengths;
    o.no_lanes = t->o.lanes && strcmp(t->o.lanes, "off") == 0;
    o.notice = on_notice;
    o.userdata = t;
    rvm_status st = rvm_jit_new(&o, &t->jit, err);
    if (st) return st;
    rvm_jit_stats(t->jit, &totals);
    const char *about = rvm_jit_about(t->jit);
    say(t, "%s, ready in %.1f ms", *about ? about : "native code for what runs long", 1e3 * totals.opening);
    return RVM_OK;
}

static bool in_tiers(const tool *t) {
    return !t->o.engine || strcmp(t->o.engine, "auto") == 0;
}

rvm_status native_open(tool *t) {
    const char *engine = t->o.engine ? t->o.engine : "auto";
    const bool tiers = in_tiers(t);
    rvm_error why = {0};
    if (t->o.threads > RVM_JIT_MAX_THREADS)
        return tool_fail(t, RVM_ERR_USAGE, "--threads is at most %u", RVM_JIT_MAX_THREADS);
    if (t->o.lanes && strcmp(t->o.lanes, "on") != 0 && strcmp(t->o.lanes, "off") != 0)
        return tool_fail(t, RVM_ERR_USAGE, "--lanes is on or off, not `%s`", t->o.lanes);
    if (strcmp(engine, "interp") == 0) return RVM_OK;
    if (!tiers && strcmp(engine, "jit") != 0)
        return tool_fail(t, RVM_ERR_USAGE, "--engine is interp, jit or auto, not `%s`", engine);
    const bool either = t->command == COMMAND_RUN || t->command == COMMAND_GRAD || t->command == COMMAND_VJP;
    if (tiers && !either) return RVM_OK;
    const rvm_status st = open_jit(t, tiers, &why);
    if (st == RVM_ERR_USAGE) t->err = why;
    if (st) say(t, "interpreted: %s", why.message);
    return st == RVM_ERR_USAGE ? st : RVM_OK;
}

rvm_status native_attach(tool *t, rvm_machine *m) {
    return t->jit ? rvm_jit_attach(t->jit, m, &t->err) : RVM_OK;
}

bool native_close(tool *t) {
    rvm_machine_free(t->derived);
    rvm_program_free(t->derived_program);
    if (t->jit && rvm_jit_busy(t->jit)) return false;
    rvm_jit_free(t->jit);
    return true;
}

/* ---- derivatives ---- */

/* The derived function, in a program of its own, for the parameters that are active, and those that depend on them, which
 * become so. */
static rvm_status derive(tool *t, rvm_transform kind, uint32_t *fn, rvm_error *err) {
    uint8_t active[RVM_MAX_PARAMS + 1] = {0};
    for (uint32_t i = 0; i < t->v.n; i++) active[i] = t->v.arg[i].active;
    rvm_status st = rvm_program_close_active(t->program, t->fn, active, err);
    for (uint32_t i = 0; !st && i < t->v.n; i++)
        if (active[i] && !t->v.arg[i].active) st = arg_activate(&t->v.arg[i], err);
    return st ? st : rvm_program_transform(t->program, t->fn, kind, active, &t->derived_program, fn, err);
}

/* Arguments of a derived function: each of `start`, and its shadow in t->v behind it. */
static rvm_status join(const tool *t, const values *start, values *to, rvm_error *err) {
    rvm_status st = RVM_OK;
    *to = (values){.arg = calloc(2 * t->v.n + 1, sizeof *to->arg)};
    if (!to->arg) return RVM_ERR_MEMORY;
    for (uint32_t i = 0; !st && i < t->v.n; i++)
        for (int shadow = 0; !st && shadow <= t->v.arg[i].active; shadow++) {
            const rvm_arg *from = shadow ? &t->v.arg[i] : &start->arg[i];
            rvm_arg *a = &to->arg[to->n++];
            *a = (rvm_arg){.type = from->type, .ndim = from->ndim};
            if (a->ndim) st = arg_allocate(a, from->shape, err);
            for (size_t k = 0, n = st ? 0 : arg_count(a); k < n; k++)
                arg_set(a, k, shadow ? arg_get_shadow(from, k) : arg_get(from, k));
        }
    return st;
}

/* The other way. */
static void part(tool *t, const values *from) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < t->v.n; i++) {
        const rvm_arg *value = &from->arg[at], *shadow = value + 1;
        for (size_t k = 0, n = arg_count(value); k < n; k++) {
            arg_set(&t->v.arg[i], k, arg_get(value, k));
            if (t->v.arg[i].active) arg_set_shadow(&t->v.arg[i], k, arg_get(shadow, k));
        }
        at += t->v.arg[i].active ? 2 : 1;
    }
}

/* Runs the derived function; nothing of it is ever run back. */
static rvm_status run_derived(tool *t, rvm_transform kind, const values *start, rvm_error *err) {
    values joined = {0};
    uint32_t fn;
    rvm_status st = derive(t, kind, &fn, err);
    if (!st && (st = tool_machine_for(t, t->derived_program, true, &t->derived))) *err = t->err;
    if (!st) st = join(t, start, &joined, err);
    if (!st) {
        progress_begin(&t->progress, t->derived);
        st = rvm_call(t->derived, fn, joined.arg, joined.n, err);
        progress_end(&t->progress);
    }
    if (!st) part(t, &joined);
    for (uint32_t i = 0; i < joined.n; i++) arg_free(&joined.arg[i]);
    free(joined.arg);
    return st;
}

/* Whether that is all, *done with its status; else why it will be interpreted. */
static bool finish(tool *t, rvm_status st, const rvm_error *why, rvm_status *done) {
    t->err = *why;
    *done = st;
    if (!st || st == RVM_ERR_CANCELLED) return true;
    say(t, "the derivative is interpreted: %s", why->message);
    rvm_machine_free(t->derived);
    rvm_program_free(t->derived_program);
    t->derived = NULL;
    t->derived_program = NULL;
    return false;
}

static bool wanted(const tool *t) {
    const char *why = t->o.undo      ? "native code does not go forward again after a sweep (--undo)"
                      : t->o.exact   ? "native code keeps no record of what rounding loses (--exact)"
                      : t->o.profile ? "native code does not count by opcode (--profile)"
                                     : NULL;
    if (t->jit && why) say(t, "the derivative is interpreted: %s", why);
    return t->jit && !why;
}

bool native_tangent(tool *t, rvm_status *done) {
    rvm_error why = {0};
    return wanted(t) && finish(t, run_derived(t, RVM_TANGENT_OF, &t->v, &why), &why, done);
}

bool native_gradient(tool *t, values *after, rvm_status *done) {
    enum { LONG = 1 << 22 }; /* some 10 ms; making the program that sweeps takes one or so */
    rvm_error why = {0};
    rvm_stats s;
    if (!wanted(t)) return false;
    rvm_status st = values_copy(after, &t->v, &why);
    if (st) return finish(t, st, &why, done);
    progress_begin(&t->progress, t->machine);
    const struct timespec begin = t->progress.begin;
    st = rvm_call(t->machine, t->fn, after->arg, after->n, &why);
    progress_end(&t->progress);
    rvm_machine_stats(t->machine, &s);
    const bool left = s.trail_cells || s.stack_left, brief = in_tiers(t) && s.forward < LONG;
    if (brief && !st)
        st = rvm__fail(&why, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "it takes only %" PRIu64 " instructions", s.forward);
    if (!st) st = run_derived(t, left ? RVM_GRADIENT_OF : RVM_ADJOINT, left ? &t->v : after, &why);
    t->progress.begin = begin;
    if (!finish(t, st, &why, done)) {
        rvm_machine_unbind(t->machine); /* which gives scalars back */
        values_free(after);
        rvm_machine_stats_reset(t->machine);
        return false;
    }
    return true;
}

/* ---- --dump ---- */

/* The parameter that an entry of a list names, as x or x[1]; -1: none. */
static int64_t named(const tool *t, const char *name, size_t length) {
    rvm_param_info info;
    for (uint32_t i = 0; rvm_program_param(t->program, t->fn, i, &info) == RVM_OK; i++)
        if (strlen(info.name) == length && strncmp(info.name, name, length) == 0) return i;
    return -1;
}

/* f'grad for what --of and --wrt name: all reals if they do not say. */
static rvm_status gradient_program(tool *t) {
    uint8_t active[RVM_MAX_PARAMS + 1] = {0};
    const char *const lists[] = {t->o.of, t->o.wrt};
    for (int k = 0; k < 2; k++)
        for (const char *s = lists[k]; s && *s; s += strcspn(s, ","), s += *s == ',') {
            const int64_t i = named(t, s, strcspn(s, ",["));
            if (i < 0) return tool_fail(t, RVM_ERR_ARGUMENT, "there is no parameter `%.*s`", (int)strcspn(s, ","), s);
            active[i] = 1;
        }
    rvm_status st = rvm_program_close_active(t->program, t->fn, active, &t->err);
    if (!st)
        st = rvm_program_transform(t->program, t->fn, RVM_GRADIENT_OF, t->o.wrt ? active : NULL, &t->derived_program, &t->fn,
                                   &t->err);
    return st;
}

rvm_status native_dump(tool *t) {
    const bool ir = strcmp(t->o.dump, "ir") == 0;
    int first;
    rvm_options o;
    if (!ir && strcmp(t->o.dump, "asm") != 0) return tool_fail(t, RVM_ERR_USAGE, "--dump is ir or asm, not `%s`", t->o.dump);
    if (t->o.json) return tool_fail(t, RVM_ERR_USAGE, "--dump prints text: not with --json");
    rvm_status st = tool_choose(t, &first);
    if (!st) st = tool_options(t, &o);
    if (!st) st = open_jit(t, false, &t->err);
    if (!st && t->command == COMMAND_GRAD) st = gradient_program(t);
    if (st) return st;
    const rvm_program *p = t->derived_program ? t->derived_program : t->program;
    t->chosen = false; /* t->fn may be another program's */
    return rvm_jit_dump(t->jit, p, t->fn, t->o.backward ? -1 : 1, &o, ir ? RVM_JIT_IR : RVM_JIT_ASSEMBLY, stdout, &t->err);
}

/* check.c: one call through every engine, in both directions, whole and by single steps. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

const engine engines[] = {
    {"checked", .unchecked = false}, {"unchecked", .unchecked = true}, {"trust", .unchecked = true, .trust = true}};
const engine exact_engine = {"exact", .exact = true};
const unsigned engine_count = sizeof engines / sizeof *engines;
enum { STEP_LIMIT = 400000 };

subject subject_new(const rvm_program *p, int64_t fn, args *in, report *r) {
    return (subject){
        .program = p, .fn = fn, .in = in, .options = rvm_options_default(), .restore = 1e-8, .orders = 2, .rep = r};
}

rvm_options engine_options(const subject *s, const engine *e) {
    rvm_options o = s->options;
    o.unchecked = e->unchecked;
    o.trust = e->trust;
    o.exact |= e->exact;
    if (e->discards) o.trail = RVM_TRAIL_OFF;
    return o;
}

bool takes_part(const subject *s, unsigned number) {
    return !s->few || number == s->turn % engine_count;
}

/* A machine bound to a copy of the inputs (or of other values). */
typedef struct session {
    const subject *s;
    rvm_machine *m;
    args a;
    rvm_error e;
} session;

static bool session_open(session *x, const subject *s, const engine *e, args *values) {
    rvm_options o = engine_options(s, e);
    *x = (session){.s = s, .a = args_copy(values)};
    return report_ok(s->rep, "machine", rvm_machine_new(s->program, &o, &x->m, &x->e), &x->e);
}

static void session_close(session *x) {
    rvm_machine_free(x->m);
    args_free(&x->a);
}

static rvm_status bind(session *x, bool at_end) {
    return rvm_machine_bind(x->m, x->s->fn, x->a.a, x->a.n, RVM_PRIMAL, at_end, &x->e);
}

static rvm_status go(session *x, bool backward) {
    return backward ? rvm_machine_backward(x->m, &x->e) : rvm_machine_forward(x->m, &x->e);
}

/* Steps until an end is reached or one fails. */
static rvm_status step_all(session *x, bool backward, uint64_t *steps) {
    bool done = false;
    rvm_status st = RVM_OK;
    for (*steps = 0; !done && st == RVM_OK && *steps < STEP_LIMIT; ++*steps)
        st = rvm_machine_step(x->m, backward ? -1 : 1, &done, &x->e);
    return st == RVM_OK && !done ? RVM_ERR_FUEL : st;
}

/* Instructions executed in the first direction. */
static uint64_t count(const session *x) {
    rvm_stats st;
    rvm_machine_stats(x->m, &st);
    return x->s->inverse ? st.backward : st.forward;
}

static bool ok(session *x, const char *what, rvm_status st) {
    return report_ok(x->s->rep, what, st, &x->e);
}

static bool same(session *x, const char *what, args *expected, int how) {
    if (x->s->derived) how |= COMPARE_REAL_FIX; /* a fix shadow comes from f64 ones, and back only within their rounding */
    return args_agree(x->s->rep, what, x->s->program, x->s->fn, expected, &x->a, how, x->s->restore);
}

/* Whether the call overwrote something, so that its outputs alone do not say where it began. */
bool left_behind(const rvm_machine *m) {
    rvm_stats st;
    rvm_machine_stats(m, &st);
    return st.trail_cells > 0 || st.stack_left > 0;
}

/* The whole call in one piece, and the inverse call from its outputs. */
static bool check_calls(const subject *s, const engine *e, args *out) {
    session x;
    bool good = session_open(&x, s, e, s->in);
    rvm_status (*there)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *) = s->inverse ? rvm_uncall : rvm_call;
    rvm_status (*back)(rvm_machine *, int64_t, rvm_arg *, uint32_t, rvm_error *) = s->inverse ? rvm_call : rvm_uncall;
    good = good && ok(&x, e->name, there(x.m, s->fn, x.a.a, x.a.n, &x.e));
    if (good && !out->a)
        *out = args_copy(&x.a);
    else
        good = good && same(&x, "engines disagree", out, COMPARE_BITS);
    if (!good || left_behind(x.m)) goto done; /* the inverse call begins without it; check_turn goes back */
    good = good && ok(&x, "inverse call", back(x.m, s->fn, x.a.a, x.a.n, &x.e));
    good = good && same(&x, "inverse call: inputs not restored", s->in, 0);
done:
    session_close(&x);
    return good;
}

/* There and back on one bound machine. */
static bool check_turn(const subject *s, const engine *e, args *restored, uint64_t *executed) {
    session x;
    bool good = session_open(&x, s, e, s->in) && ok(&x, "bind", bind(&x, s->inverse));
    good = good && ok(&x, e->name, go(&x, s->inverse));
    *executed = good ? count(&x) : 0;
    good = good && ok(&x, "back to the start", go(&x, !s->inverse));
    if (good) rvm_machine_unbind(x.m);
    good = good && same(&x, "back to the start: inputs not restored", s->in, 0);
    if (good) *restored = args_copy(&x.a);
    session_close(&x);
    return good;
}

/* The same by single steps: as many instructions as in the whole run, and the same bits at both ends. */
static bool check_steps(const subject *s, const engine *e, args *out, args *restored, uint64_t executed) {
    session x;
    uint64_t steps;
    bool good = session_open(&x, s, e, s->in) && ok(&x, "bind", bind(&x, s->inverse));
    good = good && ok(&x, "stepping", step_all(&x, s->inverse, &steps));
    if (good && count(&x) != executed)
        good = report_fail(s->rep, "%s: stepping counted %llu instructions, the run %llu", e->name,
                           (unsigned long long)count(&x), (unsigned long long)executed);
    good = good && ok(&x, "stepping back", step_all(&x, !s->inverse, &steps));
    if (good) rvm_machine_unbind(x.m);
    good = good && same(&x, "stepping back", restored, COMPARE_BITS);
    session_close(&x);

    good = session_open(&x, s, e, s->in) && good && ok(&x, "bind", bind(&x, s->inverse));
    good = good && ok(&x, "stepping", step_all(&x, s->inverse, &steps));
    if (good) rvm_machine_unbind(x.m);
    good = good && same(&x, "stepping", out, COMPARE_BITS);
    session_close(&x);
    return good;
}

/* Back and forth at random, then on to the end. */
static bool check_walk(const subject *s, const engine *e, args *out, uint64_t executed) {
    session x;
    rng r = {executed};
    bool good = session_open(&x, s, e, s->in) && ok(&x, "bind", bind(&x, s->inverse)), done = false;
    for (int turn = 0; good && turn < 20; turn++) {
        bool backward = (turn % 2 != 0) != s->inverse;
        uint32_t n = rng_below(&r, 2 + (uint32_t)(executed / (turn % 2 ? 8 : 4)));
        for (done = false; good && !done && n > 0; n--)
            good = ok(&x, "walk", rvm_machine_step(x.m, backward ? -1 : 1, &done, &x.e));
    }
    good = good && ok(&x, "walk: to the end", go(&x, s->inverse));
    if (good) rvm_machine_unbind(x.m);
    good = good && same(&x, "walk", out, 0);
    session_close(&x);
    return good;
}

/* Some steps towards the end, some back, some on again; an error ends it. */
static void wander(session *x, uint64_t executed) {
    for (int turn = 0; turn < 3; turn++) {
        const uint64_t n = executed / (turn == 1 ? 5 : 3) + 1;
        bool done = false;
        for (uint64_t k = 0; k < n && k < STEP_LIMIT && !done; k++)
            if (rvm_machine_step(x->m, (turn == 1) != x->s->inverse ? -1 : 1, &done, &x->e)) return;
    }
}

static bool refuses_exactly(rvm_status status) {
    return status == RVM_ERR_RELEASE || status == RVM_ERR_STACK || status == RVM_ERR_TRAIL || status == RVM_ERR_UNSUPPORTED;
}

bool runs_exactly(const subject *s) {
    session x;
    const bool good = session_open(&x, s, &exact_engine, s->in) && !bind(&x, s->inverse) && !go(&x, s->inverse);
    session_close(&x);
    return good;
}

/* With every bit restored: from the end, and from where some steps led, if only to where the run was refused. */
bool check_exact(const subject *s, args *out) {
    session x;
    bool good = session_open(&x, s, &exact_engine, s->in) && ok(&x, "exact: bind", bind(&x, s->inverse));
    const rvm_status there = good ? go(&x, s->inverse) : RVM_OK;
    const bool refused = refuses_exactly(there);
    if (refused && !s->derived) report_skip(s->rep, "exact outputs: %s", x.e.message);
    if (good && !refused) good = ok(&x, "exact", there) && same(&x, "exact outputs", out, 0);
    const uint64_t executed = good ? count(&x) : 0;
    good = good && ok(&x, "exact: back to the start", go(&x, !s->inverse));
    if (good) wander(&x, executed);
    good = good && ok(&x, "exact: back to the start from within", go(&x, !s->inverse));
    if (good) rvm_machine_unbind(x.m);
    good = good && same(&x, "exact: inputs not restored", s->in, COMPARE_BITS);
    session_close(&x);
    return good;
}

bool check_same(const subject *s, args *out) {
    bool good = true;
    for (unsigned k = 0; good && k < engine_count; k++) good = check_calls(s, &engines[k], out);
    return good;
}

bool check_run(const subject *s, args *out) {
    bool good = true;
    *out = (args){0};
    for (unsigned k = 0; good && k < engine_count; k++) {
        const engine *e = &engines[k];
        args restored = {0};
        uint64_t executed;
        good = check_calls(s, e, out);
        if (!takes_part(s, k)) continue;
        good = good && check_turn(s, e, &restored, &executed);
        if (good && executed < STEP_LIMIT)
            good = check_steps(s, e, out, &restored, executed) && check_walk(s, e, out, executed);
        else if (good && k == 0)
            report_skip(s->rep, "single steps: %llu instructions are too many", (unsigned long long)executed);
        args_free(&restored);
    }
    good = good && (s->derived || (check_profile(s) && check_travel(s))) && check_exact(s, out) && check_dead(s, out) &&
           check_folded(s, out);
    if (!good) args_free(out);
    return good;
}

/* ---- failures ---- */
static bool says(session *x, rvm_status got, rvm_status code, uint32_t line, char *const *texts) {
    report *r = x->s->rep;
    r->checks++;
    if (got != code)
        return report_fail(r, "expected %s, got %s at line %u: %s", rvm_status_name(code), rvm_status_name(got),
                           got ? x->e.line : 0, got ? x->e.message : "");
    if (line && x->e.line != line)
        return report_fail(r, "expected %s at line %u, got line %u: %s", rvm_status_name(code), line, x->e.line,
                           x->e.message);
    if (line && !x->e.file[0]) return report_fail(r, "the error names no file: %s", x->e.message);
    for (; texts && *texts; texts++)
        if (!strstr(x->e.message, *texts))
            return report_fail(r, "expected a message with \"%s\", got: %s", *texts, x->e.message);
    return true;
}

/* The way back may need as much fuel again as the limit. */
static rvm_status go_all(session *x, bool backward) {
    rvm_status st = RVM_ERR_FUEL;
    for (int k = 0; st == RVM_ERR_FUEL && k < 4; k++) st = go(x, backward);
    return st;
}

static bool check_failing(const subject *s, rvm_status code, uint32_t line, char *const *texts, bool stepped) {
    session x;
    uint64_t steps;
    bool good = session_open(&x, s, &engines[0], s->in);
    if (!good) goto done;
    rvm_status st = bind(&x, s->inverse);
    if (st != RVM_OK) { /* shapes, overlap: nothing ran */
        good = says(&x, st, code, line, texts) && same(&x, "arguments refused", s->in, COMPARE_BITS);
        goto done;
    }
    st = stepped ? step_all(&x, s->inverse, &steps) : go(&x, s->inverse);
    good = says(&x, st, code, line, texts);
    st = good ? (stepped ? step_all(&x, !s->inverse, &steps) : go_all(&x, !s->inverse)) : RVM_OK;
    good = good && ok(&x, stepped ? "stepping back after the error" : "back to the start after the error", st);
    if (good) rvm_machine_unbind(x.m);
    good = good && same(&x, "after the error: inputs not restored", s->in, 0);
done:
    session_close(&x);
    return good;
}

bool check_failure(const subject *s, rvm_status code, uint32_t line, char *const *texts) {
    bool good = check_failing(s, code, line, texts, false);
    bool limit = code == RVM_ERR_FUEL || code == RVM_ERR_CANCELLED;
    good = good && (limit || check_failing(s, code, line, texts, true));
    /* Unchecked, anything may come out, but nothing may break. */
    session x;
    subject u = *s;
    if (!u.options.fuel) u.options.fuel = 10000000;
    if (session_open(&x, &u, &engines[1], s->in) && bind(&x, s->inverse) == RVM_OK && go(&x, s->inverse) == RVM_OK)
        go(&x, !s->inverse);
    session_close(&x);
    return good && check_profile(s) && check_native_failure(s) && check_fresh(s, true) && check_answers(s, true);
}

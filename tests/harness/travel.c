/* travel.c: positions, stops, watches, keyframes and clones (rvm_debug.h), against a run by single steps: at each position
 * the same frames, places and shadows, bit for bit, whichever way it is come to. */
#include "harness.h"
#include "machine.h"
#include "rvm_debug.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 3000, MOVES = 10 };

/* ---- what is at a position ---- */

typedef struct state {
    uint64_t digest, inner, watched; /* of all; of the innermost frame and where callers stand; of the watched parameter */
    uint32_t fn, pc;                 /* next towards the end */
} state;

static void take(uint64_t *h, uint64_t v) {
    *h = (*h ^ v) * UINT64_C(0x100000001b3);
    *h ^= *h >> 29;
}

static void take_all(uint64_t *h, const rvm_variable *v, bool shadow, int d, const rvm_scalar *p) {
    if (d >= v->ndim || d >= RVM_MAX_DIMS) {
        take(h, (uint64_t)p->i);
        return;
    }
    for (int64_t k = 0; k < v->shape[d]; k++)
        take_all(h, v, shadow, d + 1, p + k * (shadow ? v->shadow_stride : v->stride)[d]);
}

static uint64_t digest_of(const rvm_variable *v) {
    uint64_t h = 1;
    take_all(&h, v, false, 0, v->ndim ? v->data : &v->value);
    if (!v->ndim) take(&h, (uint64_t)v->shadow.i);
    if (v->ndim && v->shadow_data) take_all(&h, v, true, 0, v->shadow_data);
    return h;
}

static state state_of(const rvm_machine *m, const char *watched) {
    state s = {.digest = rvm_machine_frames(m)};
    rvm_location l;
    rvm_variable v;
    for (uint32_t f = 0; f < rvm_machine_frames(m); f++) {
        if (rvm_machine_location(m, f, 1, &l)) take(&s.digest, ((uint64_t)l.fn << 32) | l.pc);
        if (f) take(&s.inner, ((uint64_t)l.fn << 32) | l.pc);
        if (!f) s.fn = l.fn, s.pc = l.pc;
        for (uint32_t k = 0; rvm_machine_variable(m, f, k, &v); k++) {
            take(&s.digest, digest_of(&v));
            if (!f) take(&s.inner, digest_of(&v));
            if (f + 1 == rvm_machine_frames(m) && watched && !strcmp(v.name, watched)) s.watched = digest_of(&v);
        }
    }
    return s;
}

/* ---- the run by single steps ---- */

typedef struct travel {
    const subject *s;
    const char *what;
    rvm_machine *m;
    rvm_mode mode;
    args a;
    rvm_error e;
    rng r;
    state *at[2];
    int64_t n[2]; /* the largest position of each leg; n[1] 0: there is none */
    const char *watched;
    bool back; /* it has gone back: callers hold what they did on that way */
} travel;

static bool fails(travel *t, const char *text, rvm_run_position at, rvm_status st) {
    return report_fail(t->s->rep, "travel, %s: %s at %s%lld: %s", t->what, text, at.swept ? "swept " : "", (long long)at.at,
                       st ? t->e.message : "");
}

static int sign(const travel *t) {
    return t->s->inverse ? -1 : 1;
}

/* Positions of a call that is bound at its end are negative: here they are how far it is from there. */
static int64_t far(const travel *t, rvm_run_position p) {
    return p.swept ? p.at : sign(t) * p.at;
}

static rvm_run_position position(const travel *t, bool swept, int64_t along) {
    return (rvm_run_position){swept, swept ? along : sign(t) * along};
}

static rvm_status bind(travel *t) {
    args_free(&t->a);
    t->a = args_copy(t->s->in);
    if (t->mode != RVM_PRIMAL) {
        rng seeds = {7};
        args_activate(&t->a, t->s->active);
        args_random_shadows(&t->a, &seeds);
    }
    return rvm_machine_bind(t->m, t->s->fn, t->a.a, t->a.n, t->mode, t->s->inverse, &t->e);
}

/* One leg; false: it fails, or is too long. */
static bool step_leg(travel *t, bool swept) {
    bool done = false;
    rvm_status st = RVM_OK;
    t->at[swept] = malloc((LONGEST + 1) * sizeof(state));
    for (int64_t k = 0; !st && k <= LONGEST; k++) {
        t->at[swept][k] = state_of(t->m, t->watched);
        t->n[swept] = k;
        const rvm_run_position p = rvm_machine_position(t->m);
        if ((k && p.swept != swept) || far(t, p) != (swept && !k ? t->n[0] : k))
            return report_fail(t->s->rep, "travel, %s: after %lld steps it is at %lld", t->what, (long long)k,
                               (long long)p.at);
        if (done) return true;
        t->m->run.steps = swept;
        st = swept ? rvm_machine_sweep(t->m, &t->e) : rvm_machine_step(t->m, sign(t), &done, &t->e);
        t->m->run.steps = 0;
        if (swept) done = t->m->run.where == AT_START;
    }
    return false;
}

/* ---- against it ---- */

static bool is_there(travel *t, const rvm_machine *m, const char *how) {
    const rvm_run_position p = rvm_machine_position(m);
    const int64_t k = far(t, p);
    if (k < 0 || k > t->n[p.swept]) return fails(t, how, p, RVM_OK);
    const state is = state_of(m, NULL), was = t->at[p.swept][k];
    return (t->back ? is.inner == was.inner : is.digest == was.digest) || fails(t, how, p, RVM_OK);
}

static rvm_run_position anywhere(travel *t) {
    const bool swept = t->n[1] && rng_below(&t->r, 2);
    return position(t, swept, rng_below(&t->r, (uint32_t)t->n[swept] + 1));
}

static bool same_position(const travel *t, rvm_run_position a, rvm_run_position b) {
    const bool end = (a.swept && !a.at && far(t, b) == t->n[0]) || (b.swept && !b.at && far(t, a) == t->n[0]);
    return (a.swept == b.swept && a.at == b.at) || end;
}

typedef rvm_status mover(void *by, const rvm_goal *goal, rvm_arrival *how, rvm_error *e);

static rvm_status by_machine(void *by, const rvm_goal *goal, rvm_arrival *how, rvm_error *e) {
    return rvm_machine_run_to(by, goal, how, e);
}
static rvm_status by_timeline(void *by, const rvm_goal *goal, rvm_arrival *how, rvm_error *e) {
    return rvm_timeline_run_to(by, goal, how, e);
}
static rvm_status by_seek(void *by, const rvm_goal *goal, rvm_arrival *how, rvm_error *e) {
    return rvm_timeline_seek(by, goal->to, how, e);
}

static bool move_about(travel *t, mover *move, void *by, const char *how) {
    t->back = move == by_machine;
    for (int k = 0; k < MOVES; k++) {
        const rvm_goal goal = {.to = anywhere(t)};
        rvm_arrival a;
        const rvm_status st = move(by, &goal, &a, &t->e);
        t->s->rep->checks++;
        if (st || !same_position(t, rvm_machine_position(t->m), goal.to)) return fails(t, how, goal.to, st);
        if (!is_there(t, t->m, how)) return false;
    }
    return true;
}

/* All stops of one kind, along the first leg: where they must be, and where they are. */
static bool stops_so(travel *t, mover *move, void *by, rvm_goal *goal, bool forward, const char *how) {
    const state *at = t->at[0];
    const state like = at[rng_below(&t->r, (uint32_t)t->n[0])];
    rvm_stop stop = {.fn = like.fn, .pc = like.pc};
    if (goal->nstops) goal->stops = &stop;
    for (int64_t k = forward ? 1 : t->n[0] - 1; forward ? k < t->n[0] : k >= 0; k += forward ? 1 : -1) {
        const bool stops =
            goal->nstops ? at[k].fn == stop.fn && at[k].pc == stop.pc : at[k].watched != at[forward ? k - 1 : k + 1].watched;
        if (!stops) continue;
        rvm_arrival a;
        const rvm_status st = move(by, goal, &a, &t->e);
        t->s->rep->checks++;
        if (st || far(t, rvm_machine_position(t->m)) != k) return fails(t, how, position(t, false, k), st);
        if (a.reached != (goal->nstops ? RVM_REACHED_STOP : RVM_REACHED_WATCH))
            return fails(t, "a stop is none", goal->to, st);
        if (!is_there(t, t->m, how)) return false;
    }
    const rvm_status st = move(by, goal, NULL, &t->e);
    const int64_t here = far(t, rvm_machine_position(t->m));
    return (!st && here == (forward ? t->n[0] : 0)) || fails(t, how, rvm_machine_position(t->m), st);
}

static bool stops_both_ways(travel *t, mover *move, void *by, const char *how) {
    const rvm_watch w = {.height = 1, .name = t->watched};
    for (int watches = 0; watches < 2; watches++) {
        rvm_goal goal = {.nstops = !watches, .watches = &w, .nwatches = (uint32_t)watches};
        if (bind(t)) return false;
        t->back = move == by_machine;
        if (move == by_timeline && rvm_timeline_new(t->m, 0, (rvm_timeline **)by, &t->e))
            return fails(t, "timeline", goal.to, t->e.code);
        void *mover_of = move == by_timeline ? *(rvm_timeline **)by : by;
        goal.to.at = sign(t) > 0 ? INT64_MAX : INT64_MIN;
        bool good = stops_so(t, move, mover_of, &goal, true, how);
        goal.to.at = sign(t) > 0 ? INT64_MIN : INT64_MAX;
        good = good && stops_so(t, move, mover_of, &goal, false, how);
        if (move == by_timeline) rvm_timeline_free(mover_of);
        if (!good) return false;
    }
    return true;
}

/* From somewhere a clone goes somewhere else, and the machine stays. */
static bool clones(travel *t) {
    t->back = false;
    for (int k = 0; k < 3; k++) {
        const rvm_goal goal = {.to = anywhere(t)};
        rvm_machine *c = NULL;
        rvm_keyframe *kept = NULL;
        bool good = !bind(t) && !rvm_machine_run_to(t->m, &goal, NULL, &t->e) && !rvm_machine_clone(t->m, NULL, &c, &t->e) &&
                    !rvm_keyframe_new(t->m, &kept, &t->e);
        good = (good || fails(t, "a clone", goal.to, t->e.code)) && is_there(t, c, "a clone");
        const rvm_goal on = {.to = position(t, t->n[1] > 0, t->n[t->n[1] > 0])};
        good = good && (!rvm_machine_run_to(c, &on, NULL, &t->e) || fails(t, "a clone goes on", on.to, t->e.code));
        good = good && is_there(t, c, "a clone goes on") && is_there(t, t->m, "a machine with a clone");
        if (good && !goal.to.swept && goal.to.at) { /* back, as far as that restores */
            const rvm_goal start = {.to = position(t, false, 0)};
            rvm_machine_run_to(t->m, &start, NULL, &t->e);
            good = !rvm_keyframe_restore(kept, t->m, &t->e) || fails(t, "a keyframe", goal.to, t->e.code);
            good = good && is_there(t, t->m, "a keyframe");
        }
        rvm_keyframe_free(kept);
        rvm_machine_free(c);
        t->s->rep->checks++;
        if (!good) return false;
    }
    return true;
}

static bool seeks(travel *t) {
    rvm_timeline *line;
    if (bind(t) || rvm_timeline_new(t->m, 0, &line, &t->e)) return fails(t, "a timeline", (rvm_run_position){0}, t->e.code);
    const bool good = move_about(t, by_seek, line, "a seek") && move_about(t, by_timeline, line, "along a timeline");
    rvm_timeline_free(line);
    return good;
}

/* restores: going back takes back every bit. */
static bool check_one(const subject *s, const engine *e, rvm_mode mode, bool restores) {
    rvm_options o = engine_options(s, e);
    travel t = {.s = s, .what = mode == RVM_GRADIENT ? "gradient" : e->name, .mode = mode, .r = {(uint64_t)s->fn + 1}};
    const rvm_program *p = s->program;
    const uint32_t nparams = rvm_program_param_count(p, (uint32_t)s->fn);
    rvm_param_info param;
    if (nparams && rvm_program_param(p, (uint32_t)s->fn, nparams - 1 - rng_below(&t.r, nparams), &param))
        t.watched = param.name;
    bool good = report_ok(s->rep, "machine", rvm_machine_new(p, &o, &t.m, &t.e), &t.e);
    const unsigned failures = s->rep->failures;
    const bool runs = good && !bind(&t) && step_leg(&t, false) && t.n[0] > 0;
    const bool sweeps = runs && mode == RVM_GRADIENT && step_leg(&t, true);
    if (!sweeps) t.n[1] = 0;
    if (runs && (mode == RVM_PRIMAL || sweeps)) {
        rvm_timeline *line;
        good = seeks(&t) && clones(&t);
        if (mode == RVM_PRIMAL) {
            if (good && restores) good = !bind(&t) && move_about(&t, by_machine, t.m, "a move");
            if (good && restores && t.watched) good = stops_both_ways(&t, by_machine, t.m, "a stop");
            if (good && t.watched) good = stops_both_ways(&t, by_timeline, &line, "a stop on a timeline");
        }
    }
    good = good && s->rep->failures == failures;
    rvm_machine_free(t.m);
    args_free(&t.a);
    free(t.at[0]), free(t.at[1]);
    return good;
}

static bool any_reals(const rvm_program *p) {
    for (uint32_t fn = 0; fn < p->nfunctions; fn++) {
        for (uint32_t k = 0; k < p->functions[fn].nregs; k++)
            if (rvm__is_floating((rvm_type)p->functions[fn].reg_type[k])) return true;
        for (uint32_t k = 0; k < p->functions[fn].narrays; k++)
            if (rvm__is_floating((rvm_type)p->functions[fn].arrays[k].type)) return true;
    }
    return false;
}

bool check_travel(const subject *s) {
    bool by_number = true; /* a position tells all, from either side */
    for (uint32_t fn = 0; fn < s->program->nfunctions; fn++)
        for (uint32_t pc = 0; pc < s->program->functions[fn].ncode; pc++)
            by_number &= !(s->program->functions[fn].code[pc].flags & RVM_FLAG_FORGETS) &&
                         s->program->functions[fn].code[pc].op != RVM_OP_par;
    bool good = check_one(s, &engines[0], RVM_PRIMAL, !any_reals(s->program) && by_number);
    if (good && any_reals(s->program) && runs_exactly(s)) good = check_one(s, &exact_engine, RVM_PRIMAL, by_number);
    if (good && any_reals(s->program) && !s->no_derivatives && !s->inverse)
        good = check_one(s, &engines[0], RVM_GRADIENT, false);
    return good;
}

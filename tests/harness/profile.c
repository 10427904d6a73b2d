/* profile.c: what a profile counts, against single steps, each of which is looked up where the machine stands: the frames
 * that are there, their directions, the sweep. */
#include "harness.h"
#include "builder.h"
#include "machine.h"
#include "rvm_profile.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 30000, NONE = -1 };

/* ---- what steps counted ---- */

typedef struct node { /* a call path */
    int parent;
    uint32_t fn, call_pc;
    rvm_profile_mode up; /* of an instruction outside of compute parts, going up */
} node;
typedef struct entry { /* how often an instruction of a path ran */
    int node;
    uint32_t pc;
    rvm_profile_counts counts;
} entry;
typedef struct steps {
    node *nodes;
    int nnodes, *of_frame; /* of_frame: the node of each frame */
    uint32_t nframes, cap_frames;
    entry *entries; /* by node and pc, open addressing */
    size_t nentries, cap_entries;
    uint64_t n;
} steps;

static entry *find(const steps *s, int at, uint32_t pc) {
    for (size_t k = (size_t)at * 0x9e3779b1u + pc * 0x85ebca6bu;; k++) {
        entry *e = &s->entries[k & (s->cap_entries - 1)];
        if (e->node == NONE || (e->node == at && e->pc == pc)) return e;
    }
}

static void grow(steps *s) {
    steps old = *s;
    s->cap_entries = old.cap_entries ? 2 * old.cap_entries : 1024;
    s->entries = malloc(s->cap_entries * sizeof *s->entries);
    if (!s->entries) abort();
    for (size_t k = 0; k < s->cap_entries; k++) s->entries[k].node = NONE;
    for (size_t k = 0; k < old.cap_entries; k++)
        if (old.entries[k].node != NONE) *find(s, old.entries[k].node, old.entries[k].pc) = old.entries[k];
    free(old.entries);
}

static void steps_free(steps *s) {
    free(s->nodes);
    free(s->of_frame);
    free(s->entries);
}

static rvm_profile_mode opposite(rvm_profile_mode mode) {
    static const rvm_profile_mode other[] = {RVM_PROFILE_BACKWARD, RVM_PROFILE_UNDO, RVM_PROFILE_COMPUTE,
                                             RVM_PROFILE_FORWARD, RVM_PROFILE_SWEPT};
    return other[mode];
}

/* Whether pc is in a compute part, of which both ends are. */
static bool computes(const rvm_function *f, uint32_t pc) {
    for (uint32_t k = 0; k <= pc; k++)
        if (f->code[k].op == RVM_OP_compute && f->code[k].target >= pc) return true;
    return false;
}

static uint32_t pc_in(const rvm_machine *m, uint32_t frame) {
    if (frame + 1 < m->store.nframes) return m->store.frames[frame + 1].call_pc;
    return (uint32_t)(m->run.pc - m->codes[m->store.frames[frame].fn].x);
}

static int direction_of(const rvm_machine *m, uint32_t frame) {
    int direction = m->run.dir;
    for (uint32_t k = m->store.nframes - 1; k > frame; k--)
        if (m->store.frames[k].against) direction = -direction;
    return direction;
}

/* What runs now, by frames up to, not including, n. */
static rvm_profile_mode mode_within(const rvm_machine *m, uint32_t n) {
    while (n-- > 0)
        if (computes(&m->p->functions[m->store.frames[n].fn], pc_in(m, n)))
            return direction_of(m, n) > 0 ? RVM_PROFILE_COMPUTE : RVM_PROFILE_UNDO;
    return m->run.course > 0 ? RVM_PROFILE_FORWARD : RVM_PROFILE_BACKWARD;
}

static int node_of(steps *s, node new) {
    for (int k = new.parent; k != NONE; k = s->nodes[k].parent)
        if (s->nodes[k].fn == new.fn && s->nodes[k].up == new.up) return k;
    for (int k = 0; k < s->nnodes; k++) {
        const node *old = &s->nodes[k];
        if (old->parent == new.parent && old->fn == new.fn && (new.parent == NONE || old->call_pc == new.call_pc)) return k;
    }
    s->nodes = realloc(s->nodes, (size_t)(s->nnodes + 1) * sizeof *s->nodes);
    if (!s->nodes) abort();
    s->nodes[s->nnodes] = new;
    return s->nnodes++;
}

/* Frames come and go one at a time, or one in the place of another function's. */
static int innermost(steps *s, const rvm_machine *m) {
    const uint32_t n = m->store.nframes;
    if (s->nframes > n) s->nframes = n;
    if (s->nframes == n && n && s->nodes[s->of_frame[n - 1]].fn != m->store.frames[n - 1].fn) s->nframes--;
    if (n > s->cap_frames) s->of_frame = realloc(s->of_frame, (s->cap_frames = 2 * n) * sizeof *s->of_frame);
    if (!s->of_frame) abort();
    for (uint32_t k = s->nframes; k < n; k++) {
        const rvm__frame *frame = &m->store.frames[k];
        const rvm_profile_mode now = mode_within(m, k);
        const rvm_profile_mode up = direction_of(m, k) > 0 ? now : opposite(now);
        s->of_frame[k] = node_of(s, (node){k ? s->of_frame[k - 1] : NONE, frame->fn, frame->call_pc, up});
    }
    s->nframes = n;
    return s->of_frame[n - 1];
}

/* The machine as the step finds it: at an end it steps in, against its course it turns. */
static rvm_machine turned(const rvm_machine *m, int course, bool sweep) {
    rvm_machine at = *m;
    const uint32_t fn = m->store.frames[0].fn;
    if (m->run.where != INSIDE) {
        at.run.pc = m->codes[fn].x + (course > 0 ? 1 : m->p->functions[fn].ncode - 2);
        at.run.dir = course;
    } else if (m->run.course != course) {
        at.run.dir = -m->run.dir;
        at.run.pc += at.run.dir;
    }
    at.run.course = course;
    if (sweep && !m->run.sweep_begun) at.run.sweeping = true;
    return at;
}

/* Counts what the step is about to run; the counter, in case that it does not. */
static uint64_t *note(steps *s, const rvm_machine *m, int course, bool sweep) {
    const rvm_machine at = turned(m, course, sweep);
    if (2 * (s->nentries + 1) > s->cap_entries) grow(s);
    const int where = innermost(s, &at);
    const uint32_t pc = pc_in(&at, at.store.nframes - 1);
    entry *e = find(s, where, pc);
    if (e->node == NONE) *e = (entry){.node = where, .pc = pc}, s->nentries++;
    const rvm_profile_mode mode = at.run.sweeping ? RVM_PROFILE_SWEPT : mode_within(&at, at.store.nframes);
    return &e->counts.n[mode][at.run.dir < 0];
}

/* ---- a run, whole and by steps ---- */

typedef struct leg {
    int course;
    bool sweep;
} leg;
typedef rvm_status derivative(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err);
typedef struct plan { /* legs, up to one without a course; each is left out where the one before failed */
    const char *name;
    rvm_mode mode;
    bool at_end, keeps;
    leg legs[4];
    derivative *whole; /* in place of the legs, of the machine that does not step */
} plan;
static const plan plans[] = {
    {"forward and backward", RVM_PRIMAL, false, false, {{1, false}, {-1, false}}, NULL},
    {"backward and forward", RVM_PRIMAL, true, false, {{-1, false}, {1, false}}, NULL},
    {"gradient", RVM_GRADIENT, false, true, {{1, false}, {-1, true}, {1, false}}, NULL},
    {"tangents", RVM_TANGENT, false, false, {{1, false}}, NULL},
};
/* Derivatives that run as programs natively. */
static const plan programs[] = {
    {"gradient", RVM_GRADIENT, false, false, {{1, false}, {-1, true}}, rvm_gradient},
    {"value and gradient", RVM_GRADIENT, false, false, {{1, false}, {-1, true}}, rvm_value_and_gradient},
    {"tangents", RVM_TANGENT, false, false, {{1, false}}, rvm_tangent},
};

static rvm_status whole(rvm_machine *m, leg l, rvm_error *e) {
    if (l.sweep) return rvm_machine_sweep(m, e);
    return l.course > 0 ? rvm_machine_forward(m, e) : rvm_machine_backward(m, e);
}

/* One instruction; of a sweep, too. */
static rvm_status step(rvm_machine *m, leg l, rvm_error *e) {
    m->run.steps = 1;
    const rvm_status status = whole(m, l, e);
    m->run.steps = 0;
    return status;
}

/* False: too many. */
static bool step_all(rvm_machine *m, leg l, steps *s, rvm_status *status, rvm_error *e) {
    *status = RVM_OK;
    for (bool moves = true; moves && !*status; moves = m->run.where == INSIDE) {
        uint64_t *counter = note(s, m, l.course, l.sweep);
        ++*counter, s->n++;
        *status = step(m, l, e);
        if (*status == RVM_ERR_UNSUPPORTED || (*status && m->run.where == INSIDE)) --*counter, s->n--;
        if (s->n >= STEPS) return false;
    }
    return true;
}

static bool is_limit(rvm_status status) {
    return status == RVM_ERR_FUEL || status == RVM_ERR_CANCELLED;
}

/* False: it is not to be compared. */
static bool run_both(const plan *p, rvm_machine *m, int64_t fn, args *a, rvm_machine *stepped, steps *s) {
    rvm_error e = {0};
    if (p->whole && is_limit(p->whole(m, fn, a->a, a->n, &e))) return false; /* of programs limits are others */
    for (const leg *l = p->legs; l->course; l++) {
        rvm_status status;
        if (!step_all(stepped, *l, s, &status, &e)) return false;
        if (is_limit(status) || (p->whole && status == RVM_ERR_LIMIT) || (!p->whole && is_limit(whole(m, *l, &e))))
            return false;
        if (status) break;
    }
    return true;
}

/* ---- comparing ---- */

static int node_of_path(const rvm_profile *f, const steps *s, int64_t path) {
    rvm_profile_path p;
    if (path < 0 || !rvm_profile_path_at(f, (uint32_t)path, &p)) return NONE;
    const int parent = node_of_path(f, s, p.parent);
    for (int k = 0; k < s->nnodes; k++)
        if (s->nodes[k].fn == p.fn && s->nodes[k].parent == parent && (parent == NONE || s->nodes[k].call_pc == p.call_pc))
            return k;
    return NONE;
}

/* What a path counted is what steps counted, and is there no more. */
static bool same_path(report *r, const char *what, const rvm_profile *f, const rvm_program *p, steps *s, uint32_t k) {
    rvm_profile_path path;
    rvm_profile_counts c;
    rvm_profile_path_at(f, k, &path);
    const int at = node_of_path(f, s, k);
    for (uint32_t pc = 0; rvm_profile_instruction_on(f, k, pc, &c); pc++) {
        const rvm_profile_counts none = {0};
        entry *e = at == NONE ? NULL : find(s, at, pc);
        const bool noted = e && e->node != NONE;
        char text[80];
        rvm_program_instruction_text(p, path.fn, pc, text, sizeof text);
        for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
            for (int way = 0; way < 2; way++)
                if (c.n[mode][way] != (noted ? &e->counts : &none)->n[mode][way])
                    return report_fail(r, "%s: profile of `%s` (%u) in %s, %s %s: %llu, steps counted %llu", what, text, pc,
                                       rvm_program_function_name(p, path.fn), rvm_profile_mode_name(mode),
                                       way ? "down" : "up", (unsigned long long)c.n[mode][way],
                                       (unsigned long long)(noted ? &e->counts : &none)->n[mode][way]);
        if (noted) e->counts = none;
    }
    return true;
}

static uint64_t sum_of_kinds(const rvm_profile *f) {
    rvm_profile_kind_count kind;
    uint64_t n = 0;
    for (uint32_t k = 0; rvm_profile_kind(f, k, &kind); k++) n += kind.count;
    return n;
}

static uint64_t sum_of_lines(const rvm_profile *f) {
    rvm_profile_line line;
    uint64_t n = 0;
    for (uint32_t k = 0; rvm_profile_line_at(f, k, &line); k++) n += rvm_profile_sum(&line.own);
    return n;
}

static uint64_t sum_of_roots(const rvm_profile *f) {
    rvm_profile_path path;
    uint64_t n = 0;
    for (uint32_t k = 0; rvm_profile_path_at(f, k, &path); k++) n += path.parent < 0 ? path.total : 0;
    return n;
}

static bool same_sums(report *r, const char *what, const rvm_profile *f, const rvm_machine *m, uint64_t n) {
    rvm_stats stats;
    rvm_profile_counts total;
    rvm_machine_stats(m, &stats);
    rvm_profile_total(f, &total);
    const uint64_t sums[] = {rvm_profile_sum(&total), sum_of_kinds(f), sum_of_lines(f), sum_of_roots(f),
                             stats.forward + stats.backward + stats.swept};
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        if (sums[k] != n)
            return report_fail(r, "%s: profile, sum %zu: %llu, steps counted %llu", what, k, (unsigned long long)sums[k],
                               (unsigned long long)n);
    return true;
}

/* By mode and direction, all paths together: the profile adds these up in a pass of its own. */
static bool same_modes(report *r, const char *what, const rvm_profile *f, const steps *s) {
    rvm_profile_counts total, stepped = {0};
    rvm_profile_total(f, &total);
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        for (int way = 0; way < 2; way++) {
            for (size_t k = 0; k < s->cap_entries; k++)
                if (s->entries[k].node != NONE) stepped.n[mode][way] += s->entries[k].counts.n[mode][way];
            if (total.n[mode][way] != stepped.n[mode][way])
                return report_fail(r, "%s: profile in %s, %s: %llu, steps counted %llu", what, rvm_profile_mode_name(mode),
                                   way ? "down" : "up", (unsigned long long)total.n[mode][way],
                                   (unsigned long long)stepped.n[mode][way]);
        }
    return true;
}

static bool compare(report *r, const char *what, const rvm_machine *m, steps *s) {
    rvm_profile *f = NULL;
    rvm_error e;
    rvm_profile_path path;
    bool good = report_ok(r, "profile", rvm_profile_new(m, &f, &e), &e) && same_sums(r, what, f, m, s->n) &&
                same_modes(r, what, f, s);
    for (uint32_t k = 0; good && rvm_profile_path_at(f, k, &path); k++)
        good = same_path(r, what, f, rvm_machine_program(m), s, k);
    rvm_profile_free(f);
    return good;
}

/* j: the machine that is profiled runs natively; NULL: it does not. */
static bool check_plan(const subject *s, const engine *e, const plan *p, rvm_jit *j) {
    rvm_machine *m = NULL, *stepped = NULL;
    args a = args_copy(s->in), b = args_copy(s->in);
    steps counted = {0};
    rvm_error error;
    char what[80];
    rvm_options o = engine_options(s, e);
    snprintf(what, sizeof what, "%s, %s%s", e->name, p->name, j ? ", natively" : "");
    args_activate(&a, s->active);
    args_activate(&b, s->active);
    o.keep_shadows = p->keeps && !(e->exact && rvm_program_by_hand(s->program, s->fn, RVM_ADJOINT));
    bool good = report_ok(s->rep, what, rvm_machine_new(s->program, &o, &stepped, &error), &error);
    o.profile = true;
    good = good && report_ok(s->rep, what, rvm_machine_new(s->program, &o, &m, &error), &error);
    good = good && (!j || report_ok(s->rep, what, rvm_jit_attach(j, m, &error), &error));
    const rvm_transform kind = p->mode == RVM_TANGENT ? RVM_TANGENT_OF : RVM_ADJOINT;
    const bool whole = p->mode != RVM_PRIMAL && rvm__has_rule(s->program, (uint32_t)s->fn, kind);
    if (whole) report_skip(s->rep, "%s: profile: the function that steps begin in has a derivative by hand", what);
    if (good && !whole && (p->whole || !rvm_machine_bind(m, s->fn, a.a, a.n, p->mode, p->at_end, &error)) &&
        !rvm_machine_bind(stepped, s->fn, b.a, b.n, p->mode, p->at_end, &error) &&
        run_both(p, m, s->fn, &a, stepped, &counted))
        good = compare(s->rep, what, m, &counted);
    rvm_machine_free(m);
    rvm_machine_free(stepped);
    steps_free(&counted);
    args_free(&a);
    args_free(&b);
    return good;
}

/* The same counts from native code, by one of the engines in turn. */
static bool check_natively(const subject *s, const engine *e) {
    bool good = true;
    if (!s->native || !s->native->way[NATIVE_WHOLE] || s->native_orders < 1 || s->derived || s->options.exact) return true;
    for (size_t j = 0; good && j < sizeof plans / sizeof *plans; j++)
        if (plans[j].at_end == s->inverse && plans[j].mode == RVM_PRIMAL)
            good = check_plan(s, e, &plans[j], s->native->way[NATIVE_WHOLE]);
    const size_t turn = rvm_program_function_count(s->program) % 3; /* compiling takes most of the time */
    return good && (s->inverse || check_plan(s, e, &programs[turn], s->native->way[NATIVE_WHOLE]));
}

bool check_profile(const subject *s) {
    enum { SOME = 3 };
    const engine *const some[SOME] = {&engines[0], &engines[1], &exact_engine};
    bool good = true;
    for (unsigned k = 0; good && k < SOME; k++)
        for (size_t j = 0; takes_part(s, k) && good && j < sizeof plans / sizeof *plans; j++)
            if (plans[j].at_end == s->inverse || plans[j].mode != RVM_PRIMAL) good = check_plan(s, some[k], &plans[j], NULL);
    return good && check_natively(s, &engines[rvm_program_function_count(s->program) % 2]);
}

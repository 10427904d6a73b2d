/* liveness.c: which places are live, backward through the list of what is executed, until nothing changes; over all
 * functions that the run calls, each with what its callers use. See liveness.h.
 *
 * Sets have a bit for each register and each array. One set moves down the list; at a branch and at a join, sets are
 * kept and only grow:
 *
 *     come-from   what is live behind it, for its jump
 *     for         what its body uses when it begins, for next
 *     next        what is live behind the loop, for `for`, which may pass it by
 *
 * All begins with what nobody uses, so a value that is used for nothing but itself is not.
 */
#include "liveness_list.h"
#include "accesses.h"
#include "elision.h"
#include "sites.h"
#include "solver.h"
#include "support.h"

#include <string.h>

enum { SEEN_UP = 1, SEEN_DOWN = 2, NEEDED_UP = 4, NEEDED_DOWN = 8 }; /* of an instruction, by the counter's direction */
enum { MOST_WORDS = 8 << 20 /* in all sets: 64 MiB */ };

typedef struct specialisation {                  /* a function in a direction */
    uint8_t *passed;                             /* by instruction */
    bool reached, waits, outer;                  /* outer: called outside of compute parts only */
    uint8_t dead_params[RVM_MAX_PARAMS / 8 + 1]; /* by parameter, a bit */
} specialisation;

struct rvm__liveness {
    const rvm_program *p;
    rvm__liveness_run run;
    rvm__reach *reach;
    specialisation *functions; /* two for each function: forward, backward */
    rvm__zone memory;
};

typedef struct flow {
    rvm__liveness *s;
    specialisation *v;
    rvm__list list;
    rvm__zone memory;
    uint32_t words;
    uint64_t *sets, *live; /* live: at the present point */
    bool grew, record;
} flow;

static specialisation *specialisation_of(const rvm__liveness *s, uint32_t fn, bool backward) {
    return &s->functions[2 * (size_t)fn + backward];
}

/* ---- sets ---- */

static bool join(uint64_t *to, const uint64_t *from, uint32_t words) {
    uint64_t gained = 0;
    for (uint32_t k = 0; k < words; k++) {
        gained |= from[k] & ~to[k];
        to[k] |= from[k];
    }
    return gained != 0;
}

static uint64_t *set_at(const flow *w, uint32_t node) {
    return w->sets + (size_t)w->list.nodes[node].set * w->words;
}

static int64_t bit_of_slot(const flow *w, uint16_t slot) {
    return slot < w->list.f->nregs ? slot : -1;
}

/* The bit of a place, or -1 of a constant. */
static int64_t bit_of(const flow *w, const rvm_place *q) {
    if (q->kind == RVM_PLACE_SLOT) return bit_of_slot(w, q->slot);
    return q->kind == RVM_PLACE_RANGE ? -1 : (int64_t)w->list.f->nregs + rvm__root_of(w->list.f, q);
}

static bool is_live(const flow *w, const rvm_place *q) {
    const int64_t bit = bit_of(w, q);
    return bit >= 0 && w->live[bit / 64] >> bit % 64 & 1;
}

static void set_live(const flow *w, int64_t bit, bool to) {
    if (bit < 0) return;
    const uint64_t mask = UINT64_C(1) << bit % 64;
    w->live[bit / 64] = to ? w->live[bit / 64] | mask : w->live[bit / 64] & ~mask;
}

static void use_slot(const flow *w, uint16_t slot) {
    set_live(w, bit_of_slot(w, slot), true);
}

static void use_indices(const flow *w, const rvm_place *q) {
    if (q->kind == RVM_PLACE_RANGE) use_slot(w, q->slot);
    for (uint32_t k = 0; k < rvm__nindices(q); k++) use_slot(w, q->idx[k]);
}

/* ---- one instruction ---- */

typedef struct step { /* an instruction as it is executed */
    const rvm__node *node;
    const rvm_insn *in;
    const rvm_place *q;
    const char *letters;
    rvm_op op;
    bool unchecked, discarded; /* discarded: what it pushes onto a trail */
} step;

static bool is_discarded(const flow *w, const rvm__node *d, const rvm_insn *in) {
    if (!rvm__op_on_trail((rvm_op)d->op) || d->inner || !w->v->outer || rvm__pair_of(in->op) == RVM_PAIR_segment)
        return false;
    const bool pushes = d->op == RVM_OP_set || d->op == RVM_OP_drop || d->op == RVM_OP_shed;
    return pushes && w->s->run.discarded >> rvm__insn_level(w->list.f, in) & 1;
}

static step step_of(const flow *w, const rvm__node *d, char buffer[256]) {
    const rvm_insn *in = rvm__node_insn(&w->list, d);
    return (step){.node = d,
                  .in = in,
                  .q = rvm__places(w->list.f, in),
                  .letters = rvm__place_letters(in, buffer),
                  .op = (rvm_op)d->op,
                  .unchecked = w->s->run.unchecked || (in->flags & RVM_FLAG_UNCHECKED),
                  .discarded = is_discarded(w, d, in)};
}

static bool appears(const step *x, uint32_t k) {
    return rvm__letter_toggles(x->letters[k]) && !rvm__is_inverse(x->op);
}

/* By the domain of the instruction. */
static bool has_domain(const flow *w, const step *x) {
    const rvm_function *f = w->list.f;
    if (rvm__class_of(x->op) == RVM_CLASS_IN_PLACE) return rvm__change_info[rvm__change_of(x->op)].domain;
    if (!rvm__op_is_update(x->op)) return false;
    if (rvm__pair_of(x->op) == RVM_PAIR_mul) return rvm__place_type(f, x->q) != RVM_I64;
    if (!rvm__row_has_domain((rvm_row)x->in->row)) return false;
    if (rvm__row_info[x->in->row].sig != RVM_SIG_QUOT) return true;
    const rvm_place *by = &x->q[2];
    return by->kind != RVM_PLACE_SLOT || by->slot < f->nregs || f->consts[by->slot - f->nregs].i == 0;
}

/* Whether it may fail in another way than by an assertion that is dropped. */
static bool may_fail(const flow *w, const step *x) {
    if ((x->in->facts & RVM_FACT_ALIAS && !x->node->apart) || has_domain(w, x)) return true;
    uint32_t moved = 0; /* arrays, of which the shapes are compared */
    for (uint32_t k = 0; k < x->in->nplaces; k++) {
        const bool proved = w->s->run.trust || (k < 4 && x->in->facts & RVM_FACT_INBOUNDS0 << k);
        moved += x->q[k].kind == RVM_PLACE_ARRAY;
        if (x->q[k].kind == RVM_PLACE_ELEM && (!proved || !x->unchecked)) return true; /* checked: RACE */
        if (!x->unchecked && rvm__place_type(w->list.f, &x->q[k]) == RVM_FIX) return true;
    }
    return moved > 1;
}

static bool changes_live(const flow *w, const step *x) {
    for (uint32_t k = 0; k < x->in->nplaces; k++)
        if (rvm__letter_access(x->in, x->letters[k]) & RVM__BITS_ACC && is_live(w, &x->q[k])) return true;
    return false;
}

/* What runs for something else than for what it changes. */
static bool always_runs(const step *x) {
    const enum rvm_pair pair = rvm__pair_of(x->op);
    const bool checks = pair == RVM_PAIR_assert || rvm__is_inverse(x->op);
    switch (rvm__class_of(x->op)) {
    case RVM_CLASS_UPDATE: return pair == RVM_PAIR_set ? !x->discarded : pair == RVM_PAIR_let && checks && !x->unchecked;
    case RVM_CLASS_IN_PLACE: return false;
    case RVM_CLASS_TRAIL: return !x->discarded;
    case RVM_CLASS_CHECK: return pair == RVM_PAIR_trap || (checks && !x->unchecked);
    case RVM_CLASS_CONTROL:
    case RVM_CLASS_REGION:
    case RVM_CLASS_CALL:
    case RVM_CLASS_STACK:
    case RVM_CLASS_ARRAY: break;
    }
    return true;
}

/* What disappears without being looked at, when nothing is asserted. */
static bool only_asserts(const step *x) {
    const enum rvm_pair pair = rvm__pair_of(x->op);
    const bool place = pair == RVM_PAIR_let || pair == RVM_PAIR_new || pair == RVM_PAIR_like || pair == RVM_PAIR_addr;
    return pair == RVM_PAIR_assert || (place && rvm__is_inverse(x->op));
}

/* Whether the place, with all that is part of it, has nothing left of what it held: it disappears or appears, or all of it
 * is moved or overwritten. */
static bool is_replaced(const flow *w, const step *x, uint32_t k) {
    const char letter = x->letters[k];
    if (rvm__letter_toggles(letter)) return true;
    if (x->q[k].kind != RVM_PLACE_SLOT &&
        (x->q[k].kind != RVM_PLACE_ARRAY || rvm__root_of(w->list.f, &x->q[k]) != x->q[k].slot))
        return false;
    return letter == 'd' || letter == 'w' || (letter == 'y' && rvm__pair_of(x->op) == RVM_PAIR_push);
}

/* Whether it reads what the place held, or indices and lengths but not that. */
static bool reads(const step *x, uint32_t k) {
    const char letter = x->letters[k];
    if (letter == 'V' || letter == 'W' || appears(x, k)) return false;
    if (letter == 'w' || letter == 'd' || letter == 'r') return !x->discarded;
    return !(rvm__letter_toggles(letter) && rvm__pair_of(x->op) == RVM_PAIR_view);
}

static void pass(const flow *w, const step *x, bool needed) {
    for (uint32_t k = 0; k < x->in->nplaces; k++)
        if (is_replaced(w, x, k) && rvm__pair_of(x->op) != RVM_PAIR_view) set_live(w, bit_of(w, &x->q[k]), false);
    for (uint32_t k = 0; k < x->in->nplaces; k++) {
        if (!needed && !(x->letters[0] == 'X' && x->letters[k] == 'k')) continue; /* lengths agree, unchecked too */
        use_indices(w, &x->q[k]);
        if (reads(x, k)) set_live(w, bit_of(w, &x->q[k]), true);
    }
}

/* ---- control ---- */

static void keep(flow *w, uint32_t node) {
    w->grew |= join(set_at(w, node), w->live, w->words);
}

/* for, next, par, endpar. */
static void pass_loop(flow *w, const step *x, uint32_t at) {
    const uint32_t other = x->node->partner;
    if (rvm__is_inverse(x->op)) {
        const uint64_t *body = set_at(w, other), *apart = body + w->words; /* slices: behind the set of the first end */
        keep(w, at);
        for (uint32_t k = 0; k < w->words; k++) w->live[k] |= body[k] & ~apart[k];
    } else {
        keep(w, at);
        join(w->live, set_at(w, other), w->words);
    }
    pass(w, x, true);
}

static void pass_jump(flow *w, const step *x, uint32_t at) {
    const bool asserts = rvm__is_inverse(x->op) && !x->unchecked;
    if (rvm__is_inverse(x->op))
        keep(w, at);
    else
        join(w->live, set_at(w, x->node->partner), w->words);
    if (!rvm__is_inverse(x->op) || asserts) pass(w, x, true);
}

/* ---- calls ---- */

static bool called_dead(const flow *w, const step *x, const rvm_callee *g, uint32_t k) {
    return g->params[k].role == RVM_READ || !is_live(w, &x->q[g->first + k]);
}

/* What callers use grows. */
static void merge(const flow *w, const step *x, const rvm_callee *g, uint32_t callee) {
    rvm__liveness *s = w->s;
    specialisation *v = specialisation_of(s, callee, rvm__is_inverse(x->op));
    bool grows = !v->reached;
    if (!v->reached) memset(v->dead_params, 0xff, sizeof v->dead_params);
    const bool outer = w->v->outer && !x->node->inner && (!v->reached || v->outer);
    grows |= outer != v->outer;
    v->outer = outer;
    for (uint32_t k = 0; k < g->nparams; k++) {
        const uint8_t bit = (uint8_t)(1u << k % 8);
        if (!(v->dead_params[k / 8] & bit) || called_dead(w, x, g, k)) continue;
        v->dead_params[k / 8] &= (uint8_t)~bit;
        grows = true;
    }
    v->reached = true;
    v->waits |= grows;
}

static void pass_call(const flow *w, const step *x) {
    const rvm_callee g = rvm__callee_of(w->s->p, x->in);
    if (w->record)
        RVM__EACH_CALLEE(callee, w->s->p, x->in) merge(w, x, &g, callee);
    for (uint32_t k = 0; k < x->in->nplaces; k++) {
        use_indices(w, &x->q[k]);
        if (k < g.first || g.params[k - g.first].role != RVM_ACC) set_live(w, bit_of(w, &x->q[k]), true);
    }
}

/* ---- a function ---- */

static void visit(flow *w, uint32_t at) {
    const rvm__node *d = &w->list.nodes[at];
    char buffer[256];
    const step x = step_of(w, d, buffer);
    if (rvm__is_call(x.in)) {
        pass_call(w, &x);
    } else if (d->partner != RVM__NO_NODE) {
        if (rvm__letter_toggles(x.letters[0]))
            pass_loop(w, &x, at);
        else
            pass_jump(w, &x, at);
    } else {
        const bool fails = !only_asserts(&x) && may_fail(w, &x);
        const bool needed = always_runs(&x) ? !only_asserts(&x) || !x.unchecked : fails || changes_live(w, &x);
        pass(w, &x, needed);
        if (!needed && x.letters[0] != 'X') return;
    }
    if (w->record) w->v->passed[d->pc] |= d->down ? NEEDED_DOWN : NEEDED_UP;
}

/* What is live when the function is through. */
static void start_at_end(const flow *w) {
    const rvm_function *f = w->list.f;
    memset(w->live, 0, w->words * sizeof *w->live);
    for (uint32_t k = 0; k < f->nparams; k++) {
        const uint32_t bit = (f->params[k].ndim ? f->nregs : 0) + f->params[k].index;
        if (!(w->v->dead_params[k / 8] >> k % 8 & 1)) set_live(w, bit, true);
    }
}

static bool sweep(void *userdata, uint32_t node) {
    flow *w = userdata;
    (void)node; /* the whole list is one: a set moves along it */
    w->grew = false;
    start_at_end(w);
    for (uint32_t k = w->list.n; k-- > 0;) visit(w, k);
    return w->grew;
}

/* A set for each node that keeps one, and for the first end of a loop its slices behind it. False: there are too many. */
static bool number_sets(flow *w, uint64_t *words) {
    uint64_t n = 1; /* the first is `live` */
    for (uint32_t k = 0; k < w->list.n; k++) {
        rvm__node *d = &w->list.nodes[k];
        const bool loop = d->partner != RVM__NO_NODE && rvm__op_target((rvm_op)d->op) == 'L' && rvm__is_loop(d->op);
        if (d->partner == RVM__NO_NODE || (!loop && !rvm__is_inverse(d->op))) continue;
        if (n * w->words > MOST_WORDS) return false;
        d->set = (uint32_t)n;
        n += loop && !rvm__is_inverse(d->op) ? 2 : 1;
    }
    *words = n * w->words;
    return *words <= MOST_WORDS;
}

/* The bits of arrays, put behind those of registers. */
static void find_slices(flow *w, void *work, uint64_t *bits) {
    const rvm_function *f = w->list.f;
    for (uint32_t k = 0; k < w->list.n; k++) {
        const rvm__node *d = &w->list.nodes[k];
        if (d->op != RVM_OP_for && d->op != RVM_OP_par) continue;
        memset(bits, 0, (f->narrays / 64 + 1) * sizeof *bits);
        rvm__slices_find(&w->list, k, work, bits);
        uint64_t *apart = set_at(w, k) + w->words;
        for (uint32_t a = 0; a < f->narrays; a++)
            if (bits[a / 64] >> a % 64 & 1) apart[(f->nregs + a) / 64] |= UINT64_C(1) << (f->nregs + a) % 64;
    }
}

static void settle(flow *w) {
    rvm__solve(1, sweep, w);
    memset(w->v->passed, 0, w->list.f->ncode);
    for (uint32_t k = 0; k < w->list.n; k++)
        w->v->passed[w->list.nodes[k].pc] |= w->list.nodes[k].down ? SEEN_DOWN : SEEN_UP;
    w->record = true;
    sweep(w, 0);
}

/* All that the instruction may call is live. */
static void use_callees(const flow *w, const rvm_insn *in) {
    static const uint8_t none[RVM_MAX_PARAMS / 8 + 1];
    RVM__EACH_CALLEE(callee, w->s->p, in)
        for (int backward = 0; backward < 2; backward++) {
            specialisation *v = specialisation_of(w->s, callee, backward);
            if (v->reached && !v->outer && !memcmp(v->dead_params, none, sizeof none)) continue;
            memset(v->dead_params, 0, sizeof v->dead_params);
            v->outer = false;
            v->waits = v->reached = true;
        }
}

/* Where the analysis bails out: nothing is dead in the function. */
static void all_live(const flow *w) {
    const rvm_function *f = w->list.f;
    memset(w->v->passed, SEEN_UP | SEEN_DOWN | NEEDED_UP | NEEDED_DOWN, f->ncode);
    memset(w->v->dead_params, 0, sizeof w->v->dead_params);
    RVM__EACH_INSN(x, f) use_callees(w, x.in);
}

/* ---- over the call graph ---- */

/* The list of the function; false: out of memory. */
static bool make_list(flow *w, uint32_t fn, bool backward) {
    const rvm__liveness *s = w->s;
    const rvm_function *f = &s->p->functions[fn];
    uint8_t *regions = rvm__zone_make(&w->memory, f->ncode, 1);
    if (!regions || !rvm__elision_find(s->p, s->reach, fn, s->run.unchecked, regions, NULL)) return false;
    RVM__EACH_INSN(x, f)
        if (s->run.whole && regions[x.pc] != RVM__FORGETS) regions[x.pc] = RVM__RUNS_TWICE;
    return rvm__list_make(&w->list, s->p, fn, backward, regions);
}

/* The sets of a function, and what is dead; false: out of memory. */
static bool solve(flow *w) {
    const rvm_function *f = w->list.f;
    uint64_t words = 0;
    w->words = (f->nregs + f->narrays) / 64 + 1;
    if (w->list.too_large || !number_sets(w, &words)) return all_live(w), true;
    uint64_t *bits = rvm__zone_make(&w->memory, f->narrays / 64 + 1, sizeof *bits);
    void *work = rvm__zone_make(&w->memory, rvm__slices_work(f), 1);
    w->sets = w->live = rvm__zone_make(&w->memory, words, sizeof *w->sets);
    if (w->memory.failed) return false;
    find_slices(w, work, bits);
    settle(w);
    return true;
}

static bool analyse(rvm__liveness *s, uint32_t fn, bool backward) {
    specialisation *v = specialisation_of(s, fn, backward);
    flow w = {.s = s, .v = v, .memory = {.al = &s->p->al}};
    v->waits = false;
    if (!v->passed) v->passed = rvm__zone_make(&s->memory, s->p->functions[fn].ncode, 1);
    const bool ok = v->passed && make_list(&w, fn, backward) && solve(&w);
    rvm__list_free(&w.list);
    rvm__zone_free(&w.memory);
    return ok;
}

/* Both directions, if more of what they leave is live than before. */
static bool visit_function(void *userdata, uint32_t fn) {
    rvm__liveness *s = userdata;
    bool any = false;
    for (int backward = 0; backward < 2; backward++) {
        if (s->memory.failed || !specialisation_of(s, fn, backward)->waits) continue;
        s->memory.failed = !analyse(s, fn, backward);
        any = true;
    }
    return any;
}

static bool find(rvm__liveness *s, const rvm__liveness_run *run) {
    const size_t n = s->p->nfunctions;
    s->reach = rvm__zone_make(&s->memory, n, sizeof *s->reach);
    s->functions = rvm__zone_make(&s->memory, 2 * n, sizeof *s->functions);
    if (s->memory.failed || !rvm__reach_find(s->p, s->reach)) return false;
    specialisation *first = specialisation_of(s, run->fn, run->backward);
    for (uint32_t k = 0; run->dead_params && k < s->p->functions[run->fn].nparams; k++)
        if (run->dead_params[k]) first->dead_params[k / 8] |= (uint8_t)(1u << k % 8);
    first->outer = first->waits = first->reached = true;
    rvm__solve_calls(&s->p->calls, RVM__CALLERS_FIRST, visit_function, s);
    return !s->memory.failed;
}

rvm_status rvm__liveness_new(const rvm_program *p, const rvm__liveness_run *run, rvm__liveness **out) {
    rvm__liveness *s = rvm__realloc(&p->al, NULL, 0, sizeof *s);
    *out = s;
    if (!s) return RVM_ERR_MEMORY;
    *s = (rvm__liveness){.p = p, .run = *run, .memory = {.al = &p->al}};
    s->run.dead_params = NULL;
    if (find(s, run)) return RVM_OK;
    rvm__liveness_free(s);
    *out = NULL;
    return RVM_ERR_MEMORY;
}

void rvm__liveness_free(rvm__liveness *s) {
    if (!s) return;
    rvm__zone_free(&s->memory);
    rvm__realloc(&s->p->al, s, sizeof *s, 0);
}

/* ---- answers ---- */

enum rvm__liveness_answer rvm__liveness_at(const rvm__liveness *s, uint32_t fn, bool backward, uint32_t pc, bool down) {
    const specialisation *v = specialisation_of(s, fn, backward);
    if (!v->reached || !(v->passed[pc] & (down ? SEEN_DOWN : SEEN_UP))) return RVM__NOT_PASSED;
    return v->passed[pc] & (down ? NEEDED_DOWN : NEEDED_UP) ? RVM__NEEDED : RVM__DEAD;
}

bool rvm__dead_param(const rvm__liveness *s, uint32_t fn, bool backward, uint32_t param) {
    const specialisation *v = specialisation_of(s, fn, backward);
    return v->reached && v->dead_params[param / 8] >> param % 8 & 1;
}

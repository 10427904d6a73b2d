/* derive.c: the code list walked, up for the tangent, down for inverse and adjoint; regions and calls on the way.
 *
 * A region's inverse is the region around the inverse of B, and its tangent is the region of the tangents. Its adjoint, in
 * either direction, is no region:
 *
 *     segment n - 1 ; C again ; endsegment n - 1 ; B's adjoint ; segment n - 1 ; C's adjoint ; endsegment n - 1
 *
 * C runs again as it is, the shadows of what it leaves appearing beside, unless it borrows (activity.h): then as the adjoint
 * of its inverse, which in exact runs sets shadows aside (borrow.c). The segments are left out where C does nothing with a
 * trail, but for exact runs, which record as on one.
 * Where nothing in C has a shadow, either, its adjoint is C backward, and all of it a region around B's adjoint, which
 * engines know to shorten (elision.h). A region that ends by `forget` has these adjoints too: C again, with what it
 * overwrites kept, so that C's adjoint can take it back.
 *
 * Walking a list up with the sweep's style gives the adjoint of its inverse.
 */
#include "derive.h"
#include "origin.h"
#include "verify.h"
#include "builder.h"
#include "solver.h"
#include "support.h"

#include <string.h>

static void walk(rvm__derive *t, uint32_t lo, uint32_t hi, int step, enum rvm__style style);

/* ---- origins ---- */

/* What was emitted from `from` on stands for an instruction of the source. */
static void note(rvm__derive *t, uint32_t pc, uint32_t from, int up, int down, bool swept) {
    const rvm__origin x = {pc, from, t->g.ncode, (int8_t)up, (int8_t)down, swept};
    if (!t->status && t->p->origins && !rvm__origin_note(t->p->origins, t->dst, x)) rvm__derive_fail(t, RVM_ERR_MEMORY);
}

/* It runs here, and nothing is emitted for it. */
static void note_here(rvm__derive *t, uint32_t pc, int direction, bool swept) {
    note(t, pc, t->g.ncode, direction, -direction, swept);
}

/* ---- calls ---- */

/* A print, which derived code leaves out, but where it is to tell what ran. */
static bool is_print(const rvm__derive *t, const rvm_insn *in) {
    return !t->p->origins && rvm__op_target((rvm_op)in->op) == 'F' && rvm__print_text(t->p, in->target);
}

/* Whether something that the instruction may call does that with trails, or with the stack. */
static bool reaches(const rvm__derive *t, const rvm_insn *in, bool trail) {
    RVM__EACH_CALLEE(g, t->p, in)
        if (g >= t->nreach || (trail ? t->reach[g].trail : t->reach[g].stack)) return true;
    return false;
}

/* Whether something that the instruction may call is a loop that runs again from snapshots. */
static bool reaches_outlined(const rvm__derive *t, const rvm_insn *in) {
    RVM__EACH_CALLEE(g, t->p, in)
        if (t->p->noutlined && (g >= t->nreach || t->reach[g].outlined)) return true;
    return false;
}

/* Such a loop discards what its adjoint does not put back, so that only adjoints go back over it. */
static bool derives(const rvm__derive *t, const rvm_insn *in, const uint8_t *active) {
    if (t->kind == RVM_ADJOINT && (t->p->origins || reaches_outlined(t, in))) return true;
    for (uint32_t k = 0; k < in->nplaces; k++)
        if (active[k]) return true;
    return t->a.stack && reaches(t, in, false);
}

/* active: by place. What is active in the callee and not here, or of whose shadow nothing is gained, is lent a shadow; what
 * that gains is nobody's. */
static void emit_call(rvm__derive *t, const rvm_insn *in, rvm_op op, uint8_t flags, uint32_t target, const uint8_t *active) {
    const rvm_place *q = rvm__places(rvm__source(t), in);
    rvm_place places[2 * RVM_MAX_PARAMS] = {{0}};
    int n = 0, lent[RVM_MAX_PARAMS + 1] = {0};
    for (int k = 0; k < in->nplaces; k++) {
        places[n++] = rvm__value_place(t, &q[k]);
        if (!active[k]) continue;
        if (!rvm__active(t, &q[k]) || rvm__shadow_stays(t, &q[k])) lent[k] = n;
        places[n++] = lent[k] ? rvm__lend(t, &q[k]) : rvm__shadow_place(t, &q[k]);
    }
    rvm__borrow_before(t, in, active);
    const uint32_t at = rvm__add(t, op, 0, flags, n, places);
    if (!t->status) t->g.code[at].target = target;
    rvm__borrow_behind(t, in, active);
    for (int k = in->nplaces; k-- > 0;) /* arrays are nested */
        if (lent[k]) rvm__take_lent(t, &q[k], places[lent[k]]);
}

typedef struct closing { /* a call, and its active arguments */
    const rvm__derive *t;
    const rvm_insn *in;
    uint8_t *active;
} closing;

/* Whether a parameter that is not given as active may be so in the callee. */
static bool may_need_more(const closing *c, uint32_t callee) {
    const rvm_function *f = &c->t->p->functions[callee];
    for (uint32_t k = 0; k < f->nparams; k++)
        if (!c->active[k] && rvm__is_param_active(c->t->p, &c->t->a, callee, k)) return true;
    return false;
}

static bool visit_callees(void *userdata, uint32_t node) {
    const closing *c = userdata;
    const rvm__derive *t = c->t;
    bool grew = false;
    (void)node;
    RVM__EACH_CALLEE(g, t->p, c->in)
        grew |= may_need_more(c, g) && rvm__activity_close(t->p, t->of_callee, g, c->active, t->a.stack);
    return grew;
}

/* A parameter that is only read may become active by recursion, or by what stands on the stack, whatever is given for it. */
static void close_active(const rvm__derive *t, const rvm_insn *in, uint8_t *active) {
    rvm__solve(1, visit_callees, &(closing){t, in, active + rvm__callee_of(t->p, in).first});
}

/* The variant by which a derived function calls what it calls by another (builder.h). */
static uint32_t derive_variant(rvm__derive *t, uint32_t parent, rvm_transform kind, const uint8_t *active) {
    const rvm_variant v = {.parent = parent,
                           .kind = (uint8_t)kind,
                           .level = kind == RVM_INVERSE ? 0 : t->level,
                           .stack = kind != RVM_INVERSE && t->a.stack,
                           .paired = rvm__pairs(t, kind),
                           .borrowing = (uint8_t)(kind == RVM_ADJOINT ? t->borrowing : RVM__TAKES_ALONG),
                           .active = (uint8_t *)(uintptr_t)active};
    const int64_t out = t->status ? 0 : rvm__variant_derive(t->p, &v);
    if (out == -1) rvm__derive_fail(t, RVM_ERR_MEMORY);
    if (out == -2)
        rvm__derive_fail(t, rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                                         "too many kinds of derivatives of function values, or one with more than %d "
                                         "parameters",
                                         RVM_MAX_SIGNATURE_PARAMS));
    return out < 0 ? 0 : (uint32_t)out;
}

static uint32_t derive_target(rvm__derive *t, const rvm_insn *in, uint32_t target, rvm_transform kind,
                              const uint8_t *active) {
    const bool value = rvm__op_target((rvm_op)in->op) == 'S';
    return value ? derive_variant(t, target, kind, active + 1) : rvm__derive_request(t, target, kind, active);
}

/* Of a call of a derivative: an adjoint that takes back does so by itself. */
static uint8_t adjoint_flags(const rvm__derive *t, const rvm_insn *in) {
    const bool marked = in->flags & (RVM_FLAG_RESTORE | RVM_FLAG_SWEPT);
    if (t->kind != RVM_ADJOINT || !rvm__takes_back(t) || marked) return rvm__value_flags(t, in);
    return in->flags | RVM_FLAG_SWEPT;
}

static void derive_call(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    if (is_print(t, in)) return;
    static const uint8_t none[RVM_MAX_PARAMS];
    const rvm_place *q = rvm__places(rvm__source(t), in);
    uint8_t active[RVM_MAX_PARAMS + 1] = {0};
    for (int k = 0; k < in->nplaces; k++) active[k] = rvm__active(t, &q[k]);
    const bool sweep = t->kind == RVM_ADJOINT;
    if (!derives(t, in, active)) {
        emit_call(t, in, sweep ? rvm__op_inverse(op) : op, rvm__value_flags(t, in), in->target, none);
        return;
    }
    close_active(t, in, active);
    uint32_t target = in->target;
    if (sweep && rvm__is_inverse(op)) target = derive_target(t, in, target, RVM_INVERSE, none);
    emit_call(t, in, sweep ? (rvm_op)(op & ~1u) : op, adjoint_flags(t, in), derive_target(t, in, target, t->kind, active),
              active);
}

/* ---- one instruction ---- */

static void copy(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    if (!rvm__is_call(in)) {
        rvm__copy_op(t, in, op);
        return;
    }
    static const uint8_t none[RVM_MAX_PARAMS];
    if (!is_print(t, in)) emit_call(t, in, op, rvm__value_flags(t, in), in->target, none);
}

static void one_op(rvm__derive *t, const rvm_insn *in, rvm_op op, bool sweep) {
    (rvm__class_of(op) == RVM_CLASS_IN_PLACE ? rvm__derive_change : rvm__derive_op)(t, in, op, sweep);
}

static void tangent(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    if (rvm__is_call(in))
        derive_call(t, in, op);
    else if (rvm__op_is_update(op))
        rvm__tangent_update(t, in, op);
    else
        one_op(t, in, op, false);
}

/* In exact runs the tangent of an inverse is the inverse of the tangent, so that whichever way one records, the other takes
 * back in the order that this wants. */
static void tangent_of_inverse(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const uint32_t from = t->g.ncode;
    tangent(t, in, rvm__op_inverse(op));
    if (!t->status) rvm__function_turn(&t->g, from);
}

static void emit_one(rvm__derive *t, uint32_t pc, int step, enum rvm__style style) {
    const rvm_insn in = rvm__source(t)->code[pc];
    const rvm_op op = (rvm_op)in.op;
    t->pc = pc;
    t->step = style == RVM__SWEEP ? step : 1;
    if (t->borrowing && rvm__op_on_trail(op) && rvm__is_inverse(op) && rvm__pair_of(op) != RVM_PAIR_segment)
        rvm__borrow_refuse(t, "is there while something is taken from the trail"); /* on which it would stand */
    switch (style) {
    case RVM__COPY: copy(t, &in, op); return;
    case RVM__INVERT: copy(t, &in, rvm__op_inverse(op)); return;
    case RVM__TANGENT: {
        const bool turned = t->p->exact && rvm__op_is_recorded(op) && rvm__is_inverse(op);
        (turned ? tangent_of_inverse : tangent)(t, &in, op);
        return;
    }
    case RVM__SWEEP: {
        const rvm_op does = step < 0 ? op : rvm__op_inverse(op);
        if (rvm__is_call(&in))
            derive_call(t, &in, does);
        else if (rvm__op_is_update(op))
            rvm__sweep_update(t, &in, does);
        else
            one_op(t, &in, does, true);
        return;
    }
    }
}

static void derive_one(rvm__derive *t, uint32_t pc, int step, enum rvm__style style) {
    const uint32_t from = t->g.ncode;
    emit_one(t, pc, step, style);
    note(t, pc, from, step, -step, style == RVM__SWEEP);
}

/* ---- regions ---- */

typedef struct region {
    uint32_t compute, begin, undo; /* begin: the `do` */
} region;

static void emit_at(rvm__derive *t, uint32_t pc) {
    const rvm_insn in = rvm__source(t)->code[pc];
    t->pc = pc;
    rvm__add_value(t, &in, (rvm_op)in.op);
}

/* An end of a region that stays one: what it runs for going up, and going down. */
static void keep_end(rvm__derive *t, uint32_t pc, uint32_t up, int up_way, uint32_t down, int down_way) {
    const uint32_t from = t->g.ncode;
    emit_at(t, pc);
    note(t, up, from, up_way, 0, false);
    note(t, down, from, 0, down_way, false);
}

/* The region as a region, of C and B each in its style. Either way one runs `compute` C `do` B `undo`, then C and `compute`
 * down; the other way `undo`, C, `do` up, B, `do`, C, `compute` down. */
static void keep_region(rvm__derive *t, region r, int step_b, enum rvm__style c, enum rvm__style b) {
    const bool turned = step_b < 0;
    keep_end(t, r.compute, turned ? r.undo : r.compute, step_b, r.compute, -1);
    walk(t, r.compute + 1, r.begin, 1, c);
    keep_end(t, r.begin, r.begin, 1, turned ? r.undo : r.begin, -step_b);
    walk(t, r.begin + 1, r.undo, step_b, b);
    keep_end(t, r.undo, turned ? r.begin : r.undo, step_b, turned ? r.compute : r.undo, -step_b);
}

/* What C leaves for B: present at `do` but not at `compute`. The verifier has noted both. */
static void mark_leaves(rvm__derive *t, region r, uint8_t value) {
    const rvm__verifier *v = t->v;
    const uint32_t *snapshot = v->snapshot + v->base[t->src].code;
    const uint32_t ends[2] = {r.begin, r.compute}, nregs = rvm__source(t)->nregs;
    for (int e = 0; e < 2; e++) {
        const uint32_t *s = v->words + snapshot[ends[e]];
        const uint8_t to = e ? 0 : value;
        for (uint32_t k = 0; k < s[0]; k++) t->mirror[s[2 + k]] = to;
        for (uint32_t k = 0; k < s[1]; k++) t->mirror[nregs + (s[2 + s[0] + k] & UINT16_MAX)] = to;
    }
}

/* C's adjoint, or that of its inverse; borrowing: where C borrows, and runs are exact. */
static void sweep_compute(rvm__derive *t, region r, int step, bool borrows, enum rvm__borrowing borrowing) {
    const enum rvm__borrowing around = t->borrowing;
    const uint32_t part = t->part;
    t->borrowing = t->p->exact && borrows ? borrowing : RVM__TAKES_ALONG;
    t->part = ++t->nparts;
    walk(t, r.compute + 1, r.begin, step, RVM__SWEEP);
    t->borrowing = around;
    t->part = part;
}

static void run_again(rvm__derive *t, region r, bool borrows) {
    if (borrows) {
        sweep_compute(t, r, 1, true, RVM__SETS_ASIDE);
        return;
    }
    mark_leaves(t, r, 1);
    walk(t, r.compute + 1, r.begin, 1, RVM__COPY);
    memset(t->mirror, 0, (size_t)rvm__source(t)->nregs + rvm__source(t)->narrays);
}

static bool touches_trail(const rvm__derive *t, region r) {
    RVM__EACH_INSN_IN(x, rvm__source(t), r.compute, r.begin)
        if (rvm__op_on_trail((rvm_op)x.in->op) || reaches(t, x.in, true)) return true;
    return false;
}

static void segment(rvm__derive *t, uint32_t pc, bool touches, rvm_op op) {
    t->pc = pc;
    if (touches || t->p->exact) RVM__ADD(t, op, 0, 0, rvm__integer_place(t, t->level - 1));
}

/* Whether C has neither shadows nor trails: then its adjoint is C backward; or is forgotten, whatever it overwrites. */
static bool is_plain(const rvm__derive *t, region r) {
    RVM__EACH_INSN_IN(x, rvm__source(t), r.compute, r.begin) {
        for (int k = 0; k < x.in->nplaces; k++)
            if (rvm__active(t, &x.q[k])) return false;
        if (t->a.stack && (rvm__op_on_stack((rvm_op)x.in->op) || reaches(t, x.in, false))) return false;
    }
    return !t->p->origins && (rvm__forgets(rvm__source(t), r.compute) || !touches_trail(t, r));
}

static void sweep_region(rvm__derive *t, region r, int step) {
    if (is_plain(t, r)) {
        keep_region(t, r, step, RVM__COPY, RVM__SWEEP);
        return;
    }
    const bool touches = touches_trail(t, r);
    const bool borrows = t->borrows[r.compute] & (step < 0 ? RVM__BORROWS_DOWN : RVM__BORROWS_UP);
    note_here(t, step < 0 ? r.undo : r.compute, step, true);
    segment(t, r.compute, touches, RVM_OP_segment);
    t->again++;
    run_again(t, r, borrows);
    t->again--;
    note_here(t, r.begin, 1, borrows);
    segment(t, r.begin, touches, RVM_OP_endsegment);
    walk(t, r.begin + 1, r.undo, step, RVM__SWEEP);
    note_here(t, step < 0 ? r.begin : r.undo, step, true);
    segment(t, r.begin, touches, RVM_OP_segment);
    t->again++;
    sweep_compute(t, r, -1, borrows, RVM__ADDS_AGAIN);
    t->again--;
    note_here(t, r.compute, -1, true);
    segment(t, r.compute, touches, RVM_OP_endsegment);
}

static void derive_region(rvm__derive *t, region r, int step, enum rvm__style style) {
    switch (style) {
    case RVM__COPY: keep_region(t, r, 1, RVM__COPY, RVM__COPY); return;
    case RVM__INVERT: keep_region(t, r, -1, RVM__COPY, RVM__INVERT); return;
    case RVM__TANGENT: keep_region(t, r, 1, RVM__TANGENT, RVM__TANGENT); return;
    case RVM__SWEEP: sweep_region(t, r, step); return;
    }
}

/* ---- the list ---- */

/* Instructions lo up to, not including, hi, in the order of step. Jumps and loops do not leave such a stretch. */
static void walk(rvm__derive *t, uint32_t lo, uint32_t hi, int step, enum rvm__style style) {
    const uint32_t nopen = t->nopen;
    if (t->status) return; /* else parts in one another would be walked for nothing, doubling */
    for (uint32_t k = step > 0 ? lo : hi; step > 0 ? k < hi : k > lo;) {
        const uint32_t pc = step > 0 ? k : k - 1;
        const rvm_insn *code = rvm__source(t)->code, *in = &code[pc];
        if (rvm__pair_of(in->op) == RVM_PAIR_compute || rvm__pair_of(in->op) == RVM_PAIR_undo) {
            const uint32_t compute = rvm__pair_of(in->op) == RVM_PAIR_compute ? pc : in->target;
            const region r = {compute, code[compute].target, code[code[compute].target].target};
            derive_region(t, r, step, style);
            k = step > 0 ? r.undo + 1 : r.compute;
        } else {
            derive_one(t, pc, step, style);
            k = step > 0 ? k + 1 : k - 1;
        }
        if (t->status) return;
    }
    rvm__close_targets(t, nopen);
}

/* ---- derivatives written by hand ---- */

static bool is_inverse_of(const char *name, const char *of) {
    const size_t n = strlen(of);
    return !strncmp(name, of, n) && name[n] == '\'' && !strcmp(name + n + 1, rvm__transform_tick[RVM_INVERSE]);
}

/* Whether a rule serves at this level. One of another level than its function's own would find shadows in the entries of
 * that function that it does not know of, and leave its own where other entries are awaited. */
static bool serves(const rvm__derive *t, const rvm_rule *rule) {
    return t->level == t->reach[t->src].order || (!t->reach[t->src].trail && !t->reach[rule->fn].trail);
}

/* The rule for the derivative that is being written, or of what its source is the inverse of: *op says how it is called. */
static const rvm_rule *find_rule(const rvm__derive *t, rvm_op *op) {
    const char *name = rvm__source(t)->name;
    const rvm_rule *rule = rvm__rule_find(t->p, t->src, t->kind, t->wrt);
    *op = RVM_OP_call;
    for (uint32_t k = 0; !rule && k < t->p->nrules; k++) {
        const uint32_t of = t->p->rules[k].of;
        if (is_inverse_of(name, t->p->functions[of].name)) rule = rvm__rule_find(t->p, of, t->kind, t->wrt);
        *op = RVM_OP_uncall;
    }
    return rule && serves(t, rule) ? rule : NULL;
}

/* A call of the rule; for what has no shadow here it is lent one. */
static void by_rule(rvm__derive *t, const rvm_rule *rule, rvm_op op) {
    const rvm_function *f = rvm__source(t);
    rvm_place q[RVM_MAX_PARAMS], places[2 * RVM_MAX_PARAMS];
    int n = 0, lent[RVM_MAX_PARAMS] = {0};
    t->pc = 0;
    rvm__add(t, RVM_OP_start, 0, 0, 0, NULL);
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *param = &f->params[k];
        q[k] = (rvm_place){.kind = param->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = param->index};
        places[n++] = rvm__value_place(t, &q[k]);
        if (!rule->active[k]) continue;
        if (!t->wrt[k]) lent[k] = n;
        places[n++] = lent[k] ? rvm__lend(t, &q[k]) : rvm__shadow_place(t, &q[k]);
    }
    const bool sweeps = t->p->exact && t->kind == RVM_ADJOINT; /* through which exact runs do not go */
    const uint32_t at = rvm__add(t, op, 0, sweeps ? RVM_FLAG_SWEPT : 0, n, places);
    if (!t->status) t->g.code[at].target = rule->fn;
    for (uint32_t k = f->nparams; k-- > 0;)
        if (lent[k]) rvm__take_lent(t, &q[k], places[lent[k]]);
    rvm__add(t, RVM_OP_halt, 0, 0, 0, NULL);
}

/* call f; call f'adj */
static void gradient(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    rvm_place plain[RVM_MAX_PARAMS], all[RVM_MAX_PARAMS];
    int n = 0, m = 0;
    for (uint32_t k = 0; k < t->g.nparams; k++) {
        const rvm_param *q = &t->g.params[k];
        all[n++] = (rvm_place){.kind = q->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = q->index};
    }
    for (uint32_t k = 0, at = 0; k < f->nparams; k++, at++) {
        plain[m++] = all[at];
        at += t->wrt[k] != 0;
    }
    t->pc = 0;
    rvm__add(t, RVM_OP_start, 0, 0, 0, NULL);
    uint32_t at = rvm__add(t, RVM_OP_call, 0, 0, m, plain);
    if (!t->status) t->g.code[at].target = t->src;
    at = rvm__add(t, RVM_OP_call, 0, t->p->exact ? RVM_FLAG_SWEPT : 0, n, all);
    const uint32_t adjoint = rvm__derive_request(t, t->src, RVM_ADJOINT, t->wrt);
    if (!t->status) t->g.code[at].target = adjoint;
    if (!t->status) t->pc = rvm__source(t)->ncode - 1;
    rvm__add(t, RVM_OP_halt, 0, 0, 0, NULL);
}

rvm_status rvm__derive_code(rvm__derive *t) {
    const uint32_t n = rvm__source(t)->ncode;
    rvm_op op;
    const rvm_rule *rule = rvm__has_shadows(t) ? find_rule(t, &op) : NULL;
    if (rule && t->borrowing) rvm__borrow_refuse(t, "a function changes whose adjoint is written by hand");
    if (rule) {
        by_rule(t, rule, op);
        return t->status;
    }
    switch (t->kind) {
    case RVM_INVERSE: walk(t, 0, n, -1, RVM__INVERT); break;
    case RVM_TANGENT_OF: walk(t, 0, n, 1, RVM__TANGENT); break;
    case RVM_ADJOINT:
        if (!rvm__sweep_outlined(t)) walk(t, 0, n, -1, RVM__SWEEP);
        break;
    case RVM_GRADIENT_OF: gradient(t); break;
    case RVM_TRANSFORM_COUNT: break;
    }
    return t->status;
}

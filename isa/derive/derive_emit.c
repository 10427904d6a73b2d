/* derive_emit.c: registers, places and instructions of the new function. See derive.h. */
#include "derive.h"
#include "maths.h"
#include "builder.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

void rvm__derive_fail(rvm__derive *t, rvm_status s) {
    if (t->status || !s) return;
    t->status = s;
    if (s == RVM_ERR_MEMORY) rvm__fail(t->err, s, NULL, 0, 0, "out of memory deriving '%s'", rvm__source(t)->name);
}

static void too_large(rvm__derive *t) {
    if (t->status) return;
    t->status = rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                             "the derivative of '%s' is too large: more registers, arrays, constants or instructions than a "
                             "function can have",
                             rvm__source(t)->name);
}

/* Something could not be added to the function. */
static void no_room(rvm__derive *t) {
    const rvm_function *g = &t->g;
    if (g->nregs >= RVM_MAX_REGS || g->nconsts >= RVM_MAX_CONSTS || g->narrays >= RVM_MAX_ARRAYS)
        too_large(t);
    else
        rvm__derive_fail(t, RVM_ERR_MEMORY);
}

uint16_t rvm__new_register(rvm__derive *t, rvm_type type) {
    const int64_t k = t->status ? -1 : rvm__function_add_register(t->p, &t->g, type);
    if (k < 0) no_room(t);
    return (uint16_t)(k < 0 ? 0 : k);
}

uint16_t rvm__new_array(rvm__derive *t, const rvm_array_decl *a) {
    const int64_t k = t->status ? -1 : rvm__function_add_array(t->p, &t->g, (rvm_type)a->type, a->ndim);
    if (k < 0) no_room(t);
    return (uint16_t)(k < 0 ? 0 : k);
}

/* ---- places ---- */

bool rvm__active(const rvm__derive *t, const rvm_place *q) {
    return rvm__has_shadows(t) && rvm__is_active(t->p, &t->a, t->src, q);
}

static uint16_t slot_of(rvm__derive *t, uint16_t slot) {
    const rvm_function *f = rvm__source(t);
    if (slot < f->nregs) return t->reg[slot];
    const uint32_t k = slot - f->nregs;
    const int64_t c = rvm__function_add_const(t->p, &t->g, (rvm_type)f->const_type[k], f->consts[k]);
    if (c < 0) no_room(t);
    return (uint16_t)(RVM_BUILD_CONST + (c < 0 ? 0 : c));
}

static rvm_place map_place(rvm__derive *t, const rvm_place *q, bool shadow) {
    rvm_place to = *q;
    switch ((rvm_place_kind)q->kind) {
    case RVM_PLACE_SLOT: to.slot = shadow ? t->shadow_reg[q->slot] : slot_of(t, q->slot); break;
    case RVM_PLACE_RANGE: to.slot = slot_of(t, q->slot); break;
    case RVM_PLACE_ELEM:
    case RVM_PLACE_ARRAY: to.slot = shadow ? t->shadow_array[q->slot] : t->array[q->slot]; break;
    case RVM_PLACE_KIND_COUNT: break;
    }
    const int nidx = q->kind == RVM_PLACE_RANGE ? 1 : q->kind == RVM_PLACE_ELEM ? q->nidx : 0;
    for (int k = 0; k < nidx; k++) to.idx[k] = slot_of(t, q->idx[k]);
    return to;
}

rvm_place rvm__value_place(rvm__derive *t, const rvm_place *q) {
    return map_place(t, q, false);
}

rvm_place rvm__shadow_place(rvm__derive *t, const rvm_place *q) {
    return map_place(t, q, true);
}

rvm_place rvm__const_place(rvm__derive *t, rvm_type type, double k) {
    rvm_value v = {.f = k}, none = {.u = 0};
    int overflow = 0;
    if (type != RVM_F64)
        v = rvm__math_libm.kernels[rvm__kernel_index(RVM_ROW_conv, type, RVM_F64)].f(v, none, none, &overflow);
    const int64_t c = t->status ? -1 : rvm__function_add_const(t->p, &t->g, type, v);
    if (c < 0) no_room(t);
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)(RVM_BUILD_CONST + (c < 0 ? 0 : c))};
}

rvm_place rvm__no_gain(rvm__derive *t, rvm_type type) {
    return rvm__const_place(t, type, -0.0);
}

rvm_place rvm__integer_place(rvm__derive *t, int64_t k) {
    const int64_t c = t->status ? -1 : rvm__function_add_const(t->p, &t->g, RVM_I64, (rvm_value){.i = k});
    if (c < 0) no_room(t);
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)(RVM_BUILD_CONST + (c < 0 ? 0 : c))};
}

rvm_place rvm__temp(rvm__derive *t, rvm_type type) {
    const uint16_t k = t->nfree[type] ? t->free_regs[type][--t->nfree[type]] : rvm__new_register(t, type);
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = k};
}

void rvm__temp_free(rvm__derive *t, rvm_place q) {
    const rvm_type type = t->status ? RVM_I64 : (rvm_type)t->g.reg_type[q.slot];
    if (t->status) return;
    if (!rvm__grow(&t->p->al, (void **)&t->free_regs[type], &t->cap_free[type], t->nfree[type] + 1u, sizeof(uint16_t)))
        rvm__derive_fail(t, RVM_ERR_MEMORY);
    else
        t->free_regs[type][t->nfree[type]++] = q.slot;
}

rvm_place rvm__temp_array(rvm__derive *t, rvm_type type, const rvm_place *like) {
    const rvm_array_decl want = {.type = (uint8_t)type, .ndim = t->status ? 1 : t->g.arrays[like->slot].ndim};
    rvm_place q = {.kind = RVM_PLACE_ARRAY};
    for (uint16_t k = 0; k < t->nspare && !t->status; k++) {
        const rvm_array_decl *a = &t->g.arrays[t->spare_arrays[k]];
        if (a->type != want.type || a->ndim != want.ndim) continue;
        q.slot = t->spare_arrays[k];
        t->spare_arrays[k] = t->spare_arrays[--t->nspare];
        return q;
    }
    q.slot = rvm__new_array(t, &want);
    return q;
}

void rvm__temp_array_free(rvm__derive *t, rvm_place q) {
    if (t->nspare < RVM_MAX_ENTRY) t->spare_arrays[t->nspare++] = q.slot;
}

/* ---- instructions ---- */

/* What a derived function may have: many times what one can become by the formulas of its instructions. Only compute parts
 * in one another that borrow (derive.c) make more, twice as many for each level. */
static uint32_t most_instructions(const rvm__derive *t) {
    enum { LEAST = 1 << 16, FOR_EACH = 256 };
    const uint64_t most = LEAST + (uint64_t)FOR_EACH * rvm__source(t)->ncode;
    return most < INT32_MAX ? (uint32_t)most : INT32_MAX;
}

/* How many compute parts the instruction being derived stands in. */
static uint32_t nested(const rvm__derive *t) {
    uint32_t n = 0;
    RVM__EACH_INSN_IN(x, rvm__source(t), 0, t->pc) n += (x.in->op == RVM_OP_compute) - (x.in->op == RVM_OP_do);
    return n;
}

static void grows_too_large(rvm__derive *t) {
    t->status =
        rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                     "%s'%s has more than %u instructions: compute parts nest %u deep here, and each level that changes "
                     "what was there before it doubles them; make an inner one a function",
                     rvm__source(t)->name, rvm__transform_tick[t->kind], most_instructions(t), nested(t));
}

static uint32_t add(rvm__derive *t, rvm_op op, rvm_row row, unsigned flags, int n, const rvm_place *places) {
    if (t->status) return 0;
    const rvm_function *f = rvm__source(t);
    if (t->g.ncode >= most_instructions(t)) {
        grows_too_large(t);
        return 0;
    }
    if (n > UINT8_MAX || !rvm__grow(&t->p->al, (void **)&t->from, &t->cap_from, t->g.ncode + 1, sizeof *t->from)) {
        n > UINT8_MAX ? too_large(t) : rvm__derive_fail(t, RVM_ERR_MEMORY);
        return 0;
    }
    const int64_t at = rvm__function_emit(t->p, &t->g, op, row, (uint8_t)flags, 0, places, (uint32_t)n, f->positions[t->pc]);
    if (at < 0) {
        no_room(t);
        return 0;
    }
    t->from[at] = t->pc;
    return (uint32_t)at;
}

enum { MARKS = RVM_FLAG_RESTORE | RVM_FLAG_SWEPT };

static bool is_released(rvm_op op) {
    return rvm__pair_of(op) == RVM_PAIR_let || rvm__pair_of(op) == RVM_PAIR_new;
}

/* In an exact run, of what stands beside the values. Tangents are recorded with what they are the tangents of, unless they
 * are apart, in a function without compute parts. An instruction that is its own inverse has one tangent, which takes
 * nothing back in the order that this wants where it stands in an adjoint: RVM_FLAG_RESTORE alone, which is refused. */
static unsigned marks_beside(const rvm__derive *t, rvm_op op) {
    const bool recorded = rvm__op_is_recorded(op);
    const rvm_insn *in = &rvm__source(t)->code[t->pc];
    if (t->kind == RVM_ADJOINT) return recorded ? RVM_FLAG_SWEPT : 0;
    if (t->kind != RVM_TANGENT_OF) return 0;
    if (t->p->apart && (is_released(op) || (recorded && !rvm__pairs(t, RVM_TANGENT_OF)))) return RVM_FLAG_SWEPT;
    if (!recorded) return 0;
    const bool own_inverse = rvm__op_inverse((rvm_op)in->op) == in->op;
    return own_inverse && rvm__is_marked(rvm__source(t)) ? RVM_FLAG_RESTORE : in->flags & MARKS;
}

uint32_t rvm__add(rvm__derive *t, rvm_op op, rvm_row row, uint8_t flags, int n, const rvm_place *places) {
    const unsigned others = t->kind == RVM_TANGENT_OF && rvm__op_is_recorded(op) ? flags & ~(unsigned)MARKS : flags;
    return add(t, op, row, t->p->exact ? others | marks_beside(t, op) : flags, n, places);
}

bool rvm__takes_back(const rvm__derive *t) {
    return t->p->exact && (t->kind == RVM_GRADIENT_OF || (t->step < 0 && (t->paired || t->again)));
}

/* Tangents are recorded throughout a function, since a block that adds into a register records its sums or does not. */
bool rvm__pairs(const rvm__derive *t, rvm_transform kind) {
    if (kind == RVM_TANGENT_OF) return t->p->apart && (t->paired || rvm__ops_in(rvm__source(t), RVM_OP_compute));
    return kind == RVM_ADJOINT && rvm__takes_back(t);
}

uint8_t rvm__value_flags(const rvm__derive *t, const rvm_insn *in) {
    if (!t->p->exact || t->kind == RVM_GRADIENT_OF || t->kind == RVM_TANGENT_OF) return in->flags;
    if (in->flags & MARKS) return (uint8_t)((in->flags & ~MARKS) | RVM_FLAG_RESTORE);
    return (uint8_t)(in->flags | (rvm__takes_back(t) ? MARKS : 0u));
}

static uint32_t emit_mapped(rvm__derive *t, const rvm_insn *in, rvm_op op, bool shadow) {
    rvm_place places[UINT8_MAX];
    const rvm_place *q = rvm__places(rvm__source(t), in);
    for (int k = 0; k < in->nplaces; k++) places[k] = map_place(t, &q[k], shadow && rvm__active(t, &q[k]));
    if (shadow) return rvm__add(t, op, (rvm_row)in->row, in->flags, in->nplaces, places);
    const uint8_t flags = rvm__op_is_recorded(op) ? rvm__value_flags(t, in) : in->flags;
    return add(t, op, (rvm_row)in->row, flags, in->nplaces, places);
}

void rvm__discard(rvm__derive *t, rvm_op op, rvm_place shadow) {
    const rvm_place site = rvm__integer_place(t, (*t->next_site)++);
    RVM__ADD(t, op, 0, 0, rvm__integer_place(t, t->level), site, rvm__integer_place(t, 1), shadow);
}

void rvm__entry_too_deep(rvm__derive *t) {
    if (t->status) return;
    t->status =
        rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                     "a trail entry has no room for the shadows of derivative %d of '%s'", t->level, rvm__source(t)->name);
}

void rvm__add_value(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const uint32_t at = emit_mapped(t, in, op, false);
    if (!t->status && rvm__op_target(op) == 'F') t->g.code[at].target = in->target;
}

void rvm__add_shadow(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    emit_mapped(t, in, op, true);
}

void rvm__add_control(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const uint32_t at = emit_mapped(t, in, op, false);
    if (t->status) return;
    t->map[t->pc] = at;
    t->g.code[at].target = in->target;
    if (op != in->op) t->g.code[at].flags ^= rvm__op_flags(op) & RVM_FLAG_REVERSED; /* the last trip is undone first */
    if (rvm__pair_of(op) == RVM_PAIR_par)
        t->g.code[at].flags |= rvm__value_flags(t, in) & (RVM_FLAG_SWEPT | RVM_FLAG_RESTORE);
    if (!rvm__grow(&t->p->al, (void **)&t->open, &t->cap_open, t->nopen + 1, sizeof *t->open))
        rvm__derive_fail(t, RVM_ERR_MEMORY);
    else
        t->open[t->nopen++] = at;
}

void rvm__close_targets(rvm__derive *t, uint32_t nopen_before) {
    while (!t->status && t->nopen > nopen_before) {
        rvm_insn *in = &t->g.code[t->open[--t->nopen]];
        in->target = t->map[in->target];
    }
}

/* ---- what it calls ---- */

rvm_place rvm__lend(rvm__derive *t, const rvm_place *q) {
    const rvm_type type = rvm__place_type(rvm__source(t), q);
    const rvm_place v = rvm__value_place(t, q);
    if (q->kind == RVM_PLACE_ARRAY) {
        const rvm_place lent = rvm__temp_array(t, type, &v);
        RVM__ADD(t, RVM_OP_like, 0, 0, lent, v);
        return lent;
    }
    const rvm_place lent = rvm__temp(t, type);
    RVM__ADD(t, RVM_OP_let, RVM_ROW_id, 0, lent, rvm__const_place(t, type, 0));
    return lent;
}

void rvm__take_lent(rvm__derive *t, const rvm_place *q, rvm_place lent) {
    const bool sweep = t->kind == RVM_ADJOINT;
    if (q->kind == RVM_PLACE_ARRAY) {
        if (sweep) rvm__discard(t, RVM_OP_drop, lent);
        RVM__ADD(t, RVM_OP_unlike, 0, 0, lent, rvm__value_place(t, q));
        rvm__temp_array_free(t, lent);
        return;
    }
    if (sweep)
        rvm__discard(t, RVM_OP_shed, lent);
    else
        RVM__ADD(t, RVM_OP_unlet, RVM_ROW_id, 0, lent, rvm__const_place(t, rvm__place_type(rvm__source(t), q), 0));
    rvm__temp_free(t, lent);
}

uint32_t rvm__derive_request(rvm__derive *t, uint32_t of, rvm_transform kind, const uint8_t *active) {
    const uint8_t borrowing = (uint8_t)(kind == RVM_ADJOINT ? t->borrowing : RVM__TAKES_ALONG);
    const rvm__request r = {of, kind, t->level, t->a.stack, rvm__pairs(t, kind), borrowing, active, t->reach, t->nreach};
    uint32_t out = 0;
    if (!t->status) rvm__derive_fail(t, rvm__transform_request(t->p, &r, &out, t->err));
    return out;
}

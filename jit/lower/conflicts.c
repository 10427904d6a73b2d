/* conflicts.c: what a vectorised function does unlike others: it bails out where they leave, and additions to
 * arrays that conflict, that is, of which instances of its block may add to one element, are calls that lanes.c knows. */
#include <string.h>

#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "lanes.h"
#include "accesses.h"
#include "solver.h"

/* ---- markers ---- */

/* LLVM's `memory`: all that a marker touches is what its arguments point to, or what nobody else sees. */
enum { ARGUMENTS = 3, UNSEEN = 12 };

static LLVMValueRef marker(rvm__emit *e, const char *name, uint64_t memory, unsigned n, const LLVMValueRef *args) {
    LLVMTypeRef t[4];
    LLVMValueRef f = LLVMGetNamedFunction(e->k->module, name), v[4];
    for (unsigned k = 0; k < n; k++) v[k] = args[k], t[k] = LLVMTypeOf(args[k]);
    if (!f) {
        f = LLVMAddFunction(e->k->module, name, LLVMFunctionType(e->k->nothing, t, n, false));
        rvm__attribute(e->k, f, -1, "nounwind", 0);
        rvm__attribute(e->k, f, -1, "memory", memory);
    }
    return LLVMBuildCall2(e->k->b, LLVMGlobalGetValueType(f), f, v, n, "");
}

void rvm__bail_out(rvm__emit *e, LLVMValueRef cond) {
    marker(e, RVM__BAIL_OUT, UNSEEN, 1, &cond);
}

void rvm__safepoint_in_instance(rvm__emit *e) {
    LLVMValueRef charged = rvm__get(e, e->k->i64, e->count.charged);
    marker(e, RVM__SAFEPOINT, UNSEEN, 1, &charged);
}

void rvm__comes_first(rvm__emit *e, LLVMValueRef array, LLVMValueRef index, LLVMValueRef bytes, LLVMValueRef parts) {
    marker(e, RVM__FIRST, UNSEEN, 4, (LLVMValueRef[]){array, index, bytes, parts});
}

void rvm__disagrees(rvm__emit *e, LLVMValueRef cond) {
    marker(e, RVM__DISAGREES, UNSEEN, 1, &cond);
}

void rvm__note_residue(rvm__emit *e, LLVMValueRef residue) {
    LLVMValueRef at[3] = {rvm__known_number(e), LLVMConstInt(e->k->i32, e->control.pc, false), residue};
    marker(e, RVM__RESIDUE, UNSEEN, 3, at);
}

void rvm__raise_in_instance(rvm__emit *e, LLVMValueRef held, LLVMValueRef size) {
    marker(e, RVM__RAISE, ARGUMENTS, 2, (LLVMValueRef[]){held, size});
}

LLVMValueRef rvm__conflicting_element(const rvm__emit *e, const rvm_place *q) {
    return e->block.added && q->kind == RVM_PLACE_SLOT && q->slot < e->f->nregs ? e->block.added[q->slot] : NULL;
}

/* Whether the place is an array that conflicts, or an element of one. */
static bool conflicts(const rvm__emit *e, const rvm_place *q) {
    if (q->kind == RVM_PLACE_SLOT) return rvm__conflicting_element(e, q);
    return e->block.conflicts && e->block.conflicts[q->slot];
}

bool rvm__add_conflicting(rvm__emit *e, const rvm_place *q, const rvm__operand *y, rvm_op op, LLVMValueRef f) {
    LLVMValueRef to = q->kind == RVM_PLACE_SLOT ? rvm__conflicting_element(e, q) : y->address;
    if (!conflicts(e, q)) return false;
    if (rvm__is_inverse(op)) f = rvm__build_negated(e->k, y->type, f, NULL);
    const char *name = rvm__is_floating(y->type) ? RVM__ADD "f64" : RVM__ADD "i64";
    marker(e, name, ARGUMENTS, 2, (LLVMValueRef[]){to, f});
    return true;
}

/* So may views of what may conflict. */
static bool spread_to_part(void *userdata, uint32_t pc) {
    rvm__emit *e = userdata;
    const rvm_place *q = rvm__places(e->f, &e->f->code[pc]);
    uint8_t *conflicts = e->block.conflicts;
    return e->f->code[pc].op == RVM_OP_view && rvm__join8(&conflicts[q[0].slot], conflicts[q[1].slot]);
}

static bool may_conflict(const rvm_param *p) {
    return p->role == RVM_ACC && p->type != RVM_F32;
}

bool rvm__takes_conflict(uint64_t conflicts, const rvm_function *f, uint32_t k) {
    return conflicts & rvm__param_bit(k) && may_conflict(&f->params[k]);
}

void rvm__find_conflicts(rvm__emit *e, uint64_t params) {
    e->block.passed = params;
    if (!params || !(e->block.conflicts = rvm__unit_alloc(e->u, e->f->narrays + 1u))) return;
    if (!(e->block.added = rvm__unit_alloc(e->u, (e->f->nregs + 1u) * sizeof *e->block.added))) return;
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (rvm__takes_conflict(e->block.passed, e->f, k) && e->f->params[k].ndim)
            e->block.conflicts[e->f->params[k].index] = 1;
    rvm__solve(e->f->ncode, spread_to_part, e);
}

uint64_t rvm__conflicting_arguments(const rvm__emit *e, const rvm_function *g, const rvm_place *places) {
    uint64_t found = 0;
    for (uint32_t k = 0; k < g->nparams; k++)
        if (may_conflict(&g->params[k]) && conflicts(e, &places[k])) found |= rvm__param_bit(k);
    return found;
}

/* ---- which arrays conflict in a block ---- */

enum {
    OUTSIDE,
    MADE,
    SLICED
}; /* where an array comes from: from around the block, or a part of such; this instance;
      a part that only this instance has */
enum { NO_DIMENSION = 255 };
typedef struct search {
    rvm__emit *e;
    uint32_t first, last; /* of the body */
    uint16_t index;       /* the block's */
    uint8_t *from;        /* by array */
    uint8_t *inside;      /* by array: it appears in the body */
    uint8_t *bits;        /* by array: how it may be accessed, by what may be part of it too; names have several parts */
    uint8_t *of_root;     /* by array that is part of none: how it is accessed */
    uint8_t *dimension;   /* by array from outside that is added into: the one in which all are at the block's index, */
    uint64_t *plus;       /* plus that number */
    bool any;             /* some array conflicts */
} search;

/* Whether the slot, read by that instruction, is the block's index and a number. */
static bool is_index(const search *s, uint16_t slot, const rvm_insn *in, uint64_t *plus) {
    const uint32_t pc = (uint32_t)(in - s->e->f->code);
    rvm__index of = {slot, 0};
    if (slot != s->index && !rvm__index_at(s->e, slot, pc, pc, &of)) return false;
    *plus = of.plus;
    return of.reg == s->index;
}

static bool is_sliced_at(const search *s, const rvm_place *q, const rvm_insn *in, uint64_t *plus) {
    return q->kind == RVM_PLACE_SLOT && is_index(s, q->slot, in, plus);
}

/* Where a view begins; *dimension of what it is part of. */
static uint8_t origin(const search *s, const rvm_insn *in) {
    const rvm_place *q = rvm__places(s->e->f, in);
    uint64_t plus;
    if (s->from[q[1].slot] != OUTSIDE) return s->from[q[1].slot];
    for (uint32_t d = 2; d < in->nplaces; d++)
        if (is_sliced_at(s, &q[d], in, &plus)) return SLICED;
    return OUTSIDE;
}

static bool visit_origin(void *userdata, uint32_t node) {
    const search *s = userdata;
    const rvm_insn *in = &s->e->f->code[s->first + node];
    if (in->op != RVM_OP_view) return false; /* where it disappears the indices are the same */
    uint8_t *to = &s->from[rvm__places(s->e->f, in)->slot], now = origin(s, in);
    const bool grows = now == OUTSIDE ? *to != OUTSIDE : *to == MADE && now == SLICED;
    if (grows) *to = now;
    return grows;
}

static void find_origins(search *s) {
    RVM__EACH_INSN_IN(x, s->e->f, s->first, s->last + 1) {
        if (!rvm__op_names_array((rvm_op)x.in->op)) continue;
        s->from[x.q->slot] = MADE;
        s->inside[x.q->slot] = 1;
    }
    rvm__solve(s->last + 1 - s->first, visit_origin, s);
}

static void found_conflict(search *s, uint16_t array) {
    s->e->block.conflicts[array] = 1;
    s->any = true;
}

static void sliced(search *s, uint16_t array, unsigned d, uint64_t plus) {
    if (s->dimension[array] == NO_DIMENSION) s->dimension[array] = (uint8_t)d, s->plus[array] = plus;
    if (s->dimension[array] != d || s->plus[array] != plus) found_conflict(s, array);
}

/* Of an array from outside, which is added into at this place. */
static void look_at_addition(search *s, const rvm_insn *in, const rvm_place *q) {
    uint64_t plus;
    for (unsigned d = 0; q->kind == RVM_PLACE_ELEM && !s->inside[q->slot] && d < q->nidx; d++)
        if (is_index(s, q->idx[d], in, &plus)) {
            sliced(s, q->slot, d, plus);
            return;
        }
    found_conflict(s, q->slot);
}

static bool visit_bits(void *userdata, uint32_t node) {
    const search *s = userdata;
    const rvm_insn *in = &s->e->f->code[s->first + node];
    const rvm_place *q = rvm__places(s->e->f, in);
    return in->op == RVM_OP_view && rvm__join8(&s->bits[q[1].slot], s->bits[q[0].slot]);
}

static void find_bits(search *s) {
    RVM__EACH_INSN_IN(x, s->e->f, s->first, s->last + 1)
        RVM__EACH_ACCESS(a, s->e->u->p, s->e->f, x.in)
            if (a.array && !a.toggles) {
                s->bits[a.q->slot] |= (uint8_t)a.bits;
                s->of_root[rvm__root_of(s->e->f, a.q)] |= (uint8_t)a.bits;
            }
    rvm__solve(s->last + 1 - s->first, visit_bits, s);
}

/* A part of an array from outside, through which it is added into. */
static void look_at_view(search *s, const rvm_insn *in) {
    const rvm_place *q = rvm__places(s->e->f, in);
    uint64_t plus;
    if (s->from[q[1].slot] != OUTSIDE || !(s->bits[q[0].slot] & RVM__BITS_ACC)) return;
    for (uint32_t d = 2; d < in->nplaces && !s->inside[q[1].slot]; d++)
        if (is_sliced_at(s, &q[d], in, &plus)) {
            sliced(s, q[1].slot, d - 2, plus);
            return;
        }
    if (s->inside[q[1].slot]) found_conflict(s, q[1].slot);
}

static void look_at(search *s, const rvm_insn *in) {
    if (in->op == RVM_OP_view) look_at_view(s, in);
    RVM__EACH_ACCESS(a, s->e->u->p, s->e->f, in)
        if (a.array && a.bits == RVM__BITS_ACC && s->from[a.q->slot] == OUTSIDE) look_at_addition(s, in, a.q);
}

/* What is added into through a part of it may meet there what is added into directly. */
static bool spread_to_whole(void *userdata, uint32_t node) {
    search *s = userdata;
    const rvm_insn *in = &s->e->f->code[s->first + node];
    const rvm_place *q = rvm__places(s->e->f, in);
    if (in->op != RVM_OP_view || !s->e->block.conflicts[q[0].slot] || s->e->block.conflicts[q[1].slot]) return false;
    if (s->from[q[0].slot] != OUTSIDE || s->from[q[1].slot] != OUTSIDE) return false;
    found_conflict(s, q[1].slot);
    return true;
}

/* Whether it is only added into, and appears around the block. */
static bool is_added_into(const search *s, uint32_t array) {
    if (s->inside[array] || !(s->bits[array] & RVM__BITS_ACC)) return false;
    const uint16_t root = rvm__base_of(s->e, (uint16_t)array, s->first);
    return root == RVM__NO_BASE || s->of_root[root] == RVM__BITS_ACC;
}

/* Two arrays that are added into may be the same memory, unless both are parameters that are apart. */
static void look_at_roots(search *s) {
    const rvm__emit *e = s->e;
    for (uint32_t a = 0; a < e->f->narrays; a++)
        for (uint32_t b = 0; b < a && is_added_into(s, a); b++) {
            if (!is_added_into(s, b)) continue;
            const uint16_t x = rvm__base_of(e, (uint16_t)a, s->first), y = rvm__base_of(e, (uint16_t)b, s->first);
            if (e->apart && x != y && x != RVM__NO_BASE && y != RVM__NO_BASE) continue;
            found_conflict(s, (uint16_t)a), found_conflict(s, (uint16_t)b);
        }
}

bool rvm__find_array_conflicts(rvm__emit *e, uint32_t first, uint32_t last, uint16_t index, bool *any) {
    search s = {.e = e, .first = first, .last = last, .index = index};
    s.from = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    s.dimension = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    s.plus = rvm__unit_alloc(e->u, (e->f->narrays + 1u) * sizeof *s.plus);
    s.inside = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    s.bits = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    s.of_root = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    e->block.conflicts = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    if (!s.from || !s.dimension || !s.plus || !s.inside || !s.bits || !s.of_root || !e->block.conflicts) return false;
    memset(s.dimension, NO_DIMENSION, e->f->narrays + 1u);
    find_origins(&s);
    find_bits(&s);
    if (e->f->code[first - 1].facts & RVM_FACT_SUMS) { /* else it is proved that none does by one name */
        RVM__EACH_INSN_IN(x, e->f, first, last + 1) look_at(&s, x.in);
        rvm__solve(last + 1 - first, spread_to_whole, &s);
    }
    look_at_roots(&s);
    rvm__solve(e->f->ncode, spread_to_part, e);
    *any = s.any;
    for (uint32_t a = 0; a < e->f->narrays; a++)
        if (e->block.conflicts[a] && e->f->arrays[a].type == RVM_F32) return false;
    return true;
}

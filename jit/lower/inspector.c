/* inspector.c: blocks that enforce roles, looked through before they run: inspector and executor, as Saltz, Mirchandaney
 * and Crowley have them ("Run-time parallelization and scheduling of loops", IEEE Transactions on Computers 40, 1991).
 *
 * Where straight text and arrays that the block only reads say which elements an instance uses, a loop over the instances
 * marks these elements first, and does no more of each instance than the arithmetic of their indices. The marks are those of
 * vm/guard.c. If no roles are broken the block goes in lanes, as one whose roles are proved; in threads, too, if no two
 * instances add into the same element. If some are, or an index is out of bounds, or where arrays have gaps, the marks are
 * dropped: each access asks, and what fails fails there (guard.c).
 */
#include "emit.h"
#include "accesses.h"
#include "analysis.h"
#include "blocks.h"
#include "guarding.h"
#include "plan.h"
#include "walk.h"

#include <string.h>

/* More could not be cancelled in time: nobody polls. */
enum { MOST_INSTANCES = 1 << 26 };

/* Allocas of what is found, false where the block was entered by on-stack replacement. */
static void make_found(rvm__emit *e, rvm__guarding *g) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b);
    LLVMValueRef no = LLVMConstInt(e->k->i1, 0, false);
    if (g->clean) return;
    g->clean = rvm__local(e, e->k->i1, "clean");
    g->alone = rvm__local(e, e->k->i1, "alone");
    rvm__at(e, e->frame.entry);
    rvm__put_at(e, no, g->clean);
    rvm__put_at(e, no, g->alone);
    rvm__at(e, here);
}

LLVMValueRef rvm__is_clean(rvm__emit *e, uint32_t pc) {
    rvm__guarding *g = rvm__guarding_at(e, pc);
    if (!g) return NULL;
    make_found(e, g);
    return rvm__get(e, e->k->i1, g->clean);
}

LLVMValueRef rvm__is_alone(rvm__emit *e, uint32_t pc) {
    rvm__guarding *g = rvm__guarding_at(e, pc);
    if (!g) return NULL;
    make_found(e, g);
    return rvm__get(e, e->k->i1, g->alone);
}

/* ---- the inspector ---- */

/* An element that is marked, before the instruction at pc: how all use it up to where its indices change. */
typedef struct marked {
    const rvm_place *q;
    uint32_t pc;
    unsigned bits;
} marked;

typedef struct inspector {
    const rvm__guarding *g;
    const uint8_t *needed;
    LLVMValueRef *marks; /* by array: of its first element */
    LLVMValueRef tag;    /* of a mark of the first instance */
    LLVMValueRef met;    /* allocas: some have met; some have added into the same element */
    LLVMValueRef shared;
    marked *list;
    uint32_t n;
} inspector;

static bool same_place(const rvm_place *a, const rvm_place *b) {
    return a->slot == b->slot && a->nidx == b->nidx && !memcmp(a->idx, b->idx, a->nidx * sizeof *a->idx);
}

static bool changes_index(const rvm__emit *e, const rvm_insn *in, const rvm_place *q) {
    for (uint32_t k = 0; k < q->nidx; k++)
        if (q->idx[k] < e->f->nregs && rvm__changes_register(e->u->p, e->f, in, q->idx[k])) return true;
    return false;
}

/* Whether indices of the place are the same from one instruction to the other. */
static bool is_steady(const rvm__emit *e, const rvm_place *q, uint32_t from, uint32_t to) {
    for (uint32_t pc = from; pc != to; pc += (uint32_t)rvm__dir_of(e))
        if (changes_index(e, &e->f->code[pc], q)) return false;
    return true;
}

static void list_marked(const rvm__emit *e, inspector *s) {
    RVM__EACH_NOW(e, s->g, pc)
    RVM__EACH_ACCESS(a, e->u->p, e->f, &e->f->code[pc]) {
        uint32_t k = 0;
        if (!rvm__asks_for(e, s->g, &a)) continue;
        while (k < s->n && !(same_place(s->list[k].q, a.q) && is_steady(e, a.q, s->list[k].pc, pc))) k++;
        if (k == s->n) s->list[s->n++] = (marked){a.q, pc, 0};
        s->list[k].bits |= a.bits;
    }
}

/* Checked in any case: what proves it may be left out here. */
static LLVMValueRef address(rvm__emit *e, const rvm_place *q) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef offset = rvm__build_int(e->k, 0);
    for (int d = 0; d < q->nidx; d++) {
        LLVMValueRef i = rvm__slot_value(e, q->idx[d]);
        rvm__exit_if(e, LLVMBuildICmp(b, LLVMIntUGE, i, rvm__dimension(e, q->slot, d), ""));
        offset = LLVMBuildAdd(b, offset, LLVMBuildMul(b, i, rvm__stride(e, q->slot, d), ""), "");
    }
    return LLVMBuildInBoundsGEP2(b, e->k->i8, rvm__get(e, e->k->ptr, e->frame.array[q->slot].data), &offset, 1, "");
}

static rvm__operand operand(rvm__emit *e, const rvm_place *q) {
    if (q->kind != RVM_PLACE_ELEM) return rvm__operand_of(e, q, UINT32_MAX);
    LLVMValueRef at = address(e, q);
    return (rvm__operand){.type = rvm__place_type(e->f, q), .address = at, .element = at};
}

/* An update of a register that is needed. */
static void update(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const rvm_place *q = rvm__places(e->f, in);
    LLVMValueRef overflow = NULL;
    rvm__operands o = {.y = operand(e, &q[0])};
    if (op == RVM_OP_unlet) return;
    for (unsigned n = 0; n < x->arity; n++) o.o[n] = operand(e, &q[1 + n]);
    o.t = o.o[rvm__row_first((rvm_row)in->row)].type;
    rvm__load_operands(e, x, &o);
    LLVMValueRef f = rvm__defined_row(e, in, x, &o, &overflow);
    LLVMValueRef old = op == RVM_OP_let ? LLVMGetUndef(LLVMTypeOf(f)) : rvm__load(e, &o.y);
    LLVMValueRef now = rvm__build_update(e->k, op, (rvm_type)x->type, old, f, &overflow);
    if (overflow) rvm__exit_if(e, overflow);
    rvm__store(e, &o.y, now);
}

static LLVMValueRef is(rvm__emit *e, LLVMValueRef v, unsigned n) {
    return LLVMBuildICmp(e->k->b, LLVMIntEQ, v, rvm__build_int(e->k, n), "");
}

static void note_if(rvm__emit *e, LLVMValueRef cond, LLVMValueRef to) {
    rvm__put_at(e, LLVMBuildOr(e->k->b, rvm__get(e, e->k->i1, to), cond, ""), to);
}

/* As mark() of vm/guard.c; k: the instance, from the first on. */
static void mark(rvm__emit *e, const inspector *s, const marked *m, LLVMValueRef k) {
    LLVMBuilderRef b = e->k->b;
    LLVMTypeRef i64 = e->k->i64;
    LLVMValueRef first = LLVMBuildPtrToInt(b, rvm__get(e, e->k->ptr, e->frame.array[m->q->slot].data), i64, "");
    LLVMValueRef offset = LLVMBuildSub(b, LLVMBuildPtrToInt(b, address(e, m->q), i64, ""), first, "");
    LLVMValueRef at = LLVMBuildInBoundsGEP2(b, e->k->i8, s->marks[m->q->slot], &offset, 1, "");
    LLVMValueRef tag = LLVMBuildOr(b, s->tag, LLVMBuildShl(b, k, rvm__build_int(e->k, RVM__MARK_BITS), ""), "");
    LLVMValueRef bits = rvm__build_int(e->k, m->bits & RVM__BITS_OWN), old = rvm__get(e, i64, at);
    LLVMValueRef differs = LLVMBuildXor(b, old, tag, ""), joined = LLVMBuildOr(b, old, bits, "");
    LLVMValueRef over = LLVMBuildICmp(b, LLVMIntUGE, differs, rvm__build_int(e->k, INT64_C(1) << RVM__MARK_RUN), "");
    LLVMValueRef other = LLVMBuildICmp(b, LLVMIntUGE, differs, rvm__build_int(e->k, INT64_C(1) << RVM__MARK_BITS), "");
    LLVMValueRef meet = LLVMBuildAnd(b, other, LLVMBuildNot(b, over, ""), "");
    LLVMValueRef how = LLVMBuildAnd(b, joined, rvm__build_int(e->k, RVM__BITS_OWN), "");
    rvm__put_at(e, LLVMBuildSelect(b, over, LLVMBuildOr(b, tag, bits, ""), joined, ""), at);
    note_if(e, LLVMBuildAnd(b, meet, is(e, how, RVM__BITS_OWN), ""), s->met);
    note_if(e, LLVMBuildAnd(b, meet, is(e, how, RVM__BITS_ACC), ""), s->shared);
}

static void look_at_instance(rvm__emit *e, const inspector *s, LLVMValueRef k) {
    const uint32_t pc_was = e->control.pc;
    RVM__EACH_NOW(e, s->g, pc) {
        const rvm_insn *in = &e->f->code[pc];
        e->control.pc = pc;
        for (uint32_t n = 0; n < s->n; n++)
            if (s->list[n].pc == pc) mark(e, s, &s->list[n], k);
        if (rvm__is_to_needed(e, in, s->needed)) update(e, in, &e->code->x[pc], rvm__op_now(e, in));
    }
    e->control.pc = pc_was;
}

/* Where marks stand, from the machine; control goes to `out` where arrays have gaps. */
static void find_marks(rvm__emit *e, inspector *s, LLVMBasicBlockRef out) {
    rvm__build *k = e->k;
    s->tag = rvm__call_runtime(e, "rvm__guard_tag", k->i64, 1, &e->frame.machine);
    for (uint32_t n = 0; n < s->g->plan->narrays; n++) {
        const uint16_t array = s->g->plan->arrays[n];
        if (s->g->plan->base[array] != array || !rvm__is_asked(s->g->plan, array)) continue;
        LLVMBasicBlockRef on = rvm__block(e, "on");
        LLVMValueRef args[3] = {e->frame.machine, rvm__get(e, k->ptr, e->frame.array[array].data), rvm__elements(e, array)};
        s->marks[array] = rvm__call_runtime(e, "rvm__guard_marks", k->ptr, 3, args);
        LLVMBuildCondBr(k->b, LLVMBuildIsNull(k->b, s->marks[array], ""), out, on);
        rvm__at(e, on);
    }
}

static bool make(rvm__emit *e, inspector *s) {
    uint32_t n = 0;
    RVM__EACH_NOW(e, s->g, pc) n += e->f->code[pc].nplaces;
    s->marks = rvm__unit_alloc(e->u, (e->f->narrays + 1u) * sizeof *s->marks);
    s->list = rvm__unit_alloc(e->u, (n + 1) * sizeof *s->list);
    if (!s->marks || !s->list) return false;
    list_marked(e, s);
    s->met = rvm__local(e, e->k->i1, "met");
    s->shared = rvm__local(e, e->k->i1, "shared");
    return true;
}

void rvm__inspect(rvm__emit *e, const rvm__xinsn *x) {
    rvm__build *k = e->k;
    rvm__guarding *g = rvm__guarding_at(e, e->control.pc);
    if (!rvm__is_inspected(e, e->control.pc)) return;
    inspector s = {.g = g, .needed = g->inspection[rvm__dir_of(e) > 0].needed};
    LLVMValueRef no = LLVMConstInt(k->i1, 0, false);
    LLVMBasicBlockRef few = rvm__block(e, "inspect"), out = rvm__block(e, "unclean"), on = rvm__block(e, "inspected");
    if (!make(e, &s)) return;
    make_found(e, g);
    LLVMValueRef begins[] = {g->clean, g->alone, s.met, s.shared};
    for (int i = 0; i < 4; i++) rvm__put_at(e, no, begins[i]);
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), n = LLVMBuildSub(k->b, rvm__slot_value(e, x->to.hi), lo, "");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntULE, n, rvm__build_int(k, MOST_INSTANCES), ""), few, on);
    rvm__at(e, few);
    find_marks(e, &s, on);
    e->block.unclean = out;
    const rvm__each each = rvm__each_begin(e, n);
    rvm__set_slot(e, x->to.i, LLVMBuildAdd(k->b, lo, each.i, ""));
    look_at_instance(e, &s, each.i);
    rvm__each_end(e, &each);
    e->block.unclean = NULL;
    LLVMValueRef met = rvm__get(e, k->i1, s.met), some = LLVMBuildOr(k->b, met, rvm__get(e, k->i1, s.shared), "");
    rvm__put_at(e, LLVMBuildNot(k->b, met, ""), g->clean);
    rvm__put_at(e, LLVMBuildNot(k->b, some, ""), g->alone);
    LLVMBuildCondBr(k->b, met, out, on);
    rvm__at(e, out);
    rvm__call_runtime(e, "rvm__guard_again", k->nothing, 1, &e->frame.machine);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    RVM__EACH_NOW(e, g, pc)
    if (rvm__is_to_needed(e, &e->f->code[pc], s.needed)) rvm__gone(e, rvm__places(e->f, &e->f->code[pc])->slot);
}

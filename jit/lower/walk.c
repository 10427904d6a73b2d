/* walk.c: the instructions of a function in the order of control.
 *
 * A stretch is walked until it jumps; where it may be jumped to, a landing begins another stretch. Charges: every stretch
 * counts its instructions and charges them where control may part, so that at a poll and at a side exit
 * the count is the interpreter's. Polls stand where a loop turns. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "elision.h"
#include "fresh_ir.h"
#include "walk.h"
#include "builder.h"
#include "support.h"

/* Instructions of a function that are walked, which regions within regions do 2^depth times: others are walked a few times
 * each, a quarter of that at most. */
enum { WALKED_ANYWAY = 1 << 12, MOST_COPIED = 64 };

static bool is_back(const rvm__context *c, uint32_t from, uint32_t to) {
    return c->dir > 0 ? to < from : to > from;
}

/* ---- jumps ---- */

static LLVMValueRef is_taken(rvm__emit *e, const rvm__xinsn *x, bool if_true) {
    return LLVMBuildICmp(e->k->b, if_true ? LLVMIntNE : LLVMIntEQ, rvm__slot_value(e, x->to.c), rvm__build_int(e->k, 0), "");
}

static void conditional_jump(rvm__emit *e, const rvm_insn *in, LLVMValueRef taken) {
    rvm__context *c = e->control.context;
    LLVMBasicBlockRef there = rvm__block(e, "jump"), next = rvm__block(e, "next");
    rvm__charge(e, 1);
    LLVMBuildCondBr(e->k->b, taken, there, next);
    rvm__at(e, there);
    rvm__jump(e, c, in->target, is_back(c, e->control.pc, in->target));
    rvm__at(e, next);
}

/* ---- regions: which way on, semantics.md, section 5 ---- */

static bool is_forgotten(const rvm__emit *e, uint32_t compute) {
    return e->control.elided[compute] == RVM__FORGETS;
}

static void trail_deeper(rvm__emit *e, const rvm__context *part, int by) {
    LLVMValueRef args[2] = {e->frame.machine, LLVMConstInt(e->k->i32, (uint64_t)(int64_t)by, true)};
    if (!part->tracked || e->u->w->standalone) return;
    rvm__window_give(e);
    if (!is_forgotten(e, part->compute))
        rvm__call_runtime(e, "rvm__trail_deeper", e->k->nothing, 2, args);
    else if (by < 0)
        rvm__call_runtime(e, "rvm__forget_end", e->k->nothing, 1, args);
    else {
        args[1] = LLVMConstInt(e->k->i16, e->code->x[part->compute].to.i, false);
        LLVMValueRef status = rvm__call_runtime(e, "rvm__forget_begin", e->k->i32, 2, args);
        rvm__exit_if(e, LLVMBuildICmp(e->k->b, LLVMIntNE, status, LLVMConstInt(e->k->i32, 0, false), ""));
    }
    rvm__window_take(e);
}

/* Whether the second run of the compute part is left out: not in the region in which the code was entered, of whose first
 * run nobody knows what it charged. */
static bool is_elided(const rvm__emit *e, uint32_t compute) {
    const uint32_t gap = e->control.context->gap, undo = e->f->code[e->f->code[compute].target].target;
    return is_forgotten(e, compute) || (e->control.elided[compute] && !(compute < gap && gap <= undo));
}

/* Of the hidden slot: vm/interp/control.inc. */
static int forgets_bit(const rvm__emit *e, uint32_t compute) {
    return is_forgotten(e, compute) ? RVM__REGION_FORGETS : 0;
}

/* Into the compute part at `compute`; its hidden slot says whether it turns around at the end. */
static bool enter_part(rvm__emit *e, uint32_t compute, enum rvm__pass pass) {
    const int dir = pass == PASS_FIRST || pass == PASS_AGAIN ? 1 : -1;
    const bool turns = pass == PASS_UNDO || pass == PASS_AGAIN;
    rvm__context *inner = rvm__context_in(e, e->control.context, compute, pass, dir);
    if (!inner) return false;
    trail_deeper(e, inner, 1);
    LLVMValueRef bits = rvm__build_int(e->k, (turns ? RVM__REGION_AGAIN : 0) | forgets_bit(e, compute));
    if (e->u->w->exact) bits = LLVMBuildOr(e->k->b, bits, e->frame.surroundings[inner->parent->restoring], "");
    rvm__set_slot(e, e->code->x[compute].to.hidden, bits);
    e->control.context = inner;
    if (!is_elided(e, compute) || is_forgotten(e, compute) || dir < 0) return true;
    rvm__charge(e, 0);
    rvm__put_at(e, rvm__get(e, e->k->i64, e->count.charged), e->count.before[compute]);
    return true;
}

/* Out of it again; what its first run charged, one end of the part included, is kept for the uncomputing that is left out.
 */
static void leave_part(rvm__emit *e) {
    const rvm__context *c = e->control.context;
    LLVMValueRef before = e->count.before[c->compute];
    trail_deeper(e, c, -1);
    e->control.context = c->parent;
    rvm__set_slot(e, e->code->x[c->compute].to.hidden, rvm__build_int(e->k, forgets_bit(e, c->compute)));
    if (!is_elided(e, c->compute) || is_forgotten(e, c->compute) || c->dir < 0) return;
    rvm__charge(e, 0);
    LLVMValueRef now = rvm__get(e, e->k->i64, e->count.charged);
    rvm__put_at(e, LLVMBuildSub(e->k->b, now, rvm__get(e, e->k->i64, before), ""), before);
}

/* The uncomputing of a region that nobody observes: its charge, and its locals are gone. */
static void skip_part(rvm__emit *e, uint32_t compute) {
    if (is_forgotten(e, compute)) {
        rvm__forget_made(e, compute, true);
        rvm__set_slot(e, e->code->x[compute].to.hidden, rvm__build_int(e->k, 0));
        return;
    }
    LLVMValueRef now = rvm__get(e, e->k->i64, e->count.charged), cost = rvm__get(e, e->k->i64, e->count.before[compute]);
    rvm__put_at(e, LLVMBuildAdd(e->k->b, now, cost, ""), e->count.charged);
    rvm__forget_made(e, compute, false);
}

/* Whether so much may run in it without a loop or call that polls: regions within regions run exponentially often. */
static bool turns_for_long(const rvm__emit *e, uint32_t compute) {
    const uint32_t does = e->f->code[compute].target;
    RVM__EACH_INSN_IN(x, e->f, compute + 1, does)
        if (x.in->op == RVM_OP_compute) return rvm__most_between(e->u, e->fn, compute + 1, does, false) > RVM__MOST_UNSEEN;
    return false;
}

/* Into the compute part from its end, to run it for the second time; what stops there stands in it. */
static bool run_again(rvm__emit *e, uint32_t compute, enum rvm__pass pass, uint32_t *next) {
    *next = e->f->code[compute].target - 1;
    if (!enter_part(e, compute, pass)) return false;
    if (!turns_for_long(e, compute)) return true;
    rvm__charge(e, 0);
    rvm__emit_safepoint(e, *next);
    return true;
}

/* Where control goes on from compute, do or undo at e->control.pc; false: nowhere, out of memory. */
static bool pass_region(rvm__emit *e, const rvm_insn *in, uint32_t *next) {
    const uint32_t pc = e->control.pc;
    const enum rvm__pass pass = e->control.context->pass;
    const bool up = e->control.context->dir > 0;
    rvm__walked(e);
    if (in->op == RVM_OP_compute) {
        const uint32_t undo = e->f->code[in->target].target;
        if (up) return *next = pc + 1, enter_part(e, pc, PASS_FIRST);
        leave_part(e);
        *next = pass == PASS_UNDO ? undo + 1 : pc - 1;
        return true;
    }
    if (in->op == RVM_OP_do) {
        const uint32_t compute = e->f->code[in->target].target;
        if (up) {
            leave_part(e);
            *next = pass == PASS_AGAIN ? in->target - 1 : pc + 1;
            return true;
        }
        if (is_elided(e, compute)) return *next = compute - 1, skip_part(e, compute), true;
        return run_again(e, compute, PASS_LAST, next);
    }
    const uint32_t compute = in->target;
    if (!up) return *next = compute + 1, enter_part(e, compute, PASS_AGAIN);
    if (is_elided(e, compute)) return *next = pc + 1, skip_part(e, compute), true;
    return run_again(e, compute, PASS_UNDO, next);
}

/* ---- one instruction; false: the stretch ends ---- */

static bool emit_control(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    switch ((int)rvm__pair_of(op)) {
    case RVM_PAIR_start:
        rvm__charge(e, 1);
        LLVMBuildBr(e->k->b, e->frame.done);
        return false;
    case RVM_PAIR_jmp:
        if (op == RVM_OP_cf) return rvm__exit_now(e), false;
        rvm__charge(e, 1);
        rvm__jump(e, e->control.context, in->target, is_back(e->control.context, e->control.pc, in->target));
        return false;
    case RVM_PAIR_for:
        if (op == RVM_OP_for) return rvm__enter_loop(e, in, x), false;
        return rvm__turn_loop(e, in, x);
    case RVM_PAIR_par:
        if (op == RVM_OP_par) return rvm__enter_block(e, in, x), false;
        return rvm__turn_block(e, in, x);
    }
    LLVMValueRef taken = is_taken(e, x, rvm__pair_of(op) == RVM_PAIR_jt);
    if (!rvm__is_inverse(op)) return conditional_jump(e, in, taken), true;
    if (!(x->flags & X_UNCHECKED)) rvm__exit_if(e, taken);
    rvm__charge(e, 1);
    rvm__jump(e, e->control.context, e->control.pc, false);
    return false;
}

/* assert, and function values. */
static void emit_check(rvm__emit *e, const rvm__xinsn *x, rvm_op op) {
    const bool unchecked = x->flags & X_UNCHECKED;
    if (op == RVM_OP_assert) {
        if (!unchecked) rvm__exit_if(e, is_taken(e, x, false));
        return;
    }
    LLVMValueRef is = rvm__build_int(e->k, x->to.jump);
    if (op == RVM_OP_addr) {
        rvm__set_slot(e, x->to.i, is);
        return;
    }
    if (!unchecked) rvm__exit_if(e, LLVMBuildICmp(e->k->b, LLVMIntNE, rvm__slot_value(e, x->to.i), is, ""));
    rvm__gone(e, x->to.i);
}

static void on_trail(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    if (!e->u->w->standalone)
        rvm__emit_trail(e, in, x, op);
    else if (op == RVM_OP_set)
        rvm__emit_update(e, in, x, op);
    else
        rvm__emit_discarded(e, in, op);
}

/* One, or several that are done together. */
static void emit_updates(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op, uint32_t *next) {
    if (!rvm__is_within_guard(e, e->control.pc) && rvm__exact_row(e))
        *next = e->control.pc + (uint32_t)e->control.context->dir;
    else
        (rvm__op_sets(op) ? on_trail : rvm__emit_update)(e, in, x, op);
    rvm__walked(e);
}

/* Behind an instruction that ran, and control that goes on. Where loops and blocks end it may have come by other ways. */
static void note(rvm__emit *e, const rvm_insn *in, rvm_op op) {
    if (rvm__is_loop(op))
        rvm__numbering_begin(e->u->numbering, e->f);
    else
        rvm__numbering_pass(e->u->numbering, in, op);
}

/* The instruction at e->control.pc; in one switch, since which class each opcode is of is all there is to choose. */
static bool step_on(rvm__emit *e, const rvm_insn *in, rvm_op op, uint32_t *next) {
    const rvm__xinsn *x = &e->code->x[e->control.pc];
    *next = e->control.pc + (uint32_t)e->control.context->dir;
    if (e->block.ends && e->control.pc == e->block.ends) {
        rvm__charge(e, 0);
        LLVMBuildBr(e->k->b, e->frame.done);
        return false;
    }
    if (rvm__leave_out(e, in, op)) return rvm__walked(e), true;
    rvm__guard_accesses(e, in);
    switch (rvm__class_of(op)) {
    case RVM_CLASS_CONTROL: return emit_control(e, in, x, op);
    case RVM_CLASS_REGION: return pass_region(e, in, next);
    case RVM_CLASS_CALL: rvm__emit_call(e, in, x, op); return true; /* which charges by itself */
    case RVM_CLASS_CHECK:
        if (op == RVM_OP_trap) return rvm__exit_now(e), false;
        emit_check(e, x, op);
        break;
    case RVM_CLASS_UPDATE: return emit_updates(e, in, x, op, next), true;
    case RVM_CLASS_IN_PLACE: rvm__emit_in_place(e, in, x, op); break;
    case RVM_CLASS_STACK:
    case RVM_CLASS_TRAIL: on_trail(e, in, x, op); break;
    case RVM_CLASS_ARRAY: rvm__emit_array(e, in, x, op); break;
    }
    rvm__walked(e);
    return true;
}

static bool step(rvm__emit *e, uint32_t *next) {
    const rvm_insn *in = &e->f->code[e->control.pc];
    const rvm_op op = e->control.context->dir > 0 ? (rvm_op)in->op : rvm__op_inverse((rvm_op)in->op);
    if (!step_on(e, in, op, next)) return false;
    note(e, in, op);
    return true;
}

/* The end by which a loop was entered whose body begins there, if it is charged ahead; else 0. */
static uint32_t begins_ahead(const rvm__emit *e, const rvm__pending *p) {
    const uint32_t pc = p->pc - (uint32_t)p->context->dir;
    const rvm_insn *in = &e->f->code[pc];
    const rvm_op op = p->context->dir > 0 ? (rvm_op)in->op : rvm__op_inverse((rvm_op)in->op);
    return op == RVM_OP_for && rvm__ahead_at(e, p->context, pc) ? pc : 0;
}

static void walk(rvm__emit *e, const rvm__pending *p) {
    rvm__at(e, p->block);
    rvm__numbering_begin(e->u->numbering, e->f);
    e->control.context = p->context;
    e->count.walked = 0;
    e->count.ahead = begins_ahead(e, p);
    for (int k = 0; k < RVM__ERASED; k++) e->count.erasing[k] = 0;
    e->count.settled = false;
    if (p->pc && p->context->dir > 0 && e->f->code[p->pc - 1].op == RVM_OP_par) rvm__fresh_parts(e, p->pc - 1);
    for (uint32_t pc = p->pc, next; !e->u->status; pc = next) {
        e->control.pc = pc;
        if (++e->control.emitted > WALKED_ANYWAY + MOST_COPIED * e->f->ncode) {
            e->u->status = rvm__fail_at(e->u->err, RVM_ERR_UNSUPPORTED, e->u->p, e->fn, pc,
                                        "`%s` is too large for native code: regions within regions are copied", e->f->name);
            return;
        }
        rvm__lines_at(e);
        if (!step(e, &next)) return;
    }
}

void rvm__walk_pending(rvm__emit *e) {
    while (e->control.npending && !e->u->status) {
        const rvm__pending p = e->control.pending[--e->control.npending];
        walk(e, &p);
    }
    rvm__realloc(e->u->k->al, e->control.pending, e->control.cap_pending * sizeof *e->control.pending, 0);
    e->control.pending = NULL;
    e->control.cap_pending = e->control.npending = 0;
}

void rvm__walk_from(rvm__emit *e, LLVMBasicBlockRef first, uint32_t pc, int dir) {
    rvm__context *whole = rvm__context_in(e, NULL, 0, PASS_WHOLE, dir);
    if (whole) rvm__walk_later(e, first, pc, whole);
    rvm__walk_pending(e);
}

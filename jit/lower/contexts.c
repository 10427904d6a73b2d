/* contexts.c: contexts, stretches that are still to be walked, and how control comes to them: charges, polls and jumps. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "support.h"

#include <stddef.h>

rvm__context *rvm__context_in(rvm__emit *e, rvm__context *parent, uint32_t compute, enum rvm__pass pass, int dir) {
    rvm__context *c = rvm__unit_alloc(e->u, sizeof *c);
    LLVMBasicBlockRef *landing = rvm__unit_alloc(e->u, e->f->ncode * sizeof *landing);
    if (!c || !landing) return NULL;
    *c = (rvm__context){
        .parent = parent, .compute = compute, .pass = pass, .dir = dir, .landing = landing, .next = e->control.contexts};
    c->tracked = parent && rvm__is_part_tracked(e, compute);
    c->depth = parent ? parent->depth + !c->tracked : 0;
    c->restoring = parent ? dir < 0 : e->restoring;
    c->inside = parent || e->inside;
    c->gap = parent ? parent->gap : 0;
    c->head = parent ? parent->head : 0;
    e->control.contexts = c;
    return c;
}

rvm__context *rvm__context_copy(rvm__emit *e, const rvm__context *c) {
    rvm__context *s = rvm__unit_alloc(e->u, sizeof *s);
    LLVMBasicBlockRef *landing = rvm__unit_alloc(e->u, e->f->ncode * sizeof *landing);
    if (!s || !landing) return NULL;
    *s = *c;
    s->landing = landing;
    s->start = s->passing = NULL;
    s->first = s->others = NULL;
    s->next = e->control.contexts;
    return e->control.contexts = s;
}

/* In code that was entered in a loop control comes to the next trip of the loop that is entered by `head`. Where that is
 * around the first one it has code of its own, in the context returned, so that LLVM sees loops that are entered at their
 * heads. */
static rvm__context *around_entry(rvm__emit *e, rvm__context *c, uint32_t head) {
    const uint32_t end = e->f->code[head].target, lo = head < end ? head : end, hi = head < end ? end : head;
    const bool around = lo < c->gap && c->gap <= hi && head != c->head && (c->dir > 0) == (head < end);
    if (!around || !rvm__begins_loop(e->f, lo)) return c;
    rvm__context *first = c->first ? c->first : c, *s;
    for (s = first->others; s; s = s->others)
        if (s->head == head) return s;
    if (!(s = rvm__context_copy(e, c))) return c;
    s->gap = rvm__gap(head + (uint32_t)c->dir, c->dir);
    s->head = head;
    s->first = first;
    s->others = first->others;
    return first->others = s;
}

void rvm__walk_later(rvm__emit *e, LLVMBasicBlockRef block, uint32_t pc, rvm__context *c) {
    void *list = e->control.pending;
    if (!rvm__grow(e->u->k->al, &list, &e->control.cap_pending, e->control.npending + 1, sizeof *e->control.pending)) {
        rvm__out_of_memory(e->u);
        return;
    }
    e->control.pending = list;
    e->control.pending[e->control.npending++] = (rvm__pending){block, pc, c};
}

LLVMBasicBlockRef rvm__landing_of(rvm__emit *e, rvm__context *c, uint32_t pc) {
    if (c->gap) c = around_entry(e, c, pc);
    if (!c->landing[pc]) {
        c->landing[pc] = rvm__block(e, "at");
        rvm__walk_later(e, c->landing[pc], pc + (uint32_t)c->dir, c);
    }
    return c->landing[pc];
}

/* ---- charges and polls ---- */

void rvm__walked(rvm__emit *e) {
    const int way = e->control.context->dir;
    if (e->u->w->profile && e->count.walked) {
        const uint32_t next = e->count.first + e->count.walked * (uint32_t)e->count.way;
        if (next != e->control.pc || way != e->count.way) rvm__charge(e, 0);
    }
    if (!e->count.walked) e->count.first = e->control.pc, e->count.way = way;
    e->count.walked++;
}

void rvm__charge(rvm__emit *e, uint32_t extra) {
    const uint32_t n = e->count.walked + extra;
    if (e->u->w->profile) rvm__tally_charge(e, extra);
    e->count.walked = 0;
    if (!n || e->u->w->standalone) return;
    LLVMValueRef now = rvm__get(e, e->k->i64, e->count.charged);
    rvm__put_at(e, LLVMBuildNSWAdd(e->k->b, now, rvm__build_int(e->k, n), ""), e->count.charged);
}

/* block: the end of one by which it is entered, before whose next instance that is; NULL: none. */
static void emit_safepoint(rvm__emit *e, uint32_t pc, const rvm__xinsn *block) {
    rvm__build *k = e->k;
    if (e->u->w->standalone) return;
    if (e->vectorised) {
        rvm__safepoint_in_instance(e);
        return;
    }
    LLVMBasicBlockRef poll = rvm__block(e, "poll"), on = rvm__block(e, "on");
    LLVMValueRef limit = rvm__get(e, k->i64, rvm__member(e, e->frame.native, offsetof(rvm__native, limit)));
    LLVMValueRef charged = rvm__get(e, k->i64, e->count.charged);
    rvm__unlikely(e, LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntSGT, charged, limit, ""), poll, on));
    rvm__at(e, poll);
    rvm__put_at(e, charged, rvm__member(e, e->frame.native, offsetof(rvm__native, charged)));
    LLVMValueRef args[2] = {e->frame.machine, e->frame.native};
    LLVMValueRef ended = rvm__call_to_poll(e, "rvm__native_safepoint", k->i32, 2, args);
    rvm__native_site site = rvm__site_here(e);
    site.pc = pc;
    LLVMValueRef ends = LLVMBuildICmp(k->b, LLVMIntNE, ended, LLVMConstInt(k->i32, 0, false), "");
    if (block) {
        LLVMBasicBlockRef out = rvm__block(e, "out");
        rvm__unlikely(e, LLVMBuildCondBr(k->b, ends, out, on));
        rvm__at(e, out);
        rvm__aside_single(e, block, false); /* the interpreter may go on with it */
        ends = LLVMConstInt(k->i1, 1, false);
    }
    rvm__exit_at(e, ends, site, 0);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
}

void rvm__emit_safepoint(rvm__emit *e, uint32_t pc) {
    emit_safepoint(e, pc, NULL);
}

void rvm__safepoint_of_block(rvm__emit *e, uint32_t pc) {
    emit_safepoint(e, pc + (uint32_t)e->control.context->dir, &e->code->x[pc]);
}

void rvm__jump(rvm__emit *e, rvm__context *c, uint32_t pc, bool back) {
    if (back) rvm__emit_safepoint(e, pc + (uint32_t)c->dir);
    LLVMBuildBr(e->k->b, rvm__landing_of(e, c, pc));
}

/* trips.c: trips of a counted loop that are charged when it is entered, and what is left of them in its body. */
#include "emit.h"
#include "analysis.h"
#include "walk.h"

bool rvm__loop_ascends(const rvm__emit *e, const rvm_insn *in) {
    return (e->control.context->dir > 0) != ((in->flags & RVM_FLAG_REVERSED) != 0);
}

uint32_t rvm__ahead_at(const rvm__emit *e, const rvm__context *c, uint32_t pc) {
    const uint32_t lo = rvm__lower_end(e->f, pc), hi = e->f->code[lo].target;
    if (e->u->w->standalone || e->u->w->profile || (c->whole && c->strips == lo)) return 0;
    if (!e->vectorised && (!e->u->w->unchecked || !rvm__trips_unseen(e, pc))) return 0;
    RVM__EACH_INSN_IN(x, e->f, lo + 1, hi)
        if (!rvm__goes_on(x.in)) return 0;
    return hi - lo;
}

/* Trips from the one on that runs, of the loop with an end at pc; *by: from one index to the next. */
LLVMValueRef rvm__trips_left(rvm__emit *e, uint32_t pc, LLVMValueRef *by) {
    LLVMBuilderRef b = e->k->b;
    const rvm__xinsn *x = &e->code->x[pc];
    const bool up = rvm__loop_ascends(e, &e->f->code[pc]);
    LLVMValueRef i = rvm__slot_value(e, x->to.i), s = rvm__slot_value(e, x->to.step);
    LLVMValueRef end = rvm__slot_value(e, up ? x->to.last : x->to.lo), back = LLVMBuildNeg(b, s, "");
    LLVMValueRef rises = LLVMBuildICmp(b, up ? LLVMIntSGT : LLVMIntSLT, s, rvm__build_int(e->k, 0), "");
    LLVMValueRef way = LLVMBuildSelect(b, rises, LLVMBuildSub(b, end, i, ""), LLVMBuildSub(b, i, end, ""), "");
    *by = up ? s : back;
    LLVMValueRef others = LLVMBuildUDiv(b, way, LLVMBuildSelect(b, rises, *by, up ? back : s, ""), "");
    return LLVMBuildAdd(b, others, rvm__build_int(e->k, 1), "");
}

LLVMValueRef rvm__charged_ahead(rvm__emit *e) {
    LLVMValueRef by, left = rvm__trips_left(e, e->count.ahead, &by);
    return LLVMBuildMul(e->k->b, left, rvm__build_int(e->k, rvm__ahead_at(e, e->control.context, e->count.ahead)), "");
}

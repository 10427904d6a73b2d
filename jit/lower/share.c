/* share.c: loops that tell their trips, for progress (vm/inspect.c): those of adjoints that go back from snapshots. Only the
 * function of the lowest frame that has such a loop does, from its beginning to its end. */
#include "emit.h"
#include "analysis.h"
#include "walk.h"

#include <stddef.h>

static bool tells(const rvm__emit *e) {
    RVM__EACH_INSN(x, e->f)
        if (x.in->flags & RVM_FLAG_TELLS) return !e->u->w->standalone && !e->vectorised && !e->block.chunk;
    return false;
}

static void put_if(rvm__emit *e, LLVMValueRef c, LLVMValueRef v, size_t offset) {
    LLVMValueRef to = rvm__member(e, e->frame.native, offset), was = rvm__get(e, e->k->i64, to);
    rvm__put_at(e, LLVMBuildSelect(e->k->b, c, v, was, ""), to);
}

/* Where no frame below this one has. */
static void tell(rvm__emit *e, LLVMValueRef by, LLVMValueRef done, LLVMValueRef all) {
    LLVMValueRef lowest = rvm__get(e, e->k->i64, rvm__member(e, e->frame.native, offsetof(rvm__native, swept.by)));
    LLVMValueRef c = LLVMBuildICmp(e->k->b, LLVMIntULE, e->frame.number, lowest, "");
    put_if(e, c, by, offsetof(rvm__native, swept.by));
    put_if(e, c, done, offsetof(rvm__native, swept.done));
    put_if(e, c, all, offsetof(rvm__native, swept.all));
}

void rvm__share_begin(rvm__emit *e) {
    LLVMValueRef zero = rvm__build_int(e->k, 0);
    if (tells(e)) tell(e, e->frame.number, zero, zero);
}

void rvm__share_end(rvm__emit *e) {
    LLVMValueRef zero = rvm__build_int(e->k, 0);
    if (tells(e)) tell(e, rvm__build_int(e->k, -1), zero, zero);
}

void rvm__share_trip(rvm__emit *e, const rvm__xinsn *x, bool up) {
    LLVMBuilderRef b = e->k->b;
    const bool one_of_them = e->f->code[e->control.pc].flags & RVM_FLAG_TELLS;
    if (!one_of_them || rvm__trips_unseen(e, e->control.pc) || !tells(e)) return;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), last = rvm__slot_value(e, x->to.last);
    LLVMValueRef i = rvm__slot_value(e, x->to.i), s = rvm__slot_value(e, x->to.step);
    LLVMValueRef way = up ? LLVMBuildSub(b, i, lo, "") : LLVMBuildSub(b, last, i, "");
    tell(e, e->frame.number, LLVMBuildAdd(b, way, s, ""), LLVMBuildAdd(b, LLVMBuildSub(b, last, lo, ""), s, ""));
}

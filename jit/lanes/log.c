/* log.c: taking back what a group has changed of shared memory where it bails out.
 *
 * What changes replace is kept, in entries of native.h: RVM__NATIVE_LOG bytes in a local, which the machine has where there
 * are more (vm/native/lane_log.c). Where it has no room the group bails out.
 */
#include "group.h"
#include "native.h"

static void make_log(rvm__group *g, rvm__group_log *log) {
    if (log->bytes) return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->k->b);
    log->bytes = rvm__group_local(g, LLVMArrayType2(g->k->i64, RVM__NATIVE_LOG / sizeof(uint64_t)));
    log->size = rvm__group_local(g, g->k->i64);
    log->kept = rvm__group_local(g, g->k->i64);
    LLVMPositionBuilderAtEnd(g->k->b, g->entry);
    LLVMBuildStore(g->k->b, rvm__number(g, 0), log->size);
    LLVMBuildStore(g->k->b, rvm__number(g, 0), log->kept);
    LLVMPositionBuilderAtEnd(g->k->b, here);
}

LLVMValueRef rvm__call_machine(rvm__group *g, const char *name, LLVMTypeRef returns, unsigned n, LLVMValueRef *args) {
    LLVMTypeRef t[5], type;
    LLVMValueRef f = LLVMGetNamedFunction(g->k->module, name);
    for (unsigned k = 0; k < n; k++) t[k] = LLVMTypeOf(args[k]);
    type = LLVMFunctionType(returns, t, n, false);
    if (!f) f = LLVMAddFunction(g->k->module, name, type);
    return LLVMBuildCall2(g->k->b, type, f, args, n, "");
}

/* All entries become the machine's. */
static void hand_over(rvm__group *g, const rvm__group_log *log, const char *machine) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef kept = LLVMBuildLoad2(b, g->k->i64, log->kept, ""), size = LLVMBuildLoad2(b, g->k->i64, log->size, "");
    LLVMValueRef args[4] = {LLVMGetParam(g->to, 0), kept, log->bytes, size};
    LLVMValueRef good = rvm__call_machine(g, machine, g->k->i1, 4, args);
    rvm__bail_group_out(g, LLVMBuildNot(b, good, ""));
    LLVMBuildStore(b, LLVMBuildAdd(b, kept, size, ""), log->kept);
    LLVMBuildStore(b, rvm__number(g, 0), log->size);
}

void rvm__keep_entry(rvm__group *g, rvm__group_log *log, const char *machine, const LLVMValueRef part[3]) {
    LLVMBuilderRef b = g->k->b;
    uint64_t size = 0;
    for (unsigned n = 0; n < 3; n++) size += LLVMABISizeOfType(g->layout, LLVMTypeOf(part[n]));
    LLVMBasicBlockRef full = rvm__group_block(g, "full"), room = rvm__group_block(g, "room");
    make_log(g, log);
    LLVMValueRef at = LLVMBuildLoad2(b, g->k->i64, log->size, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGT, at, rvm__number(g, RVM__NATIVE_LOG - size), ""), full, room);
    LLVMPositionBuilderAtEnd(b, full);
    hand_over(g, log, machine);
    LLVMBuildBr(b, room);
    LLVMPositionBuilderAtEnd(b, room);
    at = LLVMBuildLoad2(b, g->k->i64, log->size, "");
    LLVMBuildStore(b, LLVMBuildAdd(b, at, rvm__number(g, size), ""), log->size);
    LLVMValueRef to = rvm__behind(g, log->bytes, at);
    for (unsigned n = 0; n < 3; n++) {
        LLVMSetAlignment(LLVMBuildStore(b, part[n], to), 8);
        to = rvm__behind(g, to, rvm__number(g, LLVMABISizeOfType(g->layout, LLVMTypeOf(part[n]))));
    }
}

/* Values that stood at addresses, and what tells them. */
void rvm__keep_old(rvm__group *g, LLVMValueRef values, LLVMValueRef addresses, LLVMValueRef tells) {
    rvm__keep_entry(g, &g->log, "rvm__native_keep_stores", (LLVMValueRef[]){values, addresses, tells});
}

_Static_assert(RVM__NATIVE_RUN == 1 << RVM__MOST_GROUP, "no mask");
void rvm__keep_run(rvm__group *g, LLVMValueRef run, LLVMValueRef was) {
    LLVMTypeRef t = LLVMTypeOf(was);
    const uint64_t n = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
    if (g->logs) rvm__keep_old(g, was, run, rvm__number(g, n * RVM__NATIVE_RUN));
}

static void replay(rvm__group *g) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef args[5] = {LLVMGetParam(g->to, 0), LLVMBuildLoad2(b, g->k->i64, g->log.kept, ""), rvm__number(g, g->lanes),
                            g->log.bytes, LLVMBuildLoad2(b, g->k->i64, g->log.size, "")};
    rvm__call_machine(g, "rvm__native_put_back", g->k->nothing, 5, args);
}

void rvm__take_back(rvm__group *g) {
    LLVMPositionBuilderAtEnd(g->k->b, g->bailed_out);
    if (g->log.bytes) replay(g);
    if (g->mark)
        rvm__call_machine(g, "rvm__native_release", g->k->nothing, 2, (LLVMValueRef[]){LLVMGetParam(g->to, 0), g->mark});
    LLVMBuildRet(g->k->b, LLVMConstInt(g->k->i32, RVM__GROUP_GAVE_UP, false));
    LLVMPositionBuilderAtEnd(g->k->b, g->adrift);
    LLVMBuildRet(g->k->b, LLVMConstInt(g->k->i32, RVM__GROUP_ADRIFT, false));
}

/* markers.c: in a kernel, once the instance is inlined, its markers (lower/instance.h) become calls of the runtime. */
#include "device.h"

#include <string.h>

static bool is_named(LLVMValueRef v, const char *name) {
    size_t length;
    return !strcmp(LLVMGetValueName2(v, &length), name);
}

/* A parameter, or an instruction; NULL: the kernel has none. */
static LLVMValueRef named(const rvm__device_kernel *x, const char *name) {
    for (LLVMValueRef p = LLVMGetFirstParam(x->kernel); p; p = LLVMGetNextParam(p))
        if (is_named(p, name)) return p;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (is_named(v, name)) return v;
    return NULL;
}

typedef struct markers {
    const rvm__build *k;
    rvm__device_kernel *x;
    LLVMValueRef lane, i, active, mask, control, first, limit, size, arena, top, slot, slot_within, log, addresses, n,
        additions, row, entry, entered, entries, width, met, met_end, slot_met;
} markers;

static LLVMValueRef call(const markers *m, const char *name, unsigned n, LLVMValueRef *args) {
    LLVMValueRef f = LLVMGetNamedFunction(m->k->module, name);
    return LLVMBuildCall2(m->k->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

static LLVMValueRef own_number(const markers *m) {
    return LLVMBuildAdd(m->k->b, m->first, m->i, "");
}

static void fail_if(const markers *m, LLVMValueRef c) {
    if (LLVMIsAConstantInt(c) && !LLVMConstIntGetZExtValue(c)) return;
    const rvm__device_kernel *x = m->x;
    call(m, x->nested ? "rvm.device.fail_all" : "rvm.device.fail", 3 + x->nested,
         (LLVMValueRef[]){c, m->control, own_number(m), x->cta.shared});
    m->x->may_fail = true;
}

/* Memory of a local array, in place of the machine's; NULL: who fills it is told otherwise. */
static void new_array(const markers *m, LLVMValueRef v, LLVMValueRef n, LLVMValueRef bits) {
    fail_if(m, call(m, "rvm.device.lacks", 4, (LLVMValueRef[]){m->top, m->size, n, m->control}));
    LLVMValueRef p = call(m, "rvm.device.take", 3, (LLVMValueRef[]){m->arena, m->top, n});
    if (bits) call(m, "rvm.device.fill", 3, (LLVMValueRef[]){p, n, bits});
    LLVMReplaceAllUsesWith(v, p);
}

static void keep_entry(const markers *m, LLVMValueRef v, LLVMValueRef slot) {
    call(m, "rvm.device.add_entry", 7,
         (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 1), slot, m->entries, m->row, m->width, m->entered});
}

static void keep_addition(const markers *m, LLVMValueRef v, LLVMValueRef slot) {
    call(m, "rvm.device.add_term", 8,
         (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 1), slot, m->log, m->addresses, m->n, m->i, m->additions});
}

/* By zeros, of elements: each has 8 bytes. */
static bool is_clearing(LLVMValueRef memset_call) {
    LLVMValueRef value = LLVMGetOperand(memset_call, 1), n = LLVMGetOperand(memset_call, 2);
    return LLVMIsAConstantInt(value) && !LLVMConstIntGetZExtValue(value) &&
           (!LLVMIsAConstantInt(n) || LLVMConstIntGetZExtValue(n) % 8 == 0);
}

/* Whether the call is one, and is done otherwise now. */
static bool replace(const markers *m, LLVMValueRef v, const char *name) {
    LLVMBuilderRef b = m->k->b;
    LLVMPositionBuilderBefore(b, v);
    if (!strcmp(name, RVM__BAIL_OUT))
        fail_if(m, LLVMGetOperand(v, 0));
    else if (!strcmp(name, RVM__SAFEPOINT))
        fail_if(m, LLVMBuildICmp(b, LLVMIntUGT, LLVMGetOperand(v, 0), m->limit, ""));
    else if (!strcmp(name, RVM__RESULT))
        LLVMReplaceAllUsesWith(v, LLVMConstNull(m->k->i32));
    else if (!strcmp(name, "rvm__native_new"))
        new_array(m, v, LLVMGetOperand(v, 1), LLVMGetOperand(v, 2));
    else if (!strcmp(name, RVM__NESTED_NEW))
        new_array(m, v, LLVMGetOperand(v, 0), NULL);
    else if (!strcmp(name, "rvm__native_del"))
        call(m, "rvm.device.del", 2, (LLVMValueRef[]){m->top, LLVMGetOperand(v, 1)});
    else if (!strcmp(name, RVM__NESTED_DEL))
        call(m, "rvm.device.del", 2, (LLVMValueRef[]){m->top, LLVMGetOperand(v, 0)});
    else if (!strncmp(name, "llvm.memset.", 12) && is_clearing(v))
        call(m, "rvm.device.clear", 2, (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 2)});
    else if (!strcmp(name, RVM__ADD_ENTRY "f64"))
        keep_entry(m, v, m->entry);
    else if (!strcmp(name, RVM__ADD_WITHIN "f64") && m->x->enters)
        keep_entry(m, v, m->slot_within);
    else if (!strcmp(name, RVM__ADD_WARP "f64") && m->x->logs)
        keep_addition(m, v, m->slot);
    else if (!strcmp(name, RVM__ADD_WITHIN "f64"))
        keep_addition(m, v, m->slot_within);
    else if (!strcmp(name, RVM__ADD_WARP "f64"))
        call(m, "rvm.device.add_warp.f64", 5,
             (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 1), m->mask, m->lane, m->active});
    else if (!strcmp(name, RVM__ADD_MET "f64"))
        call(m, "rvm.device.add_met", 5,
             (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 1), m->slot_met, m->met, m->met_end});
    else if (!strcmp(name, RVM__ADD_MET "i64"))
        call(m, "rvm.device.add_any", 2, (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 1)});
    else if (!strcmp(name, RVM__ADD_OWN "f64"))
        call(m, "rvm.device.add_own", 2, (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 1)});
    else if (!strncmp(name, RVM__ADD_EACH, strlen(RVM__ADD_EACH)))
        call(m, strcmp(name + strlen(RVM__ADD_EACH), "f64") ? "rvm.device.add_each.i64" : "rvm.device.add_each.f64", 2,
             (LLVMValueRef[]){LLVMGetOperand(v, 0), LLVMGetOperand(v, 1)});
    else
        return false;
    return true;
}

static void look_at_call(const markers *m, LLVMValueRef v) {
    const char *name = rvm__callee_name(v);
    if (replace(m, v, name))
        LLVMInstructionEraseFromParent(v);
    else if (!strncmp(name, "rvm__native_", 12))
        m->x->why = "it calls the machine";
    else if (!strncmp(name, RVM__ADD, strlen(RVM__ADD)))
        m->x->why = "an addition stayed in a function of its own";
    m->x->functions |= *name && !m->k->fast && rvm__device_is_function(name);
}

void rvm__device_replace_markers(const rvm__build *k, rvm__device_kernel *x) {
    const markers m = {.k = k,
                       .x = x,
                       .lane = named(x, "rvm.lane"),
                       .i = named(x, "rvm.i"),
                       .active = named(x, "rvm.active"),
                       .mask = named(x, "rvm.mask"),
                       .control = named(x, "rvm.control"),
                       .first = named(x, "rvm.first"),
                       .limit = named(x, "rvm.limit"),
                       .size = named(x, "rvm.size"),
                       .arena = named(x, "rvm.arena"),
                       .top = named(x, "rvm.top"),
                       .slot = named(x, "rvm.slot"),
                       .slot_within = named(x, "rvm.slot_within"),
                       .log = named(x, "rvm.log"),
                       .addresses = named(x, "rvm.addresses"),
                       .n = named(x, "rvm.n"),
                       .additions = named(x, "rvm.additions"),
                       .row = named(x, "rvm.row"),
                       .entry = named(x, "rvm.entry"),
                       .entered = named(x, "rvm.entered"),
                       .entries = named(x, "rvm.entries"),
                       .width = named(x, "rvm.width"),
                       .met = named(x, "rvm.met"),
                       .met_end = named(x, "rvm.met_end"),
                       .slot_met = named(x, "rvm.slot_met")};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            if (LLVMIsACallInst(v)) look_at_call(&m, v);
        }
}

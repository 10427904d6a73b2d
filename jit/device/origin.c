/* origin.c: what an addition adds to. That it may be an element of an array that several instances add into is said of
 * names, of which one may stand for a local array elsewhere; where the address comes from tells. */
#include "device.h"

#include <string.h>

enum { MOST_PHIS = 16, NOTHING = -100 };

typedef struct tracing {
    const rvm__device_kernel *x;
    const rvm__device_within *within; /* NULL: in the instance itself */
    LLVMValueRef phis[MOST_PHIS];     /* that are being looked at */
    unsigned n;
    bool meets; /* by a parameter of the block within */
} tracing;

static int trace(tracing *t, LLVMValueRef p);

static bool is_shared(int origin) {
    return origin >= 0 || origin == RVM__FROM_SEVERAL;
}

static int both(int a, int b) {
    if (a == NOTHING || a == b) return b;
    if (b == NOTHING) return a;
    return is_shared(a) && is_shared(b) ? RVM__FROM_SEVERAL : RVM__FROM_ANYWHERE;
}

static int of_argument(const rvm__device_kernel *x, unsigned param) {
    const unsigned first = RVM__VECTORISED_SUMS + x->from->sums;
    if (param < first) return RVM__FROM_ANYWHERE;
    return x->from->args[param - first].shared ? (int)(param - first) : RVM__FROM_INSTANCE;
}

static unsigned number_of(LLVMValueRef f, LLVMValueRef param) {
    unsigned n = 0;
    while (LLVMGetParam(f, n) != param) n++;
    return n;
}

/* Of a block within: what it is given, wherever it is entered. */
static int of_parameter(tracing *t, LLVMValueRef param) {
    LLVMValueRef f = LLVMGetParamParent(param);
    const unsigned n = number_of(f, param);
    int found = NOTHING;
    if (f == t->x->instance) return of_argument(t->x, n);
    if (!t->within || n < RVM__VECTORISED_SUMS) return RVM__FROM_ANYWHERE;
    t->meets |= LLVMGetStringAttributeAtIndex(f, 1 + n, RVM__MEETING, strlen(RVM__MEETING)) != NULL;
    for (LLVMUseRef u = LLVMGetFirstUse(t->within->marker); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef marker = LLVMGetUser(u);
        if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(marker)) == t->x->instance)
            found = both(found, trace(t, LLVMGetOperand(marker, RVM__NESTED_SUMS - RVM__VECTORISED_SUMS + n)));
    }
    return found == NOTHING ? RVM__FROM_ANYWHERE : found;
}

/* In the instance, or in a block within of it? */
static int of_memory(const tracing *t, LLVMValueRef v) {
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(v)) == t->x->instance ? RVM__FROM_INSTANCE : RVM__FROM_THREAD;
}

static int of_ways(tracing *t, LLVMValueRef phi) {
    int found = NOTHING;
    for (unsigned n = 0; n < t->n; n++)
        if (t->phis[n] == phi) return NOTHING;
    if (t->n == MOST_PHIS) return RVM__FROM_ANYWHERE;
    t->phis[t->n++] = phi;
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) found = both(found, trace(t, LLVMGetIncomingValue(phi, n)));
    return found;
}

static int trace(tracing *t, LLVMValueRef p) {
    while (LLVMIsAGetElementPtrInst(p)) p = LLVMGetOperand(p, 0);
    if (LLVMIsAArgument(p)) return of_parameter(t, p);
    if (LLVMIsAPHINode(p)) return of_ways(t, p);
    if (LLVMIsASelectInst(p)) return both(trace(t, LLVMGetOperand(p, 1)), trace(t, LLVMGetOperand(p, 2)));
    const bool made = LLVMIsAAllocaInst(p) || (LLVMIsACallInst(p) && !strcmp(rvm__callee_name(p), "rvm__native_new"));
    return made ? of_memory(t, p) : RVM__FROM_ANYWHERE;
}

int rvm__device_origin(const rvm__device_kernel *x, const rvm__device_within *within, LLVMValueRef address) {
    tracing t = {.x = x, .within = within};
    const int found = trace(&t, address);
    return found == NOTHING ? RVM__FROM_ANYWHERE : found;
}

bool rvm__device_meets(const rvm__device_kernel *x, const rvm__device_within *within, LLVMValueRef address) {
    tracing t = {.x = x, .within = within};
    trace(&t, address);
    return t.meets;
}

void rvm__device_add_plainly(const rvm__build *k, LLVMValueRef call) {
    LLVMValueRef p = LLVMGetOperand(call, 0), v = LLVMGetOperand(call, 1);
    LLVMPositionBuilderBefore(k->b, call);
    LLVMValueRef was = LLVMBuildLoad2(k->b, LLVMTypeOf(v), p, "");
    const bool real = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMDoubleTypeKind;
    LLVMBuildStore(k->b, real ? LLVMBuildFAdd(k->b, was, v, "") : LLVMBuildAdd(k->b, was, v, ""), p);
    LLVMInstructionEraseFromParent(call);
}

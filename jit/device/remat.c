/* remat.c: rematerialisation (Briggs, Cooper, Torczon 1992): what takes an operation or three is computed again where it is
 * used, rather than kept in registers through a block into which many values live. A device's assembler does so too, but
 * not for what LLVM has moved out of a loop, or made once for two branches; and how many registers a thread has decides how
 * many threads there are. Bits stay the same.
 *
 * A value is computed again only of such as live into the block anyway, so that no other live range grows. */
#include "device.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum {
    MANY = 96,         /* registers of 32 bits that live into a block: from there on */
    DEAR = 3,          /* operations that a value may take, */
    MOST_OPERANDS = 3, /* and what each of these */
    MOST_USES = 32,    /* blocks that use it */
    SHORT = 4,         /* instructions of a block that is too short for more; */
    SHORT_OF_REALS = 16,
    DOUBLE = 2 /* registers */
};

typedef struct remat {
    const rvm__build *k;
    LLVMBasicBlockRef *blocks; /* sorted by address */
    unsigned *pressure, *seen; /* by block: registers that live into it; the last search that met it */
    LLVMBasicBlockRef *stack;  /* of a search */
    unsigned n, search, many;
    bool hides;
} remat;

static int by_address(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t) * (LLVMBasicBlockRef const *)a, y = (uintptr_t) * (LLVMBasicBlockRef const *)b;
    return (x > y) - (x < y);
}

static unsigned number_of(const remat *w, LLVMBasicBlockRef b) {
    const LLVMBasicBlockRef *at = bsearch(&b, w->blocks, w->n, sizeof b, by_address);
    return (unsigned)(at - w->blocks);
}

/* ---- liveness, value by value ---- */

static unsigned registers_of(LLVMValueRef v) {
    LLVMTypeRef t = LLVMTypeOf(v);
    switch (LLVMGetTypeKind(t)) {
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind: return DOUBLE;
    case LLVMFloatTypeKind: return 1;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(t) == 1 ? 0 : (LLVMGetIntTypeWidth(t) + 31) / 32;
    default: return 0;
    }
}

/* A block into which v lives, if it is met first. */
static void meet(remat *w, LLVMBasicBlockRef b, unsigned *depth) {
    unsigned *seen = &w->seen[number_of(w, b)];
    if (*seen == w->search) return;
    *seen = w->search;
    w->stack[(*depth)++] = b;
}

/* It lives out of b, and into it, unless it is defined there. */
static void live_out(remat *w, LLVMValueRef v, LLVMBasicBlockRef b, unsigned *depth) {
    if (b != LLVMGetInstructionParent(v)) meet(w, b, depth);
}

static void use(remat *w, LLVMValueRef v, LLVMValueRef user, unsigned *depth) {
    if (!LLVMIsAPHINode(user)) {
        live_out(w, v, LLVMGetInstructionParent(user), depth);
        return;
    }
    for (unsigned n = 0; n < LLVMCountIncoming(user); n++)
        if (LLVMGetIncomingValue(user, n) == v) live_out(w, v, LLVMGetIncomingBlock(user, n), depth);
}

/* Marks the blocks into which v lives as seen in a search of its own, and adds to their pressure; the largest. */
static unsigned live(remat *w, LLVMValueRef v, int add) {
    unsigned depth = 0, most = 0;
    w->search++;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) use(w, v, LLVMGetUser(u), &depth);
    while (depth) {
        LLVMBasicBlockRef b = w->stack[--depth];
        unsigned *p = &w->pressure[number_of(w, b)];
        if (*p > most) most = *p;
        *p += (unsigned)add;
        for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u; u = LLVMGetNextUse(u))
            if (LLVMIsATerminatorInst(LLVMGetUser(u))) live_out(w, v, LLVMGetInstructionParent(LLVMGetUser(u)), &depth);
    }
    return most;
}

/* Whether v is at hand in b from the beginning on, and would be. */
static bool lives_into(remat *w, LLVMValueRef v, LLVMBasicBlockRef b) {
    if (!LLVMIsAInstruction(v)) return true; /* parameters are memory that costs nothing */
    if (LLVMGetInstructionParent(v) == b) return LLVMIsAPHINode(v);
    live(w, v, 0);
    return w->seen[number_of(w, b)] == w->search;
}

/* ---- what is cheap ---- */

static bool is_cheap(LLVMValueRef v) {
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFNeg:
    case LLVMAdd:
    case LLVMSub:
    case LLVMShl:
    case LLVMAnd:
    case LLVMOr:
    case LLVMSelect:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMMul:
    case LLVMAddrSpaceCast:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
    case LLVMGetElementPtr: return true;
    default: return false;
    }
}

/* Operations that computing v again in b takes; more than `most`, which are at most DEAR: too many. */
static unsigned cost_in(remat *w, LLVMValueRef v, LLVMBasicBlockRef b, unsigned most) {
    unsigned cost = 1;
    if (!most || !is_cheap(v) || LLVMGetNumOperands(v) > MOST_OPERANDS) return DEAR + 1;
    for (int o = 0; o < LLVMGetNumOperands(v) && cost <= DEAR; o++) {
        LLVMValueRef x = LLVMGetOperand(v, (unsigned)o);
        if (!lives_into(w, x, b)) cost += LLVMGetInstructionParent(x) == b ? DEAR : cost_in(w, x, b, most - 1);
    }
    return cost;
}

/* ---- once more ---- */

/* The value of x, as LLVM does not know it: else it would be computed once again. */
static LLVMValueRef hide(const remat *w, LLVMValueRef x) {
    static const char constraints[2][5] = {"=l,0", "=d,0"};
    LLVMTypeRef t = LLVMTypeOf(x), f;
    const bool real = t == w->k->f64;
    if (!w->hides || !LLVMIsAInstruction(x) || (!real && t != w->k->i64)) return x;
    f = LLVMFunctionType(t, &t, 1, false);
    LLVMValueRef as = LLVMGetInlineAsm(f, "", 0, constraints[real], 4, true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(w->k->b, f, as, &x, 1, "");
}

/* Where the builder stands, in b. */
static LLVMValueRef again(remat *w, LLVMValueRef v, LLVMBasicBlockRef b) {
    LLVMValueRef x[MOST_OPERANDS], made;
    const int n = LLVMGetNumOperands(v);
    for (int o = 0; o < n; o++) {
        LLVMValueRef own = LLVMGetOperand(v, (unsigned)o);
        x[o] = lives_into(w, own, b) ? hide(w, own) : again(w, own, b);
    }
    LLVMInsertIntoBuilder(w->k->b, made = LLVMInstructionClone(v));
    for (int o = 0; o < n; o++) LLVMSetOperand(made, (unsigned)o, x[o]);
    return made;
}

/* The first instruction of b that uses v. */
static LLVMValueRef first_use(LLVMValueRef v, LLVMBasicBlockRef b) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        for (int o = 0; o < LLVMGetNumOperands(i); o++)
            if (LLVMGetOperand(i, (unsigned)o) == v) return i;
    return NULL;
}

static void compute_in(remat *w, LLVMValueRef v, LLVMBasicBlockRef b) {
    LLVMValueRef i = first_use(v, b);
    LLVMPositionBuilderBefore(w->k->b, i);
    LLVMValueRef made = again(w, v, b);
    for (; i; i = LLVMGetNextInstruction(i))
        for (int o = 0; o < LLVMGetNumOperands(i); o++)
            if (LLVMGetOperand(i, (unsigned)o) == v) LLVMSetOperand(i, (unsigned)o, made);
}

/* For another v: reals take long on many devices, and there is a loop around most short blocks. */
static bool is_short(LLVMBasicBlockRef b, LLVMValueRef v) {
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(v));
    const unsigned least = kind == LLVMDoubleTypeKind || kind == LLVMFloatTypeKind ? SHORT_OF_REALS : SHORT;
    unsigned n = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && n < least; i = LLVMGetNextInstruction(i)) n++;
    return n < least;
}

/* Blocks other than its own that use v; 0: none, too many, or one of them cannot compute it for so much. */
static unsigned blocks_of(remat *w, LLVMValueRef v, unsigned most, LLVMBasicBlockRef *b) {
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        LLVMBasicBlockRef one = LLVMGetInstructionParent(user);
        bool known = one == LLVMGetInstructionParent(v);
        if (LLVMIsAPHINode(user)) return 0;
        for (unsigned k = 0; k < n; k++) known |= b[k] == one;
        if (known) continue;
        if (n == MOST_USES || is_short(one, v) || cost_in(w, v, one, most) > most) return 0;
        b[n++] = one;
    }
    return n;
}

static void compute_later(remat *w, LLVMValueRef v, unsigned most) {
    LLVMBasicBlockRef b[MOST_USES];
    const unsigned registers = registers_of(v);
    if (!registers || !is_cheap(v) || live(w, v, 0) <= w->many) return;
    const unsigned n = blocks_of(w, v, most, b);
    if (!n) return;
    live(w, v, -(int)registers);
    for (unsigned k = 0; k < n; k++) compute_in(w, v, b[k]);
    live(w, v, (int)registers);
}

/* From the last value to the first: what later ones are computed of is there as long as they are. */
static void find(remat *w, LLVMValueRef f, unsigned most) {
    for (LLVMBasicBlockRef b = LLVMGetLastBasicBlock(f); b; b = LLVMGetPreviousBasicBlock(b))
        for (LLVMValueRef v = LLVMGetLastInstruction(b), next; v; v = next) {
            next = LLVMGetPreviousInstruction(v);
            compute_later(w, v, most);
        }
}

bool rvm__device_rematerialise(const rvm__build *k, LLVMValueRef f, bool grid, unsigned *most_live) {
    remat w = {.k = k, .n = LLVMCountBasicBlocks(f), .many = grid ? 0 : MANY, .hides = !grid};
    const size_t each = 2 * sizeof(LLVMBasicBlockRef) + 2 * sizeof(unsigned), size = w.n * each;
    if (!(w.blocks = rvm__realloc(k->al, NULL, 0, size))) return false;
    w.stack = w.blocks + w.n;
    w.pressure = (unsigned *)(void *)(w.stack + w.n);
    w.seen = w.pressure + w.n;
    LLVMGetBasicBlocks(f, w.blocks);
    qsort(w.blocks, w.n, sizeof *w.blocks, by_address);
    memset(w.pressure, 0, 2 * w.n * sizeof(unsigned));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            live(&w, v, (int)registers_of(v));
    for (unsigned most = 1; most <= DEAR; most++) find(&w, f, most);
    *most_live = 0;
    for (unsigned b = 0; b < w.n; b++)
        if (w.pressure[b] > *most_live) *most_live = w.pressure[b];
    rvm__realloc(k->al, w.blocks, size, 0);
    return true;
}

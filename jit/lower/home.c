/* home.c: registers that the exits of a function find in memory.
 *
 * All exits of a function share the block that writes its frame (frame.c). What a register holds there is a phi with an
 * operand for each exit, so code and the time of LLVM's passes grow with exits times registers: in large checked functions,
 * whose every release is an exit, with the square of their size. There a register has a home in memory besides, which is
 * written wherever the register is, and which only that block reads: one store for each change, whatever the exits. Its uses
 * in the code go on in SSA form. The stores are volatile, since LLVM would move them out of loops again, into each exit.
 *
 * In still larger functions the register itself stays in memory, as most would anyway, so that no value lives from one
 * instruction to another.
 *
 * A register that is carried around a loop has none: it would be stored in each trip. */
#include "emit.h"
#include "accesses.h"

#include <string.h>

/* Exits times registers. Below LARGE, stores cost more than they save; from VAST on, so many values that live long take
 * LLVM's register allocator, which splits them again and again, more than all else together. */
enum { LARGE = 1 << 14, VAST = 1 << 15 };

typedef struct homes {
    uint8_t *carried, *fixed; /* by register; fixed: only a let changes it, so that it never held more than it holds */
    uint8_t *let;             /* likewise: by one it appears */
    uint32_t *born;           /* likewise: the loop that it appeared in, by its lower end, or 0 */
} homes;

static void note_changes(const rvm__emit *e, const rvm_insn *in, uint32_t loop, homes *h) {
    RVM__EACH_ACCESS(a, e->u->p, e->f, in) {
        if (!a.reg || !(a.bits & RVM__BITS_ACC)) continue;
        const bool let = a.toggles && rvm__pair_of(in->op) == RVM_PAIR_let;
        const uint16_t reg = a.q->slot;
        if (let && a.appears) h->born[reg] = loop, h->let[reg] = 1;
        if (let) continue;
        h->fixed[reg] = 0;
        h->carried[reg] |= h->born[reg] != loop;
    }
}

/* In the order of the text, in which loops nest, and a register appears above where it is changed. */
static void find_changes(const rvm__emit *e, homes *h) {
    enum { DEEPEST = 64 };
    uint32_t open[DEEPEST], n = 0;
    memset(h->fixed, 1, e->f->nregs);
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (!e->f->params[k].ndim) h->fixed[e->f->params[k].index] = 0;
    RVM__EACH_INSN(x, e->f) {
        while (n && e->f->code[open[n - 1]].target < x.pc) n--;
        if (n < DEEPEST && rvm__begins_loop(e->f, x.pc)) open[n++] = x.pc;
        note_changes(e, x.in, n ? open[n - 1] : 0, h);
    }
}

static bool is_local(LLVMValueRef address) {
    if (!address || !LLVMIsAAllocaInst(address)) return false;
    for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef in = LLVMGetUser(u);
        if (!LLVMIsALoadInst(in) && !(LLVMIsAStoreInst(in) && LLVMGetOperand(in, 0) != address)) return false;
    }
    return true;
}

/* What a register is before it first appears, which nobody asks for in checked code (rvm__nothing). */
static bool is_absence(const rvm__emit *e, LLVMValueRef store) {
    LLVMValueRef v = LLVMGetOperand(store, 0);
    if (LLVMIsUndef(v)) return true;
    const bool begins = LLVMGetInstructionParent(store) == LLVMGetNextBasicBlock(e->frame.entry);
    return begins && LLVMIsNull(v);
}

static void give_home(rvm__emit *e, LLVMValueRef from, LLVMValueRef to, bool let) {
    LLVMBuilderRef b = e->k->b;
    for (LLVMUseRef u = LLVMGetFirstUse(from); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef in = LLVMGetUser(u);
        if (!LLVMIsAStoreInst(in) || (let && is_absence(e, in))) continue;
        LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(in));
        LLVMSetVolatile(LLVMBuildStore(b, LLVMGetOperand(in, 0), to), true);
    }
}

static void stay_in_memory(LLVMValueRef address) {
    for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) LLVMSetVolatile(LLVMGetUser(u), true);
}

static bool is_vast(const rvm__emit *e) {
    return (uint64_t)e->frame.nsites * e->f->nregs > VAST;
}

static bool make_home(rvm__emit *e, uint32_t reg, const homes *h) {
    LLVMValueRef held = e->frame.held[reg];
    if (!is_local(e->frame.reg[reg]) || (held && !is_local(held))) return false;
    rvm__at(e, e->frame.entry);
    LLVMValueRef value = rvm__member(e, e->frame.home, reg * sizeof(rvm_value));
    LLVMValueRef magnitude = rvm__member(e, e->frame.home, (e->f->nregs + reg) * sizeof(rvm_value));
    give_home(e, e->frame.reg[reg], value, h->let[reg]);
    if (held && !h->fixed[reg]) give_home(e, held, magnitude, h->let[reg]);
    if (!is_vast(e)) return true;
    stay_in_memory(e->frame.reg[reg]);
    if (held) stay_in_memory(held);
    return true;
}

static bool is_large(const rvm__emit *e) {
    return !e->vectorised && LLVMCountBasicBlocks(e->function) > RVM__LARGE;
}

/* There, if the function is large, what was charged, and where it is left, stay in memory, too: as a value the one would
 * live from beginning to end, with a use in each exit, and LLVM looks through all its uses for each of them. Elsewhere each
 * branch would wait for it. */
void rvm__keep_counts(rvm__emit *e) {
    if (!e->frame.home || !is_large(e) || !is_vast(e)) return;
    stay_in_memory(e->count.charged);
    stay_in_memory(e->frame.site);
}

void rvm__make_homes(rvm__emit *e) {
    const uint32_t n = e->f->nregs;
    if (e->u->w->unchecked || (uint64_t)e->frame.nsites * n <= LARGE) return; /* else the machine has no magnitudes */
    homes h = {.carried = rvm__unit_alloc(e->u, n),
               .fixed = rvm__unit_alloc(e->u, n),
               .let = rvm__unit_alloc(e->u, n),
               .born = rvm__unit_alloc(e->u, n * sizeof *h.born)};
    e->frame.homed = rvm__unit_alloc(e->u, n);
    if (!h.carried || !h.fixed || !h.let || !h.born || !e->frame.homed) return;
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(e->k->b);
    find_changes(e, &h);
    e->frame.home = rvm__local(e, LLVMArrayType2(e->k->i64, 2u * n), "home");
    for (uint32_t k = 0; k < n; k++)
        if (!h.carried[k] && make_home(e, k, &h)) e->frame.homed[k] = h.fixed[k] ? RVM__HOMED_FIXED : RVM__HOMED;
    LLVMSetCurrentDebugLocation2(e->k->b, line);
    if (is_large(e) && is_vast(e)) LLVMAddTargetDependentFunctionAttr(e->function, RVM__SIMPLE, "");
}

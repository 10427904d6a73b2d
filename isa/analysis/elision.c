/* elision.c: regions whose compute part changes only what it makes appear.
 *
 * One pass in the order of the text. A change of a place says since when the place has been there: the region's part began
 * earlier, or the place is from outside. `since` is the instruction that made it appear, the last one above in the text; of
 * what is in an array, the one that made that appear of which it is part. Text order stands for the order of execution:
 * within a compute part every instruction follows one that stands above it, but for those behind a jmp or cf, which code
 * that was written as statements has not; a part with these stays. So the first time that the part mentions a place that
 * appears and disappears, it appears, or the place is from outside.
 */
#include "elision.h"
#include "accesses.h"

typedef struct part { /* an open region */
    uint32_t compute;
    uint32_t oldest; /* since when the oldest place has been there that it changes so far */
    bool trails;     /* it does something with a trail */
} part;

typedef struct pass {
    const rvm_program *p;
    const rvm__reach *reach;
    const rvm_function *f;
    bool unchecked;
    uint32_t *named; /* by register, then array: the instruction at which it appeared; 0: a parameter */
    part *open;
    uint32_t depth;
} pass;

enum { ALWAYS = 0 /* there since before every region */ };

static uint32_t earliest(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Of a name that appears or disappears, or else of what is there. */
static uint32_t *since(const pass *s, const rvm__accesses *a) {
    if (!a->array) return &s->named[a->q->slot];
    return &s->named[s->f->nregs + (a->toggles ? a->q->slot : rvm__root_of(s->f, a->q))];
}

/* Since when the oldest place has been there that the instruction changes; UINT32_MAX where it changes none. */
static uint32_t oldest_changed(const pass *s, const rvm_insn *in) {
    uint32_t oldest = UINT32_MAX;
    RVM__EACH_ACCESS(a, s->p, s->f, in)
        if (!a.appears && a.bits & RVM__BITS_ACC) oldest = earliest(oldest, *since(s, &a));
    return oldest;
}

/* Whether the instruction, or what it calls, moves something to or from a trail, or else the stack. */
static bool moves(const pass *s, const rvm_insn *in, bool trail) {
    const rvm_op op = (rvm_op)in->op;
    if (trail ? rvm__op_on_trail(op) : rvm__op_on_stack(op)) return true;
    RVM__EACH_CALLEE(g, s->p, in)
        if (trail ? s->reach[g].trail : s->reach[g].stack) return true;
    return false;
}

/* Whether the instruction must run again, whatever it changes: what it moves lies outside, it asserts something, or the
 * order of the text is not that of execution. */
static bool stays(const pass *s, const rvm_insn *in) {
    const rvm_op op = (rvm_op)in->op;
    if (rvm__pair_of(op) == RVM_PAIR_jmp || moves(s, in, false)) return true;
    return !s->unchecked && (rvm__is_call(in) || !(in->flags & RVM_FLAG_UNCHECKED)); /* a callee has its own assertions */
}

static void change(const pass *s, uint32_t oldest, bool trails) {
    if (!s->depth) return;
    part *top = &s->open[s->depth - 1];
    top->oldest = earliest(top->oldest, oldest);
    top->trails |= trails;
}

static bool is_region(const rvm_insn *in) {
    return in->op == RVM_OP_compute || in->op == RVM_OP_do || in->op == RVM_OP_undo;
}

/* At compute, do or undo; whether the compute part that ends here is elided. */
static bool visit_region(pass *s, uint32_t pc, const rvm_insn *in) {
    if (in->op == RVM_OP_compute) {
        s->open[s->depth++] = (part){pc, UINT32_MAX, false};
        return false;
    }
    const part *top = &s->open[s->depth - 1];
    if (in->op == RVM_OP_do) return top->oldest > top->compute;
    s->depth--;
    change(s, top->oldest, top->trails);
    return false;
}

static void visit(const pass *s, uint32_t pc, const rvm_insn *in) {
    if (s->depth) change(s, stays(s, in) ? ALWAYS : oldest_changed(s, in), moves(s, in, true));
    RVM__EACH_ACCESS(a, s->p, s->f, in)
        if (a.appears) *since(s, &a) = pc;
}

size_t rvm__elision_scratch(const rvm_function *f) {
    const size_t regions = 1 + (size_t)rvm__ops_in(f, RVM_OP_compute);
    return regions * sizeof(part) + ((size_t)f->nregs + f->narrays) * sizeof(uint32_t);
}

void rvm__elision_find(const rvm_program *p, const rvm__reach *reach, uint32_t fn, bool unchecked, void *scratch,
                       void (*found)(void *userdata, const rvm__elision *region), void *userdata) {
    const rvm_function *f = &p->functions[fn];
    pass s = {.p = p, .reach = reach, .f = f, .unchecked = unchecked, .named = scratch};
    s.open = (part *)(s.named + f->nregs + f->narrays);
    RVM__EACH_INSN(x, f) {
        if (!is_region(x.in))
            visit(&s, x.pc, x.in);
        else if (visit_region(&s, x.pc, x.in))
            found(userdata, &(rvm__elision){s.open[s.depth - 1].compute, x.in->target, s.open[s.depth - 1].trails});
    }
}

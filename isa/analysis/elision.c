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

#include <string.h>

typedef struct part { /* an open region */
    uint32_t compute;
    uint32_t oldest;             /* since when the oldest place has been there that it changes so far */
    bool trails;                 /* it does something with a trail */
    bool asserts;                /* something that is not dropped */
    uint32_t by;                 /* the instruction that changes the oldest, */
    enum rvm__unforgettable why; /* and how */
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

/* What of the instruction lies outside of any region, or that the order of the text is not that of execution. */
static enum rvm__unforgettable pinned_by(const pass *s, const rvm_insn *in) {
    if (rvm__pair_of(in->op) == RVM_PAIR_jmp) return RVM__JUMPS;
    return moves(s, in, false) ? RVM__MOVES_STACK : RVM__FORGETTABLE;
}

static bool asserts(const pass *s, const rvm_insn *in) { /* a callee has its own assertions */
    return !s->unchecked && (rvm__is_call(in) || !(in->flags & RVM_FLAG_UNCHECKED));
}

static void change(const pass *s, const part *by) {
    if (!s->depth) return;
    part *top = &s->open[s->depth - 1];
    top->trails |= by->trails;
    top->asserts |= by->asserts;
    if (by->oldest >= top->oldest) return;
    top->oldest = by->oldest;
    top->by = by->by;
    top->why = by->why;
}

static bool is_region(const rvm_insn *in) {
    return rvm__class_of(in->op) == RVM_CLASS_REGION;
}

/* At compute, do or undo; whether a compute part ends here, that of the innermost region. */
static bool visit_region(pass *s, uint32_t pc, const rvm_insn *in) {
    if (in->op == RVM_OP_compute) s->open[s->depth++] = (part){.compute = pc, .oldest = UINT32_MAX};
    if (in->op != RVM_OP_undo) return in->op == RVM_OP_do;
    s->depth--;
    change(s, &s->open[s->depth]);
    return false;
}

static void visit(const pass *s, uint32_t pc, const rvm_insn *in) {
    if (s->depth) {
        const enum rvm__unforgettable pinned = pinned_by(s, in);
        change(s, &(part){.oldest = pinned ? ALWAYS : oldest_changed(s, in),
                          .trails = moves(s, in, true),
                          .asserts = asserts(s, in),
                          .by = pc,
                          .why = pinned ? pinned : RVM__CHANGES_OLDER});
    }
    RVM__EACH_ACCESS(a, s->p, s->f, in)
        if (a.appears) *since(s, &a) = pc;
}

size_t rvm__elision_scratch(const rvm_function *f) {
    const size_t regions = 1 + (size_t)rvm__ops_in(f, RVM_OP_compute);
    return regions * sizeof(part) + ((size_t)f->nregs + f->narrays) * sizeof(uint32_t);
}

static pass begin(const rvm_program *p, const rvm__reach *reach, uint32_t fn, bool unchecked, void *scratch) {
    const rvm_function *f = &p->functions[fn];
    pass s = {.p = p, .reach = reach, .f = f, .unchecked = unchecked, .named = scratch};
    s.open = (part *)(s.named + f->nregs + f->narrays);
    return s;
}

/* Whether the instruction ends a compute part; then *c is that. */
static bool ends_part(pass *s, const rvm__cursor *x, const part **c) {
    const bool ends = is_region(x->in) && visit_region(s, x->pc, x->in);
    if (!is_region(x->in)) visit(s, x->pc, x->in);
    *c = s->depth ? &s->open[s->depth - 1] : NULL;
    return ends;
}

static bool is_own(const part *c) { /* all that it changes */
    return c->oldest > c->compute;
}

void rvm__elision_find(const rvm_program *p, const rvm__reach *reach, uint32_t fn, bool unchecked, void *scratch,
                       void (*found)(void *userdata, const rvm__elision *region), void *userdata) {
    pass s = begin(p, reach, fn, unchecked, scratch);
    const part *c;
    RVM__EACH_INSN(x, s.f) {
        if (!ends_part(&s, &x, &c)) continue;
        const bool forgets = rvm__forgets(s.f, c->compute);
        if (forgets || (is_own(c) && !c->asserts))
            found(userdata, &(rvm__elision){c->compute, x.in->target, c->trails, forgets});
    }
}

rvm__keeping rvm__keeping_find(const rvm_program *p, const rvm__reach *reach, uint32_t fn, void *scratch) {
    pass s = begin(p, reach, fn, true, scratch);
    const part *c;
    RVM__EACH_INSN(x, s.f)
        if (ends_part(&s, &x, &c) && rvm__forgets(s.f, c->compute) && !is_own(c))
            return (rvm__keeping){c->compute, c->by, c->why};
    return (rvm__keeping){0};
}

/* ---- what a part leaves ---- */

/* A register or array that the instruction makes appear or disappear, for the first time on the way up the text. */
static void note_made(const rvm_function *f, const rvm_insn *in, const rvm_place *q, uint16_t *seen, rvm__made *made) {
    uint16_t *mark = &seen[q->kind == RVM_PLACE_ARRAY ? f->nregs + q->slot : q->slot];
    if (*mark) return;
    *mark = 1;
    if (rvm__is_inverse(in->op)) return;
    if (q->kind == RVM_PLACE_ARRAY)
        made->arrays[made->narrays++] = q->slot;
    else
        made->regs[made->nregs++] = q->slot;
}

rvm__made rvm__made_find(const rvm_function *f, uint32_t compute, uint16_t *room) {
    const size_t things = (size_t)f->nregs + f->narrays;
    rvm__made made = {.regs = room + things, .arrays = room + things + f->nregs};
    char buffer[256];
    memset(room, 0, things * sizeof *room);
    for (uint32_t pc = f->code[compute].target - 1; pc > compute; pc--) {
        const rvm_insn *in = &f->code[pc];
        if (in->op == RVM_OP_undo) { /* what a region within made is gone already */
            pc = in->target;
            continue;
        }
        const char *letters = rvm__place_letters(in, buffer);
        for (uint32_t k = in->nplaces; k-- > 0;)
            if (rvm__letter_toggles(letters[k])) note_made(f, in, rvm__places(f, in) + k, room, &made);
    }
    return made;
}

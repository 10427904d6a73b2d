/* elision.c: what compute parts change beside what they make appear.
 *
 * One pass in the order of the text. A change of a place says since when the place has been there: the region's part began
 * earlier, or the place is from outside. `since` is the instruction that made it appear, the last one above in the text; of
 * what is in an array, the one that made that appear of which it is part. Text order stands for the order of execution:
 * within a compute part every instruction follows one that stands above it, but for those behind a jmp or cf, which code
 * that was written as statements has not; a part with these stays. So the first time that the part mentions a place that
 * appears and disappears, it appears, or the place is from outside.
 *
 * Regions that borrow (activity.h) are found by the same pass over places with a shadow. The adjoint of a region runs C
 * again, B's adjoint, C's adjoint. What C makes appear has shadow 0 while C runs again, so that C may run plainly; a
 * borrowed place has a shadow that must go along, or be set aside in exact runs, so that C must run as an adjoint. What C
 * borrows it gives back: for a region around, only B counts. Where nothing that it borrows has a gradient yet, C runs
 * plainly, too (gained.c).
 */
#include "elision.h"
#include "accesses.h"
#include "activity.h"
#include "gained.h"
#include "support.h"

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
    const rvm_function *f;
    uint32_t fn;
    const rvm__activity *activity; /* of places with a shadow; or NULL: of all, and: */
    const rvm__reach *reach;
    bool unchecked;
    uint32_t *named; /* by register, then array: the instruction at which it appeared; 0: a parameter */
    part *open;
    uint32_t depth;
} pass;

enum { ALWAYS = 0 /* there since before every region */ };

/* Of a name that appears or disappears, or else of what is there. */
static uint32_t *since(const pass *s, const rvm__accesses *a) {
    if (!a->array) return &s->named[a->q->slot];
    return &s->named[s->f->nregs + (a->toggles ? a->q->slot : rvm__root_of(s->f, a->q))];
}

/* Names and empty arrays come and go without a change of a shadow; a copy on the stack takes the shadow along. */
static bool changes_shadow(const pass *s, const rvm__accesses *a) {
    const enum rvm_pair pair = rvm__pair_of(a->in->op);
    if (pair == RVM_PAIR_view || pair == RVM_PAIR_like || !rvm__is_active(s->p, s->activity, s->fn, a->q)) return false;
    return a->bits & RVM__BITS_ACC || pair == RVM_PAIR_pushc;
}

/* Since when the oldest place has been there that the instruction changes; UINT32_MAX where it changes none. */
static uint32_t oldest_changed(const pass *s, const rvm_insn *in) {
    uint32_t oldest = UINT32_MAX;
    RVM__EACH_ACCESS(a, s->p, s->f, in)
        if (!a.appears && (s->activity ? changes_shadow(s, &a) : a.bits & RVM__BITS_ACC))
            oldest = (uint32_t)rvm__least(oldest, *since(s, &a));
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

static part effect_of(const pass *s, const rvm__cursor *x) {
    if (s->activity) return (part){.oldest = oldest_changed(s, x->in)};
    const enum rvm__unforgettable pinned = pinned_by(s, x->in);
    return (part){.oldest = pinned ? ALWAYS : oldest_changed(s, x->in),
                  .trails = moves(s, x->in, true),
                  .asserts = asserts(s, x->in),
                  .by = x->pc,
                  .why = pinned ? pinned : RVM__CHANGES_OLDER};
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

/* The innermost region, if its compute part ends at the instruction; else NULL. */
static part *visit(pass *s, const rvm__cursor *x) {
    if (x->in->op == RVM_OP_compute) s->open[s->depth++] = (part){.compute = x->pc, .oldest = UINT32_MAX};
    if (x->in->op == RVM_OP_undo) s->depth--, change(s, &s->open[s->depth]);
    if (x->in->op == RVM_OP_do) return &s->open[s->depth - 1];
    if (rvm__class_of(x->in->op) == RVM_CLASS_REGION) return NULL;
    if (s->depth) {
        const part effect = effect_of(s, x);
        change(s, &effect);
    }
    RVM__EACH_ACCESS(a, s->p, s->f, x->in)
        if (a.appears) *since(s, &a) = x->pc;
    return NULL;
}

static bool is_own(const part *c) { /* all that it changes */
    return c->oldest > c->compute;
}

static size_t scratch_of(const rvm_function *f) {
    const size_t regions = 1 + (size_t)rvm__ops_in(f, RVM_OP_compute);
    return regions * sizeof(part) + ((size_t)f->nregs + f->narrays) * sizeof(uint32_t);
}

static pass begin(const rvm_program *p, uint32_t fn, void *scratch) {
    const rvm_function *f = &p->functions[fn];
    pass s = {.p = p, .f = f, .fn = fn, .named = scratch};
    s.open = (part *)(s.named + f->nregs + f->narrays);
    return s;
}

size_t rvm__borrow_scratch(const rvm_function *f) {
    return scratch_of(f) + rvm__gained_scratch(f);
}

void rvm__borrow_find(const rvm_program *p, const rvm__activity *a, uint32_t fn, void *scratch, uint8_t *ways) {
    pass s = begin(p, fn, scratch);
    bool any = false;
    s.activity = a;
    RVM__EACH_INSN(x, s.f) {
        part *c = visit(&s, &x);
        if (!c) continue;
        ways[c->compute] = !is_own(c);
        any |= !is_own(c);
        c->oldest = UINT32_MAX;
    }
    if (any) rvm__gained_find(p, a, fn, (char *)scratch + scratch_of(s.f), ways);
}

bool rvm__elision_find(const rvm_program *p, const rvm__reach *reach, uint32_t fn, bool unchecked, uint8_t *regions,
                       rvm__keeping *keeps) {
    const size_t size = scratch_of(&p->functions[fn]);
    void *scratch = rvm__make(&p->al, size);
    if (!scratch) return false;
    pass s = begin(p, fn, scratch);
    s.reach = reach;
    s.unchecked = unchecked;
    RVM__EACH_INSN(x, s.f) {
        const part *c = visit(&s, &x);
        if (!c) continue;
        const bool forgets = rvm__forgets(s.f, c->compute);
        if (keeps && !keeps->why && forgets && !is_own(c)) *keeps = (rvm__keeping){c->compute, c->by, c->why};
        if (!regions || !(forgets || (is_own(c) && !c->asserts))) continue;
        regions[c->compute] = forgets ? RVM__FORGETS : c->trails ? RVM__ELIDED_ON_TRAILS : RVM__ELIDED;
    }
    rvm__release(&p->al, scratch, size);
    return true;
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
    RVM__EACH_INSN_UP(x, f, f->code[compute].target, compute + 1) {
        if (x.in->op == RVM_OP_undo) x.pc = x.in->target; /* what a region within made is gone already */
        const char *letters = rvm__place_letters(x.in, buffer);
        for (uint32_t k = x.in->nplaces; k-- > 0;)
            if (rvm__letter_toggles(letters[k])) note_made(f, x.in, x.q + k, room, &made);
    }
    return made;
}

/* gained.c: which places may have gained a gradient when a sweep comes to a region. See gained.h.
 *
 * The shadow of a place that appears in a sweep is 0, and stays so until an instruction gives it something: one that changes
 * a place whose shadow is not 0, which spreads to all that the instruction uses. So one walk over the code, in the order of
 * a sweep, notes for each web, and each array that is no part of another, whether it may have gained. A region's sweep is C
 * again, B, C backward. Where all that C changes has shadow 0 as it begins, C again gives nothing to anything, and may as
 * well run plainly; else C is taken to give to all that it uses.
 *
 * Going through the text once is enough:
 *   - a loop, whatever its kind, may have given to all of its body before a trip begins;
 *   - of two branches that of the one is kept through the other, which only says more;
 *   - what appears has shadow 0 only where nothing that a sweep comes to before mentions it. A jump back to there would have
 *     to leave out the instruction by which it appears, to which control falls through all the same: so the verifier would
 *     have found it twice. Only a jmp is not fallen through, so that a function with one is left as it is.
 * Parameters may have gained from the start; a call gives to what it is passed where it changes what has gained, or where
 * its adjoint may find more: on the stack, on a trail, in code that is written by hand.
 *
 * The ways of all sweeps over the function count together, since an engine may have one code for them.
 */
#include "gained.h"
#include "accesses.h"
#include "ruled.h"
#include "support.h"

#include <string.h>

typedef struct pass {
    const rvm_program *p;
    const rvm_function *f;
    const rvm__activity *a;
    uint32_t fn;
    bool sites;             /* something on a trail has shadows */
    uint32_t *first, *last; /* by web: instructions that mention it; of an array, by its own name */
    uint32_t *made;         /* by number: the region, + 1, whose compute part made it appear */
    uint8_t *gained;        /* by number */
    uint8_t *ways, *asked;  /* by instruction, of compute; asked: may borrow at all */
} pass;

static uint32_t numbers_of(const rvm_function *f) {
    return rvm__slot_numbers(f) + f->nwebs;
}

size_t rvm__gained_scratch(const rvm_function *f) {
    return (3 * sizeof(uint32_t) + 1) * (size_t)numbers_of(f) + f->ncode;
}

/* Of a register its web, of an element or a part the array that it is in. */
static uint32_t number_of(const pass *s, const rvm_place *q) {
    if (q->kind != RVM_PLACE_ELEM && q->kind != RVM_PLACE_ARRAY) return rvm__web_of(s->f, q);
    return s->f->nregs + s->f->nconsts + rvm__root_of(s->f, q);
}

static bool has_shadow(const pass *s, const rvm_place *q) {
    return q->kind != RVM_PLACE_RANGE && rvm__is_active(s->p, s->a, s->fn, q);
}

/* Names come and go without their elements, and what is only shown without its shadow. */
static bool is_idle(const pass *s, const rvm_insn *in) {
    if (rvm__pair_of(in->op) == RVM_PAIR_view) return true;
    return rvm__is_call(in) && rvm__op_target((rvm_op)in->op) == 'F' && rvm__print_text(s->p, in->target);
}

/* Whether a place of the instruction that appears, going that way, does so with shadow 0. */
static bool appears_clear(const pass *s, const rvm_insn *in, const rvm_place *q, int step) {
    const uint32_t pc = (uint32_t)(in - s->f->code);
    const enum rvm_pair pair = rvm__pair_of(in->op);
    if (pair != RVM_PAIR_let && pair != RVM_PAIR_new && pair != RVM_PAIR_like) return false;
    return (step > 0 ? s->first : s->last)[rvm__web_of(s->f, q)] == pc;
}

/* ---- what may come from elsewhere ---- */

static bool is_by_hand(const pass *s, const rvm_insn *in) {
    RVM__EACH_CALLEE(g, s->p, in)
        if (s->p->nrules && (!s->p->ruled || g >= s->p->nruled || s->p->ruled[g] & ~RVM__RULED_PRINTS)) return true;
    return false;
}

static bool takes_shadows(const pass *s, const rvm_insn *in) {
    const rvm_op op = (rvm_op)in->op;
    return rvm__op_on_stack(op) || rvm__op_on_trail(op) ||
           (rvm__is_call(in) && (s->a->stack || s->sites || is_by_hand(s, in)));
}

/* ---- the walk ---- */

/* All that the instruction uses; but for what appears by it, going that way, unless `appears`. */
static void gain(const pass *s, const rvm_insn *in, int step, bool appears) {
    RVM__EACH_ACCESS(a, s->p, s->f, in)
        if (has_shadow(s, a.q) && (appears || !a.toggles || a.appears != (step > 0))) s->gained[number_of(s, a.q)] = 1;
}

static void gain_all(const pass *s, uint32_t lo, uint32_t hi) {
    RVM__EACH_INSN_IN(x, s->f, lo, hi)
        if (!is_idle(s, x.in)) gain(s, x.in, 1, true);
}

/* Whether a loop begins at the instruction, going that way, whose other end is its target. A jump and its come-from make one
 * where the jump stands below. */
static bool enters_loop(const rvm_insn *in, uint32_t pc, int step) {
    if (rvm__class_of(in->op) != RVM_CLASS_CONTROL || rvm__op_target((rvm_op)in->op) != 'L') return false;
    const bool begins = step > 0 ? in->target > pc : in->target < pc;
    return begins && (rvm__is_loop(in->op) || rvm__is_inverse(in->op) == (step > 0));
}

static void visit(const pass *s, uint32_t pc, int step) {
    const rvm_insn *in = &s->f->code[pc];
    if (is_idle(s, in)) return;
    if (enters_loop(in, pc, step)) gain_all(s, (uint32_t)rvm__least(pc, in->target), (uint32_t)rvm__most(pc, in->target));
    bool gives = takes_shadows(s, in);
    RVM__EACH_ACCESS(a, s->p, s->f, in) {
        if (!has_shadow(s, a.q)) continue;
        const uint32_t number = number_of(s, a.q);
        if (a.toggles && a.appears == (step > 0))
            s->gained[number] = !appears_clear(s, in, a.q, step);
        else
            gives |= a.bits & RVM__BITS_ACC && s->gained[number];
    }
    if (gives) gain(s, in, step, takes_shadows(s, in));
}

/* ---- regions ---- */

typedef struct region {
    uint32_t compute, begin, undo; /* begin: the `do` */
} region;

/* Whether the instruction, C running again, changes what has a shadow that may not be 0; or moves what was there before
 * C, so that its shadow has to go along. */
static bool borrows_by(const pass *s, const rvm_insn *in, uint32_t compute) {
    bool borrows = rvm__is_call(in) && (s->a->stack || is_by_hand(s, in));
    const bool moves = rvm__op_on_stack((rvm_op)in->op) || (rvm__op_on_trail((rvm_op)in->op) && rvm__is_inverse(in->op));
    RVM__EACH_ACCESS(a, s->p, s->f, in) {
        if (!has_shadow(s, a.q)) continue;
        const uint32_t number = number_of(s, a.q);
        if (a.appears) {
            s->gained[number] = !appears_clear(s, in, a.q, 1);
            s->made[number] = compute + 1;
        } else if (a.toggles)
            borrows |= s->made[number] != compute + 1;
        if (a.bits & RVM__BITS_ACC) borrows |= moves || s->gained[number];
    }
    return borrows;
}

static bool borrows(const pass *s, region r) {
    bool any = false;
    RVM__EACH_INSN_IN(x, s->f, r.compute + 1, r.begin)
        if (!is_idle(s, x.in)) any |= borrows_by(s, x.in, r.compute);
    return any;
}

static void sweep(const pass *s, uint32_t lo, uint32_t hi, int step);

static void sweep_region(const pass *s, region r, int step) {
    if (s->asked[r.compute] && borrows(s, r)) {
        s->ways[r.compute] |= step < 0 ? RVM__BORROWS_DOWN : RVM__BORROWS_UP;
        gain_all(s, r.compute + 1, r.begin);
        for (uint32_t pc = r.compute + 1; pc < r.begin; pc++)
            if (s->asked[pc]) s->ways[pc] = RVM__BORROWS_DOWN | RVM__BORROWS_UP;
    }
    sweep(s, r.begin + 1, r.undo, step);
    sweep(s, r.compute + 1, r.begin, -1);
}

static void sweep(const pass *s, uint32_t lo, uint32_t hi, int step) {
    const rvm_insn *code = s->f->code;
    for (uint32_t k = step > 0 ? lo : hi; step > 0 ? k < hi : k > lo;) {
        const uint32_t pc = step > 0 ? k : k - 1;
        const enum rvm_pair pair = rvm__pair_of(code[pc].op);
        if (pair != RVM_PAIR_compute && pair != RVM_PAIR_undo) {
            visit(s, pc, step);
            k = step > 0 ? k + 1 : k - 1;
            continue;
        }
        const uint32_t compute = pair == RVM_PAIR_compute ? pc : code[pc].target, begin = code[compute].target;
        const region r = {compute, begin, code[begin].target};
        sweep_region(s, r, step);
        k = step > 0 ? r.undo + 1 : r.compute;
    }
}

/* ---- a function ---- */

static void find_mentions(const pass *s) {
    memset(s->first, 0xff, numbers_of(s->f) * sizeof *s->first);
    RVM__EACH_INSN(x, s->f)
        for (uint32_t k = 0; k < x.in->nplaces; k++) {
            if (x.q[k].kind == RVM_PLACE_RANGE) continue;
            const uint32_t web = rvm__web_of(s->f, &x.q[k]);
            if (s->first[web] == UINT32_MAX) s->first[web] = x.pc;
            s->last[web] = x.pc;
        }
}

void rvm__gained_find(const rvm_program *p, const rvm__activity *a, uint32_t fn, void *scratch, uint8_t *ways) {
    const rvm_function *f = &p->functions[fn];
    const uint32_t n = numbers_of(f);
    pass s = {.p = p, .f = f, .a = a, .fn = fn, .first = scratch, .ways = ways};
    if (rvm__ops_in(f, RVM_OP_jmp)) {
        for (uint32_t pc = 0; pc < f->ncode; pc++)
            if (ways[pc]) ways[pc] = RVM__BORROWS_DOWN | RVM__BORROWS_UP;
        return;
    }
    s.last = s.first + n;
    s.made = s.last + n;
    s.gained = (uint8_t *)(s.made + n);
    s.asked = s.gained + n;
    s.sites = memchr(a->at_site, 1, a->nsites) != NULL;
    memcpy(s.asked, ways, f->ncode);
    memset(ways, 0, f->ncode);
    find_mentions(&s);
    for (int step = -1; step <= 1; step += 2) {
        memset(s.gained, 1, n);
        memset(s.made, 0, n * sizeof *s.made);
        sweep(&s, 0, f->ncode, step);
    }
}

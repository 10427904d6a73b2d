/* verify_facts.c: indices that are proved to be in bounds.
 *
 * An index i is below the length n of a dimension when both are constants, or when i counts a loop that we are in, upwards
 * from a lower end that is not negative, to n itself, to a constant up to n, or to an index that is below n in its turn. All
 * of these are read-only in the loop. The lengths of a parameter are those of its declaration; those of a local array are
 * known when every instruction that makes it appear or disappear names the same constants or length registers.
 */
#include "verify.h"
#include "program.h"
#include <string.h>

enum { UNKNOWN = UINT16_MAX, CHAIN = 4 /* loops whose ends are each other's indices */ };

typedef struct facts {
    rvm__verifier *v;
    uint32_t *loop;                   /* by register: pc + 1 of the open loop that it counts, or 0 */
    uint16_t (*length)[RVM_MAX_DIMS]; /* by array: slots, or UNKNOWN */
    uint8_t *seen;                    /* by array: its length has been noted */
} facts;

static bool is_const(const facts *w, uint16_t slot) {
    return rvm__is_const(w->v->f, slot);
}

static int64_t value(const facts *w, uint16_t slot) {
    return rvm__const_value(w->v->f, slot).i;
}

/* The loop or block that the slot counts, its places i, lo, hi, and of a loop step; or NULL. */
static const rvm_place *counted(const facts *w, uint16_t slot) {
    const rvm_function *f = w->v->f;
    return is_const(w, slot) || !w->loop[slot] ? NULL : rvm__places(f, f->code + w->loop[slot] - 1);
}

static bool goes_up(const facts *w, uint16_t index) {
    const rvm_insn *in = w->v->f->code + w->loop[index] - 1;
    const rvm_place *loop = rvm__places(w->v->f, in);
    return in->op == RVM_OP_par || (is_const(w, loop[3].slot) && value(w, loop[3].slot) > 0);
}

static bool not_negative(const facts *w, uint16_t slot) {
    for (int depth = 0; depth < CHAIN; depth++) {
        if (is_const(w, slot)) return value(w, slot) >= 0;
        if (w->v->is_length[slot]) return true;
        const rvm_place *loop = counted(w, slot);
        if (!loop || !goes_up(w, slot)) return false;
        slot = loop[1].slot;
    }
    return false;
}

/* slot < length, or <= for the upper end of a loop. */
static bool below(const facts *w, uint16_t slot, uint16_t length, bool or_equal) {
    for (int depth = 0; depth < CHAIN; depth++) {
        if (or_equal && slot == length) return true;
        if (is_const(w, slot)) {
            if (!is_const(w, length)) return false;
            return or_equal ? value(w, slot) <= value(w, length) : value(w, slot) < value(w, length);
        }
        const rvm_place *loop = counted(w, slot);
        if (!loop || !goes_up(w, slot)) return false;
        slot = loop[2].slot;
        or_equal = true; /* below an upper end that may be the length */
    }
    return false;
}

static bool in_bounds(const facts *w, const rvm_place *q) {
    for (int k = 0; k < q->nidx; k++) {
        uint16_t length = w->length[q->slot][k];
        if (length == UNKNOWN || !not_negative(w, q->idx[k]) || !below(w, q->idx[k], length, false)) return false;
    }
    return true;
}

static void prove(const facts *w, rvm_insn *in) {
    const rvm_place *q = rvm__places(w->v->f, in);
    for (uint32_t k = 0; k < in->nplaces && k < 4; k++)
        if (q[k].kind == RVM_PLACE_ELEM && in_bounds(w, q + k)) in->facts |= (uint8_t)(RVM_FACT_INBOUNDS0 << k);
    if (rvm__is_loop(in->op)) w->loop[q[0].slot] = rvm__is_inverse(in->op) ? 0 : (uint32_t)(in - w->v->f->code) + 1;
}

/* ---- lengths ---- */

static bool same_length(const facts *w, uint16_t a, uint16_t b) {
    return a == b || (a != UNKNOWN && b != UNKNOWN && is_const(w, a) && is_const(w, b) && value(w, a) == value(w, b));
}

/* The length of dimension d of the array that the instruction's places begin with. */
static uint16_t length_here(const facts *w, const rvm_place *q, const char *letters, int d) {
    if (letters[1] != 'k') return UNKNOWN; /* those of another array, which is one place */
    const uint16_t slot = q[1 + d].slot;
    return is_const(w, slot) || w->v->is_length[slot] ? slot : UNKNOWN;
}

static void note_lengths(const facts *w, const rvm_insn *in) {
    const rvm_function *f = w->v->f;
    const rvm_place *q = rvm__places(f, in);
    if (!in->nplaces || q[0].kind != RVM_PLACE_ARRAY) return;
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    if (letters[0] != 'X') return;
    uint16_t *length = w->length[q[0].slot];
    for (int d = 0; d < f->arrays[q[0].slot].ndim; d++) {
        uint16_t here = length_here(w, q, letters, d);
        if (!w->seen[q[0].slot])
            length[d] = here;
        else if (!same_length(w, length[d], here))
            length[d] = UNKNOWN;
    }
    w->seen[q[0].slot] = true;
}

static void function_facts(const facts *w) {
    rvm_function *f = w->v->p->functions + w->v->fn;
    memset(w->loop, 0, f->nregs * sizeof *w->loop);
    memset(w->seen, 0, f->narrays);
    memset(w->length, 0xff, f->narrays * sizeof *w->length);
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k].ndim) memcpy(w->length[f->params[k].index], f->params[k].dim, sizeof *w->length);
    RVM__EACH_INSN(x, f) note_lengths(w, x.in);
    RVM__EACH_INSN(x, f) prove(w, f->code + x.pc);
}

rvm_status rvm__verify_facts(rvm__verifier *v) {
    facts w = {.v = v};
    w.loop = rvm__verify_make(v, v->max_regs, sizeof *w.loop);
    w.seen = rvm__verify_make(v, v->max_arrays, sizeof *w.seen);
    w.length = rvm__verify_make(v, v->max_arrays, sizeof *w.length);
    RVM__TRY(rvm__verify_has_memory(v));
    RVM__EACH_FUNCTION(v) function_facts(&w);
    return RVM_OK;
}

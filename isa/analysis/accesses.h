/* accesses.h: how an instruction accesses its places. Not installed.
 *
 *     RVM__EACH_INSN(x, f)                  program.h
 *         RVM__EACH_ACCESS(a, p, f, x.in)   each place a.q of it, and what is done with it
 *         RVM__EACH_CHANGE(a, p, f, x.in)   the same, but of an update its target alone, which is all that it changes
 *         RVM__EACH_CALLEE(g, p, x.in)      each function that it may call (builder.h)
 *
 * p need not be verified, only f; an argument counts by the role that its parameter has so far.
 */
#ifndef RVM_ACCESSES_H
#define RVM_ACCESSES_H

#include "builder.h"

typedef struct rvm__accesses {
    const rvm_place *q;
    uint32_t k;             /* its number among the places */
    char letter;            /* rvm__place_letters */
    unsigned bits;          /* rvm__access_bits: of an argument, by the parameter's role; none where that is untouched */
    const rvm_param *param; /* that it is passed for; or NULL */
    bool reg;               /* it is a register, q->slot, */
    bool array;             /* or that array, or an element of it; or neither: a constant, a range */
    bool toggles;           /* it appears, */
    bool appears;           /* with the instruction as written; or disappears */
    /* of all places */
    const rvm_insn *in;
    const rvm_place *places;
    const char *at; /* rvm__letters_first */
    char last;      /* rvm__letter_last */
    rvm_callee callee;
    uint32_t nregs, n; /* so many are looked at */
} rvm__accesses;

/* Before the first; in line, as the next is, so that what nobody asks for is not made. */
static inline rvm__accesses rvm__accesses_begin(const rvm_program *p, const rvm_function *f, const rvm_insn *in) {
    return (rvm__accesses){.k = UINT32_MAX,
                           .in = in,
                           .places = rvm__places(f, in),
                           .at = rvm__letters_first(in),
                           .last = rvm__letter_last(in),
                           .callee = rvm__is_call(in) ? rvm__callee_of(p, in) : (rvm_callee){.params = NULL},
                           .nregs = f->nregs,
                           .n = in->nplaces};
}
/* The next place; false: there is none. */
static inline bool rvm__accesses_next(rvm__accesses *a) {
    if (a->k != UINT32_MAX) a->at = rvm__letters_next(a->at);
    if (++a->k >= a->n) return false;
    a->q = a->places + a->k;
    a->letter = rvm__letter_at(a->in, a->at, a->last, a->k);
    a->param = a->letter == '*' ? a->callee.params + (a->k - a->callee.first) : NULL;
    a->bits = !a->param             ? rvm__letter_access(a->in, a->letter)
              : a->param->untouched ? RVM__BITS_NONE
                                    : rvm__role_access((rvm_role)a->param->role);
    a->reg = a->q->kind == RVM_PLACE_SLOT && a->q->slot < a->nregs;
    a->array = a->q->kind == RVM_PLACE_ELEM || a->q->kind == RVM_PLACE_ARRAY;
    a->toggles = rvm__letter_toggles(a->letter);
    a->appears = a->toggles && !rvm__is_inverse(a->in->op);
    return true;
}
#define RVM__EACH_ACCESS(a, p, f, in) for (rvm__accesses a = rvm__accesses_begin(p, f, in); rvm__accesses_next(&a);)

/* Whether a block that enforces roles looks at it: an element, or an array that the instruction itself uses whole; of one
 * that is passed, what is called uses the elements. */
static inline bool rvm__is_guarded_access(const rvm__accesses *a) {
    return a->array && !a->toggles && a->bits && (a->q->kind == RVM_PLACE_ELEM || !a->param);
}

static inline rvm__accesses rvm__changes_begin(const rvm_program *p, const rvm_function *f, const rvm_insn *in) {
    rvm__accesses a = rvm__accesses_begin(p, f, in);
    if (rvm__op_is_update((rvm_op)in->op)) a.n = 1;
    return a;
}
#define RVM__EACH_CHANGE(a, p, f, in) for (rvm__accesses a = rvm__changes_begin(p, f, in); rvm__accesses_next(&a);)

/* Whether the instruction changes the register, which may appear or disappear by it. */
static inline bool rvm__changes_register(const rvm_program *p, const rvm_function *f, const rvm_insn *in, uint16_t reg) {
    RVM__EACH_CHANGE(a, p, f, in)
        if (a.reg && a.q->slot == reg && (a.toggles || a.bits & RVM__BITS_ACC)) return true;
    return false;
}

/* How shadows go through a place, by its letter, as bits: ACC, whether it gains one where another place has one; READ,
 * whether others do where it has one. Arguments apart. */
static inline unsigned rvm__letter_shadow(char letter) {
    switch (letter) {
    case 't':
    case 'y':
    case 'w':
    case 'X':
    case 'V':
    case 'd':
    case 'r': return RVM__BITS_OWN;
    case 'p':
    case 'a': return RVM__BITS_READ;
    }
    return RVM__BITS_NONE;
}

/* Slots that say which element or part a place is: q->idx, so many; of a range its slot besides. */
static inline uint32_t rvm__nindices(const rvm_place *q) {
    return q->kind == RVM_PLACE_RANGE ? 1 : q->kind == RVM_PLACE_ELEM ? q->nidx : 0;
}

/* How the body of the parallel block at pc accesses registers, those of indices included, by register: rvm__access_bits. In
 * a verified function a register of the surroundings has READ or ACC, one of the instances' own has OWN. */
void rvm__block_registers(const rvm_program *p, const rvm_function *f, uint32_t pc, uint8_t *bits);

#endif

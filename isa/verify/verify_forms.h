/* verify_forms.h: indices as functions of the instance of a parallel block. Internal to verify_par.c, verify_forms.c. */
#ifndef RVM_VERIFY_FORMS_H
#define RVM_VERIFY_FORMS_H

#include "verify.h"
#include "instruction.h"

/* A value between stride * i + lo and stride * i + hi, plus a register of the function around the block (NO_BASE: none).
 * Or, where `half` says so, the quotient or remainder of such a value, one number, by a number plus a register; it is then
 * not known otherwise. */
typedef struct rvm__form {
    bool known;
    uint8_t half; /* rvm__half */
    uint16_t base, by_base;
    int64_t stride, lo, hi, by;
} rvm__form;
enum { RVM__NO_BASE = UINT16_MAX };
enum rvm__half { RVM__WHOLE, RVM__QUOTIENT, RVM__REMAINDER };

/* Where one dimension of an outer array goes in what is a part of it: index k of the part (dim) counts from `from`, and
 * stays within `all`; dim < 0: the dimension is fixed at `from`. */
typedef struct rvm__part {
    rvm__form from, all;
    int8_t dim;
} rvm__part;

typedef struct rvm__parts {
    uint32_t known; /* the block for which `of` holds */
    rvm__part of[RVM_MAX_DIMS];
} rvm__parts;

typedef struct rvm__forms {
    rvm__verifier *v;
    uint32_t block, par;      /* the present block: its number, counted from 1 through the program, and its pc */
    rvm__form *value;         /* by register */
    uint32_t *known, *varies; /* by register: the block for which value holds; where it also changes in place */
    uint32_t *outer;          /* by register, then by array: the block around which it is present */
    rvm__parts *parts;        /* by array */
    uint64_t work;            /* left for looking at code again; at 0 nothing more is known */
} rvm__forms;

rvm_status rvm__forms_make(rvm__verifier *v, rvm__forms *w);
/* Begin with the block at pc. */
void rvm__forms_begin(rvm__forms *w, uint32_t pc);
/* Pass an instruction of the body; all are passed, in order. */
void rvm__forms_pass(rvm__forms *w, uint32_t pc);
/* What an ELEM or ARRAY place is of its root, dimension by dimension. */
void rvm__forms_of(const rvm__forms *w, const rvm_place *q, uint16_t root, rvm__form of[RVM_MAX_DIMS]);

static inline bool rvm__is_outer(const rvm__forms *w, bool array, uint32_t index) {
    return w->outer[array ? w->v->max_regs + index : index] == w->block;
}

#endif

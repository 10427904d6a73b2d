/* derive.h: one function being derived from another. Internal to isa/derive/.
 *
 *   transform.c       which functions are derived, in which order; their parameters
 *   transform_api.c   the transforms of rvm_program.h
 *   resolve.c         the code of what was declared, in rounds
 *   derive.c          the code list walked up or down; regions; calls
 *   derive_update.c   updates, by the formulas of rows and families
 *   derive_change.c   changes in place
 *   derive_op.c       the other instructions
 *   borrow.c          shadows of what a compute part borrows, in exact runs
 *   derive_rows.c     arrays whose shadow is made row by row
 *   derive_function.c the new function begun and ended; source names
 *   derive_emit.c     registers, places and instructions of the new function
 *   checkpoint_*.c    loops that run again from snapshots (checkpoint.h)
 *   origin.c          where derived code comes from, for profiles
 *   writer.c          functions that are written beside
 *   fold.c            functions for given values: no derivative, and stands alone
 *
 * Code is a list whose reverse, each instruction replaced by its inverse, is the inverse of the function. The adjoint is
 * that reverse, each instruction replaced by its adjoint; the tangent is the list itself, each instruction followed or
 * preceded by its tangent. Only regions are more than a list: see derive.c.
 */
#ifndef RVM_DERIVE_H
#define RVM_DERIVE_H

#include "activity.h"
#include "formula.h"
#include "reach.h"
#include "transform.h"
#include "program.h"
#include "support.h"

/* A request for a derived function: what its name says. */
typedef struct rvm__request {
    uint32_t of;
    rvm_transform kind;
    uint8_t level;           /* 0: the natural one, the order of `of` */
    bool stack;              /* the stack carries shadows */
    bool paired;             /* as of rvm__derivation */
    uint8_t borrowing;       /* likewise */
    const uint8_t *active;   /* by parameter; NULL: every real */
    const rvm__reach *reach; /* of the first nreach functions; NULL: not known */
    uint32_t nreach;
} rvm__request;

enum rvm__style {
    RVM__COPY,    /* as it is; with shadows appearing beside what outlives a compute part, where `mirror` is set */
    RVM__INVERT,  /* each instruction's inverse */
    RVM__TANGENT, /* with tangents */
    RVM__SWEEP,   /* each instruction's adjoint */
};

enum { RVM__NO_PLACE = UINT16_MAX };

typedef struct rvm__derive {
    rvm_program *p;
    rvm_error *err;
    rvm_status status; /* the first failure; then nothing more is emitted */
    rvm__zone memory;  /* of what derive_function.c makes */
    uint32_t src, dst;
    rvm_transform kind;
    uint8_t
        level; /* of this transform: trail that an adjoint pushes to; 1 << (level - 1) is added to positions in entries */
    rvm__activity a, *of_callee; /* of_callee: to ask what a callee needs */
    const uint8_t *wrt;          /* by parameter of the source: has a shadow */
    const rvm__reach *reach;     /* by function, of those that were there when this round began */
    uint32_t nreach;
    rvm_function g;                                             /* the new function, moved into the program at the end */
    uint16_t *reg, *shadow_reg, *array, *shadow_array;          /* of the source's, in g; RVM__NO_PLACE */
    uint16_t nfree[RVM_TYPE_COUNT], *free_regs[RVM_TYPE_COUNT]; /* temporaries to be used again */
    uint32_t cap_free[RVM_TYPE_COUNT];
    uint16_t nspare, spare_arrays[RVM_MAX_ENTRY]; /* likewise */
    uint8_t *mirror;  /* by register, then array: its shadow appears where it does in a copied compute part; else NULL */
    uint32_t *rows;   /* by array whose shadow appears row by row: the instruction that makes it; else 0 (derive_rows.c) */
    uint16_t *others; /* by array that shows a row of one: where shadows of it stand that are not for that */
    uint8_t *borrows; /* by instruction, of compute: whether the region borrows, on which ways (enum rvm__borrows) */
    uint32_t *map;    /* by instruction of the source: where it was emitted last */
    uint32_t *open, nopen, cap_open; /* emitted instructions whose target is still that of the source */
    uint32_t *from, cap_from;        /* by emitted instruction: pc in the source */
    uint32_t pc;                     /* the instruction being derived */
    /* For runs that restore every bit: what it takes back was recorded before; how many compute parts are around that it
     * runs again, and records, and takes back itself; the way that the values of what is derived now go. */
    bool paired;
    unsigned again;
    int step;
    /* Of an adjoint for such runs (borrow.c): in the run of a compute part, whose number is `part`; 0: of none here. */
    enum rvm__borrowing borrowing;
    uint32_t part, nparts;
    uint32_t *around, *part_of; /* by register: the open block, + 1, that has it as an accumulator, or 0; `part` there */
    uint32_t sums;              /* open blocks whose instances may add into the same elements */
    uint32_t *next_site;
    const struct rvm__verifier *v; /* of the source: what is present at the ends of compute parts */
} rvm__derive;

static inline const rvm_function *rvm__source(const rvm__derive *t) {
    return &t->p->functions[t->src];
}

static inline bool rvm__has_shadows(const rvm__derive *t) {
    return t->kind == RVM_TANGENT_OF || t->kind == RVM_ADJOINT;
}

/* ---- derive_function.c ---- */
rvm_status rvm__derive_begin(rvm__derive *t); /* parameters are there already: maps their registers and the others */
void rvm__derive_end(rvm__derive *t); /* frees what begin made; the function is moved into the program if all is well */

/* ---- derive_emit.c ---- */
void rvm__derive_fail(rvm__derive *t, rvm_status s);
uint16_t rvm__new_register(rvm__derive *t, rvm_type type); /* of the new function */
uint16_t rvm__new_array(rvm__derive *t, const rvm_array_decl *a);
bool rvm__active(const rvm__derive *t, const rvm_place *q); /* a place of the source */
rvm_place rvm__value_place(rvm__derive *t, const rvm_place *q);
rvm_place rvm__shadow_place(rvm__derive *t, const rvm_place *q);
rvm_place rvm__const_place(rvm__derive *t, rvm_type type, double k);
rvm_place rvm__no_gain(rvm__derive *t, rvm_type type); /* 0 as sums begin with it: -0, since -0 + x is x for every x */
rvm_place rvm__integer_place(rvm__derive *t, int64_t k);
rvm_place rvm__temp(rvm__derive *t, rvm_type type);
void rvm__temp_free(rvm__derive *t, rvm_place q);
rvm_place rvm__temp_array(rvm__derive *t, rvm_type type, const rvm_place *like); /* of as many dimensions, in g */
void rvm__temp_array_free(rvm__derive *t, rvm_place q);
uint32_t rvm__add(rvm__derive *t, rvm_op op, rvm_row row, uint8_t flags, int n, const rvm_place *places);
#define RVM__ADD(t, op, row, flags, ...)                                                                                    \
    rvm__add(t, op, row, flags, (int)(sizeof((rvm_place[]){__VA_ARGS__}) / sizeof(rvm_place)), (rvm_place[]){__VA_ARGS__})
bool rvm__takes_back(const rvm__derive *t);                /* what adjoints take back here was recorded before */
bool rvm__pairs(const rvm__derive *t, rvm_transform kind); /* what is called is to be `paired` */
/* Of what stands for an instruction on values. What stood in an adjoint for exact runs has no further derivatives for them:
 * RVM_FLAG_RESTORE alone, which is refused there. */
uint8_t rvm__value_flags(const rvm__derive *t, const rvm_insn *in);
void rvm__discard(rvm__derive *t, rvm_op op, rvm_place shadow); /* drop or shed: onto the trail of this level */
void rvm__entry_too_deep(rvm__derive *t);                       /* the error: more shadows than an entry has positions */
/* The instruction with op in place of its own, on values or on shadows. */
void rvm__add_value(rvm__derive *t, const rvm_insn *in, rvm_op op);
void rvm__add_shadow(rvm__derive *t, const rvm_insn *in, rvm_op op);
void rvm__add_control(rvm__derive *t, const rvm_insn *in, rvm_op op); /* its target is put right by rvm__close_targets */
void rvm__close_targets(rvm__derive *t, uint32_t nopen_before);
/* A place for a call alone, like a place of the source; it begins as 0. Behind the call it goes, onto the trail of this
 * level in a sweep. */
rvm_place rvm__lend(rvm__derive *t, const rvm_place *q);
void rvm__take_lent(rvm__derive *t, const rvm_place *q, rvm_place lent);
/* The function that `kind` makes of another for these active parameters. */
uint32_t rvm__derive_request(rvm__derive *t, uint32_t of, rvm_transform kind, const uint8_t *active);

/* ---- derive_update.c ---- */
void rvm__sweep_update(rvm__derive *t, const rvm_insn *in, rvm_op op); /* the adjoint of op, which stands for in's */
void rvm__tangent_update(rvm__derive *t, const rvm_insn *in, rvm_op op);
void rvm__scale_shadow(rvm__derive *t, const rvm_insn *in,
                       rvm_op op); /* of what SCALEs it (inplace.def), its value being there */

/* ---- borrow.c ---- */
/* Whether the shadow of a place that the instruction changes, active and real, is not to go along through it. */
bool rvm__sets_aside(rvm__derive *t, const rvm_insn *in);
/* The shadow goes onto the trail, or is added again. */
void rvm__set_aside(rvm__derive *t, rvm_place shadow);
void rvm__add_again(rvm__derive *t, rvm_place shadow);
/* Whether the target of an update is a scalar that others set aside: the caller, or around a block. */
bool rvm__is_aside(const rvm__derive *t, const rvm_place *q);
/* Whether it is, or is part of, a parameter that the function only adds to, in one of its own parts. */
bool rvm__shadow_stays(const rvm__derive *t, const rvm_place *q);
void rvm__borrow_refuse(rvm__derive *t, const char *what); /* UNSUPPORTED: what the part borrows, that */
/* Before and behind a call, and an end of a block, in a sweep. */
void rvm__borrow_before(rvm__derive *t, const rvm_insn *in, const uint8_t *active);
void rvm__borrow_behind(rvm__derive *t, const rvm_insn *in, const uint8_t *active);

/* ---- derive_change.c ---- */
void rvm__derive_change(rvm__derive *t, const rvm_insn *in, rvm_op op, bool sweep); /* of class IN_PLACE */

/* ---- derive_op.c: instructions that are neither updates nor regions ---- */
typedef struct rvm__entry_places { /* what moves into an entry or out of it, by position; begins as 0 */
    uint64_t positions;            /* bit RVM_MAX_ENTRY: there are more than an entry has */
    rvm_type type;
    rvm_place place[RVM_MAX_ENTRY];
} rvm__entry_places;
void rvm__entry_put(rvm__entry_places *s, int position, rvm_place place);
/* drop, shed, stow or their inverses: head is what stands before the positions. In a sweep it also discards, onto the trail
 * of its level, what else it may find in an entry. */
void rvm__add_entry_op(rvm__derive *t, rvm_op op, uint8_t flags, int nhead, const rvm_place *head, rvm__entry_places *s);
/* What is no update and no call, doing `op`: its adjoint in a sweep, else its tangent. */
void rvm__derive_op(rvm__derive *t, const rvm_insn *in, rvm_op op, bool sweep);
void rvm__copy_op(rvm__derive *t, const rvm_insn *in, rvm_op op);

/* ---- derive_rows.c ---- */
size_t rvm__rows_scratch(const rvm_function *f);
void rvm__find_rows(rvm__derive *t, void *scratch);                 /* of an adjoint: fills t->rows */
bool rvm__shows_row(const rvm__derive *t, const rvm_insn *in);      /* of such an array */
void rvm__sweep_row(rvm__derive *t, const rvm_insn *in, rvm_op op); /* view or unview, of both value and shadow */

/* ---- checkpoint_sweep.c ---- */
const rvm__outlined *rvm__outlined_find(const rvm_program *p, uint32_t fn); /* NULL: it is none */
bool rvm__sweep_outlined(rvm__derive *t); /* of the source, which is one, or the inverse of one; false: it is neither */

/* ---- derive.c ---- */
rvm_status rvm__derive_code(rvm__derive *t);

/* ---- transform.c ---- */
/* The derived function of a request, declared if need be. */
/* What the function was declared as, or NULL. */
const rvm__derivation *rvm__derived_find(const rvm_program *p, uint32_t fn);
rvm_status rvm__transform_request(rvm_program *p, const rvm__request *r, uint32_t *out, rvm_error *err);

#endif

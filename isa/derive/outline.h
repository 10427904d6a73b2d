/* outline.h: a loop being made a function, with those that its adjoint calls (checkpoint.h). Internal to isa/derive/.
 *
 *   checkpoint_write.c    the loops of a program, one after the other; the call in a loop's place
 *   checkpoint_body.c     parameters that the functions of a loop share; its body; copies of functions with plain loops
 *   checkpoint_count.c    how many trips, states, and whether snapshots take less than the trail
 *   checkpoint_march.c    snapshots and marches of any loop; those of a counted one
 *   checkpoint_online.c   snapshots of a loop whose end is not known
 */
#ifndef RVM_OUTLINE_H
#define RVM_OUTLINE_H

#include "checkpoint.h"
#include "writer.h"

enum { RVM__NOT_MAPPED = UINT16_MAX };

typedef struct rvm__outline {
    rvm__writer w;
    const rvm_program *p;  /* as it was */
    const rvm_function *f; /* the loop's, as it was */
    const rvm__loop *loop;
    const rvm__snapshots *snapshots;
    uint32_t *plain;                /* by function: one whose loops are as they were; itself */
    char name[256];                 /* of the function that the loop becomes */
    uint16_t *reg, *array;          /* of f's, those of the function being written; RVM__NOT_MAPPED */
    uint16_t (*dims)[RVM_MAX_DIMS]; /* by place: lengths, slots of the function being written */
    rvm_place *own, *args;          /* by place: the parameter; arguments of a call */
    rvm_place *first, *to;          /* by place: a state that is kept, and one that is marched */
    rvm__outlined made;
    uint32_t split, power, excess, choose; /* functions of the program: where the next state is kept */
    uint32_t run, test, keep, march, evict, walk;
} rvm__outline;

/* ---- checkpoint_body.c ---- */
rvm_place rvm__place_at(bool array, uint16_t slot);
/* Of place k: whether a state has it, its type, and its dimensions. */
bool rvm__outline_is_state(const rvm__outline *o, uint32_t k);
rvm_type rvm__outline_type(const rvm__outline *o, uint32_t k);
int rvm__outline_ndim(const rvm__outline *o, uint32_t k);
/* The function NAME'suffix: what all share, then so many i64, whose places come back in `more`. */
void rvm__outline_begin(rvm__outline *o, const char *suffix, const char *const *names, uint32_t n, rvm_place *more);
/* Begins and ends, `made` is its number. */
void rvm__outline_end(rvm__outline *o, uint32_t *made);
/* The places, or others in their stead, and up to RVM__MOST_MORE more. */
enum { RVM__MOST_MORE = 6 };
void rvm__outline_call(rvm__outline *o, rvm_op op, uint32_t fn, const rvm_place *places, const rvm_place *more, uint32_t n);
/* for: its bounds, and the index of a trip by its number; of another loop 0, 0, 1. */
enum { RVM__LO = 1, RVM__HI, RVM__BY };
rvm_place rvm__outline_bound(rvm__outline *o, int which);
rvm_place rvm__outline_index(rvm__outline *o, rvm_place number);
/* X'run and X'step, which is the body as it stands in the copy of the program; while: X'head and X'test; X'whole. */
void rvm__outline_bodies(rvm__outline *o);
/* Of such a loop, the place in which its condition stands. */
rvm_place rvm__outline_condition(const rvm__outline *o);
/* An assertion that the i64, which is 0 or 1, is that. */
void rvm__outline_assert(rvm__outline *o, rvm_place c, bool is);
/* A function like this one that calls others by `plain`, where it stands from then on. */
void rvm__outline_plain(rvm__outline *o, uint32_t fn);

/* ---- checkpoint_count.c ---- */
void rvm__outline_count(rvm__outline *o); /* X'count */
/* So many states may be kept, from the cells of one. */
rvm_place rvm__outline_states(rvm__outline *o, rvm_place cells);
void rvm__outline_cells(rvm__outline *o, rvm_op op, rvm_place to); /* to gains the cells of a state, or loses them */

/* ---- checkpoint_march.c ---- */
void rvm__write_once(rvm__outline *o);        /* what a program needs once */
void rvm__outline_note(rvm__outline *o);      /* at the end of X: what is on the trail is that of states */
void rvm__outline_snapshots(rvm__outline *o); /* X'keep, X'march, X'rewind */
void rvm__outline_counted(rvm__outline *o);   /* X'count and X of a counted loop */
/* y op x, of the places that make a state, or of those and what trips only add to. */
void rvm__outline_all(rvm__outline *o, rvm_op op, const rvm_place *y, const rvm_place *x, bool states);
/* Local ones like those of a state appear, of nothing; the others stand for themselves. */
void rvm__outline_make_state(rvm__outline *o, rvm_place *q);
void rvm__outline_unmake_state(rvm__outline *o, const rvm_place *q);
/* In a part that is forgotten: o->to becomes a copy of o->first; what trips only add to begins as nothing. */
void rvm__outline_copy(rvm__outline *o);

/* ---- checkpoint_online.c ---- */
void rvm__outline_online(rvm__outline *o); /* X of a loop whose end is not known, and what it calls */
void rvm__write_once_online(rvm__outline *o);

#endif

/* out_of_line.h: what handlers call rather than inline. x is the instruction the machine stands on. */
#ifndef RVM_OUT_OF_LINE_H
#define RVM_OUT_OF_LINE_H

#include "handlers.h"
#include "machine.h"
#include "instruction.h"

/* run_*.c: run until an end, a failure, or after m->run.steps instructions. m->pc, m->dir, m->where tell where it
 * stopped. */
rvm_status rvm__run_primal(rvm_machine *m);
rvm_status rvm__run_gradient(rvm_machine *m);
rvm_status rvm__run_primal_profiled(rvm_machine *m); /* with a profile */
rvm_status rvm__run_gradient_profiled(rvm_machine *m);
rvm_status rvm__run_tangent(rvm_machine *m);
rvm_status rvm__run_unsweep(rvm_machine *m); /* gradient mode, forward from within or behind a sweep */

/* Budget spent: look at fuel, the cancel flag and the caller's progress function; grant the next slice. */
rvm_status rvm__safepoint(rvm_machine *m);
/* Whether a look after so many instructions of the run would end it; only the progress function is told. */
rvm_status rvm__is_to_end(rvm_machine *m, uint64_t count);
/* position.c: the position (rvm_debug.h) also while it runs, as far as the budget is told. */
int64_t rvm__position_now(const rvm_machine *m);
/* inspect.c: the gap between instructions at which a frame stands: the number of the one above it. */
uint32_t rvm__stands_at(const rvm_machine *m, uint32_t frame);
/* inspect.c: trips done of the outermost counted loop, as a share; 0: there is none */
double rvm__outermost_share(const rvm_machine *m);
rvm_status rvm__safepoint_hot(rvm_machine *m); /* native.c: and an engine learns what runs often, and may run some of it */
void rvm__safepoint_soon(rvm_machine *m);      /* the next look comes where control jumps next */

/* The handler that runs one instruction alone, where x's may run its neighbours or a whole loop too. */
static inline uint16_t rvm__alone(uint16_t handler) {
    if (handler >= RVM__FUSED) return (uint16_t)(RVM__FUSED + (handler - RVM__FUSED) / 25 * 25);
    const bool inner = handler >= H_inner_for_up + RVM__PLAIN && handler <= H_inner_next_down + RVM__PLAIN;
    return inner ? (uint16_t)(handler - H_inner_for_up + H_for_up) : handler;
}

/* Whether control may leave a stretch there, of a handler that runs one instruction. */
static inline bool rvm__is_control(uint16_t alone) {
    return alone < RVM__FUSED && alone % RVM__PLAIN >= H_start;
}

/* inner.c: run n trips of a loop around one update, the first at index `first`. level as in updates.h. */
typedef struct rvm__inner {
    const rvm__xinsn *body;
    rvm_value *slots, *shadows;
    const rvm__array *arrays;
    uint16_t index;
    bool subtract; /* the update in its effective direction */
    int64_t first, step;
} rvm__inner;
void rvm__inner_run(const rvm__inner *loop, int level, uint64_t n);

/* arrays.c: the element of a place of kind ELEM, or its shadow; NULL where an index is out of bounds. */
rvm_value *rvm__element_at(const rvm__array *a, const rvm_place *q, const rvm_value *slots, bool shadow);
/* Of arrays of three and four dimensions, from prepared code. */
rvm_value *rvm__element(const rvm__at_frame *f, const rvm__xplace *q, const rvm_value *slots, bool shadow);

/* checks.c: tolerance of releases. agrees also records the residue. track_at keeps the largest magnitude of a place of x. */
bool rvm__agrees(rvm_machine *m, const rvm__xinsn *x, double y, double f);
/* ..._at: x stands in function fn, of which there may be no frame. held: the largest magnitude, or 0. */
bool rvm__agrees_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, double y, double f, double held);
/* Whether what x releases must have the same bits: in exact runs, but shadows of which nothing is recorded. */
bool rvm__releases_bits(const rvm_machine *m, uint32_t fn, const rvm__xinsn *x);
double rvm__tolerance_at(const rvm_machine *m, uint32_t fn, const rvm__xinsn *x);
/* What a residue may be, where the largest magnitude was that: an infinite one counts as 1. */
double rvm__allowed(double tolerance, double magnitude);
/* Whether the place is or was no number, and that going back is not said here. */
bool rvm__is_lost(const rvm_machine *m, uint32_t fn, double y, double held);
void rvm__record_residue_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, double residue);
static inline void rvm__note_residue_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, double residue) {
    if (residue > 0 && residue >= m->residue_floor) rvm__record_residue_at(m, fn, x, residue);
}
bool rvm__tangent_agrees(const rvm_machine *m, const rvm__xinsn *x, const rvm_value *shadow, rvm_value expected);
bool rvm__tangent_within(const rvm_machine *m, const rvm__xinsn *x, const rvm_value *shadow, rvm_value expected,
                         double held);
void rvm__track_at(rvm_machine *m, const rvm__xinsn *x, const rvm__xplace *q, double y);
/* A real of type t that must be 0 within the tolerance; held: the largest magnitude, or NULL. A tangent likewise. */
bool rvm__vanishes_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, rvm_type t, double y, const double *held);
bool rvm__tangent_vanishes(const rvm_machine *m, rvm_type t, rvm_value shadow);
/* Tells that what came back into a place that was set does not make what it was. */
rvm_status rvm__set_disagrees(rvm_machine *m, const rvm__xinsn *x, rvm_value was, rvm_value f);
double rvm__tolerance(const rvm_machine *m, const rvm__xinsn *x);

/* fixops.c: shadows of conversions and fix. ..._fits: whether the sums stay in range (always so when unchecked). */
rvm_value rvm__conv_tangent(const rvm__xinsn *x, rvm_value shadow, int *overflow);
bool rvm__conv_fits(const rvm__xinsn *x, const rvm_value *shadow, rvm_value gain);
void rvm__conv_gain(const rvm__xinsn *x, rvm_value *shadow, rvm_value gain);
bool rvm__gain_fits(const rvm__xinsn *x, const rvm_value *sa, int64_t g0, const rvm_value *sb, int64_t g1,
                    const rvm_value *sc, int64_t g2);
/* fixops.c: the sum of two values or shadows, on fix and i64 wrapping. */
rvm_value rvm__sum(rvm_type type, rvm_value a, rvm_value b);

/* stack.c */
/* changes.c: an instruction of inplace.def; level as in updates.h. */
rvm_status rvm__change_in_place(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, int level, bool back);

/* exact_run.c: record, and take back, what an update of a real loses; whole values of n places. The x_ handlers have tried
 * what needs no record; sum does so by itself. */
rvm_status rvm__exact_keep(rvm_machine *m, rvm_type t, rvm__exact op, double y, double f, double after);
rvm_status rvm__exact_back(rvm_machine *m, rvm_type t, rvm__exact op, double after, double f, double *y);
rvm_status rvm__exact_keep_whole(rvm_machine *m, int n, const rvm_value *v);
/* Whether values are recorded for an `undo` that takes them back soon; what has come back does not lead to what is there. */
bool rvm__exact_is_inside(const rvm_machine *m);
rvm_status rvm__exact_disturbed(rvm_machine *m);
rvm_status rvm__exact_back_whole(rvm_machine *m, int n, rvm_value *v);
rvm_status rvm__exact_return_whole(rvm_machine *m, int n, const rvm_value *v); /* as if they had not been taken */
/* y += by, or back; restores: as it was before, from what was recorded. */
rvm_status rvm__exact_sum(rvm_machine *m, rvm_type t, bool back, bool restores, double by, double *y);
/* For what takes several such steps: with room reserved, keeping cannot fail; what was taken is there again after a rewind
 * to what was held before. Memory is given back by a trim. */
bool rvm__exact_reserve(rvm_machine *m, size_t bits);
void rvm__exact_load(rvm_machine *m, uint64_t word, unsigned n); /* bits of a record, for which there is room */
typedef struct rvm__exact_mark {                                 /* by level */
    size_t bits[RVM__EXACT_LEVELS];
    uint64_t coded[RVM__EXACT_LEVELS];
} rvm__exact_mark;
rvm__exact_mark rvm__exact_held(const rvm_machine *m);
void rvm__exact_rewind(rvm_machine *m, const rvm__exact_mark *to);
/* Native code may keep values whole by itself from here on, at the depth where it is; no more. */
void rvm__exact_open(rvm_machine *m);
void rvm__exact_close(rvm_machine *m);
void rvm__exact_trim(rvm_machine *m);
rvm_status rvm__exact_keep_raw(rvm_machine *m, double y);
rvm_status rvm__exact_take_raw(rvm_machine *m, double *y);
rvm_status rvm__exact_take(rvm_machine *m, rvm_type t, rvm__exact op, double after, double f, double *y);
/* Why an exact run cannot go through function fn in that direction, called by an instruction with such flags (0: as a run),
 * or NULL: adjoints that are derived for such, and what calls them, take back what was recorded just before, so as a
 * computation of its own only forward; nor where it is forgotten. restoring: as of the machine, where it is entered. */
const char *rvm__exact_against(const rvm_machine *m, uint32_t fn, bool restoring, unsigned flags, int dir);
/* UNSUPPORTED, with the message in m->detail; foreign: since an instruction takes back what
 * nobody is known to have recorded. */
rvm_status rvm__exact_refuse(rvm_machine *m, const char *why);
rvm_status rvm__exact_refuse_foreign(rvm_machine *m);
/* borrowed.c: a step of a sweep at that level (1 or 3) changes n places that a compute part borrows. begin: their shadows s
 * go onto the record (records), or come from there to be added again; TRAIL, MEMORY, LIMIT with nothing changed. Behind
 * these n stand as many: the shadows as they are where others come to be added, and as they were then where that is taken
 * back. cancel: the step has failed. */
bool rvm__borrowed_records(const rvm_machine *m, int level);
rvm_status rvm__borrowed_begin(rvm_machine *m, int level, int n, rvm_value *s);
void rvm__borrowed_cancel(rvm_machine *m, int level, int n, rvm_value *s);
/* exact_run.c: the stack of these at the present depth, how many bits it holds. put: false: out of memory. take: false:
 * there are fewer; nothing has changed. */
uint64_t rvm__borrowed_bits(const rvm_machine *m);
bool rvm__borrowed_put(rvm_machine *m, int n, const rvm_value *s);
bool rvm__borrowed_take(rvm_machine *m, int n, rvm_value *s);
rvm_status rvm__exact_nothing_left(rvm_machine *m); /* TRAIL, with the reason */
void rvm__exact_clear(rvm_machine *m);
void rvm__exact_free(rvm_machine *m);
/* Whether the course of the run takes back what it did: towards where it was bound. */
static inline bool rvm__course_restores(const rvm_machine *m) {
    return (m->run.course < 0) == m->run.began_at_start;
}
/* Whose record an update or a change in place is of. */
static inline unsigned rvm__level_of(const rvm__xinsn *x) {
    return x->flags & X_OF_SHADOWS ? RVM__OF_SHADOWS : RVM__OF_VALUES;
}
/* Whether an instruction takes back; otherwise: it does so where the code around records. */
static inline bool rvm__exact_restores(const rvm_machine *m, bool otherwise) {
    return m->exact.restoring != otherwise;
}

/* extra_shadows.c. top: the value on top of trail 0 and its shadow, for `unset`; nothing changed. keep: what a sweep
 * discards then, with option keep_shadows; again: what puts value, shadow and the rest of their slot back. Likewise on the
 * stack, for `pop`; fits is for a cell with others below it. */
rvm_status rvm__set_top(rvm_machine *m, const rvm__xinsn *x, uint32_t site, int level, rvm_value *value, rvm_value *shadow);
rvm_status rvm__set_keep(rvm_machine *m, rvm_value shadow);
rvm_status rvm__set_again(rvm_machine *m, uint32_t site, rvm_value value, rvm_value shadow);
bool rvm__pop_fits(rvm_machine *m, const rvm__xinsn *x, int level);
rvm_status rvm__pop_keep(rvm_machine *m, const rvm__xinsn *x, rvm_value shadow);
rvm_status rvm__push_again(rvm_machine *m, const rvm__xinsn *x, rvm_value value, rvm_value shadow);

rvm_status rvm__push(rvm_machine *m, rvm_type type, rvm_value value, rvm_value shadow);
rvm_status rvm__stow(rvm_machine *m, const rvm__xinsn *x, int level);
rvm_status rvm__unstow(rvm_machine *m, const rvm__xinsn *x, int level);
const rvm__cell *rvm__top(const rvm_machine *m, rvm_type type); /* NULL: empty or of another type */
bool rvm__pop_empty(rvm_machine *m, const rvm__xinsn *x, const rvm_value *y);
bool rvm__popc_agrees(rvm_machine *m, const rvm__xinsn *x, const rvm_value *y, const rvm__cell *top);
void rvm__popc_gain(const rvm__xinsn *x, rvm_value *shadow, const rvm__cell *top, bool lose);

/* print.c: the function was entered that stands for a print of this text. */
void rvm__print(rvm_machine *m, const char *text);
/* frames.c: direction is the callee's, 1 or -1. return sets m->run.where when it leaves the entry. */
rvm_status rvm__enter(rvm_machine *m, const rvm__xinsn *x, int direction);
rvm_status rvm__return(rvm_machine *m);
/* rule_frames.c: the same where derivatives by hand may take the place of a call: enter_shadowed goes into that of the
 * function called, where it has one for what is active and shadows go along; return_rule leaves such a frame. */
rvm_status rvm__enter_shadowed(rvm_machine *m, const rvm__xinsn *x, int direction);
rvm_status rvm__return_rule(rvm_machine *m);
/* The run stands at an end, about to go on in m->run.dir: where the bound function has a derivative by hand for what is
 * active, into that. MEMORY, DEPTH. lent: bytes of the arena that such a frame was lent. */
rvm_status rvm__enter_entry_rule(rvm_machine *m);
size_t rvm__rule_lent(rvm_machine *m, uint32_t frame);

/* arrays.c: semantics.md, section 6; the inverse of each by the direction of the counter. */
rvm_status rvm__new(rvm_machine *m, const rvm__xinsn *x);
/* The n elements at e, of the type of the local array that instruction x of function fn makes disappear, agree with v. */
bool rvm__elements_agree_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, const rvm_value *e, size_t n, rvm_value v,
                            const double *held);
rvm_status rvm__del(rvm_machine *m, const rvm__xinsn *x);
rvm_status rvm__view(rvm_machine *m, const rvm__xinsn *x);
rvm_status rvm__unview(rvm_machine *m, const rvm__xinsn *x);

/* blocks.c: of registers and elements: the first instance begins; instance k ends, and `next` begins or the block is left.
 * mask: of rvm__sharing, what is shared now. Overflow of a sum of fix, and a record that is missing or finds no room, fail
 * and have changed nothing. */
rvm_status rvm__block_open(rvm_machine *m, const rvm__xinsn *x, unsigned mask);
rvm_status rvm__block_turn(rvm_machine *m, const rvm__xinsn *x, unsigned mask, uint64_t k, uint64_t next, bool leaves);

/* A register that instances add into: what was before a chunk, then its partial sums, RVM__PARTS. */
typedef struct rvm__block_sums {
    rvm_value *held;
    int64_t type;  /* a real */
    int64_t level; /* of the record */
} rvm__block_sums;
/* In runs that restore every bit, n of them: the end of a chunk records; a chunk that is to be taken back, behind which
 * held[0] is, begins with all as that recorded it. instances: of the block from the chunk's first on. What fails has changed
 * nothing. */
bool rvm__block_record_room(rvm_machine *m, uint32_t n); /* record cannot fail then */
rvm_status rvm__block_record(rvm_machine *m, uint32_t n, const rvm__block_sums *sums, uint64_t instances);
rvm_status rvm__block_recall(rvm_machine *m, uint32_t n, const rvm__block_sums *sums, uint64_t instances);

/* What was before a chunk, and its total. */
rvm_value rvm__block_plus(rvm_type t, rvm_value a, rvm_value b, int *overflow);

/* guard.c: roles of elements in a block that X_GUARD marks. note: what x uses, before it runs; RACE where an element would
 * be shared. open, close: the innermost block begins, ends. */
rvm_status rvm__guard_open(rvm_machine *m, const rvm__xinsn *x);
void rvm__guard_close(rvm_machine *m);
rvm_status rvm__guard_note(rvm_machine *m, const rvm__xinsn *x);
void rvm__guards_free(rvm_machine *m);
/* The same for native code. begin: the block at pc, of whose arrays these are the ones that instances may use as their own.
 * tag: of the marks of the innermost block's first instance, without bits; marks: those of the array of n elements that
 * begins there, one after the other, or NULL where there are others between them; again: all marks so far are dropped.
 * instance: which one runs of the innermost block. admits: before an element, or all of an array, is used like that
 * (rvm__access_bits); settle: at a side exit, whose frame with its slots there stands in n such blocks. False: of
 * begin, out of memory; of admits, a race; the interpreter, which comes there again, says so. */
bool rvm__guard_begin(rvm_machine *m, uint32_t fn, uint32_t pc, int64_t lo, const rvm__array *arrays, uint32_t n);
uint64_t rvm__guard_tag(const rvm_machine *m);
uint64_t *rvm__guard_marks(const rvm_machine *m, const void *first, uint64_t n);
void rvm__guard_again(rvm_machine *m);
void rvm__guard_instance(rvm_machine *m, int64_t i);
bool rvm__guard_admits(rvm_machine *m, const rvm_value *at, uint32_t bits);
bool rvm__guard_admits_all(rvm_machine *m, const rvm__array *a, uint32_t bits);
void rvm__guard_settle(rvm_machine *m, uint32_t n, uint64_t slots);

#endif

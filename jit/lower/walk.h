/* walk.h: inside jit/. A function in the order of control: loops, and what each class of instruction becomes. */
#ifndef RVM_JIT_WALK_H
#define RVM_JIT_WALK_H

#include "emit.h"

/* ---- walk.c ---- */
void rvm__walk_pending(rvm__emit *e); /* all stretches that are to begin */
/* From instruction pc on, in a context of its own, until all that is reached is emitted; control comes from `first`. */
void rvm__walk_from(rvm__emit *e, LLVMBasicBlockRef first, uint32_t pc, int dir);

/* ---- elision.c ---- */
void rvm__find_elisions(rvm__emit *e); /* fills elided and before */
/* Whether the instruction being walked is left out since nobody observes its effect; what counts has been counted. */
bool rvm__leave_out(rvm__emit *e, const rvm_insn *in, rvm_op op);
/* All that appears in the compute part is gone, without a trace but for the memory of arrays. */
void rvm__forget_made(rvm__emit *e, uint32_t compute, bool counted); /* counted: as erased, of a region that forgets */

/* ---- trips.c ---- */
bool rvm__loop_ascends(const rvm__emit *e, const rvm_insn *in); /* where it runs now */
/* Instructions of a trip of the loop with an end at pc, where all are charged when it is entered: all trips are alike and
 * nobody polls; in unchecked code, where few edges lead out of them. 0: each charges its own. */
uint32_t rvm__ahead_at(const rvm__emit *e, const rvm__context *c, uint32_t pc);
/* In such a body: what was charged for this trip and those behind it. */
LLVMValueRef rvm__charged_ahead(rvm__emit *e);
/* Trips from the one on that runs, of the loop with an end at pc; *by: from one index to the next. */
LLVMValueRef rvm__trips_left(rvm__emit *e, uint32_t pc, LLVMValueRef *by);

/* ---- strips.c ---- */
/* The next strip of the loop whose lower end is at pc, of so many trips at most, from index `at` on, with `left` trips
 * left; it ends where the index is what rvm__strip_end says. */
void rvm__begin_strip(rvm__emit *e, uint32_t pc, uint64_t most, LLVMValueRef at, LLVMValueRef step, LLVMValueRef left);
LLVMValueRef rvm__strip_end(rvm__emit *e, uint32_t pc);
void rvm__set_strip_end(rvm__emit *e, uint32_t pc, LLVMValueRef end);
/* Behind a strip: the trips left; branches there if there are any, which is rare. */
LLVMValueRef rvm__if_left(rvm__emit *e, uint32_t pc, LLVMBasicBlockRef more, LLVMBasicBlockRef out);
/* Trips of a block that go by without a poll; 0: each has one, as a group has. */
uint64_t rvm__block_unseen(rvm__emit *e, uint32_t pc);
void rvm__begin_strips(rvm__emit *e, const rvm__xinsn *x); /* of a block, from the instance on that the index says */
void rvm__next_strip(rvm__emit *e, const rvm__xinsn *x, uint32_t lower, uint64_t most, LLVMValueRef left);

/* ---- share.c ---- */
/* At both ends of a function, and behind a trip of a loop: nothing is emitted but where it tells. */
void rvm__share_begin(rvm__emit *e);
void rvm__share_end(rvm__emit *e);
void rvm__share_trip(rvm__emit *e, const rvm__xinsn *x, bool up);

/* ---- counted.c ---- */
void rvm__enter_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x); /* and the stretch ends */
bool rvm__turn_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x);  /* false: the stretch ends */
/* The body of the loop that e->control.pc enters, from the trip on that its index says: its context, with strips if it goes
 * in these; else c. NULL: noted. */
rvm__context *rvm__enter_strips(rvm__emit *e, rvm__context *c);

/* ---- array.c ---- */
void rvm__drop_array(rvm__emit *e, uint16_t array); /* the memory of a local array is given back */
/* It is not present: nobody looks at the rest, which need not be kept for where the code is left. */
void rvm__array_gone(rvm__emit *e, uint16_t array);

/* ---- update.c: parts of updates ---- */
typedef struct rvm__operands {
    rvm__operand y, o[3];
    LLVMValueRef value[3];
    rvm_type t; /* of the first operand that has the row's */
} rvm__operands;
void rvm__find_operands(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm__operands *to); /* all but the values */
void rvm__load_operands(rvm__emit *e, const rvm__xinsn *x, rvm__operands *to);
/* f of the row, with a side exit where it is not defined. */
LLVMValueRef rvm__defined_row(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, const rvm__operands *o,
                              LLVMValueRef *overflow);

/* ---- releases.c ---- */
/* Whether what stands at q agrees with f, as a release asks. */
LLVMValueRef rvm__emit_agrees(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, LLVMValueRef y, LLVMValueRef f);
typedef struct rvm__released {
    LLVMValueRef data, n, v; /* n elements side by side, each of which must be v */
    LLVMValueRef held;       /* the address of their largest magnitude; NULL: of a type that has none */
} rvm__released;
LLVMValueRef rvm__elements_agree(rvm__emit *e, rvm_type t, const rvm__released *r); /* whether they are, likewise */

/* ---- exact.c: in runs that restore every bit ---- */
/* Of the instruction being walked: whether a place of that type is recorded, or taken back. */
bool rvm__is_exact(const rvm__emit *e, rvm_type t);
bool rvm__tracks_shadows(const rvm__emit *e); /* whether it is arithmetic of shadows whose largest magnitudes count */
bool rvm__restores_at(const rvm__emit *e, uint32_t pc); /* whether that one, where the context is, takes back */
bool rvm__is_inside(const rvm__emit *e); /* a compute part or a segment is around, here or where it is called */
/* The update y op f, which rounded becomes `now`: recorded, or what was before it. f32 is an f64 here. */
LLVMValueRef rvm__exact_update(rvm__emit *e, rvm_type t, rvm_op op, LLVMValueRef y, LLVMValueRef f, LLVMValueRef now);
/* exact_row.c: several updates in a row, from the one being walked on, of which most often none loses anything: the last is
 * walked then; false: it is to be emitted as others are. */
bool rvm__exact_row(rvm__emit *e);
/* A change of n places that keeps all of them; where it restores, now is what they were. */
void rvm__exact_whole(rvm__emit *e, unsigned n, const LLVMValueRef *was, LLVMValueRef *now);
/* Of n such values in a compute part that have come back: a side exit, before they were taken, unless `led`, to which the
 * change leads from them, is what was there. */
void rvm__exact_exit_unless_led(rvm__emit *e, unsigned n, const LLVMValueRef *led, const LLVMValueRef *after,
                                const LLVMValueRef *was);
typedef struct rvm__held_sums { /* of a register that instances of a block add into */
    rvm_type type;
    unsigned level;    /* of the record */
    LLVMValueRef held; /* the address of what was before a chunk, then its partial sums */
} rvm__held_sums;
/* A chunk of so many instances ends, or is to be taken back; an i1, whether that fails, which changes nothing. */
LLVMValueRef rvm__exact_room(rvm__emit *e, unsigned n); /* for the end of a chunk of n registers: an i1, likewise */
LLVMValueRef rvm__exact_chunk(rvm__emit *e, unsigned n, const rvm__held_sums *sums, LLVMValueRef instances, bool back);

/* ---- update.c, call.c, array.c: the instruction being walked, going up or down ---- */
void rvm__emit_update(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_in_place(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_call(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_array(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_trail(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_slots(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);

#endif

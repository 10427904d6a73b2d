/* blocks.h: inside jit/. Parallel blocks: instance after instance, in chunks for threads, in groups of lanes. */
#ifndef RVM_JIT_BLOCKS_H
#define RVM_JIT_BLOCKS_H

#include "emit.h"
#include "instance.h"

/* ---- block.c ---- */
void rvm__enter_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x);
bool rvm__turn_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x); /* false: the stretch ends */

/* ---- sums.c: instances are numbered within their block ---- */
void rvm__begin_sums(rvm__emit *e, const rvm__xinsn *x);
/* From instance k to the next one, of the same chunk; of any. */
void rvm__pass_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next);
void rvm__next_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next);
/* Behind instance k the chunk ends; next: the next one's instance, NULL: so does the block. */
void rvm__end_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next);
/* Totals of the chunk that this function runs: to whoever runs its block. */
void rvm__hand_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k);
/* What was before the block and what is behind it goes into the register; the block is left. */
void rvm__leave_sums(rvm__emit *e, const rvm__xinsn *x);
/* The address of the partial sum, of the k-th register that instances add into, of the instance with that index. */
LLVMValueRef rvm__partial_sum(rvm__emit *e, const rvm__xinsn *x, uint32_t k, LLVMValueRef index);

/* ---- aside.c: elements that instances add into, of the block that x enters or leaves ---- */
void rvm__aside_room(rvm__emit *e, const rvm__xinsn *x); /* before anything of it is done; a side exit where there is none */
bool rvm__is_summed(const rvm__emit *e, const rvm__xinsn *x, uint16_t array);
/* The block is entered, or left: enum rvm__aside_step. */
void rvm__pass_aside(rvm__emit *e, const rvm__xinsn *x, int step);
/* Likewise, and between chunks, where several threads of a device run its instances and keep these apart. */
void rvm__pass_aside_by_chunks(rvm__emit *e, const rvm__xinsn *x, int step);
/* The instance whose index stands in the register is to run by itself; anew: the block, or what goes on with it here,
 * begins. Or with others of its group as one. */
void rvm__aside_single(rvm__emit *e, const rvm__xinsn *x, bool anew);
void rvm__aside_group(rvm__emit *e, const rvm__xinsn *x);
/* Instance k has run, by number, and the next one is to: of the same chunk, or of another one. */
void rvm__aside_next(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next);
void rvm__aside_next_chunk(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next);
/* The function of a chunk begins, and has run all instances. */
void rvm__aside_begin_chunk(rvm__emit *e, const rvm__xinsn *x);
void rvm__aside_hand(rvm__emit *e, const rvm__xinsn *x);
/* On a device, where they stand, for who looks for an address among them; none with fast math, which has an order of its
 * own. How many arrays, and of each, in 10 words, where it begins, how many dimensions it has, and of each, the largest
 * stride first, stride and last index. */
LLVMValueRef rvm__aside_ranges(rvm__emit *e, const rvm__xinsn *x);
void rvm__aside_free_all(rvm__emit *e); /* standalone, at an early end */

/* ---- chunk.c ---- */
/* Where the block at e->control.pc is entered, its index and sums begun: what threads do of it. What is emitted behind goes
 * on with the first instance, or with the one in which they took a side exit. */
void rvm__run_chunks(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x);
void rvm__begin_chunk(rvm__emit *e); /* the registers and arrays of a chunk's function */
void rvm__enter_chunk(rvm__emit *e); /* its first instance */

/* ---- loop_reversal.c ---- */
/* Whether the strips of a block with an end at pc might go upward though the block goes down. */
bool rvm__may_turn(rvm__emit *e, uint32_t pc);
LLVMValueRef rvm__is_upward(rvm__emit *e, uint32_t pc); /* whether they do, an i1 */
/* A poll between strips, before the index of the next one changes. */
void rvm__safepoint_between(rvm__emit *e, uint32_t pc);
void rvm__settle_function(rvm__emit *e); /* when it has been emitted, and when all has */
void rvm__settle_unit(rvm__unit *u);

/* ---- groups.c ---- */
/* To the next instance of a block: a group of them, if there is a whole one, or that one alone. */
typedef enum rvm__arrival {
    RVM__ENTERS,  /* it is the first one */
    RVM__RESUMES, /* all before it were done elsewhere, if any: by threads, on a device */
    RVM__TURNS,   /* from the one before, with a poll */
    RVM__STEPS    /* and without */
} rvm__arrival;
void rvm__to_instance(rvm__emit *e, uint32_t pc, rvm__arrival how);

/* ---- instance.c ---- */
typedef struct rvm__fresh_copy {                     /* of an array, the part that an instance has (fresh.c) */
    LLVMValueRef memory, data, stride[RVM_MAX_DIMS]; /* memory: an alloca, or NULL; the array's own address and strides */
} rvm__fresh_copy;
typedef struct rvm__instance {
    rvm__emit *outer; /* who runs it: gone when the body is emitted */
    const rvm__xinsn *x;
    uint8_t *bits;  /* by register, as rvm__block_registers has them */
    uint8_t *array; /* by array: it comes from outside */
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS];
    bool apart[RVM__MOST_VECTORISED_ARGS];  /* arguments that are arrays which nothing else is part of, */
    bool met[RVM__MOST_VECTORISED_ARGS];    /* those of `meets`, */
    bool far[RVM__MOST_VECTORISED_ARGS];    /* and those that are far (jit/host/far_wanted.h) */
    bool summed[RVM__MOST_VECTORISED_ARGS]; /* and those that gain chunk by chunk */
    const uint8_t *meets; /* of a block within, by array: several of its instances add to an element; NULL: none */
    unsigned n;
    bool nested; /* blocks within it are to be run by several threads */
    LLVMValueRef function;
    LLVMTypeRef type;
    struct rvm__instance *later; /* to be emitted */
    rvm__emit body;
    rvm__fresh_copy *copies; /* by array, or NULL */
    uint32_t first;          /* where it begins, and its direction */
    int dir;
} rvm__instance;
rvm__instance *rvm__instance_of(rvm__emit *e, uint32_t pc); /* of the block that is entered there; NULL: noted */
/* What is passed, in order, to args; out and the index are the caller's. False: too much. */
bool rvm__pass_to_instance(rvm__instance *o, LLVMValueRef out, LLVMValueRef index);
/* Its function, of o->type; what is passed must be known. Its body is yet to be emitted. False: out of memory, noted. */
bool rvm__declare_instance(rvm__instance *o, uint32_t pc);
/* Whether it takes the value of register k. */
static inline bool rvm__takes_register(const rvm__instance *o, uint32_t k) {
    return o->bits[k] == RVM__BITS_READ && k != o->x->to.i;
}

/* ---- instance_body.c ---- */
void rvm__emit_instance(rvm__instance *o);

/* ---- guard.c: of blocks that enforce roles while they run ---- */
struct rvm__plan;
/* The block at x, where e->control.pc is, begins if `some`; false: it is the interpreter's. */
bool rvm__enter_guard(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef some);
/* Of the block at x, nothing of any other: the next instance begins; the block ends. */
void rvm__guard_instance_at(rvm__emit *e, const rvm__xinsn *x);
void rvm__leave_guard(rvm__emit *e, const rvm__xinsn *x);
/* A side exit where the instance may not use what the instruction at e->control.pc uses. */
void rvm__guard_accesses(rvm__emit *e, const rvm_insn *in);
/* The parameters of a callee, by bit, whose elements are to be asked for. */
uint64_t rvm__guarded_arguments(const rvm__emit *e, const rvm_function *g, const rvm_place *places);

/* ---- inspector.c ---- */
/* Where roles have begun to be enforced, in the block that e->control.pc enters: looks through it, if that can be. */
void rvm__inspect(rvm__emit *e, const rvm__xinsn *x);
/* An i1, whether that has found that roles are kept; that moreover no two instances add into the same element of those
 * arrays. NULL: the block at pc enforces none. */
LLVMValueRef rvm__is_clean(rvm__emit *e, uint32_t pc);
LLVMValueRef rvm__is_alone(rvm__emit *e, uint32_t pc);

/* ---- kernel.c ---- */
/* A kernel of the block that is entered at e->control.pc, with its arguments in *params, which its job is to name; NULL: why
 * is noted. Memory that runs out is noted, too. */
rvm__block_kernel *rvm__kernel_of(rvm__emit *e, const struct rvm__plan *p, LLVMValueRef *params);

/* ---- nested.c ---- */
/* Whether there are blocks in the block with an end at pc, or in what it calls. */
bool rvm__has_blocks_within(const rvm__emit *e, uint32_t pc);
/* The block at e->control.pc, entered as rvm__run_chunks has it, if it is one that several threads run: then all of it is
 * emitted. */
bool rvm__nest(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x);

/* ---- pack.c ---- */
/* Whether the view that appears or disappears at pc, in an instance, is a copy. */
bool rvm__is_packed(const rvm__emit *e, uint32_t pc);
void rvm__pack(rvm__emit *e, uint16_t array); /* which has appeared */
void rvm__unpack(rvm__emit *e, uint16_t array);

/* ---- conflicts.c ---- */
/* An instance that goes on for long bails out: at a back edge, or, if it has not yet changed what is outside, before a
 * loop. */
void rvm__safepoint_in_instance(rvm__emit *e);
/* RVM__FIRST. */
void rvm__comes_first(rvm__emit *e, LLVMValueRef array, LLVMValueRef index, LLVMValueRef bytes, LLVMValueRef parts);
/* What is vectorised bails out if cond: the group is run again, one instance after the other. */
void rvm__bail_out(rvm__emit *e, LLVMValueRef cond);
/* It bails out at some time if cond, a release that does not agree: what follows may rely on it no more than unchecked code
 * does. */
void rvm__disagrees(rvm__emit *e, LLVMValueRef cond);
/* The release being walked leaves so much, or nothing. The largest magnitude there, unless that is NULL, is at least so much
 * from now on. */
void rvm__note_residue(rvm__emit *e, LLVMValueRef residue);
void rvm__raise_in_instance(rvm__emit *e, LLVMValueRef held, LLVMValueRef size);
/* Where instances may add to the same element, an update of it adds f (or takes it away): then it is done here. */
bool rvm__add_conflicting(rvm__emit *e, const rvm_place *q, const rvm__operand *y, rvm_op op, LLVMValueRef f);
/* Of what is called: the element of an array that conflicts which the register is, or NULL. */
LLVMValueRef rvm__conflicting_element(const rvm__emit *e, const rvm_place *q);
/* Whether parameter k of a callee to which these, by bit, conflict is such an array, or the address of such an element. */
bool rvm__takes_conflict(uint64_t conflicts, const rvm_function *f, uint32_t k);
/* The parameters of a callee, by bit, that get arrays which conflict, or elements of such. */
uint64_t rvm__conflicting_arguments(const rvm__emit *e, const rvm_function *g, const rvm_place *places);
/* Fills e->block.conflicts for the block between these, and says whether any is; false: of a type that RVM__ADD has not, or
 * out of memory. */
bool rvm__find_array_conflicts(rvm__emit *e, uint32_t first, uint32_t last, uint16_t index, bool *any);
/* Of a vectorised specialisation: which of its arrays are. */
void rvm__find_conflicts(rvm__emit *e, uint64_t params);

#endif

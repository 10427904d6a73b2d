/* analysis.h: inside jit/. What the text of a function tells before it is emitted: arrays, lengths, what runs at most,
 * depths of trails. */
#ifndef RVM_JIT_ANALYSIS_H
#define RVM_JIT_ANALYSIS_H

#include "emit.h"

/* The lower end of the loop or block with an end at pc. */
static inline uint32_t rvm__lower_end(const rvm_function *f, uint32_t pc) {
    return f->code[pc].target < pc ? f->code[pc].target : pc;
}

/* ---- text.c ---- */
/* The instruction that made an array appear that is there at pc, or 0: none, a parameter. What lies between opens and
 * closes others, so what was closed on the way is passed over. */
uint32_t rvm__maker_of(const rvm_function *f, uint16_t array, uint32_t pc);
/* Whether no jump leads from before `from` to between it and `to`, as none does in assembled statements. */
bool rvm__is_closed(const rvm_function *f, uint32_t from, uint32_t to);
/* The array that `array` is part of at pc, itself unless it is a view; RVM__NO_BASE: nobody can say. */
uint16_t rvm__base_of(const rvm__emit *e, uint16_t array, uint32_t pc);
/* The instruction that made the array a view as it is at pc; NULL: none, or nobody can say. */
const rvm_insn *rvm__view_at(const rvm__emit *e, uint16_t array, uint32_t pc);
/* Bytes of array `array` of a function in an alloca rather than in the arena, its header included; 0: it goes there. */
uint64_t rvm__alloca_bytes(const rvm__unit *u, uint32_t fn, uint16_t array);
/* The same, or of memory that it has there for when it is of few elements. */
uint64_t rvm__local_bytes(const rvm__unit *u, uint32_t fn, uint16_t array);
bool rvm__appears(const rvm_function *f, uint16_t array); /* as a local one */
/* Where function fn is a copy for some lengths: what it is a copy of, which the machine knows; else fn. */
uint32_t rvm__known_as(const rvm__unit *u, uint32_t fn);
LLVMValueRef rvm__known_number(const rvm__emit *e); /* of e's function, an i32 */
/* Slots of its frame in the machine, and which one a slot is there: constants may be more than those of the function. */
uint32_t rvm__machine_slots(const rvm__emit *e);
uint32_t rvm__machine_slot(const rvm__emit *e, uint32_t slot);
/* The length in a register, by what the lowering is for; NULL: it is not. */
LLVMValueRef rvm__known_length(const rvm__unit *u, uint32_t fn, uint16_t slot);
bool rvm__is_ascending(const rvm__emit *e, const rvm__xinsn *x); /* of a block: where it runs now */
void rvm__body_of(const rvm__emit *e, uint32_t pc, uint32_t *first, uint32_t *last);

/* ---- eligible.c ---- */
/* Whether an instance of the block that is entered at pc, an end of it, may be a function; and whether the block goes in
 * lanes by that. The reasons are of the text alone; NULL: it may. On a device an instance may call what has blocks that add
 * into elements chunk by chunk, in lanes it may not. */
bool rvm__is_instance(rvm__emit *e, uint32_t pc);
const char *rvm__why_no_instance(rvm__emit *e, uint32_t pc);
bool rvm__goes_in_lanes(rvm__emit *e, uint32_t pc);
const char *rvm__why_not_in_lanes(rvm__emit *e, uint32_t pc);
/* Of the block that e->control.pc enters, with that plan: why its instances may meet, so that they do not run in threads;
 * NULL: they do not, or unless rvm__is_alone. */
struct rvm__plan;
const char *rvm__why_not_apart(rvm__emit *e, const struct rvm__plan *p);

/* ---- cost_bound.c ---- */
/* Instructions from pc `from` to before `to`, each as often as it may run, or RVM__UNBOUNDED. polled: in lanes, without
 * loops that poll where they turn. */
uint64_t rvm__most_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to, bool polled);
/* The same as expected, where a loop has a few trips; callees are known but for recursion. */
uint64_t rvm__work_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to);
/* A number that is the same whenever this code runs: a constant, or a length that the code is made for. */
bool rvm__fixed_number(const rvm__unit *u, uint32_t fn, uint16_t slot, int64_t *n);
/* The same as rvm__work_between closer to the time it takes: trips that are known as they are, others many, an elementary
 * function as several instructions. */
uint64_t rvm__load_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to);
/* Whether elementary functions that are calls are taken there, or in what is called. */
bool rvm__takes_functions(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to);
/* Whether the loop with an end at pc need not poll in lanes: its trips are constants and, with all in them that does
 * not poll, no more than a strip. Code around it polls. */
bool rvm__passes_unseen(const rvm__emit *e, uint32_t pc);
/* Whether control goes on with the next instruction, here and not in a function. */
bool rvm__goes_on(const rvm_insn *in);
/* Trips of the loop with an end at pc, of which each has an element of a small array, where indices are trusted; or
 * RVM__UNBOUNDED. */
uint64_t rvm__trips_in_array(const rvm__unit *u, uint32_t fn, uint32_t pc);
/* How many trips of the loop or block with an end at pc may go by without a poll; 0: it polls at each. */
uint64_t rvm__trips_unseen(const rvm__emit *e, uint32_t pc);
/* Whether the loop with an end at pc has two trips at most, as the text tells, and not too much in them. */
bool rvm__is_twice(const rvm__emit *e, uint32_t pc);
/* Whether there are loops in the loop with an end at pc, or calls, which may have some. */
bool rvm__is_around_loops(const rvm__emit *e, uint32_t pc);
/* Whether a trip of the loop changes a row of an array of the caller's whose length is known, more than half a vector and no
 * multiple of one. */
bool rvm__goes_by_rows(const rvm__emit *e, uint32_t pc);

/* ---- depth.c ---- */
void rvm__find_depths(rvm__unit *u); /* fills levels, asks and always_asks of all summaries */
/* Whether what the function does, entered where these levels discard, depends on how deep levels are. */
bool rvm__asks_depth(const rvm__summary *summary, uint16_t discards);
uint16_t rvm__discards_that_matter(const rvm__unit *u, uint32_t fn, uint16_t discards); /* for the function */
bool rvm__find_segments(rvm__emit *e);                      /* fills covered, tracked, untracked */
uint16_t rvm__discards_at(const rvm__emit *e, uint32_t pc); /* at an instruction that is no end of a part or segment */
bool rvm__is_forgotten(const rvm__emit *e, uint32_t pc);    /* whether more discards there than the machine's option says */
/* What the instruction at pc puts onto trails, those that it calls included: nothing, or only what is lost; else it is kept.
 */
enum rvm__trail_use { RVM__TRAIL_UNUSED, RVM__TRAIL_LOST, RVM__TRAIL_KEPT };
enum rvm__trail_use rvm__trail_use(const rvm__emit *e, uint32_t pc);
bool rvm__is_discarded(const rvm__emit *e, unsigned level); /* what the instruction being walked puts onto that level */
bool rvm__is_tracked(const rvm__emit *e, uint32_t first,
                     uint32_t last);                             /* at run time, by the machine: the part between them */
bool rvm__is_part_tracked(const rvm__emit *e, uint32_t compute); /* likewise, what updates of reals lose in it included */
uint32_t rvm__untracked_segments(const rvm__emit *e, uint32_t pc, int dir); /* around, before that instruction */

/* What register or constant `slot` holds where it is read at `from`, before pc in straight text or there, by what registers
 * hold at pc: another register's value and a number, modulo 2^64. Backward it is the slot itself. False: not known. */
typedef struct rvm__index {
    uint16_t reg;
    uint64_t plus;
} rvm__index;
bool rvm__index_at(const rvm__emit *e, uint16_t slot, uint32_t from, uint32_t pc, rvm__index *of);

/* Of blocks of a function that is emitted which enforce roles natively (guarding.h), e->block.guards. */
struct rvm__guarding;
bool rvm__is_around(const rvm__emit *e, const struct rvm__guarding *g, uint32_t pc);
/* How many of these the frame stands in before instruction pc, in that direction. */
unsigned rvm__guards_open(const rvm__emit *e, uint32_t pc, int dir);
/* Whether the instruction stands in such a block, of this function or of one that it is called from. */
bool rvm__is_within_guard(const rvm__emit *e, uint32_t pc);

#endif

/* emit.h: inside jit/. One function of the program, in one direction, as a function of IR.
 *
 * Toolboxes:
 *   unit.c              memory, functions of the runtime        ir.c                blocks, memory, branches
 *   text.c              what the text tells of arrays, lengths  depth.c             how deep trails are
 *   cost_bound.c        how many instructions run at most       counts.c            what is counted
 *   values.c            registers, constants, lengths           place.c             operands and targets, indices
 *   exits.c             side exits                              contexts.c          stretches, charges, polls, jumps
 *   trips.c             trips that are charged ahead            strips.c            polls every so many trips
 *   conflicts.c         what instances add to in any order      loop_reversal.c     blocks that need not go down
 *   specialisations.c   codes of a function                     lines.c             line tables
 *   standalone.c        what needs no machine                   words.c             C words as IR
 *
 * Instructions:
 *   update.c            updates and changes in place            call.c              calls
 *   array.c             local arrays and views                  pack.c              rows that are copied
 *   lower_trail.c       the stack, set, segments                moves.c             what moves there and to the trail
 *   counted.c           counted loops                           elision.c           what nobody observes
 *
 * Functions; what one calls, or runs instances of, is declared and emitted later:
 *   walk.c              in the order of control; regions        block.c             parallel blocks
 *   chunk.c             chunks of blocks, for threads           sums.c              registers that blocks add into
 *   groups.c            groups of instances in lanes            instance.c          an instance as a function: what it takes
 *   instance_body.c     its body                                function.c          one from its beginning to its end
 *   frame.c             registers and arrays; leaving them      home.c              what is in memory there
 *   osr.c               functions entered at a loop             lower.c             the module and its entry
 *   c_entry.c           the same for C functions
 *
 * Registers, hidden slots and descriptors of arrays are allocas, which LLVM turns into values. A copy of a region's compute
 * part is walked for each way it is run: a `context` says which one this is, and its direction.
 *
 * A function of IR takes (machine, native, first slot, first array, number of its frame, counts, then for each parameter
 *     a scalar that is read: the value; another: the address of a copy, and with checks of the largest magnitude it held
 *     an array: data, lengths, strides in bytes, its home and where it begins there (vm/native/native.h), and with checks
 * the address of its largest magnitude or NULL) and returns not 0 when it was left. Standalone, machine, native, counts and
 * the first array are NULL and 0, in place of the first slot stands the address below which the C stack is not to be used,
 * and what it returns is the number of an end (standalone.c).
 */
#ifndef RVM_JIT_EMIT_H
#define RVM_JIT_EMIT_H

#include "instance.h"
#include "liveness.h"
#include "lower.h"
#include "native.h"
#include "reach.h"
#include "shaped.h"
#include "program.h"

enum rvm__pass { PASS_WHOLE, PASS_FIRST, PASS_UNDO, PASS_AGAIN, PASS_LAST }; /* how a compute part is run */

typedef struct rvm__context {
    struct rvm__context *parent;
    uint32_t compute; /* the region's; of the whole function 0 */
    enum rvm__pass pass;
    int dir;
    unsigned depth;             /* compute parts around that no trail tracks */
    bool tracked;               /* this one: something in it uses the trail */
    LLVMBasicBlockRef *landing; /* by pc: where a jump lands past that instruction */
    LLVMBasicBlockRef *passing; /* by pc, of loops of which trips are passed over: at one end where each begins, at the other
                                   where it ends; or NULL */
    LLVMBasicBlockRef *start;   /* by pc of a block that goes in lanes: where its next instance begins; or NULL */
    struct rvm__context *whole; /* of a loop of many trips, which goes in strips here: where all around it is; else NULL */
    uint32_t strips;            /* its lower end */
    /* Where the code came here from the middle of the function (osr.c): the gap (vm/native/native.h) where this part of
     * it begins, 0: all was run; the end by which the loop there is entered; such parts for other loops are listed in the
     * first one. */
    uint32_t gap, head;
    struct rvm__context *first, *others;
    struct rvm__context *next; /* all of the function */
} rvm__context;

typedef struct rvm__pending { /* a stretch still to be walked */
    LLVMBasicBlockRef block;
    uint32_t pc;
    rvm__context *context;
} rvm__pending;

/* A function in a direction, or, for threads, a parallel block of it; `apart`: its arrays that are added into are known not
 * to overlap; `discards`: levels of the trail that discard where it is entered, of those that it matters for. */
typedef struct rvm__specialisation {
    struct rvm__specialisation *next;  /* of the function */
    struct rvm__specialisation *later; /* to be emitted */
    uint32_t fn;
    int dir;
    bool apart;
    bool vectorised;    /* called by an instance of a block: it bails out where others leave (instance.c) */
    uint64_t conflicts; /* of a vectorised one, by parameter: see rvm__block_ir.conflicts */
    uint16_t discards;
    uint32_t block;               /* 0, or the end by which the block is entered */
    uint32_t at;                  /* 0, or the instruction in its middle at which it is entered */
    LLVMValueRef function, entry; /* entry: of a block, what threads call */
    LLVMTypeRef type;
} rvm__specialisation;

typedef struct rvm__summary { /* of a function of the program */
    bool recursive;
    rvm__native_need need;
    uint64_t size;    /* instructions, those of callees included, as far as counted */
    uint64_t work;    /* the same, but each counts for as often as it may run, as far as loops tell */
    uint64_t most;    /* instructions of a call, or RVM__UNBOUNDED */
    uint64_t unseen;  /* the same in lanes, without what polls where it turns */
    bool by_value;    /* it, or what it calls, calls through function values */
    uint16_t levels;  /* of the trail that something goes onto, or comes from */
    uint16_t asks;    /* of these, where one does not discard it must be known at run time how deep it is; */
    bool always_asks; /* so it must at some depth whatever discards */
    bool exits;       /* it has side exits, as far as it has been emitted */
    bool silent;      /* nothing is, nor in what it calls */
} rvm__summary;
enum { RVM__UNBOUNDED = 1 << 30 };
/* Instructions that go by without a poll: of a strip of a loop, and of one trip or call within it. */
enum { RVM__STRIP = 1 << 20, RVM__MOST_UNSEEN = 1 << 14 };

enum rvm__end_reason { RVM__END_CHECK, RVM__END_MEMORY, RVM__END_DEPTH, RVM__END_STACK, RVM__END_LENGTH };
typedef struct rvm__end { /* where a standalone function may end early, and why */
    uint32_t fn, pc;
    enum rvm__end_reason reason;
} rvm__end;

typedef struct rvm__unit {
    rvm__build *k;
    const rvm__lowering *w;
    const rvm_program *p;
    rvm_machine *m;     /* for prepared code: nothing runs on it */
    rvm__shaped shaped; /* p is its program, if there is one: functions for the lengths that are known */
    rvm__summary *summaries;
    rvm__reach *reach;                     /* by function, as summaries are */
    rvm__specialisation **specialisations; /* by function */
    rvm__specialisation *work;             /* to be emitted */
    struct rvm__instance *instances;       /* likewise */
    rvm__end *ends;
    uint32_t nends, cap_ends;
    rvm__liveness *liveness;             /* NULL: nothing is left out for it */
    uint64_t dead_found;                 /* instructions left out */
    struct rvm__turned *turned;          /* loop_reversal.c */
    struct rvm__lines *lines;            /* NULL: none are asked for */
    struct rvm__block_of_memory *memory; /* all of the unit */
    bool recursive;                      /* some function that is reached */
    rvm_error *err;
    rvm_status status;
} rvm__unit;

typedef struct rvm__array_ir { /* allocas */
    LLVMValueRef data, magnitude, dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS], base, present;
    LLVMValueRef home, offset; /* home: 0 where data is an address that the machine can use, else as in vm/native/native.h */
    LLVMValueRef memory;       /* of a local one that need not be in the arena: header and elements; else NULL */
    LLVMValueRef own;          /* it is there, and not a view */
    bool few;                  /* but not if it has more elements than RVM__FEW, which is known when it appears */
    uint64_t bytes;            /* of that */
    LLVMValueRef heap;         /* standalone, of another local one: what is to be freed, or NULL */
} rvm__array_ir;

/* Of a loop or block that polls every so many trips, by its lower end: trips left behind the present strip, and
 * the index at its end. */
typedef struct rvm__strip {
    LLVMValueRef left, stop; /* allocas */
} rvm__strip;

/* The registers and arrays of a function, and how they come to the machine. */
typedef struct rvm__frame_ir {
    LLVMValueRef machine, native, first_slot, first_array, number;
    LLVMValueRef home;        /* alloca of registers, then of their largest magnitudes; or NULL */
    uint8_t *homed;           /* by register: enum rvm__homed; NULL: none */
    LLVMValueRef *reg, *held; /* by slot of the frame; held: largest magnitudes, or NULL */
    rvm__array_ir *array;
    LLVMValueRef lanes; /* alloca of moves.c, or NULL */
    LLVMBasicBlockRef entry, exits, done;
    LLVMValueRef site; /* alloca: by which of these it is left */
    rvm__native_site *sites;
    uint32_t nsites, cap_sites;
    LLVMBasicBlockRef *meetings; /* exits.c: where neighbours come together, in their order */
    uint32_t nmeetings, cap_meetings;
} rvm__frame_ir;

/* Why a compute part runs once: its uncomputing is not observed, or it is forgotten. */
enum rvm__elided { RVM__UNELIDED, RVM__ELIDED, RVM__FORGOTTEN };
/* Levels of the trail that discard at an instruction: (x & and) | or, of those x where the function is entered. */
typedef struct rvm__discarding {
    uint16_t and, or ;
} rvm__discarding;

/* Where lowering stands, and what is still to be walked. */
typedef struct rvm__control {
    uint32_t pc; /* being walked */
    rvm__context *context, *contexts;
    rvm__pending *pending;
    uint32_t npending, cap_pending;
    uint32_t emitted;         /* instructions in all */
    uint8_t *elided;          /* by pc of compute: enum rvm__elided */
    rvm__strip *strips;       /* by pc of the lower end */
    rvm__discarding *covered; /* by pc */
    uint8_t *tracked;         /* by pc, of segments: the machine tracks it */
    uint8_t *untracked;       /* between pc - 1 and pc: how many segments around are not tracked */
} rvm__control;

/* What is counted. */
typedef struct rvm__accounting {
    LLVMValueRef counts;                                     /* where its caller has them; NULL: the machine */
    LLVMValueRef charged, calls, below, erased[RVM__ERASED]; /* allocas; below: frames below this one at most */
    uint32_t walked;                                         /* instructions since the last charge */
    uint32_t ahead; /* 0, or the end by which a loop is entered whose trips are charged already: in its body */
    uint64_t erasing[RVM__ERASED]; /* there: bits that this trip erased, which are not counted yet */
    bool settled;                  /* it may be left: trips behind it may not count for it */
    LLVMValueRef *before;          /* by pc of compute: alloca, what its first run charged */
} rvm__accounting;

/* Of parallel blocks: as a function that runs instances, and around such. */
typedef struct rvm__block_ir {
    uint32_t chunk;               /* 0, or where the block is entered of which this runs instances of one chunk: */
    LLVMValueRef last, sums;      /* the last of them; where totals go */
    const struct rvm__plan *plan; /* chunk.c */
    uint32_t ends;                /* of an instance: the end of the block, where it ends; else 0 */
    uint8_t *conflicts;           /* by array, of what is vectorised: instances may add to the same element; or NULL */
    LLVMValueRef *instances;      /* by pc of a block's end: that function, or NULL; or NULL */
    LLVMValueRef *asked;          /* by that pc: a local that says what is known of the order of sums, or NULL; or NULL */
    struct rvm__turned *turned, *between; /* loop_reversal.c */
} rvm__block_ir;

typedef struct rvm__emit {
    rvm__unit *u;
    rvm__build *k;
    const rvm_function *f;
    const rvm__code *code;
    LLVMValueRef function;
    /* As of its specialisation: */
    uint32_t fn, at;
    int dir;
    bool apart;
    bool vectorised; /* an instance, or what it calls: see instance.c */
    uint16_t discards;
    rvm__frame_ir frame;
    rvm__control control;
    rvm__accounting count;
    rvm__block_ir block;
} rvm__emit;
enum rvm__homed { RVM__HOMELESS, RVM__HOMED, RVM__HOMED_FIXED /* and it never held more than it holds */ };
enum { RVM__NO_BASE = 0xffff };
enum { RVM__FEW = 32 };
enum { RVM__COUNTS_PARAM = 5, RVM__FIXED_PARAMS }; /* of a function of IR, before those of the program */
enum {
    RVM__COUNTS = 3 + RVM__ERASED
}; /* i64 that calls pass on: charged, calls, frames below the callee's at most, erased */
/* Whether nothing that changes shares the memory of a parameter that is an array, seen from the function. By their roles
 * only those that are added into may overlap each other, and those that are only read. */
static inline bool rvm__is_apart(const rvm_param *param, bool apart) {
    return apart || param->role != RVM_ACC;
}
/* Parameters of IR that an array is. */
static inline unsigned rvm__array_params(int ndim, bool magnitudes) {
    return 3 + 2 * (unsigned)ndim + magnitudes;
}
enum { RVM__MOST_PARAMS = 4 + 2 * RVM_MAX_DIMS }; /* that a parameter of the program is */
enum { RVM__SUMS = 9 }; /* hidden slots of a register that a parallel block adds into (vm/interp/blocks.c) */

/* ---- unit.c ---- */
rvm_status rvm__out_of_memory(rvm__unit *u); /* notes it */
/* Memory until the unit is done; NULL noted. */
void *rvm__unit_alloc(rvm__unit *u, size_t size);
void rvm__unit_free(rvm__unit *u); /* all of it */
/* A function of vm/native/native.c by name, of that type; declared once. */
LLVMValueRef rvm__runtime(rvm__unit *u, const char *name, LLVMTypeRef result, unsigned n, const LLVMTypeRef *params);
LLVMValueRef rvm__call_runtime(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, const LLVMValueRef *args);
/* The same, of one that is seldom called: values around it stay in registers. */
LLVMValueRef rvm__call_seldom(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args);
/* An attribute of a function of IR, or of its parameter `param` (-1: the function). */
void rvm__attribute(rvm__build *k, LLVMValueRef f, int param, const char *name, uint64_t value);
/* The address of what a function needs, a constant. */
LLVMValueRef rvm__need_constant(rvm__unit *u, uint32_t fn);

/* ---- specialisations.c ---- */
/* Made where it is not there: then without a function. NULL: noted. */
rvm__specialisation *rvm__find_specialisation(rvm__unit *u, rvm__specialisation v);
/* Of a function that must be there; it will be emitted. */
const rvm__specialisation *rvm__declare_specialisation(rvm__unit *u, const rvm__specialisation *like);
const rvm__specialisation *rvm__version_of(rvm__unit *u, uint32_t fn, int dir, bool apart, uint16_t discards);
const rvm__specialisation *rvm__vectorised(rvm__unit *u, uint32_t fn, int dir, bool apart, uint16_t discards,
                                           uint64_t conflicts);
bool rvm__is_inlined(const rvm__unit *u, uint32_t fn);

/* ---- ir.c ---- */
LLVMBasicBlockRef rvm__block(rvm__emit *e, const char *name); /* a new one at the end of the function */
void rvm__at(rvm__emit *e, LLVMBasicBlockRef b);
LLVMValueRef rvm__local(rvm__emit *e, LLVMTypeRef t, const char *name); /* an alloca */
LLVMValueRef rvm__get(rvm__emit *e, LLVMTypeRef t, LLVMValueRef address);
void rvm__put_at(rvm__emit *e, LLVMValueRef value, LLVMValueRef address);
LLVMValueRef rvm__member(rvm__emit *e, LLVMValueRef address, size_t offset); /* address + offset bytes */
LLVMValueRef rvm__absolute(rvm__emit *e, LLVMValueRef x);
void rvm__unlikely(rvm__emit *e, LLVMValueRef branch); /* which is a conditional one */

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
/* Whether the block that is entered at pc, an end of it, goes in lanes: its instance is a function then. */
bool rvm__goes_in_lanes(rvm__emit *e, uint32_t pc);

/* ---- home.c ---- */
/* Of a function that is emitted: finds registers that have a home, fills e->frame.home and e->frame.homed. */
void rvm__make_homes(rvm__emit *e);

/* ---- counts.c ---- */
void rvm__begin_counts(rvm__emit *e); /* at both ends of a function */
void rvm__end_counts(rvm__emit *e);
LLVMValueRef rvm__counts_for_call(rvm__emit *e); /* one more: memory for what it counts, which is here behind it */
void rvm__counts_of_call(rvm__emit *e, LLVMValueRef counts);
void rvm__hand_counts(rvm__emit *e); /* to the machine, which adds to them, and back; but for what is erased */
void rvm__take_counts(rvm__emit *e);
void rvm__count_erased(rvm__emit *e, enum rvm__erasing why, LLVMValueRef bits);
static inline enum rvm__erasing rvm__erased_by(uint32_t level) { /* a level of a trail that discards */
    return level ? RVM__ERASED_GRADIENTS : RVM__ERASED_VALUES;
}
LLVMValueRef rvm__site_bits_of(rvm__emit *e, const rvm_insn *in); /* of the value that goes onto it there */
/* Counts what waits for all trips of a loop that are charged ahead, since this trip may end here. */
void rvm__settle_erased(rvm__emit *e);

/* The lower end of the loop or block with an end at pc. */
static inline uint32_t rvm__lower_end(const rvm_function *f, uint32_t pc) {
    return f->code[pc].target < pc ? f->code[pc].target : pc;
}

/* ---- cost_bound.c ---- */
/* Instructions from pc `from` to before `to`, each as often as it may run, or RVM__UNBOUNDED. */
uint64_t rvm__most_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to);
/* The same as expected, where a loop has a few trips; callees are known but for recursion. */
uint64_t rvm__work_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to);
/* In lanes, of a call: without loops that poll where they turn. */
uint64_t rvm__most_unseen(const rvm__unit *u, uint32_t fn);
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

/* ---- loop_reversal.c ---- */
/* Whether the strips of a block with an end at pc might go upward though the block goes down. */
bool rvm__may_turn(rvm__emit *e, uint32_t pc);
LLVMValueRef rvm__is_upward(rvm__emit *e, uint32_t pc); /* whether they do, an i1 */
/* A poll between strips, before the index of the next one changes. */
void rvm__safepoint_between(rvm__emit *e, uint32_t pc);
void rvm__settle_function(rvm__emit *e); /* when it has been emitted, and when all has */
void rvm__settle_unit(rvm__unit *u);

/* ---- chunk.c ---- */
/* Where the block at e->control.pc is entered, its index and sums begun: what threads do of it. What is emitted behind goes
 * on with the first instance, or with the one that they left. */
void rvm__run_chunks(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x);
/* Whether some block that the run may reach runs in threads and changes what would have to be taken back. */
bool rvm__takes_chunks_back(rvm__unit *u);
void rvm__begin_chunk(rvm__emit *e); /* the registers and arrays of a chunk's function */
void rvm__enter_chunk(rvm__emit *e); /* its first instance */
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

/* ---- sums.c: instances are numbered within their block ---- */
void rvm__begin_sums(rvm__emit *e, const rvm__xinsn *x);
/* From instance k to the next one, of the same chunk; of any. */
void rvm__pass_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next);
void rvm__next_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, LLVMValueRef next);
/* Behind instance k the chunk ends; leaves: and the block. */
void rvm__end_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k, bool leaves);
/* Totals of the chunk that this function runs: to whoever runs its block. */
void rvm__hand_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef k);
/* What was before the block and what is behind it goes into the register; the block is left. */
void rvm__leave_sums(rvm__emit *e, const rvm__xinsn *x);
/* The address of the partial sum, of the k-th register that instances add into, of the instance with that index. */
LLVMValueRef rvm__partial_sum(rvm__emit *e, const rvm__xinsn *x, uint32_t k, LLVMValueRef index);

/* ---- trips.c ---- */
bool rvm__loop_ascends(const rvm__emit *e, const rvm_insn *in); /* where it runs now */
/* Instructions of a trip of the loop with an end at pc, where all are charged when it is entered: all trips are alike and
 * nobody polls; in unchecked code, where few edges lead out of them. 0: each charges its own. */
uint32_t rvm__ahead_at(const rvm__emit *e, const rvm__context *c, uint32_t pc);
/* In such a body: what was charged for this trip and those behind it. */
LLVMValueRef rvm__charged_ahead(rvm__emit *e);
/* Trips from the one on that runs, of the loop with an end at pc; *by: from one index to the next. */
LLVMValueRef rvm__trips_left(rvm__emit *e, uint32_t pc, LLVMValueRef *by);

/* ---- counted.c ---- */
void rvm__enter_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x); /* and the stretch ends */
bool rvm__turn_loop(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x);  /* false: the stretch ends */
/* The body of the loop that e->control.pc enters, from the trip on that its index says: its context, with strips if it goes
 * in these; else c. NULL: noted. */
rvm__context *rvm__enter_strips(rvm__emit *e, rvm__context *c);

/* ---- contexts.c ---- */
/* A copy of a compute part, or of the whole function, walked in that direction; NULL: out of memory, noted. */
rvm__context *rvm__context_in(rvm__emit *e, rvm__context *parent, uint32_t compute, enum rvm__pass pass, int dir);
rvm__context *rvm__context_copy(rvm__emit *e, const rvm__context *c); /* the same, with code of its own; NULL: noted */
LLVMBasicBlockRef rvm__landing_of(rvm__emit *e, rvm__context *c, uint32_t pc); /* where a jump lands past that instruction */
/* A stretch from instruction pc on is to begin there. */
void rvm__walk_later(rvm__emit *e, LLVMBasicBlockRef block, uint32_t pc, rvm__context *c);
/* What was walked since the last charge, and `extra`. */
void rvm__charge(rvm__emit *e, uint32_t extra);
/* Before instruction pc of the context. */
void rvm__emit_safepoint(rvm__emit *e, uint32_t pc);
/* Control passes to where a jump lands past pc; back: in a loop, where it polls first. */
void rvm__jump(rvm__emit *e, rvm__context *c, uint32_t pc, bool back);

/* ---- walk.c ---- */
void rvm__walk_pending(rvm__emit *e); /* all stretches that are to begin */
/* From instruction pc on, in a context of its own, until all that is reached is emitted; control comes from `first`. */
void rvm__walk_from(rvm__emit *e, LLVMBasicBlockRef first, uint32_t pc, int dir);

/* ---- function.c ---- */
void rvm__emit_function(rvm__unit *u, const rvm__specialisation *v);

/* ---- osr.c ---- */
/* Registers and arrays have what the machine's frame has, and control goes to e->at. */
void rvm__osr_entry(rvm__emit *e);

/* ---- elision.c ---- */
void rvm__find_elisions(rvm__emit *e); /* fills elided and before */
/* Whether the instruction being walked is left out since nobody observes its effect; what counts has been counted. */
bool rvm__leave_out(rvm__emit *e, const rvm_insn *in, rvm_op op);
/* All that appears in the compute part is gone, without a trace but for the memory of arrays. */
void rvm__forget_locals(rvm__emit *e, uint32_t compute);
void rvm__forget_places_of(rvm__emit *e, uint32_t compute); /* the same, counted: of a region that forgets */

/* ---- frame.c ---- */
bool rvm__frame_begin(rvm__emit *e); /* false: noted */
void rvm__take_parameters(rvm__emit *e);
void rvm__know_lengths(rvm__emit *e); /* lengths of parameters are what they are known to be */
void rvm__frame_end(rvm__emit *e);
bool rvm__frame_make(rvm__emit *e);  /* the first part of the beginning: blocks and allocas; false: noted */
void rvm__frame_close(rvm__emit *e); /* the last part of the end: e->frame.done has returned */

/* ---- exits.c ---- */
rvm__native_site rvm__site_here(const rvm__emit *e);
/* A side exit before the instruction being walked: if cond; always. */
void rvm__exit_if(rvm__emit *e, LLVMValueRef cond);
void rvm__exit_now(rvm__emit *e);
/* With another site: calling, or before instruction pc of a context, with what was walked charged already. */
void rvm__exit_at(rvm__emit *e, LLVMValueRef cond, rvm__native_site site, uint32_t uncharged);
/* Standalone: with that status, an i32. */
void rvm__exit_with(rvm__emit *e, LLVMValueRef cond, LLVMValueRef status);
void rvm__join_exits(rvm__emit *e); /* once all are made: they lead to e->frame.exits */
uint32_t rvm__end_number(rvm__unit *u, uint32_t fn, uint32_t pc, enum rvm__end_reason reason);
/* The instruction being walked cannot be carried out without a machine: UNSUPPORTED is noted. */
void rvm__refuse(rvm__emit *e, const char *why);

/* ---- standalone.c ---- */
void rvm__standalone_exit(rvm__emit *e);                      /* the block of its side exits */
void rvm__standalone_depth(rvm__emit *e, LLVMValueRef frame); /* a side exit where the callee's frame would be too deep */
/* As rvm__native_agrees, rvm__native_agree_all, rvm__native_new and rvm__native_del do; held: values, and an address. */
LLVMValueRef rvm__standalone_agrees(rvm__emit *e, LLVMValueRef y, LLVMValueRef f, LLVMValueRef held);
LLVMValueRef rvm__standalone_agree_all(rvm__emit *e, rvm_type t, LLVMValueRef data, LLVMValueRef n, LLVMValueRef v,
                                       LLVMValueRef held);
LLVMValueRef rvm__standalone_new(rvm__emit *e, uint16_t array, LLVMValueRef n, LLVMValueRef bits);
void rvm__standalone_del(rvm__emit *e, uint16_t array);
/* What goes onto a trail is lost, but for `set`, an update; what comes back from it or uses the stack is refused. */
void rvm__emit_discarded(rvm__emit *e, const rvm_insn *in, rvm_op op);
LLVMValueRef rvm__stack_here(rvm__build *k); /* where the C stack ends now, as an i64 */

/* ---- c_entry.c ---- */
bool rvm__standalone_entry(rvm__unit *u); /* false: noted */
void rvm__standalone_texts(rvm__unit *u); /* once all ends are known */

/* ---- lines.c: nothing happens where no lines are asked for ---- */
bool rvm__lines_begin(rvm__unit *u); /* false: noted */
void rvm__lines_end(rvm__unit *u);
/* A function of IR stands for function fn of the program; what is built from now on belongs to its first line. */
void rvm__lines_function(rvm__unit *u, LLVMValueRef f, uint32_t fn, const char *name);
void rvm__lines_at(rvm__emit *e);   /* what is built from now on belongs to the instruction being walked */
void rvm__lines_none(rvm__unit *u); /* to no line */

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
                     uint32_t last); /* at run time, by the machine: the part between them */
uint32_t rvm__untracked_segments(const rvm__emit *e, uint32_t pc, int dir); /* around, before that instruction */

/* ---- values.c ---- */
LLVMValueRef rvm__slot_value(rvm__emit *e, uint16_t slot);          /* value of an i64 register or constant */
LLVMValueRef rvm__slot_constant(const rvm__emit *e, uint16_t slot); /* of any type */
void rvm__set_slot(rvm__emit *e, uint16_t slot, LLVMValueRef v);
LLVMValueRef rvm__nothing(const rvm__emit *e, LLVMTypeRef t); /* value of what is not there */
void rvm__gone(rvm__emit *e, uint16_t slot);                  /* the register disappears */
LLVMValueRef rvm__dimension(rvm__emit *e, uint16_t array, int d);
LLVMValueRef rvm__stride(rvm__emit *e, uint16_t array, int d);

/* ---- place.c ---- */
typedef struct rvm__operand {
    rvm_type type;
    LLVMValueRef address; /* NULL: a constant */
    LLVMValueRef value;   /* of a constant */
    LLVMValueRef element; /* address, where it is an element, else NULL */
} rvm__operand;
/* Place q of the instruction being walked, whose k-th it is; indices are checked where not proved or trusted. */
rvm__operand rvm__operand_of(rvm__emit *e, const rvm_place *q, unsigned k);
LLVMValueRef rvm__load(rvm__emit *e, const rvm__operand *o);
void rvm__store(rvm__emit *e, const rvm__operand *o, LLVMValueRef v);
void rvm__apart(rvm__emit *e, const rvm__operand *a,
                const rvm__operand *b); /* a side exit where both are the same element */
/* The largest magnitude of a place follows its new value. fresh: it starts anew. */
void rvm__track_held(rvm__emit *e, const rvm_place *q, LLVMValueRef v, bool fresh);
LLVMValueRef rvm__magnitude(rvm__emit *e, const rvm_place *q); /* its address, or NULL */

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
/* Whether what stands at q agrees with f, as a release asks: equal, or within the tolerance, which the machine looks at. */
LLVMValueRef rvm__emit_agrees(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, LLVMValueRef y, LLVMValueRef f);

/* ---- update.c, call.c, array.c, block.c: the instruction being walked, going up or down ---- */
void rvm__emit_update(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_in_place(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_call(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_array(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_trail(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__emit_slots(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op);
void rvm__enter_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x);
bool rvm__turn_block(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x); /* false: the stretch ends */

/* ---- pack.c ---- */
/* Whether the view that appears or disappears at pc, in an instance, is a copy. */
bool rvm__is_packed(const rvm__emit *e, uint32_t pc);
void rvm__pack(rvm__emit *e, uint16_t array); /* which has appeared */
void rvm__unpack(rvm__emit *e, uint16_t array);

/* ---- instance.c ---- */
typedef struct rvm__instance {
    rvm__emit *outer; /* who runs it: gone when the body is emitted */
    const rvm__xinsn *x;
    uint8_t *bits;  /* by register, as rvm__block_registers has them */
    uint8_t *array; /* by array: it comes from outside */
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS];
    bool apart[RVM__MOST_VECTORISED_ARGS]; /* arguments that are arrays which nothing else is part of */
    unsigned n;
    LLVMValueRef function;
    LLVMTypeRef type;
    struct rvm__instance *later; /* to be emitted */
    rvm__emit body;
    uint32_t first; /* where it begins, and its direction */
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

/* ---- groups.c ---- */
/* To the next instance of a block: a group of them, if there is a whole one, or that one alone. back: from another. */
void rvm__to_instance(rvm__emit *e, uint32_t pc, bool back);

/* ---- conflicts.c ---- */
/* An instance that goes on for long bails out: at a back edge, or, if it has not yet changed what is outside, before a
 * loop. */
void rvm__safepoint_in_instance(rvm__emit *e);
/* What is vectorised bails out if cond: the group is run again, one instance after the other. */
void rvm__bail_out(rvm__emit *e, LLVMValueRef cond);
/* Where instances may add to the same element, an update of it adds f (or takes it away): then it is done here. */
bool rvm__add_conflicting(rvm__emit *e, const rvm_place *q, const rvm__operand *y, rvm_op op, LLVMValueRef f);
/* The parameters of a callee, by bit, that get arrays which conflict. */
uint64_t rvm__conflicting_arguments(const rvm__emit *e, const rvm_function *g, const rvm_place *places);
/* Fills e->block.conflicts for the block between these, and says whether any is; false: of a type that RVM__ADD has not, or
 * out of memory. */
bool rvm__survey_conflicts(rvm__emit *e, uint32_t first, uint32_t last, uint16_t index, bool *any);
/* Of a vectorised specialisation: which of its arrays are. */
void rvm__find_conflicts(rvm__emit *e, uint64_t params);

#endif

/* emit.h: inside jit/. One function of the program, in one direction, as a function of IR.
 *
 * Toolboxes:
 *   unit.c              memory, functions of the runtime        ir.c                blocks, memory, branches
 *   text.c              what the text tells of arrays, lengths  depth.c             how deep trails are
 *   cost_bound.c        how many instructions run at most       counts.c            what is counted
 *   values.c            registers, constants, lengths           place.c             operands and targets, indices
 *   magnitudes.c        largest magnitudes                  share.c             how far sweeps of checkpointed loops are
 *   exits.c             side exits                              contexts.c          stretches, charges, polls, jumps
 *   trips.c             trips that are charged ahead            strips.c            polls every so many trips
 *   conflicts.c         what instances add to in any order      loop_reversal.c     blocks that need not go down
 *   specialisations.c   codes of a function                     lines.c             line tables
 *   standalone.c        what needs no machine                   words.c             C words as IR
 *   recorded.c          what exact runs keep something of       guarding.c          blocks that enforce roles
 *   eligible.c          blocks for lanes, for threads
 *
 * Instructions:
 *   update.c            updates and changes in place            releases.c          what disappears agrees
 *   exact.c, exact_row.c   the same where every bit is restored
 *   call.c              calls
 *   array.c             local arrays and views                  pack.c              rows that are copied
 *   lower_trail.c       the stack, set, segments                moves.c             what moves there and to the trail
 *   trail_inline.c      the trail's simple cases
 *   counted.c           counted loops                           elision.c           what nobody observes
 *
 * Functions; what one calls, or runs instances of, is declared and emitted later:
 *   walk.c              in the order of control; regions        block.c             parallel blocks
 *   chunk.c             chunks of blocks, for threads           sums.c              registers that blocks add into
 *   aside.c             elements that blocks add into           guard.c             roles that are enforced
 *   inspector.c         blocks looked through for that before
 *   groups.c            groups of instances in lanes            instance.c          an instance as a function: what it takes
 *   instance_body.c     its body                                function.c          one from its beginning to its end
 *   nested.c            blocks within blocks, for a device      fresh.c             arrays that are not read
 *   frame.c             registers and arrays; side exits        home.c              what is in memory there
 *   osr.c               functions entered at a loop             lower.c             the module and its entry
 *   c_entry.c           the same for C functions
 *
 * Headers: unit.h, what is lowered, with all that is known of it; here, a function that is being emitted, and what any of it
 * is built with; analysis.h, what its text tells; walk.h, its instructions; blocks.h, its parallel blocks.
 *
 * Registers, hidden slots and descriptors of arrays are allocas, which LLVM turns into values. A copy of a region's compute
 * part is walked for each way it is run: a `context` says which one this is, and its direction.
 *
 * A function of IR takes machine, native, first slot, first array, number of its frame, counts, then for each parameter
 *     a scalar that is read: the value; another: the address of a copy, and with checks of the largest magnitude it held
 *     an array: data, lengths, strides in bytes, its home and where it begins there (vm/native/native.h), and with checks
 *         the address of its largest magnitude or NULL
 * and returns not 0 where it took a side exit (native.h). Standalone, machine, native, counts and
 * the first array are NULL and 0, in place of the first slot stands the address below which the C stack is not to be used,
 * and what it returns is the number of an end (standalone.c).
 */
#ifndef RVM_JIT_EMIT_H
#define RVM_JIT_EMIT_H

#include "unit.h"

enum rvm__pass { PASS_WHOLE, PASS_FIRST, PASS_UNDO, PASS_AGAIN, PASS_LAST }; /* how a compute part is run */

typedef struct rvm__context {
    struct rvm__context *parent;
    uint32_t compute; /* the region's; of the whole function 0 */
    enum rvm__pass pass;
    int dir;
    unsigned depth;             /* compute parts around that no trail tracks */
    bool tracked;               /* this one: something in it uses the trail */
    bool restoring, inside;     /* as of a specialisation: in a compute part, where it goes down */
    LLVMBasicBlockRef *landing; /* by pc: where a jump lands past that instruction */
    LLVMBasicBlockRef *passing; /* by pc, of loops of which trips are passed over: at one end where each begins, at the other
                                   where it ends; or NULL */
    LLVMBasicBlockRef *start;   /* by pc of a block that goes in lanes: where its next instance begins; or NULL */
    struct rvm__context *whole; /* of a loop of many trips, which goes in strips here: where all around it is; else NULL */
    uint32_t strips;            /* its lower end */
    /* Where the code was entered by on-stack replacement (osr.c): the gap (vm/native/native.h) where this part of
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

typedef struct rvm__array_ir { /* allocas */
    LLVMValueRef data, magnitude, dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS], base, present;
    LLVMValueRef home, offset; /* home: 0 where data is an address that the machine can use, else as in vm/native/native.h */
    LLVMValueRef memory;       /* of a local one that need not be in the arena: header and elements; else NULL */
    LLVMValueRef own;          /* it is there, and not a view */
    LLVMValueRef row;          /* of a view that is copied (pack.c): where few elements stand; or NULL */
    bool few;                  /* but not if it has more elements than RVM__FEW, which is known when it appears */
    uint64_t bytes;            /* of that */
    LLVMValueRef largest;      /* of what its elements became that is not in memory yet (magnitudes.c); or NULL */
    uint16_t root;             /* what it is part of: an array, RVM__NO_BASE, RVM__SEVERAL_BASES */
    LLVMValueRef header;       /* vectorised, of a local one: its largest magnitude, which stands apart; or NULL */
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
    LLVMValueRef window[3];       /* exact.c: allocas, or NULL; enum rvm__window */
    LLVMValueRef surroundings[2]; /* exact.c: what regions say of those that record, and of those that restore; or NULL */
    LLVMValueRef home;            /* alloca of registers, then of their largest magnitudes; or NULL */
    uint8_t *homed;               /* by register: enum rvm__homed; NULL: none */
    LLVMValueRef *reg, *held;     /* by slot of the frame; held: largest magnitudes, or NULL */
    rvm__array_ir *array;
    LLVMValueRef lanes; /* alloca of moves.c, or NULL */
    LLVMBasicBlockRef entry, exits, done;
    LLVMValueRef site; /* alloca: which of these is taken */
    rvm__native_site *sites;
    uint32_t nsites, cap_sites;
    LLVMBasicBlockRef *joins; /* exits.c: where neighbours come together, in their order */
    uint32_t njoins, cap_joins;
} rvm__frame_ir;

/* Where lowering stands, and what is still to be walked. */
typedef struct rvm__control {
    uint32_t pc; /* being walked */
    rvm__context *context, *contexts;
    rvm__pending *pending;
    uint32_t npending, cap_pending;
    uint32_t emitted;         /* instructions in all */
    uint8_t *elided;          /* by pc of compute: enum rvm__elision */
    rvm__strip *strips;       /* by pc of the lower end */
    rvm__discarding *covered; /* by pc */
    uint8_t *tracked;         /* by pc, of segments: the machine tracks it */
    uint8_t *within;          /* by pc: how many segments are around */
    uint8_t *untracked;       /* between pc - 1 and pc: how many segments around are not tracked */
} rvm__control;

/* What is counted. */
typedef struct rvm__accounting {
    LLVMValueRef counts; /* where its caller has them; NULL: the machine */
    LLVMValueRef exact;  /* alloca: updates recorded, which the machine gets where the function is left; or NULL */
    LLVMValueRef charged, calls, below, erased[RVM__ERASED]; /* allocas; below: frames below this one at most */
    uint32_t walked;                                         /* instructions since the last charge */
    uint32_t ahead; /* 0, or the end by which a loop is entered whose trips are charged already: in its body */
    uint64_t erasing[RVM__ERASED]; /* there: bits that this trip erased, which are not counted yet */
    bool settled;                  /* it may take a side exit: trips behind it may not count for it */
    LLVMValueRef *before;          /* by pc of compute: alloca, what its first run charged */
    /* With a profile (tally.c): */
    LLVMValueRef tallies;         /* of the path that the function runs on */
    struct rvm__counted *counted; /* stretches */
    uint32_t first;               /* where what is walked and not charged begins, */
    int way;                      /* and in which direction it goes */
} rvm__accounting;

/* Of parallel blocks: as a function that runs instances, and around such. */
typedef struct rvm__block_ir {
    uint32_t chunk;                 /* 0, or where the block is entered of which this runs instances of one chunk: */
    LLVMValueRef last, sums;        /* the last of them; where totals go */
    const struct rvm__plan *plan;   /* chunk.c */
    uint32_t ends;                  /* of an instance: the end of the block, where it ends; else 0 */
    uint8_t *conflicts;             /* by array, of what is vectorised: instances may add to the same element; or NULL */
    uint64_t passed;                /* of what is called there: parameters that are such arrays, or elements of such: */
    LLVMValueRef *added;            /* by register: the element that it is, or NULL; or NULL */
    LLVMValueRef *instances[2];     /* by pc of a block's end: that function, or NULL; or NULL; of nested ones, too */
    LLVMValueRef *asides;           /* by pc of a block's lower end: memory of aside.c, or NULL; or NULL */
    LLVMValueRef *opened;           /* likewise: whether single instances have sums of their own now */
    struct rvm__first_block *first; /* by parameter (fresh.c), or NULL */
    LLVMValueRef *asked;            /* by that pc: a local that says what is known of the order of sums, or NULL; or NULL */
    struct rvm__turned *turned, *between; /* loop_reversal.c */
    struct rvm__guarding *guards;         /* guard.c: blocks that enforce roles natively */
    LLVMBasicBlockRef unclean;            /* inspector.c, while it is emitted: where side exits lead; else NULL */
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
    bool restoring, inside;
    bool apart, whole;
    bool vectorised; /* an instance, or what it calls: see instance.c; */
    bool nested;     /* blocks within it are run by several threads: see nested.c */
    uint64_t guarded;
    uint16_t discards;
    bool fresh;
    rvm__frame_ir frame;
    rvm__control control;
    rvm__accounting count;
    rvm__block_ir block;
} rvm__emit;
enum rvm__homed { RVM__HOMELESS, RVM__HOMED, RVM__HOMED_FIXED /* and it never held more than it holds */ };
enum { RVM__NO_BASE = 0xffff, RVM__SEVERAL_BASES = 0xfffe };
enum { RVM__FEW = 32 };
enum { RVM__COUNTS_PARAM = 5, RVM__FIXED_PARAMS }; /* of a function of IR, before those of the program */
enum {
    RVM__COUNTS = 3 + RVM__ERASED, /* i64 that calls pass on: charged, calls, frames below the callee's at most, erased */
    RVM__TALLIES_AT = RVM__COUNTS  /* with a profile, one more: the callee's tallies */
};
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
/* A call of a function of vm/native/native.c, by name. */
LLVMValueRef rvm__call_runtime(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, const LLVMValueRef *args);
/* The same, of one that is seldom called: values around it stay in registers. */
LLVMValueRef rvm__call_seldom(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args);
/* The same at a safepoint: values in vector registers are the caller's to keep. */
LLVMValueRef rvm__call_to_poll(rvm__emit *e, const char *name, LLVMTypeRef result, unsigned n, LLVMValueRef *args);

/* ---- ir.c ---- */
LLVMBasicBlockRef rvm__block(rvm__emit *e, const char *name); /* a new one at the end of the function */
void rvm__at(rvm__emit *e, LLVMBasicBlockRef b);
LLVMValueRef rvm__local(rvm__emit *e, LLVMTypeRef t, const char *name); /* an alloca */
LLVMValueRef rvm__get(rvm__emit *e, LLVMTypeRef t, LLVMValueRef address);
void rvm__put_at(rvm__emit *e, LLVMValueRef value, LLVMValueRef address);
/* Kinds of memory, of which none overlaps another; what no kind is said of may be any. */
enum rvm__memory { RVM__ELEMENTS, RVM__MAGNITUDES, RVM__TRAIL_STATE, RVM__TRAIL_CELLS };
LLVMValueRef rvm__get_from(rvm__emit *e, enum rvm__memory kind, LLVMTypeRef t, LLVMValueRef address);
void rvm__put_into(rvm__emit *e, enum rvm__memory kind, LLVMValueRef value, LLVMValueRef address);
LLVMValueRef rvm__member(rvm__emit *e, LLVMValueRef address, size_t offset); /* address + offset bytes */
LLVMValueRef rvm__absolute(rvm__emit *e, LLVMValueRef x);
typedef struct rvm__each { /* a loop for i in 0..n; what is built between its ends is its body */
    LLVMValueRef at, i;
    LLVMBasicBlockRef head, out;
} rvm__each;
rvm__each rvm__each_begin(rvm__emit *e, LLVMValueRef n);
void rvm__each_end(rvm__emit *e, const rvm__each *l);
void rvm__unlikely(rvm__emit *e, LLVMValueRef branch); /* which is a conditional one: its first way */

/* ---- values.c ---- */
LLVMValueRef rvm__slot_value(rvm__emit *e, uint16_t slot);          /* value of an i64 register or constant */
LLVMValueRef rvm__slot_constant(const rvm__emit *e, uint16_t slot); /* of any type */
void rvm__set_slot(rvm__emit *e, uint16_t slot, LLVMValueRef v);
LLVMValueRef rvm__nothing(const rvm__emit *e, LLVMTypeRef t); /* value of what is not there */
void rvm__gone(rvm__emit *e, uint16_t slot);                  /* the register disappears */
LLVMValueRef rvm__dimension(rvm__emit *e, uint16_t array, int d);
LLVMValueRef rvm__elements(rvm__emit *e, uint16_t array); /* how many it has */
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

/* ---- moves.c ---- */
/* The address, lengths and strides of an array, as an rvm__array at that address. */
void rvm__describe_array(rvm__emit *e, uint16_t array, LLVMValueRef to);

/* ---- magnitudes.c ---- */
void rvm__make_magnitudes(rvm__emit *e); /* of the frame's arrays */
/* The largest magnitude of a place follows its new value. fresh: it starts anew. */
void rvm__track_held(rvm__emit *e, const rvm_place *q, LLVMValueRef v, bool fresh);
/* Its address, or NULL; of an array, there what was gathered must have been joined. */
LLVMValueRef rvm__magnitude(rvm__emit *e, const rvm_place *q);
void rvm__join_magnitude(rvm__emit *e, uint16_t array);
void rvm__join_magnitudes_of(rvm__emit *e, const rvm_place *q); /* of all that is part of what that array is part of */
void rvm__join_magnitudes(rvm__emit *e);
void rvm__join_parameters(rvm__emit *e);
void rvm__forget_magnitude(rvm__emit *e, uint16_t array);

/* ---- frame.c ---- */
bool rvm__frame_begin(rvm__emit *e); /* false: noted */
void rvm__take_parameters(rvm__emit *e);
void rvm__know_lengths(rvm__emit *e); /* lengths of parameters are what they are known to be */
void rvm__frame_end(rvm__emit *e);
bool rvm__frame_make(rvm__emit *e);  /* the first part of the beginning: blocks and allocas; false: noted */
void rvm__frame_close(rvm__emit *e); /* the last part of the end: e->frame.done has returned */

/* ---- exact.c ---- */
void rvm__exact_begin(rvm__emit *e); /* fills e->frame.surroundings */
/* Where values are kept whole (vm/trail/exact_run.c), in allocas. Taken from the machine where the function begins and
 * behind what may change it there, given before that, and where the function is left. */
enum rvm__window { RVM__WINDOW_TOP, RVM__WINDOW_BOTTOM, RVM__WINDOW_END, RVM__WINDOWS };
void rvm__window_make(rvm__emit *e);
void rvm__window_take(rvm__emit *e);
void rvm__window_give(rvm__emit *e);
/* recorded.c: whether updates of reals are among the instructions between, and in what they call. */
bool rvm__records(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to);
bool rvm__releases_shadows(const rvm__unit *u); /* shadows of which nothing is recorded, within a tolerance */

/* ---- home.c ---- */
/* Of a function that is emitted: finds registers that have a home, fills e->frame.home and e->frame.homed. */
void rvm__make_homes(rvm__emit *e);
void rvm__keep_counts(rvm__emit *e); /* once all is emitted: of a large function, in memory */

/* ---- counts.c ---- */
void rvm__begin_counts(rvm__emit *e); /* at both ends of a function */
void rvm__end_counts(rvm__emit *e);
/* One more: memory for what it counts, which is here behind it. tallies: of the callee, with a profile; else NULL. */
LLVMValueRef rvm__counts_for_call(rvm__emit *e, LLVMValueRef tallies);
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

/* ---- tally.c, with a profile only ---- */
/* What is walked and not charged, and `extra`, of which there is one at most: the instruction being walked, is counted where
 * control may part. */
void rvm__tally_charge(rvm__emit *e, uint32_t extra);
void rvm__tally_exit(rvm__emit *e, uint32_t uncharged); /* in a side exit: so much of what is walked */
void rvm__tally_exit_path(rvm__emit *e);                /* the frame that is written is on this path */
void rvm__tally_end(rvm__emit *e);                      /* where the function ends, what was counted goes to its path */
/* Whether the instruction is a call of one function, whose link stands behind the tallies; the address of a member of it. */
bool rvm__tally_has_link(const rvm__emit *e, uint32_t pc);
LLVMValueRef rvm__tally_link(rvm__emit *e, uint32_t pc, size_t member);

/* ---- contexts.c ---- */
/* A copy of a compute part, or of the whole function, walked in that direction; NULL: out of memory, noted. */
rvm__context *rvm__context_in(rvm__emit *e, rvm__context *parent, uint32_t compute, enum rvm__pass pass, int dir);
rvm__context *rvm__context_copy(rvm__emit *e, const rvm__context *c); /* the same, with code of its own; NULL: noted */
LLVMBasicBlockRef rvm__landing_of(rvm__emit *e, rvm__context *c, uint32_t pc); /* where a jump lands past that instruction */
/* A stretch from instruction pc on is to begin there. */
void rvm__walk_later(rvm__emit *e, LLVMBasicBlockRef block, uint32_t pc, rvm__context *c);
void rvm__walked(rvm__emit *e); /* the instruction being walked, which is to be charged */
/* What was walked since the last charge, and `extra`. */
void rvm__charge(rvm__emit *e, uint32_t extra);
/* Before instruction pc of the context. */
void rvm__emit_safepoint(rvm__emit *e, uint32_t pc);
/* Before an instance of a block that goes in lanes, which is entered by its end at pc. */
void rvm__safepoint_of_block(rvm__emit *e, uint32_t pc);
/* Control passes to where a jump lands past pc; back: in a loop, where it polls first. */
void rvm__jump(rvm__emit *e, rvm__context *c, uint32_t pc, bool back);

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

/* ---- function.c ---- */
void rvm__emit_function(rvm__unit *u, const rvm__specialisation *v);

/* ---- osr.c ---- */
/* Registers and arrays have what the machine's frame has, and control goes to e->at. */
void rvm__osr_entry(rvm__emit *e);

/* ---- standalone.c ---- */
/* Whether it does itself what a machine would: but for instances of lanes, which call what rvm__build_no_machine adds. */
static inline bool rvm__is_standalone(const rvm__emit *e) {
    return e->u->w->standalone && !e->vectorised;
}
void rvm__standalone_exit(rvm__emit *e);                      /* the block of its side exits */
void rvm__standalone_depth(rvm__emit *e, LLVMValueRef frame); /* a side exit where the callee's frame would be too deep */
/* As rvm__native_new and rvm__native_del do. */
LLVMValueRef rvm__standalone_memory(rvm__emit *e, LLVMValueRef n); /* of n elements; to be freed */
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

#endif

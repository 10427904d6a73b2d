/* machine.h: inside the machine. Not installed.
 *
 *   prepare.c     verified instructions -> rvm__xinsn, once a function: handlers chosen, operands resolved to frame slots
 *   ..._handlers.c   the handlers, by level; interp.inc   their tables, and control, for a mode: run_primal.c,
 * run_gradient.c, run_tangent.c, run_unsweep.c frames.c      calls, arrays, views: what handlers do out of line blocks.c
 * what the instances of a parallel block add together; guard.c: that they share nothing else trail.c, moves.c, trail_off.c
 * what is overwritten: its stacks, what moves there, what need not be kept machine.c, run.c, inspect.c   the interface of
 * rvm.h; move.c: what moves a run; bind.c: its arguments restore.c  whether what came back is what went in; rerun.c: where
 * that takes one more run native.c   entered and left by native code, in the interpreter's place; team.c: in threads
 *   c_stack.c  what is left of the thread's stack for native code
 *   exact_run.c   what rounding loses, in runs that restore every bit
 *   rule_frames.c   derivatives that are written by hand, in the place of calls
 *   checks.c   whether what is released agrees; locals.c: which arrays need their largest magnitude for that
 *   args.c, cells.c, overlap.c   arguments: made, their elements, whether two overlap; fresh.c: whose contents are not read
 *   memory.c   what all allocate by
 *   hessian.c  the sweep that carries a Hessian, on symmetric.c; corners.c: points without a derivative
 *   growth.c   which update makes a residue grow
 *   debug/     stops, positions and where to run, keyframes: rvm_debug.h
 *   explain.c  the message of a failure, from the machine standing on the failed instruction
 *
 * A frame in memory, with its shadow in a parallel array:
 *     | registers | constants | hidden: loop ends, region bits, partial sums of parallel blocks |
 *
 * Between instructions, pc is the next instruction in the direction `dir` of the innermost frame. Turning a run around is
 * therefore dir = -dir, pc += dir. `course` says which way the run as a whole goes: 1 to the end, -1 to the start.
 */
#ifndef RVM_MACHINE_H
#define RVM_MACHINE_H

#include "activity.h"
#include "answers.h"
#include "exact.h"
#include "program.h"
#include "maths.h"
#include "rvm.h"
#include "summed.h"
#include "swept.h"
#include "trail.h"

/* ---- prepared code ---- */

enum rvm__xkind { XSLOT, XELEM1, XELEM2, XELEM }; /* XELEM: place i + (j << 16) of the function's pool */
typedef struct rvm__xplace {
    uint16_t slot, i, j, kind;
} rvm__xplace;

enum rvm__xflag {
    X_ALIAS = 1,  /* compare target and operands when it runs */
    X_TRACK = 2,  /* keep the largest magnitude of the target */
    X_CONV = 4,   /* a conversion between real types: shadows convert too */
    X_DOMAIN = 8, /* operands are looked at: of i64 the second must not be 0, of reals the first positive and finite */
    X_FRESH = 16, /* let or unlet: magnitudes start anew */
    X_UNCHECKED = 32,
    X_OF_SHADOWS = 64, /* of an update or a change in place in exact runs, of an adjoint: arithmetic of shadows */
    X_BORROWS = 64,    /* ends of a region: a sweep down over it runs the compute part as an adjoint from the start */
    X_BORROWS_UP = 16, /* likewise one up over it (activity.h) */
    X_OTHERWISE = 128, /* in exact runs, of an adjoint: it restores where the code around records, and the other way round */
    /* par and endpar, which have none of the above but X_UNCHECKED */
    /* of a call */
    X_BY_VALUE = 2, /* through a function value */
    /* of compute */
    X_FORGETS = 1,  /* a plain run discards what it made; to.i: levels of the trail that keep nothing */
    X_REVERSED = 1, /* from the last instance to the first */
    X_GUARD = 2,    /* roles of elements are enforced (guard.c) */
};

typedef struct rvm__xinsn {
    uint16_t handler; /* see handlers.h; + RVM__PLAIN where the shadows have no part in it */
    uint8_t flags;
    uint8_t arity : 7; /* operands of an update */
    bool touches : 1;  /* elements of arrays, other than through what it calls */
    uint8_t active;    /* bit k: place k (target 0) has a shadow */
    uint8_t type;      /* of the target */
    uint16_t kernel;   /* of an update */
    union {
        rvm__xplace p[4];
        struct {
            uint16_t i, lo, hi, step, last, c, hidden; /* of par: c arrays are summed, the first is step + (last << 16) */
            uint16_t shared;                           /* of par: how many registers its instances add into */
            /* do and undo of a region that forgets: lo + (hi << 16), in rvm__code.made: what it makes */
            int32_t jump;  /* bytes from here to the paired instruction; of undo, to its do; of do, to its compute */
            int32_t jump2; /* of compute and do, to the undo; of undo, to its compute; of par, the first of its shared */
        } to;              /* jumps, loops, regions, blocks */
        struct {
            rvm__xplace p[3];
            uint32_t site; /* in this machine; not so for three operands (rvm__set_site) */
        } set;
        struct {
            uint32_t site;
            uint16_t level, appear;
        } trail; /* drop, recall, segment; their places are looked up */
    };
} rvm__xinsn;
_Static_assert(sizeof(rvm__xinsn) == 40, "one instruction, one stride");

/* A register that the instances of a parallel block add into, its shadow, or both (blocks.c). */
enum rvm__sharing {
    SHARED_VALUE = 1,
    SHARED_SWEEP = 2, /* its shadow in that mode */
    SHARED_TANGENT = 4,
    SHARED_SHADOW = SHARED_SWEEP | SHARED_TANGENT,
    SHARED_EXACTLY = 8, /* what is added is recorded, */
    SHARED_SWEPT = 16   /* as arithmetic of shadows */
};
typedef struct rvm__shared {
    uint16_t slot;
    uint8_t type, how;
} rvm__shared;

/* An array that they add into chunk by chunk (aside.c); or its shadow. */
typedef struct rvm__summing {
    rvm__summed of;
    uint8_t how; /* rvm__sharing */
} rvm__summing;

typedef struct rvm__code {
    rvm__xinsn *x;
    bool ready;     /* as all that it may come to run is */
    uint32_t slots; /* of a frame: registers, constants, hidden */
    rvm__shared *shared;
    size_t cap_shared;
    rvm__summing *summed;
    size_t cap_summed;
    const rvm_rule *rules[2]; /* of shadowed modes: what is run in its place with tangents, and in a sweep; NULL: its code */
    bool lacks_rule[2];       /* it has one, which does not serve what is active */
    uint16_t *made;           /* by region that forgets: how many registers and arrays, then these */
    size_t nmade, cap_made;
} rvm__code;

/* Bits of a region that runs, in its hidden slot (interp/control.inc): its compute part runs once more; a sweep goes on
 * outside of it; the surroundings restore every bit, but for the course of the run; what it made is to be forgotten. */
enum { RVM__REGION_AGAIN = 1, RVM__REGION_SWEEPS = 2, RVM__REGION_RESTORES = 4, RVM__REGION_FORGETS = 8 };
enum { RVM__REGION_BORROWING = 16 }; /* times rvm__borrowing of the part around */

/* ---- frames and arrays ---- */

typedef struct rvm__array {
    char *data, *shadow; /* shadow NULL: none */
    double *magnitude;   /* largest held, of a local f64 or f32 array in checked runs; else NULL */
    int64_t dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS], shadow_stride[RVM_MAX_DIMS]; /* strides in bytes */
    uint16_t ndim, base; /* base: the array of this frame that a view is part of; itself otherwise */
    uint8_t type;
    bool present;
    bool outside; /* a local one that stands in rvm__storage.outside rather than in the arena (native.h) */
} rvm__array;

typedef struct rvm__frame {
    uint32_t fn, call_pc; /* call_pc: of the call in the caller */
    size_t slots, arrays; /* first of its own */
    bool against;         /* runs against its caller's direction (uncall) */
    bool looks;           /* the interpreter polls soon when it has returned */
    bool by_rule;  /* of a derivative that is written by hand, in the place of a call or of the entry (rule_frames.c) */
    bool resumes;  /* of what a rule stood for, in an exact run: its caller's shadows go on when it has returned */
    bool restores; /* of a rule's: exact.restoring of its caller */
    uint32_t path; /* in a profile */
} rvm__frame;

/* The last function value that a variant was called with, and its function. */
typedef struct rvm__inline_cache {
    int64_t value;
    uint32_t callee;
    bool any;
} rvm__inline_cache;

typedef struct rvm__guard rvm__guard;            /* guard.c: of a parallel block that runs */
enum { RVM__MARK_BITS = 2, RVM__MARK_RUN = 48 }; /* of a mark of guard.c: where the instance begins, and the run */

/* What rounding lost, in runs that restore every bit (exact.h). */
typedef struct rvm__exact_run {
    bool restoring; /* the instructions that run take back what was recorded */
    /* Whose stack the next step is on: that of the program's values, or that of the arithmetic of shadows in adjoints, which
     * goes on while the other is taken back; where only values are recorded, it has none. Or that of shadows that sweeps set
     * aside. */
    enum { RVM__OF_VALUES, RVM__OF_SHADOWS, RVM__OF_BORROWED, RVM__EXACT_LEVELS } level;
    unsigned levels; /* that the prepared code uses, but for that of shadows that are set aside */
    bool values_only;
    enum rvm__borrowing borrowing; /* of the sweep that is on */
    rvm__bits *bits;               /* by depth of compute parts, at each by level */
    size_t nbits;
    uint64_t updates, recorded, held, peak; /* updates and bits recorded since the statistics began; bits held */
    /* While native code runs, at the present depth, if values are kept whole there (exact_run.c): where the next one goes,
     * the first, and behind the last that fits; else NULL. coded: the depth's count, where there are any, or NULL. */
    bool native;
    double *top, *bottom, *end;
    uint64_t *coded;
} rvm__exact_run;

typedef struct rvm__cell { /* of the stack */
    rvm_value value, shadow;
    uint8_t type, index; /* index: in its entry (trail.h), of a cell that is not the value */
    uint16_t extra;      /* cells of the entry below this one, the value */
} rvm__cell;

/* Local arrays: bytes of the cache's lines, and those before the elements of an array: its largest magnitude. Elements begin
 * where a line does, so that vectors that fill lines do not lie across two. */
enum { RVM__LINE = 64, RVM__ARRAY_HEADER = 16 };
typedef struct rvm__chunk {
    struct rvm__chunk *below, *above;
    size_t size, used;
    char *bytes; /* behind it: RVM__ARRAY_HEADER before the end of a line */
} rvm__chunk;

/* What is kept for the next time, most of it by preparing code (memory.h). */
enum rvm__scratch {
    SCRATCH_LOCAL,
    SCRATCH_FROM,
    SCRATCH_REACHED,
    SCRATCH_REACH,
    SCRATCH_MODIFIED,
    SCRATCH_BORROW,
    SCRATCH_BLOCK,
    SCRATCH_MADE,
    SCRATCH_SIZES,  /* of sums, rerun.c */
    SCRATCH_SUMS,   /* of a chunk that is taken back, blocks.c */
    SCRATCH_LANES,  /* what a group of lanes has replaced, native/lane_log.c; */
    SCRATCH_LATER,  /* and what it is to add, */
    SCRATCH_TOTALS, /* to which elements (lane_sums.c) */
    RVM__SCRATCHES
};

enum rvm__where { AT_START, INSIDE, AT_END, UNBOUND };

/* Of parallel blocks: instances of a chunk, partial sums of a register there (docs/semantics.md, section 9). */
enum { RVM__CHUNK = 256, RVM__PARTS = 8 };

/* The bound call: what it was bound with, and what going back is compared with (bind.c, restore.h). */
typedef struct rvm__binding {
    rvm_arg *args;
    uint32_t nargs, entry;
    bool before;        /* it is of the same function and arrays as the one before, which stand there */
    bool adds_together; /* elements of an argument that is added into coincide: instances run one by one */
    uint64_t shapes;    /* changes with them */
    uint32_t checked;   /* 1 + the function whose arguments, in primal mode, stand in the arrays of the entry frame; or 0 */
    rvm_mode mode;
    rvm__activity activity;      /* in one block; `at` NULL: none yet */
    uint8_t wrt[RVM_MAX_PARAMS]; /* activity of the entry's parameters that shadow_codes were prepared for */
    uint32_t wrt_fn;
    bool compares;           /* what went in was kept: what comes back is compared with it */
    bool compared_elsewhere; /* primal runs are part of a derivative, which compares (derived.c) */
    rvm_value *inputs;
    size_t cap_inputs;
    uint32_t asked;             /* 1 + the function that gradient_of and is_value tell of */
    int64_t gradient_of;        /* it is f'grad of that f, and ends as it began: the parameters that are values do; or -1 */
    struct rvm_machine *beside; /* runs f once more, to learn how large its sums become; NULL: not yet */
    uint8_t is_value[RVM_MAX_PARAMS];
    uint64_t number;            /* of the bind, in this machine */
    uint8_t unwritten;          /* of fresh arguments, values, shadows: what they count as (fresh.h) */
    uint8_t fresh_parts;        /* the same when it was bound */
    bool fresh[RVM_MAX_PARAMS]; /* of those that `checked` tells of */
} rvm__binding;

/* What the interpreter has at hand of the innermost frame, beside the slots; set where it is entered (interp/control.inc).
 */
typedef struct rvm__at_frame {
    rvm_value *shadows;
    rvm__array *arrays;
    double *held;            /* largest magnitudes of registers, if any are kept */
    const rvm_place *places; /* of the function */
    const rvm__xinsn *base;  /* with a profile: where the present stretch of straight code began */
    /* The state that handlers pass on, for those that call (interp/step.h); credit only between handlers that return. */
    rvm_value *slots;
    ptrdiff_t step;
    const struct rvm__table *table;
    int64_t credit;
} rvm__at_frame;

/* Where the run stands, and what ends it (move.c, machine.c). */
typedef struct rvm__progress {
    enum rvm__where where;
    int course, dir;
    bool sweeping;                /* the innermost frame runs adjoints (not so while a sweep computes a region again) */
    uint32_t by_rule;             /* frames up to that of a derivative written by hand, which runs plainly; 0: none */
    bool sweep_begun, sweep_left; /* since bind; left: plainly back to the start from within it */
    rvm_status (*sweep)(struct rvm_machine *m); /* runs sweeps in place of rvm__run_gradient; NULL: nothing does */
    bool began_at_start;
    int one_way; /* a side exit of native code that left out what going back takes back: the course; else 0 */
    bool running;
    uint64_t steps;           /* stop after so many instructions; 0: not for that */
    uint64_t far;             /* end, as by fuel, at the first poll after so many; 0: not for that */
    bool watching;            /* what run.stops watches is looked at between instructions */
    struct rvm__stops *stops; /* of the present run (stops.h); NULL: none */
    int64_t at[2];            /* positions (rvm_debug.h), of the run and of the sweep */
    bool went_back;           /* at any time since it was bound: bits may be others than on a way straight here */
    rvm__xinsn *pc;
    rvm__at_frame frame;         /* while the interpreter runs */
    int64_t budget;              /* bytes of prepared code that may still run before the next poll */
    uint64_t slice;              /* instructions granted with the present budget */
    uint64_t counted;            /* instructions of the present run, slices before the present one */
    uint64_t reported;           /* of them, that the caller's progress function knows of */
    int *cancelled;              /* atomic: `cancel` of the machine that is asked, where this one runs for it */
    double whole;                /* with a progress function: instructions that the run takes, estimated; 0: unknown */
    double share, *shown;        /* how far the run is, or -1; shown: as with cancelled */
    bool (*overtaken)(void *by); /* asked at polls: true ends the run as FUEL does; NULL: not asked */
    void *overtaker;
} rvm__progress;

/* Frames, local arrays, the stack, the trail; what is kept for the next time. */
typedef struct rvm__storage {
    rvm_value *slots, *shadows;
    double *magnitudes;
    size_t cap_slots, cap_shadows, cap_magnitudes;
    rvm__array *arrays;
    size_t cap_arrays;
    rvm__frame *frames;
    uint32_t nframes, cap_frames;
    rvm__inline_cache *inline_caches; /* by variant */
    rvm__cell *stack;
    uint32_t nstack, cap_stack;
    uint64_t stack_lost;        /* values that runs left there, before the present one, since the statistics began */
    uint16_t (*pops)[2];        /* by function, found once (trail_off.c); NULL: not yet */
    struct rvm__asides *asides; /* of the blocks that run (aside.h); NULL: there was none yet */
    rvm__guard *guards;
    uint32_t nguards; /* of the blocks that run, the innermost last */
    size_t cap_guards;
    rvm__chunk *arena;
    size_t arena_used;
    char *outside; /* local arrays that native code kept elsewhere, at a side exit */
    size_t cap_outside, outside_used;
    uint32_t outside_arrays; /* that stand there now */
    void *scratch[RVM__SCRATCHES];
    size_t cap_scratch[RVM__SCRATCHES];
    void *kept[RVM__KEEPS];
    size_t cap_kept[RVM__KEEPS];
} rvm__storage;

/* Native code in the interpreter's place, in threads (native.h, team.c). */
typedef struct rvm__natively {
    struct rvm__engine *engine; /* may run a bound call; borrowed, NULL: none */
    struct rvm__native *native; /* what goes along with native code that runs now; NULL: none, or it is not to be ended */
    bool inside_native;         /* a poll from native code: the frames are not those of the run */
    rvm_status adrift;          /* native code was ended where it can go neither on nor back: with this status */
    uintptr_t c_floor;          /* below that address of the C stack native code calls nothing that recurses */
    size_t c_frames;            /* bytes that it takes there at most, but for recursion */
    uint32_t threads;           /* in which native code may run parallel blocks; 0: where it was called */
    const struct rvm__runner *runner; /* of chunks of parallel blocks (native.h); NULL: none */
    void *running;                    /* what it has for that; NULL: nothing yet */
    void *device;                     /* where blocks may run as kernels (cuda/); NULL: there is none */
    uint8_t device_code;              /* rvm__device_code (native.h): what kernels are, there */
    uint64_t
        device_least; /* 0: all blocks are handed to the runner; else those with so many instructions, since most run here */
    uint64_t there;   /* blocks that ran on the device, other than within one */
    uint8_t outside[RVM_MAX_PARAMS]; /* of the function outside_of - 1, as isa/analysis/outside.h has it */
    uint32_t outside_of;
    struct rvm__worker *worker; /* of a machine that it works with, the worker; else NULL */
    const rvm__xinsn *gate;     /* such a machine stops before this end of a block, in frame gate_frames - 1 */
    uint32_t gate_frames;
} rvm__natively;

typedef struct rvm__profile rvm__profile;
struct rvm_machine {
    const rvm_program *p;
    rvm_options o;              /* o.math is LIBM or SLEEF */
    const rvm__kernel *kernels; /* those of */
    const rvm__math *math;      /* the set that it names */
    rvm_allocator al;
    size_t memory;                                  /* allocated now */
    rvm__code *codes, *primal_codes, *shadow_codes; /* codes: the set that the bound mode uses */
    rvm__binding bound;
    rvm__progress run;
    int cancel; /* atomic, by any thread: not of `run`, which is copied and put back */
    rvm__storage store;
    rvm__trail trail;
    rvm__exact_run exact;
    rvm__swept swept; /* in exact runs, of prepared code */
    rvm__natively jit;
    struct rvm__hessian *hessian; /* carried by the sweep (hessian.h); NULL: none */
    struct rvm__derived *derived; /* derivatives as programs, the latest first (derived.h) */
    rvm_stats stats;
    double residue_floor;
    rvm__profile *profile; /* what has run (profile.h); NULL when not asked for */
    char detail[256];      /* of a failure found out of line, */
    uint32_t detail_place; /* and the place of the instruction that it is about */
};

/* How deep the program's own level is: what exact runs record stands on a stack for each depth, as its slots do. */
static inline size_t rvm__exact_depth(const rvm_machine *m) {
    return (size_t)m->trail.deep + m->trail.segments[0];
}

/* Whether the innermost frame runs with tangents, or adjoints. */
static inline bool rvm__is_shadowed(const rvm_machine *m) {
    return m->bound.mode == RVM_TANGENT ? !m->run.by_rule : m->run.sweeping;
}
/* The derivative by hand that shadowed modes run in place of that code; NULL: none. */
static inline const rvm_rule *rvm__rule_taken(const rvm_machine *m, const rvm__code *code) {
    return code->rules[m->bound.mode == RVM_GRADIENT];
}

/* Those of a frame, from number `arrays` on; a program without any has none to count from. */
static inline rvm__array *rvm__arrays_from(const rvm_machine *m, uint64_t arrays) {
    return m->store.arrays ? m->store.arrays + arrays : NULL;
}
#endif

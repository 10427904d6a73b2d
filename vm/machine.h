/* machine.h: inside the machine. Not installed.
 *
 *   prepare.c     verified instructions -> rvm__xinsn, once a function: handlers chosen, operands resolved to frame slots
 *   interp.inc    the handlers; instantiated by run_primal.c, run_gradient.c, run_tangent.c
 *   frames.c      calls, arrays, views: what handlers do out of line
 *   activity.c, borrow.c   which places have a shadow
 *   machine.c, run.c, inspect.c   the interface of rvm.h
 *   explain.c     the message of a failure, from the machine standing on the failed instruction
 *
 * A frame in memory, with its shadow in a parallel array:   | registers | constants | hidden: loop ends, region bits |
 *
 * Between instructions, pc is the next instruction in the direction `dir` of the innermost frame. Turning a run around is
 * therefore dir = -dir, pc += dir. `course` says which way the run as a whole goes: 1 to the end, -1 to the start.
 */
#ifndef RVM_MACHINE_H
#define RVM_MACHINE_H

#include "isa.h"
#include "kernels.h"
#include "rvm.h"

/* ---- prepared code ---- */

enum rvm__xkind { XSLOT, XELEM1, XELEM2, XELEM }; /* XELEM: place i + (j << 16) of the function's pool */
typedef struct rvm__xplace {
    uint16_t slot, i, j, kind;
} rvm__xplace;

enum rvm__xflag {
    X_ALIAS = 1,   /* compare target and operands when it runs */
    X_TRACK = 2,   /* keep the largest magnitude of the target */
    X_CONV = 4,    /* a conversion between real types: shadows convert too */
    X_NONZERO = 8, /* the second operand must not be 0 (idiv, irem) */
    X_FRESH = 16,  /* let or unlet: magnitudes start anew */
    X_UNCHECKED = 32,
    X_BORROWS = 64, /* compute, undo: a sweep runs the compute part as an adjoint from the start (borrow.c) */
};

typedef struct rvm__xinsn {
    uint16_t handler; /* see handlers.h; + RVM__PLAIN where the shadows have no part in it */
    uint8_t flags;
    uint8_t arity;   /* operands of an update */
    uint8_t active;  /* bit k: place k (target 0) has a shadow */
    uint8_t type;    /* of the target */
    uint16_t kernel; /* of an update */
    union {
        rvm__xplace p[4];
        struct {
            uint16_t i, lo, hi, step, last, c, hidden, pad;
            int32_t jump;  /* bytes from here to the paired instruction; of undo, to its do */
            int32_t jump2; /* of compute and do, to the undo; of undo, to its compute */
        } to;              /* jumps, loops, regions */
    };
} rvm__xinsn;
_Static_assert(sizeof(rvm__xinsn) == 40, "one instruction, one stride");

typedef struct rvm__code {
    rvm__xinsn *x;
    uint32_t slots; /* of a frame: registers, constants, hidden */
} rvm__code;

/* ---- frames and arrays ---- */

typedef struct rvm__array {
    char *data, *shadow; /* shadow NULL: none */
    double *magnitude;   /* largest held, of a local f64 array in checked runs; else NULL */
    int64_t dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS], shadow_stride[RVM_MAX_DIMS]; /* strides in bytes */
    uint16_t ndim, base; /* base: the array of this frame that a view is part of; itself otherwise */
    uint8_t type;
    bool present;
} rvm__array;

typedef struct rvm__frame {
    uint32_t fn, call_pc; /* call_pc: of the call in the caller */
    size_t slots, arrays; /* first of its own */
    bool against;         /* runs against its caller's direction (uncall) */
} rvm__frame;

typedef struct rvm__cell {
    rvm_value value, shadow;
    rvm_type type;
} rvm__cell;

typedef struct rvm__chunk {
    struct rvm__chunk *below, *above;
    size_t size, used;
    _Alignas(16) char bytes[];
} rvm__chunk;

/* What preparing code keeps for the next time (memory.h). */
enum rvm__scratch {
    SCRATCH_LOCAL,
    SCRATCH_FROM,
    SCRATCH_MODIFIED,
    SCRATCH_BASE,
    SCRATCH_BIRTHS,
    SCRATCH_OPEN,
    RVM__SCRATCHES
};

enum rvm__where { AT_START, INSIDE, AT_END, UNBOUND };

struct rvm_machine {
    const rvm_program *p;
    rvm_options o;
    rvm_allocator al;
    size_t memory;                                  /* allocated now */
    rvm__code *codes, *primal_codes, *shadow_codes; /* codes: the set that the bound mode uses */
    /* the bound call */
    rvm_arg *args;
    uint32_t nargs, entry;
    rvm_mode mode;
    /* where it stands */
    enum rvm__where where;
    int course, dir;
    bool sweeping;                    /* the innermost frame runs adjoints (not so while a sweep computes a region again) */
    bool sweep_begun, sweep_left;     /* since bind; left: plainly back to the start from within it */
    bool began_at_start, may_be_lost; /* bound at the start; a floating-point exception was raised since */
    bool single;                      /* stop after one instruction */
    rvm__xinsn *pc;
    int64_t budget;   /* bytes of prepared code that may still run before the next look around */
    uint64_t slice;   /* instructions granted with the present budget */
    uint64_t counted; /* instructions of the present run, slices before the present one */
    int cancel;       /* atomic */
    /* memory */
    rvm_value *slots, *shadows;
    double *magnitudes;
    size_t cap_slots, cap_shadows, cap_magnitudes;
    rvm__array *arrays;
    size_t cap_arrays;
    rvm__frame *frames;
    uint32_t nframes, cap_frames;
    rvm__cell *stack;
    uint32_t nstack, cap_stack;
    rvm__chunk *arena;
    size_t arena_used;
    void *scratch[RVM__SCRATCHES];
    size_t cap_scratch[RVM__SCRATCHES];
    /* activity: a byte for each slot or array of a function, at the function's offset */
    uint8_t *active_slots, *active_arrays;
    size_t *active_slot_at, *active_array_at;
    size_t nactive_slots, nactive_arrays;
    bool active_stack;
    uint8_t wrt[RVM_MAX_PARAMS]; /* activity of the entry's parameters that shadow_codes were prepared for */
    uint32_t wrt_fn;
    /* results */
    rvm_stats stats;
    double residue_floor;
    uint64_t *profile; /* by opcode; NULL when not asked for */
    char detail[256];  /* of a failure found out of line */
};
#endif

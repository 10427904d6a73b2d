/* native.h: between the machine and native code of its program (jit/). The machine knows no LLVM.
 *
 * Native code runs a bound call from one end to the other, in primal mode, with registers where it likes. Before an
 * instruction that it cannot carry out, because a check fails or because it was not lowered, it takes a side exit: it writes
 * its frames into the machine, the innermost first, as the interpreter would have them there, and the interpreter goes on
 * with that very instruction. So the interpreter alone decides what fails and says how, and the run can go on from there
 * either way.
 */
#ifndef RVM_NATIVE_H
#define RVM_NATIVE_H

#include "aside.h"
#include "machine.h"
#include "program.h"

/* What goes along with native code. Counts are in instructions. */
typedef struct rvm__native {
    int64_t charged, limit; /* since it was entered; the next poll comes when charged > limit */
    int64_t fuel;           /* charged when there is none left; at most INT64_MAX / 2 */
    uint64_t calls;
    uint64_t peak;                 /* of frames */
    uint64_t erased[RVM__ERASED];  /* bits, as rvm__trail has them */
    rvm_status status;             /* of a poll that ended the run */
    rvm_status lost;               /* of a block that could not be taken back: the next poll ends with it */
    uint64_t threads;              /* not 0: parallel blocks may run in threads, */
    uint64_t least;                /* and those that are kernels elsewhere, if they have so many instructions */
    uint64_t slots, arrays, frame; /* where the frame that is entered begins, and its number */
    uint64_t
        asked; /* of a chunk: what is known of its block's order of sums (jit/lower/groups.c), the same for all chunks */
    struct {
        uint64_t by;       /* number of the frame that tells its trips (jit/lower/share.c); UINT64_MAX: none */
        int64_t done, all; /* all is 0: not known */
    } swept;
} rvm__native;

/* The function of the innermost frame, entered in m->dir at its end there, its arguments in that frame; scalars are written
 * back there. Not 0: it took a side exit, and its frames stand in the machine. */
typedef int32_t (*rvm__native_entry)(rvm_machine *m, rvm__native *n);

/* Small local arrays need not stand in memory. At a side exit the function that made one writes its elements into
 * memory of the machine's, and what is part of it, there or in callees, has in place of an address where it begins, and in
 * `shadow` its home: the number of the frame and of the array there, so that it is found again. */
#define RVM__HOME(frame, array) ((uint64_t)(frame) << 17 | (uint64_t)(array) << 1 | 1)
#define RVM__HOME_FRAME(home)   ((home) >> 17)
#define RVM__HOME_ARRAY(home)   ((home) >> 1 & 0xffff)

/* A side exit. */
typedef struct rvm__native_site {
    uint32_t fn, pc;
    int8_t dir;
    uint8_t deeper;    /* compute parts around that no trail knows of yet */
    uint8_t calling;   /* in a call at pc, whose callee has been written */
    uint8_t against;   /* the callee runs against this function's direction */
    uint8_t restoring; /* in a run that restores every bit */
    uint8_t guards;    /* blocks around in that frame that enforce roles */
    uint16_t segments; /* around, the innermost of them, that no trail knows of yet */
} rvm__native_site;

/* What must be there before it may be entered: slots and arrays of its frames and those of all it calls but for recursion,
 * which makes room as it goes, and their depth. */
typedef struct rvm__native_need {
    uint64_t slots, arrays, depth;
    uint64_t bytes; /* of local arrays that it keeps out of the arena, at most */
    uint64_t dead;  /* instructions left out: after a side exit the run cannot turn back */
    uint64_t stack; /* bytes of the C stack, at most, from where it is entered or recurses to where it recurses again; in the
                       code itself 0, since that is known when the code is made */
    uint64_t fresh; /* parameters, by bit, of which it writes what they count as, each instance of their first block
                       (first_block.h) its part; in the code itself 0, likewise */
} rvm__native_need;

/* What stores of a group of lanes replaced, in the group's order, in entries that are read from their ends: what stood
 * there, by lane, addresses, by lane, and a mask of lanes; or elements side by side, the first one's address, and how many
 * they are times RVM__NATIVE_RUN. A group keeps so many bytes, and hands them over when there are more (lane_log.c). */
enum { RVM__NATIVE_LOG = 1 << 14, RVM__NATIVE_RUN = 1 << 8 };

/* What a group of RVM__NATIVE_LANES is to add when it is done, in entries that are read from their beginnings, in the
 * group's order: a mask of lanes that add; where, one address, or with RVM__NATIVE_OWN in the mask one for each lane; what,
 * by lane. With RVM__NATIVE_SUMMED elements gain chunk by chunk. */
enum { RVM__NATIVE_LANES = 8, RVM__NATIVE_OWN = 1 << RVM__NATIVE_LANES, RVM__NATIVE_SUMMED = RVM__NATIVE_OWN << 1 };

/* Where an instance of a parallel block has added to so far: bytes in ranges, ascending, that do not touch. 0 at first. */
enum { RVM__NATIVE_LEVEL = 16 }; /* by how many bits a level of exact records is above a number, in one argument */
enum { RVM__MOST_SEEN = 256 };
typedef struct rvm__native_range {
    uint64_t from, to;
} rvm__native_range;
typedef struct rvm__native_seen {
    uint64_t n, last; /* last: where the last one was looked for */
    rvm__native_range range[RVM__MOST_SEEN + 1];
} rvm__native_seen;

/* An array that a block adds into chunk by chunk, and between which indices, both included (isa/analysis/summed.h). */
typedef struct rvm__native_aside {
    rvm__aside of;
    int64_t lo[RVM_MAX_DIMS], hi[RVM_MAX_DIMS];
} rvm__native_aside;

/* ---- chunks of a parallel block ----
 * A register that instances add into: what it held before, then behind the block; of a chunk, its total. held: the largest
 * magnitude. An array that several instances add into has a copy for each chunk, of -0; what is added there is added to
 * the array when the chunk's turn comes, so that the order depends on no thread. One that they only read has a copy for each
 * helper: cores that read the same lines of memory all the time slow each other down. */
typedef struct rvm__native_sum {
    rvm_value value;
    double held;
    uint64_t type;
} rvm__native_sum;
typedef struct rvm__native_copy {
    rvm_value *to; /* the array: n elements without gaps */
    uint64_t n, type;
    uint64_t read; /* they only read it; n is 0: not worth a copy */
    double *held;  /* its largest magnitude; NULL: none is kept */
} rvm__native_copy;

/* An array that instances change, each in a part of its own (isa/analysis/first_block.h), of which each chunk keeps what it
 * changes (copies.h). */
typedef struct rvm__native_save {
    uint64_t view, ndim, dimension, within;
} rvm__native_save;

typedef struct rvm__native_job rvm__native_job;
/* In a worker: runs instances first to last, both included, of one chunk, on a machine of its own. Not 0: it took a side
 * exit before one of them was through, and its frames stand in w. */
typedef int32_t (*rvm__chunk_entry)(rvm_machine *w, rvm__native *n, const rvm__native_job *o, uint64_t first, uint64_t last,
                                    rvm__native_sum *sums, rvm_value *const *copies);

/* An array of the surroundings that a block uses: its first element; whether instances change any. */
typedef struct rvm__native_use {
    const char *data;
    uint64_t changes;
} rvm__native_use;

/* An array of the surroundings as instances see it; strides in bytes. */
typedef struct rvm__native_view {
    char *data;
    uint64_t base; /* as in rvm__array */
    int64_t dim[RVM_MAX_DIMS], stride[RVM_MAX_DIMS];
} rvm__native_view;

/* ---- kernels: parallel blocks for a device (jit/device/) ----
 * What each instance adds to a register, and, but with fast math, to elements, is kept, term by term, and summed in the
 * order of the interpreter; with fast math, what all instances of a warp add to the same element of an array is summed over
 * the warp and added to a copy of the array, of which there are RVM__KERNEL_COPIES: the n-th 32 instances add to the n-th
 * one, modulo that. So sums depend on no size of a launch. */
enum rvm__device_code {
    RVM__NO_KERNELS,
    RVM__KERNELS_PTX,
    RVM__KERNELS_GRID,          /* an object file for this host: a thread of a kernel is a call (tests/grid) */
    RVM__KERNELS_GRID_LIBDEVICE /* the same, but that elementary functions are libdevice's */
};
enum { RVM__KERNEL_COPIES = 2048, RVM__KERNEL_CTA = 128, RVM__KERNEL_RESIDENT = 4, RVM__WARP = 32, RVM__NESTED_CTA = 256 };
enum { RVM__KERNEL_VALUE = -1, RVM__KERNEL_KNOWN = -2 }; /* in place of a view: 8 bytes as they are; not passed */
enum {
    RVM__KERNEL_COPIED = 1,     /* instances add into copies of this array, or of some; */
    RVM__KERNEL_MAY_FAIL = 2,   /* an instance may tell that it cannot go on; */
    RVM__KERNEL_ARENA = 4,      /* it has local arrays of a length that is known when it runs only; */
    RVM__KERNEL_LOGS = 8,       /* what instances add to elements is kept, addition by addition; */
    RVM__KERNEL_FUNCTIONS = 16, /* strictly: it calls elementary functions, whose bits are the device's own */
    RVM__KERNEL_ENTRIES = 32,   /* of what instances add to elements some is kept with the element's address; */
    RVM__KERNEL_FAST = 64       /* math is fast: the other kind of kernel of the block has other bits */
};
typedef struct rvm__kernel_param {
    int64_t view;   /* of the job, in which it is an address */
    uint64_t flags; /* RVM__KERNEL_COPIED: or in its copies, from their beginning; RVM__KERNEL_ENTRIES: it gains by such */
} rvm__kernel_param;
enum { RVM__KERNEL_BY_CHUNKS = 4 }; /* elements gain chunk by chunk */
typedef struct rvm__kernel_view {
    uint64_t ndim, root; /* root: the view that it is part of; itself where it is whole */
    uint64_t uses;       /* of its root: 1: read, 2: added into; both: it is the instances' own; RVM__KERNEL_BY_CHUNKS */
    uint64_t type;
} rvm__kernel_view;
typedef struct rvm__native_kernel { /* tables are constants of the code */
    const char *code;               /* of all kernels of the code, and a 0 behind it; NULL: there is none for this block */
    uint64_t size;                  /* with its 0 */
    const char *name;
    const rvm__kernel_param *params;
    const rvm__kernel_view *views;
    const uint64_t *terms; /* by register that instances add into: how many each instance has */
    uint64_t nparams, nviews, flags;
    uint64_t work; /* instructions of an instance, as far as the text tells */
    uint64_t line; /* of the block */
    /* The same block as a kernel that has a CTA for each instance, whose threads share blocks within; NULL: there is none.
     */
    const struct rvm__native_kernel *nested;
    uint64_t frame; /* of that: bytes of a CTA's shared memory, before local arrays */
} rvm__native_kernel;
/* Behind its own parameters a kernel takes these, each by itself. */
typedef struct rvm__kernel_launch {
    int64_t lo;              /* index of the block's first instance; */
    uint64_t first, n;       /* those numbered from `first` on, so many; */
    uint64_t limit;          /* instructions that one may take; */
    uint64_t control;        /* addresses of an rvm__kernel_control, */
    uint64_t terms;          /* of what instances add to registers, [all terms][n], */
    uint64_t copies, stride; /* and of copies, and bytes of one; */
    uint64_t arena;          /* bytes of an instance's local arrays, at most; */
    uint64_t log, addresses; /* of what instances add to elements, [additions][n], and where, [additions]; */
    uint64_t additions;      /* of an instance, at most; */
    uint64_t locals;         /* nested: of local arrays, `arena` bytes a CTA; 0: they are in shared memory; */
    uint64_t ncopies;        /* how many copies there are, a power of 2 and no fewer than CTAs; */
    uint64_t each;           /* additions to elements of an instance of a block within, at most; */
    uint64_t entries, width; /* of additions with their elements, rvm__kernel_entry [n][width], in the order of instances; */
    uint64_t met;            /* nested: those that wait for a block within to end, of an instance of it, at most */
} rvm__kernel_launch;
enum { RVM__KERNEL_LAUNCH = sizeof(rvm__kernel_launch) / 8 };
typedef struct rvm__kernel_entry { /* an addition to an element; an address of 0: none */
    uint64_t address;
    double term;
} rvm__kernel_entry;
typedef struct rvm__kernel_control {
    uint64_t failed;               /* the lowest number of an instance that did; UINT64_MAX: none */
    uint64_t charged, calls, peak; /* as in rvm__native, from frame 0 on */
    uint64_t erased[RVM__ERASED];  /* likewise */
    uint64_t needed;               /* bytes of local arrays that there were not; 0: there were all */
    uint64_t additions;            /* to elements that an instance has */
    uint64_t trips;                /* nested: instances that a block within had, at most, */
    uint64_t each;                 /* and additions to elements that one of these had, where there was no room for them */
    uint64_t width;                /* entries that an instance had, at most, where there was no room for them; */
    uint64_t widest, entries;      /* unless one failed: those that one had, at most, and all */
    uint64_t met;                  /* nested: of an instance of a block within, where there was no room for them */
} rvm__kernel_control;

struct rvm__native_job {
    rvm__chunk_entry there, back;     /* there: NULL: it may not run in threads. back: takes instances back; NULL: nothing
                                         outside is left to be taken back */
    const rvm__native_kernel *kernel; /* NULL: it was not lowered for a device */
    const uint64_t *params;           /* of that, but for addresses, which are in arrays of the host */
    const rvm__native_need *need;     /* of the function around */
    uint64_t slots, arrays, frame;    /* of its frame */
    uint64_t fn, pc;                  /* the end of the block by which it is entered */
    int64_t ascending, lo;            /* lo: the first index */
    uint64_t count;                   /* instances */
    uint64_t checked;                 /* sums of fix may overflow */
    uint64_t within;                  /* the code around it may be that of an instance of another block */
    uint64_t nsums, ncopies, nmarks;
    rvm__native_sum *sums;
    double *const *marks; /* largest magnitudes of arrays, NULL: none; those of a chunk are `held` behind its sums */
    const rvm__native_copy *copies;
    uint64_t nsaves;
    const rvm__native_save *saves;
    const rvm_value *registers; /* of the surroundings, those that are read */
    const rvm__native_view *views;
};

/* Who runs chunks: threads (team.c), or another one that the engine gives to a machine. What it has for that is
 * m->running. */
typedef struct rvm__runner {
    /* Runs the block: how many instances are done, in their order; whatever was done beyond is taken back. All but the last
     * chunk are whole. Counts and sums are of what is done. Fewer than all: the caller is to go on, and polls first. */
    uint64_t (*run)(rvm_machine *m, rvm__native *n, const rvm__native_job *o);
    void (*end)(rvm_machine *m); /* m->running is given back */
    /* Of a worker's machine: a poll from within a chunk; in the middle of a group of instances, when it has charged so much:
     * not 0: the run is to end; whether it is cancelled; memory, which is m's. */
    int32_t (*safepoint)(rvm_machine *w, rvm__native *n);
    int32_t (*safepoint_in_group)(rvm_machine *w, uint64_t charged);
    bool (*is_cancelled)(const rvm_machine *w);
    void *(*resize)(rvm_machine *w, void *p, size_t old_size, size_t new_size);
    /* Where it keeps arrays elsewhere; NULL: nowhere. Native code is entered; arguments are read or written by others than
     * its blocks. Errors: they are lost. */
    rvm_status (*enter)(rvm_machine *m);
    rvm_status (*leave)(rvm_machine *m); /* native code, maybe by a side exit: its local arrays are where they seem to be */
    void (*local)(rvm_machine *m, char *data, uint64_t n, uint64_t bits); /* rvm__native_array */
    rvm_status (*bring)(const rvm_machine *m, const rvm_arg *args, uint32_t n);
    /* Native code runs a block itself, which uses n arrays; where they are lost the run ends at the next poll. */
    void (*home)(rvm_machine *m, rvm__native *n, const rvm__native_use *uses, uint64_t nuses);
    /* n elements of the host's that are not to change until all such are let go: they may be kept elsewhere, too. */
    void (*hold)(rvm_machine *m, const char *data, uint64_t n);
    void (*let_go)(rvm_machine *m);
    /* Elements of an array kept elsewhere, from that address on; -1: it is in none. */
    int64_t (*elements)(const rvm_machine *m, const char *from);
    const struct rvm__keeper *keeper; /* of copies of these; NULL: it has none */
} rvm__runner;

/* Copies of arrays that are elsewhere, which are there, too (kept.h): `data` is an address of such an array. */
typedef struct rvm__keeper {
    /* n elements, under that number, which has none; all: they count as that, and are not read. False: they are the host's,
     * or there is no room. */
    bool (*keep)(rvm_machine *m, uint32_t number, const char *data, size_t n, const rvm_value *all, rvm_value *to);
    /* The array has them again. False: there are none of that number. *status: they, and what the array has, are lost. */
    bool (*give)(rvm_machine *m, uint32_t number, const char *data, rvm_status *status);
    /* As rvm__kept_is_near. */
    bool (*is_near)(rvm_machine *m, uint32_t number, const char *data, bool real, double tolerance, double least);
    rvm_status (*fetch)(rvm_machine *m, uint32_t number); /* into `to`, if there are some. Errors: they are lost */
    void (*forget)(rvm_machine *m, uint32_t from, uint32_t to);
    rvm_status (*leave)(rvm_machine *m); /* no runner is there any more: all are fetched, and forgotten */
    /* Whether all of n elements are f32, widened; false: it does not know. */
    bool (*are_single)(const rvm_machine *m, const char *data, size_t n);
    /* n elements of an array that are all to be that; false: it is the host's. */
    bool (*fill)(const rvm_machine *m, const char *data, size_t n, rvm_value with);
} rvm__keeper;
static inline rvm_status rvm__bring_home(const rvm_machine *m, const rvm_arg *bound, uint32_t n) {
    return m->jit.device ? m->jit.runner->bring(m, bound, n) : RVM_OK;
}
extern const rvm__runner rvm__threads; /* team.c */
/* Instructions of the run when native code has charged so many; the next poll comes at once. */
uint64_t rvm__native_count(const rvm_machine *m, const rvm__native *n);
void rvm__native_poll_soon(rvm_machine *m, rvm__native *n);
/* What is part of an array that native code kept elsewhere gets an address, in frames from `first` on. */
void rvm__native_find_homes(rvm_machine *m, uint32_t first);
/* Room for frames that begin there; false: out of memory, or too deep. */
bool rvm__native_make_room(rvm_machine *m, uint64_t slots, uint64_t arrays, uint64_t frame, const rvm__native_need *need);
/* Behind so many instructions of the run; at most INT64_MAX / 2. */
int64_t rvm__fuel_left(const rvm_machine *m, uint64_t used);

enum { RVM__MOST_AROUND = 7 };
/* Where the innermost frame stands: at an end of its function, or in a loop, where that turns (loops.c). */
typedef struct rvm__native_place {
    uint32_t pc; /* the next instruction; 0: at an end */
    uint32_t
        turns; /* of the compute parts around, the outermost first: whether it turns around at its end, a bit for each */
    int dir;   /* in which the function runs, other than within such parts, */
    bool restoring, inside; /* and whether it takes back there, in a run that restores every bit; in a compute part */
    uint32_t
        loops; /* around the one that turns, compute parts, and loops around the calls below; RVM__MOST_AROUND at most */
} rvm__native_place;

/* An engine that may run functions in place of the interpreter: the bound call from an end of it, and, once that is worth
 * it, what the interpreter calls and loops that it is in. */
typedef struct rvm__engine rvm__engine;
/* What native code waits for, that is not there but may be later. */
enum rvm__lacks { RVM__LACKS_NOTHING, RVM__LACKS_USE, RVM__LACKS_CODE };
struct rvm__engine {
    /* The code for the innermost frame of m, which stands there; NULL: the interpreter is to run it. */
    rvm__native_entry (*entry)(rvm__engine *e, rvm_machine *m, const rvm__native_place *at, const rvm__native_need **need);
    /* So many instructions were interpreted, in the frames of m. */
    void (*ran)(rvm__engine *e, rvm_machine *m, uint64_t instructions);
    uint8_t *hot;      /* by function: whether to ask for code where the interpreter calls it */
    uint64_t every;    /* instructions from one poll of the interpreter to the next, at most */
    uint64_t patience; /* instructions of a derivative that are interpreted before its program is asked for; 0: none */
    uint64_t cramped;  /* bytes of the C stack that code took which did not run last time, for want of them; 0: it did */
    bool soon;         /* set by `ran`: code may be entered at a loop; the next poll is to come where control jumps next */
    enum rvm__lacks lacks; /* the last run; or RVM__LACKS_NOTHING: `reason` tells */
    /* d runs natively from now on, if m does, by the same code; it may already. Errors: MEMORY. */
    rvm_status (*adopt)(rvm__engine *e, rvm_machine *d, rvm_error *err);
    /* Why the last run was interpreted. */
    rvm_status (*reason)(const rvm__engine *e, rvm_error *err);
    /* Whether code that was asked for last, and was not there, still is not. */
    bool (*awaits)(const rvm__engine *e);
    /* A derivative of a function of m's ran as a program on d, or it was interpreted, and why; tells: in a notice, too. */
    void (*derived)(rvm__engine *e, const rvm_machine *d, uint32_t fn, const rvm_error *why, bool tells);
    /* The machine that has it as m->engine is freed, or has no use for it any more: sets that to NULL. */
    void (*released)(rvm__engine *e);
};
/* Why no block of m's runs may be a kernel; NULL: they may. */
const char *rvm__why_no_kernels(const rvm_machine *m);
/* As a reason, or NULL. */
const char *rvm__native_lacks(enum rvm__lacks lacks);
/* Runs the bound call natively, if there is code for it: *ran tells. The status is that of a run. */
rvm_status rvm__native_run(rvm_machine *m, bool *ran);
/* Whether there is code for the bound call; else engine->lacks tells whether there may be later. */
bool rvm__native_is_there(rvm_machine *m);
/* The interpreter has entered a function that is hot: runs it natively to where it returns to, if there is code for it.
 * The status is that of the instruction that called. */
rvm_status rvm__native_call(rvm_machine *m);

/* ---- loops.c ---- */
/* Whether a loop or a parallel block begins there in the text, and ends at its target. */
bool rvm__begins_loop(const rvm_function *f, uint32_t pc);
/* The end by which the loop is entered that turns where pc is next; 0: none does. */
uint32_t rvm__loop_head(const rvm_function *f, uint32_t pc, int dir);
/* Whether m stands in a loop of its innermost frame, where that turns; *at: where. */
bool rvm__stands_in_loop(const rvm_machine *m, rvm__native_place *at);
/* Instructions of a shortest loop that m stands in, till it ends, up to some thousands; of others 0. */
uint64_t rvm__rest_of_loop(const rvm_machine *m);
/* Whether the trails are as deep as the text around m's innermost frame has it there, as far as code is made for that. */
bool rvm__trails_fit(const rvm_machine *m, const rvm__native_place *at);
/* The place between instructions where the next one is pc, by the instruction above it in the text. */
static inline uint32_t rvm__gap(uint32_t pc, int dir) {
    return pc + (dir < 0);
}

/* What native code calls, by name; the module binds these. */
typedef struct rvm__native_symbol {
    const char *name;
    void *address;
} rvm__native_symbol;
/* summed_elements.c: the n arrays of a block that is entered, before anything is done; false: out of memory. What comes
 * next, or from instance k, by number, to the next one; whole: the list is as it was written, else as the former left it. Of
 * a chunk in a worker: instance `next` is to run by itself; false: out of memory; then that it is done. */
bool rvm__native_aside_room(rvm_machine *m, rvm__native_aside *list, uint64_t n);
void rvm__native_aside_step(rvm_machine *m, rvm__native_aside *list, uint64_t n, int64_t step, int32_t whole, uint64_t next);
void rvm__native_aside_turn(rvm_machine *m, rvm__native_aside *list, uint64_t n, uint64_t k, int32_t whole, uint64_t next);
bool rvm__native_aside_open(rvm_machine *w, rvm__native_aside *list, uint64_t n, uint64_t next);
void rvm__native_aside_hand(rvm_machine *w, rvm__native_aside *list, uint64_t n);
/* lane_log.c: whole entries, behind so many bytes of them; false: no memory, or there are too many. All are put back, the
 * last store first; `log`: those behind what is kept. */
bool rvm__native_keep_stores(rvm_machine *m, uint64_t kept, const char *log, uint64_t size);
bool rvm__native_keep_additions(rvm_machine *m, uint64_t kept, const char *log, uint64_t size);
void rvm__native_put_back(rvm_machine *m, uint64_t kept, uint64_t lanes, const char *log, uint64_t size);
/* lane_sums.c: where order counts among lanes, from the first on, or from the last. The log is used up. */
void rvm__native_add_kept(rvm_machine *m, uint64_t kept, uint64_t down, char *log, uint64_t size);
extern const rvm__native_symbol rvm__native_symbols[];
extern const size_t rvm__native_nsymbols;

#endif

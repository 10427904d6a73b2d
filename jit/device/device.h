/* device.h: inside jit/. Kernels for a device: from instances of parallel blocks (lower/kernel.c) to PTX.
 *
 *   device.c     a copy of the module, for the device, and what its parts make of it; PTX
 *   kernel_ir.c  a kernel around an instance, which it runs for several indices
 *   markers.c    and what becomes there of the instance's markers
 *   nested.c     of one for a CTA to each instance: threads meet at blocks within it
 *   shared.c     what it hands over to the others
 *   threads.c    code in which some threads wait for others
 *   additions.c  what instances add to registers and to elements: where a warp can do it at once
 *   origin.c     to which array
 *   runtime_cta.c  and of what that calls
 *   runtime.c    what kernels call that is no function of the program: IR, and libdevice's functions
 *   nvvm.c       and what these call, on a host
 *   lines.c      line tables of kernels
 *   singles.c    f32 as f32
 *   remat.c      what is cheap computed again, where registers are few
 */
#ifndef RVM_JIT_DEVICE_H
#define RVM_JIT_DEVICE_H

#include "build.h"
#include "flow.h"
#include "instance.h"
#include "native.h"

/* A kernel while it is made. */
enum { RVM__MOST_TERMS = 32, RVM__MOST_WITHIN = 16 };
/* The instances of a block within, which several threads run. */
typedef struct rvm__device_within {
    LLVMValueRef function, marker; /* marker: what is called where the block is (lower/nested.c) */
    unsigned sums;
    bool adds;  /* to elements, and additions are kept; */
    bool meets; /* several of its instances to one of the instance's own, which adds them before it goes on */
    uint64_t terms[RVM__MOST_NESTED_SUMS];
} rvm__device_within;
/* What a kernel that has a CTA for each instance begins with (kernel_ir.c); nested.c puts blocks within into it. */
enum { RVM__CTA_BLOCKS = 9 };
typedef struct rvm__device_cta {
    LLVMValueRef shared, frame;                /* memory of all its threads, and a call that is how much of it is taken */
    LLVMValueRef tid, threads, lane;           /* i64; lane: i32 */
    LLVMValueRef out, counts, state, trips;    /* allocas, and */
    LLVMValueRef charged;                      /* what this thread's instances of a block within have charged */
    LLVMValueRef resume, choose;               /* switches: where the first thread goes on; which block all run */
    LLVMValueRef slot, slot_within;            /* of additions that are kept: allocas, or NULL; of a block within */
    LLVMValueRef row;                          /* of entries: the instance's, in the order in which they run */
    LLVMValueRef each, control;                /* as in rvm__kernel_launch */
    LLVMValueRef entries, width, most_met;     /* likewise */
    LLVMValueRef met, met_end;                 /* of additions that wait for the block's end: allocas: where, up to which */
    LLVMValueRef slot_met;                     /* and how many there are */
    unsigned places;                           /* where threads meet */
    LLVMBasicBlockRef turn, meet;              /* where a block within is done; where one begins */
    LLVMBasicBlockRef blocks[RVM__CTA_BLOCKS]; /* all that are no instance's */
} rvm__device_cta;
typedef struct rvm__device_kernel {
    const rvm__block_kernel *from;
    LLVMValueRef instance, kernel;
    LLVMMetadataRef lines; /* NULL: none */
    const char *why;       /* NULL, or why it cannot be made */
    bool grid;             /* RVM__KERNELS_GRID */
    bool nested;           /* a CTA for each instance */
    rvm__device_cta cta;   /* then */
    unsigned nwithin;
    rvm__device_within within[RVM__MOST_WITHIN];
    uint64_t frame; /* bytes */
    bool may_fail, arena, functions;
    bool limited;                          /* a thread has 128 registers at most */
    bool logs, enters;                     /* of additions that are kept: some without their elements, some with these */
    uint64_t terms[RVM__MOST_KERNEL_SUMS]; /* by register that it adds into */
    bool copied;                           /* some array is, */
    bool *by_copies;                       /* by argument: this one */
    bool *by_entries;                      /* by argument: additions to it are kept with their elements */
    char name[40];
} rvm__device_kernel;

/* ---- additions.c ---- */
/* Takes the additions of an instance apart: those to registers become terms; each to an element goes to RVM__ADD_WARP, where
 * all instances add to the same one, else to RVM__ADD_EACH or, where their order counts, RVM__ADD_ENTRY. x->why tells what
 * cannot be. */
void rvm__device_additions(const rvm__build *k, rvm__device_kernel *x);
#define RVM__ADD_WARP   "rvm.warp."
#define RVM__ADD_EACH   "rvm.each."
#define RVM__ADD_ENTRY  "rvm.entry."
#define RVM__NESTED_NEW "rvm.nested_new" /* room for a local array of so many elements, */
#define RVM__NESTED_DEL "rvm.nested_del" /* which is given back */
#define RVM__FRAME      "rvm.frame"      /* bytes of shared memory that are taken */
#define RVM__ADD_WITHIN "rvm.within."    /* nested, strictly: of a block within */
#define RVM__ADD_OWN    "rvm.own."       /* nested: to the CTA's copy, where its threads have elements of their own */
#define RVM__ADD_MET    "rvm.met."       /* nested: to the instance's own, or its copy, where they have not */

/* ---- origin.c ---- */
/* Where an address of an addition comes from: an argument of the kernel, an array that several instances add into; or */
enum {
    RVM__FROM_SEVERAL = -1,  /* one of several such; */
    RVM__FROM_INSTANCE = -2, /* memory that no other instance adds to; */
    RVM__FROM_THREAD = -3,   /* or no other thread, in a block within; */
    RVM__FROM_ANYWHERE = -4  /* nobody can say */
};
/* within: the block within where the addition stands; NULL: it is the instance's. */
int rvm__device_origin(const rvm__device_kernel *x, const rvm__device_within *within, LLVMValueRef address);
/* Whether several instances of the block within may add there at once. */
bool rvm__device_meets(const rvm__device_kernel *x, const rvm__device_within *within, LLVMValueRef address);
/* The addition becomes one as any other. */
void rvm__device_add_plainly(const rvm__build *k, LLVMValueRef call);

/* ---- kernel_ir.c ---- */
/* x->kernel, which calls x->instance. */
void rvm__device_wrap(const rvm__build *k, rvm__device_kernel *x);
/* Of a grid: a function of its name that takes the address of all its parameters, 8 bytes each; and their number,
 * NAME_params. */
void rvm__device_make_call(const rvm__build *k, rvm__device_kernel *x);
/* A marker: nothing of the launch counts if c holds. */
void rvm__device_bail_out(const rvm__build *k, LLVMValueRef c);
/* Behind a call: what an instance counted, in out, from that count on, is counted by this thread. */
void rvm__device_add_counts(const rvm__build *k, LLVMValueRef out, LLVMValueRef counts, unsigned first);

/* ---- markers.c ---- */
/* Once the instance is inlined: its markers become calls of the runtime. */
void rvm__device_replace_markers(const rvm__build *k, rvm__device_kernel *x);

/* ---- within.c ---- */
/* The markers of blocks within, in the copy; x->why: there are too many. *copies: some of their functions call another
 * kernel's, which is to be inlined before either is changed. */
void rvm__device_find_within(const rvm__build *k, rvm__device_kernel *x, bool *copies);
/* Of these, the one that the marker says; NULL: none. */
const rvm__device_within *rvm__device_within_of(const rvm__device_kernel *x, LLVMValueRef marker);

/* ---- nested.c ---- */
/* Once the instance is inlined: threads meet at blocks within. x->why: it cannot be. */
void rvm__device_nest(const rvm__build *k, rvm__device_kernel *x);

/* ---- shared.c ---- */
/* Local arrays that get to a block within are put behind x->frame; before its instances' functions are there, whose arrays
 * are a thread's. */
void rvm__device_share_locals(const rvm__build *k, rvm__device_kernel *x);

/* ---- kept.c ---- */
/* The marker of a block within, where the first thread leaves its code, and where it goes on; how many words it keeps. */
typedef struct rvm__device_pause {
    LLVMValueRef marker;
    LLVMBasicBlockRef rest;
    unsigned kept;
} rvm__device_pause;
/* What lives across a pause is put behind x->frame, which grows to `most` bytes at most. Values are where rvm__demote put
 * them: in the memory that comes before that instruction. false: out of memory. */
bool rvm__device_keep(const rvm__build *k, rvm__device_kernel *x, rvm__device_pause *pauses, unsigned n, LLVMValueRef before,
                      uint64_t most);

/* ---- threads.c ---- */
/* What follows the instruction becomes a block of its own, to which this one leads. */
LLVMBasicBlockRef rvm__split_behind(const rvm__build *k, LLVMValueRef v);
/* Values of these blocks that others use, and what ways bring, go through memory: then any block may be entered. */
void rvm__demote(const rvm__build *k, LLVMValueRef f, const LLVMBasicBlockRef *blocks, unsigned n);

/* ---- runtime.c ---- */
/* Into the module; false: LLVM does not take it. */
bool rvm__device_add_runtime(const rvm__build *k, bool grid);
/* Texts of its parts for a CTA to each instance (runtime_cta.c). */
extern const char rvm__cta_device[], rvm__cta_grid[], rvm__cta_both[];
/* Elementary functions that are called become those of libdevice, which is in the file at `path` ("": there is none). NULL,
 * or the name of one that is not there. is_grid: to run on this host. */
const char *rvm__device_add_functions(const rvm__build *k, const char *path, bool is_grid);
/* Of LLVM's functions for devices, llvm.nvvm.X, those that libdevice calls, on a host, with this in front of X (nvvm.c). */
#define RVM__NVVM "rvm.nvvm."
extern const char rvm__nvvm_on_host[];
/* Whether what is called so is an elementary function, and neither LLVM's nor the machine's. */
bool rvm__device_is_function(const char *name);

/* ---- singles.c ---- */
/* Of all functions, before anything else changes them: operations on f32, which are marked, become float's; functions of
 * the program, too (sin becomes sinf), if `functions`. */
void rvm__device_narrow(const rvm__build *k, bool functions);
/* For a device, with fast math, once all else is done: quotients and square roots of floats. */
void rvm__device_approximate(const rvm__build *k, LLVMValueRef f);

/* ---- remat.c ---- */
/* Once all else is done. grid: all that can be, since it is for tests. *most_live: registers of 32 bits that then live into
 * a block, at most. False: out of memory. */
bool rvm__device_rematerialise(const rvm__build *k, LLVMValueRef f, bool grid, unsigned *most_live);

/* ---- lines.c ---- */
/* k's module once more, as LLVMCloneModule's, but that PTX has directives of lines alone. NULL: LLVM does not read it. */
LLVMModuleRef rvm__device_copy_with_lines(const rvm__build *k);

/* ---- device.c ---- */
/* Kernels of k->kernels, with lines where k->module has any and they are asked for: each record is defined, of those that
 * could not be made with no code; k->made, k->on_host tell. plain: without LLVM's vectorizers.
 * Code goes to *text, too, unless that is NULL: to be disposed of. Errors: UNSUPPORTED, INTERNAL, MEMORY; where this LLVM
 * has no code for devices, or there are no kernels, records say that there is none. */
rvm_status rvm__device_make(rvm__build *k, enum rvm__device_code form, unsigned level, bool lines, bool plain,
                            const char *libdevice, LLVMMemoryBufferRef *text, rvm_error *err);

#endif

/* rvm_jit.h: native code for machines, by LLVM.
 *
 *     rvm_jit *j;
 *     if (!rvm_jit_new(NULL, &j, &e)) // else there is no native code here: e says why
 *         rvm_jit_attach(j, m, &e);
 *     rvm_call(m, fn, a, 2, &e); // as ever: the first time compiled, then native
 *
 * Native code gives the same bits as the interpreter, a NaN's sign and payload apart, the same errors and the same state
 * after them, unless fast_math allows it otherwise; where a block in threads fails, what was begun behind the failure is
 * taken back, to rounding. Instructions are counted as if interpreted, those of uncomputing that is
 * left out because nobody observes it included; calls are counted where they are made, and memory_peak and ancilla_peak are
 * those of native code. It runs whole calls in primal mode, and derivatives that are asked for whole as the programs that
 * compute them (rvm.h); what else is asked of a machine, and what cannot be compiled, is interpreted. Where native code
 * leaves something to the interpreter, that goes on, and what it calls often, or a loop that it is in for long, is native
 * again.
 *
 * A machine that is unchecked and keeps no trail (RVM_TRAIL_OFF) says that its runs need not turn back. Then native code
 * leaves out single instructions of which no result is ever read, too, but in chunks of threads that may have to be taken
 * back. Where such a run is stopped or fails it can go on, but to go back is UNSUPPORTED until it has come to an end;
 * locals may hold anything then, and bits_erased counts a `drop` of what nobody reads as one value.
 *
 * LLVM is in a module of its own: the file that the environment variable RVM_LLVM_MODULE names, else rvm/rvm_llvm.so in the
 * library folder beside the program or the library that holds this code, wherever its prefix went, else in the one that was
 * configured. A program elsewhere that is linked with the static library of a build folder names it:
 * BUILD/lib/rvm/rvm_llvm.so. It stays open until the process ends. Compiled code is kept in a cache, files of the user's own
 * that processes share; where that knows this module, rvm_jit_new does not open it, and it is opened when something is to be
 * compiled that the cache does not have. A cache that cannot be read or written, or was damaged, costs time and nothing
 * else; notices tell.
 *
 * rvm_jit_compile writes object files instead, which need neither a machine nor this library.
 *
 * Code is compiled in a thread that the rvm_jit starts, from a copy of the program, one piece at a time. A run waits for
 * the code that it asks for, but in tiers, where it goes on interpreted and enters the code once it is there; either gives
 * the same results. rvm_machine_cancel ends the wait within milliseconds. LLVM cannot be interrupted: what nobody waits
 * for any more is compiled to its end, and is there for whom it is asked for next.
 *
 * Threads: an rvm_jit may be shared; what is compiled for one thread is there for all. A machine still belongs to one
 * thread, and attaching and detaching it are its thread's. Nothing here prints. Where LLVM itself runs out of memory what
 * it holds is lost, with what the compiler holds of the allocator, and the process compiles nothing any more (MEMORY): what
 * is not compiled by then is interpreted. While LLVM is being loaded, the process may end.
 *
 * Signals: where LLVM has a fault it crashes with what it compiles, which is compiled once more without its vectorizers,
 * then interpreted (UNSUPPORTED); what it held is lost. So SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT have handlers while
 * something compiles, which leave LLVM in that thread and pass on those of others to the handlers that were there before. */
#ifndef RVM_JIT_H
#define RVM_JIT_H

#include "rvm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rvm_jit rvm_jit;

typedef enum rvm_jit_phase {
    RVM_JIT_LOWER,    /* from the program to LLVM's representation */
    RVM_JIT_OPTIMISE, /* there */
    RVM_JIT_EMIT,     /* machine code */
    RVM_JIT_LINK,     /* into the process */
    RVM_JIT_PHASES
} rvm_jit_phase;

/* A function in a direction, as it is called or entered at a loop, was compiled, or could not be and will be interpreted.
 * Valid during the call. */
typedef struct rvm_jit_notice {
    const char *function;
    int direction;       /* 1 forward, -1 backward */
    uint32_t line;       /* of the loop at which it is entered; 0: at its start */
    const char *lengths; /* of arrays that the code is for: "n=3, d=2"; else empty */
    rvm_status status;   /* RVM_OK: compiled */
    const char *reason;  /* else why not */
    double seconds[RVM_JIT_PHASES];
    size_t code_size;  /* bytes of machine code */
    size_t stack_size; /* bytes of the frames of its functions, together */
    bool cached;       /* it comes from the cache; RVM_JIT_LINK is all that took */
    const char *cache; /* why the cache could not be read, or does not keep what is new; NULL: nothing to tell */
    /* With `threads`: parallel blocks, counted once for each way they are compiled, and those that
     * may run in threads, where they are long enough; why the first of the others does not, with its line, or "". */
    uint32_t blocks, in_threads;
    const char *serial;
    unsigned grouped, single; /* loops of parallel blocks that go in lanes, and that do not */
    const char *why_single;   /* of the last one of these; else empty */
    uint32_t kernels;         /* parallel blocks that may run on a device (rvm_cuda.h); */
    const char *on_host; /* lines of those that may not, or not with threads that share blocks within, and why; empty: none,
                            or no device was asked for */
} rvm_jit_notice;

#define RVM_JIT_MAX_THREADS 1024u
#define RVM_JIT_ALL_THREADS (~0u)

/* Start from rvm_jit_options_default(). */
typedef struct rvm_jit_options {
    bool fast_math;   /* sums may be taken in another order, a product and a sum rounded once */
    bool vector_math; /* elementary functions of instances that go in lanes from libmvec, where it is there: within 4 ulp;
                         exp of the SLEEF set stays, about as fast and closer, and tanh is a shorter one, within 2.7 ulp.
                         fast_math has it, too */
    bool no_lanes;    /* parallel blocks run one instance after the other on the host, not several at once */
    /* One code for arrays of any lengths. Else lengths of a call's arrays up to 64 are taken for granted: code is made for
     * the first such lengths that a function is called with, then for others, and after four times for any. */
    bool any_lengths;
    bool symbols; /* tell gdb and, where LLVM can, perf of the code and of its lines; it is linked more slowly. For perf LLVM
                     writes a file below $JITDUMPDIR or $HOME: perf record -k 1, then perf inject --jit */
    unsigned level; /* of optimisation: 0 to 3; default 3 */
    /* What code is limited to: NULL or "native" is this processor, with all that it can do; or one that this one can be, as
     * of rvm_jit_object.cpu. Read by rvm_jit_new. Strict results are the same bits on all. */
    const char *cpu;
    /* Parallel blocks that are long enough run in so many threads, the caller's included: at most RVM_JIT_MAX_THREADS, or
     * the default, RVM_JIT_ALL_THREADS: one for each processor that the process may use. The machine's allocator is then
     * called by any of them, one at a time. 0 and 1: all in the caller's. The same bits come out for any number; with
     * fast_math for any but 0, on a machine with one processor, too, since sums are then taken in chunks: for 0 they are
     * not. */
    unsigned threads;
    /* The default. Start in the interpreter, and go native where so many instructions were interpreted that compiling pays:
     * a function that was that busy is native when it is called next, or where a loop turns that it is in. LLVM is opened
     * not before. A derivative stays in the interpreter's mode, which is faster there than its program, until that has
     * native code; a run in progress then begins anew. False: all is compiled when it is called first. */
    bool tiers;
    bool wait; /* in tiers, too, runs wait for the code that they ask for, so that it is known which code runs when */
    /* Instructions of a function and its callees that are interpreted in a machine before that; 0: the default, some 50 ms.
     * Below a million the interpreter polls that often. */
    uint64_t hot;
    /* From the thread of a run, the first that asks for the code once it is compiled, or was not to be; never from the one
     * that compiles. It may not call rvm_jit_*. May be NULL. */
    void (*notice)(void *userdata, const rvm_jit_notice *notice);
    void *userdata;
    /* NULL: the C library's; must outlive the rvm_jit. Called from any thread that uses this one, also from those that
     * compile, but by one at a time. It must not call the rvm_jit. LLVM's own memory, code and threads are of the C library
     * and the system. */
    const rvm_allocator *allocator;
    /* The folder where compiled code is kept for other processes; it is made if it is not there. NULL: the user's, which is
     * $RVM_CACHE_DIR (empty, off: none), else $XDG_CACHE_HOME/rvm, else $HOME/.cache/rvm; "": none. Read by rvm_jit_new.
     * What has symbols is not kept. */
    const char *cache;
    uint64_t
        cache_size; /* bytes that it may hold; beyond, what was used longest ago goes. 0: $RVM_CACHE_SIZE, else 256 MiB */
} rvm_jit_options;
RVM_API rvm_jit_options rvm_jit_options_default(void);

/* options NULL: the defaults. *out is owned by the caller, NULL on failure. Errors: UNSUPPORTED (the module was not built,
 * is not found, cannot be opened, belongs to another version; no LLVM for this host), USAGE (level, threads,
 * cpu, RVM_CACHE_SIZE), MEMORY. */
RVM_API rvm_status rvm_jit_new(const rvm_jit_options *options, rvm_jit **out, rvm_error *err);
/* Frees the code, too; machines still attached are detached, so none of them may be running. Waits for what is being
 * compiled, seconds at worst. NULL is allowed. */
RVM_API void rvm_jit_free(rvm_jit *j);
/* Whether something is being compiled. A process that is about to end need not wait for it: it leaves j as it is, and ends
 * by _exit, since exit takes down LLVM while it works. Any thread. */
RVM_API bool rvm_jit_busy(rvm_jit *j);
/* "LLVM 19.1.7, x86_64-pc-linux-gnu, skylake": valid as long as j; with tiers "" before LLVM was opened for the first time.
 */
RVM_API const char *rvm_jit_about(const rvm_jit *j);

/* From now on whole runs of m are native where they can be. Code is shared by all machines of equal programs that are
 * attached to j, and kept until j is freed. A machine attached to another is taken over. A freed machine is detached.
 * Errors: MEMORY. */
RVM_API rvm_status rvm_jit_attach(rvm_jit *j, rvm_machine *m, rvm_error *err);
RVM_API void rvm_jit_detach(rvm_machine *m); /* also if it is not attached */
/* Native code recurses on the stack of the thread that runs it, as far as there is room, and leaves 32 KiB of that to the
 * machine's own functions and the caller's progress function; deeper calls begin from the interpreter, with all of the stack
 * again. Any size will do; code that takes more than there is left is interpreted, and rvm_jit_reason says so. Of a stack
 * that is not the thread's own, as of a coroutine, 64 KiB are taken to be left. LLVM compiles in a thread of its own. */

/* Why the last run of m that could have been native was interpreted: UNSUPPORTED with the reason, which in tiers may be that
 * it has not run often enough yet, or is being compiled; INTERNAL, MEMORY; or RVM_OK where it was not, from a loop on at
 * least, or there was none. USAGE: m is not attached. */
RVM_API rvm_status rvm_jit_reason(const rvm_machine *m, rvm_error *err);

typedef enum rvm_jit_form { RVM_JIT_IR, RVM_JIT_ASSEMBLY, RVM_JIT_PTX } rvm_jit_form;
/* Writes the code of a function in a direction (1 or -1) with all that it calls, optimised, as LLVM's intermediate
 * representation or as assembly, or its parallel blocks as PTX, kernels for CUDA devices, which must be unchecked, for
 * machines with these options (NULL: the defaults) and arrays without gaps, of any lengths. Nothing is kept. Errors: USAGE
 * (direction, fn, the program is not verified), UNSUPPORTED (why it cannot be compiled), IO, MEMORY, INTERNAL. */
RVM_API rvm_status rvm_jit_dump(rvm_jit *j, const rvm_program *p, uint32_t fn, int direction, const rvm_options *options,
                                rvm_jit_form form, FILE *out, rvm_error *err);

/* A C function that needs no machine, only the C library and libm. Start from rvm_jit_object_default(). */
typedef struct rvm_jit_object {
    const char
        *name; /* of the C function; NULL: the function's, with _ for what C names have no use for (norm'grad: norm_grad) */
    const char *cpu; /* what it will run on: "generic" (the default), all of the host's kind; "native", the host and its
                        like; x86-64, x86-64-v2, x86-64-v3, x86-64-v4 where it is of that kind */
    bool lines;      /* with line tables, for debuggers and profilers */
    size_t stack; /* bytes of the caller's stack that calls which recurse may take; what would take more ends with a number
                     of its own. 0: 4 MiB. The header says what a call takes in all */
} rvm_jit_object;
RVM_API rvm_jit_object rvm_jit_object_default(void);
/* Writes an object file with function fn and all that it calls, and, unless header is NULL, its C header, which says what
 * the C function takes, means and returns. Of the machine's options (NULL: the defaults) unchecked, trust, tolerance, depth
 * and math count; of the latter AUTO is LIBM, and with SLEEF the object needs librvm and such a processor. Of j's,
 * fast_math, no_lanes, and vector_math, which fast_math does not bring here: it needs libmvec. What goes onto a trail is
 * discarded. Nothing is kept. Errors: USAGE (fn, a name, a processor, a program that is not verified), UNSUPPORTED (what
 * takes something back from a trail or uses the stack, and where), IO, MEMORY, INTERNAL.
 */
RVM_API rvm_status rvm_jit_compile(rvm_jit *j, const rvm_program *p, uint32_t fn, const rvm_options *options,
                                   const rvm_jit_object *what, FILE *object, FILE *header, rvm_error *err);

/* Since j was made. */
typedef struct rvm_jit_totals {
    uint32_t compiled, refused;     /* functions in a direction */
    uint32_t cached;                /* likewise, of the cache */
    double seconds[RVM_JIT_PHASES]; /* of those compiled, and linking also of those of the cache */
    double opening;                 /* seconds: loading LLVM and setting it up; without it, finding the module */
    size_t code_size;               /* bytes of machine code */
} rvm_jit_totals;
RVM_API void rvm_jit_stats(rvm_jit *j, rvm_jit_totals *out);

#ifdef __cplusplus
}
#endif
#endif

/* module.h: between rvm_jit, which knows no LLVM, and the module rvm_llvm.so, which it opens.
 *
 *   open.c     finds the module          jit.c      what is compiled, for whom      hotness.c     when
 *   records.c  code, found again or made                  job.c      compiling, in a thread beside the runs
 *   code.c     from the cache or the compiler into the process; notices
 *   load.c     object files into the process, without LLVM
 *   header.c   C headers of what is compiled ahead of time      processors.c  what code may be limited to
 *   cache.c    files of what was compiled before           cache_key.c   what that depended on
 *   module.c   its entry point           engine.c   a request from IR to an object     guarded.c   out of memory there, or a
 *   crash (crash.c)
 *
 * The module has a copy of isa/ and vm/ of its own, and works on the library's programs and machines: so both must be of one
 * build. What code calls while it runs is the library's (`symbols`).
 */
#ifndef RVM_JIT_MODULE_H
#define RVM_JIT_MODULE_H

#include <limits.h>

#include "native.h"
#include "rvm_jit.h"

/* Of the first lengths that a function's parameters name (rvm__length_registers): what each is, or 0, anything. */
enum { RVM__MOST_LENGTHS = 24, RVM__LONGEST = 64, RVM__MOST_FRESH = 64 };
typedef struct rvm__lengths {
    uint8_t is[RVM__MOST_LENGTHS];
} rvm__lengths;

/* All that code depends on beside the program, the level, the processor and the host: what compares requests, and what
 * finds them in the cache, go through this list. */
#define RVM__LOWERING(FIELD)                                                                                                \
    FIELD(uint32_t, fn)                                                                                                     \
    FIELD(int, direction)  /* 1 forward, -1 backward */                                                                     \
    FIELD(uint32_t, at)    /* 0, or where it is entered by on-stack replacement, as in rvm__native_place */                 \
    FIELD(uint32_t, turns) /* likewise */                                                                                   \
    FIELD(rvm__lengths, lengths)                                                                                            \
    FIELD(bool, unchecked)   /* as in rvm_options */                                                                        \
    FIELD(bool, trust)       /* likewise */                                                                                 \
    FIELD(bool, contiguous)  /* arrays of the call are row-major without gaps, and apart but for those only read */         \
    FIELD(bool, fast)        /* contraction and reassociation */                                                            \
    FIELD(bool, lanes)       /* parallel blocks go in groups of instances on the host, where they can */                    \
    FIELD(bool, vector_math) /* elementary functions of a group by a library of vectors, within 4 ulp */                    \
    FIELD(uint8_t, math)     /* rvm_math, never AUTO */                                                                     \
    FIELD(bool, lines)       /* with line tables, for debuggers and profilers */                                            \
    FIELD(bool, threads)     /* parallel blocks may run in threads (chunk.c), */                                            \
    FIELD(uint8_t, device)   /* and on a device (kernel.c): rvm__device_code */                                             \
    FIELD(bool, one_way)     /* the run does not turn back where it is left: dead instructions are left out (liveness.h) */ \
    FIELD(bool, exact)     /* every update of a real is recorded, or taken back (exact.c); then in one thread, one lane, */ \
    FIELD(bool, restoring) /* and the function that is entered takes back, */                                               \
    FIELD(bool, inside)    /* and is in a compute part; */                                                                  \
    FIELD(bool, values_only)  /* arithmetic of shadows is recorded nowhere */                                               \
    FIELD(bool, profile)      /* stretches are counted (tally.c): nothing else is left out or charged ahead then */         \
    FIELD(uint64_t, fresh)    /* parameters, by bit, that it writes itself (rvm__native_need) */                            \
    FIELD(uint64_t, streams)  /* of these those that go past the caches */                                                  \
    FIELD(uint64_t, far)      /* parameters, by bit, that near caches need not hold (far_wanted.h) */                       \
    FIELD(uint16_t, discards) /* levels of the trail that keep nothing but in compute parts and segments */                 \
    FIELD(double, tolerance)

/* What is lowered: a function in a direction, with all that it calls. Code refers to no address in the program, so that it
 * serves every equal one. */
typedef struct rvm__lowering {
    const rvm_program *p;
#define FIELD(type, name) type name;
    RVM__LOWERING(FIELD)
#undef FIELD
    const char *standalone; /* NULL, or the name of the C function to be made of it, which needs no machine */
    uint32_t depth;         /* of calls, where standalone, */
    size_t stack;           /* and bytes of the C stack that calls which recurse may take; 0: no limit */
    bool plain;             /* without LLVM's vectorizers */
} rvm__lowering;

/* What rvm_jit_notice has of the code; the cache keeps it beside the object. */
typedef struct rvm__found {
    uint32_t blocks, in_threads;
    char serial[200];
    uint32_t grouped, single;
    char why_single[80];
    uint32_t kernels; /* blocks that may run on a device */
    char on_host[400];
    uint64_t stack; /* rvm__native_need.stack */
} rvm__found;

/* An object file of the entry and of what it needs, which are all that it defines for others (load.h). */
typedef struct rvm__object {
    void *bytes; /* of the compiler's allocator */
    size_t size;
    char entry[120], need[40]; /* their names */
    double seconds[RVM_JIT_PHASES];
    rvm__found found;
} rvm__object;

typedef struct rvm__compiled {
    rvm__native_entry entry;
    rvm__native_need need;
    double seconds[RVM_JIT_PHASES];
    size_t size; /* of machine code, bytes */
    bool cached; /* it was not compiled now */
    rvm__found found;
} rvm__compiled;

#define RVM__CPU_NATIVE "native" /* this processor, with everything that it can do */

typedef struct rvm__compiler_options {
    const char *cpu; /* RVM__CPU_NATIVE, or one of processors.def that this one can be; outlives the compiler */
    unsigned level;
    bool symbols;
    const char *libdevice; /* a file of functions for kernels; "": there is none. It outlives the compiler */
    const rvm__native_symbol *native;
    size_t nnative;
    const rvm_allocator *al; /* outlives the compiler; any thread may call it */
} rvm__compiler_options;

/* LLVM set up for this host. One thread at a time. */
typedef struct rvm__compiler rvm__compiler;

/* Changes with everything that both sides must agree in, in this file or in native.h. */
#define RVM__MODULE_INTERFACE 27
/* `interface` stands first in every version. */
typedef struct rvm__module {
    uint32_t interface;
    uint32_t machine_size; /* of an rvm_machine */
    const char *version;   /* RVM_VERSION_STRING */
    /* *about is valid as long as *out. Errors: UNSUPPORTED, MEMORY. */
    rvm_status (*open)(const rvm__compiler_options *o, rvm__compiler **out, const char **about, rvm_error *err);
    void (*close)(rvm__compiler *c); /* and frees all code */
    /* Errors: UNSUPPORTED (the reason), MEMORY, INTERNAL (LLVM refuses what was lowered). */
    rvm_status (*compile)(rvm__compiler *c, const rvm__lowering *what, rvm__object *out, rvm_error *err);
    /* Code in the process, with all that debuggers and profilers are to know, or of an object that load.c has no way to
     * load. Errors: UNSUPPORTED, MEMORY. */
    rvm_status (*link)(rvm__compiler *c, const rvm__object *object, rvm__compiled *out, rvm_error *err);
    rvm_status (*print)(rvm__compiler *c, const rvm__lowering *what, rvm_jit_form form, FILE *out, rvm_error *err);
    /* An object file of what is standalone, for a processor: "generic", the oldest of the host's kind; "native"; another of
     * those that rvm_jit_compile knows. *stack: bytes of the C stack that a call takes at most. Errors besides: USAGE (no
     * such processor). */
    rvm_status (*object)(rvm__compiler *c, const rvm__lowering *what, const char *cpu, FILE *out, uint64_t *stack,
                         rvm_error *err);
} rvm__module;

#define RVM__MODULE_ENTRY "rvm_llvm_module"
typedef const rvm__module *(*rvm__module_entry)(void);

/* open.c: where the module is; then it is opened, and never closed. UNSUPPORTED: why there is none. Any thread. */
rvm_status rvm__module_find(char path[PATH_MAX], rvm_error *err);
rvm_status rvm__module_open(const char *path, const rvm__module **out, rvm_error *err);
/* The file of elementary functions for kernels, libdevice.10.bc of CUDA's toolkit: $RVM_LIBDEVICE, or where the toolkit is
 * ($CUDA_HOME, /usr/local/cuda, Debian's folder); "": there is none. */
void rvm__libdevice_find(char path[PATH_MAX]);

#endif

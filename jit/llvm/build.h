/* build.h: inside jit/. What builds LLVM's IR, on scalars or on vectors of lanes.
 *
 *   words.c     the LLVM vocabulary: rows.def and families.def as calls of the builder
 *   lower.h     a function of the program as a function of IR
 *   target.c    what code is made for and can do there; passes; object code
 *   module.c    the module that is opened on first use: its one entry point
 *
 * A value of type i64 or fix is an i64 of IR, one of f64 or f32 a double (an f32 is a double that a float holds), in lanes a
 * vector of these.
 */
#ifndef RVM_JIT_BUILD_H
#define RVM_JIT_BUILD_H

#include "instruction.h"
#include "compatibility.h"

/* What the code is for, as far as who builds it must know. */
typedef struct rvm__traits {
    unsigned group; /* lanes that suit it: 8 or 4 (lanes.h) */
    unsigned width; /* doubles in a register */
    bool converts;  /* vectors of i64 to doubles at once */
    unsigned cold;  /* LLVM's number of the convention of what is seldom called (rvm__call_seldom); 0: the usual one */
    unsigned poll;  /* that of a safepoint, which leaves vectors to its caller: a loop that polls holds few; 0 as above */
    const char *cold_features; /* of a function with that convention, as LLVM writes them; NULL: those of all */
    bool words;                /* memory is cleared by words: what LLVM makes of memset there goes byte by byte */
    char vectors;              /* the letter that libmvec's names for it have; 0: it has none */
    /* What a function is called there, of the C library's set or of SLEEF's. */
    const char *(*function)(const char *name, bool sleef);
} rvm__traits;

/* A parallel block that is to become a kernel (jit/device/): its instance, and what that takes behind the fixed arguments.
 */
typedef struct rvm__block_arg {
    int64_t constant; /* always so much, where `known` */
    bool known;
    bool shared;  /* an address in an array that several instances add into; */
    bool summed;  /* they do so chunk by chunk (isa/analysis/summed.h), */
    bool own;     /* they do not only add into it, */
    bool read;    /* nobody changes it, */
    int32_t view; /* in which of the job's views, and what that is part of; or RVM__KERNEL_VALUE */
    int32_t root;
} rvm__block_arg;
enum { RVM__MOST_KERNEL_SUMS = 64, RVM__NO_INSTANCE = 1 << 30 };
typedef struct rvm__block_kernel {
    struct rvm__block_kernel *next;
    size_t size;         /* of this, bytes */
    LLVMValueRef record; /* an rvm__native_kernel, to be defined */
    LLVMValueRef views;  /* a constant, rvm__kernel_view of each */
    unsigned instance;   /* its function's number, */
    unsigned nested; /* and that of one whose blocks within several threads run (lower/nested.c); RVM__NO_INSTANCE: none */
    unsigned sums;   /* registers that instances add into, RVM__MOST_KERNEL_SUMS at most, and their types */
    uint8_t sum_types[RVM__MOST_KERNEL_SUMS];
    bool ascending;
    uint64_t work; /* as in rvm__native_kernel */
    uint32_t line, nviews, nargs;
    rvm__block_arg args[];
} rvm__block_kernel;

typedef struct rvm__build {
    const rvm__traits *target;
    const rvm_allocator *al; /* NULL: the C library's; what is built with it may not outlive it */
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTypeRef i1, i8, i16, i32, i64, i128, f64, f32, ptr, nothing;
    unsigned lanes;  /* of the values being built: 1 scalars, else vectors of so many */
    bool recurses;   /* some function that was lowered does */
    bool sleef;      /* elementary functions are SLEEF's, but where libm's or libmvec's may serve, which are faster */
    bool fast;       /* contraction and reassociation are allowed */
    bool no_machine; /* code that has none: groups call what rvm__build_no_machine adds, or are not made */
    bool singles;    /* operations on f32 are marked, for a device (RVM__SINGLE_MARK) */
    bool on_device;  /* kernels of a device, or of what stands in for one: few registers make for many threads */
    unsigned small;  /* functions of so many instructions, those of callees included, are inlined */
    uint32_t blocks, in_threads; /* parallel blocks that were lowered, where threads were asked for; that may run so */
    char serial[200];            /* why the first one that may not does not, or "" */
    unsigned grouped, single;    /* instances of which groups were made, or were not */
    char why[80];                /* not, of the last one of these */
    unsigned instances;          /* functions named so, of which lanes.c makes groups */
    rvm__block_kernel *kernels;  /* of k->al, as long as this */
    unsigned nkernels, made;     /* so many; of these, that could be made */
    char on_host[400];           /* lines of blocks that are none, and why, or "" */
} rvm__build;
enum { RVM__MAX_LANES = 64 };
#define RVM__MOST_COPIES 16 /* that LLVM makes of a loop's body where it knows only how many trips there are at most */

/* Functions of more blocks than that are large, before they are optimised: see jit/llvm/large.c. The attribute of one whose
 * machine code is made in the simplest way. */
enum { RVM__LARGE = 5 << 10 };
#define RVM__SIMPLE "rvm-simple"

/* ---- no_machine.c ---- */
typedef struct rvm__no_machine { /* at first all 0 */
    void *top;                   /* local array */
    void *log;                   /* the C library's memory, which whoever made this frees */
    uint64_t size;
} rvm__no_machine;
/* Defines what the module's groups call of a machine, in code that has none. */
rvm_status rvm__build_no_machine(const rvm__build *k, rvm_error *err);

/* ---- build.c ---- */

/* The block at that line does not run on a device: why. */
void rvm__stays_on_host(rvm__build *k, uint32_t line, const char *why);

/* Starts a module of that name for that target, of scalars and not fast; false: out of memory. End it in any case; what was
 * taken out of it (module, context) is NULL then. */
bool rvm__build_begin(rvm__build *k, const rvm__traits *target, const char *name);
void rvm__build_end(rvm__build *k);

/* What IR defines, as text, becomes part of the module; false: LLVM refuses it. */
bool rvm__build_link(const rvm__build *k, const char *ir);

/* Types and constants in k->lanes lanes: of that scalar type; of a value of type t; of a truth value; one constant in every
 * lane; a constant of type t. */
LLVMTypeRef rvm__build_lanes(const rvm__build *k, LLVMTypeRef scalar);
LLVMTypeRef rvm__build_type(const rvm__build *k, rvm_type t);
LLVMTypeRef rvm__build_bool(const rvm__build *k);
LLVMValueRef rvm__build_splat(const rvm__build *k, LLVMValueRef constant);
LLVMValueRef rvm__build_value(const rvm__build *k, rvm_type t, rvm_value v);
LLVMValueRef rvm__build_int(const rvm__build *k, int64_t v);                /* an i64, never in lanes */
void rvm__build_vectors(const rvm__build *k, LLVMValueRef f, bool allowed); /* whether LLVM may make some of f's numbers */

/* A call of LLVM's own function, overloaded by these types, of n operands; the same, by the type of the first one alone. */
enum { RVM__MOST_INTRINSIC = 6 };
LLVMValueRef rvm__build_overloaded(const rvm__build *k, const char *name, unsigned ntypes, LLVMTypeRef *types, unsigned n,
                                   const LLVMValueRef *x);
LLVMValueRef rvm__build_intrinsic(const rvm__build *k, const char *name, unsigned n, const LLVMValueRef *x);
/* A branch of n ways goes the way `which`, mostly (branch weights): what takes the others counts as cold to LLVM, and so
 * does all that is reached by them alone. */
enum { RVM__MOST_WAYS = 3 };
void rvm__build_mostly(const rvm__build *k, LLVMValueRef branch, unsigned n, unsigned which);

/* ---- words.c ---- */

/* Below, *overflow is NULL or a truth value: it becomes "or what overflowed here", on fix only. overflow may be NULL: nobody
 * asks, and results wrap. Truth values are i1. */

/* f of a row, from its operands, whose first typed one has type t; y is the type of the target. Signature QUOT wants the
 * divisor tested before, POS the operand: else the result means nothing, but nothing traps. */
LLVMValueRef rvm__build_row(rvm__build *k, rvm_row row, rvm_type y, rvm_type t, const LLVMValueRef operand[3],
                            LLVMValueRef *overflow);
/* What an update by opcode op leaves in its target of type t: the family's value of (y, f). The update is a legal one. */
LLVMValueRef rvm__build_update(rvm__build *k, rvm_op op, rvm_type t, LLVMValueRef y, LLVMValueRef f, LLVMValueRef *overflow);
/* Whether x is neither 0 nor infinite nor NaN: what may be a factor; whether it is positive and finite. */
LLVMValueRef rvm__build_is_factor(rvm__build *k, LLVMValueRef x);
LLVMValueRef rvm__build_is_positive(rvm__build *k, rvm_type t, LLVMValueRef x);
LLVMValueRef rvm__build_negated(rvm__build *k, rvm_type t, LLVMValueRef x, LLVMValueRef *overflow);
/* What a change in place makes of the places v, of type t. Returns whether they are in its domain; NULL: always. */
LLVMValueRef rvm__build_change(rvm__build *k, rvm_op op, rvm_type t, LLVMValueRef v[RVM_MAX_CHANGED],
                               const LLVMValueRef a[RVM_MAX_CHANGE_OPERANDS], LLVMValueRef *overflow);
/* A call of a C function of doubles, or of an i64 and a double, of functions.def or exact: never looked into, so that all
 * engines give the same bits. In lanes: lane by lane. Those that are exact (square root, floor, ..) are instructions where
 * the target has them. */
LLVMValueRef rvm__build_call(rvm__build *k, const char *name, unsigned n, const LLVMValueRef *x);

#endif

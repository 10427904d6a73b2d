/* rvm_program.h: programs of the reversible machine: load, save, verify, inspect. Included by rvm.h.
 *
 * A program is made by the assembler (rvm_asm.h) or loaded from bytecode; it is verified once, then immutable, and may be
 * shared between threads. Every function that can fail returns a status and, where `err` is not NULL, fills it.
 *
 * In all six headers a pointer may be NULL only where that is said, or where it is to no elements. Else, and where a kind
 * is none of its enum, a function that returns a status returns USAGE and names the parameter; another does nothing and
 * returns false, 0 or NULL, and an index -1.
 */
#ifndef RVM_PROGRAM_H
#define RVM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RVM_VERSION_MAJOR  0
#define RVM_VERSION_MINOR  2
#define RVM_VERSION_PATCH  0
#define RVM_VERSION_STRING "0.2.0"
#if defined(__GNUC__)
#define RVM_API              __attribute__((visibility("default")))
#define RVM_DEPRECATED(text) __attribute__((deprecated(text)))
#else
#define RVM_API
#define RVM_DEPRECATED(text)
#endif

/* Status codes: X(name, exit status of the commands, what it says). */
#define RVM_STATUS_MAP(X)                                                                                                   \
    X(OK, 0, "ok")                                                                                                          \
    X(MEMORY, 4, "out of memory")                                                                                           \
    X(USAGE, 2, "wrong use of the interface")                                                                               \
    X(IO, 3, "cannot read or write")                                                                                        \
    X(SYNTAX, 3, "syntax error")                                                                                            \
    X(TYPE, 3, "type error")                                                                                                \
    X(NAME, 3, "unknown or repeated name")                                                                                  \
    X(FORMAT, 3, "damaged or foreign file")                                                                                 \
    X(VERSION, 3, "file of another version")                                                                                \
    X(VERIFY, 3, "program rejected by the verifier")                                                                        \
    X(ARGUMENT, 2, "wrong argument")                                                                                        \
    X(SHAPE, 1, "shapes disagree")                                                                                          \
    X(ALIAS, 1, "places overlap")                                                                                           \
    X(RELEASE, 1, "an ancilla does not disappear as its value")                                                             \
    X(CONDITION, 1, "a postcondition disagrees")                                                                            \
    X(LOOP, 1, "a loop bound is wrong")                                                                                     \
    X(ASSERT, 1, "an assertion fails")                                                                                      \
    X(INDEX, 1, "index out of bounds")                                                                                      \
    X(DOMAIN, 1, "a value is outside the domain of the instruction")                                                        \
    X(OVERFLOW, 1, "fixed-point overflow")                                                                                  \
    X(FUNCTION, 1, "a function value does not fit its call")                                                                \
    X(STACK, 1, "the stack does not hold what a pop expects")                                                               \
    X(TRAIL, 1, "the trail does not hold what is taken back from it")                                                       \
    X(RACE, 1, "instances of a parallel block share what one alone may use")                                                \
    X(TRAP, 1, "control arrives where it must not")                                                                         \
    X(NOT_RESTORABLE, 1, "a value cannot be restored")                                                                      \
    X(TANGENT, 1, "an ancilla disappears with a nonzero tangent")                                                           \
    X(DEPTH, 4, "call depth limit")                                                                                         \
    X(LIMIT, 4, "a limit is reached")                                                                                       \
    X(FUEL, 4, "instruction limit")                                                                                         \
    X(CANCELLED, 4, "cancelled")                                                                                            \
    X(UNSUPPORTED, 2, "not available")                                                                                      \
    X(CHECK, 1, "a check of derivatives or reversibility fails")                                                            \
    X(INTERNAL, 1, "internal error; please report it")

typedef enum rvm_status {
#define X(name, exit_status, text) RVM_ERR_##name,
    RVM_STATUS_MAP(X)
#undef X
        RVM_OK = RVM_ERR_OK
} rvm_status;

/* Name ("RELEASE"), description, and exit status of a command that ends with it. Static strings; any thread. */
RVM_API const char *rvm_status_name(rvm_status s);
RVM_API const char *rvm_status_text(rvm_status s);
RVM_API int rvm_status_exit(rvm_status s);

/* What went wrong, where: at the statement, or where an argument is wrong at the function that takes it. line and column
 * count from 1; 0 means unknown. pc is the instruction's index in its function. */
typedef struct rvm_error {
    rvm_status code;
    uint32_t line, column, pc;
    char file[256];
    char message[512];
} rvm_error;

/* Memory source. alloc(ud, NULL, 0, n) allocates, (ud, p, old, n) resizes, (ud, p, old, 0) frees and returns NULL.
 * It returns NULL when it cannot; the library then reports RVM_ERR_MEMORY. Alignment as malloc. A NULL rvm_allocator means
 * the C library's. It must outlive what was created with it; calls come from the thread that uses the object, for a
 * machine with native code also from those that it starts (rvm_jit_options.threads), one at a time, and for a
 * program from each thread that saves it or derives from it. */
typedef struct rvm_allocator {
    void *(*alloc)(void *userdata, void *p, size_t old_size, size_t new_size);
    void *userdata;
} rvm_allocator;

/* An f32 is kept as a double that a float holds exactly: in rvm_scalar, in arrays (8 bytes an element), in constants. */
typedef enum rvm_type { RVM_I64, RVM_F64, RVM_FIX, RVM_F32, RVM_TYPE_COUNT } rvm_type;
RVM_API const char *rvm_type_name(rvm_type t); /* "i64" ...; "?" outside the enum */

/* Whose elementary functions are computed with: the C library's, or SLEEF's deterministic ones, which have the same bits on
 * every processor with FMA and on every engine but devices, and in lanes run as vectors. AUTO is SLEEF where it is there,
 * which a processor without FMA lacks. */
typedef enum rvm_math { RVM_MATH_AUTO, RVM_MATH_LIBM, RVM_MATH_SLEEF } rvm_math;
RVM_API const char *rvm_math_name(rvm_math math); /* "auto", "libm", "sleef"; "?" outside the enum */
/* *out becomes what that is here, LIBM or SLEEF. Errors: UNSUPPORTED (why SLEEF's are not there; *out is LIBM). Any thread.
 */
RVM_API rvm_status rvm_math_choose(rvm_math asked, rvm_math *out, rvm_error *err);

/* Roles of parameters: only read, only accumulated into, anything else. */
typedef enum rvm_role { RVM_READ, RVM_ACC, RVM_OWN } rvm_role;
RVM_API const char *rvm_role_name(rvm_role r);

/* What an instruction is about: X(id, name). */
#define RVM_CLASS_MAP(X)                                                                                                    \
    X(UPDATE, "update")     /* one place by a function of others */                                                         \
    X(CONTROL, "control")   /* where control goes: jumps, loops, blocks */                                                  \
    X(REGION, "region")     /* compute, do, undo */                                                                         \
    X(CALL, "call")         /* of a function */                                                                             \
    X(IN_PLACE, "in-place") /* places by what they held: swap, rot, neg */                                                  \
    X(STACK, "stack")       /* values onto the stack, and back */                                                           \
    X(TRAIL, "trail")       /* values onto a trail, and back */                                                             \
    X(ARRAY, "array")       /* an array, or a name for a part of one, appears or disappears */                              \
    X(CHECK, "check")       /* asserts */
typedef enum rvm_class {
#define X(id, name) RVM_CLASS_##id,
    RVM_CLASS_MAP(X)
#undef X
} rvm_class;
enum { RVM_CLASSES = RVM_CLASS_CHECK + 1 };
RVM_API const char *rvm_class_name(rvm_class c); /* "update" ...; "?" outside the enum */

/* What an instruction asks of a processor, by the formulas of its row and family and the letters of its operands: how often
 * each kind of arithmetic unit works (a negation adds, a choice is logic, an elementary function is one), accesses to
 * registers and elements (an update reads and writes its target; an element is addressed by the registers of its
 * indices), values that move onto a trail or a stack or back, jumps, and how often the counter's direction turns (twice
 * where a callee runs against its caller, or a compute part is taken back). Array instructions and arguments of calls count
 * as no accesses. */
typedef enum rvm_unit {
    RVM_UNIT_ADD,
    RVM_UNIT_MULTIPLY,
    RVM_UNIT_DIVIDE,
    RVM_UNIT_FUNCTION,
    RVM_UNIT_COMPARE,
    RVM_UNIT_LOGIC,
    RVM_UNIT_CONVERT,
    RVM_UNITS
} rvm_unit;
RVM_API const char *rvm_unit_name(rvm_unit unit); /* "add" ...; "?" outside the enum */
typedef struct rvm_work {
    uint16_t units[RVM_UNITS];
    uint16_t register_reads, register_writes, memory_reads, memory_writes, trail, jumps, turns;
} rvm_work;

/* fix: signed Q20.43 in an int64_t. to: nearest, ties to even; saturates, NaN gives 0; from: exact up to 53 bits. */
#define RVM_FIX_FRACTION 43
RVM_API int64_t rvm_fix_from_double(double x);
RVM_API double rvm_fix_to_double(int64_t x);

#define RVM_MAX_DIMS   4
#define RVM_MAX_PARAMS 255 /* of a function */

typedef struct rvm_program rvm_program;

/* Load bytecode from memory (copied) or a file, check its hash, and verify it. name is for messages and may be NULL. *out is
 * owned by the caller. Errors: IO, FORMAT (truncated, damaged, foreign), VERSION (rvm_bytecode_version), VERIFY, MEMORY;
 * *out is NULL then. */
RVM_API rvm_status rvm_program_load(const void *bytes, size_t size, const char *name, const rvm_allocator *al,
                                    rvm_program **out, rvm_error *err);
RVM_API rvm_status rvm_program_load_file(const char *path, const rvm_allocator *al, rvm_program **out, rvm_error *err);
/* Encode to bytes that rvm_program_load takes. *bytes comes from the program's allocator: free with rvm_program_free_bytes.
 * Errors: MEMORY; *bytes is NULL then. */
RVM_API rvm_status rvm_program_save(const rvm_program *p, void **bytes, size_t *size, rvm_error *err);
RVM_API void rvm_program_free_bytes(const rvm_program *p, void *bytes, size_t size);
/* Write bytecode to a file, through a temporary beside it that is renamed, so that a failure leaves the file as it was; what
 * is no regular file, as a pipe, is written where it is. Errors: IO (with errno's text), MEMORY. */
RVM_API rvm_status rvm_program_save_file(const rvm_program *p, const char *path, rvm_error *err);
RVM_API void rvm_program_free(rvm_program *p); /* NULL is allowed; no machine may still use it */
/* Write any other file as rvm_program_save_file does. Errors: IO. */
RVM_API rvm_status rvm_file_write(const char *path, const void *bytes, size_t size, rvm_error *err);

/* The format of the bytecode that this library writes: the version of the container, and the fingerprint of the tables of
 * instructions, without which its numbers mean nothing. A file is read if its container has this version, and if this
 * library's tables begin with those it was made with; else VERSION, and it must be assembled again. Any thread. */
RVM_API uint32_t rvm_bytecode_version(void);
RVM_API uint64_t rvm_bytecode_tables(void);
/* Whether these bytes begin as bytecode does, rather than as a source. */
RVM_API bool rvm_bytecode_begins(const void *bytes, size_t size);

/* Identity: XXH3-128 of the body of the encoding, high and low half. 0 when a derived program's memory is out. */
RVM_API void rvm_program_id(const rvm_program *p, uint64_t id[2]);

/* One parameter. ndim is 0 for a scalar. A length that is a name is shared by every parameter that uses the name. */
typedef struct rvm_param_info {
    const char *name; /* owned by the program */
    rvm_type type;
    rvm_role role;
    int ndim;
    const char *function_type;          /* of an i64 that is a function value: "fn(acc f64, read f64[])"; else NULL */
    const char *dim_name[RVM_MAX_DIMS]; /* NULL where the length is a constant */
    int64_t dim_value[RVM_MAX_DIMS];    /* the constant, or -1 */
} rvm_param_info;

RVM_API uint32_t rvm_program_function_count(const rvm_program *p);
/* Index of a function by name, or -1. */
RVM_API int64_t rvm_program_find(const rvm_program *p, const char *name);
RVM_API const char *rvm_program_function_name(const rvm_program *p, uint32_t fn); /* NULL if out of range */
RVM_API uint32_t rvm_program_param_count(const rvm_program *p, uint32_t fn);
/* Errors: USAGE when fn or i is out of range. */
RVM_API rvm_status rvm_program_param(const rvm_program *p, uint32_t fn, uint32_t i, rvm_param_info *out);
/* What the source writes as one number may be several parameters: z: complex is z.re and z.im, y: lns is y.log, the
 * logarithm. The shadow of z, in a derived function, is z_b, which is z.re_b and z.im_b. */
typedef enum rvm_component { RVM_COMPONENT_WHOLE, RVM_COMPONENT_RE, RVM_COMPONENT_IM, RVM_COMPONENT_LOG } rvm_component;
/* Which of them parameter i is; WHOLE: the number itself, or there is no such parameter. *other: the other part of RE and
 * IM, else i. name: what the source calls the number, cut to size and ended by 0. Either may be NULL. */
RVM_API rvm_component rvm_program_component(const rvm_program *p, uint32_t fn, uint32_t i, uint32_t *other, char *name,
                                            size_t size);

/* The k-th source that positions name: the one that was assembled, then what it includes. NULL past the last. */
RVM_API const char *rvm_program_file(const rvm_program *p, uint32_t k);
/* Instructions of a function; source position of one (*file NULL when unknown). Line 0 when unknown. Each of file, line and
 * column may be NULL. */
RVM_API uint32_t rvm_program_code_size(const rvm_program *p, uint32_t fn);
RVM_API void rvm_program_position(const rvm_program *p, uint32_t fn, uint32_t pc, const char **file, uint32_t *line,
                                  uint32_t *column);

/* What an instruction does with control. Pairs are each other's inverse, so that backward they trade places. */
typedef enum rvm_flow {
    RVM_FLOW_ON,  /* goes on to the next */
    RVM_FLOW_END, /* start, halt */
    RVM_FLOW_JUMP,
    RVM_FLOW_JUMP_IF,
    RVM_FLOW_COME_FROM,
    RVM_FLOW_LOOP, /* a counted loop: either end */
    RVM_FLOW_LOOP_END,
    RVM_FLOW_BLOCK, /* a parallel block: either end */
    RVM_FLOW_BLOCK_END,
    RVM_FLOW_COMPUTE, /* a region opens; its compute part ends; the region ends, where the compute part runs backward */
    RVM_FLOW_DO,
    RVM_FLOW_UNDO
} rvm_flow;

/* One instruction; docs/isa.md has what each means. */
typedef struct rvm_instruction {
    const char *mnemonic; /* "add", "let", "jmp": static strings, those of rvm_profile_kind, too */
    const char *symbol;   /* of an update as the language writes it: "+="; else NULL */
    const char *row;      /* of an update the function that it applies: "mul"; else NULL */
    uint32_t places;      /* operands, the target first where it has one */
    rvm_flow flow;
    int64_t target; /* of a jump, a come-from, either end of a loop or block: the one that it is paired with; else -1 */
    int64_t callee; /* the function that it calls, or whose number it takes; else -1 */
} rvm_instruction;
/* False past the last instruction of a function. */
RVM_API bool rvm_program_instruction(const rvm_program *p, uint32_t fn, uint32_t pc, rvm_instruction *out);
/* The text of its k-th place, with the names of the source where they are known, as "x[i]"; cut to size and ended by 0.
 * Returns the length it has uncut, 0 where there is none. */
RVM_API int rvm_program_place_text(const rvm_program *p, uint32_t fn, uint32_t pc, uint32_t k, char *text, size_t size);

/* What an instruction does with its k-th place: of a register or array of the function, which are numbered together, arrays
 * behind registers (rvm_program_variable), or of a constant. A number is used again where its place has disappeared. */
typedef struct rvm_operand {
    int64_t variable; /* -1: a constant, or the bounds of a part */
    bool whole;       /* not one element: an array or a part of it */
    rvm_role role;    /* only read, only added to, anything else; of an argument that of the parameter */
    int appears;      /* run as written, the place appears: 1, disappears: -1, neither: 0 */
    int indices;      /* registers that say which element or part, which are read */
    uint16_t index[RVM_MAX_DIMS + 1];
} rvm_operand;
/* False where there is none. */
RVM_API bool rvm_program_operand(const rvm_program *p, uint32_t fn, uint32_t pc, uint32_t k, rvm_operand *out);
typedef struct rvm_variable_info {
    rvm_type type;
    bool array;
    bool length;      /* the length of an array that is a parameter */
    int64_t param;    /* the parameter that it is, or -1 */
    const char *name; /* of a parameter, and of a length that has one; else NULL; the program's own */
} rvm_variable_info;
/* False past the last. */
RVM_API bool rvm_program_variable(const rvm_program *p, uint32_t fn, uint32_t k, rvm_variable_info *out);

/* The instruction that opens the k-th parallel block of a function, or -1. *proved (may be NULL): whether the verifier
 * proved what its instances may share; else the machine watches over it while the block runs. */
RVM_API int64_t rvm_program_block(const rvm_program *p, uint32_t fn, uint32_t k, bool *proved);

/* Write the text of the program (fn < 0: all of it) in assembly that assembles to the same bytes. Errors: IO. */
RVM_API rvm_status rvm_program_disassemble(const rvm_program *p, int64_t fn, FILE *out, rvm_error *err);
/* The text of one instruction, cut to size and ended by 0; returns the length it has uncut, as snprintf does. */
RVM_API int rvm_program_instruction_text(const rvm_program *p, uint32_t fn, uint32_t pc, char *text, size_t size);

/* ---- derived functions ----
 * f'inv is f run backward; f'tan is f with a tangent x_d beside every active real x; f'adj is the backward sweep, from f's
 * outputs y and seeds y_b to its inputs x and what x_b gains; f'grad is f, then f'adj. Each active parameter is followed by
 * its shadow. They are functions like others, of which there are derivatives again. */
typedef enum rvm_transform { RVM_INVERSE, RVM_TANGENT_OF, RVM_ADJOINT, RVM_GRADIENT_OF, RVM_TRANSFORM_COUNT } rvm_transform;
/* What the name of such a shadow ends in: "_d" of a tangent, else "_b"; a static string. */
RVM_API const char *rvm_shadow_suffix(rvm_transform kind);
/* A copy of p with the function derived from fn, and what it calls, behind the functions of p; *index is its number. active:
 * for each parameter of fn, nonzero where it gets a shadow; NULL: all reals. *out is owned by the caller, NULL on failure.
 * Errors: USAGE (fn), UNSUPPORTED (why fn has none, and where; an i64 is active; nested too deep; a parameter that depends
 * on an active one is not), VERIFY, MEMORY. The rules of every instruction: docs/semantics.md and docs/isa.md. */
RVM_API rvm_status rvm_program_transform(const rvm_program *p, uint32_t fn, rvm_transform kind, const uint8_t *active,
                                         rvm_program **out, uint32_t *index, rvm_error *err);
/* The same by name: "f'grad", "f'grad'tan", "f'adj[out,x]" with the active parameters listed. Errors besides: ARGUMENT (no
 * such function, tick or parameter). */
RVM_API rvm_status rvm_program_derive(const rvm_program *p, const char *name, rvm_program **out, uint32_t *index,
                                      rvm_error *err);
/* Whether a derivative of fn that is written by hand, or one of what it calls, takes part in the derivative of that kind,
 * RVM_TANGENT_OF or RVM_ADJOINT. Such derivatives are run as programs: the modes of a machine, which go through the code of
 * fn instruction by instruction, refuse them. */
RVM_API bool rvm_program_by_hand(const rvm_program *p, uint32_t fn, rvm_transform kind);
/* Whether a run of fn may come to a `print`, which shows its arguments to the caller of the machine (rvm_options.print). */
RVM_API bool rvm_program_prints(const rvm_program *p, uint32_t fn);
/* Adds to active[], a byte for each parameter of fn, the parameters whose values depend on active ones: the least that
 * rvm_program_transform takes. Errors: USAGE, ARGUMENT (an i64 is active), MEMORY. */
RVM_API rvm_status rvm_program_close_active(const rvm_program *p, uint32_t fn, uint8_t *active, rvm_error *err);

/* ---- loops that run again from snapshots ----
 * With rvm_options.checkpoints a gradient keeps no trail of a loop's trips, but a few states of what the loop changes. */
typedef struct rvm_checkpointed {
    uint32_t fn, line, column; /* where the loop stands */
    const char *function, *file;
    const char *why;  /* NULL: it is run again; else why not, a static string: "it uses the stack" */
    uint32_t changes; /* registers and arrays from outside of the loop that its trips change: a state */
    uint32_t reads;   /* that they only read, or only add to */
} rvm_checkpointed;
/* Loops of fn, and of what it may call, counted ones and those of `from` and `while`, whose trips leave something on the
 * trail, as they stand in the text; without those that go through the elements of what they change, each once. Where a trip
 * leaves a few values only, the run itself decides which takes less memory, snapshots or the trail. out: room for `most`;
 * *n: how many there are. out may be NULL where most is 0. Errors: USAGE (no function has this number), MEMORY. */
RVM_API rvm_status rvm_program_checkpointed(const rvm_program *p, int64_t fn, rvm_checkpointed *out, uint32_t most,
                                            uint32_t *n, rvm_error *err);

/* ---- constants ----
 * What a function only reads may be given once and for all: an engine that compiles then knows it. */
typedef struct rvm_constant {
    const char *name; /* of a scalar parameter, or of a length */
    union {
        int64_t i; /* of an i64, of a length; the raw bits of a fix */
        double f;  /* of an f64 or f32 */
    } value;
} rvm_constant;
/* A copy of p with fn for these values behind its functions: a function without the scalars, whose arrays must have the
 * lengths (SHAPE when it is bound), and copies of what it calls with them. *index is its number; its name is fn's with
 * 'const behind it, and its results are those of fn. *out is owned by the caller, NULL on failure. Errors: USAGE (fn),
 * ARGUMENT (no such name, one given twice, an array, a parameter that fn changes, a length below 0, no f32), what the
 * verifier finds wrong with these values (two elements are the same), MEMORY. */
RVM_API rvm_status rvm_program_fold(const rvm_program *p, uint32_t fn, const rvm_constant *constants, uint32_t n,
                                    rvm_program **out, uint32_t *index, rvm_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* rvm_profile.h: exact counts of what a machine ran: by instruction, by line, by function, by call path. The machine is made
 * with options.profile; that costs a tenth of the time or so, and nothing without it.
 *
 *     rvm_profile *f;
 *     rvm_profile_kind_count k;
 *     if (!rvm_call(m, fn, a, 2, &e) && !rvm_profile_new(m, &f, &e)) { // m was made with the option
 *         for (uint32_t i = 0; rvm_profile_kind(f, i, &k); i++)
 *             printf("%llu %s\n", (unsigned long long)k.count, k.mnemonic);
 *         rvm_profile_free(f);
 *     }
 *
 * Counts are those of single steps: of a jump and its come-from the jump, of a counted loop `for` and each `next`; a run
 * that fails has counted what it ran, without the instruction that failed. They are of all runs of the machine since it was
 * made, or since rvm_machine_stats_reset, and belong to its program. Whole runs, gradients and tangents of a machine with
 * native code (rvm_jit.h) are native with the option, too: the same counts, from code that counts, which leaves nothing out
 * and uses neither lanes nor threads; of a derivative, which is a program then, they are told by where its code comes from.
 * Threads: a profile is a copy, which
 * nothing changes; it may be shared.
 */
#ifndef RVM_PROFILE_H
#define RVM_PROFILE_H

#include "rvm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an instruction ran for. COMPUTE and UNDO: within a compute part, or called from one, the first and the second time
 * that it is passed; the innermost part counts. FORWARD and BACKWARD: elsewhere, by the way that the run as a whole goes.
 * SWEPT: the sweep, wherever. */
typedef enum rvm_profile_mode {
    RVM_PROFILE_FORWARD,
    RVM_PROFILE_COMPUTE,
    RVM_PROFILE_UNDO,
    RVM_PROFILE_BACKWARD,
    RVM_PROFILE_SWEPT,
    RVM_PROFILE_MODES
} rvm_profile_mode;
RVM_API const char *rvm_profile_mode_name(rvm_profile_mode mode); /* "forward"; "?" of a number that is none */

/* Executions, by mode, and by direction of the counter: [0] up, [1] down, where an instruction is its inverse. */
typedef struct rvm_profile_counts {
    uint64_t n[RVM_PROFILE_MODES][2];
} rvm_profile_counts;
RVM_API uint64_t rvm_profile_sum(const rvm_profile_counts *c); /* of all; NULL: 0 */

typedef struct rvm_profile rvm_profile;
/* What was counted so far: at an end of a run, between steps, or where one failed. *out is owned by the caller and NULL on
 * failure; the program must outlive it. Errors: USAGE (the machine has no option profile), MEMORY. */
RVM_API rvm_status rvm_profile_new(const rvm_machine *m, rvm_profile **out, rvm_error *err);
RVM_API void rvm_profile_free(rvm_profile *f); /* NULL is allowed */
/* Of all; its sum is what rvm_stats has as forward, backward and swept. */
RVM_API void rvm_profile_total(const rvm_profile *f, rvm_profile_counts *out);

/* One kind of instruction. Going down, the mnemonic is that of the inverse: it is what was executed. */
typedef struct rvm_profile_kind_count {
    const char *mnemonic; /* "add", "let", "call": static strings */
    const char *row;      /* of an update the function that it applies: "mul"; else NULL */
    rvm_class about;
    rvm_type type, operands; /* of the target, and of the first typed operand; of what has no target RVM_I64 */
    char places[8];          /* a letter each, the target first: r register, c constant, e element, a array; of more than
                                seven the first six and a `+` */
    int direction;           /* of the counter: 1 up, -1 down */
    rvm_profile_mode mode;
    bool tangents; /* in tangent mode */
    uint64_t count;
} rvm_profile_kind_count;
/* The k-th, most frequent first. False past the last. */
RVM_API bool rvm_profile_kind(const rvm_profile *f, uint32_t k, rvm_profile_kind_count *out);
/* What one instruction of that kind asks of a processor; of a swept one its adjoint, as if every real operand that is no
 * constant had a shadow. False past the last. */
RVM_API bool rvm_profile_kind_work(const rvm_profile *f, uint32_t k, rvm_work *out);

/* With option activity: how many bits its writes might have changed, which is the width of what they wrote, and how many
 * they did: [0] in registers, [1] in elements, trail and stack; of shadows, too. Of all executions of the k-th kind; all 0
 * without the option. False past the last. */
typedef struct rvm_switching {
    uint64_t bits[2], flipped[2];
} rvm_switching;
RVM_API bool rvm_profile_kind_switching(const rvm_profile *f, uint32_t k, rvm_switching *out);

/* A call path: a function that was bound (parent -1), or a path, a call in it, and the function called. A function that is
 * on the path already, in the same direction, is taken together with that path. Parents stand before their children. Beyond
 * some ten thousands paths each function has one without a parent for all that come, `shared`. */
typedef struct rvm_profile_path {
    int64_t parent;
    uint32_t fn, call_pc;       /* call_pc: the call in the parent */
    uint64_t calls, recursions; /* times that it was entered: from the parent (runs, of one without), from below */
    bool tangents, shared;
    rvm_profile_counts own; /* instructions of the function itself on this path */
    uint64_t total;         /* with all paths below it */
} rvm_profile_path;
/* The k-th. False past the last. */
RVM_API bool rvm_profile_path_at(const rvm_profile *f, uint32_t k, rvm_profile_path *out);
/* A call that leads back to a path from one below it: the k-th. False past the last. */
typedef struct rvm_profile_recursion {
    uint32_t from, to, call_pc; /* paths; call_pc: in the function of `from` */
    uint64_t calls;
} rvm_profile_recursion;
RVM_API bool rvm_profile_recursion_at(const rvm_profile *f, uint32_t k, rvm_profile_recursion *out);

/* A function, on all paths: what it ran itself, that with all it called (paths within a path of itself count once), and
 * how often it was entered. False past the last function. */
typedef struct rvm_profile_function {
    rvm_profile_counts own;
    uint64_t total, calls;
} rvm_profile_function;
RVM_API bool rvm_profile_function_at(const rvm_profile *f, uint32_t fn, rvm_profile_function *out);

/* Instruction pc of function fn on all paths; of path k alone. False where there is none. */
RVM_API bool rvm_profile_instruction(const rvm_profile *f, uint32_t fn, uint32_t pc, rvm_profile_counts *out);
RVM_API bool rvm_profile_instruction_on(const rvm_profile *f, uint32_t k, uint32_t pc, rvm_profile_counts *out);

/* A line of the source, on all paths: the k-th that has a count, by file, then by number. Instructions whose position is not
 * known are those of line 0 of file NULL. False past the last. */
typedef struct rvm_profile_line {
    const char *file; /* the program's own */
    uint32_t line;
    rvm_profile_counts own;
} rvm_profile_line;
RVM_API bool rvm_profile_line_at(const rvm_profile *f, uint32_t k, rvm_profile_line *out);

/* What the run held, in bytes: registers of all frames and local arrays; the trail; the stack; shadows of registers and of
 * local arrays. Arrays of the caller are not counted, nor is what the machine needs besides. */
typedef struct rvm_profile_memory {
    uint64_t instructions; /* run till then; of peaks 0 */
    uint64_t states, trail, stack, shadows;
} rvm_profile_memory;
/* The k-th sample, in the order of time: at most some hundreds, a while apart, from the start to the end. False past the
 * last. */
RVM_API bool rvm_profile_memory_at(const rvm_profile *f, uint32_t k, rvm_profile_memory *out);
/* Of each the most that there was at any instruction, exactly; of native runs what polls saw, but for the trail, without
 * frames of calls in progress and local arrays that native code keeps to itself; the shadows of a derivative that runs as a
 * program are states of that. */
RVM_API void rvm_profile_memory_peak(const rvm_profile *f, rvm_profile_memory *out);

#ifdef __cplusplus
}
#endif
#endif

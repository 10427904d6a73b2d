/* rvm_coprocessor.h: what runs would cost on a reversible co-processor: cycles, energy, erased bits, by a model that is a
 * text file. docs/coprocessor.md says what the model can tell, and how to add a technology.
 *
 *     rvm_counts *c;
 *     rvm_model *model;
 *     rvm_price price;
 *     if (!rvm_call(m, fn, a, 2, &e) && // m was made with options.profile
 *         !rvm_counts_new(NULL, &c, &e) && !rvm_counts_add_machine(c, m, 1, &e) &&
 *         !rvm_model_shipped("adiabatic", NULL, &model, &e) && !rvm_model_price(model, c, 0, &price, &e))
 *         printf("%g J\n", price.energy);
 *
 * Threads: a model and counts belong to who changes them, and may be shared while nobody does. Nothing here prints or keeps
 * global state.
 */
#ifndef RVM_COPROCESSOR_H
#define RVM_COPROCESSOR_H

#include "rvm_profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- counts: what a run asked of the device ---- */

/* Why bits are gone: X(id, name). As in rvm_stats. */
#define RVM_CAUSE_MAP(X)                                                                                                    \
    X(TRAIL, "trail")         /* values that a trail which is off did not keep */                                           \
    X(SHADOWS, "shadows")     /* gradients that a sweep dropped */                                                          \
    X(STACK, "stack")         /* values left on the stack */                                                                \
    X(FORGOTTEN, "forgotten") /* places of compute parts that were forgotten */                                             \
    X(COPIED, "copied")       /* values over which a device and its host copied others */
typedef enum rvm_cause {
#define X(id, name) RVM_CAUSE_##id,
    RVM_CAUSE_MAP(X)
#undef X
        RVM_CAUSES
} rvm_cause;
RVM_API const char *rvm_cause_name(rvm_cause cause); /* "trail" ...; "?" outside the enum */

/* Instructions of one kind: all that a model asks of them. */
typedef struct rvm_counted {
    char kind[40]; /* "add.mul", "call" */
    rvm_type type, operands;
    char places[8]; /* as in rvm_profile_kind_count */
    int direction;
    rvm_profile_mode mode;
    uint64_t count;
    rvm_work work;          /* of one */
    rvm_switching switched; /* of all: what their writes changed, where that was measured (option activity); else 0 */
} rvm_counted;

typedef struct rvm_counts_sums {
    uint64_t instructions, modes[RVM_PROFILE_MODES];
    uint64_t bits[RVM_CAUSES];   /* erased */
    uint64_t to_device, to_host; /* values of 64 bits transferred */
    uint64_t turns;              /* of the run as a whole, beside those of its instructions */
    uint64_t peak;               /* bytes of registers, local arrays, trail, stack and shadows, each at most */
} rvm_counts_sums;

typedef struct rvm_counts rvm_counts;
/* Empty. al NULL: the C library's. *out is owned by the caller, NULL on failure. Errors: MEMORY. */
RVM_API rvm_status rvm_counts_new(const rvm_allocator *al, rvm_counts **out, rvm_error *err);
RVM_API void rvm_counts_free(rvm_counts *c); /* NULL is allowed */
/* Adds, so many times, what a machine has counted (rvm_profile.h) and erased (rvm_stats); what other counts hold; an
 * instruction. Peaks do not add up: the larger stays. Errors: USAGE (the machine has no option profile), LIMIT (a count
 * beyond 2^64), MEMORY; c is then unspecified. */
RVM_API rvm_status rvm_counts_add_machine(rvm_counts *c, const rvm_machine *m, uint64_t times, rvm_error *err);
RVM_API rvm_status rvm_counts_add(rvm_counts *c, const rvm_counts *from, uint64_t times, rvm_error *err);
RVM_API rvm_status rvm_counts_add_kind(rvm_counts *c, const rvm_counted *kind, uint64_t times, rvm_error *err);
/* Adds to the sums but for instructions and modes, which follow from kinds. Errors: LIMIT. */
RVM_API rvm_status rvm_counts_add_sums(rvm_counts *c, const rvm_counts_sums *s, uint64_t times, rvm_error *err);
/* The k-th kind, in the order in which they came. False past the last. */
RVM_API bool rvm_counts_kind(const rvm_counts *c, uint32_t k, rvm_counted *out);
RVM_API void rvm_counts_total(const rvm_counts *c, rvm_counts_sums *out);
RVM_API uint64_t rvm_counts_erased(const rvm_counts *c); /* bits, by all causes */
/* As CSV: a line for each kind, after one with names; sums stand in lines `# name value` before them. Reading takes text of
 * any origin, and adds it. Errors: IO; of reading FORMAT (naming file and line), LIMIT, MEMORY. */
RVM_API rvm_status rvm_counts_write(const rvm_counts *c, FILE *out, rvm_error *err);
RVM_API rvm_status rvm_counts_read(rvm_counts *c, const char *text, size_t size, const char *name, rvm_error *err);

/* ---- the device: a machine beside a host, as a queue of commands drives it ----
 * The device has memory of its own: the parameters of one function, values and gradients, all 0 at first. Two bits switch
 * what it does: which way it runs, and whether its instructions update gradients, too. So forward, the loss copied out,
 * turned round, with gradients, back:
 *
 *     rvm_arg y = rvm_arg_f64(0), x = rvm_arg_f64(3), seed = rvm_arg_f64(1), x_b = rvm_arg_f64(0); // host memory
 *     rvm_arg shapes[] = {y, x};
 *     const rvm_queued queue[] = {{.kind = RVM_QUEUE_LOAD, .param = 1, .host = &x},
 *                                 {.kind = RVM_QUEUE_RUN},
 *                                 {.kind = RVM_QUEUE_COPY_OUT, .param = 0, .host = &y},
 *                                 {.kind = RVM_QUEUE_LOAD, .param = 0, .gradient = true, .host = &seed},
 *                                 {.kind = RVM_QUEUE_DIRECTION, .on = true},
 *                                 {.kind = RVM_QUEUE_GRADIENT, .on = true},
 *                                 {.kind = RVM_QUEUE_RUN},
 *                                 {.kind = RVM_QUEUE_STORE, .param = 1, .gradient = true, .host = &x_b}};
 *     rvm_device *d;
 *     if (!rvm_device_new(m, fn, shapes, 2, NULL, &d, &e) && !rvm_device_run(d, queue, 8, &e))
 *         printf("y = %g, dy / dx = %g\n", y.value.f, x_b.value.f);
 *     rvm_device_free(d);
 */

/* Commands: X(id, name). LOAD: from host memory to the device; COPY_OUT: to host memory, and stays; STORE: to host memory,
 * and leaves 0. DIRECTION: on is backward; at first the device runs forward. GRADIENT: on: running back updates gradients;
 * running forward takes that back, which needs a machine with keep_shadows. RUN: to the end that the direction leads to. */
#define RVM_QUEUE_MAP(X)                                                                                                    \
    X(LOAD, "load")                                                                                                         \
    X(RUN, "run")                                                                                                           \
    X(COPY_OUT, "copy-out")                                                                                                 \
    X(DIRECTION, "direction")                                                                                               \
    X(GRADIENT, "gradient")                                                                                                 \
    X(STORE, "store")
typedef enum rvm_queue_kind {
#define X(id, name) RVM_QUEUE_##id,
    RVM_QUEUE_MAP(X)
#undef X
        RVM_QUEUE_KINDS
} rvm_queue_kind;
RVM_API const char *rvm_queue_name(rvm_queue_kind kind); /* "copy-out" ...; "?" outside the enum */

typedef struct rvm_queued {
    rvm_queue_kind kind;
    uint32_t param;   /* of what is moved */
    bool gradient;    /* its gradient is, not its value */
    bool on;          /* of DIRECTION and GRADIENT */
    rvm_arg *host;    /* values of host memory, of the parameter's type and shape: borrowed while the queue runs */
    const char *file; /* for messages, NULL: none; and the line there */
    uint32_t line;
} rvm_queued;

typedef struct rvm_device rvm_device;
/* On m, which is borrowed, counts from now on, and is used for nothing else until the device is freed. shapes: an argument
 * for each parameter of fn, of its type and shape; no value is taken from it. al NULL: the C library's. *out is owned by the
 * caller, NULL on failure. Errors: USAGE, ARGUMENT (how many), MEMORY. */
RVM_API rvm_status rvm_device_new(rvm_machine *m, int64_t fn, const rvm_arg *shapes, uint32_t n, const rvm_allocator *al,
                                  rvm_device **out, rvm_error *err);
RVM_API void rvm_device_free(rvm_device *d); /* NULL is allowed */
/* The whole queue is looked at before any of it is done: one that stores, copies out or runs on what was never loaded,
 * loads over what a run still needs, goes on past an end, or moves what host memory has another shape for, is USAGE or
 * SHAPE, naming file and line, and nothing has changed. A run that fails gives its error, with the command's place in the
 * message; what it had changed on the device is taken back, and what comes after it is not done. Errors: those, and of runs.
 */
RVM_API rvm_status rvm_device_run(rvm_device *d, const rvm_queued *queue, uint32_t n, rvm_error *err);
/* Adds what the device ran, erased, and transferred, each value as 64 bits, and how often it turned. Erased by copying: 64
 * bits for each value that was not 0 and has another in its place. Errors: as of rvm_counts_add_machine. */
RVM_API rvm_status rvm_device_counts(const rvm_device *d, rvm_counts *c, rvm_error *err);

/* ---- models ---- */

/* How the energy of a switched bit depends on the clock: X(id, name). */
#define RVM_LAW_MAP(X)                                                                                                      \
    X(CONVENTIONAL, "conventional") /* not at all: CV^2 / 2 */                                                              \
    X(RAMP, "ramp")                 /* CV^2 x (1 - x (1 - e^(-1/x))), x = RC / t: charged by a ramp of time t */            \
    X(LINEAR, "linear")             /* as the clock, from what it is at clock.reference */
typedef enum rvm_law {
#define X(id, name) RVM_LAW_##id,
    RVM_LAW_MAP(X)
#undef X
        RVM_LAWS
} rvm_law;
RVM_API const char *rvm_law_name(rvm_law law); /* "ramp" ...; "?" outside the enum */
/* x (1 - x (1 - e^(-1/x))): what a ramp dissipates, in terms of CV^2; 1/2 where x is infinite, 0 at 0. */
RVM_API double rvm_ramp_loss(double x);

/* The numbers of a model: X(id, name, unit, not 0, doc). Energies are of 64 bits, switched conventionally, but for those of
 * f32 arithmetic, which are of 32. fix has the arithmetic of int, and the functions of f64. */
#define RVM_MODEL_UNITS(X, ID, name)                                                                                        \
    X(ID##_ADD, name ".add", "J", false, "a sum")                                                                           \
    X(ID##_MULTIPLY, name ".multiply", "J", false, "a product")                                                             \
    X(ID##_DIVIDE, name ".divide", "J", false, "a quotient")                                                                \
    X(ID##_FUNCTION, name ".function", "J", false, "an elementary function")                                                \
    X(ID##_COMPARE, name ".compare", "J", false, "a comparison")                                                            \
    X(ID##_LOGIC, name ".logic", "J", false, "bitwise logic, a shift, a choice")                                            \
    X(ID##_CONVERT, name ".convert", "J", false, "a conversion to this type")
#define RVM_MODEL_MAP(X)                                                                                                    \
    X(TEMPERATURE, "temperature", "K", true, "of the device")                                                               \
    X(CLOCK, "clock", "Hz", true, "at which a price is stated")                                                             \
    X(CLOCK_REFERENCE, "clock.reference", "Hz", true, "at which energies of a linear law are stated")                       \
    X(STAGES, "stages", "", true, "of the pipeline, in order")                                                              \
    X(PORTS_READ, "ports.read", "", true, "registers read in a cycle")                                                      \
    X(PORTS_WRITE, "ports.write", "", true, "registers written in a cycle")                                                 \
    X(PORTS_MEMORY, "ports.memory", "", true, "elements read or written in a cycle")                                        \
    X(CYCLES_ADD, "cycles.add", "", false, "of the arithmetic stage, for a sum")                                            \
    X(CYCLES_MULTIPLY, "cycles.multiply", "", false, "for a product")                                                       \
    X(CYCLES_DIVIDE, "cycles.divide", "", false, "for a quotient")                                                          \
    X(CYCLES_FUNCTION, "cycles.function", "", false, "for an elementary function")                                          \
    X(CYCLES_COMPARE, "cycles.compare", "", false, "for a comparison")                                                      \
    X(CYCLES_LOGIC, "cycles.logic", "", false, "for logic")                                                                 \
    X(CYCLES_CONVERT, "cycles.convert", "", false, "for a conversion")                                                      \
    X(CYCLES_JUMP, "cycles.jump", "", false, "lost by a jump or call")                                                      \
    X(CYCLES_TRANSFER, "cycles.transfer", "", false, "of a transfer of 64 bits to or from the host")                        \
    RVM_MODEL_UNITS(X, INT, "int")                                                                                          \
    RVM_MODEL_UNITS(X, F32, "f32")                                                                                          \
    RVM_MODEL_UNITS(X, F64, "f64")                                                                                          \
    X(INSTRUCTION, "instruction", "J", false, "fetching and decoding one")                                                  \
    X(REGISTER, "register", "J", false, "a register read or written")                                                       \
    X(MEMORY, "memory", "J", false, "an element read or written")                                                           \
    X(TRANSFER, "transfer", "J", false, "64 bits to or from the host")                                                      \
    X(ACTIVITY, "activity", "", true, "share of its bits that a write changes where its energy is as stated")               \
    X(OVERHEAD, "overhead", "", false, "capacitance switched, over that of conventional logic for the same")                \
    X(RC, "rc", "s", false, "time constant of what a ramp charges")                                                         \
    X(RAMP, "ramp", "", true, "time of a ramp, over the clock's period")                                                    \
    X(LEAKAGE, "leakage", "W", false, "power of the device at rest")                                                        \
    X(ERASURE, "erasure", "", false, "price of an erased bit in kT ln 2")                                                   \
    X(COOLING, "cooling", "", true, "energy at the wall over that of the device")

typedef enum rvm_model_key {
#define X(id, name, unit, positive, doc) RVM_MODEL_##id,
    RVM_MODEL_MAP(X)
#undef X
        RVM_MODEL_KEYS
} rvm_model_key;
RVM_API const char *rvm_model_key_name(rvm_model_key key); /* "clock" ...; "?" outside the enum */
RVM_API const char *rvm_model_key_unit(rvm_model_key key); /* "Hz"; "" of a pure number; "?" outside the enum */
RVM_API const char *rvm_model_key_doc(rvm_model_key key);  /* "?" outside the enum */
/* The one of that name; RVM_MODEL_KEYS: none, or name is NULL. */
RVM_API rvm_model_key rvm_model_key_find(const char *name);
/* Its number from text, as a model has it: `2 x 0.1 pJ`, in its unit; where the text has no unit, a prefix is enough, and
 * the blank before either is not needed. Errors: ARGUMENT (naming the text), USAGE. */
RVM_API rvm_status rvm_model_key_number(rvm_model_key key, const char *text, double *out, rvm_error *err);

typedef struct rvm_model rvm_model;
/* From text, whose format docs/coprocessor.md describes; name is for messages. Every number must be there, not negative, and
 * say its source, or that it is assumed. *out is owned by the caller, NULL on failure. Errors: FORMAT (naming file, line and
 * value), MEMORY. */
RVM_API rvm_status rvm_model_parse(const char *text, size_t size, const char *name, const rvm_allocator *al, rvm_model **out,
                                   rvm_error *err);
/* One that comes with the library. Errors: NAME (naming those that there are), MEMORY. */
RVM_API rvm_status rvm_model_shipped(const char *name, const rvm_allocator *al, rvm_model **out, rvm_error *err);
/* The name of the k-th shipped one, and its text, NULL allowed; NULL past the last. Static strings. */
RVM_API const char *rvm_model_shipped_name(uint32_t k, const char **text);
RVM_API void rvm_model_free(rvm_model *m); /* NULL is allowed */
/* What it says: its name, a line about it, the model of the irreversible machine that it is held against. The model's own
 * strings. */
RVM_API const char *rvm_model_name(const rvm_model *m);
RVM_API const char *rvm_model_title(const rvm_model *m);
RVM_API const char *rvm_model_against(const rvm_model *m);
RVM_API rvm_law rvm_model_law(const rvm_model *m); /* NULL: RVM_LAWS */
/* A number in its unit; NAN where there is none. The source, "source: ..." or "assumption: ...", and its line in the file;
 * NULL where there is none. Setting one: ARGUMENT (negative, no number, no such key), MEMORY; its source then says so. */
RVM_API double rvm_model_get(const rvm_model *m, rvm_model_key key);
RVM_API const char *rvm_model_source(const rvm_model *m, rvm_model_key key, uint32_t *line);
RVM_API rvm_status rvm_model_set(rvm_model *m, rvm_model_key key, double value, rvm_error *err);

/* ---- prices ---- */

/* Of a run on the device at a clock. Energies in joules. */
typedef struct rvm_price {
    double clock, cycles, seconds;
    double units[RVM_UNITS]; /* of arithmetic */
    double instructions, registers, memory, transfers, leakage, erasure;
    double energy; /* the sum of these */
    double wall;   /* with cooling */
} rvm_price;
/* clock 0: the model's own. *out is all 0 on failure. Errors: USAGE, ARGUMENT (the clock). */
RVM_API rvm_status rvm_model_price(const rvm_model *m, const rvm_counts *c, double clock, rvm_price *out, rvm_error *err);
/* Cycles of one instruction; those that a turn of the direction takes: the pipeline runs empty, and fills. */
RVM_API double rvm_model_cycles(const rvm_model *m, const rvm_work *w);
RVM_API double rvm_model_turn_cycles(const rvm_model *m);
/* The clock between low and high at which the wall's energy is least, by search, to a relative 1e-6, with its price.
 * Errors: as of rvm_model_price. */
RVM_API rvm_status rvm_model_best_clock(const rvm_model *m, const rvm_counts *c, double low, double high, rvm_price *out,
                                        rvm_error *err);

/* A reversible run held against an irreversible one of the same result. */
typedef struct rvm_break_even {
    double times;  /* instructions, over those of the irreversible run */
    double needed; /* 1 / times: an instruction's energy, over that of an irreversible one, must be less */
    double ratio;  /* of an instruction's energies at the wall */
    double energy; /* of the runs' energies at the wall: it wins below 1 */
    /* Where only erased bits are priced, at Landauer's limit: how many kT ln 2 an instruction may cost more, each of the
     * same on both sides, till nothing is won. Infinite where it takes no more instructions and erases no more, one of
     * them less; below 0 where it never wins, as against its like. */
    double landauer;
} rvm_break_even;
/* Errors: USAGE, ARGUMENT (a run of no instructions). */
RVM_API rvm_status rvm_break_even_of(const rvm_counts *reversible, const rvm_price *price, const rvm_counts *irreversible,
                                     const rvm_price *other, rvm_break_even *out, rvm_error *err);

#ifdef __cplusplus
}
#endif
#endif

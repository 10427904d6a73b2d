/* rvm.h: the machine that runs reversible programs forward, backward, and in gradient and tangent mode.
 *
 *     rvm_program *p;
 *     rvm_machine *m;
 *     rvm_error e;
 *     double x[] = {3, 4}, gradient[] = {0, 0};
 *     rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(x, 1, (int64_t[]){2})};
 *     a[0].active = a[1].active = true, a[0].shadow.f = 1, a[1].shadow_data = gradient;
 *     if (!rvm_assemble_file("norm.rasm", NULL, &p, &e, NULL, NULL) && // rvm_asm.h
 *         !rvm_machine_new(p, NULL, &m, &e))
 *         rvm_gradient(m, rvm_program_find(p, "norm"), a, 2, &e); // gradient[i] gained d out / d x[i], x is as before
 *
 * Threads: a program may be shared; a machine belongs to one thread, save rvm_machine_cancel. Nothing here prints, aborts or
 * keeps global state. After the first call of a function with arguments of given shapes, further calls allocate nothing, but
 * for the trail: of its memory RVM_TRAIL_LEFT bytes at most stay with the machine, none where options limit it or memory.
 */
#ifndef RVM_H
#define RVM_H

#include "rvm_program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rvm_machine rvm_machine;

/* ---- creation ---- */

typedef enum rvm_trail {
    RVM_TRAIL_KEEP, /* what `set` and `drop` overwrite is kept for going back; natively parallel blocks that overwrite, or
                       whose derivatives drop shadows, then run one instance after the other */
    RVM_TRAIL_OFF   /* it is discarded and counted, but for what the run itself takes back; going back over it fails */
} rvm_trail;

/* Bytes of the trail's memory that stay with a machine for its next run, at most. */
enum { RVM_TRAIL_LEFT = 256 << 20 };
/* Of options.checkpoints. AUTO: as many states as fit into trail_limit, else into half of memory, else into a quarter of
 * what the computer has; a loop whose trips leave less than that keeps their trail. NEVER: the trail, whatever its limit. */
#define RVM_CHECKPOINTS_AUTO  0xffffffffu
#define RVM_CHECKPOINTS_NEVER 0xfffffffeu

/* What a `print` of the program shows: a line, without its end; valid during the call. Where the statement stands. */
typedef struct rvm_printed {
    const char *text;
    size_t length;
    const char *function, *file; /* file "": not known */
    uint32_t line;
} rvm_printed;

/* Start from rvm_options_default(). Memory counts what the machine itself allocates: frames, ancilla arrays, stack, shadows
 * of locals, the trail. Fuel counts instructions, charged at calls, loops and regions, per run; native code, which polls
 * less often, may pass it by about a million, and in lanes by 2^26 for each of the instances of a group, eight at most. A
 * run that fuel or a cancel ends within a group that cannot be taken back goes neither on nor back: both say UNSUPPORTED,
 * and the arguments are unspecified, till another call is bound. 0 means no limit, for fuel and memory. */
typedef struct rvm_options {
    bool unchecked;   /* drop the assertions of releases, postconditions, come-froms; never memory safety */
    bool trust;       /* drop checks of indices too: only for programs you wrote */
    bool exact;       /* backward restores every bit of f64 and f32, by a record of what rounding lost */
    bool profile;     /* count what runs (rvm_profile.h) */
    bool activity;    /* and how many bits change where it writes: by single steps, interpreted, some twenty times slower */
    double tolerance; /* of the release of a real: times max(1, largest magnitude held), times 1 where that is infinite;
                         default 1e-8; of an f32 10^4 times that. The same of what comes back to the start, times
                         max(1, |what went in|); INFINITY: that is not compared, and no copy is made of it */
    rvm_math math;    /* whose elementary functions, natively and interpreted; rvm_machine_options says which AUTO is */
    uint64_t fuel;
    uint32_t depth;             /* of calls; default 10000 */
    size_t memory;              /* bytes */
    rvm_trail trail;            /* default RVM_TRAIL_KEEP. OFF and unchecked: where native code is stopped or fails, the
                                   run can go on, but not back */
    size_t trail_limit;         /* bytes of all trails; 0: no limit */
    bool keep_shadows;          /* what a sweep discards is kept, so that the run can go forward again after it */
    uint32_t checkpoints;       /* rvm_gradient, rvm_value_and_gradient: of a loop that leaves something on the trail
                                   keep at most so many states, and run it again from these. 0: keep the trail; where
                                   that would pass trail_limit, once more with RVM_CHECKPOINTS_AUTO, unless RVM_TRAIL_OFF
                                   is set (rvm_stats.marched tells). Which loops, tells rvm_program_checkpointed. It does
                                   not go with exact, keep_shadows and profile (UNSUPPORTED; 0 then just fails), and
                                   nothing is bound afterwards; where it fails, arguments and shadows are as before, and the
                                   message of LIMIT names the trail_limit that would do, or less, told as that */
    const char *checkpoint_dir; /* with checkpoints: a folder. Of the trail, which then has these states, what trail_limit
                                   leaves no room for, or a quarter of what the computer has, goes to files there, which
                                   are written whole, checked when they are read, and removed in the end; those of
                                   processes that are gone, too. NULL: that is an error (LIMIT). Borrowed, till the
                                   machine is freed. Errors of a run: IO, FORMAT (a file was changed) */
    const rvm_allocator *allocator; /* NULL: the C library's; must outlive the machine */
    /* Called about every million instructions with the count so far, from the running thread; may be NULL. A true result
     * cancels the run. */
    bool (*progress)(void *userdata, uint64_t instructions);
    void *userdata;
    /* Called, with userdata, for each `print` that a run of values comes to, in the order of the run, forward and backward,
     * on the running thread. Not in derivatives, in what is run as part of one, and where compute parts run again. What may
     * print is interpreted then. NULL: nothing is shown. */
    void (*print)(void *userdata, const rvm_printed *what);
} rvm_options;
RVM_API rvm_options rvm_options_default(void);

/* options NULL: the defaults. The program is borrowed and must outlive the machine. *out is owned by the caller, NULL on
 * failure. Errors: USAGE (program not verified), UNSUPPORTED (options.math), MEMORY. */
RVM_API rvm_status rvm_machine_new(const rvm_program *p, const rvm_options *options, rvm_machine **out, rvm_error *err);
RVM_API void rvm_machine_free(rvm_machine *m); /* NULL is allowed */
/* What it was made with. */
RVM_API const rvm_program *rvm_machine_program(const rvm_machine *m);
RVM_API void rvm_machine_options(const rvm_machine *m, rvm_options *out);
/* Make the run in progress stop with CANCELLED within about a million instructions, at a loop or call; if it ends before, or
 * none is in progress, the next one at its first loop or call. Any thread. */
RVM_API void rvm_machine_cancel(rvm_machine *m);

/* ---- arguments ---- */

typedef union rvm_scalar {
    int64_t i; /* i64; also the raw bits of fix */
    double f;  /* f64; f32, rounded to a float */
} rvm_scalar;
RVM_API bool rvm_type_is_floating(rvm_type t); /* whether the number stands in f */
/* The number as a double, and back: of fix and f32 the nearest, of i64 the nearest whole number, where there is one. */
RVM_API double rvm_scalar_to_double(rvm_type t, rvm_scalar v);
RVM_API rvm_scalar rvm_scalar_from_double(rvm_type t, double x);
/* Decimal text, which reads back as the same number: the shortest such of f64 and f32, of fix to 13 places at most; nan,
 * inf, -inf. Cut to size and ended by 0; returns the length it has uncut. */
RVM_API int rvm_scalar_text(rvm_type t, rvm_scalar v, char *text, size_t size);
/* The positive number whose logarithm it is, in the fewest digits that read back as the same logarithm. False: there are
 * none, since a double holds fewer digits of the number than of its logarithm, and text has the nearest 15, or exp(X) where
 * no double holds the number. */
RVM_API bool rvm_lns_text(rvm_type t, rvm_scalar logarithm, char *text, size_t size);

/* An argument: a scalar held here, or an array borrowed for as long as the call is bound.
 * Scalars: value is read at the start and written back when a run ends (also one that ends in an error that was undone).
 * Arrays: element (i, j, ...) stands at data + 8 * (i * stride[0] + j * stride[1] + ...); strides count elements and are not
 * negative. Elements of one array coincide (stride 0) only if it is read, or only added into; so do those of a shadow.
 * Arrays of one call must not overlap unless both parameters are read, both accumulate, or one has no use; values and
 * shadows never. Arrays of equal strides may interleave (two members of an array of structs); of other strides, an array
 * counts as all memory from its first element to its last. active: in gradient and tangent mode this argument has a shadow:
 * shadow (scalar) or shadow_data (array, same shape, strides shadow_stride). Gradient mode: shadows are the seeds of what
 * the function puts out and gain the derivatives with respect to what it reads; never cleared. Tangent mode: shadows are the
 * tangents, in and out. i64 arguments cannot be active.
 * fresh, fresh_shadow: what stands there when the run begins is never read, and counts as what adds nothing: -0, on i64 and
 * fix 0. So nobody need clear an array that a function adds its results to, and native code stores the first sum of an
 * element where it can, past the caches where the array is larger than half of the largest. The run goes, on every engine,
 * as if these elements were there; an element that it does not change is that in the end. Where values are handed back (the
 * run is back at its start, or is unbound before it is at its end, or a derivative failed) fresh ones are 0; a call whose
 * arguments are refused leaves all as it was. A fresh array overlaps no other one, and each of its elements stands in a
 * place of its own (ALIAS).
 *     a[0].fresh = true; // J = malloc(..), which f adds to
 *     rvm_call(m, fn, a, 2, &e); */
typedef struct rvm_arg {
    rvm_type type;
    int ndim; /* 0: scalar */
    bool active;
    bool fresh, fresh_shadow;
    rvm_scalar value, shadow;
    void *data, *shadow_data;
    int64_t shape[RVM_MAX_DIMS], stride[RVM_MAX_DIMS], shadow_stride[RVM_MAX_DIMS];
} rvm_arg;

/* Conveniences: a scalar; a contiguous row-major array of ndim dimensions (shadow strides set alike, shadow_data NULL). */
RVM_API rvm_arg rvm_arg_i64(int64_t v);
RVM_API rvm_arg rvm_arg_f64(double v);
RVM_API rvm_arg rvm_arg_f32(double v);              /* rounded */
RVM_API rvm_arg rvm_arg_lns(double v);              /* for the parameter y.log that y: lns is: an f64, the logarithm of v */
RVM_API double rvm_arg_lns_value(const rvm_arg *a); /* the number again */
/* A function value: the number of a function of the program, as rvm_program_find gives it. Where a parameter takes one, a
 * number that is none or a function of another type is refused (ARGUMENT); an array's when they are called (FUNCTION). */
RVM_API rvm_arg rvm_arg_fn(int64_t fn);
RVM_API rvm_arg rvm_arg_fix(double v); /* as rvm_fix_from_double */
/* data: int64_t for i64 and fix (raw bits), double for f64 and f32; borrowed. */
RVM_API rvm_arg rvm_arg_array(rvm_type type, void *data, int ndim, const int64_t *shape);
RVM_API rvm_arg rvm_arg_array_f64(double *data, int ndim, const int64_t *shape);
RVM_API rvm_arg rvm_arg_array_i64(int64_t *data, int ndim, const int64_t *shape);

/* The elements of an argument, by number: row by row, whatever the strides; a scalar is one.
 * count: how many; -1 where a length is negative, or no memory could hold them. gather copies all elements, or their
 * shadows, to `to`, side by side; scatter copies them back. */
RVM_API int64_t rvm_arg_count(const rvm_arg *a);
RVM_API void rvm_arg_gather(const rvm_arg *a, bool shadow, rvm_scalar *to);
RVM_API void rvm_arg_scatter(rvm_arg *a, bool shadow, const rvm_scalar *from);
/* Text of element k of an argument of that name, as "x[1, 2]"; "x" of a scalar. Cut to size and ended by 0; returns the
 * length it has uncut. */
RVM_API int rvm_arg_element_text(const char *name, const rvm_arg *a, int64_t k, char *text, size_t size);

/* ---- whole runs ----
 * One rvm_arg for each parameter, in order. On an error the machine stays where it failed, so that it can be stepped or run
 * back to the start (rvm_machine_backward), which hands the inputs back.
 * Errors of all: USAGE, ARGUMENT (type, count, activity, a function value that does not fit), SHAPE, ALIAS, every run-time
 * status, MEMORY, and the limits FUEL, DEPTH, LIMIT (of the trail, or a function is too large), CANCELLED. */
RVM_API rvm_status rvm_call(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err);
RVM_API rvm_status rvm_uncall(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err);
/* ---- derivatives, whole ----
 * Where one that is written by hand takes part (rvm_program_by_hand) they run as these programs on any engine; nothing is
 * bound then, and after an error arguments and shadows are as they were. With the options exact, keep_shadows, profile and
 * activity they are interpreted, see rvm_machine_sweep. On the arrays and shadows of args. With native code attached
 * (rvm_jit.h) they run natively, as the programs f'grad, f'adj and f'tan, which are derived on the first call and kept by
 * the machine, each with a machine of its own of the same limits; gradients are then the same to the bit, tangents to
 * rounding. After a native run nothing is bound: to step through a derivative, or to take it back, bind and move. After an
 * interpreted one the machine stands where the run ended. After an error it stands where f failed, in either case, in the
 * interpreter's mode, so that it can be stepped or run back; shadows of a sweep that failed mean nothing. A run that is
 * NOT_RESTORABLE, on any engine, or a native one that is cancelled, gives the values back, and nothing is bound.
 * rvm_jit_reason says why a run was interpreted: activity, keep_shadows, in exact runs what calls adjoints itself, what has
 * no derivative program. */

/* Forward, then the backward sweep in gradient mode: values end as they began (else NOT_RESTORABLE, see below), shadows have
 * gained. rvm_call of a program f'grad compares likewise when it ends. */
RVM_API rvm_status rvm_gradient(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err);
/* That, and what f computes: values end as rvm_call leaves them, shadows have gained what rvm_gradient gives. Nothing is
 * bound afterwards.
 *     a[0].value.f = 0, a[0].shadow.f = 1, memset(a[1].shadow_data, 0, n * sizeof(double));
 *     rvm_value_and_gradient(m, fn, a, 2, &e); // a[0].value.f is f(x), a[1].shadow_data its gradient */
RVM_API rvm_status rvm_value_and_gradient(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err);
/* The backward sweep alone, from the function's outputs in args to its inputs (f'adj). */
RVM_API rvm_status rvm_sweep(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err);
/* Forward with tangents. */
RVM_API rvm_status rvm_tangent(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_error *err);

/* ---- a run in parts: bind, then move ---- */

typedef enum rvm_mode { RVM_PRIMAL, RVM_GRADIENT, RVM_TANGENT } rvm_mode;

/* Check the arguments and place the machine before (at_end false) or behind (true) the function. args is borrowed until the
 * next bind or rvm_machine_unbind. RVM_GRADIENT: forward and backward are plain; rvm_machine_sweep is the backward sweep. */
RVM_API rvm_status rvm_machine_bind(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_mode mode, bool at_end,
                                    rvm_error *err);
RVM_API void rvm_machine_unbind(rvm_machine *m);                /* writes scalars back; the arguments are free again */
RVM_API const rvm_arg *rvm_machine_bound(const rvm_machine *m); /* the arguments that are bound; NULL: none are */
/* Run from where the machine is to the end, to the start, or to the start as the backward sweep, whose seeds are the shadows
 * that the arguments have when it begins. After an error the machine
 * stands before the instruction that failed, which has changed nothing. Once a sweep has begun, forward again is refused
 * with UNSUPPORTED, since the shadows it dropped are gone; with options.keep_shadows it takes the sweep back: at the end
 * the shadows are what they were before it, to rounding, and the values too.
 * Backward from within a sweep gives it up: the values come back to the start, the shadows mean nothing.
 * Whatever runs back to the start ends with a comparison of what came back with what went in, of which the machine keeps a
 * copy: where rounding has grown beyond options.tolerance, or a value became infinite or NaN on the way, it fails with
 * NOT_RESTORABLE, naming the element that is farthest off; the arguments and shadows then are what the run made of them.
 * What is only read is not compared; nor, if checked, arrays of i64 and fix, which are exact. Where a sum that is only added
 * to comes back too far off for max(1, |what went in|), f runs forward once more, to learn how large it was at the end.
 * Exact runs compare nothing, and with RVM_TRAIL_OFF primal runs, since they are not meant to go back.
 * A derivative that is written by hand runs in the place of a call of its function, in a sweep and with tangents, in a frame
 * of its own. UNSUPPORTED, before anything moves, where one is not for all that is active or does not go with the trail; in
 * exact runs also to turn around within one. The language's manual has the list. */
RVM_API rvm_status rvm_machine_forward(rvm_machine *m, rvm_error *err);
RVM_API rvm_status rvm_machine_backward(rvm_machine *m, rvm_error *err);
RVM_API rvm_status rvm_machine_sweep(rvm_machine *m, rvm_error *err);
/* For options.progress, from within it: how far the run in progress is, from 0 to 1, where a counted loop is the outermost
 * of the bound function: by the trips that are done of it, and in native code, whose frames are not looked into, by the
 * instructions that this makes expect. Gradients by checkpoints, on any engine, by the trips that the outermost loop has
 * gone back; then it never falls. -1 where that is not known. */
RVM_API double rvm_machine_share(const rvm_machine *m);
/* Execute one instruction towards the end (direction > 0) or the start (< 0). *done (may be NULL) tells that that end was
 * reached. */
RVM_API rvm_status rvm_machine_step(rvm_machine *m, int direction, bool *done, rvm_error *err);

/* The update at which what is off grows most on the way back: both machines, of one program and standing at the same place
 * of a run, go back in lockstep, up to `most` instructions, or to where they part or fail, which is no error. One is to be
 * right: exact, or given numbers that differ in their last bits. Slow: for finding out why something is NOT_RESTORABLE.
 * Errors: USAGE, MEMORY. */
typedef struct rvm_growth {
    double factor;  /* by which what was off grew each time, on average (geometric); the largest product of all times wins */
    uint64_t times; /* 0: nothing grew, and the rest is not set */
    uint32_t fn, pc, line, column;
    const char *function, *file; /* the program's own */
    char place[80];              /* what it updates, as in the source */
} rvm_growth;
RVM_API rvm_status rvm_machine_growth(rvm_machine *m, rvm_machine *reference, uint64_t most, rvm_growth *out,
                                      rvm_error *err);

/* ---- where it is: frame 0 is the innermost ---- */

typedef struct rvm_location {
    uint32_t fn, pc; /* the instruction that would run next in the present direction */
    int direction;   /* of the counter in this frame: 1 up, -1 down */
    const char *function, *file;
    uint32_t line, column;
} rvm_location;
RVM_API uint32_t rvm_machine_frames(const rvm_machine *m);
/* direction > 0: the location as seen by a step towards the end, < 0 towards the start. False if no such frame. */
RVM_API bool rvm_machine_location(const rvm_machine *m, uint32_t frame, int direction, rvm_location *out);
/* The k-th named place that is present in a frame; strides count elements. False past the last one. */
typedef struct rvm_variable {
    const char *name;
    rvm_type type;
    int ndim;
    bool shadowed;                  /* it has a shadow, in gradient and tangent mode: it depends on what is active */
    rvm_scalar value, shadow;       /* scalars */
    const void *data, *shadow_data; /* arrays; shadow_data NULL: none */
    int64_t shape[RVM_MAX_DIMS], stride[RVM_MAX_DIMS], shadow_stride[RVM_MAX_DIMS];
} rvm_variable;
RVM_API bool rvm_machine_variable(const rvm_machine *m, uint32_t frame, uint32_t k, rvm_variable *out);
/* The place with a number, as rvm_program_variable counts, named or not: a register, 0 where nothing is there, or an array.
 * Its name is NULL. False where there is none, or the array is not present. */
RVM_API bool rvm_machine_place(const rvm_machine *m, uint32_t frame, uint32_t variable, rvm_variable *out);

/* ---- exact runs in another process ----
 * save: of a machine with the option exact that has run forward, in primal mode, and stands at the end: what going back
 * takes besides the results, which is what rounding lost, the trail and the stack. *bytes comes from the machine's
 * allocator: free it by record_free with this machine. load: into a machine of the same program and options that is bound at
 * the end (rvm_machine_bind, at_end) to these results; rvm_machine_backward then restores the inputs, bit for bit. The bytes
 * are copied, and may come from anybody. A record names the program, the function, the shapes, and by checksums the results
 * and what the elementary functions give: one that does not belong to the bound call is refused, and nothing has changed.
 * Errors: USAGE (no exact run, not at the end, the trail is off), MEMORY; of load also FORMAT (damaged), VERSION, ARGUMENT
 * (another program, function, results or elementary functions), SHAPE, LIMIT (of the trail). */
RVM_API rvm_status rvm_machine_record_save(const rvm_machine *m, void **bytes, size_t *size, rvm_error *err);
RVM_API void rvm_machine_record_free(const rvm_machine *m, void *bytes, size_t size); /* bytes NULL is allowed */
RVM_API rvm_status rvm_machine_record_load(rvm_machine *m, const void *bytes, size_t size, rvm_error *err);

/* ---- statistics, since the machine was made or reset ---- */

typedef struct rvm_residue {
    double value;    /* |y - f| at the release */
    uint32_t fn, pc; /* the release */
} rvm_residue;
#define RVM_RESIDUES 4
/* What ran, as bits: the counts are of these together. f: the function bound. */
typedef enum rvm_ran {
    RVM_RAN_FUNCTION = 1,           /* f, forward or backward */
    RVM_RAN_SWEEP = 2,              /* the sweep of f, in gradient mode */
    RVM_RAN_TANGENTS = 4,           /* f with tangents, in tangent mode */
    RVM_RAN_ADJOINT = 8,            /* f'adj, a program */
    RVM_RAN_GRADIENT = 16,          /* f'grad */
    RVM_RAN_TANGENT = 32,           /* f'tan */
    RVM_RAN_GRADIENT_TANGENTS = 64, /* f'grad with tangents, in tangent mode */
    RVM_RAN_GRADIENT_TANGENT = 128  /* f'grad'tan */
} rvm_ran;
typedef struct rvm_stats {
    uint32_t ran;                      /* bits of rvm_ran */
    uint64_t forward, backward, swept; /* instructions by direction of the run; sweep counted apart */
    uint64_t calls;
    uint64_t shadows_dropped; /* shadows that the sweep dropped at releases */
    size_t ancilla_peak;      /* bytes of local arrays, at most */
    size_t memory_peak;       /* bytes the machine allocated, at most */
    uint32_t depth_peak;
    uint64_t trail_cells;            /* values and shadows on the trail now */
    uint64_t exact_updates;          /* with the option exact: updates of reals that recorded what rounding lost, */
    uint64_t exact_bits, exact_peak; /* the bits of that in all, and held at most */
    uint64_t trail_peak;             /* bytes there, at most */
    /* What is gone for good, in bits, and by cause (docs/semantics.md, section 13): values that a trail which is off did not
     * keep; gradients that an adjoint, as a mode or as a program, dropped; values left on the stack; places made by compute
     * parts that were forgotten. */
    uint64_t bits_erased, bits_trail, bits_shadows, bits_stack, bits_forgotten;
    bool marched;                       /* the last gradient ran loops again from snapshots (options.checkpoints) */
    uint32_t stack_left;                /* values on the stack now: at an end of the run they go with the call */
    rvm_residue residues[RVM_RESIDUES]; /* the largest of releases by place in the program, largest first; value 0: none */
} rvm_stats;
/* *out is a copy; residues name places of the program. */
RVM_API void rvm_machine_stats(const rvm_machine *m, rvm_stats *out);
RVM_API void rvm_machine_stats_reset(rvm_machine *m);

#ifdef __cplusplus
}
#endif
#endif

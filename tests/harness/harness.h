/* harness.h: what every test program shares: arguments as text and as data, the checks that take one call through every
 * engine and every mode, and the report they write to.
 *
 *   args      the arguments of one call: values and shadows, arrays contiguous and owned
 *   subject   a program, a function, its inputs and options: what the checks take
 *   report    says what fails: case, directive, expected and got; says what is skipped and why
 */
#ifndef RVM_TEST_HARNESS_H
#define RVM_TEST_HARNESS_H

#include "rvm_program.h"
#include "rbc.h"
#include "rvm.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_cuda.h"
#include "rvm_jit.h"
#include "try_one_in.h"

/* ---- report ---- */
typedef struct report {
    const char *name;  /* the case */
    const char *about; /* the directive, or what is being checked; may be NULL */
    unsigned line;     /* of the directive; 0: none */
    unsigned checks, failures;
    bool quiet; /* about what is skipped */
} report;
/* Print a failure and return false. */
bool report_fail(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_skip(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Skips `what`, which is not compiled, unless that is by a crash of the compiler: a failure. */
void report_interpreted(report *r, const char *what, const rvm_error *why);
/* True, or a failure that shows the status, place and message of *e. */
bool report_ok(report *r, const char *what, rvm_status s, const rvm_error *e);

/* ---- random numbers: the same on every machine ---- */
typedef struct rng {
    uint64_t state;
} rng;
uint64_t rng_next(rng *r);
double rng_real(rng *r, double lo, double hi);
uint32_t rng_below(rng *r, uint32_t n); /* 0 when n is 0 */

/* ---- arguments ---- */
typedef struct args {
    uint32_t n;
    rvm_arg *a;
} args;
/* Arguments for the parameters of fn: scalars 0, arrays without shape yet. */
args args_new(const rvm_program *p, int64_t fn);
/* Set one from text: 1.5, nan, 0x1f, &function, [1,2], [[1,2],[3,4]], or 100*0.5 for an array of a hundred; *why explains a
 * false. */
bool args_set(args *a, const rvm_program *p, int64_t fn, const char *name, const char *text, const char **why);
/* Arrays that were not set become zeros where other arguments tell their shape. */
bool args_complete(args *a, const rvm_program *p, int64_t fn, const char **why);
/* Every array gets `length` elements an axis (constants of the signature win), every value a random one. */
void args_random(args *a, const rvm_program *p, int64_t fn, int64_t length, rng *r);
args args_copy(const args *a);
void args_free(args *a);
size_t arg_count(const rvm_arg *a);          /* elements; 1 for a scalar */
rvm_scalar *arg_value(rvm_arg *a, size_t k); /* element k in row-major order */
rvm_scalar *arg_shadow(rvm_arg *a, size_t k);
double arg_real(rvm_type t, rvm_scalar v); /* any type as a double */
rvm_scalar arg_from_real(rvm_type t, double x);
int64_t args_find(const rvm_program *p, int64_t fn, const char *name); /* parameter index or -1 */

/* Shadows: all reals active (or those in `only`, a mask by parameter), cleared; random; inner product of two. */
void args_activate(args *a, const bool *only);
void args_random_shadows(args *a, rng *r);
/* Sum over active places; *scale is the sum of magnitudes. */
double args_dot_shadows(args *a, args *b, double *scale);

/* Tolerances are those of f64; where nothing else is stated, f32 has them so much wider. */
#define F32_COARSER 1e5
/* Compare values, or shadows: bit for bit, or reals within tol * max(1, |x|). A difference is reported. */
enum {
    COMPARE_BITS = 1,
    COMPARE_SHADOWS = 2,
    COMPARE_REAL_FIX = 4, /* tolerances are stated: fix within them too, f32 not wider */
    COMPARE_ZEROS = 8     /* with COMPARE_BITS: but zeros of either sign are one */
};
bool args_agree(report *r, const char *what, const rvm_program *p, int64_t fn, args *expected, args *got, int how,
                double tol);

/* ---- checks ---- */
/* Native code: of whole runs; of what the interpreter calls, and of the first loop that it is in; of loops that it has been
 * in for a while. */
enum { NATIVE_WHOLE, NATIVE_TIERS, NATIVE_LATER, NATIVE_WAYS };
typedef struct natives {
    rvm_jit *way[NATIVE_WAYS]; /* NULL: not in this one */
    rvm_jit *any;              /* whole runs, by code for any lengths; NULL: not so */
    rvm_cuda *device;          /* what runs parallel blocks of unchecked code; NULL: nothing else */
} natives;

typedef struct subject {
    const rvm_program *program;
    int64_t fn;
    args *in;
    rvm_options options;                         /* those of the case; the engine sets unchecked and trust */
    bool inverse;                                /* begin at the end and go back first */
    double restore;                              /* tolerance of restored reals */
    const char *no_differences, *no_derivatives; /* why these are skipped (shown unless empty), or NULL */
    const char *no_products;                     /* likewise: of the Hessian, by the gradient program */
    const char *no_transforms, *no_undoing;      /* likewise: derived programs; running them back */
    const char *no_erased;                       /* likewise: whether sweeps and adjoint programs erase alike */
    const bool *active;                          /* NULL: all reals */
    bool derived;                                /* a derived program */
    bool few;                                    /* one engine for what takes long, another for another turn */
    unsigned turn;
    int orders;            /* of derivatives that are taken as programs */
    const natives *native; /* NULL or empty: there is none */
    int native_orders;     /* of derivatives that run natively as programs: 0 or 1 */
    report *rep;
} subject;
subject subject_new(const rvm_program *p, int64_t fn, args *in, report *r);

typedef struct engine {
    const char *name;
    bool unchecked, trust, exact;
    bool discards; /* what is overwritten (trail off) */
} engine;
extern const engine engines[];
extern const unsigned engine_count;
extern const engine exact_engine; /* which refuses what a release leaves over, and derivative programs */
rvm_options engine_options(const subject *s, const engine *e);
bool takes_part(const subject *s, unsigned number); /* in what takes long */

/* Each prints what fails and returns false then. check_run leaves the outputs in *out (to be freed) where it succeeds. */
bool check_run(const subject *s, args *out);    /* every engine, there and back; those that take part, by steps, too */
bool check_same(const subject *s, args *out);   /* every engine, whole, has these outputs */
bool check_dead(const subject *s, args *out);   /* with the outputs of a run: nothing dead has an effect */
bool check_folded(const subject *s, args *out); /* the same with constants in place of what is only read */
bool left_behind(const rvm_machine *m);         /* on the trail or on the stack, as a call of the inverse lacks it */
bool runs_exactly(const subject *s);            /* forward, by exact_engine */
bool check_exact(const subject *s, args *out);  /* with every bit restored */
/* What a profile counts, against single steps: forward, backward, sweeps taken back, tangents; also of a run that fails. */
bool check_profile(const subject *s);
/* Positions, stops, watches, keyframes, clones and seeks, against single steps; of short runs. */
bool check_travel(const subject *s);
bool check_fresh(const subject *s, bool fails); /* of what it adds to, nothing is read that stands there */
bool check_derivatives(const subject *s);       /* adjoint against tangent, both against differences */
/* Gradients of these seeds, the values of which are the inputs: by snapshots as by the trail. */
bool check_checkpoints(const subject *s, args *seeds);
/* The Hessian of <shadows of seed, f>, at s->in, times the shadows of `along`, into the shadows of *got: by one method. */
bool hessian_times(const subject *s, rvm_method method, args *seed, args *along, args *got);
bool check_hessian(const subject *s);                    /* by one sweep, against differences of gradients */
bool check_transforms(const subject *s);                 /* derived programs against the modes, to the third order */
bool check_round_trips(const rvm_program *p, report *r); /* through bytes and text */
/* Native code; lanes: whether some ways have groups of instances. False: there is none, which is said. */
bool native_open(natives *n, const char *cpu, unsigned level, unsigned threads, bool lanes, report *r);
bool native_open_device(natives *n, int devices, report *r); /* and so many; false: said why */
bool native_device_ran(const natives *n, int devices); /* prints what did; false: no block, or of several none on several */
void native_close(natives *n);
/* Against the interpreter, bit for bit, forward and backward, stopped on the way too; in each way by one engine, another for
 * another turn, since LLVM compiles a program anew for each. */
bool check_native(const subject *s);
bool check_native_exactly(const subject *s);
/* What is compiled is short, since that takes most of the time: instructions of the program. */
bool is_short(const subject *s);
/* Derivatives as users ask for them, natively and interpreted; fails: the run does, checked. */
bool check_answers(const subject *s, bool fails);
bool check_native_failure(const subject *s); /* a run that fails does so natively in the same way, and goes back */
/* Everything but round trips, and a run of the decoded copy. */
bool check_all(const subject *s, args *out);
/* A run that must fail with `code` and a message that holds each of texts (NULL-terminated, or NULL): from where it stands
 * it goes back, whole and by steps, and hands the inputs back. */
bool check_failure(const subject *s, rvm_status code, uint32_t line, char *const *texts);

/* ---- allocators ---- */
typedef struct counting {
    rvm_allocator al;
    uint64_t calls, live_blocks, live_bytes, largest;
    uint64_t fail_at;      /* the allocation (from 1) that fails, and all after it while `sticky`; 0: none */
    bool sticky, mismatch; /* mismatch: an old size that was not the one asked for */
} counting;
void counting_init(counting *c);

/* ---- any program, however odd ---- */
/* Run every function of a verified program on small arguments drawn from seed, in every mode and direction, checked and
 * unchecked, within small limits. Nothing may break; INTERNAL aborts. */
void exercise(const rvm_program *p, uint64_t seed);
/* Make the header of some bytecode right, all but the magic; false if it is shorter than one. */
bool bytecode_seal(unsigned char *bytes, size_t size);

/* ---- sources ---- */
/* Assemble text, or report and return NULL. */
rvm_program *assemble_text(const char *text, const rvm_allocator *al, report *r);
/* A program with something of everything: loops, branches, regions, calls, views, local arrays, the stack. Its function
 * `all` takes (y: real, x: real[n], A: real[m, n], k: i64, q: fix). */
extern const char sample_text[];

#endif

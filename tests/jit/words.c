/* words.c: the LLVM vocabulary against the C vocabulary, bit for bit: every row on every type, every family, and what
 * changes in place; on scalars and in lanes; with operands that vary, and with constants that LLVM may fold. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "harness.h"
#include "rules.h"
#include "maths.h"
#include "instruction.h"

typedef enum kind {
    ROW,
    UPDATE,   /* operands y, f */
    IN_PLACE, /* in place: places, operands; whether they are in its domain, too */
    IS_FACTOR,
    IS_POSITIVE
} kind;

enum { MOST = 4, MAX_JOBS = 4000, GRID = 48, TUPLES = 4000, MAX_LANES = 8 };

/* One function of IR: n operands, some results. Operands in `fixed` are constants, from a point of the grid. */
typedef struct job {
    kind kind;
    int what; /* row or opcode */
    rvm_type y, t;
    unsigned n, results, fixed;
    rvm_value constant[MOST];
} job;

typedef struct state {
    job *jobs;
    unsigned njobs, failures, compared;
    rvm_value grid[RVM_TYPE_COUNT][GRID];
    rng random;
    bool asks, fast; /* about overflow; contracts and reassociates */
    const rvm__math *math;
} state;

/* The code of a job: operand j's lanes at in[j], result r's at out[r]; and truth values. */
typedef void (*code)(const rvm_value (*in)[MAX_LANES], rvm_value (*out)[MAX_LANES], int64_t *overflow);

static const char *job_name(const job *j) {
    if (j->kind == ROW) return rvm__row_info[j->what].name;
    if (j->kind == UPDATE || j->kind == IN_PLACE) return rvm__op_info[j->what].name;
    return j->kind == IS_FACTOR ? "factor?" : "positive?";
}

/* ---- what the C vocabulary gives ---- */

static rvm_value update_value(const job *j, rvm_value y, rvm_value f, int *overflow) {
    rvm_value v = {0};
    switch (j->what) {
#define OF_TYPE(T, TYPE, name)                                                                                              \
    if (j->t == RVM_##TYPE) v.V_##T = T##_##name##_value(y.V_##T, f.V_##T, 0, 0, overflow);
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc)                                                        \
    case RVM_OP_##name:                                                                                                     \
        OF_TYPE(i64, I64, name) OF_TYPE(f64, F64, name) OF_TYPE(fix, FIX, name) OF_TYPE(f32, F32, name) break;
#define INVERSE FAMILY
#include "families.def"
#undef FAMILY
#undef INVERSE
    }
    return v;
}

/* The domain behind the places. */
static void changed(const rvm__math *math, const job *j, const rvm_value *x, rvm_value *out, int *overflow) {
    const rvm_change_info *info = &rvm__change_info[rvm__change_of((unsigned)j->what)];
    rvm_value v[RVM_MAX_CHANGED] = {{0}}, a[RVM_MAX_CHANGE_OPERANDS] = {{0}};
    for (unsigned n = 0; n < j->n; n++) *(n < info->places ? &v[n] : &a[n - info->places]) = x[n];
    out[info->places].i =
        math->changes[rvm__change_of((unsigned)j->what)][rvm__is_inverse((unsigned)j->what)][j->t](v, a, overflow);
    for (unsigned n = 0; n < info->places; n++) out[n] = v[n];
}

static void expected(const rvm__math *math, const job *j, const rvm_value x[MOST], rvm_value out[MOST], int *overflow) {
    out[0] = x[0], out[1] = x[1];
    switch (j->kind) {
    case ROW: out[0] = math->kernels[rvm__kernel_index((rvm_row)j->what, j->y, j->t)].f(x[0], x[1], x[2], overflow); break;
    case UPDATE: out[0] = update_value(j, x[0], x[1], overflow); break;
    case IN_PLACE: changed(math, j, x, out, overflow); break;
    case IS_FACTOR: out[0].i = x[0].f != 0 && isfinite(x[0].f); break;
    case IS_POSITIVE: out[0].i = j->t == RVM_FIX ? x[0].i > 0 : x[0].f > 0 && isfinite(x[0].f); break;
    }
}

/* ---- the same as IR ---- */

static void build_change(rvm__build *k, const job *j, LLVMValueRef x[MOST], LLVMValueRef *overflow) {
    const rvm_change_info *info = &rvm__change_info[rvm__change_of((unsigned)j->what)];
    LLVMTypeRef i64 = rvm__build_type(k, RVM_I64);
    LLVMValueRef v[RVM_MAX_CHANGED] = {x[0], x[1], x[2]};
    LLVMValueRef good = rvm__build_change(k, (rvm_op)j->what, j->t, v, x + info->places, overflow);
    for (unsigned n = 0; n < info->places; n++) x[n] = v[n];
    x[info->places] = good ? LLVMBuildZExt(k->b, good, i64, "") : rvm__build_value(k, RVM_I64, (rvm_value){.i = 1});
}

static void build_body(rvm__build *k, const job *j, LLVMValueRef x[MOST], LLVMValueRef *overflow) {
    LLVMTypeRef i64 = rvm__build_type(k, RVM_I64);
    switch (j->kind) {
    case ROW: x[0] = rvm__build_row(k, (rvm_row)j->what, j->y, j->t, x, overflow); break;
    case UPDATE: x[0] = rvm__build_update(k, (rvm_op)j->what, j->t, x[0], x[1], overflow); break;
    case IN_PLACE: build_change(k, j, x, overflow); break;
    case IS_FACTOR: x[0] = LLVMBuildZExt(k->b, rvm__build_is_factor(k, x[0]), i64, ""); break;
    case IS_POSITIVE: x[0] = LLVMBuildZExt(k->b, rvm__build_is_positive(k, j->t, x[0]), i64, ""); break;
    }
}

static rvm_type operand_type(const job *j, unsigned n) {
    rvm_type types[MOST] = {j->t, j->t, j->t, j->t};
    if (j->kind == ROW) rvm__row_types((rvm_row)j->what, j->y, j->t, types);
    return types[n];
}

static LLVMValueRef address(rvm__build *k, LLVMValueRef base, unsigned row) {
    LLVMValueRef at = LLVMConstInt(k->i64, row * MAX_LANES, false);
    return LLVMBuildInBoundsGEP2(k->b, k->i64, base, &at, 1, "");
}

static void build_job(rvm__build *k, const job *j, unsigned number, bool asks) {
    char name[32];
    LLVMTypeRef params[] = {k->ptr, k->ptr, k->ptr};
    snprintf(name, sizeof name, "job%u", number);
    LLVMValueRef f = LLVMAddFunction(k->module, name, LLVMFunctionType(k->nothing, params, 3, false)), x[MOST],
                 overflow = NULL;
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, f, ""));
    for (unsigned n = 0; n < MOST; n++) {
        x[n] = rvm__build_value(k, operand_type(j, n), j->constant[n]);
        if (n >= j->n || j->fixed >> n & 1) continue;
        x[n] = LLVMBuildLoad2(k->b, LLVMTypeOf(x[n]), address(k, LLVMGetParam(f, 0), n), "");
        LLVMSetAlignment(x[n], 8);
    }
    build_body(k, j, x, asks ? &overflow : NULL);
    for (unsigned n = 0; n < j->results; n++)
        LLVMSetAlignment(LLVMBuildStore(k->b, x[n], address(k, LLVMGetParam(f, 1), n)), 8);
    LLVMTypeRef flags = rvm__build_type(k, RVM_I64);
    overflow = overflow ? LLVMBuildZExt(k->b, overflow, flags, "") : LLVMConstNull(flags);
    LLVMSetAlignment(LLVMBuildStore(k->b, overflow, LLVMGetParam(f, 2)), 8);
    LLVMBuildRetVoid(k->b);
}

/* ---- comparing ---- */

static bool same(rvm_type t, rvm_value a, rvm_value b) {
    return a.u == b.u || (rvm__is_floating(t) && isnan(a.f) && isnan(b.f));
}

/* What contraction may change, where nothing overflows: the last digits of the type, beside the operands. */
static bool near(const job *j, const rvm_value x[MOST], rvm_value want, rvm_value got) {
    double size = fabs(want.f);
    for (unsigned n = 0; n < j->n; n++) size += fabs(x[n].f);
    return !isfinite(want.f) || fabs(want.f - got.f) <= size * (j->y == RVM_F32 ? 0x1p-22 : 0x1p-48);
}

static rvm_type result_type(const job *j, unsigned n) {
    const bool is_domain = j->kind == IN_PLACE && n + 1 == j->results;
    return is_domain || j->kind == IS_FACTOR || j->kind == IS_POSITIVE ? RVM_I64 : j->y;
}

static void compare_lane(state *s, const job *j, unsigned lanes, const rvm_value x[MOST], const rvm_value got[MOST],
                         bool got_overflow) {
    rvm_value want[MOST];
    int overflow = 0;
    expected(s->math, j, x, want, &overflow);
    bool good = (overflow && s->asks) == got_overflow;
    for (unsigned n = 0; n < j->results; n++) {
        const bool loose = s->fast && rvm__is_floating(result_type(j, n));
        const bool fails = j->kind == IN_PLACE && !want[j->results - 1].i; /* then the places stay as they are */
        good = good && (same(result_type(j, n), want[n], got[n]) || (loose && (fails || near(j, x, want[n], got[n]))));
    }
    s->compared++;
    if (good || s->failures++ > 20) return;
    printf("%s to %s, of %s, %d, in %u lanes, constants %u:", job_name(j), rvm_type_name(j->y), rvm_type_name(j->t), j->what,
           lanes, j->fixed);
    for (unsigned n = 0; n < j->n; n++) printf(" %" PRIx64 " (%.17g)", x[n].u, x[n].f);
    for (unsigned n = 0; n < j->results; n++)
        printf("; expected %" PRIx64 " (%.17g), got %" PRIx64 " (%.17g)", want[n].u, want[n].f, got[n].u, got[n].f);
    printf("; overflow %d, %d\n", overflow, got_overflow);
}

static void run_lanes(state *s, const job *j, code f, unsigned lanes, rvm_value x[MOST][MAX_LANES]) {
    rvm_value out[MOST][MAX_LANES] = {{{0}}};
    int64_t overflow[MAX_LANES];
    f((const rvm_value(*)[MAX_LANES])x, out, overflow);
    for (unsigned l = 0; l < lanes; l++)
        compare_lane(s, j, lanes, (rvm_value[]){x[0][l], x[1][l], x[2][l], x[3][l]},
                     (rvm_value[]){out[0][l], out[1][l], out[2][l], out[3][l]}, overflow[l]);
}

/* Points: all combinations of the grid, of three operands and more some. Divisors of 0 are tested before. */
static void run_job(state *s, const job *j, code f, unsigned lanes) {
    const unsigned all[] = {1, GRID, GRID * GRID, TUPLES, TUPLES};
    rvm_value x[MOST][MAX_LANES];
    for (unsigned at = 0, filled = 0; at < all[j->n]; at++) {
        unsigned pick[MOST] = {at % GRID, at / GRID % GRID};
        for (unsigned n = j->n > 2 ? 0 : 2; n < MOST; n++) pick[n] = rng_below(&s->random, GRID);
        for (unsigned n = 0; n < MOST; n++)
            x[n][filled] = j->fixed >> n & 1 ? j->constant[n] : s->grid[operand_type(j, n)][pick[n]];
        if (j->kind == ROW && rvm__row_info[j->what].sig == RVM_SIG_QUOT && x[1][filled].i == 0) continue;
        if (++filled < lanes) continue;
        run_lanes(s, j, f, lanes, x);
        if (j->fixed + 1 == 1u << j->n) break; /* all constant */
        filled = 0;
    }
}

/* ---- the jobs ---- */

static void add_job(state *s, job j) {
    if (s->njobs < MAX_JOBS) s->jobs[s->njobs++] = j;
}

static job with_constants(state *s, job j, unsigned fixed) {
    j.fixed = fixed;
    for (unsigned n = 0; n < j.n; n++) j.constant[n] = s->grid[operand_type(&j, n)][rng_below(&s->random, GRID)];
    if (j.kind == ROW && rvm__row_info[j.what].sig == RVM_SIG_QUOT && j.constant[1].i == 0) j.constant[1].i = -1;
    return j;
}

/* Varying; and with the second operand, or all of them, constant: other ones for each of the ways. */
static void add_jobs(state *s, job j) {
    enum { CONSTANTS = 2 };
    add_job(s, j);
    for (unsigned n = 0; n < CONSTANTS; n++) add_job(s, with_constants(s, j, (1u << j.n) - 1));
    for (unsigned n = 0; n < CONSTANTS && j.n > 1; n++) add_job(s, with_constants(s, j, 2));
}

static void list_rows(state *s) {
    rvm_type types[3];
    for (int row = 0; row < RVM_ROW_COUNT; row++)
        for (rvm_type y = 0; y < RVM_TYPE_COUNT; y++)
            for (rvm_type t = 0; t < RVM_TYPE_COUNT; t++)
                if (rvm__row_types((rvm_row)row, y, t, types))
                    add_jobs(s,
                             (job){.kind = ROW, .what = row, .y = y, .t = t, .n = rvm__row_info[row].arity, .results = 1});
}

static void list_updates(state *s, rvm_op op, rvm_type t) {
    if (!rvm__op_info[op].name || !(rvm__op_info[op].types >> t & 1)) return;
    if (rvm__op_is_update(op)) add_jobs(s, (job){.kind = UPDATE, .what = op, .y = t, .t = t, .n = 2, .results = 1});
    if (rvm__class_of(op) != RVM_CLASS_IN_PLACE) return;
    const rvm_change_info *info = &rvm__change_info[rvm__change_of(op)];
    add_jobs(s, (job){IN_PLACE, op, t, t, info->places + info->operands, info->places + 1u, 0, {{0}}});
}

static void list_others(state *s) {
    for (rvm_type t = 0; t < RVM_TYPE_COUNT; t++) {
        for (int op = 0; op < RVM_OP_LIMIT; op++) list_updates(s, (rvm_op)op, t);
        if (RVM_TYPES_D >> t & 1) add_jobs(s, (job){.kind = IS_FACTOR, .y = t, .t = t, .n = 1, .results = 1});
        if (RVM_TYPES_R >> t & 1) add_jobs(s, (job){.kind = IS_POSITIVE, .y = t, .t = t, .n = 1, .results = 1});
    }
}

/* Zeros, infinities, NaN, denormals, ties of every rounding, ends of ranges, ordinary numbers; then random ones. */
static void make_grid(state *s) {
    static const double reals[] = {0.0,        -0.0,    INFINITY, -INFINITY,
                                   NAN,        1,       -1,       0.5,
                                   -0.5,       1.5,     2,        2.5,
                                   -3,         10,      0.1,      -0.7,
                                   5e-324,     -1e-310, 1e-40,    1.7976931348623157e308,
                                   -1e300,     3.5e38,  16777217, 4503599627370497.5,
                                   0x1p63,     -0x1p63, 1048576,  -1048576,
                                   1048575.99, 0x1p-44, 0x3p-44,  0x1.000001p0,
                                   1e22,       709.5,   -745};
    static const int64_t wholes[] = {0,
                                     1,
                                     -1,
                                     2,
                                     3,
                                     -3,
                                     7,
                                     63,
                                     64,
                                     65,
                                     -64,
                                     1000003,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT64_MIN + 1,
                                     INT64_C(1) << 42,
                                     INT64_C(1) << 43,
                                     -(INT64_C(1) << 43),
                                     INT64_C(1) << 44,
                                     -(INT64_C(1) << 44),
                                     INT64_C(3) << 42,
                                     -(INT64_C(3) << 42),
                                     INT64_C(1) << 53,
                                     (INT64_C(1) << 53) + 1,
                                     16777217,
                                     -33554435,
                                     INT64_C(1) << 62,
                                     12345678901234};
    enum { REALS = sizeof reals / sizeof *reals, WHOLES = sizeof wholes / sizeof *wholes };
    _Static_assert((int)REALS < GRID && (int)WHOLES < GRID, "there is room for random ones");
    for (unsigned n = 0; n < GRID; n++) {
        const double x = n < REALS ? reals[n] : n % 2 ? rng_real(&s->random, -4, 4) : rng_real(&s->random, -1e6, 1e6);
        const uint64_t bits = rng_next(&s->random) >> rng_below(&s->random, 40);
        const int64_t i = n < WHOLES ? wholes[n] : (int64_t)(n % 2 ? bits : -bits);
        s->grid[RVM_F64][n].f = x;
        s->grid[RVM_F32][n].f = (double)(float)x;
        s->grid[RVM_I64][n].i = s->grid[RVM_FIX][n].i = i;
    }
}

/* ---- functions of libm: calls, of which equal ones merge, unused ones vanish, and none is rewritten or folded ---- */

static LLVMValueRef call_of(rvm__build *k, const char *name, unsigned n, LLVMValueRef x, double y) {
    return rvm__build_call(k, name, n, (LLVMValueRef[]){x, rvm__build_value(k, RVM_F64, (rvm_value){.f = y})});
}

/* sin x + sin x + pow(x, 2) + pow(x, 0.5) + exp(1), and log x unused. */
static void build_calls(rvm__build *k) {
    LLVMTypeRef type = rvm__build_type(k, RVM_F64);
    LLVMValueRef f = LLVMAddFunction(k->module, "calls", LLVMFunctionType(type, &type, 1, false)), x = LLVMGetParam(f, 0);
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, f, ""));
    call_of(k, "log", 1, x, 0);
    LLVMValueRef v[] = {call_of(k, "sin", 1, x, 0), call_of(k, "sin", 1, x, 0), call_of(k, "pow", 2, x, 2),
                        call_of(k, "pow", 2, x, 0.5),
                        call_of(k, "exp", 1, rvm__build_value(k, RVM_F64, (rvm_value){.f = 1}), 0)};
    for (unsigned n = 1; n < 5; n++) v[0] = LLVMBuildFAdd(k->b, v[0], v[n], "");
    LLVMBuildRet(k->b, v[0]);
}

static unsigned count(const char *text, const char *what) {
    unsigned n = 0;
    for (; (text = strstr(text, what)); text++) n++;
    return n;
}

static bool calls_stay(unsigned lanes) {
    rvm__build k;
    compiled c = {NULL, ""};
    bool good = rvm__build_begin(&k, &plain, "calls");
    k.lanes = lanes;
    if (good) build_calls(&k);
    good = good && compile(&c, &k, false, 2);
    char *text = good ? LLVMPrintModuleToString(k.module) : NULL;
    good = good && count(text, "@sin(double %") == lanes && count(text, "@pow(double %") == 2 * lanes &&
           count(text, "@exp(double 1") == 1 && count(text, "call ") == 3 * lanes + 1;
    if (!good) printf("calls in %u lanes: %s\n%s\n", lanes, c.why, text ? text : "");
    LLVMDisposeMessage(text);
    compiled_end(&c);
    rvm__build_end(&k);
    return good;
}

/* ---- running ---- */

static bool run_all(state *s, unsigned lanes, bool oldest) {
    rvm__build k;
    compiled c = {NULL, ""};
    bool good = rvm__build_begin(&k, &plain, "words");
    k.lanes = lanes;
    k.fast = s->fast;
    k.sleef = s->math != &rvm__math_libm;
    for (unsigned n = 0; good && n < s->njobs; n++) build_job(&k, &s->jobs[n], n, s->asks);
    good = good && compile(&c, &k, oldest, 2);
    for (unsigned n = 0; good && n < s->njobs; n++) {
        char name[32];
        snprintf(name, sizeof name, "job%u", n);
        union {
            void *p;
            code f;
        } at = {compiled_function(&c, name)};
        good = at.p;
        if (good) run_job(s, &s->jobs[n], at.f, lanes);
    }
    if (!good) printf("%u lanes: %s\n", lanes, c.why);
    compiled_end(&c);
    rvm__build_end(&k);
    return good;
}

int main(void) {
    static const struct {
        unsigned lanes;
        bool oldest, asks, fast, sleef;
    } how[] = {{.lanes = 1, .asks = true},
               {.lanes = 2, .asks = true},
               {.lanes = 4, .asks = true},
               {.lanes = 8, .asks = true},
               {.lanes = 1, .oldest = true},
               {.lanes = 4, .oldest = true, .asks = true},
               {.lanes = 2},
               {.lanes = 1, .fast = true},
               {.lanes = 4, .fast = true, .asks = true},
               {.lanes = 1, .sleef = true, .asks = true},
               {.lanes = 2, .sleef = true}};
    rvm_math sleef;
    state s = {.jobs = calloc(MAX_JOBS, sizeof(job)), .random = {7}};
    if (!s.jobs) return 2;
    rvm_math_choose(RVM_MATH_SLEEF, &sleef, NULL);
    make_grid(&s);
    bool good = calls_stay(1) && calls_stay(4);
    for (unsigned i = 0; good && i < sizeof how / sizeof *how; i++) {
        s.njobs = 0;
        list_rows(&s);
        list_others(&s);
        if (s.njobs == MAX_JOBS) return 2;
        s.asks = how[i].asks, s.fast = how[i].fast;
        s.math = rvm__math_of(how[i].sleef ? sleef : RVM_MATH_LIBM);
        good = run_all(&s, how[i].lanes, how[i].oldest);
    }
    printf("%u functions, %u values compared, %u differ\n", s.njobs, s.compared, s.failures);
    free(s.jobs);
    return good && !s.failures ? 0 : 1;
}

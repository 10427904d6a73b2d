/* exercise.c: run any verified program, whatever it does; for the fuzz targets and for damaged files that verify. */
#include "harness.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FUEL = 20000, DEPTH = 50, MEMORY = 1 << 20, FUNCTIONS = 6, ELEMENTS = 4096, ORDERS = 2 };

/* A defect of the machine, not of the program: stop where it is. */
static rvm_status sound(rvm_status s) {
    if (s == RVM_ERR_INTERNAL) abort();
    return s;
}

/* Small integers make loops and indices that do something. */
static void small_values(args *a, rng *r) {
    for (uint32_t i = 0; i < a->n; i++)
        for (size_t k = 0; a->a[i].type == RVM_I64 && k < arg_count(&a->a[i]); k++)
            if (rng_below(r, 4)) arg_value(&a->a[i], k)->i = (int64_t)rng_below(r, 7) - 1;
}

static void step_some(rvm_machine *m, rng *r) {
    rvm_error e;
    bool done = false;
    rvm_location at;
    rvm_variable v;
    for (int k = 0; k < 60; k++) {
        int direction = rng_below(r, 3) ? 1 : -1;
        if (sound(rvm_machine_step(m, direction, &done, &e)) != RVM_OK) break;
        for (uint32_t f = 0; rvm_machine_location(m, f, direction, &at) && f < 3; f++)
            for (uint32_t j = 0; rvm_machine_variable(m, f, j, &v) && j < 4; j++) continue;
    }
}

static void run_modes(rvm_machine *m, int64_t fn, args *in, rng *r) {
    rvm_error e;
    args a = args_copy(in);
    args_random_shadows(&a, r);
    if (sound(rvm_machine_bind(m, fn, a.a, a.n, RVM_PRIMAL, false, &e)) == RVM_OK) {
        step_some(m, r);
        sound(rvm_machine_forward(m, &e));
        sound(rvm_machine_backward(m, &e));
        rvm_machine_unbind(m);
    }
    if (sound(rvm_machine_bind(m, fn, a.a, a.n, RVM_GRADIENT, false, &e)) == RVM_OK) {
        step_some(m, r);
        sound(rvm_machine_forward(m, &e));
        sound(rvm_machine_sweep(m, &e));
        step_some(m, r);
        sound(rvm_machine_forward(m, &e)); /* takes the sweep back, where its shadows are kept */
        sound(rvm_machine_backward(m, &e));
        rvm_machine_unbind(m);
    }
    sound(rvm_uncall(m, fn, a.a, a.n, &e));
    sound(rvm_gradient(m, fn, a.a, a.n, &e));
    sound(rvm_sweep(m, fn, a.a, a.n, &e));
    sound(rvm_tangent(m, fn, a.a, a.n, &e));
    args_free(&a);
}

/* Second derivatives, by both ways, of everything by everything. */
static void run_second(rvm_machine *m, int64_t fn, args *in, bool products) {
    enum { COLUMNS = 40 };
    rvm_part parts[RVM_MAX_PARAMS];
    double w[COLUMNS], H[COLUMNS * COLUMNS];
    rvm_error e;
    int64_t rows = 0, columns = 0;
    rvm_derivative_spec q = {.fn = fn, .args = in->a, .nargs = in->n, .outputs = parts, .inputs = parts};
    for (uint32_t i = 0; i < in->n; i++)
        if (in->a[i].type != RVM_I64) parts[q.noutputs++] = (rvm_part){i, -1};
    q.ninputs = q.noutputs;
    for (int k = 0; k < COLUMNS; k++) w[k] = k - 1.5;
    if (rvm_derivative_size(m, &q, &rows, &columns, &e) || rows > COLUMNS) return;
    sound(rvm_hessian(m, &q, w, RVM_BY_SWEEP, H, NULL, &e));
    if (products) sound(rvm_hvp(m, &q, w, w, H, NULL, &e));
}

static bool small_enough(const args *a) {
    size_t total = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        size_t n = 1;
        for (int d = 0; d < a->a[i].ndim; d++) n = n > ELEMENTS ? n : n * (size_t)a->a[i].shape[d];
        total += n;
    }
    return total <= ELEMENTS;
}

/* Shapes of the signature may be huge constants: those calls are left out. */
static bool constants_small(const rvm_program *p, uint32_t fn) {
    rvm_param_info info;
    for (uint32_t i = 0; rvm_program_param(p, fn, i, &info) == RVM_OK; i++)
        for (int d = 0; d < info.ndim; d++)
            if (info.dim_value[d] > 8) return false;
    return true;
}

/* Of every kind: what a run keeps, and how much of it. */
static rvm_options any_options(bool unchecked, rng *r) {
    rvm_options o = rvm_options_default();
    o.unchecked = unchecked;
    o.fuel = FUEL;
    o.depth = DEPTH;
    o.memory = MEMORY;
    if (!rng_below(r, 4)) o.trail = RVM_TRAIL_OFF;
    if (!rng_below(r, 4)) o.trail_limit = 1 + rng_below(r, 4096);
    o.keep_shadows = rng_below(r, 2);
    o.exact = !rng_below(r, 3);
    return o;
}

static void exercise_function(const rvm_program *p, uint32_t fn, bool unchecked, bool second, rng *r) {
    const rvm_options o = any_options(unchecked, r);
    rvm_machine *m = NULL;
    rvm_error e;
    if (!constants_small(p, fn) || rvm_machine_new(p, &o, &m, &e) != RVM_OK) return;
    args in = args_new(p, fn);
    args_random(&in, p, fn, 1 + rng_below(r, 4), r);
    small_values(&in, r);
    args_activate(&in, NULL);
    if (small_enough(&in)) run_modes(m, fn, &in, r);
    if (second && small_enough(&in)) run_second(m, fn, &in, !unchecked);
    args_free(&in);
    rvm_machine_free(m);
}

/* A derivative of it, by some of its reals, and sometimes one of that. What is derived of a verified program is verified. */
static void exercise_derived(const rvm_program *p, uint32_t fn, int order, rng *r) {
    uint8_t active[RVM_MAX_PARAMS + 1] = {0};
    const rvm_transform kind = (rvm_transform)rng_below(r, RVM_TRANSFORM_COUNT);
    rvm_param_info info;
    rvm_program *q = NULL;
    rvm_error e;
    uint32_t derived;
    for (uint32_t i = 0; rvm_program_param(p, fn, i, &info) == RVM_OK; i++)
        active[i] = info.type != RVM_I64 && rng_below(r, 4);
    if (sound(rvm_program_close_active(p, fn, active, &e))) return;
    const rvm_status st = sound(rvm_program_transform(p, fn, kind, active, &q, &derived, &e));
    if (st == RVM_ERR_VERIFY) abort();
    if (st) return;
    exercise_function(q, derived, rng_below(r, 2), false, r);
    if (order < ORDERS && rng_below(r, 2)) exercise_derived(q, derived, order + 1, r);
    rvm_program_free(q);
}

void exercise(const rvm_program *p, uint64_t seed) {
    rng r = {seed};
    uint32_t n = rvm_program_function_count(p);
    for (uint32_t fn = 0; fn < n && fn < FUNCTIONS; fn++) {
        for (int unchecked = 0; unchecked < 2; unchecked++) exercise_function(p, fn, unchecked, true, &r);
        exercise_derived(p, fn, 1, &r);
    }
}

bool bytecode_seal(unsigned char *bytes, size_t size) {
    if (size < RVM_RBC_HEADER) return false;
    const size_t length = size - RVM_RBC_HEADER;
    const struct {
        uint64_t value;
        int at, size;
    } fields[] = {{RVM_RBC_VERSION, RVM_RBC_AT_VERSION, 2},
                  {rvm__tables.types, RVM_RBC_AT_TYPES, 2},
                  {rvm__tables.pairs, RVM_RBC_AT_PAIRS, 2},
                  {rvm__tables.rows, RVM_RBC_AT_ROWS, 2},
                  {rvm_bytecode_tables(), RVM_RBC_AT_TABLES, 8},
                  {length, RVM_RBC_AT_LENGTH, 8},
                  {XXH3_64bits(bytes + RVM_RBC_HEADER, length), RVM_RBC_AT_HASH, 8}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (int k = 0; k < fields[i].size; k++) bytes[fields[i].at + k] = (unsigned char)(fields[i].value >> 8 * k);
    return true;
}

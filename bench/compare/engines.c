/* engines.c: what can run a task. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "taped.h"
#include "common.h"
#include "compare.h"
#include "rvm_asm.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"

/* ---- the call that computes a task ---- */

/* Each active argument is followed by its shadow, as the parameters of a derived function are. */
static void interleave(call *c, const task *t) {
    for (uint32_t i = 0; i < t->nargs; i++) {
        rvm_arg a = t->args[i];
        const bool active = a.active && t->way != BY_CALL;
        a.active = false;
        c->args[c->nargs++] = a;
        if (!active) continue;
        a.value = a.shadow;
        a.data = a.shadow_data;
        memcpy(a.stride, a.shadow_stride, sizeof a.stride);
        c->args[c->nargs++] = a;
    }
}

static rvm_status derive(call *c, const task *t, int64_t fn, rvm_error *e) {
    uint8_t active[MAX_ARGS];
    rvm_program *derived = NULL;
    uint32_t index = 0;
    for (uint32_t i = 0; i < t->nargs; i++) active[i] = t->args[i].active;
    rvm_status st = rvm_program_transform(c->p, (uint32_t)fn, t->way == BY_ADJOINT ? RVM_ADJOINT : RVM_GRADIENT_OF, active,
                                          &derived, &index, e);
    if (st) return st;
    rvm_program_free(c->p);
    c->p = derived;
    c->fn = index;
    return RVM_OK;
}

static rvm_status find(const rvm_program *p, const char *path, const char *function, int64_t *fn, rvm_error *e) {
    *fn = rvm_program_find(p, function);
    if (*fn >= 0) return RVM_OK;
    *e = (rvm_error){.code = RVM_ERR_NAME};
    snprintf(e->message, sizeof e->message, "%s: there is no function `%s`", path, function);
    return e->code;
}

/* H, and the function's arguments but for its result. */
static void hessian_arguments(call *c, const task *t) {
    const int64_t *x = t->args[1].shape;
    c->args[c->nargs++] = rvm_arg_array_f64(t->outputs[0].data, 3, (int64_t[]){x[0] * x[1], x[0], x[1]});
    for (uint32_t i = 1; i < t->nargs; i++) {
        c->args[c->nargs] = t->args[i];
        c->args[c->nargs++].active = false;
    }
}

rvm_status call_make(call *c, const task *t, rvm_error *e) {
    *c = (call){0};
    rvm_status st = rvm_open(t->path, NULL, &c->p, e, NULL, NULL);
    if (!st) st = find(c->p, t->path, t->way == BY_HESSIAN ? t->hessian : t->function, &c->fn, e);
    if (st) return st;
    if (t->way == BY_ADJOINT || t->way == BY_GRADIENT) st = derive(c, t, c->fn, e);
    if (t->way == BY_HESSIAN)
        hessian_arguments(c, t);
    else
        interleave(c, t);
    return st;
}

void call_free(call *c) {
    rvm_program_free(c->p);
    c->p = NULL;
}

/* ---- the interpreter: gradients in gradient mode ---- */

typedef struct interpreter {
    rvm_program *p;
    rvm_machine *m;
    const task *t;
    int64_t fn;
    rvm_arg args[MAX_ARGS];
    bool derived; /* runs the call as it is */
} interpreter;

static const char *never_missing(const engine *g, const task *t) {
    (void)g;
    (void)t;
    return NULL;
}

static void close_interpreter(void *state) {
    interpreter *s = state;
    if (!s) return;
    rvm_machine_free(s->m);
    rvm_program_free(s->p);
    free(s);
}

rvm_math machine_math;

/* What is measured is checked by its results; what comes back of the arguments has to be as near as they. */
static rvm_options measured_options(const task *t) {
    rvm_options o = rvm_options_default();
    o.unchecked = o.trust = true;
    o.math = machine_math;
    o.tolerance = fmax(o.tolerance, t->tolerance);
    return o;
}

static rvm_status open_interpreter(const engine *g, const task *t, const call *c, void **state, rvm_error *e) {
    rvm_options o = measured_options(t);
    interpreter *s = calloc(1, sizeof *s);
    *state = s;
    if (!s) return RVM_ERR_MEMORY;
    s->t = t;
    s->derived = g->variant || t->way == BY_CALL;
    memcpy(s->args, t->args, sizeof s->args);
    if (s->derived) o.trail = RVM_TRAIL_OFF; /* it is never taken back */
    if (s->derived) return rvm_machine_new(c->p, &o, &s->m, e);
    rvm_status st = rvm_open(t->path, NULL, &s->p, e, NULL, NULL);
    if (!st) st = find(s->p, t->path, t->function, &s->fn, e);
    if (!st) st = rvm_machine_new(s->p, &o, &s->m, e);
    return st;
}

static rvm_status run_hessian(interpreter *s, rvm_error *e) {
    const rvm_part of = {0, -1}, by = {1, -1};
    const rvm_derivative_spec q = {
        .fn = s->fn, .args = s->args, .nargs = s->t->nargs, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
    return rvm_hessian(s->m, &q, NULL, RVM_AUTO, s->t->outputs[0].data, NULL, e);
}

static rvm_status run_interpreter(void *state, call *c, rvm_error *e) {
    interpreter *s = state;
    if (s->derived) return rvm_call(s->m, c->fn, c->args, c->nargs, e);
    switch (s->t->way) {
    case BY_ADJOINT: return rvm_sweep(s->m, s->fn, s->args, s->t->nargs, e);
    case BY_HESSIAN: return run_hessian(s, e);
    case BY_GRADIENT:
    case BY_CALL: break;
    }
    return rvm_gradient(s->m, s->fn, s->args, s->t->nargs, e);
}

/* ---- native code: the call as it is, compiled before it is timed ---- */

bool native_any_lengths;
unsigned native_level = 3;
const char *native_cpu;

typedef struct native {
    rvm_jit *j;
    rvm_machine *m;
} native;

enum { NATIVE_FAST = 1, NATIVE_THREADS = 2, NATIVE_LANES = 4, NATIVE_VECTOR_MATH = 8 }; /* bits */

static const char *missing_native(const engine *g, const task *t) {
    rvm_jit *j = NULL;
    (void)g;
    (void)t;
    rvm_jit_options jit = rvm_jit_options_default();
    jit.cpu = native_cpu;
    const rvm_status st = rvm_jit_new(&jit, &j, NULL);
    rvm_jit_free(j);
    return st == RVM_ERR_USAGE ? "no such processor" : st ? "no LLVM" : NULL;
}

static void close_native(void *state) {
    native *s = state;
    if (!s) return;
    rvm_machine_free(s->m);
    rvm_jit_free(s->j);
    free(s);
}

static rvm_status open_native(const engine *g, const task *t, const call *c, void **state, rvm_error *e) {
    rvm_options o = measured_options(t);
    rvm_jit_options jit = rvm_jit_options_default();
    jit.tiers = false;
    jit.cache = "";          /* what is measured is compiled now */
    o.trail = RVM_TRAIL_OFF; /* it is never taken back */
    jit.fast_math = g->variant & NATIVE_FAST;
    jit.vector_math = g->variant & NATIVE_VECTOR_MATH;
    jit.no_lanes = !(g->variant & NATIVE_LANES);
    jit.any_lengths = native_any_lengths;
    jit.level = native_level;
    jit.cpu = native_cpu;
    jit.threads = g->variant & NATIVE_THREADS ? 2 : 0;
    native *s = calloc(1, sizeof *s);
    *state = s;
    if (!s) return RVM_ERR_MEMORY;
    rvm_status st = rvm_jit_new(&jit, &s->j, e);
    if (!st) st = rvm_machine_new(c->p, &o, &s->m, e);
    return st ? st : rvm_jit_attach(s->j, s->m, e);
}

static rvm_status run_native(void *state, call *c, rvm_error *e) {
    native *s = state;
    const rvm_status st = rvm_call(s->m, c->fn, c->args, c->nargs, e);
    return st ? st : rvm_jit_reason(s->m, e); /* what was interpreted is no figure of native code */
}

/* ---- by hand: C as each compiler builds it ---- */

typedef struct peer_state {
    peer_function *run;
    void *data;
} peer_state;

static const char *missing_peer(const engine *g, const task *t) {
    (void)t;
    return peer_builds[g->variant].run ? NULL : "not built";
}

static rvm_status open_peer(const engine *g, const task *t, const call *c, void **state, rvm_error *e) {
    (void)c;
    (void)e;
    peer_state *s = malloc(sizeof *s);
    *state = s;
    if (!s) return RVM_ERR_MEMORY;
    s->run = peer_builds[g->variant].run[t->peer];
    s->data = t->data;
    return RVM_OK;
}

static rvm_status run_peer(void *state, call *c, rvm_error *e) {
    (void)c;
    (void)e;
    const peer_state *s = state;
    s->run(s->data);
    return RVM_OK;
}

/* ---- ADOL-C: a tape is recorded once, then evaluated ---- */

static const char *missing_adolc(const engine *g, const task *t) {
    (void)g;
    if (!adolc_present()) return "not built";
    return t->taped ? NULL : "no tape";
}

static rvm_status open_adolc(const engine *g, const task *t, const call *c, void **state, rvm_error *e) {
    (void)g;
    (void)c;
    *state = adolc_open(t->peer, t->data);
    if (*state) return RVM_OK;
    *e = (rvm_error){.code = RVM_ERR_MEMORY, .message = "ADOL-C cannot record a tape"};
    return e->code;
}

static rvm_status run_adolc(void *state, call *c, rvm_error *e) {
    (void)c;
    if (adolc_run(state)) return RVM_OK;
    *e = (rvm_error){.code = RVM_ERR_CHECK, .message = "ADOL-C: the tape does not fit this point"};
    return e->code;
}

#define PEER(NAME, VARIANT, KIND)                                                                                           \
    {                                                                                                                       \
        .name = NAME, .variant = VARIANT, .by_hand = true, .kind = KIND, .missing = missing_peer, .open = open_peer,        \
        .run = run_peer, .close = free                                                                                      \
    }

#define NATIVE(NAME, VARIANT, KIND)                                                                                         \
    {                                                                                                                       \
        .name = NAME, .variant = VARIANT, .kind = KIND, .wall = ((VARIANT)&NATIVE_THREADS) != 0, .missing = missing_native, \
        .open = open_native, .run = run_native, .close = close_native                                                       \
    }

/* The first one's results are what the others are compared with. */
const engine engines[] = {
    PEER("gcc", PEER_GCC, STRICT),
    PEER("clang", PEER_CLANG, STRICT),
    PEER("gcc scalar", PEER_GCC_SCALAR, SCALAR),
    PEER("clang scalar", PEER_CLANG_SCALAR, SCALAR),
    PEER("gcc -ffast-math", PEER_GCC_FAST, FAST),
    PEER("clang -ffast-math", PEER_CLANG_FAST, FAST),
    {.name = "interpreter",
     .missing = never_missing,
     .open = open_interpreter,
     .run = run_interpreter,
     .close = close_interpreter},
    {.name = "interpreted derivative program",
     .variant = 1,
     .check_only = true,
     .missing = never_missing,
     .open = open_interpreter,
     .run = run_interpreter,
     .close = close_interpreter},
    NATIVE("native scalar", 0, STRICT),
    NATIVE("native scalar, fast math", NATIVE_FAST, FAST),
    NATIVE("lanes", NATIVE_LANES, STRICT),
    NATIVE("lanes, functions within 4 ulp", NATIVE_LANES | NATIVE_VECTOR_MATH, STRICT),
    NATIVE("lanes, fast math", NATIVE_LANES | NATIVE_FAST, FAST),
    NATIVE("lanes, 2 threads", NATIVE_LANES | NATIVE_THREADS, STRICT),
    NATIVE("lanes, fast math, 2 threads", NATIVE_LANES | NATIVE_THREADS | NATIVE_FAST, FAST),
    {.name = "ADOL-C", .missing = missing_adolc, .open = open_adolc, .run = run_adolc, .close = adolc_close},
};
const int nengines = sizeof engines / sizeof *engines;

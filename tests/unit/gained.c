/* gained.c: a compute part that changes a temporary from before it costs a sweep no more than one that makes its own, where
 * that has gained nothing when the sweep comes there. What must not be left out is in tests/cases/derivatives/gained.rasm.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "program.h"
#include "rvm.h"
#include "rvm_asm.h"

#define REGION(t, own, gains)                                                                                               \
    "    compute\n" own "        " t " += sin(w[0] * x)\n        " t " += sin(w[1] * x)\n"                                  \
    "    do\n        out += exp(" t ") * w[1]\n    undo\n" gains
#define SCALAR       "    let t: real\n"
#define ARRAY        "    let t: real[2] = 0\n"
#define FUNCTION(fn) "fn " fn "(out: real, w: real[2], x: real)\n"

static const char source[] = FUNCTION("scalar") SCALAR REGION("t", "", "") "end\n"           /* */
    FUNCTION("scalar_own") REGION("t", SCALAR, "") "end\n"                                   /* */
    FUNCTION("array") ARRAY REGION("t[1]", "", "") "end\n"                                   /* */
    FUNCTION("array_own") REGION("t[1]", ARRAY, "") "end\n"                                  /* */
    FUNCTION("in_loop") "    for i in 0..2\n" ARRAY REGION("t[i]", "", "") "    end\nend\n"  /* */
    FUNCTION("in_loop_own") "    for i in 0..2\n" REGION("t[i]", ARRAY, "") "    end\nend\n" /* */
    FUNCTION("above") SCALAR "    out += t * x\n" REGION("t", "", "") "end\n"                /* */
    FUNCTION("below") SCALAR REGION("t", "", "    out += t * x\n") "end\n";

static uint32_t length_of_adjoint(const rvm_program *p, const char *fn) {
    char name[64];
    rvm_program *q = NULL;
    rvm_error e;
    uint32_t at;
    snprintf(name, sizeof name, "%s'adj[out,w,x]", fn);
    cr_assert(rvm_program_derive(p, name, &q, &at, &e) == RVM_OK, "%s", e.message);
    const uint32_t n = q->functions[at].ncode;
    rvm_program_free(q);
    return n;
}

/* The machine's sweep drops a shadow for each temporary of an expression that it goes through as an adjoint. */
static uint64_t dropped_by(const rvm_program *p, const char *fn) {
    double w[2] = {0.5, 0.25}, w_b[2] = {0};
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_array_f64(w, 1, (int64_t[]){2}), rvm_arg_f64(0.75)};
    rvm_machine *m = NULL;
    rvm_error e;
    rvm_stats s;
    for (int k = 0; k < 3; k++) a[k].active = true;
    a[0].shadow.f = 1;
    a[1].shadow_data = w_b;
    cr_assert(rvm_machine_new(p, NULL, &m, &e) == RVM_OK);
    cr_assert(rvm_gradient(m, rvm_program_find(p, fn), a, 3, &e) == RVM_OK, "%s: %s", fn, e.message);
    rvm_machine_stats(m, &s);
    rvm_machine_free(m);
    return s.shadows_dropped;
}

Test(gained, costs) {
    static const struct pair {
        const char *fn, *own;
        bool alike;
    } pairs[] = {{"scalar", "scalar_own", true},
                 {"array", "array_own", true},
                 {"in_loop", "in_loop_own", true},
                 {"below", "above", false}}; /* the sweep comes to what is below first */
    rvm_program *p = NULL;
    rvm_error e;
    cr_assert(rvm_assemble(source, strlen(source), "g.rasm", NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const uint32_t n = length_of_adjoint(p, pairs[k].fn), own = length_of_adjoint(p, pairs[k].own);
        const uint64_t d = dropped_by(p, pairs[k].fn), own_d = dropped_by(p, pairs[k].own);
        cr_expect((n == own) == pairs[k].alike && n >= own, "%s: %u instructions and %u", pairs[k].fn, n, own);
        cr_expect((d == own_d) == pairs[k].alike && d >= own_d, "%s: %lu shadows and %lu", pairs[k].fn, d, own_d);
    }
    rvm_program_free(p);
}

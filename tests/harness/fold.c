/* fold.c: a call with everything that it only reads folded in, scalars and lengths, does what the call does. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

typedef struct folded {
    rvm_constant *constants;
    uint32_t n;
    args in, out; /* of the folded function */
} folded;

static void add(folded *f, const char *name, int64_t value) {
    for (uint32_t k = 0; k < f->n; k++)
        if (!strcmp(f->constants[k].name, name)) return;
    f->constants[f->n].name = name;
    f->constants[f->n++].value.i = value;
}

static folded collect(const subject *s, const args *out) {
    folded f = {.constants = calloc((size_t)s->in->n * (RVM_MAX_DIMS + 1) + 1, sizeof *f.constants)};
    f.in.a = calloc(s->in->n + 1, sizeof *f.in.a);
    f.out.a = calloc(s->in->n + 1, sizeof *f.out.a);
    if (!f.constants || !f.in.a || !f.out.a) abort();
    for (uint32_t i = 0; i < s->in->n; i++) {
        rvm_param_info info;
        rvm_program_param(s->program, (uint32_t)s->fn, i, &info);
        for (int d = 0; d < info.ndim; d++)
            if (info.dim_name[d] && *info.dim_name[d] != '?') add(&f, info.dim_name[d], s->in->a[i].shape[d]);
        if (!info.ndim && info.role == RVM_READ) {
            add(&f, info.name, s->in->a[i].value.i);
            continue;
        }
        f.in.a[f.in.n++] = s->in->a[i];
        f.out.a[f.out.n++] = out->a[i];
    }
    return f;
}

bool check_folded(const subject *s, args *out) {
    folded f = collect(s, out);
    rvm_program *q = NULL;
    rvm_machine *m = NULL;
    rvm_error e = {0};
    uint32_t fn = 0;
    args a = args_copy(&f.in);
    rvm_status st = rvm_program_fold(s->program, (uint32_t)s->fn, f.constants, f.n, &q, &fn, &e);
    const bool by_hand = rvm_program_by_hand(s->program, (uint32_t)s->fn, RVM_ADJOINT) ||
                         rvm_program_by_hand(s->program, (uint32_t)s->fn, RVM_TANGENT_OF);
    const bool none = by_hand && st == RVM_ERR_UNSUPPORTED; /* it has a derivative by hand itself */
    bool good = none || report_ok(s->rep, "with constants", st, &e);
    if (none) goto done;
    good = good && report_ok(s->rep, "with constants: machine", rvm_machine_new(q, &s->options, &m, &e), &e);
    if (good) st = s->inverse ? rvm_uncall(m, fn, a.a, a.n, &e) : rvm_call(m, fn, a.a, a.n, &e);
    good = good && report_ok(s->rep, "with constants", st, &e);
    good = good && args_agree(s->rep, "with constants", q, fn, &f.out, &a, COMPARE_BITS, 0);
done:
    rvm_machine_free(m);
    rvm_program_free(q);
    args_free(&a);
    free(f.in.a);
    free(f.out.a);
    free(f.constants);
    return good;
}

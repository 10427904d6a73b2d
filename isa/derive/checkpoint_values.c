/* checkpoint_values.c: what a function computes, and its gradient, in one function. See checkpoint.h. */
#include "checkpoint.h"
#include "writer.h"

#include <string.h>

static void add_like(rvm__writer *w, const rvm_param *q, const char *suffix) {
    char name[600];
    snprintf(name, sizeof name, "%.500s%s", q->name, suffix);
    rvm__write_param(w, name, (rvm_type)q->type, q->ndim);
}

typedef struct values {
    rvm__writer w;
    uint32_t of;
    uint16_t *reg;                                                                /* lengths of f */
    rvm_place plain[RVM_MAX_PARAMS], all[RVM_MAX_PARAMS], result[RVM_MAX_PARAMS]; /* result: by parameter of f */
    uint32_t nall;
} values;

static void values_params(values *v, const uint8_t *active) {
    const rvm_function *f = &v->w.p->functions[v->of]; /* moves when a function is added, which is done */
    uint32_t of[2 * RVM_MAX_PARAMS + 1];
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int copies = 0; copies <= (active[k] != 0) && n < RVM_MAX_PARAMS; copies++) {
            add_like(&v->w, &f->params[k], copies ? "'b" : "");
            of[n++] = k;
        }
    v->nall = n;
    for (uint32_t k = 0; k < f->nparams && n < RVM_MAX_PARAMS; k++)
        if (f->params[k].role != RVM_READ) add_like(&v->w, &f->params[k], "'value"), of[n++] = k;
    for (uint32_t i = 0; i < n && !v->w.status; i++) {
        rvm_param *q = &v->w.g.params[i];
        const rvm_place at = {.kind = q->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = q->index};
        for (int d = 0; d < q->ndim; d++) q->dim[d] = rvm__write_length(&v->w, f, f->params[of[i]].dim[d], v->reg);
        if (i < v->nall) v->all[i] = at;
        if (i < v->nall && (!i || of[i] != of[i - 1])) v->plain[of[i]] = at;
        if (i >= v->nall) v->result[of[i]] = at;
    }
}

static void values_code(values *v, uint32_t adjoint) {
    const rvm_function *f = &v->w.p->functions[v->of];
    rvm__write(&v->w, RVM_OP_start, 0, 0, 0, NULL);
    rvm__write_call(&v->w, RVM_OP_call, v->of, f->nparams, v->plain);
    for (uint32_t k = 0, i = v->nall; k < f->nparams && !v->w.status; k++)
        if (f->params[k].role != RVM_READ)
            rvm__write_each(&v->w, RVM_OP_add, v->result[k], v->plain[k], v->w.g.params[i++].dim);
    rvm__write_call(&v->w, RVM_OP_call, adjoint, v->nall, v->all);
}

rvm_status rvm__values_declare(rvm_program *p, uint32_t fn, uint32_t adjoint, const uint8_t *active, uint32_t *out,
                               rvm_error *err) {
    rvm__zone memory = {.al = &p->al};
    values *v = rvm__zone_make(&memory, 1, sizeof *v);
    rvm_status s = RVM_ERR_MEMORY;
    if (v) v->reg = rvm__zone_make(&memory, p->functions[fn].nregs + 1u, sizeof *v->reg);
    if (v && v->reg) {
        char name[600];
        memset(v->reg, 0xff, (p->functions[fn].nregs + 1u) * sizeof *v->reg);
        v->w.p = p;
        v->of = fn;
        if (p->functions[fn].ncode) v->w.at = p->functions[fn].positions[0];
        snprintf(name, sizeof name, "%.500s'values", p->functions[fn].name);
        rvm__write_begin(&v->w, name);
        values_params(v, active);
        values_code(v, adjoint);
        s = rvm__write_end(&v->w);
        *out = v->w.fn;
    }
    rvm__zone_free(&memory);
    if (s == RVM_ERR_UNSUPPORTED)
        return rvm__fail(err, s, NULL, 0, 0, "'%s' has too many parameters for its value and its gradient at once",
                         p->functions[fn].name);
    return s ? rvm__fail_memory(err) : RVM_OK;
}

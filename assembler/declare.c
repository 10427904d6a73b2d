/* declare.c: the parameters of functions, before any is lowered. */
#include "asm.h"
#include "builder.h"
#include <string.h>

/* A length: a constant, or a name that the array's shape gives a value. */
static uint16_t declare_length(gen *g, expr *e) {
    bool fresh = e->kind == E_NAME && !e->u.name->constant && !e->u.name->var;
    if (fresh) {
        const typed as = {.type = RVM_I64};
        var *v = rvm__declare(g, e->u.name, V_LENGTH, &as, e->at);
        if (v) v->slot = rvm__gen_reg(g, RVM_I64);
        return v ? v->slot : 0;
    }
    if (e->kind == E_NAME && e->u.name->var) {
        if (e->u.name->var->kind != V_LENGTH) rvm__diag(g->a, e->at, D_LENGTH_NAME, e->u.name->text, NULL, NULL);
        return e->u.name->var->slot;
    }
    if (!rvm__check_value(g->a, e, RVM_I64)) return 0;
    if (e->kind != E_VALUE || e->u.value.i < 0) {
        rvm__diag(g->a, e->at, D_LENGTH, NULL, NULL, NULL);
        return 0;
    }
    return rvm__gen_const(g, RVM_I64, e->u.value).slot;
}

static void add_leaf(gen *g, const var *v) {
    char text[LEAF_NAME];
    const size_t length = (size_t)rvm__part_name(v, text, sizeof text);
    rvm_param out = {.type = (uint8_t)rvm__part_type(v->type), .ndim = v->ndim, .index = v->slot, .signature = v->signature};
    for (int d = 0; d < v->ndim; d++) out.dim[d] = declare_length(g, v->dim[d]);
    if (g->f->nparams == RVM_MAX_PARAMS) {
        rvm__diag(g->a, v->at, D_TOO_MANY, rvm__number(g->a, RVM_MAX_PARAMS), NULL, NULL);
        g->failed = true;
    } else if (rvm__function_add_param(g->a->program, g->f, &out, text, length) < 0)
        g->a->oom = true;
}

static void add_param(gen *g, const var *v) {
    for (uint32_t k = 0; k < v->nparts; k++) add_param(g, v->part[k]);
    if (!v->part && !g->failed) add_leaf(g, v);
}

static void declare_params(gen *g) {
    const func *fn = g->fn;
    const var *vars[RVM_MAX_PARAMS];
    for (uint32_t k = 0; k < fn->nparams; k++) {
        const param *p = fn->params + k;
        var *v = rvm__declare(g, p->name, V_PARAM, &p->as, p->at);
        if (!v || g->a->oom) return;
        if (v->failed && rvm__is_record(v->type)) g->failed = true; /* its lengths are wrong, which was told */
        rvm__gen_var(g, v);
        vars[k] = v;
    }
    for (uint32_t k = 0; k < fn->nparams && !g->failed; k++) { /* lengths are registers behind all scalars */
        const uint32_t first = g->f->nparams, n = rvm__leaf_count(g->a, fn->params[k].as.type);
        uint16_t *place = fn->params[k].place = rvm__arena(g->a, (n + 1) * sizeof *place);
        for (uint32_t i = 0; place && i < n; i++) place[i] = (uint16_t)(first + i);
        add_param(g, vars[k]);
    }
}

void rvm__declare_function(assembler *a, func *fn) {
    gen state, *g = &state;
    rvm__gen_start(g, a, fn);
    a->lenient = fn->broken;
    declare_params(g);
    fn->scope = g->vars;
    for (var *v = g->vars; v; v = v->below) {
        v->again = v->name->var != v;
        if (!v->again) v->name->var = NULL;
    }
    fn->broken = fn->broken || g->failed;
    rvm__gen_free(g);
}

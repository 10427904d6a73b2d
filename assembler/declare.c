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
    if (rvm__function_add_param(g->a->program, g->f, &out, text, length) < 0) g->a->oom = true;
}

/* ---- the order of what parameters come to: in a derivative that is written by hand each part of a value is followed by its
 * shadow, as in derived ones ---- */

typedef struct order {
    uint32_t n;
    uint8_t of[RVM_MAX_PARAMS + 1]; /* the parameter of the source, and which of its parts; one is too many */
    uint8_t part[RVM_MAX_PARAMS + 1];
} order;

static void add_part(order *o, uint32_t of, uint32_t part) {
    if (o->n > RVM_MAX_PARAMS) return;
    o->of[o->n] = (uint8_t)of;
    o->part[o->n++] = (uint8_t)part;
}

/* Whether parameter k of `of` is one of those that the rule is by; what is wrong there is told later. */
static bool is_listed(assembler *a, const func *fn, const param *p) {
    const tick *t = fn->rule;
    bool named = !t->listed;
    for (uint32_t k = 0; k < t->nactive; k++) named |= t->active[k]->kind == E_NAME && t->active[k]->u.name == p->name;
    return named && rvm__shadow_type(a, p->as.type) != T_NONE;
}

/* Which parameters are followed by their shadows. */
static void find_shadows(assembler *a, const func *fn, bool *shadowed) {
    const func *of = fn->rule_of ? fn->rule_of->func : NULL;
    for (uint32_t k = 0, at = 0; of && k < of->nparams && at + 1 < fn->nparams; k++, at++)
        if (is_listed(a, fn, &of->params[k])) shadowed[at++] = true;
}

static void order_parts(assembler *a, const func *fn, order *o) {
    bool shadowed[RVM_MAX_PARAMS] = {false};
    find_shadows(a, fn, shadowed);
    for (uint32_t k = 0; k < fn->nparams; k++) {
        uint32_t n, to = 0;
        const leaf_type *leaves = rvm__leaves(a, fn->params[k].as.type, &n);
        const uint32_t most = shadowed[k] ? rvm__leaf_count(a, fn->params[k + 1].as.type) : 0;
        for (uint32_t i = 0; i < n; i++) {
            add_part(o, k, i);
            if (leaves[i].type != RVM_I64 && to < most) add_part(o, k + 1, to++);
        }
        while (to < most) add_part(o, k + 1, to++);
        k += shadowed[k];
    }
}

static const var *part_of(const order *o, uint32_t at, var *const *vars) {
    const var *leaves[RVM_MAX_PARAMS];
    rvm__leaf_vars(vars[o->of[at]], leaves, 0);
    return leaves[o->part[at]];
}

static bool make_places(gen *g) {
    const func *fn = g->fn;
    for (uint32_t k = 0; k < fn->nparams; k++) {
        const uint32_t n = rvm__leaf_count(g->a, fn->params[k].as.type);
        if (!(fn->params[k].place = rvm__arena(g->a, (n + 1) * sizeof *fn->params[k].place))) return false;
    }
    return true;
}

static void declare_params(gen *g) {
    const func *fn = g->fn;
    var *vars[RVM_MAX_PARAMS];
    order o = {0};
    for (uint32_t k = 0; k < fn->nparams; k++) {
        const param *p = fn->params + k;
        var *v = vars[k] = rvm__declare(g, p->name, V_PARAM, &p->as, p->at);
        if (!v || g->a->oom) return;
        if (v->failed && rvm__is_record(v->type)) g->failed = true; /* its lengths are wrong, which was told */
    }
    if (!make_places(g)) return;
    if (!g->failed) order_parts(g->a, fn, &o);
    if (o.n > RVM_MAX_PARAMS) {
        rvm__diag(g->a, fn->params[o.of[RVM_MAX_PARAMS]].at, D_TOO_MANY, rvm__number(g->a, RVM_MAX_PARAMS), NULL, NULL);
        g->failed = true;
    }
    for (uint32_t k = 0; k < o.n && !g->failed; k++) {
        rvm__gen_var(g, (var *)(uintptr_t)part_of(&o, k, vars));
        fn->params[o.of[k]].place[o.part[k]] = (uint16_t)k;
    }
    for (uint32_t k = 0; k < o.n && !g->failed; k++)
        add_leaf(g, part_of(&o, k, vars)); /* lengths are registers behind all */
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

/* lower_call.c: call and uncall, of functions and through function values. Places and arrays are passed as they are, rows
 * and slices as views, all else as temporaries. */
#include "asm.h"
#include "builder.h"
#include <string.h>

static bool wrong_shape(gen *g, const callee *c, const param *p, span at, int type, int ndim) {
    rvm__diag(g->a, at, D_ARGUMENT, p->name->text, rvm__array_text(g->a, p->as.type, p->as.ndim),
              rvm__array_text(g->a, type, ndim));
    rvm__diag_hint(g->a, D_SIGNATURE, rvm__signature(g->a, c), NULL, NULL);
    return false;
}

static bool check_argument(gen *g, const callee *c, const param *p, expr *e) {
    const typed *as = &p->as;
    const span at = e->at;
    if (e->kind == E_NAME || e->kind == E_INDEX) {
        int ndim = rvm__check_part(g->a, e);
        if (ndim < 0) return false;
        const bool whole = ndim || rvm__is_state(e->type) || rvm__is_state(as->type);
        if (ndim != as->ndim || (whole && e->type != as->type)) return wrong_shape(g, c, p, at, e->type, ndim);
        if (as->signature || e->signature) return rvm__check_function_type(g->a, e, as->signature);
        return whole || rvm__coerce(g->a, e, as->type);
    }
    rvm__check(g->a, e, as->ndim || rvm__is_state(as->type) ? T_NONE : as->type);
    if (e->kind == E_ERROR) return false;
    if (as->signature && !as->ndim) return rvm__check_function_type(g->a, e, as->signature);
    if (as->ndim || rvm__is_state(as->type)) return wrong_shape(g, c, p, at, e->type, 0);
    return rvm__coerce(g->a, e, as->type);
}

/* What a call runs: a function, or a function value by a variant. */
typedef struct target {
    callee *callee;
    const var *value;
    uint32_t number;
} target;

static void number_names(assembler *a, param *params, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const char *number = rvm__number(a, k + 1);
        params[k].name = rvm__intern(a, number, strlen(number));
    }
}

/* A parameter of a type, in the language's types: from its leaf k on. */
static param take_param(assembler *a, const rvm_signature *s, uint32_t k, uint8_t type) {
    uint32_t n;
    const rvm_param *q = s->params + k;
    const leaf_type *leaves = rvm__leaves(a, type, &n);
    const int within = n ? leaves[0].ndim : 0;
    param p = {.as = {.type = type, .ndim = (uint8_t)(n ? q->ndim - within : 0), .signature = n ? q->signature : 0}};
    p.place = rvm__arena(a, (n + 1) * sizeof *p.place);
    for (uint32_t i = 0; p.place && i < n; i++) p.place[i] = (uint16_t)(k + i);
    return p;
}

static void take_params(assembler *a, callee *c, const rvm_signature *s, const uint8_t *types) {
    param *params = rvm__arena(a, (s->nparams + 1) * sizeof *params);
    uint32_t n = 0;
    for (uint32_t k = 0; params && !a->oom && k < s->nparams; n++) {
        params[n] = take_param(a, s, k, types ? types[n] : s->params[k].type);
        k += rvm__leaf_count(a, params[n].as.type);
    }
    number_names(a, params, n);
    c->index = -1;
    c->params = params;
    c->nparams = n;
}

/* c's parameters become those of its derivative; s is the type that they have
 * now. */
static bool take_tick(assembler *a, callee *c, const tick *t, const rvm_signature *s, uint8_t active[RVM_MAX_PARAMS]) {
    if (!rvm__mark_active(a, c, t, active)) return false;
    for (uint32_t k = 0; k < s->nparams && !t->listed && t->kind != RVM_INVERSE; k++)
        active[k] = s->params[k].type != RVM_I64;
    rvm__derive_params(a, c, (rvm_transform)t->kind, active, NULL);
    number_names(a, (param *)c->params, c->nparams);
    return !a->oom;
}

/* The variant that the ticks make of the value's type; c gets its parameters. */
static bool variant_of(gen *g, callee *c, const var *v, uint32_t *out) {
    rvm_program *p = g->a->program;
    int64_t k = rvm__program_add_variant(p, v->signature - 1u);
    take_params(g->a, c, p->signatures + v->signature - 1, v->types);
    for (const tick *t = c->ticks; t && k >= 0 && !g->a->oom; t = t->next) {
        uint8_t active[RVM_MAX_PARAMS] = {0};
        if (!take_tick(g->a, c, t, p->signatures + p->variants[k].signature, active)) return false;
        const rvm_variant d = {.parent = (uint32_t)k, .kind = t->kind, .active = t->listed ? active : NULL};
        k = rvm__variant_derive(p, &d);
    }
    if (k < 0) rvm__fn_limit(g->a, c->at, k);
    *out = (uint32_t)k;
    return k >= 0 && !g->a->oom;
}

static bool find_target(gen *g, const stmt *s, target *t) {
    const var *v = s->callee->name->var;
    *t = (target){.callee = s->callee, .value = v && v->signature && !v->ndim ? v : NULL};
    if (t->value) return !v->failed && variant_of(g, t->callee, v, &t->number);
    if (!rvm__callee(g->a, t->callee)) return false;
    t->number = (uint32_t)t->callee->index;
    return true;
}

static bool check_call(gen *g, const stmt *s) {
    callee *c = s->callee;
    if (c->nparams != s->nargs) {
        rvm__diag(g->a, s->at, D_ARGUMENTS, rvm__callee_text(g->a, c), rvm__number(g->a, c->nparams),
                  rvm__number(g->a, s->nargs));
        rvm__diag_hint(g->a, D_SIGNATURE, rvm__signature(g->a, c), NULL, NULL);
        return false;
    }
    bool good = true;
    for (uint32_t k = 0; k < s->nargs; k++) good = check_argument(g, c, c->params + k, s->args[k]) && good;
    return good;
}

static rvm_place lower_argument(gen *g, const target *t, uint32_t position, const expr *e) {
    if (e->kind == E_VAR || e->kind == E_ELEM) return rvm__lower_place(g, e);
    if (e->kind == E_PART) return rvm__lower_part(g, e);
    rvm__note_given(g->a, t->number, t->value ? (int64_t)t->number : -1, position, rvm__callee_text(g->a, t->callee), e->at);
    return rvm__lower_temp(g, e);
}

/* The leaves of a state or an array, subscripts computed once. */
static void lower_leaves(gen *g, const target *t, const param *p, const expr *e, rvm_place *places) {
    const var *leaves[RVM_MAX_PARAMS];
    const uint32_t n = rvm__leaf_vars(e->u.var, leaves, 0);
    const expr *whole = rvm__lower_subscripts(g, e);
    for (uint32_t k = 0; whole && k < n; k++) {
        const expr leaf = rvm__leaf_of(whole, leaves[k]);
        places[p->place[k]] = lower_argument(g, t, p->place[k], &leaf);
    }
}

/* The place of an argument, or those of the leaves of a record, each at its parameter's position. */
static void lower_places(gen *g, const target *t, const param *p, const expr *e, rvm_place *places) {
    expr *parts[2] = {NULL, NULL};
    if (!rvm__is_record(e->type))
        places[p->place[0]] = lower_argument(g, t, p->place[0], e);
    else if (rvm__is_state(e->type) || e->kind == E_PART || (e->kind == E_VAR && e->u.var->ndim))
        lower_leaves(g, t, p, e, places);
    else if (rvm__lower_parts(g, e, parts))
        for (int k = 0; k < 2; k++)
            places[p->place[k]] = e->kind != E_COMPLEX ? parts[k]->u.place : lower_argument(g, t, p->place[k], parts[k]);
}

void rvm__lower_call(gen *g, const stmt *s) {
    rvm_place places[1 + RVM_MAX_PARAMS];
    const rvm_program *p = g->a->program;
    uint32_t mark = g->ntemps;
    target t;
    if (!find_target(g, s, &t) || !check_call(g, s)) return;
    const uint32_t first = t.value != NULL;
    for (uint32_t k = 0; k < s->nargs; k++) lower_places(g, &t, t.callee->params + k, s->args[k], places + first);
    if (t.value) {
        places[0] = rvm__gen_slot(t.value->slot);
        const uint32_t n = p->signatures[p->variants[t.number].signature].nparams;
        rvm__emit(g, rvm__is_inverse(s->op) ? RVM_OP_uncalli : RVM_OP_calli, -1, t.number, places, 1 + n, s->at);
    } else
        rvm__emit(g, (rvm_op)s->op, -1, t.number, places, p->functions[t.number].nparams, s->at);
    rvm__unwind(g, mark);
}

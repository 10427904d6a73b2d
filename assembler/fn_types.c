/* fn_types.c: function values: whether they have the type that is needed. */
#include "asm.h"
#include "builder.h"
#include "transform.h"

/* Of the parameters, where some are complex or lns; else NULL. */
static const uint8_t *types_of(assembler *a, const callee *c) {
    uint8_t *list = rvm__arena(a, c->nparams + 1);
    bool plain = true;
    for (uint32_t k = 0; list && k < c->nparams; k++) {
        list[k] = c->params[k].as.type;
        plain = plain && list[k] < RVM_TYPE_COUNT;
    }
    return plain ? NULL : list;
}

/* By itself a function is taken for one that owns everything, which fits least types but is always true. */
void rvm__check_function(assembler *a, expr *e) {
    rvm_param params[RVM_MAX_PARAMS];
    if (!rvm__callee(a, e->u.callee)) {
        rvm__failed(e);
        return;
    }
    const rvm_function *f = a->program->functions + e->u.callee->index;
    for (uint32_t k = 0; k < f->nparams; k++) {
        params[k] = f->params[k];
        params[k].role = RVM_OWN;
    }
    int64_t k = rvm__program_add_signature(a->program, params, f->nparams);
    if (k < 0) {
        rvm__fn_limit(a, e->at, k);
        rvm__failed(e);
        return;
    }
    e->type = RVM_I64;
    e->signature = (uint16_t)(k + 1);
    e->types = types_of(a, e->u.callee);
}

static void note_taken(assembler *a, const expr *e, uint16_t signature) {
    taken *t = rvm__arena(a, sizeof *t);
    if (!t) return;
    *t = (taken){.next = a->taken, .function = (uint32_t)e->u.callee->index, .signature = signature - 1u, .at = e->at};
    a->taken = t;
}

bool rvm__check_function_type(assembler *a, expr *e, uint16_t signature) {
    const rvm_program *p = a->program;
    if (e->type == T_ERROR) return false;
    const char *needed = signature ? p->signatures[signature - 1].text : rvm__type_text(a, RVM_I64);
    const char *found = e->signature ? p->signatures[e->signature - 1].text : rvm__type_text(a, e->type);
    bool fits = !signature && !e->signature;
    if (signature && e->kind == E_FN)
        fits = rvm__fits_types(p, (uint32_t)e->u.callee->index, signature - 1u);
    else if (signature && e->signature)
        fits = rvm__signature_fits(p, e->signature - 1u, signature - 1u);
    if (!fits)
        rvm__wrong(a, e, D_FN_MISMATCH, needed, found, NULL);
    else if (e->kind == E_FN)
        note_taken(a, e, signature);
    return fits;
}

void rvm__check_taken(assembler *a) {
    const rvm_program *p = a->program;
    for (const taken *t = a->taken; t; t = t->next) {
        const rvm_function *f = p->functions + t->function;
        char type[200];
        if (rvm__fits(p, t->function, t->signature)) continue;
        rvm__params_text(p, f->params, f->nparams, type, sizeof type);
        rvm__diag(a, t->at, D_FN_ROLES, f->name, type, p->signatures[t->signature].text);
    }
}

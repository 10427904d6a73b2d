/* check_name.c: what names in expressions stand for, but for constants. */
#include "asm.h"
#include <string.h>

/* Where a parameter could not be read, names are not complained of. */
static void unknown(assembler *a, expr *e, const name *n) {
    if (a->lenient)
        rvm__failed(e);
    else if (n->row >= 0 || n->func)
        rvm__wrong(a, e, n->func ? D_FUNCTION_NAME : D_ROW_NAME, n->text, NULL, NULL);
    else {
        rvm__wrong(a, e, D_UNKNOWN_NAME, n->text, rvm__near(a, n, NEAR_VALUE), NULL);
        rvm__hint_unknown(a, e->at, n->text);
    }
}

static var *find_member(const var *v, const name *n) {
    for (uint32_t k = 0; k < v->nparts; k++)
        if (v->part[k]->member->name == n) return v->part[k];
    return NULL;
}

static void no_member(assembler *a, expr *e, const var *v, const selector *m) {
    char text[200] = "";
    size_t used = 0;
    rvm__wrong(a, e, D_NO_PART, v->member ? v->member->name->text : v->name->text, rvm__array_text(a, v->type, v->ndim),
               m->name->text);
    for (uint32_t k = 0; k < v->nparts && used < sizeof text; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "", v->part[k]->member->name->text);
    if (*text) rvm__diag_hint(a, D_MEMBERS, text, NULL, NULL);
}

/* y.log of an lns: the place that it is, as a real. */
static bool is_logarithm(const var *v, const selector *m) {
    return rvm__is_lns(v->type) && !m->next && m->before <= v->ndim && !strcmp(m->name->text, "log");
}

/* e, which names a variable, with members behind it. */
static void take_members(assembler *a, expr *e) {
    for (const selector *m = e->selector; m && e->kind != E_ERROR; m = m->next) {
        const var *v = e->u.var;
        var *part = find_member(v, m->name);
        if (part && m->before <= v->ndim) {
            e->u.var = part;
            e->type = part->type;
        } else if (is_logarithm(v, m))
            e->type = (uint8_t)rvm__part_type(v->type);
        else if (part)
            rvm__wrong(a, e, D_SUBSCRIPTS, v->name->text, rvm__number(a, v->ndim), rvm__number(a, m->before));
        else
            no_member(a, e, v, m);
    }
}

const var *rvm__find_var(const expr *e) {
    if ((e->kind != E_NAME && e->kind != E_INDEX) || !e->u.name->var || e->u.name->var->failed) return NULL;
    const var *v = e->u.name->var;
    for (const selector *m = e->selector; m && v; m = m->next) v = find_member(v, m->name);
    return v;
}

void rvm__check_variable(assembler *a, expr *e) {
    const var *v = e->u.name->var;
    if (!v) {
        unknown(a, e, e->u.name);
        return;
    }
    e->kind = v->failed ? E_ERROR : E_VAR;
    e->type = v->failed ? T_ERROR : v->type;
    e->signature = v->signature;
    e->types = v->types;
    e->u.var = e->u.name->var;
    if (e->kind == E_VAR) take_members(a, e);
}

int rvm__whole_ndim(const expr *e) {
    const var *v = rvm__find_var(e);
    int ndim = v ? v->ndim - e->nkids : 0;
    for (int k = 0; v && k < e->nkids; k++) ndim += e->kids[k]->kind == E_RANGE;
    return ndim;
}

bool rvm__names_whole(const expr *e) {
    const int ndim = rvm__whole_ndim(e);
    return ndim > 0 || (!ndim && rvm__find_var(e) && rvm__is_state(rvm__find_var(e)->type));
}

/* The array that e = name[...] names, or NULL. */
static var *array_of(assembler *a, expr *e) {
    name *n = e->u.name;
    if (!n->var && !n->constant)
        unknown(a, e, n);
    else if (n->constant || (!n->var->failed && !n->var->ndim && !e->selector))
        rvm__wrong(a, e, D_NO_ARRAY, n->text, NULL, NULL);
    else if (n->var->failed)
        rvm__failed(e);
    else
        return n->var;
    return NULL;
}

const var *rvm__check_array(assembler *a, expr *e) {
    var *v = array_of(a, e);
    if (!v) return NULL;
    e->kind = E_PART;
    e->type = v->type;
    e->signature = v->signature;
    e->types = v->types;
    e->u.var = v;
    take_members(a, e);
    return e->kind == E_PART ? e->u.var : NULL;
}

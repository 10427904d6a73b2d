/* check_name.c: what names in expressions stand for, but for constants. */
#include "asm.h"

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

/* e, which names a variable or parts of it, with .re or .im behind it. */
static void take_part(assembler *a, expr *e) {
    const var *v = e->u.var;
    if (!v->part[0]) {
        rvm__wrong(a, e, D_NO_PART, v->name->text, NULL, NULL);
        return;
    }
    e->u.var = v->part[e->part - 1];
    e->type = e->u.var->type;
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
    if (e->kind == E_VAR && e->part) take_part(a, e);
}

/* The array that e = name[...] names, or NULL. */
static var *array_of(assembler *a, expr *e) {
    name *n = e->u.name;
    if (!n->var && !n->constant)
        unknown(a, e, n);
    else if (n->constant || (!n->var->failed && !n->var->ndim))
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
    if (e->part) take_part(a, e);
    return e->kind == E_PART ? v : NULL;
}

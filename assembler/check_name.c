/* check_name.c: names in expressions, elements and parts of arrays, places. */
#include "asm.h"

void rvm__failed(expr *e) {
    e->kind = E_ERROR;
    e->type = T_ERROR;
}

void rvm__wrong(assembler *a, expr *e, diag d, const char *a1, const char *a2, const char *a3) {
    rvm__diag(a, e->at, d, a1, a2, a3);
    rvm__failed(e);
}

void rvm__become(expr *e, const expr *other) {
    span at = e->at;
    *e = *other;
    e->at = at;
}

/* ---- names ---- */

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

/* With kids of its own: each use of a constant goes its own way. */
static expr *tree_copy(assembler *a, const expr *e) {
    expr *copy = rvm__arena(a, sizeof *copy), **kids = e->nkids ? rvm__arena(a, e->nkids * sizeof *kids) : NULL;
    if (!copy || (e->nkids && !kids)) return NULL;
    *copy = *e;
    copy->kids = kids;
    for (int k = 0; k < e->nkids; k++)
        if (!(kids[k] = tree_copy(a, e->kids[k]))) return NULL;
    return copy;
}

static void check_name(assembler *a, expr *e) {
    name *n = e->u.name;
    if (n->var) {
        e->kind = n->var->failed ? E_ERROR : E_VAR;
        e->type = n->var->failed ? T_ERROR : n->var->type;
        e->signature = n->var->signature;
        e->types = n->var->types;
        e->u.var = n->var;
        if (e->kind == E_VAR && e->part) take_part(a, e);
    } else if (n->constant) {
        const expr *value = rvm__constant_resolve(a, n->constant) ? tree_copy(a, n->constant->expr) : NULL;
        if (value)
            rvm__become(e, value);
        else
            rvm__failed(e);
    } else
        unknown(a, e, n);
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

int rvm__check_part(assembler *a, expr *e) {
    if (e->checked) return e->kind == E_ERROR ? -1 : e->kind == E_COMPLEX ? 0 : e->op;
    e->checked = true;
    var *v = NULL;
    if (e->kind == E_NAME)
        check_name(a, e);
    else if ((v = array_of(a, e))) {
        e->kind = E_PART;
        e->type = v->type;
        e->signature = v->signature;
        e->types = v->types;
        e->u.var = v;
        if (e->part) take_part(a, e);
    }
    if (e->kind == E_COMPLEX) return 0; /* a constant, whose op is its row */
    e->op = e->kind == E_VAR ? e->u.var->ndim : 0;
    if (e->kind == E_ERROR) return -1;
    if (!v || e->kind != E_PART) return e->op;
    if (e->nkids > v->ndim || !e->nkids) {
        rvm__wrong(a, e, D_SUBSCRIPTS, v->name->text, rvm__number(a, v->ndim), rvm__number(a, e->nkids));
        return -1;
    }
    e->op = (uint8_t)(v->ndim - e->nkids);
    for (int k = 0; k < e->nkids; k++) {
        expr *s = e->kids[k];
        bool range = s->kind == E_RANGE;
        e->op = (uint8_t)(e->op + range);
        bool good = rvm__check_value(a, range ? s->kids[0] : s, RVM_I64);
        if (range) good = rvm__check_value(a, s->kids[1], RVM_I64) && good;
        if (!good) rvm__failed(e);
    }
    if (e->kind == E_PART && !e->op) e->kind = E_ELEM;
    return e->kind == E_ERROR ? -1 : e->op;
}

/* A scalar by name or subscripts. */
void rvm__check_scalar(assembler *a, expr *e) {
    const name *n = e->u.name;
    e->checked = false;
    int ndim = rvm__check_part(a, e);
    if (ndim <= 0) return;
    if (e->kind == E_VAR)
        rvm__wrong(a, e, D_ARRAY_VALUE, n->text, NULL, NULL);
    else if (e->nkids == e->u.var->ndim)
        rvm__wrong(a, e, D_RANGE, NULL, NULL, NULL);
    else
        rvm__wrong(a, e, D_SUBSCRIPTS, n->text, rvm__number(a, e->u.var->ndim), rvm__number(a, e->nkids));
}

bool rvm__check_place(assembler *a, expr *e, bool change) {
    if (e->kind != E_NAME && e->kind != E_INDEX) {
        rvm__check(a, e, T_NONE);
        if (e->kind != E_ERROR) rvm__wrong(a, e, D_NOT_PLACE, NULL, NULL, NULL);
        return false;
    }
    const name *n = e->u.name;
    rvm__check_scalar(a, e);
    if (e->kind == E_ERROR) return false;
    e->checked = true;
    if (e->kind != E_VAR && e->kind != E_ELEM) {
        rvm__wrong(a, e, D_CHANGE_CONST, n->text, NULL, NULL);
        return false;
    }
    if (!change || e->kind == E_ELEM) return true;
    switch ((var_kind)e->u.var->kind) {
    case V_LENGTH: rvm__wrong(a, e, D_CHANGE_LENGTH, n->text, NULL, NULL); return false;
    case V_INDEX: rvm__wrong(a, e, D_CHANGE_INDEX, n->text, NULL, NULL); return false;
    case V_LOCAL:
    case V_PARAM: break;
    }
    return true;
}

/* ---- places in expressions ---- */

/* A complex and its parts have places in common. */
static bool shares(const var *v, const var *w) {
    return v == w || v->whole == w || w->whole == v;
}

bool rvm__mentions(const expr *e, const var *v) {
    if ((e->kind == E_VAR || e->kind == E_ELEM || e->kind == E_PART) && shares(e->u.var, v)) return true;
    for (int k = 0; k < e->nkids; k++)
        if (rvm__mentions(e->kids[k], v)) return true;
    return false;
}

bool rvm__same_place(const expr *a, const expr *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == E_VALUE) return a->type == b->type && a->u.value.u == b->u.value.u;
    if (a->kind == E_VAR) return shares(a->u.var, b->u.var);
    if (a->kind == E_ROW ? a->op != b->op : a->kind != E_ELEM || !shares(a->u.var, b->u.var)) return false;
    if (a->nkids != b->nkids) return false;
    for (int k = 0; k < a->nkids; k++)
        if (!rvm__same_place(a->kids[k], b->kids[k])) return false;
    return true;
}

const expr *rvm__finds_place(const expr *e, const expr *place) {
    if (e->kind == place->kind && rvm__same_place(e, place)) return e;
    for (int k = 0; k < e->nkids; k++) {
        const expr *found = rvm__finds_place(e->kids[k], place);
        if (found) return found;
    }
    return NULL;
}

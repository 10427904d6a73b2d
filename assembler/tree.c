/* tree.c: expressions: made, changed in place, compared. */
#include "asm.h"
#include "instruction.h"

/* ---- nodes ---- */

expr *rvm__expr_new(assembler *a, expr_kind kind, span at, uint32_t nkids) {
    expr *e = rvm__arena(a, sizeof *e);
    if (!e) return NULL;
    *e = (expr){.kind = (uint8_t)kind, .type = T_NONE, .nkids = (uint8_t)nkids, .at = at, .depth = 1};
    e->kids = nkids ? rvm__arena(a, nkids * sizeof *e->kids) : NULL;
    return nkids && !e->kids ? NULL : e;
}

expr *rvm__expr_whole(assembler *a, int64_t i, span at) {
    expr *e = rvm__expr_new(a, E_EXACT, at, 0);
    const exact *x = rvm__exact(a, i);
    if (!e || !x) return NULL;
    rvm__set_exact(e, x, T_INT);
    return e;
}

expr *rvm__expr_copy(assembler *a, const expr *e) {
    expr *copy = rvm__arena(a, sizeof *copy);
    if (copy) *copy = *e;
    return copy;
}

expr *rvm__tree_copy(assembler *a, const expr *e) {
    expr *copy = rvm__arena(a, sizeof *copy), **kids = e->nkids ? rvm__arena(a, e->nkids * sizeof *kids) : NULL;
    if (!copy || (e->nkids && !kids)) return NULL;
    *copy = *e;
    copy->kids = kids;
    for (int k = 0; k < e->nkids; k++)
        if (!(kids[k] = rvm__tree_copy(a, e->kids[k]))) return NULL;
    return copy;
}

expr *rvm__copy_member(assembler *a, const expr *e, name *own) {
    expr *copy = rvm__tree_copy(a, e);
    selector **end = copy ? &copy->selector : NULL;
    if (!copy || !own) return copy;
    for (const selector *m = e->selector; m; m = m->next, end = &(*end)->next) {
        if (!(*end = rvm__arena(a, sizeof **end))) return NULL;
        **end = (selector){.name = m->name, .before = m->before};
    }
    if (!(*end = rvm__arena(a, sizeof **end))) return NULL;
    **end = (selector){.name = own};
    return copy;
}

const char *rvm__change_text(const stmt *s) {
    if (s->kind == S_SET) return "set";
    const rvm_op_info *op = rvm__op_info + s->op;
    return s->kind == S_UPDATE && op->symbol ? op->symbol : op->name;
}

void rvm__tell_unlike(assembler *a, const stmt *s, span at, const typed *y, const var *v, int ndim) {
    const bool dims = v && v->type == y->type && ndim > 0 && y->ndim && ndim != y->ndim;
    const char *found = v && ndim >= 0 ? rvm__array_text(a, v->type, ndim) : "an expression";
    rvm__diag(a, at, dims ? D_WHOLE_DIMENSIONS : D_WHOLE_OPERAND, rvm__change_text(s), rvm__array_text(a, y->type, y->ndim),
              found);
}

/* ---- what a node becomes ---- */

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

/* ---- constants ---- */

bool rvm__is_constant(const expr *e) {
    return e->type == T_INT || e->type == T_REAL;
}

/* Without what it was computed from, which would be copied with every use of a constant. */
static void become_constant(expr *e, expr_kind kind, int type) {
    e->kind = (uint8_t)kind;
    e->type = (uint8_t)type;
    e->kids = NULL;
    e->nkids = 0;
}

void rvm__set_exact(expr *e, const exact *x, int type) {
    become_constant(e, E_EXACT, type);
    e->u.exact = x;
    if (!x) rvm__failed(e); /* no memory */
}

void rvm__set_real(expr *e, double v) {
    become_constant(e, E_REAL, T_REAL);
    e->u.f = v;
}

void rvm__set_value(expr *e, rvm_value v, int type) {
    become_constant(e, E_VALUE, type);
    e->u.value = v;
}

bool rvm__is_whole(const expr *e) {
    return e->kind == E_EXACT && e->type == T_INT;
}

/* ---- places in expressions ---- */

static bool is_within(const var *v, const var *w) {
    while (v && v != w) v = v->whole;
    return v;
}

/* A record and its members have places in common. */
static bool shares(const var *v, const var *w) {
    return is_within(v, w) || is_within(w, v);
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

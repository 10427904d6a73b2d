/* lower_broadcast.c: statements on whole arrays whose operands are expressions, y += a * exp(x): broadcasting. The assembler
 * writes a function of one parallel block: what names an array becomes a parameter, and stands with the block's indices; any
 * other place becomes one that is the same for all elements. The call finds shapes that differ, and arrays that are one,
 * before anything changes.
 */
#include "asm.h"
#include "builder.h"
#include "instruction.h"
#include <stdio.h>
#include <string.h>

typedef struct broadcast {
    assembler *a;
    const stmt *s;
    int ndim;
    name *length[RVM_MAX_DIMS], *index[RVM_MAX_DIMS];
    param *params;
    expr **args; /* what stands for each */
    uint32_t n;
    bool failed; /* told, or no memory */
} broadcast;

/* ---- names of the function: no source can say them ---- */

static name *new_name(assembler *a, const char *text) {
    name *n = rvm__arena(a, sizeof *n);
    if (n) *n = (name){.text = text, .length = (uint32_t)strlen(text), .op = -1, .row = -1, .type = -1};
    return n;
}

name *rvm__numbered(assembler *a, const char *text, uint32_t number) {
    char out[300];
    const int length = snprintf(out, sizeof out, "%.280s'%u", text, number);
    const name *n = rvm__intern(a, out, (size_t)length);
    return n ? new_name(a, n->text) : NULL;
}

static bool is_taken(const broadcast *b, const char *text) {
    for (uint32_t k = 0; k < b->n; k++)
        if (!strcmp(b->params[k].name->text, text)) return true;
    return false;
}

static expr *name_expr(broadcast *b, name *n, span at) {
    expr *e = rvm__expr_new(b->a, E_NAME, at, 0);
    if (e) e->u.name = n;
    return e;
}

/* ---- parameters ---- */

static bool same_selectors(const selector *x, const selector *y) {
    for (; x && y && x->name == y->name; x = x->next, y = y->next) {}
    return !x && !y;
}

static bool same_root(const expr *x, const expr *y) {
    switch ((expr_kind)x->kind) {
    case E_NAME:
    case E_INDEX: return x->u.name == y->u.name && same_selectors(x->selector, y->selector);
    case E_EXACT: return rvm__exact_compare(x->u.exact, y->u.exact) == 0;
    case E_UNARY:
    case E_BINARY: return x->op == y->op;
    default: return x->kind == E_RANGE;
    }
}

/* As they are written. */
static bool same(const expr *x, const expr *y) {
    if (x->kind != y->kind || x->nkids != y->nkids || !same_root(x, y)) return false;
    for (int k = 0; k < x->nkids; k++)
        if (!same(x->kids[k], y->kids[k])) return false;
    return true;
}

static bool make_param(broadcast *b, const expr *e, int ndim, param *out) {
    const char *text = e->u.name->text;
    const var *v = rvm__find_var(e);
    *out = (param){.name = is_taken(b, text) ? rvm__numbered(b->a, text, b->n) : new_name(b->a, text), .at = e->at};
    out->as = (typed){.type = v->type, .ndim = (uint8_t)ndim, .signature = v->signature, .types = v->types};
    for (int d = 0; d < ndim; d++)
        if (!(out->as.dim[d] = name_expr(b, b->length[d], e->at))) return false;
    return out->name && (b->args[b->n] = rvm__tree_copy(b->a, e));
}

/* The parameter that stands for a place, by its number; -1: none. */
static int param_of(broadcast *b, const expr *e, int ndim) {
    for (uint32_t k = 0; k < b->n; k++)
        if (same(b->args[k], e)) return (int)k;
    if (b->n == RVM_MAX_PARAMS) {
        rvm__diag(b->a, e->at, D_TOO_MANY, rvm__number(b->a, RVM_MAX_PARAMS), NULL, NULL);
        return -1;
    }
    return make_param(b, e, ndim, b->params + b->n) ? (int)b->n++ : -1;
}

/* ---- the statement on one element ---- */

static expr *element(broadcast *b, const param *p, span at) {
    expr *e = p->as.ndim ? rvm__expr_new(b->a, E_INDEX, at, p->as.ndim) : name_expr(b, p->name, at);
    if (!e) return NULL;
    e->u.name = p->name;
    for (int d = 0; d < p->as.ndim; d++)
        if (!(e->kids[d] = name_expr(b, b->index[d], at))) return NULL;
    return e;
}

static bool is_alike(broadcast *b, const expr *e, const var *v, int ndim) {
    if (!ndim || (ndim == b->ndim && !rvm__is_state(v->type))) return true;
    const var *y = rvm__find_var(b->s->args[0]);
    rvm__tell_unlike(b->a, b->s, e->at, &(typed){.type = y->type, .ndim = (uint8_t)b->ndim}, v, ndim);
    return false;
}

static expr *of_place(broadcast *b, const expr *e, const var *v) {
    const int ndim = rvm__whole_ndim(e);
    if (!is_alike(b, e, v, ndim)) return NULL;
    const int k = param_of(b, e, ndim);
    return k < 0 ? NULL : element(b, b->params + k, e->at);
}

/* NULL: told, or no memory. */
static expr *elementwise(broadcast *b, const expr *e) {
    const var *v = rvm__find_var(e);
    if (v) return of_place(b, e, v);
    expr *copy = rvm__tree_copy(b->a, e);
    for (int k = 0; copy && k < e->nkids; k++)
        if (!(copy->kids[k] = elementwise(b, e->kids[k]))) return NULL;
    return copy;
}

static stmt *element_statement(broadcast *b) {
    const stmt *s = b->s;
    stmt *out = rvm__arena(b->a, sizeof *out);
    if (!out) return NULL;
    *out = *s;
    out->next = NULL;
    out->post = NULL; /* a condition of set stands around all of it */
    if (!(out->args = rvm__arena(b->a, (s->nargs + 1u) * sizeof *out->args))) return NULL;
    for (uint32_t k = 0; k < s->nargs; k++)
        if (!(out->args[k] = elementwise(b, s->args[k]))) return NULL;
    if (s->expr && !(out->expr = elementwise(b, s->expr))) return NULL;
    return out;
}

/* ---- the function ---- */

/* for index in 0..length; the outermost in parallel, but where the order is that of the trail. */
static stmt *loop_over(broadcast *b, int d, stmt *body) {
    stmt *out = rvm__arena(b->a, sizeof *out);
    const span at = b->s->at;
    if (!out) return NULL;
    const rvm_op op = d || b->s->kind == S_SET ? RVM_OP_for : RVM_OP_par;
    *out = (stmt){.kind = S_FOR, .op = op, .row = -1, .at = at, .name_at = at, .body = body};
    out->name = b->index[d];
    out->nargs = (uint16_t)(rvm__op_places(op, 0, 0) - 1); /* the index is a name */
    if (!(out->args = rvm__arena(b->a, 3 * sizeof *out->args))) return NULL;
    out->args[0] = rvm__expr_whole(b->a, 0, at);
    out->args[1] = name_expr(b, b->length[d], at);
    out->args[2] = rvm__expr_whole(b->a, 1, at);
    return out->args[0] && out->args[1] && out->args[2] ? out : NULL;
}

static stmt *without_checks(broadcast *b, stmt *body) {
    stmt *out = rvm__arena(b->a, sizeof *out);
    if (out) *out = (stmt){.kind = S_UNCHECKED, .row = -1, .at = b->s->at, .body = body};
    return out;
}

static stmt *function_body(broadcast *b, bool unchecked) {
    stmt *body = element_statement(b);
    for (int d = b->ndim; body && d--;) body = loop_over(b, d, body);
    return body && unchecked ? without_checks(b, body) : body;
}

bool rvm__add_written(assembler *a, func *fn, const char *stem) {
    fn->name = rvm__numbered(a, stem, a->program->nfunctions);
    const int64_t k = fn->name ? rvm__program_add_function(a->program, fn->name->text, fn->name->length) : -1;
    if (k < 0) {
        a->oom = true;
        return false;
    }
    fn->index = (uint32_t)k;
    fn->name->func = fn;
    *a->funcs_end = fn; /* lowered behind those of the sources */
    a->funcs_end = &fn->next;
    rvm__declare_function(a, fn);
    return true;
}

static bool start(broadcast *b) {
    b->params = rvm__arena(b->a, RVM_MAX_PARAMS * sizeof *b->params);
    b->args = rvm__arena(b->a, RVM_MAX_PARAMS * sizeof *b->args);
    for (int d = 0; d < b->ndim; d++) {
        b->length[d] = rvm__numbered(b->a, "n", (uint32_t)d);
        b->index[d] = rvm__numbered(b->a, "i", (uint32_t)d);
        if (!b->length[d] || !b->index[d]) return false;
    }
    return b->params && b->args;
}

static func *make_function(broadcast *b, bool unchecked) {
    func *fn = rvm__arena(b->a, sizeof *fn);
    stmt *body = fn && start(b) ? function_body(b, unchecked) : NULL;
    if (!body) return NULL;
    *fn = (func){.at = b->s->at, .end = b->s->at, .params = b->params, .nparams = b->n, .body = body};
    return rvm__add_written(b->a, fn, "elementwise") ? fn : NULL;
}

void rvm__lower_broadcast(gen *g, const stmt *s, int ndim) {
    broadcast b = {.a = g->a, .s = s, .ndim = ndim};
    const bool lenient = g->a->lenient;
    func *fn = make_function(&b, g->flags & RVM_FLAG_UNCHECKED);
    g->a->lenient = lenient;
    g->f = g->a->program->functions + g->fn->index; /* functions have moved */
    if (!fn || fn->broken) return;
    callee c = {.name = fn->name, .index = -1, .at = s->at};
    const stmt call = {
        .kind = S_CALL, .op = RVM_OP_call, .row = -1, .at = s->at, .callee = &c, .args = b.args, .nargs = (uint16_t)b.n};
    rvm__lower_call(g, &call);
}

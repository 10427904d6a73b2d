/* lower_print.c: print. The assembler writes a function without code whose parameters are what is shown, with its text; the
 * statement is a call of that, so that places, arrays and expressions are arguments like others.
 */
#include "asm.h"
#include "builder.h"
#include <string.h>

/* The type of what is shown, and its dimensions; false: told. */
static bool type_of(assembler *a, const expr *e, typed *as) {
    expr *copy = rvm__tree_copy(a, e);
    if (!copy) return false;
    const bool place = e->kind == E_NAME || e->kind == E_INDEX;
    const int ndim = place ? rvm__check_part(a, copy) : 0;
    if (!place) rvm__check(a, copy, T_NONE);
    if (ndim < 0 || copy->kind == E_ERROR || rvm__settle(a, copy, T_NONE) == T_ERROR) return false;
    *as = (typed){.type = copy->type, .ndim = (uint8_t)ndim, .signature = copy->signature};
    if (!rvm__is_state(as->type)) return true;
    rvm__diag(a, e->at, D_PRINT_STATE, rvm__type_text(a, as->type), NULL, NULL);
    return false;
}

static char show_of(int type) {
    return rvm__is_complex(type) ? RVM_SHOW_COMPLEX : rvm__is_lns(type) ? RVM_SHOW_LNS : RVM_SHOW_VALUE;
}

/* x'0 of lengths n'0, n'1 ... */
static bool make_param(assembler *a, const expr *e, uint32_t k, param *out) {
    *out = (param){.name = rvm__numbered(a, "x", k), .at = e->at};
    if (!out->name || !type_of(a, e, &out->as)) return false;
    for (int d = 0; d < out->as.ndim; d++) {
        expr *length = rvm__expr_new(a, E_NAME, e->at, 0);
        if (!length || !(length->u.name = rvm__numbered(a, "n", k * RVM_MAX_DIMS + (uint32_t)d))) return false;
        out->as.dim[d] = length;
    }
    return true;
}

/* The text, with how each is shown. */
static bool add_text(assembler *a, const stmt *s, const func *fn) {
    char *text = rvm__arena(a, s->name->length + 1);
    if (!text) return false;
    memcpy(text, s->name->text, s->name->length);
    for (uint32_t at = 0, k = 0; at < s->name->length; at++)
        if (text[at] == RVM_SHOW_VALUE) text[at] = show_of(fn->params[k++].as.type);
    if (!rvm__program_add_print(a->program, fn->index, text, s->name->length)) a->oom = true;
    return !a->oom;
}

static func *make_function(assembler *a, const stmt *s) {
    func *fn = rvm__arena(a, sizeof *fn);
    param *params = rvm__arena(a, (s->nargs + 1u) * sizeof *params);
    if (!fn || !params) return NULL;
    for (uint32_t k = 0; k < s->nargs; k++)
        if (!make_param(a, s->args[k], k, &params[k])) return NULL;
    *fn = (func){.at = s->at, .end = s->at, .params = params, .nparams = s->nargs};
    return rvm__add_written(a, fn, "print") && !fn->broken && add_text(a, s, fn) ? fn : NULL;
}

void rvm__lower_print(gen *g, const stmt *s) {
    const bool lenient = g->a->lenient;
    func *fn = make_function(g->a, s);
    g->a->lenient = lenient;
    g->f = g->a->program->functions + g->fn->index; /* functions have moved */
    if (!fn) return;
    callee c = {.name = fn->name, .index = -1, .at = s->at};
    const stmt call = {
        .kind = S_CALL, .op = RVM_OP_call, .row = -1, .at = s->at, .callee = &c, .args = s->args, .nargs = s->nargs};
    const uint8_t flags = g->flags;
    g->flags |= RVM_FLAG_UNCHECKED; /* what is shown may be nan, with which nothing agrees */
    rvm__lower_call(g, &call);
    g->flags = flags;
}

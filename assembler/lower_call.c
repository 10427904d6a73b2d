/* lower_call.c: call and uncall. Places and arrays are passed as they are, rows and slices as views, all else as
 * temporaries. */
#include "asm.h"
#include <string.h>

/* fn(out: f64, x: f64[n]) */
static const char *signature(assembler *a, const func *f) {
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s(", f->name->text);
    for (uint32_t k = 0; k < f->nparams && used < sizeof text - 1; k++) {
        const param *p = f->params + k;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %s%s%.*s%s", k ? ", " : "", p->name->text,
                                 rvm_type_name((rvm_type)p->type), p->ndim ? "[" : "", p->ndim ? p->ndim - 1 : 0, ",,,",
                                 p->ndim ? "]" : "");
    }
    if (used >= sizeof text - 2) used = sizeof text - 2;
    memcpy(text + used, ")", 2);
    return rvm__arena_copy(a, text, used + 1);
}

static bool wrong_shape(gen *g, const func *f, const param *p, span at, int type, int ndim) {
    char wanted[48], got[48];
    snprintf(wanted, sizeof wanted, "%s%s%.*s%s", rvm__type_text(p->type), p->ndim ? "[" : "", p->ndim ? p->ndim - 1 : 0,
             ",,,", p->ndim ? "]" : "");
    snprintf(got, sizeof got, "%s%s%.*s%s", rvm__type_text(type), ndim ? "[" : "", ndim ? ndim - 1 : 0, ",,,",
             ndim ? "]" : "");
    rvm__diag(g->a, at, D_ARGUMENT, p->name->text, wanted, got);
    rvm__diag_hint(g->a, D_SIGNATURE, signature(g->a, f), NULL, NULL);
    return false;
}

static bool check_argument(gen *g, const func *f, const param *p, expr *e) {
    if (e->kind == E_NAME || e->kind == E_INDEX) {
        span at = e->at;
        int ndim = rvm__check_part(g->a, e);
        if (ndim < 0) return false;
        if (ndim != p->ndim || (ndim && e->type != p->type)) return wrong_shape(g, f, p, at, e->type, ndim);
        return ndim || rvm__coerce(g->a, e, (rvm_type)p->type);
    }
    rvm__check(g->a, e, p->ndim ? T_NONE : p->type);
    if (e->kind == E_ERROR) return false;
    if (p->ndim) return wrong_shape(g, f, p, e->at, e->type, 0);
    return rvm__coerce(g->a, e, (rvm_type)p->type);
}

static bool check_call(gen *g, const stmt *s) {
    const func *f = s->name->func;
    if (!f) {
        rvm__diag(g->a, s->name_at, D_UNKNOWN_FUNCTION, s->name->text, rvm__near(g->a, s->name, NEAR_FUNC), NULL);
        return false;
    }
    if (f->broken) return false;
    if (f->nparams != s->nargs) {
        rvm__diag(g->a, s->at, D_ARGUMENTS, s->name->text, rvm__number(g->a, f->nparams), rvm__number(g->a, s->nargs));
        rvm__diag_hint(g->a, D_SIGNATURE, signature(g->a, f), NULL, NULL);
        return false;
    }
    bool good = true;
    for (uint32_t k = 0; k < s->nargs; k++) good = check_argument(g, f, f->params + k, s->args[k]) && good;
    return good;
}

static rvm_place lower_argument(gen *g, uint32_t function, uint32_t position, const expr *e) {
    if (e->kind == E_VAR || e->kind == E_ELEM) return rvm__lower_place(g, e);
    if (e->kind == E_PART) return rvm__lower_part(g, e);
    given *n = rvm__arena(g->a, sizeof *n);
    if (n) *n = (given){function, position, e->at, g->a->given};
    if (n) g->a->given = n;
    return rvm__lower_temp(g, e);
}

/* A parameter that is own may be given back; one that is accumulated into would never fit its temporary again. */
void rvm__check_given(assembler *a) {
    for (const given *n = a->given; n; n = n->next) {
        rvm_param_info p;
        if (rvm_program_param(a->program, n->function, n->param, &p) || p.role != RVM_ACC) continue;
        rvm__diag(a, n->at, D_GIVEN, rvm_program_function_name(a->program, n->function), p.name, NULL);
    }
}

void rvm__lower_call(gen *g, const stmt *s) {
    rvm_place places[RVM_MAX_PARAMS];
    uint32_t mark = g->ntemps;
    if (!check_call(g, s)) return;
    for (uint32_t k = 0; k < s->nargs; k++) places[k] = lower_argument(g, s->name->func->index, k, s->args[k]);
    rvm__emit(g, (rvm_op)s->op, -1, s->name->func->index, places, s->nargs, s->at);
    rvm__unwind(g, mark);
}

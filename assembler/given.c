/* given.c: arguments that are no place, such as the 0 and the 1 of `call f'grad(0, 1, x, g)`. Each is a temporary, which
 * must have its value again when the call returns.
 *
 * So it may stand where the function only reads its parameter; where the function changes it and may well change it back
 * (role own), which is found when it runs; and where the function adds to it and takes all of that away again: in the
 * compute parts of regions, through calls of which the same is true, and for the values of f under f'grad and what is
 * derived of it.
 */
#include "asm.h"
#include "accesses.h"
#include <string.h>

enum { UNKNOWN, ASKED, RESTORED, CHANGED }; /* of a parameter; ASKED: a call of itself, or of what asks */

typedef struct restoring {
    const rvm_program *p;
    uint32_t *first; /* of a function's parameters in state[] */
    uint8_t *state;
    uint32_t depth; /* of calls followed */
} restoring;

enum { MOST_CALLS = 1000 }; /* deeper ones count as changing their parameter: this is recursive */

/* The parameter of the function or value type that a derivative's parameter k belongs to; *shadow: it is its shadow. */
static uint32_t origin(const uint8_t *active, uint32_t k, bool *shadow) {
    uint32_t of = 0;
    for (uint32_t at = 0;; of++) {
        *shadow = active[of] && at + 1 == k;
        if (at == k || *shadow) return of;
        at += active[of] ? 2 : 1;
    }
}

static bool restores(restoring *r, uint32_t fn, uint32_t k);

/* Whether what a transform makes of a function leaves parameter k as it was, if that function leaves `of` so, or anyway. */
static bool derived_restores(rvm_transform kind, bool shadow, bool of) {
    switch (kind) {
    case RVM_GRADIENT_OF: return !shadow;
    case RVM_INVERSE:
    case RVM_TANGENT_OF: return of;
    case RVM_ADJOINT: return of && !shadow;
    case RVM_TRANSFORM_COUNT: break;
    }
    return false;
}

static bool variant_restores(const rvm_program *p, uint32_t variant, uint32_t k) {
    const rvm_variant *v = p->variants + variant;
    bool shadow = false;
    if (v->parent == variant) return false; /* any function of the type */
    const rvm_signature *s = p->signatures + p->variants[v->parent].signature;
    uint8_t reals[RVM_MAX_PARAMS] = {0};
    for (uint32_t i = 0; i < s->nparams; i++) reals[i] = v->active ? v->active[i] : s->params[i].type != RVM_I64;
    if (v->kind == RVM_INVERSE) memset(reals, 0, sizeof reals);
    const uint32_t of = origin(reals, k, &shadow);
    return derived_restores((rvm_transform)v->kind, shadow, variant_restores(p, v->parent, of));
}

/* Whether a place, the parameter itself, is as it was behind the instruction. */
static bool keeps(restoring *r, const rvm__accesses *a) {
    if (a->bits == RVM__BITS_READ || !a->param) return a->bits == RVM__BITS_READ;
    if (rvm__pair_of(a->in->op) == RVM_PAIR_calli) return variant_restores(r->p, a->in->target, a->k - 1);
    return restores(r, a->in->target, a->k);
}

/* Outside of compute parts, which `undo` takes back. */
static bool code_restores(restoring *r, const rvm_function *f, uint16_t slot) {
    uint32_t inside = 0;
    RVM__EACH_INSN(x, f) {
        inside += x.in->op == RVM_OP_compute;
        inside -= x.in->op == RVM_OP_do;
        RVM__EACH_ACCESS(a, r->p, f, x.in)
            if (!inside && a.reg && a.q->slot == slot && !keeps(r, &a)) return false;
    }
    return true;
}

static bool find_restores(restoring *r, uint32_t fn, uint32_t k) {
    const rvm_function *f = r->p->functions + fn;
    rvm_transform kind;
    uint32_t of;
    const uint8_t *active;
    bool shadow;
    if (rvm__transform_of(r->p, fn, &kind, &of, &active)) {
        const uint32_t own = origin(active, k, &shadow);
        if (derived_restores(kind, shadow, kind != RVM_GRADIENT_OF && restores(r, of, own))) return true;
    }
    return !f->params[k].ndim && code_restores(r, f, f->params[k].index);
}

static bool restores(restoring *r, uint32_t fn, uint32_t k) {
    uint8_t *state = r->state + r->first[fn] + k;
    if (*state == UNKNOWN && r->depth < MOST_CALLS) {
        *state = ASKED;
        r->depth++;
        *state = find_restores(r, fn, k) ? RESTORED : CHANGED;
        r->depth--;
    }
    return *state == RESTORED;
}

/* ---- arguments ---- */

void rvm__note_given(assembler *a, uint32_t function, int64_t variant, uint32_t position, const char *shown, span at) {
    const rvm_program *p = a->program;
    if (variant < 0) {
        given *n = rvm__arena(a, sizeof *n);
        if (n) *n = (given){function, position, at, a->given};
        if (n) a->given = n;
        return;
    }
    const rvm_param *q = p->signatures[p->variants[variant].signature].params + position;
    if (q->role == RVM_ACC && !variant_restores(p, (uint32_t)variant, position))
        rvm__diag(a, at, D_GIVEN_BY_VALUE, shown, rvm__number(a, position + 1), NULL);
}

void rvm__check_given(assembler *a) {
    const rvm_program *p = a->program;
    restoring r = {.p = p};
    uint32_t n = 0;
    if (a->given) r.first = rvm__arena(a, p->nfunctions * sizeof *r.first);
    for (uint32_t k = 0; r.first && k < p->nfunctions; k++) {
        r.first[k] = n;
        n += p->functions[k].nparams;
    }
    if (r.first) r.state = rvm__arena(a, n + 1);
    for (const given *g = a->given; g && r.state; g = g->next) {
        const rvm_param *q = p->functions[g->function].params + g->param;
        if (q->role == RVM_ACC && !restores(&r, g->function, g->param))
            rvm__diag(a, g->at, D_GIVEN, rvm__function_text(a, g->function), q->name, NULL);
    }
}

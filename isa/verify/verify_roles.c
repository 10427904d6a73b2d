/* verify_roles.c: the roles of parameters, over the call graph.
 *
 * verify_flow.c noted each parameter's accesses as bits and each handing on of a parameter as an edge. Bits spread along the
 * edges from callees to callers: a parameter's bits can grow twice, so that this is linear. Whether a
 * function uses the stack spreads likewise, as if the stack were one more parameter of each.
 */
#include "verify.h"
#include "program.h"
#include "support.h"

static rvm_role role_of(uint8_t bits) {
    if (bits == RVM__BITS_OWN) return RVM_OWN;
    return bits == RVM__BITS_ACC ? RVM_ACC : RVM_READ;
}

static rvm_status settle(rvm__verifier *v) {
    rvm_function *f = v->p->functions + v->fn;
    for (uint32_t k = 0; k < f->nparams; k++) {
        rvm_role role = role_of(v->bits[v->at->params + k]);
        if (v->p->roles_claimed && f->params[k].role != role)
            return RVM__REJECT(v, 0, "the file says that '%s' has the role %s, but it is %s", f->params[k].name,
                               rvm_role_name((rvm_role)f->params[k].role), rvm_role_name(role));
        f->params[k].role = role;
        f->params[k].untouched = !v->bits[v->at->params + k];
    }
    return RVM_OK;
}

/* ---- derivatives written by hand: each parameter has the role that it would have in the derived one ---- */

static rvm_role shadow_role(rvm_role role, rvm_transform kind) {
    if (kind == RVM_TANGENT_OF || role == RVM_OWN) return role;
    return role == RVM_READ ? RVM_ACC : RVM_READ;
}

static rvm_status check_rule(rvm__verifier *v, const rvm_rule *rule) {
    const rvm_function *f = &v->p->functions[rule->of], *g = &v->p->functions[rule->fn];
    uint32_t at = 0;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int shadow = 0; shadow <= rule->active[k]; shadow++, at++) {
            const rvm_param *q = &g->params[at];
            const rvm_role role = (rvm_role)f->params[k].role;
            const rvm_role want = shadow ? shadow_role(role, (rvm_transform)rule->kind) : role;
            if (q->role == want || want == RVM_OWN || q->untouched) continue;
            return rvm__fail_at(v->err, RVM_ERR_VERIFY, v->p, rule->fn, 0,
                                "'%s' does not fit '%s': its '%s' has the role %s, but is to have the role %s, since that "
                                "of '%s' in '%s' is %s",
                                g->name, f->name, q->name, rvm_role_name((rvm_role)q->role), rvm_role_name(want),
                                f->params[k].name, f->name, rvm_role_name(role));
        }
    return RVM_OK;
}

static rvm_status check_rules(rvm__verifier *v) {
    for (uint32_t k = 0; k < v->p->nrules; k++) {
        const rvm_rule *rule = &v->p->rules[k];
        if (!v->skip || (!v->skip[rule->fn] && !v->skip[rule->of])) RVM__TRY(check_rule(v, rule));
    }
    return RVM_OK;
}

rvm_status rvm__verify_roles(rvm__verifier *v) {
    const size_t n = rvm__nbits(v);
    if (n >= UINT32_MAX / 2) return rvm__fail(v->err, RVM_ERR_VERIFY, NULL, 0, 0, "too complex: too many parameters");
    uint32_t *scratch = rvm__verify_make(v, 2 * n, sizeof *scratch);
    if (!scratch) return rvm__verify_no_memory(v);
    for (uint32_t k = 0; k < v->p->nprints; k++) { /* which nothing in its code does */
        const uint32_t fn = v->p->prints[k].fn;
        for (uint32_t i = 0; i < v->p->functions[fn].nparams; i++) v->bits[v->base[fn].params + i] |= RVM__BITS_READ;
    }
    rvm__solve_edges((uint32_t)n, v->edges, v->nedges, v->bits, scratch);
    RVM__EACH_FUNCTION(v) RVM__TRY(settle(v));
    return check_rules(v);
}

/* verify_roles.c: the roles of parameters, over the call graph.
 *
 * verify_flow.c noted each parameter's accesses as bits and each handing on of a parameter as an edge. Bits spread along the
 * edges from callees to callers until nothing changes: a parameter's bits can grow twice, so that this is linear. Whether a
 * function uses the stack spreads likewise, as if the stack were one more parameter of each.
 */
#include "verify.h"
#include "program.h"
#include "support.h"

typedef struct graph {
    uint32_t *first, *to; /* edges of parameter k: to[first[k] .. first[k + 1]) */
    uint32_t *work, nwork;
    uint8_t *queued;
} graph;

static rvm_role role_of(uint8_t bits) {
    if (bits == RVM__BITS_OWN) return RVM_OWN;
    return bits == RVM__BITS_ACC ? RVM_ACC : RVM_READ;
}

static rvm_status make(rvm__verifier *v, graph *g, size_t n) {
    if (n >= UINT32_MAX) return rvm__fail(v->err, RVM_ERR_VERIFY, NULL, 0, 0, "too complex: too many parameters");
    g->first = rvm__verify_make(v, n + 1, sizeof *g->first);
    g->to = rvm__verify_make(v, v->nedges, sizeof *g->to);
    g->work = rvm__verify_make(v, n, sizeof *g->work);
    g->queued = rvm__verify_make(v, n, sizeof *g->queued);
    if (!g->first || !g->to || !g->work || !g->queued) return rvm__verify_no_memory(v);
    for (uint32_t k = 0; k < v->nedges; k++) g->first[v->edges[k].from]++;
    for (size_t k = 0; k < n; k++) g->first[k + 1] += g->first[k]; /* where its edges end */
    for (uint32_t k = v->nedges; k-- > 0;) g->to[--g->first[v->edges[k].from]] = v->edges[k].to;
    return RVM_OK;
}

static void push(graph *g, uint32_t k) {
    if (!g->queued[k]) g->work[g->nwork++] = k;
    g->queued[k] = true;
}

static void spread(rvm__verifier *v, graph *g, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (v->bits[k]) push(g, (uint32_t)k);
    while (g->nwork) {
        uint32_t from = g->work[--g->nwork];
        g->queued[from] = false;
        for (uint32_t e = g->first[from]; e < g->first[from + 1]; e++) {
            uint8_t *to = v->bits + g->to[e], bits = *to | v->bits[from];
            if (bits == *to) continue;
            *to = bits;
            push(g, g->to[e]);
        }
    }
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

rvm_status rvm__verify_roles(rvm__verifier *v) {
    graph g = {.nwork = 0};
    size_t n = rvm__nbits(v);
    RVM__TRY(make(v, &g, n));
    spread(v, &g, n);
    RVM__EACH_FUNCTION(v) RVM__TRY(settle(v));
    return RVM_OK;
}

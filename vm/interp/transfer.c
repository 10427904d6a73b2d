/* transfer.c: of calls, what is seldom or long: function values, memory that arguments share, lengths that differ. */
#include "transfer.h"
#include "overlap.h"
#include "transform.h"

#include <string.h>

rvm_status rvm__callee_by_value(rvm_machine *m, const rvm_insn *in, uint32_t *callee) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const int64_t value = m->store.slots[top->slots + rvm__places(&m->p->functions[top->fn], in)->slot].i;
    rvm__inline_cache *cache = &m->store.inline_caches[in->target];
    if (!cache->any || cache->value != value) {
        const int64_t found = rvm__variant_callee(m->p, in->target, value);
        if (found < 0) return RVM_ERR_FUNCTION;
        *cache = (rvm__inline_cache){value, (uint32_t)found, true};
    }
    *callee = cache->callee;
    return RVM_OK;
}

/* Memory that an argument covers, or its shadow; false for an index out of bounds or nothing. */
static bool extent_of(const rvm__transfer *t, const rvm_place *q, bool shadow, rvm__extent *e) {
    if (shadow && !rvm__place_active(t, q)) return false;
    if (q->kind != RVM_PLACE_ARRAY) {
        *e = (rvm__extent){.data = (const char *)rvm__scalar_place(t, q, shadow)};
        return e->data != NULL;
    }
    const rvm__array *a = &t->m->store.arrays[t->from->arrays + q->slot];
    if (!rvm__array_extent(a, e)) return false;
    if (!shadow) return true;
    e->data = a->shadow;
    memcpy(e->stride, a->shadow_stride, sizeof e->stride);
    return e->data != NULL;
}

bool rvm__arguments_overlap(const rvm__transfer *t, uint32_t i, uint32_t k, bool shadows) {
    rvm__extent a, b;
    return extent_of(t, &t->args[i], shadows, &a) && extent_of(t, &t->args[k], shadows, &b) && rvm__overlap(&a, &b);
}

rvm_status rvm__check_shared(const rvm__transfer *t) {
    for (uint32_t k = 1; k < t->callee->nparams; k++)
        for (uint32_t i = 0; i < k; i++) {
            if (rvm__may_share(&t->types[i], &t->types[k])) continue;
            if (!rvm__arguments_overlap(t, i, k, false)) continue;
            char shown[RVM__SHOWN];
            rvm__shown_name(t->m->p, t->callee_fn, shown, sizeof shown);
            snprintf(t->m->detail, sizeof t->m->detail, "arguments %u and %u of %.200s", i + 1, k + 1, shown);
            return RVM_ERR_ALIAS;
        }
    return RVM_OK;
}

rvm_status rvm__length_differs(const rvm__transfer *t, const rvm_param *param, int d, int64_t is, int64_t must) {
    char shown[RVM__SHOWN];
    rvm__shown_name(t->m->p, t->callee_fn, shown, sizeof shown);
    snprintf(t->m->detail, sizeof t->m->detail, "dimension %d of argument `%.60s` of %.100s is %lld, must be %lld", d + 1,
             param->name, shown, (long long)is, (long long)must);
    return RVM_ERR_SHAPE;
}

/* specialisations.c: which codes a function has: directions, what may overlap, how deep trails are. They are declared where
 * they are asked for, and emitted later. */
#include "emit.h"
#include "analysis.h"

#include <stdio.h>

/* Where it is called, once it is simplified itself: what is promised of its parameters is not lost then, as it is by
 * `alwaysinline`, which comes first. LLVM stops counting at a limit, though, and what it has counted by then does count;
 * the hint raises that limit. */
static void inline_always(rvm__build *k, LLVMValueRef f) {
    static const char name[] = "function-inline-cost";
    rvm__attribute(k, f, -1, "inlinehint", 0);
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(k->context, name, sizeof name - 1, "0", 1));
}

bool rvm__is_inlined(const rvm__unit *u, uint32_t fn) {
    return !u->summaries[fn].recursive && u->summaries[fn].size <= u->k->small;
}

static LLVMTypeRef type_of(rvm__unit *u, const rvm_function *f) {
    rvm__build *k = u->k;
    LLVMTypeRef *t = rvm__unit_alloc(u, (RVM__FIXED_PARAMS + f->nparams * (size_t)RVM__MOST_PARAMS) * sizeof *t);
    unsigned n = 0;
    if (!t) return NULL;
    t[n++] = k->ptr, t[n++] = k->ptr;
    for (int i = 0; i < 3; i++) t[n++] = k->i64;
    t[n++] = k->ptr;
    for (uint32_t i = 0; i < f->nparams; i++) {
        const rvm_param *p = &f->params[i];
        const bool magnitude = !u->w->unchecked && (p->ndim || (p->role != RVM_READ && rvm__is_floating((rvm_type)p->type)));
        t[n++] = p->ndim || p->role != RVM_READ ? k->ptr : rvm__build_type(k, (rvm_type)p->type);
        for (int d = 0; p->ndim && d < 2 * p->ndim + 2; d++) t[n++] = k->i64;
        if (magnitude) t[n++] = k->ptr;
    }
    return LLVMFunctionType(k->i32, t, n, false);
}

/* conflicts: parameters, by bit, of which scalars go as addresses that others may have, too. */
static void promise(rvm__unit *u, LLVMValueRef f, const rvm_function *g, bool apart, uint64_t conflicts) {
    int n = RVM__FIXED_PARAMS;
    rvm__attribute(u->k, f, 1, "noalias", 0);
    rvm__attribute(u->k, f, RVM__COUNTS_PARAM, "noalias", 0);
    for (uint32_t i = 0; i < g->nparams; i++) {
        const rvm_param *p = &g->params[i];
        const bool magnitude = !u->w->unchecked && (p->ndim || (p->role != RVM_READ && rvm__is_floating((rvm_type)p->type)));
        const bool own = p->role != RVM_READ && !(conflicts & rvm__param_bit(i));
        if (p->ndim ? rvm__is_apart(p, apart) : own) rvm__attribute(u->k, f, n, "noalias", 0);
        n += p->ndim ? (int)rvm__array_params(p->ndim, magnitude) : 1 + magnitude;
    }
}

rvm__specialisation *rvm__find_specialisation(rvm__unit *u, rvm__specialisation like) {
    for (rvm__specialisation *v = u->specialisations[like.fn]; v; v = v->next)
        if (v->dir == like.dir && v->restoring == like.restoring && v->inside == like.inside && v->apart == like.apart &&
            v->whole == like.whole && v->discards == like.discards && v->block == like.block && v->at == like.at &&
            v->fresh == like.fresh && v->vectorised == like.vectorised && v->nested == like.nested &&
            v->conflicts == like.conflicts && v->guarded == like.guarded)
            return v;
    rvm__specialisation *v = rvm__unit_alloc(u, sizeof *v);
    if (!v) return NULL;
    *v = like;
    v->next = u->specialisations[like.fn];
    return u->specialisations[like.fn] = v;
}

const rvm__specialisation *rvm__declare_specialisation(rvm__unit *u, const rvm__specialisation *like) {
    rvm__specialisation *v = rvm__find_specialisation(u, *like);
    const rvm_function *g = &u->p->functions[like->fn];
    char name[256];
    if (!v || v->function || !(v->type = type_of(u, g))) return v;
    snprintf(name, sizeof name, "%s%s%s%s%s%s%s%s%s%s%s%s", g->name, v->dir < 0 ? ".backward" : ".forward",
             u->w->exact && v->restoring != (v->dir < 0) ? v->restoring ? ".restoring" : ".recording" : "",
             v->inside ? ".inside" : "", v->apart ? "" : ".overlapping", v->whole ? ".whole" : "",
             v->discards == rvm__discards_that_matter(u, like->fn, u->w->discards) ? "" : ".deep",
             v->vectorised ? ".vectorised" : "", v->nested ? ".nested" : "", v->guarded ? ".guarded" : "",
             v->fresh ? ".fresh" : "", v->at ? ".entered" : ""); /* a point keeps it apart from what is called, as C's sin */
    v->function = LLVMAddFunction(u->k->module, name, v->type);
    LLVMSetLinkage(v->function, LLVMInternalLinkage);
    rvm__attribute(u->k, v->function, -1, "nounwind", 0);
    if (v->vectorised)
        rvm__attribute(u->k, v->function, -1, "alwaysinline", 0); /* by rvm__simplify */
    else if (rvm__is_inlined(u, v->fn))
        inline_always(u->k, v->function);
    promise(u, v->function, g, v->apart, v->conflicts);
    v->later = u->work;
    u->work = v;
    return v;
}

const rvm__specialisation *rvm__version_of(rvm__unit *u, uint32_t fn, int dir, bool apart, uint16_t discards) {
    const rvm__specialisation like = {
        .fn = fn, .dir = dir, .apart = apart, .discards = rvm__discards_that_matter(u, fn, discards)};
    return rvm__declare_specialisation(u, &like);
}

/* verify_state.c: memory of the verifier, and the function that it is in. */
#include "verify.h"
#include "builder.h"
#include "support.h"
#include <string.h>

rvm_status rvm__verify_no_memory(rvm__verifier *v) {
    return rvm__fail(v->err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory verifying '%s'", v->f ? v->f->name : "");
}

void rvm__verify_release(rvm__verifier *v) {
    rvm__zone_free(&v->memory);
    rvm__realloc(&v->p->al, v->words, v->cap_words * sizeof *v->words, 0);
    rvm__realloc(&v->p->al, v->edges, v->cap_edges * sizeof *v->edges, 0);
}

static void enter(rvm__verifier *v, uint32_t fn) {
    v->fn = fn;
    v->f = v->p->functions + fn;
    v->at = v->base + fn;
    memset(v->is_length, 0, v->f->nregs);
    for (uint32_t k = 0; k < v->f->nparams; k++)
        for (int d = 0; d < v->f->params[k].ndim && d < RVM_MAX_DIMS; d++)
            if (v->f->params[k].dim[d] < v->f->nregs) v->is_length[v->f->params[k].dim[d]] = true;
}

bool rvm__verify_next(rvm__verifier *v, uint32_t *fn) {
    while (*fn < v->p->nfunctions && v->skip && v->skip[*fn]) ++*fn;
    if (*fn >= v->p->nfunctions) return false;
    enter(v, (*fn)++);
    return true;
}

const char *rvm__verify_name(const rvm__verifier *v, uint32_t pc, const rvm_place *place, char *text) {
    rvm__place_text(v->f, place, pc, NULL, text, RVM__NAME_SIZE);
    return text;
}

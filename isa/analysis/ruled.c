/* ruled.c: which functions come to one whose derivative is written by hand. See ruled.h. */
#include "ruled.h"
#include "solver.h"
#include "support.h"

#include <string.h>

typedef struct search {
    const rvm_program *p;
    uint8_t *ruled;
} search;

static bool visit(void *userdata, uint32_t fn) {
    const search *s = userdata;
    bool grew = false;
    RVM__EACH_INSN(x, &s->p->functions[fn])
        RVM__EACH_CALLEE(g, s->p, x.in) grew |= rvm__join8(&s->ruled[fn], s->ruled[g]);
    return grew;
}

bool rvm__ruled_find(rvm_program *p) {
    if (p->ruled) rvm__realloc(&p->al, p->ruled, p->nruled, 0);
    p->ruled = NULL;
    if (!p->nrules && !p->nprints) return true;
    p->nruled = p->nfunctions;
    if (!(p->ruled = rvm__realloc(&p->al, NULL, 0, p->nruled))) return false;
    memset(p->ruled, 0, p->nruled);
    for (uint32_t k = 0; k < p->nrules; k++) p->ruled[p->rules[k].of] |= (uint8_t)(1u << p->rules[k].kind);
    for (uint32_t k = 0; k < p->nprints; k++) p->ruled[p->prints[k].fn] |= RVM__RULED_PRINTS;
    rvm__solve_calls(&p->calls, RVM__CALLEES_FIRST, visit, &(search){p, p->ruled});
    return true;
}

bool rvm_program_by_hand(const rvm_program *p, uint32_t fn, rvm_transform kind) {
    return p && p->ruled && fn < p->nruled && (unsigned)kind < RVM_TRANSFORM_COUNT && p->ruled[fn] >> kind & 1;
}

bool rvm_program_prints(const rvm_program *p, uint32_t fn) {
    return p && p->ruled && fn < p->nruled && p->ruled[fn] & RVM__RULED_PRINTS;
}

/* rules.c: derivatives that are written by hand. */
#include "builder.h"
#include "support.h"

#include <string.h>

bool rvm__program_add_rule(rvm_program *p, const rvm_rule *rule) {
    uint32_t at = p->nrules;
    if (!rvm__grow(&p->al, (void **)&p->rules, &p->cap_rules, at + 1, sizeof *p->rules)) return false;
    while (at && p->rules[at - 1].fn > rule->fn) at--;
    memmove(p->rules + at + 1, p->rules + at, (p->nrules - at) * sizeof *p->rules);
    p->rules[at] = *rule;
    p->nrules++;
    return true;
}

const rvm_rule *rvm__rule_of(const rvm_program *p, uint32_t fn) {
    for (uint32_t k = 0; k < p->nrules; k++)
        if (p->rules[k].fn == fn) return &p->rules[k];
    return NULL;
}

bool rvm__is_adjoint_by_hand(const rvm_program *p, uint32_t fn) {
    const rvm_rule *rule = rvm__rule_of(p, fn);
    return rule && rule->kind == RVM_ADJOINT;
}

bool rvm__has_rule(const rvm_program *p, uint32_t of, rvm_transform kind) {
    for (uint32_t k = 0; k < p->nrules; k++)
        if (p->rules[k].of == of && p->rules[k].kind == kind) return true;
    return false;
}

/* How many parameters it has more; -1: it lacks one. */
static int more_than(const rvm_rule *rule, const uint8_t *active) {
    int more = 0;
    for (uint32_t k = 0; k < rule->nactive; k++) {
        if (active[k] && !rule->active[k]) return -1;
        more += !active[k] && rule->active[k];
    }
    return more;
}

const rvm_rule *rvm__rule_find(const rvm_program *p, uint32_t of, rvm_transform kind, const uint8_t *active) {
    const rvm_rule *best = NULL;
    int least = RVM_MAX_PARAMS + 1;
    for (uint32_t k = 0; k < p->nrules; k++) {
        const rvm_rule *rule = &p->rules[k];
        const int more = rule->of == of && rule->kind == kind ? more_than(rule, active) : -1;
        if (more < 0 || more >= least) continue;
        least = more;
        best = rule;
    }
    return best;
}

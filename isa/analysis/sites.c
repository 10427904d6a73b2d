/* sites.c: the sites of the trail that a program names. */
#include <stdlib.h>

#include "sites.h"

int64_t rvm__insn_site(const rvm_function *f, const rvm_insn *in) {
    const rvm_place *q = rvm__places(f, in);
    if (rvm__op_sets((rvm_op)in->op)) return f->consts[q[in->nplaces - 1].slot - f->nregs].i;
    const char *operands = rvm__op_info[in->op].operands;
    return operands && operands[0] == 'l' && operands[1] == 's' ? f->consts[q[1].slot - f->nregs].i : -1;
}

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t rvm__sites_next(const rvm_program *p) {
    int64_t next = 0;
    for (uint32_t k = 0; k < p->nfunctions; k++)
        RVM__EACH_INSN(x, &p->functions[k])
            if (rvm__insn_site(x.f, x.in) >= next) next = rvm__insn_site(x.f, x.in) + 1;
    return (uint32_t)next;
}

size_t rvm__sites_most(const rvm_program *p) {
    size_t n = 0;
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn]) n += rvm__insn_site(x.f, x.in) >= 0;
    return n;
}

uint32_t rvm__sites_collect(const rvm_program *p, uint32_t *sites) {
    size_t n = 0;
    uint32_t kept = 0;
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn]) {
            const int64_t site = rvm__insn_site(x.f, x.in);
            if (site >= 0) sites[n++] = (uint32_t)site;
        }
    if (n) qsort(sites, n, sizeof *sites, by_number);
    for (size_t k = 0; k < n; k++)
        if (!kept || sites[k] != sites[kept - 1]) sites[kept++] = sites[k];
    return kept;
}

uint32_t rvm__sites_find(const uint32_t *sites, uint32_t n, int64_t site) {
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sites[middle] < site)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

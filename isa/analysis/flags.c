/* flags.c: sites of the trail onto which only 0 or 1 ever goes: the flags of conditions. */
#include <string.h>

#include "accesses.h"
#include "sites.h"

static bool is_zero_or_one(const rvm_function *f, uint16_t slot) {
    return slot >= f->nregs && (f->consts[slot - f->nregs].u >> 1) == 0;
}

/* Whether the instruction leaves 0 or 1 in its first place, a register. */
static bool makes_flag(const rvm_function *f, const rvm_insn *in) {
    const enum rvm_pair pair = rvm__pair_of(in->op);
    if (pair == RVM_PAIR_drop || pair == RVM_PAIR_recall) return true; /* what comes back is what went */
    if (pair != RVM_PAIR_let && pair != RVM_PAIR_set) return false;
    if (rvm__row_info[in->row].sig == RVM_SIG_CMP) return true;
    const rvm_place *from = rvm__places(f, in) + 1;
    return in->row == RVM_ROW_id && from->kind == RVM_PLACE_SLOT && is_zero_or_one(f, from->slot);
}

/* Whether the register never holds anything but 0 and 1. */
static bool is_flag(const rvm_program *p, const rvm_function *f, uint16_t reg) {
    if (f->reg_type[reg] != RVM_I64) return false;
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (!f->params[k].ndim && f->params[k].index == reg) return false;
        for (int d = 0; d < f->params[k].ndim; d++)
            if (f->params[k].dim[d] == reg) return false;
    }
    RVM__EACH_INSN(x, f)
        RVM__EACH_ACCESS(a, p, f, x.in)
            if (a.reg && a.q->slot == reg && a.bits & RVM__BITS_ACC && !makes_flag(f, x.in)) return false;
    return true;
}

/* The value that the instruction with a site moves, if it is a register; else -1. An entry in which other places stand that
 * are not 0 is no flag. */
static int32_t register_moved(const rvm_function *f, const rvm_insn *in) {
    const size_t first = rvm__op_sets((rvm_op)in->op) ? 0 : rvm__positions_at((rvm_op)in->op) + 1;
    const rvm_place *q = rvm__places(f, in);
    return q[first].kind == RVM_PLACE_SLOT && q[first].slot < f->nregs ? q[first].slot : -1;
}

void rvm__sites_flags(const rvm_program *p, const uint32_t *sites, uint32_t n, uint8_t *flags) {
    memset(flags, 1, n);
    for (uint32_t fn = 0; fn < p->nfunctions; fn++)
        RVM__EACH_INSN(x, &p->functions[fn]) {
            const int64_t site = rvm__insn_site(x.f, x.in);
            if (site < 0) continue;
            uint8_t *flag = &flags[rvm__sites_find(sites, n, site)];
            const int32_t reg = *flag ? register_moved(x.f, x.in) : -1;
            if (reg < 0 || !is_flag(p, x.f, (uint16_t)reg)) *flag = 0;
        }
}

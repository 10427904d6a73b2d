/* first_block.c: see first_block.h. One pass to the first instruction that touches the array, one through its block. */
#include "first_block.h"
#include "accesses.h"
#include "builder.h"

static bool is_of(const rvm_function *f, const rvm__accesses *a, uint16_t array) {
    return (a->q->kind == RVM_PLACE_ELEM || a->q->kind == RVM_PLACE_ARRAY) && rvm__root_of(f, a->q) == array;
}

static bool touches(const rvm_program *p, const rvm_function *f, const rvm_insn *in, uint16_t array) {
    RVM__EACH_ACCESS(a, p, f, in)
        if (is_of(f, &a, array)) return true;
    return false;
}

/* The outermost block around the first instruction that touches it; 0: that stands in none, or there is none. */
static uint32_t block_of_first(const rvm_program *p, const rvm_function *f, uint16_t array) {
    uint32_t par = 0;
    RVM__EACH_INSN(x, f) {
        if (par && x.pc == f->code[par].target) par = 0;
        if (touches(p, f, x.in, array)) return par;
        if (x.in->op == RVM_OP_par && !par) par = x.pc;
    }
    return 0;
}

/* Whether control passes the block once: no loop, jump or region reaches around it. */
static bool is_passed_once(const rvm_function *f, uint32_t par) {
    const uint32_t end = f->code[par].target;
    uint32_t regions = 0;
    RVM__EACH_INSN(x, f) {
        const bool before = x.pc < par;
        regions += before && x.in->op == RVM_OP_compute;
        regions -= before && x.in->op == RVM_OP_undo;
        if (rvm__op_target((rvm_op)x.in->op) != 'L' || (x.pc >= par && x.pc <= end)) continue;
        if (before != (x.in->target < par)) return false;
    }
    return !regions;
}

static bool is_index(const rvm_place *q, uint16_t index) {
    return q->kind == RVM_PLACE_SLOT && q->slot == index;
}

/* The dimension in which the instruction's place k, which is of the array, is at the index; *part: it is a part of such a
 * part already; -1: in none. */
static int dimension_of(const rvm__accesses *a, uint16_t array, uint16_t index, bool *part) {
    const rvm_place *q = a->q;
    const bool views = rvm__pair_of(a->in->op) == RVM_PAIR_view;
    *part = q->slot != array || (views && !a->k);
    for (uint32_t d = 0; !*part && q->kind == RVM_PLACE_ELEM && d < q->nidx; d++)
        if (q->idx[d] == index) return (int)d;
    for (uint32_t d = 2; !*part && views && d < a->n; d++)
        if (is_index(&a->places[d], index)) return (int)d - 2;
    return -1;
}

bool rvm__first_block_of(const rvm_program *p, const rvm_function *f, uint32_t k, rvm__first_block *out) {
    const uint16_t array = f->params[k].index;
    const uint32_t par = f->params[k].ndim ? block_of_first(p, f, array) : 0;
    int dimension = -1;
    if (!par || !is_passed_once(f, par)) return false;
    const uint16_t index = rvm__places(f, &f->code[par])->slot;
    RVM__EACH_INSN_IN(x, f, par + 1, f->code[par].target)
        RVM__EACH_ACCESS(a, p, f, x.in) {
            bool part;
            if (!is_of(f, &a, array)) continue;
            const int d = dimension_of(&a, array, index, &part);
            if (part) continue;
            if (d < 0 || (dimension >= 0 && d != dimension)) return false;
            dimension = d;
        }
    if (dimension < 0) return false;
    *out = (rvm__first_block){par, (uint8_t)dimension};
    return true;
}

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

/* ---- the block's index, its quotient and remainder ---- */

typedef struct search {
    const rvm_program *p;
    const rvm_function *f;
    const rvm_param *param;
    uint32_t par;
    uint16_t index;
} search;

/* Whether the register has at pc what it was given at `from`, above it: no jump from elsewhere lands between, and none from
 * below behind a change. */
static bool reaches(const search *s, uint16_t slot, uint32_t from, uint32_t pc) {
    RVM__EACH_INSN_IN(x, s->f, s->par + 1, s->f->code[s->par].target) {
        if (rvm__op_target((rvm_op)x.in->op) != 'L' || x.in->target <= from || x.in->target > pc) continue;
        if (x.pc < from) return false;
        RVM__EACH_INSN_IN(y, s->f, pc, x.pc)
            if (rvm__changes_register(s->p, s->f, y.in, slot)) return false;
    }
    return true;
}

/* The row by which the register appeared, of the index and a number *by; RVM_ROW_id: otherwise. */
static rvm_row row_at(const search *s, uint16_t slot, uint32_t pc, uint16_t *by) {
    RVM__EACH_INSN_UP(x, s->f, pc, s->par + 1) {
        if (x.in->op == RVM_OP_undo) break; /* what stands above is partly undone */
        if (!rvm__changes_register(s->p, s->f, x.in, slot)) continue;
        if (x.in->op != RVM_OP_let || (x.in->row != RVM_ROW_idiv && x.in->row != RVM_ROW_irem)) break;
        if (x.q[1].kind != RVM_PLACE_SLOT || x.q[1].slot != s->index || x.q[2].kind != RVM_PLACE_SLOT) break;
        *by = x.q[2].slot;
        return reaches(s, slot, x.pc, pc) ? (rvm_row)x.in->row : RVM_ROW_id;
    }
    return RVM_ROW_id;
}

static bool same_number(const rvm_function *f, uint16_t a, uint16_t b) {
    if (a == b || a < f->nregs || b < f->nregs) return a == b;
    return f->consts[a - f->nregs].i == f->consts[b - f->nregs].i;
}

/* The slot by which the place k of an instruction cuts dimension d of the array; false: by none, or by a range. */
static bool cut_at(const rvm__accesses *a, unsigned d, uint16_t *slot) {
    const rvm_place *q = a->q;
    if (q->kind == RVM_PLACE_ELEM) {
        *slot = q->idx[d];
        return true;
    }
    if (rvm__pair_of(a->in->op) != RVM_PAIR_view || d + 2 >= a->n || a->places[d + 2].kind != RVM_PLACE_SLOT) return false;
    *slot = a->places[d + 2].slot;
    return true;
}

/* Where the instruction's place, which is of the array, is that of one instance alone; false: nowhere. *part: it is a part
 * of such a part already. */
static bool find_part(const search *s, const rvm__accesses *a, rvm__first_block *out, bool *part) {
    const int ndim = s->param->ndim;
    const uint32_t pc = (uint32_t)(a->in - s->f->code);
    int quotient = -1, remainder = -1;
    uint16_t slot, by, divisor = 0;
    *part = a->q->slot != s->param->index || (rvm__pair_of(a->in->op) == RVM_PAIR_view && !a->k);
    for (int d = 0; !*part && d < ndim; d++) {
        if (!cut_at(a, (unsigned)d, &slot)) continue;
        *out = (rvm__first_block){s->par, (uint8_t)d, RVM_MAX_DIMS};
        if (slot == s->index) return true;
        const rvm_row row = row_at(s, slot, pc, &by);
        if (row == RVM_ROW_idiv && quotient < 0) quotient = d, divisor = by;
        if (row == RVM_ROW_irem && same_number(s->f, by, s->param->dim[d])) remainder = d;
    }
    if (quotient < 0 || remainder < 0 || !same_number(s->f, divisor, s->param->dim[remainder])) return false;
    *out = (rvm__first_block){s->par, (uint8_t)quotient, (uint8_t)remainder};
    return true;
}

bool rvm__own_parts_of(const rvm_program *p, const rvm_function *f, uint32_t k, uint32_t par, rvm__first_block *out) {
    search s = {.p = p, .f = f, .param = &f->params[k], .par = par};
    bool any = false;
    s.index = rvm__places(f, &f->code[s.par])->slot;
    RVM__EACH_INSN_IN(x, f, s.par + 1, f->code[s.par].target)
        RVM__EACH_ACCESS(a, p, f, x.in) {
            rvm__first_block here;
            bool part;
            if (!is_of(f, &a, s.param->index)) continue;
            const bool found = find_part(&s, &a, &here, &part);
            if (part) continue;
            if (!found || (any && (here.dimension != out->dimension || here.within != out->within))) return false;
            *out = here;
            any = true;
        }
    return any;
}

bool rvm__first_block_of(const rvm_program *p, const rvm_function *f, uint32_t k, rvm__first_block *out) {
    const uint32_t par = f->params[k].ndim ? block_of_first(p, f, f->params[k].index) : 0;
    return par && is_passed_once(f, par) && rvm__own_parts_of(p, f, k, par, out);
}

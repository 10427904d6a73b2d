/* operands.c: what instructions do with their places, for users: rvm_program.h. */
#include "accesses.h"

/* Run as written. A loop's index appears at whichever end stands first: a reversed loop has its ends the other way round. */
static int appears(const rvm__accesses *a, uint32_t pc) {
    if (!a->toggles) return 0;
    const bool yes = rvm__is_loop(a->in->op) ? a->in->target > pc : a->appears;
    return yes ? 1 : -1;
}

static rvm_operand operand_of(const rvm__accesses *a, const rvm_function *f, uint32_t pc) {
    rvm_operand o = {.variable = -1, .role = RVM_READ, .appears = appears(a, pc)};
    if (a->reg || a->array) o.variable = a->array ? f->nregs + a->q->slot : a->q->slot;
    o.whole = a->array && a->q->kind != RVM_PLACE_ELEM;
    if (a->bits & ~(unsigned)RVM__BITS_READ) o.role = a->bits == RVM__BITS_ACC ? RVM_ACC : RVM_OWN;
    for (uint32_t d = 0; d < rvm__nindices(a->q); d++)
        if (a->q->idx[d] < f->nregs) o.index[o.indices++] = a->q->idx[d];
    return o;
}

bool rvm_program_operand(const rvm_program *p, uint32_t fn, uint32_t pc, uint32_t k, rvm_operand *out) {
    if (!p || !out || fn >= p->nfunctions || pc >= p->functions[fn].ncode) return false;
    const rvm_function *f = &p->functions[fn];
    RVM__EACH_ACCESS(a, p, f, &f->code[pc])
        if (a.k == k) return *out = operand_of(&a, f, pc), true;
    return false;
}

bool rvm_program_variable(const rvm_program *p, uint32_t fn, uint32_t k, rvm_variable_info *out) {
    if (!p || !out || fn >= p->nfunctions) return false;
    const rvm_function *f = &p->functions[fn];
    if (k >= f->nregs + f->narrays) return false;
    const bool array = k >= f->nregs;
    const uint16_t slot = (uint16_t)(array ? k - f->nregs : k);
    *out = (rvm_variable_info){
        .array = array, .param = -1, .type = (rvm_type)(array ? f->arrays[slot].type : f->reg_type[slot])};
    for (uint32_t i = 0; i < f->nparams; i++) {
        const rvm_param *q = &f->params[i];
        if ((q->ndim != 0) == array && q->index == slot) out->param = i;
        for (int d = 0; d < q->ndim; d++) out->length |= !array && q->dim[d] == slot;
    }
    out->name = rvm__symbol_at(f, array, slot, 0);
    if (out->param >= 0) out->name = f->params[out->param].name;
    if (out->param < 0 && !out->length) out->name = NULL;
    return true;
}

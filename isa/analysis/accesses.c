/* accesses.c: see accesses.h. */
#include "accesses.h"

#include <string.h>

rvm__accesses *rvm__accesses_begin(rvm__accesses *a, const rvm_program *p, const rvm_function *f, const rvm_insn *in) {
    a->in = in;
    a->places = rvm__places(f, in);
    a->k = UINT32_MAX;
    a->nregs = f->nregs;
    a->letters = rvm__place_letters(in, a->buffer);
    a->callee = rvm__is_call(in) ? rvm__callee_of(p, in) : (rvm_callee){.params = NULL};
    return a;
}

bool rvm__accesses_next(rvm__accesses *a) {
    if (++a->k >= a->in->nplaces) return false;
    a->q = a->places + a->k;
    a->letter = a->letters[a->k];
    a->param = a->letter == '*' ? a->callee.params + (a->k - a->callee.first) : NULL;
    a->bits = a->param ? rvm__role_access((rvm_role)a->param->role) : rvm__letter_access(a->in, a->letter);
    a->reg = a->q->kind == RVM_PLACE_SLOT && a->q->slot < a->nregs;
    a->array = a->q->kind == RVM_PLACE_ELEM || a->q->kind == RVM_PLACE_ARRAY;
    a->toggles = rvm__letter_toggles(a->letter);
    a->appears = a->toggles && !rvm__is_inverse(a->in->op);
    return true;
}

static void use_slot(const rvm_function *f, uint16_t slot, unsigned how, uint8_t *bits) {
    if (slot < f->nregs) bits[slot] |= (uint8_t)how;
}

void rvm__block_registers(const rvm_program *p, const rvm_function *f, uint32_t pc, uint8_t *bits) {
    memset(bits, 0, f->nregs);
    RVM__EACH_INSN_IN(x, f, pc + 1, f->code[pc].target)
        RVM__EACH_ACCESS(a, p, f, x.in) {
            if (!a.array) use_slot(f, a.q->slot, a.bits, bits);
            for (uint32_t d = 0; d < rvm__nindices(a.q); d++) use_slot(f, a.q->idx[d], RVM__BITS_READ, bits);
        }
}

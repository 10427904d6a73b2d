/* accesses.c: see accesses.h. */
#include "accesses.h"

#include <string.h>

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

/* lengths.h: inside jit/. Lengths of a function's arrays that code is made for (module.h). */
#ifndef RVM_JIT_LENGTHS_H
#define RVM_JIT_LENGTHS_H

#include "module.h"
#include "program.h"
#include "shaped.h"

/* Of dimension d of a parameter, a constant or a length that the code is for; 0: any, or none. */
static inline uint64_t rvm__length_known(const rvm_function *f, const rvm_param *param, int d, const rvm__lengths *lengths) {
    uint16_t registers[RVM__MOST_LENGTHS];
    const uint16_t slot = param->dim[d];
    if (slot >= f->nregs) return (uint64_t)f->consts[slot - f->nregs].i;
    for (uint32_t n = rvm__length_registers(f, registers, RVM__MOST_LENGTHS); n-- > 0;)
        if (registers[n] == slot) return lengths->is[n];
    return 0;
}

#endif

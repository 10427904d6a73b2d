/* fold.c: rows of constants, computed while assembling, by the same functions that run them later. */
#include "asm.h"
#include "kernels.h"

bool rvm__fold(rvm_row row, bool reals, const rvm_value v[3], rvm_value *out) {
    const rvm_type t = reals ? RVM_F64 : RVM_I64;
    const rvm_sig sig = rvm__row_info[row].sig;
    int overflow = 0;
    if ((sig == RVM_SIG_QUOT && !v[1].i) || (sig == RVM_SIG_POS && !(v[0].f > 0))) return false;
    const rvm__kernel *k = &rvm__kernels[rvm__kernel_index(row, t, t)];
    if (sig == RVM_SIG_CONV)
        *out = v[0];
    else if (k->f)
        *out = k->f(v[0], v[1], v[2], &overflow);
    return k->f || sig == RVM_SIG_CONV;
}

/* reals.h: values of the real types as doubles and back. */
#ifndef RVM_REALS_H
#define RVM_REALS_H

#include "kernels.h"
#include "instruction.h"

static inline double rvm__real_of(rvm_type t, rvm_value v) {
    switch (t) {
    case RVM_I64: return (double)v.i;
    case RVM_F64:
    case RVM_F32: return v.f;
    case RVM_FIX: return rvm__fix_real(v.i);
    case RVM_TYPE_COUNT: break;
    }
    return 0;
}

static inline rvm_value rvm__of_real(rvm_type t, double x) {
    switch (t) {
    case RVM_I64: return (rvm_value){.i = llrint(x)};
    case RVM_F64: return (rvm_value){.f = x};
    case RVM_F32: return (rvm_value){.f = (float)x};
    case RVM_FIX: return (rvm_value){.i = rvm_fix_from_double(x)};
    case RVM_TYPE_COUNT: break;
    }
    return (rvm_value){0};
}

/* args.c: rvm_lns_text by a set of elementary functions. */
bool rvm__lns_text(const struct rvm__math *math, rvm_type t, rvm_scalar logarithm, char *text, size_t size);

#endif

/* fix.h: arithmetic on fix, signed Q20.43 in 64 bits. A result outside its range wraps and sets *overflow. */
#ifndef RVM_FIX_H
#define RVM_FIX_H

#include "rvm_program.h"

#define RVM__FIX_ONE 8796093022208.0 /* 2^43 */

static inline int64_t rvm__fix_narrow(__int128 v, int *overflow) {
    if (v != (int64_t)v) *overflow = 1;
    return (int64_t)(uint64_t)(unsigned __int128)v;
}

static inline int64_t rvm__fix_add(int64_t a, int64_t b, int *overflow) {
    int64_t r;
    if (__builtin_add_overflow(a, b, &r)) *overflow = 1;
    return r;
}

static inline int64_t rvm__fix_sub(int64_t a, int64_t b, int *overflow) {
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r)) *overflow = 1;
    return r;
}

/* a * b + c, rounded once to the nearest, ties up. */
static inline int64_t rvm__fix_fma(int64_t a, int64_t b, int64_t c, int *overflow) {
    __int128 half = (__int128)1 << (RVM_FIX_FRACTION - 1);
    return rvm__fix_narrow((((__int128)a * b + half) >> RVM_FIX_FRACTION) + c, overflow);
}

static inline int64_t rvm__fix_mul(int64_t a, int64_t b, int *overflow) {
    return rvm__fix_fma(a, b, 0, overflow);
}

/* a / b to the nearest, ties away from zero; by zero: 0 and overflow. */
static inline int64_t rvm__fix_div(int64_t a, int64_t b, int *overflow) {
    if (b == 0) {
        *overflow = 1;
        return 0;
    }
    __int128 n = (__int128)a * ((__int128)1 << RVM_FIX_FRACTION), q = n / b, r = n % b, d = b;
    if (2 * (r < 0 ? -r : r) >= (d < 0 ? -d : d)) q += (n < 0) == (b < 0) ? 1 : -1;
    return rvm__fix_narrow(q, overflow);
}

static inline double rvm__fix_real(int64_t x) {
    return (double)x / RVM__FIX_ONE;
}

/* The nearest fix; outside the range or NaN: what rvm_fix_from_double gives, and overflow. */
static inline int64_t rvm__fix_of(double x, int *overflow) {
    if (!(x >= -1048576.0 && x < 1048576.0)) *overflow = 1;
    return rvm_fix_from_double(x);
}

#endif

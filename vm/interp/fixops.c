/* fixops.c: the shadows of conversions between real types, sums of shadows. */
#include "out_of_line.h"
#include "instruction.h"

static rvm_type converted_from(const rvm__xinsn *x) {
    return (rvm_type)((x->kernel - RVM__KERNEL_CONV) % RVM_TYPE_COUNT);
}

rvm_value rvm__sum(rvm_type type, rvm_value a, rvm_value b) {
    if (!rvm__is_floating(type)) return (rvm_value){.u = a.u + b.u};
    return (rvm_value){.f = type == RVM_F32 ? (double)(float)(a.f + b.f) : a.f + b.f};
}

static rvm_value convert(rvm_type to, rvm_type from, rvm_value v, int *overflow) {
    return rvm__math_libm.kernels[rvm__kernel_index(RVM_ROW_conv, to, from)].f(v, v, v, overflow);
}

rvm_value rvm__conv_tangent(const rvm__xinsn *x, rvm_value shadow, int *overflow) {
    return convert((rvm_type)x->type, converted_from(x), shadow, overflow);
}

bool rvm__conv_fits(const rvm__xinsn *x, const rvm_value *shadow, rvm_value gain) {
    int overflow = 0;
    if (converted_from(x) != RVM_FIX || (x->flags & X_UNCHECKED)) return true;
    rvm__fix_add(shadow->i, convert(RVM_FIX, (rvm_type)x->type, gain, &overflow).i, &overflow);
    return !overflow;
}

void rvm__conv_gain(const rvm__xinsn *x, rvm_value *shadow, rvm_value gain) {
    int overflow = 0;
    const rvm_type from = converted_from(x);
    *shadow = rvm__sum(from, *shadow, convert(from, (rvm_type)x->type, gain, &overflow));
}

/* The shadows may be one place twice: its gains add up. */
bool rvm__gain_fits(const rvm__xinsn *x, const rvm_value *sa, int64_t g0, const rvm_value *sb, int64_t g1,
                    const rvm_value *sc, int64_t g2) {
    if (x->flags & (X_UNCHECKED | X_CONV)) return true;
    const rvm_value *s[3] = {sa, sb, sc};
    const int64_t g[3] = {g0, g1, g2};
    for (int i = 0; i < 3; i++) {
        if (!s[i]) continue;
        __int128 sum = s[i]->i;
        for (int k = 0; k < 3; k++)
            if (s[k] == s[i]) sum += g[k];
        if (sum != (int64_t)sum) return false;
    }
    return true;
}

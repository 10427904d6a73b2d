/* fixops.c: fix rotations by shears, the shadows of conversions between real types, sums of shadows. */
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
    return rvm__kernels[rvm__kernel_index(RVM_ROW_conv, to, from)].f(v, v, v, overflow);
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

/* One shear: a += p b, or a -= p b. */
static void shear(int64_t *a, int64_t p, int64_t b, bool inverse, int *overflow) {
    const int64_t d = rvm__fix_mul(p, b, overflow);
    *a = inverse ? rvm__fix_sub(*a, d, overflow) : rvm__fix_add(*a, d, overflow);
}

static void turn_half(int64_t *a, int64_t *b, int *overflow) {
    *a = rvm__fix_sub(0, *a, overflow);
    *b = rvm__fix_sub(0, *b, overflow);
}

/* Rotate by t: exactly undone by the inverse, which subtracts what each shear added, in reverse order. */
static void rotate(int64_t *a, int64_t *b, double t, bool inverse, int *overflow) {
    double reduced = remainder(t, 2 * M_PI);
    const bool half = fabs(reduced) > M_PI_2;
    if (half) reduced -= copysign(M_PI, reduced);
    const int64_t p = rvm__fix_of(-tan(reduced / 2), overflow), q = rvm__fix_of(sin(reduced), overflow);
    if (half && !inverse) turn_half(a, b, overflow);
    shear(a, p, *b, inverse, overflow);
    shear(b, q, *a, inverse, overflow);
    shear(a, p, *b, inverse, overflow);
    if (half && inverse) turn_half(a, b, overflow);
}

static int64_t cross(const rvm_value *a, const rvm_value *b, const rvm_value *a_, const rvm_value *b_, int *overflow) {
    return rvm__fix_sub(rvm__fix_mul(a->i, b_->i, overflow), rvm__fix_mul(b->i, a_->i, overflow), overflow);
}

bool rvm__fix_rotate(const rvm__xinsn *x, int level, bool inverse, rvm_value *a, rvm_value *b, const rvm_value *t,
                     rvm_value *a_, rvm_value *b_, rvm_value *t_) {
    int overflow = 0;
    const double angle = rvm__fix_real(t->i);
    int64_t va = a->i, vb = b->i, sa = level ? a_->i : 0, sb = level ? b_->i : 0, st = t_ ? t_->i : 0;
    if (level == 1 && t_) { /* met as irot: the adjoint of rot */
        const int64_t g = cross(a, b, a_, b_, &overflow);
        st = inverse ? rvm__fix_add(st, g, &overflow) : rvm__fix_sub(st, g, &overflow);
    }
    if (level == 2 && t_ && inverse) { /* the reverse of what is below */
        shear(&sb, va, t_->i, true, &overflow);
        shear(&sa, vb, t_->i, false, &overflow);
    }
    rotate(&va, &vb, angle, inverse, &overflow);
    if (level) rotate(&sa, &sb, angle, inverse, &overflow);
    if (level == 3 && t_) { /* forward again: that gain is lost */
        const int64_t g =
            cross(&(rvm_value){.i = va}, &(rvm_value){.i = vb}, &(rvm_value){.i = sa}, &(rvm_value){.i = sb}, &overflow);
        st = inverse ? rvm__fix_add(st, g, &overflow) : rvm__fix_sub(st, g, &overflow);
    }
    if (level == 2 && t_ && !inverse) {
        shear(&sa, vb, t_->i, true, &overflow);
        shear(&sb, va, t_->i, false, &overflow);
    }
    if (overflow && !(x->flags & X_UNCHECKED)) return false;
    a->i = va, b->i = vb;
    if (level) a_->i = sa, b_->i = sb;
    if ((level == 1 || level == 3) && t_) t_->i = st;
    return true;
}

static void hadamard(int64_t *a, int64_t *b, bool inverse, int *overflow) {
    if (!inverse) *b = rvm__fix_sub(0, *b, overflow);
    rotate(a, b, M_PI_4, inverse, overflow);
    if (inverse) *b = rvm__fix_sub(0, *b, overflow);
}

bool rvm__fix_hadamard(const rvm__xinsn *x, int level, bool inverse, rvm_value *a, rvm_value *b, rvm_value *a_,
                       rvm_value *b_) {
    int overflow = 0;
    int64_t va = a->i, vb = b->i, sa = level ? a_->i : 0, sb = level ? b_->i : 0;
    hadamard(&va, &vb, inverse, &overflow);
    if (level) hadamard(&sa, &sb, inverse, &overflow);
    if (overflow && !(x->flags & X_UNCHECKED)) return false;
    a->i = va, b->i = vb;
    if (level) a_->i = sa, b_->i = sb;
    return true;
}

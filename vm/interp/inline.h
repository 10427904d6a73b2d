/* inline.h: what the handlers inline, and the functions they call out of line. Included by interp.inc, and by a test. */
#include "change_functions.h"
#include "handlers.h"
#include "machine.h"
#include "out_of_line.h"
#include "instruction.h"

#define unlikely(c)  __builtin_expect(!!(c), 0)
#define FORCE_INLINE static inline __attribute__((always_inline, unused))

/* The member of rvm_value and the C type of a type; arithmetic on it. */
#define V_i64           i
#define V_f64           f
#define V_fix           i
#define V_f32           f
#define C_i64           int64_t
#define C_f64           double
#define C_fix           int64_t
#define C_f32           double
#define MULT_f64(a, b)  ((a) * (b))
#define MULT_fix(a, b)  rvm__fix_mul(a, b, &overflow)
#define MINUS_f64(a, b) ((a) - (b))
#define MINUS_fix(a, b) rvm__fix_sub(a, b, &overflow)
#define MINUS_f32(a, b) ((double)(float)((a) - (b)))
#define PLUS_f64(a, b)  ((a) + (b))
#define PLUS_fix(a, b)  rvm__fix_add(a, b, &overflow)
#define MULT_f32(a, b)  ((double)(float)((a) * (b)))
#define PLUS_f32(a, b)  ((double)(float)((a) + (b)))

/* Agreement of a released value: exact, or the tolerance out of line. */
#define AGREE_i64(y, f)                                                                                                     \
    if (unlikely((y) != (f))) FAIL(RVM_ERR_RELEASE)
#define AGREE_fix AGREE_i64
#define AGREE_f64(y, f)                                                                                                     \
    if (unlikely(!((y) == (f))) && !rvm__agrees(m, x, y, f)) FAIL(RVM_ERR_RELEASE)
#define AGREE_f32 AGREE_f64

/* The largest magnitude held, kept for releases of checked runs. Form r is never tracked. */
#define TRACK_r_i64(v)
#define TRACK_r_f64(v)
#define TRACK_g_i64(v)
#define TRACK_g_fix(v)
#define TRACK_g_f64(v)                                                                                                      \
    if (unlikely(x->flags & X_TRACK)) rvm__track(m, x, v)
#define TRACK_k_i64(v)
#define TRACK_k_fix(v)
#define TRACK_k_f64 TRACK_g_f64
#define TRACK_g_f32 TRACK_g_f64
#define TRACK_k_f32 TRACK_g_f64
#define TRACK_e_f64 TRACK_g_f64

/* The first operand's shadow, which a conversion holds in another type. */
#define TANGENT_A_r(T)    (sa->V_##T)
#define TANGENT_A_g(T)    (sa->V_##T)
#define TANGENT_A_e(T)    (sa->V_##T)
#define TANGENT_A_k(T)    (x->flags & X_CONV ? rvm__conv_tangent(x, *sa, &overflow).V_##T : sa->V_##T)
#define GAIN_A_r(T, p, g) (p)->V_##T = PLUS_##T((p)->V_##T, g)
#define GAIN_A_g          GAIN_A_r
#define GAIN_A_e          GAIN_A_r
#define GAIN_A_k(T, p, g)                                                                                                   \
    do {                                                                                                                    \
        if (x->flags & X_CONV)                                                                                              \
            rvm__conv_gain(x, p, (rvm_value){.V_##T = (g)});                                                                \
        else                                                                                                                \
            (p)->V_##T = PLUS_##T((p)->V_##T, g);                                                                           \
    } while (0)
#define LOSE_A_r(T, p, g) (p)->V_##T = MINUS_##T((p)->V_##T, g)
#define LOSE_A_g          LOSE_A_r
#define LOSE_A_e          LOSE_A_r
#define LOSE_A_k(T, p, g)                                                                                                   \
    do {                                                                                                                    \
        if (x->flags & X_CONV)                                                                                              \
            rvm__conv_gain(x, p, (rvm_value){.V_##T = -(g)});                                                               \
        else                                                                                                                \
            (p)->V_##T = MINUS_##T((p)->V_##T, g);                                                                          \
    } while (0)
#define GAIN_FITS_f64(form, arity) GAIN_FITS_f64_##form
#define GAIN_FITS_f64_r            1
#define GAIN_FITS_f64_g            1
#define GAIN_FITS_f64_e            1
#define GAIN_FITS_f64_k            (!(x->flags & X_CONV) || !ACTIVE_k(1, 1) || rvm__conv_fits(x, sa, (rvm_value){.f = g0}))
#define GAIN_FITS_f32              GAIN_FITS_f64
#define GAIN_FITS_fix(form, arity)                                                                                          \
    rvm__gain_fits(x, ACTIVE_##form(1, arity) ? sa : NULL, g0, ACTIVE_##form(2, arity) ? sb : NULL, g1,                     \
                   ACTIVE_##form(3, arity) ? sc : NULL, g2)

/* The place, or NULL where an index is out of bounds. */
FORCE_INLINE rvm_value *value_place(const rvm_machine *m, const rvm__xplace *q, rvm_value *r, const rvm__array *ar) {
    if (q->kind == XSLOT) return r + q->slot;
    if (q->kind == XELEM) return rvm__element(m, q);
    const rvm__array *a = ar + q->slot;
    const int64_t i = r[q->i].i;
    if (unlikely((uint64_t)i >= (uint64_t)a->dim[0])) return NULL;
    char *p = a->data + i * a->stride[0];
    if (q->kind == XELEM1) return (rvm_value *)(void *)p;
    const int64_t j = r[q->j].i;
    if (unlikely((uint64_t)j >= (uint64_t)a->dim[1])) return NULL;
    return (rvm_value *)(void *)(p + j * a->stride[1]);
}

/* The shadow of an active place whose indices are in bounds. */
FORCE_INLINE rvm_value *shadow_place(const rvm_machine *m, const rvm__xplace *q, rvm_value *r, rvm_value *sh,
                                     const rvm__array *ar) {
    if (q->kind == XSLOT) return sh + q->slot;
    if (q->kind == XELEM) return rvm__element_shadow(m, q);
    const rvm__array *a = ar + q->slot;
    char *p = a->shadow + r[q->i].i * a->shadow_stride[0];
    if (q->kind == XELEM2) p += r[q->j].i * a->shadow_stride[1];
    return (rvm_value *)(void *)p;
}

/* max(0, ceil((hi - lo) / s)) without overflow; s is not 0. */
FORCE_INLINE uint64_t loop_trips(int64_t lo, int64_t hi, int64_t s) {
    if (s > 0)
        return hi > lo ? (s == 1 ? (uint64_t)hi - (uint64_t)lo : ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)s + 1) : 0;
    return lo > hi ? ((uint64_t)lo - (uint64_t)hi - 1) / (-(uint64_t)s) + 1 : 0;
}

/* Trips still to come, the one at index `at` among them, up to `end`, which is some steps away. */
FORCE_INLINE uint64_t loop_left(int64_t at, int64_t end, int64_t s) {
    const uint64_t way = at < end ? (uint64_t)end - (uint64_t)at : (uint64_t)at - (uint64_t)end;
    return (s == 1 ? way : way / (s < 0 ? -(uint64_t)s : (uint64_t)s)) + 1;
}

/* Of the n places at `at`, one that changes is another. */
FORCE_INLINE bool coincide(rvm_value *const *at, int places, int n) {
    for (int k = 0; k < places; k++)
        for (int i = k + 1; i < n; i++)
            if (at[k] == at[i]) return true;
    return false;
}

/* A change in place of values alone, without a condition, by its row's function: inlined, where the handler knows that. With
 * constant numbers of places and operands, nothing is counted. */
FORCE_INLINE rvm_status change_plainly(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, const rvm__array *ar, int places,
                                       int operands, rvm__change change) {
    rvm_value v[RVM_MAX_CHANGED] = {{0}}, a[RVM_MAX_CHANGE_OPERANDS] = {{0}}, *at[RVM_MAX_CHANGED + RVM_MAX_CHANGE_OPERANDS];
    int overflow = 0;
    for (int k = 0; k < places + operands; k++)
        if (unlikely(!(at[k] = value_place(m, &x->p[k], r, ar)))) return RVM_ERR_INDEX;
    if (unlikely(x->flags & X_ALIAS) && coincide(at, places, places + operands)) return RVM_ERR_ALIAS;
    for (int k = 0; k < places; k++) v[k] = *at[k];
    for (int k = 0; k < operands; k++) a[k] = *at[places + k];
    if (unlikely(!change(v, a, &overflow))) return RVM_ERR_DOMAIN;
    if (unlikely(overflow) && !(x->flags & X_UNCHECKED)) return RVM_ERR_OVERFLOW;
    for (int k = 0; k < places; k++) {
        *at[k] = v[k];
        if (unlikely(x->flags & X_TRACK)) rvm__track_at(m, x, &x->p[k], v[k].f);
    }
    return RVM_OK;
}

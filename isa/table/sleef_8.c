/* sleef_8.c: SLEEF's set in eight lanes. Compiled for processors with AVX-512; called where there is one. */
#include "functions.h"

#if RVM_SLEEF
#include <sleef.h>
#include <stdbool.h>
#include <string.h>

#define LANES 8
typedef rvm__8_reals reals;
#define SLEEF(name, error) (reals) Sleef_finz_##name##d8_##error##avx512f

static inline reals size_of(reals x) {
    return _mm512_abs_pd(x);
}
static inline bool any_infinite(reals r) {
    return _mm512_cmp_pd_mask(size_of(r), _mm512_set1_pd(INFINITY), _CMP_EQ_OQ);
}
static inline bool any_zero_or_far(reals r, reals x) {
    return _mm512_cmp_pd_mask(r, _mm512_setzero_pd(), _CMP_EQ_OQ) |
           _mm512_cmp_pd_mask(size_of(x), _mm512_set1_pd(0x1p27), _CMP_NLT_UQ);
}

typedef __mmask8 which;
static inline reals of(double x) {
    return _mm512_set1_pd(x);
}
static inline reals fused(reals a, reals b, reals c) {
    return _mm512_fmadd_pd(a, b, c);
}
static inline reals least(reals x, double limit) {
    return _mm512_min_pd(of(limit), x);
}
static inline reals scaled(reals x, reals n) {
    const __m512i power = _mm512_slli_epi64(_mm512_castpd_si512(n), 52);
    return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(x), power));
}
static inline which below(reals a, reals b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
static inline bool all(which is) {
    return is == 255;
}
static inline reals chosen(which is, reals a, reals b) {
    return _mm512_mask_blend_pd(is, b, a);
}
static inline reals signed_as(reals size, reals x) {
    const __m512i sign = _mm512_and_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(INT64_MIN));
    return _mm512_castsi512_pd(_mm512_or_epi64(_mm512_castpd_si512(size), sign));
}
#include "sleef_lanes.inc"
#else
typedef int rvm__no_sleef;
#endif

/* sleef_4.c: SLEEF's set in four lanes. Compiled for processors with AVX2; called where there is one. */
#include "functions.h"

#if RVM_SLEEF
#include <sleef.h>
#include <stdbool.h>
#include <string.h>

#define LANES 4
typedef rvm__4_reals reals;
#define SLEEF(name, error) (reals) Sleef_finz_##name##d4_##error##avx2

static inline bool any(__m256d mask) {
    return _mm256_movemask_pd(mask);
}
static inline reals size_of(reals x) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}
static inline bool any_infinite(reals r) {
    return any(_mm256_cmp_pd(size_of(r), _mm256_set1_pd(INFINITY), _CMP_EQ_OQ));
}
static inline bool any_zero_or_far(reals r, reals x) {
    return any(_mm256_or_pd(_mm256_cmp_pd(r, _mm256_setzero_pd(), _CMP_EQ_OQ),
                            _mm256_cmp_pd(size_of(x), _mm256_set1_pd(0x1p27), _CMP_NLT_UQ)));
}

typedef __m256d which;
static inline reals of(double x) {
    return _mm256_set1_pd(x);
}
static inline reals fused(reals a, reals b, reals c) {
    return _mm256_fmadd_pd(a, b, c);
}
static inline reals least(reals x, double limit) {
    return _mm256_min_pd(of(limit), x);
}
static inline reals scaled(reals x, reals n) {
    const __m256i power = _mm256_slli_epi64(_mm256_castpd_si256(n), 52);
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(x), power));
}
static inline which below(reals a, reals b) {
    return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}
static inline bool all(which is) {
    return _mm256_movemask_pd(is) == 15;
}
static inline reals chosen(which is, reals a, reals b) {
    return _mm256_blendv_pd(b, a, is);
}
static inline reals signed_as(reals size, reals x) {
    return _mm256_or_pd(size, _mm256_and_pd(x, of(-0.0)));
}
#include "sleef_lanes.inc"
#else
typedef int rvm__no_sleef;
#endif

/* sleef_8.c: SLEEF's set in eight lanes. Compiled for processors with AVX-512; called where there is one. */
#include "functions.h"

#if RVM_SLEEF
#include <sleef.h>
#include <stdbool.h>
#include <string.h>

#define LANES 8
typedef rvm__8_reals reals;
#define SLEEF(name, error) (reals) Sleef_finz_##name##d8_##error##avx512f

static inline __m512d size_of(__m512d x) {
    return _mm512_abs_pd(x);
}
static inline bool any_infinite(reals r) {
    return _mm512_cmp_pd_mask(size_of(r), _mm512_set1_pd(INFINITY), _CMP_EQ_OQ);
}
static inline bool any_above(reals x, double limit) {
    return _mm512_cmp_pd_mask(x, _mm512_set1_pd(limit), _CMP_GT_OQ);
}
static inline bool any_zero_or_far(reals r, reals x) {
    return _mm512_cmp_pd_mask(r, _mm512_setzero_pd(), _CMP_EQ_OQ) |
           _mm512_cmp_pd_mask(size_of(x), _mm512_set1_pd(0x1p27), _CMP_NLT_UQ);
}
#include "sleef_lanes.inc"
#else
typedef int rvm__no_sleef;
#endif

/* peaks.c: what this processor can do at most, one thread: what other figures are a part of. Compiled for this processor. */
#include "bench.h"

#include <stdlib.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef double vector __attribute__((vector_size(32))); /* as wide as AVX2's */
enum { CHAINS = 12, WIDTH = sizeof(vector) / sizeof(double), ROUNDS = 1 << 20, ELEMENTS = 1 << 24 };

/* Chains of a product and a sum, each rounded: as many as hide the time that one takes. */
static double in_vectors(void) {
    vector a[CHAINS], m = {0.5, 0.5, 0.5, 0.5}, c = {1, 2, 3, 4}, sum = {0};
    for (int k = 0; k < CHAINS; k++) a[k] = c * (double)k;
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < CHAINS; k++) a[k] = a[k] * m + c;
    for (int k = 0; k < CHAINS; k++) sum += a[k];
    return sum[0] + sum[1];
}

static double in_scalars(void) {
    double a[CHAINS], m = 0.5, c = 1, sum = 0;
    for (int k = 0; k < CHAINS; k++) a[k] = c * k;
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < CHAINS; k++) {
            a[k] = a[k] * m + c;
            __asm__ volatile("" : : "x"(a[k])); /* one by one */
        }
    for (int k = 0; k < CHAINS; k++) sum += a[k];
    return sum;
}

static double read_all(double *p) {
    vector sum[4] = {{0}};
    for (int64_t i = 0; i < ELEMENTS; i += 4 * WIDTH)
        for (int k = 0; k < 4; k++) sum[k] += *(const vector *)(p + i + k * WIDTH);
    return sum[0][0] + sum[1][1] + sum[2][2] + sum[3][3];
}

static double write_all(double *p) {
    const vector v = {1, 2, 3, 4};
    for (int64_t i = 0; i < ELEMENTS; i += WIDTH) *(vector *)(p + i) = v;
    return p[ELEMENTS / 2];
}

static double write_past_caches(double *p) {
#ifdef __SSE2__
    const __m128d v = {1, 2};
    for (int64_t i = 0; i < ELEMENTS; i += 2) _mm_stream_pd(p + i, v);
    _mm_sfence();
    return p[ELEMENTS / 2];
#else
    return write_all(p);
#endif
}

static volatile double sink; /* keeps what was computed alive */

static void add(table *t, const char *label, const char *unit, double *samples, int n) {
    figure_set(&table_row(t, "peaks of this processor, one thread", label, unit)->figures[CHECKED], samples, n);
}

static void measure_arithmetic(table *t, const char *label, double (*run)(void), double each, int repetitions) {
    double samples[MAX_REPETITIONS];
    for (int k = 0; k < repetitions; k++) {
        const double start = processor_seconds();
        sink = run();
        samples[k] = 2e-9 * each * CHAINS * ROUNDS / (processor_seconds() - start);
    }
    add(t, label, "G op/s", samples, repetitions);
}

static void measure_bytes(table *t, const char *label, double (*run)(double *), double *p, int repetitions) {
    double samples[MAX_REPETITIONS];
    for (int k = 0; k < repetitions; k++) {
        const double start = processor_seconds();
        sink = run(p);
        samples[k] = 1e-9 * ELEMENTS * sizeof *p / (processor_seconds() - start);
    }
    add(t, label, "GB/s", samples, repetitions);
}

bool measure_peaks(table *t, int repetitions) {
    double *p = aligned_alloc(64, ELEMENTS * sizeof *p);
    if (!p) return false;
    sink = write_all(p);
    measure_arithmetic(t, "products and sums in vectors of 32 bytes", in_vectors, WIDTH, repetitions);
    measure_arithmetic(t, "products and sums one by one", in_scalars, 1, repetitions);
    measure_bytes(t, "memory read", read_all, p, repetitions);
    measure_bytes(t, "memory written", write_all, p, repetitions);
    measure_bytes(t, "memory written past the caches", write_past_caches, p, repetitions);
    free(p);
    return true;
}

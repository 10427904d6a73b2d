/* peers.h: the compared problems by hand, in C as an expert writes it: flat arrays, no memory taken in loops, derivatives
 * derived on paper. Each source here is compiled by each compiler: strictly, strictly without vectors, and with -ffast-math;
 * the builds are told apart by PEER_PREFIX, which PEER puts before the names.
 *
 * A peer reads the constants of its problem's struct and overwrites what its task puts out. */
#ifndef PEERS_H
#define PEERS_H

#include <stdint.h>

/* X(name): struct name_data is below by the part before the underscore. */
#define PEER_LIST(X)                                                                                                        \
    X(gmm_primal)                                                                                                           \
    X(gmm_gradient)                                                                                                         \
    X(bundle_primal)                                                                                                        \
    X(bundle_jacobian)                                                                                                      \
    X(hand_primal)                                                                                                          \
    X(hand_jacobian)                                                                                                        \
    X(lstm_primal)                                                                                                          \
    X(lstm_gradient)                                                                                                        \
    X(bessel_primal)                                                                                                        \
    X(bessel_gradient)                                                                                                      \
    X(dot_primal)                                                                                                           \
    X(dot_gradient)                                                                                                         \
    X(product_primal)                                                                                                       \
    X(product_gradient)                                                                                                     \
    X(embedding_primal)                                                                                                     \
    X(embedding_gradient)                                                                                                   \
    X(embedding_hessian)                                                                                                    \
    X(leapfrog_primal)                                                                                                      \
    X(leapfrog_gradient)                                                                                                    \
    X(quaternion_primal)                                                                                                    \
    X(quaternion_gradient)                                                                                                  \
    X(relaxation_primal)                                                                                                    \
    X(relaxation_gradient)

enum peer {
#define X(name) PEER_##name,
    PEER_LIST(X)
#undef X
        PEERS
};

typedef void peer_function(void *data);

/* run: by enum peer; NULL where this build of the benchmark lacks that compiler. */
enum peer_build { PEER_GCC, PEER_CLANG, PEER_GCC_SCALAR, PEER_CLANG_SCALAR, PEER_GCC_FAST, PEER_CLANG_FAST, PEER_BUILDS };
extern const struct peer_build_entry { peer_function *const *run; } peer_builds[PEER_BUILDS];

/* Gaussian mixture: examples/gmm/gmm.rasm. */
typedef struct gmm_data {
    int64_t d, K, N, c;                     /* c: length of a packed triangle */
    const double *alphas, *means, *icf, *x; /* [K], [K, d], [K, c], [N, d] */
    double gamma, m;
    double *out, *alphas_b, *means_b, *icf_b;
    double *work; /* gmm_work(d, K) */
} gmm_data;
#define gmm_work(d, K) ((K) * (3 * (d) + 3) + (d))

/* Bundle adjustment: examples/bundle_adjustment/adbench.rasm. */
typedef struct bundle_data {
    int64_t m, p, n;
    const double *cameras, *points, *w, *feature; /* [m, 11], [p, 3], [n], [n, 2] */
    const int64_t *camera, *point;
    double *e, *ew, *J, *Jw; /* [n, 2], [n], [n, 2, 15], [n] */
} bundle_data;

/* Hand tracking: examples/adbench/hand.rasm. */
enum { HAND_BONES = 22, HAND_PARAMETERS = 26 };
typedef struct hand_data {
    int64_t b, n;                                    /* bones: HAND_BONES; points */
    const int64_t *parents, *vertex;                 /* [b], [n] or [n, 3] */
    const double *theta, *us, *relatives, *inverses; /* [26], NULL or [n, 2], [b, 3, 4] */
    const double *X, *weights, *points;              /* [vertices, 3], [vertices, b], [n, 3] */
    double *e, *J;                                   /* [n, 3], [26 or 28, n, 3] */
} hand_data;

/* LSTM: examples/adbench/lstm.rasm. */
typedef struct lstm_data {
    int64_t l, b, c;                               /* layers, width, length of the sequence */
    const double *main, *extra, *state, *sequence; /* [l, 2, 4, b], [3, b], [l, 2, b], [c, b] */
    double *out, *main_b, *extra_b;
    double *states, *gates, *sums, *state_b, *x; /* work: [c, l, 2, b], [c, l, 5, b], [c], [l, 2, b], [2, b] */
} lstm_data;

/* Bessel functions: bench/problems/bessel.rasm. */
typedef struct bessel_data {
    int64_t n, v;
    double reach; /* the largest |z| */
    const double *z, *out_b;
    double *out, *z_b;
} bessel_data;

/* Frobenius dot product of two sparse matrices of n columns: bench/problems/sparse.rasm. */
typedef struct dot_data {
    int64_t n;
    const int64_t *start_a, *row_a, *start_b, *row_b;
    const double *a, *b;
    double *out, *a_b, *b_b;
} dot_data;

/* Sparse [m, n] times dense [n, p]: bench/problems/sparse.rasm. */
typedef struct product_data {
    int64_t m, n, p;
    const int64_t *start, *row;
    const double *a, *B, *C_b;
    double *C, *a_b, *B_b;
} product_data;

/* Graph embedding in k dimensions: examples/papers/graph_embedding.rasm. */
enum { EMBEDDING_DIMENSIONS = 10 }; /* at most */
typedef struct embedding_data {
    int64_t k;
    const double *x;
    double *out, *x_b, *H; /* [10, k], [10, k, 10, k] */
} embedding_data;

/* Leapfrog: examples/leapfrog.rasm. q, v: where to simulate; they are q_start, v_start before. */
typedef struct leapfrog_data {
    int64_t n, steps;
    const double *m, *target, *q_start, *v_start;
    double h, *q, *v, *out, *q_b, *v_b;
} leapfrog_data;

/* Rotation by quaternions: bench/problems/quaternion.rasm. */
typedef struct quaternion_data {
    int64_t n;
    const double *v, *q, *out_b;
    double *out, *v_b, *q_b;
} quaternion_data;

/* Relaxation in place: bench/problems/relaxation.rasm. u: where to relax; it is u_start before. tape: [sweeps, n] at most.
 */
typedef struct relaxation_data {
    int64_t n, sweeps;
    const double *u_start, *f;
    double *u, *out, *u_b, *f_b, *tape;
} relaxation_data;

#ifdef PEER_PREFIX
#define PEER_JOIN_(a, b) a##b
#define PEER_JOIN(a, b)  PEER_JOIN_(a, b)
#define PEER(name)       PEER_JOIN(PEER_PREFIX, name)
#define X(name)          peer_function PEER(name);
PEER_LIST(X)
#undef X
#endif

#endif

/* gmm.c: the Gaussian mixture objective of ADBench and its gradient by one backward sweep over gmm.rasm.
 *
 * Reads ADBench's text files: d K N; K alphas; K means; K packed inverse covariance factors; N points; gamma m. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static const char usage[] =
    "usage: gmm FILE [--program FILE] [--unchecked] [--engine jit|interp]\n"
    "Prints the log-posterior of a Gaussian mixture and the norm of its gradient over alphas, means and inverse\n"
    "covariance factors.\n"
    "  --program FILE  use another gmm.rasm (source or bytecode)\n"
    "  --unchecked     drop the machine's assertions\n"
    "  --engine NAME   jit: native code where there is any, the default; interp: the interpreter\n";

typedef struct mixture {
    int64_t d, K, N, c, m;            /* c: length of a packed triangle */
    double *alphas, *means, *icf, *x; /* [K], [K, d], [K, c], [N, d] */
    double *alphas_b, *means_b, *icf_b;
    double gamma, objective, seconds, first; /* first: with compiling */
} mixture;

static bool mixture_new(mixture *g) {
    g->alphas = new_array(g->K, sizeof(double));
    g->means = new_array(g->K * g->d, sizeof(double));
    g->icf = new_array(g->K * g->c, sizeof(double));
    g->x = new_array(g->N * g->d, sizeof(double));
    g->alphas_b = new_array(g->K, sizeof(double));
    g->means_b = new_array(g->K * g->d, sizeof(double));
    g->icf_b = new_array(g->K * g->c, sizeof(double));
    return g->alphas && g->means && g->icf && g->x && g->alphas_b && g->means_b && g->icf_b;
}

static void mixture_free(mixture *g) {
    double *arrays[] = {g->alphas, g->means, g->icf, g->x, g->alphas_b, g->means_b, g->icf_b};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

static bool read_mixture(mixture *g, reader *r) {
    if (!reader_count(r, "the dimension", 1, 1 << 15, &g->d)) return false;
    if (!reader_count(r, "the number of components", 1, 1 << 24, &g->K)) return false;
    if (!reader_count(r, "the number of points", 1, INT32_MAX, &g->N)) return false;
    g->c = g->d * (g->d + 1) / 2;
    if (!reader_holds(r, (double)g->K * (double)(1 + g->d + g->c) + (double)g->N * (double)g->d)) return false;
    if (!mixture_new(g)) {
        snprintf(r->message, sizeof r->message, "%s: out of memory", r->path);
        return false;
    }
    if (!reader_numbers(r, "an alpha", g->alphas, g->K) || !reader_numbers(r, "a mean", g->means, g->K * g->d) ||
        !reader_numbers(r, "an entry of an inverse covariance factor", g->icf, g->K * g->c) ||
        !reader_numbers(r, "a coordinate of a point", g->x, g->N * g->d) ||
        !reader_number(r, "gamma of the Wishart prior", &g->gamma))
        return false;
    if (!(g->gamma > 0)) {
        snprintf(r->message, sizeof r->message, "%s:%u: gamma is %g, but must be positive", r->path, r->line, g->gamma);
        return false;
    }
    return reader_count(r, "m of the Wishart prior", 0, INT32_MAX, &g->m) && reader_end(r);
}

/* What depends on no parameter: the normalisation of the Gaussians, and that of the prior of each component. */
static double constant_terms(const mixture *g) {
    double d = (double)g->d, n = d + (double)g->m + 1;
    double log_gamma_d = 0.25 * d * (d - 1) * log(M_PI); /* the multivariate gamma function of n / 2 */
    for (int64_t j = 0; j < g->d; j++) log_gamma_d += lgamma(0.5 * (n - (double)j));
    double prior = n * d * (log(g->gamma) - 0.5 * log(2)) - log_gamma_d;
    return -0.5 * (double)g->N * d * log(2 * M_PI) - (double)g->K * prior;
}

static rvm_arg active(rvm_arg a, double *shadow) {
    a.active = true;
    a.shadow_data = shadow;
    return a;
}

static rvm_arg matrix(double *data, int64_t rows, int64_t columns) {
    return rvm_arg_array_f64(data, 2, (int64_t[]){rows, columns});
}

static rvm_status solve(rvm_machine *m, int64_t fn, mixture *g, rvm_error *e) {
    rvm_arg args[] = {rvm_arg_f64(constant_terms(g)),
                      active(rvm_arg_array_f64(g->alphas, 1, &g->K), g->alphas_b),
                      active(matrix(g->means, g->K, g->d), g->means_b),
                      active(matrix(g->icf, g->K, g->c), g->icf_b),
                      matrix(g->x, g->N, g->d),
                      rvm_arg_f64(g->gamma),
                      rvm_arg_f64((double)g->m)};
    args[0].active = true;
    args[0].shadow.f = 1;
    memset(g->alphas_b, 0, (size_t)g->K * sizeof(double));
    memset(g->means_b, 0, (size_t)(g->K * g->d) * sizeof(double));
    memset(g->icf_b, 0, (size_t)(g->K * g->c) * sizeof(double));
    double start = now();
    rvm_status status = rvm_value_and_gradient(m, fn, args, sizeof args / sizeof *args, e);
    g->seconds = now() - start;
    g->objective = args[0].value.f;
    return status;
}

static void print_result(const mixture *g, const char *engine) {
    double gradient =
        square_sum(g->alphas_b, g->K) + square_sum(g->means_b, g->K * g->d) + square_sum(g->icf_b, g->K * g->c);
    printf("{\"d\":%lld,\"K\":%lld,\"N\":%lld,", (long long)g->d, (long long)g->K, (long long)g->N);
    print_json_number(stdout, "objective", g->objective);
    putchar(',');
    print_json_number(stdout, "gradient_norm", sqrt(gradient));
    putchar(',');
    print_json_number(stdout, "seconds", g->seconds);
    putchar(',');
    print_json_number(stdout, "first_seconds", g->first);
    printf(",\"engine\":\"%s\"}\n", engine);
}

/* Twice, since the first time may compile. */
static rvm_status solve_warm(rvm_machine *m, int64_t fn, mixture *g, rvm_error *e) {
    rvm_status status = solve(m, fn, g, e);
    g->first = g->seconds;
    return status ? status : solve(m, fn, g, e);
}

static int run(const command_line *c, mixture *g) {
    session s;
    rvm_error e = {0};
    int code = session_open(&s, c);
    if (code) goto end;
    int64_t fn = find_function(s.p, c->program, "gmm");
    code = fn < 0 ? 3 : print_failure(solve_warm(s.m, fn, g, &e), &e);
    if (!code) print_result(g, session_engine(&s));
end:
    session_close(&s);
    return code;
}

int main(int argc, char **argv) {
    command_line c = {.program = GMM};
    mixture g = {0};
    reader r;
    int code = parse_command_line(argc, argv, usage, NULL, &c);
    if (code >= 0) return code;
    if (reader_open(&r, c.input) && read_mixture(&g, &r)) {
        code = run(&c, &g);
    } else {
        fprintf(stderr, "%s\n", r.message);
        code = 3;
    }
    mixture_free(&g);
    reader_close(&r);
    return code;
}

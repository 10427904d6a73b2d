/* bundle_adjustment.c: the cost of a scene, its gradient by one backward sweep, and the sparse Jacobian of the residuals.
 *
 * The gradient comes from `cost` of reproject.rasm over the whole scene; a Jacobian block, 2 x 12, from two sweeps over
 * `residual`, the function of one observation, on the same machine. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bal.h"
#include "common.h"

static const char usage[] =
    "usage: bundle_adjustment SCENE [--jacobian FILE.mtx] [--program FILE] [--unchecked]\n"
    "                         [--engine jit|interp]\n"
    "Prints the cost (sum of squared residuals) of a scene in BAL text format, and the norm of its gradient.\n"
    "  --jacobian FILE  write the Jacobian of the residuals in Matrix Market form: rows x, y of each observation,\n"
    "                   columns 9 of each camera, then 3 of each point\n"
    "  --program FILE   use another reproject.rasm (source or bytecode)\n"
    "  --unchecked      drop the machine's assertions\n"
    "  --engine NAME    jit: native code where there is any, the default; interp: the interpreter\n";

typedef struct solution {
    double cost, seconds, first;  /* first: with compiling */
    double *r, *r_b;              /* residuals, x and y of each observation, and their shadow */
    double *cameras_b, *points_b; /* gradient of cost */
} solution;

static bool solution_new(solution *s, const bal *b) {
    *s = (solution){0};
    s->r = new_array(b->nobservations, 2 * sizeof *s->r);
    s->r_b = new_array(b->nobservations, 2 * sizeof *s->r_b);
    s->cameras_b = new_array(b->ncameras, BAL_CAMERA * sizeof *s->cameras_b);
    s->points_b = new_array(b->npoints, BAL_POINT * sizeof *s->points_b);
    return s->r && s->r_b && s->cameras_b && s->points_b;
}

static void solution_free(solution *s) {
    free(s->r);
    free(s->r_b);
    free(s->cameras_b);
    free(s->points_b);
}

static rvm_arg matrix(double *data, int64_t rows, int64_t columns, double *shadow) {
    rvm_arg a = rvm_arg_array_f64(data, 2, (int64_t[]){rows, columns});
    a.active = shadow != NULL;
    a.shadow_data = shadow;
    return a;
}

static rvm_arg vector(double *data, int64_t n, double *shadow) {
    rvm_arg a = rvm_arg_array_f64(data, 1, &n);
    a.active = shadow != NULL;
    a.shadow_data = shadow;
    return a;
}

/* The cost and its gradient. */
static rvm_status solve(rvm_machine *m, int64_t cost, const bal *b, solution *s, rvm_error *e) {
    rvm_arg args[] = {rvm_arg_f64(0),
                      matrix(s->r, b->nobservations, 2, s->r_b),
                      matrix(b->cameras, b->ncameras, BAL_CAMERA, s->cameras_b),
                      matrix(b->points, b->npoints, BAL_POINT, s->points_b),
                      rvm_arg_array_i64(b->camera, 1, &b->nobservations),
                      rvm_arg_array_i64(b->point, 1, &b->nobservations),
                      matrix(b->observed, b->nobservations, 2, NULL)};
    args[0].active = true;
    args[0].shadow.f = 1;
    memset(s->r, 0, (size_t)(2 * b->nobservations) * sizeof *s->r);
    memset(s->cameras_b, 0, (size_t)(BAL_CAMERA * b->ncameras) * sizeof *s->cameras_b);
    memset(s->points_b, 0, (size_t)(BAL_POINT * b->npoints) * sizeof *s->points_b);
    memset(s->r_b, 0, (size_t)(2 * b->nobservations) * sizeof *s->r_b);
    double start = now();
    rvm_status status = rvm_value_and_gradient(m, cost, args, sizeof args / sizeof *args, e);
    s->seconds = now() - start;
    s->cost = args[0].value.f;
    return status;
}

/* Twice, since the first time may compile. */
static rvm_status solve_warm(rvm_machine *m, int64_t cost, const bal *b, solution *s, rvm_error *e) {
    rvm_status status = solve(m, cost, b, s, e);
    s->first = s->seconds;
    return status ? status : solve(m, cost, b, s, e);
}

/* The two rows of observation i. */
static rvm_status write_block(rvm_machine *m, int64_t residual, const bal *b, int64_t i, FILE *out, rvm_error *e) {
    int64_t first[2] = {BAL_CAMERA * b->camera[i], BAL_CAMERA * b->ncameras + BAL_POINT * b->point[i]};
    for (int row = 0; row < 2; row++) {
        double r[2] = {0}, seed[2] = {row == 0, row == 1}, camera_b[BAL_CAMERA] = {0}, point_b[BAL_POINT] = {0};
        rvm_arg args[] = {vector(r, 2, seed), vector(&b->cameras[BAL_CAMERA * b->camera[i]], BAL_CAMERA, camera_b),
                          vector(&b->points[BAL_POINT * b->point[i]], BAL_POINT, point_b),
                          vector(&b->observed[2 * i], 2, NULL)};
        rvm_status status = rvm_gradient(m, residual, args, sizeof args / sizeof *args, e);
        if (status) return status;
        long long line = 2 * (long long)i + row + 1;
        for (int k = 0; k < BAL_CAMERA; k++)
            fprintf(out, "%lld %lld %.17g\n", line, (long long)first[0] + k + 1, camera_b[k]);
        for (int k = 0; k < BAL_POINT; k++) fprintf(out, "%lld %lld %.17g\n", line, (long long)first[1] + k + 1, point_b[k]);
    }
    return RVM_OK;
}

static rvm_status write_jacobian(rvm_machine *m, int64_t residual, const bal *b, const char *path, rvm_error *e) {
    FILE *out = fopen(path, "w");
    rvm_status status = RVM_OK;
    bool written = false;
    if (!out) goto end;
    fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n", 2 * (long long)b->nobservations,
            BAL_CAMERA * (long long)b->ncameras + BAL_POINT * (long long)b->npoints,
            2 * (long long)b->nobservations * (BAL_CAMERA + BAL_POINT));
    for (int64_t i = 0; i < b->nobservations && !status; i++) status = write_block(m, residual, b, i, out, e);
    written = !ferror(out);
    if (fclose(out)) written = false;
end:
    if (!status && !written) {
        *e = (rvm_error){.code = RVM_ERR_IO};
        snprintf(e->message, sizeof e->message, "%s: cannot write: %s", path, strerror(errno));
        status = e->code;
    }
    return status;
}

static void print_result(const bal *b, const solution *s, const char *engine) {
    double gradient = square_sum(s->cameras_b, BAL_CAMERA * b->ncameras) + square_sum(s->points_b, BAL_POINT * b->npoints);
    printf("{\"cameras\":%lld,\"points\":%lld,\"observations\":%lld,", (long long)b->ncameras, (long long)b->npoints,
           (long long)b->nobservations);
    print_json_number(stdout, "cost", s->cost);
    putchar(',');
    print_json_number(stdout, "rms", sqrt(s->cost / (double)b->nobservations));
    putchar(',');
    print_json_number(stdout, "gradient_norm", sqrt(gradient));
    putchar(',');
    print_json_number(stdout, "seconds", s->seconds);
    putchar(',');
    print_json_number(stdout, "first_seconds", s->first);
    printf(",\"engine\":\"%s\"}\n", engine);
}

static int run(const command_line *c, const bal *b) {
    session x = {0};
    rvm_error e = {0};
    solution s;
    bool have_memory = solution_new(&s, b);
    int code = have_memory ? session_open(&x, c) : 4;
    if (!have_memory) fprintf(stderr, "%s: out of memory\n", c->input);
    if (code) goto end;
    int64_t cost = find_function(x.p, c->program, "cost"), residual = find_function(x.p, c->program, "residual");
    if (cost < 0 || residual < 0) {
        code = 3;
        goto end;
    }
    rvm_status status = solve_warm(x.m, cost, b, &s, &e);
    const char *engine = session_engine(&x);
    if (!status && c->extra) status = write_jacobian(x.m, residual, b, c->extra, &e);
    code = print_failure(status, &e);
    if (!code) print_result(b, &s, engine);
end:
    session_close(&x);
    solution_free(&s);
    return code;
}

int main(int argc, char **argv) {
    command_line c = {.program = REPROJECT};
    char message[512];
    bal b;
    int code = parse_command_line(argc, argv, usage, "--jacobian", &c);
    if (code >= 0) return code;
    if (!bal_read(&b, c.input, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        return 3;
    }
    code = run(&c, &b);
    bal_free(&b);
    return code;
}

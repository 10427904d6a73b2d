/* pointers.c: y += a x on device memory of the caller's, in the caller's stream, for pointers.py. */
#include <stdio.h>

#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_jit.h"

#define SOURCE "fn axpy(y: real[n], x: real[n], a: real)\n    parallel i in 0..n\n        y[i] += a * x[i]\n    end\nend\n"

typedef struct session {
    rvm_program *p;
    rvm_jit *jit;
    rvm_machine *m;
    rvm_cuda *cuda;
    rvm_cuda_array *x, *y;
} session;

static rvm_status open_session(session *s, uint64_t x, uint64_t y, int64_t n, void *stream, rvm_error *e) {
    rvm_options machine = rvm_options_default();
    rvm_jit_options jit = rvm_jit_options_default();
    rvm_cuda_options device = rvm_cuda_options_default();
    machine.unchecked = true;
    jit.tiers = false;
    jit.threads = 0;
    device.least = 0;
    device.stream = stream;
    rvm_status st = rvm_assemble(SOURCE, sizeof SOURCE - 1, "axpy", NULL, &s->p, e, NULL, NULL);
    if (!st) st = rvm_machine_new(s->p, &machine, &s->m, e);
    if (!st) st = rvm_jit_new(&jit, &s->jit, e);
    if (!st) st = rvm_jit_attach(s->jit, s->m, e);
    if (!st) st = rvm_cuda_new(&device, &s->cuda, e);
    if (!st) st = rvm_cuda_attach(s->cuda, s->m, e);
    if (!st) st = rvm_cuda_array_wrap(s->cuda, x, (size_t)n, &s->x, e);
    if (!st) st = rvm_cuda_array_wrap(s->cuda, y, (size_t)n, &s->y, e);
    return st;
}

static void close_session(session *s) {
    rvm_machine_free(s->m);
    rvm_cuda_array_free(s->x);
    rvm_cuda_array_free(s->y);
    rvm_cuda_free(s->cuda);
    rvm_jit_free(s->jit);
    rvm_program_free(s->p);
}

/* x, y: CUdeviceptr, of n doubles each; stream: a CUstream. *moved: bytes between host and device. 0, or what failed is in
 * why. */
int axpy(uint64_t x, uint64_t y, int64_t n, double a, void *stream, uint64_t *moved, char *why, size_t size);

__attribute__((visibility("default"))) int axpy(uint64_t x, uint64_t y, int64_t n, double a, void *stream, uint64_t *moved,
                                                char *why, size_t size) {
    session s = {0};
    rvm_error e = {0};
    rvm_cuda_totals totals = {0};
    rvm_status st = open_session(&s, x, y, n, stream, &e);
    if (!st) {
        rvm_arg args[] = {rvm_arg_array_f64(rvm_cuda_array_data(s.y), 1, &n),
                          rvm_arg_array_f64(rvm_cuda_array_data(s.x), 1, &n), rvm_arg_f64(a)};
        st = rvm_call(s.m, 0, args, 3, &e);
    }
    rvm_cuda_stats(s.cuda, &totals);
    *moved = totals.uploaded + totals.downloaded;
    snprintf(why, size, "%s", st ? e.message : totals.why);
    close_session(&s);
    return st || totals.blocks != 1;
}

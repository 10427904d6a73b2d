/* context.c: the device's context around calls of the driver, and what becomes of it where one fails. */
#include "cuda.h"

bool rvm__cuda_enter(rvm_cuda *c) {
    return !c->lost && !c->d->context_push(c->context);
}

void rvm__cuda_leave(rvm_cuda *c) {
    void *context;
    c->d->context_pop(&context);
}

/* Of some errors a context never recovers: all calls fail then. */
bool rvm__cuda_failed(rvm_cuda *c, int code, const char *doing, rvm_error *err) {
    enum { FIRST_OF_LAUNCHES = 700, LAST_OF_LAUNCHES = 719, BAD_STATE = 999 };
    if (!code) return false;
    const rvm_status status = rvm__driver_fail(c->d, code, doing, err);
    if ((code >= FIRST_OF_LAUNCHES && code <= LAST_OF_LAUNCHES && code != 701) || code == BAD_STATE) c->lost = status;
    return true;
}

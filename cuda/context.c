/* context.c: the device's context around calls of the driver, and what becomes of it where one fails. */
#include "cuda.h"
#include "support.h"

bool rvm__cuda_enter(rvm_cuda *c) {
    return !c->lost && c->d && !c->d->context_push(c->context);
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

void rvm__cuda_spoil(rvm_cuda *c) {
    c->spoilt = true;
    if (!c->lost) c->lost = RVM_ERR_UNSUPPORTED;
}

bool rvm__cuda_on_each(rvm__block_run *runs, unsigned n, bool (*step)(rvm__block_run *)) {
    for (unsigned k = 0; k < n; k++) {
        if (!rvm__cuda_enter(runs[k].c)) {
            rvm__fail(runs->err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "a device's context cannot be entered");
            return false;
        }
        const bool good = step(&runs[k]);
        rvm__cuda_leave(runs[k].c);
        if (!good) return false;
    }
    return true;
}

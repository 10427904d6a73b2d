/* context.c: the device's context around calls of the driver, and what becomes of it where one fails. */
#include <stdio.h>

#include "cuda.h"
#include "support.h"

bool rvm__cuda_enter(rvm_cuda *c) {
    return !c->lost && c->d && !c->d->context_push(c->context);
}

void rvm__cuda_leave(rvm_cuda *c) {
    void *context;
    c->d->context_pop(&context);
}

/* The first error counts: what follows comes of it. */
static void lose(rvm_cuda *c, rvm_status status, const char *why) {
    if (!c->lost) {
        snprintf(c->why_lost, sizeof c->why_lost, "%.*s", (int)sizeof c->why_lost - 1, why);
        c->lost_at = c->first->line;
    }
    c->lost = status;
}

/* Of some errors a context never recovers: all calls fail then. */
bool rvm__cuda_failed(rvm_cuda *c, int code, const char *doing, rvm_error *err) {
    enum { FIRST_OF_LAUNCHES = 700, LAST_OF_LAUNCHES = 719, BAD_STATE = 999 };
    if (!code) return false;
    const rvm_status status = rvm__driver_fail(c->d, code, doing, err);
    if ((code < FIRST_OF_LAUNCHES || code > LAST_OF_LAUNCHES || code == 701) && code != BAD_STATE) return true;
    rvm_error why;
    rvm__driver_fail(c->d, code, doing, &why);
    lose(c, status, why.message);
    return true;
}

void rvm__cuda_spoil(rvm_cuda *c) {
    c->spoilt = true;
    if (!c->lost) lose(c, RVM_ERR_UNSUPPORTED, "what a block has changed there cannot be taken back");
}

rvm_status rvm__cuda_fail_lost(const rvm_cuda *c, rvm_error *err) {
    const rvm_cuda *one = c;
    char where[40] = "";
    for (unsigned k = 0; k < c->nothers && !one->lost; k++) one = c->others[k];
    if (one->lost_at) snprintf(where, sizeof where, " since line %u", one->lost_at);
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "the device is lost%s%s%s", where, *one->why_lost ? ": " : "",
                     one->why_lost);
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

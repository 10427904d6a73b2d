/* mirror.c: a copy of what stays on the first device, an array or a local one, on another device, for kernels there. It is
 * made when it is asked for first, and is good till what it is a copy of changes; where kernels there change it, that does,
 * too (split.c). */
#include "cuda.h"
#include "support.h"

struct rvm__mirror {
    rvm__mirror *next;
    rvm_cuda *on;
    rvm__buffer *buffer;
    bool stale;
};

static rvm__mirror *mirror_on(rvm_cuda *on, rvm__mirror **list, size_t bytes, rvm_error *err) {
    for (rvm__mirror *m = *list; m; m = m->next)
        if (m->on == on) return m;
    rvm__mirror *m = rvm__realloc(&on->al, NULL, 0, sizeof *m);
    if (!m) return rvm__fail_memory(err), NULL;
    *m = (rvm__mirror){.next = *list, .on = on, .buffer = rvm__cuda_take(on, bytes, err), .stale = true};
    if (!m->buffer) return rvm__realloc(&on->al, m, sizeof *m, 0), NULL;
    return *list = m;
}

/* What stands on the first device is there once that has done all it was to do. */
static bool wait_for_first(rvm_cuda *first, rvm_error *err) {
    if (!rvm__cuda_enter(first)) {
        rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "the device's context cannot be entered");
        return false;
    }
    const bool good = !rvm__cuda_failed(first, first->d->stream_wait(first->stream), "an array is copied from it", err);
    rvm__cuda_leave(first);
    return good;
}

uint64_t rvm__cuda_mirror(rvm_cuda *on, rvm__mirror **list, uint64_t p, size_t bytes, rvm_error *err) {
    rvm__mirror *m = mirror_on(on, list, bytes, err);
    if (!m || !m->stale) return m ? m->buffer->p : 0;
    if (!wait_for_first(on->first, err)) return 0;
    const int code = on->d->copy_across(m->buffer->p, on->context, p, on->first->context, bytes, on->stream);
    if (rvm__cuda_failed(on, code, "an array is copied to it from another one", err)) return 0;
    on->totals.across += bytes;
    m->stale = false;
    return m->buffer->p;
}

void rvm__cuda_mirrors_stale(rvm__mirror *list) {
    for (; list; list = list->next) list->stale = true;
}

void rvm__cuda_mirrors_free(rvm_cuda *first, rvm__mirror **list) {
    for (rvm__mirror *m; (m = *list);) {
        *list = m->next;
        rvm__cuda_put(m->buffer);
        rvm__realloc(&first->al, m, sizeof *m, 0);
    }
}

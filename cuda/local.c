/* local.c: local arrays of native code that only parallel blocks use, as its text says: on the device from their first use
 * to where they disappear. Where a block runs on the host, or a side exit is taken, they are copied to where they stand. So
 * are arguments kept there that several runs only read. */
#include "cuda.h"
#include "support.h"

enum { LEAST = 1 << 6 }; /* elements: of fewer, copying takes no time */

rvm__local *rvm__cuda_local_at(rvm_cuda *c, const char *p, size_t bytes, size_t *offset) {
    for (rvm__local *l = c->locals; l; l = l->next) {
        if (p < l->data || (size_t)(p - l->data) > l->bytes || bytes > l->bytes - (size_t)(p - l->data)) continue;
        *offset = (size_t)(p - l->data);
        return l;
    }
    return NULL;
}

static bool is_there(rvm_cuda *c, rvm__local *l, rvm_error *err) {
    if (!l->buffer && !(l->buffer = rvm__cuda_take(c, l->bytes, err))) return false;
    if (l->there) return true;
    const int code = l->zero ? c->d->clear(l->buffer->p, 0, l->bytes, c->stream)
                             : c->d->upload(l->buffer->p, l->data, l->bytes, c->stream);
    if (rvm__cuda_failed(c, code, "an array is copied to it", err)) return false;
    if (!l->zero) c->totals.uploaded += l->bytes;
    return l->there = true;
}

/* On the first device. */
static bool find_on_first(rvm_cuda *c, rvm__local *l, rvm_error *err) {
    if (!rvm__cuda_enter(c)) return rvm__cuda_fail_lost(c, err), false;
    const bool good = is_there(c, l, err);
    rvm__cuda_leave(c);
    return good;
}

uint64_t rvm__cuda_local_for_kernel(rvm_cuda *on, rvm__local *l, bool changes, rvm_error *err) {
    if (on != on->first)
        return find_on_first(on->first, l, err) ? rvm__cuda_mirror(on, &l->mirrors, l->buffer->p, l->bytes, err) : 0;
    if (changes) rvm__cuda_mirrors_stale(l->mirrors);
    return is_there(on, l, err) ? l->buffer->p : 0;
}

/* Where host code reads it. */
static bool come_home(rvm_cuda *c, rvm__local *l, rvm_error *err) {
    if (l->on_host) return true;
    if (c->spoilt) return rvm__cuda_fail_lost(c, err), false;
    const int code = c->d->download(l->data, l->buffer->p, l->bytes, c->stream);
    if (rvm__cuda_failed(c, code ? code : c->d->stream_wait(c->stream), "an array is copied from it", err)) return false;
    c->totals.downloaded += l->bytes;
    return l->on_host = true;
}

bool rvm__cuda_local_to_host(rvm_cuda *c, rvm__local *l, rvm_error *err) {
    const bool good = come_home(c, l, err);
    rvm__cuda_mirrors_stale(l->mirrors);
    l->there = l->zero = false;
    return good;
}

static void forget(rvm_cuda *c, rvm__local **link) {
    rvm__local *l = *link;
    *link = l->next;
    rvm__cuda_put(l->buffer);
    rvm__cuda_mirrors_free(c, &l->mirrors);
    rvm__realloc(&c->al, l, sizeof *l, 0);
}

void rvm__cuda_local_share(rvm_cuda *c, rvm__local *l) {
    rvm__local **link = &c->locals;
    while (*link != l) link = &(*link)->next;
    if (!l->held) forget(c, link);
}

static void add(rvm_cuda *c, const rvm__local *like) {
    rvm__local *l = like->bytes / sizeof(rvm_value) < LEAST ? NULL : rvm__realloc(&c->al, NULL, 0, sizeof *l);
    if (!l) return; /* it is copied for each block then */
    *l = *like;
    l->next = c->locals;
    c->locals = l;
}

void rvm__cuda_local(rvm_machine *m, char *data, uint64_t n, uint64_t bits) {
    rvm_cuda *c = m->jit.device;
    for (rvm__local **link = &c->locals; *link;)
        if ((*link)->data == data)
            forget(c, link);
        else
            link = &(*link)->next;
    add(c, &(rvm__local){.data = data, .bytes = n * sizeof(rvm_value), .on_host = true, .zero = !bits});
}

void rvm__cuda_hold(rvm_machine *m, const char *data, uint64_t n) {
    add(m->jit.device, &(rvm__local){.data = (char *)data, .bytes = n * sizeof(rvm_value), .on_host = true, .held = true});
}

static void forget_all(rvm_cuda *c, bool held) {
    for (rvm__local **link = &c->locals; *link;)
        if (held || !(*link)->held)
            forget(c, link);
        else
            link = &(*link)->next;
}

void rvm__cuda_let_go(rvm_machine *m) {
    forget_all(m->jit.device, true);
}

rvm_status rvm__cuda_leave_run(rvm_machine *m) {
    rvm_cuda *c = m->jit.device;
    rvm_error why;
    bool good = true;
    if (!c->locals) return RVM_OK;
    const bool entered = rvm__cuda_enter(c);
    for (rvm__local *l = c->locals; l; l = l->next) good = good && (l->on_host || (entered && come_home(c, l, &why)));
    if (entered) rvm__cuda_leave(c);
    forget_all(c, false);
    return good ? RVM_OK : RVM_ERR_UNSUPPORTED;
}

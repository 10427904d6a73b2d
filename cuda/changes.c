/* changes.c: which parts of an array one of several devices has changed, so that no more than these come back from it. Each
 * has a share of the instances, and mostly that many elements of what they change: a copy on the device, and a look at both,
 * take less than the way to the host. Of those that stay a copy is there anyway (place.c). */
#include "cuda.h"
#include "support.h"

enum { LARGE = 1 << 18 }; /* bytes: of less, all comes back */

static bool failed(const rvm__block_run *r, int code) {
    return rvm__cuda_failed(r->c, code, "changes are looked for", r->err);
}

bool rvm__cuda_is_changed(const rvm__block_run *r, uint64_t v) {
    return r->k->views[v].root == v && r->k->views[v].uses & 2 && r->places[v].bytes;
}

bool rvm__cuda_changes_what_stays(const rvm__block_run *r) {
    for (uint64_t v = 0; v < r->k->nviews; v++)
        if (rvm__cuda_is_changed(r, v) && rvm__cuda_is_there(&r->places[v])) return true;
    return false;
}

uint64_t rvm__cuda_parts(const rvm__place *p) {
    const uint64_t each = RVM__CHANGED_PART * sizeof(rvm_value);
    return (p->bytes + each - 1) / each;
}

bool rvm__cuda_part_changed(const rvm__place *p, uint64_t n) {
    return !p->changed || p->changed[n];
}

bool rvm__cuda_keep_for_changes(rvm__block_run *r) {
    rvm_error none;
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        rvm__place *p = &r->places[v];
        if (!rvm__cuda_is_changed(r, v) || rvm__cuda_is_there(p) || p->bytes < LARGE) continue;
        p->before = rvm__cuda_take(r->c, p->bytes, &none); /* without one, all comes back */
        if (p->before && failed(r, r->c->d->copy(p->before->p, p->p, p->bytes, r->c->stream))) return false;
    }
    return true;
}

/* What comes back stands in p->changed; where the device has it nobody else writes till the stream has been waited for. */
static bool look_at(const rvm__block_run *r, rvm__place *p) {
    const rvm__driver *d = r->c->d;
    const uint64_t parts = rvm__cuda_parts(p);
    const size_t bytes = parts * sizeof *p->changed;
    rvm__buffer *b = rvm__cuda_take(r->c, bytes, r->err);
    uint64_t is = p->p, was = p->before->p, n = p->bytes / sizeof(rvm_value), to = b ? b->p : 0;
    void *params[] = {&is, &was, &n, &to};
    if (!b) return false;
    int code = d->clear(to, 0, bytes, r->c->stream);
    if (!code) code = d->launch(r->c->find_changes, (unsigned)parts, 1, 1, 256, 1, 1, 0, r->c->stream, params, NULL);
    if (!code) code = d->download(p->changed, to, bytes, r->c->stream);
    rvm__cuda_put(b);
    return !failed(r, code);
}

bool rvm__cuda_find_changes(rvm__block_run *r) {
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        rvm__place *p = &r->places[v];
        if (!rvm__cuda_is_changed(r, v) || !p->before) continue;
        if (!(p->changed = rvm__realloc(&r->c->al, NULL, 0, rvm__cuda_parts(p) * sizeof *p->changed)))
            return rvm__fail_memory(r->err), false;
        if (!look_at(r, p)) return false;
    }
    return true;
}

void rvm__cuda_free_changes(rvm__block_run *r) {
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        rvm__place *p = &r->places[v];
        rvm__realloc(&r->c->al, p->changed, rvm__cuda_parts(p) * sizeof *p->changed, 0);
        rvm__cuda_put(p->before);
        p->changed = NULL;
        p->before = NULL;
    }
}

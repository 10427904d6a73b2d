/* watches.c: the state of a watched place: whether it is present, and its value, or a digest of several. */
#include "stops.h"
#include "names.h"

#include <string.h>

/* Which symbol has the name where the frame stands, the innermost of several; and how far around it is the same one. */
static void find_symbol(const rvm_program *p, const rvm_function *f, const char *name, uint32_t gap, rvm__watched *to) {
    to->symbol = 0;
    to->first = 0;
    to->last = UINT32_MAX;
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        if (strcmp(f->symbols[k].name, name) != 0) continue;
        rvm__reach_of_name r = rvm__named(p, f, &f->symbols[k]);
        if (r.first > r.last) continue;
        if (gap < r.first)
            r = (rvm__reach_of_name){0, r.first - 1};
        else if (gap > r.last)
            r = (rvm__reach_of_name){r.last + 1, UINT32_MAX};
        else
            to->symbol = k + 1;
        if (r.first > to->first) to->first = r.first;
        if (r.last < to->last) to->last = r.last;
    }
}

static void take(uint64_t *digest, rvm_value v) {
    *digest = (*digest ^ v.u) * UINT64_C(0x100000001b3);
    *digest ^= *digest >> 29;
}

/* Elements from dimension d on. */
static void take_all(const rvm__array *a, const char *p, const int64_t *stride, int d, uint64_t *digest) {
    if (d >= a->ndim || d >= RVM_MAX_DIMS) {
        take(digest, *(const rvm_value *)(const void *)p);
        return;
    }
    for (int64_t k = 0; k < a->dim[d]; k++) take_all(a, p + k * stride[d], stride, d + 1, digest);
}

/* False: it has no such element. */
static bool take_array(const rvm__array *a, const rvm_watch *w, uint64_t *digest) {
    const int64_t *stride = w->shadow ? a->shadow_stride : a->stride;
    const char *p = w->shadow ? a->shadow : a->data;
    if (!a->present || !p || w->nindices > a->ndim) return false;
    for (int d = 0; d < w->nindices; d++) {
        if ((uint64_t)w->index[d] >= (uint64_t)a->dim[d]) return false;
        p += w->index[d] * stride[d];
    }
    if (w->nindices == a->ndim)
        *digest = ((const rvm_value *)(const void *)p)->u;
    else
        take_all(a, p, stride, w->nindices, digest);
    return true;
}

static bool take_scalar(const rvm_machine *m, size_t slot, const rvm_watch *w, uint64_t *digest) {
    if (w->nindices || (w->shadow && m->bound.mode == RVM_PRIMAL)) return false;
    *digest = (w->shadow ? m->store.shadows : m->store.slots)[slot].u;
    return true;
}

bool rvm__look_at(const rvm_machine *m, const rvm_watch *w, const rvm__xinsn *x, bool quiet, rvm__watched *seen) {
    const rvm__watched was = *seen;
    seen->present = false;
    seen->digest = UINT64_C(0xcbf29ce484222325);
    if (w->height > m->store.nframes) return was.present;
    const uint32_t frame = m->store.nframes - w->height;
    const rvm__frame *f = &m->store.frames[w->height - 1];
    const bool inner = x && !frame;
    const uint32_t gap = inner ? (uint32_t)(x - m->codes[f->fn].x) + (m->run.dir < 0) : rvm__stands_at(m, frame);
    if (seen->fn != f->fn + 1 || gap < seen->first || gap > seen->last) {
        find_symbol(m->p, &m->p->functions[f->fn], w->name, gap, seen);
        seen->fn = f->fn + 1;
    }
    if (!seen->symbol) return was.present;
    const rvm_symbol *s = &m->p->functions[f->fn].symbols[seen->symbol - 1];
    if (!s->is_array)
        seen->present = take_scalar(m, f->slots + s->index, w, &seen->digest);
    else if (quiet && was.present && seen->symbol == was.symbol)
        return *seen = was, false;
    else
        seen->present = take_array(&m->store.arrays[f->arrays + s->index], w, &seen->digest);
    return seen->present != was.present || (was.present && seen->digest != was.digest);
}

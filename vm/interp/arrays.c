/* arrays.c: local arrays and views, in both directions and every mode. */
#include "memory.h"
#include "out_of_line.h"
#include "profile.h"
#include "program.h"

#include <string.h>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

typedef struct site {
    const rvm_function *f;
    const rvm_place *places;
    uint32_t nplaces;
    rvm_value *slots, *shadows; /* of the frame; shadows NULL in primal mode */
    rvm__array *arrays;
    uint32_t fn;
    bool like; /* lengths are those of the second place */
} site;

static site site_of(const rvm_machine *m, const rvm__xinsn *x) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    site s = {.f = &m->p->functions[top->fn], .fn = top->fn};
    const rvm_insn *in = &s.f->code[x - m->codes[top->fn].x];
    s.places = rvm__places(s.f, in);
    s.nplaces = in->nplaces;
    s.like = rvm__pair_of(in->op) == RVM_PAIR_like;
    s.slots = m->store.slots + top->slots;
    s.shadows = m->bound.mode == RVM_PRIMAL ? NULL : m->store.shadows + top->slots;
    s.arrays = rvm__arrays_from(m, top->arrays);
    return s;
}

/* An array in the arena:   | magnitude, 16 bytes | elements | shadows, if active | */

static size_t bytes_of(const rvm__array *a) {
    size_t n = sizeof(rvm_value);
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->dim[d];
    return n;
}

static bool array_active(const rvm_machine *m, const site *s) {
    return m->bound.mode != RVM_PRIMAL && rvm__is_active(m->p, &m->bound.activity, s->fn, &s->places[0]);
}

static inline rvm_value *element_at(const rvm__array *a, const rvm_place *q, const rvm_value *slots, bool shadow) {
    const int64_t *stride = shadow ? a->shadow_stride : a->stride;
    char *p = shadow ? a->shadow : a->data;
    for (int d = 0; p && d < q->nidx; d++) {
        const int64_t i = slots[q->idx[d]].i;
        if ((uint64_t)i >= (uint64_t)a->dim[d]) return NULL;
        p += i * stride[d];
    }
    return (rvm_value *)(void *)p;
}

rvm_value *rvm__element_at(const rvm__array *a, const rvm_place *q, const rvm_value *slots, bool shadow) {
    return element_at(a, q, slots, shadow);
}

rvm_value *rvm__element(const rvm__at_frame *f, const rvm__xplace *q, const rvm_value *slots, bool shadow) {
    const rvm_place *place = &f->places[q->i + ((uint32_t)q->j << 16)];
    return element_at(&f->arrays[place->slot], place, slots, shadow);
}

/* The value of new and del: their last place; elements too. Of `like` and `unlike` it is 0. */
static rvm_value *value_of(const site *s, bool shadow) {
    static const rvm_value zero = {.u = 0};
    if (s->like) return (rvm_value *)(uintptr_t)&zero; /* which is not active, so nothing is added to it */
    const rvm_place *q = &s->places[s->nplaces - 1];
    if (q->kind == RVM_PLACE_SLOT) return (shadow ? s->shadows : s->slots) + q->slot;
    return rvm__element_at(&s->arrays[q->slot], q, s->slots, shadow);
}

static bool value_active(const rvm__xinsn *x) {
    return x->active >> 1 & 1;
}

static void fill(char *p, size_t bytes, rvm_value v) {
    if (v.u == 0) {
        memset(p, 0, bytes);
        return;
    }
    rvm_value *e = (rvm_value *)(void *)p;
    for (size_t k = 0; k < bytes / sizeof v; k++) e[k] = v;
}

static rvm_status too_large(rvm_machine *m, const rvm__array *a) {
    int n = snprintf(m->detail, sizeof m->detail, "the length%s", a->ndim > 1 ? "s" : "");
    for (int d = 0; d < a->ndim; d++) /* RVM_MAX_DIMS of them fit */
        n += snprintf(m->detail + n, sizeof m->detail - (size_t)n, "%s %lld", d ? " by" : "", (long long)a->dim[d]);
    snprintf(m->detail + n, sizeof m->detail - (size_t)n, " go%s beyond the addresses of memory", a->ndim > 1 ? "" : "es");
    return RVM_ERR_SHAPE;
}

/* Row-major, from the lengths. */
static rvm_status strides(rvm_machine *m, rvm__array *a) {
    size_t n = sizeof(rvm_value);
    for (int d = a->ndim - 1; d >= 0; d--) {
        a->stride[d] = a->shadow_stride[d] = (int64_t)n;
        if (__builtin_mul_overflow(n, (size_t)a->dim[d], &n) || n > SIZE_MAX / 8) return too_large(m, a);
    }
    return RVM_OK;
}

/* Lengths from their slots into *a, with strides. */
static rvm_status lengths(rvm_machine *m, const site *s, rvm__array *a) {
    for (int d = a->ndim - 1; d >= 0; d--) {
        a->dim[d] = s->like ? s->arrays[s->places[1].slot].dim[d] : s->slots[s->places[1 + d].slot].i;
        if (a->dim[d] >= 0) continue;
        snprintf(m->detail, sizeof m->detail, "length %lld in dimension %d", (long long)a->dim[d], d + 1);
        return RVM_ERR_SHAPE;
    }
    return strides(m, a);
}

/* Forward again after a sweep. */
static bool takes_back(const rvm_machine *m) {
    return m->run.sweeping && m->run.course > 0;
}

/* The shadows that the sweep dropped with the array are there again, and the value loses what it gained. */
static void lose_dropped(rvm_machine *m, const site *s, const rvm__xinsn *x, const rvm__array *a, size_t n) {
    rvm_value *e = (rvm_value *)(void *)a->shadow, *v = value_active(x) ? value_of(s, true) : NULL;
    const bool floating = rvm__is_floating((rvm_type)a->type);
    while (n-- > 0) {
        e[n] = rvm__redo_pop(m);
        if (v) *v = rvm__sum((rvm_type)a->type, *v, floating ? (rvm_value){.f = -e[n].f} : (rvm_value){.u = -e[n].u});
    }
}

static rvm_status keep_dropped(rvm_machine *m, const rvm__array *a, size_t n) {
    const rvm_value *e = (const rvm_value *)(const void *)a->shadow;
    for (size_t k = 0; k < n; k++) {
        rvm_status status = rvm__redo_push(m, e[k]);
        if (!status) continue;
        while (k-- > 0) rvm__redo_pop(m);
        return status;
    }
    return RVM_OK;
}

rvm_status rvm__new(rvm_machine *m, const rvm__xinsn *x) {
    const site s = site_of(m, x);
    const uint16_t slot = s.places[0].slot;
    rvm__array a = {.ndim = s.f->arrays[slot].ndim, .base = slot, .type = s.f->arrays[slot].type, .present = true};
    rvm_status status = lengths(m, &s, &a);
    if (status) return status;
    const rvm_value *v = value_of(&s, false);
    if (!v) return RVM_ERR_INDEX;
    const bool active = array_active(m, &s);
    const size_t bytes = bytes_of(&a);
    char *p = rvm__locals_push(m, RVM__ARRAY_HEADER + bytes * (active ? 2 : 1));
    if (!p) return RVM_ERR_MEMORY;
    a.data = p + RVM__ARRAY_HEADER;
    fill(a.data, bytes, *v);
    if (active) {
        const bool tangent = m->bound.mode == RVM_TANGENT && value_active(x);
        a.shadow = a.data + bytes;
        fill(a.shadow, bytes, tangent ? *value_of(&s, true) : (rvm_value){0});
    }
    if (rvm__is_floating((rvm_type)a.type) && !m->o.unchecked) {
        a.magnitude = (double *)(void *)p;
        *a.magnitude = fabs(v->f);
    }
    if (active && takes_back(m)) lose_dropped(m, &s, x, &a, bytes / sizeof(rvm_value));
    s.arrays[slot] = a;
    if (m->profile) {
        m->profile->shadows += active ? bytes : 0;
        rvm__profile_grown(m);
    }
    return RVM_OK;
}

#ifdef __x86_64__
static inline __m128d distances(const rvm_value *e, __m128d from) {
    return _mm_andnot_pd(_mm_set1_pd(-0.0), _mm_sub_pd(_mm_loadu_pd(&e->f), from));
}
#endif

/* How many of the first are near v, eight at a time, and how far they are; what is not, or is no number, is behind them. */
static size_t many_agree(const rvm_value *e, size_t n, double v, double bound, double *worst) {
    size_t k = 0;
#ifdef __x86_64__
    const __m128d one = _mm_set1_pd(v), most = _mm_set1_pd(bound);
    __m128d far = _mm_setzero_pd();
    for (; k + 8 <= n; k += 8) {
        const __m128d x[4] = {distances(e + k, one), distances(e + k + 2, one), distances(e + k + 4, one),
                              distances(e + k + 6, one)};
        const __m128d some = _mm_and_pd(_mm_cmple_pd(x[0], most), _mm_cmple_pd(x[1], most));
        const __m128d others = _mm_and_pd(_mm_cmple_pd(x[2], most), _mm_cmple_pd(x[3], most));
        if (_mm_movemask_pd(_mm_and_pd(some, others)) != 3) break;
        far = _mm_max_pd(far, _mm_max_pd(_mm_max_pd(x[0], x[1]), _mm_max_pd(x[2], x[3])));
    }
    double each[2];
    _mm_storeu_pd(each, far);
    *worst = fmax(each[0], each[1]);
#endif
    return k;
}

/* Elements against v, within the tolerance of releases, in exact runs bit for bit; the first that disagrees is named in
 * m->detail. */
bool rvm__elements_agree_at(rvm_machine *m, uint32_t fn, const rvm__xinsn *x, const rvm_value *e, size_t n, rvm_value v,
                            const double *held) {
    const rvm_function *f = &m->p->functions[fn];
    const rvm_type type = (rvm_type)f->arrays[rvm__places(f, &f->code[x - m->codes[fn].x])[0].slot].type;
    const bool floating = rvm__is_floating(type), exact = rvm__releases_bits(m, fn, x), bits = !floating || exact;
    const double bound = floating && held ? rvm__allowed(rvm__tolerance_at(m, fn, x), *held) : 0;
    double worst = 0;
    for (size_t k = bits ? 0 : many_agree(e, n, v.f, bound, &worst); k < n; k++) {
        if (bits ? e[k].i == v.i : e[k].f == v.f) continue;
        if (floating && exact && rvm__exact_same(e[k].f, v.f)) continue;
        const double residue = bits ? INFINITY : fabs(e[k].f - v.f);
        if (residue <= bound) {
            worst = fmax(worst, residue);
            continue;
        }
        if (!bits && rvm__is_lost(m, fn, e[k].f, held ? *held : 0)) continue;
        if (floating)
            snprintf(m->detail, sizeof m->detail, "element %zu is %.17g, must be %.17g", k, e[k].f, v.f);
        else if (type == RVM_FIX)
            snprintf(m->detail, sizeof m->detail, "element %zu is %.17g, must be %.17g", k, rvm__fix_real(e[k].i),
                     rvm__fix_real(v.i));
        else
            snprintf(m->detail, sizeof m->detail, "element %zu is %lld, must be %lld", k, (long long)e[k].i, (long long)v.i);
        return false;
    }
    rvm__note_residue_at(m, fn, x, worst);
    return true;
}

static bool tangents_agree(const rvm_machine *m, const rvm__xinsn *x, const rvm__array *a, rvm_value v_d, size_t n) {
    const rvm_value *e = (const rvm_value *)(const void *)a->shadow;
    const double held = a->magnitude ? *a->magnitude : 0;
    for (size_t k = 0; k < n; k++)
        if (e[k].u != v_d.u && !rvm__tangent_within(m, x, &e[k], v_d, held)) return false;
    return true;
}

/* Adjoint of `new`: the value gains the shadows that are dropped. */
static void gain_dropped(rvm_machine *m, const site *s, const rvm__xinsn *x, const rvm__array *a, size_t n) {
    const rvm_value *e = (const rvm_value *)(const void *)a->shadow;
    rvm_value *v = value_active(x) ? value_of(s, true) : NULL;
    for (size_t k = 0; k < n; k++) {
        if (v) *v = rvm__sum((rvm_type)a->type, *v, e[k]);
        m->stats.shadows_dropped += 1;
    }
}

rvm_status rvm__del(rvm_machine *m, const rvm__xinsn *x) {
    const site s = site_of(m, x);
    rvm__array *a = &s.arrays[s.places[0].slot];
    rvm__array now = {.ndim = a->ndim};
    m->detail[0] = 0;
    rvm_status status = lengths(m, &s, &now);
    if (status) return status;
    const rvm_value *v = value_of(&s, false);
    if (!v) return RVM_ERR_INDEX;
    for (int d = 0; d < a->ndim; d++)
        if (now.dim[d] != a->dim[d]) {
            snprintf(m->detail, sizeof m->detail, "length %lld in dimension %d is now %lld", (long long)a->dim[d], d + 1,
                     (long long)now.dim[d]);
            return RVM_ERR_RELEASE;
        }
    const size_t bytes = bytes_of(a), n = bytes / sizeof(rvm_value);
    if (!(x->flags & X_UNCHECKED) &&
        !rvm__elements_agree_at(m, s.fn, x, (const rvm_value *)(const void *)a->data, n, *v, a->magnitude))
        return RVM_ERR_RELEASE;
    if (a->shadow && m->bound.mode == RVM_TANGENT && !(x->flags & X_UNCHECKED) &&
        !tangents_agree(m, x, a, value_active(x) ? *value_of(&s, true) : (rvm_value){0}, n))
        return RVM_ERR_TANGENT;
    if (a->shadow && m->run.sweeping && !takes_back(m)) {
        if ((status = keep_dropped(m, a, n))) return status;
        gain_dropped(m, &s, x, a, n);
    }
    if (a->outside)
        m->store.outside_arrays--;
    else
        rvm__locals_pop(m, RVM__ARRAY_HEADER + bytes * (a->shadow ? 2 : 1));
    if (m->profile && a->shadow) m->profile->shadows -= bytes;
    a->present = false;
    return RVM_OK;
}

/* The part of V that the specifications name. */
static rvm_status part_of(rvm_machine *m, const site *s, rvm__array *part) {
    const rvm__array *whole = &s->arrays[s->places[1].slot];
    *part = *whole;
    part->ndim = 0;
    for (int d = 0; d < whole->ndim; d++) {
        int64_t lo = 0, length = whole->dim[d];
        bool kept = true;
        if (2 + (uint32_t)d < s->nplaces) {
            const rvm_place *q = &s->places[2 + d];
            const int64_t hi = s->slots[q->kind == RVM_PLACE_RANGE ? q->idx[0] : q->slot].i;
            lo = s->slots[q->slot].i;
            kept = q->kind == RVM_PLACE_RANGE;
            if (lo < 0 || hi > length || lo > hi || (!kept && lo >= length)) {
                if (kept)
                    snprintf(m->detail, sizeof m->detail, "range %lld..%lld", (long long)lo, (long long)hi);
                else
                    snprintf(m->detail, sizeof m->detail, "index %lld", (long long)lo);
                const size_t n = strlen(m->detail);
                snprintf(m->detail + n, sizeof m->detail - n, " of a dimension of length %lld", (long long)length);
                return RVM_ERR_INDEX;
            }
            length = hi - lo;
        }
        part->data += lo * whole->stride[d];
        if (part->shadow) part->shadow += lo * whole->shadow_stride[d];
        if (!kept) continue;
        part->dim[part->ndim] = length;
        part->stride[part->ndim] = whole->stride[d];
        part->shadow_stride[part->ndim++] = whole->shadow_stride[d];
    }
    return RVM_OK;
}

rvm_status rvm__view(rvm_machine *m, const rvm__xinsn *x) {
    const site s = site_of(m, x);
    rvm__array *part = &s.arrays[s.places[0].slot]; /* made in place: a copy would wait for its stores */
    m->detail[0] = 0;
    const rvm_status status = part_of(m, &s, part);
    part->present = !status;
    return status;
}

static bool same_lengths(const rvm__array *a, const rvm__array *b) {
    for (int d = 0; d < b->ndim; d++)
        if (a->dim[d] != b->dim[d]) return false;
    return true;
}

rvm_status rvm__unview(rvm_machine *m, const rvm__xinsn *x) {
    const site s = site_of(m, x);
    rvm__array *a = &s.arrays[s.places[0].slot], part;
    m->detail[0] = 0;
    rvm_status status = part_of(m, &s, &part);
    if (status) return status;
    if (part.data != a->data || !same_lengths(&part, a)) return RVM_ERR_ALIAS;
    a->present = false;
    return RVM_OK;
}

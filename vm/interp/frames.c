/* frames.c: calls. Arguments are written into the callee's frame, above the caller's, before anything changes; so a call
 * that is refused has changed nothing.
 *
 * Scalars are copied in, and out again where the callee may have changed them. Where accumulating scalars share a place,
 * each later one enters as 0 and is added on return (semantics.md, section 6); likewise the shadows of read ones in a sweep.
 * In runs that restore every bit, the return records what was there and what was added; going back, both are there again
 * when the callee is entered, and nothing is added when it has taken them back.
 */
#include "hessian.h"
#include "memory.h"
#include "native.h"
#include "out_of_line.h"
#include "overlap.h"
#include "profile.h"
#include "builder.h"

#include <string.h>

typedef struct transfer {
    rvm_machine *m;
    const rvm_program *p;
    const rvm_function *caller, *callee;
    const rvm_place *args;
    const rvm_param *types; /* what the call says of them: the callee's parameters, or those of a function value's type */
    const rvm__frame *from; /* the caller's */
    size_t slots, arrays;   /* of the callee */
    uint32_t callee_fn, caller_fn;
    bool shadows; /* copy shadows: tangent mode, or a sweep */
    bool shared;  /* arguments may overlap */
} transfer;

static transfer transfer_of(rvm_machine *m, uint32_t frame, const rvm_insn *in, uint32_t callee, uint8_t flags) {
    transfer t = {.m = m, .p = m->p, .from = &m->store.frames[frame], .shared = flags & X_ALIAS};
    const rvm_callee g =
        flags & X_BY_VALUE ? rvm__callee_of(m->p, in) : (rvm_callee){.params = m->p->functions[callee].params};
    t.caller_fn = t.from->fn;
    t.caller = &m->p->functions[t.caller_fn];
    t.args = rvm__places(t.caller, in) + g.first;
    t.types = g.params;
    t.callee_fn = callee;
    t.callee = &m->p->functions[callee];
    t.slots = t.from->slots + m->codes[t.caller_fn].slots;
    t.arrays = t.from->arrays + t.caller->narrays;
    t.shadows = m->bound.mode == RVM_TANGENT || m->run.sweeping;
    return t;
}

/* The caller's element or slot; NULL where an index is out of bounds. */
static rvm_value *scalar_place(const transfer *t, const rvm_place *q, bool shadow) {
    const rvm_machine *m = t->m;
    rvm_value *slots = m->store.slots + t->from->slots;
    if (q->kind == RVM_PLACE_SLOT) return (shadow ? m->store.shadows + t->from->slots : slots) + q->slot;
    return rvm__element_at(&m->store.arrays[t->from->arrays + q->slot], q, slots, shadow);
}

/* The same for the Hessian that a sweep carries; 0 where the place has no shadow. */
static rvm__key key_of(const transfer *t, const rvm_place *q) {
    if (!rvm__is_active(t->m->p, &t->m->bound.activity, t->caller_fn, q)) return 0;
    return q->kind == RVM_PLACE_SLOT ? rvm__slot_key(t->from->slots + q->slot) : rvm__element_key(scalar_place(t, q, true));
}

static bool place_active(const transfer *t, const rvm_place *q) {
    return rvm__is_active(t->m->p, &t->m->bound.activity, t->caller_fn, q);
}

/* Memory that an argument covers, or its shadow; false for an index out of bounds or nothing. */
static bool extent_of(const transfer *t, const rvm_place *q, bool shadow, rvm__extent *e) {
    if (shadow && !place_active(t, q)) return false;
    if (q->kind != RVM_PLACE_ARRAY) {
        *e = (rvm__extent){.data = (const char *)scalar_place(t, q, shadow)};
        return e->data != NULL;
    }
    const rvm__array *a = &t->m->store.arrays[t->from->arrays + q->slot];
    if (!rvm__array_extent(a, e)) return false;
    if (!shadow) return true;
    e->data = a->shadow;
    memcpy(e->stride, a->shadow_stride, sizeof e->stride);
    return e->data != NULL;
}

static bool arguments_overlap(const transfer *t, uint32_t i, uint32_t k, bool shadows) {
    rvm__extent a, b;
    return extent_of(t, &t->args[i], shadows, &a) && extent_of(t, &t->args[k], shadows, &b) && rvm__overlap(&a, &b);
}

/* Whether scalar argument k shares its place with an earlier scalar, or with any array, which is not copied; shadows: or its
 * shadow's. What nothing is done with shares none. */
static bool shares(const transfer *t, uint32_t k, bool shadows) {
    const rvm_param *params = t->callee->params;
    for (uint32_t i = 0; t->shared && !params[k].untouched && i < t->callee->nparams; i++) {
        if (params[i].untouched || !(i < k || (i > k && t->args[i].kind == RVM_PLACE_ARRAY))) continue;
        if (arguments_overlap(t, i, k, false) || (shadows && arguments_overlap(t, i, k, true))) return true;
    }
    return false;
}

static rvm_status check_overlap(const transfer *t) {
    for (uint32_t k = 1; t->shared && k < t->callee->nparams; k++)
        for (uint32_t i = 0; i < k; i++) {
            if (rvm__may_share(&t->types[i], &t->types[k])) continue;
            if (!arguments_overlap(t, i, k, false)) continue;
            snprintf(t->m->detail, sizeof t->m->detail, "arguments %u and %u of %s", i + 1, k + 1, t->callee->name);
            return RVM_ERR_ALIAS;
        }
    return RVM_OK;
}

/* Lengths: a register not yet set takes the length, anything else must equal it. */
static rvm_status bind_lengths(const transfer *t, const rvm_param *param, const rvm__array *a) {
    rvm_value *slots = t->m->store.slots + t->slots;
    for (int d = 0; d < param->ndim; d++) {
        rvm_value *length = &slots[param->dim[d]];
        if (length->i < 0) length->i = a->dim[d];
        if (length->i == a->dim[d]) continue;
        snprintf(t->m->detail, sizeof t->m->detail, "dimension %d of argument `%s` of %s is %lld, must be %lld", d + 1,
                 param->name, t->callee->name, (long long)a->dim[d], (long long)length->i);
        return RVM_ERR_SHAPE;
    }
    return RVM_OK;
}

static void begin_lengths(const transfer *t) {
    for (uint32_t k = 0; k < t->callee->nparams; k++)
        for (int d = 0; d < t->callee->params[k].ndim; d++) {
            const uint16_t slot = t->callee->params[k].dim[d];
            if (slot < t->callee->nregs) t->m->store.slots[t->slots + slot].i = -1;
        }
}

static rvm_status pass_array(const transfer *t, const rvm_param *param, const rvm_place *q) {
    rvm__array *to = &t->m->store.arrays[t->arrays + param->index];
    *to = t->m->store.arrays[t->from->arrays + q->slot];
    to->base = param->index;
    return bind_lengths(t, param, to);
}

/* An accumulating scalar whose place an argument before it has. */
static bool enters_as_zero(const transfer *t, uint32_t k) {
    return t->callee->params[k].role == RVM_ACC && shares(t, k, false);
}

static rvm_status pass_scalar(const transfer *t, uint32_t k) {
    const rvm_param *param = &t->callee->params[k];
    const rvm_place *q = &t->args[k];
    const rvm_value *v = scalar_place(t, q, false);
    if (!v) return RVM_ERR_INDEX;
    t->m->store.slots[t->slots + param->index] = enters_as_zero(t, k) ? (rvm_value){0} : *v;
    if (t->m->store.magnitudes) t->m->store.magnitudes[t->slots + param->index] = fabs(v->f); /* of a floating one */
    if (!t->shadows) return RVM_OK;
    const bool gathers = t->m->bound.mode == RVM_TANGENT ? param->role == RVM_ACC : param->role == RVM_READ;
    rvm_value *shadow = &t->m->store.shadows[t->slots + param->index];
    *shadow = place_active(t, q) && !(gathers && shares(t, k, true)) ? *scalar_place(t, q, true) : (rvm_value){0};
    return RVM_OK;
}

/* ---- sums of accumulating scalars, in runs that restore every bit ---- */

static unsigned level_of(const transfer *t, uint32_t k) {
    const bool shadows = rvm__is_swept(t->p, &t->m->swept, t->callee_fn, false, t->callee->params[k].index);
    return shadows ? RVM__OF_SHADOWS : RVM__OF_VALUES;
}

static bool sums_exactly(const transfer *t, uint32_t k) {
    const rvm_param *param = &t->callee->params[k];
    if (!t->m->o.exact || param->ndim || param->role != RVM_ACC || !rvm__is_floating((rvm_type)param->type)) return false;
    return shares(t, k, false) && (level_of(t, k) == RVM__OF_VALUES || !t->m->exact.values_only);
}

/* What arguments before k, from behind, have given back is added again. */
static void put_sums_back(const transfer *t, uint32_t k) {
    for (; k < t->callee->nparams; k++) {
        rvm_value *place = sums_exactly(t, k) ? scalar_place(t, &t->args[k], false) : NULL;
        const rvm_param *param = &t->callee->params[k];
        if (place) *place = rvm__sum((rvm_type)param->type, *place, t->m->store.slots[t->slots + param->index]);
    }
}

/* An adjoint takes back what its function's return recorded, which is not beneath what the call records then. */
static bool takes_sums_back(const transfer *t, const rvm_insn *in) {
    for (uint32_t k = 0; in->flags & RVM_FLAG_SWEPT && k < t->callee->nparams; k++)
        if (sums_exactly(t, k) && level_of(t, k) == RVM__OF_VALUES) return true;
    return false;
}

static bool refuses(const transfer *t, const rvm_insn *in, int direction) {
    const bool enters = rvm__exact_enters(t->m, t->callee_fn, t->m->exact.restoring, in->flags, direction);
    return !enters || takes_sums_back(t, in);
}

/* The callee is entered from behind, to be taken back: what was added when it returned. */
static rvm_status take_sums(const transfer *t) {
    rvm_machine *m = t->m;
    const rvm__exact_mark before = rvm__exact_held(m);
    rvm_status status = RVM_OK;
    if (!m->o.exact || !t->shared || !m->exact.restoring) return RVM_OK;
    for (uint32_t k = t->callee->nparams; k-- > 0 && !status;) {
        const rvm_param *param = &t->callee->params[k];
        rvm_value *place = scalar_place(t, &t->args[k], false), *v = &m->store.slots[t->slots + param->index];
        if (!sums_exactly(t, k)) continue;
        m->exact.level = level_of(t, k);
        status = rvm__exact_take_raw(m, &v->f);
        if (!status) status = rvm__exact_take(m, (rvm_type)param->type, RVM__EXACT_ADD, place->f, v->f, &place->f);
        m->exact.level = RVM__OF_VALUES;
        if (status) put_sums_back(t, k + 1);
    }
    if (status) {
        rvm__exact_rewind(m, &before);
        return status;
    }
    rvm__exact_trim(m);
    for (uint32_t k = 0; k < t->callee->nparams; k++) { /* the first of those that share has what the others left */
        const rvm_param *param = &t->callee->params[k];
        if (!param->ndim && !enters_as_zero(t, k))
            m->store.slots[t->slots + param->index] = *scalar_place(t, &t->args[k], false);
    }
    return RVM_OK;
}

static bool reserve_sums(const transfer *t) {
    if (!t->shared || !t->m->o.exact) return true;
    return rvm__exact_reserve(t->m, t->callee->nparams * (64 + (size_t)RVM__EXACT_MOST));
}

/* v is added to what the place holds. */
static void add_exactly(rvm_machine *m, unsigned level, rvm_value *place, rvm_value v, rvm_type type) {
    if (m->exact.restoring) return;
    const rvm_value sum = rvm__sum(type, *place, v);
    m->exact.level = level;
    rvm__exact_keep(m, type, RVM__EXACT_ADD, place->f, v.f, sum.f);
    rvm__exact_keep_raw(m, v.f);
    m->exact.level = RVM__OF_VALUES;
    m->exact.updates++;
    *place = sum;
}

/* ---- calls ---- */

/* The Hessian of a sweep goes along, copies first: they are taken from the place's row, which is then the first one's. */
static rvm_status pass_rows(const transfer *t) {
    for (int copies = 1; copies >= 0; copies--)
        for (uint32_t k = 0; k < t->callee->nparams; k++) {
            const rvm_param *param = &t->callee->params[k];
            if (param->ndim || param->untouched || shares(t, k, true) != copies) continue;
            if (!rvm__hessian_pass(t->m, key_of(t, &t->args[k]), t->slots + param->index, copies, (rvm_role)param->role))
                return RVM_ERR_MEMORY;
        }
    return RVM_OK;
}

static rvm_status return_rows(const transfer *t) {
    for (uint32_t k = 0; k < t->callee->nparams; k++) {
        const rvm_param *param = &t->callee->params[k];
        if (param->ndim || param->untouched) continue;
        const bool again = shares(t, k, true);
        if (!rvm__hessian_return(t->m, key_of(t, &t->args[k]), t->slots + param->index, again, (rvm_role)param->role))
            return RVM_ERR_MEMORY;
    }
    return RVM_OK;
}

/* The function that the instruction calls: by the inline cache of its variant where that has the function value. */
static rvm_status find_callee(rvm_machine *m, const rvm_insn *in, uint8_t flags, uint32_t *callee) {
    *callee = in->target;
    if (!(flags & X_BY_VALUE)) return RVM_OK;
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const int64_t value = m->store.slots[top->slots + rvm__places(&m->p->functions[top->fn], in)->slot].i;
    rvm__inline_cache *cache = &m->store.inline_caches[in->target];
    if (!cache->any || cache->value != value) {
        const int64_t found = rvm__variant_callee(m->p, in->target, value);
        if (found < 0) return RVM_ERR_FUNCTION;
        *cache = (rvm__inline_cache){value, (uint32_t)found, true};
    }
    *callee = cache->callee;
    return RVM_OK;
}

rvm_status rvm__enter(rvm_machine *m, const rvm__xinsn *x, int direction) {
    const uint32_t frame = m->store.nframes - 1, fn = m->store.frames[frame].fn, pc = (uint32_t)(x - m->codes[fn].x);
    const rvm_insn *in = &m->p->functions[fn].code[pc];
    const char *shown;
    uint32_t callee;
    rvm_status status = find_callee(m, in, x->flags, &callee);
    m->detail[0] = 0;
    if (status) return status;
    if (m->store.nframes >= m->o.depth) return RVM_ERR_DEPTH;
    size_t cap = m->store.cap_frames;
    if (!rvm__reserve(m, (void **)&m->store.frames, &cap, (size_t)m->store.nframes + 1, sizeof *m->store.frames))
        return RVM_ERR_MEMORY;
    m->store.cap_frames = (uint32_t)cap;
    transfer t = transfer_of(m, frame, in, callee, x->flags);
    const rvm__code *code = &m->codes[t.callee_fn];
    if (!rvm__reserve_frame(m, t.slots + code->slots, t.arrays + t.callee->narrays)) return RVM_ERR_MEMORY;
    if (t.callee->nconsts)
        memcpy(m->store.slots + t.slots + t.callee->nregs, t.callee->consts, t.callee->nconsts * sizeof(rvm_value));
    begin_lengths(&t);
    for (uint32_t k = 0; k < t.callee->nparams && !status; k++)
        status = t.callee->params[k].ndim ? pass_array(&t, &t.callee->params[k], &t.args[k]) : pass_scalar(&t, k);
    if (!status) status = check_overlap(&t);
    if (!status && m->hessian && t.shadows) status = pass_rows(&t);
    rvm__path_edge *path = NULL;
    if (!status && m->profile && !(path = rvm__profile_call(m, pc, callee))) status = RVM_ERR_MEMORY;
    if (!status && m->o.exact && refuses(&t, in, direction)) status = RVM_ERR_UNSUPPORTED;
    if (!status) status = take_sums(&t);
    if (status) return status;
    if (x->flags & X_OTHERWISE) m->exact.restoring = !m->exact.restoring;
    m->store.frames[m->store.nframes++] =
        (rvm__frame){t.callee_fn, pc, t.slots, t.arrays, direction != m->run.dir, false, path ? path->to : 0};
    m->run.dir = direction;
    m->run.pc = direction > 0 ? code->x + 1 : code->x + t.callee->ncode - 2;
    m->stats.calls++;
    if (path) path->calls++, rvm__profile_grown(m);
    if (m->store.nframes > m->stats.depth_peak) m->stats.depth_peak = m->store.nframes;
    if (m->o.print && m->p->nprints && (shown = rvm__print_text(m->p, callee))) rvm__print(m, shown);
    return m->jit.engine && m->jit.engine->hot[callee] ? rvm__native_call(m) : RVM_OK;
}

/* A scalar goes back to its place: replaces it, or is added where it entered as 0. */
static void give_back(rvm_value *place, rvm_value v, rvm_type type, bool add) {
    *place = add ? rvm__sum(type, *place, v) : v;
}

static void return_scalar(const transfer *t, uint32_t k) {
    const rvm_param *param = &t->callee->params[k];
    const rvm_place *q = &t->args[k];
    const bool again = t->shadows && shares(t, k, true);
    rvm_value *shadow = t->shadows ? &t->m->store.shadows[t->slots + param->index] : NULL;
    if (param->role != RVM_READ) {
        const rvm_value v = t->m->store.slots[t->slots + param->index];
        if (sums_exactly(t, k))
            add_exactly(t->m, level_of(t, k), scalar_place(t, q, false), v, (rvm_type)param->type);
        else
            give_back(scalar_place(t, q, false), v, (rvm_type)param->type, enters_as_zero(t, k));
        if (rvm__is_floating((rvm_type)param->type) && q->kind == RVM_PLACE_SLOT && t->m->store.magnitudes) {
            double *held = &t->m->store.magnitudes[t->from->slots + q->slot];
            *held = fmax(*held, fmax(fabs(v.f), t->m->store.magnitudes[t->slots + param->index]));
        }
    }
    if (!shadow) return;
    const rvm_role same = t->m->bound.mode == RVM_TANGENT ? RVM_READ : RVM_ACC;
    if (param->role != same && !param->untouched && place_active(t, q))
        give_back(scalar_place(t, q, true), *shadow, (rvm_type)param->type, again && param->role != RVM_OWN);
    shadow->i = 0;
}

rvm_status rvm__return(rvm_machine *m) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    if (m->store.nframes == 1) {
        m->run.where = m->run.dir > 0 ? AT_END : AT_START;
        return RVM_OK;
    }
    const rvm__frame *below = top - 1;
    rvm__xinsn *call = m->codes[below->fn].x + top->call_pc;
    const rvm_insn *in = &m->p->functions[below->fn].code[top->call_pc];
    transfer t = transfer_of(m, m->store.nframes - 2, in, top->fn, call->flags);
    for (uint32_t k = 0; k < t.callee->nparams; k++)
        if (!t.callee->params[k].ndim && !scalar_place(&t, &t.args[k], false)) return RVM_ERR_INDEX;
    if (!reserve_sums(&t)) return RVM_ERR_MEMORY;
    for (uint32_t k = 0; k < t.callee->nparams; k++)
        if (!t.callee->params[k].ndim) return_scalar(&t, k);
    if (m->hessian && t.shadows && return_rows(&t)) return RVM_ERR_MEMORY;
    /* Shadows of constants gain too, so that handlers need not ask; the next frame here must not find that. */
    if (t.shadows) memset(m->store.shadows + t.slots + t.callee->nregs, 0, t.callee->nconsts * sizeof(rvm_value));
    if (call->flags & X_OTHERWISE) m->exact.restoring = !m->exact.restoring;
    if (top->against) m->run.dir = -m->run.dir;
    m->run.pc = call + m->run.dir;
    m->store.nframes--;
    if (top->looks) rvm__safepoint_soon(m);
    return RVM_OK;
}

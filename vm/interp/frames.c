/* frames.c: calls. Arguments are written into the callee's frame, above the caller's, before anything changes; so a call
 * that is refused has changed nothing.
 *
 * Scalars are copied in, and out again where the callee may have changed them. Where accumulating scalars share a place,
 * each later one enters as 0 and is added on return (semantics.md, section 6); likewise the shadows of read ones in a sweep.
 * In runs that restore every bit, the return records what was there and what was added; going back, both are there again
 * when the callee is entered, and nothing is added when it has taken them back.
 */
#include "transfer.h"
#include "hessian.h"
#include "memory.h"
#include "native.h"
#include "overlap.h"
#include "profile.h"
#include "builder.h"

#include <string.h>

/* An argument's place for the Hessian that a sweep carries; 0 where the place has no shadow. */
static rvm__key key_of(const rvm__transfer *t, const rvm_place *q) {
    if (!rvm__is_active(t->m->p, &t->m->bound.activity, t->caller_fn, q)) return 0;
    return q->kind == RVM_PLACE_SLOT ? rvm__slot_key(t->from->slots + q->slot)
                                     : rvm__element_key(rvm__scalar_place(t, q, true));
}

/* Whether scalar argument k shares its place with an earlier scalar, or with any array, which is not copied; shadows: or its
 * shadow's. What nothing is done with shares none. */
static bool shares(const rvm__transfer *t, uint32_t k, bool shadows) {
    const rvm_param *params = t->callee->params;
    for (uint32_t i = 0; t->shared && !params[k].untouched && i < t->callee->nparams; i++) {
        if (params[i].untouched || !(i < k || (i > k && t->args[i].kind == RVM_PLACE_ARRAY))) continue;
        if (rvm__arguments_overlap(t, i, k, false) || (shadows && rvm__arguments_overlap(t, i, k, true))) return true;
    }
    return false;
}

static rvm_status pass_array(const rvm__transfer *t, const rvm_param *param, const rvm_place *q) {
    rvm__array *to = &t->m->store.arrays[t->arrays + param->index];
    *to = t->m->store.arrays[t->from->arrays + q->slot];
    to->base = param->index;
    return rvm__bind_lengths(t, param, to);
}

/* An accumulating scalar whose place an argument before it has. */
static bool enters_as_zero(const rvm__transfer *t, uint32_t k) {
    return t->callee->params[k].role == RVM_ACC && shares(t, k, false);
}

static rvm_status pass_scalar(const rvm__transfer *t, uint32_t k) {
    const rvm_param *param = &t->callee->params[k];
    const rvm_place *q = &t->args[k];
    const rvm_value *v = rvm__scalar_place(t, q, false);
    if (!v) return RVM_ERR_INDEX;
    t->m->store.slots[t->slots + param->index] = enters_as_zero(t, k) ? (rvm_value){0} : *v;
    if (t->m->store.magnitudes) t->m->store.magnitudes[t->slots + param->index] = fabs(v->f); /* of a floating one */
    if (!t->shadows) return RVM_OK;
    const bool gathers = t->m->bound.mode == RVM_TANGENT ? param->role == RVM_ACC : param->role == RVM_READ;
    rvm_value *shadow = &t->m->store.shadows[t->slots + param->index];
    *shadow = rvm__place_active(t, q) && !(gathers && shares(t, k, true)) ? *rvm__scalar_place(t, q, true) : (rvm_value){0};
    return RVM_OK;
}

/* ---- sums of accumulating scalars, in runs that restore every bit ---- */

static unsigned level_of(const rvm__transfer *t, uint32_t k) {
    const bool shadows = rvm__is_swept(t->p, &t->m->swept, t->callee_fn, false, t->callee->params[k].index);
    return shadows ? RVM__OF_SHADOWS : RVM__OF_VALUES;
}

static bool sums_exactly(const rvm__transfer *t, uint32_t k) {
    const rvm_param *param = &t->callee->params[k];
    if (!t->m->o.exact || param->ndim || param->role != RVM_ACC || !rvm__is_floating((rvm_type)param->type)) return false;
    return shares(t, k, false) && (level_of(t, k) == RVM__OF_VALUES || !t->m->exact.values_only);
}

/* Its tangent is recorded with it, in a compute part (exact_handlers.c): where that is; else NULL. */
static rvm_value *tangent_summed(const rvm__transfer *t, uint32_t k) {
    const bool inside = t->shadows && t->m->bound.mode == RVM_TANGENT && rvm__exact_depth(t->m) && sums_exactly(t, k);
    return inside && rvm__place_active(t, &t->args[k]) ? rvm__scalar_place(t, &t->args[k], true) : NULL;
}

/* What arguments before k, from behind, have given back is added again. */
static void put_sums_back(const rvm__transfer *t, uint32_t k) {
    for (; k < t->callee->nparams; k++) {
        rvm_value *place = sums_exactly(t, k) ? rvm__scalar_place(t, &t->args[k], false) : NULL;
        rvm_value *tangent = tangent_summed(t, k);
        const rvm_param *param = &t->callee->params[k];
        if (place) *place = rvm__sum((rvm_type)param->type, *place, t->m->store.slots[t->slots + param->index]);
        if (tangent) *tangent = rvm__sum((rvm_type)param->type, *tangent, t->m->store.shadows[t->slots + param->index]);
    }
}

/* An adjoint takes back what its function's return recorded, which is not beneath what the call records then. */
static bool takes_sums_back(const rvm__transfer *t) {
    for (uint32_t k = 0; t->in->flags & RVM_FLAG_SWEPT && k < t->callee->nparams; k++)
        if (sums_exactly(t, k) && level_of(t, k) == RVM__OF_VALUES) return true;
    return false;
}

static rvm_status refuse(const rvm__transfer *t, int direction) {
    const char *why = rvm__exact_against(t->m, t->callee_fn, t->m->exact.restoring, t->in->flags, direction);
    if (!why && takes_sums_back(t)) why = "it adds together what overlaps";
    return why ? rvm__exact_refuse(t->m, why) : RVM_OK;
}

/* The callee is entered from behind, to be taken back: what was added when it returned. */
static rvm_status take_sums(const rvm__transfer *t) {
    rvm_machine *m = t->m;
    const rvm__exact_mark before = rvm__exact_held(m);
    rvm_status status = RVM_OK;
    if (!m->o.exact || !t->shared || !m->exact.restoring) return RVM_OK;
    for (uint32_t k = t->callee->nparams; k-- > 0 && !status;) {
        const rvm_param *param = &t->callee->params[k];
        rvm_value *place = rvm__scalar_place(t, &t->args[k], false), *v = &m->store.slots[t->slots + param->index];
        if (!sums_exactly(t, k)) continue;
        rvm_value *tangent = tangent_summed(t, k), *d = m->store.shadows + t->slots + param->index;
        m->exact.level = level_of(t, k);
        if (tangent) status = rvm__exact_take_raw(m, &d->f);
        if (tangent && !status) status = rvm__exact_take_raw(m, &tangent->f);
        if (!status) status = rvm__exact_take_raw(m, &v->f);
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
        if (param->ndim || enters_as_zero(t, k)) continue;
        m->store.slots[t->slots + param->index] = *rvm__scalar_place(t, &t->args[k], false);
        if (t->shadows && m->bound.mode == RVM_TANGENT && rvm__place_active(t, &t->args[k]) && !shares(t, k, true))
            m->store.shadows[t->slots + param->index] = *rvm__scalar_place(t, &t->args[k], true);
    }
    return RVM_OK;
}

static bool reserve_sums(const rvm__transfer *t) {
    if (!t->shared || !t->m->o.exact) return true;
    return rvm__exact_reserve(t->m, 2 * t->callee->nparams * (64 + (size_t)RVM__EXACT_MOST));
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

/* As exact_handlers.c has it, whole. */
static void add_tangent(rvm_machine *m, unsigned level, rvm_value *place, rvm_value v, rvm_type type) {
    if (m->exact.restoring) return;
    m->exact.level = level;
    rvm__exact_keep_raw(m, place->f);
    rvm__exact_keep_raw(m, v.f);
    m->exact.level = RVM__OF_VALUES;
    *place = rvm__sum(type, *place, v);
}

/* ---- what a compute part borrows, in a sweep: the shadow of a scalar that the callee only adds to, which does not come
 * back from there, is set aside around the call (borrow.c) ---- */

static int level_of_sweep(const rvm_machine *m) {
    return m->run.course > 0 ? 3 : 1;
}

static rvm_value *borrowed_shadow(const rvm__transfer *t, uint32_t k) {
    const rvm_param *param = &t->callee->params[k];
    const bool by_value = t->types != t->callee->params;
    const rvm_role role = (rvm_role)t->types[k].role;
    if (param->ndim || !rvm__is_floating((rvm_type)param->type)) return NULL;
    if (by_value ? role == RVM_READ : role != RVM_ACC || param->untouched) return NULL;
    return rvm__place_active(t, &t->args[k]) ? rvm__scalar_place(t, &t->args[k], true) : NULL;
}

static void copy_borrowed(const rvm__transfer *t) {
    for (uint32_t k = 0; k < t->callee->nparams; k++) {
        const rvm_value *shadow = borrowed_shadow(t, k);
        if (shadow) t->m->store.shadows[t->slots + t->callee->params[k].index] = *shadow;
    }
}

static bool borrows(const rvm__transfer *t) {
    return t->shadows && t->m->exact.borrowing;
}

static rvm_value with(const rvm__transfer *t, uint32_t k, rvm_value v, rvm_value s) {
    return t->m->exact.borrowing == RVM__SETS_ASIDE ? s : rvm__sum((rvm_type)t->callee->params[k].type, v, s);
}

static bool sets_aside(const rvm__transfer *t) {
    return borrows(t) && rvm__borrowed_records(t->m, level_of_sweep(t->m));
}

/* Of the first n arguments; the call is refused. */
static void cancel_aside(const rvm__transfer *t, uint32_t n) {
    while (sets_aside(t) && n-- > 0) {
        rvm_value *shadow = borrowed_shadow(t, n), s[2];
        if (!shadow) continue;
        s[1] = *shadow;
        rvm__borrowed_cancel(t->m, level_of_sweep(t->m), 1, s);
        *shadow = with(t, n, *shadow, s[0]);
    }
}

/* MEMORY, with nothing changed. */
static rvm_status set_aside(const rvm__transfer *t) {
    if (!sets_aside(t)) return RVM_OK;
    for (uint32_t k = 0; k < t->callee->nparams; k++) {
        rvm_value *shadow = borrowed_shadow(t, k), s[2] = {{0}};
        if (!shadow) continue;
        s[0] = *shadow;
        const rvm_status status = rvm__borrowed_begin(t->m, level_of_sweep(t->m), 1, s);
        if (status) return cancel_aside(t, k), status;
        *shadow = s[1]; /* of a sweep 0 */
    }
    copy_borrowed(t);
    return RVM_OK;
}

static rvm_status add_again(const rvm__transfer *t) {
    const int level = level_of_sweep(t->m);
    if (!borrows(t) || rvm__borrowed_records(t->m, level)) return RVM_OK;
    for (uint32_t k = t->callee->nparams; k-- > 0;) {
        rvm_value *shadow = borrowed_shadow(t, k), s[2];
        if (!shadow) continue;
        s[1] = *shadow;
        const rvm_status status = rvm__borrowed_begin(t->m, level, 1, s);
        if (status) return status;
        *shadow = with(t, k, *shadow, s[0]);
    }
    return RVM_OK;
}

/* ---- calls ---- */

/* The Hessian of a sweep goes along, copies first: they are taken from the place's row, which is then the first one's. */
static rvm_status pass_rows(const rvm__transfer *t) {
    for (int copies = 1; copies >= 0; copies--)
        for (uint32_t k = 0; k < t->callee->nparams; k++) {
            const rvm_param *param = &t->callee->params[k];
            if (param->ndim || param->untouched || shares(t, k, true) != copies) continue;
            if (!rvm__hessian_pass(t->m, key_of(t, &t->args[k]), t->slots + param->index, copies, (rvm_role)param->role))
                return RVM_ERR_MEMORY;
        }
    return RVM_OK;
}

static rvm_status return_rows(const rvm__transfer *t) {
    for (uint32_t k = 0; k < t->callee->nparams; k++) {
        const rvm_param *param = &t->callee->params[k];
        if (param->ndim || param->untouched) continue;
        const bool again = shares(t, k, true);
        if (!rvm__hessian_return(t->m, key_of(t, &t->args[k]), t->slots + param->index, again, (rvm_role)param->role))
            return RVM_ERR_MEMORY;
    }
    return RVM_OK;
}

rvm_status rvm__enter(rvm_machine *m, const rvm__xinsn *x, int direction) {
    rvm__transfer t;
    const char *shown;
    rvm_status status = rvm__transfer_begin(m, x, &t);
    if (status) return status;
    const uint32_t pc = t.pc, callee = t.callee_fn;
    const rvm__code *code = &m->codes[callee];
    if (!rvm__reserve_frame(m, t.slots + code->slots, t.arrays + t.callee->narrays)) return RVM_ERR_MEMORY;
    rvm__begin_frame(&t);
    for (uint32_t k = 0; k < t.callee->nparams && !status; k++)
        status = t.callee->params[k].ndim ? pass_array(&t, &t.callee->params[k], &t.args[k]) : pass_scalar(&t, k);
    if (!status) status = rvm__check_overlap(&t);
    if (!status && m->hessian && t.shadows) status = pass_rows(&t);
    rvm__path_edge *path = NULL;
    if (!status && m->profile && !(path = rvm__profile_call(m, pc, callee))) status = RVM_ERR_MEMORY;
    if (!status && m->o.exact) status = refuse(&t, direction);
    if (!status) status = set_aside(&t);
    if (!status && (status = take_sums(&t))) cancel_aside(&t, t.callee->nparams);
    if (status) return status;
    if (x->flags & X_OTHERWISE) m->exact.restoring = !m->exact.restoring;
    m->store.frames[m->store.nframes++] = (rvm__frame){.fn = t.callee_fn,
                                                       .call_pc = pc,
                                                       .slots = t.slots,
                                                       .arrays = t.arrays,
                                                       .against = direction != m->run.dir,
                                                       .path = path ? path->to : 0};
    m->run.dir = direction;
    m->run.pc = direction > 0 ? code->x + 1 : code->x + t.callee->ncode - 2;
    m->stats.calls++;
    if (path) path->calls++, rvm__profile_grown(m);
    if (m->store.nframes > m->stats.depth_peak) m->stats.depth_peak = m->store.nframes;
    if (m->o.print && m->p->nprints && (shown = rvm__print_text(m->p, callee))) rvm__print(m, shown);
    return m->jit.engine && m->jit.engine->hot[callee] ? rvm__native_call(m) : RVM_OK;
}

static void return_scalar(const rvm__transfer *t, uint32_t k) {
    const rvm_param *param = &t->callee->params[k];
    const rvm_place *q = &t->args[k];
    const bool again = t->shadows && shares(t, k, true);
    rvm_value *shadow = t->shadows ? &t->m->store.shadows[t->slots + param->index] : NULL;
    if (param->role != RVM_READ) {
        const rvm_value v = t->m->store.slots[t->slots + param->index];
        if (sums_exactly(t, k))
            add_exactly(t->m, level_of(t, k), rvm__scalar_place(t, q, false), v, (rvm_type)param->type);
        else
            rvm__give_back(rvm__scalar_place(t, q, false), v, (rvm_type)param->type, enters_as_zero(t, k));
        rvm__give_magnitude(t, q, param, v);
    }
    if (!shadow) return;
    const rvm_role same = t->m->bound.mode == RVM_TANGENT ? RVM_READ : RVM_ACC;
    rvm_value *tangent = tangent_summed(t, k);
    if (tangent)
        add_tangent(t->m, level_of(t, k), tangent, *shadow, (rvm_type)param->type);
    else if (param->role != same && !param->untouched && rvm__place_active(t, q))
        rvm__give_back(rvm__scalar_place(t, q, true), *shadow, (rvm_type)param->type, again && param->role != RVM_OWN);
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
    rvm__transfer t = rvm__transfer_of(m, m->store.nframes - 2, in, top->fn, call->flags);
    for (uint32_t k = 0; k < t.callee->nparams; k++)
        if (!t.callee->params[k].ndim && !rvm__scalar_place(&t, &t.args[k], false)) return RVM_ERR_INDEX;
    if (!reserve_sums(&t)) return RVM_ERR_MEMORY;
    for (uint32_t k = 0; k < t.callee->nparams; k++)
        if (!t.callee->params[k].ndim) return_scalar(&t, k);
    if (m->hessian && t.shadows && return_rows(&t)) return RVM_ERR_MEMORY;
    const rvm_status status = add_again(&t);
    if (status) return status;
    /* Shadows of constants gain too, so that handlers need not ask; the next frame here must not find that. */
    if (t.shadows) memset(m->store.shadows + t.slots + t.callee->nregs, 0, t.callee->nconsts * sizeof(rvm_value));
    if (call->flags & X_OTHERWISE) m->exact.restoring = !m->exact.restoring;
    if (top->against) m->run.dir = -m->run.dir;
    m->run.pc = call + m->run.dir;
    m->store.nframes--;
    if (top->resumes) rvm__resume_shadows(m);
    if (top->looks) rvm__safepoint_soon(m);
    return RVM_OK;
}

/* bind.c: the caller's arguments, checked and laid into the entry frame. */
#include <string.h>

#include "aside.h"
#include "cells.h"
#include "fresh.h"
#include "memory.h"
#include "native.h"
#include "out_of_line.h"
#include "overlap.h"
#include "prepare.h"
#include "restore.h"
#include "run.h"
#include "builder.h"
#include "support.h"

static const rvm_function *entry_of(const rvm_machine *m) {
    return &m->p->functions[m->bound.entry];
}

#define BAD(code, ...) return rvm__fail(err, code, NULL, 0, 0, __VA_ARGS__)

static bool is_empty(const rvm_arg *a) {
    for (int d = 0; d < a->ndim; d++)
        if (!a->shape[d]) return true;
    return false;
}

/* A stride that is never multiplied by more than 0 may be any number. */
static int64_t in_bytes(int64_t stride) {
    return (int64_t)((uint64_t)stride * sizeof(rvm_value));
}

/* The dimension by which the offset of the last element, in bytes, is no number; or -1. */
static int too_large(const rvm_arg *a, const int64_t *stride) {
    int64_t last = 0, part;
    for (int d = a->ndim - 1; d >= 0; d--)
        if (__builtin_mul_overflow(a->shape[d] - 1, stride[d], &part) || __builtin_add_overflow(last, part, &last) ||
            last >= INT64_MAX / 16)
            return d;
    return -1;
}

/* Whether some order of the dimensions nests them without overlap; false too where the extent is beyond an address. */
static bool is_apart(const rvm_arg *a, const int64_t *stride) {
    int64_t extent = 0, step;
    uint32_t done = 0;
    for (int n = 0; n < a->ndim; n++) {
        int least = -1;
        for (int d = 0; d < a->ndim; d++)
            if (!(done >> d & 1) && (least < 0 || stride[d] < stride[least])) least = d;
        done |= 1u << least;
        if (a->shape[least] <= 1) continue;
        if (stride[least] <= extent || __builtin_mul_overflow(a->shape[least] - 1, stride[least], &step) ||
            __builtin_add_overflow(extent, step, &extent))
            return false;
    }
    return extent < INT64_MAX / (int64_t)sizeof(rvm_value);
}

static rvm_status check_function(const rvm_program *p, const rvm_function *f, const rvm_param *param, int64_t value,
                                 rvm_error *err) {
    const char *needed = p->signatures[param->signature - 1].text;
    char type[200];
    if (value < 0 || value >= p->nfunctions)
        BAD(RVM_ERR_ARGUMENT, "argument `%s` of %s is %lld, which is no function; %s is needed", param->name, f->name,
            (long long)value, needed);
    if (rvm__fits(p, (uint32_t)value, param->signature - 1u)) return RVM_OK;
    const rvm_function *g = &p->functions[value];
    rvm__params_text(p, g->params, g->nparams, type, sizeof type);
    BAD(RVM_ERR_ARGUMENT, "argument `%s` of %s is &%s of type %s; %s is needed", param->name, f->name, g->name, type,
        needed);
}

/* *left: how many elements there may still be. Strides of 0 allow more than memory has. */
static rvm_status check_size(const rvm_param *param, const rvm_function *f, const rvm_arg *a, int64_t *left,
                             rvm_error *err) {
    const int64_t n = rvm__cells(a);
    for (int d = 0; d < a->ndim; d++) {
        const int64_t *stride = a->stride[d] < 0 ? a->stride : a->shadow_stride;
        if (a->shape[d] < 0)
            BAD(RVM_ERR_SHAPE, "dimension %d of argument `%s` of %s is %lld", d + 1, param->name, f->name,
                (long long)a->shape[d]);
        if (stride[d] < 0)
            BAD(RVM_ERR_SHAPE, "dimension %d of argument `%s` of %s has the negative stride %lld", d + 1, param->name,
                f->name, (long long)stride[d]);
    }
    int d = n ? too_large(a, a->stride) : -1;
    if (d < 0 && n < 0) d = (int)~n;
    if (d < 0 && n && a->active) d = too_large(a, a->shadow_stride);
    if (d >= 0)
        BAD(RVM_ERR_SHAPE, "dimension %d of argument `%s` of %s is %lld: the array is larger than memory can be", d + 1,
            param->name, f->name, (long long)a->shape[d]);
    if (n > *left)
        BAD(RVM_ERR_SHAPE, "the arguments of %s up to `%s`, of %lld elements, have more together than memory can hold",
            f->name, param->name, (long long)n);
    *left -= n;
    return RVM_OK;
}

static rvm_status check_one(const rvm_program *p, const rvm_function *f, uint32_t k, const rvm_arg *a, rvm_mode mode,
                            int64_t *left, rvm_error *err) {
    const rvm_param *param = &f->params[k];
    if ((int)a->type != param->type)
        BAD(RVM_ERR_ARGUMENT, "argument `%s` of %s is %s, must be %s", param->name, f->name, rvm_type_name(a->type),
            rvm_type_name((rvm_type)param->type));
    if (a->ndim != param->ndim)
        BAD(RVM_ERR_SHAPE, "argument `%s` of %s has %d dimensions, must have %d", param->name, f->name, a->ndim,
            param->ndim);
    if (a->active && mode != RVM_PRIMAL && a->type == RVM_I64)
        BAD(RVM_ERR_ARGUMENT, "argument `%s` of %s is i64 and cannot be active", param->name, f->name);
    if (param->signature && !param->ndim) {
        rvm_status status = check_function(p, f, param, a->value.i, err);
        if (status) return status;
    }
    const rvm_status status = check_size(param, f, a, left, err);
    if (status) return status;
    const bool elements = !is_empty(a);
    const bool whole = rvm__is_fresh(a, true) || (a->active && param->role == RVM_OWN);
    const bool shadow = mode != RVM_PRIMAL && whole && !is_apart(a, a->shadow_stride);
    if (elements && (shadow || ((param->role == RVM_OWN || a->fresh) && !is_apart(a, a->stride))))
        BAD(RVM_ERR_ALIAS, "elements of argument `%s` of %s overlap: its strides are too small for its shape", param->name,
            f->name);
    if (a->ndim && elements && (!a->data || (a->active && mode != RVM_PRIMAL && !a->shadow_data)))
        BAD(RVM_ERR_ARGUMENT, "argument `%s` of %s has no %s", param->name, f->name, a->data ? "shadow" : "data");
    return RVM_OK;
}

/* The first element from dimension d on that no float holds, or NULL. */
static const double *not_single(const rvm_arg *a, int d, const double *p) {
    const double *bad = NULL;
    if (d >= a->ndim || d >= RVM_MAX_DIMS) return rvm__is_single(*p) ? NULL : p;
    for (int64_t i = 0; i < a->shape[d] && !bad; i++) bad = not_single(a, d + 1, p + i * a->stride[d]);
    return bad;
}

static bool device_has_singles(const rvm_machine *m, const rvm_arg *a) {
    const rvm__keeper *keeper = m->jit.device && a->ndim ? m->jit.runner->keeper : NULL;
    const int64_t n = keeper ? rvm__neighbours(a, a->stride, 0) : 0;
    return n > 0 && keeper->are_single(m, a->data, (size_t)n);
}

static rvm_status check_singles(const rvm_machine *m, const rvm_function *f, uint32_t k, const rvm_arg *a, rvm_error *err) {
    if (a->type != RVM_F32 || a->fresh || device_has_singles(m, a)) return RVM_OK;
    if (rvm__bring_home(m, a, 1))
        BAD(RVM_ERR_UNSUPPORTED, "argument `%s` of %s is on a device that is lost", f->params[k].name, f->name);
    const double *bad = not_single(a, 0, a->ndim ? a->data : &a->value.f);
    if (!bad) return RVM_OK;
    BAD(RVM_ERR_ARGUMENT, "argument `%s` of %s holds %.17g, which is not rounded to an f32", f->params[k].name, f->name,
        *bad);
}

static rvm__extent extent_of(const rvm_arg *a, bool shadow) {
    rvm__extent e; /* lengths beyond ndim are nobody's */
    e.data = shadow ? a->shadow_data : a->data;
    e.ndim = a->ndim;
    for (int d = 0; d < a->ndim && d < RVM_MAX_DIMS; d++) {
        e.dim[d] = a->shape[d];
        e.stride[d] = in_bytes((shadow ? a->shadow_stride : a->stride)[d]);
    }
    return e;
}

/* What stands on a device does not end before the argument does. */
static rvm_status check_device(const rvm_machine *m, const rvm_function *f, uint32_t k, const rvm_arg *a, bool shadow,
                               rvm_error *err) {
    if (!m->jit.device || !a->ndim || is_empty(a) || (shadow && !a->active)) return RVM_OK;
    const rvm__extent e = extent_of(a, shadow);
    const int64_t there = e.data ? m->jit.runner->elements(m, e.data) : -1;
    const int64_t wanted = (rvm__extent_last(&e) - e.data) / (int64_t)sizeof(rvm_value) + 1;
    if (there < 0 || wanted <= there) return RVM_OK;
    BAD(RVM_ERR_SHAPE, "%s `%s` of %s takes %lld elements of an array on a device, which has %lld there",
        shadow ? "the shadow of argument" : "argument", f->params[k].name, f->name, (long long)wanted, (long long)there);
}

static bool overlap(const rvm_arg *a, bool a_shadow, const rvm_arg *b, bool b_shadow) {
    if (is_empty(a) || is_empty(b)) return false;
    if ((a_shadow && !a->active) || (b_shadow && !b->active)) return false;
    const rvm__extent x = extent_of(a, a_shadow), y = extent_of(b, b_shadow);
    return rvm__overlap(&x, &y);
}

/* Whether one's value and the other's shadow overlap. */
static bool meets(const rvm_arg *a, const rvm_arg *b) {
    return overlap(a, false, b, true) || overlap(b, false, a, true);
}

bool rvm__value_meets_shadow(const rvm_arg *args, uint32_t nargs) {
    for (uint32_t k = 0; k < nargs; k++)
        for (uint32_t i = 0; i <= k && args[k].ndim; i++)
            if (args[i].ndim && meets(&args[i], &args[k])) return true;
    return false;
}

/* Values may overlap where both roles are read or both accumulate, or one is untouched, and neither is fresh; so may
 * shadows; a value and a shadow never. Scalars are copies. */
static rvm_status check_overlap(const rvm_function *f, const rvm_arg *args, rvm_mode mode, rvm_error *err) {
    const bool shadows = mode != RVM_PRIMAL;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (uint32_t i = 0; i <= k && args[k].ndim; i++) {
            if (!args[i].ndim) continue;
            const rvm_arg *a = &args[i], *b = &args[k];
            const bool alike = rvm__may_share(&f->params[i], &f->params[k]);
            bool bad = i < k && (!alike || a->fresh || b->fresh) && overlap(a, false, b, false);
            if (shadows) {
                bad |= i < k && (!alike || a->fresh_shadow || b->fresh_shadow) && overlap(a, true, b, true);
                bad |= meets(a, b);
            }
            if (bad)
                BAD(RVM_ERR_ALIAS, "arguments `%s` and `%s` of %s overlap", f->params[i].name, f->params[k].name, f->name);
        }
    return RVM_OK;
}

rvm_status rvm__check_arguments(const rvm_machine *m, int64_t fn, const rvm_arg *args, uint32_t nargs, rvm_mode mode,
                                rvm_error *err) {
    if (fn < 0 || fn >= m->p->nfunctions) BAD(RVM_ERR_USAGE, "no function %lld", (long long)fn);
    const rvm_function *f = &m->p->functions[fn];
    if (nargs != f->nparams) BAD(RVM_ERR_ARGUMENT, "%s takes %u arguments, %u given", f->name, f->nparams, nargs);
    int64_t left = RVM__MOST_CELLS;
    for (uint32_t k = 0; k < nargs; k++) {
        rvm_status status = check_one(m->p, f, k, &args[k], mode, &left, err);
        if (!status) status = check_device(m, f, k, &args[k], false, err);
        if (!status && mode != RVM_PRIMAL) status = check_device(m, f, k, &args[k], true, err);
        if (!status) status = check_singles(m, f, k, &args[k], err);
        if (status) return status;
    }
    return check_overlap(f, args, mode, err);
}

/* Whether elements that are added into coincide: what the verifier proves to be different elements is one. */
static bool adds_together(const rvm_function *f, const rvm_arg *args) {
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k].ndim && f->params[k].role == RVM_ACC && !is_empty(&args[k]) && !is_apart(&args[k], args[k].stride))
            return true;
    return false;
}

static bool is_array_before(const rvm__array *before, const rvm_param *param, const rvm_arg *a) {
    if ((int)a->type != param->type || a->ndim != param->ndim || (char *)a->data != before->data) return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != before->dim[d] || in_bytes(a->stride[d]) != before->stride[d]) return false;
    return true; /* no shadow is read in this mode */
}

/* Whether these are arguments that were checked already: the arrays of the call before, of the same function, and scalars of
 * which any will do. */
static bool are_checked(const rvm_machine *m, int64_t fn, const rvm_arg *args, uint32_t nargs, rvm_mode mode) {
    if (!m->bound.checked || fn != m->bound.checked - 1 || mode != RVM_PRIMAL || nargs != m->p->functions[fn].nparams)
        return false;
    for (uint32_t k = 0; k < nargs; k++) {
        const rvm_param *param = &m->p->functions[fn].params[k];
        if (args[k].active || args[k].fresh != m->bound.fresh[k] || param->type == RVM_F32 || param->signature) return false;
        if (param->ndim ? !is_array_before(&m->store.arrays[param->index], param, &args[k])
                        : (int)args[k].type != param->type || args[k].ndim)
            return false;
    }
    return true;
}

/* The codes of the mode, prepared anew when the activity differs from what they were prepared for. */
static rvm_status choose_codes(rvm_machine *m, uint32_t fn, const rvm_arg *args, rvm_mode mode) {
    uint8_t wrt[RVM_MAX_PARAMS];
    const uint32_t n = m->p->functions[fn].nparams;
    if (mode == RVM_PRIMAL) {
        const bool ready = rvm__is_prepared(m->primal_codes, fn); /* asked here, for calls that take no time */
        const rvm_status status = ready ? RVM_OK : rvm__prepare(m, fn, false, &m->primal_codes);
        m->codes = m->primal_codes;
        return status;
    }
    for (uint32_t k = 0; k < n; k++) wrt[k] = args[k].active;
    if (!m->shadow_codes || m->bound.wrt_fn != fn || memcmp(m->bound.wrt, wrt, n) != 0) {
        m->bound.wrt_fn = UINT32_MAX;
        if (!m->bound.activity.at) {
            void *block = rvm__resize(m, NULL, 0, rvm__activity_size(m->p));
            if (!block) return RVM_ERR_MEMORY;
            m->bound.activity = rvm__activity_in(m->p, block);
            m->bound.activity.one_code = true;
        }
        rvm__activity_find(m->p, &m->bound.activity, fn, wrt, false);
        rvm__unprepare(m, m->shadow_codes);
        const rvm_status status = rvm__prepare(m, fn, true, &m->shadow_codes);
        if (status) return status;
        memcpy(m->bound.wrt, wrt, n);
        m->bound.wrt_fn = fn;
    }
    m->codes = m->shadow_codes;
    return RVM_OK;
}

/* SIZE_MAX where so many, which strides of 0 allow, cannot be. */
static size_t array_bytes(const rvm_arg *a) {
    size_t n = sizeof(rvm_value);
    if (is_empty(a)) return 0;
    for (int d = 0; d < a->ndim; d++)
        if (__builtin_mul_overflow(n, (size_t)a->shape[d], &n)) return SIZE_MAX;
    return n;
}

/* The shadow of an array that depends on active places but that the caller has not named: zeros of the machine's own. */
static bool own_shadow(rvm_machine *m, const rvm_arg *a, rvm__array *to) {
    const size_t bytes = array_bytes(a);
    int64_t stride = sizeof(rvm_value);
    if (bytes > SIZE_MAX - RVM__ARRAY_HEADER || !(to->shadow = rvm__locals_push(m, RVM__ARRAY_HEADER + bytes))) return false;
    to->shadow += RVM__ARRAY_HEADER;
    memset(to->shadow, 0, bytes);
    for (int d = a->ndim - 1; d >= 0; d--) {
        to->shadow_stride[d] = stride;
        stride *= bytes ? a->shape[d] : 0;
    }
    return true;
}

static bool bind_array(rvm_machine *m, const rvm_param *param, const rvm_arg *a) {
    rvm__array *to = &m->store.arrays[param->index];
    to->data = a->data;
    to->shadow = NULL;
    to->magnitude = NULL;
    to->base = param->index;
    to->present = true;
    to->outside = false;
    if (m->bound.before) return true;
    to->ndim = param->ndim;
    to->type = param->type;
    for (int d = 0; d < a->ndim; d++) {
        to->dim[d] = a->shape[d];
        to->stride[d] = in_bytes(a->stride[d]);
        to->shadow_stride[d] = in_bytes(a->shadow_stride[d]);
    }
    const bool active =
        m->bound.mode != RVM_PRIMAL && rvm__is_ever_active(m->p, &m->bound.activity, m->bound.entry, true, param->index);
    if (!active) return true;
    if (!a->active) return own_shadow(m, a, to);
    to->shadow = a->shadow_data;
    return true;
}

static rvm_status bind_lengths(rvm_machine *m, const rvm_arg *args, rvm_error *err) {
    const rvm_function *f = entry_of(m);
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++)
            if (f->params[k].dim[d] < f->nregs) m->store.slots[f->params[k].dim[d]].i = -1;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++) {
            rvm_value *length = &m->store.slots[f->params[k].dim[d]];
            if (length->i < 0) length->i = args[k].shape[d];
            if (length->i != args[k].shape[d])
                BAD(RVM_ERR_SHAPE, "dimension %d of argument `%s` of %s is %lld, must be %lld", d + 1, f->params[k].name,
                    f->name, (long long)args[k].shape[d], (long long)length->i);
        }
    return RVM_OK;
}

/* Room for the entry frame, and its constants. */
static bool begin_frame(rvm_machine *m) {
    const rvm_function *f = entry_of(m);
    size_t cap = m->store.cap_frames;
    if (m->bound.before) return true;
    if (!rvm__reserve(m, (void **)&m->store.frames, &cap, 1, sizeof *m->store.frames)) return false;
    m->store.cap_frames = (uint32_t)cap;
    if (!rvm__reserve_frame(m, m->codes[m->bound.entry].slots, f->narrays)) return false;
    if (f->nconsts) memcpy(m->store.slots + f->nregs, f->consts, f->nconsts * sizeof *m->store.slots);
    return true;
}

/* Fresh storage: shadows of absent places are 0. */
static rvm_status lay_out(rvm_machine *m, rvm_arg *args, rvm_error *err) {
    const rvm_function *f = entry_of(m);
    rvm__locals_clear(m);
    m->store.stack_lost += m->store.nstack;
    m->store.nstack = m->store.nguards = 0;
    rvm__aside_clear(m);
    m->store.nframes = 0;
    m->store.outside_arrays = 0;
    rvm__trail_clear(m);
    rvm__exact_clear(m);
    if (!begin_frame(m)) return RVM_ERR_MEMORY;
    if (m->bound.mode != RVM_PRIMAL) memset(m->store.shadows, 0, m->store.cap_shadows * sizeof *m->store.shadows);
    rvm_status status = m->bound.before ? RVM_OK : bind_lengths(m, args, err);
    for (uint32_t k = 0; k < f->nparams && !status; k++) {
        const rvm_param *param = &f->params[k];
        if (param->ndim) {
            if (!bind_array(m, param, &args[k])) status = RVM_ERR_MEMORY;
            continue;
        }
        m->store.slots[param->index].i = args[k].value.i; /* of a fresh one what it counts as is written later */
        if (m->bound.mode != RVM_PRIMAL && args[k].active) m->store.shadows[param->index].i = args[k].shadow.i;
    }
    m->store.frames[m->store.nframes++] = (rvm__frame){.fn = m->bound.entry};
    if (m->stats.depth_peak < 1) m->stats.depth_peak = 1;
    return status;
}

/* With the trail off, levels that the run does not take from keep nothing. */
static rvm_status discard_trails(rvm_machine *m, int direction) {
    uint16_t needed = 0;
    m->trail.discards = 0;
    if (m->o.trail == RVM_TRAIL_KEEP) return RVM_OK;
    if (!rvm__trail_pops(m, m->bound.entry, direction, &needed)) return RVM_ERR_MEMORY;
    m->trail.discards = (uint16_t)~needed;
    return RVM_OK;
}

rvm_status rvm_machine_bind(rvm_machine *m, int64_t fn, rvm_arg *args, uint32_t nargs, rvm_mode mode, bool at_end,
                            rvm_error *err) {
    RVM__NEEDS(m);
    m->run.where = UNBOUND;
    if (nargs) RVM__NEEDS(args);
    if ((unsigned)mode > RVM_TANGENT) BAD(RVM_ERR_USAGE, "no mode has number %d", (int)mode);
    rvm_status status = RVM_OK;
    m->bound.before = are_checked(m, fn, args, nargs, mode);
    if (!m->bound.before) status = rvm__check_arguments(m, fn, args, nargs, mode, err);
    m->bound.shapes += !m->bound.before;
    m->bound.checked = 0;
    if (status) return rvm__fail_in(err, status, m->p, fn);
    if (!m->bound.before) m->bound.adds_together = adds_together(&m->p->functions[fn], args);
    m->bound.mode = mode;
    m->bound.entry = (uint32_t)fn;
    status = choose_codes(m, m->bound.entry, args, mode);
    if (status) return rvm__tell_unprepared(m, status, err);
    status = discard_trails(m, at_end ? -1 : 1);
    if (!status) status = lay_out(m, args, err);
    if (status == RVM_ERR_MEMORY) return rvm__no_memory(m, err);
    if (status) return rvm__fail_in(err, status, m->p, fn);
    if (mode == RVM_PRIMAL) m->bound.checked = m->bound.entry + 1;
    m->bound.args = args;
    m->bound.nargs = nargs;
    rvm__fresh_bound(m);
    m->run.where = at_end ? AT_END : AT_START;
    m->run.course = m->run.dir = at_end ? -1 : 1;
    m->run.sweeping = m->run.sweep_begun = m->run.sweep_left = false;
    m->run.began_at_start = !at_end;
    m->run.by_rule = 0;
    m->run.one_way = 0;
    m->run.at[0] = m->run.at[1] = 0;
    m->run.went_back = false;
    m->bound.number++;
    m->jit.adrift = RVM_OK;
    status = rvm__keep_inputs(m, err);
    if (status) m->run.where = UNBOUND;
    return status;
}

/* Those of scalars, which may be others than when the call was bound; arrays are the caller's anyway. */
void rvm__take_seeds(rvm_machine *m) {
    const rvm_function *f = entry_of(m);
    for (uint32_t k = 0; k < m->bound.nargs; k++)
        if (!f->params[k].ndim && m->bound.args[k].active && !m->bound.args[k].fresh_shadow)
            m->store.shadows[f->params[k].index].i = m->bound.args[k].shadow.i;
}

void rvm__write_back(rvm_machine *m) {
    const rvm_function *f = entry_of(m);
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        if (f->params[k].ndim) continue;
        m->bound.args[k].value.i = m->store.slots[f->params[k].index].i;
        if (m->bound.mode != RVM_PRIMAL && m->bound.args[k].active)
            m->bound.args[k].shadow.i = m->store.shadows[f->params[k].index].i;
    }
}

const rvm_arg *rvm_machine_bound(const rvm_machine *m) {
    return m && m->run.where != UNBOUND ? m->bound.args : NULL;
}

static void hand_back(rvm_machine *m, bool fresh) {
    if (!m || m->run.where == UNBOUND) return;
    if (fresh) rvm__fresh_hand_back(m, m->bound.mode != RVM_PRIMAL);
    rvm__write_back(m);
    m->run.where = UNBOUND;
    m->bound.args = NULL;
    m->bound.nargs = 0;
}

void rvm_machine_unbind(rvm_machine *m) {
    hand_back(m, m && (m->run.where == INSIDE || m->bound.unwritten)); /* or it has not begun */
}

void rvm__unbind(rvm_machine *m) {
    hand_back(m, m && m->run.where == INSIDE);
}

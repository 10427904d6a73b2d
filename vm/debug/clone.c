/* clone.c: another machine that stands where one does: bound alike, then moved there by a keyframe. */
#include "cells.h"
#include "keyframe.h"
#include "memory.h"
#include "run.h"
#include "support.h"

#include <string.h>

static rvm_status new_machine(rvm_machine *m, rvm_machine **out, rvm_error *err) {
    rvm_options o = m->o;
    o.print = NULL; /* what was shown is not shown again */
    o.profile = false;
    return rvm_machine_new(m->p, &o, out, err);
}

static bool has_shadow(const rvm_machine *m, const rvm_arg *a) {
    return a->ndim && a->active && m->bound.mode != RVM_PRIMAL;
}

/* From the first element to the last. */
static size_t room_of(const rvm_arg *a, const int64_t *stride) {
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) {
        if (!a->shape[d]) return 0;
        n += (size_t)(a->shape[d] - 1) * (size_t)stride[d];
    }
    return n * sizeof(rvm_value);
}

/* The clone's own arguments, of the same strides: in one block that it frees. */
static rvm_arg *own_args(const rvm_machine *m, rvm_machine *clone) {
    const rvm_arg *from = m->bound.args;
    size_t bytes = m->bound.nargs * sizeof(rvm_arg);
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        if (from[k].ndim) bytes += room_of(&from[k], from[k].stride);
        if (has_shadow(m, &from[k])) bytes += room_of(&from[k], from[k].shadow_stride);
    }
    rvm_arg *args = rvm__room(clone, RVM__CLONED, bytes);
    char *at = (char *)(args + m->bound.nargs);
    if (!args) return NULL;
    memset(args, 0, bytes);
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        args[k] = from[k];
        if (from[k].ndim) args[k].data = at, at += room_of(&from[k], from[k].stride);
        if (has_shadow(m, &from[k])) args[k].shadow_data = at, at += room_of(&from[k], from[k].shadow_stride);
    }
    return args;
}

static rvm_status check_like(const rvm_machine *m, const rvm_arg *args, rvm_error *err) {
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_arg *a = &m->bound.args[k], *b = &args[k];
        const char *name = m->p->functions[m->bound.entry].params[k].name;
        if (a->type != b->type || a->ndim != b->ndim || (m->bound.mode != RVM_PRIMAL && a->active != b->active))
            return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "argument `%s` of the clone is another one", name);
        for (int d = 0; d < a->ndim; d++)
            if (a->shape[d] != b->shape[d] || a->stride[d] != b->stride[d] ||
                (has_shadow(m, a) && a->shadow_stride[d] != b->shadow_stride[d]))
                return rvm__fail(err, RVM_ERR_SHAPE, NULL, 0, 0,
                                 "argument `%s` of the clone has another shape or stride in dimension %d", name, d + 1);
        if (a->ndim && room_of(a, a->stride) && (!b->data || (has_shadow(m, a) && !b->shadow_data)))
            return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "argument `%s` of the clone has no %s", name,
                             b->data ? "shadow" : "data");
    }
    return RVM_OK;
}

/* What is at the element, from dimension d on. */
static void copy_from(const rvm_arg *a, const int64_t *stride, int d, const rvm_value *from, rvm_value *to) {
    if (d >= a->ndim || d >= RVM_MAX_DIMS) {
        *to = *from;
        return;
    }
    for (int64_t i = 0; i < a->shape[d]; i++) copy_from(a, stride, d + 1, from + i * stride[d], to + i * stride[d]);
}

static void copy_args(const rvm_machine *m, rvm_arg *args) {
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_arg *a = &m->bound.args[k];
        args[k].value = a->value;
        args[k].shadow = a->shadow;
        if (a->ndim) copy_from(a, a->stride, 0, a->data, args[k].data);
        if (has_shadow(m, a)) copy_from(a, a->shadow_stride, 0, a->shadow_data, args[k].shadow_data);
    }
}

/* With what the end of the way back is compared: of the bind, not of now. */
static void copy_inputs(const rvm_machine *m, rvm_machine *clone) {
    size_t n = m->bound.cap_inputs < clone->bound.cap_inputs ? m->bound.cap_inputs : clone->bound.cap_inputs;
    clone->bound.compares = m->bound.compares;
    clone->bound.compared_elsewhere = m->bound.compared_elsewhere;
    if (m->bound.compares && n) memcpy(clone->bound.inputs, m->bound.inputs, n * sizeof *clone->bound.inputs);
}

static rvm_status move_there(rvm_machine *m, rvm_machine *clone, rvm_arg *args, rvm_error *err) {
    rvm_keyframe *k = NULL;
    rvm_status status = args ? check_like(m, args, err) : RVM_OK;
    if (!status && !args && !(args = own_args(m, clone))) status = rvm__no_memory(clone, err);
    if (!status) status = rvm_keyframe_new(m, &k, err);
    if (status) return status;
    copy_args(m, args);
    status = rvm_machine_bind(clone, m->bound.entry, args, m->bound.nargs, m->bound.mode, !m->run.began_at_start, err);
    if (!status) copy_inputs(m, clone);
    clone->bound.unwritten = m->bound.unwritten; /* else it has been */
    if (!status) status = rvm__keyframe_load(k, clone, err);
    rvm_keyframe_free(k);
    return status;
}

rvm_status rvm_machine_clone(rvm_machine *m, rvm_arg *args, rvm_machine **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(m);
    rvm_machine *clone;
    rvm_status status = new_machine(m, &clone, err);
    if (!status && m->run.where != UNBOUND) status = move_there(m, clone, args, err);
    if (!status) return *out = clone, RVM_OK;
    rvm_machine_free(clone);
    return status;
}

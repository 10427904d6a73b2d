/* kept.c: see kept.h. */
#include "kept.h"
#include "builder.h"

#include "cells.h"
#include "fresh.h"

static const rvm__keeper *keeper_of(const rvm_machine *m) {
    return m->jit.device ? m->jit.runner->keeper : NULL;
}

/* Elements side by side, which a device takes; -1: they are not, or there are none. */
static int64_t side_by_side(const rvm_arg *a, bool shadow) {
    const int64_t n = a->ndim ? rvm__neighbours(a, shadow ? a->shadow_stride : a->stride, 0) : 0;
    return n ? n : -1;
}

static const char *data_of(const rvm_arg *a, bool shadow) {
    return shadow ? a->shadow_data : a->data;
}

static bool kept_there(rvm_machine *m, uint32_t number, const rvm_arg *a, bool shadow, bool fresh, rvm_value *to) {
    const rvm__keeper *keeper = keeper_of(m);
    if (!keeper) return false;
    const int64_t n = side_by_side(a, shadow);
    const rvm_value all = rvm__sum_start(a->type);
    keeper->forget(m, number, number + 1);
    return n > 0 && keeper->keep(m, number, data_of(a, shadow), (size_t)n, fresh ? &all : NULL, to);
}

rvm_status rvm__kept_take(rvm_machine *m, uint32_t number, const rvm_arg *a, bool shadow, bool fresh, rvm_value *to) {
    fresh = fresh && rvm__is_fresh(a, shadow);
    if (kept_there(m, number, a, shadow, fresh, to)) return RVM_OK;
    const rvm_status lost = fresh ? RVM_OK : rvm__bring_home(m, a, 1);
    if (!lost) (fresh ? rvm__fresh_take : rvm__cells_take)(a, shadow, to);
    return lost;
}

rvm_status rvm__kept_give(rvm_machine *m, uint32_t number, rvm_arg *a, bool shadow, bool fresh, const rvm_value *from) {
    const rvm__keeper *keeper = keeper_of(m);
    rvm_status status = RVM_OK;
    fresh = fresh && rvm__is_fresh(a, shadow);
    if (fresh && rvm__fresh_fill_there(m, a, shadow, (rvm_value){0})) return RVM_OK;
    if (!fresh && keeper && keeper->give(m, number, data_of(a, shadow), &status)) return status;
    if ((status = rvm__bring_home(m, a, 1))) return status;
    if (fresh)
        rvm__fresh_clear(a, shadow);
    else
        rvm__cells_give(a, shadow, from);
    return RVM_OK;
}

bool rvm__kept_is_near(rvm_machine *m, uint32_t number, const rvm_arg *a, double tolerance, double least) {
    const rvm__keeper *keeper = keeper_of(m);
    return keeper && side_by_side(a, false) > 0 &&
           keeper->is_near(m, number, data_of(a, false), rvm__is_floating(a->type), tolerance, least);
}

rvm_status rvm__kept_fetch(rvm_machine *m, uint32_t number) {
    const rvm__keeper *keeper = keeper_of(m);
    return keeper ? keeper->fetch(m, number) : RVM_OK;
}

void rvm__kept_forget(rvm_machine *m, enum rvm__kept_for what) {
    const rvm__keeper *keeper = keeper_of(m);
    if (keeper) keeper->forget(m, rvm__kept_number(what, 0, false), rvm__kept_number(what + 1, 0, false));
}

void rvm__kept_leave(rvm_machine *m) {
    const rvm__keeper *keeper = keeper_of(m);
    if (keeper && keeper->leave(m)) m->bound.compares = false;
}

/* changes.c: changes in place, of any row of inplace.def and any type: values by the row's function, shadows by its facts,
 * in the order that isa/derive/derive_change.c has, and with the same bits.
 *
 * Everything is done to copies; where nothing fails they are stored. In a sweep the machine goes down, and what it meets is
 * the inverse of what the adjoint is taken of; forward again it meets that itself, and takes the adjoint back.
 */
#include "changes.h"

#include <string.h>

#include "places.h"

enum { MOST = RVM_MAX_CHANGED + RVM_MAX_CHANGE_OPERANDS };

typedef struct change {
    rvm_machine *m;
    const rvm__xinsn *x;
    const rvm_change_info *info;
    int level; /* 0 where shadows stay */
    bool back;
    rvm_value v[RVM_MAX_CHANGED], s[RVM_MAX_CHANGED], a[RVM_MAX_CHANGE_OPERANDS], a_[RVM_MAX_CHANGE_OPERANDS];
    int overflow;
} change;

static bool is_active(const change *c, int operand) {
    return c->x->active >> (c->info->conditional + c->info->places + operand) & 1;
}

static rvm_value by_row(change *c, rvm_row row, rvm_value a, rvm_value b) {
    const rvm_type t = (rvm_type)c->x->type;
    return c->m->math->kernels[rvm__kernel_index(row, t, t)].f(a, b, b, &c->overflow);
}

static bool apply(change *c, rvm_value v[RVM_MAX_CHANGED]) {
    return c->m->math->changes[c->x->kernel][c->back][c->x->type](v, c->a, &c->overflow);
}

/* ---- shadows ---- */

/* A partial, of the places as they are in v, times a shadow: the operand's gains or loses that of the place, in a tangent
 * the place's that of the operand. */
static void add_term(change *c, const rvm_value *v, int operand, int k) {
    const rvm_term term = c->info->partials.by[operand][k];
    if (!term.sign) return;
    const bool tangent = c->level == 2;
    rvm_value *y_ = &c->s[k], *a_ = &c->a_[operand], *to = tangent ? y_ : a_;
    const rvm_value product = by_row(c, RVM_ROW_mul, v[term.place], tangent ? *a_ : *y_);
    *to = by_row(c, (term.sign > 0) == (tangent != c->back) ? RVM_ROW_add : RVM_ROW_sub, *to, product);
}

static void add_terms(change *c, const rvm_value *v) {
    const int operands = c->info->operands, places = c->info->places;
    const bool tangent = c->level == 2;
    for (int i = 0; i < operands; i++) {
        const int operand = tangent && c->back ? operands - 1 - i : i;
        if (!is_active(c, operand)) continue;
        for (int k = 0; k < places; k++) add_term(c, v, operand, c->back || !tangent ? places - 1 - k : k);
    }
}

/* The shadows, where the values go from `was` to c->v. */
static void change_shadows(change *c, const rvm_value *was) {
    const bool before = c->info->partials.before, again = c->level == 3, scales = c->info->shadows == RVM_SHADOWS_SCALE;
    const bool first = !before && !again && (c->level == 1 || c->back);
    if (first) add_terms(c, was);
    if (before && c->back) add_terms(c, c->v);
    if (scales)
        c->s[0] =
            c->m->math->scales[c->x->kernel][c->x->type](again ? was[0] : c->v[0], c->s[0], c->back != again, c->level == 1);
    else
        apply(c, c->s);
    if (before && !c->back) add_terms(c, was);
    if (!before && !first) add_terms(c, c->v);
}

/* ---- values ---- */

/* Whether the change leads from what has come back to what is there. */
static bool leads_back(change *c, const rvm_value *was) {
    rvm_value led[RVM_MAX_CHANGED];
    memcpy(led, was, sizeof led);
    c->back = !c->back;
    bool same = apply(c, led);
    c->back = !c->back;
    for (int k = 0; k < c->info->places; k++) same = same && rvm__exact_same(led[k].f, c->v[k].f);
    return same;
}

static rvm_status take_back(change *c) {
    rvm_value was[RVM_MAX_CHANGED];
    rvm_status status = rvm__exact_back_whole(c->m, c->info->places, was);
    if (!status && rvm__exact_is_inside(c->m) && !leads_back(c, was)) {
        status = rvm__exact_return_whole(c->m, c->info->places, was);
        return status ? status : rvm__exact_disturbed(c->m);
    }
    if (!status) memcpy(c->v, was, sizeof was);
    return status;
}

/* Runs that restore every bit record what the places held, or take it back. */
static rvm_status change_whole(change *c, bool restores) {
    rvm_value v[RVM_MAX_CHANGED];
    if (restores) return take_back(c);
    memcpy(v, c->v, sizeof v);
    if (!apply(c, v)) return RVM_ERR_DOMAIN;
    const rvm_status status = rvm__exact_keep_whole(c->m, c->info->places, c->v);
    if (status) return status;
    memcpy(c->v, v, sizeof v);
    c->m->exact.updates += c->info->places;
    return RVM_OK;
}

static rvm_status change_values(change *c) {
    rvm__exact_run *run = &c->m->exact;
    const unsigned level = rvm__level_of(c->x);
    const bool shadows = level == RVM__OF_SHADOWS;
    const bool restores = rvm__exact_restores(c->m, c->x->flags & X_OTHERWISE);
    if (c->m->o.exact && rvm__is_floating((rvm_type)c->x->type) && c->info->exact && !(shadows && run->values_only)) {
        run->level = level;
        const rvm_status status = c->info->exact == RVM_EXACTLY_WHOLE
                                      ? change_whole(c, restores)
                                      : rvm__exact_sum(c->m, (rvm_type)c->x->type, c->back, restores, 1, &c->v[0].f);
        run->level = RVM__OF_VALUES;
        return status;
    }
    return apply(c, c->v) ? RVM_OK : RVM_ERR_DOMAIN;
}

/* ---- the instruction ---- */

/* Whether the shadows are those of what a compute part borrows, and are not just moved. */
static bool is_borrowed(const change *c) {
    const bool sweeps = c->level == 1 || c->level == 3;
    return sweeps && c->m->exact.borrowing && c->info->exact == RVM_EXACTLY_WHOLE && rvm__is_floating((rvm_type)c->x->type);
}

/* As borrowed_update (exact_handlers.c) has it. */
static rvm_status change_borrowed(change *c, const rvm_value *was) {
    const int places = c->info->places;
    const bool aside = c->m->exact.borrowing == RVM__SETS_ASIDE;
    rvm_value s[2 * RVM_MAX_CHANGED], *then = s + places;
    memcpy(s, c->s, (size_t)places * sizeof *s);
    memcpy(then, c->s, (size_t)places * sizeof *s);
    rvm_status status = rvm__borrowed_begin(c->m, c->level, places, s);
    if (status) return status;
    if ((status = change_values(c))) {
        rvm__borrowed_cancel(c->m, c->level, places, s);
        return status;
    }
    for (int k = 0; !aside && c->level == 3 && k < places; k++) c->s[k] = by_row(c, RVM_ROW_sub, c->s[k], s[k]);
    if (!aside) change_shadows(c, was);
    for (int k = 0; k < places; k++)
        c->s[k] = c->level == 3 ? aside ? s[k] : then[k] : aside ? (rvm_value){0} : by_row(c, RVM_ROW_add, c->s[k], s[k]);
    return RVM_OK;
}

/* With tangents, in a compute part: as update_with_exact_tangent has it. */
static bool records_tangents(const change *c) {
    const bool whole = c->info->exact == RVM_EXACTLY_WHOLE && rvm__is_floating((rvm_type)c->x->type);
    return c->level == 2 && whole && c->m->o.exact && rvm__exact_depth(c->m);
}

static rvm_status change_with_tangents(change *c, const rvm_value *was) {
    const int places = c->info->places;
    rvm_status status;
    if (rvm__exact_restores(c->m, c->x->flags & X_OTHERWISE)) {
        status = change_values(c);
        c->m->exact.level = rvm__level_of(c->x);
        if (!status) status = rvm__exact_back_whole(c->m, places, c->s);
        c->m->exact.level = RVM__OF_VALUES;
        return status;
    }
    const rvm__exact_mark before = rvm__exact_held(c->m);
    c->m->exact.level = rvm__level_of(c->x);
    status = rvm__exact_keep_whole(c->m, places, c->s);
    c->m->exact.level = RVM__OF_VALUES;
    if (!status) status = change_values(c);
    if (status)
        rvm__exact_rewind(c->m, &before);
    else
        change_shadows(c, was);
    return status;
}

static rvm_status change_both(change *c, const rvm_value *was) {
    if (is_borrowed(c)) return change_borrowed(c, was);
    if (records_tangents(c)) return change_with_tangents(c, was);
    const rvm_status status = change_values(c);
    if (!status && c->level) change_shadows(c, was);
    return status;
}

static rvm_status change_all(change *c, rvm_value *const at[MOST], rvm_value *const shadow[MOST]) {
    const int places = c->info->places, operands = c->info->operands;
    rvm_value was[RVM_MAX_CHANGED];
    for (int k = 0; k < places; k++) c->v[k] = *at[k];
    for (int k = 0; k < operands; k++) c->a[k] = *at[places + k];
    for (int k = 0; k < places + operands; k++)
        if (shadow[k]) *(k < places ? &c->s[k] : &c->a_[k - places]) = *shadow[k];
    memcpy(was, c->v, sizeof was);
    const rvm_status status = change_both(c, was);
    if (status) return status;
    if (c->overflow && !(c->x->flags & X_UNCHECKED)) return RVM_ERR_OVERFLOW;
    for (int k = 0; k < places; k++) *at[k] = c->v[k];
    for (int k = 0; k < places + operands; k++)
        if (shadow[k]) *shadow[k] = k < places ? c->s[k] : c->a_[k - places];
    return RVM_OK;
}

rvm_status rvm__change_in_place(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, int level, bool back) {
    const rvm__at_frame *f = &m->run.frame;
    change c = {.m = m, .x = x, .info = &rvm__change_info[x->kernel], .back = back};
    const int first = c.info->conditional, places = c.info->places, all = places + c.info->operands;
    rvm_value *at[MOST], *shadow[MOST] = {NULL};
    c.level = c.info->shadows == RVM_SHADOWS_STAY ? 0 : level;
    if (first && !r[x->p[0].slot].i) return RVM_OK;
    for (int k = 0; k < all; k++)
        if (!(at[k] = value_place(&x->p[first + k], r, f))) return RVM_ERR_INDEX;
    if (unlikely(x->flags & X_ALIAS) && coincide(at, places, all)) return RVM_ERR_ALIAS;
    for (int k = 0; c.level && k < all; k++)
        if (k < places || is_active(&c, k - places)) shadow[k] = shadow_place(&x->p[first + k], r, f);
    const rvm_status status = change_all(&c, at, shadow);
    for (int k = 0; !status && x->flags & X_TRACK && k < places; k++) rvm__track_at(m, x, &x->p[first + k], c.v[k].f);
    return status;
}

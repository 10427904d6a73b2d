/* updates.h: what updates do, at each level: 0 plain, 1 in a sweep, 2 with tangents, 3 forward again after a sweep, which
 * takes it back: gains are lost, and what the sweep discarded is there again.
 *
 * In a sweep the machine goes down, and the handler that meets the counter is the inverse's: that of `sub` performs the
 * adjoint of `add`. So its shadows follow the rule of its inverse. Everything is read, then it is decided whether the update
 * fails, then written: a failed instruction has changed nothing.
 *
 * Handlers inline these functions, with constants for rule, row, shape and level. One without a frame of its own on the C
 * stack (form LEAF or REGISTERS) must call nothing: where that would be necessary, the functions give up with UNUSUAL, and
 * another handler does it. */
#ifndef RVM_UPDATES_H
#define RVM_UPDATES_H

#include "places.h"
#include "rules.h"

/* Nothing has changed; a handler that may call has to do it. */
#define UNUSUAL RVM_ERR_INTERNAL

typedef struct update {
    rvm_machine *m;
    const rvm__xinsn *x;
    const rule *by;
    const rvm__kernel *row;
    shape s;
    update_places p;
} update;

FORCE_INLINE bool calls(const update *u) {
    return u->s.form == PLACES || u->s.form == SLOTS;
}
FORCE_INLINE bool is_checked(const update *u) {
    return !(u->x->flags & X_UNCHECKED);
}
FORCE_INLINE bool overflowed(const update *u, int overflow) {
    return u->by->type == RVM_FIX && unlikely(overflow) && is_checked(u);
}
FORCE_INLINE bool is_floating(const update *u) {
    return u->by->type == RVM_F64 || u->by->type == RVM_F32;
}
FORCE_INLINE bool has_inverse(const update *u, rvm_value f) {
    return !u->by->factor || !unlikely(f.f == 0 || !isfinite(f.f));
}

FORCE_INLINE rvm_value value_of(const update *u, int *overflow) {
    return u->row->f(*u->p.a, *u->p.b, *u->p.c, overflow);
}
FORCE_INLINE rvm_value partial(const update *u, int k, rvm_value f, int *overflow) {
    return u->row->d[k](*u->p.a, *u->p.b, *u->p.c, f, overflow);
}
FORCE_INLINE bool active(const update *u, int operand) {
    return has_shadow(u->x, u->s, operand + 1);
}
/* The first operand's shadow is that of another type. */
FORCE_INLINE bool converts(const update *u) {
    return calls(u) && u->x->flags & X_CONV;
}

/* ---- gains of operands: partials times the seed ---- */

typedef struct gains {
    rvm_value by[3];
} gains;

FORCE_INLINE gains gains_of(const update *u, rvm_value seed, rvm_value f, int *overflow) {
    gains g = {{{0}, {0}, {0}}};
    if (active(u, 0)) g.by[0] = u->by->times(partial(u, 0, f, overflow), seed, overflow);
    if (active(u, 1)) g.by[1] = u->by->times(partial(u, 1, f, overflow), seed, overflow);
    if (active(u, 2)) g.by[2] = u->by->times(partial(u, 2, f, overflow), seed, overflow);
    return g;
}

FORCE_INLINE bool gains_fit(const update *u, const gains *g, int overflow) {
    if (overflowed(u, overflow)) return false;
    if (u->by->type == RVM_FIX)
        return rvm__gain_fits(u->x, active(u, 0) ? u->p.a_ : NULL, g->by[0].i, active(u, 1) ? u->p.b_ : NULL, g->by[1].i,
                              active(u, 2) ? u->p.c_ : NULL, g->by[2].i);
    return !converts(u) || !active(u, 0) || rvm__conv_fits(u->x, u->p.a_, g->by[0]);
}

/* Operands gain it; lose: or what they gained is taken back. */
FORCE_INLINE void add_gains(const update *u, const gains *g, bool lose) {
    int overflow = 0;
    sum_function *sum = lose ? u->by->minus : u->by->plus;
    if (active(u, 0) && converts(u))
        rvm__conv_gain(u->x, u->p.a_,
                       !lose            ? g->by[0]
                       : is_floating(u) ? (rvm_value){.f = -g->by[0].f}
                                        : (rvm_value){.i = -g->by[0].i});
    else if (active(u, 0))
        *u->p.a_ = sum(*u->p.a_, g->by[0], &overflow);
    if (active(u, 1)) *u->p.b_ = sum(*u->p.b_, g->by[1], &overflow);
    if (active(u, 2)) *u->p.c_ = sum(*u->p.c_, g->by[2], &overflow);
}

/* Whether the operand has a tangent that counts: a constant's, which is 0 where all have one, does not, since its partial
 * may be infinite. */
FORCE_INLINE bool moves(const update *u, int operand) {
    return active(u, operand) && u->x->active >> (operand + 1) & 1;
}

/* The tangent of f. */
FORCE_INLINE rvm_value tangent_of(const update *u, rvm_value f, int *overflow) {
    rvm_value d = {0};
    if (moves(u, 0)) {
        const rvm_value a_ = converts(u) ? rvm__conv_tangent(u->x, *u->p.a_, overflow) : *u->p.a_;
        d = u->by->plus(d, u->by->times(partial(u, 0, f, overflow), a_, overflow), overflow);
    }
    if (moves(u, 1)) d = u->by->plus(d, u->by->times(partial(u, 1, f, overflow), *u->p.b_, overflow), overflow);
    if (moves(u, 2)) d = u->by->plus(d, u->by->times(partial(u, 2, f, overflow), *u->p.c_, overflow), overflow);
    return d;
}

/* ---- y += f and its like ---- */

static const rvm_value nothing = {0};

FORCE_INLINE rvm_status update_plain(const update *u) {
    int overflow = 0;
    const rvm_value f = value_of(u, &overflow), y = u->by->value(*u->p.y, f, nothing, nothing, &overflow);
    if (!has_inverse(u, f)) return RVM_ERR_DOMAIN;
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    *u->p.y = y;
    return RVM_OK;
}

FORCE_INLINE rvm_status update_in_sweep(const update *u) {
    int overflow = 0;
    const rvm_value f = value_of(u, &overflow), y = *u->p.y, y_ = *u->p.y_;
    const rvm_value new_y = u->by->value(y, f, nothing, nothing, &overflow);
    const rvm_value seed = u->by->inverse_seed(y, f, y_, nothing, &overflow);
    const rvm_value new_y_ = u->by->inverse_shadow_b(y, f, y_, nothing, &overflow);
    const gains g = gains_of(u, seed, f, &overflow);
    if (!has_inverse(u, f)) return RVM_ERR_DOMAIN;
    if (!gains_fit(u, &g, overflow)) return RVM_ERR_OVERFLOW;
    add_gains(u, &g, false);
    *u->p.y_ = new_y_;
    *u->p.y = new_y;
    return RVM_OK;
}

/* What is multiplied by the tangent of f: nothing where no operand moves, since y may be infinite. */
FORCE_INLINE rvm_value beside_tangent(const update *u, rvm_value y) {
    return moves(u, 0) || moves(u, 1) || moves(u, 2) ? y : nothing;
}

FORCE_INLINE rvm_status update_with_tangent(const update *u) {
    int overflow = 0;
    const rvm_value f = value_of(u, &overflow), d = tangent_of(u, f, &overflow), y = *u->p.y, y_ = *u->p.y_;
    const rvm_value new_y = u->by->value(y, f, nothing, nothing, &overflow);
    const rvm_value new_y_ = u->by->shadow_d(beside_tangent(u, y), f, y_, d, &overflow);
    if (!has_inverse(u, f)) return RVM_ERR_DOMAIN;
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    *u->p.y_ = new_y_;
    *u->p.y = new_y;
    return RVM_OK;
}

/* y's shadow goes back by the rule of the other half of the pair. */
FORCE_INLINE rvm_status update_again(const update *u) {
    int overflow = 0;
    const rvm_value f = value_of(u, &overflow), y = *u->p.y, y_ = *u->p.y_;
    const rvm_value new_y = u->by->value(y, f, nothing, nothing, &overflow);
    const rvm_value new_y_ = u->by->inverse_shadow_b(y, f, y_, nothing, &overflow);
    const rvm_value seed = u->by->seed(new_y, f, new_y_, nothing, &overflow);
    const gains g = gains_of(u, seed, f, &overflow);
    if (!has_inverse(u, f)) return RVM_ERR_DOMAIN;
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    add_gains(u, &g, true);
    *u->p.y_ = new_y_;
    *u->p.y = new_y;
    return RVM_OK;
}

/* ---- y <- f, y -> f ---- */

/* What appears again has the shadow that the sweep dropped, which its operands gained. */
FORCE_INLINE rvm_status let_again(const update *u) {
    int overflow = 0;
    const rvm_value f = value_of(u, &overflow);
    if (!calls(u)) return UNUSUAL;
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    const rvm_value seed = rvm__redo_pop(u->m);
    const gains g = gains_of(u, seed, f, &overflow);
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    add_gains(u, &g, true);
    *u->p.y_ = seed;
    *u->p.y = f;
    return RVM_OK;
}

/* Whether the value that disappears is f: bit for bit, or within the tolerance. */
FORCE_INLINE rvm_status agree(const update *u, int *overflow) {
    const rvm_value f = value_of(u, overflow), y = *u->p.y;
    if (is_floating(u) ? y.f == f.f : y.i == f.i) return RVM_OK;
    if (!calls(u)) return UNUSUAL;
    return is_floating(u) && rvm__agrees(u->m, u->x, y.f, f.f) ? RVM_OK : RVM_ERR_RELEASE;
}

/* The shadow is dropped, and the operands gain by it. Partials take the value that disappears for f. */
FORCE_INLINE rvm_status drop_seed(const update *u) {
    int overflow = 0;
    rvm_status status;
    const rvm_value seed = *u->p.y_;
    const gains g = gains_of(u, seed, *u->p.y, &overflow);
    if (!gains_fit(u, &g, overflow)) return RVM_ERR_OVERFLOW;
    if (unlikely(u->m->o.keep_shadows)) {
        if (!calls(u)) return UNUSUAL;
        if ((status = rvm__redo_push(u->m, seed))) return status;
    }
    add_gains(u, &g, false);
    u->m->stats.shadows_dropped += 1;
    *u->p.y_ = nothing;
    return RVM_OK;
}

/* The shadow is the tangent of f. */
FORCE_INLINE rvm_status release_tangent(const update *u, int overflow) {
    const rvm_value d = tangent_of(u, *u->p.y, &overflow), y_ = *u->p.y_;
    if (unlikely(is_floating(u) ? y_.f != d.f : y_.i != d.i)) {
        if (!calls(u)) return UNUSUAL;
        if (!rvm__tangent_agrees(u->m, u->x, u->p.y_, d)) return RVM_ERR_TANGENT;
    }
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    *u->p.y_ = nothing;
    return RVM_OK;
}

FORCE_INLINE rvm_status drop_shadow(const update *u) {
    *u->p.y_ = nothing;
    return RVM_OK;
}

FORCE_INLINE rvm_status unlet_plain(const update *u) {
    int overflow = 0;
    return agree(u, &overflow);
}
FORCE_INLINE rvm_status unlet_in_sweep(const update *u) {
    const rvm_status status = unlet_plain(u);
    return unlikely(status) ? status : drop_seed(u);
}
FORCE_INLINE rvm_status unlet_with_tangent(const update *u) {
    int overflow = 0;
    const rvm_status status = agree(u, &overflow);
    return unlikely(status) ? status : release_tangent(u, overflow);
}
FORCE_INLINE rvm_status unlet_again(const update *u) {
    const rvm_status status = unlet_plain(u);
    return unlikely(status) ? status : drop_shadow(u);
}

/* What runs by level. `let` finds the shadow 0, and leaves it so in a sweep: as the adjoint of `unlet` it gives its operands
 * nothing. `forget` is `unlet` without the comparison. */
#define UPDATE_AT_0 update_plain
#define UPDATE_AT_1 update_in_sweep
#define UPDATE_AT_2 update_with_tangent
#define UPDATE_AT_3 update_again
#define LET_AT_0    update_plain
#define LET_AT_1    update_plain
#define LET_AT_2    update_with_tangent
#define LET_AT_3    let_again
#define UNLET_AT_0  unlet_plain
#define UNLET_AT_1  unlet_in_sweep
#define UNLET_AT_2  unlet_with_tangent
#define UNLET_AT_3  unlet_again
#define FORGET_AT_1 drop_seed
#define FORGET_AT_2 drop_shadow
#define FORGET_AT_3 drop_shadow

/* Whether the largest magnitude of the target is to be kept, which has just been given a value. */
FORCE_INLINE bool is_tracked(const update *u) {
    return is_floating(u) && u->s.form != REGISTERS && unlikely(u->x->flags & X_TRACK);
}
/* What rows that are not defined everywhere want of their operands. */
FORCE_INLINE bool is_defined(const update *u) {
    if (!unlikely(u->x->flags & X_DOMAIN)) return true;
    if (u->by->type == RVM_I64) return u->p.b->i != 0;
    return u->by->type == RVM_FIX ? u->p.a->i > 0 : u->p.a->f > 0 && isfinite(u->p.a->f);
}

/* Any row, on any places or slots, which are found. */
FORCE_INLINE rvm_status by_kernel(update *u, rvm_machine *m, const rvm__xinsn *x, rvm_value *r, const rule *by,
                                  enum form form, bool shadows) {
    *u = (update){.m = m, .x = x, .by = by, .row = &m->kernels[x->kernel], .s = {.form = form, .arity = x->arity}};
    return (form == SLOTS ? find_slots : find_any)(x, r, &m->run.frame, u->s, shadows, &u->p);
}

#endif

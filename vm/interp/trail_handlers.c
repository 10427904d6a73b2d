/* trail_handlers.c: handlers of the trail, at each level of updates.h: set and unset, drop and stow, recall and shed,
 * segments. `set` moves the old value onto the trail first; its operands may be the target. */
#include "updates.h"

FORCE_INLINE uint32_t site_of(const rvm_machine *m, const rvm__xinsn *x) {
    return x->arity < 3 ? x->set.site : rvm__set_site(m, x);
}

/* A value and its shadow, with the few that need no more inlined. */
FORCE_INLINE rvm_status onto_trail(rvm_machine *m, uint32_t site, rvm_value value, rvm_value shadow, int level) {
    rvm__trail_stack *t = m->trail.now;
    if (level == 3) return rvm__set_again(m, site, value, shadow);
    if (t->n == t->cap || m->trail.ones[site] || shadow.u || !rvm__trail_on(t, site))
        return rvm__trail_push_value(m, site, value, shadow);
    t->cells[t->n++] = value;
    m->trail.held++;
    return RVM_OK;
}
FORCE_INLINE rvm_status off_trail(rvm_machine *m, const rvm__xinsn *x, uint32_t site, int level, rvm_value *value,
                                  rvm_value *shadow) {
    const rvm__trail_stack *t = m->trail.now;
    shadow->u = 0;
    if (!t->n || t->last != site || m->trail.ones[site]) return rvm__set_top(m, x, site, level, value, shadow);
    *value = t->cells[t->n - 1];
    return RVM_OK;
}
FORCE_INLINE void drop_top(rvm_machine *m, uint32_t site) {
    rvm__trail_stack *t = m->trail.now;
    if (t->n < 2 || m->trail.held > m->trail.peak || m->trail.ones[site] || !rvm__trail_comes_off(t, site)) {
        rvm__trail_pop(m, 0);
        return;
    }
    rvm__trail_off(t);
    t->n--;
    m->trail.held--;
}

/* Forward again: the operands lose what they gained, the target among them, before it goes onto the trail. */
FORCE_INLINE rvm_status lose_again(const update *u, rvm_value f, rvm_value seed, gains *g) {
    int overflow = 0;
    *g = gains_of(u, seed, f, &overflow);
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    add_gains(u, g, true);
    return RVM_OK;
}

FORCE_INLINE rvm_status set(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, const rule *by, enum form form, int level) {
    update u;
    const uint32_t site = site_of(m, x);
    rvm_status status = by_kernel(&u, m, x, r, by, form, level > 0);
    if (status) return status;
    if (!is_defined(&u)) return RVM_ERR_DOMAIN;
    int overflow = 0;
    const rvm_value f = value_of(&u, &overflow), d = level == 2 ? tangent_of(&u, f, &overflow) : nothing;
    if (overflowed(&u, overflow)) return RVM_ERR_OVERFLOW;
    gains g;
    const rvm_value seed = level == 3 ? rvm__redo_pop(m) : nothing;
    if (level == 3 && (status = lose_again(&u, f, seed, &g))) return status;
    status = onto_trail(m, site, *u.p.y, level ? *u.p.y_ : nothing, level);
    if (level == 3 && status) {
        add_gains(&u, &g, false);
        rvm__redo_push(m, seed);
    }
    if (unlikely(status)) return status;
    if (level == 2) *u.p.y_ = by->shadow_d(*u.p.y, f, nothing, d, &overflow);
    if (level == 1 || level == 3) *u.p.y_ = seed; /* as adjoint of unset, what appears has no shadow */
    *u.p.y = by->value(*u.p.y, f, nothing, nothing, &overflow);
    if (is_tracked(&u)) track(m, x, &x->p[0], f.f);
    return RVM_OK;
}

/* What comes back must make what stood there: f of it. 0 and -0 agree, but not in exact runs. */
FORCE_INLINE rvm_status makes(const update *u, rvm_value was) {
    int overflow = 0;
    if (!is_checked(u)) return RVM_OK;
    if (!is_defined(u)) return RVM_ERR_DOMAIN;
    const rvm_value f = value_of(u, &overflow);
    const bool agree = is_floating(u) ? (was.f == f.f && was.f != 0) || rvm__agrees(u->m, u->x, was.f, f.f) : was.i == f.i;
    return agree ? RVM_OK : rvm__set_disagrees(u->m, u->x, was, f);
}

FORCE_INLINE rvm_status unset_in_sweep(const update *u, rvm_value was, rvm_value was_) {
    int overflow = 0;
    rvm_status status;
    const rvm_value seed = u->by->seed(was, nothing, was_, nothing, &overflow);
    const gains g = gains_of(u, seed, value_of(u, &overflow), &overflow);
    if (!gains_fit(u, &g, overflow)) return RVM_ERR_OVERFLOW;
    if (unlikely(u->m->o.keep_shadows) && (status = rvm__set_keep(u->m, was_))) return status;
    add_gains(u, &g, false);
    u->m->stats.shadows_dropped += 1;
    return RVM_OK;
}

FORCE_INLINE rvm_status unset_tangent(const update *u, rvm_value was_) {
    int overflow = 0;
    const rvm_value d = tangent_of(u, value_of(u, &overflow), &overflow);
    if (overflowed(u, overflow)) return RVM_ERR_OVERFLOW;
    const bool same = is_floating(u) ? was_.f == d.f : was_.i == d.i;
    return !is_checked(u) || same || rvm__tangent_agrees(u->m, u->x, &was_, d) ? RVM_OK : RVM_ERR_TANGENT;
}

FORCE_INLINE rvm_status unset(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, const rule *by, enum form form, int level) {
    update u;
    rvm_value old, old_;
    const uint32_t site = site_of(m, x);
    rvm_status status = by_kernel(&u, m, x, r, by, form, level > 0);
    if (status) return status;
    const rvm_value was = *u.p.y, was_ = level ? *u.p.y_ : nothing;
    if (unlikely((status = off_trail(m, x, site, level, &old, &old_)))) return status;
    *u.p.y = old;
    if (level) *u.p.y_ = old_;
    status = makes(&u, was);
    if (level == 1 && !status) status = unset_in_sweep(&u, was, was_);
    if (level == 2 && !status) status = unset_tangent(&u, was_);
    if (unlikely(status)) {
        *u.p.y = was;
        if (level) *u.p.y_ = was_;
        return status;
    }
    drop_top(m, site);
    if (is_tracked(&u)) track(m, x, &x->p[0], old.f);
    return RVM_OK;
}

#define TRAIL_HANDLER(level, name, ...)                                                                                     \
    HANDLER(level, name) {                                                                                                  \
        const rvm_status status = __VA_ARGS__;                                                                              \
        AFTER_CALL(status);                                                                                                 \
    }
#define SETS(level, T)                                                                                                      \
    static TRAIL_HANDLER(level, T##_set_of_slots, set(m, x, r, &rule_##T##_set, SLOTS, level)) OUTLINED TRAIL_HANDLER(      \
        level, T##_set_of_any, set(m, x, r, &rule_##T##_set, PLACES, level))                                                \
        BY_SLOTS(level, T##_set) static TRAIL_HANDLER(level, T##_unset_of_slots,                                            \
                                                      unset(m, x, r, &rule_##T##_set, SLOTS, level)) OUTLINED               \
        TRAIL_HANDLER(level, T##_unset_of_any, unset(m, x, r, &rule_##T##_set, PLACES, level)) BY_SLOTS(level, T##_unset)
#define AT(level)                                                                                                           \
    SETS(level, f64)                                                                                                        \
    SETS(level, fix)                                                                                                        \
    SETS(level, f32)                                                                                                        \
    TRAIL_HANDLER(level, drop, rvm__drop(m, x, level))                                                                      \
    TRAIL_HANDLER(level, undrop, rvm__undrop(m, x, level))                                                                  \
    TRAIL_HANDLER(level, stow, rvm__stow(m, x, level))                                                                      \
    TRAIL_HANDLER(level, unstow, rvm__unstow(m, x, level))                                                                  \
    SAME_HANDLER(level, shed, drop)                                                                                         \
    SAME_HANDLER(level, recall, undrop)
AT(0)
AT(1)
AT(2)
AT(3)
SETS(0, i64)

HANDLER(0, segment) {
    rvm__trail_segment(m, x->trail.level, 1);
    NEXT;
}
HANDLER(0, endsegment) {
    rvm__trail_segment(m, x->trail.level, -1);
    NEXT;
}

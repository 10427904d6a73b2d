/* exact_handlers.c: handlers of reals in runs that restore every bit (exact.h), at each level of updates.h: what rounding
 * loses is recorded, or taken back where the run restores. Shadows follow as in any run. */
#include "updates.h"

/* An update's rules by type, and what is recorded of it. */
typedef struct exact {
    const rule *f64, *f32;
    rvm__exact op, inverse;
} exact;

FORCE_INLINE bool restores(const rvm_machine *m, const rvm__xinsn *x) {
    return rvm__exact_restores(m, x->flags & X_OTHERWISE);
}

/* By the records, of the level that the instruction is of. */
static rvm_status back(rvm_machine *m, const rvm__xinsn *x, rvm__exact op, double after, double by, double *y) {
    m->exact.level = rvm__level_of(x);
    const rvm_status status = rvm__exact_back(m, (rvm_type)x->type, op, after, by, y);
    m->exact.level = RVM__OF_VALUES;
    return status;
}

static rvm_status keep(rvm_machine *m, const rvm__xinsn *x, rvm__exact op, double y, double by, double after) {
    m->exact.level = rvm__level_of(x);
    const rvm_status status = rvm__exact_keep(m, (rvm_type)x->type, op, y, by, after);
    m->exact.level = RVM__OF_VALUES;
    return status;
}

/* *y = *y op by, or what it was before that. */
FORCE_INLINE rvm_status exact_value(rvm_machine *m, const rvm__xinsn *x, const exact *e, double by, rvm_value *y) {
    const bool coded = x->type == RVM_F64 && (!rvm__exact_depth(m) || x->flags & X_OF_SHADOWS);
    double after, was;
    rvm_status status;
    if (restores(m, x)) {
        if (unlikely(!coded || !rvm__exact_alone(e->inverse, y->f, by, &after)) &&
            unlikely((status = back(m, x, e->inverse, y->f, by, &after))))
            return status;
    } else {
        after = rvm__exact_apply(e->op, y->f, by);
        if (x->type == RVM_F32) after = (double)(float)after;
        if (unlikely(!coded || !rvm__exact_alone(e->op, after, by, &was)) &&
            unlikely((status = keep(m, x, e->op, y->f, by, after))))
            return status;
        m->exact.updates++;
    }
    y->f = after;
    return RVM_OK;
}

/* ---- shadows: y is the target before, after behind ---- */

FORCE_INLINE gains exact_gains(const update *u, rvm_value y, rvm_value f) {
    int overflow = 0;
    return gains_of(u, u->by->inverse_seed(y, f, *u->p.y_, nothing, &overflow), f, &overflow);
}

FORCE_INLINE void exact_shadows(update *u, const rule *by, rvm_value y, rvm_value f, rvm_value after, int level) {
    int overflow = 0;
    const rvm_value y_ = *u->p.y_;
    u->by = by;
    if (level == 1) {
        const gains g = exact_gains(u, y, f);
        add_gains(u, &g, false);
        *u->p.y_ = by->inverse_shadow_b(y, f, y_, nothing, &overflow);
    } else if (level == 2) {
        *u->p.y_ = by->shadow_d(beside_tangent(u, y), f, y_, tangent_of(u, f, &overflow), &overflow);
    } else {
        const rvm_value new_y_ = by->inverse_shadow_b(y, f, y_, nothing, &overflow);
        const gains g = gains_of(u, by->seed(after, f, new_y_, nothing, &overflow), f, &overflow);
        add_gains(u, &g, true);
        *u->p.y_ = new_y_;
    }
}

/* Before anything changes: what of the shadows can fail. */
FORCE_INLINE bool exact_fits(update *u, const rule *by, rvm_value f) {
    u->by = by;
    const gains g = exact_gains(u, *u->p.y, f);
    return gains_fit(u, &g, 0);
}

FORCE_INLINE void exact_shadows_by_type(update *u, const exact *e, rvm_value y, rvm_value f, int level) {
    if (u->x->type == RVM_F32)
        exact_shadows(u, e->f32, y, f, *u->p.y, level);
    else
        exact_shadows(u, e->f64, y, f, *u->p.y, level);
}

/* ---- in a sweep, what a compute part borrows: while it runs again, shadows are set aside, so that nothing is gained; then
 * they are added to what has come of gains (docs/semantics.md, section 5) ---- */

/* Forward again: what operands have gained is lost, by the shadow that y had then. */
static void lose_exactly(update *u, rvm_value f, rvm_value then) {
    int overflow = 0;
    const gains g = gains_of(u, u->by->seed(*u->p.y, f, then, nothing, &overflow), f, &overflow);
    add_gains(u, &g, true);
    *u->p.y_ = then;
}

static rvm_status borrowed_update(update *u, const exact *e, rvm_value f, int level) {
    const bool aside = u->m->exact.borrowing == RVM__SETS_ASIDE;
    const rvm_value y = *u->p.y, y_ = *u->p.y_;
    rvm_value s[2] = {aside ? y_ : nothing, y_};
    int overflow = 0;
    rvm_status status = rvm__borrowed_begin(u->m, level, 1, s);
    if (status) return status;
    if ((status = exact_value(u->m, u->x, e, f.f, u->p.y))) {
        rvm__borrowed_cancel(u->m, level, 1, s);
        return status;
    }
    u->by = u->x->type == RVM_F32 ? e->f32 : e->f64;
    if (aside) {
        *u->p.y_ = level == 1 ? nothing : s[0];
    } else if (level == 3) {
        lose_exactly(u, f, s[1]);
    } else {
        exact_shadows_by_type(u, e, y, f, level);
        *u->p.y_ = u->by->plus(*u->p.y_, s[0], &overflow);
    }
    return RVM_OK;
}

/* ---- with tangents, in a compute part: the tangent is recorded beneath the value, and comes back with it, so that behind
 * `undo` it is what it was before. Whole, since tangents outside are recorded nowhere, and may come back otherwise ---- */

static rvm_status tangent_of_exact(rvm_machine *m, const rvm__xinsn *x, bool back, rvm_value *y_) {
    m->exact.level = rvm__level_of(x);
    const rvm_status status = back ? rvm__exact_back_whole(m, 1, y_) : rvm__exact_keep_whole(m, 1, y_);
    m->exact.level = RVM__OF_VALUES;
    return status;
}

static rvm_status update_with_exact_tangent(update *u, const exact *e, rvm_value f) {
    rvm_machine *m = u->m;
    const rvm__xinsn *x = u->x;
    const rvm_value y = *u->p.y;
    rvm_status status;
    if (restores(m, x)) {
        status = exact_value(m, x, e, f.f, u->p.y);
        return status ? status : tangent_of_exact(m, x, true, u->p.y_);
    }
    const rvm__exact_mark before = rvm__exact_held(m);
    status = tangent_of_exact(m, x, false, u->p.y_);
    if (!status) status = exact_value(m, x, e, f.f, u->p.y);
    if (status)
        rvm__exact_rewind(m, &before);
    else
        exact_shadows_by_type(u, e, y, f, 2);
    return status;
}

FORCE_INLINE rvm_status exact_update(rvm_machine *m, const rvm__xinsn *x, rvm_value *r, const exact *e, enum form form,
                                     int level) {
    update u;
    rvm_status status = by_kernel(&u, m, x, r, e->f64, form, level > 0);
    if (status) return status;
    if (!is_defined(&u)) return RVM_ERR_DOMAIN;
    int overflow = 0;
    const bool single = x->type == RVM_F32;
    const rvm_value y = *u.p.y, f = value_of(&u, &overflow);
    if (!has_inverse(&u, f)) return RVM_ERR_DOMAIN;
    if (level == 1 && unlikely(x->flags & X_CONV) && !(single ? exact_fits(&u, e->f32, f) : exact_fits(&u, e->f64, f)))
        return RVM_ERR_OVERFLOW;
    if ((level == 1 || level == 3) && unlikely(m->exact.borrowing)) return borrowed_update(&u, e, f, level);
    const bool inside = level == 2 && rvm__exact_depth(m);
    if ((status = inside ? update_with_exact_tangent(&u, e, f) : exact_value(m, x, e, f.f, u.p.y))) return status;
    /* Tangents are released by the magnitude of the value. */
    if ((level == 2 || level == 0) && unlikely(x->flags & X_TRACK) && m->bound.mode == RVM_TANGENT)
        track(m, x, &x->p[0], u.p.y->f);
    if (level && !inside) exact_shadows_by_type(&u, e, y, f, level);
    return RVM_OK;
}

/* ---- what appears and disappears ---- */

#define BY_TYPE(u, run) ((u)->x->type == RVM_F32 ? ((u)->by = &rule_f32_let, run(u)) : ((u)->by = &rule_f64_let, run(u)))

FORCE_INLINE rvm_status release_exactly(const update *u) {
    return release_tangent(u, 0);
}

FORCE_INLINE rvm_status agree_exactly(const update *u) {
    int overflow = 0;
    return rvm__exact_same(u->p.y->f, value_of(u, &overflow).f) ? RVM_OK : RVM_ERR_RELEASE;
}

#define EXACT_HANDLER(level, name, ...)                                                                                     \
    HANDLER(level, name) {                                                                                                  \
        rvm_status status;                                                                                                  \
        {__VA_ARGS__} AFTER_CALL(status);                                                                                   \
    }
#define EXACT_UPDATE(level, family, e)                                                                                      \
    static EXACT_HANDLER(level, x_##family##_of_slots, status = exact_update(m, x, r, &e, SLOTS, level);) OUTLINED          \
    EXACT_HANDLER(level, x_##family##_of_any, status = exact_update(m, x, r, &e, PLACES, level);)                           \
        BY_SLOTS(level, x_##family)
#define EXACT_LETS(level, forget)                                                                                           \
    EXACT_HANDLER(level, x_let, update u; status = by_kernel(&u, m, x, r, &rule_f64_let, PLACES, level > 0);                \
                  if (!status && !is_defined(&u)) status = RVM_ERR_DOMAIN;                                                  \
                  if (!status) status = BY_TYPE(&u, LET_AT_##level);                                                        \
                  if (!status && is_tracked(&u)) track(m, x, &x->p[0], u.p.y->f);)                                          \
    EXACT_HANDLER(level, x_unlet, update u; status = by_kernel(&u, m, x, r, &rule_f64_let, PLACES, level > 0);              \
                  if (!status && !is_defined(&u)) status = RVM_ERR_DOMAIN; if (!status) status = agree_exactly(&u);         \
                  if (!status) status = BY_TYPE(&u, forget);)
FORCE_INLINE rvm_status forget_plain(const update *u) {
    (void)u;
    return RVM_OK;
}
static const exact exact_add = {&rule_f64_add, &rule_f32_add, RVM__EXACT_ADD, RVM__EXACT_SUB};
static const exact exact_sub = {&rule_f64_sub, &rule_f32_sub, RVM__EXACT_SUB, RVM__EXACT_ADD};
static const exact exact_mul = {&rule_f64_mul, &rule_f32_mul, RVM__EXACT_MUL, RVM__EXACT_DIV};
static const exact exact_div = {&rule_f64_div, &rule_f32_div, RVM__EXACT_DIV, RVM__EXACT_MUL};
#define AT(level, forget)                                                                                                   \
    EXACT_UPDATE(level, add, exact_add)                                                                                     \
    EXACT_UPDATE(level, sub, exact_sub)                                                                                     \
    EXACT_UPDATE(level, mul, exact_mul)                                                                                     \
    EXACT_UPDATE(level, div, exact_div)                                                                                     \
    EXACT_LETS(level, forget)
AT(0, forget_plain)
AT(1, drop_seed)
AT(2, release_exactly)
AT(3, drop_shadow)

/* A derivative program takes back what another function recorded, beneath records of its own. */
HANDLER(0, x_foreign) {
    FAIL(rvm__exact_refuse_foreign(m));
}
SAME_HANDLER(0, x_foreign_back, x_foreign)

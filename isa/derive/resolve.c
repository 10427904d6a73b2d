/* resolve.c: the code of derived functions, in rounds, each of which verifies what is there, since the transforms rely on
 * what the verifier proves. Writing one declares those of its callees (transform.c).
 */
#include "derive.h"
#include "verify.h"
#include "callgraph.h"
#include "sites.h"
#include "support.h"
#include <stdio.h>
#include <string.h>

static rvm_status check_closed(const rvm_program *p, const rvm__activity *a, const rvm__derivation *d, rvm_error *err) {
    const rvm_function *f = &p->functions[d->of];
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (d->active[k] || !rvm__is_param_active(p, a, d->of, k)) continue;
        char given[200] = "";
        for (uint32_t j = 0, n = 0; j < f->nparams && n < sizeof given; j++)
            if (d->active[j]) n += (uint32_t)snprintf(given + n, sizeof given - n, "%s%s", n ? ", " : "", f->params[j].name);
        return rvm__fail_at(err, RVM_ERR_UNSUPPORTED, p, d->of, 0,
                            "'%s' of '%s' depends on what is active (%s), so it must be active too", f->params[k].name,
                            f->name, given);
    }
    return RVM_OK;
}

typedef struct round_ {
    rvm_program *p;
    rvm_error *err;
    rvm__zone memory;
    rvm__reach *reach;
    uint8_t *skip;
    uint32_t n; /* functions when it began */
    rvm__callgraph calls;
    uint32_t next_site;
    rvm__verifier v;
    rvm__activity a[2]; /* of what is derived, of what that calls */
} round_;

static rvm_status derive_one(round_ *w, const rvm__derivation *d) {
    rvm_program *p = w->p;
    rvm__derive t = {.p = p, .err = w->err, .src = d->of, .dst = d->fn, .kind = (rvm_transform)d->kind, .wrt = d->active};
    t.a = w->a[0];
    t.of_callee = &w->a[1];
    t.paired = d->paired;
    t.borrowing = (enum rvm__borrowing)d->borrowing;
    t.level = d->level ? d->level : w->reach[d->of].order;
    t.reach = w->reach;
    t.nreach = w->n;
    t.next_site = &w->next_site;
    t.v = &w->v;
    rvm__activity_find(p, &t.a, d->of, d->active, d->stack);
    t.status = check_closed(p, &t.a, d, w->err);
    if (!t.status && t.level >= RVM_MAX_ORDER)
        t.status = rvm__fail_at(w->err, RVM_ERR_UNSUPPORTED, p, d->of, 0, "derivatives of '%s' nest deeper than %d",
                                p->functions[d->of].name, RVM_MAX_ORDER);
    if (!t.status) {
        rvm__derive_begin(&t);
        if (!t.status) rvm__derive_code(&t);
        rvm__derive_end(&t);
    }
    return t.status;
}

/* Whether a variant's table is for the function: see builder.h. */
static bool is_derived_for(const rvm_program *p, uint32_t fn, const rvm_variant *v) {
    const rvm_function *f = &p->functions[fn];
    return f->value != RVM_VALUE_NEVER && !f->no_derived && rvm__fits_types(p, fn, v->of);
}

/* The derived functions of a variant, for all whose parent's function has code. Counts the steps. */
static rvm_status fill_variant(rvm_program *p, uint32_t variant, const rvm__reach *reach, uint32_t n, uint32_t *steps,
                               rvm_error *err) {
    const rvm_variant v = p->variants[variant]; /* the tables may move */
    bool full = p->variants[v.parent].full;
    for (uint32_t fn = 0; fn < n; fn++) {
        if (!is_derived_for(p, fn, &v) || rvm__variant_has(p, variant, fn)) continue;
        if (reach[fn].ready && !rvm__fits(p, fn, v.of)) continue;
        const int64_t of = reach[fn].ready ? rvm__variant_callee(p, v.parent, fn) : -1;
        const bool ready = of >= 0 && of < n && reach[of].ready;
        full = full && ready;
        if (!ready) continue;
        const rvm__request r = {.of = (uint32_t)of,
                                .kind = (rvm_transform)v.kind,
                                .level = v.level,
                                .stack = v.stack,
                                .paired = v.paired,
                                .borrowing = v.borrowing,
                                .active = v.active,
                                .reach = reach,
                                .nreach = n};
        uint32_t derived;
        RVM__TRY(rvm__transform_request(p, &r, &derived, err));
        if (!rvm__variant_set(p, variant, fn, derived)) return rvm__fail_memory(err);
        ++*steps;
    }
    *steps += full && !v.full;
    p->variants[variant].full = full;
    return RVM_OK;
}

static rvm_status fill_variants(round_ *w, uint32_t *steps) {
    for (uint32_t k = 0; k < w->p->nvariants; k++)
        if (w->p->variants[k].parent != k) RVM__TRY(fill_variant(w->p, k, w->reach, w->n, steps, w->err));
    return RVM_OK;
}

/* Those that this declares, too, as far as the round has verified what they derive from. */
static rvm_status write_ready(round_ *w, uint32_t *steps) {
    for (int k = 0; k < 2; k++) {
        void *block = rvm__zone_make(&w->memory, rvm__activity_size(w->p), 1);
        if (!block) return rvm__fail_memory(w->err);
        w->a[k] = rvm__activity_in(w->p, block);
        w->a[k].calls = &w->calls;
    }
    for (uint32_t k = 0; k < w->p->nderived; k++) {
        const rvm__derivation d = w->p->derived[k]; /* the table may move */
        if (!rvm__is_pending(&w->p->functions[d.fn]) || d.of >= w->n || !w->reach[d.of].ready) continue;
        RVM__TRY(derive_one(w, &d));
        ++*steps;
    }
    return RVM_OK;
}

static const rvm_function *first_pending(const rvm_program *p) {
    for (uint32_t k = 0; k < p->nfunctions; k++)
        if (rvm__is_pending(&p->functions[k])) return &p->functions[k];
    return NULL;
}

/* A variant that is not full waits for functions that call its derivatives. One whose address is not taken is left out. */
static rvm_status stuck_variant(const round_ *w, uint32_t variant, uint32_t *steps) {
    rvm_program *p = w->p;
    const rvm_variant *v = &p->variants[variant];
    for (uint32_t fn = 0; fn < w->n; fn++) {
        if (w->reach[fn].ready || !is_derived_for(p, fn, v)) continue;
        if (p->functions[fn].value == RVM_VALUE_TAKEN)
            return rvm__fail_at(w->err, RVM_ERR_UNSUPPORTED, p, fn, 0,
                                "'%s' calls the derivative '%s' of function values of type %s, one of which it is itself: "
                                "that would never end",
                                p->functions[fn].name, rvm__transform_tick[v->kind], p->signatures[v->of].text);
        p->functions[fn].no_derived = true;
        ++*steps;
    }
    return RVM_OK;
}

/* Nothing can be written any more: who waits for itself. */
static rvm_status stuck(const round_ *w) {
    uint32_t steps = 0;
    for (uint32_t k = 0; k < w->p->nvariants; k++)
        if (!w->p->variants[k].full) RVM__TRY(stuck_variant(w, k, &steps));
    if (steps) return RVM_OK;
    const rvm_function *pending = first_pending(w->p);
    if (!pending) return rvm__fail(w->err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "a function value has no derivative");
    const rvm__derivation *d = rvm__derived_find(w->p, (uint32_t)(pending - w->p->functions));
    if (!d) return rvm__fail(w->err, RVM_ERR_VERIFY, NULL, 0, 0, "function '%s' has no code", pending->name);
    char of[RVM__SHOWN], shown[RVM__SHOWN];
    rvm__shown_name(w->p, d->of, of, sizeof of);
    rvm__shown_name(w->p, d->fn, shown, sizeof shown);
    return rvm__fail_at(w->err, RVM_ERR_UNSUPPORTED, w->p, d->of, 0,
                        "'%s' has no derivative '%s': it calls its own derivative, which would never end", of, shown);
}

/* Whether code or a table is still to be made. */
static bool unfinished(const rvm_program *p) {
    for (uint32_t k = 0; k < p->nvariants; k++)
        if (!p->variants[k].full) return true;
    return first_pending(p) != NULL;
}

static rvm_status begin_round(round_ *w) {
    w->n = w->p->nfunctions;
    w->reach = rvm__zone_make(&w->memory, w->n, sizeof *w->reach);
    w->skip = rvm__zone_make(&w->memory, w->n, 1);
    rvm__mark_values(w->p);
    if (!w->reach || !w->skip || !rvm__reach_find(w->p, w->reach) || !rvm__callgraph_make(w->p, true, &w->calls))
        return rvm__fail_memory(w->err);
    for (uint32_t k = 0; k < w->n; k++) w->skip[k] = !w->reach[k].ready;
    return rvm__verify_part(&w->v, w->p, w->skip, w->err);
}

static void end_round(round_ *w) {
    if (w->v.p) rvm__verify_release(&w->v);
    rvm__callgraph_free(&w->p->al, &w->calls);
    rvm__zone_free(&w->memory);
    *w = (round_){.p = w->p, .err = w->err, .memory = w->memory};
}

rvm_status rvm__transform_resolve(rvm_program *p, rvm_error *err) {
    round_ w = {.p = p, .err = err, .memory = {.al = &p->al}};
    rvm_status s = RVM_OK;
    while (!s && unfinished(p)) {
        uint32_t steps = 0;
        s = begin_round(&w);
        if (!s) w.next_site = rvm__sites_next(p);
        if (!s) s = fill_variants(&w, &steps);
        if (!s) s = write_ready(&w, &steps);
        if (!s && !steps) s = stuck(&w);
        end_round(&w);
    }
    return s ? s : rvm__verify(p, err);
}

/* transform.c: which functions are derived, in which order, and their names and parameters. See transform.h.
 *
 * A derived function is declared when something calls it and written when the function it derives from, and all that that
 * one calls, has code: in rounds, each of which verifies what is there, since the transforms rely on what the verifier
 * proves. Writing one declares those of its callees.
 */
#include "derive.h"
#include "verify.h"
#include "builder.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

const char *const rvm__transform_tick[RVM_TRANSFORM_COUNT] = {"inv", "tan", "adj", "grad"};

typedef struct rvm__derived {
    uint32_t fn, of;
    uint8_t kind, level, depth; /* depth: of nesting */
    bool stack;
    uint8_t active[RVM_MAX_PARAMS];
} rvm__derived;

void rvm__transform_forget(rvm_program *p) {
    rvm__realloc(&p->al, p->derived, p->cap_derived * sizeof *p->derived, 0);
    p->derived = NULL;
    p->nderived = p->cap_derived = 0;
}

static const rvm__derived *find_derived(const rvm_program *p, uint32_t fn) {
    for (uint32_t k = 0; k < p->nderived; k++)
        if (p->derived[k].fn == fn) return &p->derived[k];
    return NULL;
}

bool rvm__transform_of(const rvm_program *p, uint32_t fn, rvm_transform *kind, uint32_t *of, const uint8_t **active) {
    const rvm__derived *d = find_derived(p, fn);
    if (!d) return false;
    *kind = (rvm_transform)d->kind;
    *of = d->of;
    *active = d->active;
    return true;
}

/* ---- names ---- */

enum { NAME_SIZE = 4096 };

static size_t append(char *name, size_t at, const char *text) {
    const int n = at < NAME_SIZE ? snprintf(name + at, NAME_SIZE - at, "%s", text) : 0;
    return at + (n > 0 ? (size_t)n : 0);
}

static size_t name_of(const rvm_program *p, const rvm__request *r, const uint8_t *active, char *name) {
    const rvm_function *f = &p->functions[r->of];
    size_t at = append(name, 0, f->name);
    at = append(name, append(name, at, "'"), rvm__transform_tick[r->kind]);
    bool all = true;
    for (uint32_t k = 0; k < f->nparams; k++) all &= active[k] || f->params[k].type == RVM_I64;
    if (!all && r->kind != RVM_INVERSE) {
        at = append(name, at, "'wrt");
        for (uint32_t k = 0; k < f->nparams; k++)
            if (active[k]) at = append(name, append(name, at, "'"), f->params[k].name);
        for (char *c = name; c < name + NAME_SIZE && *c; c++)
            if (*c == '.') *c = '\''; /* a part, as z.re: no other parameter is called z then */
    }
    char level[24] = "";
    if (r->level) snprintf(level, sizeof level, "'at%d", r->level);
    return append(name, append(name, at, level), r->stack ? "'stack" : "");
}

static bool has_param(const rvm_function *f, const char *name) {
    for (uint32_t k = 0; k < f->nparams; k++)
        if (!strcmp(f->params[k].name, name)) return true;
    return false;
}

/* A name for the shadow that neither the source nor the function being declared has. */
static void shadow_name(const rvm_function *f, const rvm_function *g, const char *of, rvm_transform kind, char *name,
                        size_t size) {
    const char *suffix = kind == RVM_TANGENT_OF ? "_d" : "_b";
    snprintf(name, size, "%s%s", of, suffix);
    for (int k = 2; has_param(f, name) || has_param(g, name); k++) snprintf(name, size, "%s%s%d", of, suffix, k);
}

/* ---- declaring ---- */

static rvm_status no_memory(rvm_error *err) {
    return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
}

static rvm_status add_param(rvm_program *p, rvm_function *g, const rvm_param *q, const char *name, rvm_error *err) {
    rvm_param copy = *q;
    const int64_t at = q->ndim ? rvm__function_add_array(p, g, (rvm_type)q->type, q->ndim)
                               : rvm__function_add_register(p, g, (rvm_type)q->type);
    if (g->nparams == RVM_MAX_PARAMS)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "'%s' has more than %d parameters", g->name, RVM_MAX_PARAMS);
    if (at < 0) return no_memory(err);
    copy.index = (uint16_t)at;
    memset(copy.dim, 0, sizeof copy.dim); /* filled when the code is written */
    return rvm__function_add_param(p, g, &copy, name, strlen(name)) < 0 ? no_memory(err) : RVM_OK;
}

static rvm_status add_params(rvm_program *p, const rvm__derived *d, rvm_error *err) {
    const rvm_function *f = &p->functions[d->of];
    rvm_function *g = &p->functions[d->fn];
    for (uint32_t k = 0; k < f->nparams; k++) {
        RVM__TRY(add_param(p, g, &f->params[k], f->params[k].name, err));
        if (!d->active[k]) continue;
        char name[1024];
        shadow_name(f, g, f->params[k].name, (rvm_transform)d->kind, name, sizeof name);
        RVM__TRY(add_param(p, g, &f->params[k], name, err));
    }
    return RVM_OK;
}

/* A function of the name that the program brought along, with the parameters that the derived one would have. */
static rvm_status check_existing(const rvm_program *p, uint32_t fn, const rvm__derived *d, rvm_error *err) {
    const rvm_function *f = &p->functions[d->of], *g = &p->functions[fn];
    uint32_t at = 0;
    bool same = true;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int copies = 0; copies <= (d->active[k] != 0); copies++, at++)
            same = same && at < g->nparams && g->params[at].type == f->params[k].type &&
                   g->params[at].ndim == f->params[k].ndim;
    if (same && at == g->nparams) return RVM_OK;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "'%s' is there already, with other parameters than those of '%s'",
                     g->name, f->name);
}

static rvm_status check_request(const rvm_program *p, const rvm__derived *d, rvm_error *err) {
    const rvm_function *f = &p->functions[d->of];
    for (uint32_t k = 0; k < f->nparams; k++)
        if (d->active[k] && f->params[k].type == RVM_I64)
            return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                             "no derivative with respect to '%s' of '%s': it is an integer", f->params[k].name, f->name);
    if (d->depth > RVM_MAX_ORDER)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "derivatives of '%s' nest deeper than %d", f->name,
                         RVM_MAX_ORDER);
    return RVM_OK;
}

static rvm_status declare(rvm_program *p, const rvm__request *r, rvm__derived *d, uint32_t *out, rvm_error *err) {
    char name[NAME_SIZE];
    const size_t length = name_of(p, r, d->active, name);
    if (length >= NAME_SIZE) return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "the name of a derivative is too long");
    const int64_t there = rvm__program_find(p, name, length);
    if (there >= 0) {
        *out = (uint32_t)there;
        return check_existing(p, *out, d, err);
    }
    RVM__TRY(check_request(p, d, err));
    if (!rvm__grow(&p->al, (void **)&p->derived, &p->cap_derived, p->nderived + 1, sizeof *p->derived))
        return no_memory(err);
    const int64_t fn = rvm__program_add_function(p, name, length);
    if (fn < 0) return no_memory(err);
    d->fn = *out = (uint32_t)fn;
    p->derived[p->nderived++] = *d;
    p->verified = p->roles_claimed = false;
    p->id[0] = p->id[1] = 0;
    return add_params(p, d, err);
}

/* The order of a function as far as it is known, which is the level of its next transform. */
static int order_of(const rvm_program *p, const rvm__request *r, uint32_t fn) {
    if (fn < r->nreach && r->reach[fn].ready) return r->reach[fn].order;
    const rvm__derived *d = find_derived(p, fn);
    if (!d) return 0;
    return d->kind == RVM_INVERSE ? order_of(p, r, d->of) : 0;
}

static bool touches_trail(const rvm_program *p, const rvm__request *r, uint32_t fn) {
    if (fn < r->nreach && r->reach[fn].ready) return r->reach[fn].trail;
    const rvm__derived *d = find_derived(p, fn);
    return !d || touches_trail(p, r, d->of);
}

static bool touches_stack(const rvm_program *p, const rvm__request *r, uint32_t fn) {
    if (fn < r->nreach && r->reach[fn].ready) return r->reach[fn].stack;
    const rvm__derived *d = find_derived(p, fn);
    return !d || touches_stack(p, r, d->of);
}

/* Equal code under equal names: the level and the stack count only where they make a difference. */
static rvm__request normal(const rvm_program *p, const rvm__request *r) {
    rvm__request n = *r;
    if (r->kind == RVM_INVERSE) n.level = 0, n.stack = false;
    if (r->kind == RVM_TANGENT_OF && !touches_trail(p, r, r->of) && !(r->stack && touches_stack(p, r, r->of))) n.level = 0;
    if (n.level && n.level == order_of(p, r, r->of)) n.level = 0;
    if (n.stack && !touches_stack(p, r, r->of)) n.stack = false;
    return n;
}

rvm_status rvm__transform_request(rvm_program *p, const rvm__request *r, uint32_t *out, rvm_error *err) {
    const rvm__request n = normal(p, r);
    const rvm_function *f = &p->functions[n.of];
    const rvm__derived *from = find_derived(p, n.of);
    rvm__derived d = {.of = n.of, .kind = (uint8_t)n.kind, .level = n.level, .stack = n.stack};
    d.depth = (uint8_t)(from ? from->depth + 1 : 1);
    for (uint32_t k = 0; k < f->nparams && n.kind != RVM_INVERSE; k++)
        d.active[k] = n.active ? n.active[k] != 0 : f->params[k].type != RVM_I64;
    return declare(p, &n, &d, out, err);
}

rvm_status rvm__transform_declare(rvm_program *p, uint32_t fn, rvm_transform kind, const uint8_t *active, uint32_t *out,
                                  rvm_error *err) {
    const rvm__request r = {.of = fn, .kind = kind, .active = active};
    return rvm__transform_request(p, &r, out, err);
}

/* ---- writing ---- */

static rvm_status check_closed(const rvm_program *p, const rvm__activity *a, const rvm__derived *d, rvm_error *err) {
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
    rvm__reach *reach;
    uint8_t *skip;
    uint32_t n; /* functions when it began */
    uint32_t next_site;
    rvm__verifier v;
} round_;

static rvm_status derive(round_ *w, const rvm__derived *d) {
    rvm_program *p = w->p;
    const size_t size = rvm__activity_size(p);
    rvm__derive t = {.p = p, .err = w->err, .src = d->of, .dst = d->fn, .kind = (rvm_transform)d->kind, .wrt = d->active};
    void *block = rvm__realloc(&p->al, NULL, 0, size);
    if (!block) return no_memory(w->err);
    t.a = rvm__activity_in(p, block);
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
        rvm__derive_code(&t);
        rvm__derive_end(&t);
    }
    rvm__realloc(&p->al, block, size, 0);
    return t.status;
}

/* ---- tables of variants ---- */

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
                                .active = v.active,
                                .reach = reach,
                                .nreach = n};
        uint32_t derived;
        RVM__TRY(rvm__transform_request(p, &r, &derived, err));
        if (!rvm__variant_set(p, variant, fn, derived)) return no_memory(err);
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

/* ---- rounds ---- */

static rvm_status write_ready(round_ *w, uint32_t *steps) {
    const uint32_t n = w->p->nderived;
    for (uint32_t k = 0; k < n; k++) {
        const rvm__derived d = w->p->derived[k]; /* the table may move */
        if (!rvm__is_pending(&w->p->functions[d.fn]) || d.of >= w->n || !w->reach[d.of].ready) continue;
        RVM__TRY(derive(w, &d));
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
    const rvm__derived *d = find_derived(w->p, (uint32_t)(pending - w->p->functions));
    if (!d) return rvm__fail(w->err, RVM_ERR_VERIFY, NULL, 0, 0, "function '%s' has no code", pending->name);
    return rvm__fail_at(w->err, RVM_ERR_UNSUPPORTED, w->p, d->of, 0,
                        "'%s' has no derivative '%s': it calls its own derivative, which would never end",
                        w->p->functions[d->of].name, pending->name);
}

/* Whether code or a table is still to be made. */
static bool unfinished(const rvm_program *p) {
    for (uint32_t k = 0; k < p->nvariants; k++)
        if (!p->variants[k].full) return true;
    return first_pending(p) != NULL;
}

static rvm_status begin_round(round_ *w) {
    w->n = w->p->nfunctions;
    w->reach = rvm__realloc(&w->p->al, NULL, 0, w->n * sizeof *w->reach + 1);
    w->skip = rvm__realloc(&w->p->al, NULL, 0, w->n + 1u);
    if (!w->reach || !w->skip) return no_memory(w->err);
    rvm__mark_values(w->p);
    rvm__reach_find(w->p, w->reach);
    for (uint32_t k = 0; k < w->n; k++) w->skip[k] = !w->reach[k].ready;
    return rvm__verify_part(&w->v, w->p, w->skip, w->err);
}

static void end_round(round_ *w) {
    if (w->v.p) rvm__verify_release(&w->v);
    rvm__realloc(&w->p->al, w->reach, w->n * sizeof *w->reach + 1, 0);
    rvm__realloc(&w->p->al, w->skip, w->n + 1u, 0);
    w->reach = NULL;
    w->skip = NULL;
    w->v = (rvm__verifier){.p = NULL};
}

static uint32_t sites_of(const rvm_program *p) {
    int64_t next = 0;
    for (uint32_t k = 0; k < p->nfunctions; k++) {
        const rvm_function *f = &p->functions[k];
        for (uint32_t pc = 0; pc < f->ncode; pc++) {
            char buffer[256];
            const rvm_insn *in = &f->code[pc];
            const char *letters = rvm__place_letters(in, buffer);
            for (int q = 0; q < in->nplaces; q++) {
                const uint16_t slot = rvm__places(f, in)[q].slot;
                if (letters[q] == 's' && slot >= f->nregs && f->consts[slot - f->nregs].i >= next)
                    next = f->consts[slot - f->nregs].i + 1;
            }
        }
    }
    return (uint32_t)next;
}

rvm_status rvm__transform_resolve(rvm_program *p, rvm_error *err) {
    round_ w = {.p = p, .err = err};
    rvm_status s = RVM_OK;
    while (!s && unfinished(p)) {
        uint32_t steps = 0;
        s = begin_round(&w);
        if (!s) w.next_site = sites_of(p);
        if (!s) s = fill_variants(&w, &steps);
        if (!s) s = write_ready(&w, &steps);
        if (!s && !steps) s = stuck(&w);
        end_round(&w);
    }
    return s ? s : rvm__verify(p, err);
}

rvm_status rvm__transform_close(const rvm_program *p, uint32_t fn, uint8_t *active, bool stack, rvm_error *err) {
    const rvm_function *f = &p->functions[fn];
    const size_t size = rvm__activity_size(p);
    void *block = rvm__realloc(&p->al, NULL, 0, size);
    if (!block) return no_memory(err);
    rvm__activity a = rvm__activity_in(p, block);
    rvm__activity_find(p, &a, fn, active, stack);
    for (uint32_t k = 0; k < f->nparams; k++)
        if (rvm__is_param_active(p, &a, fn, k)) active[k] = 1;
    rvm__realloc(&p->al, block, size, 0);
    return RVM_OK;
}

/* transform.c: which functions are derived, their names and parameters. See transform.h.
 *
 * A derived function is declared when something calls it and written when the function it derives from, and all that that
 * one calls, has code (resolve.c).
 */
#include "derive.h"
#include "builder.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

const char *const rvm__transform_tick[RVM_TRANSFORM_COUNT] = {"inv", "tan", "adj", "grad"};

const rvm__derivation *rvm__derived_find(const rvm_program *p, uint32_t fn) {
    uint32_t lo = 0, hi = p->nderived; /* in order of fn */
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        *(p->derived[middle].fn < fn ? &lo : &hi) = middle + (p->derived[middle].fn < fn);
    }
    return lo < p->nderived && p->derived[lo].fn == fn ? &p->derived[lo] : NULL;
}

bool rvm__transform_of(const rvm_program *p, uint32_t fn, rvm_transform *kind, uint32_t *of, const uint8_t **active) {
    const rvm__derivation *d = rvm__derived_find(p, fn);
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
    at = append(name, append(name, at, level), r->stack ? "'stack" : "");
    at = append(name, at, p->origins ? "'counted" : ""); /* its own: one that is there does not tell where it is from, */
    if (!p->exact || r->kind == RVM_INVERSE || (r->kind == RVM_TANGENT_OF && !p->apart)) return at;
    static const char *const borrowing[] = {[RVM__SETS_ASIDE] = "'aside", [RVM__ADDS_AGAIN] = "'again"};
    at = append(name, at, r->paired ? "'paired" : "'exact"); /* or what it restores */
    return r->borrowing ? append(name, at, borrowing[r->borrowing]) : at;
}

void rvm__shown_name(const rvm_program *p, uint32_t fn, char *text, size_t size) {
    const rvm__derivation *d = rvm__derived_find(p, fn);
    if (!d) {
        snprintf(text, size, "%s", p->functions[fn].name);
        return;
    }
    const rvm_function *of = &p->functions[d->of];
    bool all = true, any = false;
    rvm__shown_name(p, d->of, text, size);
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, size - at, "'%s", rvm__transform_tick[d->kind]);
    for (uint32_t k = 0; k < of->nparams; k++) all &= d->active[k] || of->params[k].type == RVM_I64;
    for (uint32_t k = 0; k < of->nparams && !all && d->kind != RVM_INVERSE && at < size; k++) {
        if (d->active[k]) at += (size_t)snprintf(text + at, size - at, "%s%s", any ? ", " : "[", of->params[k].name);
        any |= d->active[k];
    }
    if (any && at < size) snprintf(text + at, size - at, "]");
}

static bool has_param(const rvm_function *f, const char *name) {
    for (uint32_t k = 0; k < f->nparams; k++)
        if (!strcmp(f->params[k].name, name)) return true;
    return false;
}

const char *rvm_shadow_suffix(rvm_transform kind) {
    return kind == RVM_TANGENT_OF ? "_d" : "_b";
}

int rvm__shadow_name(const char *of, rvm_transform kind, bool (*is_taken)(const void *by, const char *name), const void *by,
                     char *text, size_t size) {
    int length = snprintf(text, size, "%s%s", of, rvm_shadow_suffix(kind));
    for (int k = 2; is_taken(by, text); k++) length = snprintf(text, size, "%s%s%d", of, rvm_shadow_suffix(kind), k);
    return length;
}

/* The source, and the function being declared. */
static bool is_param_of_either(const void *both, const char *name) {
    const rvm_function *const *f = both;
    return has_param(f[0], name) || has_param(f[1], name);
}

/* ---- declaring ---- */

static rvm_status add_param(rvm_program *p, rvm_function *g, const rvm_param *q, const char *name, rvm_error *err) {
    rvm_param copy = *q;
    const int64_t at = q->ndim ? rvm__function_add_array(p, g, (rvm_type)q->type, q->ndim)
                               : rvm__function_add_register(p, g, (rvm_type)q->type);
    if (g->nparams == RVM_MAX_PARAMS)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "'%s' has more than %d parameters", g->name, RVM_MAX_PARAMS);
    if (at < 0) return rvm__fail_memory(err);
    copy.index = (uint16_t)at;
    memset(copy.dim, 0, sizeof copy.dim); /* filled when the code is written */
    return rvm__function_add_param(p, g, &copy, name, strlen(name)) < 0 ? rvm__fail_memory(err) : RVM_OK;
}

static rvm_status add_params(rvm_program *p, const rvm__derivation *d, rvm_error *err) {
    const rvm_function *f = &p->functions[d->of];
    rvm_function *g = &p->functions[d->fn];
    const rvm_function *const both[] = {f, g};
    for (uint32_t k = 0; k < f->nparams; k++) {
        RVM__TRY(add_param(p, g, &f->params[k], f->params[k].name, err));
        if (!d->active[k]) continue;
        char name[1024];
        rvm__shadow_name(f->params[k].name, (rvm_transform)d->kind, is_param_of_either, both, name, sizeof name);
        RVM__TRY(add_param(p, g, &f->params[k], name, err));
    }
    return RVM_OK;
}

/* A function of the name that the program brought along, with the parameters that the derived one would have. */
static rvm_status check_existing(const rvm_program *p, uint32_t fn, const rvm__derivation *d, rvm_error *err) {
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

static rvm_status check_request(const rvm_program *p, const rvm__derivation *d, rvm_error *err) {
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

static rvm_status declare(rvm_program *p, const rvm__request *r, rvm__derivation *d, uint32_t *out, rvm_error *err) {
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
        return rvm__fail_memory(err);
    const int64_t fn = rvm__program_add_function(p, name, length);
    if (fn < 0) return rvm__fail_memory(err);
    d->fn = *out = (uint32_t)fn;
    p->derived[p->nderived++] = *d;
    p->verified = p->roles_claimed = false;
    p->id[0] = p->id[1] = 0;
    return add_params(p, d, err);
}

/* The order of a function as far as it is known, which is the level of its next transform. */
static int order_of(const rvm_program *p, const rvm__request *r, uint32_t fn) {
    if (fn < r->nreach && r->reach[fn].ready) return r->reach[fn].order;
    const rvm__derivation *d = rvm__derived_find(p, fn);
    if (!d) return 0;
    return d->kind == RVM_INVERSE ? order_of(p, r, d->of) : 0;
}

static bool touches_trail(const rvm_program *p, const rvm__request *r, uint32_t fn) {
    if (fn < r->nreach && r->reach[fn].ready) return r->reach[fn].trail;
    const rvm__derivation *d = rvm__derived_find(p, fn);
    return !d || touches_trail(p, r, d->of);
}

static bool touches_stack(const rvm_program *p, const rvm__request *r, uint32_t fn) {
    if (fn < r->nreach && r->reach[fn].ready) return r->reach[fn].stack;
    const rvm__derivation *d = rvm__derived_find(p, fn);
    return !d || touches_stack(p, r, d->of);
}

/* Equal code under equal names: the level and the stack count only where they make a difference. */
static rvm__request normal(const rvm_program *p, const rvm__request *r) {
    rvm__request n = *r;
    if (r->kind == RVM_INVERSE) n.level = 0, n.stack = false;
    if (r->kind == RVM_TANGENT_OF && !touches_trail(p, r, r->of) && !(r->stack && touches_stack(p, r, r->of))) n.level = 0;
    if (n.level && n.level == order_of(p, r, r->of)) n.level = 0;
    if (n.stack && !touches_stack(p, r, r->of)) n.stack = false;
    n.paired &= p->exact && (r->kind == RVM_ADJOINT || (r->kind == RVM_TANGENT_OF && p->apart));
    return n;
}

rvm_status rvm__transform_request(rvm_program *p, const rvm__request *r, uint32_t *out, rvm_error *err) {
    const rvm__request n = normal(p, r);
    const rvm_function *f = &p->functions[n.of];
    const rvm__derivation *from = rvm__derived_find(p, n.of);
    rvm__derivation d = {.of = n.of, .kind = (uint8_t)n.kind, .level = n.level, .stack = n.stack, .paired = n.paired};
    d.borrowing = n.borrowing;
    d.depth = (uint8_t)(from ? from->depth + 1 : 1);
    for (uint32_t k = 0; k < f->nparams && n.kind != RVM_INVERSE; k++)
        d.active[k] = n.active ? n.active[k] != 0 : f->params[k].type != RVM_I64;
    const rvm_rule *rule = rvm__rule_find(p, n.of, n.kind, d.active);
    if (rule && n.level && (touches_trail(p, r, n.of) || touches_trail(p, r, rule->fn))) rule = NULL; /* see derive.c */
    if (rule && !memcmp(rule->active, d.active, rule->nactive)) {
        *out = rule->fn;
        return RVM_OK;
    }
    return declare(p, &n, &d, out, err);
}

rvm_status rvm__transform_declare(rvm_program *p, uint32_t fn, rvm_transform kind, const uint8_t *active, uint32_t *out,
                                  rvm_error *err) {
    const rvm__request r = {.of = fn, .kind = kind, .active = active};
    return rvm__transform_request(p, &r, out, err);
}

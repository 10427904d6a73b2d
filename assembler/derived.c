/* derived.c: derived functions by name: f'grad[out, x]'tan, or with numbers of parameters: f'grad[1, 3].
 *
 * A list behind a tick names the parameters that get a shadow; without one all reals do. Names are read while parsing and
 * declared once the parameters of all functions are known, so that calls are checked like any other; the code is written
 * when every function has its own.
 */
#include "asm.h"
#include "builder.h"
#include "program.h"
#include "transform.h"
#include <string.h>

const char *rvm__function_text(assembler *a, uint32_t fn) {
    char text[RVM__SHOWN];
    rvm__shown_name(a->program, fn, text, sizeof text);
    return rvm__arena_copy(a, text, strlen(text));
}

const char *rvm__callee_text(assembler *a, const callee *c) {
    return c->index < 0 ? c->name->text : rvm__function_text(a, (uint32_t)c->index);
}

const char *rvm__signature(assembler *a, const callee *c) {
    char text[400];
    size_t used = (size_t)snprintf(text, sizeof text, "%s(", rvm__callee_text(a, c));
    for (uint32_t k = 0; k < c->nparams && used < sizeof text - 1; k++) {
        const param *p = c->params + k;
        const int ndim = p->as.ndim;
        const char *type =
            p->as.signature ? a->program->signatures[p->as.signature - 1].text : rvm__type_text(a, p->as.type);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %s%s%.*s%s", k ? ", " : "", p->name->text, type,
                                 ndim ? "[" : "", ndim ? ndim - 1 : 0, ",,,", ndim ? "]" : "");
    }
    if (used >= sizeof text - 2) used = sizeof text - 2;
    memcpy(text + used, ")", 2);
    return rvm__arena_copy(a, text, used + 1);
}

/* The parameter that a list names or numbers, from 1; nparams: none. */
static uint32_t find_param(const callee *c, const expr *e) {
    uint32_t i = 0;
    int64_t number;
    if (rvm__is_whole(e))
        return rvm__exact_i64(e->u.exact, &number) && number > 0 && number <= c->nparams ? (uint32_t)number - 1 : c->nparams;
    while (i < c->nparams && c->params[i].name != e->u.name) i++;
    return i;
}

bool rvm__mark_active(assembler *a, const callee *c, const tick *t, uint8_t *active) {
    for (uint32_t k = 0; k < t->nactive; k++) {
        const expr *e = t->active[k];
        uint32_t i = find_param(c, e);
        if (i == c->nparams || rvm__shadow_type(a, c->params[i].as.type) == T_NONE) {
            int64_t number = INT64_MAX;
            const char *which = !rvm__is_whole(e)                     ? e->u.name->text
                                : rvm__exact_i64(e->u.exact, &number) ? rvm__number(a, number)
                                                                      : "of this number";
            rvm__diag(a, e->at, i == c->nparams ? D_UNKNOWN_ACTIVE : D_ACTIVE_I64, which, NULL, NULL);
            rvm__diag_hint(a, D_SIGNATURE, rvm__signature(a, c), NULL, NULL);
            return false;
        }
        uint32_t n;
        const leaf_type *leaves = rvm__leaves(a, c->params[i].as.type, &n);
        for (uint32_t part = 0; part < n; part++)
            if (leaves[part].type != RVM_I64) active[c->params[i].place[part]] = 1;
    }
    return true;
}

static bool is_named(const param *list, uint32_t n, const char *text) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k].name && !strcmp(list[k].name->text, text)) return true; /* NULL: no memory */
    return false;
}

/* Of the parameters of c, and of its derivative, which has list[n] so far. */
typedef struct names {
    const callee *c;
    const param *list;
    uint32_t n;
} names;

static bool is_taken(const void *by, const char *text) {
    const names *t = by;
    return is_named(t->c->params, t->c->nparams, text) || is_named(t->list, t->n, text);
}

/* The shadow of p, whose places are those of the shadows of p's. */
static param shadow_of(assembler *a, const param *p, const names *by, const rvm_function *f, rvm_transform kind) {
    param s = *p;
    char text[MAX_NAME + 16];
    const int length = rvm__shadow_name(p->name->text, kind, is_taken, by, text, sizeof text);
    uint32_t n, to = 0;
    const leaf_type *leaves = rvm__leaves(a, p->as.type, &n);
    s.place = rvm__arena(a, (n + 1) * sizeof *s.place);
    for (uint32_t k = 0; s.place && k < n; k++)
        if (leaves[k].type != RVM_I64) s.place[to++] = (uint16_t)(p->place[k] + 1);
    const char *own = f && s.place && !rvm__is_record(p->as.type) ? f->params[s.place[0]].name : NULL;
    s.name = rvm__intern(a, own ? own : text, own ? strlen(own) : (size_t)length);
    s.as.type = (uint8_t)rvm__shadow_type(a, p->as.type);
    return s;
}

static bool is_active(const assembler *a, const param *p, const uint8_t *active) {
    const uint32_t n = rvm__leaf_count(a, p->as.type);
    for (uint32_t k = 0; k < n; k++)
        if (active[p->place[k]]) return true;
    return false;
}

void rvm__derive_params(assembler *a, callee *c, rvm_transform kind, const uint8_t *active, const rvm_function *f) {
    uint16_t place[RVM_MAX_PARAMS + 1] = {0};
    param *list = rvm__arena(a, (2 * c->nparams + 1) * sizeof *list);
    uint32_t n = 0;
    if (!list) return;
    for (uint32_t k = 0; k < RVM_MAX_PARAMS; k++) place[k + 1] = (uint16_t)(place[k] + (active[k] ? 2 : 1));
    for (uint32_t k = 0; k < c->nparams && !a->oom; k++) {
        param *p = list + n++;
        *p = c->params[k];
        const bool shadowed = is_active(a, p, active);
        const uint32_t parts = rvm__leaf_count(a, p->as.type);
        if (!(p->place = rvm__arena(a, (parts + 1) * sizeof *p->place))) return;
        for (uint32_t part = 0; part < parts; part++) p->place[part] = place[c->params[k].place[part]];
        if (shadowed) {
            list[n] = shadow_of(a, p, &(names){c, list, n}, f, kind);
            n++;
        }
    }
    c->params = list;
    c->nparams = n;
}

static bool declare_tick(assembler *a, callee *c, const tick *t) {
    uint8_t active[RVM_MAX_PARAMS] = {0};
    rvm_error e = {0};
    uint32_t fn = (uint32_t)c->index;
    const rvm_function *f = a->program->functions + fn;
    if (!rvm__mark_active(a, c, t, active)) return false;
    for (uint32_t k = 0; k < f->nparams && !t->listed && t->kind != RVM_INVERSE; k++)
        active[k] = f->params[k].type != RVM_I64;
    rvm_status st = rvm__transform_declare(a->program, fn, (rvm_transform)t->kind, active, &fn, &e);
    if (st == RVM_ERR_MEMORY)
        a->oom = true;
    else if (st)
        rvm__diag_error(a, t->at, &e);
    if (st) return false;
    rvm__derive_params(a, c, (rvm_transform)t->kind, active, a->program->functions + fn);
    c->index = fn;
    return true;
}

static bool take_function(callee *c, const func *f) {
    if (f->broken) return false;
    c->index = f->index;
    c->params = f->params;
    c->nparams = f->nparams;
    return true;
}

static void declare_callee(assembler *a, callee *c) {
    const func *whole = c->word ? c->word->func : NULL, *base = whole ? whole : c->name->func;
    if (!base || !take_function(c, base)) return; /* it may be a function value: see rvm__callee */
    bool good = true;
    for (const tick *t = whole ? NULL : c->ticks; t && good; t = t->next) good = declare_tick(a, c, t);
    if (!good) c->index = -1;
}

/* ---- derivatives written by hand ---- */

static bool same_type(const param *p, const param *q) {
    return p->as.type == q->as.type && p->as.ndim == q->as.ndim && p->as.signature == q->as.signature;
}

/* c: what the derived one would be. */
static bool check_rule(assembler *a, const func *fn, const callee *c, const func *of) {
    uint32_t k = 0;
    while (k < c->nparams && k < fn->nparams && same_type(&c->params[k], &fn->params[k])) k++;
    if (k == c->nparams && k == fn->nparams) return true;
    rvm__diag(a, k < fn->nparams ? fn->params[k].at : fn->at, D_RULE_PARAMS, fn->name->text, of->name->text,
              rvm__number(a, k + 1));
    rvm__diag_hint(a, D_SIGNATURE, rvm__signature(a, c), NULL, NULL);
    return false;
}

static void declare_rule(assembler *a, const func *fn) {
    const func *of = fn->rule_of->func;
    rvm_rule rule = {.fn = fn->index, .kind = fn->rule->kind};
    if (!of && strchr(fn->rule_of->text, '\''))
        rvm__diag(a, fn->at, D_RULE_DERIVED, fn->rule_of->text, NULL, NULL);
    else if (!of)
        rvm__diag(a, fn->at, D_RULE_OF, fn->rule_of->text, rvm__near(a, fn->rule_of, NEAR_FUNC), NULL);
    callee c = {.name = fn->name, .index = -1};
    if (!of || fn->broken || !take_function(&c, of)) return;
    if (!rvm__mark_active(a, &c, fn->rule, rule.active)) return;
    const rvm_function *f = a->program->functions + of->index;
    rule.of = of->index;
    rule.nactive = f->nparams;
    for (uint32_t k = 0; k < f->nparams && !fn->rule->listed; k++) rule.active[k] = f->params[k].type != RVM_I64;
    c.index = -1;
    rvm__derive_params(a, &c, (rvm_transform)rule.kind, rule.active, NULL);
    if (a->oom || !check_rule(a, fn, &c, of)) return;
    const rvm_rule *same = rvm__rule_find(a->program, rule.of, (rvm_transform)rule.kind, rule.active);
    if (same && !memcmp(same->active, rule.active, rule.nactive))
        rvm__diag(a, fn->at, D_RULE_AGAIN, of->name->text, a->program->functions[same->fn].name, NULL);
    else if (!rvm__program_add_rule(a->program, &rule))
        a->oom = true;
}

/* What the listed parameters reach must be listed. */
static void check_list(assembler *a, const func *fn, const rvm_rule *rule) {
    const rvm_function *of = &a->program->functions[rule->of];
    uint8_t active[RVM_MAX_PARAMS];
    memcpy(active, rule->active, sizeof active);
    if (rvm_program_close_active(a->program, rule->of, active, NULL)) a->oom = true;
    for (uint32_t k = 0; k < of->nparams && !a->oom; k++) {
        if (active[k] == rule->active[k]) continue;
        rvm__diag(a, fn->at, D_RULE_LIST, of->params[k].name, of->name, NULL);
        return;
    }
}

void rvm__check_rules(assembler *a) {
    for (const func *fn = a->funcs; fn; fn = fn->next)
        for (uint32_t k = 0; fn->rule && fn->rule->listed && k < a->program->nrules; k++)
            if (a->program->rules[k].fn == fn->index) check_list(a, fn, &a->program->rules[k]);
}

void rvm__declare_derived(assembler *a) {
    for (const func *fn = a->funcs; fn && !a->oom; fn = fn->next)
        if (fn->rule_of) declare_rule(a, fn);
    for (callee *c = a->callees; c && !a->oom; c = c->next) declare_callee(a, c);
}

bool rvm__callee(assembler *a, callee *c) {
    const func *f = c->word && c->word->func ? c->word->func : c->name->func;
    if (!f) rvm__diag(a, c->at, D_UNKNOWN_FUNCTION, c->name->text, rvm__near(a, c->name, NEAR_FUNC), NULL);
    if (c->ticks) return c->index >= 0;
    return f && take_function(c, f);
}

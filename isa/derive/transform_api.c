/* transform_api.c: the transforms as functions from program to program, by index and by name. */
#include "transform.h"
#include "activity.h"
#include "builder.h"
#include "rbc.h"
#include "support.h"
#include <string.h>

int rvm__transform_find(const char *tick, size_t length) {
    for (int k = 0; k < RVM_TRANSFORM_COUNT; k++)
        if (strlen(rvm__transform_tick[k]) == length && !memcmp(rvm__transform_tick[k], tick, length)) return k;
    return -1;
}

/* Through its bytes, so that it needs no list of what a program is made of. */
rvm_status rvm__program_copy(const rvm_program *p, const rvm_allocator *al, rvm_program **out, rvm_error *err) {
    void *bytes = NULL;
    size_t size = 0;
    *out = NULL;
    rvm_status st = rvm__encode(p, &bytes, &size, err);
    if (!st) st = rvm__decode(bytes, size, "", al, out, err);
    rvm_program_free_bytes(p, bytes, size);
    if (st) return st;
    (*out)->roles_claimed = false;
    (*out)->exact = p->exact;
    (*out)->id[0] = (*out)->id[1] = 0;
    return RVM_OK;
}

/* Ends a derivation: writes what was declared in *out, or gives it up. */
static rvm_status finish(rvm_status st, rvm_program **out, rvm_error *err) {
    if (!st) st = rvm__transform_resolve(*out, err);
    if (!st) return RVM_OK;
    rvm_program_free(*out);
    *out = NULL;
    return st;
}

rvm_status rvm_program_transform(const rvm_program *p, uint32_t fn, rvm_transform kind, const uint8_t *active,
                                 rvm_program **out, uint32_t *index, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(p, index);
    if (fn >= p->nfunctions) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no function has number %u", fn);
    if ((unsigned)kind >= RVM_TRANSFORM_COUNT)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no transform has number %d", (int)kind);
    rvm_status st = rvm__program_copy(p, &p->al, out, err);
    if (st) return st;
    st = finish(rvm__transform_declare(*out, fn, kind, active, index, err), out, err);
    return rvm__fail_in(err, st, p, fn);
}

rvm_status rvm_program_close_active(const rvm_program *p, uint32_t fn, uint8_t *active, rvm_error *err) {
    RVM__NEEDS(p);
    if (fn >= p->nfunctions) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no function has number %u", fn);
    if (p->functions[fn].nparams) RVM__NEEDS(active);
    for (uint32_t k = 0; k < p->functions[fn].nparams; k++)
        if (active[k] && p->functions[fn].params[k].type == RVM_I64)
            return rvm__fail_at(err, RVM_ERR_ARGUMENT, p, fn, 0, "`%s` is i64 and has no derivative",
                                p->functions[fn].params[k].name);
    const size_t size = rvm__activity_size(p);
    void *block = rvm__realloc(&p->al, NULL, 0, size);
    if (!block) return rvm__fail_memory(err);
    rvm__activity a = rvm__activity_in(p, block);
    rvm__activity_close(p, &a, fn, active, false);
    rvm__realloc(&p->al, block, size, 0);
    return RVM_OK;
}

/* ---- names ---- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Whether these are the parameters of f, in order, with some followed by a shadow, NAME_b and perhaps a number. */
static bool is_gradient_of(const rvm_function *g, const rvm_function *f, uint8_t *values) {
    const char *suffix = rvm_shadow_suffix(RVM_ADJOINT);
    const size_t nsuffix = strlen(suffix);
    uint32_t k = 0;
    size_t length = 0; /* of the name before; 0: it has a shadow already */
    for (uint32_t i = 0; i < g->nparams; i++) {
        const char *name = g->params[i].name;
        values[i] = k < f->nparams && !strcmp(name, f->params[k].name);
        if (values[i])
            length = strlen(f->params[k++].name);
        else if (!length || strncmp(name, f->params[k - 1].name, length) || strncmp(name + length, suffix, nsuffix) ||
                 name[length + nsuffix + strspn(name + length + nsuffix, "0123456789")])
            return false;
        else
            length = 0;
    }
    return k == f->nparams;
}

/* The next transform of that kind in a name of a function, or NULL. */
static const char *tick_in(const char *name, rvm_transform kind) {
    char tick[16];
    snprintf(tick, sizeof tick, "'%s", rvm__transform_tick[kind]);
    return strstr(name, tick);
}

bool rvm__is_adjoint(const rvm_program *p, uint32_t fn) {
    return tick_in(p->functions[fn].name, RVM_ADJOINT);
}

int64_t rvm__gradient_of(const rvm_program *p, uint32_t fn, uint8_t values[RVM_MAX_PARAMS]) {
    const size_t length = 1 + strlen(rvm__transform_tick[RVM_GRADIENT_OF]);
    const char *name = p->functions[fn].name, *last = NULL;
    for (const char *s = name; (s = tick_in(s, RVM_GRADIENT_OF)); s++)
        if (!s[length] || s[length] == '\'') last = s;
    const int64_t of = last ? rvm__program_find(p, name, (size_t)(last - name)) : -1;
    return of >= 0 && is_gradient_of(&p->functions[fn], &p->functions[of], values) ? of : -1;
}

/* Whether a parameter is called so, or is a part of what is. */
static bool is_named(const char *param, const char *name, size_t length) {
    static const char *const parts[] = {"re", "im", "log"};
    const char *rest;
    int stem;
    if (!strncmp(param, name, length) && !param[length]) return true;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (rvm__is_part(param, parts[k], &stem, &rest))
            return length == (size_t)stem + strlen(rest) && !strncmp(name, param, (size_t)stem) &&
                   !strncmp(name + stem, rest, strlen(rest));
    return false;
}

rvm_status rvm__transform_mark(const rvm_function *f, const char *name, size_t length, uint8_t *active, rvm_error *err) {
    bool any = false;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = &f->params[k];
        if (!is_named(q->name, name, length)) continue;
        if (q->type == RVM_I64)
            return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%s` is i64 and has no derivative", q->name);
        active[k] = 1;
        any = true;
    }
    if (any) return RVM_OK;
    return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%s` has no parameter `%.*s`", f->name,
                     (int)(length > 64 ? 64 : length), name);
}

/* x, y] behind the bracket: marks them; *text moves behind it. */
static rvm_status read_active(const rvm_function *f, const char **text, uint8_t *active, rvm_error *err) {
    const char *s = *text;
    while (*s != ']') {
        while (is_blank(*s)) s++;
        size_t n = strcspn(s, ",] \t");
        rvm_status st = rvm__transform_mark(f, s, n, active, err);
        if (st) return st;
        for (s += n; is_blank(*s);) s++;
        if (*s == ',')
            s++;
        else if (*s != ']')
            return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "a list of active parameters is not closed by `]`");
    }
    *text = s + 1;
    return RVM_OK;
}

/* A tick and its list, at *text. */
static rvm_status read_tick(rvm_program *p, const char **text, uint32_t *fn, rvm_error *err) {
    uint8_t active[RVM_MAX_PARAMS] = {0};
    size_t n = strcspn(*text + 1, "'[");
    int kind = **text == '\'' ? rvm__transform_find(*text + 1, n) : -1;
    if (kind < 0)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%.64s` derives no function: 'inv 'tan 'adj 'grad do", *text);
    *text += 1 + n;
    bool listed = **text == '[';
    if (listed && kind == RVM_INVERSE)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "'inv takes no list: an inverse has no shadows");
    if (listed) {
        ++*text;
        rvm_status st = read_active(p->functions + *fn, text, active, err);
        if (st) return st;
    }
    return rvm__transform_declare(p, *fn, (rvm_transform)kind, listed ? active : NULL, fn, err);
}

rvm_status rvm_program_derive(const rvm_program *p, const char *name, rvm_program **out, uint32_t *index, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(p, name, index);
    size_t n = strcspn(name, "["), first = strcspn(name, "'[");
    int64_t found = rvm__program_find(p, name, n);
    while (found < 0 && n > first) { /* as many ticks as the program has already */
        do n--;
        while (name[n] != '\'');
        found = rvm__program_find(p, name, n);
    }
    if (found < 0)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "there is no function `%.*s`", (int)(n > 255 ? 255 : n), name);
    rvm_status st = rvm__program_copy(p, &p->al, out, err);
    if (st) return st;
    *index = (uint32_t)found;
    for (const char *s = name + n; !st && *s;) st = read_tick(*out, &s, index, err);
    return rvm__fail_in(err, finish(st, out, err), p, found);
}

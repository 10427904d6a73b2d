#include "values.h"
#include "errors.h"
#include "npz.h"
#include "number.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

int values_find(const values *v, const char *name, int length, rvm_error *err) {
    char bare[64];
    snprintf(bare, sizeof bare, "%.*s", length < 0 ? (int)strlen(name) : length, name);
    nearest near = {.wanted = bare};
    for (uint32_t i = 0; i < v->n; i++) {
        if (strcmp(v->info[i].name, bare) == 0) return (int)i;
        nearest_offer(&near, v->info[i].name);
    }
    const int shown = values_find_shown(v, bare, (int)strlen(bare));
    if (shown >= 0) {
        uint32_t other;
        const bool pair = values_shown(v, (uint32_t)shown, &other) == SHOWN_COMPLEX;
        fail(err, RVM_ERR_ARGUMENT, NULL, "`%s` is %s: name `%s`%s%s%s", bare, pair ? "complex" : "an lns",
             v->info[shown].name, pair ? " or `" : "", pair ? v->info[other].name : "", pair ? "`" : "");
        return -1;
    }
    for (uint32_t i = 0; i < v->n; i++)
        for (int d = 0; d < v->info[i].ndim; d++)
            if (v->info[i].dim_name[d] && strcmp(v->info[i].dim_name[d], bare) == 0) {
                fail(err, RVM_ERR_ARGUMENT, NULL, "`%s` is no parameter: it is a length, which the shape of `%s` gives",
                     bare, v->info[i].name);
                return -1;
            }
    fail(err, RVM_ERR_ARGUMENT, NULL, "there is no parameter `%s`%s%s%s", bare, near.best ? "; did you mean `" : "",
         near.best ? near.best : "", near.best ? "`?" : "");
    return -1;
}

void values_element_name(const values *v, uint32_t i, size_t k, char *text, size_t size) {
    rvm_arg_element_text(v->info[i].name, &v->arg[i], (int64_t)k, text, size);
}

static rvm_status bad_element(const char *text, const rvm_param_info *p, rvm_error *err) {
    char type[128];
    param_type_text(p, type, sizeof type);
    return fail(err, RVM_ERR_ARGUMENT, NULL, "`%s` names no single number: `%s` is %s", text, p->name, type);
}

rvm_status values_find_element(const values *v, const char *text, uint32_t *i, size_t *k, rvm_error *err) {
    const char *s = strchr(text, '['), *close = s ? strchr(s, ']') : NULL;
    char turned[128];
    if (close && close[1] == '.') { /* z[0].re, as the language has it, is z.re[0] */
        snprintf(turned, sizeof turned, "%.*s%s%.*s", (int)(s - text), text, close + 1, (int)(close + 1 - s), s);
        return values_find_element(v, turned, i, k, err);
    }
    int found = values_find(v, text, s ? (int)(s - text) : -1, err);
    if (found < 0) return RVM_ERR_ARGUMENT;
    *i = (uint32_t)found;
    *k = 0;
    const rvm_arg *a = &v->arg[found];
    for (int d = 0; d < a->ndim; d++) {
        char *end;
        if (!s || *s != (d ? ',' : '[')) return bad_element(text, &v->info[found], err);
        long long index = strtoll(s + 1, &end, 10);
        if (end == s + 1) return bad_element(text, &v->info[found], err);
        if (index < 0 || index >= a->shape[d])
            return fail(err, RVM_ERR_INDEX, NULL, "`%s`: index %lld is outside [0, %lld)", text, index,
                        (long long)a->shape[d]);
        *k = *k * (size_t)a->shape[d] + (size_t)index;
        s = end;
    }
    if (strcmp(s ? s : "", a->ndim ? "]" : "") != 0) return bad_element(text, &v->info[found], err);
    return RVM_OK;
}

rvm_status values_select(const values *v, const char *names, bool *set, rvm_error *err) {
    for (uint32_t i = 0; i < v->n; i++) set[i] = !names && type_is_real(v->info[i].type);
    if (names && !*names) return fail(err, RVM_ERR_ARGUMENT, NULL, "the list of names is empty");
    while (names && *names) {
        int length = (int)strcspn(names, ",");
        const int shown = values_find_shown(v, names, length);
        uint32_t im = (uint32_t)shown;
        if (shown >= 0 && values_shown(v, (uint32_t)shown, &im) == SHOWN_COMPLEX) set[im] = true;
        int i = shown >= 0 ? shown : values_find(v, names, length, err);
        if (i < 0) return RVM_ERR_ARGUMENT;
        if (!type_is_real(v->info[i].type))
            return fail(err, RVM_ERR_ARGUMENT, NULL, "`%s` is i64 and has no derivative", v->info[i].name);
        set[i] = true;
        names += length + (names[length] == ',');
    }
    return RVM_OK;
}

/* ---- reading ---- */

/* Whose value a name is for: a parameter; a complex, z, by its parts; an lns. */
typedef struct target {
    uint32_t i, im; /* im: the imaginary part of a complex, else i */
    enum shown kind;
} target;

static rvm_status find_target(const values *v, bool *given, const char *name, int length, target *to, rvm_error *err) {
    const int shown = values_find_shown(v, name, length);
    const int i = shown >= 0 ? shown : values_find(v, name, length, err);
    if (i < 0) return RVM_ERR_ARGUMENT;
    *to = (target){(uint32_t)i, (uint32_t)i, SHOWN_PLAIN};
    if (shown >= 0) to->kind = values_shown(v, to->i, &to->im);
    if (given[to->i] || given[to->im])
        return fail(err, RVM_ERR_ARGUMENT, NULL, "`%s` is given twice", v->info[given[i] ? to->i : to->im].name);
    given[to->i] = given[to->im] = true;
    return RVM_OK;
}

typedef struct giving {
    values *v;
    reading *r;
    bool *given;
} giving;

/* The shadow of a real, as --save-all puts it beside its value, where the function has no parameter of that name. */
static bool is_spare_shadow(const values *v, const char *name) {
    const int stem = (int)strlen(name) - 2;
    if (stem < 1 || name[stem] != '_' || !strchr("bd", name[stem + 1])) return false;
    if (values_find_shown(v, name, stem + 2) >= 0 || values_find(v, name, stem + 2, NULL) >= 0) return false;
    const int shown = values_find_shown(v, name, stem), i = shown >= 0 ? shown : values_find(v, name, stem, NULL);
    return i >= 0 && type_is_real(v->info[i].type);
}

/* A member of an archive: the value of the parameter of its name. */
static rvm_status give_member(void *userdata, const char *name, input *in, rvm_error *err) {
    const giving *g = userdata;
    values *v = g->v;
    target to;
    if (is_spare_shadow(v, name)) return RVM_OK;
    err->file[0] = 0;
    rvm_status st = find_target(v, g->given, name, (int)strlen(name), &to, err);
    if (!st && to.kind == SHOWN_LNS)
        st = fail(err, RVM_ERR_ARGUMENT, NULL, "a file holds reals: call it `%s`, and give logarithms", v->info[to.i].name);
    if (!st)
        st = npy_read(in, g->r, v->info[to.i].dim_value, &v->arg[to.i], to.kind == SHOWN_COMPLEX ? &v->arg[to.im] : NULL,
                      err);
    if (st && !err->file[0]) snprintf(err->file, sizeof err->file, "%s", in->name);
    return st;
}

static rvm_status give_value(values *v, reading *r, bool *given, const char *word, rvm_error *err) {
    const char *equals = strchr(word, '=');
    giving g = {v, r, given};
    target to;
    if (*word == '@') return npz_read(word + 1, r, give_member, &g, err);
    if (!equals) return fail(err, RVM_ERR_USAGE, NULL, "`%s` is neither name=value nor @FILE.npz", word);
    rvm_status st = find_target(v, given, word, (int)(equals - word), &to, err);
    if (st) return st;
    if (to.kind == SHOWN_PLAIN) return literal_read(r, &v->info[to.i], equals + 1, &v->arg[to.i], err);
    return literal_read_shown(r, to.kind, &v->info[to.i], equals + 1, &v->arg[to.i],
                              to.kind == SHOWN_COMPLEX ? &v->arg[to.im] : NULL, err);
}

/* The length that a given array before parameter `end` has for a name, or -1. */
static int64_t known_length(const values *v, const bool *given, uint32_t end, const char *name, const char **from) {
    for (uint32_t i = 0; i < end; i++)
        for (int d = 0; given[i] && d < v->info[i].ndim; d++)
            if (v->info[i].dim_name[d] && strcmp(v->info[i].dim_name[d], name) == 0) {
                *from = v->info[i].name;
                return v->arg[i].shape[d];
            }
    return -1;
}

static rvm_status check_shape(const values *v, const bool *given, uint32_t i, rvm_error *err) {
    const rvm_param_info *p = &v->info[i];
    for (int d = 0; d < p->ndim; d++) {
        const char *from = NULL;
        int64_t want = p->dim_name[d] ? known_length(v, given, i, p->dim_name[d], &from) : p->dim_value[d];
        int64_t got = v->arg[i].shape[d];
        for (int e = 0; want < 0 && e < d; e++)
            if (p->dim_name[d] && p->dim_name[e] && strcmp(p->dim_name[d], p->dim_name[e]) == 0) {
                want = v->arg[i].shape[e];
                from = p->name;
            }
        if (want < 0 || want == got) continue;
        char type[128];
        param_type_text(p, type, sizeof type);
        if (!from)
            return fail(err, RVM_ERR_SHAPE, NULL, "`%s` has length %lld in dimension %d, and %s wants %lld", p->name,
                        (long long)got, d + 1, type, (long long)want);
        return fail(err, RVM_ERR_SHAPE, NULL,
                    "`%s` has length %lld in dimension %d, where %s wants %s, which is %lld in `%s`", p->name,
                    (long long)got, d + 1, type, p->dim_name[d], (long long)want, from);
    }
    return RVM_OK;
}

/* Whether parameter i is a shadow: of a derived function, x_b or x_d beside an x. What the function it came from has itself
 * is none. */
static bool is_shadow(const values *v, uint32_t fn, uint32_t i) {
    const char *name = v->info[i].name, *function = rvm_program_function_name(v->program, fn);
    const size_t length = strlen(name);
    const int tick = (int)strcspn(function, "'");
    char primal[128];
    if (!function[tick] || snprintf(primal, sizeof primal, "%.*s", tick, function) >= (int)sizeof primal) return false;
    const int64_t from = rvm_program_find(v->program, primal);
    rvm_param_info q;
    for (uint32_t k = 0; from >= 0 && k < rvm_program_param_count(v->program, (uint32_t)from); k++)
        if (!rvm_program_param(v->program, (uint32_t)from, k, &q) && strcmp(q.name, name) == 0) return false;
    for (uint32_t k = 0; k < v->n; k++) {
        const size_t n = strlen(v->info[k].name);
        if (n + 2 <= length && memcmp(v->info[k].name, name, n) == 0 && name[n] == '_' && strchr("bd", name[n + 1]) &&
            strspn(name + n + 2, "0123456789") == length - n - 2)
            return true;
    }
    return false;
}

/* Says that parameter i, of which no part is given, is missing, by what the source has of it: x: complex(f32)[n]. */
static rvm_status tell_missing(const values *v, const bool *given, uint32_t fn, uint32_t i, const char *type,
                               rvm_error *err) {
    const rvm_param_info *p = &v->info[i];
    char name[128], whole[160];
    uint32_t other;
    const rvm_component part = rvm_program_component(v->program, fn, i, &other, name, sizeof name);
    const char *value = p->function_type                              ? "&function"
                        : p->ndim                                     ? "[...] or @file.npy"
                        : part == RVM_COMPONENT_LOG                   ? "a positive number"
                        : part == RVM_COMPONENT_WHOLE || given[other] ? "a number"
                                                                      : "2+3i";
    if (part == RVM_COMPONENT_WHOLE || (part != RVM_COMPONENT_LOG && given[other]))
        return fail(err, RVM_ERR_ARGUMENT, NULL, "the argument `%s: %s` is missing; give %s=%s", p->name, type, p->name,
                    value);
    const int base = (int)strcspn(type, "[");
    const bool usual = p->type == RVM_F64;
    snprintf(whole, sizeof whole, "%s%s%.*s%s%s", part == RVM_COMPONENT_LOG ? "lns" : "complex", usual ? "" : "(",
             usual ? 0 : base, type, usual ? "" : ")", type + base);
    return fail(err, RVM_ERR_ARGUMENT, NULL, "the argument `%s: %s` is missing; give %s=%s", name, whole, name, value);
}

/* A parameter that was not given: 0 where the function only accumulates into it, or it is a shadow, and its shape is known.
 */
static rvm_status default_value(values *v, reading *r, const bool *given, uint32_t fn, uint32_t i, rvm_error *err) {
    const rvm_param_info *p = &v->info[i];
    int64_t shape[RVM_MAX_DIMS] = {0};
    char type[128];
    param_type_text(p, type, sizeof type);
    if (p->role != RVM_ACC && !is_shadow(v, fn, i)) return tell_missing(v, given, fn, i, type, err);
    for (int d = 0; d < p->ndim; d++) {
        const char *from;
        shape[d] = p->dim_name[d] ? known_length(v, given, v->n, p->dim_name[d], &from) : p->dim_value[d];
        if (shape[d] < 0)
            return fail(err, RVM_ERR_ARGUMENT, NULL,
                        "the argument `%s: %s` is missing, and no other tells its length %s; give %s=zeros(...)", p->name,
                        type, p->dim_name[d], p->name);
    }
    return p->ndim ? reading_allocate(r, NULL, &v->arg[i], shape, err) : RVM_OK;
}

const char *values_function(const values *v, uint32_t i) {
    const int64_t fn = v->arg[i].value.i;
    if (!v->info[i].function_type || v->info[i].ndim || fn < 0 || fn > UINT32_MAX) return NULL;
    return rvm_program_function_name(v->program, (uint32_t)fn);
}

static rvm_status allocate(values *v, uint32_t n, rvm_error *err) {
    *v = (values){.n = n, .info = calloc(n + 1, sizeof *v->info), .arg = calloc(n + 1, sizeof *v->arg)};
    if (v->info && v->arg) return RVM_OK;
    return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
}

rvm_status values_read(values *v, reading *r, uint32_t fn, char **words, int n, rvm_error *err) {
    const rvm_program *p = r->program;
    bool given[RVM_MAX_PARAMS + 1] = {0};
    rvm_status st = allocate(v, rvm_program_param_count(p, fn), err);
    v->program = p;
    v->fn = fn;
    for (uint32_t i = 0; !st && i < v->n; i++) {
        st = rvm_program_param(p, fn, i, &v->info[i]);
        v->arg[i] = (rvm_arg){.type = v->info[i].type, .ndim = v->info[i].ndim};
    }
    for (int k = 0; !st && k < n; k++) st = give_value(v, r, given, words[k], err);
    for (uint32_t i = 0; !st && i < v->n; i++)
        if (given[i]) st = check_shape(v, given, i, err);
    for (uint32_t i = 0; !st && i < v->n; i++)
        if (!given[i]) st = default_value(v, r, given, fn, i, err);
    for (uint32_t i = 0; i < v->n; i++) v->left_out[i] = !given[i];
    return st;
}

void values_begin_fresh(values *v) {
    for (uint32_t i = 0; i < v->n; i++) v->arg[i].fresh = v->left_out[i];
}

void values_end_fresh(values *v) {
    for (uint32_t i = 0; i < v->n; i++) {
        rvm_arg *a = &v->arg[i];
        for (size_t k = 0, n = a->fresh && rvm_type_is_floating(a->type) ? arg_count(a) : 0; k < n; k++)
            if (arg_get(a, k).f == 0) arg_set(a, k, (rvm_scalar){.f = 0});
        a->fresh = false;
    }
}

void values_free(values *v) {
    for (uint32_t i = 0; v->arg && i < v->n; i++) arg_free(&v->arg[i]);
    free(v->arg);
    free(v->info);
    *v = (values){0};
}

rvm_status values_copy(values *to, const values *from, rvm_error *err) {
    rvm_status st = allocate(to, from->n, err);
    to->program = from->program;
    to->fn = from->fn;
    for (uint32_t i = 0; !st && i < from->n; i++) {
        const rvm_arg *a = &from->arg[i];
        to->info[i] = from->info[i];
        to->arg[i] = (rvm_arg){.type = a->type, .ndim = a->ndim};
        if (a->ndim) st = arg_allocate(&to->arg[i], a->shape, err);
    }
    if (!st) values_assign(to, from);
    return st;
}

void values_assign(values *to, const values *from) {
    for (uint32_t i = 0; i < from->n; i++)
        for (size_t k = 0, n = arg_count(&from->arg[i]); k < n; k++) arg_set(&to->arg[i], k, arg_get(&from->arg[i], k));
}

rvm_status values_copy_all(values *to, const values *from, rvm_error *err) {
    rvm_status st = values_copy(to, from, err);
    for (uint32_t i = 0; !st && i < from->n; i++)
        if (from->arg[i].active) st = arg_activate(&to->arg[i], err);
    if (!st) values_assign_all(to, from);
    return st;
}

void values_assign_all(values *to, const values *from) {
    values_assign(to, from);
    for (uint32_t i = 0; i < from->n; i++)
        for (size_t k = 0, n = to->arg[i].active && from->arg[i].active ? arg_count(&from->arg[i]) : 0; k < n; k++)
            arg_set_shadow(&to->arg[i], k, arg_get_shadow(&from->arg[i], k));
}

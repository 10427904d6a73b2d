/* args.c: the arguments of a call, from text and at random; comparison. */
#include "harness.h"
#include "builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_next(rng *r) {
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double rng_real(rng *r, double lo, double hi) {
    return lo + (hi - lo) * ((double)(rng_next(r) >> 11) * 0x1p-53);
}

uint32_t rng_below(rng *r, uint32_t n) {
    return n ? (uint32_t)(rng_next(r) % n) : 0;
}

static void *must(void *p) {
    if (!p) abort();
    return p;
}

size_t arg_count(const rvm_arg *a) {
    size_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->shape[d];
    return n;
}

rvm_scalar *arg_value(rvm_arg *a, size_t k) {
    return a->ndim ? (rvm_scalar *)a->data + k : &a->value;
}

rvm_scalar *arg_shadow(rvm_arg *a, size_t k) {
    return a->ndim ? (rvm_scalar *)a->shadow_data + k : &a->shadow;
}

double arg_real(rvm_type t, rvm_scalar v) {
    return rvm__is_floating(t) ? v.f : t == RVM_FIX ? rvm_fix_to_double(v.i) : (double)v.i;
}

rvm_scalar arg_from_real(rvm_type t, double x) {
    if (rvm__is_floating(t)) return (rvm_scalar){.f = t == RVM_F32 ? (double)(float)x : x};
    return (rvm_scalar){.i = t == RVM_FIX ? rvm_fix_from_double(x) : (int64_t)x};
}

int64_t args_find(const rvm_program *p, int64_t fn, const char *name) {
    rvm_param_info info;
    for (uint32_t i = 0; rvm_program_param(p, (uint32_t)fn, i, &info) == RVM_OK; i++)
        if (!strcmp(info.name, name)) return i;
    return -1;
}

args args_new(const rvm_program *p, int64_t fn) {
    args a = {rvm_program_param_count(p, (uint32_t)fn), NULL};
    a.a = must(calloc(a.n + 1, sizeof *a.a));
    for (uint32_t i = 0; i < a.n; i++) {
        rvm_param_info info;
        if (rvm_program_param(p, (uint32_t)fn, i, &info) != RVM_OK) abort();
        a.a[i].type = info.type;
        a.a[i].ndim = info.ndim;
    }
    return a;
}

void args_free(args *a) {
    for (uint32_t i = 0; i < a->n; i++) {
        free(a->a[i].data);
        free(a->a[i].shadow_data);
    }
    free(a->a);
    *a = (args){0};
}

static void shape_array(rvm_arg *a, const int64_t *shape) {
    memcpy(a->shape, shape, sizeof a->shape);
    int64_t stride = 1;
    for (int d = a->ndim; d-- > 0;) {
        a->stride[d] = a->shadow_stride[d] = stride;
        stride *= a->shape[d];
    }
    free(a->data);
    free(a->shadow_data);
    a->data = must(calloc((size_t)stride + 1, sizeof(rvm_scalar)));
    a->shadow_data = must(calloc((size_t)stride + 1, sizeof(rvm_scalar)));
}

args args_copy(const args *a) {
    args c = {a->n, must(calloc(a->n + 1, sizeof *c.a))};
    for (uint32_t i = 0; i < a->n; i++) {
        c.a[i] = a->a[i];
        if (!a->a[i].data) continue;
        c.a[i].data = c.a[i].shadow_data = NULL;
        shape_array(&c.a[i], a->a[i].shape);
        memcpy(c.a[i].data, a->a[i].data, arg_count(&a->a[i]) * sizeof(rvm_scalar));
        memcpy(c.a[i].shadow_data, a->a[i].shadow_data, arg_count(&a->a[i]) * sizeof(rvm_scalar));
    }
    return c;
}

/* ---- text ---- */
static bool parse_scalar(rvm_type t, const char **text, rvm_scalar *out) {
    char *end;
    if (t == RVM_I64)
        out->i = strtoll(*text, &end, 0);
    else
        *out = arg_from_real(t, strtod(*text, &end));
    bool ok = end != *text;
    *text = end;
    return ok;
}

typedef struct parser {
    const char *at;
    rvm_type type;
    int ndim;
    int64_t shape[RVM_MAX_DIMS];
    rvm_scalar *data;
    size_t n, cap;
} parser;

static bool parse_element(parser *s) {
    if (s->n == s->cap) s->data = must(realloc(s->data, (s->cap = 2 * s->cap + 8) * sizeof *s->data));
    return parse_scalar(s->type, &s->at, &s->data[s->n++]);
}

/* One level of brackets; every list at a level has the length of the first (shape -1 until then). */
static bool parse_list(parser *s, int level) {
    if (level == s->ndim) return parse_element(s);
    if (*s->at++ != '[') return false;
    int64_t n = 0;
    for (; *s->at && *s->at != ']'; n++) {
        if (n && *s->at++ != ',') return false;
        if (!parse_list(s, level + 1)) return false;
    }
    if (*s->at++ != ']' || (s->shape[level] >= 0 && s->shape[level] != n)) return false;
    s->shape[level] = n;
    return true;
}

static bool parse_array(rvm_arg *a, const char *text) {
    parser s = {.at = text, .type = a->type, .ndim = a->ndim, .shape = {-1, -1, -1, -1}};
    char *star;
    int64_t repeat = strtoll(text, &star, 10);
    bool ok = *star == '*' && a->ndim == 1 && repeat >= 0;
    if (ok) {
        s.at = star + 1;
        s.shape[0] = repeat;
        ok = parse_element(&s);
    } else {
        ok = parse_list(&s, 0);
    }
    ok = ok && !*s.at;
    for (int d = 0; ok && d < a->ndim; d++)
        if (s.shape[d] < 0) s.shape[d] = 0;
    if (ok) {
        shape_array(a, s.shape);
        for (size_t k = 0; k < arg_count(a); k++) *arg_value(a, k) = s.data[*star == '*' ? 0 : k];
    }
    free(s.data);
    return ok;
}

bool args_set(args *a, const rvm_program *p, int64_t fn, const char *name, const char *text, const char **why) {
    int64_t i = args_find(p, fn, name);
    *why = i < 0 ? "no such parameter" : "not a value of its type";
    if (i < 0) return false;
    rvm_param_info info;
    if (*text == '&' && rvm_program_param(p, (uint32_t)fn, (uint32_t)i, &info) == RVM_OK && info.function_type && !info.ndim)
        return (a->a[i].value.i = rvm_program_find(p, text + 1)) >= 0;
    if (a->a[i].ndim) return parse_array(&a->a[i], text);
    return parse_scalar(a->a[i].type, &text, &a->a[i].value) && !*text;
}

static bool known_length(const args *a, const rvm_program *p, int64_t fn, const char *name, int64_t *length) {
    for (uint32_t i = 0; i < a->n; i++) {
        rvm_param_info info;
        rvm_program_param(p, (uint32_t)fn, i, &info);
        for (int d = 0; d < info.ndim && a->a[i].data; d++)
            if (info.dim_name[d] && !strcmp(info.dim_name[d], name)) return *length = a->a[i].shape[d], true;
    }
    return false;
}

/* The shape of parameter i from constants and other arguments; names nobody gave are `otherwise`, or the answer is false. */
static bool shape_of(const args *a, const rvm_program *p, int64_t fn, uint32_t i, int64_t otherwise, int64_t *shape) {
    rvm_param_info info;
    rvm_program_param(p, (uint32_t)fn, i, &info);
    for (int d = 0; d < info.ndim; d++) {
        shape[d] = info.dim_value[d];
        if (info.dim_name[d] && !known_length(a, p, fn, info.dim_name[d], &shape[d])) shape[d] = otherwise;
        if (shape[d] < 0) return false;
    }
    return true;
}

bool args_complete(args *a, const rvm_program *p, int64_t fn, const char **why) {
    for (uint32_t i = 0; i < a->n; i++) {
        int64_t shape[RVM_MAX_DIMS] = {0};
        if (!a->a[i].ndim || a->a[i].data) continue;
        *why = "an array whose shape nothing tells";
        if (!shape_of(a, p, fn, i, -1, shape)) return false;
        shape_array(&a->a[i], shape);
    }
    return true;
}

/* A function of the type, if there is one. */
static rvm_scalar random_function(const rvm_program *p, uint32_t signature, rng *r) {
    uint32_t n = p->nfunctions, from = rng_below(r, n), k = 0;
    while (k < n && !rvm__fits(p, (from + k) % n, signature)) k++;
    return (rvm_scalar){.i = (from + k) % n};
}

void args_random(args *a, const rvm_program *p, int64_t fn, int64_t length, rng *r) {
    for (uint32_t i = 0; i < a->n; i++) {
        int64_t shape[RVM_MAX_DIMS] = {0};
        if (a->a[i].ndim && shape_of(a, p, fn, i, length, shape)) shape_array(&a->a[i], shape);
        const uint16_t function = p->functions[fn].params[i].signature;
        for (size_t k = 0; k < arg_count(&a->a[i]); k++) {
            if (function) {
                *arg_value(&a->a[i], k) = random_function(p, function - 1u, r);
                continue;
            }
            double x = rng_real(r, -2, 2);
            *arg_value(&a->a[i], k) = a->a[i].type == RVM_I64 ? (rvm_scalar){.i = (int64_t)(rng_next(r) >> rng_below(r, 64))}
                                                              : arg_from_real(a->a[i].type, x);
        }
    }
}

/* ---- shadows ---- */
void args_activate(args *a, const bool *only) {
    for (uint32_t i = 0; i < a->n; i++) {
        a->a[i].active = a->a[i].type != RVM_I64 && (!only || only[i]);
        for (size_t k = 0; k < arg_count(&a->a[i]); k++) arg_shadow(&a->a[i], k)->i = 0;
    }
}

void args_random_shadows(args *a, rng *r) {
    for (uint32_t i = 0; i < a->n; i++)
        for (size_t k = 0; a->a[i].active && k < arg_count(&a->a[i]); k++)
            *arg_shadow(&a->a[i], k) = arg_from_real(a->a[i].type, rng_real(r, -1, 1));
}

double args_dot_shadows(args *a, args *b, double *scale) {
    double sum = 0;
    for (uint32_t i = 0; i < a->n; i++)
        for (size_t k = 0; a->a[i].active && b->a[i].active && k < arg_count(&a->a[i]); k++) {
            rvm_type t = a->a[i].type;
            double x = arg_real(t, *arg_shadow(&a->a[i], k)) * arg_real(t, *arg_shadow(&b->a[i], k));
            sum += x;
            *scale += fabs(x);
        }
    return sum;
}

/* ---- comparison ---- */
static bool agrees(rvm_type t, rvm_scalar x, rvm_scalar y, int how, double tol) {
    if (x.i == y.i) return true;
    if (how & COMPARE_ZEROS && (t == RVM_F64 || t == RVM_F32) && x.f == 0 && y.f == 0) return true;
    if ((how & COMPARE_BITS) || t == RVM_I64 || (t == RVM_FIX && !(how & COMPARE_REAL_FIX))) return false;
    double a = arg_real(t, x), b = arg_real(t, y);
    const bool stated = how & COMPARE_REAL_FIX;
    if (t == RVM_F32 && !stated) tol = fmax(tol, 1e-12) * F32_COARSER;
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tol * fmax(1, fabs(a));
}

static bool disagree(report *r, const char *what, const char *name, size_t k, rvm_type t, rvm_scalar x, rvm_scalar y) {
    if (t == RVM_I64)
        return report_fail(r, "%s: %s[%zu]: expected %lld, got %lld", what, name, k, (long long)x.i, (long long)y.i);
    return report_fail(r, "%s: %s[%zu]: expected %.17g (%016llx), got %.17g (%016llx)", what, name, k, arg_real(t, x),
                       (unsigned long long)x.i, arg_real(t, y), (unsigned long long)y.i);
}

bool args_agree(report *r, const char *what, const rvm_program *p, int64_t fn, args *expected, args *got, int how,
                double tol) {
    for (uint32_t i = 0; i < expected->n; i++) {
        rvm_arg *e = &expected->a[i], *g = &got->a[i];
        rvm_param_info info;
        rvm_program_param(p, (uint32_t)fn, i, &info);
        bool shadows = how & COMPARE_SHADOWS;
        if (shadows && (!e->active || !g->active)) continue;
        for (size_t k = 0; k < arg_count(e); k++) {
            rvm_scalar x = shadows ? *arg_shadow(e, k) : *arg_value(e, k),
                       y = shadows ? *arg_shadow(g, k) : *arg_value(g, k);
            if (!agrees(e->type, x, y, how, tol)) return disagree(r, what, info.name, k, e->type, x, y);
        }
    }
    return true;
}

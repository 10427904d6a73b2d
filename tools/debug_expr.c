/* debug_expr.c: expressions over the places of a frame: assembled once for the kinds of places that they name, and evaluated
 * by a machine of their own. */
#include "debug.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of a frame: its places, and their shadows as x_b ---- */

enum { NAME = 280 };
typedef struct names {
    uint32_t n, cap;
    rvm_asm_name *name;
    rvm_arg *arg;
    char (*text)[NAME];
} names;

static void names_free(names *s) {
    free(s->name), free(s->arg), free(s->text);
}

/* False: out of memory. */
static bool add(names *s, const char *name, const char *suffix, const rvm_arg *a) {
    if (s->n == s->cap) {
        const uint32_t cap = 2 * s->cap + 32;
        void *name_ = realloc(s->name, cap * sizeof *s->name), *arg = name_ ? realloc(s->arg, cap * sizeof *s->arg) : NULL;
        void *text = arg ? realloc(s->text, cap * sizeof *s->text) : NULL;
        if (name_) s->name = name_;
        if (arg) s->arg = arg;
        if (!text) return false;
        s->text = text;
        s->cap = cap;
    }
    snprintf(s->text[s->n], NAME, "%s%s", name, suffix);
    s->arg[s->n] = *a;
    s->name[s->n++] = (rvm_asm_name){NULL, a->type, a->ndim};
    return true;
}

rvm_arg debug_view(const rvm_variable *v, bool shadow) {
    rvm_arg a = {.type = v->type,
                 .ndim = v->ndim,
                 .value = shadow ? v->shadow : v->value,
                 .data = (void *)(uintptr_t)(shadow ? v->shadow_data : v->data)};
    memcpy(a.shape, v->shape, sizeof a.shape);
    memcpy(a.stride, shadow ? v->shadow_stride : v->stride, sizeof a.stride);
    return a;
}

static bool names_of(const debugger *d, uint32_t frame, names *s) {
    rvm_variable v;
    bool good = true;
    for (uint32_t k = 0; good && rvm_machine_variable(d->m, frame, k, &v); k++) {
        const rvm_arg value = debug_view(&v, false), shadow = debug_view(&v, true);
        if (v.shadowed) good = add(s, v.name, "_b", &shadow);
        good = good && add(s, v.name, "", &value);
    }
    for (uint32_t k = 0; k < s->n; k++) s->name[k].name = s->text[k];
    return good;
}

/* ---- expressions ---- */

void expression_free(expression *x) {
    rvm_machine_free(x->machine);
    rvm_program_free(x->program);
    free(x->argument);
    x->machine = NULL, x->program = NULL, x->argument = NULL;
}

static uint64_t kinds_of(const names *s) {
    uint64_t h = s->n;
    for (uint32_t k = 0; k < s->n; k++)
        for (const char *c = s->text[k]; c == s->text[k] || c[-1]; c++)
            h = (h ^ (uint64_t)*c ^ ((uint64_t)s->name[k].type << 8) ^ ((uint64_t)s->name[k].ndim << 16)) *
                UINT64_C(0x100000001b3);
    return h;
}

static rvm_status compile(expression *x, const names *s, rvm_error *e) {
    rvm_options o = rvm_options_default();
    o.tolerance = HUGE_VAL;
    o.fuel = 100000000;
    expression_free(x);
    rvm_status st = rvm_assemble_expression(x->text, s->name, s->n, NULL, &x->used, &x->program, e);
    if (!st) st = rvm_machine_new(x->program, &o, &x->machine, e);
    if (!st && !(x->argument = calloc(x->used.n + 1, sizeof *x->argument)))
        st = RVM_ERR_MEMORY, snprintf(e->message, sizeof e->message, "out of memory");
    return st;
}

/* *out: a scalar. */
static rvm_status evaluate(expression *x, const names *s, rvm_arg *out, rvm_error *e) {
    const uint64_t kinds = kinds_of(s);
    rvm_param_info value;
    rvm_status st = RVM_OK;
    if (!x->program || x->kinds != kinds) st = compile(x, s, e);
    x->kinds = kinds;
    if (st) return st;
    rvm_program_param(x->program, 0, 0, &value);
    x->argument[0] = (rvm_arg){.type = value.type};
    for (uint32_t k = 0; k < x->used.n; k++) x->argument[k + 1] = s->arg[x->used.name[k]];
    st = rvm_call(x->machine, 0, x->argument, x->used.n + 1, e);
    *out = x->argument[0];
    return st;
}

rvm_status expression_value(const debugger *d, uint32_t frame, expression *x, rvm_arg *out, rvm_error *e) {
    names s = {0};
    rvm_status st = RVM_ERR_MEMORY;
    *e = (rvm_error){0};
    if (names_of(d, frame, &s)) st = evaluate(x, &s, out, e);
    names_free(&s);
    return st;
}

/* ---- places: a name with indices and slices ---- */

static bool find(const names *s, const char *name, size_t length, rvm_arg *out) {
    for (uint32_t k = s->n; k-- > 0;)
        if (strlen(s->text[k]) == length && !memcmp(s->text[k], name, length)) return *out = s->arg[k], true;
    return false;
}

/* Up to a comma, `..` or the bracket that closes, outside of brackets. */
static size_t piece_length(const char *at) {
    size_t n = 0;
    for (int depth = 0; at[n]; n++) {
        if (!depth && (at[n] == ',' || at[n] == ']' || (at[n] == '.' && at[n + 1] == '.'))) break;
        depth += (at[n] == '[' || at[n] == '(') - (at[n] == ']' || at[n] == ')');
    }
    return n;
}

/* A number, a name, or an expression that is whole. */
static const char *read_index(const names *s, const char **at, int64_t *out) {
    expression x = {0};
    rvm_arg value = {0};
    rvm_error e = {0};
    const size_t length = piece_length(*at);
    if (length >= sizeof x.text) return "an index is too long";
    memcpy(x.text, *at, length);
    *at += length;
    const rvm_status st = evaluate(&x, s, &value, &e);
    expression_free(&x);
    *out = value.value.i;
    return st || value.type != RVM_I64 ? "an index is neither a number nor an i64 that is present" : NULL;
}

/* An index goes to *index; a slice, which has none, is refused where one is wanted. */
static const char *apply_index(const names *s, const char **at, rvm_arg *a, int *d, int64_t *index) {
    int64_t lo, hi;
    if (*d == a->ndim) return "there are more indices than dimensions";
    const char *why = read_index(s, at, &lo);
    const bool slice = !why && **at == '.';
    if (slice) *at += 2, why = read_index(s, at, &hi);
    if (why) return why;
    if (lo < 0 || lo > a->shape[*d] || (!slice && lo == a->shape[*d]) || (slice && (hi < lo || hi > a->shape[*d])))
        return "the index is out of bounds";
    a->data = (rvm_scalar *)a->data + lo * a->stride[*d];
    if (slice && index) return "a slice is not watched: watch an element, a row, or all";
    if (index) *index = lo;
    if (slice) {
        a->shape[(*d)++] = hi - lo;
        return NULL;
    }
    a->ndim--;
    for (int k = *d; k < a->ndim; k++) a->shape[k] = a->shape[k + 1], a->stride[k] = a->stride[k + 1];
    return NULL;
}

static const char *apply_indices(const names *s, const char *at, rvm_arg *a, int64_t *index) {
    int d = 0, n = 0;
    if (*at != '[') return *at ? "that is no place" : NULL;
    do {
        at++;
        const char *why = apply_index(s, &at, a, &d, index ? &index[n++] : NULL);
        if (why) return why;
    } while (*at == ',');
    if (strcmp(at, "]") != 0) return "that is no place";
    if (!a->ndim) a->value = *(rvm_scalar *)a->data;
    return NULL;
}

static bool place_at(const debugger *d, uint32_t frame, const char *text, bool quiet, rvm_arg *out, int64_t *index) {
    names s = {0};
    size_t length = strcspn(text, "[ \t");
    const char *why = "is not present here";
    if (names_of(d, frame, &s) && find(&s, text, length, out))
        why = apply_indices(&s, text + length + strspn(text + length, " \t"), out, index);
    names_free(&s);
    if (why && !quiet) printf("`%s`: %s\n", text, why);
    return !why;
}

bool debug_place(const debugger *d, uint32_t frame, const char *text, bool quiet, rvm_arg *out) {
    return place_at(d, frame, text, quiet, out, NULL);
}

bool debug_element(const debugger *d, const char *text, rvm_watch *w, char name[PLACE_TEXT]) {
    rvm_arg part, whole;
    const size_t length = strcspn(text, "[ \t");
    if (length >= PLACE_TEXT) return puts("that name is too long"), false;
    memcpy(name, text, length);
    name[length] = 0;
    if (!place_at(d, d->frame, text, false, &part, w->index) || !place_at(d, d->frame, name, false, &whole, NULL))
        return false;
    w->nindices = whole.ndim - part.ndim;
    return true;
}

/* debug_expr.c: places as text: a name with indices and slices. */
#include "debug.h"

#include <stdlib.h>
#include <string.h>

static bool find(const frame_names *s, const char *name, size_t length, rvm_arg *out) {
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
static const char *read_index(const frame_names *s, const char **at, int64_t *out) {
    expression x = {0};
    rvm_arg value = {0};
    rvm_error e = {0};
    const size_t length = piece_length(*at);
    if (length >= sizeof x.text) return "an index is too long";
    memcpy(x.text, *at, length);
    *at += length;
    const rvm_status st = expression_evaluate(&x, s, &value, &e);
    expression_free(&x);
    *out = value.value.i;
    return st || value.type != RVM_I64 ? "an index is neither a number nor an i64 that is present" : NULL;
}

/* An index goes to *index; a slice, which has none, is refused where one is wanted. */
static const char *apply_index(const frame_names *s, const char **at, rvm_arg *a, int *d, int64_t *index) {
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

static const char *apply_indices(const frame_names *s, const char *at, rvm_arg *a, int64_t *index) {
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
    frame_names s = {0};
    size_t length = strcspn(text, "[ \t");
    const char *why = "is not present here";
    if (frame_names_of(d->m, frame, &s) && find(&s, text, length, out))
        why = apply_indices(&s, text + length + strspn(text + length, " \t"), out, index);
    frame_names_free(&s);
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

/* literal.c: 1.5   &square   [1,2,3]   [[1,2],[3,4]]   zeros(3,4)   ones(3)   @file.npy   @-
 * A file is one of NumPy, or text as any of the others.
 * The elements of nested brackets are gathered row by row; the first row of each depth fixes the length of the others. */
#include "errors.h"
#include "npy.h"
#include "number.h"
#include "values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *at;
    reading *source;
    const char *file; /* the text is that file's; or NULL */
    const rvm_param_info *p;
    rvm_error *err;
    enum shown kind;
    rvm_scalar *cells; /* of a complex the parts by turns */
    size_t n, room;
    int64_t shape[RVM_MAX_DIMS]; /* -1: not known yet */
} reader;

static bool accept(reader *r, char c) {
    r->at += strspn(r->at, " \t\n");
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static rvm_status wrong(reader *r, const char *what) {
    if (!*r->at) return fail(r->err, RVM_ERR_ARGUMENT, NULL, "%s, found the end", what);
    return fail(r->err, RVM_ERR_ARGUMENT, NULL, "%s, found `%.*s`", what, quoted_length(r->at), r->at);
}

/* A number, or for a function value &name. */
static rvm_status read_scalar(reader *r, rvm_scalar *out) {
    char name[256];
    if (!r->p->function_type || !accept(r, '&')) return number_parse(r->p->type, &r->at, out, r->err);
    size_t length = strcspn(r->at, " \t\n,]"), copied = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, r->at, copied);
    name[copied] = 0;
    out->i = rvm_program_find(r->source->program, name);
    if (out->i < 0) return fail(r->err, RVM_ERR_ARGUMENT, NULL, "there is no function `%s`", name);
    r->at += length;
    return RVM_OK;
}

static rvm_status read_cell(reader *r) {
    if (r->n + 2 > r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        rvm_scalar *grown = realloc(r->cells, room * sizeof *grown);
        if (!grown) return fail(r->err, RVM_ERR_MEMORY, NULL, "out of memory");
        r->cells = grown;
        r->room = room;
    }
    rvm_scalar *to = &r->cells[r->n];
    r->n += r->kind == SHOWN_COMPLEX ? 2 : 1;
    if (r->kind == SHOWN_COMPLEX) return complex_parse(r->p->type, &r->at, to, r->err);
    return r->kind == SHOWN_LNS ? lns_parse(r->p->type, &r->at, to, r->err) : read_scalar(r, to);
}

static rvm_status wrong_depth(reader *r) {
    char type[128];
    param_type_text(r->p, type, sizeof type);
    return fail(r->err, RVM_ERR_SHAPE, NULL, "the value does not have the dimensions of %s", type);
}

/* Dimension d of the value, from behind its bracket to the closing one. At most ndim (4) deep. */
static rvm_status read_row(reader *r, int d) {
    int64_t length = 0;
    rvm_status st = RVM_OK;
    while (!accept(r, ']')) {
        if (length && !accept(r, ',') && (*r->at || r->file)) return wrong(r, "expected `,` or `]`");
        if (!*r->at && !r->file)
            return fail(r->err, RVM_ERR_ARGUMENT, NULL, "a `]` is missing: no spaces in a value, or quote it");
        bool nested = accept(r, '[');
        if (nested != (d + 1 < r->p->ndim)) return wrong_depth(r);
        st = nested ? read_row(r, d + 1) : read_cell(r);
        if (st) return st;
        length++;
    }
    if (r->shape[d] >= 0 && r->shape[d] != length)
        return fail(r->err, RVM_ERR_SHAPE, NULL, "its rows have different lengths, %lld and %lld", (long long)r->shape[d],
                    (long long)length);
    r->shape[d] = length;
    return RVM_OK;
}

static rvm_status read_nested(reader *r, rvm_arg *a, rvm_arg *im) {
    for (int d = 0; d < RVM_MAX_DIMS; d++) r->shape[d] = -1;
    rvm_status st = read_row(r, 0);
    for (int d = 0; !st && d < r->p->ndim; d++)
        if (r->shape[d] < 0)
            return fail(r->err, RVM_ERR_SHAPE, NULL, "an empty value does not tell its shape; write zeros(0, ...)");
    if (!st) st = reading_allocate(r->source, r->file, a, r->shape, r->err);
    if (!st && r->kind == SHOWN_COMPLEX) st = reading_allocate(r->source, r->file, im, r->shape, r->err);
    for (size_t k = 0; !st && k < r->n; k++) {
        const bool pairs = r->kind == SHOWN_COMPLEX;
        arg_set(pairs && k % 2 ? im : a, pairs ? k / 2 : k, r->cells[k]);
    }
    return st;
}

/* zeros(3, 4) and ones(3, 4) */
static rvm_status read_filled(reader *r, double value, rvm_arg *a, rvm_arg *im) {
    int d = 0;
    do {
        rvm_scalar length;
        rvm_status st = number_parse(RVM_I64, &r->at, &length, r->err);
        if (st) return st;
        if (length.i < 0)
            return fail(r->err, RVM_ERR_ARGUMENT, NULL, "a length must not be negative, found %lld", (long long)length.i);
        if (d == r->p->ndim) return wrong_depth(r);
        r->shape[d++] = length.i;
    } while (accept(r, ','));
    if (!accept(r, ')')) return wrong(r, "expected `,` or `)`");
    if (d != r->p->ndim) return wrong_depth(r);
    if (r->kind == SHOWN_LNS && value == 0) return wrong(r, "an lns is positive");
    if (r->kind == SHOWN_LNS) value = 0; /* the logarithm of 1 */
    rvm_status st = reading_allocate(r->source, r->file, a, r->shape, r->err);
    if (!st && r->kind == SHOWN_COMPLEX) st = reading_allocate(r->source, r->file, im, r->shape, r->err);
    rvm_scalar v = rvm_scalar_from_double(a->type, value);
    for (size_t k = 0, n = st || value == 0 ? 0 : arg_count(a); k < n; k++) arg_set(a, k, v);
    return st;
}

static rvm_status read_text(reader *r, rvm_arg *a, rvm_arg *im) {
    rvm_status st;
    bool is_zeros = strncmp(r->at, "zeros(", 6) == 0, is_ones = strncmp(r->at, "ones(", 5) == 0;
    if (is_zeros || is_ones) {
        r->at += is_zeros ? 6 : 5;
        st = read_filled(r, is_ones, a, im);
    } else if (accept(r, '[')) {
        st = r->p->ndim ? read_nested(r, a, im) : wrong_depth(r);
    } else if (r->p->ndim) {
        st = wrong_depth(r);
    } else {
        st = read_cell(r);
        if (!st) a->value = r->cells[0];
        if (!st && im) im->value = r->cells[1];
    }
    if (!st && (r->at += strspn(r->at, " \t\n"), *r->at)) st = wrong(r, "expected the end of the value");
    return st;
}

/* Puts the parameter's name in front of what went wrong; of a complex and an lns without its part. */
static rvm_status name_it(const reader *r, rvm_status st, rvm_error *err) {
    const int length = (int)(r->kind == SHOWN_PLAIN ? strlen(r->p->name) : strcspn(r->p->name, "."));
    char message[sizeof err->message];
    memcpy(message, err->message, sizeof message);
    snprintf(err->message, sizeof err->message, "%.*s: %.450s", length, r->p->name, message);
    return st;
}

/* Text, from a file: what comes is not known before, so that it has a limit even where there is none. */
static rvm_status read_text_file(reader *r, input *in, rvm_arg *a, rvm_arg *im) {
    enum { LONGEST = 1 << 28 };
    const size_t limit = r->source->limit && r->source->limit < LONGEST ? (size_t)r->source->limit : LONGEST;
    char *text;
    size_t size;
    rvm_status st = input_whole(in, limit, &text, &size, r->err);
    if (st) return st;
    if (memchr(text, 0, size)) st = fail(r->err, RVM_ERR_FORMAT, in->name, "is neither an array file of NumPy nor text");
    r->at = text;
    r->file = in->name;
    if (!st) st = read_text(r, a, im);
    if (st && !r->err->file[0]) snprintf(r->err->file, sizeof r->err->file, "%s", in->name);
    free(text);
    return st;
}

static bool is_text(const input *in, size_t n) {
    const size_t length = strlen(in->name);
    if (length >= 4 && strcmp(in->name + length - 4, ".npy") == 0) return false;
    for (size_t k = 0; k < n; k++)
        if (in->held[k] < 0x20 ? !isspace(in->held[k]) : in->held[k] > 0x7e) return false;
    return n > 0;
}

static rvm_status read_file(reader *r, rvm_arg *a, rvm_arg *im) {
    const char *path = r->at + 1;
    const int64_t *fixed = r->p->dim_value;
    input in;
    rvm_status st = reading_open(r->source, &in, path, r->err);
    if (st) return st;
    if (is_text(&in, input_peek(&in)))
        st = read_text_file(r, &in, a, im);
    else if (r->kind == SHOWN_LNS)
        st = fail(r->err, RVM_ERR_ARGUMENT, NULL, "a file holds reals: give %s=@file.npy, of logarithms", r->p->name);
    else
        st = npy_read(&in, r->source, fixed, a, im, r->err);
    input_close(&in);
    return st;
}

static rvm_status read_any(reader *r, rvm_arg *a, rvm_arg *im) {
    *a = (rvm_arg){.type = r->p->type, .ndim = r->p->ndim};
    if (im) *im = *a;
    r->err->file[0] = 0;
    rvm_status st = *r->at == '@' ? read_file(r, a, im) : read_text(r, a, im);
    free(r->cells);
    return st ? name_it(r, st, r->err) : RVM_OK;
}

rvm_status literal_read(reading *source, const rvm_param_info *p, const char *text, rvm_arg *a, rvm_error *err) {
    reader r = {.source = source, .at = text, .p = p, .err = err};
    return read_any(&r, a, NULL);
}

rvm_status literal_read_shown(reading *source, enum shown kind, const rvm_param_info *p, const char *text, rvm_arg *a,
                              rvm_arg *im, rvm_error *err) {
    reader r = {.source = source, .at = text, .p = p, .err = err, .kind = kind};
    return read_any(&r, a, im);
}

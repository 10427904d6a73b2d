/* npy.c: the header is read and weighed before memory is taken for the elements.
 *
 *     \x93NUMPY  major minor  length (2 bytes LE; 4 from version 2)  {'descr': '<f8', 'fortran_order': False, 'shape': (3,)}
 *     then the elements
 */
#include "npy.h"
#include "errors.h"
#include "number.h"
#include "values.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct header {
    char descr[16];
    char kind; /* f i u b c */
    size_t size;
    int parts; /* numbers of this size in an element: 2 if complex, and kind is then f */
    bool big, fortran, have_descr, have_order, have_shape;
    int ndim;
    int64_t shape[RVM_MAX_DIMS];
} header;

typedef struct scanner {
    const char *at, *end, *path;
    rvm_error *err;
} scanner;

/* ---- header ---- */

static rvm_status damaged(const scanner *s, const char *what) {
    return fail(s->err, RVM_ERR_FORMAT, s->path, "not an array file of NumPy: %s", what);
}

static void blanks(scanner *s) {
    while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
}

static bool accept(scanner *s, char c) {
    blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static bool word(scanner *s, const char *w) {
    blanks(s);
    size_t n = strlen(w);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, w, n) != 0) return false;
    s->at += n;
    return true;
}

enum string { NONE, OPEN, WHOLE }; /* OPEN: the header ends within it */

static enum string string(scanner *s, char *out, size_t size) {
    blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return NONE;
    char quote = *s->at++;
    size_t n = 0;
    for (; s->at < s->end && *s->at != quote; s->at++)
        if (n + 1 < size) out[n++] = *s->at;
    out[n] = 0;
    return accept(s, quote) ? WHOLE : OPEN;
}

static rvm_status scan_shape(scanner *s, header *h) {
    if (!accept(s, '(')) return damaged(s, "its shape is not a tuple");
    h->ndim = 0;
    while (!accept(s, ')')) {
        int64_t n = 0;
        const char *digits = (blanks(s), s->at);
        for (; s->at < s->end && isdigit((unsigned char)*s->at); s->at++)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *s->at - '0', &n))
                return damaged(s, "a length in its shape is too large");
        if (s->at == digits) return damaged(s, "its shape holds something that is no length");
        if (h->ndim == RVM_MAX_DIMS)
            return fail(s->err, RVM_ERR_SHAPE, s->path, "has more than %d dimensions", RVM_MAX_DIMS);
        h->shape[h->ndim++] = n;
        (void)accept(s, 'L'); /* as Python 2 wrote long integers */
        if (!accept(s, ',') && (blanks(s), s->at == s->end || *s->at != ')')) return damaged(s, "its shape has no end");
    }
    h->have_shape = true;
    return RVM_OK;
}

static rvm_status scan_descr(scanner *s, header *h) {
    const enum string got = string(s, h->descr, sizeof h->descr);
    if (got == OPEN || (blanks(s), s->at == s->end)) return damaged(s, "its header has no end");
    if (got == NONE) return fail(s->err, RVM_ERR_TYPE, s->path, "holds records, not numbers");
    const char *d = h->descr;
    h->big = *d == '>';
    if (*d && strchr("<>=|", *d)) d++;
    h->kind = *d;
    d += *d != 0;
    const size_t digits = strspn(d, "0123456789");
    h->size = digits && digits < 3 && !d[digits] ? (size_t)strtoul(d, NULL, 10) : 0;
    h->parts = 1;
    h->have_descr = true;
    return RVM_OK;
}

static rvm_status scan_entry(scanner *s, header *h) {
    char key[24];
    const enum string got = string(s, key, sizeof key);
    if (got == OPEN || (blanks(s), s->at == s->end)) return damaged(s, "its header has no end");
    if (got == NONE || !accept(s, ':')) return damaged(s, "its header is no dictionary");
    if (strcmp(key, "descr") == 0) return scan_descr(s, h);
    if (strcmp(key, "shape") == 0) return scan_shape(s, h);
    if (strcmp(key, "fortran_order") != 0) return damaged(s, "its header has an unknown key");
    h->fortran = word(s, "True");
    if (!h->fortran && !word(s, "False")) return damaged(s, "fortran_order is neither True nor False");
    h->have_order = true;
    return RVM_OK;
}

static rvm_status scan_header(scanner *s, header *h) {
    if (!accept(s, '{')) return damaged(s, "its header is no dictionary");
    while (!accept(s, '}')) {
        rvm_status st = scan_entry(s, h);
        if (st) return st;
        if (!accept(s, ',') && (blanks(s), s->at == s->end || *s->at != '}')) return damaged(s, "its header has no end");
    }
    if (h->have_descr && h->have_order && h->have_shape) return RVM_OK;
    return damaged(s, "its header lacks descr, fortran_order or shape");
}

/* From the file's beginning to its elements. The header's text is short whatever its length says: a dictionary of three. */
static rvm_status read_header(input *in, header *h, rvm_error *err) {
    static const char magic[] = "\x93NUMPY";
    enum { LONGEST = 1 << 16 };
    unsigned char b[12];
    scanner s = {.path = in->name, .err = err};
    const size_t got = input_read(in, b, 8);
    if (got < 6 || memcmp(b, magic, 6) != 0)
        return input_status(in, err) ? RVM_ERR_IO : damaged(&s, got < 8 ? "it is too short" : "it begins otherwise");
    if (got == 8 && (b[6] < 1 || b[6] > 3))
        return fail(err, RVM_ERR_VERSION, in->name, "is an array file of version %d.%d; known are 1 to 3", b[6], b[7]);
    const size_t length_bytes = got < 8 || b[6] == 1 ? 2 : 4;
    size_t length = 0;
    if (got < 8 || input_read(in, b + 8, length_bytes) != length_bytes) return damaged(&s, "it is too short");
    for (size_t i = length_bytes; i-- > 0;) length = length << 8 | b[8 + i];
    if (in->known && length > in->left) return damaged(&s, "it is cut off within its header");
    if (length > LONGEST) return damaged(&s, "its header is longer than 65536 bytes");
    char *text = malloc(length + 1);
    if (!text) return fail(err, RVM_ERR_MEMORY, in->name, "out of memory");
    s.at = text;
    s.end = text + input_read(in, text, length);
    const rvm_status st = s.end == text + length ? scan_header(&s, h) : damaged(&s, "it is cut off within its header");
    free(text);
    return st;
}

/* ---- what the header says, against what is wanted ---- */

static bool readable(const header *h, rvm_type want) {
    const bool whole = h->kind == 'i' || h->kind == 'u';
    if (whole) return h->size && h->size <= 8 && !(h->size & (h->size - 1));
    if (h->kind == 'b') return h->size == 1;
    return h->kind == 'f' && want != RVM_I64 && (h->size == 8 || h->size == 4 || (h->size == 2 && h->parts == 1));
}

static rvm_status too_many(const input *in, const header *h, rvm_error *err) {
    char shape[128];
    int n = 0;
    for (int d = 0; d < h->ndim; d++)
        n += snprintf(shape + n, sizeof shape - (size_t)n, "%s%lld", d ? ", " : "", (long long)h->shape[d]);
    return fail(err, RVM_ERR_FORMAT, in->name,
                "its header promises the shape (%s): more elements than memory has addresses for", shape);
}

/* The number of elements, whose bytes fit a size. */
static rvm_status count_elements(const input *in, const header *h, size_t *n, rvm_error *err) {
    size_t bytes = h->size * (size_t)h->parts;
    bool fits = true, empty = false;
    for (int d = 0; d < h->ndim; d++) {
        empty |= h->shape[d] == 0;
        fits &= !__builtin_mul_overflow(bytes, (size_t)h->shape[d], &bytes);
    }
    if (empty) bytes = 0;
    if (!empty && (!fits || bytes > PTRDIFF_MAX)) return too_many(in, h, err);
    *n = bytes / (h->size * (size_t)h->parts);
    if (!in->known || bytes == in->left) return RVM_OK;
    if (bytes > in->left)
        return fail(err, RVM_ERR_FORMAT, in->name, "is cut off: its header promises %zu elements, %llu bytes are there", *n,
                    (unsigned long long)in->left);
    return fail(err, RVM_ERR_FORMAT, in->name, "has %llu bytes behind its elements", (unsigned long long)(in->left - bytes));
}

/* The shape that is wanted, from that of the file: of a single number it does not matter how many dimensions it has. */
static rvm_status take_shape(const input *in, const header *h, size_t n, const int64_t *fixed, const rvm_arg *a,
                             int64_t shape[RVM_MAX_DIMS], rvm_error *err) {
    if (h->ndim != a->ndim && n != 1)
        return fail(err, RVM_ERR_SHAPE, in->name, "has %d dimension%s, and %d are wanted", h->ndim, h->ndim == 1 ? "" : "s",
                    a->ndim);
    for (int d = 0; d < a->ndim; d++) {
        shape[d] = h->ndim == a->ndim ? h->shape[d] : 1;
        if (fixed && fixed[d] >= 0 && fixed[d] != shape[d])
            return fail(err, RVM_ERR_SHAPE, in->name, "has length %lld in dimension %d, and %lld is wanted",
                        (long long)shape[d], d + 1, (long long)fixed[d]);
    }
    return RVM_OK;
}

/* ---- elements ---- */

typedef struct number {
    bool whole;
    __int128 i;
    double f;
} number;

/* 1 bit for the sign, 5 for the exponent, 10 for the mantissa. Exact. */
static double half(uint64_t u) {
    const int exponent = (int)(u >> 10 & 31), mantissa = (int)(u & 1023);
    const double x = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                     : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                    : ldexp(mantissa, -24);
    return u >> 15 ? -x : x;
}

static number decode(const header *h, const unsigned char *b) {
    uint64_t u = 0;
    number x = {.whole = h->kind != 'f'};
    for (size_t i = 0; i < h->size; i++) u = u << 8 | b[h->big ? i : h->size - 1 - i];
    if (h->kind == 'f' && h->size == 4) {
        const uint32_t low = (uint32_t)u;
        float single;
        memcpy(&single, &low, sizeof single);
        x.f = single;
    } else if (h->kind == 'f' && h->size == 2) {
        x.f = half(u);
    } else if (h->kind == 'f') {
        memcpy(&x.f, &u, sizeof x.f);
    } else {
        const unsigned unused = 64 - 8 * (unsigned)h->size;
        x.i = h->kind == 'i' ? (__int128)((int64_t)(u << unused) >> unused) : (__int128)u;
        x.f = (double)x.i;
    }
    return x;
}

/* False: the type has no such number. */
static bool convert(number x, rvm_type want, rvm_scalar *out) {
    if (want == RVM_I64) {
        out->i = (int64_t)x.i;
        return (__int128)out->i == x.i;
    }
    if (want == RVM_FIX && !(x.f >= -FIX_LIMIT && x.f < FIX_LIMIT)) return false;
    *out = rvm_scalar_from_double(want, x.f);
    if (isnan(x.f)) return true;
    return x.whole ? !isinf(x.f) && (__int128)rvm_scalar_to_double(want, *out) == x.i
                   : rvm_scalar_to_double(want, *out) == x.f;
}

/* Element k of the file: its number or indices, its value, and what helps. */
static rvm_status inexact(const input *in, const header *h, rvm_type want, size_t k, number x, rvm_error *err) {
    char where[128], value[NUMBER_TEXT];
    int64_t index[RVM_MAX_DIMS] = {0};
    for (int e = 0; e < h->ndim; e++) {
        const int d = h->fortran ? e : h->ndim - 1 - e;
        index[d] = (int64_t)(k % (size_t)h->shape[d]);
        k /= (size_t)h->shape[d];
    }
    int n = snprintf(where, sizeof where, "element ");
    for (int d = 0; d < h->ndim; d++)
        n += snprintf(where + n, sizeof where - (size_t)n, "%s%lld%s", d ? ", " : "[", (long long)index[d],
                      d + 1 == h->ndim ? "]" : "");
    if (x.whole)
        snprintf(value, sizeof value, x.i < 0 ? "%lld" : "%llu", (long long)x.i);
    else
        number_text(RVM_F64, (rvm_scalar){.f = x.f}, value);
    return fail(err, RVM_ERR_ARGUMENT, in->name, "%s is %s, which %s %s does not hold exactly%s", h->ndim ? where : "it",
                value, want == RVM_I64 || want == RVM_F64 || want == RVM_F32 ? "an" : "a", rvm_type_name(want),
                want == RVM_F32   ? "; saved as float32 it is rounded: a.astype('f4')"
                : want == RVM_FIX ? "; a fix is a multiple of 2^-43 from -2^20 to below 2^20: "
                                    "numpy.round(a * 2.0**43) / 2.0**43 rounds it"
                                  : "");
}

/* One number, which is part `part` of element k. */
static rvm_status take(const input *in, const header *h, size_t k, const unsigned char *b, rvm_arg *a, rvm_error *err) {
    const number x = decode(h, b);
    rvm_scalar *to = a->ndim ? (rvm_scalar *)a->data + k : &a->value;
    if (h->kind == 'b' && x.i > 1)
        return fail(err, RVM_ERR_FORMAT, in->name, "holds booleans, and the byte of one is %d", (int)x.i);
    return convert(x, a->type, to) ? RVM_OK : inexact(in, h, a->type, k, x, err);
}

static rvm_status read_elements(input *in, const header *h, size_t n, rvm_arg *a, rvm_arg *im, rvm_error *err) {
    unsigned char buffer[1 << 14];
    const size_t size = h->size * (size_t)h->parts, room = sizeof buffer / size;
    rvm_status st = RVM_OK;
    for (size_t k = 0; !st && k < n;) {
        const size_t some = n - k < room ? n - k : room, got = input_read(in, buffer, some * size);
        for (size_t e = 0; !st && e < got / size; e++, k++) {
            st = take(in, h, k, buffer + e * size, a, err);
            if (!st && h->parts == 2) st = take(in, h, k, buffer + e * size + h->size, im, err);
        }
        if (!st && got < some * size) st = input_status(in, err);
        if (!st && got < some * size)
            st = fail(err, RVM_ERR_FORMAT, in->name, "is cut off: its header promises %zu elements, %zu are there", n, k);
    }
    if (!st && !in->known && input_read(in, buffer, 1))
        st = fail(err, RVM_ERR_FORMAT, in->name, "has bytes behind its elements");
    return st ? st : input_status(in, err);
}

static void turn_strides(rvm_arg *a) {
    int64_t stride = 1;
    for (int d = 0; d < a->ndim; d++) {
        a->stride[d] = stride;
        stride *= a->shape[d];
    }
}

rvm_status npy_read(input *in, reading *r, const int64_t *fixed, rvm_arg *a, rvm_arg *im, rvm_error *err) {
    header h = {0};
    size_t n = 0;
    int64_t shape[RVM_MAX_DIMS] = {0};
    rvm_status st = read_header(in, &h, err);
    if (st) return st;
    if (im && h.kind == 'c' && h.size % 2 == 0) h.kind = 'f', h.size /= 2, h.parts = 2;
    if (!readable(&h, a->type))
        return fail(err, RVM_ERR_TYPE, in->name, "holds elements of type `%s`, which are not exactly %s", h.descr,
                    rvm_type_name(a->type));
    st = count_elements(in, &h, &n, err);
    if (!st) st = take_shape(in, &h, n, fixed, a, shape, err);
    if (!st && a->ndim) st = reading_allocate(r, in->name, a, shape, err);
    if (!st && a->ndim && im) st = reading_allocate(r, in->name, im, shape, err);
    if (!st) st = read_elements(in, &h, n, a, im, err);
    if (!st && h.fortran) turn_strides(a);
    if (!st && h.fortran && im) turn_strides(im);
    return st;
}

rvm_status npy_read_file(const char *path, reading *r, const int64_t *fixed, rvm_arg *a, rvm_arg *im, rvm_error *err) {
    input in;
    rvm_status st = reading_open(r, &in, path, err);
    if (!st) st = npy_read(&in, r, fixed, a, im, err);
    input_close(&in);
    return st;
}

/* ---- writing ---- */

static void write_header(FILE *f, const rvm_arg *a, bool complex) {
    char text[192];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     a->type == RVM_I64   ? "<i8"
                     : a->type == RVM_F32 ? (complex ? "<c8" : "<f4")
                     : complex            ? "<c16"
                                          : "<f8");
    for (int d = 0; d < a->ndim; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld%s", d ? " " : "", (long long)a->shape[d],
                      d + 1 < a->ndim || a->ndim == 1 ? "," : "");
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    int length = (10 + n + 1 + 63) / 64 * 64 - 10; /* the elements start at a multiple of 64 */
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)length, (unsigned char)(length >> 8)};
    fwrite(head, 1, sizeof head, f);
    fprintf(f, "%-*s\n", length - 1, text);
}

static rvm_status write_element(FILE *f, const rvm_arg *a, rvm_scalar v, const char *path, size_t k, rvm_error *err) {
    uint64_t u = (uint64_t)v.i;
    unsigned char b[8];
    const int size = a->type == RVM_F32 ? 4 : 8;
    if (a->type == RVM_F32) {
        float single = (float)v.f;
        uint32_t low;
        memcpy(&low, &single, sizeof low);
        u = low;
    }
    if (a->type == RVM_FIX) {
        double x = rvm_fix_to_double(v.i);
        if (rvm_fix_from_double(x) != v.i)
            return fail(err, RVM_ERR_ARGUMENT, path,
                        "element %zu, a fix near %g, has more digits than a file of doubles holds", k, x);
        memcpy(&u, &x, sizeof u);
    }
    for (int i = 0; i < size; i++) b[i] = (unsigned char)(u >> 8 * i);
    fwrite(b, 1, (size_t)size, f);
    return RVM_OK;
}

rvm_status npy_bytes(const char *name, const rvm_arg *a, const rvm_arg *im, bool shadow, char **bytes, size_t *size,
                     rvm_error *err) {
    rvm_status st = RVM_OK;
    *bytes = NULL, *size = 0;
    FILE *f = open_memstream(bytes, size);
    if (!f) return fail(err, RVM_ERR_MEMORY, name, "out of memory");
    write_header(f, a, im);
    for (size_t k = 0, n = arg_count(a); !st && k < n; k++) {
        st = write_element(f, a, shadow ? arg_get_shadow(a, k) : arg_get(a, k), name, k, err);
        if (!st && im) st = write_element(f, im, shadow ? arg_get_shadow(im, k) : arg_get(im, k), name, k, err);
    }
    bool bad = ferror(f);
    bad |= fclose(f) != 0;
    if (!st && bad) st = fail(err, RVM_ERR_MEMORY, name, "out of memory");
    if (!st) return RVM_OK;
    free(*bytes);
    *bytes = NULL;
    return st;
}

rvm_status npy_write(const char *path, const rvm_arg *a, const rvm_arg *im, bool shadow, rvm_error *err) {
    char *bytes;
    size_t size;
    rvm_status st = npy_bytes(path, a, im, shadow, &bytes, &size, err);
    if (!st) st = rvm_file_write(path, bytes, size, err); /* there whole, or as it was */
    free(bytes);
    return st;
}

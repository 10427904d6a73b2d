/* npy.c: the file is read whole, then believed only as far as its bytes go.
 *
 *     \x93NUMPY  major minor  length (2 bytes LE; 4 from version 2)  {'descr': '<f8', 'fortran_order': False, 'shape': (3,)}
 *     then the elements
 */
#include "npy.h"
#include "isa.h"
#include "number.h"
#include "values.h"

#include <ctype.h>
#include <errno.h>
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
    return rvm__fail(s->err, RVM_ERR_FORMAT, s->path, 0, 0, "not an array file of NumPy: %s", what);
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

static bool string(scanner *s, char *out, size_t size) {
    blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return false;
    char quote = *s->at++;
    size_t n = 0;
    for (; s->at < s->end && *s->at != quote; s->at++)
        if (n + 1 < size) out[n++] = *s->at;
    out[n] = 0;
    return accept(s, quote);
}

static rvm_status scan_shape(scanner *s, header *h) {
    if (!accept(s, '(')) return damaged(s, "its shape is not a tuple");
    while (!accept(s, ')')) {
        int64_t n = 0;
        const char *digits = (blanks(s), s->at);
        for (; s->at < s->end && isdigit((unsigned char)*s->at); s->at++)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *s->at - '0', &n))
                return damaged(s, "a length in its shape is too large");
        if (s->at == digits) return damaged(s, "its shape holds something that is no length");
        if (h->ndim == RVM_MAX_DIMS)
            return rvm__fail(s->err, RVM_ERR_SHAPE, s->path, 0, 0, "has more than %d dimensions", RVM_MAX_DIMS);
        h->shape[h->ndim++] = n;
        (void)accept(s, 'L'); /* as Python 2 wrote long integers */
        if (!accept(s, ',') && (blanks(s), s->at == s->end || *s->at != ')')) return damaged(s, "its shape does not end");
    }
    h->have_shape = true;
    return RVM_OK;
}

static rvm_status scan_descr(scanner *s, header *h) {
    if (!string(s, h->descr, sizeof h->descr))
        return rvm__fail(s->err, RVM_ERR_TYPE, s->path, 0, 0, "holds records, not numbers");
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
    if (!string(s, key, sizeof key) || !accept(s, ':')) return damaged(s, "its header is no dictionary");
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
        if (!accept(s, ',') && (blanks(s), s->at == s->end || *s->at != '}')) return damaged(s, "its header does not end");
    }
    if (h->have_descr && h->have_order && h->have_shape) return RVM_OK;
    return damaged(s, "its header lacks descr, fortran_order or shape");
}

/* Leaves s on the elements. */
static rvm_status scan_file(scanner *s, header *h) {
    static const char magic[] = "\x93NUMPY";
    size_t size = (size_t)(s->end - s->at), length_bytes;
    const unsigned char *b = (const unsigned char *)s->at;
    if (size < 10 || memcmp(b, magic, 6) != 0) return damaged(s, size < 10 ? "it is too short" : "it begins otherwise");
    if (b[6] < 1 || b[6] > 3)
        return rvm__fail(s->err, RVM_ERR_VERSION, s->path, 0, 0, "is an array file of version %d.%d; known are 1 to 3", b[6],
                         b[7]);
    length_bytes = b[6] == 1 ? 2 : 4;
    if (size < 8 + length_bytes) return damaged(s, "it is too short");
    size_t length = 0;
    for (size_t i = length_bytes; i-- > 0;) length = length << 8 | b[8 + i];
    if (length > size - 8 - length_bytes) return damaged(s, "it is cut off within its header");
    scanner text = *s;
    text.at = s->at + 8 + length_bytes;
    text.end = s->at = text.at + length;
    return scan_header(&text, h);
}

/* ---- elements ---- */

static bool readable(const header *h, rvm_type want) {
    bool whole = h->kind == 'i' || h->kind == 'u', narrow = h->size <= 4;
    if (whole && (h->size == 0 || (h->size & (h->size - 1)))) return false;
    if (h->kind == 'b') return want == RVM_I64 && h->size == 1;
    if (h->kind == 'f') return want != RVM_I64 && (h->size == 4 || h->size == 8);
    return whole && (narrow || (want == RVM_I64 && h->kind == 'i' && h->size == 8));
}

static rvm_scalar decode(const header *h, const unsigned char *b, rvm_type want) {
    uint64_t u = 0;
    for (size_t i = 0; i < h->size; i++) u = u << 8 | b[h->big ? i : h->size - 1 - i];
    double f = 0;
    if (h->kind == 'f' && h->size == 4) {
        uint32_t low = (uint32_t)u;
        float single;
        memcpy(&single, &low, sizeof single);
        f = single;
    } else if (h->kind == 'f') {
        memcpy(&f, &u, sizeof f);
    } else {
        unsigned unused = 64 - 8 * (unsigned)h->size;
        int64_t i = h->kind == 'i' ? (int64_t)(u << unused) >> unused : (int64_t)u;
        if (want == RVM_I64) return (rvm_scalar){.i = i};
        f = (double)i;
    }
    return scalar_from_double(want, f);
}

/* A fix must be in range; rounding to nearest is what writing its decimals does, too. */
static rvm_status check_fix(const scanner *s, const header *h, size_t k, const unsigned char *b) {
    double x = decode(h, b, RVM_F64).f;
    if (x >= -FIX_LIMIT && x < FIX_LIMIT) return RVM_OK;
    return rvm__fail(s->err, RVM_ERR_ARGUMENT, s->path, 0, 0,
                     "element %zu is %g, outside the range of fix, [-1048576, 1048576)", k, x);
}

static rvm_status check_size(const scanner *s, const header *h, size_t *count) {
    size_t have = (size_t)(s->end - s->at), n = 1, bytes;
    bool fits = true, empty = false;
    for (int d = 0; d < h->ndim; d++) {
        empty |= h->shape[d] == 0;
        fits &= !__builtin_mul_overflow(n, (size_t)h->shape[d], &n);
    }
    if (empty) n = 0, fits = true;
    fits &= !__builtin_mul_overflow(n, h->size * (size_t)h->parts, &bytes);
    *count = n;
    if (fits && bytes == have) return RVM_OK;
    if (!fits || bytes > have)
        return rvm__fail(s->err, RVM_ERR_FORMAT, s->path, 0, 0,
                         "is cut off: its header promises %s%zu elements, %zu bytes are there", fits ? "" : "more than ",
                         fits ? n : SIZE_MAX, have);
    return rvm__fail(s->err, RVM_ERR_FORMAT, s->path, 0, 0, "has %zu bytes behind its elements", have - bytes);
}

/* Number `part` of each element. */
static rvm_status read_elements(scanner *s, const header *h, rvm_arg *a, int part) {
    size_t n, k;
    rvm_status st = check_size(s, h, &n);
    if (!st && a->ndim) st = arg_allocate(a, h->shape, s->err);
    rvm_scalar *to = a->ndim ? a->data : &a->value;
    for (k = 0; !st && k < n && part < h->parts; k++) {
        const unsigned char *b = (const unsigned char *)s->at + (k * (size_t)h->parts + (size_t)part) * h->size;
        if (a->type == RVM_FIX) st = check_fix(s, h, k, b);
        to[k] = decode(h, b, a->type);
    }
    int64_t stride = 1;
    for (int d = 0; !st && h->fortran && d < a->ndim; d++) {
        a->stride[d] = stride;
        stride *= a->shape[d];
    }
    return st;
}

/* ---- files ---- */

static rvm_status read_whole(const char *path, char **bytes, size_t *size, rvm_error *err) {
    size_t room = 0;
    rvm_status st = RVM_OK;
    *bytes = NULL, *size = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return rvm__fail(err, RVM_ERR_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    while (!st && !feof(f)) {
        if (*size == room) {
            char *grown = realloc(*bytes, room = room ? 2 * room : 1 << 16);
            if (!grown)
                st = rvm__fail(err, RVM_ERR_MEMORY, path, 0, 0, "out of memory");
            else
                *bytes = grown;
            if (st) break;
        }
        *size += fread(*bytes + *size, 1, room - *size, f);
        if (ferror(f)) st = rvm__fail(err, RVM_ERR_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    }
    fclose(f);
    return st;
}

rvm_status npy_read(const char *path, rvm_arg *a, rvm_arg *im, rvm_error *err) {
    char *bytes;
    size_t size;
    header h = {0};
    scanner s = {.path = path, .err = err};
    rvm_status st = read_whole(path, &bytes, &size, err);
    if (st) goto done;
    s.at = bytes;
    s.end = bytes + size;
    st = scan_file(&s, &h);
    if (st) goto done;
    if (im && h.kind == 'c' && h.size % 2 == 0) h.kind = 'f', h.size /= 2, h.parts = 2;
    if (!readable(&h, a->type))
        st = rvm__fail(err, RVM_ERR_TYPE, path, 0, 0, "holds elements of type `%s`, which are not exactly %s", h.descr,
                       rvm_type_name(a->type));
    else if (h.ndim != a->ndim)
        st = rvm__fail(err, RVM_ERR_SHAPE, path, 0, 0, "has %d dimension%s, and %d are wanted", h.ndim,
                       h.ndim == 1 ? "" : "s", a->ndim);
    else
        st = read_elements(&s, &h, a, 0);
    if (!st && im) st = read_elements(&s, &h, im, 1);
done:
    free(bytes);
    return st;
}

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
            return rvm__fail(err, RVM_ERR_ARGUMENT, path, 0, 0,
                             "element %zu, a fix near %g, has more digits than a file of doubles holds", k, x);
        memcpy(&u, &x, sizeof u);
    }
    for (int i = 0; i < size; i++) b[i] = (unsigned char)(u >> 8 * i);
    fwrite(b, 1, (size_t)size, f);
    return RVM_OK;
}

rvm_status npy_write(const char *path, const rvm_arg *a, const rvm_arg *im, bool shadow, rvm_error *err) {
    char *bytes = NULL;
    size_t size = 0;
    rvm_status st = RVM_OK;
    FILE *f = open_memstream(&bytes, &size); /* so that a file is there whole or as it was */
    if (!f) return rvm__fail(err, RVM_ERR_MEMORY, path, 0, 0, "out of memory");
    write_header(f, a, im);
    for (size_t k = 0, n = arg_count(a); !st && k < n; k++) {
        st = write_element(f, a, shadow ? arg_get_shadow(a, k) : arg_get(a, k), path, k, err);
        if (!st && im) st = write_element(f, im, shadow ? arg_get_shadow(im, k) : arg_get(im, k), path, k, err);
    }
    bool bad = ferror(f);
    bad |= fclose(f) != 0;
    if (!st && bad) st = rvm__fail(err, RVM_ERR_MEMORY, path, 0, 0, "out of memory");
    if (!st) st = rvm__write_file(path, bytes, size, err);
    free(bytes);
    return st;
}

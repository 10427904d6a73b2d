/* sparse_file.c: Matrix Market and SciPy's archives.
 *
 *     %%MatrixMarket matrix coordinate real general      indices.npy  indptr.npy  format.npy: csr  shape.npy  data.npy
 *     rows columns entries
 *     row column value                                   numbered from 1
 */
#include "sparse_file.h"
#include "errors.h"
#include "npz.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *path, const char *end) {
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

bool sparse_file_is(const char *path) {
    return ends_with(path, ".mtx") || ends_with(path, ".npz");
}

/* ---- writing ---- */

static int64_t entries_of(const rvm_sparse *s, bool lower) {
    int64_t n = 0;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t e = s->row_start[i]; e < s->row_start[i + 1]; e++) n += !lower || s->column[e] <= i;
    return n;
}

static rvm_status market_bytes(const char *path, const rvm_sparse *s, bool symmetric, char **bytes, size_t *size,
                               rvm_error *err) {
    FILE *f = open_memstream(bytes, size);
    if (!f) return fail(err, RVM_ERR_MEMORY, path, "out of memory");
    fprintf(f, "%%%%MatrixMarket matrix coordinate real %s\n", symmetric ? "symmetric" : "general");
    fprintf(f, "%lld %lld %lld\n", (long long)s->rows, (long long)s->columns, (long long)entries_of(s, symmetric));
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t e = s->row_start[i]; e < s->row_start[i + 1]; e++)
            if (!symmetric || s->column[e] <= i)
                fprintf(f, "%lld %lld %.17g\n", (long long)i + 1, (long long)s->column[e] + 1, s->value[e]);
    const bool bad = ferror(f);
    if (!(fclose(f) || bad)) return RVM_OK;
    free(*bytes);
    *bytes = NULL;
    return fail(err, RVM_ERR_MEMORY, path, "out of memory");
}

static rvm_arg list_of(rvm_type type, void *data, int64_t n) {
    return rvm_arg_array(type, data, 1, &n);
}

static rvm_status archive_bytes(const char *path, const rvm_sparse *s, char **bytes, size_t *size, rvm_error *err) {
    const int64_t n = s->row_start[s->rows];
    int64_t shape[2] = {s->rows, s->columns};
    const rvm_arg indices = list_of(RVM_I64, s->column, n), indptr = list_of(RVM_I64, s->row_start, s->rows + 1),
                  lengths = list_of(RVM_I64, shape, 2), data = list_of(RVM_F64, s->value, n);
    npz z;
    rvm_status st = npz_begin(&z, err);
    if (st) return st;
    st = npz_add(&z, "indices", &indices, NULL, false, err);
    if (!st) st = npz_add(&z, "indptr", &indptr, NULL, false, err);
    if (!st) st = npz_add_text(&z, "format", "csr", err);
    if (!st) st = npz_add(&z, "shape", &lengths, NULL, false, err);
    if (!st) st = npz_add(&z, "data", &data, NULL, false, err);
    const rvm_status ended = npz_end(&z, st ? NULL : path, bytes, size, err);
    return st ? st : ended;
}

rvm_status sparse_file_bytes(const char *path, const rvm_sparse *s, bool symmetric, char **bytes, size_t *size,
                             rvm_error *err) {
    *bytes = NULL;
    return ends_with(path, ".npz") ? archive_bytes(path, s, bytes, size, err)
                                   : market_bytes(path, s, symmetric, bytes, size, err);
}

/* ---- coordinates as rows ---- */

typedef struct coordinates {
    int64_t rows, columns, n, cap, *row, *column;
} coordinates;

static bool add(coordinates *c, int64_t row, int64_t column) {
    if (c->n == c->cap) {
        const int64_t cap = c->cap ? 2 * c->cap : 64;
        int64_t *r = realloc(c->row, (size_t)cap * sizeof *r);
        if (r) c->row = r;
        int64_t *k = r ? realloc(c->column, (size_t)cap * sizeof *k) : NULL;
        if (!k) return false;
        c->column = k;
        c->cap = cap;
    }
    c->row[c->n] = row;
    c->column[c->n++] = column;
    return true;
}

static void free_coordinates(coordinates *c) {
    free(c->row);
    free(c->column);
}

static bool to_rows(const coordinates *c, rvm_sparse *out) {
    *out = (rvm_sparse){.rows = c->rows, .columns = c->columns};
    out->row_start = calloc((size_t)c->rows + 2, sizeof *out->row_start);
    out->column = calloc((size_t)c->n + 1, sizeof *out->column);
    if (!out->row_start || !out->column) return false;
    for (int64_t e = 0; e < c->n; e++) out->row_start[c->row[e] + 2]++;
    for (int64_t i = 2; i <= c->rows; i++) out->row_start[i] += out->row_start[i - 1];
    for (int64_t e = 0; e < c->n; e++) out->column[out->row_start[c->row[e] + 1]++] = c->column[e];
    return true;
}

/* ---- reading Matrix Market ---- */

enum { LONGEST_LINE = 1024 }; /* the format's own limit */

typedef struct market {
    const char *path;
    FILE *file;
    size_t line;
    char text[LONGEST_LINE + 2];
    bool mirrored; /* symmetric: entries above the diagonal are not there */
    rvm_error *err;
} market;

static rvm_status fail_line(const market *m, rvm_status code, const char *what, const char *text) {
    return fail(m->err, code, m->path, "line %zu: %s%.60s", m->line, what, text);
}

/* The next line that is no comment. */
static bool next_line(market *m) {
    while (fgets(m->text, sizeof m->text, m->file)) {
        m->line++;
        m->text[strcspn(m->text, "\r\n")] = 0;
        if (m->text[0] != '%' && m->text[strspn(m->text, " \t")]) return true;
    }
    return false;
}

static rvm_status read_banner(market *m) {
    char object[20] = "", layout[20] = "", field[20] = "", symmetry[20] = "";
    if (!fgets(m->text, sizeof m->text, m->file)) return fail_line(m, RVM_ERR_FORMAT, "the file is empty", "");
    m->line = 1;
    m->text[strcspn(m->text, "\r\n")] = 0;
    if (sscanf(m->text, "%%%%MatrixMarket %19s %19s %19s %19s", object, layout, field, symmetry) != 4 ||
        strcasecmp(object, "matrix") != 0)
        return fail_line(m, RVM_ERR_FORMAT, "not a matrix of Matrix Market: ", m->text);
    if (strcasecmp(layout, "coordinate") != 0)
        return fail_line(m, RVM_ERR_UNSUPPORTED, "only coordinates are read, not ", layout);
    m->mirrored = strcasecmp(symmetry, "general") != 0;
    return RVM_OK;
}

/* Numbers of a line, of which at least that many are whole and not negative. */
static bool whole_numbers(const char *text, int64_t *v, int n) {
    for (int k = 0; k < n; k++) {
        char *end;
        v[k] = strtoll(text, &end, 10);
        if (end == text || v[k] < 0 || v[k] == INT64_MAX || (*end && !isspace((unsigned char)*end))) return false;
        text = end;
    }
    return true;
}

static rvm_status read_entries(market *m, int64_t n, coordinates *c) {
    int64_t at[2];
    for (int64_t e = 0; e < n; e++) {
        if (!next_line(m)) return fail_line(m, RVM_ERR_FORMAT, "fewer entries than it says", "");
        if (!whole_numbers(m->text, at, 2) || at[0] < 1 || at[1] < 1 || at[0] > c->rows || at[1] > c->columns)
            return fail_line(m, RVM_ERR_FORMAT, "no entry of the matrix: ", m->text);
        const bool twice = m->mirrored && at[0] != at[1];
        if (!add(c, at[0] - 1, at[1] - 1) || (twice && !add(c, at[1] - 1, at[0] - 1)))
            return fail_line(m, RVM_ERR_MEMORY, "out of memory", "");
    }
    if (next_line(m)) return fail_line(m, RVM_ERR_FORMAT, "more entries than it says: ", m->text);
    return RVM_OK;
}

static rvm_status read_market(market *m, rvm_sparse *out) {
    coordinates c = {0};
    int64_t size[3];
    rvm_status st = read_banner(m);
    if (!st && (!next_line(m) || !whole_numbers(m->text, size, 3)))
        st = fail_line(m, RVM_ERR_FORMAT, "no lengths: ", m->text);
    if (!st && (size[0] > INT64_MAX / 64 || (m->mirrored && size[0] != size[1])))
        st = fail_line(m, RVM_ERR_FORMAT, "lengths that cannot be: ", m->text);
    if (st) return st;
    c.rows = size[0], c.columns = size[1];
    st = read_entries(m, size[2], &c);
    if (!st && !to_rows(&c, out)) st = fail_line(m, RVM_ERR_MEMORY, "out of memory", "");
    free_coordinates(&c);
    return st;
}

/* ---- reading SciPy's ---- */

typedef struct archive {
    const char *path;
    reading *r;
    rvm_arg indices, indptr, shape;
    bool compressed_rows;
} archive;

static rvm_status take_format(archive *a, input *in, rvm_error *err) {
    char text[256] = "";
    const size_t n = input_read(in, text, sizeof text - 1),
                 head = 10 + (unsigned char)text[8] + 256u * (unsigned char)text[9];
    if (n < 10 || head + 3 > n) return fail(err, RVM_ERR_FORMAT, a->path, "`format` is no name");
    a->compressed_rows = strcmp(text + head, "csr") == 0;
    if (a->compressed_rows) return RVM_OK;
    return fail(err, RVM_ERR_UNSUPPORTED, a->path, "its layout is `%.10s`, not csr", text + head);
}

static rvm_status take_member(void *userdata, const char *name, input *in, rvm_error *err) {
    archive *a = userdata;
    rvm_arg *const to = strcmp(name, "indices") == 0  ? &a->indices
                        : strcmp(name, "indptr") == 0 ? &a->indptr
                        : strcmp(name, "shape") == 0  ? &a->shape
                                                      : NULL;
    if (strcmp(name, "format") == 0) return take_format(a, in, err);
    return to && to->shape[0] < 0 ? npy_read(in, a->r, NULL, to, NULL, err) : RVM_OK;
}

static int64_t whole(const rvm_arg *a, int64_t k) {
    return ((const int64_t *)a->data)[k];
}

static rvm_status check_archive(const archive *a, rvm_error *err) {
    const int64_t n = a->indices.shape[0];
    if (!a->compressed_rows || n < 0 || a->indptr.shape[0] < 1 || a->shape.shape[0] != 2)
        return fail(err, RVM_ERR_FORMAT, a->path, "no sparse matrix of SciPy: it lacks indices, indptr, format or shape");
    const int64_t rows = whole(&a->shape, 0);
    if (rows < 0 || whole(&a->shape, 1) < 0 || a->indptr.shape[0] != rows + 1 || whole(&a->indptr, rows) != n)
        return fail(err, RVM_ERR_FORMAT, a->path, "indptr does not fit the shape and the indices");
    return RVM_OK; /* the rest is whoever takes a pattern's to check */
}

static rvm_status read_archive(const char *path, reading *r, rvm_sparse *out, rvm_error *err) {
    const rvm_arg list = {.type = RVM_I64, .ndim = 1, .shape = {-1}}; /* not there yet */
    archive a = {.path = path, .r = r, .indices = list, .indptr = list, .shape = list};
    rvm_status st = npz_read(path, r, take_member, &a, err);
    if (!st) st = check_archive(&a, err);
    if (!st) {
        *out = (rvm_sparse){
            .rows = whole(&a.shape, 0), .columns = whole(&a.shape, 1), .row_start = a.indptr.data, .column = a.indices.data};
        a.indptr.data = a.indices.data = NULL;
    }
    free(a.indices.data);
    free(a.indptr.data);
    free(a.shape.data);
    return st;
}

rvm_status sparse_file_read(const char *path, reading *r, rvm_sparse *out, rvm_error *err) {
    *out = (rvm_sparse){0};
    if (ends_with(path, ".npz")) return read_archive(path, r, out, err);
    input in;
    rvm_status st = reading_open(r, &in, path, err);
    market m = {.path = path, .file = in.file, .err = err};
    if (!st) st = read_market(&m, out);
    if (st) free(out->row_start), free(out->column), *out = (rvm_sparse){0};
    input_close(&in);
    return st;
}

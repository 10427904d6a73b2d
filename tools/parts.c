#include "parts.h"
#include "errors.h"
#include "npy.h"
#include "sparse_file.h"

#include <stdlib.h>
#include <string.h>

#define BAD(code, ...) return fail(err, code, NULL, __VA_ARGS__)

static rvm_status put(parts *p, const values *v, uint32_t param, int64_t element, rvm_error *err) {
    rvm_part *part = realloc(p->part, (p->n + 1) * sizeof *part);
    if (part) p->part = part;
    int64_t *first = realloc(p->first, (p->n + 2) * sizeof *first);
    if (first) p->first = first;
    if (!part || !first) BAD(RVM_ERR_MEMORY, "out of memory");
    if (!p->n) first[0] = 0;
    part[p->n] = (rvm_part){param, element};
    first[p->n + 1] = first[p->n] + (element < 0 ? (int64_t)arg_count(&v->arg[param]) : 1);
    p->n++;
    return RVM_OK;
}

/* Up to the next comma outside of brackets. */
static size_t item_length(const char *s) {
    size_t n = 0;
    for (int depth = 0; s[n] && (depth > 0 || s[n] != ','); n++) depth += (s[n] == '[') - (s[n] == ']');
    return n;
}

static rvm_status put_item(parts *p, const values *v, const char *text, size_t length, rvm_error *err) {
    char item[128];
    uint32_t param;
    size_t element;
    if (length >= sizeof item) BAD(RVM_ERR_ARGUMENT, "`%.60s...` names no parameter", text);
    snprintf(item, sizeof item, "%.*s", (int)length, text);
    if (!strchr(item, '[')) { /* a complex is both its parts */
        const int shown = values_find_shown(v, item, (int)strlen(item)),
                  i = shown >= 0 ? shown : values_find(v, item, -1, err);
        uint32_t im = (uint32_t)i;
        if (i < 0) return RVM_ERR_ARGUMENT;
        const bool pair = shown >= 0 && values_shown(v, (uint32_t)i, &im) == SHOWN_COMPLEX;
        rvm_status st = put(p, v, (uint32_t)i, -1, err);
        return st || !pair ? st : put(p, v, im, -1, err);
    }
    rvm_status st = values_find_element(v, item, &param, &element, err);
    return st ? st : put(p, v, param, (int64_t)element, err);
}

rvm_status parts_read(parts *p, const values *v, const char *text, enum parts_default otherwise, rvm_error *err) {
    const rvm_role left_out = otherwise == PARTS_WRITTEN ? RVM_READ : RVM_ACC;
    rvm_status st = RVM_OK;
    *p = (parts){0};
    if (text && !*text) BAD(RVM_ERR_ARGUMENT, "the list of names is empty");
    for (uint32_t i = 0; !text && !st && i < v->n; i++)
        if (type_is_real(v->info[i].type) && v->info[i].role != left_out) st = put(p, v, i, -1, err);
    for (const char *s = text; s && *s && !st;) {
        const size_t n = item_length(s);
        st = put_item(p, v, s, n, err);
        s += n + (s[n] == ',');
    }
    if (!st && !p->n)
        BAD(RVM_ERR_ARGUMENT, "the function %s no reals: nothing to differentiate%s",
            left_out == RVM_READ ? "writes" : "reads", left_out == RVM_READ ? "" : " by");
    return st;
}

void parts_free(parts *p) {
    free(p->part);
    free(p->first);
    *p = (parts){0};
}

void part_name(const values *v, const rvm_part *p, char *text, size_t size) {
    if (p->element < 0)
        snprintf(text, size, "%s", v->info[p->param].name);
    else
        values_element_name(v, p->param, (size_t)p->element, text, size);
}

/* ---- patterns ---- */

static rvm_status allocate(rvm_sparse *s, int64_t rows, int64_t columns, int64_t n, rvm_error *err) {
    *s = (rvm_sparse){.rows = rows, .columns = columns};
    s->row_start = calloc((size_t)rows + 1, sizeof *s->row_start);
    s->column = calloc((size_t)n + 1, sizeof *s->column);
    if (!s->row_start || !s->column) BAD(RVM_ERR_MEMORY, "out of memory");
    return RVM_OK;
}

static rvm_status check_shape(int64_t has_rows, int64_t has_columns, int64_t rows, int64_t columns, rvm_error *err) {
    if (has_rows == rows && has_columns == columns) return RVM_OK;
    return fail(err, RVM_ERR_SHAPE, NULL, "the pattern is %lld by %lld, the Jacobian %lld by %lld", (long long)has_rows,
                (long long)has_columns, (long long)rows, (long long)columns);
}

static rvm_status from_matrix(reading *r, const char *file, int64_t rows, int64_t columns, rvm_sparse *out, rvm_error *err) {
    rvm_arg a = {.type = RVM_F64, .ndim = 2};
    int64_t n = 0;
    const rvm_param_info info = {.name = "--pattern", .type = RVM_F64, .ndim = 2, .dim_value = {rows, columns}};
    rvm_status st = file[0] == '[' ? literal_read(r, &info, file, &a, err) : npy_read_file(file, r, NULL, &a, NULL, err);
    if (!st) st = check_shape(a.shape[0], a.shape[1], rows, columns, err);
    for (size_t k = 0, all = st ? 0 : arg_count(&a); k < all; k++) n += arg_get(&a, k).f != 0;
    if (!st) st = allocate(out, rows, columns, n, err);
    n = 0;
    for (int64_t i = 0; !st && i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            if (arg_get(&a, (size_t)(i * columns + j)).f != 0) out->column[n++] = j;
        out->row_start[i + 1] = n;
    }
    arg_free(&a);
    return st;
}

static rvm_status from_lists(reading *r, const char *starts, const char *list, int64_t rows, int64_t columns,
                             rvm_sparse *out, rvm_error *err) {
    rvm_arg start = {.type = RVM_I64, .ndim = 1}, column = {.type = RVM_I64, .ndim = 1};
    rvm_status st = npy_read_file(starts, r, NULL, &start, NULL, err);
    if (!st) st = npy_read_file(list, r, NULL, &column, NULL, err);
    if (!st && start.shape[0] != rows + 1)
        st = fail(err, RVM_ERR_SHAPE, NULL, "%s has %lld elements: for %lld rows it must have %lld", starts,
                  (long long)start.shape[0], (long long)rows, (long long)rows + 1);
    if (!st && arg_get(&start, (size_t)rows).i != column.shape[0])
        st = fail(err, RVM_ERR_SHAPE, NULL, "%s ends with %lld, but %s has %lld elements", starts,
                  (long long)arg_get(&start, (size_t)rows).i, list, (long long)column.shape[0]);
    if (!st) st = allocate(out, rows, columns, column.shape[0], err);
    for (int64_t i = 0; !st && i <= rows; i++) out->row_start[i] = arg_get(&start, (size_t)i).i;
    for (int64_t e = 0; !st && e < column.shape[0]; e++) out->column[e] = arg_get(&column, (size_t)e).i;
    arg_free(&start);
    arg_free(&column);
    return st;
}

rvm_status pattern_read(reading *r, const char *files, int64_t rows, int64_t columns, rvm_sparse *out, rvm_error *err) {
    const char *comma = files[0] == '[' ? NULL : strchr(files, ',');
    char first[1024];
    *out = (rvm_sparse){0};
    if (!comma && sparse_file_is(files)) {
        const rvm_status st = sparse_file_read(files, r, out, err);
        return st ? st : check_shape(out->rows, out->columns, rows, columns, err);
    }
    if (!comma) return from_matrix(r, files, rows, columns, out, err);
    if ((size_t)(comma - files) >= sizeof first) BAD(RVM_ERR_ARGUMENT, "the name of the pattern's file is too long");
    snprintf(first, sizeof first, "%.*s", (int)(comma - files), files);
    return from_lists(r, first, comma + 1, rows, columns, out, err);
}

void pattern_free(rvm_sparse *p) {
    free(p->row_start);
    free(p->column);
    *p = (rvm_sparse){0};
}

/* cmd_jac.c: rvm jac, rvm hess, rvm hvp: matrices of derivatives and products with them, by rvm_derivatives.h. */
#include "npy.h"
#include "number.h"
#include "parts.h"
#include "sparse_file.h"
#include "tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static rvm_derivative_spec spec_of(const tool *t, const parts *of, const parts *by) {
    return (rvm_derivative_spec){.fn = t->fn,
                                 .args = t->v.arg,
                                 .nargs = t->v.n,
                                 .outputs = of->part,
                                 .noutputs = of->n,
                                 .inputs = by->part,
                                 .ninputs = by->n};
}

/* ---- a matrix in blocks: one for each part of the rows and part of the columns ---- */

/* A block as an array of the shapes of both parts; of more than four dimensions as rows and columns. */
static rvm_arg block_of(const tool *t, const answer *a, uint32_t i, uint32_t j) {
    const rvm_part *row = &a->rows.part[i], *column = &a->columns.part[j];
    const rvm_arg *r = &t->v.arg[row->param], *c = &t->v.arg[column->param];
    const int rd = row->element < 0 ? r->ndim : 0, cd = column->element < 0 ? c->ndim : 0;
    rvm_arg b = {.type = RVM_F64, .ndim = rd + cd};
    b.data = a->value + a->rows.first[i] * a->ncolumns + a->columns.first[j];
    if (rd + cd > RVM_MAX_DIMS) {
        b.ndim = 2;
        b.shape[0] = a->rows.first[i + 1] - a->rows.first[i];
        b.shape[1] = a->columns.first[j + 1] - a->columns.first[j];
        b.stride[0] = a->ncolumns;
        b.stride[1] = 1;
        return b;
    }
    int64_t stride = 1;
    for (int d = cd; d-- > 0; stride *= c->shape[d]) b.shape[rd + d] = c->shape[d], b.stride[rd + d] = stride;
    stride = a->ncolumns;
    for (int d = rd; d-- > 0; stride *= r->shape[d]) b.shape[d] = r->shape[d], b.stride[d] = stride;
    if (!b.ndim) b.value.f = *(double *)b.data;
    return b;
}

/* "d y / d x", "d2 out / d x d z" */
static void block_name(const tool *t, const answer *a, uint32_t i, uint32_t j, char text[300]) {
    char row[100], column[100];
    part_name(&t->v, &a->rows.part[i], row, sizeof row);
    part_name(&t->v, &a->columns.part[j], column, sizeof column);
    if (t->command == COMMAND_HVP)
        snprintf(text, 300, "d (d %s / d %s)", row, column);
    else if (t->command == COMMAND_HESS)
        snprintf(text, 300, "d2 %s / d %s d %s", t->o.of, row, column);
    else
        snprintf(text, 300, "d %s / d %s", row, column);
}

/* ---- whether entries are what is wanted ---- */

static bool is_sparse(const tool *t) {
    return t->o.pattern || t->o.sparse || (t->o.output && sparse_file_is(t->o.output));
}

/* Matrices of which a reader sees no more than the corners anyway, so that entries tell more. */
enum { LARGE = 10000, FEW = 4 /* entries that are not 0, to a quarter */ };

static bool is_large(const answer *a) {
    int64_t n;
    return __builtin_mul_overflow(a->nrows, a->ncolumns, &n) || n > LARGE;
}

/* ---- --only ---- */

/* Of all blocks. */
static const char *whole_name(const tool *t) {
    return t->command == COMMAND_HESS ? "hessian" : t->command == COMMAND_HVP ? "product" : "jacobian";
}

static void names_of_whole(const tool *t, const void *of, only_take *take, void *to) {
    (void)of;
    take(to, whole_name(t), false);
}

typedef struct of_block {
    const answer *a;
    uint32_t i, j;
} of_block;

static void names_of_block(const tool *t, const void *of, only_take *take, void *to) {
    const of_block *b = of;
    char name[300];
    block_name(t, b->a, b->i, b->j, name);
    take(to, name, false);
    take(to, whole_name(t), true);
}

static void names_of_all(const tool *t, const void *of, only_take *take, void *to) {
    const answer *a = of;
    names_of_whole(t, NULL, take, to);
    for (uint32_t i = 0; !is_sparse(t) && i < a->rows.n; i++)
        for (uint32_t j = 0; j < a->columns.n; j++) names_of_block(t, &(of_block){a, i, j}, take, to);
}

static bool takes_block(const tool *t, const answer *a, uint32_t i, uint32_t j) {
    return only_has(t, names_of_block, &(of_block){a, i, j});
}

static bool takes_row(const tool *t, const answer *a, uint32_t i) {
    for (uint32_t j = 0; j < a->columns.n; j++)
        if (takes_block(t, a, i, j)) return true;
    return false;
}

/* ---- printing ---- */

static void print_blocks(const tool *t, const answer *a) {
    char name[300];
    for (uint32_t i = 0; i < a->rows.n; i++)
        for (uint32_t j = 0; j < a->columns.n; j++) {
            if (!takes_block(t, a, i, j)) continue;
            const rvm_arg b = block_of(t, a, i, j);
            block_name(t, a, i, j, name);
            printf("%s = ", name);
            output_value(stdout, &b, NO_SHADOW);
            putchar('\n');
        }
}

static void json_blocks(json *j, const tool *t, const answer *a) {
    char name[100];
    json_open(j, '{');
    for (uint32_t i = 0; i < a->rows.n; i++) {
        if (!takes_row(t, a, i)) continue;
        part_name(&t->v, &a->rows.part[i], name, sizeof name);
        json_key(j, name);
        json_open(j, '{');
        for (uint32_t k = 0; k < a->columns.n; k++) {
            if (!takes_block(t, a, i, k)) continue;
            const rvm_arg b = block_of(t, a, i, k);
            part_name(&t->v, &a->columns.part[k], name, sizeof name);
            json_key(j, name);
            output_json_value(j, &b, NO_SHADOW);
        }
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* ---- the entries of a pattern ---- */

enum { CUT_ABOVE = 1000, EDGE = 3 }; /* as arrays are (output.c) */

static void print_entries(const tool *t, const answer *a) {
    const int64_t n = a->pattern.row_start[a->nrows];
    const rvm_derivative_spec q = spec_of(t, &a->rows, &a->columns);
    char row[160], column[160], number[NUMBER_TEXT];
    int64_t e = 0;
    for (int64_t i = 0; i < a->nrows; i++)
        for (; e < a->pattern.row_start[i + 1]; e++) {
            if (n > CUT_ABOVE && e == EDGE) puts("...");
            if (n > CUT_ABOVE && e >= EDGE && e < n - EDGE) continue;
            rvm_derivative_name(t->machine, &q, t->command == COMMAND_HESS, i, row, sizeof row);
            rvm_derivative_name(t->machine, &q, true, a->pattern.column[e], column, sizeof column);
            number_text(RVM_F64, (rvm_scalar){.f = a->value[e]}, number);
            if (t->command == COMMAND_HESS)
                printf("d2 %s / d %s d %s = %s\n", t->o.of, row, column, number);
            else
                printf("d %s / d %s = %s\n", row, column, number);
        }
}

static void json_entries(json *j, const tool *t, const answer *a) {
    const int64_t n = a->pattern.row_start[a->nrows];
    json_open(j, '{');
    if (!only_has(t, names_of_whole, NULL)) {
        json_close(j, '}');
        return;
    }
    json_key(j, "row_start");
    json_open(j, '[');
    for (int64_t i = 0; i <= a->nrows; i++) json_uint(j, (uint64_t)a->pattern.row_start[i]);
    json_close(j, ']');
    json_key(j, "columns");
    json_open(j, '[');
    for (int64_t e = 0; e < n; e++) json_uint(j, (uint64_t)a->pattern.column[e]);
    json_close(j, ']');
    json_key(j, "values");
    json_open(j, '[');
    for (int64_t e = 0; e < n; e++) json_f64(j, a->value[e]);
    json_close(j, ']');
    json_close(j, '}');
}

/* ---- both ---- */

static void print_text(const tool *t, const answer *a) {
    output_values(t, &a->after);
    if (!a->pattern.row_start)
        print_blocks(t, a);
    else if (only_has(t, names_of_whole, NULL))
        print_entries(t, a);
    if (t->o.stats) output_cost(&a->cost);
    output_stats(t);
}

static void print_json(tool *t, const answer *a, rvm_status saved) {
    json j;
    tool_json_begin(&j, t, saved);
    output_json_values(&j, t, &a->after);
    json_key(&j, whole_name(t));
    if (a->pattern.row_start)
        json_entries(&j, t, a);
    else
        json_blocks(&j, t, a);
    output_json_cost(&j, &a->cost);
    output_json_stats(&j, t);
    tool_json_end(&j);
}

/* ---- what the commands share ---- */

static rvm_status begin(tool *t, answer *a) {
    rvm_status st = tool_prepare(t);
    if (!st) st = values_copy(&a->after, &t->v, &t->err);
    if (st) return st;
    progress_begin(&t->progress, t->machine);
    st = rvm_call(t->machine, t->fn, a->after.arg, a->after.n, &t->err);
    progress_end(&t->progress);
    return st;
}

/* Room for n numbers. */
static rvm_status room(tool *t, answer *a, int64_t n) {
    if (n <= INT64_MAX / 64 && (a->value = calloc((size_t)n + 1, sizeof *a->value))) return RVM_OK;
    return tool_fail(t, RVM_ERR_MEMORY, "no memory for a matrix of %lld by %lld", (long long)a->nrows,
                     (long long)a->ncolumns);
}

static rvm_status room_for_matrix(tool *t, answer *a) {
    int64_t n;
    return room(t, a, __builtin_mul_overflow(a->nrows, a->ncolumns, &n) ? INT64_MAX : n);
}

static rvm_status save_sparse(tool *t, const answer *a) {
    rvm_sparse s = a->pattern;
    char *bytes;
    size_t size;
    s.value = a->value;
    rvm_status st = sparse_file_bytes(t->o.output, &s, t->command == COMMAND_HESS, &bytes, &size, &t->err);
    if (!st) st = files_write(t, t->o.output, bytes, size);
    free(bytes);
    return st;
}

/* -o: the whole matrix, or the entries of the pattern. */
static rvm_status save_matrix(tool *t, const answer *a) {
    if (t->o.output && sparse_file_is(t->o.output)) return save_sparse(t, a);
    const bool sparse = a->pattern.row_start;
    const int64_t shape[2] = {sparse ? a->pattern.row_start[a->nrows] : a->nrows, a->ncolumns};
    const rvm_arg matrix = rvm_arg_array_f64(a->value, sparse ? 1 : 2, shape);
    return t->o.output ? files_write_array(t, t->o.output, &matrix, NULL, false) : RVM_OK;
}

static bool has_nan(const answer *a) {
    const int64_t n = a->pattern.row_start ? a->pattern.row_start[a->nrows] : a->nrows * a->ncolumns;
    for (int64_t k = 0; k < n; k++)
        if (isnan(a->value[k])) return true;
    return false;
}

static rvm_status finish(tool *t, answer *a, rvm_status st) {
    if (!st) {
        exactly_note_nan(t, has_nan(a));
        st = save_matrix(t, a);
        if (t->o.json)
            print_json(t, a, st);
        else
            print_text(t, a);
    }
    values_free(&a->after);
    parts_free(&a->rows);
    parts_free(&a->columns);
    pattern_free(&a->pattern);
    free(a->value);
    return st;
}

static rvm_status method_of(tool *t, const char *const names[2], rvm_method first, rvm_method *method) {
    *method = RVM_AUTO;
    for (int k = 0; k < 2; k++)
        if (t->o.method && strcmp(t->o.method, names[k]) == 0) *method = (rvm_method)(first + (rvm_method)k);
    if (!t->o.method || *method != RVM_AUTO || strcmp(t->o.method, "auto") == 0) return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE, "--method takes auto, %s or %s, not `%s`", names[0], names[1], t->o.method);
}

/* ---- matrices whose entries are found ---- */

/* What the machine found becomes the answer's. */
static rvm_status take_entries(tool *t, answer *a, rvm_sparse *from) {
    const size_t rows = (size_t)from->rows + 1, n = (size_t)from->row_start[from->rows];
    rvm_sparse *to = &a->pattern;
    *to = (rvm_sparse){.rows = from->rows, .columns = from->columns};
    to->row_start = malloc(rows * sizeof *to->row_start);
    to->column = malloc((n + 1) * sizeof *to->column);
    const bool good = to->row_start && to->column && !room(t, a, (int64_t)n);
    if (good) {
        memcpy(to->row_start, from->row_start, rows * sizeof *to->row_start);
        memcpy(to->column, from->column, n * sizeof *to->column);
        memcpy(a->value, from->value, n * sizeof *a->value);
    }
    rvm_sparse_free(t->machine, from);
    return good ? RVM_OK : tool_fail(t, RVM_ERR_MEMORY, "no memory for %zu entries", n);
}

/* The whole matrix becomes its entries; *dense: unless they are many. */
static rvm_status drop_zeros(tool *t, answer *a, bool always) {
    const int64_t all = a->nrows * a->ncolumns;
    rvm_sparse *to = &a->pattern;
    int64_t n = 0, e = 0;
    for (int64_t k = 0; k < all; k++) n += a->value[k] != 0;
    if (!always && n > all / FEW) return RVM_OK;
    *to = (rvm_sparse){.rows = a->nrows, .columns = a->ncolumns};
    /* pattern_free frees it: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    to->row_start = calloc((size_t)a->nrows + 1, sizeof *to->row_start);
    to->column = malloc(((size_t)n + 1) * sizeof *to->column);
    if (!to->row_start || !to->column) return tool_fail(t, RVM_ERR_MEMORY, "no memory for %lld entries", (long long)n);
    for (int64_t i = 0; i < a->nrows; i++) {
        for (int64_t j = 0; j < a->ncolumns; j++) {
            const double v = a->value[i * a->ncolumns + j];
            if (v == 0) continue;
            to->column[e] = j;
            a->value[e++] = v; /* not behind k */
        }
        to->row_start[i + 1] = e;
    }
    return RVM_OK;
}

/* Entries become the whole matrix again: they are many. */
static rvm_status fill_in(tool *t, answer *a) {
    double *const value = a->value;
    rvm_sparse *const from = &a->pattern;
    a->value = NULL;
    const rvm_status st = room_for_matrix(t, a);
    for (int64_t i = 0; !st && i < a->nrows; i++)
        for (int64_t e = from->row_start[i]; e < from->row_start[i + 1]; e++)
            a->value[i * a->ncolumns + from->column[e]] = value[e];
    pattern_free(from);
    free(value);
    return st;
}

static bool are_many(const answer *a) {
    int64_t n;
    return !__builtin_mul_overflow(a->nrows, a->ncolumns, &n) && a->pattern.row_start[a->nrows] > n / FEW;
}

/* Whether the whole matrix is what is asked for. */
static bool is_dense(const tool *t) {
    return t->o.dense || (t->o.output && !is_sparse(t));
}

/* What the name of -o is to say; devices may have any. */
static rvm_status check_output(tool *t) {
    const char *path = t->o.output, *end = path ? strrchr(path, '.') : NULL;
    const bool product = t->command == COMMAND_HVP;
    if (!path || (end && strcmp(end, ".npy") == 0) || (!product && sparse_file_is(path)) || strncmp(path, "/dev/", 5) == 0)
        return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE, "-o %s: its name does not say what to write: %s", path,
                     product ? "a product goes to FILE.npy"
                             : "a matrix goes to FILE.npy, a sparse one to FILE.mtx or FILE.npz");
}

static rvm_status check_forms(tool *t) {
    const rvm_status st = check_output(t);
    if (st || !t->o.dense || !is_sparse(t)) return st;
    return tool_fail(t, RVM_ERR_USAGE, "--dense does not go with --sparse, --pattern or a sparse file");
}

/* ---- jac ---- */

/* One sweep of the interpreter against a run for each column or row, which native code does some twenty times as fast, but
 * which tells of no entry whether it may be other than 0. */
static bool is_for_sweep(const tool *t, const answer *a) {
    enum { MOST_RUNS = 64 };
    return is_sparse(t) || (is_large(a) && a->nrows > MOST_RUNS && a->ncolumns > MOST_RUNS);
}

static rvm_status find_jacobian(tool *t, answer *a, const rvm_derivative_spec *q) {
    rvm_sparse found;
    rvm_status st;
    do {
        progress_begin(&t->progress, t->machine);
        st = rvm_jacobian_entries(t->machine, q, &found, &a->cost, &t->err);
        progress_end(&t->progress);
    } while (exactly_again(t, &st));
    if (!st) st = take_entries(t, a, &found);
    return !st && !is_sparse(t) && are_many(a) ? fill_in(t, a) : st;
}

static rvm_status whole_jacobian(tool *t, answer *a, const rvm_derivative_spec *q, rvm_method method) {
    rvm_status st = RVM_OK;
    if (t->o.pattern) st = pattern_read(&t->reading, t->o.pattern, a->nrows, a->ncolumns, &a->pattern, &t->err);
    if (!st) st = t->o.pattern ? room(t, a, a->pattern.row_start[a->nrows]) : room_for_matrix(t, a);
    if (st) return st;
    do {
        progress_begin(&t->progress, t->machine);
        st = t->o.pattern ? rvm_jacobian_sparse(t->machine, q, method, &a->pattern, a->value, &a->cost, &t->err)
                          : rvm_jacobian(t->machine, q, method, a->value, &a->cost, &t->err);
        progress_end(&t->progress);
    } while (exactly_again(t, &st));
    return st;
}

static rvm_status jacobian(tool *t, answer *a, const rvm_derivative_spec *q, rvm_method method) {
    const bool found = !t->o.pattern && !is_dense(t) && method == RVM_AUTO && is_for_sweep(t, a);
    rvm_status st = found ? find_jacobian(t, a, q) : whole_jacobian(t, a, q, method);
    if (found && st == RVM_ERR_UNSUPPORTED) st = whole_jacobian(t, a, q, method);
    if (!st && !a->pattern.row_start && !is_dense(t) && (is_sparse(t) || is_large(a))) st = drop_zeros(t, a, is_sparse(t));
    native_tell(t);
    return st;
}

rvm_status command_JAC(tool *t) {
    static const char *const methods[2] = {"tangent", "adjoint"};
    answer a = {0};
    rvm_method method;
    rvm_status st = method_of(t, methods, RVM_BY_TANGENTS, &method);
    if (!st) st = check_forms(t);
    if (!st) st = begin(t, &a);
    if (!st) st = parts_read(&a.rows, &t->v, t->o.of, PARTS_WRITTEN, &t->err);
    if (!st) st = parts_read(&a.columns, &t->v, t->o.wrt, PARTS_READ, &t->err);
    const rvm_derivative_spec q = spec_of(t, &a.rows, &a.columns);
    if (!st) st = rvm_derivative_size(t->machine, &q, &a.nrows, &a.ncolumns, &t->err);
    if (!st) st = only_check(t, NULL, names_of_all, &a);
    if (!st) points_note(t, q.inputs, q.ninputs);
    if (!st) st = jacobian(t, &a, &q, method);
    return finish(t, &a, st);
}

/* ---- hess ---- */

/* Whether --of is one number; counts the columns. */
static rvm_status one_number(tool *t, answer *a, const rvm_derivative_spec *q) {
    rvm_status st = rvm_derivative_size(t->machine, q, &a->nrows, &a->ncolumns, &t->err);
    if (st || a->nrows == 1) return st;
    return tool_fail(t, RVM_ERR_ARGUMENT, "--of %s: a Hessian is of one number, and this is %lld", t->o.of,
                     (long long)a->nrows);
}

/* With --stats: what the other method takes. A product takes as many instructions for every column. */
static rvm_status count_other(tool *t, answer *a, const rvm_derivative_spec *q) {
    const bool swept = strcmp(a->cost.method, "sweep") == 0;
    rvm_cost other = {0};
    double *v = calloc(2 * (size_t)a->ncolumns + 1, sizeof *v);
    rvm_sparse entries = {0};
    rvm_error e; /* it may have none */
    rvm_status st = !v      ? RVM_ERR_MEMORY
                    : swept ? rvm_hvp(t->machine, q, NULL, v, v + a->ncolumns, &other, &e)
                            : rvm_hessian_sparse(t->machine, q, NULL, &entries, &other, &e);
    rvm_sparse_free(t->machine, &entries);
    free(v);
    if (st) return st == RVM_ERR_MEMORY ? tool_fail(t, st, "out of memory") : RVM_OK;
    if (strcmp(other.method, a->cost.method) == 0) return RVM_OK; /* only this one goes through a derivative by hand */
    a->cost.other = other.method;
    a->cost.otherwise = other.instructions * (swept ? (uint64_t)a->ncolumns : 1);
    a->cost.other_updates = other.updates;
    return RVM_OK;
}

/* Columns from which on the whole matrix is not made: it would be larger than 128 MB. */
enum { MOST_COLUMNS = 4096 };

static rvm_status find_hessian(tool *t, answer *a, const rvm_derivative_spec *q) {
    rvm_sparse found;
    rvm_status st;
    do {
        progress_begin(&t->progress, t->machine);
        st = rvm_hessian_sparse(t->machine, q, NULL, &found, &a->cost, &t->err);
        progress_end(&t->progress);
    } while (exactly_again(t, &st));
    return st ? st : take_entries(t, a, &found);
}

static rvm_status whole_hessian(tool *t, answer *a, const rvm_derivative_spec *q, rvm_method method) {
    rvm_status st = room_for_matrix(t, a);
    if (st) return st;
    do {
        progress_begin(&t->progress, t->machine);
        st = rvm_hessian(t->machine, q, NULL, method, a->value, &a->cost, &t->err);
        progress_end(&t->progress);
    } while (exactly_again(t, &st));
    progress_begin(&t->progress, t->machine);
    if (!st && !t->o.exact && (t->o.stats || t->o.json)) st = count_other(t, a, q);
    progress_end(&t->progress);
    return st;
}

static rvm_status hessian(tool *t, answer *a, const rvm_derivative_spec *q, rvm_method method) {
    rvm_status st = one_number(t, a, q);
    if (st) return st;
    a->nrows = a->ncolumns;
    const bool found = !is_dense(t) && method != RVM_BY_HVP && (is_sparse(t) || a->ncolumns > MOST_COLUMNS);
    st = found ? find_hessian(t, a, q) : whole_hessian(t, a, q, method);
    if (found && st == RVM_ERR_UNSUPPORTED) st = whole_hessian(t, a, q, method);
    if (!st && !a->pattern.row_start && !is_dense(t) && (is_sparse(t) || is_large(a))) st = drop_zeros(t, a, is_sparse(t));
    native_tell(t);
    return st;
}

rvm_status command_HESS(tool *t) {
    static const char *const methods[2] = {"sweep", "hvp"};
    answer a = {0};
    parts of = {0};
    rvm_method method;
    rvm_status st = method_of(t, methods, RVM_BY_SWEEP, &method);
    if (!st) st = check_forms(t);
    if (!st && !t->o.of) st = tool_fail(t, RVM_ERR_USAGE, "--of NAME is missing: what is to be differentiated?");
    if (!st) st = begin(t, &a);
    if (!st) st = parts_read(&of, &t->v, t->o.of, PARTS_WRITTEN, &t->err);
    if (!st) st = parts_read(&a.rows, &t->v, t->o.wrt, PARTS_READ, &t->err);
    if (!st) st = parts_read(&a.columns, &t->v, t->o.wrt, PARTS_READ, &t->err);
    const rvm_derivative_spec q = spec_of(t, &of, &a.columns);
    if (!st) st = only_check(t, NULL, names_of_all, &a);
    if (!st) points_note(t, q.inputs, q.ninputs);
    if (!st) st = hessian(t, &a, &q, method);
    parts_free(&of);
    return finish(t, &a, st);
}

/* ---- hvp ---- */

static double *direction(const tool *t, const answer *a, const bool *real) {
    double *v = calloc((size_t)a->ncolumns + 1, sizeof *v);
    for (uint32_t j = 0; v && j < a->columns.n; j++) {
        const rvm_part *p = &a->columns.part[j];
        for (int64_t k = a->columns.first[j]; real[p->param] && k < a->columns.first[j + 1]; k++) {
            const int64_t element = p->element < 0 ? k - a->columns.first[j] : p->element;
            v[k] = rvm_scalar_to_double(t->v.info[p->param].type, arg_get_shadow(&t->v.arg[p->param], (size_t)element));
        }
    }
    return v;
}

static size_t count_nonzero(const double *v, int64_t n) {
    size_t count = 0;
    for (int64_t k = 0; k < n; k++) count += v[k] != 0;
    return count;
}

/* Numbers that --dot gives a direction to. */
static size_t count_directions(const tool *t, const bool *real) {
    size_t count = 0;
    for (uint32_t i = 0; i < t->v.n; i++)
        for (size_t k = 0, n = real[i] ? arg_count(&t->v.arg[i]) : 0; k < n; k++)
            count += rvm_scalar_to_double(t->v.info[i].type, arg_get_shadow(&t->v.arg[i], k)) != 0;
    return count;
}

static rvm_status product(tool *t, answer *a, const rvm_derivative_spec *q, const bool *real) {
    rvm_status st = one_number(t, a, q);
    if (!st) st = room_for_matrix(t, a);
    if (st) return st;
    double *v = direction(t, a, real);
    if (!v) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (t->o.wrt && count_directions(t, real) > count_nonzero(v, a->ncolumns)) {
        free(v);
        return tool_fail(t, RVM_ERR_ARGUMENT, "--dot gives a direction to what --wrt %s leaves out", t->o.wrt);
    }
    do {
        progress_begin(&t->progress, t->machine);
        st = rvm_hvp(t->machine, q, NULL, v, a->value, &a->cost, &t->err);
        progress_end(&t->progress);
    } while (exactly_again(t, &st));
    native_tell(t);
    free(v);
    return st;
}

rvm_status command_HVP(tool *t) {
    bool real[RVM_MAX_PARAMS + 1] = {false};
    answer a = {0};
    rvm_status st = RVM_OK;
    if (!t->o.of) st = tool_fail(t, RVM_ERR_USAGE, "--of NAME is missing: what is to be differentiated?");
    if (!st && !t->o.dot.n) st = tool_fail(t, RVM_ERR_USAGE, "--dot NAME=VALUE is missing: times what?");
    if (!st) st = check_forms(t);
    if (!st) st = begin(t, &a);
    if (!st) st = tool_read_shadows(t, real, &t->o.dot, "--dot", "direction");
    if (!st) st = parts_read(&a.rows, &t->v, t->o.of, PARTS_WRITTEN, &t->err);
    if (!st) st = parts_read(&a.columns, &t->v, t->o.wrt, PARTS_READ, &t->err);
    const rvm_derivative_spec q = spec_of(t, &a.rows, &a.columns);
    if (!st) st = only_check(t, NULL, names_of_all, &a);
    if (!st) points_note(t, q.inputs, q.ninputs);
    if (!st) st = product(t, &a, &q, real);
    return finish(t, &a, st);
}

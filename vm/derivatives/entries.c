/* entries.c: sparse matrices out of one backward sweep. A Jacobian is carried by the sweep that carries a Hessian
 * (hessian.c): H := J' H J takes an entry of 1 between a place of its own for each output and that output's place back to
 * what the output's gradient is by each input. */
#include "entries.h"

#include <string.h>

#include "answers.h"
#include "support.h"

typedef struct collection {
    bool symmetric;
    int64_t rows;
    rvm_sparse by_column, *out; /* the former: rows are the columns of out */
} collection;

static void row_and_column(const collection *c, int64_t i, int64_t j, int64_t *row, int64_t *column) {
    *row = i < j ? i : j;
    *column = (i < j ? j : i) - (c->symmetric ? 0 : c->rows);
}

static bool is_wanted(const collection *c, int64_t i, int64_t j, double v) {
    return c->symmetric ? v != 0 : (i < c->rows) != (j < c->rows);
}

static void count(void *to, int64_t i, int64_t j, double v) {
    const collection *c = to;
    int64_t row, column;
    if (!is_wanted(c, i, j, v)) return;
    row_and_column(c, i, j, &row, &column);
    c->out->row_start[row + 1]++, c->by_column.row_start[column + 1]++;
    if (c->symmetric && i != j) c->out->row_start[column + 1]++, c->by_column.row_start[row + 1]++;
}

static void put(rvm_sparse *s, int64_t i, int64_t j, double v) {
    const int64_t at = s->row_start[i]++;
    s->column[at] = j;
    s->value[at] = v;
}

static void put_entry(void *to, int64_t i, int64_t j, double v) {
    collection *c = to;
    int64_t row, column;
    if (!is_wanted(c, i, j, v)) return;
    row_and_column(c, i, j, &row, &column);
    put(&c->by_column, column, row, v);
    if (c->symmetric && i != j) put(&c->by_column, row, column, v);
}

/* Behind `put` of all entries: each row begins where the one before ends. */
static void rewind_rows(rvm_sparse *s) {
    memmove(s->row_start + 1, s->row_start, (size_t)s->rows * sizeof *s->row_start);
    s->row_start[0] = 0;
}

/* The transpose of by_column: each row in order. */
static void transpose(collection *c) {
    const rvm_sparse *t = &c->by_column;
    for (int64_t j = 0; j < t->rows; j++)
        for (int64_t e = t->row_start[j]; e < t->row_start[j + 1]; e++) put(c->out, t->column[e], j, t->value[e]);
    rewind_rows(c->out);
}

static size_t bytes_of(const rvm_sparse *s, int64_t entries) {
    return (size_t)(s->rows + 1 + 2 * entries) * sizeof(int64_t);
}

static bool lay_out(rvm_sparse *s, int64_t *block, int64_t entries) {
    if (!block) return false;
    s->row_start = block;
    s->column = block + s->rows + 1;
    s->value = (double *)(void *)(s->column + entries);
    return true;
}

bool rvm__entries_room(rvm_machine *m, rvm_sparse *s, int64_t rows, int64_t columns, int64_t entries) {
    *s = (rvm_sparse){.rows = rows, .columns = columns};
    return lay_out(s, rvm__zeroed(m, bytes_of(s, entries)), entries);
}

/* Room for entries behind the numbers of each row's, which become where it begins. */
static bool extend(rvm_machine *m, rvm_sparse *s) {
    for (int64_t i = 0; i < s->rows; i++) s->row_start[i + 1] += s->row_start[i];
    const int64_t entries = s->row_start[s->rows];
    return lay_out(s, rvm__resize(m, s->row_start, bytes_of(s, 0), bytes_of(s, entries)), entries);
}

static rvm_status collect(rvm_machine *m, const rvm__hessian *h, collection *c, int64_t columns, rvm_error *err) {
    rvm_sparse *t = &c->by_column, *out = c->out;
    const bool rooms[2] = {rvm__entries_room(m, t, columns, c->rows, 0), rvm__entries_room(m, out, c->rows, columns, 0)};
    bool good = rooms[0] && rooms[1], wide[2] = {false, false};
    if (good) {
        rvm__hessian_each(h, count, c);
        wide[0] = extend(m, t);
        wide[1] = wide[0] && extend(m, out);
        good = wide[1];
    }
    if (good) {
        rvm__hessian_each(h, put_entry, c);
        rewind_rows(t);
        transpose(c);
    }
    if (t->row_start) rvm__resize(m, t->row_start, bytes_of(t, wide[0] ? t->row_start[t->rows] : 0), 0);
    if (good) return RVM_OK;
    if (out->row_start) rvm__resize(m, out->row_start, bytes_of(out, 0), 0);
    *out = (rvm_sparse){0};
    return rvm__no_memory(m, err);
}

rvm_status rvm__entries_of_hessian(rvm__work *w, const rvm__hessian *h, rvm_sparse *out, rvm_error *err) {
    collection c = {.symmetric = true, .rows = w->columns, .out = out};
    return collect(w->m, h, &c, w->columns, err);
}

rvm_status rvm__entries_of_jacobian(rvm__work *w, const rvm__hessian *h, rvm_sparse *out, rvm_error *err) {
    collection c = {.rows = w->rows, .out = out};
    return collect(w->m, h, &c, w->columns, err);
}

void rvm__entries_label(const rvm__work *w, const rvm__hessian *h, int64_t first) {
    for (int64_t k = 0; k < w->columns; k++) {
        uint32_t param;
        const rvm_scalar *v = rvm__work_shadow(w, true, k, &param);
        rvm__hessian_label(w->m, h, param, w->args[param].ndim ? v : NULL, first + k);
    }
}

/* ---- a Jacobian by one sweep ---- */

static rvm_status seed(const rvm__work *w, rvm__hessian *h, rvm_error *err) {
    for (int64_t k = 0; k < w->rows; k++) {
        uint32_t param;
        const rvm_scalar *v = rvm__work_shadow(w, false, k, &param);
        if (!rvm__hessian_seed(w->m, h, param, w->args[param].ndim ? v : NULL, k)) return rvm__no_memory(w->m, err);
    }
    return RVM_OK;
}

static rvm_status sweep(rvm__work *w, rvm__hessian *h, rvm_error *err) {
    rvm_machine *m = w->m;
    rvm__native_tell_interpreted(m, (uint32_t)w->q->fn, "the sweep that carries a Jacobian is the interpreter's");
    rvm__work_reset(w);
    w->cost.adjoints++;
    rvm_status status = rvm_machine_bind(m, w->q->fn, w->args, w->q->nargs, RVM_GRADIENT, false, err);
    if (!status) status = rvm_machine_forward(m, err);
    if (!status) status = seed(w, h, err);
    if (!status) status = rvm__hessian_sweep(m, h, err);
    w->cost.updates = h->h.updates;
    w->cost.entries = h->h.live_peak;
    return status;
}

rvm_status rvm_jacobian_entries(rvm_machine *m, const rvm_derivative_spec *q, rvm_sparse *out, rvm_cost *cost,
                                rvm_error *err) {
    rvm__work w;
    rvm__hessian h = {.most = 0};
    RVM__NEEDS(out);
    *out = (rvm_sparse){0};
    rvm_status status = rvm__work_begin(&w, m, q, err);
    if (status) return status;
    rvm__sym_init(&h.h, m);
    h.h.structural = true;
    w.cost.method = "sweep";
    status =
        rvm_program_by_hand(w.p, (uint32_t)q->fn, RVM_ADJOINT)
            ? rvm__fail_at(err, RVM_ERR_UNSUPPORTED, w.p, (uint32_t)q->fn, 0,
                           "a derivative written by hand takes part, through which the sweep that finds entries does not go")
            : sweep(&w, &h, err);
    if (!status) {
        rvm__hessian_label_seeds(&h, w.rows);
        rvm__entries_label(&w, &h, w.rows);
        status = rvm__entries_of_jacobian(&w, &h, out, err);
    }
    rvm__sym_free(&h.h);
    rvm__work_end(&w, cost);
    return status;
}

#include "query.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>

static int run(store_op *op, store *s) {
    query *q = (query *)(void *)op;
    sqlite3_stmt *st = store_statement(s, q->statement);
    int k = 0, rc;
    if (q->id[0]) sqlite3_bind_text(st, ++k, q->id, -1, SQLITE_STATIC);
    if (q->a) sqlite3_bind_int64(st, ++k, q->a);
    if (q->b) sqlite3_bind_int64(st, ++k, q->b);
    if (k < sqlite3_bind_parameter_count(st)) sqlite3_bind_int64(st, ++k, 0);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        q->rows++;
        if (q->row && !q->row(q, st)) return SQLITE_NOMEM;
    }
    q->changes = store_changes(s);
    return rc;
}

static void done(store_op *op) {
    query *q = (query *)(void *)op;
    if (q->op.result == SQLITE_DONE || q->op.result == SQLITE_OK)
        q->then(q);
    else
        answer_busy(q->r, q->op.result == SQLITE_FULL ? "the store has no room" : "the store cannot be read or written");
    free(q->text);
    free(q);
}
_Static_assert(offsetof(query, op) == 0, "an operation is its query");

void query_start(const query *from) {
    query *q = malloc(sizeof *q);
    if (!q) {
        answer_busy(from->r, "out of memory");
        return;
    }
    *q = *from;
    q->op.run = run, q->op.done = done;
    store_add(q->s->store, &q->op);
}

bool query_copy(query *q, sqlite3_stmt *row, int k) {
    const void *bytes = sqlite3_column_blob(row, k);
    q->size = (size_t)sqlite3_column_bytes(row, k);
    free(q->text);
    if (!(q->text = malloc(q->size + 1))) return false;
    if (q->size) memcpy(q->text, bytes, q->size);
    q->text[q->size] = 0;
    return true;
}

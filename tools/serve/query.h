/* query.h: a request that is answered from the store: one statement, whose rows become a text. */
#ifndef RVM_SERVE_QUERY_H
#define RVM_SERVE_QUERY_H

#include "server.h"

typedef struct query {
    store_op op;
    server *s;
    http_request *r;
    enum store_statement statement;
    char id[40];  /* bound first, unless empty; */
    int64_t a, b; /* then these, which are not 0 */
    /* On the store's thread, for each row; a malloc'd text in *text, of *size bytes. */
    bool (*row)(struct query *q, sqlite3_stmt *row);
    void (*then)(struct query *q); /* on the loop: answers; then it is freed */
    json j;
    char *text;
    size_t size;
    FILE *out;
    int rows, changes, status;
} query;

/* Copies *q and does it. */
void query_start(const query *q);
/* Of a row: column k as text into q->text. */
bool query_copy(query *q, sqlite3_stmt *row, int k);

#endif

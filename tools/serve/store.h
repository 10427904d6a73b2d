/* store.h: what is kept: programs and runs, in one SQLite file.
 *
 * Operations are done on a thread of libuv's, all that came since the last time as one transaction; then `done` is called on
 * the loop. So what was answered is in the file, whatever becomes of this process.
 */
#ifndef RVM_SERVE_STORE_H
#define RVM_SERVE_STORE_H

#include "frame.h"
#include "log.h"

#include <sqlite3.h>
#include <uv.h>

/* Statements, prepared once: X(name, text). */
#define STORE_STATEMENTS(X)                                                                                                 \
    X(PROGRAM_PUT, "insert into program(id, name, real, type, source, bytecode, info, created, used) "                      \
                   "values(?1, ?2, ?3, ?4, ?5, ?6, ?7, unixepoch(), unixepoch()) on conflict(id) do nothing")               \
    X(PROGRAM_GET, "select name, real, type, source, bytecode, info, created from program where id = ?1")                   \
    X(PROGRAM_USED, "update program set used = unixepoch() where id = ?1 and used < unixepoch() - 3600")                    \
    X(PROGRAM_LIST, "select id, name, created, length(source) from program order by created desc, id limit ?1")             \
    X(PROGRAM_DELETE, "delete from program where id = ?1")                                                                  \
    X(PROGRAM_RUNS_DELETE, "delete from run where program = ?1")                                                            \
    X(RUN_PUT, "insert into run(id, program, fn, kind, request, status, result, profile, created, pinned) "                 \
               "values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, unixepoch(), 0)")                                                    \
    X(RUN_GET, "select result, status from run where id = ?1")                                                              \
    X(RUN_REQUEST, "select request from run where id = ?1")                                                                 \
    X(RUN_PROFILE, "select profile from run where id = ?1")                                                                 \
    X(RUN_LIST, "select id, program, fn, kind, status, created, pinned, profile is not null from run where id < ?1 "        \
                "order by id desc limit ?2")                                                                                \
    X(RUN_DELETE, "delete from run where id = ?1")                                                                          \
    X(RUN_PIN, "update run set pinned = ?2 where id = ?1")                                                                  \
    X(OLD_RUNS, "delete from run where not pinned and created < unixepoch() - ?1")                                          \
    X(OLD_PROGRAMS, "delete from program where used < unixepoch() - ?1 and id not in (select program from run)")            \
    X(FIRST_RUNS, "delete from run where id in (select id from run where not pinned order by id limit ?1)")                 \
    X(FIRST_PROGRAMS, "delete from program where id in (select id from program where id not in (select program from run) "  \
                      "order by used limit ?1)")                                                                            \
    X(BYTES, "select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, "             \
             "pragma_page_size")
enum store_statement {
#define STATEMENT(name, text) STORE_##name,
    STORE_STATEMENTS(STATEMENT)
#undef STATEMENT
        STORE_STATEMENT_COUNT
};

typedef struct store store;
typedef struct store_op {
    /* On the store's thread: the result of SQLite, SQLITE_DONE or SQLITE_OK where it went well. */
    int (*run)(struct store_op *op, store *s);
    void (*done)(struct store_op *op); /* on the loop; the operation is its owner's again */
    int result;                        /* FULL and others: nothing of it is there */
    struct store_op *next;
} store_op;

typedef struct store_options {
    const char *path; /* ":memory:" */
    uint64_t most_bytes;
    uint32_t most_days;
    log_to *log;
} store_options;

/* Opens, and brings an older file up to this version; *next_run: above all numbers of runs. NULL, with why. */
store *store_open(uv_loop_t *loop, const store_options *o, uint64_t *next_run, char *why, size_t why_size);
void store_close(store *s); /* waits for what is under way; NULL is allowed */
void store_add(store *s, store_op *op);
/* For `run`: a statement without parameters bound, to be stepped; it is reset by the next call for it, or the end of the
 * transaction. */
sqlite3_stmt *store_statement(store *s, enum store_statement k);
int store_changes(const store *s);

typedef struct store_state {
    uint64_t operations, transactions, failures, bytes;
    const char *check; /* "running", "ok", "damaged" */
    bool full;         /* the last transaction found no room */
} store_state;
void store_tell(const store *s, store_state *out);

#endif

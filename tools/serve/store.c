#include "store.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RETAIN_MS = 30000, RETAIN_STEPS = 100, RETAIN_ROW = 16384 };

struct store {
    sqlite3 *db;
    sqlite3_stmt *statement[STORE_STATEMENT_COUNT];
    store_options o;
    uv_work_t work;
    uv_timer_t timer;
    store_op *first, **last; /* waiting */
    store_op *batch;         /* on the thread */
    store_op check, retain;  /* its own */
    bool busy, closing, checked, sound, retaining;
    store_state state;
    _Atomic uint64_t bytes;
};

static const char *const statements[STORE_STATEMENT_COUNT] = {
#define STATEMENT(name, text) text,
    STORE_STATEMENTS(STATEMENT)
#undef STATEMENT
};

/* ---- versions: what brings a file from version k to k + 1 ---- */

static const char *const migrations[] = {
    /* Rows of programs are many and large, and their ids random: only the index is to be all over the place. */
    "create table program(id text unique, name text, real text, type text, source blob, bytecode blob, info text, "
    "created int, used int);"
    "create table run(id integer primary key, program text, fn text, kind text, request text, status int, result text, "
    "profile text, created int, pinned int);"
    "create index run_of_program on run(program);"
    "create table bookmark(session text, position int, note text, created int);",
};
enum { VERSION = sizeof migrations / sizeof *migrations };

static int read_number(sqlite3 *db, const char *sql, int64_t *out) {
    sqlite3_stmt *s;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (!rc) rc = sqlite3_step(s) == SQLITE_ROW ? SQLITE_OK : SQLITE_ERROR;
    if (!rc) *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return rc;
}

static int migrate(sqlite3 *db, char *why, size_t size) {
    char text[64];
    int64_t version = 0;
    int rc = read_number(db, "pragma user_version", &version);
    if (!rc && version > VERSION) {
        snprintf(why, size, "the file is of a later version, %d; this program knows %d", (int)version, VERSION);
        return SQLITE_ERROR;
    }
    for (; !rc && version < VERSION; version++) {
        snprintf(text, sizeof text, "pragma user_version = %d; commit", (int)version + 1);
        rc = sqlite3_exec(db, "begin immediate", NULL, NULL, NULL);
        if (!rc) rc = sqlite3_exec(db, migrations[version], NULL, NULL, NULL);
        if (!rc) rc = sqlite3_exec(db, text, NULL, NULL, NULL);
    }
    return rc;
}

/* ---- on the thread ---- */

sqlite3_stmt *store_statement(store *s, enum store_statement k) {
    sqlite3_reset(s->statement[k]);
    sqlite3_clear_bindings(s->statement[k]);
    return s->statement[k];
}

int store_changes(const store *s) {
    return sqlite3_changes(s->db);
}

/* One transaction. Where it fails, nothing of it is there, and all are told. */
static void on_thread(uv_work_t *w) {
    store *s = w->data;
    int rc = sqlite3_exec(s->db, "begin", NULL, NULL, NULL);
    for (store_op *op = s->batch; op; op = op->next) op->result = rc ? rc : op->run(op, s);
    for (int k = 0; k < STORE_STATEMENT_COUNT; k++) sqlite3_reset(s->statement[k]);
    if (!rc) rc = sqlite3_get_autocommit(s->db) ? SQLITE_FULL : sqlite3_exec(s->db, "commit", NULL, NULL, NULL);
    if (rc && !sqlite3_get_autocommit(s->db)) sqlite3_exec(s->db, "rollback", NULL, NULL, NULL);
    for (store_op *op = s->batch; op && rc; op = op->next) op->result = rc;
}

static int run_check(store_op *op, store *s) {
    sqlite3_stmt *q;
    (void)op;
    int rc = sqlite3_prepare_v2(s->db, "pragma quick_check(1)", -1, &q, NULL);
    if (!rc) s->sound = sqlite3_step(q) == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(q, 0), "ok") == 0;
    sqlite3_finalize(q);
    return rc;
}

static uint64_t bytes_now(store *s) {
    sqlite3_stmt *q = store_statement(s, STORE_BYTES);
    return sqlite3_step(q) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(q, 0) : 0;
}

static int step_with(store *s, enum store_statement k, int64_t n) {
    sqlite3_stmt *q = store_statement(s, k);
    sqlite3_bind_int64(q, 1, n);
    return sqlite3_step(q);
}

/* What is too old goes; then what came first, a part at a time, so that not much more goes than must. */
static int run_retain(store_op *op, store *s) {
    const int64_t age = (int64_t)s->o.most_days * 86400;
    uint64_t bytes;
    (void)op;
    int rc = step_with(s, STORE_OLD_RUNS, age);
    if (rc == SQLITE_DONE) rc = step_with(s, STORE_OLD_PROGRAMS, age);
    for (int k = 0; k < RETAIN_STEPS && rc == SQLITE_DONE && (bytes = bytes_now(s)) > s->o.most_bytes; k++) {
        const int64_t rows = (int64_t)((bytes - s->o.most_bytes) / RETAIN_ROW) + 10;
        rc = step_with(s, STORE_FIRST_RUNS, rows);
        if (rc == SQLITE_DONE && !store_changes(s)) rc = step_with(s, STORE_FIRST_PROGRAMS, rows);
    }
    atomic_store(&s->bytes, bytes_now(s));
    return rc;
}

/* ---- on the loop ---- */

static void begin(store *s);

static void after_thread(uv_work_t *w, int status) {
    store *s = w->data;
    store_op *op = s->batch, *next;
    (void)status;
    s->batch = NULL;
    s->state.transactions++;
    s->state.full = op && op->result == SQLITE_FULL;
    for (; op; op = next) {
        next = op->next;
        s->state.operations++;
        if (op->result != SQLITE_OK && op->result != SQLITE_DONE && op->result != SQLITE_ROW) s->state.failures++;
        op->done(op);
    }
    s->busy = false;
    begin(s);
}

static void begin(store *s) {
    if (s->busy || !s->first) return;
    s->busy = true;
    s->batch = s->first;
    s->first = NULL, s->last = &s->first;
    s->work.data = s;
    uv_queue_work(s->timer.loop, &s->work, on_thread, after_thread);
}

void store_add(store *s, store_op *op) {
    op->next = NULL;
    *s->last = op, s->last = &op->next;
    begin(s);
}

static void check_done(store_op *op) {
    store *s = (store *)(void *)((char *)op - offsetof(store, check));
    s->checked = true;
    if (!s->sound) log_message(s->o.log, LOG_ERROR, "store", "the file is damaged: keep a copy, and begin another");
}

static void retain_done(store_op *op) {
    store *s = (store *)(void *)((char *)op - offsetof(store, retain));
    s->retaining = false;
}

static void on_timer(uv_timer_t *t) {
    store *s = t->data;
    if (s->retaining || s->closing) return;
    s->retaining = true;
    store_add(s, &s->retain);
}

/* Programs and results are their owner's: SQLite gives its other files the mode of this one. */
static void create_private(const char *path) {
    const int fd = *path == ':' ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
}

static int open_database(store *s, char *why, size_t size) {
    create_private(s->o.path);
    int rc =
        sqlite3_open_v2(s->o.path, &s->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
    sqlite3_busy_timeout(s->db, 2000);
    if (!rc)
        rc = sqlite3_exec(s->db,
                          "pragma synchronous = off; pragma auto_vacuum = incremental; pragma journal_mode = wal;"
                          "pragma locking_mode = exclusive; pragma secure_delete = off; pragma cache_size = -4096; pragma "
                          "wal_autocheckpoint = 4000",
                          NULL, NULL, NULL);
    if (!rc) rc = migrate(s->db, why, size);
    if (!rc) rc = sqlite3_exec(s->db, "pragma synchronous = normal", NULL, NULL, NULL); /* a new file has nothing to lose */
    for (int k = 0; !rc && k < STORE_STATEMENT_COUNT; k++)
        rc = sqlite3_prepare_v3(s->db, statements[k], -1, SQLITE_PREPARE_PERSISTENT, &s->statement[k], NULL);
    if (rc && !*why) snprintf(why, size, "%s", s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc));
    return rc;
}

store *store_open(uv_loop_t *loop, const store_options *o, uint64_t *next_run, char *why, size_t size) {
    store *s = calloc(1, sizeof *s);
    int64_t last = 0;
    *why = 0;
    if (!s) return snprintf(why, size, "out of memory"), NULL;
    s->o = *o;
    s->last = &s->first;
    uv_timer_init(loop, &s->timer);
    s->timer.data = s;
    if (open_database(s, why, size) || read_number(s->db, "select coalesce(max(id), 0) from run", &last)) {
        if (!*why) snprintf(why, size, "%s", sqlite3_errmsg(s->db));
        store_close(s);
        return NULL;
    }
    *next_run = (uint64_t)last + 1;
    s->check = (store_op){.run = run_check, .done = check_done};
    s->retain = (store_op){.run = run_retain, .done = retain_done};
    store_add(s, &s->check);
    uv_timer_start(&s->timer, on_timer, 1000, RETAIN_MS);
    uv_unref((uv_handle_t *)&s->timer);
    return s;
}

static void close_database(store *s) {
    for (int k = 0; k < STORE_STATEMENT_COUNT; k++) sqlite3_finalize(s->statement[k]);
    sqlite3_close(s->db);
    s->db = NULL;
}

static void timer_closed(uv_handle_t *h) {
    free(h->data);
}

void store_close(store *s) {
    if (!s) return;
    s->closing = true;
    while (s->busy) uv_run(s->timer.loop, UV_RUN_ONCE);
    close_database(s);
    uv_close((uv_handle_t *)&s->timer, timer_closed);
}

void store_tell(const store *s, store_state *out) {
    *out = s->state;
    out->bytes = atomic_load(&s->bytes);
    out->check = !s->checked ? "running" : s->sound ? "ok" : "damaged";
}

#include "kept_runs.h"
#include "answer.h"
#include "errand.h"
#include "query.h"
#include "runs.h"

#include <stdlib.h>
#include <string.h>

/* The number of a run, or 0, which is none's. */
static uint64_t number(const char *text) {
    char *end;
    if (!text || *text < '1' || *text > '9' || strlen(text) > 18) return 0;
    const uint64_t n = strtoull(text, &end, 10);
    return *end ? 0 : n;
}

static uint64_t number_of(http_request *r) {
    const uint64_t n = number(r->parameter[0]);
    if (!n) answer_error(r, 404, "NOT_FOUND", "there is no run `%s`", r->parameter[0]);
    return n;
}

static void answer_none(const query *q) {
    answer_error(q->r, 404, "NOT_FOUND", "there is no run %lld", (long long)q->a);
}

/* ---- results ---- */

static bool result_row(query *q, sqlite3_stmt *row) {
    q->status = sqlite3_column_int(row, 1);
    return query_copy(q, row, 0);
}

static void show(query *q) {
    char *text = q->text;
    if (!q->rows) return answer_none(q);
    q->text = NULL;
    answer_json(q->r, 200, text, q->size);
}

void kept_show(server *s, http_request *r) {
    const uint64_t id = number_of(r);
    if (!id || runs_show_progress(s, r, id)) return;
    query_start(&(query){.s = s, .r = r, .statement = STORE_RUN_GET, .a = (int64_t)id, .row = result_row, .then = show});
}

/* The object, as it was posted. */
static bool request_row(query *q, sqlite3_stmt *row) {
    return query_copy(q, row, 0);
}

void kept_request(server *s, http_request *r) {
    const uint64_t id = number_of(r);
    if (id)
        query_start(
            &(query){.s = s, .r = r, .statement = STORE_RUN_REQUEST, .a = (int64_t)id, .row = request_row, .then = show});
}

/* ---- lists ---- */

static bool list_row(query *q, sqlite3_stmt *row) {
    if (!q->out) {
        if (!(q->out = open_memstream(&q->text, &q->size))) return false;
        q->j = (json){.out = q->out};
        json_open(&q->j, '{');
        json_key(&q->j, "ok"), json_bool(&q->j, true);
        json_key(&q->j, "runs"), json_open(&q->j, '[');
    }
    json_open(&q->j, '{');
    json_key(&q->j, "id"), json_uint(&q->j, (uint64_t)sqlite3_column_int64(row, 0));
    json_key(&q->j, "program"), json_text(&q->j, (const char *)sqlite3_column_text(row, 1));
    json_key(&q->j, "fn"), json_text(&q->j, (const char *)sqlite3_column_text(row, 2));
    json_key(&q->j, "kind"), json_text(&q->j, (const char *)sqlite3_column_text(row, 3));
    json_key(&q->j, "status"), json_text(&q->j, rvm_status_name((rvm_status)sqlite3_column_int(row, 4)));
    json_key(&q->j, "created"), json_uint(&q->j, (uint64_t)sqlite3_column_int64(row, 5));
    json_key(&q->j, "pinned"), json_bool(&q->j, sqlite3_column_int(row, 6));
    json_key(&q->j, "profiled"), json_bool(&q->j, sqlite3_column_int(row, 7));
    json_close(&q->j, '}');
    return true;
}

static void listed(query *q) {
    if (q->out) json_close(&q->j, ']'), json_close(&q->j, '}'), fputc('\n', q->out), fclose(q->out);
    char *text = q->out ? q->text : strdup("{\"ok\":true,\"runs\":[]}\n");
    const size_t size = q->out ? q->size : strlen(text);
    q->text = NULL;
    answer_json(q->r, 200, text, size);
}

void kept_list(server *s, http_request *r) {
    const uint64_t before = number(http_query(r, "before")), limit = number(http_query(r, "limit"));
    query_start(&(query){.s = s,
                         .r = r,
                         .statement = STORE_RUN_LIST,
                         .a = before ? (int64_t)before : INT64_MAX,
                         .b = limit && limit < 1000 ? (int64_t)limit : 100,
                         .row = list_row,
                         .then = listed});
}

/* ---- changes ---- */

static void add_id(json *j, const void *of) {
    json_key(j, "id"), json_uint(j, (uint64_t)((const query *)of)->a);
}

static void changed(query *q) {
    if (q->changes)
        answer_members(q->r, 200, add_id, q);
    else
        answer_none(q);
}

static void deleted(query *q) {
    json *j = q->changes ? events_begin(q->s->events, EVENT_run) : NULL;
    if (j)
        json_key(j, "id"), json_uint(j, (uint64_t)q->a), json_key(j, "state"), json_text(j, "deleted"),
            events_end(q->s->events);
    changed(q);
}

void kept_delete(server *s, http_request *r) {
    const uint64_t id = number_of(r);
    if (!id || runs_cancel(s, r, id)) return;
    query_start(&(query){.s = s, .r = r, .statement = STORE_RUN_DELETE, .a = (int64_t)id, .then = deleted});
}

static void pin(server *s, http_request *r, bool on) {
    const uint64_t id = number_of(r);
    if (id) query_start(&(query){.s = s, .r = r, .statement = STORE_RUN_PIN, .a = (int64_t)id, .b = on, .then = changed});
}

void kept_pin(server *s, http_request *r) {
    pin(s, r, true);
}
void kept_unpin(server *s, http_request *r) {
    pin(s, r, false);
}

/* ---- profiles ---- */

static const struct export {
    const char *format, *type, *file;
}
exports[] = {
    {"folded", "text/plain; charset=utf-8", NULL},
    {"speedscope", "application/json", "attachment; filename=\"run.speedscope.json\""},
    {"pprof", "application/octet-stream", "attachment; filename=\"run.pb\""},
};

static bool profile_row(query *q, sqlite3_stmt *row) {
    return sqlite3_column_type(row, 0) == SQLITE_NULL || query_copy(q, row, 0);
}

static bool has_profile(const query *q) {
    if (!q->rows)
        answer_none(q);
    else if (!q->text)
        answer_error(q->r, 404, "NOT_FOUND", "run %lld has no profile: ask for one with \"profile\": true", (long long)q->a);
    return q->text;
}

static void show_profile(query *q) {
    const char *format = http_query(q->r, "format");
    char *text = q->text;
    if (!has_profile(q)) return;
    if (!format || strcmp(format, "json") == 0) {
        q->text = NULL;
        return answer_json(q->r, 200, text, q->size);
    }
    for (size_t k = 0; k < sizeof exports / sizeof *exports; k++)
        if (strcmp(format, exports[k].format) == 0) {
            const part parts[] = {part_of(format, strlen(format)), part_of(q->text, q->size)};
            return errand_start(q->s, q->r, FRAME_EXPORT, parts, 2, exports[k].type, exports[k].file);
        }
    answer_error(q->r, 400, "USAGE", "format is json, folded, speedscope or pprof");
}

void kept_profile(server *s, http_request *r) {
    const uint64_t id = number_of(r);
    if (id)
        query_start(&(query){
            .s = s, .r = r, .statement = STORE_RUN_PROFILE, .a = (int64_t)id, .row = profile_row, .then = show_profile});
}

/* Of two runs, one after the other: the first waits in the request. */
static void second_profile(query *q) {
    const part parts[] = {part_of(q->r->userdata, q->r->userdata_size), part_of(q->text, q->size)};
    if (has_profile(q)) errand_start(q->s, q->r, FRAME_COMPARE, parts, 2, "application/json", NULL);
    free(q->r->userdata);
    q->r->userdata = NULL;
}

static void first_profile(query *q) {
    if (!has_profile(q)) return;
    q->r->userdata = q->text, q->r->userdata_size = q->size;
    q->text = NULL;
    query_start(&(query){.s = q->s,
                         .r = q->r,
                         .statement = STORE_RUN_PROFILE,
                         .a = (int64_t)number(http_query(q->r, "b")),
                         .row = profile_row,
                         .then = second_profile});
}

void kept_compare(server *s, http_request *r) {
    const uint64_t a = number(http_query(r, "a")), b = number(http_query(r, "b"));
    if (!a || !b) return answer_error(r, 400, "USAGE", "compare takes two runs: ?a=1&b=2");
    query_start(&(query){
        .s = s, .r = r, .statement = STORE_RUN_PROFILE, .a = (int64_t)a, .row = profile_row, .then = first_profile});
}

#include "runs.h"
#include "answer.h"
#include "errand.h"
#include "programs.h"

#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 100, ANSWER_MS = 1000, ROUNDS = 3 };

/* From the request to the row in the store. */
typedef struct run {
    store_op op;
    pool_job job;
    server *s;
    http_request *r; /* NULL: it has been answered, by 202 */
    program *p;
    char *request;
    size_t request_size;
    char want[PROGRAM_ID];
    int rounds; /* that the worker asked for a program */
    uint64_t id, begun;
    outcome out;
    char *text, *profile;
    size_t text_size, profile_size;
    struct run *next, *previous;
} run;
_Static_assert(offsetof(run, op) == 0, "an operation is its run");

struct runs {
    server *s;
    run *first;
    uv_timer_t tick;
    uint64_t told; /* when clients heard of the server's state */
};

/* ---- life ---- */

static void end_run(run *x) {
    runs *all = x->s->runs;
    *(x->previous ? &x->previous->next : &all->first) = x->next;
    if (x->next) x->next->previous = x->previous;
    program_drop(x->p);
    free(x->request), free(x->job.body), free(x->text), free(x->profile);
    free(x);
}

static void tell_event(run *x, const char *state) {
    json *j = x->id ? events_begin(x->s->events, EVENT_run) : NULL;
    if (!j) return;
    json_key(j, "id"), json_uint(j, x->id);
    json_key(j, "program"), json_text(j, x->p ? x->p->id : NULL);
    json_key(j, "kind"), json_text(j, *x->out.kind ? x->out.kind : NULL);
    json_key(j, "state"), json_text(j, state);
    json_key(j, "ok"), json_bool(j, !x->out.status);
    events_end(x->s->events);
}

/* ---- the end: into the store, then to who asked ---- */

static int put(store_op *op, store *s) {
    run *x = (run *)(void *)op;
    sqlite3_stmt *q = store_statement(s, STORE_RUN_PUT);
    sqlite3_bind_int64(q, 1, (int64_t)x->id);
    sqlite3_bind_text(q, 2, x->p->id, PROGRAM_ID - 1, SQLITE_STATIC);
    sqlite3_bind_text(q, 3, x->out.fn, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 4, x->out.kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 5, x->request, (int)x->request_size, SQLITE_STATIC);
    sqlite3_bind_int(q, 6, (int)x->out.status);
    sqlite3_bind_text(q, 7, x->text, (int)x->text_size, SQLITE_STATIC);
    if (x->profile) sqlite3_bind_text(q, 8, x->profile, (int)x->profile_size, SQLITE_STATIC);
    return sqlite3_step(q);
}

static void was_put(store_op *op) {
    run *x = (run *)(void *)op;
    const bool good = x->op.result == SQLITE_DONE || x->op.result == SQLITE_OK;
    if (good) tell_event(x, "done");
    if (x->r && good)
        answer_json(x->r, answer_code((rvm_status)x->out.status), x->text, x->text_size), x->text = NULL;
    else if (x->r)
        answer_busy(x->r, x->op.result == SQLITE_FULL ? "the store has no room" : "the store cannot be written");
    end_run(x);
}

static char *copy_part(const part *p, size_t *size) {
    char *to = malloc(p->size + 1);
    if (!to) return NULL;
    if (p->size) memcpy(to, p->bytes, p->size);
    to[ *size = p->size] = 0;
    return to;
}

/* What was not understood is answered, not kept. */
static void keep(run *x, const part parts[FRAME_PARTS]) {
    char front[128];
    x->out = *(const outcome *)parts[0].bytes;
    const unsigned code = answer_code((rvm_status)x->out.status);
    if ((code == 400 || code == 500) && !x->id) {
        size_t size = 0;
        char *text = x->r ? copy_part(&parts[1], &size) : NULL;
        if (x->r) answer_json(x->r, code, text, size);
        end_run(x);
        return;
    }
    if (!x->id) x->id = x->s->next_run++;
    snprintf(front, sizeof front, "\"id\":%llu,\"program\":\"%s\",\"kind\":\"%s\",\"profiled\":%s,",
             (unsigned long long)x->id, x->p->id, x->out.kind, parts[2].size ? "true" : "false");
    x->text = answer_with(front, parts[1].bytes, parts[1].size, &x->text_size);
    if (parts[2].size) x->profile = copy_part(&parts[2], &x->profile_size);
    x->op = (store_op){.run = put, .done = was_put};
    if (x->text) {
        store_add(x->s->store, &x->op);
        return;
    }
    if (x->r) answer_error(x->r, 500, "INTERNAL", "a worker's answer makes no sense");
    end_run(x);
}

/* A run that its worker did not survive, and that somebody was told the number of. */
static void keep_failure(run *x, pool_end end) {
    static const char time[] =
        "{\"ok\":false,\"error\":{\"severity\":\"error\",\"code\":\"TIME\",\"message\":\"the time limit is reached, and "
        "the worker was ended\"}}\n";
    static const char dead[] =
        "{\"ok\":false,\"error\":{\"severity\":\"error\",\"code\":\"INTERNAL\",\"message\":\"a worker did not survive "
        "it; please report it\"}}\n";
    const outcome o = {.status = end == POOL_TIME ? RVM_ERR_CANCELLED : RVM_ERR_INTERNAL};
    const part parts[FRAME_PARTS] = {part_of(&o, sizeof o),
                                     end == POOL_TIME ? part_of(time, sizeof time - 1) : part_of(dead, sizeof dead - 1)};
    if (!x->id) x->id = x->s->next_run++;
    keep(x, parts);
}

static void fail_run(run *x, unsigned code, const char *name, const char *message) {
    if (x->r) answer_error(x->r, code, name, "%s", message);
    end_run(x);
}

/* ---- the beginning: the program, then a worker ---- */

static void find(run *x, const char *id);

static void done(pool_job *j, pool_end end, const part parts[FRAME_PARTS]) {
    run *x = j->owner;
    char id[PROGRAM_ID] = "";
    switch (end) {
    case POOL_DONE: keep(x, parts); break;
    case POOL_TIME:
    case POOL_DEAD: keep_failure(x, end); break;
    case POOL_NEED:
        if (parts[0].size == PROGRAM_ID - 1) memcpy(id, parts[0].bytes, PROGRAM_ID - 1);
        if (++x->rounds < ROUNDS)
            find(x, id);
        else
            fail_run(x, 500, "INTERNAL", "a worker does not say which program it needs");
        break;
    }
}

static void start(run *x) {
    const program *p = x->p;
    const part parts[] = {part_of(x->request, x->request_size), part_of(p ? p->id : "", p ? PROGRAM_ID - 1 : 0),
                          part_of(p ? p->bytecode : "", p ? p->bytecode_size : 0),
                          part_of(p ? p->name : "", p ? strlen(p->name) : 0)};
    free(x->job.body);
    x->job = (pool_job){.kind = FRAME_RUN, .done = done, .owner = x};
    x->job.body = frame_pack(parts, 4, &x->job.size);
    if (x->job.body && pool_add(x->s->pool, &x->job)) return;
    if (x->r) answer_busy(x->r, "too many runs wait");
    end_run(x);
}

static void found(void *userdata, program *p) {
    run *x = userdata;
    program_drop(x->p);
    x->p = p;
    if (p)
        start(x);
    else
        fail_run(x, 404, "NOT_FOUND", "there is no program of that id");
}

static void find(run *x, const char *id) {
    if (!programs_with(x->s, id, found, x)) fail_run(x, 404, "NOT_FOUND", "there is no program of that id");
}

void runs_start(server *s, http_request *r) {
    run *x = calloc(1, sizeof *x);
    char id[PROGRAM_ID];
    if (!x) return answer_busy(r, "out of memory");
    *x = (run){.s = s, .r = r, .begun = uv_now(&s->loop), .next = s->runs->first};
    if (x->next) x->next->previous = x;
    s->runs->first = x;
    const bool guessed = programs_guess(r, id);
    x->request = r->body, x->request_size = r->size;
    r->body = NULL, r->size = 0;
    if (!x->request) return fail_run(x, 400, "SYNTAX", "a run is a JSON object");
    if (!uv_is_active((uv_handle_t *)&s->runs->tick)) uv_timer_again(&s->runs->tick);
    if (guessed)
        find(x, id);
    else
        start(x);
}

/* ---- while they run ---- */

static void add_progress(json *j, const void *of) {
    const run *x = of;
    live page;
    const bool at_work = pool_live(x->s->pool, &x->job, &page);
    json_key(j, "id"), json_uint(j, x->id);
    json_key(j, "program"), json_text(j, x->p ? x->p->id : NULL);
    json_key(j, "state"), json_text(j, x->job.at ? "running" : "waiting");
    json_key(j, "instructions"), json_uint(j, at_work ? page.instructions : 0);
    json_key(j, "share");
    if (at_work && page.share >= 0 && page.share <= 1)
        json_f64(j, page.share);
    else
        json_none(j);
}

/* The client hears its number, and asks again. */
static void answer_accepted(run *x) {
    http_request *r = x->r;
    char place[64], *text = NULL;
    size_t size = 0;
    x->r = NULL;
    x->id = x->s->next_run++;
    snprintf(place, sizeof place, "/api/v1/runs/%llu", (unsigned long long)x->id);
    const char *const headers[] = {"Location", place, "Retry-After", "1", NULL};
    FILE *out = open_memstream(&text, &size);
    if (out) {
        json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "ok"), json_bool(&j, true);
        add_progress(&j, x);
        json_close(&j, '}');
        fputc('\n', out);
        fclose(out);
    }
    http_answer(r, 202, "application/json", text, size, headers);
    tell_event(x, "running");
}

static void tell_server(runs *all, uint64_t now) {
    pool_state p;
    if (now - all->told < 10000) return;
    json *j = events_begin(all->s->events, EVENT_server);
    if (!j) return;
    all->told = now;
    pool_tell(all->s->pool, &p);
    json_key(j, "ready"), json_uint(j, p.ready);
    json_key(j, "waiting"), json_uint(j, p.waiting);
    events_end(all->s->events);
}

static void on_tick(uv_timer_t *t) {
    runs *all = t->data;
    const uint64_t now = uv_now(t->loop);
    const bool wanted = events_wanted(all->s->events, EVENT_live);
    live page;
    for (run *x = all->first; x; x = x->next) {
        if (x->r && now - x->begun >= ANSWER_MS && !x->op.run) answer_accepted(x);
        if (!wanted || !x->id || !pool_live(all->s->pool, &x->job, &page)) continue;
        json *j = events_begin(all->s->events, EVENT_live);
        if (!j) continue;
        json_key(j, "id"), json_uint(j, x->id);
        live_write(j, &page);
        events_end(all->s->events);
    }
    tell_server(all, now);
    if (!all->first) uv_timer_stop(t);
}

runs *runs_new(server *s) {
    runs *all = calloc(1, sizeof *all);
    if (!all) return NULL;
    all->s = s;
    uv_timer_init(&s->loop, &all->tick);
    all->tick.data = all;
    uv_timer_start(&all->tick, on_tick, TICK_MS, TICK_MS);
    return all;
}

/* ---- one that is in progress ---- */

static run *in_progress(const server *s, uint64_t id) {
    run *x = s->runs->first;
    while (x && (x->id != id || x->r)) x = x->next;
    return x;
}

bool runs_show_progress(server *s, http_request *r, uint64_t id) {
    const run *x = in_progress(s, id);
    if (x) answer_members(r, 200, add_progress, x);
    return x;
}

bool runs_cancel(server *s, http_request *r, uint64_t id) {
    run *x = in_progress(s, id);
    if (!x || x->op.run) return false;
    answer_members(r, 202, add_progress, x);
    pool_cancel(s->pool, &x->job);
    return true;
}

#include "programs.h"
#include "answer.h"
#include "errand.h"
#include "program_cache.h"
#include "query.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

struct programs {
    program_cache cache;
};

programs *programs_new(server *s) {
    (void)s;
    return calloc(1, sizeof(programs));
}

/* ---- identity ---- */

static void identify(program *p) {
    struct {
        XXH128_hash_t bytes;
        char name[sizeof p->name], real[sizeof p->real], type[sizeof p->type];
    } whole;
    memset(&whole, 0, sizeof whole);
    whole.bytes = XXH3_128bits(p->source, p->source_size);
    memcpy(whole.name, p->name, sizeof p->name);
    memcpy(whole.real, p->real, sizeof p->real), memcpy(whole.type, p->type, sizeof p->type);
    const XXH128_hash_t h = XXH3_128bits(&whole, sizeof whole);
    snprintf(p->id, sizeof p->id, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

/* XXH3 can be made to collide: equal ids are not equal programs. */
static bool is_same(const program *a, const program *b) {
    return a->source_size == b->source_size && memcmp(a->source, b->source, a->source_size) == 0 &&
           strcmp(a->name, b->name) == 0 && strcmp(a->real, b->real) == 0 && strcmp(a->type, b->type) == 0;
}

static char *copy_bytes(const void *bytes, size_t size) {
    char *to = malloc(size + 1);
    if (!to) return NULL;
    if (size) memcpy(to, bytes, size);
    to[size] = 0;
    return to;
}

/* ---- from the store ---- */

typedef struct finding {
    store_op op;
    server *s;
    program *p; /* its id is what is looked for */
    bool found;
    program_then *then;
    void *userdata;
} finding;
_Static_assert(offsetof(finding, op) == 0, "an operation is what it is of");

static bool take_column(sqlite3_stmt *row, int k, char **to, size_t *size) {
    const void *bytes = sqlite3_column_blob(row, k);
    *size = (size_t)sqlite3_column_bytes(row, k);
    return (*to = copy_bytes(bytes, *size));
}

static bool read_program(program *p, sqlite3_stmt *row) {
    snprintf(p->name, sizeof p->name, "%s", (const char *)sqlite3_column_text(row, 0));
    snprintf(p->real, sizeof p->real, "%s", (const char *)sqlite3_column_text(row, 1));
    snprintf(p->type, sizeof p->type, "%s", (const char *)sqlite3_column_text(row, 2));
    p->created = sqlite3_column_int64(row, 6);
    return take_column(row, 3, &p->source, &p->source_size) && take_column(row, 4, &p->bytecode, &p->bytecode_size) &&
           take_column(row, 5, &p->info, &p->info_size);
}

static int run_find(store_op *op, store *s) {
    finding *f = (finding *)(void *)op;
    sqlite3_stmt *q = store_statement(s, STORE_PROGRAM_GET);
    sqlite3_bind_text(q, 1, f->p->id, -1, SQLITE_STATIC);
    const int rc = sqlite3_step(q);
    f->found = rc == SQLITE_ROW && read_program(f->p, q);
    if (!f->found) return rc;
    q = store_statement(s, STORE_PROGRAM_USED);
    sqlite3_bind_text(q, 1, f->p->id, -1, SQLITE_STATIC);
    sqlite3_step(q);
    return SQLITE_DONE;
}

static void found(store_op *op) {
    finding *f = (finding *)(void *)op;
    if (f->found) f->p->refs++, cache_add(&f->s->programs->cache, f->p);
    f->then(f->userdata, f->found ? f->p : NULL);
    if (!f->found) program_drop(f->p);
    free(f);
}

bool programs_with(server *s, const char *id, program_then *then, void *userdata) {
    if (!program_is_id(id)) return false;
    program *p = cache_find(&s->programs->cache, id);
    if (p) {
        p->refs++;
        then(userdata, p);
        return true;
    }
    finding *f = calloc(1, sizeof *f);
    p = calloc(1, sizeof *p);
    if (!f || !p) {
        free(f), free(p);
        return false;
    }
    p->refs = 1;
    memcpy(p->id, id, PROGRAM_ID);
    *f = (finding){.op = {.run = run_find, .done = found}, .s = s, .p = p, .then = then, .userdata = userdata};
    store_add(s->store, &f->op);
    return true;
}

bool programs_guess(const http_request *r, char id[PROGRAM_ID]) {
    static const char key[] = "\"program\"";
    const char *at = r->size ? memmem(r->body, r->size, key, sizeof key - 1) : NULL;
    if (!at) return false;
    at += sizeof key - 1;
    at += strspn(at, " \t\r\n:");
    if (*at++ != '"' || strspn(at, "0123456789abcdef") != PROGRAM_ID - 1) return false;
    memcpy(id, at, PROGRAM_ID - 1);
    id[PROGRAM_ID - 1] = 0;
    return true;
}

/* ---- uploads ---- */

typedef struct upload {
    store_op op;
    pool_job job;
    server *s;
    http_request *r; /* or `then` is told */
    upload_then *then;
    void *userdata;
    program *p;
    bool existed, collides;
} upload;
_Static_assert(offsetof(upload, op) == 0, "an operation is what it is of");

static void end_upload(upload *u) {
    program_drop(u->p);
    free(u->job.body);
    free(u);
}

static char *describe(const program *p, size_t *size) {
    char *front = NULL, *whole = NULL;
    size_t front_size = 0;
    FILE *out = open_memstream(&front, &front_size);
    if (!out) return NULL;
    json j = {.out = out};
    json_key(&j, "id"), json_text(&j, p->id);
    json_key(&j, "name"), json_text(&j, p->name);
    json_key(&j, "real"), json_text(&j, p->real);
    json_key(&j, "bytes"), json_uint(&j, p->source_size);
    json_key(&j, "created"), json_uint(&j, (uint64_t)p->created);
    fputc(',', out);
    if (fclose(out) == 0) whole = answer_with(front, p->info, p->info_size, size);
    free(front);
    return whole;
}

static void answer_upload(upload *u, unsigned code) {
    size_t size = 0;
    char *text = describe(u->p, &size);
    if (u->r)
        answer_json(u->r, code, text, size);
    else
        u->then(u->userdata, u->p->id, NULL), free(text);
}

static void fail_upload(upload *u, const char *text, void (*tell)(http_request *r, const char *text)) {
    if (u->r)
        tell(u->r, text);
    else
        u->then(u->userdata, NULL, text);
}

static int run_put(store_op *op, store *s) {
    upload *u = (upload *)(void *)op;
    const program *p = u->p;
    program there = {0};
    sqlite3_stmt *q = store_statement(s, STORE_PROGRAM_PUT);
    sqlite3_bind_text(q, 1, p->id, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 2, p->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 3, p->real, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 4, p->type, -1, SQLITE_STATIC);
    sqlite3_bind_blob(q, 5, p->source, (int)p->source_size, SQLITE_STATIC);
    sqlite3_bind_blob(q, 6, p->bytecode, (int)p->bytecode_size, SQLITE_STATIC);
    sqlite3_bind_text(q, 7, p->info, (int)p->info_size, SQLITE_STATIC);
    int rc = sqlite3_step(q);
    if (rc != SQLITE_DONE || store_changes(s)) return rc;
    u->existed = true;
    q = store_statement(s, STORE_PROGRAM_GET);
    sqlite3_bind_text(q, 1, p->id, -1, SQLITE_STATIC);
    rc = sqlite3_step(q);
    u->collides = rc == SQLITE_ROW && read_program(&there, q) && !is_same(p, &there);
    free(there.source), free(there.bytecode), free(there.info);
    return rc == SQLITE_ROW ? SQLITE_DONE : rc;
}

static void tell_collision(http_request *r, const char *text) {
    answer_error(r, 409, "COLLISION", "%s", text);
}

static void tell_event(server *s, const program *p, const char *what) {
    json *j = events_begin(s->events, EVENT_program);
    if (!j) return;
    json_key(j, "id"), json_text(j, p->id);
    json_key(j, "name"), json_text(j, p->name);
    json_key(j, "what"), json_text(j, what);
    events_end(s->events);
}

static void put(store_op *op) {
    upload *u = (upload *)(void *)op;
    if (u->op.result != SQLITE_DONE && u->op.result != SQLITE_OK) {
        fail_upload(u, u->op.result == SQLITE_FULL ? "the store has no room" : "the store cannot be written", answer_busy);
    } else if (u->collides) {
        fail_upload(u, "another program has the same id", tell_collision);
    } else {
        u->p->refs++;
        cache_add(&u->s->programs->cache, u->p);
        if (!u->existed) tell_event(u->s, u->p, "uploaded");
        answer_upload(u, u->existed ? 200 : 201);
    }
    end_upload(u);
}

/* The worker's JSON, as far as it can be told to a request or in a message. */
static void tell_refusal(upload *u, const outcome *o, const part *text) {
    char *copy = copy_bytes(text->bytes, text->size);
    if (u->r)
        answer_json(u->r, o->status == RVM_ERR_ALIAS ? 422 : answer_code((rvm_status)o->status), copy, text->size);
    else
        u->then(u->userdata, NULL, copy ? copy : "out of memory"), free(copy);
}

static void assembled(pool_job *j, pool_end end, const part parts[FRAME_PARTS]) {
    upload *u = j->owner;
    const outcome *o = parts[0].bytes;
    if (end != POOL_DONE) {
        if (u->r)
            errand_failed(u->r, end);
        else
            u->then(u->userdata, NULL, "a worker did not survive it");
    } else if (o->status) {
        tell_refusal(u, o, &parts[1]);
    } else {
        u->p->info = copy_bytes(parts[1].bytes, u->p->info_size = parts[1].size);
        u->p->bytecode = copy_bytes(parts[2].bytes, u->p->bytecode_size = parts[2].size);
        u->op = (store_op){.run = run_put, .done = put};
        if (u->p->info && u->p->bytecode) {
            store_add(u->s->store, &u->op);
            return;
        }
        fail_upload(u, "out of memory", answer_busy);
    }
    end_upload(u);
}

/* Takes over u->p, whose source, name, real and type are there. */
static void start_upload(upload *u) {
    program *p = u->p;
    identify(p);
    p->created = time(NULL);
    const program *known = cache_find(&u->s->programs->cache, p->id);
    if (known && is_same(known, p)) {
        program_drop(p);
        u->p = (program *)known, u->p->refs++;
        answer_upload(u, 200);
        end_upload(u);
        return;
    }
    const part parts[] = {part_of(p->name, strlen(p->name)), part_of(p->real, strlen(p->real)),
                          part_of(p->type, strlen(p->type)), part_of(p->source, p->source_size)};
    u->job = (pool_job){.kind = FRAME_ASSEMBLE, .done = assembled, .owner = u};
    u->job.body = known ? NULL : frame_pack(parts, 4, &u->job.size);
    if (u->job.body && pool_add(u->s->pool, &u->job)) return;
    if (known)
        fail_upload(u, "another program has the same id", tell_collision);
    else
        fail_upload(u, "too many requests wait", answer_busy);
    end_upload(u);
}

static upload *new_upload(server *s, const char *name, const char *real) {
    upload *u = calloc(1, sizeof *u);
    program *p = calloc(1, sizeof *p);
    if (!u || !p) return free(u), free(p), NULL;
    p->refs = 1;
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->real, sizeof p->real, "%s", real);
    *u = (upload){.s = s, .p = p};
    return u;
}

static bool is_name(const char *name) {
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < 0x20 || *c == 0x7f) return false;
    return *name && strlen(name) < 200;
}

void programs_upload(server *s, http_request *r) {
    const char *name = http_query(r, "name"), *real = http_query(r, "real"), *type = http_header(r, "Content-Type");
    if (name && !is_name(name)) return answer_error(r, 400, "USAGE", "a name is of 1 to 199 printable characters");
    if (real && strcmp(real, "f64") != 0 && strcmp(real, "f32") != 0 && strcmp(real, "fix") != 0)
        return answer_error(r, 400, "USAGE", "real is f64, f32 or fix");
    if (!r->size) return answer_error(r, 400, "FORMAT", "the upload is empty");
    upload *u = new_upload(s, name ? name : "program.rasm", real ? real : "f64");
    if (!u) return answer_busy(r, "out of memory");
    if (type && strncasecmp(type, "application/json", 16) == 0) strcpy(u->p->type, "json");
    u->p->source = r->body, u->p->source_size = r->size;
    r->body = NULL, r->size = 0;
    u->r = r;
    start_upload(u);
}

void programs_load(server *s, const char *name, const char *real, char *bytes, size_t size, upload_then *then,
                   void *userdata) {
    upload *u = new_upload(s, name, real);
    if (!u) {
        free(bytes);
        then(userdata, NULL, "out of memory");
        return;
    }
    u->p->source = bytes, u->p->source_size = size;
    u->then = then, u->userdata = userdata;
    start_upload(u);
}

/* ---- one program ---- */

typedef struct showing {
    server *s;
    http_request *r;
    void (*show)(server *s, http_request *r, program *p);
} showing;

static void show(void *userdata, program *p) {
    showing *w = userdata;
    if (p)
        w->show(w->s, w->r, p);
    else
        answer_error(w->r, 404, "NOT_FOUND", "there is no program `%s`", w->r->parameter[0]);
    program_drop(p);
    free(w);
}

static void with_program(server *s, http_request *r, void (*how)(server *, http_request *, program *)) {
    showing *w = malloc(sizeof *w);
    if (w) *w = (showing){s, r, how};
    if (w && programs_with(s, r->parameter[0], show, w)) return;
    free(w);
    answer_error(r, 404, "NOT_FOUND", "there is no program `%s`", r->parameter[0]);
}

static void show_info(server *s, http_request *r, program *p) {
    size_t size = 0;
    char *text = describe(p, &size);
    (void)s;
    answer_json(r, 200, text, size);
}

static void show_source(server *s, http_request *r, program *p) {
    const bool bytecode = rvm_bytecode_begins(p->source, p->source_size);
    const char *type = *p->type ? "application/json" : bytecode ? "application/octet-stream" : "text/plain; charset=utf-8";
    (void)s;
    http_answer(r, 200, type, copy_bytes(p->source, p->source_size), p->source_size, NULL);
}

static void show_bytecode(server *s, http_request *r, program *p) {
    static const char *const headers[] = {"Content-Disposition", "attachment; filename=\"program.rbc\"", NULL};
    (void)s;
    http_answer(r, 200, "application/octet-stream", copy_bytes(p->bytecode, p->bytecode_size), p->bytecode_size, headers);
}

static void show_listing(server *s, http_request *r, program *p) {
    const bool is_text = !*p->type && !rvm_bytecode_begins(p->source, p->source_size);
    const part parts[] = {part_of(p->bytecode, p->bytecode_size), part_of(p->source, is_text ? p->source_size : 0)};
    errand_start(s, r, FRAME_LISTING, parts, 2, "text/plain; charset=utf-8", NULL);
}

void programs_show(server *s, http_request *r) {
    with_program(s, r, show_info);
}
void programs_source(server *s, http_request *r) {
    with_program(s, r, show_source);
}
void programs_bytecode(server *s, http_request *r) {
    with_program(s, r, show_bytecode);
}
void programs_listing(server *s, http_request *r) {
    with_program(s, r, show_listing);
}

/* ---- all of them ---- */

static bool list_row(query *q, sqlite3_stmt *row) {
    if (!q->out) {
        if (!(q->out = open_memstream(&q->text, &q->size))) return false;
        q->j = (json){.out = q->out};
        json_open(&q->j, '{');
        json_key(&q->j, "ok"), json_bool(&q->j, true);
        json_key(&q->j, "programs"), json_open(&q->j, '[');
    }
    json_open(&q->j, '{');
    json_key(&q->j, "id"), json_text(&q->j, (const char *)sqlite3_column_text(row, 0));
    json_key(&q->j, "name"), json_text(&q->j, (const char *)sqlite3_column_text(row, 1));
    json_key(&q->j, "created"), json_uint(&q->j, (uint64_t)sqlite3_column_int64(row, 2));
    json_key(&q->j, "bytes"), json_uint(&q->j, (uint64_t)sqlite3_column_int64(row, 3));
    json_close(&q->j, '}');
    return true;
}

static void listed(query *q) {
    if (q->out) json_close(&q->j, ']'), json_close(&q->j, '}'), fputc('\n', q->out), fclose(q->out);
    char *text = q->out ? q->text : strdup("{\"ok\":true,\"programs\":[]}\n");
    const size_t size = q->out ? q->size : strlen(text);
    q->text = NULL;
    answer_json(q->r, 200, text, size);
}

void programs_list(server *s, http_request *r) {
    query_start(&(query){.s = s, .r = r, .statement = STORE_PROGRAM_LIST, .a = 1000, .row = list_row, .then = listed});
}

static void add_deleted(json *j, const void *of) {
    json_key(j, "deleted"), json_text(j, of);
}

static void deleted(query *q) {
    if (q->changes) {
        program p = {0};
        memcpy(p.id, q->id, PROGRAM_ID);
        tell_event(q->s, &p, "deleted");
        answer_members(q->r, 200, add_deleted, q->id);
    } else {
        answer_error(q->r, 404, "NOT_FOUND", "there is no program `%s`", q->id);
    }
}

static void runs_deleted(query *q) {
    query next = {.s = q->s, .r = q->r, .statement = STORE_PROGRAM_DELETE, .then = deleted};
    memcpy(next.id, q->id, sizeof next.id);
    query_start(&next);
}

void programs_delete(server *s, http_request *r) {
    query q = {.s = s, .r = r, .statement = STORE_PROGRAM_RUNS_DELETE, .then = runs_deleted};
    if (!program_is_id(r->parameter[0]))
        return answer_error(r, 404, "NOT_FOUND", "there is no program `%s`", r->parameter[0]);
    cache_remove(&s->programs->cache, r->parameter[0]);
    memcpy(q.id, r->parameter[0], PROGRAM_ID);
    query_start(&q);
}

/* sessions.c: requests of one session are answered one after the other. A new move gives up the one before it: who drags
 * along a timeline wants the last. */
#include "sessions.h"
#include "answer.h"
#include "programs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { IDLE_MS = 600000, SWEEP_MS = 10000 };

/* A request of a session. */
typedef struct asking {
    pool_job job;
    struct kept *of;
    http_request *r;
    bool is_move, opens;
    struct asking *next;
} asking;

typedef struct kept {
    server *s;
    char id[17], program[PROGRAM_ID];
    pool_worker *worker;
    asking *current, *waiting;
    uint64_t used; /* ms of the loop */
    bool doomed;
    struct kept *next;
} kept;

struct sessions {
    server *s;
    kept *first;
    uv_timer_t sweep;
};

/* ---- life ---- */

static void end_asking(asking *a) {
    free(a->job.body);
    free(a);
}

static void gone(http_request *r) {
    answer_error(r, 410, "SESSION", "the session has ended");
}

static void forget(kept *k) {
    kept **at = &k->s->sessions->first;
    while (*at != k) at = &(*at)->next;
    *at = k->next;
    for (asking *a = k->waiting, *next; a; a = next) next = a->next, gone(a->r), end_asking(a);
    if (k->worker) pool_close(k->worker);
    free(k);
}

static kept *find(const server *s, http_request *r) {
    kept *k = s->sessions->first;
    while (k && strcmp(k->id, r->parameter[0]) != 0) k = k->next;
    if (!k || k->doomed) answer_error(r, 404, "NOT_FOUND", "there is no session `%s`", r->parameter[0]);
    return k && !k->doomed ? k : NULL;
}

static void on_sweep(uv_timer_t *t) {
    sessions *all = t->data;
    for (kept *k = all->first, *next; k; k = next) {
        next = k->next;
        if (!k->current && uv_now(t->loop) - k->used > IDLE_MS) forget(k);
    }
}

sessions *sessions_new(server *s) {
    sessions *all = calloc(1, sizeof *all);
    if (!all) return NULL;
    all->s = s;
    uv_timer_init(&s->loop, &all->sweep);
    all->sweep.data = all;
    uv_timer_start(&all->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    return all;
}

/* ---- asking ---- */

static void give(kept *k, asking *a) {
    k->current = a;
    pool_give(k->worker, &a->job);
}

/* A session's JSON, with its number at the front of what opened it. */
static void answer_done(const asking *a, const outcome *o, const part *text) {
    char front[64] = "";
    size_t size = 0;
    if (a->opens) snprintf(front, sizeof front, "\"id\":\"%s\",", a->of->id);
    char *whole = answer_with(front, text->bytes, text->size, &size);
    const unsigned code = answer_code((rvm_status)o->status);
    answer_json(a->r, a->opens && !o->status ? 201 : code, whole, size);
}

static void done(pool_job *j, pool_end end, const part parts[FRAME_PARTS]) {
    asking *a = j->owner;
    kept *k = a->of;
    const outcome *o = parts[0].bytes;
    k->current = NULL;
    k->used = uv_now(&k->s->loop);
    if (end == POOL_DONE)
        answer_done(a, o, &parts[1]);
    else if (end == POOL_NEED)
        answer_error(a->r, 400, "USAGE", "\"program\" is to be the id of a program");
    else
        gone(a->r);
    const bool lost = end != POOL_DONE || (a->opens && o->status) || k->doomed;
    end_asking(a);
    if (lost) {
        forget(k);
    } else if (k->waiting) {
        asking *next = k->waiting;
        k->waiting = next->next;
        give(k, next);
    }
}

static asking *new_asking(kept *k, http_request *r, frame_kind kind, const part *parts, uint32_t n) {
    asking *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (asking){.job = {.kind = kind, .done = done, .owner = a}, .of = k, .r = r};
    a->job.body = frame_pack(parts, n, &a->job.size);
    if (!a->job.body) free(a), a = NULL;
    return a;
}

/* A move that has not begun is not made any more; one that is under way ends soon. */
static void give_up_moves(kept *k) {
    for (asking **at = &k->waiting, *a; (a = *at);) {
        if (!a->is_move) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        answer_error(a->r, 409, "SUPERSEDED", "another move came before this one began");
        end_asking(a);
    }
    if (k->current && k->current->is_move) pool_cancel(k->s->pool, &k->current->job);
}

static void ask(server *s, http_request *r, const char *verb, const char *text, size_t size) {
    kept *k = find(s, r);
    if (!k) return;
    const part parts[] = {part_of(verb, strlen(verb)), part_of(text, size)};
    asking *a = new_asking(k, r, FRAME_SESSION, parts, 2), **end = &k->waiting;
    if (!a) return answer_busy(r, "out of memory");
    a->is_move = strcmp(verb, "move") == 0;
    if (a->is_move) give_up_moves(k);
    if (!k->current) return give(k, a);
    while (*end) end = &(*end)->next;
    *end = a;
}

void sessions_move(server *s, http_request *r) {
    ask(s, r, "move", r->body, r->size);
}
void sessions_stops(server *s, http_request *r) {
    ask(s, r, "stops", r->body, r->size);
}
void sessions_log(server *s, http_request *r) {
    ask(s, r, "log", r->body, r->size);
}

void sessions_state(server *s, http_request *r) {
    const char *frame = http_query(r, "frame"), *places = http_query(r, "places");
    char *text = NULL, *end = NULL;
    size_t size = 0;
    const unsigned long height = frame && *frame >= '0' && *frame <= '9' ? strtoul(frame, &end, 10) : 0;
    if (frame && (!end || *end || height > INT64_MAX))
        return answer_error(r, 400, "USAGE", "frame: `%.32s` is no number of a frame, 0 for the innermost", frame);
    FILE *out = open_memstream(&text, &size);
    if (!out) return answer_busy(r, "out of memory");
    json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "frame"), json_uint(&j, height);
    if (places) json_key(&j, "places"), json_open(&j, '[');
    while (places && *places) {
        char name[128];
        const size_t n = strcspn(places, ",");
        snprintf(name, sizeof name, "%.*s", (int)(n < 127 ? n : 127), places);
        json_text(&j, name);
        places += n + (places[n] == ',');
    }
    if (places) json_close(&j, ']');
    json_close(&j, '}');
    fclose(out);
    ask(s, r, "state", text, size);
    free(text);
}

/* ---- opening and closing ---- */

typedef struct opening {
    server *s;
    http_request *r;
} opening;

static kept *new_kept(server *s, const program *p) {
    kept *k = calloc(1, sizeof *k);
    uint64_t random;
    if (!k || getrandom(&random, sizeof random, 0) != sizeof random) return free(k), NULL;
    *k = (kept){.s = s, .used = uv_now(&s->loop), .next = s->sessions->first};
    snprintf(k->id, sizeof k->id, "%016llx", (unsigned long long)random);
    memcpy(k->program, p->id, PROGRAM_ID);
    s->sessions->first = k;
    return k;
}

static void open_with(server *s, http_request *r, const program *p) {
    static const char *const later[] = {"Retry-After", "10", NULL};
    static const char full[] = "{\"ok\":false,\"error\":{\"severity\":\"error\",\"code\":\"SESSIONS\",\"message\":\"there "
                               "are as many sessions as may be\"}}\n";
    const part parts[] = {part_of(r->body, r->size), part_of(p->id, PROGRAM_ID - 1), part_of(p->bytecode, p->bytecode_size),
                          part_of(p->name, strlen(p->name))};
    kept *k = new_kept(s, p);
    asking *a = k ? new_asking(k, r, FRAME_OPEN, parts, 4) : NULL;
    if (a && (k->worker = pool_open(s->pool))) {
        a->opens = true;
        give(k, a);
        return;
    }
    http_answer(r, 429, "application/json", strdup(full), sizeof full - 1, later);
    if (a) end_asking(a);
    if (k) forget(k);
}

static void found(void *userdata, program *p) {
    opening *o = userdata;
    if (p)
        open_with(o->s, o->r, p);
    else
        answer_error(o->r, 404, "NOT_FOUND", "there is no program of that id");
    program_drop(p);
    free(o);
}

void sessions_open(server *s, http_request *r) {
    char id[PROGRAM_ID];
    if (!programs_guess(r, id)) return answer_error(r, 400, "USAGE", "\"program\" is to be the id of a program");
    opening *o = malloc(sizeof *o);
    if (o) *o = (opening){s, r};
    if (o && programs_with(s, id, found, o)) return;
    free(o);
    answer_busy(r, "out of memory");
}

void sessions_close(server *s, http_request *r) {
    kept *k = find(s, r);
    if (!k) return;
    k->doomed = true;
    http_answer(r, 200, "application/json", strdup("{\"ok\":true}\n"), 12, NULL);
    if (k->current)
        pool_cancel(s->pool, &k->current->job);
    else
        forget(k);
}

static void add_all(json *j, const void *of) {
    const server *s = of;
    json_key(j, "sessions"), json_open(j, '[');
    for (const kept *k = s->sessions->first; k; k = k->next) {
        json_open(j, '{');
        json_key(j, "id"), json_text(j, k->id);
        json_key(j, "program"), json_text(j, k->program);
        json_key(j, "idle"), json_f64(j, 1e-3 * (double)(uv_now(&s->loop) - k->used));
        json_close(j, '}');
    }
    json_close(j, ']');
}

void sessions_list(server *s, http_request *r) {
    answer_members(r, 200, add_all, s);
}

#include "pool.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DEPTH = 8,       /* jobs that a worker has at most */
    LONG_MS = 20,    /* what has taken so long is a long one */
    GRACE_MS = 1000, /* from the time limit to the end of the worker, which on a busy machine comes late to its own clock */
    TICK_MS = 10,
    BYTES = 256 << 20, /* of messages for workers */
    TRIES = 5,         /* of a job whose workers die before it begins */
};

struct pool_worker {
    pool *of;
    uint32_t page;
    bool ready, asked;
    int socket, process;
    uv_poll_t poll;
    int events;
    frame_in in;
    pool_job *first, *last; /* that it has, in order */
    pool_job *sending;
    pool_job *cancelling;
    unsigned n;
    bool holds_long, alone;
    bool dying;                 /* its handle is not closed yet */
    bool apart, taken, closing; /* a seat; somebody has it; nobody wants it any more */
};

typedef struct job_list {
    pool_job *first, *last;
} job_list;

struct pool {
    pool_options o;
    live *pages;
    int nursery;
    pid_t nursery_pid;
    uv_poll_t nursery_poll;
    uv_timer_t tick;
    pool_worker *workers;
    pid_t *pids;
    job_list small, longs, suspects;
    uint32_t waiting, next_id;
    size_t bytes; /* of jobs that wait or run */
    frame_packet *packet;
    pool_state state;
    bool started, stopping;
};

static unsigned all_workers(const pool *p) {
    return p->o.workers + p->o.seats;
}

/* ---- lists ---- */

static void append(job_list *l, pool_job *j) {
    j->next = NULL, j->previous = l->last;
    *(l->last ? &l->last->next : &l->first) = j;
    l->last = j;
}

static void prepend(job_list *l, pool_job *j) {
    j->previous = NULL, j->next = l->first;
    *(l->first ? &l->first->previous : &l->last) = j;
    l->first = j;
}

static void take_out(pool_job **first, pool_job **last, pool_job *j) {
    *(j->previous ? &j->previous->next : first) = j->next;
    *(j->next ? &j->next->previous : last) = j->previous;
    j->next = j->previous = NULL;
}

static job_list *list_of(pool *p, const pool_job *j) {
    return j->deaths ? &p->suspects : j->is_long ? &p->longs : &p->small;
}

/* ---- sending ---- */

static void on_worker(uv_poll_t *h, int status, int events);
static void died(pool_worker *w);

static void listen_for(pool_worker *w, int events) {
    if (w->events == events) return;
    w->events = events;
    uv_poll_start(&w->poll, events, on_worker);
}

/* Whatever is to be sent next; false: the worker is gone. */
static bool send_on(pool_worker *w) {
    while (w->sending) {
        pool_job *j = w->sending;
        const frame_head head = {j->kind, j->id, j->size, 0};
        const frame_io io = frame_send(w->socket, head, j->body, &j->sent, MSG_DONTWAIT);
        listen_for(w, io == FRAME_AGAIN ? UV_READABLE | UV_WRITABLE : UV_READABLE);
        if (io != FRAME_OK) return io == FRAME_AGAIN;
        w->sending = j->next;
    }
    if (w->cancelling) {
        const frame_head head = {FRAME_CANCEL, w->cancelling->id, 0, 0};
        uint32_t sent = 0;
        if (frame_send(w->socket, head, NULL, &sent, MSG_DONTWAIT) == FRAME_OK) w->cancelling = NULL;
    }
    return true;
}

static void give(pool_worker *w, pool_job *j) {
    job_list mine = {w->first, w->last};
    append(&mine, j);
    w->first = mine.first, w->last = mine.last;
    w->n++;
    w->alone = j->deaths > 0;
    if (j->is_long) w->holds_long = true;
    j->at = w;
    j->sent = 0;
    j->begun = uv_now(w->of->tick.loop);
    if (!w->sending) w->sending = j;
    if (!uv_is_active((uv_handle_t *)&w->of->tick)) uv_timer_again(&w->of->tick);
}

/* The worker for a job of a list, or NULL: none may have it now. */
static pool_worker *choose(pool *p, const job_list *l) {
    pool_worker *best = NULL;
    unsigned least = 3 * DEPTH;
    for (unsigned k = 0; k < p->o.workers; k++) {
        pool_worker *w = &p->workers[k];
        const bool fits = l == &p->suspects ? w->n == 0 : l == &p->longs ? !w->holds_long : w->n < DEPTH;
        const unsigned score = w->n + (w->holds_long ? DEPTH : 0);
        if (w->ready && !w->alone && fits && score < least) best = w, least = score;
    }
    return best;
}

static void dispatch(pool *p) {
    job_list *const lists[] = {&p->suspects, &p->longs, &p->small};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (pool_worker *w; lists[k]->first && (w = choose(p, lists[k]));) {
            pool_job *j = lists[k]->first;
            take_out(&lists[k]->first, &lists[k]->last, j);
            p->waiting--;
            give(w, j);
            if (!send_on(w)) died(w);
        }
}

bool pool_add(pool *p, pool_job *j) {
    if (p->waiting >= p->o.queue || p->bytes + j->size > BYTES) return false;
    p->bytes += j->size;
    j->id = ++p->next_id ? p->next_id : ++p->next_id;
    p->waiting++;
    p->state.jobs++;
    append(list_of(p, j), j);
    dispatch(p);
    return true;
}

void pool_cancel(pool *p, pool_job *j) {
    j->cancel_at = uv_now(p->tick.loop) + GRACE_MS;
    if (!j->at) {
        const outcome o = {.status = RVM_ERR_CANCELLED};
        static const char text[] =
            "{\"ok\":false,\"error\":{\"severity\":\"error\",\"code\":\"CANCELLED\",\"message\":\"cancelled "
            "before it began\"}}\n";
        const part parts[FRAME_PARTS] = {part_of(&o, sizeof o), part_of(text, sizeof text - 1)};
        job_list *l = list_of(p, j);
        take_out(&l->first, &l->last, j);
        p->waiting--;
        p->bytes -= j->size;
        j->done(j, POOL_DONE, parts);
        return;
    }
    j->at->cancelling = j;
    if (j->at->ready && !send_on(j->at)) died(j->at);
}

/* ---- what workers say ---- */

static void back(pool *p, pool_job *j) {
    j->at = NULL;
    j->begun = 0;
    p->waiting++;
}

static void release(pool_worker *w, pool_job *j) {
    const bool was_first = w->first == j;
    if (w->cancelling == j) w->cancelling = NULL;
    take_out(&w->first, &w->last, j);
    w->n--;
    if (was_first && w->first) w->first->begun = uv_now(w->of->tick.loop); /* now it is this one's turn */
    w->alone = false;
    w->holds_long = false;
    for (const pool_job *k = w->first; k; k = k->next) w->holds_long |= k->is_long;
}

/* False: what it says is no answer to anything. */
static bool hear(pool_worker *w) {
    pool *p = w->of;
    part parts[FRAME_PARTS];
    pool_job *j = w->first;
    while (j && j->id != w->in.head.job) j = j->next;
    if (!j || j == w->sending || !frame_parts(w->in.body, w->in.head.size, parts)) return false;
    const uint32_t kind = w->in.head.kind;
    outcome o;
    if (kind == FRAME_DONE) {
        if (parts[0].size != sizeof o) return false;
        memcpy(&o, parts[0].bytes, sizeof o);
        o.kind[sizeof o.kind - 1] = o.fn[sizeof o.fn - 1] = 0;
        if (o.status > RVM_ERR_INTERNAL) return false;
        parts[0].bytes = &o;
    } else if (kind != FRAME_NEED && kind != FRAME_LATER) {
        return false;
    }
    release(w, j);
    if (kind == FRAME_LATER) {
        back(p, j);
        j->is_long = true;
        append(list_of(p, j), j);
        return true;
    }
    j->at = NULL;
    p->bytes -= j->size;
    j->done(j, kind == FRAME_DONE ? POOL_DONE : POOL_NEED, parts);
    return true;
}

static void on_worker(uv_poll_t *h, int status, int events) {
    pool_worker *w = h->data;
    pool *p = w->of;
    bool good = status >= 0;
    if (good && events & UV_WRITABLE) good = send_on(w);
    while (good && w->ready && events & UV_READABLE) {
        const frame_io io = frame_receive(w->socket, &w->in, p->packet, FRAME_ANSWER, MSG_DONTWAIT);
        if (io == FRAME_AGAIN) break;
        good = io == FRAME_OK && hear(w);
    }
    if (!good) died(w);
    dispatch(p);
}

/* ---- death and birth ---- */

static void kill_worker(const pool_worker *w) {
    syscall(SYS_pidfd_send_signal, w->process, SIGKILL, NULL, 0);
}

static void ask(pool_worker *w) {
    if (w->asked || w->of->stopping || (w->apart && (!w->taken || w->closing))) return;
    w->asked = nursery_ask(w->of->nursery, w->page);
}

static void poll_closed(uv_handle_t *h) {
    pool_worker *w = h->data;
    w->dying = false;
    frame_free(&w->in); /* not before: a message of its may be in use */
    if (w->apart && w->closing) w->taken = w->closing = false;
    if (!w->apart) ask(w);
}

/* A job whose worker is gone: to another. What was at work then comes by itself the second time, and not a third time; what
 * had not begun, as far as the worker told, is no suspect, but is not tried for ever. */
static void bereave(pool *p, pool_job *j, uint32_t at_work) {
    static const part none[FRAME_PARTS];
    const bool begun = j->id == at_work;
    j->deaths += begun;
    if (j->killed || j->at->apart || j->deaths > 1 || ++j->tries > TRIES) {
        j->at = NULL;
        p->bytes -= j->size;
        j->done(j, j->killed ? POOL_TIME : POOL_DEAD, none);
        return;
    }
    back(p, j);
    prepend(list_of(p, j), j);
}

static void died(pool_worker *w) {
    pool *p = w->of;
    if (!w->ready) return;
    w->ready = false, w->dying = true;
    if (!w->apart) p->state.ready--;
    if (!w->closing) p->state.deaths++;
    p->pids[w->page] = 0;
    kill_worker(w);
    uv_poll_stop(&w->poll);
    w->events = 0;
    close(w->process), close(w->socket);
    live *page = (live *)(void *)((char *)p->pages + (size_t)w->page * LIVE_PAGE);
    const uint32_t at_work = page->job;
    memset(page, 0, LIVE_PAGE);
    pool_job *j = w->first, *next;
    w->first = w->last = w->sending = w->cancelling = NULL;
    w->n = 0, w->holds_long = w->alone = false;
    json *log = w->closing ? NULL : log_begin(p->o.log, LOG_INFO, "worker died");
    if (log) json_key(log, "worker"), json_uint(log, w->page), log_end(p->o.log);
    uv_close((uv_handle_t *)&w->poll, poll_closed);
    for (; j; j = next) next = j->next, bereave(p, j, at_work);
}

static void on_nursery(uv_poll_t *h, int status, int events) {
    pool *p = h->data;
    newborn b;
    frame_io io = status < 0 ? FRAME_CLOSED : FRAME_AGAIN;
    (void)events;
    while (io != FRAME_CLOSED && (io = nursery_take(p->nursery, &b)) == FRAME_OK) {
        if (b.page >= all_workers(p)) {
            snprintf(p->state.why, sizeof p->state.why, "%s", b.why);
            log_message(p->o.log, LOG_ERROR, "no worker", b.why);
            continue;
        }
        pool_worker *w = &p->workers[b.page];
        w->asked = false, w->ready = true;
        w->socket = b.socket, w->process = b.process;
        p->pids[b.page] = b.pid;
        if (!w->apart) p->state.ready++;
        uv_poll_init(h->loop, &w->poll, w->socket);
        w->poll.data = w;
        listen_for(w, UV_READABLE);
        if (w->closing || !send_on(w)) died(w);
    }
    if (io == FRAME_CLOSED) {
        log_message(p->o.log, LOG_ERROR, "nursery", "the process that makes workers is gone");
        uv_poll_stop(h);
    }
    dispatch(p);
}

/* ---- time ---- */

/* The worker is asked to stop at its limit, by its own clock; here is for one that does not. */
static void on_tick(uv_timer_t *t) {
    pool *p = t->data;
    const uint64_t now = uv_now(t->loop), limit = (uint64_t)(p->o.setup.limits.seconds * 1000) + GRACE_MS;
    bool any = false;
    for (unsigned k = 0; k < all_workers(p); k++) {
        pool_worker *w = &p->workers[k];
        pool_job *j = w->first;
        if (!w->ready || !j) continue;
        any = true;
        if (now - j->begun > LONG_MS) j->is_long = w->holds_long = true;
        if (now - j->begun <= limit && (!j->cancel_at || now <= j->cancel_at)) continue;
        j->killed = true;
        p->state.kills++;
        died(w);
    }
    if (!any && !p->waiting) uv_timer_stop(t);
    dispatch(p);
}

/* ---- making ---- */

pool *pool_new(const pool_options *o) {
    pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->o = *o;
    const unsigned all = all_workers(p);
    p->workers = calloc(all, sizeof *p->workers);
    p->pids = calloc(all, sizeof *p->pids);
    p->packet = malloc(sizeof *p->packet);
    p->pages = mmap(NULL, (size_t)all * LIVE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const bool good = p->workers && p->pids && p->packet && p->pages != MAP_FAILED &&
                      nursery_start(&p->o.setup, p->pages, all, &p->nursery, &p->nursery_pid);
    for (unsigned k = 0; good && k < all; k++) p->workers[k] = (pool_worker){.of = p, .page = k, .apart = k >= o->workers};
    if (good) return p;
    free(p->workers), free(p->pids), free(p->packet), free(p);
    return NULL;
}

bool pool_start(pool *p, uv_loop_t *loop) {
    uv_timer_init(loop, &p->tick);
    p->tick.data = p;
    uv_timer_start(&p->tick, on_tick, TICK_MS, TICK_MS);
    uv_timer_stop(&p->tick);
    if (uv_poll_init(loop, &p->nursery_poll, p->nursery)) return false;
    p->nursery_poll.data = p;
    p->started = true;
    uv_poll_start(&p->nursery_poll, UV_READABLE, on_nursery);
    for (unsigned k = 0; k < p->o.workers; k++) ask(&p->workers[k]);
    return true;
}

void pool_stop(pool *p) {
    p->stopping = true;
    if (p->started) uv_timer_stop(&p->tick), uv_poll_stop(&p->nursery_poll);
    for (unsigned k = 0; k < all_workers(p); k++)
        if (p->workers[k].ready) kill_worker(&p->workers[k]), uv_poll_stop(&p->workers[k].poll);
    kill(p->nursery_pid, SIGKILL);
}

/* ---- apart ---- */

pool_worker *pool_open(pool *p) {
    for (unsigned k = p->o.workers; k < all_workers(p); k++) {
        pool_worker *w = &p->workers[k];
        if (w->taken) continue;
        w->taken = true;
        ask(w);
        return w;
    }
    return NULL;
}

/* Sent when the worker is there. */
void pool_give(pool_worker *w, pool_job *j) {
    pool *p = w->of;
    static const part none[FRAME_PARTS];
    if (!w->ready && !w->asked) {
        j->done(j, POOL_DEAD, none);
        return;
    }
    j->id = ++p->next_id ? p->next_id : ++p->next_id;
    p->state.jobs++;
    p->bytes += j->size;
    give(w, j);
    if (w->ready && !send_on(w)) died(w);
}

/* The seat is free when nothing of the worker is left. */
void pool_close(pool_worker *w) {
    w->closing = true;
    if (w->ready)
        died(w);
    else if (!w->asked && !w->dying)
        w->taken = w->closing = false;
}

/* ---- telling ---- */

bool pool_live(const pool *p, const pool_job *j, live *page) {
    if (!j->at) return false;
    memcpy(page, (const char *)p->pages + (size_t)j->at->page * LIVE_PAGE, sizeof *page);
    return page->job == j->id;
}

void pool_tell(const pool *p, pool_state *out) {
    *out = p->state;
    out->waiting = p->waiting;
    out->pids = p->pids;
    for (unsigned k = 0; k < p->o.workers; k++) {
        out->running += p->workers[k].n;
        out->long_running += p->workers[k].holds_long;
    }
}

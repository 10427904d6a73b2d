/* http.c: libmicrohttpd's epoll descriptor in the loop. A request that waits is suspended; those that are answered are
 * resumed together, once a turn of the loop, since each resume walks all that are suspended. What libmicrohttpd lets pass is
 * refused here: two lengths, a length beside chunks, a compressed body; and who takes too long for a request is
 * disconnected. */
#include "http.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { CONNECTION_MEMORY = 12 << 10, SWEEP_MS = 1000, STREAM_BLOCK = 16 << 10, BODIES = 256 << 20, MANY = 256, DELAYS = 64 };

/* Of a connection: when its present request began to come; 0: none is on its way. */
typedef struct client {
    uint64_t since;
    int fd;
    struct client *next, *previous;
} client;

struct http {
    http_options o;
    struct MHD_Daemon *daemon;
    uv_loop_t *loop;
    uv_poll_t poll;
    uv_timer_t timer, sweep;
    uv_check_t check;
    uv_idle_t idle; /* so that the loop does not wait while something is to be resumed */
    http_request *resume;
    unsigned to_resume, suspended, delayed; /* how many there are; turns that resumes were put off */
    client *clients;
    size_t held; /* bytes of bodies that are not handed over yet */
    unsigned n;
    bool running, stopping;
};

/* ---- headers ---- */

const char *http_header(const http_request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *http_query(const http_request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

typedef struct counting {
    const char *name;
    unsigned n;
} counting;

static enum MHD_Result count_one(void *userdata, enum MHD_ValueKind kind, const char *key, const char *value) {
    counting *c = userdata;
    (void)kind, (void)value;
    c->n += strcasecmp(key, c->name) == 0;
    return MHD_YES;
}

unsigned http_header_count(const http_request *r, const char *name) {
    counting c = {name, 0};
    MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_one, &c);
    return c.n;
}

/* ---- answering ---- */

static void wake_loop(http *h);

static void to_resume(http_request *r) {
    http *h = r->of;
    r->suspended = false;
    h->suspended--, h->to_resume++;
    r->next = h->resume, h->resume = r;
    wake_loop(h);
}

static void suspend(http_request *r) {
    r->suspended = true;
    r->of->suspended++;
    MHD_suspend_connection(r->connection);
}

static const char *const always[][2] = {
    {"Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
};

static bool is_among(const char *const *headers, const char *name) {
    for (; headers && *headers; headers += 2)
        if (strcmp(*headers, name) == 0) return true;
    return false;
}

static void add_headers(const http_request *r, struct MHD_Response *a, const char *type, const char *const *headers) {
    for (size_t k = 0; k < sizeof always / sizeof *always; k++)
        if (!is_among(headers, always[k][0])) MHD_add_response_header(a, always[k][0], always[k][1]);
    if (type) MHD_add_response_header(a, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (; headers && *headers; headers += 2) MHD_add_response_header(a, headers[0], headers[1]);
    if (!r->allow_origin) return;
    MHD_add_response_header(a, "Access-Control-Allow-Origin", r->allow_origin);
    MHD_add_response_header(a, "Vary", "Origin");
}

void http_answer(http_request *r, unsigned code, const char *type, char *body, size_t size, const char *const *headers) {
    struct MHD_Response *a = MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
    if (!a) {
        free(body);
        return; /* it is closed, by its time */
    }
    add_headers(r, a, type, headers);
    if (r->closing) MHD_add_response_header(a, MHD_HTTP_HEADER_CONNECTION, "close");
    r->code = code, r->answer_size = size, r->response = a;
    if (r->suspended) to_resume(r);
}

/* ---- streams ---- */

typedef struct stream {
    http_request *r;
    http_read *read;
    void (*end)(void *);
    void *userdata;
} stream;

static ssize_t read_stream(void *userdata, uint64_t at, char *to, size_t room) {
    stream *s = userdata;
    (void)at;
    const ssize_t n = s->read(s->userdata, to, room);
    if (n < 0) return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0 && !s->r->of->stopping) suspend(s->r);
    return n;
}

static void end_stream(void *userdata) {
    stream *s = userdata;
    s->end(s->userdata);
    free(s);
}

void http_stream(http_request *r, const char *type, http_read *read, void (*end)(void *), void *userdata) {
    stream *s = malloc(sizeof *s);
    if (s) *s = (stream){r, read, end, userdata};
    struct MHD_Response *a =
        s ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, s, end_stream) : NULL;
    if (!a) {
        free(s);
        end(userdata);
        return;
    }
    add_headers(r, a, type, NULL);
    r->code = MHD_HTTP_OK, r->response = a;
    if (r->suspended) to_resume(r);
}

void http_wake(http_request *r) {
    if (r->suspended) to_resume(r);
}

/* ---- requests ---- */

static bool append(http_request *r, const char *bytes, size_t n) {
    if (r->size + n > r->of->o.most_body) { /* not kept; who goes on for long is cut off before the answer */
        r->too_large = true;
        r->size += n;
        return r->size <= 4 * r->of->o.most_body;
    }
    if (r->size + n + 1 > r->room) {
        size_t room = r->room ? r->room : 256;
        while (room < r->size + n + 1) room *= 2;
        char *grown = r->of->held + room > BODIES ? NULL : realloc(r->body, room);
        if (!grown) return false;
        r->of->held += room - r->room;
        r->body = grown, r->room = room;
    }
    memcpy(r->body + r->size, bytes, n);
    r->size += n;
    r->body[r->size] = 0;
    return true;
}

static void refuse(http_request *r, unsigned code, const char *name, const char *message) {
    char text[256];
    const int n =
        snprintf(text, sizeof text, "{\"ok\":false,\"error\":{\"severity\":\"error\",\"code\":\"%s\",\"message\":\"%s\"}}\n",
                 name, message);
    r->closing = true;
    http_answer(r, code, "application/json", strdup(text), (size_t)n, NULL);
}

/* What would be read in two ways, by us and by a proxy before us. */
static bool head_is_plain(http_request *r) {
    const unsigned lengths = http_header_count(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *length = http_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH),
               *encoding = http_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING);
    const unsigned transfers = http_header_count(r, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    const char *transfer = http_header(r, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    if (lengths > 1 || transfers > 1 || (lengths && transfers))
        refuse(r, 400, "SYNTAX", "a body has one length");
    else if (transfer && strcasecmp(transfer, "chunked") != 0)
        refuse(r, 501, "UNSUPPORTED", "of transfer encodings only chunked is taken");
    else if (encoding && strcasecmp(encoding, "identity") != 0)
        refuse(r, 415, "UNSUPPORTED", "a body is not to be compressed");
    else if (http_header_count(r, MHD_HTTP_HEADER_HOST) != 1)
        refuse(r, 400, "SYNTAX", "a request names one host");
    else if (length && (strlen(length) > 18 || strtoull(length, NULL, 10) > r->of->o.most_body))
        refuse(r, 413, "TOO_LARGE", "the body is larger than this server takes");
    else
        return true;
    return false;
}

static enum MHD_Result queue_answer(http_request *r) {
    struct MHD_Response *a = r->response;
    r->response = NULL;
    const enum MHD_Result result = MHD_queue_response(r->connection, r->code, a);
    MHD_destroy_response(a);
    return result;
}

static client *client_of(struct MHD_Connection *c) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static http_request *begin_request(http *h, struct MHD_Connection *c, const char *method, const char *path) {
    http_request *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = (http_request){.of = h, .connection = c, .method = method, .path = path, .begun = uv_hrtime()};
    return r;
}

/* Called for the head, for each piece of the body, at its end, and again after a resume. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *c, const char *path, const char *method,
                                  const char *version, const char *bytes, size_t *n, void **at) {
    http *h = userdata;
    http_request *r = *at;
    (void)version;
    if (!r) {
        if (!(r = *at = begin_request(h, c, method, path))) return MHD_NO;
        if (head_is_plain(r)) h->o.head(h->o.userdata, r);
        return r->response ? queue_answer(r) : MHD_YES;
    }
    if (*n) {
        const bool good = append(r, bytes, *n);
        *n = 0;
        return good ? MHD_YES : MHD_NO;
    }
    client *who = client_of(c);
    if (who) who->since = 0;
    if (r->too_large && !r->told) refuse(r, 413, "TOO_LARGE", "the body is larger than this server takes");
    if (!r->told && !r->response) {
        r->told = true;
        h->held -= r->room, r->room = 0;
        h->o.body(h->o.userdata, r);
    }
    if (r->response) return queue_answer(r);
    suspend(r);
    return MHD_YES;
}

static void on_completed(void *userdata, struct MHD_Connection *c, void **at, enum MHD_RequestTerminationCode why) {
    http *h = userdata;
    http_request *r = *at;
    client *who = client_of(c);
    (void)why;
    *at = NULL;
    if (who) who->since = uv_now(h->loop);
    if (!r) return;
    h->o.end(h->o.userdata, r);
    h->held -= r->room;
    free(r->body);
    free(r);
}

/* ---- connections ---- */

static void on_connection(void *userdata, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    http *h = userdata;
    client *who = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (!(who = *context = calloc(1, sizeof *who))) return;
        *who = (client){.since = uv_now(h->loop), .fd = info ? info->connect_fd : -1, .next = h->clients};
        if (h->clients) h->clients->previous = who;
        h->clients = who;
        h->n++;
        return;
    }
    if (!who) return;
    *(who->previous ? &who->previous->next : &h->clients) = who->next;
    if (who->next) who->next->previous = who->previous;
    free(who);
    h->n--;
}

/* Who has been sending one request, or none, for so long is cut off. */
static void on_sweep(uv_timer_t *t) {
    http *h = t->data;
    const uint64_t now = uv_now(h->loop);
    for (client *c = h->clients; c; c = c->next)
        if (c->since && now - c->since > 1000ull * h->o.seconds) shutdown(c->fd, SHUT_RDWR), c->since = now;
}

/* ---- the loop ---- */

static void on_timer(uv_timer_t *t);

static void run(http *h) {
    MHD_UNSIGNED_LONG_LONG ms;
    h->running = true;
    h->delayed = 0;
    do {
        http_request *r = h->resume, *next;
        h->resume = NULL, h->to_resume = 0;
        for (; r; r = next) next = r->next, MHD_resume_connection(r->connection);
        MHD_run(h->daemon);
    } while (h->resume);
    h->running = false;
    uv_idle_stop(&h->idle);
    if (MHD_get_timeout(h->daemon, &ms) == MHD_YES)
        uv_timer_start(&h->timer, on_timer, ms, 0);
    else
        uv_timer_stop(&h->timer);
}

static void on_timer(uv_timer_t *t) {
    run(t->data);
}

static void on_poll(uv_poll_t *p, int status, int events) {
    (void)status, (void)events;
    run(p->data);
}

/* Each resume costs as much as there are suspended: where these are many, some are resumed together, a millisecond later. */
static void on_check(uv_check_t *c) {
    http *h = c->data;
    if (!h->resume) return;
    if (h->suspended < MANY || h->to_resume >= h->suspended / 16 || h->delayed >= DELAYS)
        run(h);
    else if (!h->delayed++)
        uv_idle_stop(&h->idle), uv_timer_start(&h->timer, on_timer, 1, 0);
}

static void on_idle(uv_idle_t *i) {
    (void)i;
}

static void wake_loop(http *h) {
    if (!h->running && !h->delayed) uv_idle_start(&h->idle, on_idle);
}

static void ignore_log(void *userdata, const char *format, va_list list) {
    (void)userdata, (void)format, (void)list;
}

static struct MHD_Daemon *start_daemon(http *h) {
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, h,
                            MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_LISTEN_SOCKET, h->o.fd,
                            MHD_OPTION_CONNECTION_LIMIT, h->o.connections, MHD_OPTION_CONNECTION_TIMEOUT, h->o.seconds,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_COMPLETED,
                            on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_END);
}

http *http_start(uv_loop_t *loop, const http_options *o) {
    http *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->o = *o;
    h->loop = loop;
    if (!(h->daemon = start_daemon(h))) return free(h), NULL;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    uv_poll_init(loop, &h->poll, info->epoll_fd);
    uv_timer_init(loop, &h->timer);
    uv_timer_init(loop, &h->sweep);
    uv_check_init(loop, &h->check);
    uv_idle_init(loop, &h->idle);
    h->poll.data = h->timer.data = h->sweep.data = h->check.data = h;
    uv_poll_start(&h->poll, UV_READABLE, on_poll);
    uv_check_start(&h->check, on_check);
    uv_timer_start(&h->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    return h;
}

/* What is suspended must not be when the daemon stops. */
static enum MHD_Result ignore_answer(http *h) {
    for (http_request *r = h->resume; r; r = r->next) MHD_resume_connection(r->connection);
    h->resume = NULL;
    return MHD_YES;
}

void http_stop(http *h) {
    h->stopping = true;
    ignore_answer(h);
    uv_poll_stop(&h->poll);
    uv_timer_stop(&h->timer), uv_timer_stop(&h->sweep);
    uv_check_stop(&h->check), uv_idle_stop(&h->idle);
}

unsigned http_connections(const http *h) {
    return h->n;
}

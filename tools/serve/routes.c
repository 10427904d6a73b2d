#include "routes.h"
#include "access.h"
#include "answer.h"
#include "kept_runs.h"
#include "pages.h"
#include "programs.h"
#include "runs.h"
#include "sessions.h"
#include "site.h"

#include <string.h>

enum access { OPEN, READ, WRITE };

static const struct route {
    const char *method, *path;
    enum access access;
    void (*handler)(server *s, http_request *r);
} routes[] = {
#define ROUTE(id, method, path, access, handler, query, doc) {method, path, access, handler},
#include "routes.def"
};
#define ROUTES (sizeof routes / sizeof *routes)
_Static_assert(ROUTES < (size_t)METRICS_ROUTES, "each route is counted, and what is none");

/* Whether a path is of the form, where {...} stands for anything without a slash, which is kept. */
static bool fits(const char *form, const char *path, http_request *r) {
    size_t n = 0;
    while (*form) {
        if (*form == '{') {
            const size_t length = strcspn(path, "/");
            if (!length || length >= sizeof r->parameter[0] || n >= 2) return false;
            memcpy(r->parameter[n], path, length);
            r->parameter[n++][length] = 0;
            path += length;
            form += strcspn(form, "}") + 1;
        } else if (*form++ != *path++) {
            return false;
        }
    }
    return !*path;
}

/* *known: the path is one, of another method. */
static const struct route *find(http_request *r, bool *known) {
    const char *method = strcmp(r->method, "HEAD") == 0 ? "GET" : r->method;
    *known = false;
    for (size_t k = 0; k < ROUTES; k++) {
        if (!fits(routes[k].path, r->path, r)) continue;
        if (strcmp(routes[k].method, method) == 0) return &routes[k];
        *known = true;
    }
    return NULL;
}

static void refuse_access(http_request *r, access_verdict v) {
    static const char *const challenge[] = {"WWW-Authenticate", "Bearer", NULL};
    static const char no_token[] =
        "{\"ok\":false,\"error\":{\"severity\":\"error\",\"code\":\"TOKEN\",\"message\":\"the token that the server "
        "printed is to be sent as `Authorization: Bearer TOKEN`\"}}\n";
    r->closing = true;
    if (v == ACCESS_HOST)
        answer_error(r, 403, "HOST", "this server is not called that");
    else if (v == ACCESS_ORIGIN)
        answer_error(r, 403, "ORIGIN", "pages of other servers may not ask this one");
    else
        http_answer(r, 401, "application/json", strdup(no_token), sizeof no_token - 1, challenge);
}

/* What a browser asks before a page of an allowed origin may ask. */
static void answer_preflight(http_request *r) {
    static const char *const headers[] = {"Access-Control-Allow-Methods",
                                          "GET, POST, PUT, DELETE",
                                          "Access-Control-Allow-Headers",
                                          "Authorization, Content-Type, Last-Event-ID",
                                          "Access-Control-Max-Age",
                                          "600",
                                          NULL};
    http_answer(r, 204, NULL, NULL, 0, headers);
}

bool routes_head(void *userdata, http_request *r) {
    server *s = userdata;
    bool known;
    const struct route *route = find(r, &known);
    const access_verdict v = access_check(s, r, route && route->access != OPEN);
    r->allow_origin = v == ACCESS_GRANTED || v == ACCESS_TOKEN ? access_foreign_origin(s, r) : NULL;
    if (v == ACCESS_GRANTED && r->allow_origin && strcmp(r->method, "OPTIONS") == 0)
        answer_preflight(r);
    else if (v != ACCESS_GRANTED)
        refuse_access(r, v);
    else if (!route && known)
        answer_error(r, 405, "METHOD", "this is not to be asked by that method");
    else if (!route)
        answer_error(r, 404, "NOT_FOUND", "there is nothing of that name");
    else if (route->access == WRITE && s->c.read_only)
        answer_error(r, 403, "READ_ONLY", "this server takes nothing and deletes nothing");
    else
        return r->route = route, true;
    return r->closing = true, false;
}

void routes_body(void *userdata, http_request *r) {
    const struct route *route = r->route;
    route->handler(userdata, r);
}

void routes_end(void *userdata, http_request *r) {
    server *s = userdata;
    const struct route *route = r->route;
    const double seconds = 1e-9 * (double)(uv_hrtime() - r->begun);
    const size_t number = route ? (size_t)(route - routes) : ROUTES;
    metrics_count(&s->metrics, number, route ? route->path : "other", r->code, seconds, r->answer_size);
    json *j = log_begin(&s->log, LOG_REQUEST, "request");
    if (!j) return;
    json_key(j, "method"), json_text(j, r->method);
    json_key(j, "path"), json_text(j, r->path);
    json_key(j, "code"), json_uint(j, r->code);
    json_key(j, "bytes"), json_uint(j, r->answer_size);
    json_key(j, "seconds"), json_f64(j, seconds);
    log_end(&s->log);
}

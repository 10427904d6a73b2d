/* serve_main.c: rvm serve: options, what is there before the loop, the loop. The nursery of workers is forked first, when
 * this process has neither a token nor a store nor a thread. */
#include "access.h"
#include "listen.h"
#include "startup.h"
#include "programs.h"
#include "routes.h"
#include "runs.h"
#include "sessions.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS = 8192, SILENCE_S = 30 };

typedef struct serving {
    server s;
    tool t;
    uv_signal_t interrupt, terminate;
    listening at;
} serving;

/* ---- options ---- */

static rvm_status read_config(tool *t, config *c) {
    const options *o = &t->o;
    *c = (config){.listen = o->listen ? o->listen : "127.0.0.1:8741",
                  .page = o->page,
                  .read_only = o->read_only,
                  .native = o->native,
                  .workers = option_given(o, workers) ? (unsigned)o->workers : (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
                  .sessions = option_given(o, sessions) ? (unsigned)o->sessions : 64,
                  .upload = o->upload ? o->upload : 4u << 20,
                  .limits = {.fuel = o->fuel ? o->fuel : 1000000000,
                             .memory = o->memory ? o->memory : 256u << 20,
                             .seconds = o->seconds > 0 ? o->seconds : 10},
                  .queue = o->queue ? (uint32_t)o->queue : 1024,
                  .keep_bytes = o->keep_bytes ? o->keep_bytes : 1u << 30,
                  .keep_days = o->keep_days ? (uint32_t)o->keep_days : 30,
                  .hosts = o->host,
                  .origins = o->allow_origin};
    if (c->workers < 1 || c->workers > 256) return tool_fail(t, RVM_ERR_USAGE, "--workers is from 1 to 256");
    if (c->sessions > 1024) return tool_fail(t, RVM_ERR_USAGE, "--sessions is at most 1024");
    if (c->upload > 1u << 27) return tool_fail(t, RVM_ERR_USAGE, "--upload is at most 128M");
    if (c->limits.memory > 1ull << 36) return tool_fail(t, RVM_ERR_USAGE, "--memory is at most 64G");
    return RVM_OK;
}

static rvm_status read_log(tool *t, server *s) {
    s->log.level = LOG_INFO;
    if (!t->o.log || log_level_find(t->o.log, &s->log.level)) return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE, "--log is off, error, info or request, not `%s`", t->o.log);
}

/* ---- what there is before requests ---- */

static rvm_status start_pool(serving *x, const char *module) {
    server *s = &x->s;
    const pool_options o = {.workers = s->c.workers,
                            .seats = s->c.sessions,
                            .queue = s->c.queue,
                            .setup = {.limits = s->c.limits, .native = s->c.native, .module = module},
                            .log = &s->log};
    s->pool = pool_new(&o);
    return s->pool ? RVM_OK : tool_fail(&x->t, RVM_ERR_IO, "no process for workers: %s", strerror(errno));
}

static rvm_status start_store(serving *x) {
    server *s = &x->s;
    char path[4096], why[300];
    const bool kept = x->t.o.store ? strcmp(x->t.o.store, "off") != 0 : !s->c.read_only;
    if (x->t.o.store && kept)
        snprintf(path, sizeof path, "%s", x->t.o.store);
    else if (kept && !store_default_path(path, sizeof path))
        return tool_fail(&x->t, RVM_ERR_IO, "%s: %s; --store FILE names another, --store off keeps nothing", path,
                         strerror(errno));
    const store_options o = {
        .path = kept ? path : ":memory:", .most_bytes = s->c.keep_bytes, .most_days = s->c.keep_days, .log = &s->log};
    s->store = store_open(&s->loop, &o, &s->next_run, why, sizeof why);
    return s->store ? RVM_OK : tool_fail(&x->t, RVM_ERR_IO, "%s: %s", o.path, why);
}

static rvm_status start_http(serving *x) {
    server *s = &x->s;
    char why[300];
    if (!listen_open(&x->at, s->c.listen, why, sizeof why))
        return tool_fail(&x->t, RVM_ERR_IO, "--listen %s: %s", s->c.listen, why);
    if (!access_token(s, x->t.o.token_file, why, sizeof why)) return tool_fail(&x->t, RVM_ERR_IO, "%s", why);
    access_hosts(s, x->at.address, x->at.port);
    const http_options o = {.fd = x->at.fd,
                            .most_body = s->c.upload,
                            .connections = CONNECTIONS,
                            .seconds = SILENCE_S,
                            .head = routes_head,
                            .body = routes_body,
                            .end = routes_end,
                            .userdata = s};
    s->http = http_start(&s->loop, &o);
    return s->http ? RVM_OK : tool_fail(&x->t, RVM_ERR_IO, "the HTTP library does not start");
}

static rvm_status start(serving *x) {
    server *s = &x->s;
    char module[4096];
    rvm_status st = read_log(&x->t, s);
    if (!st) st = read_config(&x->t, &s->c);
    if (!st) st = start_pool(x, library_folder(module, sizeof module));
    if (st) return st;
    setenv("UV_THREADPOOL_SIZE", "1", 0); /* for the store */
    uv_loop_init(&s->loop);
    st = start_store(x);
    if (!st) st = start_http(x);
    if (st) return st;
    s->events = events_new(&s->loop);
    s->programs = programs_new(s);
    s->runs = runs_new(s);
    s->sessions = sessions_new(s);
    const bool good = s->events && s->programs && s->runs && s->sessions && pool_start(s->pool, &s->loop);
    return good ? RVM_OK : tool_fail(&x->t, RVM_ERR_MEMORY, "out of memory");
}

/* ---- the loop ---- */

static void on_signal(uv_signal_t *h, int number) {
    serving *x = h->data;
    log_message(&x->s.log, LOG_INFO, "stop", number == SIGINT ? "interrupted" : "terminated");
    http_stop(x->s.http);
    uv_stop(&x->s.loop);
}

static void watch(serving *x, uv_signal_t *h, int number) {
    uv_signal_init(&x->s.loop, h);
    h->data = x;
    uv_signal_start(h, on_signal, number);
}

static void announce(serving *x) {
    if (x->at.port)
        printf("http://%s:%u/#token=%s\n", x->at.address, x->at.port, x->s.token);
    else
        printf("%s, token %s\n", x->s.c.listen, x->s.token);
    fflush(stdout);
    json *j = log_begin(&x->s.log, LOG_INFO, "start");
    if (!j) return;
    json_key(j, "version"), json_text(j, RVM_VERSION_STRING);
    json_key(j, "listen"), json_text(j, x->s.c.listen);
    json_key(j, "port"), json_uint(j, x->at.port);
    json_key(j, "workers"), json_uint(j, x->s.c.workers);
    json_key(j, "seconds"), json_f64(j, 1e-9 * (double)(uv_hrtime() - x->s.started));
    log_end(&x->s.log);
}

static rvm_status serve(serving *x) {
    rvm_status st = start(x);
    if (!st) {
        watch(x, &x->interrupt, SIGINT);
        watch(x, &x->terminate, SIGTERM);
        announce(x);
        for (int k = 0; !st && k < x->t.nwords; k++) st = load_file(&x->s, &x->t, x->t.words[k]);
        if (!st) uv_run(&x->s.loop, UV_RUN_DEFAULT);
    }
    if (x->s.store) store_close(x->s.store);
    if (x->s.pool) pool_stop(x->s.pool);
    listen_close(&x->at);
    return st;
}

int main(int argc, char **argv) {
    static serving x;
    int first;
    bool idle;
    x.s.started = uv_hrtime();
    x.at.fd = -1;
    signal(SIGPIPE, SIG_IGN);
    x.t.command = COMMAND_SERVE;
    rvm_status st = cli_parse(COMMAND_SERVE, argc, argv, &x.t.o, &first, &x.t.err);
    x.t.words = argv + first, x.t.nwords = argc - first;
    if (!st) st = x.t.o.help ? (cli_help(COMMAND_SERVE, stdout), RVM_OK) : serve(&x);
    const int status = tool_end(&x.t, st, &idle);
    fflush(stdout);
    _exit(status);
}

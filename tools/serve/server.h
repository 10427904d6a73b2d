/* server.h: what the parts of the server share. */
#ifndef RVM_SERVE_SERVER_H
#define RVM_SERVE_SERVER_H

#include "events.h"
#include "http.h"
#include "log.h"
#include "metrics.h"
#include "pool.h"
#include "store.h"

typedef struct config {
    const char *listen, *store_path;
    const char *page; /* a folder with the page's files; NULL: those of this program */
    bool read_only, native;
    unsigned workers, sessions;
    uint64_t upload; /* bytes of a request's body */
    work_limits limits;
    uint32_t queue;
    uint64_t keep_bytes;
    uint32_t keep_days;
    text_list hosts, origins; /* allowed besides those of the address */
} config;

typedef struct server {
    config c;
    uv_loop_t loop;
    log_to log;
    metrics metrics;
    http *http;
    pool *pool;
    store *store;
    events *events;
    struct programs *programs;
    struct runs *runs;
    struct sessions *sessions;
    char token[64], host[3][80]; /* host: what a request may call this server */
    uint64_t next_run;
    uint64_t started; /* ns */
} server;

#endif

#include "pages.h"
#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- health ---- */

typedef struct health {
    const server *s;
    pool_state pool;
    store_state store;
} health;

static void add_health(json *j, const void *of) {
    const health *h = of;
    json_key(j, "version"), json_text(j, RVM_VERSION_STRING);
    json_key(j, "seconds"), json_f64(j, 1e-9 * (double)(uv_hrtime() - h->s->started));
    json_key(j, "workers"), json_uint(j, h->pool.ready);
    json_key(j, "waiting"), json_uint(j, h->pool.waiting);
    json_key(j, "running"), json_uint(j, h->pool.running);
    json_key(j, "store"), json_text(j, h->store.full ? "full" : h->store.check);
    json_key(j, "read_only"), json_bool(j, h->s->c.read_only);
    json_key(j, "native"), json_bool(j, h->s->c.native);
}

static bool is_healthy(const health *h) {
    return h->pool.ready && !h->store.full && strcmp(h->store.check, "damaged") != 0;
}

void page_health(server *s, http_request *r) {
    health h = {.s = s};
    pool_tell(s->pool, &h.pool);
    store_tell(s->store, &h.store);
    if (is_healthy(&h))
        answer_members(r, 200, add_health, &h);
    else
        answer_error(r, 503, "UNHEALTHY", "workers: %u, store: %s%s%s", h.pool.ready, h.store.full ? "full" : h.store.check,
                     *h.pool.why ? ", " : "", h.pool.why);
}

/* ---- metrics ---- */

static double resident_bytes(pid_t pid) {
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *in = fopen(path, "r");
    if (!in) return 0;
    if (fscanf(in, "%*d %ld", &pages) != 1) pages = 0;
    fclose(in);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double seconds_of(const struct timeval *t) {
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

static void print_process(const server *s, const pool_state *p, FILE *out) {
    struct rusage u;
    double workers = 0;
    getrusage(RUSAGE_SELF, &u);
    for (unsigned k = 0; k < s->c.workers; k++) workers += p->pids[k] ? resident_bytes(p->pids[k]) : 0;
    metrics_value(out, "process_cpu_seconds_total", "counter", "Processor time of the server itself.",
                  seconds_of(&u.ru_utime) + seconds_of(&u.ru_stime));
    metrics_value(out, "process_resident_memory_bytes", "gauge", "Memory of the server itself.", resident_bytes(getpid()));
    metrics_value(out, "rvm_workers_resident_memory_bytes", "gauge", "Memory of all workers.", workers);
    metrics_value(out, "rvm_uptime_seconds", "gauge", "Since it started.", 1e-9 * (double)(uv_hrtime() - s->started));
}

static void print_pool(const pool_state *p, FILE *out) {
    metrics_value(out, "rvm_workers", "gauge", "Workers that are ready.", p->ready);
    metrics_value(out, "rvm_workers_long", "gauge", "Workers that hold a long job.", p->long_running);
    metrics_value(out, "rvm_worker_deaths_total", "counter", "Workers that ended.", p->deaths);
    metrics_value(out, "rvm_worker_kills_total", "counter", "Workers that were ended, for their time or a cancel.",
                  p->kills);
    metrics_value(out, "rvm_jobs_total", "counter", "Jobs given to workers.", (double)p->jobs);
    metrics_value(out, "rvm_jobs_waiting", "gauge", "Jobs that wait for a worker.", p->waiting);
    metrics_value(out, "rvm_jobs_running", "gauge", "Jobs that workers have.", p->running);
}

static void print_store(const store_state *t, FILE *out) {
    metrics_value(out, "rvm_store_bytes", "gauge", "Bytes of the store that are in use.", (double)t->bytes);
    metrics_value(out, "rvm_store_operations_total", "counter", "Operations of the store.", (double)t->operations);
    metrics_value(out, "rvm_store_transactions_total", "counter", "Transactions, of several operations each.",
                  (double)t->transactions);
    metrics_value(out, "rvm_store_failures_total", "counter", "Operations that failed.", (double)t->failures);
}

void page_metrics(server *s, http_request *r) {
    char *text = NULL;
    size_t size = 0;
    pool_state p;
    store_state t;
    FILE *out = open_memstream(&text, &size);
    if (!out) return answer_busy(r, "out of memory");
    pool_tell(s->pool, &p);
    store_tell(s->store, &t);
    metrics_print(&s->metrics, out);
    metrics_value(out, "rvm_http_connections", "gauge", "Connections that are open.", http_connections(s->http));
    metrics_value(out, "rvm_event_clients", "gauge", "Clients that listen to events.", events_clients(s->events));
    print_pool(&p, out);
    print_store(&t, out);
    print_process(s, &p, out);
    fclose(out);
    http_answer(r, 200, "text/plain; version=0.0.4", text, size, NULL);
}

void page_events(server *s, http_request *r) {
    if (!events_subscribe(s->events, r, http_query(r, "topics"), http_header(r, "Last-Event-ID")))
        answer_error(r, 400, "USAGE", "there is no such topic");
}

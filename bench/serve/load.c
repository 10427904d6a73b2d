/* load.c: serve_load RVM [clients [seconds [rate [same]]]]: a server of its own under load over the loopback, for at most 30
 * s.
 *
 * Each client uploads a small program, then asks for its gradient, again and again: closed loop, the next request when the
 * answer is there; or, with a rate, so many requests a second begin whatever becomes of the others, and a request's time
 * counts from when it should have begun. `same`: the same program each time; else each upload is another.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_CLIENTS = 4000, MOST_SECONDS = 30, MOST_SAMPLES = 4000000 };

typedef struct load {
    served s;
    client *clients;
    int n, epoll;
    bool same;
    double rate;
    float *took; /* seconds of each request */
    size_t count, errors;
    unsigned serial, last_code;
    int *free_clients, nfree; /* of the open loop */
} load;

static void next_request(load *l, client *c) {
    char body[1024];
    if (c->step++ % 2 == 0) {
        snprintf(body, sizeof body,
                 "fn norm(out: real, x: real[n])  # %u\n    compute\n        let ss: real\n        for i in 0..n\n          "
                 "  ss += x[i] ^ "
                 "2\n        end\n    do\n        out += sqrt(ss)\n    undo\nend\n",
                 l->same ? 0 : l->serial++);
        client_request(c, &l->s, "POST", "/api/v1/programs?name=norm.rasm", body);
    } else {
        snprintf(body, sizeof body,
                 "{\"program\":\"%s\",\"fn\":\"norm\",\"kind\":\"grad\",\"of\":\"out\",\"args\":{\"x\":[3,4]}}", c->program);
        client_request(c, &l->s, "POST", "/api/v1/runs", body);
    }
}

static void finish(load *l, client *c, int state) {
    const bool good = state > 0 && (c->code == 200 || c->code == 201);
    const char *id = good ? strstr(c->body, "\"id\":\"") : NULL;
    if (l->count < MOST_SAMPLES) l->took[l->count++] = (float)(now() - c->begun);
    if (id) snprintf(c->program, sizeof c->program, "%.32s", id + 6);
    if (!good) l->errors++, l->last_code = state > 0 ? c->code : 0;
    if (!good && c->step % 2 == 1) c->step = 0;
    c->begun = 0;
    if (state >= 0) return;
    close(c->fd);
    c->step = 0;
    if (!client_connect(c, l->s.port)) exit(1);
    epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = c});
}

static void begin(load *l, client *c) {
    next_request(l, c);
    const int state = client_go(c);
    if (state) finish(l, c, state);
}

static void step(load *l, double until) {
    struct epoll_event events[256];
    const double wait = until - now();
    const int n = epoll_wait(l->epoll, events, 256, wait <= 0 ? 0 : (int)(1e3 * wait) + 1);
    for (int k = 0; k < n; k++) {
        client *c = events[k].data.ptr;
        const int state = c->begun > 0 ? client_go(c) : 0;
        if (!state) continue;
        finish(l, c, state);
        if (l->rate > 0)
            l->free_clients[l->nfree++] = (int)(c - l->clients);
        else
            begin(l, c);
    }
}

static void run(load *l, double seconds) {
    const double start = now(), end = start + seconds;
    double due = start;
    for (int k = 0; k < l->n && l->rate <= 0; k++) begin(l, &l->clients[k]);
    for (l->nfree = 0; l->rate > 0 && l->nfree < l->n; l->nfree++) l->free_clients[l->nfree] = l->nfree;
    while (now() < end) {
        for (; l->rate > 0 && due <= now(); due += 1 / l->rate) {
            if (!l->nfree) break; /* all are busy: it begins late, and counts from when it was due */
            client *c = &l->clients[l->free_clients[--l->nfree]];
            next_request(l, c);
            c->begun = due;
            const int state = client_go(c);
            if (state) finish(l, c, state), l->free_clients[l->nfree++] = (int)(c - l->clients);
        }
        step(l, l->rate > 0 && l->nfree ? due : end);
    }
}

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double quantile(const load *l, double q) {
    return l->count ? 1e3 * (double)l->took[(size_t)(q * (double)(l->count - 1))] : 0;
}

static void report(load *l, const usage *a, const usage *b, double seconds) {
    const double n = l->count ? (double)l->count : 1;
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    qsort(l->took, l->count, sizeof *l->took, by_value);
    printf("%d clients, %s, %.1f s: %.0f requests/s, %zu errors", l->n, l->rate > 0 ? "open loop" : "closed loop", seconds,
           n / seconds, l->errors);
    if (l->errors) printf(" (the last: %u)", l->last_code);
    printf("\n  time of a request, ms: 50%% %.2f, 90%% %.2f, 99%% %.2f, all %.2f\n", quantile(l, 0.5), quantile(l, 0.9),
           quantile(l, 0.99), quantile(l, 1));
    printf("  processor time of a request, us: server %.1f, workers %.1f, these clients %.1f\n",
           1e6 * (b->server - a->server) / n, 1e6 * (b->workers - a->workers) / n,
           1e6 *
               ((double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
                1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec)) /
               n);
    printf("  memory, MB: server %.1f, then %.1f; %u workers, %.1f each, then %.1f\n", 1e-6 * (double)a->server_rss,
           1e-6 * (double)b->server_rss, a->nworkers, 1e-6 * (double)a->workers_pss / (a->nworkers ? a->nworkers : 1),
           1e-6 * (double)b->workers_pss / (b->nworkers ? b->nworkers : 1));
}

static bool prepare(load *l, const char *rvm) {
    l->clients = calloc((size_t)l->n, sizeof *l->clients);
    l->free_clients = calloc((size_t)l->n, sizeof *l->free_clients);
    l->took = malloc(MOST_SAMPLES * sizeof *l->took);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!l->clients || !l->took || !l->free_clients || !served_start(&l->s, rvm, NULL)) return false;
    printf("first answer after %.0f ms\n", 1e3 * l->s.seconds);
    for (int k = 0; k < l->n; k++) {
        if (!client_connect(&l->clients[k], l->s.port)) return false;
        epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->clients[k].fd,
                  &(struct epoll_event){.events = EPOLLIN, .data.ptr = &l->clients[k]});
    }
    return true;
}

int main(int argc, char **argv) {
    load l = {.n = argc > 2 ? atoi(argv[2]) : 1000, .rate = argc > 4 ? atof(argv[4]) : 0, .same = argc > 5};
    double seconds = argc > 3 ? atof(argv[3]) : 5;
    if (argc < 2 || l.n < 1 || l.n > MOST_CLIENTS) {
        fprintf(stderr, "usage: serve_load RVM [clients [seconds [rate [same]]]]; rate 0: closed loop\n");
        return 2;
    }
    if (!(seconds <= MOST_SECONDS)) seconds = MOST_SECONDS;
    const bool good = prepare(&l, argv[1]);
    const usage before = served_usage(&l.s);
    if (good) run(&l, seconds);
    const usage after = served_usage(&l.s);
    if (good) report(&l, &before, &after, seconds);
    served_stop(&l.s);
    return good && !l.errors ? 0 : 1;
}

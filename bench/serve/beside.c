/* beside.c: serve_beside RVM: how long /healthz and small runs take beside as many long runs as there are workers. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 2, REQUESTS = 300 };

static const char spin[] = "fn spin(k: i64, n: i64)\n    for i in 0..n\n        k += i\n    end\nend\n";

/* Seconds until the answer is there. */
static double take(client *c, const served *s, const char *method, const char *path, const char *body) {
    int state;
    client_request(c, s, method, path, body);
    do state = client_go(c);
    while (!state && now() < c->begun + 20 && !usleep(50));
    if (state <= 0 || c->code >= 400) printf("%s %s: %u\n", method, path, state > 0 ? c->code : 0), exit(1);
    return now() - c->begun;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *took) {
    qsort(took, REQUESTS, sizeof *took, by_value);
    printf("%s: 50%% %.2f ms, 99%% %.2f, all %.2f\n", what, 1e3 * took[REQUESTS / 2], 1e3 * took[REQUESTS * 99 / 100],
           1e3 * took[REQUESTS - 1]);
}

static void measure(client *c, const served *s, const char *small, const char *when) {
    static double health[REQUESTS], runs[REQUESTS];
    for (int k = 0; k < REQUESTS; k++) {
        health[k] = take(c, s, "GET", "/healthz", NULL);
        runs[k] = take(c, s, "POST", "/api/v1/runs", small);
    }
    printf("%s\n  ", when);
    report("/healthz", health);
    printf("  ");
    report("a small run", runs);
}

int main(int argc, char **argv) {
    static const char *const options[] = {"--workers", "2", "--fuel", "100G", "--seconds", "25", NULL};
    static client c;
    served s;
    char small[200], large[200];
    if (argc < 2 || !served_start(&s, argv[1], options) || !client_connect(&c, s.port)) return 1;
    take(&c, &s, "POST", "/api/v1/programs", spin);
    const char *id = strstr(c.body, "\"id\":\"") + 6;
    snprintf(small, sizeof small, "{\"program\":\"%.32s\",\"args\":{\"k\":0,\"n\":1000}}", id);
    snprintf(large, sizeof large, "{\"program\":\"%.32s\",\"args\":{\"k\":0,\"n\":20000000000}}", id);
    measure(&c, &s, small, "with nothing else:");
    for (int k = 0; k < WORKERS; k++) take(&c, &s, "POST", "/api/v1/runs", large); /* 202 after a second */
    measure(&c, &s, small, "beside 2 long runs, of 2 workers:");
    served_stop(&s);
    return 0;
}

/* beside.c: serve_beside RVM: how long /healthz and small runs take beside as many long runs as there are workers. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 2, REQUESTS = 300 };

static const char spin[] = "fn spin(k: i64, n: i64)\n    for i in 0..n\n        k += i\n    end\nend\n";

static void report(const char *what, double *took) {
    qsort(took, REQUESTS, sizeof *took, client_by_time);
    printf("%s: 50%% %.2f ms, 99%% %.2f, all %.2f\n", what, took[REQUESTS / 2], took[REQUESTS * 99 / 100],
           took[REQUESTS - 1]);
}

static void measure(client *c, const served *s, const char *small, const char *when) {
    static double health[REQUESTS], runs[REQUESTS];
    for (int k = 0; k < REQUESTS; k++) {
        health[k] = client_take(c, s, "GET", "/healthz", NULL);
        runs[k] = client_take(c, s, "POST", "/api/v1/runs", small);
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
    client_take(&c, &s, "POST", "/api/v1/programs", spin);
    const char *id = strstr(c.body, "\"id\":\"") + 6;
    snprintf(small, sizeof small, "{\"program\":\"%.32s\",\"args\":{\"k\":0,\"n\":1000}}", id);
    snprintf(large, sizeof large, "{\"program\":\"%.32s\",\"args\":{\"k\":0,\"n\":20000000000}}", id);
    measure(&c, &s, small, "with nothing else:");
    for (int k = 0; k < WORKERS; k++) client_take(&c, &s, "POST", "/api/v1/runs", large); /* 202 after a second */
    measure(&c, &s, small, "beside 2 long runs, of 2 workers:");
    served_stop(&s);
    return 0;
}

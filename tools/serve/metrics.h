/* metrics.h: counts of requests, for Prometheus. */
#ifndef RVM_SERVE_METRICS_H
#define RVM_SERVE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { METRICS_ROUTES = 48, METRICS_CLASSES = 6, METRICS_BUCKETS = 12 };

typedef struct metrics {
    const char *route[METRICS_ROUTES];
    uint64_t requests[METRICS_ROUTES][METRICS_CLASSES]; /* by the first digit of the answer's code */
    uint64_t bucket[METRICS_BUCKETS + 1];               /* answers by how long they took */
    double seconds;
    uint64_t answered, bytes;
} metrics;

void metrics_count(metrics *m, size_t route, const char *name, unsigned code, double seconds, size_t bytes);
void metrics_print(const metrics *m, FILE *out);
/* One that has no labels: its HELP, TYPE and value. */
void metrics_value(FILE *out, const char *name, const char *type, const char *help, double value);

#endif

#include "metrics.h"

static const double bounds[METRICS_BUCKETS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 10};

void metrics_count(metrics *m, size_t route, const char *name, unsigned code, double seconds, size_t bytes) {
    int k = 0;
    if (route >= METRICS_ROUTES || code / 100 >= METRICS_CLASSES) return;
    m->route[route] = name;
    m->requests[route][code / 100]++;
    while (k < METRICS_BUCKETS && seconds > bounds[k]) k++;
    m->bucket[k]++;
    m->seconds += seconds;
    m->answered++;
    m->bytes += bytes;
}

void metrics_value(FILE *out, const char *name, const char *type, const char *help, double value) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name, value);
}

void metrics_print(const metrics *m, FILE *out) {
    uint64_t sum = 0;
    fputs("# HELP rvm_http_requests_total Requests, by route and by the first digit of the answer's code.\n"
          "# TYPE rvm_http_requests_total counter\n",
          out);
    for (size_t route = 0; route < METRICS_ROUTES; route++)
        for (unsigned class = 0; class < METRICS_CLASSES; class ++)
            if (m->requests[route][class])
                fprintf(out, "rvm_http_requests_total{route=\"%s\",code=\"%uxx\"} %llu\n", m->route[route], class,
                        (unsigned long long)m->requests[route][class]);
    fputs("# HELP rvm_http_seconds From a request's head to the end of its answer.\n# TYPE rvm_http_seconds histogram\n",
          out);
    for (int k = 0; k < METRICS_BUCKETS; k++)
        fprintf(out, "rvm_http_seconds_bucket{le=\"%g\"} %llu\n", bounds[k], (unsigned long long)(sum += m->bucket[k]));
    fprintf(out, "rvm_http_seconds_bucket{le=\"+Inf\"} %llu\nrvm_http_seconds_sum %.9g\nrvm_http_seconds_count %llu\n",
            (unsigned long long)m->answered, m->seconds, (unsigned long long)m->answered);
    metrics_value(out, "rvm_http_answer_bytes_total", "counter", "Bytes of bodies of answers.", (double)m->bytes);
}

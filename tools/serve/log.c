#include "log.h"

#include <string.h>
#include <time.h>

static const char *const names[] = {"off", "error", "info", "request"};

bool log_level_find(const char *name, log_level *out) {
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0) return *out = (log_level)k, true;
    return false;
}

json *log_begin(log_to *l, log_level level, const char *event) {
    struct timespec now;
    struct tm utc;
    char text[64];
    if (level > l->level) return NULL;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    const size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + n, sizeof text - n, ".%03ldZ", now.tv_nsec / 1000000);
    l->j = (json){.out = stderr};
    json_open(&l->j, '{');
    json_key(&l->j, "time"), json_text(&l->j, text);
    json_key(&l->j, "level"), json_text(&l->j, names[level]);
    json_key(&l->j, "event"), json_text(&l->j, event);
    return &l->j;
}

void log_end(log_to *l) {
    json_close(&l->j, '}');
    fputc('\n', stderr);
    fflush(stderr);
}

void log_message(log_to *l, log_level level, const char *event, const char *message) {
    json *j = log_begin(l, level, event);
    if (!j) return;
    json_key(j, "message"), json_text(j, message);
    log_end(l);
}

/* log.h: what happens, a JSON object a line, to standard error. */
#ifndef RVM_SERVE_LOG_H
#define RVM_SERVE_LOG_H

#include "json.h"

typedef enum log_level { LOG_OFF, LOG_ERROR, LOG_INFO, LOG_REQUEST } log_level;
typedef struct log_to {
    log_level level;
    json j;
} log_to;

bool log_level_find(const char *name, log_level *out); /* off, error, info, request */
/* The open object of a line, with its time, level and event, to which members are added; NULL: it is not asked for. */
json *log_begin(log_to *l, log_level level, const char *event);
void log_end(log_to *l);
/* A line with a message. */
void log_message(log_to *l, log_level level, const char *event, const char *message);

#endif

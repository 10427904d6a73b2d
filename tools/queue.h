/* queue.h: scripts that drive a device, as rvm queue takes them. Lines of words; # begins a comment.
 *
 *     program FILE.rasm [FN]                  first; files are found beside the script
 *     host NAME = VALUE                       memory of the host: a parameter's value, or NAME_b, a gradient's
 *     load NAME [from HOST]                   NAME: a parameter, or NAME_b, its gradient; HOST: memory of the host, else of
 *     copy-out NAME [to HOST]                 that name; what has none yet is made by copy-out and store
 *     store NAME [to HOST]
 *     direction forward|backward
 *     gradient on|off
 *     run
 */
#ifndef RVM_TOOLS_QUEUE_H
#define RVM_TOOLS_QUEUE_H

#include "rvm_coprocessor.h"
#include "tool.h"

/* A command as it is written; words are the script's own. */
typedef struct queue_line {
    rvm_queue_kind kind;
    uint32_t line;
    bool on;
    const char *place, *host; /* host NULL: of the place's name */
} queue_line;

typedef struct queue_value {
    uint32_t line;
    char *word; /* NAME=VALUE */
} queue_value;

typedef struct queue_script {
    const char *name;                   /* for messages */
    char *text, *folder, *program, *fn; /* fn NULL: none is named */
    queue_value *values;
    size_t nvalues;
    queue_line *lines;
    size_t nlines;
} queue_script;

/* FORMAT naming file and line, IO, MEMORY. */
rvm_status queue_read(const char *path, queue_script *s, rvm_error *err);
void queue_script_free(queue_script *s);
/* An error about a line. */
rvm_status queue_fail(rvm_error *err, rvm_status code, const queue_script *s, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif

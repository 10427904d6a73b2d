/* common.h: what the example programs share: numbers from text files, JSON numbers, a clock, and opening a program. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "rvm.h"
#include "rvm_jit.h"

/* Reads numbers separated by white space. A function that fails returns false and leaves a message with file, line and the
 * offending text; `what` names the number in it. */
typedef struct reader {
    const char *path;
    char *text; /* the whole file, NUL-terminated */
    const char *at, *end;
    unsigned line;
    char message[512];
} reader;

bool reader_open(reader *r, const char *path);
bool reader_count(reader *r, const char *what, int64_t lo, int64_t hi, int64_t *out); /* lo <= *out <= hi */
bool reader_number(reader *r, const char *what, double *out);                         /* finite */
bool reader_numbers(reader *r, const char *what, double *out, int64_t count);
bool reader_holds(reader *r, double count); /* whether what is left can hold so many numbers: ask before allocating */
bool reader_end(reader *r);                 /* only white space is left */
void reader_close(reader *r);

/* calloc that takes counts from files: NULL when count * size overflows. */
void *new_array(int64_t count, size_t size);
double now(void); /* seconds, monotonic */
/* "name": value, 17 digits; infinities and NaN as strings. */
void print_json_number(FILE *out, const char *name, double value);
double square_sum(const double *x, int64_t n);

/* Index of a function; when there is none, says so on stderr and returns -1. */
int64_t find_function(const rvm_program *p, const char *path, const char *name);
/* Says on stderr what failed and where, if anything did; returns the exit status. */
int print_failure(rvm_status status, const rvm_error *e);

/* A command line: --help, --unchecked, --engine NAME, --program FILE, one input file, and perhaps one more option that takes
 * a file. */
typedef struct command_line {
    const char *input, *program, *extra;
    bool unchecked, interpreted;
} command_line;
/* extra_option may be NULL. Returns -1 to go on, else the exit status. */
int parse_command_line(int argc, char **argv, const char *usage, const char *extra_option, command_line *out);

/* A program, assembled or loaded, and a machine for it, with native code where there is any: why not goes to stderr, as
 * diagnostics do. */
typedef struct session {
    rvm_program *p;
    rvm_jit *j;
    rvm_machine *m;
} session;
int session_open(session *s, const command_line *c); /* the exit status, 0 when done */
void session_close(session *s);
/* "native" or "interpreted": what ran last. */
const char *session_engine(const session *s);

#endif

/* live.h: what a worker tells while it runs, in memory that it shares with the server, which trusts nothing in it: numbers
 * that are shown, and no more. */
#ifndef RVM_SERVE_LIVE_H
#define RVM_SERVE_LIVE_H

#include <stdint.h>

enum { LIVE_LINES = 96 };

typedef struct live_line {
    uint32_t file, line; /* file: by rvm_program_file */
    uint64_t count;
} live_line;

/* Fields are written one by one, a page for each worker. job: what runs, 0 nothing. */
typedef struct live {
    uint32_t job, nlines;
    uint64_t instructions;
    double share;                /* of the run that is done; -1: not known */
    live_line lines[LIVE_LINES]; /* of a run with a profile: the busiest, some moments ago */
} live;

enum { LIVE_PAGE = 4096 };
_Static_assert(sizeof(live) <= LIVE_PAGE, "a worker has a page");

#endif

/* live.h: what a worker tells while it runs, in memory that it shares with the server, which trusts nothing in it: numbers
 * that are shown, and no more. */
#ifndef RVM_SERVE_LIVE_H
#define RVM_SERVE_LIVE_H

#include "json.h"
#include "rvm_profile.h"

enum { LIVE_LINES = 96, LIVE_PATHS = 64 };

typedef struct live_line {
    uint32_t file, line; /* file: by rvm_program_file */
    uint64_t count;
} live_line;

typedef struct live_path {
    int32_t parent; /* of these paths, before it; -1: none */
    uint32_t fn;    /* of the program */
    uint64_t own[RVM_PROFILE_MODES];
} live_path;

/* Fields are written one by one, a place for each worker. job: what runs, 0 nothing. */
typedef struct live {
    uint32_t job, nlines, npaths;
    uint64_t instructions;
    double share; /* of the run that is done; -1: not known */
    /* Of a run with a profile, some moments ago: the busiest. Of paths, each stands behind its parent. */
    live_line lines[LIVE_LINES];
    live_path paths[LIVE_PATHS];
} live;

enum { LIVE_PAGE = 8192 };
_Static_assert(sizeof(live) <= LIVE_PAGE, "a worker has whole pages");

/* Of the worker: what the machine's profile counted so far. */
void live_count(live *to, rvm_machine *m);
/* Of the server: members of the open object: instructions, share, lines, paths. page: a copy. */
void live_write(json *j, const live *page);

#endif

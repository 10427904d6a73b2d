/* pool.h: workers, and the jobs that they are given.
 *
 * Small jobs go to the worker with the least to do, several at a time. A job that turns out to take long comes to hold its
 * worker; small ones are still done beside it, and other long ones wait for another worker. Where a worker dies, what it had
 * is given to others, one at a time: what kills two workers is not tried again.
 */
#ifndef RVM_SERVE_POOL_H
#define RVM_SERVE_POOL_H

#include "log.h"
#include "worker.h"

#include <uv.h>

typedef enum pool_end {
    POOL_DONE, /* parts: outcome, text, more */
    POOL_NEED, /* part 0: the id of a program that the request names */
    POOL_TIME, /* it was over its time, and did not stop: the worker is gone */
    POOL_DEAD  /* two workers died of it */
} pool_end;

typedef struct pool pool;
typedef struct pool_job {
    frame_kind kind;
    unsigned char *body; /* of frame_pack; freed with the job */
    uint32_t size;
    void (*done)(struct pool_job *j, pool_end end, const part parts[FRAME_PARTS]); /* then the job is the owner's again */
    void *owner;
    /* The pool's: */
    uint32_t id, sent;
    uint64_t begun;     /* when its worker had nothing before it, ms of the loop; 0: it waits */
    uint64_t cancel_at; /* when the worker is ended, if it has not stopped; 0: it is not cancelled */
    unsigned deaths, tries;
    bool is_long, killed;
    struct pool_worker *at;
    struct pool_job *next, *previous;
} pool_job;

typedef struct pool_options {
    unsigned workers, seats; /* seats: workers that may be had apart from these */
    uint32_t queue;          /* jobs that may wait */
    worker_setup setup;
    log_to *log;
} pool_options;

/* Forks the nursery: before there are threads. NULL with errno. */
pool *pool_new(const pool_options *o);
/* Workers are asked for, and what they say is heard from now on. */
bool pool_start(pool *p, uv_loop_t *loop);
void pool_stop(pool *p); /* workers end; jobs are not told */

/* False: the queue is full. */
bool pool_add(pool *p, pool_job *j);
/* Ends it soon, as CANCELLED, or not at all if it ends before. */
void pool_cancel(pool *p, pool_job *j);

/* ---- a worker of one's own ----
 * It has the jobs that it is given, one at a time, and nothing else; when it ends so do they, as DEAD or TIME, and it is
 * gone: the next job is DEAD, too. NULL: all seats are taken. */
typedef struct pool_worker pool_worker;
pool_worker *pool_open(pool *p);
void pool_give(pool_worker *w, pool_job *j);
void pool_close(pool_worker *w); /* which has no job now */

/* What is in progress: *page is what its worker tells. */
bool pool_live(const pool *p, const pool_job *j, live *page);
typedef struct pool_state {
    unsigned ready, deaths, kills;
    uint32_t waiting, running, long_running;
    uint64_t jobs;
    char why[128]; /* there are no workers */
    const pid_t *pids;
} pool_state;
void pool_tell(const pool *p, pool_state *out);

#endif

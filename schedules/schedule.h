/* schedule.h: what the makers of schedules share. Not installed.
 *
 * A maker expands tasks from a stack of its own, so that a chain of any length recurses in memory and not on the C stack;
 * states get the row that became free last.
 */
#ifndef RVM__SCHEDULE_H
#define RVM__SCHEDULE_H

#include "rvm_schedule.h"
#include "support.h"

#define RVM__NO_ROW   UINT32_MAX
#define RVM__NO_STATE UINT32_MAX

struct rvm_schedule {
    rvm_schedule_options o;
    const rvm_allocator *al;
    rvm_move *moves;
    uint32_t n, cap;
    rvm_schedule_counts counts;
};

/* From state lo over len steps. budget, sweeps, back: as the maker's expand has them. */
typedef struct rvm__task {
    uint32_t lo, len, budget, sweeps;
    bool back;    /* reversible: takes state lo + len away */
    bool discard; /* gradient: only frees the snapshot of state lo */
} rvm__task;

typedef struct rvm__maker {
    rvm_schedule *s;
    rvm_error *err;
    uint32_t states;  /* how many there are, the first included */
    uint32_t *row_of; /* of each state, or RVM__NO_ROW */
    uint32_t *free_rows;
    uint32_t nfree, free_cap, rows;
    uint32_t marched; /* the state in the working row, or RVM__NO_STATE */
    rvm__task *tasks;
    uint32_t ntasks, task_cap;
    uint64_t of; /* moves there will be, or 0 */
} rvm__maker;

typedef rvm_status rvm__expand(rvm__maker *m, const void *how, rvm__task t);

/* ---- schedule.c ---- */
/* An empty one, in *out. */
rvm_status rvm__schedule_begin(const rvm_schedule_options *options, rvm_schedule **out, rvm_error *err);

/* ---- maker.c ---- */
rvm_status rvm__maker_begin(rvm__maker *m, rvm_schedule *s, uint32_t states, uint64_t of, rvm_error *err);
void rvm__maker_end(rvm__maker *m);
/* The task that is pushed last is expanded first. */
rvm_status rvm__push_task(rvm__maker *m, rvm__task t);
rvm_status rvm__expand_tasks(rvm__maker *m, rvm__expand *expand, const void *how);
/* A move that makes, takes, copies or frees state i, in the row that it has or gets. The working row is RVM__NO_ROW. */
rvm_status rvm__add_move(rvm__maker *m, rvm_move_kind kind, uint32_t i);
rvm_status rvm__append_move(rvm_schedule *s, rvm_move move, uint64_t of, rvm_error *err);
/* The callback's word, every 2^16 calls. */
rvm_status rvm__tell_moves(const rvm_schedule_options *o, uint64_t done, uint64_t of, rvm_error *err);
/* Row a is called b, and b a. */
void rvm__swap_rows(rvm_schedule *s, uint32_t a, uint32_t b);

/* ---- bennett.c ---- */
rvm_status rvm__bennett_make(rvm__maker *m, uint32_t steps, uint32_t k);
/* Evaluations, and states at a time with the first. */
void rvm__bennett_cost(uint32_t steps, uint32_t k, uint64_t *evaluations, uint64_t *states);

/* ---- pebble.c ---- */
typedef struct rvm__pebble_table rvm__pebble_table;
rvm_status rvm__pebble_table_new(const rvm_allocator *al, uint32_t steps, uint32_t s, rvm__pebble_table **out,
                                 rvm_error *err);
void rvm__pebble_table_free(rvm__pebble_table *t);
uint64_t rvm__pebble_cost(const rvm__pebble_table *t, uint32_t steps, uint32_t s);  /* F */
uint32_t rvm__pebble_split(const rvm__pebble_table *t, uint32_t steps, uint32_t s); /* an m that is best, of steps > 1 */
rvm_status rvm__pebble_make(rvm__maker *m, const rvm__pebble_table *t, uint32_t steps, uint32_t s);

/* ---- reverse.c ---- */
uint64_t rvm__revolve_cost(uint64_t steps, uint64_t s);
rvm_status rvm__treeverse_cost(uint32_t steps, uint32_t s, uint64_t *advances, rvm_error *err);
rvm_status rvm__revolve_make(rvm__maker *m, uint32_t steps, uint32_t s);
rvm_status rvm__treeverse_make(rvm__maker *m, uint32_t steps, uint32_t s);
rvm__expand rvm__revolve_expand;

/* ---- online.c ---- */
rvm_status rvm__online_make(rvm__maker *m, uint32_t steps, uint32_t s);
rvm_status rvm__online_cost(uint32_t steps, uint32_t s, uint64_t *advances, rvm_error *err);

#endif

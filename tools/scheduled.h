/* scheduled.h: schedules as commands take them: kinds by name, ranges of budgets, lists as arrays. */
#ifndef RVM_TOOLS_SCHEDULED_H
#define RVM_TOOLS_SCHEDULED_H

#include "rvm_schedule.h"
#include "tool.h"

/* A kind and its budget. */
typedef struct scheduled {
    rvm_schedule_kind kind;
    uint64_t budget;
} scheduled;

/* The kind whose name the first `length` characters are. USAGE, naming the nearest. */
rvm_status scheduled_kind(tool *t, const char *name, size_t length, rvm_schedule_kind *kind);
/* KIND:NUMBER. USAGE. */
rvm_status scheduled_read(tool *t, const char *text, size_t length, scheduled *out);
/* --budget LOW..HIGH for a kind and -n steps, from the least that works on. USAGE; ARGUMENT: HIGH is less than that. */
rvm_status scheduled_range(tool *t, rvm_schedule_kind kind, uint64_t *low, uint64_t *high);
/* The next budget of a sweep: about four in a doubling. */
static inline uint64_t scheduled_next(uint64_t budget) {
    return budget + budget / 5 + 1;
}

/* Moves as a player of std/schedule.rasm takes them, a row of integers each, in the order of the members; memory for
 * MOVE_COLUMNS of each is the caller's. */
enum { MOVE_COLUMNS = 4 };
void scheduled_cells(const rvm_move *moves, uint64_t n, int64_t *cells);

/* The moves of --list FILE.npy, free(): an array of integers, a row of MOVE_COLUMNS for each, judged as a schedule of so
 * many steps; *gradient: whether that is its goal, as it is where it sweeps. What the file has is wrong: CHECK, naming the
 * move; IO, FORMAT, SHAPE, MEMORY. */
rvm_status scheduled_list(tool *t, uint64_t steps, rvm_move **moves, uint64_t *n, rvm_schedule_counts *counts,
                          bool *gradient);

/* Of rvm_schedule_options: a line on the terminal, and whether it was interrupted; userdata is a progress. */
bool scheduled_progress(void *userdata, uint64_t done, uint64_t of);

#endif

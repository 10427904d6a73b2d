/* chunks.h: the cells of stacks of the trail, in chunks.
 *
 * When a chunk is empty it is kept for the next push. One that was kept before it, and those of a trail that is cleared,
 * stay for stacks to come, RVM_TRAIL_LEFT bytes at most, until the machine is freed; none under a limit. With the option
 * checkpoint_dir, chunks for which the limit leaves no room wait in files, the lowest first (spill.c). */
#ifndef RVM_TRAIL_CHUNKS_H
#define RVM_TRAIL_CHUNKS_H

#include "trail.h"

/* Room for a cell on a full stack: MEMORY, LIMIT, IO. */
rvm_status rvm__cells_room(rvm_machine *m, rvm__trail_stack *t);
rvm_status rvm__cells_put(rvm_machine *m, rvm__trail_stack *t, rvm_value v);
/* The uppermost one goes; so many of the top chunk. */
void rvm__cells_drop(rvm_machine *m, rvm__trail_stack *t, uint32_t n);
/* An empty stack gets these, in one chunk. */
bool rvm__cells_fill(rvm_machine *m, rvm__trail_stack *t, const rvm_value *cells, uint64_t n);
void rvm__cells_clear(rvm_machine *m, rvm__trail_stack *t);
/* What chunks have left behind is freed. */
void rvm__cells_end(rvm_machine *m);
uint64_t rvm__cells_below(const rvm__trail_chunk *c); /* in the chunks beneath */

/* Words of links, which the limit bounds, too: whether there may be n more; there are. */
bool rvm__words_granted(rvm_machine *m, size_t n);
void rvm__words_count(rvm_machine *m, int64_t by);

#endif

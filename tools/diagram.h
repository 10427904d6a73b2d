/* diagram.h: the picture of a schedule: time to the right, states upward; a bar for as long as a row holds a state. */
#ifndef RVM_TOOLS_DIAGRAM_H
#define RVM_TOOLS_DIAGRAM_H

#include "rvm_schedule.h"

#include <stdio.h>

enum { DIAGRAM_MOVES = 200000 }; /* more than that are not told apart */

/* steps: of a chain; g: NULL, or the graph that it is of. MEMORY: false. */
bool diagram_draw(FILE *out, const char *title, const rvm_move *moves, uint64_t n, const rvm_schedule_counts *c,
                  uint32_t steps, const rvm_schedule_graph *g);

#endif

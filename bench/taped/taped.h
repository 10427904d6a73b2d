/* taped.h: the tasks by ADOL-C, operator overloading on a tape. A tape is recorded when a task is opened, and evaluated at
 * each run: that is its way for functions that are asked again and again. One task is open at a time. */
#ifndef BENCH_TAPED_H
#define BENCH_TAPED_H

#include <stdbool.h>

#include "peers.h"

#ifdef __cplusplus
extern "C" {
#endif

bool adolc_present(void);                     /* whether this build has ADOL-C; if not, the rest does nothing */
void *adolc_open(enum peer task, void *data); /* NULL: out of memory */
bool adolc_run(void *state);                  /* false: the tape took another branch than this point does */
void adolc_close(void *state);                /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif

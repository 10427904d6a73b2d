/* reach.h: what functions reach through calls. Not installed. */
#ifndef RVM_REACH_H
#define RVM_REACH_H

#include "rvm_program.h"

/* What a function and all that it calls do with trails and the stack, and have. Without padding: compared as bytes. */
typedef struct rvm__reach {
    bool ready;    /* all of them have code */
    bool trail;    /* something goes onto a trail, or comes from it */
    bool stack;    /* push, pop and the like */
    bool blocks;   /* there is a parallel block */
    bool marked;   /* something takes back in exact runs, or is arithmetic of shadows (RVM_FLAG_SWEPT) */
    bool outlined; /* loops that run again from snapshots (derive/checkpoint.h) */
    uint8_t order; /* transforms applied so far, as the trails show: the next one has this level; at least 1 */
} rvm__reach;

/* Of all functions of p, verified or not; a call through a function value is one of whatever it may be by its type. False:
 * out of memory. */
bool rvm__reach_find(const rvm_program *p, rvm__reach *reach);

#endif

/* hotness.h: inside rvm_jit. What the interpreter runs often in one machine, and when code is asked for it. */
#ifndef RVM_JIT_HOTNESS_H
#define RVM_JIT_HOTNESS_H

#include "native.h"

typedef struct rvm__hotness { /* of a function */
    uint64_t ran;             /* instructions interpreted in it and in what it calls */
    uint64_t round;           /* of counting, the last that it was met in */
    uint32_t polls;           /* for a loop to enter, since it is that hot */
    uint32_t returns;         /* of what it called, that were to be looked at for that */
    uint32_t asked;           /* times, the cache, for code that is entered so */
    uint32_t entries;         /* times that another piece of such code was entered than before */
    bool passed_by;           /* it has no loop, or is refused there */
} rvm__hotness;

typedef struct rvm__profiled {
    uint64_t hot;            /* instructions that make a function worth compiling */
    bool tiers;              /* the bound call begins in the interpreter */
    uint64_t round;          /* of counting */
    rvm__hotness *functions; /* by function; they and `ask` are the caller's */
    uint8_t *ask;            /* by function: rvm__engine.hot */
} rvm__profiled;

extern const uint64_t rvm__usual_hot;

/* So many instructions were interpreted in the frames of m: whether some function in them waits for a loop to turn. */
bool rvm__hotness_ran(rvm__profiled *w, rvm_machine *m, uint64_t instructions);
/* Code may have come: what waited for a loop to turn waits once more, for the same one. */
void rvm__hotness_again(rvm__profiled *w, const rvm_machine *m);
/* Whether to ask for code of the innermost frame's function, which stands there; known: there was some when it was asked
 * last. *compiles: it is worth compiling; else only the cache is asked. */
bool rvm__hotness_asks(rvm__profiled *w, const rvm_machine *m, const rvm__native_place *at, bool known, bool *compiles);

#endif

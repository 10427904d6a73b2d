/* native.h: between the machine and native code of its program (jit/). The machine knows no LLVM.
 *
 * Native code runs a bound call from one end to the other, in primal mode, with registers where it likes. Before an
 * instruction that it cannot carry out, because a check fails or because it was not lowered, it leaves: it writes its frames
 * into the machine, the innermost first, as the interpreter would have them there, and the interpreter goes on with that
 * very instruction. So the interpreter alone decides what fails and says how, and the run can go on from there either way.
 */
#ifndef RVM_NATIVE_H
#define RVM_NATIVE_H

#include "machine.h"

/* What goes along with native code. Counts are in instructions. */
typedef struct rvm__native {
    int64_t charged, limit; /* since it was entered; the next look around comes when charged > limit */
    uint64_t calls;
    uint64_t peak;     /* of frames */
    uint64_t erased;   /* bits of what a discarding trail did not keep */
    rvm_status status; /* of a look around that ended the run */
} rvm__native;

/* The bound call's function, entered in m->dir, its arguments in frame 0 of the machine; scalars are written back there.
 * Not 0: it was left, and its frames stand in the machine. */
typedef int32_t (*rvm__native_entry)(rvm_machine *m, rvm__native *n);

/* Small local arrays need not stand in memory. When native code is left, the function that made one writes its elements into
 * memory of the machine's, and what is part of it, there or in callees, has in place of an address where it begins, and in
 * `shadow` its home: the number of the frame and of the array there, so that it is found again. */
#define RVM__HOME(frame, array) ((uint64_t)(frame) << 17 | (uint64_t)(array) << 1 | 1)
#define RVM__HOME_FRAME(home)   ((home) >> 17)
#define RVM__HOME_ARRAY(home)   ((home) >> 1 & 0xffff)

/* A place where native code leaves a function. */
typedef struct rvm__native_site {
    uint32_t fn, pc;
    int8_t dir;
    uint8_t deeper;    /* compute parts around that no trail knows of yet */
    uint8_t calling;   /* in a call at pc, whose callee has been written */
    uint8_t against;   /* the callee runs against this function's direction */
    uint32_t segments; /* around, the innermost of them, that no trail knows of yet */
} rvm__native_site;

/* What must be there before it may be entered: slots and arrays of its frames and those of all it calls but for recursion,
 * which makes room as it goes, and their depth. */
typedef struct rvm__native_need {
    uint64_t slots, arrays, depth;
    uint64_t bytes; /* of local arrays that it keeps out of the arena, at most */
} rvm__native_need;

/* An engine that may run the bound call in place of the interpreter. */
typedef struct rvm__engine rvm__engine;
struct rvm__engine {
    /* The code for the call that m is bound to, standing at an end of it; NULL: the interpreter is to run it. */
    rvm__native_entry (*entry)(rvm__engine *e, rvm_machine *m, rvm__native_need *need);
    /* The machine that has it as m->engine is freed, or has no use for it any more: sets that to NULL. */
    void (*released)(rvm__engine *e);
};
/* Runs the bound call natively, if there is code for it: *ran tells. The status is that of a run. */
rvm_status rvm__native_run(rvm_machine *m, bool *ran);

/* What native code calls, by name; the module binds these. */
typedef struct rvm__native_symbol {
    const char *name;
    void *address;
} rvm__native_symbol;
extern const rvm__native_symbol rvm__native_symbols[];
extern const size_t rvm__native_nsymbols;

#endif

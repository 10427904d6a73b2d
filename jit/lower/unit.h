/* unit.h: inside jit/. What is lowered to a module: the functions that are declared, and what is known of all. Their code is
 * emit.h. */
#ifndef RVM_JIT_UNIT_H
#define RVM_JIT_UNIT_H

#include "first_block.h"
#include "liveness.h"
#include "outside.h"
#include "lower.h"
#include "native.h"
#include "numbering.h"
#include "program.h"
#include "support.h"
#include "reach.h"
#include "shaped.h"

/* Of a parameter; the last bit is that of all further ones together: what conflicts needlessly is added to lane by lane, and
 * what is asked for needlessly is no array of the block's. */
static inline uint64_t rvm__param_bit(uint32_t k) {
    return UINT64_C(1) << (k < 63 ? k : 63);
}

/* A function in a direction, or, for threads, a parallel block of it; `apart`: its arrays that are added into are known not
 * to overlap; `discards`: levels of the trail that discard where it is entered, of those that it matters for. */
typedef struct rvm__specialisation {
    struct rvm__specialisation *next;  /* of the function */
    struct rvm__specialisation *later; /* to be emitted */
    uint32_t fn;
    int dir;
    bool restoring; /* in a run that restores every bit: updates are taken back where it goes on as it was entered, */
    bool inside;    /* and it is called from a compute part */
    bool apart;
    bool whole;         /* nothing is left out as dead: a chunk that may be taken back, or called by one */
    bool vectorised;    /* called by an instance of a block: it bails out at side exits (instance.c) */
    bool nested;        /* by one whose blocks within are others' to run (nested.c) */
    uint64_t conflicts; /* of a vectorised one, by parameter: see rvm__block_ir.conflicts */
    uint64_t guarded;   /* parameters, by bit, of whose elements guard.c asks */
    uint16_t discards;
    uint32_t block;               /* 0, or the end by which the block is entered */
    uint32_t at;                  /* 0, or the instruction at which it is entered (osr.c) */
    bool fresh;                   /* it is what was asked for, or a block of that: see rvm__unit.fresh */
    LLVMValueRef function, entry; /* entry: of a block, what threads call */
    LLVMTypeRef type;
} rvm__specialisation;

typedef struct rvm__summary { /* of a function of the program */
    bool recursive;
    rvm__native_need need;
    uint64_t size;    /* instructions, those of callees included, as far as counted */
    uint64_t work;    /* the same, but each counts for as often as it may run, as far as loops tell */
    uint64_t load;    /* the same closer to the time it takes (rvm__load_between) */
    uint64_t most;    /* instructions of a call, or RVM__UNBOUNDED */
    uint64_t unseen;  /* the same in lanes, without what polls where it turns */
    bool by_value;    /* it, or what it calls, calls through function values */
    bool records;     /* it, or what it calls, updates reals, of which runs that restore every bit keep what is lost */
    bool sums;        /* it, or what it calls, has blocks that add into elements chunk by chunk */
    bool blocks;      /* it, or what it calls, has parallel blocks */
    bool functions;   /* it, or what it calls, takes elementary functions */
    uint16_t levels;  /* of the trail that something goes onto, or comes from */
    uint16_t asks;    /* of these, where one does not discard it must be known at run time how deep it is; */
    bool always_asks; /* so it must at some depth whatever discards */
    bool exits;       /* it has side exits, as far as it has been emitted */
    bool silent;      /* nothing is, nor in what it calls */
} rvm__summary;
enum { RVM__UNBOUNDED = 1 << 30 };
/* Instructions that go by without a poll: of a strip of a loop, and of one trip or call within it. */
enum { RVM__STRIP = 1 << 20, RVM__MOST_UNSEEN = 1 << 14 };

enum rvm__end_reason { RVM__END_CHECK, RVM__END_MEMORY, RVM__END_DEPTH, RVM__END_STACK, RVM__END_LENGTH };
typedef struct rvm__end { /* where a standalone function may end early, and why */
    uint32_t fn, pc;
    enum rvm__end_reason reason;
} rvm__end;

typedef struct rvm__fresh_array {
    rvm__first_block block;        /* par 0: it does not */
    bool streams;                  /* past the caches */
    uint64_t length[RVM_MAX_DIMS]; /* of dimensions in which an instance's elements differ; of others 0, or known */
} rvm__fresh_array;

typedef struct rvm__unit {
    rvm__build *k;
    const rvm__lowering *w;
    const rvm_program *p;
    rvm_machine *m;     /* for prepared code: nothing runs on it */
    rvm__shaped shaped; /* p is its program, if there is one: functions for the lengths that are known */
    rvm__summary *summaries;
    rvm__reach *reach;                     /* by function, as summaries are */
    rvm__specialisation **specialisations; /* by function */
    rvm__specialisation *work;             /* to be emitted */
    struct rvm__instance *instances;       /* likewise */
    rvm__end *ends;
    uint32_t nends, cap_ends;
    rvm__liveness *liveness;    /* NULL: nothing is left out for it */
    uint64_t dead_found;        /* instructions left out */
    rvm__outside *outside;      /* for a device; NULL: there is none */
    struct rvm__turned *turned; /* loop_reversal.c */
    struct rvm__lines *lines;   /* NULL: none are asked for */
    rvm__numbering *numbering;  /* of the stretch that is walked */
    rvm__fresh_array *fresh;    /* by array of the function that is asked for: what it writes itself (fresh.c) */
    rvm__zone memory;           /* all of the unit */
    bool recursive;             /* some function that is reached */
    bool releases_shadows;      /* in exact runs, within a tolerance (recorded.c) */
    rvm_error *err;
    rvm_status status;
} rvm__unit;

/* ---- unit.c ---- */
rvm_status rvm__out_of_memory(rvm__unit *u); /* notes it */
/* Memory until the unit is done; NULL noted. */
void *rvm__unit_alloc(rvm__unit *u, size_t size);
/* A function of vm/native/native.c by name, of that type; declared once. */
LLVMValueRef rvm__runtime(rvm__unit *u, const char *name, LLVMTypeRef result, unsigned n, const LLVMTypeRef *params);
/* An attribute of a function of IR, or of its parameter `param` (-1: the function). */
void rvm__attribute(rvm__build *k, LLVMValueRef f, int param, const char *name, uint64_t value);
/* The address of what a function needs, a constant. */
LLVMValueRef rvm__need_constant(rvm__unit *u, uint32_t fn);

/* ---- specialisations.c ---- */
/* Made where it is not there: then without a function. NULL: noted. */
rvm__specialisation *rvm__find_specialisation(rvm__unit *u, rvm__specialisation v);
/* Of a function that must be there; it will be emitted. */
const rvm__specialisation *rvm__declare_specialisation(rvm__unit *u, const rvm__specialisation *like);
const rvm__specialisation *rvm__version_of(rvm__unit *u, uint32_t fn, int dir, bool apart, uint16_t discards);
bool rvm__is_inlined(const rvm__unit *u, uint32_t fn);

#endif

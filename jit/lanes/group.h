/* group.h: inside jit/. What lanes.c and its parts know of an instance that becomes a group.
 *
 * A value of the instance is *uniform*, the same in all lanes and computed once, or *varying*, a vector of all. One that
 * grows by a constant from lane to lane, as the index does, is *linear*: kept as its value in the first lane and the
 * stride, too. Memory is *shared* or *private*: of private memory each lane has its own, interleaved by elements of eight
 * bytes, so that with L lanes byte 8 e of lane l stands at 8 (L e + l); an address of it is that of its first lane.
 *
 * Control keeps its form where it is uniform. Where a branch diverges, both sides are run one after the other, each under a
 * mask, and skipped if no lane takes it; a loop goes on until no lane does.
 */
#ifndef RVM_JIT_GROUP_H
#define RVM_JIT_GROUP_H

#include "lanes.h"

#include <llvm-c/Target.h>

enum rvm__memory { RVM__NOWHERE, RVM__SHARED, RVM__PRIVATE_MEMORY, RVM__MIXED };

typedef struct rvm__item { /* a value of the instance: a parameter or an instruction */
    LLVMValueRef v;
    bool varying;
    uint8_t memory;         /* of a pointer: rvm__memory */
    LLVMValueRef one;       /* in the group, if it is uniform; of a linear one in its first lane */
    LLVMValueRef stride;    /* of a linear one: an i64, bytes where it is a pointer; else NULL */
    LLVMValueRef many, phi; /* its vector, if it is varying; an alloca for a phi */
} rvm__item;

enum { RVM__NO_NODE = UINT32_MAX, RVM__NO_LOOP = UINT32_MAX };
typedef struct rvm__node { /* a block of the instance */
    LLVMBasicBlockRef b;
    uint32_t nsucc, succ[2]; /* as they stand */
    uint32_t nout, out[2]; /* forward edges: a back edge goes to its loop's exit instead, edges out of a loop are left out */
    uint32_t loop, dominator; /* innermost; the nearest one */
    uint32_t order, join;     /* postorder number; immediate post-dominator */
    uint8_t bails_out;        /* 1: where its condition holds, 2: where it does not; 0: never, by an edge that it has */
    bool changed;             /* shared memory may have been, on some path to its end */
    bool guarded;             /* not all lanes that are in its loop, or in the function, need be here */
    uint32_t nin;             /* forward edges to here */
} rvm__node;

typedef struct rvm__loop {
    uint32_t header, latch, exit, parent;
    bool divergent;                /* lanes leave it at different trips */
    LLVMBasicBlockRef head, after; /* in the group */
    LLVMValueRef active, around;   /* alloca of the mask of those in it; the mask around it */
} rvm__loop;

typedef struct rvm__waiting { /* an addition that waits for the end of its block */
    LLVMValueRef call, v;
    bool taken; /* it is done, or goes with others */
} rvm__waiting;
enum { RVM__MOST_WAITING = 64 };

typedef struct rvm__group {
    rvm__build *k;
    LLVMTargetDataRef layout;
    bool vector_math;
    unsigned lanes; /* of the group */
    unsigned width; /* doubles in a register of the host */
    LLVMValueRef from, to;
    rvm__item *items; /* by a hash of v */
    uint32_t cap_items;
    rvm__node *nodes;
    rvm__loop *loops;
    uint32_t *order; /* nodes in postorder */
    uint32_t n, nloops, emitted;
    LLVMBasicBlockRef entry, bailed_out, adrift;
    bool logs;                       /* what is changed of shared memory can be taken back */
    LLVMValueRef limit, many, ticks; /* safepoints.c: allocas, or NULL */
    uint32_t entered;                /* 1 + the loop that is emitted twice; 0: none */
    bool turns_long;                 /* the loop that is emitted has looks */
    LLVMValueRef log_n, log_at, log_old, log_mask, mark;
    int ordered;       /* elements gain in the order of instances: 1 from the first lane on, -1 from the last; 0: in any */
    bool traces;       /* this is the function of order.c */
    LLVMValueRef seen; /* alloca of an rvm__native_seen (vm/native/native.h) */
    rvm__waiting waiting[RVM__MOST_WAITING];
    unsigned nwaiting;
    const char *why; /* NULL, or what cannot be */
} rvm__group;
enum { RVM__LOG = 128 }; /* stores that may be taken back */

static inline bool rvm__no_group(rvm__group *g, const char *why) {
    if (!g->why) g->why = why;
    return false;
}

/* NULL: a constant. */
rvm__item *rvm__item_of(const rvm__group *g, LLVMValueRef v);
uint32_t rvm__node_of(const rvm__group *g, LLVMBasicBlockRef b);
bool rvm__is_varying(const rvm__group *g, LLVMValueRef v);
uint8_t rvm__memory_of(const rvm__group *g, LLVMValueRef v);
const char *rvm__callee_name(LLVMValueRef call);

/* bounds.c: what an integer that is not negative is at most, and how many trips a loop has; RVM__NO_BOUND: not known. */
#define RVM__NO_BOUND UINT64_MAX
uint64_t rvm__most_value(const rvm__group *g, LLVMValueRef v);
uint64_t rvm__most_trips(const rvm__group *g, uint32_t loop);

/* graph.c: nodes, loops, order. False: why. */
bool rvm__graph_find(rvm__group *g);
bool rvm__is_in_loop(const rvm__group *g, uint32_t node, uint32_t loop);
/* simplify.c: a block that bails out, whoever comes there. */
bool rvm__is_dead_end(LLVMBasicBlockRef b);
/* uniform.c: what is varying, divergent; and whether every instruction is one that lanes.c knows. False: why. */
bool rvm__uniform_find(rvm__group *g);

/* lanes.c */
bool rvm__changes_shared(const rvm__group *g, LLVMValueRef v); /* memory */
LLVMValueRef rvm__one(rvm__group *g, LLVMValueRef v);          /* of a uniform value */
LLVMValueRef rvm__many(rvm__group *g, LLVMValueRef v);         /* of any */
LLVMValueRef rvm__splat(rvm__group *g, LLVMValueRef scalar);
LLVMTypeRef rvm__vector_of(const rvm__group *g, LLVMTypeRef scalar);
LLVMValueRef rvm__vector_intrinsic(rvm__group *g, const char *name, unsigned ntypes, LLVMTypeRef *types, unsigned n,
                                   LLVMValueRef *args);
LLVMValueRef rvm__any(rvm__group *g, LLVMValueRef mask);
LLVMBasicBlockRef rvm__group_block(rvm__group *g, const char *name);
LLVMValueRef rvm__group_local(rvm__group *g, LLVMTypeRef t); /* an alloca */
void rvm__bail_group_out(rvm__group *g, LLVMValueRef cond);
/* If the condition holds, or if it does not, in an active lane. */
void rvm__bail_out_where(rvm__group *g, LLVMValueRef cond, bool if_true, LLVMValueRef mask);
/* 0, 1, .. each times an i64. */
LLVMValueRef rvm__steps(rvm__group *g, LLVMValueRef stride);

/* instructions.c: any but those that end a block. */
void rvm__group_instruction(rvm__group *g, LLVMValueRef v, LLVMValueRef mask);

/* memory.c: mask NULL: all lanes. */
void rvm__group_load(rvm__group *g, LLVMValueRef load, LLVMValueRef mask);
void rvm__group_store(rvm__group *g, LLVMValueRef store, LLVMValueRef mask);
void rvm__group_add(rvm__group *g, LLVMValueRef call, LLVMValueRef mask);
void rvm__add_at_once(rvm__group *g, LLVMValueRef call, LLVMValueRef v); /* of uniform address */
void rvm__group_memset(rvm__group *g, LLVMValueRef call);
void rvm__group_address(rvm__group *g, LLVMValueRef gep);
void rvm__take_back(rvm__group *g); /* the block where it bails out */

/* safepoints.c: at a call of RVM__SAFEPOINT; whether a loop is to be entered that polls where it turns, NULL: it need not
 * be there; where that turns. */
void rvm__group_safepoint(rvm__group *g, LLVMValueRef call, LLVMValueRef mask);
LLVMValueRef rvm__may_turn_long(rvm__group *g, uint32_t loop);
void rvm__group_turns(rvm__group *g);

/* adjacent.c */
bool rvm__mark_adding_loops(rvm__build *k, LLVMValueRef f); /* to be unrolled; false: there are none */
/* What all lanes add at one address, later; false: it cannot wait. */
bool rvm__wait_to_add(rvm__group *g, LLVMValueRef call, LLVMValueRef v);
void rvm__add_what_waits(rvm__group *g);

/* order.c: the function that tells whether an instance adds to each element once. False: why. */
bool rvm__order_begin(rvm__group *g);
void rvm__order_add(rvm__group *g, LLVMValueRef call);
/* Whether it has the value. */
bool rvm__is_traced(const rvm__group *g, LLVMValueRef v);
/* Whether it goes on behind the instruction as if that were not there. */
bool rvm__leave_untraced(rvm__group *g, LLVMValueRef v);

/* Where a lane's own element is, so many behind v, of shared memory. */
LLVMValueRef rvm__address_of_lane(rvm__group *g, LLVMValueRef v, unsigned element, unsigned n);

/* pairs.c: elements side by side, as a vector in an instance. In all lanes: rows, of all first elements, of all second .. */
LLVMErrorRef rvm__find_pairs(rvm__build *k, LLVMTargetMachineRef machine); /* in instances */
unsigned rvm__width_of(LLVMTypeRef t);                                     /* of one element: 1 */
LLVMValueRef rvm__row_of(rvm__group *g, LLVMValueRef rows, unsigned n);
LLVMValueRef rvm__with_row(rvm__group *g, LLVMValueRef rows, LLVMValueRef row, unsigned n);
LLVMValueRef rvm__rows_in_all(rvm__group *g, LLVMValueRef one); /* the same elements in all lanes */
/* Two rows, of elements of type t, of memory where each lane has its own, so many elements behind an address. */
void rvm__load_pairs(rvm__group *g, LLVMValueRef from, unsigned element, LLVMTypeRef t, LLVMValueRef row[2]);
void rvm__store_pairs(rvm__group *g, LLVMValueRef to, unsigned element, LLVMValueRef first, LLVMValueRef second);

/* vectors.c: a call of a function of doubles, in lanes. */
bool rvm__is_group_function(LLVMValueRef call);                 /* what is known here */
bool rvm__is_lane_by_lane(const rvm__group *g, LLVMValueRef v); /* an elementary one that is in no library here */
LLVMValueRef rvm__group_function(rvm__group *g, LLVMValueRef call);

#endif

/* flow.h: inside jit/. The flow graph of an instance of a parallel block, and what differs between instances.
 *
 * A value of the instance is *uniform*, the same in all instances, or *varying*. Memory is *shared*, or *private*: each
 * instance has its own. Whoever makes code for several instances at once begins here: lanes.c makes vectors of what varies.
 */
#ifndef RVM_JIT_FLOW_H
#define RVM_JIT_FLOW_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "rvm_program.h"

enum rvm__memory { RVM__NOWHERE, RVM__SHARED, RVM__PRIVATE_MEMORY, RVM__MIXED };

/* In its first lane, a multiple of lanes * stride; and not negative. */
enum rvm__aligned { RVM__NOT_ALIGNED, RVM__ALIGNED_BITS, RVM__ALIGNED_NUMBER };

typedef struct rvm__item { /* a value of the instance: a parameter, an instruction, a block */
    LLVMValueRef v;
    uint32_t node; /* of a block, and no dead end */
    bool varying;
    bool later;     /* an addition that a group makes when it is done (later.c) */
    uint8_t memory; /* of a pointer: rvm__memory */
    /* In a group: */
    LLVMValueRef one;       /* if it is uniform; of a linear one in its first lane */
    LLVMValueRef stride;    /* of a linear one: an i64, bytes where it is a pointer; else NULL */
    uint8_t aligned;        /* of such, stride a power of two: rvm__aligned */
    LLVMValueRef many, phi; /* its vector, if it is varying; an alloca for a phi */
} rvm__item;

enum { RVM__NO_NODE = UINT32_MAX, RVM__NO_LOOP = UINT32_MAX };
typedef struct rvm__node { /* a block of the instance */
    LLVMBasicBlockRef b;
    uint32_t nsucc, succ[2]; /* as they stand */
    uint32_t nout, out[2]; /* forward edges: a back edge goes to its loop's exit instead, edges out of a loop are left out */
    uint32_t loop, dominator; /* innermost; the nearest one */
    uint32_t first,
        dominated;        /* what it dominates, itself too, are so many from there, in preorder of the dominators' tree */
    uint32_t order, join; /* postorder number; immediate post-dominator */
    uint32_t before, nbefore; /* its predecessors, among flow.before */
    uint8_t bails_out;        /* 1: where its condition holds, 2: where it does not; 0: never, by an edge that it has */
    bool changed;             /* shared memory may have been, on some path to its end */
    bool guarded;             /* not all instances that are in its loop, or in the function, need be here */
    bool parted;              /* not all that begin a trip of its innermost loop need be */
    uint32_t nin;             /* forward edges to here */
} rvm__node;

typedef struct rvm__loop {
    uint32_t header, latch, exit, parent;
    bool divergent; /* instances leave it at different trips */
    /* In a group: */
    LLVMBasicBlockRef before, head, after;
    LLVMValueRef active, around; /* alloca of the mask of those in it; the mask around it */
} rvm__loop;

typedef struct rvm__flow {
    LLVMValueRef function;
    const rvm_allocator *al;
    rvm__item *items; /* by a hash of v */
    uint32_t cap_items;
    rvm__node *nodes;
    rvm__loop *loops;
    uint32_t *order;  /* nodes in postorder */
    uint32_t *before; /* predecessors, node by node: two for each node at most */
    uint32_t n, nloops;
    const char *why; /* NULL, or what cannot be */
} rvm__flow;

static inline bool rvm__no_flow(rvm__flow *w, const char *why) {
    if (!w->why) w->why = why;
    return false;
}

/* The tables of w->function, an instance (instance.h); end them in any case. False: why. */
bool rvm__flow_begin(rvm__flow *w);
void rvm__flow_end(rvm__flow *w);
/* NULL: a constant. */
rvm__item *rvm__item_of(const rvm__flow *w, LLVMValueRef v);
uint32_t rvm__node_of(const rvm__flow *w, LLVMBasicBlockRef b);
bool rvm__is_varying(const rvm__flow *w, LLVMValueRef v);
bool rvm__any_varying(const rvm__flow *w, LLVMValueRef v); /* of its operands */
uint8_t rvm__memory_of(const rvm__flow *w, LLVMValueRef v);
bool rvm__changes_shared(const rvm__flow *w, LLVMValueRef v); /* memory */
const char *rvm__callee_name(LLVMValueRef call);
bool rvm__may_bail_out(LLVMValueRef v); /* a call of RVM__BAIL_OUT, unless LLVM has found that its condition never holds */
LLVMValueRef rvm__object_of(LLVMValueRef address); /* from which it is computed */
bool rvm__makes_array(LLVMValueRef call);          /* a local one, cleared or not */

/* graph.c: nodes, loops, order. False: why. */
bool rvm__graph_find(rvm__flow *w);
bool rvm__dominates(const rvm__flow *w, uint32_t a, uint32_t b);
bool rvm__is_in_loop(const rvm__flow *w, uint32_t node, uint32_t loop);
/* simplify.c: a block that bails out, whoever comes there. */
bool rvm__is_dead_end(LLVMBasicBlockRef b);
/* uniform.c: what is varying, divergent, guarded; whose memory it is. False: why. */
bool rvm__uniform_find(rvm__flow *w);
/* bounds.c: what an integer that is not negative is at most, and how many trips a loop has; RVM__NO_BOUND: not known. */
#define RVM__NO_BOUND UINT64_MAX
uint64_t rvm__most_value(const rvm__flow *w, LLVMValueRef v);
uint64_t rvm__most_trips(const rvm__flow *w, uint32_t loop);

#endif

/* group.h: inside jit/. What lanes.c and its parts know of an instance that becomes a group.
 *
 * A uniform value (flow.h) is computed once, a varying one is a vector of all lanes. One that grows by a constant from lane
 * to lane, as the index does, is *linear*: kept as its value in the first lane and the stride, too. Private memory is
 * interleaved by elements of eight bytes, so that with L lanes byte 8 e of lane l stands at 8 (L e + l); an address of it is
 * that of its first lane.
 *
 * Control keeps its form where it is uniform. Where a branch diverges, both sides are run one after the other, each under a
 * mask, and skipped if no lane takes it; a loop goes on until no lane does.
 */
#ifndef RVM_JIT_GROUP_H
#define RVM_JIT_GROUP_H

#include "flow.h"
#include "lanes.h"

#include <llvm-c/Target.h>

typedef struct rvm__waiting { /* an addition that waits for the end of its block */
    LLVMValueRef call, v;
    bool taken; /* it is done, or goes with others */
} rvm__waiting;
enum { RVM__MOST_WAITING = 64 };
typedef struct rvm__group_log { /* allocas: entries, their bytes, those that the machine has; or NULL */
    LLVMValueRef bytes, size, kept;
} rvm__group_log;
typedef struct rvm__gathered rvm__gathered; /* checks.c */

typedef struct rvm__group {
    rvm__flow flow;
    rvm__build *k;
    LLVMTargetDataRef layout;
    bool vector_math;
    bool inlines;     /* functions that are ours become instructions, */
    unsigned inlined; /* so many of them so far (near.c) */
    unsigned lanes;   /* of the group */
    bool aligned;     /* as RVM__ALIGNED says */
    bool down;        /* as RVM__DOWN says */
    bool part;        /* only the first ones run, of which `to` takes the number last */
    LLVMValueRef to;
    uint32_t emitted;
    LLVMBasicBlockRef entry, bailed_out, adrift;
    bool takes_back;                 /* as RVM__TAKES_BACK says */
    bool logs;                       /* what is changed of shared memory can be taken back */
    LLVMValueRef limit, many, ticks; /* safepoints.c: allocas, or NULL */
    uint32_t entered;                /* 1 + the loop that is emitted twice; 0: none */
    bool turns_long;                 /* the loop that is emitted polls */
    LLVMValueRef mark;
    rvm__group_log log, later; /* what changes have replaced; additions until the group is done (later.c) */
    int ordered; /* elements gain in a fixed order: instances from the first lane on, 1, or from the last, -1; 0: in any */
    bool traces; /* this is the function of order.c */
    LLVMValueRef seen; /* alloca of an rvm__native_seen (vm/native/native.h) */
    rvm__waiting waiting[RVM__MOST_WAITING];
    unsigned nwaiting;
    LLVMValueRef disagree; /* alloca of a mask of lanes in which some release does not; or NULL */
    bool asked;            /* whether some does not, since what follows is not kept to be taken back */
    rvm__gathered *gathered;
    uint32_t ngathered, cap_gathered;
} rvm__group;

static inline bool rvm__no_group(rvm__group *g, const char *why) {
    return rvm__no_flow(&g->flow, why);
}

/* limits.c: whether every instruction is one that lanes know; whether a group is worth it. False: why. */
bool rvm__can_group(rvm__group *g);
bool rvm__is_worth_it(rvm__group *g);

/* group.c */
LLVMValueRef rvm__one(rvm__group *g, LLVMValueRef v);  /* of a uniform value */
LLVMValueRef rvm__many(rvm__group *g, LLVMValueRef v); /* of any */
LLVMValueRef rvm__splat(rvm__group *g, LLVMValueRef scalar);
LLVMTypeRef rvm__vector_of(const rvm__group *g, LLVMTypeRef scalar);
/* Rows: elements side by side, of all lanes the first ones, then the second ones .. */
unsigned rvm__width_of(LLVMTypeRef t); /* of one element: 1 */
LLVMValueRef rvm__row_of(rvm__group *g, LLVMValueRef rows, unsigned n);
LLVMValueRef rvm__with_row(rvm__group *g, LLVMValueRef rows, LLVMValueRef row, unsigned n);
/* Masks; NULL: all lanes. */
LLVMValueRef rvm__any(rvm__group *g, LLVMValueRef mask);
LLVMValueRef rvm__both(rvm__group *g, LLVMValueRef mask, LLVMValueRef c);
LLVMBasicBlockRef rvm__group_block(rvm__group *g, const char *name);
LLVMValueRef rvm__group_local(rvm__group *g, LLVMTypeRef t); /* an alloca */
void rvm__bail_group_out(rvm__group *g, LLVMValueRef cond);
/* If the condition holds, or if it does not, in an active lane. */
void rvm__bail_out_where(rvm__group *g, LLVMValueRef cond, bool if_true, LLVMValueRef mask);
/* 0, 1, .. each times an i64. */
LLVMValueRef rvm__steps(rvm__group *g, LLVMValueRef stride);
LLVMValueRef rvm__sum_of(rvm__group *g, LLVMValueRef v, bool real); /* of all lanes: by the tree, if order counts */
/* To what stands there, one number or a vector. */
void rvm__add_to(rvm__group *g, LLVMValueRef where, LLVMValueRef v, bool real);
static inline LLVMValueRef rvm__number(const rvm__group *g, uint64_t n) {
    return LLVMConstInt(g->k->i64, n, false);
}
static inline LLVMValueRef rvm__lane_of(const rvm__group *g, LLVMValueRef v, unsigned n) {
    return LLVMBuildExtractElement(g->k->b, v, LLVMConstInt(g->k->i32, n, false), "");
}
static inline LLVMValueRef rvm__behind(const rvm__group *g, LLVMValueRef address, LLVMValueRef bytes) {
    return LLVMBuildGEP2(g->k->b, g->k->i8, address, &bytes, 1, "");
}

/* instructions.c: any but those that end a block. */
void rvm__group_instruction(rvm__group *g, LLVMValueRef v, LLVMValueRef mask);

/* addresses.c */
void rvm__group_address(rvm__group *g, LLVMValueRef gep);
bool rvm__is_line(const rvm__group *g, LLVMValueRef v); /* shared memory at a stride */
/* How many elements that stride has, known and few, but more than one; else 0. */
enum { RVM__MOST_APART = 4 };
unsigned rvm__elements_apart(const rvm__group *g, LLVMValueRef v);
/* Where a lane's own element is, so many behind v, of shared memory; where all lanes' are, of any; one among these. */
LLVMValueRef rvm__address_of_lane(rvm__group *g, LLVMValueRef v, unsigned element, unsigned n);
LLVMValueRef rvm__addresses(rvm__group *g, LLVMValueRef v, unsigned element);
LLVMValueRef rvm__address_among(rvm__group *g, LLVMValueRef v, LLVMValueRef many, unsigned element, unsigned n);
/* Where the first lane's element is, so many behind v, of elements side by side; or NULL. */
LLVMValueRef rvm__side_by_side(rvm__group *g, LLVMValueRef v, unsigned element);

/* memory.c: mask NULL: all lanes. */
void rvm__group_load(rvm__group *g, LLVMValueRef load, LLVMValueRef mask);
void rvm__group_store(rvm__group *g, LLVMValueRef store, LLVMValueRef mask);
void rvm__group_add(rvm__group *g, LLVMValueRef call, LLVMValueRef mask);
void rvm__group_memset(rvm__group *g, LLVMValueRef call);

/* log.c: what is kept where a group may bail out later. */
/* An entry of three parts, as native.h says; `machine`: the function of it that takes entries when there are many. */
void rvm__keep_entry(rvm__group *g, rvm__group_log *log, const char *machine, const LLVMValueRef part[3]);
/* Values that stood at addresses, and what tells them. */
void rvm__keep_old(rvm__group *g, LLVMValueRef values, LLVMValueRef addresses, LLVMValueRef tells);
LLVMValueRef rvm__call_machine(rvm__group *g, const char *name, LLVMTypeRef returns, unsigned n, LLVMValueRef *args);
/* What stood in elements side by side, a vector or one of them, if it may. */
void rvm__keep_run(rvm__group *g, LLVMValueRef run, LLVMValueRef was);
void rvm__take_back(rvm__group *g); /* the block where it bails out */

/* safepoints.c: whether so much may have been charged at a call of RVM__SAFEPOINT that the group polls; at that; whether a
 * loop is to be entered that polls where it turns, NULL: it need not be there; where that turns. */
bool rvm__may_be_long(const rvm__group *g, LLVMValueRef call);
void rvm__group_safepoint(rvm__group *g, LLVMValueRef call, LLVMValueRef mask);
LLVMValueRef rvm__may_turn_long(rvm__group *g, uint32_t loop);
void rvm__group_turns(rvm__group *g);

/* checks.c: at calls of RVM__DISAGREES, RVM__RESIDUE and RVM__RAISE, if lanes know where that goes; when the group is done.
 */
void rvm__group_disagrees(rvm__group *g, LLVMValueRef call, LLVMValueRef mask);
void rvm__group_residue(rvm__group *g, LLVMValueRef call, LLVMValueRef mask);
void rvm__group_raise(rvm__group *g, LLVMValueRef call, LLVMValueRef mask);
bool rvm__can_raise(const rvm__group *g, LLVMValueRef call);
/* Before a store: to a partial sum, the first of those by which an instance ends. */
void rvm__group_before_store(rvm__group *g, LLVMValueRef to);
void rvm__group_give(rvm__group *g);
void rvm__gathered_end(rvm__group *g);

/* affine.c: an address as a root, multiples of values, and a constant, in bytes; of a loop a number from outside is not
 * looked into, RVM__NO_LOOP: all are. Whether two differ by a constant. */
enum { RVM__MOST_TERMS = 8 };
typedef struct rvm__affine {
    LLVMValueRef root, value[RVM__MOST_TERMS];
    int64_t times[RVM__MOST_TERMS], offset;
    unsigned n, steps;
    uint32_t loop;
    bool unknown;
} rvm__affine;
rvm__affine rvm__affine_of(const rvm__group *g, LLVMValueRef address, uint32_t loop);
rvm__affine rvm__affine_within(const rvm__group *g, LLVMValueRef address, uint32_t loop); /* from an address outside on */
rvm__affine rvm__affine_number(const rvm__group *g, LLVMValueRef number, uint32_t loop);  /* no root */
bool rvm__are_parallel(const rvm__affine *x, const rvm__affine *y);
bool rvm__is_outside(const rvm__flow *w, LLVMValueRef v, uint32_t loop);

/* adjacent.c */
enum { RVM__FOUR = 4 }; /* elements side by side that are summed together */
/* Loops to be unrolled, of kernels, or of groups; then, of groups, those that are left over from that. False: there are
 * none. */
enum rvm__unrolled { RVM__OF_KERNELS, RVM__OF_GROUPS, RVM__LEFT_OVER };
bool rvm__mark_unrolled(rvm__build *k, LLVMValueRef f, enum rvm__unrolled which);
/* What all lanes add at one address: at once, or with what waits. */
void rvm__add_all(rvm__group *g, LLVMValueRef call, LLVMValueRef v);
void rvm__add_what_waits(rvm__group *g);

/* ahead.c: fills in the function of RVM__AHEAD, g->to, of an instance whose flow is known. False: there is nothing. */
bool rvm__make_ahead(rvm__group *g);

/* clears.c: local arrays of the instance, whose flow is known, are cleared part by part. */
void rvm__clear_by_parts(rvm__group *g);

/* Whether the address is of an array that gains chunk by chunk. */
bool rvm__is_of_summed(const rvm__group *g, LLVMValueRef address);
/* later.c: finds the additions that are kept until the group is done; false: no other one counts on the order. Keeps one;
 * makes all, when the group is done. */
bool rvm__later_find(rvm__group *g);
bool rvm__adds_in_order(const rvm__flow *w, LLVMValueRef v); /* to an f64 that instances share */
void rvm__add_later(rvm__group *g, LLVMValueRef to, LLVMValueRef v, LLVMValueRef mask);
void rvm__later_end(rvm__group *g);

/* order.c: the function that tells whether an instance adds to each element once. */
void rvm__order_begin(rvm__group *g);
void rvm__order_add(rvm__group *g, LLVMValueRef call);
/* Whether it has the value. */
bool rvm__is_traced(const rvm__group *g, LLVMValueRef v);
/* Whether it goes on behind the instruction as if that were not there. */
bool rvm__leave_untraced(rvm__group *g, LLVMValueRef v);

/* pairs.c: elements side by side, as a vector in an instance. */
LLVMErrorRef rvm__find_pairs(rvm__build *k, LLVMTargetMachineRef machine); /* in instances */
/* Two rows, of elements of type t, of memory where each lane has its own, so many elements behind an address. */
void rvm__load_pairs(rvm__group *g, LLVMValueRef from, unsigned element, LLVMTypeRef t, LLVMValueRef row[2]);
void rvm__store_pairs(rvm__group *g, LLVMValueRef to, unsigned element, LLVMValueRef first, LLVMValueRef second);

/* vectors.c: a call of a function of doubles, in lanes. */
bool rvm__is_group_function(LLVMValueRef call);                 /* what is known here */
bool rvm__is_lane_by_lane(const rvm__group *g, LLVMValueRef v); /* an elementary one that is in no library here */
LLVMValueRef rvm__group_function(rvm__group *g, LLVMValueRef call);
const char *rvm__of_ours(const rvm__group *g, LLVMValueRef call); /* its name where SLEEF's set has ours for it; or NULL */
/* near.c: the same as instructions; NULL: it remains a call. */
LLVMValueRef rvm__near_function(rvm__group *g, LLVMValueRef call);

#endif

/* lanes.h: inside jit/. A group of 8 or 4 instances of a parallel block as one function on vectors.
 *
 *   flow.c       an instance's values and blocks         graph.c      its control: loops, post-dominators
 *   uniform.c    what is the same in all instances         limits.c     whether it becomes a group
 *   lanes.c      the group, block by block                group.c      vectors, masks, bailing out
 *   addresses.c  where elements stand                    memory.c     loads and stores
 *   instructions.c, vectors.c   all else, functions of doubles    pairs.c      elements side by side
 *   order.c      additions whose order counts             adjacent.c   additions side by side
 *   later.c      additions that wait for the group's end
 *   affine.c     addresses that differ by a constant
 *   clears.c     local arrays that are cleared where they are used
 *   ahead.c      what is prefetched for the group that comes next
 *   safepoints.c     polls: whether the run is to end     bounds.c     what needs none
 *   checks.c     residues and magnitudes that checks leave     log.c      what is kept to be taken back
 *
 * The instance is made by jit/lower/instance.c, and simplified by jit/llvm/simplify.c.
 */
#ifndef RVM_JIT_LANES_H
#define RVM_JIT_LANES_H

#include "instance.h"

#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

/* Lanes of a group at most, as many as a register that instances add into has partial sums (vm/interp/blocks.c); there are 8
 * or 4 (RVM__LANES), so that lanes are partial sums side by side. */
enum { RVM__MOST_GROUP = 8 };

/* What a group returns: it is done; it bailed out and has changed nothing; it was to end where that could not be taken back.
 */
enum { RVM__GROUP_DONE, RVM__GROUP_GAVE_UP, RVM__GROUP_ADRIFT };

/* On an instance: how many make a group, a digit. */
#define RVM__LANES "rvm-lanes"
/* On an instance: the index of a group's first lane is a multiple of lanes, and not negative. */
#define RVM__ALIGNED "rvm-aligned"
/* On an instance: they run from the highest on. */
#define RVM__DOWN "rvm-down"
/* On an instance: what a group of it changes can be taken back wherever the run ends. */
#define RVM__TAKES_BACK "rvm-takes-back"
/* On an instance: elements gain in the order of instances, which ascend, "+", or descend, "-". RVM__ORDER and its number is
 * then a function of the same type, declared, that is to tell whether lanes keep that order: 0: they do. */
#define RVM__ORDERED "rvm-ordered"
#define RVM__ORDER   "rvm_order."
/* With its number, a function of the same type but for a number at the end, declared: the first so many lanes of a group. */
#define RVM__PART "rvm_part."
/* With its number, a function of the same type, declared, that reads what a whole group of instances from the index on
 * reads, and changes nothing: prefetches. What it returns means nothing. */
#define RVM__AHEAD "rvm_ahead."

/* simplify.c: what is called goes where it is called, what is the same in all trips out of loops; instances get the form of
 * which groups are made. Unless `all`, functions but for instances and what these call are left alone. */
LLVMErrorRef rvm__simplify(rvm__build *k, LLVMTargetMachineRef machine, bool all);
/* The same, but for elements side by side, which are not put together. */
LLVMErrorRef rvm__simplify_for_device(rvm__build *k, LLVMTargetMachineRef machine);
LLVMValueRef rvm__instance_function(const rvm__build *k, const char *prefix, unsigned n); /* NULL: it is never run */
bool rvm__is_instance_function(LLVMValueRef f);                                           /* or the order of one */
bool rvm__calls_functions(const rvm__build *k); /* elementary ones, which are worth moving */
/* clears.c: calls of RVM__FIRST go. */
void rvm__drop_parts(rvm__build *k);
/* Instances of the module, simplified, become groups; one that cannot leaves its block to single instances. Fills
 * k->grouped, single and why. vector_math: as in rvm__lowering. inlines: functions may become instructions, which
 * takes longer to compile. */
void rvm__make_groups(rvm__build *k, bool vector_math, bool inlines);

#endif

/* instance.h: inside jit/. An instance of a parallel block as a function of IR, which instance.c makes: what it takes and
 * what it calls that is no function. Who runs several instances at once (lanes.h) makes code of it, and gives these a
 * meaning. */
#ifndef RVM_JIT_INSTANCE_H
#define RVM_JIT_INSTANCE_H

#include "build.h"

/* Parameters: machine, frame, where its counts go, the block's index, partial sums, others. */
enum { RVM__VECTORISED_OUT = 2, RVM__VECTORISED_INDEX = 3, RVM__VECTORISED_SUMS = 4, RVM__MOST_VECTORISED_ARGS = 250 };
enum {
    RVM__VECTORISED_CHARGED,
    RVM__VECTORISED_CALLS,
    RVM__VECTORISED_PEAK,
    RVM__VECTORISED_ERASED,
    RVM__VECTORISED_SHADES,
    RVM__VECTORISED_FORGOTTEN,
    RVM__VECTORISED_COUNTS
};
enum { RVM__MOST_VECTORISED = 20000 }; /* instructions of what an instance calls */

#define RVM__INSTANCE "rvm_instance." /* and its number */
/* A property of a loop, beside others, which are the host's: on a device a copy of the body takes more than it saves. */
#define RVM__ON_HOST "rvm.loop.on_host"
/* Bail out if the truth value holds; add a value to an element. */
#define RVM__BAIL_OUT "rvm.bail_out"
#define RVM__ADD      "rvm.add."
/* A release of a function, at a pc, left a residue: two i32 and an f64; 0: none. The largest magnitude at an address, or
 * NULL, is at least an f64. */
#define RVM__RESIDUE "rvm.residue"
#define RVM__RAISE   "rvm.raise"
/* A release does not agree if the truth value holds: bail out, before the group is done. */
#define RVM__DISAGREES "rvm.disagrees"
/* Poll, if so much has been charged: an i64. */
#define RVM__SAFEPOINT "rvm.safepoint"
/* An instance of a block begins: of an array, that nothing but the block has touched, it alone comes to the part at its
 * index (jit/lanes/clears.c). With the array's address, the index, bytes of a part, and so many parts. */
#define RVM__FIRST  "rvm.first"
#define RVM__RESULT "rvm.result" /* what it returns: unknown to LLVM */
/* Metadata of an operation on doubles: its operands are f32, and so is what it is rounded to, if it is no truth value. */
#define RVM__SINGLE_MARK "rvm.single"
/* A block within, and a register's sum behind it: nested.c. */
#define RVM__NESTED     "rvm.nested."
#define RVM__NESTED_SUM "rvm.nested_sum."
enum { RVM__NESTED_LO, RVM__NESTED_COUNT, RVM__NESTED_UP, RVM__NESTED_SUMMED, RVM__NESTED_FRAME, RVM__NESTED_SUMS };
enum { RVM__MOST_NESTED_SUMS = 8, RVM__NESTED_CHARGED = RVM__MOST_NESTED_SUMS /* not a sum: what its instances charged */ };
/* What arrays hold goes aside, or comes back, as lower/aside.c has it: which step, memory of so many elements as they all
 * have, and of each array, of f64, how many dimensions, where it is, its lengths and strides. */
#define RVM__NESTED_ASIDE "rvm.nested_aside"
/* On a parameter that is an address: each instance has its own memory there. */
#define RVM__PRIVATE "rvm-private"
/* On a parameter that is an address: of an array that instances add into chunk by chunk (docs/semantics.md, section 9). */
#define RVM__BY_CHUNKS "rvm-by-chunks"
/* On a parameter that is an address: of an array that near caches need not hold (jit/host/far_wanted.h). */
#define RVM__FAR "rvm-far"
/* Of a block within, on a parameter that is an address: several of its instances may add to an element there. */
#define RVM__MEETING "rvm-meeting"

#endif

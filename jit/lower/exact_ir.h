/* exact_ir.h: inside jit/. An update of a real in a run that restores every bit, for those that emit it: exact.c,
 * exact_row.c. */
#ifndef RVM_JIT_EXACT_IR_H
#define RVM_JIT_EXACT_IR_H

#include "emit.h"

typedef struct rvm__exact_ir {
    rvm_type type;
    rvm_op op; /* that is recorded: what restores is its inverse */
    LLVMValueRef y, f, after;
} rvm__exact_ir;
/* Of y op f, which rounded becomes `now`, where it stands: y is what is before it or, restoring, behind it. */
rvm__exact_ir rvm__exact_of(const rvm__emit *e, rvm_type t, rvm_op op, LLVMValueRef y, LLVMValueRef f, LLVMValueRef now);
enum { RVM__EXACT_ROW = 8 };
/* Whether of n sums and differences of f64, RVM__EXACT_ROW at most, none loses anything. */
LLVMValueRef rvm__exact_are_alone(rvm__emit *e, unsigned n, const rvm__exact_ir *u);
void rvm__exact_count(rvm__emit *e, unsigned updates); /* recorded */

#endif

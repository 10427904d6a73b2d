/* fresh_ir.h: inside jit/. Arrays whose contents are never read: fresh.c. */
#ifndef RVM_JIT_FRESH_IR_H
#define RVM_JIT_FRESH_IR_H

#include "blocks.h"

/* Which arrays of the function that is asked for, and by which blocks. */
void rvm__fresh_find(rvm__unit *u, const rvm__lowering *asked);
/* Before the block at e->control.pc is entered, with some instances: a side exit if one would have no part of such an array,
 * where it then fails. */
void rvm__fresh_check(rvm__emit *e, LLVMValueRef any, LLVMValueRef lo, LLVMValueRef hi);
/* Where the block at e->control.pc is entered: what its instances lo to hi leave of the arrays that it touches first; none
 * if hi is not above lo. */
void rvm__fresh_enter(rvm__emit *e, LLVMValueRef lo, LLVMValueRef hi);
/* Before the instance that the block's index says, of the block entered at pc. */
void rvm__fresh_begin(rvm__emit *e, uint32_t pc);
/* In it, of the block at pc: the parts of a caller's local arrays that it alone comes to (RVM__FIRST). */
void rvm__fresh_parts(rvm__emit *e, uint32_t pc);
/* In the body of one that goes in lanes, at its beginning and its end. */
void rvm__fresh_copies(rvm__instance *o, uint32_t par);
void rvm__fresh_copies_end(rvm__instance *o);

#endif

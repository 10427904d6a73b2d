/* trail_inline.h: the trail's simple cases in generated code (trail_inline.c). */
#ifndef RVM_JIT_TRAIL_INLINE_H
#define RVM_JIT_TRAIL_INLINE_H

#include "emit.h"

/* Whether these have an inline case for a level; the functions below are for level 0. */
bool rvm__trail_is_inline(uint32_t level);
/* An entry that is these bits, an i64, goes onto the trail; a jump to `seldom`, with nothing changed, where the runtime is
 * to do that. */
void rvm__trail_put_inline(rvm__emit *e, uint32_t site, LLVMValueRef bits, LLVMBasicBlockRef seldom);
/* The same of any level, with what the runtime does: a side exit where that cannot. */
void rvm__trail_put(rvm__emit *e, uint32_t level, uint32_t site, LLVMValueRef bits);

/* The bits of the entry on top, which is one value alone of that site, and may be dropped as below. A jump to `seldom` where
 * the runtime is to look. */
LLVMValueRef rvm__trail_top_inline(rvm__emit *e, uint32_t site, LLVMBasicBlockRef seldom);
void rvm__trail_pop_inline(rvm__emit *e, uint32_t site);

#endif

/* numbering.h: local value numbering: which places are known to hold the same, along a straight stretch of what is executed.
 * Not installed.
 *
 * Two places with the same number hold the same bits; an instruction that computes a row of the same numbers gets the number
 * that is there. What calls, trails and in-place changes leave in a place has a number of its own. So
 *
 *   - a release `t -> f` passes for certain where t and f have one number, if that is no NaN, which never agrees. What a
 *     release was compared with is no NaN, nor is what that was made of by rows that hand a NaN on (rvm__row_nan): the first
 *     release of an expression, the outermost, says it for all within;
 *   - an index was compared with a length if one of the same number was, with a length of the same number.
 *
 * A client goes along with control: _begin where other control may come in, _pass behind each instruction that ran, whatever
 * was left out of it. Numbers are those of one stretch; tables lose what is older where they are full. Constant time for
 * each place.
 */
#ifndef RVM_NUMBERING_H
#define RVM_NUMBERING_H

#include "program.h"
#include "support.h"

typedef struct rvm__numbering rvm__numbering;

/* In `zone`, for any function of p, which is verified. NULL: out of memory. */
rvm__numbering *rvm__numbering_new(rvm__zone *zone, const rvm_program *p);
/* A stretch begins, in function f. */
void rvm__numbering_begin(rvm__numbering *n, const rvm_function *f);
/* An instruction was executed as `op`, itself or its inverse. */
void rvm__numbering_pass(rvm__numbering *n, const rvm_insn *in, rvm_op op);
/* Whether its release, which is next, passes for certain: unlet, in effect. bits: where any bits agree with themselves. */
bool rvm__numbering_agrees(rvm__numbering *n, const rvm_insn *in, bool bits);
/* Whether index d of place k, an element, of an instruction that is next is in bounds for certain, where indices of earlier
 * places are. */
bool rvm__numbering_inbounds(rvm__numbering *n, const rvm_insn *in, uint32_t k, int d);

#endif

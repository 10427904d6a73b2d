/* flowgraph.h: where control goes from an instruction, up and down. Not installed.
 *
 * Between two instructions lies a boundary; boundary b is before instruction b. Control that comes to an instruction on one
 * side leaves it on the other, but for jmp, cf and undo, which part their sides. Besides, edges lead from one boundary to
 * another, whichever way control goes:
 *
 *     before jmp - behind its cf        before jt, jf - before their cft, cff       behind for - before its next
 *     behind undo - before its compute  before undo - before its do                 (par, endpar as for, next)
 *
 * Of a function whose instructions are paired (isa/verify/verify_shape.c).
 */
#ifndef RVM_FLOWGRAPH_H
#define RVM_FLOWGRAPH_H

#include "program.h"

enum { RVM__MAX_NEST = 255 }; /* open loops, regions and segments */

static inline bool rvm__parts_control(const rvm_insn *in) {
    return rvm__pair_of(in->op) == RVM_PAIR_jmp || rvm__pair_of(in->op) == RVM_PAIR_undo;
}

/* The edge at a side of an instruction: to the instruction `pc`, at that boundary. False: there is none. */
typedef struct rvm__edge {
    uint32_t pc, boundary;
} rvm__edge;
bool rvm__edge_at(const rvm_function *f, uint32_t pc, bool behind, rvm__edge *to);

/* All that a run executes, from one end of the function to the other, in order; each loop once, jumps not taken, which jmp
 * may not be. Regions are run as C, B, C backward: compute, do and undo themselves are left out.
 *
 *     rvm__walk w = rvm__walk_begin(f, backward, elided);
 *     while (rvm__walk_next(&w)) ..                          the instruction w.pc, the counter going up, or w.down
 *
 * elided: by instruction, of compute: its part is not run backward. */
typedef struct rvm__walk {
    const rvm_function *f;
    const uint8_t *elided;
    uint32_t pc, at; /* at: a boundary */
    uint32_t depth;  /* compute parts around */
    bool down;
    bool turns[RVM__MAX_NEST]; /* by part around: control turns at its end, to run B */
} rvm__walk;
rvm__walk rvm__walk_begin(const rvm_function *f, bool backward, const uint8_t *elided);
bool rvm__walk_next(rvm__walk *w);

#endif

/* work.h: what an instruction asks of a processor, by the formulas of its row and family. Internal to the library. */
#ifndef RVM_WORK_H
#define RVM_WORK_H

#include "program.h"

/* Of instruction `in` of f, executed where the counter goes up or down; swept: its adjoint is, with all its real operands
 * taken to have shadows that are no constants. */
void rvm__work_of(const rvm_function *f, const rvm_insn *in, bool down, bool swept, rvm_work *out);
/* Whether its value takes elementary functions of functions.def, which are calls. */
bool rvm__work_calls(const rvm_function *f, const rvm_insn *in);
/* A place of that letter: whether it is written; whether what it holds moves onto a trail or a stack, or back. */
bool rvm__work_writes(const rvm_insn *in, char letter);
bool rvm__work_moves(const rvm_insn *in, char letter);

#endif

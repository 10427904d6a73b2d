/* processors.h: inside rvm_jit. Names of processors that code may be limited to. */
#ifndef RVM_JIT_PROCESSORS_H
#define RVM_JIT_PROCESSORS_H

#include "machine.h"

/* *known is the name as text that stays. USAGE: this host's kind has none of that name, the message has all of them;
 * or, where `here`, code for it does not run on this processor. */
rvm_status rvm__processor_find(const char *name, bool here, const char **known, rvm_error *err);

#endif

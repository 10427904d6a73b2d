/* keyframe.h: keyframes (rvm_debug.h), seen by clones. */
#ifndef RVM_KEYFRAME_H
#define RVM_KEYFRAME_H

#include "machine.h"
#include "rvm_debug.h"

/* Into m, whose bound call is like that of the machine that k was taken from: by those arguments, which may be others.
 * MEMORY: then nothing is bound. */
rvm_status rvm__keyframe_load(const rvm_keyframe *k, rvm_machine *m, rvm_error *err);

#endif

/* copied.h: what of a machine is put onto a tape and got back by the file that knows it, for keyframes (debug/keyframe.c);
 * trail/copy.h has the rest. shifts: where what it points to stands now. get: false, out of memory. */
#ifndef RVM_COPIED_H
#define RVM_COPIED_H

#include "machine.h"
#include "tape.h"

/* guard.c */
void rvm__guards_put(const rvm_machine *m, rvm__tape *tape);
bool rvm__guards_get(rvm_machine *m, rvm__tape *tape, uint32_t n, const rvm__shifts *shifts);

/* aside.c */
void rvm__aside_put(const rvm_machine *m, rvm__tape *tape);
bool rvm__aside_get(rvm_machine *m, rvm__tape *tape);

#endif

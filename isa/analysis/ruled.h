/* ruled.h: which functions come to one whose derivative is written by hand. Not installed. */
#ifndef RVM_RULED_H
#define RVM_RULED_H

#include "program.h"

/* Fills p->ruled, where there are rules, over p->calls: bit k, for rules of kind k, of the function itself or of what it
 * calls. False: out of memory. */
bool rvm__ruled_find(rvm_program *p);

#endif

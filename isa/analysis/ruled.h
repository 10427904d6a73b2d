/* ruled.h: which functions come to one whose derivative is written by hand. Not installed. */
#ifndef RVM_RULED_H
#define RVM_RULED_H

#include "program.h"

enum { RVM__RULED_PRINTS = 128 };
/* Fills p->ruled, where there are rules or prints, over p->calls: bit k, for rules of kind k, of the function itself or of
 * what it calls; RVM__RULED_PRINTS where it may come to a print. False: out of memory. */
bool rvm__ruled_find(rvm_program *p);

#endif

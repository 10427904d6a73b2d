/* callgraph.h: which functions call which, directly or through function values. Not installed. */
#ifndef RVM_CALLGRAPH_H
#define RVM_CALLGRAPH_H

#include "builder.h"

/* Fills *g, which holds an earlier one or zeros. by_types: of a program whose roles are not known, a function value is any
 * function of its type; callees that are none count as nothing. False: out of memory, and *g is empty. Linear in the calls,
 * and each through a value in the functions. */
bool rvm__callgraph_make(const rvm_program *p, bool by_types, rvm__callgraph *g);

#endif

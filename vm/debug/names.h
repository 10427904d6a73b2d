/* names.h: what a symbol names where. */
#ifndef RVM_NAMES_H
#define RVM_NAMES_H

#include "program.h"

/* Gaps at which symbol s of f names what is present, first to last: in its range, from behind the instruction that begins it
 * to before the one that ends it, and between those that make it appear and disappear there. first > last:
 * nowhere. */
typedef struct rvm__reach_of_name {
    uint32_t first, last;
} rvm__reach_of_name;
rvm__reach_of_name rvm__named(const rvm_program *p, const rvm_function *f, const rvm_symbol *s);

#endif

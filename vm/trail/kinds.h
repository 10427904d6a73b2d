/* kinds.h: numbers of kinds of entries (trail.h). */
#ifndef RVM_TRAIL_KINDS_H
#define RVM_TRAIL_KINDS_H

#include "tape.h"
#include "trail.h"

/* The kinds that a program has; false: out of memory. clear: others are no more; no stack may hold one. */
bool rvm__kinds_init(rvm_machine *m);
void rvm__kinds_clear(rvm_machine *m);
void rvm__kinds_free(rvm_machine *m);
/* The kind of an entry; false: out of memory. */
bool rvm__kind_of(rvm_machine *m, const rvm__trail_entry *entry, uint32_t *kind);

void rvm__kinds_save(const rvm__trail *tr, rvm__tape *tape);
bool rvm__kinds_load(rvm_machine *m, rvm__tape *tape); /* behind clear */

#endif

/* memory.h: the machine's own memory, counted and limited; more of it in answers.h. */
#ifndef RVM_MEMORY_H
#define RVM_MEMORY_H

#include "machine.h"

/* Room for `need` elements, new ones zero. False: out of memory. In time linear in all elements where they come one by one,
 * up to the limit of memory, too. */
bool rvm__reserve(rvm_machine *m, void **p, size_t *cap, size_t need, size_t element);

/* `size` bytes, all zero, until the same is asked for again; freed with the machine. NULL: out of memory. */
void *rvm__scratch(rvm_machine *m, enum rvm__scratch which, size_t size);

/* Slots, shadows and magnitudes up to `slots`, array descriptors up to `arrays`. May move them. */
bool rvm__reserve_frame(rvm_machine *m, size_t slots, size_t arrays);

/* Arena of local arrays, last in first out: RVM__ARRAY_HEADER bytes behind what is returned a line of the cache begins.
 * NULL: out of memory. Chunks are kept for the next time. */
void *rvm__locals_push(rvm_machine *m, size_t size);
void rvm__locals_pop(rvm_machine *m, size_t size);
size_t rvm__locals_size(size_t size);                    /* what such an array takes of arena_used */
void rvm__locals_release(rvm_machine *m, uint64_t mark); /* back to an earlier arena_used, whatever has appeared since */
void rvm__locals_clear(rvm_machine *m);
void rvm__locals_free(rvm_machine *m);

/* machine.c: what a run needs whose size follows from the program. False: out of memory. */
bool rvm__room_init(rvm_machine *m);
/* machine.c: frees what a run needs room for: frames and what stands in them, local arrays, trail, stack. */
void rvm__room_free(rvm_machine *m);

#endif

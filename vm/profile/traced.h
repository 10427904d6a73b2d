/* traced.h: profiles of derivatives that run as programs (vm/native/derived.c), on machines of their own: what such a
 * machine counts becomes that of the function which was derived, by where code comes from (isa/derive/origin.h). Its paths
 * know the paths of the asking machine that they are. */
#ifndef RVM_PROFILE_TRACED_H
#define RVM_PROFILE_TRACED_H

#include "profile.h"

/* paths.c: the function as written of which fn is a derivative of a derivative; its instruction for one there, in *pc,
 * false: there is none; whether fn is f'grad, which calls f, then f'adj. */
uint32_t rvm__profile_written(const rvm_machine *m, uint32_t fn);
bool rvm__profile_written_at(const rvm_machine *m, uint32_t fn, uint32_t *pc);
bool rvm__profile_is_gradient(const rvm_machine *m, uint32_t fn);

/* What m has counted since then becomes the source's, with its memory, and is counted in *forward, or of the sweep in
 * *swept. False: it cannot be told, and nothing has changed. Either way m begins anew. */
bool rvm__profile_hand_over(rvm_machine *m, uint64_t *forward, uint64_t *swept);

#endif

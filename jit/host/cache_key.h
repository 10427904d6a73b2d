/* cache_key.h: inside rvm_jit. All that compiled code depends on, as bytes. */
#ifndef RVM_JIT_CACHE_KEY_H
#define RVM_JIT_CACHE_KEY_H

#include "cache.h"
#include "module.h"

/* What is common to all code of an engine: this library, the module, which is a file at that path, the level, the host's
 * processor. False: there is no such file, so that nothing is known of it; or out of memory (b->failed). */
bool rvm__cache_key_begin(rvm__bytes *b, const char *module, const char *libdevice, const char *cpu, unsigned level);
/* Then what is lowered, its program whole; where memory is out b->failed says so. */
void rvm__cache_key_add(rvm__bytes *b, const rvm__lowering *what);

#endif

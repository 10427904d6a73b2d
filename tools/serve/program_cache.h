/* program_cache.h: programs in memory, by id: what was used longest ago goes when they take too much. */
#ifndef RVM_SERVE_PROGRAM_CACHE_H
#define RVM_SERVE_PROGRAM_CACHE_H

#include "programs.h"

enum { CACHE_BUCKETS = 8192 };
typedef struct program_cache {
    program *bucket[CACHE_BUCKETS];
    program *newest, *oldest;
    size_t bytes;
} program_cache;

program *cache_find(program_cache *c, const char *id); /* held by the cache alone; the newest now */
void cache_add(program_cache *c, program *p);          /* takes over one reference */
void cache_remove(program_cache *c, const char *id);
bool program_is_id(const char *text);

#endif

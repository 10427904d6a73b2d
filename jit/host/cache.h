/* cache.h: inside rvm_jit. What was made once is kept in files: compiled code, and what is known of the module.
 *
 * An entry is found by its key, which is all that its content depends on, and holds that whole: a hit compares it, so
 * that two keys of one hash do no harm. Files are written beside and renamed, so that processes share a folder without
 * a lock; what is damaged is removed. Not for several threads at once: rvm_jit's lock is around it. */
#ifndef RVM_JIT_CACHE_H
#define RVM_JIT_CACHE_H

#include <stddef.h>

#include "rvm.h"

/* Bytes that grow. */
typedef struct rvm__bytes {
    const rvm_allocator *al;
    char *p;
    size_t n, cap;
    bool failed; /* memory was out; what is added then is lost */
} rvm__bytes;
void rvm__bytes_add(rvm__bytes *b, const void *p, size_t n);
void rvm__bytes_free(rvm__bytes *b);

typedef struct rvm__cache rvm__cache;

/* The most bytes that a cache holds: as given, or if that is 0 as RVM_CACHE_SIZE says (bytes; k, M and G multiply by 1024),
 * or 256 MiB. USAGE: the variable is no size. */
rvm_status rvm__cache_limit(uint64_t given, uint64_t *out, rvm_error *err);

/* folder NULL: the user's (cache.c); "": none. limit: bytes of all entries; 0: the usual. *out is NULL where there is none.
 * Errors: IO (why the folder cannot be used), MEMORY. */
rvm_status rvm__cache_open(const char *folder, uint64_t limit, const rvm_allocator *al, rvm__cache **out, rvm_error *err);
void rvm__cache_close(rvm__cache *c);
const char *rvm__cache_folder(const rvm__cache *c);

/* What an entry holds: what is to be told of code, and its objects, one for each target. */
enum { RVM__MOST_PARTS = 8 };
typedef struct rvm__part {
    const void *p; /* in an entry that was found: at a multiple of 16 bytes */
    size_t n;
} rvm__part;

typedef struct rvm__cached {
    void *file; /* NULL: there is no such entry */
    size_t size;
    unsigned nparts;
    rvm__part part[RVM__MOST_PARTS];
} rvm__cached;

/* Looks for an entry. Errors: FORMAT (it was damaged and is removed), IO, MEMORY; out->file is NULL then. */
rvm_status rvm__cache_get(rvm__cache *c, const rvm__bytes *key, rvm__cached *out, rvm_error *err);
void rvm__cached_free(const rvm__cache *c, rvm__cached *x);
/* Keeps an entry of n parts, RVM__MOST_PARTS at most; those used longest ago go where there are too many. Errors: IO, LIMIT
 * (it alone is too large). */
rvm_status rvm__cache_put(rvm__cache *c, const rvm__bytes *key, const rvm__part *part, unsigned n, rvm_error *err);
void rvm__cache_remove(rvm__cache *c, const rvm__bytes *key);

#endif

/* records.h: inside rvm_jit. Code in records, by all that it depends on, the program by its identity; a record also
 * remembers that something could not be compiled. */
#ifndef RVM_JIT_RECORDS_H
#define RVM_JIT_RECORDS_H

#include <pthread.h>

#include "cache.h"
#include "load.h"
#include "module.h"

typedef struct rvm__record {
    struct rvm__record *next;
    uint64_t id[2];     /* of the program */
    rvm__lowering what; /* its p means nothing */
    rvm__compiled code;
    rvm__loaded loaded;
    rvm_error why; /* code RVM_OK: it was compiled */
} rvm__record;

struct rvm_jit {
    rvm_jit_options o;
    uint32_t threads; /* of those options, a number */
    rvm_allocator al;
    pthread_mutex_t lock; /* of all below */
    bool has_lock;
    char path[PATH_MAX]; /* of the module */
    const rvm__module *module;
    rvm__compiler *compiler; /* NULL: not opened yet */
    char about[200];
    bool has_cache;      /* it was looked for */
    rvm__cache *cache;   /* NULL: none */
    rvm__bytes material; /* of all code that is compiled here; empty: nothing is kept */
    rvm_error trouble;   /* with the cache, that nobody was told of yet */
    rvm__record *records;
    struct attachment *attached;
    rvm_jit_totals totals;
};

double rvm__seconds(void); /* of a clock */
/* Locked, or before anybody knows j; opens what is not open yet. A cache is there or not: that does not matter but to who
 * asks. */
rvm_status rvm__open_compiler(rvm_jit *j, rvm_error *err);
void rvm__open_cache(rvm_jit *j);

bool rvm__same_code(const rvm__lowering *a, const rvm__lowering *b); /* but for the program */
/* Locked. A record that is there, or a new one; NULL: out of memory, which is not remembered, or it would have to be
 * compiled and is not to be, or not even looked for in the cache. */
const rvm__record *rvm__obtain(rvm_jit *j, const uint64_t id[2], const rvm__lowering *asked, bool compiles, bool looks);
/* Locked: who asked for notices. */
void rvm__tell(rvm_jit *j, const rvm__lowering *what, const rvm__compiled *code, const rvm_error *why);

#endif

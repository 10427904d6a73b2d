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
    rvm_error why; /* code RVM_OK: it was compiled; MEMORY: noticed once, then forgotten */
    bool noticed;  /* by a notice */
} rvm__record;

struct rvm_jit {
    rvm_jit_options o;
    uint32_t threads;       /* of those options, a number */
    rvm_allocator given;    /* by the options; it is called by one thread at a time, */
    pthread_mutex_t memory; /* which holds this, the last lock that is taken */
    rvm_allocator al;       /* that, for any thread */
    pthread_mutex_t lock;   /* of all below */
    pthread_cond_t changed; /* `finished` has */
    bool has_lock;          /* and `changed` */
    bool busy;              /* the compiler and its module belong to a job, or to who seized them (job.h) */
    bool has_thread;        /* of the last job */
    pthread_t thread;
    uint64_t finished;   /* atomic: so often somebody let go of the compiler */
    char path[PATH_MAX]; /* of the module */
    char libdevice[PATH_MAX];
    const rvm__module *module;
    rvm__compiler *compiler; /* NULL: not opened yet */
    char about[200];
    bool has_cache;    /* it was looked for */
    rvm__cache *cache; /* NULL: none */
    rvm__bytes key;    /* of all code that is compiled here; empty: nothing is kept */
    rvm_error trouble; /* with the cache, that nobody was told of yet */
    rvm__record *records;
    struct attachment *attached;
    rvm_jit_totals totals;
};

/* ---- code.c ---- */
double rvm__seconds(void); /* of a clock */
/* Unlocked, by who has the compiler: opens it if it is not open yet. */
rvm_status rvm__open_compiler(rvm_jit *j, rvm_error *err);
/* Locked, or before anybody knows j. A cache is there or not: that does not matter but to who asks. */
void rvm__open_cache(rvm_jit *j);

/* Locked: who asked for notices. */
void rvm__tell(rvm_jit *j, const rvm__lowering *what, const rvm__compiled *code, const rvm_error *why);
/* Locked. Whether the cache has code for r; else *key finds it there later, and is empty if nothing is kept. */
bool rvm__look_in_cache(rvm_jit *j, const rvm__lowering *what, rvm__record *r, rvm__bytes *key);
void rvm__add_record(rvm_jit *j, rvm__record *r); /* it is made: code, or why not */
/* Locked: by the job that made the object, which it takes, or could not. */
void rvm__record_made(rvm_jit *j, rvm__record *r, rvm__object *object, const rvm__bytes *key, const rvm_error *why);

/* ---- records.c ---- */
bool rvm__same_code(const rvm__lowering *a, const rvm__lowering *b);     /* but for the program */
enum rvm__asks { RVM__ASKS_KNOWN, RVM__ASKS_CACHE, RVM__ASKS_COMPILER }; /* each for what those before it ask for, too */
/* Locked. A record that is there, or that the cache has; or NULL. *pending: it, or something else, is being compiled, and
 * asking again makes sense when j->finished has changed; else *why says why there is none if the compiler was asked for. */
const rvm__record *rvm__obtain(rvm_jit *j, const uint64_t id[2], const rvm__lowering *asked, enum rvm__asks asks,
                               bool *pending, rvm_error *why);

#endif

/* job.c: what compiles, in a thread beside the runs that asked for it.
 *
 * The thread gets the program's bytes rather than the program, which may be
 * freed meanwhile, and decodes and verifies them. While there is a job, or
 * somebody has seized the compiler, `busy` is set, and nobody else uses the
 * compiler; all else is guarded by the lock, which is free while LLVM works.
 * LLVM cannot be interrupted: what is no longer wanted is compiled to the end,
 * and kept. */
#include "job.h"
#include "support.h"
#include "thread.h"

#include <string.h>
#include <time.h>

enum { STACK = 8 << 20 }; /* loading and linking; what compiles has a larger one (module.c) */

typedef struct job {
    rvm_jit *j;
    rvm__lowering what;
    rvm__record *r;
    rvm__bytes key; /* of the cache; empty: it is not kept */
    size_t size;
    char bytes[]; /* of the program */
} job;

void rvm__seize_compiler(rvm_jit *j) {
    pthread_mutex_lock(&j->lock);
    while (j->busy) pthread_cond_wait(&j->changed, &j->lock);
    j->busy = true;
    pthread_mutex_unlock(&j->lock);
}

void rvm__yield_compiler(rvm_jit *j) {
    pthread_mutex_lock(&j->lock);
    j->busy = false;
    __atomic_add_fetch(&j->finished, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
}

/* Unlocked: an object, by LLVM. */
static rvm_status compile(const job *w, rvm__object *object, rvm_error *err) {
    rvm_program *p = NULL;
    rvm__lowering what = w->what;
    rvm_status status = rvm_program_load(w->bytes, w->size, "", &w->j->al, &p, err);
    what.p = p;
    if (!status) status = rvm__open_compiler(w->j, err);
    if (!status) status = w->j->module->compile(w->j->compiler, &what, object, err);
    rvm_program_free(p);
    return status;
}

static void free_job(job *w) {
    rvm__bytes_free(&w->key);
    rvm__realloc(&w->j->al, w, sizeof *w + w->size, 0);
}

static void *work(void *p) {
    job *w = p;
    rvm_jit *j = w->j;
    rvm__object object = {0};
    rvm_error why = {0};
    why.code = compile(w, &object, &why);
    pthread_mutex_lock(&j->lock);
    rvm__record_made(j, w->r, &object, w->key.n ? &w->key : NULL, &why);
    free_job(w);
    pthread_mutex_unlock(&j->lock);
    rvm__yield_compiler(j);
    return NULL;
}

static job *new_job(rvm_jit *j, const rvm__lowering *what, rvm__record *r, rvm__bytes *key) {
    void *bytes;
    size_t size;
    if (rvm_program_save(what->p, &bytes, &size, NULL)) return NULL;
    job *w = rvm__realloc(&j->al, NULL, 0, sizeof *w + size);
    if (w) {
        *w = (job){.j = j, .what = *what, .r = r, .key = *key, .size = size};
        memcpy(w->bytes, bytes, size);
        *key = (rvm__bytes){.al = key->al};
    }
    rvm_program_free_bytes(what->p, bytes, size);
    return w;
}

bool rvm__job_start(rvm_jit *j, const rvm__lowering *what, rvm__record *r, rvm__bytes *key) {
    job *w = new_job(j, what, r, key);
    if (!w) return false;
    if (j->has_thread) pthread_join(j->thread, NULL); /* which has let go of the lock, and ends */
    j->has_thread = j->busy = rvm__thread_start(&j->thread, STACK, work, w);
    if (!j->busy) free_job(w);
    return j->busy;
}

void rvm__job_wait(rvm_jit *j) {
    enum { PERIOD = 2000000 }; /* ns: a cancel is a flag, which nobody signals */
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_cond_timedwait(&j->changed, &j->lock, &until);
}

void rvm__job_end(rvm_jit *j) {
    if (j->has_thread) pthread_join(j->thread, NULL);
    j->has_thread = false;
}

/* What waits looks at a clock that nobody sets. */
static bool make_condition(pthread_cond_t *to) {
    pthread_condattr_t a;
    if (pthread_condattr_init(&a)) return false;
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    const bool good = !pthread_cond_init(to, &a);
    pthread_condattr_destroy(&a);
    return good;
}

rvm_status rvm__jobs_begin(rvm_jit *j, rvm_error *err) {
    if (pthread_mutex_init(&j->memory, NULL)) return rvm__fail_memory(err);
    if (pthread_mutex_init(&j->lock, NULL)) goto fail_memory;
    if (!make_condition(&j->changed)) goto fail_lock;
    j->has_lock = true;
    return RVM_OK;
fail_lock:
    pthread_mutex_destroy(&j->lock);
fail_memory:
    pthread_mutex_destroy(&j->memory);
    return rvm__fail_memory(err);
}

void rvm__jobs_end(rvm_jit *j) {
    if (!j->has_lock) return;
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
    pthread_mutex_destroy(&j->memory);
}

/* guarded.c: where memory runs out in LLVM, or it crashes.
 *
 * LLVM reports no lack of memory: it ends the process. But C++ asks a handler before it bails out, and so does LLVM where it
 * allocates by malloc. Ours goes back to where LLVM was called from, by a jump over LLVM's frames, and what they own is
 * lost, so that LLVM is in no state to be used again: from then on every request fails, and nothing of LLVM is freed but a
 * reserve, with which the interpreter can go on.
 *
 * A crash (crash.h) is a fault of one of LLVM's passes, in what the module at hand owns: it is left by the same jump, and
 * LLVM is used again, as clang does that has such a fault in a library.
 *
 * That is the process's state, as LLVM's own is; hence the globals. Threads and code that are not ours find what was there
 * before: their own handler, or std::bad_alloc. Both libraries are C++, so they are found by their mangled names; where one
 * has no such function, the process ends as it did.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "guarded.h"
#include "crash.h"
#include "support.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef void handler(void);
typedef void bad_alloc_handler(void *userdata, const char *reason, bool diagnostics);

static const char set_new_handler[] = "_ZSt15set_new_handlerPFvvE", throw_bad_alloc[] = "_ZSt17__throw_bad_allocv",
                  install_bad_alloc_handler[] = "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool ran_out;
/* NULL: this thread is not in LLVM for us. Signals' handlers look there, too, in any thread: it must be there from the
 * start. */
static _Thread_local __attribute__((tls_model("initial-exec"))) sigjmp_buf *way_out;
enum { OUT_OF_MEMORY = 1, CRASHED };
static handler *(*set_handler)(handler *);
static handler *before, *throw_it;
enum { RESERVE = 4 << 20 }; /* of addresses; nothing is written there */
static void *_Atomic reserve;

static void leave(void) {
    if (!way_out) return;
    atomic_store(&ran_out, true);
    free(atomic_exchange(&reserve, NULL));
    siglongjmp(*way_out, OUT_OF_MEMORY);
}

static void leave_crashed(void) {
    if (way_out) siglongjmp(*way_out, CRASHED);
}

static void on_new(void) {
    leave();
    if (before)
        before();
    else if (throw_it)
        throw_it();
    else
        abort();
}

static void on_bad_alloc(void *userdata, const char *reason, bool diagnostics) {
    (void)userdata, (void)reason, (void)diagnostics;
    leave();
    abort(); /* as LLVM does */
}

/* In the process, or in what this module needs. ISO C has no conversion of an address to a function. */
static void find(const char *name, void *function) {
    void *const found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
}

static void set_up(void) {
    void (*install)(bad_alloc_handler *, void *);
    find(set_new_handler, &set_handler);
    find(throw_bad_alloc, &throw_it);
    find(install_bad_alloc_handler, &install);
    void *const kept = malloc(RESERVE); /* the process's, for when no allocator has any left */
    atomic_store(&reserve, kept);
    atomic_store(&ran_out, !kept);
    if (set_handler) before = set_handler(on_new);
    if (install) install(on_bad_alloc, NULL);
}

static void *alloc_unguarded(void *userdata, void *p, size_t old_size, size_t new_size) {
    const rvm_allocator *al = userdata;
    sigjmp_buf *const kept = way_out;
    way_out = NULL;
    void *const q = rvm__realloc(al, p, old_size, new_size);
    way_out = kept;
    return q;
}

rvm_allocator rvm__unguarded(const rvm_allocator *al) {
    return (rvm_allocator){alloc_unguarded, (void *)(uintptr_t)al};
}

bool rvm__llvm_out_of_memory(void) {
    return atomic_load(&ran_out);
}

rvm_status rvm__guarded(rvm_status (*call)(void *request, rvm_error *err), void *request, bool *crashed, rvm_error *err) {
    sigjmp_buf out;
    pthread_once(&once, set_up);
    if (rvm__llvm_out_of_memory()) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "LLVM ran out of memory");
    rvm__crash_watch(leave_crashed);
    rvm_status status = RVM_OK;
    const int left = sigsetjmp(out, 1);
    if (!left) {
        way_out = &out;
        status = call(request, err);
    }
    way_out = NULL;
    rvm__crash_end();
    *crashed = left == CRASHED;
    if (left == CRASHED) return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "LLVM crashes when it compiles this");
    return left ? rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "LLVM ran out of memory") : status;
}

/* c_stack.c: see c_stack.h. To ask for the bounds takes as long as thousands of instructions on the first thread of a
 * process, whose stack grows up to its limit (RLIMIT_STACK); so each thread remembers its own. They change with nothing
 * that a machine does, hence the one variable of the library that is no machine's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_getattr_np */
#endif
#include "c_stack.h"

#include <pthread.h>

enum { FOREIGN = 64 << 10 };

static _Thread_local struct { uintptr_t low, high; /* high 0: not asked for yet */ } bounds;

/* Where they cannot be known, every stack is a foreign one. */
static void find_bounds(void) {
    pthread_attr_t a;
    void *low = NULL;
    size_t size = 0;
    bounds.low = bounds.high = 1;
    if (pthread_getattr_np(pthread_self(), &a)) return;
    if (!pthread_attr_getstack(&a, &low, &size)) {
        bounds.low = (uintptr_t)low;
        bounds.high = (uintptr_t)low + size;
    }
    pthread_attr_destroy(&a);
}

uintptr_t rvm__c_stack_end(void) {
    const uintptr_t here = RVM__C_STACK_HERE;
    if (!bounds.high) find_bounds();
    if (here > bounds.low && here < bounds.high) return bounds.low;
    return here > FOREIGN ? here - FOREIGN : 0;
}

bool rvm__c_stack_has(size_t bytes) {
    return RVM__C_STACK_HERE - rvm__c_stack_end() >= bytes;
}

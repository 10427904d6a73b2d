/* thread.c: see thread.h. A thread begins with the mask of the one that starts it. */
#define _GNU_SOURCE /* pthread_attr_setstacksize, sched_getaffinity, adaptive mutexes */
#include "thread.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

uint32_t rvm__processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (uint32_t)CPU_COUNT(&set);
}

uint64_t rvm__nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool rvm__lock_init(pthread_mutex_t *lock) {
    pthread_mutexattr_t a;
    if (pthread_mutexattr_init(&a)) return false;
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    const bool good = !pthread_mutex_init(lock, &a);
    pthread_mutexattr_destroy(&a);
    return good;
}

bool rvm__thread_start(pthread_t *thread, size_t stack, void *(*run)(void *argument), void *argument) {
    pthread_attr_t a;
    sigset_t all, before;
    if (pthread_attr_init(&a)) return false;
    sigfillset(&all);
    bool good = (!stack || !pthread_attr_setstacksize(&a, stack)) && !pthread_sigmask(SIG_SETMASK, &all, &before);
    if (good) {
        good = !pthread_create(thread, &a, run, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&a);
    return good;
}

/* thread.h: threads of the library. */
#ifndef RVM_THREAD_H
#define RVM_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread that calls run(argument), with so many bytes of C stack; 0: as many as threads have. It handles no signal of the
 * process. False: it cannot be started. */
bool rvm__thread_start(pthread_t *thread, size_t stack, void *(*run)(void *argument), void *argument);

/* A lock that is held for less time than it takes to sleep and be woken: who waits for it looks again first, where the C
 * library has such. False: as pthread_mutex_init. */
bool rvm__lock_init(pthread_mutex_t *lock);

/* That the process may use. */
uint32_t rvm__processors(void);
uint64_t rvm__nanoseconds(void); /* of a clock */

/* To whoever shares the processor, by who looks again and again whether something has come. */
static inline void rvm__thread_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif

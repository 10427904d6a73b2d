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

/* That the process may use at a time: by its affinity, and by the quotas of its control group. */
uint32_t rvm__processors(void);
/* The least of quotas of a control group, "/a/b", and those around it, in folders below that one, rounded up; UINT32_MAX:
 * there are none (Linux, Control Group v2, cpu.max). */
uint32_t rvm__quota_of(const char *root, const char *group);
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

/* thread.c: see thread.h. A thread begins with the mask of the one that starts it. */
#define _GNU_SOURCE /* pthread_attr_setstacksize, sched_getaffinity, adaptive mutexes */
#include "thread.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* How many processors a time in each period comes to, both in the file; more than there are: it names no limit. */
static uint32_t limit_in(const char *path) {
    unsigned long long time = 0, period = 0;
    FILE *f = fopen(path, "re");
    const bool limits = f && fscanf(f, "%llu %llu", &time, &period) == 2 && time && period;
    if (f) fclose(f);
    const unsigned long long n = limits ? time / period + (time % period != 0) : UINT32_MAX;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

uint32_t rvm__quota_of(const char *root, const char *group) {
    char path[4096];
    size_t n = strlen(group);
    uint32_t least = UINT32_MAX;
    for (;; n--) { /* the group, and those around it */
        const bool fits = snprintf(path, sizeof path, "%s%.*s/cpu.max", root, (int)n, group) < (int)sizeof path;
        const uint32_t limit = fits ? limit_in(path) : UINT32_MAX;
        if (limit < least) least = limit;
        while (n && group[n - 1] != '/') n--;
        if (!n) return least;
    }
}

/* The group of the process, as control groups version 2 have it. */
static uint32_t quota(void) {
    char line[4096];
    uint32_t found = UINT32_MAX;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "0::", 3)) found = rvm__quota_of("/sys/fs/cgroup", line + 3);
    }
    if (f) fclose(f);
    return found;
}

uint32_t rvm__processors(void) {
    cpu_set_t set;
    const uint32_t n = sched_getaffinity(0, sizeof set, &set) ? 1 : (uint32_t)CPU_COUNT(&set), most = quota();
    return n < most ? n : most;
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

/* crash.c: see crash.h. The handlers are the process's, and there only while LLVM is at work; who else has some finds them
 * called with what is not ours. Where the sanitizers are they keep theirs, which report a fault. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sigaltstack */
#endif
#include "crash.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { SIGNALS = sizeof signals / sizeof *signals };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned watches;
static struct sigaction before[SIGNALS];
static void (*leave_from)(void);

static void pass_on(const struct sigaction *to, int signal, siginfo_t *info, void *context) {
    if (to->sa_flags & SA_SIGINFO) {
        to->sa_sigaction(signal, info, context);
    } else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) {
        to->sa_handler(signal);
    } else if (to->sa_handler == SIG_DFL || info->si_code > 0) { /* a fault is not ignored */
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        raise(signal); /* once this handler has returned */
    }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    leave_from();
    for (int k = 0; k < SIGNALS; k++)
        if (signals[k] == signal) pass_on(&before[k], signal, info, context);
}

#ifdef __SANITIZE_ADDRESS__
static const bool watched = false;
#else
static const bool watched = true;
#endif

void rvm__crash_watch(void (*leave)(void)) {
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!watched) return;
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&lock);
    leave_from = leave;
    for (int k = 0; !watches && k < SIGNALS; k++) {
        sigaction(signals[k], NULL, &before[k]); /* known before ours may ask for it */
        sigaction(signals[k], &ours, NULL);
    }
    watches++;
    pthread_mutex_unlock(&lock);
}

void rvm__crash_end(void) {
    if (!watched) return;
    pthread_mutex_lock(&lock);
    watches--;
    for (int k = 0; !watches && k < SIGNALS; k++) {
        struct sigaction now;
        sigaction(signals[k], NULL, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal) sigaction(signals[k], &before[k], NULL);
    }
    pthread_mutex_unlock(&lock);
}

void rvm__crash_thread(void *stack) {
    const stack_t s = {.ss_sp = stack, .ss_size = RVM__CRASH_STACK, .ss_flags = stack ? 0 : SS_DISABLE};
    sigset_t ours;
    if (!watched) return;
    sigaltstack(&s, NULL);
    sigemptyset(&ours);
    for (int k = 0; k < SIGNALS; k++) sigaddset(&ours, signals[k]);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL); /* a fault ends the process where it is blocked */
}

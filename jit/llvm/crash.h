/* crash.h: inside the module. Signals by which a fault of LLVM's would end the process. */
#ifndef RVM_JIT_CRASH_H
#define RVM_JIT_CRASH_H

#include <stdbool.h>

/* From here to the end of the watch, which nests, SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT call `leave`, in the thread
 * that has the signal, which does not return where the thread is watched; else they go to whom they went to before. One
 * `leave` for all. Any thread. */
void rvm__crash_watch(void (*leave)(void));
void rvm__crash_end(void);
/* This thread, which is ours, takes those signals. stack: where it does, since its own may be used up, RVM__CRASH_STACK
 * bytes; NULL: it ends. */
enum { RVM__CRASH_STACK = 64 << 10 };
void rvm__crash_thread(void *stack);

#endif

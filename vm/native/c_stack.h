/* c_stack.h: how much of the C stack is left to the calling thread. Frames of the interpreter are in memory of the machine;
 * native code recurses on the C stack, and so looks how far it may. */
#ifndef RVM_C_STACK_H
#define RVM_C_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that native code leaves to what it calls: functions of the machine, elementary functions, the caller's progress
 * function. */
enum { RVM__C_STACK_RESERVE = 32 << 10 };

/* The address below which the thread must not go. Of a stack that is not the thread's own, as a coroutine's, 64 KiB are
 * taken to be left. */
uintptr_t rvm__c_stack_end(void);
/* Whether so many bytes are left. */
bool rvm__c_stack_has(size_t bytes);

/* Where the calling function is on it. */
#define RVM__C_STACK_HERE ((uintptr_t)__builtin_frame_address(0))

#endif

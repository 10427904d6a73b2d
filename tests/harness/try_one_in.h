/* try_one_in.h: how much is tried where all takes long. */
#ifndef RVM_TESTS_TRY_ONE_IN_H
#define RVM_TESTS_TRY_ONE_IN_H

/* Tests that try everything try one in so many under the sanitizers, which take five times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { TRY_ONE_IN = 5 };
#else
enum { TRY_ONE_IN = 1 };
#endif

#endif

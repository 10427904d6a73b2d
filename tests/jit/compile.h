/* compile.h: a module of IR made to run in this process, for the tests of jit/. */
#ifndef RVM_TEST_COMPILE_H
#define RVM_TEST_COMPILE_H

#include "build.h"

typedef struct compiled {
    struct LLVMOrcOpaqueLLJIT *jit;
    char why[400]; /* of a failure */
} compiled;

/* Optimises k's module at that level (0 to 3) for this processor, or for the oldest of its kind, and links it; false:
 * c->why. End it in any case.
 */
bool compile(compiled *c, rvm__build *k, bool oldest, int level);
void *compiled_function(compiled *c, const char *name); /* NULL: there is none, c->why */
void compiled_end(compiled *c);

/* What is built here is for: a processor that has nothing of its own. */
extern const rvm__traits plain;

#endif

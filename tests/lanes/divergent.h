/* divergent.h: random parallel blocks whose instances part ways: nested `if`, `for` and `while` with as many trips as an
 * instance needs, calls, compute regions with locals, sums that all add to.
 *
 * What makes them run without an error: conditions, bounds and lengths read only what nothing writes meanwhile; indices are
 * masked (& 3), divisors odd; what a compute part changes is read but not asked about until `do`.
 */
#ifndef RVM_TEST_DIVERGENT_H
#define RVM_TEST_DIVERGENT_H

#include <stdint.h>

/* The text of the program of a seed (to be freed); its last function is `main_fn`, whose arrays have the block's length. */
char *divergent_program(uint64_t seed);

#endif

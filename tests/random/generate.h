/* generate.h: random programs that assemble, verify and run without an error, forward and backward.
 *
 * What makes them reversible by construction:
 *   - a place that a condition, a bound, a release or an expression still to be taken back has read is locked: nothing
 *     writes it until then; `do` locks all that its `compute` touched;
 *   - the index masks its operand (& 3) and every axis that is indexed so has 4 elements; divisors are odd (| 1);
 *   - reals change by bounded amounts, so that nothing overflows and rounding stays small; i64 and fix never read an f64
 *     or f32, so that they come back bit for bit; an f64 reads no f32, whose residues are larger;
 *   - a function says which of its effects outlive a call: what it leaves on the stack or on a trail. Where something is
 *     to be taken back later (push and pop, a call and its uncall), nothing is left between. A compute part may leave what
 * it likes on its trail. All functions of a type keep to the effects of the first;
 *   - in a parallel block, instances own elements by their index, add to some places without reading them, and only read
 *     the rest.
 */
#ifndef RVM_TEST_GENERATE_H
#define RVM_TEST_GENERATE_H

#include <stdint.h>

/* The text of the program of a seed (to be freed); its last function is `main_fn`, whose arrays have 4 elements an axis. */
char *generate_program(uint64_t seed);

#endif

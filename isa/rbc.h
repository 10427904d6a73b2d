/* rbc.h: the layout of a .rbc file.
 *
 *     "\x89RVM"  u16 major  u16 minor  u64 length of the body  u64 XXH3-64 of the body  body          (little-endian)
 *
 * The version is the library's. Before 1.0 each minor version reads only its own; later, also those before it.
 *
 * Body; v is an unsigned LEB128 number, z a signed one (zigzag), s a string (v length, bytes), b a byte:
 *
 *     v files, an s each
 *     v functions, an s (name) each
 *     v signatures, each: v parameters, each: b type | dimensions << 4, b role, v 1 + an earlier signature, or 0
 *     v variants, each: v signature of the value, z parent - own number, and where that is not 0:
 *         b kind, b level, b stack, v signature of the arguments, a b (is active) for each parameter of the
 *         parent's; v derived, each: v function (difference), v its derived function
 *     each function:
 *         v registers, a b (type) each
 *         v constants, each: b type, 8 bytes
 *         v arrays, each: b type | dimensions << 4
 *         v parameters, each: s name, b is_array | role << 1 | is_function << 3, of an array a v (slot) for each dimension,
 *             of a function value a v (signature)
 *         v instructions, v places in all, each instruction:
 *             b op, b flags, b row of an update, v places where the op lets them vary
 *             z target - pc, or v function, or v variant
 *             each place: v kind | slot << 2, then a v for each index, or for the upper end of a range
 *         positions in runs, until every instruction has one: v length, z file, z line (differences), v column
 *         v symbols, each: s name, v from (difference), v to - from, v is_array | index << 1
 *
 * One program has one encoding: numbers are as short as they can be, runs as long, constants and file names do not
 * repeat, symbols are sorted. The decoder refuses all else, so that text and bytes go round.
 */
#ifndef RVM_RBC_H
#define RVM_RBC_H

#include <stddef.h>
#include <stdint.h>

#define RVM_RBC_MAGIC "\x89RVM"
enum { RVM_RBC_HEADER = 24 };
void rvm__body_id(const void *bytes, size_t size, uint64_t id[2]); /* of a whole file: XXH3-128 of its body */

#endif

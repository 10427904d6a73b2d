/* rbc.h: the layout of a .rbc file.
 *
 *     "\x89RVM"  u16 version of the container  u16 types  u16 pairs  u16 rows  u64 fingerprint of these
 *     u64 length of the body  u64 XXH3-64 of the body  body                                             (little-endian)
 *
 * Types, pairs of opcodes and rows are those of the library that wrote the file, and the fingerprint is of so many from the
 * beginning of its tables. A library reads the file if its own tables begin with the same: what was added at their ends
 * since does not matter. The container's version is of the layout below, and apart from the library's: one is read.
 * docs/contributing.md says which change needs what.
 *
 * Body; v is an unsigned LEB128 number, z a signed one (zigzag), s a string (v length, bytes), b a byte:
 *
 *     v files, an s each
 *     v functions, an s (name) each
 *     v signatures, each: v parameters, each: b type | dimensions << 4, b role, v 1 + an earlier signature, or 0
 *     v variants, each: v signature of the value, z parent - own number, and where that is not 0:
 *         b kind, b level, b ways, v signature of the arguments, a b (is active) for each parameter of the
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
 *     v derivatives written by hand, each: v function (difference), v the function that it is of, b kind,
 *         a b (is active) for each parameter of that
 *     v functions that show their arguments, each: v function (difference), s text
 *
 * One program has one encoding: numbers are as short as they can be, runs as long, constants and file names do not
 * repeat, symbols are sorted. The decoder refuses all else, so that text and bytes go round.
 */
#ifndef RVM_RBC_H
#define RVM_RBC_H

#include "program.h"

#include <stddef.h>
#include <stdint.h>

#define RVM_RBC_MAGIC "\x89RVM"
enum { RVM_RBC_VERSION = 4 };
enum { /* where the fields of the header start, and the body */
       RVM_RBC_AT_VERSION = 4,
       RVM_RBC_AT_TYPES = 6,
       RVM_RBC_AT_PAIRS = 8,
       RVM_RBC_AT_ROWS = 10,
       RVM_RBC_AT_TABLES = 12,
       RVM_RBC_AT_LENGTH = 20,
       RVM_RBC_AT_HASH = 28,
       RVM_RBC_HEADER = 36
};

/* How much of the tables a file was made with. */
typedef struct rvm_tables {
    uint16_t types, pairs, rows;
} rvm_tables;
extern const rvm_tables rvm__tables;                               /* the whole of this library's */
uint64_t rvm__tables_fingerprint(rvm_tables t);                    /* of so many, not more than there are; in microseconds */
void rvm__body_id(const void *bytes, size_t size, uint64_t id[2]); /* of a whole file: XXH3-128 of its body */

rvm_status rvm__encode(const rvm_program *p, void **bytes, size_t *size, rvm_error *err);
rvm_status rvm__decode(const void *bytes, size_t size, const char *name, const rvm_allocator *al, rvm_program **out,
                       rvm_error *err);

#endif

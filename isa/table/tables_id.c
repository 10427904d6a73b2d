/* tables_id.c: the fingerprint of the tables, which bytecode carries: opcodes, rows and types are numbers in a file, and
 * mean something only beside the tables that it was made with.
 *
 * Hashed is what gives the numbers their meaning: names, in their order, operands, signatures and formulas. Partials and
 * documentation are left out: a file holds none of them.
 */
#include "instruction.h"
#include "rbc.h"
#include <string.h>
#include <xxhash.h>

const rvm_tables rvm__tables = {.types = RVM_TYPE_COUNT, .pairs = RVM_PAIR_COUNT, .rows = RVM_ROW_COUNT};

/* Each hash is the seed of the next: xxHash's streaming state would need its allocator. */
static uint64_t with_bytes(uint64_t hash, const void *bytes, size_t size) {
    return XXH3_64bits_withSeed(bytes, size, hash);
}

static uint64_t with_text(uint64_t hash, const char *s) {
    return s ? with_bytes(hash, s, strlen(s) + 1) : with_bytes(hash, "", 0);
}

static uint64_t with_op(uint64_t hash, const rvm_op_info *op, uint16_t types) {
    const uint8_t facts[] = {(uint8_t)op->inverse, (uint8_t)op->access, (uint8_t)(op->types & ((1u << types) - 1))};
    hash = with_text(hash, op->name);
    hash = with_text(hash, op->operands);
    hash = with_text(hash, op->symbol);
    return with_bytes(hash, facts, sizeof facts);
}

static uint64_t with_change(uint64_t hash, unsigned op) {
    const rvm_change_info *info = &rvm__change_info[rvm__change_of(op)];
    for (int k = 0; k < info->places; k++) hash = with_text(hash, info->out[rvm__is_inverse(op)][k]);
    return with_text(hash, info->where);
}

static uint64_t with_row(uint64_t hash, const rvm_row_info *row) {
    const uint8_t facts[] = {(uint8_t)row->sig, row->arity};
    hash = with_text(hash, row->name);
    hash = with_text(hash, row->f);
    return with_bytes(hash, facts, sizeof facts);
}

static uint64_t fingerprint_of(rvm_tables t) {
    uint64_t hash = 0;
    for (int k = 0; k < t.types; k++) hash = with_text(hash, rvm_type_name((rvm_type)k));
    for (int k = 0; k < 2 * t.pairs; k++) hash = with_op(hash, rvm__op_info + k, t.types);
    for (int k = 2 * RVM__PAIRS_BEFORE_CHANGES; k < 2 * t.pairs; k++) hash = with_change(hash, (unsigned)k);
    for (int k = 0; k < t.rows; k++) hash = with_row(hash, rvm__row_info + k);
    return hash;
}

/* That of all tables is asked for whenever a program is saved or loaded: it is computed once; by several threads at a time,
 * the same. 0: not yet. */
uint64_t rvm__tables_fingerprint(rvm_tables t) {
    static uint64_t all;
    const rvm_tables n = rvm__tables;
    if (t.types != n.types || t.pairs != n.pairs || t.rows != n.rows) return fingerprint_of(t);
    uint64_t hash = __atomic_load_n(&all, __ATOMIC_RELAXED);
    if (hash) return hash;
    hash = fingerprint_of(t);
    __atomic_store_n(&all, hash, __ATOMIC_RELAXED);
    return hash;
}

uint32_t rvm_bytecode_version(void) {
    return RVM_RBC_VERSION;
}

uint64_t rvm_bytecode_tables(void) {
    return rvm__tables_fingerprint(rvm__tables);
}

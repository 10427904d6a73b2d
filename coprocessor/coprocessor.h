/* coprocessor.h: what the files of coprocessor/ share. Not installed.
 *
 *   counts.c       what runs asked of the device; counts_csv.c: as text, and back
 *   model.c        a technology's numbers; model_text.c: from text; model_shipped.c: those of the library
 *   price.c        what counts cost by a model
 */
#ifndef RVM_COPROCESSOR_INSIDE_H
#define RVM_COPROCESSOR_INSIDE_H

#include "rvm_coprocessor.h"
#include "support.h"

typedef struct rvm__shipped {
    const char *name, *text;
    size_t size;
} rvm__shipped;
extern const rvm__shipped rvm__shipped_models[]; /* generated; the last has no name */

enum { RVM__MODEL_WORD = 40, RVM__MODEL_TITLE = 200 };
struct rvm_model {
    rvm_allocator al;
    char name[RVM__MODEL_WORD], against[RVM__MODEL_WORD], title[RVM__MODEL_TITLE];
    rvm_law law;
    struct rvm__number {
        double value;
        char *source;
        uint32_t line; /* 0: not there */
    } number[RVM_MODEL_KEYS];
};
/* Empty. */
rvm_status rvm__model_make(const rvm_allocator *al, rvm_model **out, rvm_error *err);
/* Whether it may be so large; what it may be, as words. */
bool rvm__model_takes(rvm_model_key key, double value);
const char *rvm__model_range(rvm_model_key key);

struct rvm_counts {
    rvm_allocator al;
    rvm_counted *kinds;
    uint32_t n, cap;
    rvm_counts_sums sums;
};

/* A sum, or a product, beyond 2^64 - 1 is LIMIT. */
static inline bool rvm__gain(uint64_t *to, uint64_t n, uint64_t times) {
    uint64_t product;
    return !__builtin_mul_overflow(n, times, &product) && !__builtin_add_overflow(*to, product, to);
}

#endif

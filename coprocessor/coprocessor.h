/* coprocessor.h: what the files of coprocessor/ share. Not installed.
 *
 *   counts.c       what runs asked of the device; counts_csv.c: as text, and back
 *   model.c        a technology's numbers; model_text.c: from text; model_shipped.c: those of the library
 *   device.c       a machine beside a host, driven by a queue; device_check.c: what a queue may do
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

/* rvm_counts_add_machine, with so many turns of the run as a whole. */
rvm_status rvm__counts_add_run(rvm_counts *c, const rvm_machine *m, uint64_t times, uint64_t turns, rvm_error *err);

/* Where the device stands: at rest its memory holds what was loaded; else it ran to the other end, and has to come back. */
enum rvm__moved { RVM__AT_REST, RVM__RAN_FORWARD, RVM__RAN_BACK };

/* What holds between two commands. Of each parameter: whether its value, its gradient is on the device. */
typedef struct rvm__device_state {
    enum rvm__moved moved;
    bool backward, gradients; /* the two bits */
    bool swept;               /* the last run was a sweep, which may be taken back */
    bool went_back;           /* the last run went backward */
    uint8_t *value, *gradient;
} rvm__device_state;

struct rvm_device {
    rvm_allocator al;
    rvm_machine *m;
    int64_t fn;
    uint32_t n;
    rvm_arg *args; /* data and shadow_data are owned */
    rvm__device_state now, planned;
    bool keeps; /* the machine keeps shadows */
    bool ran;
    rvm_counts_sums sums; /* transfers, turns, what copying erased */
};
/* Whether the queue may be done from d->now: d->planned is what holds behind it. */
rvm_status rvm__device_check(rvm_device *d, const rvm_queued *queue, uint32_t n, rvm_error *err);
/* What holds behind a run that goes well. */
void rvm__device_ran(rvm__device_state *s, uint32_t n, const rvm_arg *args);

/* A sum, or a product, beyond 2^64 - 1 is LIMIT. */
static inline bool rvm__gain(uint64_t *to, uint64_t n, uint64_t times) {
    uint64_t product;
    return !__builtin_mul_overflow(n, times, &product) && !__builtin_add_overflow(*to, product, to);
}

#endif

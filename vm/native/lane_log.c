/* lane_log.c: what stores of a group of lanes replaced (native.h), in batches: | addresses | values | masks |. */
#include <string.h>

#include "memory.h"
#include "native.h"

enum { MOST_BATCHES = 1024 }; /* 18 MB, which stay; so there are none where memory has a limit */

static size_t bytes_of(uint64_t lanes) {
    return RVM__NATIVE_LOG * (2 * lanes + 1) * sizeof(uint64_t);
}

bool rvm__native_keep_stores(rvm_machine *m, uint64_t batches, uint64_t lanes, char *const *at, const uint64_t *old,
                             const uint64_t *mask) {
    const size_t values = RVM__NATIVE_LOG * lanes * sizeof *old, size = bytes_of(lanes);
    void **log = &m->store.scratch[SCRATCH_LANES];
    if (batches >= MOST_BATCHES || m->o.memory) return false;
    if (!rvm__reserve(m, log, &m->store.cap_scratch[SCRATCH_LANES], (batches + 1) * size, 1)) return false;
    char *to = (char *)*log + batches * size;
    memcpy(to, at, values);
    memcpy(to + values, old, values);
    memcpy(to + 2 * values, mask, RVM__NATIVE_LOG * sizeof *mask);
    return true;
}

static void put_one(char *const *at, const uint64_t *old, uint64_t mask, uint64_t lanes) {
    if (mask == RVM__NATIVE_ROW) {
        memcpy(at[0], old, lanes * sizeof *old);
        return;
    }
    for (uint64_t l = 0; l < lanes; l++)
        if (mask >> l & 1) memcpy(at[l], &old[l], sizeof *old);
}

void rvm__native_put_back(rvm_machine *m, uint64_t batches, uint64_t lanes) {
    const size_t values = RVM__NATIVE_LOG * lanes * sizeof(uint64_t);
    for (uint64_t b = batches; b-- > 0;) {
        const char *from = (const char *)m->store.scratch[SCRATCH_LANES] + b * bytes_of(lanes);
        char *const *at = (char *const *)(const void *)from;
        const uint64_t *old = (const uint64_t *)(const void *)(from + values);
        const uint64_t *mask = (const uint64_t *)(const void *)(from + 2 * values);
        for (unsigned n = RVM__NATIVE_LOG; n-- > 0;) put_one(at + n * lanes, old + n * lanes, mask[n], lanes);
    }
}

/* lane_log.c: what stores of a group of lanes replaced, and what it is to add when it is done (lane_sums.c): entries of
 * native.h, end to end. */
#include <string.h>

#include "memory.h"
#include "native.h"

enum { MOST_KEPT = 18 << 20 }; /* bytes, which stay; so there are none where memory has a limit */

static bool keep(rvm_machine *m, int which, uint64_t kept, const char *log, uint64_t size) {
    void **all = &m->store.scratch[which];
    if (kept + size > MOST_KEPT || m->o.memory) return false;
    if (!rvm__reserve(m, all, &m->store.cap_scratch[which], kept + size, 1)) return false;
    memcpy((char *)*all + kept, log, size);
    return true;
}

bool rvm__native_keep_stores(rvm_machine *m, uint64_t kept, const char *log, uint64_t size) {
    return keep(m, SCRATCH_LANES, kept, log, size);
}

bool rvm__native_keep_additions(rvm_machine *m, uint64_t kept, const char *log, uint64_t size) {
    return keep(m, SCRATCH_LATER, kept, log, size);
}

/* The 64 bits before p, which moves there. */
static uint64_t take(const char **p) {
    uint64_t bits;
    memcpy(&bits, *p -= sizeof bits, sizeof bits);
    return bits;
}

static void put_lanes(const char **p, uint64_t mask, uint64_t lanes) {
    const char *at = *p - lanes * sizeof(char *), *old = at - lanes * sizeof(uint64_t);
    *p = old;
    for (uint64_t l = 0; l < lanes; l++) {
        char *to;
        memcpy(&to, at + l * sizeof to, sizeof to);
        if (mask >> l & 1) memcpy(to, old + l * sizeof(uint64_t), sizeof(uint64_t));
    }
}

static void put_back(const char *log, uint64_t size, uint64_t lanes) {
    for (const char *p = log + size; p != log;) {
        const uint64_t tells = take(&p), run = tells / RVM__NATIVE_RUN * sizeof(uint64_t);
        if (run) {
            char *to;
            memcpy(&to, p -= sizeof to, sizeof to);
            memcpy(to, p -= run, run);
        } else
            put_lanes(&p, tells, lanes);
    }
}

void rvm__native_put_back(rvm_machine *m, uint64_t kept, uint64_t lanes, const char *log, uint64_t size) {
    put_back(log, size, lanes);
    if (kept) put_back(m->store.scratch[SCRATCH_LANES], kept, lanes);
}

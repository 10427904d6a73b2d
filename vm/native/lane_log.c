/* lane_log.c: what stores of a group of lanes replaced, and what it is to add when it is done: entries of native.h, end to
 * end. */
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

/* What one lane adds. */
static void add_lane(const char *log, uint64_t size, uint64_t lane) {
    for (const char *p = log; p != log + size;) {
        uint64_t tells;
        memcpy(&tells, p, sizeof tells);
        const bool own = tells & RVM__NATIVE_OWN;
        const char *where = p + sizeof tells, *what = where + (own ? RVM__NATIVE_LANES : 1) * sizeof(char *);
        p = what + RVM__NATIVE_LANES * sizeof(double);
        if (!(tells >> lane & 1)) continue;
        char *to;
        double sum, v;
        memcpy(&to, where + own * lane * sizeof to, sizeof to);
        memcpy(&v, what + lane * sizeof v, sizeof v);
        memcpy(&sum, to, sizeof sum);
        sum += v;
        memcpy(to, &sum, sizeof sum);
    }
}

/* An entry of which all lanes add at one address. */
typedef struct common {
    uint64_t tells;
    double *to;
    double v[RVM__NATIVE_LANES];
} common;
enum { ALL = (1 << RVM__NATIVE_LANES) - 1, FEW = 4 };

/* After how many entries, all of that kind, addresses come again in the same order; 0: they do not, or it is no such log. */
static size_t period_of(const common *c, uint64_t size) {
    const size_t n = size / sizeof *c;
    size_t period = n;
    if (size % sizeof *c) return 0;
    for (size_t k = 0; k < n; k++) {
        if (c[k].tells != ALL) return 0;
        if (period == n && k && c[k].to == c->to) period = k;
        if (k >= period && c[k].to != c[k - period].to) return 0;
    }
    return period && n % period == 0 ? period : 0;
}

static bool are_different(const common *c, size_t n) {
    bool differ = true;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < k; i++) differ &= c[k].to != c[i].to;
    return differ;
}

/* Sums stay in registers: period is constant where this goes. */
static inline void add_few(const common *c, size_t n, size_t period, bool down) {
    double sum[FEW];
    for (size_t k = 0; k < period; k++) sum[k] = *c[k].to;
    for (size_t l = 0; l < RVM__NATIVE_LANES; l++)
        for (size_t i = 0, lane = down ? RVM__NATIVE_LANES - 1 - l : l; i < n; i += period)
            for (size_t k = 0; k < period; k++) sum[k] += c[i + k].v[lane];
    for (size_t k = 0; k < period; k++) *c[k].to = sum[k];
}

static void add_many(const common *c, size_t n, bool down) {
    for (size_t l = 0; l < RVM__NATIVE_LANES; l++)
        for (size_t i = 0, lane = down ? RVM__NATIVE_LANES - 1 - l : l; i < n; i++) *c[i].to += c[i].v[lane];
}

static void add_periods(const common *c, size_t n, size_t period, bool down) {
    switch (period <= FEW && are_different(c, period) ? period : 0) {
    case 1: add_few(c, n, 1, down); break;
    case 2: add_few(c, n, 2, down); break;
    case 3: add_few(c, n, 3, down); break;
    case 4: add_few(c, n, 4, down); break;
    default: add_many(c, n, down);
    }
}

void rvm__native_add_kept(rvm_machine *m, uint64_t kept, uint64_t down, const char *log, uint64_t size) {
    if (kept && rvm__native_keep_additions(m, kept, log, size)) {
        log = m->store.scratch[SCRATCH_LATER];
        size += kept;
        kept = 0;
    }
    const common *c = (const common *)(const void *)log;
    const size_t period = kept ? 0 : period_of(c, size);
    if (period) {
        add_periods(c, size / sizeof *c, period, down);
        return;
    }
    for (uint64_t l = 0; l < RVM__NATIVE_LANES; l++) {
        const uint64_t lane = down ? RVM__NATIVE_LANES - 1 - l : l;
        if (kept) add_lane(m->store.scratch[SCRATCH_LATER], kept, lane);
        add_lane(log, size, lane);
    }
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

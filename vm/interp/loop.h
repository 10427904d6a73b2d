/* loop.h: how often counted loops run. */
#ifndef RVM_LOOP_H
#define RVM_LOOP_H

#include <stdint.h>

/* max(0, ceil((hi - lo) / s)) without overflow; s is not 0. */
static inline uint64_t loop_trips(int64_t lo, int64_t hi, int64_t s) {
    if (s > 0)
        return hi > lo ? (s == 1 ? (uint64_t)hi - (uint64_t)lo : ((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)s + 1) : 0;
    return lo > hi ? ((uint64_t)lo - (uint64_t)hi - 1) / (-(uint64_t)s) + 1 : 0;
}

/* Trips still to come, the one at index `at` among them, up to `end`, which is some steps away. */
static inline uint64_t loop_left(int64_t at, int64_t end, int64_t s) {
    const uint64_t way = at < end ? (uint64_t)end - (uint64_t)at : (uint64_t)at - (uint64_t)end;
    return (s == 1 ? way : way / (s < 0 ? -(uint64_t)s : (uint64_t)s)) + 1;
}

#endif

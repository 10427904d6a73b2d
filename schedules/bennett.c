/* bennett.c: sectors, all but the last taken back. C. H. Bennett, SIAM J. Comput. 18 (1989).
 *
 * n steps are min(k, n) sectors of n / k steps, the first n mod k of them one longer: a sector in front is run twice, the
 * last once, but 100 steps by 4 take 791 evaluations with the longer in front and 847 with the rest behind. */
#include "schedule.h"

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Where sector j of n steps begins. */
static uint32_t sector_begin(uint32_t n, uint32_t parts, uint32_t j) {
    return j * (n / parts) + least(j, n % parts);
}

static rvm__task sector(rvm__task t, uint32_t parts, uint32_t j, bool back) {
    const uint32_t begin = sector_begin(t.len, parts, j), end = sector_begin(t.len, parts, j + 1);
    return (rvm__task){.lo = t.lo + begin, .len = end - begin, .budget = t.budget, .back = back};
}

static rvm_status expand(rvm__maker *m, const void *how, rvm__task t) {
    (void)how;
    if (t.len == 1) return rvm__add_move(m, t.back ? RVM_MOVE_UNCOMPUTE : RVM_MOVE_FORWARD, t.lo + 1);
    const uint32_t parts = least(t.budget, t.len);
    for (uint32_t j = 0; j + 1 < parts; j++) RVM__TRY(rvm__push_task(m, sector(t, parts, j, true)));
    RVM__TRY(rvm__push_task(m, sector(t, parts, parts - 1, t.back)));
    for (uint32_t j = parts - 1; j-- > 0;) RVM__TRY(rvm__push_task(m, sector(t, parts, j, false)));
    return RVM_OK;
}

rvm_status rvm__bennett_make(rvm__maker *m, uint32_t steps, uint32_t k) {
    RVM__TRY(rvm__push_task(m, (rvm__task){.len = steps, .budget = k}));
    return rvm__expand_tasks(m, expand, NULL);
}

typedef struct cost {
    uint64_t evaluations, states; /* the first state is not among them */
} cost;

/* Of n steps, from the costs of the two lengths that their sectors have: q = n / k, and q + 1. Where q is 0 the sectors of
 * no steps are none. The most states there are at a time while the last sector but one is run, or taken back. */
static cost combine(uint64_t n, uint32_t k, const cost sector[2]) {
    const uint64_t q = n / k, longer = n % k, parts = q ? k : longer;
    if (!n) return (cost){0, 0};
    const uint64_t all = longer * sector[1].evaluations + (k - longer) * sector[0].evaluations;
    const bool long_before_last = !q || longer + 1 >= k;
    return (cost){2 * all - sector[!q].evaluations, parts - 1 + sector[long_before_last].states};
}

/* Of n and n + 1 steps, whose sectors have two lengths between them, or three of which one is not met. */
static void pair(uint64_t n, uint32_t k, cost out[2]) {
    cost sector[3] = {{0, 0}, {1, 1}, {0, 0}};
    if (n >= k) pair(n / k, k, sector);
    out[0] = combine(n, k, sector);
    out[1] = combine(n + 1, k, sector + ((n + 1) / k != n / k));
}

void rvm__bennett_cost(uint32_t steps, uint32_t k, uint64_t *evaluations, uint64_t *states) {
    cost of[2];
    pair(steps, k, of);
    *evaluations = of[0].evaluations;
    *states = of[0].states + 1;
}

/* prints.c: functions that only show their arguments. */
#include "builder.h"
#include "support.h"

bool rvm__program_add_print(rvm_program *p, uint32_t fn, const char *text, size_t length) {
    if (!rvm__grow(&p->al, (void **)&p->prints, &p->cap_prints, p->nprints + 1, sizeof *p->prints)) return false;
    char *copy = rvm__strdup(&p->al, text, length);
    if (!copy) return false;
    p->prints[p->nprints++] = (rvm_print){fn, copy};
    return true;
}

const char *rvm__print_text(const rvm_program *p, uint32_t fn) {
    uint32_t lo = 0, hi = p->nprints; /* in order of fn */
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        *(p->prints[middle].fn < fn ? &lo : &hi) = middle + (p->prints[middle].fn < fn);
    }
    return lo < p->nprints && p->prints[lo].fn == fn ? p->prints[lo].text : NULL;
}

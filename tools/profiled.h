/* profiled.h: a profile in the formats of rvm profile. */
#ifndef RVM_TOOLS_PROFILED_H
#define RVM_TOOLS_PROFILED_H

#include "rvm_profile.h"
#include "tool.h"

/* What a format prints: `of` says what ran; to `out`. */
typedef struct profiled {
    tool *t;
    const rvm_profile *f;
    const char *of;
    FILE *out;
} profiled;

/* profile_text.c: totals, functions, kinds, and the source with counts beside it. */
void profile_text(const profiled *p);
/* profile_json.c: members of the open object. */
void profile_json(json *j, const profiled *p);
void profile_csv(const profiled *p); /* a line for each kind */
/* profile_paths.c: call paths, for others' tools. */
void profile_folded(const profiled *p);
void profile_speedscope(const profiled *p);
void profile_callgrind(const profiled *p);

/* Of one mode, up and down. */
static inline uint64_t profile_of_mode(const rvm_profile_counts *c, int mode) {
    return c->n[mode][0] + c->n[mode][1];
}

#endif

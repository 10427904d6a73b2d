/* profiled.h: a profile in the formats of rvm profile. */
#ifndef RVM_TOOLS_PROFILED_H
#define RVM_TOOLS_PROFILED_H

#include "call_tree.h"
#include "tool.h"

/* profile_run.c: what rvm profile and rvm cost share. The options of a run that is counted, and how it runs by default; the
 * run of t->machine, on t->v; what ran: "norm, then its sweep". */
rvm_status counted_options(tool *t);
rvm_status counted_run(tool *t);
void counted_text(const tool *t, rvm_status ran, char *text, size_t size);
/* What `print` prints, into a file: whole, or not at all. False: it could not. MEMORY, IO. */
typedef bool printer(FILE *out, const void *what);
rvm_status write_printed(tool *t, const char *path, printer *print, const void *what);

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
void json_switching(json *j, const rvm_switching *s); /* a value */
void profile_csv(const profiled *p);                  /* a line for each kind */
/* profile_paths.c: call paths, which the formats of call_tree.h take; texts are the program's. False: no memory; free it in
 * either case. */
bool call_tree_of(call_tree *tree, const profiled *p);
void profile_callgrind(const profiled *p);

static inline void switching_add(rvm_switching *to, const rvm_switching *from) {
    for (int where = 0; where < 2; where++) to->bits[where] += from->bits[where], to->flipped[where] += from->flipped[where];
}
/* Of the bits that were written those that changed. */
static inline double switched_share(const rvm_switching *s, int where) {
    return s->bits[where] ? (double)s->flipped[where] / (double)s->bits[where] : 0;
}

#endif

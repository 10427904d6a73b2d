/* call_tree.h: the call paths of a profile, apart from the machine that counted them: of a run, or read from its JSON; and
 * the formats of others' tools that need no more. */
#ifndef RVM_TOOLS_CALL_TREE_H
#define RVM_TOOLS_CALL_TREE_H

#include "rvm_profile.h"

typedef struct call_fn {
    const char *name, *file; /* file NULL: not known */
    uint32_t line;           /* where it begins */
} call_fn;

typedef struct call_path {
    int64_t parent; /* -1: none; parents stand before their children */
    uint32_t fn;
    rvm_profile_counts own;
} call_path;

typedef struct call_tree {
    const char *of; /* what ran; texts are somebody else's */
    call_fn *fns;
    call_path *paths;
    uint32_t nfns, npaths;
} call_tree;

void call_tree_free(call_tree *tree); /* its arrays */
/* Of one mode, up and down; of all paths. */
static inline uint64_t profile_of_mode(const rvm_profile_counts *c, int mode) {
    return c->n[mode][0] + c->n[mode][1];
}
uint64_t call_tree_total(const call_tree *tree, int mode);

/* Folded stacks (flamegraph.pl, inferno): a mode is the bottom of a stack. */
void call_tree_folded(const call_tree *tree, FILE *out);
/* speedscope's JSON: a profile for each mode. */
void call_tree_speedscope(const call_tree *tree, FILE *out);
/* The format of pprof, uncompressed: a sample's label `mode` says which. False: no memory. */
bool call_tree_pprof(const call_tree *tree, FILE *out);

#endif

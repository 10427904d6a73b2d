/* profile_read.h: a profile that is kept as JSON (profile_json), read again. */
#ifndef RVM_SERVE_PROFILE_READ_H
#define RVM_SERVE_PROFILE_READ_H

#include "call_tree.h"
#include "frame.h"

#include <jansson.h>

typedef struct kept_profile {
    json_t *root;
    call_tree tree; /* texts are root's */
} kept_profile;

/* False: it is none, or there is no memory; free it in either case. */
bool profile_read(kept_profile *k, const part *bytes);
void profile_read_free(kept_profile *k);
/* Executions, of {"forward": [up, down], ...} */
void profile_read_counts(const json_t *v, rvm_profile_counts *to);

#endif

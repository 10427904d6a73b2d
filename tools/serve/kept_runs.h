/* kept_runs.h: runs that have ended: their results, profiles, comparisons, from the store. */
#ifndef RVM_SERVE_KEPT_RUNS_H
#define RVM_SERVE_KEPT_RUNS_H

#include "server.h"

void kept_show(server *s, http_request *r);
void kept_request(server *s, http_request *r);
void kept_list(server *s, http_request *r);
void kept_delete(server *s, http_request *r); /* ends it, if it is in progress */
void kept_pin(server *s, http_request *r);
void kept_unpin(server *s, http_request *r);
void kept_profile(server *s, http_request *r);
void kept_compare(server *s, http_request *r);

#endif

/* runs.h: runs in progress: begun by a request, told of meanwhile, kept in the store when they end. */
#ifndef RVM_SERVE_RUNS_H
#define RVM_SERVE_RUNS_H

#include "server.h"

typedef struct runs runs;
runs *runs_new(server *s);

/* Answers when it ends, or after a second, by 202 and the number under which it goes on. */
void runs_start(server *s, http_request *r);
/* Of a run that goes on by a number: answers how far it is; ends it. False: there is none, and nothing is answered. */
bool runs_show_progress(server *s, http_request *r, uint64_t id);
bool runs_cancel(server *s, http_request *r, uint64_t id);

#endif

/* sessions.h: runs that stand still between requests, each in a worker of its own. */
#ifndef RVM_SERVE_SESSIONS_H
#define RVM_SERVE_SESSIONS_H

#include "server.h"

typedef struct sessions sessions;
sessions *sessions_new(server *s);

void sessions_open(server *s, http_request *r);
void sessions_list(server *s, http_request *r);
void sessions_move(server *s, http_request *r);
void sessions_stops(server *s, http_request *r);
void sessions_state(server *s, http_request *r);
void sessions_log(server *s, http_request *r);
void sessions_close(server *s, http_request *r);

#endif

/* pages.h: the server's state, the stream of events. */
#ifndef RVM_SERVE_PAGES_H
#define RVM_SERVE_PAGES_H

#include "server.h"

void page_health(server *s, http_request *r);
void page_metrics(server *s, http_request *r);
void page_events(server *s, http_request *r);

#endif

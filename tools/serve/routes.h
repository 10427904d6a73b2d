/* routes.h: from a request to who answers it. */
#ifndef RVM_SERVE_ROUTES_H
#define RVM_SERVE_ROUTES_H

#include "server.h"

/* For http_options; userdata is the server. */
bool routes_head(void *userdata, http_request *r);
void routes_body(void *userdata, http_request *r);
void routes_end(void *userdata, http_request *r);

#endif

/* site.h: the page: its files, from this program or, for who develops it, from a folder (--page); what a page asks first. */
#ifndef RVM_SERVE_SITE_H
#define RVM_SERVE_SITE_H

#include "server.h"

void site_file(server *s, http_request *r);
/* The routes below /api/v1, limits, version. */
void site_about(server *s, http_request *r);

#endif

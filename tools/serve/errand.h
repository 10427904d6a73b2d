/* errand.h: a job whose text is the whole answer to a request. */
#ifndef RVM_SERVE_ERRAND_H
#define RVM_SERVE_ERRAND_H

#include "server.h"

/* type: of the answer, where it is no error. file: as what a browser should keep it, or NULL; static. */
void errand_start(server *s, http_request *r, frame_kind kind, const part *parts, uint32_t n, const char *type,
                  const char *file);
/* What a request is told where its job came to no end. */
void errand_failed(http_request *r, pool_end end);

#endif

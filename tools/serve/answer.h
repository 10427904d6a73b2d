/* answer.h: answers in JSON, and what a status of the library is in HTTP. */
#ifndef RVM_SERVE_ANSWER_H
#define RVM_SERVE_ANSWER_H

#include "http.h"
#include "json.h"

/* 200: done, or ended by a limit, which is a result; 400: not understood; 422: the program failed a check. */
unsigned answer_code(rvm_status st);
/* {"ok": false, "error": {"code": ..., "message": ...}} */
void answer_error(http_request *r, unsigned code, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The server has too much to do, or the store no room: again in a second. */
void answer_busy(http_request *r, const char *what);
/* JSON, which is malloc'd and taken over; NULL: no memory. */
void answer_json(http_request *r, unsigned code, char *text, size_t size);
/* {"ok": true} and members that `add` writes. */
void answer_members(http_request *r, unsigned code, void (*add)(json *j, const void *of), const void *of);
/* Text of an object, with members put at its front: "\"id\":3,". NULL: no memory, or text is no object. */
char *answer_with(const char *members, const char *text, size_t size, size_t *out);

#endif

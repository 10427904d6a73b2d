/* programs.h: programs that were uploaded, by their identity: XXH3-128 of the bytes and of what they are taken for. Those
 * used lately are in memory; all are in the store. */
#ifndef RVM_SERVE_PROGRAMS_H
#define RVM_SERVE_PROGRAMS_H

#include "server.h"

enum { PROGRAM_ID = 33 }; /* 32 hexadecimal digits and a 0 */

typedef struct program {
    char id[PROGRAM_ID], name[208], real[8], type[8];
    char *source, *bytecode, *info; /* as uploaded; verified; what the worker told of it, as JSON */
    size_t source_size, bytecode_size, info_size;
    int64_t created; /* seconds since 1970 */
    unsigned refs;
    struct program *same_bucket, *newer, *older;
} program;

typedef struct programs programs;
programs *programs_new(server *s);
/* Finds a program, in memory or in the store, then calls `then` with it, or with NULL: there is none. It is held for `then`,
 * which drops it. False: `id` is no id, and nothing is called. */
typedef void program_then(void *userdata, program *p);
bool programs_with(server *s, const char *id, program_then *then, void *userdata);
/* What is most likely the id that "program" of a request's JSON has, without reading the JSON, which a worker does: so that
 * it has the program at hand; if it was something else the worker says what it needs. */
bool programs_guess(const http_request *r, char id[PROGRAM_ID]);
void program_drop(program *p); /* NULL is allowed */

/* A request's upload; a file's, at the start, without a request: `then` is told its id, or NULL with what was wrong. */
void programs_upload(server *s, http_request *r);
typedef void upload_then(void *userdata, const char *id, const char *text);
void programs_load(server *s, const char *name, const char *real, char *bytes, size_t size, upload_then *then,
                   void *userdata);

void programs_show(server *s, http_request *r); /* what it is; its source; its bytecode; a listing */
void programs_source(server *s, http_request *r);
void programs_bytecode(server *s, http_request *r);
void programs_listing(server *s, http_request *r);
void programs_list(server *s, http_request *r);
void programs_delete(server *s, http_request *r);

#endif

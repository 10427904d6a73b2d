/* http.h: requests and answers, over libmicrohttpd, which no other file knows.
 *
 * A request is told twice: by its head, which may be answered at once, and when its body is there. It is answered then or
 * later: http_answer may be called at any time before the server stops, once. Everything is on the loop's thread.
 */
#ifndef RVM_SERVE_HTTP_H
#define RVM_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

typedef struct http http;
typedef struct http_request {
    http *of;
    const char *method, *path;
    char *body;
    size_t size;
    const void *route;     /* whose head was accepted: the caller's */
    char parameter[2][64]; /* of the path */
    void *userdata;        /* the caller's */
    size_t userdata_size;
    const char *allow_origin; /* told with the answer: another's page may read it; or NULL */
    uint64_t begun;           /* ns */
    unsigned code;            /* that it was answered with */
    size_t answer_size;
    /* http.c's: */
    void *connection, *response;
    size_t room;
    bool suspended, told, too_large, closing;
    struct http_request *next;
} http_request;

typedef struct http_options {
    int fd; /* that listens */
    uint64_t most_body;
    unsigned connections, seconds; /* at most; that a client may be silent, or take for a request */
    /* False: it has been answered. */
    bool (*head)(void *userdata, http_request *r);
    void (*body)(void *userdata, http_request *r);
    void (*end)(void *userdata, http_request *r); /* it is over: for the log */
    void *userdata;
} http_options;

http *http_start(uv_loop_t *loop, const http_options *o);
void http_stop(http *h);
unsigned http_connections(const http *h);

/* A header of the request, or NULL; how many of that name there are; a value of the query, or NULL. */
const char *http_header(const http_request *r, const char *name);
unsigned http_header_count(const http_request *r, const char *name);
const char *http_query(const http_request *r, const char *name);

/* Takes over body, which is malloc'd, or NULL with size 0. headers: pairs of name and value, ended by NULL, or NULL. */
void http_answer(http_request *r, unsigned code, const char *type, char *body, size_t size, const char *const *headers);
/* A body that comes bit by bit: `read` gives up to `room` bytes; 0: nothing for now, and http_wake is called when there is;
 * -1: that was all. `end` is called when it is over, whoever ended it. */
typedef ssize_t http_read(void *userdata, char *to, size_t room);
void http_stream(http_request *r, const char *type, http_read *read, void (*end)(void *userdata), void *userdata);
void http_wake(http_request *r);

#endif

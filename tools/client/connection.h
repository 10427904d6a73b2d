/* connection.h: HTTP/1.1 to one server, request by request, over one connection: what a server of `rvm serve` needs and no
 * more. libcurl would bring thirty libraries for TLS and proxies, of which that server has neither. */
#ifndef RVM_CLIENT_CONNECTION_H
#define RVM_CLIENT_CONNECTION_H

#include "rvm_program.h"

typedef struct connection {
    int fd;
    char host[256], port[8], path[108]; /* path: of a Unix socket, in place of these */
    char token[128];
    char shown[300]; /* the server, for messages; without the token */
    /* The last answer: */
    unsigned code, retry_after;
    char *body; /* ended by 0; freed with the next */
    size_t size;
} connection;

/* url: http://HOST[:PORT][/][#token=TOKEN], as the server prints it, or unix:PATH[#token=TOKEN]; without a token there, that
 * of $RVM_SERVER_TOKEN, if there is one. USAGE, IO. */
rvm_status connection_open(connection *c, const char *url, rvm_error *err);
void connection_close(connection *c);
/* body NULL: none; type: of the body. Any answer is a success. It goes on where a signal interrupts it. IO, MEMORY. */
rvm_status connection_ask(connection *c, const char *method, const char *path, const char *type, const char *body,
                          size_t size, rvm_error *err);

#endif

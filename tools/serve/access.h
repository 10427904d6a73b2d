/* access.h: who may ask what: the address that a request names, where a page that asks comes from, the token. */
#ifndef RVM_SERVE_ACCESS_H
#define RVM_SERVE_ACCESS_H

#include "server.h"

/* A new token, of 256 random bits; false: there are none to be had. Or that of a file, without white space behind it. */
bool access_token(server *s, const char *file, char *why, size_t size);
/* What a request may call this server, from the address that it listens on. */
void access_hosts(server *s, const char *address, unsigned port);

typedef enum access_verdict { ACCESS_GRANTED, ACCESS_HOST, ACCESS_ORIGIN, ACCESS_TOKEN } access_verdict;
access_verdict access_check(const server *s, const http_request *r, bool needs_token);
/* The Origin of the request, where it is another's that is allowed; else NULL. */
const char *access_foreign_origin(const server *s, const http_request *r);

#endif

/* listen.h: the socket that the server listens on. */
#ifndef RVM_SERVE_LISTEN_H
#define RVM_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct listening {
    int fd;
    char address[64]; /* "127.0.0.1" */
    unsigned port;    /* 0: a Unix socket, whose path is removed in the end */
    char path[108];
} listening;

/* "127.0.0.1:8741", "[::1]:0", "unix:/run/rvm.sock", which only this user may open. False, with why. */
bool listen_open(listening *l, const char *where, char *why, size_t size);
void listen_close(listening *l);

#endif

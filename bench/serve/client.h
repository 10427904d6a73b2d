/* client.h: clients of the server over the loopback, in one thread: each has a connection and one request at a time. */
#ifndef RVM_BENCH_SERVE_CLIENT_H
#define RVM_BENCH_SERVE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A server that was started for this, on a store in a folder of its own. */
typedef struct served {
    pid_t pid;
    unsigned port;
    char token[80], folder[64];
    double seconds; /* from the start to its first answer */
} served;
bool served_start(served *s, const char *rvm, const char *const *options);
void served_stop(served *s);
/* Processor seconds, and resident and proportional bytes: of the server itself, and of all below it. */
typedef struct usage {
    double server, workers;
    size_t server_rss, workers_pss;
    unsigned nworkers;
} usage;
usage served_usage(const served *s);

typedef struct client {
    int fd;
    char in[16384], out[2048];
    size_t got, sent, size;
    unsigned code;
    const char *body; /* of the last answer */
    double begun;     /* of the request that is on its way; 0: none is */
    char program[40];
    unsigned step;
} client;

double now(void);
bool client_connect(client *c, unsigned port);
/* Makes the request; it is sent by client_go. */
void client_request(client *c, const served *s, const char *method, const char *path, const char *body);
/* Sends and receives what can be: 1: the answer is whole; 0: not yet; -1: the connection is lost. */
int client_go(client *c);
/* One request to the end, in milliseconds; what fails, or takes a minute, ends the program. */
double client_take(client *c, const served *s, const char *method, const char *path, const char *body);
/* For qsort, of double. */
int client_by_time(const void *a, const void *b);

#endif

/* worker.h: the loop of a worker process, and the nursery that makes them. */
#ifndef RVM_SERVE_WORKER_H
#define RVM_SERVE_WORKER_H

#include "wall.h"
#include "tasks.h"

#include <sys/types.h>

typedef struct worker_setup {
    work_limits limits;
    bool native;
    const char *module; /* the folder of the module with LLVM, or NULL */
} worker_setup;

/* Serves messages from the socket until it is closed; does not return. Behind the wall. */
void worker_main(int fd, const wall *w, const worker_setup *setup, live *page) __attribute__((noreturn));

/* nursery.c: a process that does nothing but make workers, forked before the server has a token, a store or a thread, so
 * that no worker ever has seen these. live: a page for each worker. *fd: its socket. False with errno. */
bool nursery_start(const worker_setup *setup, live *pages, size_t npages, int *fd, pid_t *pid);
/* Asks for the worker of a page; the answer comes on the nursery's socket. */
bool nursery_ask(int fd, uint32_t page);
/* What came: the page, the worker's process as a descriptor, its socket, its number; both descriptors are the caller's.
 * AGAIN: nothing yet. page: UINT32_MAX: `why` says why there is none. */
typedef struct newborn {
    uint32_t page;
    int process, socket;
    pid_t pid;
    char why[128];
} newborn;
frame_io nursery_take(int fd, newborn *out);

#endif

/* wall.h: what a worker may not do, whatever code it runs: open or make a file, use a network, start a process or a thread,
 * make memory executable. Three walls: landlock (no path, no port), seccomp (an allow-list of system calls), limits of
 * resources. Workers that run native code need LLVM: threads, executable memory, and reading of libraries. */
#ifndef RVM_SERVE_WALL_H
#define RVM_SERVE_WALL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct wall {
    struct sock_filter *filter; /* of seccomp, as the kernel takes it */
    size_t nfilter;
    int ruleset; /* of landlock; -1: this kernel has none */
    bool native;
    size_t memory;   /* of the process, bytes; 0: no limit */
    const char *why; /* it could not be made */
} wall;

/* native: for workers with native code; module: the folder of theirs that may be read, or NULL. False: this system has no
 * seccomp, and w->why says so. */
bool wall_make(wall *w, bool native, const char *module, size_t memory);
/* From now on, for this process. fd: the one that stays open besides 0, 1 and 2. False: it is not to go on. */
bool wall_enter(const wall *w, int fd);
void wall_free(wall *w);

#endif

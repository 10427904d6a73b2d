/* grid.h: what driver.c and threads.c have of each other. */
#ifndef RVM_TEST_GRID_H
#define RVM_TEST_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
enum { MOST_THREADS = 1024 }; /* of a CTA */

void die(const char *what); /* a mistake of who calls: the process ends */

typedef struct sum_kernel {
    const char *name;
    void (*call)(void *arguments);
    unsigned params;
} sum_kernel;
const sum_kernel *sum_named(const char *name); /* of cuda/sums.cu; NULL: there is none */

typedef struct grid {
    void (*run)(void *arguments); /* of a thread */
    void *arguments;
    unsigned ctas, width, height; /* threads of a CTA */
    size_t shared;                /* bytes of a CTA */
} grid;
void run_grid(const grid *g);

#endif

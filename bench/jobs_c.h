/* jobs_c.h: the measured programs by hand, in C. */
#ifndef PEERS_H
#define PEERS_H

#include <stdint.h>

#include "bal.h"

void peer_loop(int64_t n, int64_t state[8]);
void peer_matvec(int64_t m, int64_t n, double *restrict y, const double *restrict A, const double *restrict x);
double peer_cost(const bal *b, double *restrict r); /* r: x and y of each observation */

#endif

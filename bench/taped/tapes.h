// tapes.h: a tape and how to record one.
#ifndef BENCH_TAPES_H
#define BENCH_TAPES_H

#include <adolc/adolc.h>

#include <vector>

#include "peers.h"

typedef std::vector<double> reals;

// One task, recorded by the constructor of what derives from this.
struct tape {
    virtual ~tape();
    virtual bool run() = 0; // false: the tape does not fit
};

enum { TAG = 1 }; // one tape at a time

// Recording: between the two, adoubles leave their traces. Everything stays in memory.
void tape_begin();
void tape_end();

// Each makes its tape of the data of its problem.
#define X(name) tape *name(const void *data);
PEER_LIST(X)
#undef X

#endif

/* liveness_list.h: a function as the list of what it executes. Internal to isa/analysis/liveness*.c.
 *
 * In the order of control: regions as C, B, C backward (where that is not left out), everything passed upward in the list.
 * Loops and jumps link two nodes.
 */
#ifndef RVM_LIVENESS_LIST_H
#define RVM_LIVENESS_LIST_H

#include "liveness.h"
#include "program.h"

enum { RVM__NO_NODE = UINT32_MAX };

typedef struct rvm__node {
    uint32_t pc;
    uint32_t partner; /* node of the jump, come-from, or other end of the loop; or RVM__NO_NODE */
    uint32_t set;     /* liveness.c: the sets of places that are kept here, or RVM__NO_NODE */
    uint8_t op;       /* rvm_op, as it is executed */
    bool down;        /* the counter's direction */
    bool inner;       /* in a compute part or segment */
    bool apart;       /* an update whose target is none of its operands, as indices in a loop tell */
} rvm__node;

typedef struct rvm__list {
    const rvm_program *p;
    const rvm_function *f;
    rvm__node *nodes;
    uint32_t n, cap;
    uint64_t work; /* for rvm__slices_find */
    bool too_large;
} rvm__list;

/* is elided: by instruction, of compute. false: out of memory; what there is has to be freed all the same. */
bool rvm__list_make(rvm__list *l, const rvm_program *p, uint32_t fn, bool backward, const uint8_t *elided);
void rvm__list_free(rvm__list *l);

/* Sets bits[k] for each array of which no trip of the loop at a node reads elements that an earlier trip changed: all
 * accesses along one dimension are at the index, or at constant offsets from it. Notes which updates are apart. work:
 * rvm__slices_work(f) bytes, aligned as size_t is, which need not be cleared. */
size_t rvm__slices_work(const rvm_function *f);
void rvm__slices_find(rvm__list *l, uint32_t loop, void *work, uint64_t *bits);

static inline const rvm_insn *rvm__node_insn(const rvm__list *l, const rvm__node *d) {
    return &l->f->code[d->pc];
}

#endif

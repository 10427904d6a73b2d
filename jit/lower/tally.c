/* tally.c: what a profile counts (vm/profile/profile.h). Stretches of straight code are counted where they are charged, each
 * in a value of the function, so that a loop keeps it in a register; where the function ends, however it does, the counts go
 * to the tallies of the call path that it ran on, as differences. A callee's path is found by a link behind its caller's
 * tallies, which the machine fills when the call is made for the first time. */
#include "emit.h"
#include "profile.h"

#include <stddef.h>

typedef struct rvm__counted {
    struct rvm__counted *next;
    uint32_t first, last;
    int way;
    LLVMValueRef times; /* alloca */
} counted;

/* ---- values ---- */

/* Where it stands in memory is 0 at the function's start. */
static LLVMValueRef counter(rvm__emit *e) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b);
    LLVMValueRef times = rvm__local(e, e->k->i64, "times");
    rvm__at(e, e->frame.entry);
    rvm__put_at(e, rvm__build_int(e->k, 0), times);
    rvm__at(e, here);
    return times;
}

static void count(rvm__emit *e, uint32_t first, uint32_t n, int way) {
    const uint32_t last = first + (n - 1) * (uint32_t)way;
    counted *c = e->count.counted;
    while (c && (c->first != first || c->last != last || c->way != way)) c = c->next;
    if (!c) {
        if (!(c = rvm__unit_alloc(e->u, sizeof *c))) return;
        *c = (counted){e->count.counted, first, last, way, counter(e)};
        e->count.counted = c;
    }
    LLVMValueRef now = rvm__get(e, e->k->i64, c->times);
    rvm__put_at(e, LLVMBuildAdd(e->k->b, now, rvm__build_int(e->k, 1), ""), c->times);
}

void rvm__tally_charge(rvm__emit *e, uint32_t extra) {
    const uint32_t pc = e->control.pc, walked = e->count.walked;
    const int way = extra ? e->control.context->dir : e->count.way;
    const bool on = walked && way == e->count.way && e->count.first + walked * (uint32_t)way == pc;
    if (extra && walked && !on) count(e, e->count.first, walked, e->count.way);
    if (extra && !on)
        count(e, pc, 1, way);
    else if (walked + extra)
        count(e, e->count.first, walked + extra, way);
}

/* ---- tallies ---- */

static void add_at(rvm__emit *e, LLVMValueRef to, LLVMValueRef by) {
    rvm__put_at(e, LLVMBuildAdd(e->k->b, rvm__get(e, e->k->i64, to), by, ""), to);
}

/* Where a stretch begins in its direction, or the one behind it; of those that go down places are shifted. */
static size_t place_of(uint32_t pc, int way) {
    return (pc + (way < 0)) * sizeof(rvm__tally) + (way < 0 ? RVM__DOWN : RVM__UP) * sizeof(int64_t);
}

static void add_stretch(rvm__emit *e, uint32_t first, uint32_t last, int way, LLVMValueRef times) {
    add_at(e, rvm__member(e, e->count.tallies, place_of(first, way)), times);
    add_at(e, rvm__member(e, e->count.tallies, place_of(last + (uint32_t)way, way)), LLVMBuildNeg(e->k->b, times, ""));
}

void rvm__tally_exit(rvm__emit *e, uint32_t uncharged) {
    if (uncharged)
        add_stretch(e, e->count.first, e->count.first + (uncharged - 1) * (uint32_t)e->count.way, e->count.way,
                    rvm__build_int(e->k, 1));
}

LLVMValueRef rvm__tally_link(rvm__emit *e, uint32_t pc, size_t member) {
    const size_t links = (e->f->ncode + (size_t)1) * sizeof(rvm__tally);
    return rvm__member(e, e->count.tallies, links + pc * sizeof(rvm__path_link) + member);
}

bool rvm__tally_has_link(const rvm__emit *e, uint32_t pc) {
    return rvm__pair_of(e->f->code[pc].op) == RVM_PAIR_call;
}

void rvm__tally_end(rvm__emit *e) {
    for (const counted *c = e->count.counted; c; c = c->next) {
        LLVMValueRef times = rvm__get(e, e->k->i64, c->times);
        add_stretch(e, c->first, c->last, c->way, times);
        if (rvm__tally_has_link(e, c->last)) add_at(e, rvm__tally_link(e, c->last, offsetof(rvm__path_link, calls)), times);
    }
}

/* ---- paths ---- */

void rvm__tally_exit_path(rvm__emit *e) {
    LLVMValueRef args[3] = {e->frame.machine, e->frame.number, e->count.tallies};
    rvm__call_runtime(e, "rvm__native_exit_path", e->k->nothing, 3, args);
}

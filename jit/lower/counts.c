/* counts.c: what is counted: instructions charged, calls, frames, bits erased. They are values in a function; calls pass
 * them on in memory of the caller's, which is gone where they are inlined. Only the outermost function gives them to the
 * machine, and what runs instances of a block. */
#include "emit.h"
#include "sites.h"

#include <stddef.h>

enum { CHARGED, CALLS, BELOW, ERASED };

static LLVMValueRef counted(rvm__emit *e, LLVMValueRef counts, unsigned k) {
    return rvm__member(e, counts, k * sizeof(int64_t));
}

static LLVMValueRef machine_count(rvm__emit *e, size_t offset) { /* in rvm__native */
    return rvm__member(e, e->frame.native, offset);
}

static void copy(rvm__emit *e, LLVMValueRef to, LLVMValueRef from) {
    rvm__put_at(e, rvm__get(e, e->k->i64, from), to);
}

static void raise(rvm__emit *e, LLVMValueRef to, LLVMValueRef n) {
    LLVMValueRef was = rvm__get(e, e->k->i64, to), more = LLVMBuildICmp(e->k->b, LLVMIntUGT, n, was, "");
    rvm__put_at(e, LLVMBuildSelect(e->k->b, more, n, was, ""), to);
}

static void increase(rvm__emit *e, LLVMValueRef to, LLVMValueRef by) {
    rvm__put_at(e, LLVMBuildAdd(e->k->b, rvm__get(e, e->k->i64, to), by, ""), to);
}

void rvm__take_counts(rvm__emit *e) {
    if (e->u->w->standalone) return;
    copy(e, e->count.charged, machine_count(e, offsetof(rvm__native, charged)));
    copy(e, e->count.calls, machine_count(e, offsetof(rvm__native, calls)));
}

void rvm__hand_counts(rvm__emit *e) {
    if (e->u->w->standalone) return;
    LLVMValueRef frames = LLVMBuildAdd(e->k->b, e->frame.number, rvm__build_int(e->k, 1), "");
    copy(e, machine_count(e, offsetof(rvm__native, charged)), e->count.charged);
    copy(e, machine_count(e, offsetof(rvm__native, calls)), e->count.calls);
    raise(e, machine_count(e, offsetof(rvm__native, peak)),
          LLVMBuildAdd(e->k->b, frames, rvm__get(e, e->k->i64, e->count.below), ""));
}

void rvm__begin_counts(rvm__emit *e) {
    rvm__put_at(e, rvm__build_int(e->k, 0), e->count.below);
    for (int k = 0; k < RVM__ERASED; k++) rvm__put_at(e, rvm__build_int(e->k, 0), e->count.erased[k]);
    if (e->count.exact) rvm__put_at(e, rvm__build_int(e->k, 0), e->count.exact);
    if (e->u->w->standalone) return;
    if (!e->count.counts) {
        rvm__take_counts(e);
        return;
    }
    copy(e, e->count.charged, counted(e, e->count.counts, CHARGED));
    copy(e, e->count.calls, counted(e, e->count.counts, CALLS));
    if (e->u->w->profile) e->count.tallies = rvm__get(e, e->k->ptr, counted(e, e->count.counts, RVM__TALLIES_AT));
}

void rvm__end_counts(rvm__emit *e) {
    LLVMValueRef from[RVM__COUNTS] = {e->count.charged, e->count.calls, e->count.below};
    for (unsigned k = 0; k < RVM__ERASED; k++) from[ERASED + k] = e->count.erased[k];
    if (e->u->w->standalone) return;
    if (e->u->w->profile) rvm__tally_end(e);
    if (e->count.exact)
        increase(e, rvm__member(e, e->frame.machine, offsetof(rvm_machine, exact.updates)),
                 rvm__get(e, e->k->i64, e->count.exact));
    for (unsigned k = 0; k < RVM__COUNTS && e->count.counts; k++) copy(e, counted(e, e->count.counts, k), from[k]);
    if (e->count.counts) return;
    rvm__hand_counts(e);
    for (size_t k = 0; k < RVM__ERASED; k++)
        increase(e, machine_count(e, offsetof(rvm__native, erased) + 8 * k), rvm__get(e, e->k->i64, e->count.erased[k]));
}

LLVMValueRef rvm__counts_for_call(rvm__emit *e, LLVMValueRef tallies) {
    if (e->u->w->standalone) return LLVMConstNull(e->k->ptr);
    LLVMValueRef counts = rvm__local(e, LLVMArrayType2(e->k->i64, RVM__COUNTS + e->u->w->profile), "counts");
    if (tallies) rvm__put_at(e, tallies, counted(e, counts, RVM__TALLIES_AT));
    increase(e, e->count.calls, rvm__build_int(e->k, 1));
    copy(e, counted(e, counts, CHARGED), e->count.charged);
    copy(e, counted(e, counts, CALLS), e->count.calls);
    return counts;
}

void rvm__counts_of_call(rvm__emit *e, LLVMValueRef counts) {
    if (e->u->w->standalone) return;
    copy(e, e->count.charged, counted(e, counts, CHARGED));
    copy(e, e->count.calls, counted(e, counts, CALLS));
    LLVMValueRef below = rvm__get(e, e->k->i64, counted(e, counts, BELOW));
    raise(e, e->count.below, LLVMBuildAdd(e->k->b, below, rvm__build_int(e->k, 1), ""));
    for (unsigned k = 0; k < RVM__ERASED; k++)
        increase(e, e->count.erased[k], rvm__get(e, e->k->i64, counted(e, counts, ERASED + k)));
}

/* ---- what a discarding trail does not keep ---- */

void rvm__count_erased(rvm__emit *e, enum rvm__erasing why, LLVMValueRef bits) {
    LLVMValueRef to = e->count.erased[why];
    if (e->count.ahead && LLVMIsAConstantInt(bits))
        e->count.erasing[why] += LLVMConstIntGetZExtValue(bits);
    else
        rvm__put_at(e, LLVMBuildAdd(e->k->b, rvm__get(e, e->k->i64, to), bits, ""), to);
}

LLVMValueRef rvm__site_bits_of(rvm__emit *e, const rvm_insn *in) {
    const uint32_t site = rvm__trail_site(e->u->m, rvm__insn_site(e->f, in));
    return rvm__build_int(e->k, (int64_t)rvm__site_bits(e->u->m, site));
}

void rvm__settle_erased(rvm__emit *e) {
    const uint32_t ahead = e->count.ahead;
    e->count.settled = true; /* each trip counts its own, what it erases behind this as well */
    e->count.ahead = 0;
    for (uint32_t k = 0; k < RVM__ERASED; k++) {
        const uint64_t bits = e->count.erasing[k];
        e->count.erasing[k] = 0;
        if (bits) rvm__count_erased(e, (enum rvm__erasing)k, rvm__build_int(e->k, (int64_t)bits));
    }
    e->count.ahead = ahead;
}

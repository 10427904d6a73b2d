/* counts.c: what is counted: instructions charged, calls, frames, bits erased. They are values in a function; calls pass
 * them on in memory of the caller's, which is gone where they are inlined. Only the outermost function gives them to the
 * machine, and what runs instances of a block. */
#include "emit.h"
#include "sites.h"

#include <stddef.h>

enum { CHARGED, CALLS, BELOW, ERASED, SHADES };

static LLVMValueRef counted(rvm__emit *e, LLVMValueRef counts, unsigned k) {
    return rvm__member(e, counts, k * sizeof(int64_t));
}

static LLVMValueRef machine_count(rvm__emit *e, size_t offset) { /* in rvm__native */
    return rvm__member(e, e->native, offset);
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
    copy(e, e->charged, machine_count(e, offsetof(rvm__native, charged)));
    copy(e, e->calls, machine_count(e, offsetof(rvm__native, calls)));
}

void rvm__hand_counts(rvm__emit *e) {
    if (e->u->w->standalone) return;
    LLVMValueRef frames = LLVMBuildAdd(e->k->b, e->frame, rvm__build_int(e->k, 1), "");
    copy(e, machine_count(e, offsetof(rvm__native, charged)), e->charged);
    copy(e, machine_count(e, offsetof(rvm__native, calls)), e->calls);
    raise(e, machine_count(e, offsetof(rvm__native, peak)),
          LLVMBuildAdd(e->k->b, frames, rvm__get(e, e->k->i64, e->below), ""));
}

void rvm__begin_counts(rvm__emit *e) {
    rvm__put_at(e, rvm__build_int(e->k, 0), e->below);
    for (int k = 0; k < 2; k++) rvm__put_at(e, rvm__build_int(e->k, 0), e->erased[k]);
    if (e->u->w->standalone) return;
    if (!e->counts) {
        rvm__take_counts(e);
        return;
    }
    copy(e, e->charged, counted(e, e->counts, CHARGED));
    copy(e, e->calls, counted(e, e->counts, CALLS));
}

void rvm__end_counts(rvm__emit *e) {
    LLVMValueRef from[RVM__COUNTS] = {e->charged, e->calls, e->below, e->erased[0], e->erased[1]};
    if (e->u->w->standalone) return;
    for (unsigned k = 0; k < RVM__COUNTS && e->counts; k++) copy(e, counted(e, e->counts, k), from[k]);
    if (e->counts) return;
    rvm__hand_counts(e);
    for (size_t k = 0; k < 2; k++)
        increase(e, machine_count(e, offsetof(rvm__native, erased) + 8 * k), rvm__get(e, e->k->i64, e->erased[k]));
}

LLVMValueRef rvm__counts_for_call(rvm__emit *e) {
    if (e->u->w->standalone) return LLVMConstNull(e->k->ptr);
    LLVMValueRef counts = rvm__local(e, LLVMArrayType2(e->k->i64, RVM__COUNTS), "counts");
    increase(e, e->calls, rvm__build_int(e->k, 1));
    copy(e, counted(e, counts, CHARGED), e->charged);
    copy(e, counted(e, counts, CALLS), e->calls);
    return counts;
}

void rvm__counts_of_call(rvm__emit *e, LLVMValueRef counts) {
    if (e->u->w->standalone) return;
    copy(e, e->charged, counted(e, counts, CHARGED));
    copy(e, e->calls, counted(e, counts, CALLS));
    LLVMValueRef below = rvm__get(e, e->k->i64, counted(e, counts, BELOW));
    raise(e, e->below, LLVMBuildAdd(e->k->b, below, rvm__build_int(e->k, 1), ""));
    increase(e, e->erased[0], rvm__get(e, e->k->i64, counted(e, counts, ERASED)));
    increase(e, e->erased[1], rvm__get(e, e->k->i64, counted(e, counts, SHADES)));
}

/* ---- what a discarding trail does not keep ---- */

void rvm__count_erased(rvm__emit *e, uint32_t level, LLVMValueRef bits) {
    LLVMValueRef to = e->erased[level > 0];
    if (e->ahead && LLVMIsAConstantInt(bits))
        e->erasing[level > 0] += LLVMConstIntGetZExtValue(bits);
    else
        rvm__put_at(e, LLVMBuildAdd(e->k->b, rvm__get(e, e->k->i64, to), bits, ""), to);
}

LLVMValueRef rvm__site_bits_of(rvm__emit *e, const rvm_insn *in) {
    const uint32_t site = rvm__trail_site(e->u->m, rvm__insn_site(e->f, in));
    return rvm__build_int(e->k, (int64_t)rvm__site_bits(e->u->m, site));
}

void rvm__settle_erased(rvm__emit *e) {
    const uint32_t ahead = e->ahead;
    e->settled = true; /* each trip counts its own, what it erases behind this as well */
    e->ahead = 0;
    for (uint32_t k = 0; k < 2; k++) {
        const uint64_t bits = e->erasing[k];
        e->erasing[k] = 0;
        if (bits) rvm__count_erased(e, k, rvm__build_int(e->k, (int64_t)bits));
    }
    e->ahead = ahead;
}

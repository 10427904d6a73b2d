/* native.c: what native code calls; how the machine enters it, and goes on from a side exit. */
#include "native.h"
#include "rvm_functions.h"
#include "program.h"

#include "c_stack.h"
#include "fresh.h"
#include "memory.h"
#include "out_of_line.h"
#include "profile.h"
#include "run.h"

#include <string.h>

enum { SIZE = sizeof(rvm__xinsn), MORE_OUTSIDE = 4096 };

/* ---- what native code calls ---- */

/* Fuel, cancel, progress: not 0 ends the run. */
static int32_t rvm__native_safepoint(rvm_machine *m, rvm__native *n) {
    if (m->jit.worker) return m->jit.runner->safepoint(m, n);
    m->run.budget = (n->limit - n->charged) * SIZE;
    if (n->lost) return n->status = n->lost, 1;
    m->jit.inside_native = true;
    n->status = rvm__safepoint(m);
    m->jit.inside_native = false;
    n->limit = n->charged + m->run.budget / SIZE;
    return n->status != RVM_OK;
}

/* As rvm__native_safepoint, from within a group of instances, which has charged so much. If it can, it bails out then, and
 * the single ones that run in its place end; so nothing is taken note of but that. */
static int32_t rvm__native_safepoint_in_group(rvm_machine *m, uint64_t charged) {
    if (!m->jit.native) return 0;
    if (m->jit.worker) return m->jit.runner->safepoint_in_group(m, charged);
    return rvm__is_to_end(m, m->run.counted +
                                 (uint64_t)((int64_t)m->run.slice - (m->jit.native->limit - m->jit.native->charged)) +
                                 charged) != RVM_OK;
}

/* It cannot. */
static void rvm__native_adrift(rvm_machine *m, rvm__native *n) {
    const bool cancelled =
        m->jit.worker ? m->jit.runner->is_cancelled(m) : __atomic_exchange_n(m->run.cancelled, 0, __ATOMIC_RELAXED);
    n->status = m->jit.adrift = cancelled ? RVM_ERR_CANCELLED : RVM_ERR_FUEL;
}

/* A local array that only parallel blocks use: so many elements of these bits appear there; or, 0, it disappears. */
static void rvm__native_array(rvm_machine *m, char *data, uint64_t n, uint64_t bits) {
    if (m->jit.device) m->jit.runner->local(m, data, n, bits);
}

void rvm__hold(rvm_machine *m, const void *data, uint64_t n) {
    if (m->jit.device) m->jit.runner->hold(m, data, n);
}

void rvm__let_go(rvm_machine *m) {
    if (m->jit.device) m->jit.runner->let_go(m);
}

static void rvm__native_home(rvm_machine *m, rvm__native *n, const rvm__native_use *uses, uint64_t nuses) {
    if (m->jit.device) m->jit.runner->home(m, n, uses, nuses);
}

static uint64_t rvm__native_chunks(rvm_machine *m, rvm__native *n, const rvm__native_job *o) {
    return m->jit.runner->run(m, n, o);
}

/* Segments nest with loops and regions, so the text tells which are around. by: 1 into them, -1 out of them. */
static void pass_segments(rvm_machine *m, const rvm__native_site *site, int by) {
    uint32_t left = site->segments, closed = 0;
    RVM__EACH_INSN_UP(x, &m->p->functions[site->fn], site->pc + (site->dir < 0), 0) {
        closed += x.in->op == RVM_OP_endsegment;
        if (!left || x.in->op != RVM_OP_segment || (closed && closed--)) continue;
        rvm__trail_segment(m, m->codes[site->fn].x[x.pc].trail.level, by);
        left--;
    }
}

/* The frame of a function that is entered by on-stack replacement, as rvm__native_exit would leave it there: its slots. */
static rvm_value *rvm__native_enter(rvm_machine *m, uint32_t fn, uint32_t pc, int32_t dir, uint32_t deeper,
                                    uint32_t segments, uint64_t slots) {
    const rvm__native_site site = {.fn = fn, .pc = pc, .dir = (int8_t)dir, .segments = (uint16_t)segments};
    for (uint32_t k = 0; k < deeper; k++) rvm__trail_deeper(m, -1);
    pass_segments(m, &site, -1);
    return m->store.slots + slots;
}

/* A side exit: the frame of the function; returns its slots, for native code to fill. Room was made before. home: NULL, or
 * what registers hold, as far as native code keeps them there, and then their largest magnitudes. */
static rvm_value *rvm__native_exit(rvm_machine *m, const rvm__native_site *site, uint64_t slots, uint64_t arrays,
                                   uint64_t frame, const rvm_value *home) {
    const rvm_function *f = &m->p->functions[site->fn];
    rvm__frame *top = &m->store.frames[frame];
    *top = (rvm__frame){.fn = site->fn, .call_pc = top->call_pc, .slots = slots, .arrays = arrays, .against = top->against};
    if (site->calling) {
        top[1].call_pc = site->pc;
        top[1].against = site->against;
    } else {
        m->store.nframes = (uint32_t)frame + 1;
        m->run.dir = site->dir;
        m->run.pc = m->codes[site->fn].x + site->pc;
        if (m->o.exact) m->exact.restoring = site->restoring;
    }
    for (unsigned k = 0; k < site->deeper; k++) rvm__trail_deeper(m, 1);
    pass_segments(m, site, 1);
    rvm__guard_settle(m, site->guards, slots);
    if (home) {
        memcpy(m->store.slots + slots, home, f->nregs * sizeof *home);
        memcpy(m->store.magnitudes + slots, home + f->nregs, f->nregs * sizeof *home);
    }
    if (f->nconsts) memcpy(m->store.slots + slots + f->nregs, f->consts, f->nconsts * sizeof *f->consts);
    return m->store.slots + slots;
}

/* With a profile: the tallies of a frame; what a callee counts in, and whether the call is counted there; of a side exit the
 * path of the frame. */
static rvm__tally *rvm__native_tallies(const rvm_machine *m, uint64_t frame) {
    return m->profile->paths[m->store.frames[frame].path].tallies;
}

static rvm__tally *rvm__native_tallies_below(rvm_machine *m, const rvm__tally *from, uint32_t pc, uint32_t callee,
                                             int32_t counts) {
    return rvm__profile_below(m, from, pc, callee, counts);
}

static void rvm__native_exit_path(rvm_machine *m, uint64_t frame, const rvm__tally *tallies) {
    m->store.frames[frame].path = rvm__profile_number(tallies);
}

/* In runs that restore every bit: what code does not keep by itself. `on`: a number, and RVM__NATIVE_LEVEL bits above the
 * level of the record. */
#define BY_MACHINE(...)                                                                                                     \
    rvm__exact_close(m);                                                                                                    \
    const rvm_status status = __VA_ARGS__;                                                                                  \
    m->exact.level = RVM__OF_VALUES;                                                                                        \
    rvm__exact_open(m);                                                                                                     \
    return status
enum { MASK = (1 << RVM__NATIVE_LEVEL) - 1 };

static rvm_status rvm__native_keep(rvm_machine *m, uint32_t on, rvm__exact op, double y, double f, double after) {
    BY_MACHINE((m->exact.level = on >> RVM__NATIVE_LEVEL, rvm__exact_keep(m, (rvm_type)(on & MASK), op, y, f, after)));
}
static rvm_status rvm__native_back(rvm_machine *m, uint32_t on, rvm__exact op, double after, double f, double *y) {
    BY_MACHINE((m->exact.level = on >> RVM__NATIVE_LEVEL, rvm__exact_back(m, (rvm_type)(on & MASK), op, after, f, y)));
}
static rvm_status rvm__native_keep_whole(rvm_machine *m, uint32_t on, const rvm_value *v) {
    BY_MACHINE((m->exact.level = on >> RVM__NATIVE_LEVEL, rvm__exact_keep_whole(m, (int)(on & MASK), v)));
}
static rvm_status rvm__native_back_whole(rvm_machine *m, uint32_t on, rvm_value *v) {
    BY_MACHINE((m->exact.level = on >> RVM__NATIVE_LEVEL, rvm__exact_back_whole(m, (int)(on & MASK), v)));
}
static rvm_status rvm__native_return_whole(rvm_machine *m, uint32_t on, const rvm_value *v) {
    BY_MACHINE((m->exact.level = on >> RVM__NATIVE_LEVEL, rvm__exact_return_whole(m, (int)(on & MASK), v)));
}
static rvm_status rvm__native_record_room(rvm_machine *m, uint32_t n) {
    BY_MACHINE(rvm__block_record_room(m, n) ? RVM_OK : RVM_ERR_MEMORY);
}
static rvm_status rvm__native_record(rvm_machine *m, uint32_t n, const rvm__block_sums *sums, uint64_t instances) {
    BY_MACHINE(rvm__block_record(m, n, sums, instances));
}
static rvm_status rvm__native_recall(rvm_machine *m, uint32_t n, const rvm__block_sums *sums, uint64_t instances) {
    BY_MACHINE(rvm__block_recall(m, n, sums, instances));
}

static double *rvm__native_magnitudes(rvm_machine *m, uint64_t slots) {
    return m->store.magnitudes + slots;
}

static rvm__array *rvm__native_arrays(rvm_machine *m, uint64_t arrays) {
    return rvm__arrays_from(m, arrays);
}

/* Room for frames in memory; false: the interpreter says what is wrong. */
static bool make_room(rvm_machine *m, uint64_t slots, uint64_t arrays, uint64_t frame, const rvm__native_need *need) {
    size_t cap = m->store.cap_frames;
    if (frame + need->depth > m->o.depth) return false;
    if (!rvm__reserve(m, (void **)&m->store.frames, &cap, (size_t)(frame + need->depth) + 1, sizeof *m->store.frames))
        return false;
    m->store.cap_frames = (uint32_t)cap;
    return rvm__reserve_frame(m, slots + need->slots, arrays + need->arrays);
}

/* Room for the frames of a recursive function, its callees' included, there and on the C stack. Where that is full the
 * interpreter goes on: native code has returned then, so that what is called next has all of the stack again. */
static bool rvm__native_room(rvm_machine *m, uint64_t slots, uint64_t arrays, uint64_t frame, const rvm__native_need *need) {
    return RVM__C_STACK_HERE >= m->jit.c_floor && make_room(m, slots, arrays, frame, need);
}

static bool rvm__native_agrees(rvm_machine *m, uint32_t fn, uint32_t pc, double y, double f, double held) {
    return rvm__agrees_at(m, fn, &m->codes[fn].x[pc], y, f, held);
}

/* Of all instances of a group, which agree. */
static void rvm__native_residue(rvm_machine *m, uint32_t fn, uint32_t pc, double residue) {
    rvm__note_residue_at(m, fn, &m->codes[fn].x[pc], residue);
}

/* Of parameter k, whose elements are at `data`: what the instances lo to hi of its first block do not touch. */
static void rvm__native_fresh(rvm_machine *m, uint64_t k, char *data, int64_t lo, int64_t hi) {
    rvm__fresh_outside(m, (uint32_t)k, data, lo, hi);
}

/* A local array of n elements, each with these bits; NULL: the interpreter says why. */
static void *rvm__native_new(rvm_machine *m, uint64_t n, uint64_t bits) {
    rvm_value *p = n <= SIZE_MAX / 16 ? rvm__locals_push(m, RVM__ARRAY_HEADER + n * sizeof *p) : NULL;
    if (!p) return NULL;
    if (!bits)
        memset(p + RVM__ARRAY_HEADER / sizeof *p, 0, n * sizeof *p);
    else
        for (uint64_t k = 0; k < n; k++) p[RVM__ARRAY_HEADER / sizeof *p + k].u = bits;
    return p;
}

/* The same, but that what the elements hold is left as it is. */
static void *rvm__native_new_raw(rvm_machine *m, uint64_t n) {
    return n <= SIZE_MAX / 16 ? rvm__locals_push(m, RVM__ARRAY_HEADER + n * sizeof(rvm_value)) : NULL;
}

static void rvm__native_del(rvm_machine *m, uint64_t n) {
    rvm__locals_pop(m, RVM__ARRAY_HEADER + n * sizeof(rvm_value));
}

/* What local arrays take; back to that, whatever has appeared since. */
static uint64_t rvm__native_mark(const rvm_machine *m) {
    return m->store.arena_used;
}

static void rvm__native_release(rvm_machine *m, uint64_t mark) {
    rvm__locals_release(m, mark);
}

/* Whether the elements of a local array agree with what they were at first; a residue is left to the interpreter. */
static bool rvm__native_agree_all(rvm_machine *m, uint32_t fn, uint32_t pc, const rvm_value *e, uint64_t n, uint64_t bits,
                                  const double *held) {
    return rvm__elements_agree_at(m, fn, &m->codes[fn].x[pc], e, n, (rvm_value){.u = bits}, held);
}

/* ---- the stack and the trail: false or NULL: the interpreter is to do it ---- */

static bool rvm__native_push(rvm_machine *m, uint32_t type, uint64_t bits) {
    return !rvm__push(m, (rvm_type)type, (rvm_value){.u = bits}, (rvm_value){0});
}

/* The value on top, if nothing but one is in its slot. */
static const rvm_value *rvm__native_top(rvm_machine *m, uint32_t type) {
    const rvm__cell *top = rvm__top(m, (rvm_type)type);
    return top && !top->extra ? &top->value : NULL;
}

static bool rvm__native_put(rvm_machine *m, uint32_t level, uint32_t site, uint64_t bits) {
    return !rvm__trail_push_plain(m, level, site, (rvm_value){.u = bits});
}

static bool rvm__native_move(rvm_machine *m, uint32_t fn, uint32_t pc, const rvm__lane *lanes, uint32_t back) {
    return !rvm__move_lanes(m, fn, &m->codes[fn].x[pc], lanes, back);
}

static bool rvm__native_move_one(rvm_machine *m, uint32_t fn, uint32_t pc, const rvm__lane *lane, uint32_t back) {
    return rvm__move_one(m, &m->codes[fn].x[pc], lane, back) || rvm__native_move(m, fn, pc, lane, back);
}

/* Of the compiler's own library: LLVM calls it for the division of fix. */
extern __int128 __divti3(__int128 a, __int128 b);

/* Memory for a local array that native code kept elsewhere; there is enough (rvm__native_need). */
static void *rvm__native_outside(rvm_machine *m, uint64_t bytes) {
    void *p = m->store.outside + m->store.outside_used;
    m->store.outside_used += bytes;
    return p;
}

/* One range fewer: what lies between two of them counts as seen. Not beside the newest, where the next ones may be. */
static void close_gap(rvm__native_seen *seen, uint64_t newest) {
    uint64_t best = UINT64_MAX, at = 0;
    for (uint64_t k = 1; k < seen->n; k++) {
        const uint64_t gap = seen->range[k].from - seen->range[k - 1].to;
        if (k == newest || k == newest + 1 || gap >= best) continue;
        best = gap;
        at = k;
    }
    seen->range[at - 1].to = seen->range[at].to;
    memmove(seen->range + at, seen->range + at + 1, (--seen->n - at) * sizeof *seen->range);
}

/* How many ranges begin at or before that; most often as many as the last time. */
static uint64_t ranges_before(const rvm__native_seen *seen, uint64_t at) {
    uint64_t lo = 0, hi = seen->n, k = seen->last < hi ? seen->last : hi;
    while (lo < hi) {
        if (k < hi && seen->range[k].from <= at)
            lo = k + 1;
        else if (k && seen->range[k - 1].from > at)
            hi = k - 1;
        else
            return k;
        k = lo + (hi - lo) / 2;
    }
    return lo;
}

/* Whether no element was seen there before; now one is. */
static bool rvm__native_is_new(rvm__native_seen *seen, const char *element) {
    const uint64_t at = (uint64_t)(uintptr_t)element, behind = at + sizeof(rvm_value), k = ranges_before(seen, at);
    seen->last = k;
    rvm__native_range *next = seen->range + k;
    const bool touches = k < seen->n && next->from == behind;
    if (k && at < next[-1].to) return false;
    if (k && next[-1].to == at) {
        next[-1].to = touches ? next->to : behind;
        seen->n -= touches;
        if (touches) memmove(next, next + 1, (seen->n - k) * sizeof *next);
    } else if (touches)
        next->from = at;
    else {
        memmove(next + 1, next, (seen->n++ - k) * sizeof *next);
        *next = (rvm__native_range){at, behind};
        if (seen->n > RVM__MOST_SEEN) close_gap(seen, k);
    }
    return true;
}

#define SYMBOL(name)                                                                                                        \
    { #name, (void *)(uintptr_t)name }
const rvm__native_symbol rvm__native_symbols[] = {
    SYMBOL(rvm__native_safepoint),
    SYMBOL(rvm__native_outside),
    SYMBOL(rvm__native_aside_room),
    SYMBOL(rvm__native_aside_step),
    SYMBOL(rvm__native_aside_turn),
    SYMBOL(rvm__native_aside_open),
    SYMBOL(rvm__native_aside_hand),
    SYMBOL(rvm__native_exit),
    SYMBOL(rvm__native_magnitudes),
    SYMBOL(rvm__native_arrays),
    SYMBOL(rvm__native_room),
    SYMBOL(rvm__native_agrees),
    SYMBOL(rvm__native_residue),
    SYMBOL(rvm__native_fresh),
    SYMBOL(rvm__native_new),
    SYMBOL(rvm__native_new_raw),
    SYMBOL(rvm__native_del),
    SYMBOL(rvm__native_agree_all),
    SYMBOL(rvm__trail_deeper),
    SYMBOL(rvm__forget_begin),
    SYMBOL(rvm__forget_end),
    SYMBOL(rvm__trail_segment),
    SYMBOL(rvm__trail_top),
    SYMBOL(rvm__trail_pop),
    SYMBOL(rvm__native_push),
    SYMBOL(rvm__native_top),
    SYMBOL(rvm__native_put),
    SYMBOL(rvm__native_move),
    SYMBOL(rvm__native_move_one),
    SYMBOL(rvm__native_chunks),
    SYMBOL(rvm__native_home),
    SYMBOL(rvm__native_array),
    SYMBOL(rvm__native_mark),
    SYMBOL(rvm__native_release),
    SYMBOL(rvm__native_keep_stores),
    SYMBOL(rvm__native_put_back),
    SYMBOL(rvm__native_keep_additions),
    SYMBOL(rvm__native_add_kept),
    SYMBOL(rvm__native_is_new),
    SYMBOL(rvm__native_enter),
    SYMBOL(__divti3),
    SYMBOL(rvm__native_safepoint_in_group),
    SYMBOL(rvm__native_adrift),
    SYMBOL(rvm__native_tallies),
    SYMBOL(rvm__native_tallies_below),
    SYMBOL(rvm__native_exit_path),
    SYMBOL(rvm__guard_begin),
    SYMBOL(rvm__guard_tag),
    SYMBOL(rvm__guard_marks),
    SYMBOL(rvm__guard_again),
    SYMBOL(rvm__guard_instance),
    SYMBOL(rvm__guard_admits),
    SYMBOL(rvm__guard_admits_all),
    SYMBOL(rvm__guard_close),
    SYMBOL(rvm__native_keep),
    SYMBOL(rvm__native_back),
    SYMBOL(rvm__native_keep_whole),
    SYMBOL(rvm__native_back_whole),
    SYMBOL(rvm__native_return_whole),
    SYMBOL(rvm__native_record_room),
    SYMBOL(rvm__native_record),
    SYMBOL(rvm__native_recall),
#define LIBM(name)
#define OWN(name)                                 SYMBOL(rvm_##name),
#define FUNCTION(name, shape, who, error, serves) who(name)
#include "functions.def"
#undef LIBM
#undef OWN
#undef FUNCTION
#if RVM_SLEEF
#define FUNCTION(name, shape, who, error, serves)                                                                           \
    SYMBOL(rvm_sleef_##name), RVM__IN_LANES(serves, SYMBOL(rvm__sleef4_##name), SYMBOL(rvm__sleef8_##name), )
#include "functions.def"
#undef FUNCTION
#endif
};
const size_t rvm__native_nsymbols = sizeof rvm__native_symbols / sizeof *rvm__native_symbols;

/* ---- entering ---- */

/* Whether the machine stands at an end of the bound call, about to run it whole, in a way that native code can. */
static bool at_an_end(const rvm_machine *m) {
    const rvm_function *f = &m->p->functions[m->bound.entry];
    if (m->bound.mode != RVM_PRIMAL || !rvm__runs_freely(m) || m->store.nframes != 1) return false;
    return m->run.pc == m->codes[m->bound.entry].x + (m->run.dir > 0 ? 1 : f->ncode - 2);
}

/* Kernels have no magnitudes, count no instruction apart, keep nothing of what they overwrite, and run instances in no
 * order.
 */
const char *rvm__why_no_kernels(const rvm_machine *m) {
    if (!m->o.unchecked) return "it is checked (--unchecked)";
    if (m->o.exact) return "it restores every bit (--exact)";
    if (m->o.profile) return "its instructions are counted for a profile";
    if (m->bound.adds_together) return "elements of an array that it adds into coincide";
    return NULL;
}

/* What stands outside of the arena already must not move. */
bool rvm__native_make_room(rvm_machine *m, uint64_t slots, uint64_t arrays, uint64_t frame, const rvm__native_need *need) {
    if (!make_room(m, slots, arrays, frame, need)) return false;
    if (m->store.outside_arrays) return need->bytes <= m->store.cap_outside - m->store.outside_used;
    m->store.outside_used = 0; /* and some room for what is called once this is left */
    return rvm__reserve(m, (void **)&m->store.outside, &m->store.cap_outside, need->bytes ? need->bytes + MORE_OUTSIDE : 0,
                        1);
}

void rvm__native_find_homes(rvm_machine *m, uint32_t first) {
    for (uint32_t f = first; f < m->store.nframes; f++)
        for (uint32_t k = 0; k < m->p->functions[m->store.frames[f].fn].narrays; k++) {
            rvm__array *a = &m->store.arrays[m->store.frames[f].arrays + k];
            const uint64_t home = (uintptr_t)a->shadow;
            m->store.outside_arrays += a->outside && a->present;
            if (!home) continue;
            const rvm__array *whole =
                &m->store.arrays[m->store.frames[RVM__HOME_FRAME(home)].arrays + RVM__HOME_ARRAY(home)];
            a->data = whole->data + (uintptr_t)a->data;
            a->magnitude = whole->magnitude;
            a->shadow = NULL;
        }
}

static bool has_room(rvm_machine *m, const rvm__native_need *need) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    m->jit.c_frames = need->stack + RVM__C_STACK_RESERVE;
    m->jit.c_floor = rvm__c_stack_end() + m->jit.c_frames;
    const bool fits = RVM__C_STACK_HERE >= m->jit.c_floor;
    m->jit.engine->cramped = fits ? 0 : m->jit.c_frames;
    if (!fits) return false;
    return rvm__native_make_room(m, top->slots, top->arrays, m->store.nframes - 1, need);
}

int64_t rvm__fuel_left(const rvm_machine *m, uint64_t used) {
    const uint64_t most = INT64_MAX / 2;
    if (!m->o.fuel || m->o.fuel > most) return (int64_t)most;
    return used < m->o.fuel ? (int64_t)(m->o.fuel - used) : 0;
}

/* The innermost frame, which stands at an end; *exited: somewhere in it, or deeper. */
static rvm_status run_frame(rvm_machine *m, rvm__native_entry entry, const rvm__native_need *need, bool *exited) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    rvm__native n; /* field by field, since compilers clear it by an instruction that starts slowly */
    n.charged = 0;
    n.limit = m->run.budget / SIZE;
    n.fuel = rvm__fuel_left(m, rvm__run_count(m));
    n.calls = 0;
    for (int k = 0; k < RVM__ERASED; k++) n.erased[k] = 0;
    n.peak = m->stats.depth_peak;
    n.status = n.lost = RVM_OK;
    n.threads = m->jit.device != NULL || m->jit.threads;
    n.least = m->jit.device_least;
    n.slots = top->slots;
    n.arrays = top->arrays;
    n.frame = m->store.nframes - 1;
    n.swept.by = UINT64_MAX;
    n.swept.done = n.swept.all = 0;
    m->jit.native = &n;
    m->exact.native = m->o.exact;
    rvm__exact_open(m);
    *exited = entry(m, &n);
    rvm__exact_close(m);
    m->exact.native = false;
    m->jit.native = NULL;
    m->run.budget = (n.limit - n.charged) * SIZE;
    m->stats.calls += n.calls;
    for (int k = 0; k < RVM__ERASED; k++) m->trail.erased[k] += n.erased[k];
    if (n.peak > m->stats.depth_peak) m->stats.depth_peak = (uint32_t)n.peak;
    if (m->jit.device && m->jit.runner->leave(m)) return m->jit.adrift = RVM_ERR_UNSUPPORTED;
    if (*exited) rvm__native_find_homes(m, (uint32_t)n.frame);
    if (*exited && !rvm__forget_rebuild(m)) return m->jit.adrift = RVM_ERR_MEMORY;
    if (*exited && need->dead) m->run.one_way = m->run.course;
    return n.status;
}

/* NULL: there is none, or not yet. The run may have been cancelled while it waited for a compiler. */
static rvm__native_entry ask(rvm_machine *m, const rvm__native_place *at, const rvm__native_need **need) {
    const rvm__native_entry entry = m->jit.engine->entry(m->jit.engine, m, at, need);
    if (!entry) rvm__safepoint_if_cancelled(m);
    return entry;
}

const char *rvm__native_lacks(enum rvm__lacks lacks) {
    switch (lacks) {
    case RVM__LACKS_NOTHING: return NULL;
    case RVM__LACKS_USE: return "it has not run often enough yet to be compiled";
    case RVM__LACKS_CODE: return "it is being compiled";
    }
    return NULL;
}

bool rvm__native_is_there(rvm_machine *m) {
    const rvm__native_place at = {.dir = m->run.course, .restoring = m->exact.restoring, .inside = rvm__exact_depth(m) > 0};
    const rvm__native_need *need;
    return m->jit.engine->entry(m->jit.engine, m, &at, &need) && has_room(m, need);
}

rvm_status rvm__native_run(rvm_machine *m, bool *ran) {
    const rvm__native_place at = {.dir = m->run.dir, .restoring = m->exact.restoring, .inside = rvm__exact_depth(m) > 0};
    const rvm__native_need *need;
    bool exited;
    *ran = false;
    rvm__native_entry entry = at_an_end(m) ? ask(m, &at, &need) : NULL;
    if (rvm__safepoint_if_cancelled(m)) { /* straight code would not poll, native loops do seldom */
        *ran = true;
        return rvm__safepoint(m);
    }
    if (!entry || !has_room(m, need)) return RVM_OK;
    rvm_status lost = rvm__fresh_write(m, need->fresh);
    if (!lost && m->jit.device) lost = m->jit.runner->enter(m);
    if (lost) return *ran = true, lost;
    const rvm_status status = run_frame(m, entry, need, &exited);
    if (need->fresh) rvm__fresh_rest(m, need->fresh, exited);
    *ran = !exited || status;
    if (exited) return status;
    m->run.where = m->run.dir > 0 ? AT_END : AT_START;
    m->run.pc = m->codes[m->bound.entry].x + (m->run.dir > 0 ? m->p->functions[m->bound.entry].ncode - 1 : 0);
    return RVM_OK;
}

/* Whether the interpreter does nothing now that native code does not. With a profile runs are native from an end of the
 * bound call only: within one the interpreter's counts of a stretch are not complete. */
static bool is_plain(const rvm_machine *m) {
    return m->bound.mode == RVM_PRIMAL && rvm__runs_freely(m) && !m->store.nguards && !m->profile;
}

/* The innermost frame has run to where it returns to. */
static rvm_status return_from(rvm_machine *m) {
    const uint32_t fn = m->store.frames[m->store.nframes - 1].fn;
    m->run.pc = m->codes[fn].x + (m->run.dir > 0 ? m->p->functions[fn].ncode - 1 : 0);
    return rvm__return(m);
}

rvm_status rvm__native_call(rvm_machine *m) {
    const rvm__native_place at = {.dir = m->run.dir, .restoring = m->exact.restoring, .inside = rvm__exact_depth(m) > 0};
    const rvm__native_need *need;
    bool exited;
    if (!is_plain(m) || !rvm__trails_fit(m, &at)) return RVM_OK;
    rvm__native_entry entry = ask(m, &at, &need);
    if (!entry || !has_room(m, need)) return RVM_OK;
    const rvm_status status = run_frame(m, entry, need, &exited);
    if (status)
        m->run.budget -= SIZE; /* which the interpreter adds, since to it the call has failed; that was made, though */
    return status || exited ? status : return_from(m);
}

/* Whether all local arrays of the innermost frame stand in the arena, to which native code gives them back. */
static bool all_in_arena(const rvm_machine *m) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm__array *a = rvm__arrays_from(m, top->arrays);
    for (uint32_t k = 0; m->store.outside_arrays && k < m->p->functions[top->fn].narrays; k++)
        if (a[k].present && a[k].outside) return false;
    return true;
}

/* What native code that was entered by on-stack replacement has made disappear. */
static void forget_locals(rvm_machine *m) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    rvm__array *a = rvm__arrays_from(m, top->arrays);
    for (uint32_t k = 0; k < f->narrays; k++) a[k].present = false;
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k].ndim) a[f->params[k].index].present = true;
}

/* The interpreter has polled: if that is in a loop for which there is code, it goes on natively to where the
 * innermost frame returns to. */
static rvm_status go_native(rvm_machine *m) {
    rvm__native_place at;
    const rvm__native_need *need;
    bool exited;
    if (!is_plain(m) || !rvm__stands_in_loop(m, &at) || !rvm__trails_fit(m, &at) || !all_in_arena(m)) return RVM_OK;
    rvm__native_entry entry = ask(m, &at, &need);
    if (!entry || !has_room(m, need)) return RVM_OK;
    rvm_status status = run_frame(m, entry, need, &exited);
    if (status || exited) return status;
    m->run.dir = at.dir;
    if (m->o.exact) m->exact.restoring = at.restoring; /* as the caller does */
    forget_locals(m);
    if ((status = return_from(m))) m->run.budget += SIZE; /* that instruction was charged */
    return status;
}

rvm_status rvm__safepoint_hot(rvm_machine *m) {
    const uint64_t before = m->run.counted;
    rvm_status status = rvm__safepoint(m);
    if (!m->jit.engine) return status;
    m->jit.engine->ran(m->jit.engine, m, m->run.counted - before);
    if (!status) status = go_native(m);
    if (!status && m->jit.engine && m->jit.engine->soon) rvm__safepoint_soon(m); /* it may be detached while it ran */
    return status;
}

bool rvm__native_takes(const rvm_machine *m, uint64_t instructions) {
    return m->jit.engine && instructions >= m->jit.engine->patience;
}

void rvm__native_tell_interpreted(rvm_machine *m, uint32_t fn, const char *why) {
    rvm_error e = {.code = RVM_ERR_UNSUPPORTED};
    if (!m->jit.engine) return;
    snprintf(e.message, sizeof e.message, "%s", why);
    m->jit.engine->derived(m->jit.engine, NULL, fn, &e, false);
}

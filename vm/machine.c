/* machine.c: creation, statistics, and what stops a run. */
#include "machine.h"
#include "instruction.h"
#include "support.h"

#include <string.h>

#include "derived.h"
#include "aside.h"
#include "memory.h"
#include "native.h"
#include "out_of_line.h"
#include "prepare.h"
#include "profile.h"
#include "restore.h"
#include "run.h"

rvm_options rvm_options_default(void) {
    return (rvm_options){.tolerance = 1e-8, .depth = 10000};
}

static rvm_status check_options(const rvm_options *o, rvm_error *err) {
    if (!(o->tolerance >= 0))
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the tolerance is %g: it must not be negative", o->tolerance);
    if (!o->depth) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the call depth is 0: the function itself takes 1");
    if ((unsigned)o->trail > RVM_TRAIL_OFF)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no kind of trail has number %d", (int)o->trail);
    return RVM_OK;
}

bool rvm__room_init(rvm_machine *m) {
    const size_t n = m->p->nvariants;
    if (n && !(m->store.inline_caches = rvm__zeroed(m, n * sizeof *m->store.inline_caches))) return false;
    return rvm__trail_init(m);
}

/* What lasts as long as the machine. */
static bool set_up(rvm_machine *m) {
    return (!m->o.profile || rvm__profile_new(m)) && rvm__room_init(m);
}

rvm_status rvm_machine_new(const rvm_program *p, const rvm_options *options, rvm_machine **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(p);
    rvm_options o = options ? *options : rvm_options_default();
    if (!p->verified) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the program is not verified");
    if (check_options(&o, err)) return RVM_ERR_USAGE;
    RVM__TRY(rvm_math_choose(o.math, &o.math, err));
    const rvm_allocator al = o.allocator ? *o.allocator : rvm__libc_allocator;
    rvm_machine *m = al.alloc(al.userdata, NULL, 0, sizeof *m);
    if (!m) return rvm__fail_memory(err);
    memset(m, 0, sizeof *m);
    m->p = p;
    m->o = o;
    m->math = rvm__math_of(o.math);
    m->kernels = m->math->kernels;
    m->o.profile |= o.activity;
    m->al = al;
    m->memory = sizeof *m;
    m->run.where = UNBOUND;
    m->run.cancelled = &m->cancel;
    m->run.shown = &m->run.share;
    m->run.share = -1;
    if (set_up(m)) return *out = m, RVM_OK;
    const rvm_status status = rvm__no_memory(m, err);
    rvm_machine_free(m);
    return status;
}

void rvm__room_free(rvm_machine *m) {
    rvm__locals_free(m);
    rvm__trail_free(m);
    rvm__aside_free(m);
    rvm__resize(m, m->store.outside, m->store.cap_outside, 0);
    for (int k = 0; k < RVM__SCRATCHES; k++) rvm__resize(m, m->store.scratch[k], m->store.cap_scratch[k], 0);
    rvm__resize(m, m->store.slots, m->store.cap_slots * sizeof *m->store.slots, 0);
    rvm__resize(m, m->store.magnitudes, m->store.cap_magnitudes * sizeof *m->store.magnitudes, 0);
    rvm__resize(m, m->store.arrays, m->store.cap_arrays * sizeof *m->store.arrays, 0);
    rvm__resize(m, m->store.frames, m->store.cap_frames * sizeof *m->store.frames, 0);
    rvm__resize(m, m->store.stack, m->store.cap_stack * sizeof *m->store.stack, 0);
    if (m->store.inline_caches) rvm__resize(m, m->store.inline_caches, m->p->nvariants * sizeof *m->store.inline_caches, 0);
}

void rvm_machine_free(rvm_machine *m) {
    if (!m) return;
    if (m->jit.engine) m->jit.engine->released(m->jit.engine);
    if (m->jit.running) m->jit.runner->end(m);
    rvm__derived_free(m);
    rvm__prepare_free(m, &m->primal_codes);
    rvm__prepare_free(m, &m->shadow_codes);
    rvm__room_free(m);
    rvm__inputs_free(m);
    rvm_machine_free(m->bound.beside);
    rvm__exact_free(m);
    for (int k = 0; k < RVM__KEEPS; k++) rvm__resize(m, m->store.kept[k], m->store.cap_kept[k], 0);
    rvm__resize(m, m->store.pops, m->store.pops ? m->p->nfunctions * sizeof *m->store.pops : 0, 0);
    rvm__resize(m, m->store.shadows, m->store.cap_shadows * sizeof *m->store.shadows, 0);
    if (m->bound.activity.at) rvm__resize(m, m->bound.activity.at, m->bound.activity.size, 0);
    rvm__profile_free(m);
    rvm__guards_free(m);
    const rvm_allocator al = m->al;
    al.alloc(al.userdata, m, sizeof *m, 0);
}

void rvm_machine_cancel(rvm_machine *m) {
    if (m) __atomic_store_n(m->run.cancelled, 1, __ATOMIC_RELAXED);
}

/* ---- what stops a run ---- */

enum { SLICE = 1000000 };

/* So much of a slice as fuel and where the run is to end leave. */
static uint64_t within(const rvm_machine *m, uint64_t slice) {
    const uint64_t ends[] = {m->o.fuel, m->run.far};
    for (int k = 0; k < 2; k++) {
        const uint64_t left = ends[k] > m->run.counted ? ends[k] - m->run.counted : 0;
        if (ends[k] && left < slice) slice = left;
    }
    return slice;
}

/* Grant what may run before the next poll. */
static void grant(rvm_machine *m) {
    uint64_t slice = within(m, SLICE);
    if (m->jit.engine && m->jit.engine->every < slice) slice = m->jit.engine->every;
    if (m->profile && m->profile->every < slice) slice = m->profile->every;
    m->run.slice = slice;
    m->run.budget = (int64_t)(slice * sizeof(rvm__xinsn));
}

/* Instructions of the present run so far. The budget may be overdrawn by a stretch of straight code. */
static uint64_t so_far(const rvm_machine *m) {
    return m->run.counted + (uint64_t)((int64_t)m->run.slice - m->run.budget / (int64_t)sizeof(rvm__xinsn));
}

bool rvm__safepoint_if_cancelled(rvm_machine *m) {
    if (!__atomic_load_n(m->run.cancelled, __ATOMIC_RELAXED)) return false;
    m->run.counted = so_far(m);
    m->run.slice = 0;
    m->run.budget = 0;
    return true;
}

void rvm__run_begins(rvm_machine *m) {
    m->run.counted = m->run.reported = 0;
    m->run.whole = 0;
    *m->run.shown = -1;
    grant(m);
    rvm__safepoint_if_cancelled(m);
}

uint64_t rvm__run_count(const rvm_machine *m) {
    return so_far(m);
}

rvm_status rvm__is_to_end(rvm_machine *m, uint64_t count) {
    enum { GROUP = 8 * (1 << 20) }; /* what one runs between two polls; counts may be ahead of that */
    const uint64_t now = count < m->run.reported + GROUP ? count : m->run.reported + GROUP;
    if (m->o.progress && now >= m->run.reported + SLICE) {
        m->run.reported = now;
        if (m->o.progress(m->o.userdata, now)) rvm_machine_cancel(m);
    }
    if (__atomic_load_n(m->run.cancelled, __ATOMIC_RELAXED)) return RVM_ERR_CANCELLED;
    return m->o.fuel && count >= m->o.fuel ? RVM_ERR_FUEL : RVM_OK;
}

/* For the progress function. */
static void note_share(rvm_machine *m) {
    const double trips = rvm__outermost_share(m);
    if (trips > 0) {
        m->run.whole = (double)m->run.counted / trips;
        *m->run.shown = trips;
    } else if (m->run.whole > 0)
        *m->run.shown = m->run.counted < m->run.whole ? (double)m->run.counted / m->run.whole : 1;
}

rvm_status rvm__safepoint(rvm_machine *m) {
    m->run.counted = so_far(m);
    m->run.slice = 0;
    m->run.budget = 0;
    if (__atomic_exchange_n(m->run.cancelled, 0, __ATOMIC_RELAXED)) return RVM_ERR_CANCELLED;
    if (m->profile) rvm__profile_sample(m);
    if (m->o.progress && m->run.counted >= m->run.reported + SLICE) {
        note_share(m);
        m->run.reported = m->run.counted;
        if (m->o.progress(m->o.userdata, m->run.counted)) return RVM_ERR_CANCELLED;
    }
    if (m->o.fuel && m->run.counted >= m->o.fuel) return RVM_ERR_FUEL;
    if (m->run.far && m->run.counted >= m->run.far) return RVM_ERR_FUEL;
    if (m->run.overtaken && m->run.overtaken(m->run.overtaker)) return RVM_ERR_FUEL;
    grant(m);
    return RVM_OK;
}

double rvm_machine_share(const rvm_machine *m) {
    return m ? m->run.share : -1;
}

void rvm__safepoint_soon(rvm_machine *m) {
    m->run.counted = so_far(m);
    m->run.slice = within(m, rvm__rest_of_loop(m));
    m->run.budget = (int64_t)(m->run.slice * sizeof(rvm__xinsn));
}

/* ---- statistics ---- */

void rvm_machine_stats(const rvm_machine *m, rvm_stats *out) {
    if (!out) return;
    if (!m) {
        *out = (rvm_stats){0};
        return;
    }
    *out = m->stats;
    out->stack_left = m->store.nstack;
    rvm__trail_stats(m, out);
    if (!m->o.keep_shadows) out->bits_shadows += 64 * out->shadows_dropped;
    out->bits_stack = 64 * (m->store.stack_lost + (m->run.where == INSIDE ? 0 : m->store.nstack));
    out->bits_erased = out->bits_trail + out->bits_shadows + out->bits_stack + out->bits_forgotten;
    out->exact_updates = m->exact.updates;
    out->exact_bits = m->exact.recorded;
    out->exact_peak = m->exact.peak;
}

void rvm__stats_reset(rvm_machine *m) {
    static const rvm_stats none = {0}; /* copied, since compilers clear a structure by an instruction that starts slowly */
    m->stats = none;
    m->stats.memory_peak = m->memory;
    m->stats.ancilla_peak = m->store.arena_used;
    m->residue_floor = 0;
    m->trail.peak = m->store.stack_lost = 0;
    memset(m->trail.erased, 0, sizeof m->trail.erased);
    m->exact.updates = m->exact.recorded = 0;
    m->exact.peak = m->exact.held;
}

void rvm_machine_stats_reset(rvm_machine *m) {
    if (!m) return;
    rvm__stats_reset(m);
    if (m->profile) rvm__profile_reset(m);
}

const rvm_program *rvm_machine_program(const rvm_machine *m) {
    return m ? m->p : NULL;
}

void rvm_machine_options(const rvm_machine *m, rvm_options *out) {
    if (out) *out = m ? m->o : (rvm_options){0};
}

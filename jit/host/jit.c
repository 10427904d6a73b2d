/* jit.c: what is compiled, for whom. No LLVM here: that is the module's, which is opened when something is to be compiled
 * that the cache does not have; or at once where not even the cache knows whether it can be.
 *
 * A machine that is attached has an `attachment`, which is its rvm__engine and remembers the last record of code
 * (records.h), so that a run like the one before takes no lock.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "c_function.h"
#include "header.h"
#include "job.h"
#include "far_wanted.h"
#include "fresh_wanted.h"
#include "shaped.h"
#include "hotness.h"
#include "kept.h"
#include "processors.h"
#include "program.h"
#include "support.h"
#include "thread.h"

typedef struct latest {                    /* code of a function in one machine */
    const rvm__record *at_end[2];          /* by direction, */
    rvm__lengths lengths[2];               /* with what lengths it was asked for, */
    uint64_t shapes[2];                    /* and the machine's shapes that it was found to be for, or 0; */
    uint64_t far[2];                       /* which arguments were far, */
    bool fresh[2];                         /* whether what fresh arguments count as was yet to be written */
    const rvm__record *loop;               /* entered at one */
    uint32_t missed;                       /* so often the cache had none, and it was not to be compiled */
    uint16_t registers[RVM__MOST_LENGTHS]; /* that hold lengths: so many, */
    uint8_t nregisters;
    bool looked; /* once it is known */
} latest;

typedef struct attachment {
    rvm__engine engine; /* first: the machine knows this */
    struct attachment *next, **link;
    rvm_jit *jit;
    rvm_machine *m;
    uint64_t id[2];
    rvm_error why;     /* of the last run */
    bool noticed;      /* that these options are interpreted */
    bool pending;      /* code was asked for that is being compiled, or waits for that, */
    uint64_t finished; /* as long as this is the engine's */
    rvm__profiled hotness;
    size_t size; /* of this, with what `hotness` has by function behind it */
    latest functions[];
} attachment;

rvm_jit_options rvm_jit_options_default(void) {
    return (rvm_jit_options){.level = 3, .tiers = true, .threads = RVM_JIT_ALL_THREADS};
}

/* ---- opening ---- */

/* What the cache says of the module: that it could be opened here, and what it is. */
static bool is_known(rvm_jit *j) {
    rvm__cached x;
    if (!j->cache || rvm__cache_get(j->cache, &j->key, &x, &j->trouble) || !x.file) return false;
    const rvm__part *text = &x.part[0];
    const bool known = x.nparts && text->n && text->n <= sizeof j->about;
    if (known) snprintf(j->about, sizeof j->about, "%.*s", (int)text->n, (const char *)text->p);
    rvm__cached_free(j->cache, &x);
    return known;
}

static rvm_status open_all(rvm_jit *j, rvm_error *err) {
    const double begin = rvm__seconds();
    rvm_status status = rvm__jobs_begin(j, err);
    rvm__libdevice_find(j->libdevice);
    if (!status) status = rvm__module_find(j->path, err);
    if (status) return status;
    if (!j->o.tiers) rvm__open_cache(j);
    const bool known = is_known(j);
    j->totals.opening = rvm__seconds() - begin;
    return known || j->o.tiers ? RVM_OK : rvm__open_compiler(j, err);
}

/* What compiles needs memory while others do. */
static void *alloc_alone(void *userdata, void *p, size_t old_size, size_t new_size) {
    rvm_jit *j = userdata;
    pthread_mutex_lock(&j->memory);
    void *const q = rvm__realloc(&j->given, p, old_size, new_size);
    pthread_mutex_unlock(&j->memory);
    return q;
}

rvm_status rvm_jit_new(const rvm_jit_options *options, rvm_jit **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    const rvm_jit_options o = options ? *options : rvm_jit_options_default();
    if (o.threads > RVM_JIT_MAX_THREADS && o.threads != RVM_JIT_ALL_THREADS)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "%u threads are too many: %u at most", o.threads,
                         RVM_JIT_MAX_THREADS);
    const char *cpu = RVM__CPU_NATIVE;
    if (o.cpu) RVM__TRY(rvm__processor_find(o.cpu, true, &cpu, err));
    if (o.level > 3) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "levels of optimisation are 0 to 3, not %u", o.level);
    uint64_t limit;
    const bool cached = !o.cache || *o.cache;
    if (cached && rvm__cache_limit(o.cache_size, &limit, err)) return RVM_ERR_USAGE;
    const rvm_allocator al = o.allocator ? *o.allocator : rvm__libc_allocator;
    rvm_jit *j = rvm__realloc(&al, NULL, 0, sizeof *j);
    if (!j) return rvm__fail_memory(err);
    *j = (rvm_jit){.o = o,
                   .given = al,
                   .al = o.allocator ? (rvm_allocator){alloc_alone, j} : al,
                   .threads = o.threads == RVM_JIT_ALL_THREADS ? rvm__processors() : o.threads};
    j->key.al = &j->al;
    j->o.cpu = cpu;
    if (!o.hot) j->o.hot = rvm__usual_hot;
    const rvm_status status = open_all(j, err);
    if (status)
        rvm_jit_free(j);
    else
        *out = j;
    return status;
}

const char *rvm_jit_about(const rvm_jit *j) {
    if (!j) return NULL;
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&j->lock;
    pthread_mutex_lock(lock);
    const bool open = j->about[0];
    pthread_mutex_unlock(lock);
    return open ? j->about : "";
}

bool rvm_jit_busy(rvm_jit *j) {
    if (!j) return false;
    pthread_mutex_lock(&j->lock);
    const bool busy = j->busy;
    pthread_mutex_unlock(&j->lock);
    return busy;
}

void rvm_jit_stats(rvm_jit *j, rvm_jit_totals *out) {
    if (!out) return;
    *out = (rvm_jit_totals){0};
    if (!j) return;
    pthread_mutex_lock(&j->lock);
    *out = j->totals;
    pthread_mutex_unlock(&j->lock);
}

/* ---- machines ---- */

/* Row-major without gaps. A stride that is never multiplied by more than 0 does not matter. */
static bool is_contiguous(const rvm__array *a) {
    int64_t n = sizeof(rvm_value);
    for (int d = a->ndim - 1; d >= 0; d--) {
        if (a->dim[d] > 1 && a->stride[d] != n) return false;
        n *= a->dim[d] > 0 ? a->dim[d] : 1;
    }
    return true;
}

static const char *end_of(const rvm__array *a) {
    size_t n = sizeof(rvm_value);
    for (int d = 0; d < a->ndim; d++) n *= (size_t)a->dim[d];
    return a->data + n;
}

/* Whether arrays that a function gets have no gaps, and none shares memory with another, unless both are only read. */
static bool are_contiguous(const rvm_function *f, const rvm__array *arrays) {
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (!f->params[k].ndim) continue;
        const rvm__array *b = &arrays[f->params[k].index];
        if (!is_contiguous(b)) return false;
        for (uint32_t i = 0; i < k; i++) {
            if (!f->params[i].ndim) continue;
            const rvm__array *a = &arrays[f->params[i].index];
            const bool read = f->params[i].role == RVM_READ && f->params[k].role == RVM_READ;
            if (!read && a->data < end_of(b) && b->data < end_of(a)) return false;
        }
    }
    return true;
}

static bool is_one_way(const rvm_options *o) {
    return o->unchecked && o->trail == RVM_TRAIL_OFF;
}

/* Of the innermost frame's function: what code may be for alone, the k-th length. */
static uint8_t length_of(const rvm_machine *m, const latest *f, uint32_t k) {
    const int64_t length = m->store.slots[m->store.frames[m->store.nframes - 1].slots + f->registers[k]].i;
    return (uint8_t)(length <= RVM__LONGEST ? length : 0);
}

static rvm__lengths lengths_of(attachment *a) {
    const uint32_t fn = a->m->store.frames[a->m->store.nframes - 1].fn;
    latest *f = &a->functions[fn];
    rvm__lengths lengths = {{0}};
    if (!f->looked && !a->jit->o.any_lengths)
        f->nregisters = (uint8_t)rvm__length_registers(&a->m->p->functions[fn], f->registers, RVM__MOST_LENGTHS);
    f->looked = true;
    for (uint32_t k = 0; k < f->nregisters; k++) lengths.is[k] = length_of(a->m, f, k);
    return lengths;
}

/* Whether they are those that code was asked for last, in that direction. */
static bool same_as_last(const rvm_machine *m, const latest *f, int dir) {
    for (uint32_t k = 0; k < f->nregisters; k++)
        if (length_of(m, f, k) != f->lengths[dir > 0].is[k]) return false;
    return true;
}

/* What blocks are beside native code. */
static bool may_go_together(const rvm_machine *m) {
    return !m->o.profile && !m->bound.adds_together;
}

static uint8_t kernels_of(const rvm_machine *m) {
    return m->jit.device_code && !rvm__why_no_kernels(m) ? m->jit.device_code : RVM__NO_KERNELS;
}

/* What has no exits may turn loops around (jit/lower/loop_reversal.h), which is for elements that differ. */
static bool trusts(const rvm_machine *m) {
    return m->o.trust && !m->bound.adds_together;
}

static bool in_lanes(const attachment *a) {
    return !a->jit->o.no_lanes && may_go_together(a->m);
}

static bool in_threads(const attachment *a) {
    const unsigned threads = a->m->jit.threads;
    return may_go_together(a->m) && (threads > 1 || (threads && a->jit->o.fast_math));
}

/* For groups in lanes; of the function that was called. */
static uint64_t far_of(const attachment *a) {
    const rvm_machine *m = a->m;
    const bool wanted = m->store.nframes == 1 && in_lanes(a) && !m->o.exact && !a->jit->o.any_lengths;
    return wanted ? rvm__far_arguments(m) : 0;
}

/* Runs that restore every bit record each update in the order of the program. */
static void in_order(rvm__lowering *what, const rvm_machine *m, bool restoring, bool inside) {
    what->exact = true;
    what->values_only = m && m->exact.values_only;
    what->restoring = restoring;
    what->inside = inside;
    what->fast = what->lanes = what->vector_math = what->threads = what->one_way = false;
    what->device = RVM__NO_KERNELS;
    what->fresh = what->streams = 0;
}

/* For the innermost frame, which stands there. */
static rvm__lowering wanted(attachment *a, const rvm__native_place *at) {
    const rvm_machine *m = a->m;
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    rvm__lowering what = {.p = m->p,
                          .fn = top->fn,
                          .direction = at->dir,
                          .at = at->pc,
                          .turns = at->turns,
                          .lengths = lengths_of(a),
                          .unchecked = m->o.unchecked,
                          .trust = trusts(m),
                          .contiguous = are_contiguous(&m->p->functions[top->fn], rvm__arrays_from(m, top->arrays)),
                          .fast = a->jit->o.fast_math,
                          .lanes = in_lanes(a),
                          .vector_math = a->jit->o.vector_math || a->jit->o.fast_math,
                          .math = (uint8_t)m->o.math,
                          .profile = m->o.profile,
                          .discards = m->trail.discards,
                          .lines = a->jit->o.symbols,
                          .device = kernels_of(m),
                          .threads = in_threads(a),
                          .far = far_of(a),
                          .tolerance = m->o.tolerance};
    what.one_way = is_one_way(&m->o) && !m->o.profile;
    rvm__want_fresh(m, at, &what);
    if (m->o.exact) in_order(&what, m, at->restoring, at->inside);
    return what;
}

static bool is_refused(attachment *a, const rvm__lowering *what) {
    rvm_jit *j = a->jit;
    if (!a->m->o.print || !rvm_program_prints(what->p, what->fn)) return false;
    rvm__fail(&a->why, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "what prints is interpreted");
    pthread_mutex_lock(&j->lock);
    if (!a->noticed) rvm__tell(j, what, &(rvm__compiled){0}, &a->why);
    pthread_mutex_unlock(&j->lock);
    a->noticed = true;
    return true;
}

/* Waits for what is being compiled; false: the run is not to, since it goes on meanwhile, or was cancelled. */
static bool waits(attachment *a) {
    rvm_jit *j = a->jit;
    if (j->o.tiers && !j->o.wait) {
        a->pending = true;
        a->finished = j->finished;
        return false;
    }
    if (!__atomic_load_n(a->m->run.cancelled, __ATOMIC_RELAXED)) return rvm__job_wait(j), true;
    rvm__fail(&a->why, RVM_ERR_CANCELLED, NULL, 0, 0, "cancelled while compiling");
    return false;
}

/* Such code, or why there is none; NULL: it was not found, and is not to be compiled; or *pending: it may be there later. */
static const rvm__record *ask_for(attachment *a, const rvm__lowering *what, const rvm__record **last, bool compiles,
                                  bool *pending) {
    enum { MOST_MISSED = 16 }; /* looking takes longer than to interpret a small function */
    rvm_jit *j = a->jit;
    latest *f = &a->functions[what->fn];
    const enum rvm__asks asks = compiles ? RVM__ASKS_COMPILER : f->missed < MOST_MISSED ? RVM__ASKS_CACHE : RVM__ASKS_KNOWN;
    const rvm__record *r;
    rvm_error why;
    *pending = false;
    if (*last && rvm__same_code(&(*last)->what, what)) return *last;
    if (!a->id[0] && !a->id[1]) rvm_program_id(a->m->p, a->id);
    if (!a->id[0] && !a->id[1]) return NULL;
    pthread_mutex_lock(&j->lock);
    do r = rvm__obtain(j, a->id, what, asks, pending, &why);
    while (*pending && waits(a));
    pthread_mutex_unlock(&j->lock);
    if (*pending) return NULL;
    if (r || compiles)
        a->why = why;
    else
        f->missed += asks == RVM__ASKS_CACHE;
    return *last = r;
}

/* Whether the record is still what is wanted at an end: of that, only this differs between runs of a function in one
 * direction on one machine. */
static bool still_fits(attachment *a, const rvm__record *r, const rvm__native_place *at) {
    const rvm_machine *m = a->m;
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    latest *f = &a->functions[top->fn];
    uint64_t *shapes = &f->shapes[at->dir > 0];
    if (r->why.code || r->what.turns != at->turns || r->what.discards != m->trail.discards ||
        r->what.device != kernels_of(m) || r->what.trust != trusts(m) ||
        (!m->o.exact && (r->what.lanes != in_lanes(a) || r->what.threads != in_threads(a))) ||
        (m->o.exact && (r->what.restoring != at->restoring || r->what.inside != at->inside)) ||
        f->fresh[at->dir > 0] != rvm__is_unwritten(m, at))
        return false;
    if (m->store.nframes == 1 && *shapes == m->bound.shapes) return true;
    if (r->what.fresh || f->fresh[at->dir > 0] || !same_as_last(m, f, at->dir) || f->far[at->dir > 0] != far_of(a) ||
        r->what.contiguous != are_contiguous(&m->p->functions[top->fn], rvm__arrays_from(m, top->arrays)))
        return false;
    *shapes = m->store.nframes == 1 ? m->bound.shapes : 0;
    return true;
}

static void was_asked_for(latest *f, int dir, const rvm__lowering *what, uint64_t shapes) {
    f->fresh[dir > 0] = shapes != 0;
    f->far[dir > 0] = what->far;
    f->lengths[dir > 0] = what->lengths;
    f->shapes[dir > 0] = shapes; /* 0: this may be a call within that of these shapes */
}

/* Whether what was asked for last is still being compiled. */
static bool is_pending(const attachment *a) {
    return a->pending && a->finished == __atomic_load_n(&a->jit->finished, __ATOMIC_RELAXED);
}

/* There is no code for what stands there. The run as a whole lacks what it lacks where it begins, or waits for later on. */
static rvm__native_entry lacks(attachment *a, const rvm__native_place *at, enum rvm__lacks what) {
    const bool begins = !at->pc && a->m->store.nframes == 1;
    if (begins || what == RVM__LACKS_CODE) a->engine.lacks = what;
    return NULL;
}

static rvm__native_entry entry(rvm__engine *e, rvm_machine *m, const rvm__native_place *at, const rvm__native_need **need) {
    attachment *a = (attachment *)e;
    const uint32_t fn = m->store.frames[m->store.nframes - 1].fn;
    const rvm__record **last = at->pc ? &a->functions[fn].loop : &a->functions[fn].at_end[at->dir > 0];
    const bool fits = !at->pc && *last && still_fits(a, *last, at);
    bool compiles = false, refused = false, pending = false;
    if (!fits && is_pending(a)) return lacks(a, at, RVM__LACKS_CODE);
    if (!fits && !rvm__hotness_asks(&a->hotness, m, at, *last, &compiles)) return lacks(a, at, RVM__LACKS_USE);
    rvm__hotness *w = &a->hotness.functions[fn];
    const rvm__record *before = *last, *r = before;
    if (!fits) {
        const rvm__lowering what = wanted(a, at);
        refused = is_refused(a, &what);
        r = refused ? NULL : ask_for(a, &what, last, compiles, &pending);
        if (pending) return lacks(a, at, a->pending ? RVM__LACKS_CODE : RVM__LACKS_NOTHING);
        if (!at->pc) was_asked_for(&a->functions[fn], at->dir, &what, rvm__is_unwritten(m, at) ? m->bound.shapes : 0);
    }
    if (at->pc && r && r != before && w->entries < UINT32_MAX) w->entries++;
    if (at->pc)
        w->passed_by = refused || (r && r->why.code);
    else if (!r || r->why.code)
        a->engine.hot[fn] = false;
    if (!r || r->why.code) return lacks(a, at, r || refused || compiles ? RVM__LACKS_NOTHING : RVM__LACKS_USE);
    a->engine.lacks = RVM__LACKS_NOTHING;
    a->engine.soon = false;
    *need = &r->code.need;
    return r->code.entry;
}

static void ran(rvm__engine *e, rvm_machine *m, uint64_t instructions) {
    attachment *a = (attachment *)e;
    const bool still = is_pending(a);
    if (a->pending && !still) rvm__hotness_again(&a->hotness, m);
    a->pending = still;
    a->engine.soon = rvm__hotness_ran(&a->hotness, m, instructions) && !still && !m->profile; /* which enters no loop */
}

static rvm_status adopt(rvm__engine *e, rvm_machine *d, rvm_error *err) {
    rvm_jit *j = ((attachment *)e)->jit;
    const rvm_machine *m = ((attachment *)e)->m;
    const rvm_status status = d->jit.engine && ((attachment *)d->jit.engine)->jit == j ? RVM_OK : rvm_jit_attach(j, d, err);
    if (status || !m->jit.device) return status;
    d->jit.device = m->jit.device;
    d->jit.device_code = m->jit.device_code;
    d->jit.device_least = m->jit.device_least;
    d->jit.runner = m->jit.runner;
    return status;
}

static bool awaits(const rvm__engine *e) {
    return is_pending((const attachment *)e);
}

static rvm_status reason(const rvm__engine *e, rvm_error *err) {
    const attachment *a = (const attachment *)e;
    const char *what = rvm__native_lacks(e->lacks);
    if (what) return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "%s", what);
    if (err && a->why.code) *err = a->why;
    return a->why.code;
}

static void derived(rvm__engine *e, const rvm_machine *d, uint32_t fn, const rvm_error *why, bool tells) {
    attachment *a = (attachment *)e;
    a->why.code = RVM_OK;
    a->engine.lacks = RVM__LACKS_NOTHING;
    a->engine.cramped = d && d->jit.engine ? d->jit.engine->cramped : 0;
    if (why)
        a->why = *why;
    else if (d && d->jit.engine)
        reason(d->jit.engine, &a->why);
    if (!tells) return;
    const rvm__lowering what = {.p = a->m->p, .fn = fn, .direction = 1};
    pthread_mutex_lock(&a->jit->lock);
    rvm__tell(a->jit, &what, &(rvm__compiled){0}, &a->why);
    pthread_mutex_unlock(&a->jit->lock);
}

/* Locked. */
static void unlink_attachment(attachment *a) {
    *a->link = a->next;
    if (a->next) a->next->link = a->link;
    rvm__kept_leave(a->m);
    a->m->jit.engine = NULL;
    a->m->jit.threads = 0;
    a->m->jit.device = NULL;
    a->m->jit.device_code = RVM__NO_KERNELS;
    rvm__realloc(&a->jit->al, a, a->size, 0);
}

static void released(rvm__engine *e) {
    attachment *a = (attachment *)e;
    rvm_jit *j = a->jit;
    pthread_mutex_lock(&j->lock);
    unlink_attachment(a);
    pthread_mutex_unlock(&j->lock);
}

rvm_status rvm_jit_attach(rvm_jit *j, rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(j, m);
    const uint32_t n = m->p->nfunctions;
    const size_t size = sizeof(attachment) + n * (sizeof(latest) + sizeof(rvm__hotness) + 1);
    attachment *a = rvm__realloc(&j->al, NULL, 0, size);
    if (!a) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    memset(a, 0, size);
    rvm__hotness *functions = (rvm__hotness *)(void *)&a->functions[n];
    uint8_t *ask = (uint8_t *)&functions[n];
    a->engine = (rvm__engine){.entry = entry,
                              .ran = ran,
                              .hot = ask,
                              .every = j->o.hot,
                              .patience = j->o.tiers ? j->o.hot / 4 : 0,
                              .adopt = adopt,
                              .awaits = awaits,
                              .reason = reason,
                              .derived = derived,
                              .released = released};
    a->hotness = (rvm__profiled){.hot = j->o.hot, .tiers = j->o.tiers, .functions = functions, .ask = ask};
    a->jit = j;
    a->m = m;
    a->size = size;
    if (j->o.hot <= 1) memset(ask, 1, n); /* what is called, at once */
    rvm_jit_detach(m);
    pthread_mutex_lock(&j->lock);
    a->next = j->attached;
    a->link = &j->attached;
    if (a->next) a->next->link = &a->next;
    j->attached = a;
    pthread_mutex_unlock(&j->lock);
    m->jit.engine = &a->engine;
    m->jit.threads = j->threads;
    m->jit.runner = &rvm__threads;
    return RVM_OK;
}

void rvm_jit_detach(rvm_machine *m) {
    if (m && m->jit.engine) m->jit.engine->released(m->jit.engine);
}

rvm_status rvm_jit_reason(const rvm_machine *m, rvm_error *err) {
    RVM__NEEDS(m);
    if (!m->jit.engine) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the machine has no native engine");
    const attachment *a = (const attachment *)m->jit.engine;
    if (!a->why.code && !a->engine.lacks && a->engine.cramped)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                         "the code takes %llu bytes of the thread's stack, which has fewer left",
                         (unsigned long long)a->engine.cramped);
    return reason(m->jit.engine, err);
}

void rvm_jit_free(rvm_jit *j) {
    if (!j) return;
    while (j->attached) unlink_attachment(j->attached);
    rvm__job_end(j);
    while (j->records) {
        rvm__record *r = j->records;
        j->records = r->next;
        rvm__object_unload(&r->loaded);
        rvm__realloc(&j->al, r, sizeof *r, 0);
    }
    if (j->compiler) j->module->close(j->compiler);
    rvm__cache_close(j->cache);
    rvm__bytes_free(&j->key);
    rvm__jobs_end(j);
    const rvm_allocator al = j->given;
    rvm__realloc(&al, j, sizeof *j, 0);
}

/* Levels of the trail that a run with these options discards. */
static rvm_status discarded(const rvm_program *p, uint32_t fn, int direction, const rvm_options *o, uint16_t *levels,
                            rvm_error *err) {
    rvm_machine *m = NULL;
    uint16_t needed = UINT16_MAX;
    rvm_status status = o->trail == RVM_TRAIL_KEEP ? RVM_OK : rvm_machine_new(p, o, &m, err);
    if (m && !rvm__trail_pops(m, fn, direction, &needed))
        status = rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    rvm_machine_free(m);
    *levels = (uint16_t)~needed;
    return status;
}

rvm_status rvm_jit_dump(rvm_jit *j, const rvm_program *p, uint32_t fn, int direction, const rvm_options *options,
                        rvm_jit_form form, FILE *out, rvm_error *err) {
    RVM__NEEDS(j, p, out);
    rvm_options o = options ? *options : rvm_options_default();
    RVM__TRY(rvm_math_choose(o.math, &o.math, err));
    rvm__lowering what = {.p = p,
                          .fn = fn,
                          .direction = direction,
                          .unchecked = o.unchecked,
                          .trust = o.trust,
                          .contiguous = true,
                          .fast = j->o.fast_math,
                          .threads = j->threads > 1 || (j->threads && j->o.fast_math),
                          .lanes = !j->o.no_lanes,
                          .device = form == RVM_JIT_PTX ? RVM__KERNELS_PTX : RVM__NO_KERNELS,
                          .vector_math = j->o.vector_math || j->o.fast_math,
                          .math = (uint8_t)o.math,
                          .lines = j->o.symbols,
                          .tolerance = o.tolerance};
    if (!p->verified) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the program is not verified");
    if (fn >= p->nfunctions) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "there is no function %u", fn);
    if (direction != 1 && direction != -1)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "a direction is 1 or -1, not %d", direction);
    if ((unsigned)form > RVM_JIT_PTX)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no form of code has number %d", (int)form);
    if (o.exact && form == RVM_JIT_PTX)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                         "there are no kernels: what restores every bit keeps each update in the order of the program");
    what.one_way = is_one_way(&o);
    if (o.exact) in_order(&what, NULL, direction < 0, false);
    rvm_status status = discarded(p, fn, direction, &o, &what.discards, err);
    if (status) return status;
    rvm__seize_compiler(j);
    status = rvm__open_compiler(j, err);
    if (!status) status = j->module->print(j->compiler, &what, form, out, err);
    rvm__yield_compiler(j);
    if (!status && ferror(out)) status = rvm__fail(err, RVM_ERR_IO, NULL, 0, 0, "the code cannot be written");
    return status;
}

/* ---- ahead of time ---- */

enum { USUAL_STACK = 4 << 20 }; /* half of what the first thread of a process commonly has */

rvm_jit_object rvm_jit_object_default(void) {
    return (rvm_jit_object){.cpu = "generic"};
}

rvm_status rvm_jit_compile(rvm_jit *j, const rvm_program *p, uint32_t fn, const rvm_options *options,
                           const rvm_jit_object *what, FILE *object, FILE *header, rvm_error *err) {
    RVM__NEEDS(j, p, object);
    const rvm_options o = options ? *options : rvm_options_default();
    rvm_jit_object made = what ? *what : rvm_jit_object_default();
    RVM__TRY(rvm__processor_find(made.cpu ? made.cpu : rvm_jit_object_default().cpu, false, &made.cpu, err));
    char name[RVM__C_NAME];
    uint64_t stack = 0;
    rvm_math math;
    RVM__TRY(rvm_math_choose(o.math == RVM_MATH_SLEEF ? o.math : RVM_MATH_LIBM, &math, err));
    const rvm__lowering lowering = {.p = p,
                                    .fn = fn,
                                    .direction = 1,
                                    .unchecked = o.unchecked,
                                    .trust = o.trust,
                                    .contiguous = true,
                                    .fast = j->o.fast_math,
                                    .lanes = !j->o.no_lanes,
                                    .vector_math = j->o.vector_math, /* else an object needs no libmvec */
                                    .math = (uint8_t)math,
                                    .one_way = o.unchecked,
                                    .tolerance = o.tolerance,
                                    .standalone = name,
                                    .depth = o.depth,
                                    .stack = made.stack ? made.stack : USUAL_STACK,
                                    .lines = made.lines};
    if (!p->verified) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the program is not verified");
    if (fn >= p->nfunctions) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "there is no function %u", fn);
    rvm_status status = rvm__c_name(p, fn, made.name, name, err);
    if (status) return status;
    rvm__seize_compiler(j);
    status = rvm__open_compiler(j, err);
    if (!status) status = j->module->object(j->compiler, &lowering, made.cpu, object, &stack, err);
    rvm__yield_compiler(j);
    if (!status && header) rvm__header_write(&lowering, stack, header);
    if (!status && (ferror(object) || (header && ferror(header))))
        status = rvm__fail(err, RVM_ERR_IO, NULL, 0, 0, "the code cannot be written");
    return status;
}

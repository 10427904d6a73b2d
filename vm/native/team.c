/* team.c: a runner of chunks of parallel blocks (native.h): threads.
 *
 * A machine that may use threads has a team: helpers, which wait until there is a job, and the caller, who works too. Each
 * worker has a light machine of its own for frames and local arrays; its memory is the machine's, by its allocator.
 *
 *     next ──▶ a worker runs chunk next ──▶ its result ──▶ merged: in the order of chunks
 *
 * The results of a chunk wait in a ring, the reorder buffer, until those of all chunks before it are merged. So
 * sums, counts and what fails depend on no thread. A chunk that fails, is cancelled or finds no fuel left ends the work: it
 * and what was begun behind it is taken back, and the caller goes on with it in its own thread, where it fails as it would
 * in one thread. What a chunk did is taken back by native code of the other direction; the interpreter goes back from the
 * middle of an instance to its begin. Or what it changes was kept before it began (copies.h).
 *
 * The caller begins alone, and asks for helpers once that has taken as long as to wake them does, and the rest looks as if
 * it will: what is short goes on without them, and who only does that starts no thread.
 *
 * All here but the machines of workers and the results that they work on is under the lock. */
#include <fenv.h>
#include <pthread.h>
#include <string.h>

#include "c_stack.h"
#include "copies.h"
#include "memory.h"
#include "native.h"
#include "out_of_line.h"
#include "support.h"
#include "thread.h"
#include "instruction.h"

enum { PERIOD = 1000000, PATIENCE = 64 }; /* instructions between polls; polls that a chunk still has after a cancel */
enum { SHORT_PERIOD = PERIOD / 16, SOON = 25000 }; /* of the caller as long as it is alone; nanoseconds */
enum { MOST_COPIED = 1 << 26 };                    /* elements of copies, of more than two chunks: 512 MB */
enum { LOSSY = FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID };

enum result_state { RESULT_FREE, RESULT_DONE, RESULT_BACK }; /* back: its chunk has been taken back, or failed to be */
typedef struct result {
    enum result_state state;
    rvm__native counts;
    rvm__native_sum *sums;
    rvm_value **copies, *saved;
    rvm_residue residues[RVM_RESIDUES];
    size_t local; /* bytes of local arrays, at most */
} result;

struct rvm__worker {
    struct rvm__team *team;
    rvm_machine *w;
    pthread_t thread;
    bool started, caller;
    uint64_t chunk;
    int64_t fuel;      /* of the chunk */
    unsigned late;     /* polls since the cancel */
    char *own, *first; /* of a helper: copies of what is only read, one behind the other; first: NULL: there are none */
    size_t size;
    uint64_t copied; /* for which job */
};
typedef struct rvm__worker worker;

struct rvm__team {
    rvm_machine *m;
    pthread_mutex_t lock, memory;
    pthread_cond_t begun, news;
    uint32_t nworkers, nresults;
    unsigned looks; /* of who waits, before it sleeps */
    worker *workers;
    result *results;
    bool quits;
    uint64_t jobs;  /* so far: a helper that has seen fewer has something to do */
    bool open;      /* helpers were asked, and may join: one that wakes up behind the end of a job is not waited for */
    uint64_t began; /* nanoseconds: when the job did */
    uint32_t busy;  /* helpers that have joined */
    /* the present job */
    const rvm__native_job *job;
    rvm__native *n;
    uint64_t asked; /* what a chunk found of the order of sums, as in rvm__native */
    fenv_t environment;
    uint64_t nchunks, next, merged, end; /* chunks from `end` on are not to be kept */
    bool merging;
    int64_t fuel, charged;     /* left when the job came; n->charged then */
    uint64_t before, reported; /* instructions of the run then; since then, that the caller's progress function knows of */
    int raised;                /* exceptions of helpers */
    rvm_status lost;
    char *room; /* of the results */
    size_t size;
};
typedef struct rvm__team team;

static int64_t until_poll(const worker *self, int64_t left) {
    const int64_t period = self->caller && !self->team->open ? SHORT_PERIOD : PERIOD;
    return left < period ? left : period;
}

/* ---- memory: the machine's ---- */

static void *resize(rvm_machine *w, void *p, size_t old_size, size_t new_size) {
    team *t = w->jit.worker->team;
    pthread_mutex_lock(&t->memory);
    void *q = rvm__resize(t->m, p, old_size, new_size);
    pthread_mutex_unlock(&t->memory);
    return q;
}

static void free_machine(rvm_machine *w) {
    if (!w) return;
    rvm_machine *m = w->jit.worker->team->m;
    rvm__room_free(w);
    rvm__resize(m, w, sizeof *w, 0);
}

/* NULL: out of memory. */
static rvm_machine *new_machine(worker *self) {
    rvm_machine *m = self->team->m, *w = rvm__zeroed(m, sizeof *w);
    if (!w) return NULL;
    w->p = m->p;
    w->math = m->math;
    w->kernels = m->kernels;
    w->jit.runner = m->jit.runner;
    w->jit.worker = self;
    w->run.cancelled = &w->cancel;
    w->run.shown = &w->run.share;
    if (rvm__room_init(w)) return w;
    free_machine(w);
    return NULL;
}

/* ---- one chunk ---- */

static void ends_of(const team *t, uint64_t chunk, uint64_t *first, uint64_t *last) {
    const rvm__native_job *job = t->job;
    const uint64_t at = job->ascending ? chunk : t->nchunks - 1 - chunk;
    const uint64_t low = at * RVM__CHUNK, high = rvm__least(low + RVM__CHUNK, job->count) - 1;
    *first = job->ascending ? low : high;
    *last = job->ascending ? high : low;
}

/* The machine as the bound one is, without frames. */
static bool set_up(const team *t, rvm_machine *w) {
    const rvm__native_job *job = t->job;
    const rvm_machine *m = t->m;
    w->o = m->o;
    w->o.fuel = 0, w->o.progress = NULL;
    w->codes = m->codes;
    w->bound.mode = m->bound.mode;
    w->bound.entry = m->bound.entry;
    w->run.where = INSIDE;
    w->run.course = m->run.course;
    w->run.began_at_start = m->run.began_at_start;
    w->bound.compares = m->bound.compares;
    w->bound.compared_elsewhere = m->bound.compared_elsewhere;
    memset(&w->stats, 0, sizeof w->stats);
    w->jit.gate = NULL, w->store.outside_arrays = 0;
    rvm__aside_clear(w); /* of a chunk that ended early */
    return rvm__native_make_room(w, job->slots, job->arrays, job->frame, job->need);
}

static void clear(rvm_machine *w) {
    rvm__locals_clear(w);
    rvm__trail_clear(w);
    rvm__aside_clear(w);
    w->store.nstack = w->store.nguards = 0;
}

/* Whole instances, the chunk's where they were saved; false: they could not be. */
static bool take_back(const team *t, worker *self, result *r, uint64_t first, uint64_t last) {
    rvm__native n = {.limit = INT64_MAX};
    if (!self->w->store.outside_arrays) self->w->store.outside_used = 0;
    rvm__aside_clear(self->w); /* of an instance that was to be gone back from */
    rvm__saved_give(t->job, first, last, r->saved);
    return !t->job->back || t->job->back(self->w, &n, t->job, first, last, r->sums, r->copies) == 0;
}

/* The machine stands in the middle of an instance: back to its begin. *k: its number. */
static bool begin_again(const team *t, rvm_machine *w, uint64_t *k) {
    const rvm__native_job *job = t->job;
    const rvm__xinsn *begin = w->codes[job->fn].x + job->pc;
    const uint32_t frames = (uint32_t)job->frame + 1;
    rvm__native_find_homes(w, (uint32_t)job->frame);
    if (!rvm__forget_rebuild(w)) return false;
    if (w->trail.nforgetting)
        rvm__forget_unwind(w, -w->run.course);
    else {
        w->run.dir = -w->run.dir;
        w->run.pc += w->run.dir;
        w->run.course = -w->run.course;
    }
    w->run.budget = INT64_MAX;
    w->jit.gate = begin;
    w->jit.gate_frames = frames;
    const rvm_status status = rvm__run_primal(w);
    w->jit.gate = NULL;
    w->run.course = -w->run.course;
    *k = w->store.slots[job->slots + begin->to.i].u - (uint64_t)job->lo;
    return !status && w->run.pc == begin && w->store.nframes == frames;
}

/* The chunk of these instances took a side exit. */
static bool undo(const team *t, worker *self, result *r, uint64_t first, uint64_t last) {
    uint64_t k = first;
    rvm__saved_give(t->job, first, last, r->saved);
    bool good = !t->job->back || begin_again(t, self->w, &k);
    if (good && k != first) good = take_back(t, self, r, t->job->ascending ? k - 1 : k + 1, first);
    clear(self->w);
    return good;
}

/* Copies for the job; false: there is no memory for them, or it is limited. */
static bool make_own(const team *t, worker *self) {
    size_t size = RVM__LINE;
    if (t->m->o.memory) return false;
    for (uint64_t k = 0; k < t->job->ncopies; k++) size += rvm__read_room(&t->job->copies[k]);
    if (size > self->size) {
        char *own = rvm__resize(self->w, self->own, self->size, size);
        if (!own) return false;
        self->own = own;
        self->size = size;
    }
    self->first = self->own + (RVM__LINE - (uintptr_t)self->own % RVM__LINE) % RVM__LINE;
    char *at = self->first;
    for (uint64_t k = 0; k < t->job->ncopies; at += rvm__read_room(&t->job->copies[k++]))
        if (rvm__read_room(&t->job->copies[k])) memcpy(at, t->job->copies[k].to, t->job->copies[k].n * sizeof(rvm_value));
    return true;
}

/* The caller reads the arrays themselves. */
static void give_copies(const team *t, worker *self, result *r) {
    if (!self->caller && self->copied != t->jobs) {
        self->copied = t->jobs;
        if (!make_own(t, self)) self->first = NULL;
    }
    char *at = self->caller ? NULL : self->first;
    for (uint64_t k = 0; k < t->job->ncopies; k++) {
        const rvm__native_copy *c = &t->job->copies[k];
        if (!c->read)
            rvm__copy_begin(r->copies[k], c);
        else
            r->copies[k] = at && c->n ? (rvm_value *)(void *)at : c->to;
        if (at) at += rvm__read_room(c);
    }
}

/* Whether the chunk is done; if not, it has been taken back, or *lost says that it could not be. */
static bool run_chunk(const team *t, worker *self, result *r, rvm_status *lost) {
    uint64_t first, last;
    rvm_machine *w = self->w;
    ends_of(t, self->chunk, &first, &last);
    self->late = 0;
    if (!w || (!self->caller && !rvm__c_stack_has(t->m->jit.c_frames)) || !set_up(t, w)) return false;
    give_copies(t, self, r);
    rvm__saved_take(t->job, first, last, r->saved);
    r->counts = (rvm__native){
        .limit = until_poll(self, self->fuel), .fuel = self->fuel, .asked = __atomic_load_n(&t->asked, __ATOMIC_RELAXED)};
    w->jit.adrift = RVM_OK;
    w->jit.native = &r->counts;
    const int32_t exited = t->job->there(w, &r->counts, t->job, first, last, r->sums, r->copies);
    w->jit.native = NULL;
    if (exited && w->jit.adrift && t->job->back) {
        *lost = w->jit.adrift;
        return false;
    }
    if (exited) {
        if (!undo(t, self, r, first, last)) *lost = RVM_ERR_NOT_RESTORABLE;
        return false;
    }
    memcpy(r->residues, w->stats.residues, sizeof r->residues);
    r->local = w->stats.ancilla_peak;
    __atomic_store_n(&self->team->asked, r->counts.asked, __ATOMIC_RELAXED);
    return true;
}

/* ---- helpers ---- */
static void *help(void *argument);

/* Where one cannot be started, the others do its work. No helper has joined. */
static void start(team *t, uint64_t n) {
    for (uint32_t k = 1; k < t->nworkers && k <= n; k++) {
        worker *w = &t->workers[k];
        if (w->started) continue;
        if (!w->w) w->w = new_machine(w);
        w->started = w->w && rvm__thread_start(&w->thread, 0, help, w);
    }
}

/* Locked, from the thread of the machine, which has the chunks before `next`. */
static void ask_for_help(team *t, uint64_t next) {
    if (t->open || next >= t->end || t->nworkers < 2) return;
    const uint64_t left = t->end - next, went = rvm__nanoseconds() - t->began;
    if (went < SOON || went / next * left < SOON) return;
    start(t, left);
    t->open = true;
    __atomic_store_n(&t->jobs, t->jobs + 1, __ATOMIC_RELAXED);
    if (left >= t->nworkers) pthread_cond_broadcast(&t->begun);
    for (uint64_t k = 0; k < left && left < t->nworkers; k++) pthread_cond_signal(&t->begun);
}

/* ---- polls ---- */

static bool is_cancelled(const team *t) {
    return __atomic_load_n(t->m->run.cancelled, __ATOMIC_RELAXED);
}

/* From the thread of the machine. */
static void tell(team *t, uint64_t now) {
    rvm_machine *m = t->m;
    if (!m->o.progress || now < t->reported + PERIOD) return;
    t->reported = now;
    if (m->o.progress(m->o.userdata, t->before + now)) rvm_machine_cancel(m);
}

static int32_t safepoint(rvm_machine *w, rvm__native *n) {
    worker *self = w->jit.worker;
    team *t = self->team;
    const int64_t left = self->fuel - n->charged;
    bool ends = left < 0;
    pthread_mutex_lock(&t->lock);
    ends = ends || self->chunk > t->end;
    if (self->caller) ask_for_help(t, t->next);
    const uint64_t merged = (uint64_t)(t->n->charged - t->charged);
    pthread_mutex_unlock(&t->lock);
    if (self->caller) tell(t, merged + (uint64_t)n->charged);
    if (is_cancelled(t)) ends = ends || ++self->late > PATIENCE; /* a chunk that is done need not be taken back */
    n->limit = n->charged + until_poll(self, left);
    n->status = ends ? RVM_ERR_CANCELLED : RVM_OK;
    return ends;
}

static bool worker_is_cancelled(const rvm_machine *w) {
    return is_cancelled(w->jit.worker->team);
}

static int32_t safepoint_in_group(rvm_machine *w, uint64_t charged) {
    const worker *self = w->jit.worker;
    team *t = self->team;
    pthread_mutex_lock(&t->lock);
    const uint64_t merged = (uint64_t)(t->n->charged - t->charged);
    pthread_mutex_unlock(&t->lock);
    const uint64_t mine = (uint64_t)w->jit.native->charged + charged;
    if (self->caller) tell(t, merged + mine);
    return is_cancelled(t) || mine > (uint64_t)(self->fuel > 0 ? self->fuel : 0);
}

/* ---- merging: by one thread at a time, without the lock ---- */

static bool merge_sums(const team *t, const result *r) {
    const rvm__native_job *job = t->job;
    int overflow = 0;
    for (uint64_t k = 0; k < job->nsums; k++)
        rvm__block_plus((rvm_type)job->sums[k].type, job->sums[k].value, r->sums[k].value, &overflow);
    if (overflow && job->checked) return false;
    for (uint64_t k = 0; k < job->nsums; k++) {
        rvm__native_sum *s = &job->sums[k];
        s->value = rvm__block_plus((rvm_type)s->type, s->value, r->sums[k].value, &overflow);
        if (!rvm__is_floating((rvm_type)s->type)) continue;
        s->held = fmax(s->held, fmax(r->sums[k].held, fabs(s->value.f)));
    }
    for (uint64_t k = 0; k < job->nmarks; k++)
        if (job->marks[k]) *job->marks[k] = fmax(*job->marks[k], r->sums[job->nsums + k].held);
    return true;
}

static void merge_counts(const team *t, const result *r) {
    rvm_machine *m = t->m;
    t->n->charged += r->counts.charged;
    t->n->calls += r->counts.calls;
    for (int k = 0; k < RVM__ERASED; k++) t->n->erased[k] += r->counts.erased[k];
    if (r->counts.peak > t->n->peak) t->n->peak = r->counts.peak;
    if (m->store.arena_used + r->local > m->stats.ancilla_peak) m->stats.ancilla_peak = m->store.arena_used + r->local;
    for (int k = 0; k < RVM_RESIDUES; k++) {
        const rvm_residue *one = &r->residues[k];
        if (one->value > 0) rvm__note_residue_at(m, one->fn, m->codes[one->fn].x + one->pc, one->value);
    }
}

static bool has_fuel(const team *t, const result *r) {
    return t->n->charged - t->charged + r->counts.charged <= t->fuel;
}

/* Locked. */
static void merge(team *t) {
    if (t->merging) return;
    t->merging = true;
    while (t->merged < t->end && t->results[t->merged % t->nresults].state == RESULT_DONE) {
        result *r = &t->results[t->merged % t->nresults];
        bool good = has_fuel(t, r);
        pthread_mutex_unlock(&t->lock);
        good = good && merge_sums(t, r);
        if (good) rvm__copies_add(t->job, r->copies);
        pthread_mutex_lock(&t->lock);
        if (!good) {
            t->end = t->merged;
            break;
        }
        merge_counts(t, r);
        r->state = RESULT_FREE;
        t->merged++;
    }
    t->merging = false;
}

/* ---- working ---- */

/* Locked. False: there is nothing more to begin. */
static bool take_chunk(team *t, worker *self) {
    while (t->next < t->end && t->next >= t->merged + t->nresults) pthread_cond_wait(&t->news, &t->lock);
    if (t->next < t->end && is_cancelled(t)) t->end = t->next;
    if (t->next >= t->end) return false;
    if (self->caller && t->next) ask_for_help(t, t->next + 1);
    self->chunk = t->next++;
    self->fuel = t->fuel - (t->n->charged - t->charged);
    return true;
}

static void work(team *t, worker *self) {
    pthread_mutex_lock(&t->lock);
    while (take_chunk(t, self)) {
        result *r = &t->results[self->chunk % t->nresults];
        rvm_status lost = RVM_OK;
        const uint64_t charged = (uint64_t)(t->n->charged - t->charged);
        pthread_mutex_unlock(&t->lock);
        if (self->caller) tell(t, charged);
        const bool done = run_chunk(t, self, r, &lost);
        pthread_mutex_lock(&t->lock);
        r->state = done ? RESULT_DONE : RESULT_BACK;
        if (!done && self->chunk < t->end) t->end = self->chunk;
        if (lost) t->lost = lost;
        merge(t);
        pthread_cond_broadcast(&t->news);
    }
    pthread_mutex_unlock(&t->lock);
}

/* The next job mostly comes soon, as calls of a gradient do, and the last chunk ends soon: who waits for it looks a while,
 * some 50 us, before it sleeps, since to be woken takes as long. Not where threads have no processor each. */
enum { MOST_LOOKS = 2000 };

static bool waits_for_job(const team *t, uint64_t seen) {
    return __atomic_load_n(&t->jobs, __ATOMIC_RELAXED) == seen && !__atomic_load_n(&t->quits, __ATOMIC_RELAXED);
}

static bool waits_for_end(const team *t) {
    return __atomic_load_n(&t->busy, __ATOMIC_RELAXED);
}

static void *help(void *argument) {
    worker *self = argument;
    team *t = self->team;
    uint64_t seen = 0;
    for (;;) {
        for (unsigned k = 0; k < t->looks && waits_for_job(t, seen); k++) rvm__thread_pause();
        pthread_mutex_lock(&t->lock);
        while (!t->quits && seen == t->jobs) pthread_cond_wait(&t->begun, &t->lock);
        if (t->quits) break;
        seen = t->jobs;
        const bool joins = t->open;
        __atomic_store_n(&t->busy, t->busy + joins, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&t->lock);
        if (!joins) continue;
        fesetenv(&t->environment);
        feclearexcept(LOSSY);
        work(t, self);
        const int raised = fetestexcept(LOSSY);
        pthread_mutex_lock(&t->lock);
        t->raised |= raised;
        if (__atomic_sub_fetch(&t->busy, 1, __ATOMIC_RELAXED) == 0) pthread_cond_broadcast(&t->news);
        pthread_mutex_unlock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- a team ---- */

static void end(rvm_machine *m) {
    team *t = m->jit.running;
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    __atomic_store_n(&t->quits, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
    for (uint32_t k = 0; k < t->nworkers; k++)
        if (t->workers[k].started) pthread_join(t->workers[k].thread, NULL);
    for (uint32_t k = 0; k < t->nworkers; k++) {
        rvm__resize(m, t->workers[k].own, t->workers[k].size, 0);
        free_machine(t->workers[k].w);
    }
    rvm__resize(m, t->workers, t->nworkers * sizeof *t->workers, 0);
    rvm__resize(m, t->room, t->size, 0);
    pthread_cond_destroy(&t->news);
    pthread_cond_destroy(&t->begun);
    pthread_mutex_destroy(&t->memory);
    pthread_mutex_destroy(&t->lock);
    rvm__resize(m, t, sizeof *t, 0);
    m->jit.running = NULL;
}

static bool has_locks(team *t) {
    if (!rvm__lock_init(&t->lock)) return false;
    if (!rvm__lock_init(&t->memory)) goto lock;
    if (pthread_cond_init(&t->begun, NULL)) goto memory;
    if (!pthread_cond_init(&t->news, NULL)) return true;
    pthread_cond_destroy(&t->begun);
memory:
    pthread_mutex_destroy(&t->memory);
lock:
    pthread_mutex_destroy(&t->lock);
    return false;
}

/* The machine's team, of as many as it says; NULL: out of memory. */
static team *team_of(rvm_machine *m) {
    team *t = m->jit.running;
    if (t && t->nworkers == m->jit.threads) return t;
    end(m);
    if (!(t = rvm__resize(m, NULL, 0, sizeof *t))) return NULL;
    *t = (team){.m = m};
    if (!has_locks(t)) {
        rvm__resize(m, t, sizeof *t, 0);
        return NULL;
    }
    m->jit.running = t;
    t->workers = rvm__resize(m, NULL, 0, m->jit.threads * sizeof *t->workers);
    if (!t->workers) return end(m), NULL;
    t->nworkers = m->jit.threads;
    t->looks = rvm__processors() >= t->nworkers ? MOST_LOOKS : 0;
    for (uint32_t k = 0; k < t->nworkers; k++) t->workers[k] = (worker){.team = t, .caller = k == 0};
    t->workers[0].w = new_machine(&t->workers[0]);
    return t->workers[0].w ? t : (end(m), NULL);
}

/* Results for a job, free, in one block:
 *     results | for each: sums, marks | for each: addresses of copies | for each: copies, what is saved */
static bool set_results(team *t, const rvm__native_job *job) {
    const uint64_t saved = rvm__saved_room(job);
    uint64_t elements = saved;
    for (uint64_t k = 0; k < job->ncopies; k++) elements += rvm__copy_room(&job->copies[k]);
    t->nresults = (uint32_t)rvm__least(2 * (uint64_t)t->nworkers, (job->count + RVM__CHUNK - 1) / RVM__CHUNK);
    while (t->nresults > 2 && elements > MOST_COPIED / t->nresults) t->nresults--;
    if (saved == UINT64_MAX || elements > SIZE_MAX / 64 / t->nresults) return false;
    const uint64_t nsums = job->nsums + job->nmarks;
    const size_t each =
        sizeof(result) + nsums * sizeof(rvm__native_sum) + job->ncopies * sizeof(void *) + elements * sizeof(rvm_value);
    const size_t size = t->nresults * each + RVM__LINE;
    if (size > t->size) {
        char *room = rvm__resize(t->m, t->room, t->size, size);
        if (!room) return false;
        t->room = room;
        t->size = size;
    }
    t->results = (result *)t->room;
    memset(t->results, 0, t->nresults * sizeof *t->results);
    rvm__native_sum *sums = (rvm__native_sum *)(t->results + t->nresults);
    rvm_value **copies = (rvm_value **)(sums + t->nresults * nsums),
              *at = (rvm_value *)(copies + t->nresults * job->ncopies);
    at += (RVM__LINE - (uintptr_t)at % RVM__LINE) % RVM__LINE / sizeof *at;
    for (uint32_t k = 0; k < t->nresults; k++) {
        t->results[k].sums = sums + k * nsums;
        t->results[k].copies = copies + k * job->ncopies;
        for (uint64_t i = 0; i < job->ncopies; i++) {
            if (job->copies[i].read) continue;
            t->results[k].copies[i] = at;
            at += rvm__copy_room(&job->copies[i]);
        }
        t->results[k].saved = at;
        at += saved;
    }
    return true;
}
_Static_assert(sizeof(result) % 8 == 0 && sizeof(rvm__native_sum) % 8 == 0 && sizeof(void *) == 8, "one behind the other");

/* ---- a job ---- */

uint64_t rvm__native_count(const rvm_machine *m, const rvm__native *n) {
    return m->run.counted + (uint64_t)((int64_t)m->run.slice - (n->limit - n->charged));
}

static void begin(team *t, rvm__native *n, const rvm__native_job *job) {
    const rvm_machine *m = t->m;
    pthread_mutex_lock(&t->lock);
    t->job = job;
    t->n = n;
    t->nchunks = (job->count + RVM__CHUNK - 1) / RVM__CHUNK;
    t->next = t->merged = 0;
    t->end = t->nchunks;
    t->charged = n->charged;
    t->before = rvm__native_count(m, n);
    t->reported = 0;
    t->fuel = rvm__fuel_left(m, t->before);
    t->raised = 0;
    t->lost = RVM_OK;
    t->asked = 0;
    fegetenv(&t->environment);
    t->open = false;
    t->began = rvm__nanoseconds();
    pthread_mutex_unlock(&t->lock);
}

/* All have stopped: what is done beyond what was merged is taken back. */
static void take_rest_back(team *t) {
    for (uint64_t chunk = t->merged; chunk < t->next; chunk++) {
        result *r = &t->results[chunk % t->nresults];
        uint64_t first, last;
        ends_of(t, chunk, &first, &last);
        if (r->state == RESULT_DONE && (!set_up(t, t->workers[0].w) || !take_back(t, &t->workers[0], r, last, first)))
            t->lost = RVM_ERR_NOT_RESTORABLE;
        clear(t->workers[0].w);
    }
}

/* Instances of the chunks that were merged; going down, the one that may be shorter comes first. */
static uint64_t done(const team *t) {
    const uint64_t shorter = t->job->ascending || !t->merged ? 0 : t->nchunks * RVM__CHUNK - t->job->count;
    return t->merged * RVM__CHUNK - shorter;
}

void rvm__native_poll_soon(rvm_machine *m, rvm__native *n) {
    const int64_t less = n->limit - n->charged + 1;
    if (less <= 0) return;
    n->limit -= less;
    m->run.slice -= (uint64_t)less;
}

static uint64_t run(rvm_machine *m, rvm__native *n, const rvm__native_job *job) {
    if (!job->there || !m->jit.threads) return 0;
    team *t = team_of(m);
    if (!t || !set_results(t, job)) return 0;
    begin(t, n, job);
    work(t, &t->workers[0]);
    pthread_mutex_lock(&t->lock);
    t->open = false;
    pthread_mutex_unlock(&t->lock);
    for (unsigned k = 0; k < t->looks && waits_for_end(t); k++) rvm__thread_pause();
    pthread_mutex_lock(&t->lock);
    while (t->busy) pthread_cond_wait(&t->news, &t->lock);
    pthread_mutex_unlock(&t->lock);
    feraiseexcept(t->raised);
    if (t->merged == t->nchunks) return job->count;
    take_rest_back(t);
    n->lost = t->lost;
    m->jit.adrift = t->lost;
    if (t->lost == RVM_ERR_CANCELLED) __atomic_store_n(m->run.cancelled, 0, __ATOMIC_RELAXED);
    rvm__native_poll_soon(m, n);
    return done(t);
}

const rvm__runner rvm__threads = {.run = run,
                                  .end = end,
                                  .safepoint = safepoint,
                                  .safepoint_in_group = safepoint_in_group,
                                  .is_cancelled = worker_is_cancelled,
                                  .resize = resize};

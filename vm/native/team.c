/* team.c: native code runs the chunks of a parallel block in threads (native.h).
 *
 * A machine that may use threads has a team: helpers, which wait until there is work, and the caller, who works too. Each
 * has a seat with a light machine of its own for frames and local arrays; its memory is the machine's, by its allocator.
 *
 *     next ──▶ a seat runs chunk next ──▶ desk ──▶ merged: in the order of chunks
 *
 * What a chunk adds up stands on a desk until all chunks before it are merged; there are as many desks as may be ahead. So
 * sums, counts and what fails depend on no thread. A chunk that fails, is cancelled or finds no fuel left ends the work: it
 * and what was begun behind it is taken back, and the caller goes on with it in its own thread, which meets what there was
 * to meet. What a chunk did is taken back by native code of the other direction; the interpreter goes back from the middle
 * of an instance to its begin.
 *
 * All here but the machines of seats and the desks of those who work at them is under the lock. */
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "c_stack.h"
#include "memory.h"
#include "native.h"
#include "out_of_line.h"
#include "instruction.h"

enum { LOOK = 1000000, PATIENCE = 64 }; /* instructions between looks; looks that a chunk still has after a cancel */
enum { LOSSY = FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID };

enum desk_state { DESK_FREE, DESK_DONE, DESK_BACK }; /* back: its chunk has been taken back, or failed to be */
typedef struct desk {
    enum desk_state state;
    rvm__native counts;
    rvm__native_sum *sums;
    rvm_value **copies;
    rvm_residue residues[RVM_RESIDUES];
} desk;

struct rvm__seat {
    struct rvm__team *team;
    rvm_machine *w;
    pthread_t thread;
    bool started, caller;
    uint64_t chunk;
    int64_t fuel;      /* of the chunk */
    unsigned late;     /* looks since the cancel */
    char *own, *first; /* of a helper: copies of what is only read, one behind the other; first: NULL: there are none */
    size_t size;
    uint64_t copied; /* for which order */
};
typedef struct rvm__seat seat;

struct rvm__team {
    rvm_machine *m;
    pthread_mutex_t lock, memory;
    pthread_cond_t begun, news;
    uint32_t nseats, ndesks;
    seat *seats;
    desk *desks;
    bool quits;
    uint64_t orders; /* so far: a helper that has seen fewer has something to do */
    uint32_t busy;   /* helpers */
    /* the present order */
    const rvm__native_order *o;
    rvm__native *n;
    fenv_t environment;
    uint64_t nchunks, next, merged, end; /* chunks from `end` on are not to be kept */
    bool merging;
    int64_t fuel, charged; /* left when the order came; n->charged then */
    uint64_t before, told; /* instructions of the run then; since then, that the caller's progress function knows of */
    int raised;            /* exceptions of helpers */
    rvm_status lost;
    char *room; /* of the desks */
    size_t size;
};
typedef struct rvm__team team;

/* ---- memory: the machine's ---- */

void *rvm__team_resize(rvm_machine *w, void *p, size_t old_size, size_t new_size) {
    team *t = w->seat->team;
    pthread_mutex_lock(&t->memory);
    void *q = rvm__resize(t->m, p, old_size, new_size);
    pthread_mutex_unlock(&t->memory);
    return q;
}

static void free_worker(rvm_machine *w) {
    if (!w) return;
    rvm_machine *m = w->seat->team->m;
    rvm__room_free(w);
    rvm__resize(m, w, sizeof *w, 0);
}

/* NULL: out of memory. */
static rvm_machine *new_worker(seat *s) {
    rvm_machine *m = s->team->m, *w = rvm__resize(m, NULL, 0, sizeof *w);
    if (!w) return NULL;
    memset(w, 0, sizeof *w);
    w->p = m->p;
    w->seat = s;
    w->cancelled = &w->cancel;
    w->shown = &w->share;
    bool good = rvm__trail_init(w);
    if (good && w->p->nvariants) {
        const size_t size = w->p->nvariants * sizeof *w->met;
        good = (w->met = rvm__resize(w, NULL, 0, size)) != NULL;
        if (good) memset(w->met, 0, size);
    }
    if (good) return w;
    free_worker(w);
    return NULL;
}

/* ---- one chunk ---- */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void ends_of(const team *t, uint64_t chunk, uint64_t *first, uint64_t *last) {
    const rvm__native_order *o = t->o;
    const uint64_t at = o->ascending ? chunk : t->nchunks - 1 - chunk;
    const uint64_t low = at * RVM__CHUNK, high = least(low + RVM__CHUNK, o->count) - 1;
    *first = o->ascending ? low : high;
    *last = o->ascending ? high : low;
}

/* The machine as the bound one is, without frames. */
static bool set_up(const team *t, rvm_machine *w) {
    const rvm__native_order *o = t->o;
    const rvm_machine *m = t->m;
    w->o = m->o;
    w->o.fuel = 0;
    w->o.progress = NULL;
    w->codes = m->codes;
    w->mode = m->mode;
    w->entry = m->entry;
    w->where = INSIDE;
    w->course = m->course;
    w->began_at_start = m->began_at_start;
    w->compares = m->compares;
    memset(&w->stats, 0, sizeof w->stats);
    w->gate = NULL;
    w->outside_arrays = 0;
    return rvm__native_make_room(w, o->slots, o->arrays, o->frame, o->need);
}

static void clear(rvm_machine *w) {
    rvm__locals_clear(w);
    rvm__trail_clear(w);
    w->nstack = 0;
}

/* Whole instances; false: they could not be. */
static bool take_back(const team *t, seat *s, desk *d, uint64_t first, uint64_t last) {
    rvm__native n = {.limit = INT64_MAX};
    if (!s->w->outside_arrays) s->w->outside_used = 0;
    return !t->o->back || t->o->back(s->w, &n, t->o, first, last, d->sums, d->copies) == 0;
}

/* The machine stands in the middle of an instance: back to its begin. *k: its number. */
static bool leave_instance(const team *t, rvm_machine *w, uint64_t *k) {
    const rvm__native_order *o = t->o;
    const rvm__xinsn *begin = w->codes[o->fn].x + o->pc;
    const uint32_t frames = (uint32_t)o->frame + 1;
    rvm__native_find_homes(w, (uint32_t)o->frame);
    w->dir = -w->dir;
    w->pc += w->dir;
    w->course = -w->course;
    w->budget = INT64_MAX;
    w->gate = begin;
    w->gate_frames = frames;
    const rvm_status status = rvm__run_primal(w);
    w->gate = NULL;
    w->course = -w->course;
    *k = w->slots[o->slots + begin->to.i].u - (uint64_t)o->lo;
    return !status && w->pc == begin && w->nframes == frames;
}

/* The chunk that begins with instance `first` was left in the middle. */
static bool undo(const team *t, seat *s, desk *d, uint64_t first) {
    uint64_t k = first;
    bool good = !t->o->back || leave_instance(t, s->w, &k);
    if (good && k != first) good = take_back(t, s, d, t->o->ascending ? k - 1 : k + 1, first);
    clear(s->w);
    return good;
}

/* What the copy takes, to the end of a line. */
static size_t room_of(const rvm__native_copy *c) {
    return c->read ? (c->n * sizeof *c->to + RVM__LINE - 1) / RVM__LINE * RVM__LINE : 0;
}

/* Copies for the order; false: there is no memory for them, or it is limited. */
static bool make_own(const team *t, seat *s) {
    size_t size = RVM__LINE;
    if (t->m->o.memory) return false;
    for (uint64_t k = 0; k < t->o->ncopies; k++) size += room_of(&t->o->copies[k]);
    if (size > s->size) {
        char *own = rvm__resize(s->w, s->own, s->size, size);
        if (!own) return false;
        s->own = own;
        s->size = size;
    }
    s->first = s->own + (RVM__LINE - (uintptr_t)s->own % RVM__LINE) % RVM__LINE;
    char *at = s->first;
    for (uint64_t k = 0; k < t->o->ncopies; at += room_of(&t->o->copies[k++]))
        if (room_of(&t->o->copies[k])) memcpy(at, t->o->copies[k].to, t->o->copies[k].n * sizeof(rvm_value));
    return true;
}

/* The caller reads the arrays themselves. */
static void give_copies(const team *t, seat *s, desk *d) {
    if (!s->caller && s->copied != t->orders) {
        s->copied = t->orders;
        if (!make_own(t, s)) s->first = NULL;
    }
    char *at = s->caller ? NULL : s->first;
    for (uint64_t k = 0; k < t->o->ncopies; k++) {
        const rvm__native_copy *c = &t->o->copies[k];
        if (!c->read)
            memset(d->copies[k], 0, c->n * sizeof(rvm_value));
        else
            d->copies[k] = at && c->n ? (rvm_value *)(void *)at : c->to;
        if (at) at += room_of(c);
    }
}

/* Whether the chunk is done; if not, it has been taken back, or *lost says that it could not be. */
static bool run_chunk(const team *t, seat *s, desk *d, rvm_status *lost) {
    uint64_t first, last;
    rvm_machine *w = s->w;
    ends_of(t, s->chunk, &first, &last);
    s->late = 0;
    if (!w || (!s->caller && !rvm__c_stack_has(t->m->c_frames)) || !set_up(t, w)) return false;
    give_copies(t, s, d);
    d->counts = (rvm__native){.limit = s->fuel < LOOK ? s->fuel : LOOK, .fuel = s->fuel};
    w->adrift = RVM_OK;
    w->native = &d->counts;
    const int32_t left = t->o->there(w, &d->counts, t->o, first, last, d->sums, d->copies);
    w->native = NULL;
    if (left && w->adrift && t->o->back) {
        *lost = w->adrift;
        return false;
    }
    if (left) {
        if (!undo(t, s, d, first)) *lost = RVM_ERR_NOT_RESTORABLE;
        return false;
    }
    memcpy(d->residues, w->stats.residues, sizeof d->residues);
    return true;
}

/* ---- polls ---- */

static bool is_cancelled(const team *t) {
    return __atomic_load_n(t->m->cancelled, __ATOMIC_RELAXED);
}

/* From the thread of the machine. */
static void tell(team *t, uint64_t now) {
    rvm_machine *m = t->m;
    if (!m->o.progress || now < t->told + LOOK) return;
    t->told = now;
    if (m->o.progress(m->o.userdata, t->before + now)) rvm_machine_cancel(m);
}

int32_t rvm__team_safepoint(rvm_machine *w, rvm__native *n) {
    seat *s = w->seat;
    team *t = s->team;
    const int64_t left = s->fuel - n->charged;
    bool ends = left < 0;
    pthread_mutex_lock(&t->lock);
    ends = ends || s->chunk > t->end;
    const uint64_t merged = (uint64_t)(t->n->charged - t->charged);
    pthread_mutex_unlock(&t->lock);
    if (s->caller) tell(t, merged + (uint64_t)n->charged);
    if (is_cancelled(t)) ends = ends || ++s->late > PATIENCE; /* a chunk that is done need not be taken back */
    n->limit = n->charged + (left < LOOK ? left : LOOK);
    n->status = ends ? RVM_ERR_CANCELLED : RVM_OK;
    return ends;
}

bool rvm__team_is_cancelled(const rvm_machine *w) {
    return is_cancelled(w->seat->team);
}

int32_t rvm__team_safepoint_in_group(rvm_machine *w, uint64_t charged) {
    const seat *s = w->seat;
    team *t = s->team;
    pthread_mutex_lock(&t->lock);
    const uint64_t merged = (uint64_t)(t->n->charged - t->charged);
    pthread_mutex_unlock(&t->lock);
    const uint64_t mine = (uint64_t)w->native->charged + charged;
    if (s->caller) tell(t, merged + mine);
    return is_cancelled(t) || mine > (uint64_t)(s->fuel > 0 ? s->fuel : 0);
}

/* ---- merging: by one thread at a time, without the lock ---- */

static bool merge_sums(const team *t, const desk *d) {
    const rvm__native_order *o = t->o;
    int overflow = 0;
    for (uint64_t k = 0; k < o->nsums; k++)
        rvm__block_plus((rvm_type)o->sums[k].type, o->sums[k].value, d->sums[k].value, &overflow);
    if (overflow && o->checked) return false;
    for (uint64_t k = 0; k < o->nsums; k++) {
        rvm__native_sum *s = &o->sums[k];
        s->value = rvm__block_plus((rvm_type)s->type, s->value, d->sums[k].value, &overflow);
        if (!rvm__is_floating((rvm_type)s->type)) continue;
        s->held = fmax(s->held, fmax(d->sums[k].held, fabs(s->value.f)));
    }
    for (uint64_t k = 0; k < o->nmarks; k++)
        if (o->marks[k]) *o->marks[k] = fmax(*o->marks[k], d->sums[o->nsums + k].held);
    return true;
}

static void merge_copies(const team *t, const desk *d) {
    int overflow = 0;
    for (uint64_t k = 0; k < t->o->ncopies; k++) {
        const rvm__native_copy *c = &t->o->copies[k];
        const rvm_value *from = d->copies[k];
        if (c->read) continue;
        if (c->type == RVM_F64)
            for (uint64_t i = 0; i < c->n; i++) c->to[i].f += from[i].f;
        else
            for (uint64_t i = 0; i < c->n; i++) c->to[i] = rvm__block_plus((rvm_type)c->type, c->to[i], from[i], &overflow);
        for (uint64_t i = 0; c->held && i < c->n; i++) *c->held = fmax(*c->held, fabs(c->to[i].f));
    }
}

static void merge_counts(const team *t, const desk *d) {
    rvm_machine *m = t->m;
    t->n->charged += d->counts.charged;
    t->n->calls += d->counts.calls;
    for (int k = 0; k < 2; k++) t->n->erased[k] += d->counts.erased[k];
    if (d->counts.peak > t->n->peak) t->n->peak = d->counts.peak;
    for (int k = 0; k < RVM_RESIDUES; k++) {
        const rvm_residue *r = &d->residues[k];
        if (r->value > m->residue_floor) rvm__record_residue_at(m, r->fn, m->codes[r->fn].x + r->pc, r->value);
    }
}

static bool has_fuel(const team *t, const desk *d) {
    return t->n->charged - t->charged + d->counts.charged <= t->fuel;
}

/* Locked. */
static void merge(team *t) {
    if (t->merging) return;
    t->merging = true;
    while (t->merged < t->end && t->desks[t->merged % t->ndesks].state == DESK_DONE) {
        desk *d = &t->desks[t->merged % t->ndesks];
        bool good = has_fuel(t, d);
        pthread_mutex_unlock(&t->lock);
        good = good && merge_sums(t, d);
        if (good) merge_copies(t, d);
        pthread_mutex_lock(&t->lock);
        if (!good) {
            t->end = t->merged;
            break;
        }
        merge_counts(t, d);
        d->state = DESK_FREE;
        t->merged++;
    }
    t->merging = false;
}

/* ---- working ---- */

/* Locked. False: there is nothing more to begin. */
static bool take_chunk(team *t, seat *s) {
    while (t->next < t->end && t->next >= t->merged + t->ndesks) pthread_cond_wait(&t->news, &t->lock);
    if (t->next < t->end && is_cancelled(t)) t->end = t->next;
    if (t->next >= t->end) return false;
    s->chunk = t->next++;
    s->fuel = t->fuel - (t->n->charged - t->charged);
    return true;
}

static void work(team *t, seat *s) {
    pthread_mutex_lock(&t->lock);
    while (take_chunk(t, s)) {
        desk *d = &t->desks[s->chunk % t->ndesks];
        rvm_status lost = RVM_OK;
        const uint64_t charged = (uint64_t)(t->n->charged - t->charged);
        pthread_mutex_unlock(&t->lock);
        if (s->caller) tell(t, charged);
        const bool done = run_chunk(t, s, d, &lost);
        pthread_mutex_lock(&t->lock);
        d->state = done ? DESK_DONE : DESK_BACK;
        if (!done && s->chunk < t->end) t->end = s->chunk;
        if (lost) t->lost = lost;
        merge(t);
        pthread_cond_broadcast(&t->news);
    }
    pthread_mutex_unlock(&t->lock);
}

static void *help(void *argument) {
    seat *s = argument;
    team *t = s->team;
    uint64_t seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (!t->quits && seen == t->orders) pthread_cond_wait(&t->begun, &t->lock);
        if (t->quits) break;
        seen = t->orders;
        pthread_mutex_unlock(&t->lock);
        fesetenv(&t->environment);
        feclearexcept(LOSSY);
        work(t, s);
        const int raised = fetestexcept(LOSSY);
        pthread_mutex_lock(&t->lock);
        t->raised |= raised;
        if (--t->busy == 0) pthread_cond_broadcast(&t->news);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- a team ---- */

void rvm__team_free(rvm_machine *m) {
    team *t = m->team;
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->quits = true;
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
    for (uint32_t k = 0; k < t->nseats; k++)
        if (t->seats[k].started) pthread_join(t->seats[k].thread, NULL);
    for (uint32_t k = 0; k < t->nseats; k++) {
        rvm__resize(m, t->seats[k].own, t->seats[k].size, 0);
        free_worker(t->seats[k].w);
    }
    rvm__resize(m, t->seats, t->nseats * sizeof *t->seats, 0);
    rvm__resize(m, t->room, t->size, 0);
    pthread_cond_destroy(&t->news);
    pthread_cond_destroy(&t->begun);
    pthread_mutex_destroy(&t->memory);
    pthread_mutex_destroy(&t->lock);
    rvm__resize(m, t, sizeof *t, 0);
    m->team = NULL;
}

/* Helpers handle no signal of the process. Where one cannot be started, the others do its work. */
static void start(team *t) {
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before)) return;
    for (uint32_t k = 1; k < t->nseats; k++)
        t->seats[k].started = t->seats[k].w && !pthread_create(&t->seats[k].thread, NULL, help, &t->seats[k]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool has_locks(team *t) {
    if (pthread_mutex_init(&t->lock, NULL)) return false;
    if (pthread_mutex_init(&t->memory, NULL)) goto lock;
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
    team *t = m->team;
    if (t && t->nseats == m->threads) return t;
    rvm__team_free(m);
    if (!(t = rvm__resize(m, NULL, 0, sizeof *t))) return NULL;
    *t = (team){.m = m, .ndesks = 2 * m->threads};
    if (!has_locks(t)) {
        rvm__resize(m, t, sizeof *t, 0);
        return NULL;
    }
    m->team = t;
    t->seats = rvm__resize(m, NULL, 0, m->threads * sizeof *t->seats);
    if (!t->seats) return rvm__team_free(m), NULL;
    t->nseats = m->threads;
    for (uint32_t k = 0; k < t->nseats; k++) t->seats[k] = (seat){.team = t, .caller = k == 0};
    for (uint32_t k = 0; k < t->nseats; k++) t->seats[k].w = new_worker(&t->seats[k]);
    if (!t->seats[0].w) return rvm__team_free(m), NULL;
    start(t);
    return t;
}

/* Desks for an order, free, in one block:
 *     desks | for each: sums, marks | for each: addresses of copies | for each: copies */
static bool set_desks(team *t, const rvm__native_order *o) {
    uint64_t elements = 0;
    for (uint64_t k = 0; k < o->ncopies; k++) elements += o->copies[k].read ? 0 : o->copies[k].n;
    if (elements > SIZE_MAX / 64 / t->ndesks) return false;
    const uint64_t nsums = o->nsums + o->nmarks;
    const size_t each =
        sizeof(desk) + nsums * sizeof(rvm__native_sum) + o->ncopies * sizeof(void *) + elements * sizeof(rvm_value);
    const size_t size = t->ndesks * each;
    if (size > t->size) {
        char *room = rvm__resize(t->m, t->room, t->size, size);
        if (!room) return false;
        t->room = room;
        t->size = size;
    }
    t->desks = (desk *)t->room;
    memset(t->desks, 0, t->ndesks * sizeof *t->desks);
    rvm__native_sum *sums = (rvm__native_sum *)(t->desks + t->ndesks);
    rvm_value **copies = (rvm_value **)(sums + t->ndesks * nsums), *at = (rvm_value *)(copies + t->ndesks * o->ncopies);
    for (uint32_t k = 0; k < t->ndesks; k++) {
        t->desks[k].sums = sums + k * nsums;
        t->desks[k].copies = copies + k * o->ncopies;
        for (uint64_t i = 0; i < o->ncopies; i++) {
            if (o->copies[i].read) continue;
            t->desks[k].copies[i] = at;
            at += o->copies[i].n;
        }
    }
    return true;
}
_Static_assert(sizeof(desk) % 8 == 0 && sizeof(rvm__native_sum) % 8 == 0 && sizeof(void *) == 8, "one behind the other");

/* ---- an order ---- */

/* Instructions of the run when native code has charged so many. */
static uint64_t so_far(const rvm_machine *m, const rvm__native *n) {
    return m->counted + (uint64_t)((int64_t)m->slice - (n->limit - n->charged));
}

static void begin(team *t, rvm__native *n, const rvm__native_order *o) {
    const rvm_machine *m = t->m;
    pthread_mutex_lock(&t->lock);
    t->o = o;
    t->n = n;
    t->nchunks = (o->count + RVM__CHUNK - 1) / RVM__CHUNK;
    t->next = t->merged = 0;
    t->end = t->nchunks;
    t->charged = n->charged;
    t->before = so_far(m, n);
    t->told = 0;
    t->fuel = rvm__fuel_left(m, t->before);
    t->raised = 0;
    t->lost = RVM_OK;
    fegetenv(&t->environment);
    for (uint32_t k = 1; k < t->nseats; k++) t->busy += t->seats[k].started;
    t->orders++;
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
}

/* All have stopped: what is done beyond what was merged is taken back. */
static void take_rest_back(team *t) {
    for (uint64_t chunk = t->merged; chunk < t->next; chunk++) {
        desk *d = &t->desks[chunk % t->ndesks];
        uint64_t first, last;
        ends_of(t, chunk, &first, &last);
        if (d->state == DESK_DONE && (!set_up(t, t->seats[0].w) || !take_back(t, &t->seats[0], d, last, first)))
            t->lost = RVM_ERR_NOT_RESTORABLE;
        clear(t->seats[0].w);
    }
}

/* Instances of the chunks that were merged; going down, the one that may be shorter comes first. */
static uint64_t done(const team *t) {
    const uint64_t shorter = t->o->ascending || !t->merged ? 0 : t->nchunks * RVM__CHUNK - t->o->count;
    return t->merged * RVM__CHUNK - shorter;
}

/* The next poll comes at once. */
static void look_soon(rvm_machine *m, rvm__native *n) {
    const int64_t less = n->limit - n->charged + 1;
    if (less <= 0) return;
    n->limit -= less;
    m->slice -= (uint64_t)less;
}

uint64_t rvm__native_chunks(rvm_machine *m, rvm__native *n, const rvm__native_order *o) {
    team *t = team_of(m);
    if (!t || !set_desks(t, o)) return 0;
    begin(t, n, o);
    work(t, &t->seats[0]);
    pthread_mutex_lock(&t->lock);
    while (t->busy) pthread_cond_wait(&t->news, &t->lock);
    pthread_mutex_unlock(&t->lock);
    feraiseexcept(t->raised);
    for (uint32_t k = 0; k < t->nseats; k++) {
        const size_t local = t->seats[k].w ? m->arena_used + t->seats[k].w->stats.ancilla_peak : 0;
        if (local > m->stats.ancilla_peak) m->stats.ancilla_peak = local;
    }
    if (t->merged == t->nchunks) return o->count;
    take_rest_back(t);
    n->lost = t->lost;
    m->adrift = t->lost;
    if (t->lost == RVM_ERR_CANCELLED) __atomic_store_n(m->cancelled, 0, __ATOMIC_RELAXED);
    look_soon(m, n);
    return done(t);
}

/* choose.c: whether a block goes to the device, where that is the machine's to choose.
 *
 * It is timed on the host, then on the device, then runs where it took less. Opening the driver and loading code take long
 * and are paid once, for all blocks and runs behind them, of which nobody knows how many there are: so they wait till
 * what the device might have saved so far is as long (ski rental: at worst twice as much is paid as was needed). At most,
 * that is: as if kernels took no time, and copies and launches alone did. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "cuda.h"
#include "support.h"

enum { MOST_CHOICES = 64, FEW_INSTANCES = 1024, TRIES = 2, TOO_SLOW = 4 };
#define OPENING 0.3   /* seconds that opening may take, */
#define LOADING 0.1   /* and loading */
#define CERTAIN 34    /* from 2^34 instructions on a block goes there the first time that it is met */
#define RATE    1e10  /* instructions a second, of a fast host on all processors */
#define COPYING 9.5e9 /* bytes a second, and seconds of launching, counting and waiting, measured (docs/cuda.md) */
#define LAUNCH  22e-6
#define STEP    1e-8 /* seconds of an instruction in one thread, all of whose instances run at once: an assumption */

struct rvm__chooser {
    rvm__choice choices[MOST_CHOICES], *now; /* now: NULL: nothing is timed */
    unsigned n;
    bool device;                 /* it runs there */
    double begin, apart, missed; /* apart: seconds of opening and loading, then; missed: of all choices */
    double least;
    uint64_t used;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double setting_up(const rvm_cuda *c) {
    rvm_cuda_totals t;
    rvm_cuda_stats(c, &t);
    return t.opening + t.loading;
}

bool rvm__chooser_new(rvm_cuda *c) {
    if (!(c->chooser = rvm__realloc(&c->al, NULL, 0, sizeof *c->chooser))) return false;
    memset(c->chooser, 0, sizeof *c->chooser);
    return true;
}

void rvm__chooser_free(rvm_cuda *c) {
    rvm__realloc(&c->al, c->chooser, sizeof *c->chooser, 0);
    c->chooser = NULL;
}

/* ---- the choice ---- */

/* So far nothing is known of the device. */
static const char *why_no_try(const rvm__choice *choice, const rvm__prospect *p) {
    if (choice->host == 0) return p->work >> CERTAIN ? NULL : "it is timed there first";
    if (p->least >= choice->host) return "copies take longer than it does there";
    if (!p->open) return choice->missed < OPENING ? "opening a device does not pay yet" : NULL;
    return !p->loaded && choice->missed < LOADING ? "loading its code does not pay yet" : NULL;
}

const char *rvm__choice_why_not(const rvm__choice *choice, const rvm__prospect *p) {
    const double host = choice->host > 0 ? choice->host : (double)p->work / RATE;
    if (!choice->tries) return why_no_try(choice, p);
    if (choice->tries < TRIES && choice->device < TOO_SLOW * host) return NULL;
    if (choice->device < host) return NULL;
    return choice->host > 0 ? "it is faster there" : "it is timed there, too";
}

/* ---- what is known ---- */

static unsigned log_of(uint64_t n) {
    unsigned log = 0;
    while (n >>= 1) log++;
    return log;
}

/* A place for it, if need be that of the one which was used longest ago. */
static rvm__choice *find(rvm__chooser *h, const rvm__native_job *job) {
    const unsigned log = log_of(job->count);
    rvm__choice *oldest = h->choices;
    for (unsigned k = 0; k < h->n; k++) {
        rvm__choice *one = &h->choices[k];
        if (one->kernel == job->kernel && one->log == log) return one;
        if (one->used < oldest->used) oldest = one;
    }
    rvm__choice *to = h->n < MOST_CHOICES ? &h->choices[h->n++] : oldest;
    *to = (rvm__choice){.kernel = job->kernel, .log = log};
    return to;
}

/* Local arrays that are there need no copies. */
static size_t bytes_to_copy(rvm_cuda *c, const rvm__native_job *job) {
    const rvm__native_kernel *k = job->kernel;
    size_t bytes = 0, offset;
    for (uint64_t v = 0; v < k->nviews; v++) {
        const size_t one = k->views[v].root == v ? rvm__cuda_bytes(&job->views[v], k->views[v].ndim) : 0;
        if (!one || rvm__cuda_array_at(c, job->views[v].data, one, &offset)) continue;
        const rvm__local *l = rvm__cuda_local_at(c, job->views[v].data, one, &offset);
        bytes += (l ? !l->there && !l->zero : 1) * one;
        bytes += (!l && k->views[v].uses & 2) * one;
    }
    return bytes;
}

/* Home, and, changed, back. */
static size_t bytes_to_fetch(rvm_cuda *c, const rvm__native_job *job) {
    const rvm__native_kernel *k = job->kernel;
    size_t bytes = 0, offset;
    for (uint64_t v = 0; v < k->nviews; v++) {
        const size_t one = k->views[v].root == v ? rvm__cuda_bytes(&job->views[v], k->views[v].ndim) : 0;
        const rvm_cuda_array *a = one ? rvm__cuda_array_at(c, job->views[v].data, one, &offset) : NULL;
        const rvm__local *l = one && !a ? rvm__cuda_local_at(c, job->views[v].data, one, &offset) : NULL;
        if (!(a && rvm__cuda_array_is_away(a)) && !(l && !l->on_host)) continue;
        bytes += one + (k->views[v].uses & 2) / 2 * one;
    }
    return bytes;
}

bool rvm__cuda_saves_copies(rvm_cuda *c, const rvm__native_job *job) {
    const size_t bytes = job->count ? bytes_to_fetch(c, job) : 0;
    return bytes && (double)job->kernel->work * STEP < (double)bytes / COPYING + LAUNCH;
}

const char *rvm__cuda_choose(rvm_cuda *c, const rvm__native_job *job) {
    rvm__chooser *h = c->chooser;
    const rvm__native_kernel *kernel = job->kernel->code ? job->kernel : job->kernel->nested;
    if (kernel->flags & RVM__KERNEL_FUNCTIONS) return "elementary functions have other bits on a device";
    if (job->count < FEW_INSTANCES) return "it has few instances";
    rvm__prospect p = {.work = job->kernel->work * job->count, .open = c->d};
    p.least = (double)bytes_to_copy(c, job) / COPYING + LAUNCH;
    p.loaded = p.open && rvm__cuda_is_loaded(c, kernel);
    h->now = find(h, job);
    h->now->used = ++h->used;
    h->least = p.least;
    h->apart = setting_up(c);
    h->device = false;
    rvm__choice seen = *h->now;
    if (!p.open) seen.missed = h->missed;
    const char *why = rvm__choice_why_not(&seen, &p);
    h->begin = now();
    return why;
}

void rvm__cuda_chosen(rvm_cuda *c, bool done) {
    rvm__chooser *h = c->chooser;
    if (!h || !h->now) return;
    h->device = done;
    if (done) return;
    h->now->tries = TRIES;
    h->now->device = INFINITY;
    h->apart = setting_up(c);
    h->begin = now();
}

void rvm__cuda_settle(rvm_cuda *c) {
    rvm__chooser *h = c->chooser;
    rvm__choice *one = h ? h->now : NULL;
    if (!one) return;
    const double seconds = now() - h->begin - (setting_up(c) - h->apart);
    double *to = h->device ? &one->device : &one->host;
    h->now = NULL;
    if (*to == 0 || seconds < *to) *to = seconds;
    one->tries += h->device;
    if (h->device || seconds <= h->least) return;
    one->missed += seconds - h->least;
    h->missed += seconds - h->least;
}

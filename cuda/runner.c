/* runner.c: the machine's runner of parallel blocks (vm/native/native.h): on the device, on several, or, where none can,
 * where they would run without one. */
#include <stdio.h>

#include "cuda.h"
#include "machine.h"
#include "out_of_line.h"
#include "support.h"

/* An array that stays on the device is to be where the host finds it; false: it is lost. */
static bool is_home(rvm_cuda *c, const char *data, bool changes) {
    rvm_error why;
    size_t offset;
    rvm_cuda_array *a = c->arrays ? rvm__cuda_array_at(c, data, 0, &offset) : NULL;
    rvm__local *l = c->locals ? rvm__cuda_local_at(c, data, 0, &offset) : NULL;
    const bool good = !a || !rvm__cuda_array_stays(a) || rvm__cuda_array_for_host(a, changes, &why);
    return (!l || rvm__cuda_local_to_host(c, l, &why)) && good;
}

static bool to_host(rvm_cuda *c, const rvm__native_job *job) {
    bool good = true;
    for (uint64_t v = 0; job->kernel && v < job->kernel->nviews; v++)
        good = is_home(c, job->views[v].data, job->kernel->views[v].uses & 2) && good;
    return good;
}

static bool enters(rvm_cuda *c) {
    return c->d && (c->arrays || c->locals) && c->d->context_push(c->context) == 0;
}

/* The run ends where it polls next. */
static uint64_t give_up(rvm_machine *m, rvm__native *n) {
    n->lost = m->jit.adrift = RVM_ERR_UNSUPPORTED;
    rvm__native_poll_soon(m, n);
    return 0;
}

/* Whether the block uses what only the first device had, which is lost. */
static bool is_lost(rvm_cuda *c, const rvm__native_job *job) {
    size_t offset;
    for (uint64_t v = 0; v < job->kernel->nviews; v++) {
        const rvm_cuda_array *a = rvm__cuda_array_at(c, job->views[v].data, 0, &offset);
        const rvm__local *l = rvm__cuda_local_at(c, job->views[v].data, 0, &offset);
        if ((a && rvm__cuda_array_stays(a)) || (l && !l->on_host)) return true;
    }
    return false;
}

/* err: room for a text. */
static const char *why_not(rvm_cuda *c, const rvm__native_job *job, rvm_error *err) {
    if (!job->kernel || !(job->kernel->code || job->kernel->nested)) return "it is no kernel";
    if (!c->d && c->lost) return "no device could be opened";
    if ((c->d && !rvm__cuda_alive(c, 0)) || (c->lost && is_lost(c, job))) return rvm__cuda_fail_lost(c, err), err->message;
    if (job->checked) return "sums of fix are checked";
    if (job->kernel->work * job->count < c->o.least && !rvm__cuda_saves_copies(c, job)) return "it is too small";
    if (job->kernel->nparams + RVM__KERNEL_LAUNCH > RVM__MOST_KERNEL_PARAMS || job->kernel->nviews > RVM__MOST_KERNEL_PARAMS)
        return "it takes too much";
    return NULL;
}

static void say(char *to, size_t size, const rvm__native_job *job, const char *why) {
    snprintf(to, size, "line %u: %.250s", job->kernel ? (unsigned)job->kernel->line : 0, why);
}

/* As a kernel of which kind: a thread for each instance, or a CTA. */
static const rvm__native_kernel *kind_of(rvm_cuda *c, const rvm__native_job *job) {
    rvm_cuda *one = rvm__cuda_alive(c, 0);
    if (!job->kernel->nested || !one || !rvm__cuda_enter(one)) return job->kernel;
    const rvm__native_kernel *k = rvm__cuda_kind(one, job);
    rvm__cuda_leave(one);
    return k;
}

static bool run_on_one(rvm__block_run *r) {
    const rvm__block_run like = *r;
    if (!(r->c = rvm__cuda_alive(r->c->first, 0))) return false;
    const bool done = rvm__cuda_on_each(r, 1, rvm__cuda_run_block), too_large = r->too_large;
    *r = like;
    r->too_large = too_large;
    return done;
}

static bool run_on_several(rvm__block_run *r, unsigned n) {
    rvm_cuda_totals *t = &r->c->first->totals;
    if (rvm__cuda_run_split(r, n)) return ++t->split;
    const bool again = r->err->code == RVM_ERR_MEMORY || r->err->code == RVM_ERR_UNSUPPORTED; /* else it fails on each */
    if (again) say(t->why_one, sizeof t->why_one, r->job, r->err->message);
    return again && (!r->c->first->lost || !is_lost(r->c->first, r->job)) && run_on_one(r);
}

static bool run_as(rvm__block_run *r, const rvm__native_kernel *k) {
    rvm_cuda_totals *t = &r->c->totals;
    const char *why;
    r->k = k;
    r->too_large = false;
    rvm__cuda_plan_copies(r);
    const unsigned devices = rvm__cuda_devices_for(r, &why);
    const bool done = devices > 1 ? run_on_several(r, devices) : run_on_one(r);
    if (done && why) say(t->why_one, sizeof t->why_one, r->job, why);
    t->nested += done && k->frame;
    return done;
}

/* Whether all instances are done; else nothing has changed, and err says why. */
static bool run_there(rvm_cuda *c, rvm_machine *m, rvm__native *n, const rvm__native_job *job, rvm_error *err) {
    const uint64_t all = job->count + !job->count;
    rvm__block_run r = {.c = c, .m = m, .job = job, .native = n, .err = err};
    r.number = rvm__cuda_block_of(c, m, job);
    r.count = job->count;
    r.width = r.period = all;
    r.fuel = rvm__fuel_left(m, rvm__native_count(m, n));
    rvm__cuda_range_begin(m, job->kernel);
    c->line = (uint32_t)job->kernel->line;
    bool done = run_as(&r, kind_of(c, job));
    const rvm__native_kernel *other = done ? NULL : rvm__cuda_other_kind(&r);
    if (other) done = run_as(&r, other);
    rvm__cuda_range_end();
    c->line = 0;
    c->totals.blocks += done;
    if (r.number != RVM__NO_BLOCK) c->blocks[r.number].runs += done;
    return done;
}

static bool share_one(rvm_cuda *c, const char *data) {
    size_t offset;
    const bool good = is_home(c, data, true);
    rvm_cuda_array *a = rvm__cuda_array_at(c, data, 0, &offset);
    rvm__local *l = rvm__cuda_local_at(c, data, 0, &offset);
    if (a) rvm__cuda_array_share(a);
    if (l) rvm__cuda_local_share(c, l);
    return good;
}

/* Instances of a block around it, which the host runs then, use what the block uses, too. */
static bool share(rvm_cuda *c, const rvm__native_job *job) {
    bool good = true;
    const bool entered = enters(c);
    for (uint64_t v = 0; job->kernel && v < job->kernel->nviews; v++) good = share_one(c, job->views[v].data) && good;
    if (entered) rvm__cuda_leave(c);
    return good;
}

static void home(rvm_machine *m, rvm__native *n, const rvm__native_use *uses, uint64_t nuses) {
    rvm_cuda *c = m->jit.device;
    bool good = true;
    if (!c->arrays && !c->locals) return;
    const bool entered = enters(c);
    for (uint64_t k = 0; k < nuses; k++) good = is_home(c, uses[k].data, uses[k].changes) && good;
    if (entered) rvm__cuda_leave(c);
    if (!good) give_up(m, n);
}

static uint64_t run_job(rvm_machine *m, rvm__native *n, const rvm__native_job *job) {
    rvm_cuda *c = m->jit.device;
    rvm_error err = {0}, lost;
    rvm__cuda_settle(c);
    const char *why = why_not(c, job, &lost);
    if (job->within && !share(c, job)) return give_up(m, n);
    if (!why && c->chooser) why = rvm__cuda_choose(c, job);
    if (!why && !rvm__cuda_open(c, &err)) {
        const bool done = run_there(c, m, n, job, &err);
        rvm__cuda_chosen(c, done);
        m->jit.there += done && !job->within;
        if (done) return job->count;
    }
    const bool entered = enters(c), home = to_host(c, job);
    if (entered) rvm__cuda_leave(c);
    c->totals.on_host++;
    say(c->totals.why, sizeof c->totals.why, job, why ? why : err.message);
    if (!home) return give_up(m, n);
    const uint64_t done = rvm__threads.run(m, n, job);
    if (err.code == RVM_ERR_CANCELLED || err.code == RVM_ERR_FUEL) rvm__native_poll_soon(m, n);
    return done;
}

static rvm_status leave(rvm_machine *m) {
    rvm__cuda_settle(m->jit.device);
    return rvm__cuda_leave_run(m);
}

static void end(rvm_machine *m) {
    rvm__threads.end(m);
}

static int32_t safepoint(rvm_machine *w, rvm__native *n) {
    return rvm__threads.safepoint(w, n);
}

static int32_t safepoint_in_group(rvm_machine *w, uint64_t charged) {
    return rvm__threads.safepoint_in_group(w, charged);
}

static bool is_cancelled(const rvm_machine *w) {
    return rvm__threads.is_cancelled(w);
}

static void *resize(rvm_machine *w, void *p, size_t old_size, size_t new_size) {
    return rvm__threads.resize(w, p, old_size, new_size);
}

const rvm__runner rvm__cuda_runner = {.run = run_job,
                                      .end = end,
                                      .safepoint = safepoint,
                                      .safepoint_in_group = safepoint_in_group,
                                      .is_cancelled = is_cancelled,
                                      .resize = resize,
                                      .enter = rvm__cuda_enter_run,
                                      .leave = leave,
                                      .local = rvm__cuda_local,
                                      .hold = rvm__cuda_hold,
                                      .let_go = rvm__cuda_let_go,
                                      .bring = rvm__cuda_bring,
                                      .home = home,
                                      .elements = rvm__cuda_elements,
                                      .keeper = &rvm__cuda_keeper};

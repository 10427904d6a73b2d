/* block.c: the machine's runner of parallel blocks (vm/native/native.h): as kernels on the device.
 *
 *     arrays there ──▶ kernels, a piece of the instances each ──▶ sums ──▶ arrays back
 *
 * A piece is some instances whose numbers begin at a chunk of the interpreter's, and takes some 30 ms; between pieces a run
 * may be cancelled. Nothing is given back before all are done: an instance that failed, fuel that ran out, a cancel or a
 * device that fails leaves all as it was, and the block is run where it would be without a device. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "memory.h"
#include "out_of_line.h"
#include "support.h"

enum { MOST_CTAS = 4096, MOST_TRIES = 8, MOST_ARENA = 256 << 10, MOST_NESTED_ARENA = 64 << 20 };

static bool failed(const rvm__block_run *r, int code, const char *doing) {
    return rvm__cuda_failed(r->c, code, doing, r->err);
}

/* ---- before ---- */

static bool is_copied(const rvm__native_kernel *k, uint64_t view) {
    for (uint64_t n = 0; n < k->nparams; n++)
        if (k->params[n].view >= 0 && k->params[n].flags & RVM__KERNEL_COPIED &&
            k->views[k->params[n].view].root == k->views[view].root)
            return true;
    return false;
}

static bool take_copies(rvm__block_run *r) {
    if (!(r->k->flags & RVM__KERNEL_COPIED)) return true;
    const uint64_t warps = (r->job->count + RVM__CHUNK + RVM__WARP - 1) / RVM__WARP;
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        if (r->k->views[v].root != v || !is_copied(r->k, v)) continue;
        r->offsets[v] = r->stride;
        r->stride += (r->places[v].bytes + 127) / 128 * 128;
    }
    r->ncopies = r->k->frame ? rvm__cuda_nested_copies(r) : warps < RVM__KERNEL_COPIES ? warps : RVM__KERNEL_COPIES;
    r->copies = rvm__cuda_take(r->c, r->ncopies * r->stride, r->err);
    return r->copies &&
           !failed(r, r->c->d->clear(r->copies->p, 0, r->ncopies * r->stride, r->c->stream), "copies are cleared");
}

static bool take_sums(rvm__block_run *r) {
    r->nchunks = (r->job->count + RVM__CHUNK - 1) / RVM__CHUNK;
    for (uint64_t s = 0; s < r->job->nsums; s++) r->nterms += r->k->terms[s];
    if (!r->job->nsums) return true;
    const size_t bytes = r->job->nsums * r->nchunks * sizeof(rvm_value);
    if (!(r->sums = rvm__realloc(&r->c->al, NULL, 0, bytes))) return rvm__fail_memory(r->err), false;
    return (r->totals = rvm__cuda_take(r->c, bytes, r->err));
}

/* Threads have so much local memory, which the device keeps for all that it may run at once. */
static bool set_stack(rvm__block_run *r) {
    const size_t wanted = r->kernel->arena + (size_t)r->kernel->local_bytes + 1024;
    if (!(r->k->flags & RVM__KERNEL_ARENA) || r->k->frame || wanted <= r->c->stack) return true;
    if (failed(r, r->c->d->context_set_limit(CUDA_STACK, wanted), "local arrays get memory")) return false;
    r->c->stack = wanted;
    return true;
}

/* ---- a piece ---- */

static uint64_t param_of(const rvm__block_run *r, uint64_t n) {
    const rvm__kernel_param *p = &r->k->params[n];
    if (p->view < 0) return r->job->params[n];
    const uint64_t root = r->k->views[p->view].root;
    const uint64_t behind = r->job->params[n] - (uintptr_t)r->job->views[root].data;
    return (p->flags & RVM__KERNEL_COPIED ? r->offsets[root] : r->places[root].p) + behind;
}

/* Of a CTA: as many as fill one, but fewer where multiprocessors would have none. */
static unsigned threads_of(const rvm__block_run *r, uint64_t n) {
    unsigned threads = RVM__KERNEL_CTA;
    while (threads > RVM__WARP && n / threads < (uint64_t)r->c->multiprocessors) threads /= 2;
    return threads;
}

static bool launch_kernel(rvm__block_run *r, uint64_t first, uint64_t n) {
    uint64_t values[RVM__MOST_KERNEL_PARAMS];
    void *params[RVM__MOST_KERNEL_PARAMS];
    unsigned count = 0;
    const uint64_t most = r->copies ? RVM__KERNEL_COPIES * RVM__WARP / threads_of(r, n) : MOST_CTAS;
    const unsigned threads = threads_of(r, n);
    const uint64_t ctas = (n + threads - 1) / threads;
    rvm__shape shape = {.ctas = (unsigned)(ctas < most ? ctas : most), .threads = threads};
    if (!rvm__cuda_nested_shape(r, n, &shape)) return false;
    const rvm__kernel_launch l = {.lo = r->job->lo,
                                  .first = first,
                                  .n = n,
                                  .limit = (uint64_t)r->fuel,
                                  .control = r->c->device_control,
                                  .terms = r->terms ? r->terms->p : 0,
                                  .copies = r->copies ? r->copies->p : 0,
                                  .stride = r->stride,
                                  .arena = r->kernel->arena,
                                  .log = r->log ? r->log->p : 0,
                                  .addresses = r->addresses ? r->addresses->p : 0,
                                  .additions = r->kernel->additions,
                                  .locals = shape.locals,
                                  .ncopies = r->ncopies,
                                  .each = r->kernel->each};
    for (uint64_t p = 0; p < r->k->nparams; p++)
        if (r->k->params[p].view != RVM__KERNEL_KNOWN) values[count++] = param_of(r, p);
    memcpy(&values[count], &l, sizeof l);
    count += RVM__KERNEL_LAUNCH;
    for (unsigned p = 0; p < count; p++) params[p] = &values[p];
    r->c->totals.launches++;
    return !failed(r,
                   r->c->d->launch(r->kernel->function, shape.ctas, 1, 1, shape.threads, 1, 1, shape.shared, r->c->stream,
                                   params, NULL),
                   "a kernel is launched");
}

static bool launch_sum_terms(const rvm__block_run *r, uint64_t first, uint64_t n) {
    uint64_t row = 0;
    for (uint64_t s = 0; s < r->job->nsums; s++) {
        uint64_t terms = r->terms->p + row * n * sizeof(rvm_value), up = r->job->ascending != 0;
        uint64_t to = r->totals->p + (s * r->nchunks + first / RVM__CHUNK) * sizeof(rvm_value);
        uint64_t m = r->k->terms[s], type = r->job->sums[s].type, count = n;
        void *params[] = {&terms, &m, &count, &up, &type, &to};
        const unsigned threads = 128, all = (unsigned)((n + RVM__CHUNK - 1) / RVM__CHUNK * RVM__PARTS);
        if (failed(r,
                   r->c->d->launch(r->c->sum_terms, (all + threads - 1) / threads, 1, 1, threads, 1, 1, 0, r->c->stream,
                                   params, NULL),
                   "sums are launched"))
            return false;
        row += m;
    }
    return true;
}

/* Instances numbered from `first` on. */
static bool run_piece(rvm__block_run *r, uint64_t first, uint64_t n) {
    rvm_cuda *c = r->c;
    float ms = 0;
    if (r->nterms) {
        rvm__cuda_put(r->terms);
        if (!(r->terms = rvm__cuda_take(c, r->nterms * n * sizeof(rvm_value), r->err))) return false;
    }
    if (!rvm__cuda_take_log(r, n)) return false;
    if (failed(r, c->d->event_record(c->events[0], c->stream), "it is timed")) return false;
    if (!launch_kernel(r, first, n) || !launch_sum_terms(r, first, n)) return false;
    if (r->log && !rvm__cuda_sum_log(r, n)) return false;
    int code = c->d->event_record(c->events[1], c->stream);
    if (!code) code = c->d->download(c->control, c->device_control, sizeof *c->control, c->stream);
    if (failed(r, code ? code : c->d->stream_wait(c->stream), "a kernel runs")) return false;
    if (failed(r, c->d->event_seconds(&ms, c->events[0], c->events[1]), "it is timed")) return false;
    rvm__cuda_nested_learn(r);
    r->seconds = 1e-3 * (double)ms;
    c->totals.kernels += r->seconds;
    return true;
}

/* ---- all of it ---- */

static bool clear_control(const rvm__block_run *r) {
    rvm_cuda *c = r->c;
    *c->control = (rvm__kernel_control){.failed = UINT64_MAX};
    return !failed(r, c->d->upload(c->device_control, c->control, sizeof *c->control, c->stream), "a kernel begins");
}

static bool refuse(const rvm__block_run *r, rvm_status code, const char *why) {
    rvm__fail(r->err, code, NULL, 0, 0, "%s", why);
    return false;
}

/* The block is to be the host's. */
static bool goes_on(const rvm__block_run *r, uint64_t done) {
    if (done < r->job->count && __atomic_load_n(r->m->run.cancelled, __ATOMIC_RELAXED))
        return refuse(r, RVM_ERR_CANCELLED, "it is cancelled");
    if (r->c->control->failed != UINT64_MAX) return refuse(r, RVM_ERR_DOMAIN, "an instance fails");
    if (r->c->control->charged + done > (uint64_t)r->fuel) return refuse(r, RVM_ERR_FUEL, "fuel runs out");
    return true;
}

/* Instances of a first piece, whole chunks. */
static uint64_t first_piece(const rvm__block_run *r) {
    const uint64_t instructions = UINT64_C(1) << 36, each = instructions / (r->k->work + !r->k->work);
    const uint64_t n = each / RVM__CHUNK * RVM__CHUNK + RVM__CHUNK, most = rvm__cuda_most_logged(r);
    return n < most ? n : most;
}

/* Whether it may end before all instances are done. */
static bool may_fail(const rvm__block_run *r) {
    return r->k->flags & (RVM__KERNEL_MAY_FAIL | RVM__KERNEL_ARENA | RVM__KERNEL_LOGS) || r->m->o.fuel ||
           r->job->count > first_piece(r);
}

/* In the order in which instances run: from the first, or the last one on. */
static bool run_pieces(rvm__block_run *r) {
    const uint64_t count = r->job->count;
    const double aim = .03;
    uint64_t each = first_piece(r), done = 0;
    const uint64_t most = rvm__cuda_most_logged(r);
    while (done < count) {
        if (each > most) each = most;
        uint64_t n = count - done < each ? count - done : each, first = done;
        if (!r->job->ascending) {
            first = count - done > each ? (count - done - each + RVM__CHUNK - 1) / RVM__CHUNK * RVM__CHUNK : 0;
            n = count - done - first;
        }
        if (!run_piece(r, first, n) || !goes_on(r, done += n)) return false;
        const double scale = r->seconds > 0 ? aim / r->seconds : 4;
        const double next = (double)each * (scale < 4 ? scale : 4);
        each = next > 1e15 ? UINT64_C(1) << 50 : (uint64_t)next / RVM__CHUNK * RVM__CHUNK + RVM__CHUNK;
    }
    return true;
}

/* Local arrays that found no room get some, in another try. */
static bool run_all(rvm__block_run *r) {
    for (int k = 0; k < MOST_TRIES; k++) {
        if (!set_stack(r) || !clear_control(r)) return false;
        if (run_pieces(r)) return true;
        const uint64_t needed = r->c->control->needed;
        const bool more = r->c->control->additions > r->kernel->additions;
        const uint64_t most = r->k->frame ? MOST_NESTED_ARENA : MOST_ARENA;
        r->kernel->too_large = needed > most;
        const uint64_t each = r->c->control->each;
        if (r->c->control->failed == UINT64_MAX || !(needed || more || each) || needed > most || r->c->lost) return false;
        if (needed) r->kernel->arena = (needed + needed / 4 + 255) / 256 * 256;
        if (each) r->kernel->each = each;
        if (more) r->kernel->additions = r->c->control->additions;
        for (uint64_t v = 0; v < r->k->nviews; v++) /* what stood there */
            if (r->k->views[v].root == v && r->k->views[v].uses & 2) {
                rvm__place *p = &r->places[v];
                const int code = p->before  ? r->c->d->copy(p->p, p->before->p, p->bytes, r->c->stream)
                                 : p->bytes ? r->c->d->upload(p->p, r->job->views[v].data, p->bytes, r->c->stream)
                                            : 0;
                if (failed(r, code, "an array is taken back")) return false;
            }
        if (r->copies &&
            failed(r, r->c->d->clear(r->copies->p, 0, r->ncopies * r->stride, r->c->stream), "copies are cleared"))
            return false;
    }
    return false;
}

static bool add_copies(const rvm__block_run *r) {
    enum { ACROSS = 32 }; /* sums.cu */
    for (uint64_t v = 0; r->copies && v < r->k->nviews; v++) {
        if (r->k->views[v].root != v || !is_copied(r->k, v) || !r->places[v].bytes) continue;
        uint64_t to = r->places[v].p, from = r->copies->p + r->offsets[v], stride = r->stride, n = r->ncopies;
        uint64_t elements = r->places[v].bytes / sizeof(rvm_value);
        void *params[] = {&to, &from, &stride, &n, &elements};
        if (failed(r,
                   r->c->d->launch(r->c->sum_copies, (unsigned)((elements + ACROSS - 1) / ACROSS), 1, 1, ACROSS, ACROSS, 1,
                                   0, r->c->stream, params, NULL),
                   "sums are launched"))
            return false;
    }
    return true;
}

static bool fetch_sums(const rvm__block_run *r) {
    if (!r->totals) return true;
    const size_t bytes = r->job->nsums * r->nchunks * sizeof(rvm_value);
    return !failed(r, r->c->d->download(r->sums, r->totals->p, bytes, r->c->stream), "sums are copied from it");
}

/* ---- behind ---- */

static void merge_sums(const rvm__block_run *r) {
    int overflow = 0;
    for (uint64_t s = 0; s < r->job->nsums; s++) {
        rvm__native_sum *to = &r->job->sums[s];
        for (uint64_t k = 0; k < r->nchunks; k++) {
            const uint64_t chunk = r->job->ascending ? k : r->nchunks - 1 - k;
            to->value = rvm__block_plus((rvm_type)to->type, to->value, r->sums[s * r->nchunks + chunk], &overflow);
        }
    }
}

static void merge_counts(const rvm__block_run *r) {
    const rvm__kernel_control *c = r->c->control;
    r->n->charged += (int64_t)(c->charged + r->job->count);
    r->n->calls += c->calls;
    if (r->job->frame + c->peak > r->n->peak) r->n->peak = r->job->frame + c->peak;
    for (int k = 0; k < RVM__ERASED; k++) r->n->erased[k] += c->erased[k];
}

/* Whether all instances are done; else nothing has changed. */
static bool run_block(rvm__block_run *r) {
    rvm_cuda *c = r->c;
    size_t n = (r->k->nviews + 1) * sizeof *r->places;
    if (!(r->places = rvm__realloc(&c->al, NULL, 0, n))) return rvm__fail_memory(r->err), false;
    memset(r->places, 0, n);
    bool good = (r->kernel = rvm__cuda_kernel(c, r->k, r->err)) &&
                rvm__cuda_places(c, r->job, may_fail(r), r->places, r->err) && take_copies(r) && take_sums(r) &&
                run_all(r) && add_copies(r) && fetch_sums(r);
    if (!rvm__cuda_return(c, r->job, r->places, !good, good ? r->err : NULL)) good = false;
    if (good) merge_sums(r), merge_counts(r);
    rvm__cuda_put(r->copies);
    rvm__cuda_put(r->terms);
    rvm__cuda_put(r->totals);
    rvm__cuda_put(r->log);
    rvm__cuda_put(r->addresses);
    rvm__cuda_put(r->locals);
    rvm__realloc(&c->al, r->sums, r->job->nsums * r->nchunks * sizeof(rvm_value), 0);
    rvm__realloc(&c->al, r->places, n, 0);
    return good;
}

/* Whether all is done as that kernel, else nothing; *too_large: local arrays are, for one of its kind. */
static bool run_as(const rvm__block_run *like, const rvm__native_kernel *k, bool *too_large) {
    rvm__block_run r = *like;
    r.k = k;
    r.fuel = rvm__fuel_left(r.m, rvm__native_count(r.m, r.n));
    const bool done = run_block(&r);
    r.c->totals.nested += done && k->frame;
    *too_large = r.kernel && r.kernel->too_large;
    return done;
}

/* Where local arrays turn out to be too large for a kernel of one kind, as one of the other. */
static bool run_chosen(const rvm__block_run *r) {
    const rvm__native_kernel *k = rvm__cuda_choose(r->c, r->job), *other;
    bool too_large;
    if (run_as(r, k, &too_large)) return true;
    return too_large && (other = rvm__cuda_choose(r->c, r->job)) != k && run_as(r, other, &too_large);
}

/* ---- the runner ---- */

/* Arrays that stay on the device are to be where the host finds them; false: they are lost. */
static bool to_host(rvm_cuda *c, const rvm__native_job *job) {
    rvm_error why;
    size_t offset;
    bool good = true;
    for (uint64_t v = 0; job->kernel && v < job->kernel->nviews; v++) {
        rvm_cuda_array *a = c->arrays ? rvm__cuda_array_at(c, job->views[v].data, 0, &offset) : NULL;
        rvm__local *l = c->locals ? rvm__cuda_local_at(c, job->views[v].data, 0, &offset) : NULL;
        if (a && rvm__cuda_array_stays(a)) good = rvm__cuda_array_for_host(a, job->kernel->views[v].uses & 2, &why) && good;
        if (l) good = rvm__cuda_local_to_host(c, l, &why) && good;
    }
    return good;
}

/* The run ends where it polls next. */
static uint64_t give_up(rvm_machine *m, rvm__native *n) {
    n->lost = m->jit.adrift = RVM_ERR_UNSUPPORTED;
    rvm__native_poll_soon(m, n);
    return 0;
}

static const char *why_not(const rvm_cuda *c, const rvm__native_job *job) {
    if (!job->kernel || !(job->kernel->code || job->kernel->nested)) return "it is no kernel";
    if (c->lost) return "the device is lost";
    if (job->checked) return "sums of fix are checked";
    if (job->kernel->work * job->count < c->o.least) return "it is too small";
    if (job->kernel->nparams + RVM__KERNEL_LAUNCH > RVM__MOST_KERNEL_PARAMS || job->kernel->nviews > RVM__MOST_KERNEL_PARAMS)
        return "it takes too much";
    return NULL;
}

static void note(rvm_cuda *c, const rvm__native_job *job, const char *why) {
    c->totals.on_host++;
    snprintf(c->totals.why, sizeof c->totals.why, "line %u: %.250s", job->kernel ? (unsigned)job->kernel->line : 0, why);
}

static uint64_t run_job(rvm_machine *m, rvm__native *n, const rvm__native_job *job) {
    rvm_cuda *c = m->jit.device;
    rvm_error err = {0};
    const char *why = why_not(c, job);
    if (!why && !rvm__cuda_enter(c)) why = "the device's context cannot be entered";
    if (!why) {
        const rvm__block_run r = {.c = c, .m = m, .job = job, .n = n, .err = &err};
        rvm__cuda_range_begin(m, job->kernel);
        const bool done = run_chosen(&r);
        rvm__cuda_range_end();
        const bool home = done || to_host(c, job);
        rvm__cuda_leave(c);
        c->totals.blocks += done;
        if (done) return job->count;
        note(c, job, err.message);
        if (!home) return give_up(m, n);
    } else {
        const bool entered = (c->arrays || c->locals) && c->d->context_push(c->context) == 0, home = to_host(c, job);
        if (entered) rvm__cuda_leave(c);
        note(c, job, why);
        if (!home) return give_up(m, n);
    }
    const uint64_t done = rvm__threads.run(m, n, job);
    if (err.code == RVM_ERR_CANCELLED || err.code == RVM_ERR_FUEL) rvm__native_poll_soon(m, n);
    return done;
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
                                      .leave = rvm__cuda_leave_run,
                                      .local = rvm__cuda_local,
                                      .hold = rvm__cuda_hold,
                                      .let_go = rvm__cuda_let_go,
                                      .bring = rvm__cuda_bring,
                                      .elements = rvm__cuda_elements};

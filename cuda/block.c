/* block.c: a parallel block as a kernel on a device.
 *
 *     arrays there ──▶ kernels, a piece of the instances each ──▶ sums ──▶ arrays back
 *
 * A piece is some instances whose numbers begin at a chunk of the interpreter's, and takes some 30 ms; between pieces a run
 * may be cancelled. Nothing is given back before all are done: an instance that failed, fuel that ran out, a cancel or a
 * device that fails leaves all as it was, and the block is run where it would be without a device. Where there are several
 * devices, split.c has each take some of the instances by the functions here. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "memory.h"
#include "out_of_line.h"
#include "support.h"

enum { MOST_CTAS = 4096, MOST_ARENA = 256 << 10, MOST_NESTED_ARENA = 64 << 20 };

static bool failed(const rvm__block_run *r, int code, const char *doing) {
    return rvm__cuda_failed(r->c, code, doing, r->err);
}

static bool refuse(const rvm__block_run *r, rvm_status code, const char *why) {
    rvm__fail(r->err, code, NULL, 0, 0, "%s", why);
    return false;
}

/* ---- before ---- */

static bool is_copied(const rvm__native_kernel *k, uint64_t view) {
    for (uint64_t n = 0; n < k->nparams; n++)
        if (k->params[n].view >= 0 && k->params[n].flags & RVM__KERNEL_COPIED &&
            k->views[k->params[n].view].root == k->views[view].root)
            return true;
    return false;
}

void rvm__cuda_plan_copies(rvm__block_run *r) {
    const uint64_t warps = (r->job->count + RVM__CHUNK + RVM__WARP - 1) / RVM__WARP;
    r->stride = r->ncopies = 0;
    if (!(r->k->flags & RVM__KERNEL_COPIED)) return;
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        if (r->k->views[v].root != v || !is_copied(r->k, v)) continue;
        r->offsets[v] = r->stride;
        r->stride += (rvm__cuda_bytes(&r->job->views[v], r->k->views[v].ndim) + 127) / 128 * 128;
    }
    r->ncopies = r->k->frame ? rvm__cuda_nested_copies(r) : warps < RVM__KERNEL_COPIES ? warps : RVM__KERNEL_COPIES;
}

static bool take_copies(rvm__block_run *r) {
    if (!(r->k->flags & RVM__KERNEL_COPIED)) return true;
    r->copies = rvm__cuda_take(r->c, r->ncopies * r->stride, r->err);
    return r->copies &&
           !failed(r, r->c->d->clear(r->copies->p, 0, r->ncopies * r->stride, r->c->stream), "copies are cleared");
}

static bool take_sums(rvm__block_run *r) {
    r->nchunks = (r->count + RVM__CHUNK - 1) / RVM__CHUNK;
    for (uint64_t s = 0; s < r->job->nsums; s++) r->nterms += r->k->terms[s];
    if (!r->job->nsums) return true;
    const size_t bytes = r->job->nsums * r->nchunks * sizeof(rvm_value);
    if (!(r->sums = rvm__realloc(&r->c->al, NULL, 0, bytes))) return rvm__fail_memory(r->err), false;
    return (r->totals = rvm__cuda_take(r->c, bytes, r->err));
}

bool rvm__cuda_take_room(rvm__block_run *r) {
    return take_copies(r) && take_sums(r);
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

/* Instances whose numbers follow one another; terms: where what they add to registers goes. */
static bool launch_kernel(rvm__block_run *r, uint64_t first, uint64_t n, uint64_t terms) {
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
                                  .terms = terms,
                                  .copies = r->copies ? r->copies->p : 0,
                                  .stride = r->stride,
                                  .arena = r->kernel->arena,
                                  .log = r->log ? r->log->p : 0,
                                  .addresses = r->addresses ? r->addresses->p : 0,
                                  .additions = r->kernel->additions,
                                  .locals = shape.locals,
                                  .ncopies = r->ncopies,
                                  .each = r->kernel->each,
                                  .entries = r->entries ? r->entries->p : 0,
                                  .width = r->kernel->width,
                                  .met = r->kernel->met};
    for (uint64_t p = 0; p < r->k->nparams; p++)
        if (r->k->params[p].view != RVM__KERNEL_KNOWN) values[count++] = param_of(r, p);
    memcpy(&values[count], &l, sizeof l);
    count += RVM__KERNEL_LAUNCH;
    for (unsigned p = 0; p < count; p++) params[p] = &values[p];
    r->c->totals.launches++;
    if (r->number != RVM__NO_BLOCK) r->c->first->blocks[r->number].launches++;
    const int code = r->c->d->launch(r->kernel->function, shape.ctas, 1, 1, shape.threads, 1, 1, shape.shared, r->c->stream,
                                     params, NULL);
    r->launched |= !code;
    return !failed(r, code, "a kernel is launched");
}

/* chunk: of the run, the first. */
static bool launch_sum_terms(const rvm__block_run *r, uint64_t chunk, uint64_t n, uint64_t from) {
    uint64_t row = 0;
    for (uint64_t s = 0; s < r->job->nsums; s++) {
        uint64_t terms = from + row * n * sizeof(rvm_value), up = r->job->ascending != 0;
        uint64_t to = r->totals->p + (s * r->nchunks + chunk) * sizeof(rvm_value);
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

uint64_t rvm__cuda_number(const rvm__block_run *r, uint64_t k) {
    return k / r->width * r->period + r->first + k % r->width;
}

/* Whether copies gain from the first instance on, or pieces run so: those of warps always do. */
static bool goes_up(const rvm__block_run *r) {
    return r->job->ascending || (r->copies && !r->k->frame);
}

static bool launch_stretch(rvm__block_run *r, uint64_t k, uint64_t n) {
    const uint64_t terms = r->terms ? r->terms->p + (k - r->at) * r->nterms * sizeof(rvm_value) : 0;
    return launch_kernel(r, rvm__cuda_number(r, k), n, terms) && launch_sum_terms(r, k / RVM__CHUNK, n, terms);
}

/* Those of the piece, of one period after the other. */
static bool launch_stretches(rvm__block_run *r) {
    const bool up = goes_up(r);
    for (uint64_t k = r->at, end = k + r->n; k < end;) {
        const uint64_t whole = up ? r->width - k % r->width : (end - 1) % r->width + 1;
        const uint64_t n = whole < end - k ? whole : end - k;
        if (!launch_stretch(r, up ? k : end - n, n)) return false;
        if (up)
            k += n;
        else
            end -= n;
    }
    return true;
}

/* Instances of which all that is kept has room. */
static uint64_t most_kept(const rvm__block_run *r) {
    const uint64_t logged = rvm__cuda_most_logged(r), entered = rvm__cuda_most_entered(r);
    return logged < entered ? logged : entered;
}

/* Each in the order in which instances run, from the first or from the last one on. */
static void next_piece(rvm__block_run *r) {
    const uint64_t left = r->count - r->done, most = most_kept(r), each = r->each < most ? r->each : most;
    r->n = left < each ? left : each;
    r->at = r->done;
    if (goes_up(r)) return;
    r->at = left > each ? (left - each + RVM__CHUNK - 1) / RVM__CHUNK * RVM__CHUNK : 0;
    r->n = left - r->at;
}

bool rvm__cuda_launch_piece(rvm__block_run *r) {
    next_piece(r);
    if (r->nterms) {
        rvm__cuda_put(r->terms);
        if (!(r->terms = rvm__cuda_take(r->c, r->nterms * r->n * sizeof(rvm_value), r->err))) return false;
    }
    if (!rvm__cuda_take_log(r, r->n) || !rvm__cuda_take_entries(r, r->n)) return false;
    return !failed(r, r->c->d->event_record(r->c->events[0], r->c->stream), "it is timed") && launch_stretches(r);
}

/* How much instances have added, and whether all have. */
static bool know_additions(const rvm__block_run *r) {
    rvm_cuda *c = r->c;
    const int code = c->d->download(c->control, c->device_control, sizeof *c->control, c->stream);
    if (failed(r, code ? code : c->d->stream_wait(c->stream), "a kernel runs")) return false;
    return c->control->failed == UINT64_MAX || refuse(r, RVM_ERR_DOMAIN, "an instance fails");
}

bool rvm__cuda_sum_piece(rvm__block_run *r) {
    rvm_cuda *c = r->c;
    if ((r->log || r->entries) && !know_additions(r)) return false;
    if (r->log && !rvm__cuda_sum_log(r, r->n)) return false;
    if (r->entries && !rvm__cuda_sum_entries(r, r->n)) return false;
    const int code = c->d->event_record(c->events[1], c->stream);
    return !failed(r, code ? code : c->d->download(c->control, c->device_control, sizeof *c->control, c->stream),
                   "a kernel runs");
}

/* The next one is to take some 30 ms. */
static void adapt(rvm__block_run *r, double seconds) {
    const double aim = .03, scale = seconds > 0 ? aim / seconds : 4;
    const double next = (double)r->each * (scale < 4 ? scale : 4);
    r->each = next > 1e15 ? UINT64_C(1) << 50 : (uint64_t)next / RVM__CHUNK * RVM__CHUNK + RVM__CHUNK;
}

bool rvm__cuda_wait_piece(rvm__block_run *r) {
    rvm_cuda *c = r->c;
    float ms = 0;
    if (failed(r, c->d->stream_wait(c->stream), "a kernel runs")) return false;
    if (failed(r, c->d->event_seconds(&ms, c->events[0], c->events[1]), "it is timed")) return false;
    rvm__cuda_nested_learn(r);
    c->totals.kernels += 1e-3 * (double)ms;
    if (r->number != RVM__NO_BLOCK) c->first->blocks[r->number].seconds += 1e-3 * (double)ms;
    r->done += r->n;
    adapt(r, 1e-3 * (double)ms);
    return true;
}

/* ---- all of it ---- */

static bool clear_control(rvm__block_run *r) {
    rvm_cuda *c = r->c;
    *c->control = (rvm__kernel_control){.failed = UINT64_MAX};
    r->cleared = true;
    return !failed(r, c->d->upload(c->device_control, c->control, sizeof *c->control, c->stream), "a kernel begins");
}

bool rvm__cuda_goes_on(const rvm__block_run *runs, unsigned n) {
    uint64_t done = 0, used = 0;
    for (unsigned k = 0; k < n; k++) {
        done += runs[k].done;
        used += runs[k].c->control->charged;
    }
    if (done < runs->job->count && __atomic_load_n(runs->m->run.cancelled, __ATOMIC_RELAXED))
        return refuse(runs, RVM_ERR_CANCELLED, "it is cancelled");
    for (unsigned k = 0; k < n; k++)
        if (runs[k].c->control->failed != UINT64_MAX) return refuse(runs, RVM_ERR_DOMAIN, "an instance fails");
    return used + done <= (uint64_t)runs->fuel || refuse(runs, RVM_ERR_FUEL, "fuel runs out");
}

/* Instances of a first piece, whole chunks. */
static uint64_t first_piece(const rvm__block_run *r) {
    const uint64_t instructions = UINT64_C(1) << 36, each = instructions / (r->k->work + !r->k->work);
    const uint64_t n = each / RVM__CHUNK * RVM__CHUNK + RVM__CHUNK, most = most_kept(r);
    return n < most ? n : most;
}

/* Whether it may end before all instances are done, or something that is launched behind them may fail. Of what is left, a
 * copy of the control block and the wait for it, only a lost device is known to fail: for that alone no array is kept. */
static bool may_fail(const rvm__block_run *r) {
    return r->k->flags &
               (RVM__KERNEL_MAY_FAIL | RVM__KERNEL_ARENA | RVM__KERNEL_LOGS | RVM__KERNEL_ENTRIES | RVM__KERNEL_COPIED) ||
           r->job->nsums || r->m->o.fuel || r->job->count > first_piece(r);
}

/* Whether what it has changed can be taken back. */
static bool is_kept(const rvm__block_run *r) {
    for (uint64_t v = 0; r->launched && v < r->k->nviews; v++)
        if (rvm__cuda_is_changed(r, v) && rvm__cuda_is_there(&r->places[v]) && !r->places[v].before) return false;
    return true;
}

bool rvm__cuda_begin_try(rvm__block_run *r) {
    r->done = r->entered = 0;
    r->each = first_piece(r);
    return set_stack(r) && clear_control(r);
}

static bool run_pieces(rvm__block_run *r) {
    while (r->done < r->count)
        if (!rvm__cuda_launch_piece(r) || !rvm__cuda_sum_piece(r) || !rvm__cuda_wait_piece(r) || !rvm__cuda_goes_on(r, 1))
            return false;
    return true;
}

bool rvm__cuda_wants_more(rvm__block_run *r) {
    if (!r->cleared) return false;
    const uint64_t needed = r->c->control->needed;
    const uint64_t each = r->c->control->each, most = r->k->frame ? MOST_NESTED_ARENA : MOST_ARENA;
    const uint64_t room = (needed + needed / 4 + 255) / 256 * 256;
    const bool more = r->c->control->additions > r->kernel->additions;
    r->too_large = r->kernel->too_large = needed > most;
    if (r->c->control->failed == UINT64_MAX || needed > most || r->c->lost) return false;
    const bool wider = rvm__cuda_wants_entries(r);
    if (!(needed || more || each || wider || r->c->control->met)) return false;
    if (each) r->kernel->each = each;
    if (r->c->control->met) r->kernel->met = r->c->control->met;
    if (needed) r->kernel->arena = room < most ? room : most; /* more would fit, or not, by what has been asked for before */
    if (more) r->kernel->additions = r->c->control->additions;
    return true;
}

/* What instances of the last try have changed is as it was. */
static bool take_back(const rvm__block_run *r) {
    for (uint64_t v = 0; v < r->k->nviews; v++) {
        const rvm__place *p = &r->places[v];
        if (r->k->views[v].root != v || !(r->k->views[v].uses & 2)) continue;
        const int code = p->before  ? r->c->d->copy(p->p, p->before->p, p->bytes, r->c->stream)
                         : p->bytes ? r->c->d->upload(p->p, r->job->views[v].data, p->bytes, r->c->stream)
                                    : 0;
        if (failed(r, code, "an array is taken back")) return false;
    }
    return !r->copies ||
           !failed(r, r->c->d->clear(r->copies->p, 0, r->ncopies * r->stride, r->c->stream), "copies are cleared");
}

/* Local arrays that found no room get some, in another try. */
static bool run_all(rvm__block_run *r) {
    for (int k = 0; k < RVM__MOST_TRIES; k++) {
        if (!rvm__cuda_begin_try(r)) return false;
        if (run_pieces(r)) return true;
        if (!rvm__cuda_wants_more(r) || !take_back(r)) return false;
    }
    return false;
}

bool rvm__cuda_add_copies(const rvm__block_run *r) {
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

bool rvm__cuda_fetch_sums(const rvm__block_run *r) {
    if (!r->totals) return true;
    const size_t bytes = r->job->nsums * r->nchunks * sizeof(rvm_value);
    return !failed(r, r->c->d->download(r->sums, r->totals->p, bytes, r->c->stream), "sums are copied from it");
}

/* ---- behind ---- */

static rvm_value total_of(const rvm__block_run *runs, unsigned n, uint64_t sum, uint64_t chunk) {
    const uint64_t number = chunk * RVM__CHUNK, turn = number / runs->period, at = number % runs->period;
    unsigned k = n - 1;
    while (at < runs[k].first) k--;
    const uint64_t own = (turn * runs[k].width + at - runs[k].first) / RVM__CHUNK;
    return runs[k].sums[sum * runs[k].nchunks + own];
}

void rvm__cuda_merge_sums(const rvm__block_run *runs, unsigned n) {
    const rvm__native_job *job = runs->job;
    const uint64_t chunks = (job->count + RVM__CHUNK - 1) / RVM__CHUNK;
    int overflow = 0;
    for (uint64_t s = 0; s < job->nsums; s++) {
        rvm__native_sum *to = &job->sums[s];
        for (uint64_t k = 0; k < chunks; k++)
            to->value = rvm__block_plus((rvm_type)to->type, to->value,
                                        total_of(runs, n, s, job->ascending ? k : chunks - 1 - k), &overflow);
    }
}

void rvm__cuda_merge_counts(const rvm__block_run *r) {
    const rvm__kernel_control *c = r->c->control;
    r->native->charged += (int64_t)(c->charged + r->count);
    r->native->calls += c->calls;
    if (r->job->frame + c->peak > r->native->peak) r->native->peak = r->job->frame + c->peak;
    for (int k = 0; k < RVM__ERASED; k++) r->native->erased[k] += c->erased[k];
}

void rvm__cuda_put_room(rvm__block_run *r) {
    rvm__cuda_put(r->copies);
    rvm__cuda_put(r->terms);
    rvm__cuda_put(r->totals);
    rvm__cuda_put(r->log);
    rvm__cuda_put(r->addresses);
    rvm__cuda_put(r->entries);
    rvm__cuda_put(r->locals);
    rvm__realloc(&r->c->al, r->sums, r->job->nsums * r->nchunks * sizeof(rvm_value), 0);
    r->copies = r->terms = r->totals = r->log = r->addresses = r->entries = r->locals = NULL;
    r->sums = NULL;
}

bool rvm__cuda_run_block(rvm__block_run *r) {
    rvm_cuda *c = r->c;
    size_t n = (r->k->nviews + 1) * sizeof *r->places;
    if (!(r->places = rvm__realloc(&c->al, NULL, 0, n))) return rvm__fail_memory(r->err), false;
    memset(r->places, 0, n);
    bool good = (r->kernel = rvm__cuda_kernel(c, r->k, r->err)) &&
                rvm__cuda_places(c, r->job, may_fail(r), r->places, r->err) && rvm__cuda_take_room(r) && run_all(r) &&
                rvm__cuda_add_copies(r) && rvm__cuda_fetch_sums(r);
    if (!good && !is_kept(r)) rvm__cuda_spoil(c);
    if (!rvm__cuda_return(c, r->job, r->places, !good, good ? r->err : NULL)) good = false;
    if (good) rvm__cuda_merge_sums(r, 1), rvm__cuda_merge_counts(r), rvm__cuda_learn_entries(r);
    rvm__cuda_put_room(r);
    rvm__realloc(&c->al, r->places, n, 0);
    return good;
}

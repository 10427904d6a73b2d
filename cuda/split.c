/* split.c: a block on several devices. Each has as many instances as the next one, whole chunks, and its own copy of all
 * that they use; one thread drives them, step by step, so that all compute at once:
 *
 *     arrays to each ──▶ on each a piece, then the next, till none has any ──▶ the host: merge.c
 *
 * Arrays of the host are as they were until every device is done: where one fails, nothing is to be taken back. Those that
 * stay on the first device it changes there, and takes back.
 *
 * What instances add to copies of an array, those of a warp or each that has a CTA to the next one, and then to the first
 * again, has an order in each copy. So a device then has some copies, and of each round of all copies the instances that add
 * to them; the first device gets those of the others, and sums them. */
#include <string.h>

#include "cuda.h"
#include "support.h"

/* ---- on which ---- */

rvm_cuda *rvm__cuda_alive(rvm_cuda *c, unsigned n) {
    for (unsigned k = 0; k <= c->nothers; k++) {
        rvm_cuda *one = k ? c->others[k - 1] : c;
        if (one->d && !one->lost && !n--) return one;
    }
    return NULL;
}

/* Instances side by side that add to the same copy. */
static uint64_t instances_of_copy(const rvm__block_run *r) {
    return r->k->frame ? 1 : RVM__WARP;
}

static uint64_t period_of(const rvm__block_run *r) {
    const uint64_t all = r->job->count, round = r->ncopies * instances_of_copy(r);
    return round && all > round ? round : all;
}

/* Chunks, which are summed apart; but of those of a CTA each that add to copies alone any. */
uint64_t rvm__cuda_share_unit(const rvm__block_run *r) {
    return r->ncopies && r->k->frame && !r->job->nsums ? 1 : RVM__CHUNK;
}

static uint64_t units_of(const rvm__block_run *r) {
    const uint64_t unit = rvm__cuda_share_unit(r);
    return (period_of(r) + unit - 1) / unit;
}

unsigned rvm__cuda_devices_for(const rvm__block_run *r, const char **why) {
    rvm_cuda *c = r->c;
    const rvm__native_job *job = r->job;
    const uint64_t chunks = (job->count + RVM__CHUNK - 1) / RVM__CHUNK, work = job->kernel->work * job->count;
    uint64_t n = 0, most = c->o.least ? work / c->o.least : chunks;
    *why = NULL;
    while (rvm__cuda_alive(c, (unsigned)n)) n++;
    if (n < 2) return 1;
    if (r->k->flags & RVM__KERNEL_ENTRIES) return *why = "its instances add to elements that differ, in their order", 1;
    if (chunks < most) most = chunks;
    if (most < 2) *why = "it is too small for several devices";
    if (most >= 2 && units_of(r) < 2) *why = "its instances add to too few copies for several devices";
    if (units_of(r) < most) most = units_of(r);
    if (most < n) n = most;
    return n > 1 ? (unsigned)n : 1;
}

/* ---- what each has ---- */

void rvm__cuda_share_out(rvm__block_run *runs, unsigned n, const rvm__block_run *like, rvm__place *places) {
    const uint64_t all = like->job->count, period = period_of(like), rest = all % period;
    const uint64_t unit = rvm__cuda_share_unit(like), units = units_of(like);
    for (unsigned k = 0; k < n; k++) {
        rvm__block_run *r = &runs[k];
        const uint64_t end = units * (k + 1) / n * unit;
        *r = *like;
        r->c = rvm__cuda_alive(like->c->first, k);
        r->places = places + k * like->k->nviews;
        r->apart = true;
        r->last_chunks = &r->chunks;
        r->first = units * k / n * unit;
        r->period = period;
        r->width = (end < period ? end : period) - r->first;
        r->count = all / period * r->width;
        if (rest > r->first) r->count += rest - r->first < r->width ? rest - r->first : r->width;
    }
}

/* ---- steps ---- */

static bool begin(rvm__block_run *r) {
    return (r->kernel = rvm__cuda_kernel(r->c, r->k, r->err)) && rvm__cuda_places(r->c, r->job, true, r->places, r->err) &&
           rvm__cuda_keep_for_changes(r) && rvm__cuda_take_room(r) && rvm__cuda_begin_try(r);
}

/* What it has of arrays that stay is there. */
static bool has_copies(rvm__block_run *r) {
    return !rvm__cuda_changes_what_stays(r) ||
           !rvm__cuda_failed(r->c, r->c->d->stream_wait(r->c->stream), "an array is copied to it", r->err);
}

/* The first one is about to change what others have a copy of: so it is the last. */
static bool begin_all(rvm__block_run *runs, unsigned n) {
    return rvm__cuda_on_each(runs + 1, n - 1, begin) && rvm__cuda_on_each(runs + 1, n - 1, has_copies) &&
           rvm__cuda_on_each(runs, 1, begin);
}

static bool launch(rvm__block_run *r) {
    return r->done == r->count || rvm__cuda_launch_piece(r);
}

static bool sum(rvm__block_run *r) {
    return r->done == r->count || rvm__cuda_sum_piece(r);
}

static bool wait(rvm__block_run *r) {
    return r->done == r->count || rvm__cuda_wait_piece(r);
}

static bool run_pieces(rvm__block_run *runs, unsigned n) {
    for (uint64_t done = 0; done < runs->job->count;) {
        if (!rvm__cuda_on_each(runs, n, launch) || !rvm__cuda_on_each(runs, n, sum) || !rvm__cuda_on_each(runs, n, wait) ||
            !rvm__cuda_goes_on(runs, n))
            return false;
        done = 0;
        for (unsigned k = 0; k < n; k++) done += runs[k].done;
    }
    return true;
}

/* On the first device, whose copies get those of the others: these have done all they were to do. */
static bool gather_copies(rvm__block_run *runs, unsigned n) {
    rvm_cuda *c = runs->c;
    for (unsigned k = 1; k < n; k++) {
        const rvm__block_run *r = &runs[k];
        const uint64_t each = instances_of_copy(r), from = r->first / each * r->stride;
        const uint64_t end = (r->first + r->width + each - 1) / each;
        const uint64_t bytes = end * r->stride - from;
        const int code =
            c->d->copy_across(runs->copies->p + from, c->context, r->copies->p + from, r->c->context, bytes, c->stream);
        if (rvm__cuda_failed(c, code, "sums are copied from another device", r->err)) return false;
        c->totals.across += bytes;
    }
    return true;
}

static bool sum_copies(rvm__block_run *runs, unsigned n) {
    if (!runs->copies) return true;
    if (!rvm__cuda_enter(runs->c)) return false;
    const bool good = gather_copies(runs, n) && rvm__cuda_add_copies(runs);
    rvm__cuda_leave(runs->c);
    return good;
}

static bool fetch_sums(rvm__block_run *r) {
    return rvm__cuda_fetch_sums(r);
}

/* ---- all of it ---- */

/* Also if the device is lost: what still can be read of it then must be right. */
static void take_back(const rvm__block_run *first) {
    rvm_error why;
    if (!rvm__cuda_changes_what_stays(first) || first->c->d->context_push(first->c->context)) return;
    rvm__cuda_take_back(first->c, first->job, first->places, &why);
    rvm__cuda_leave(first->c);
}

/* What the try has taken is free again once no device uses it any more. */
static void end_try(rvm__block_run *runs, unsigned n, bool good) {
    for (unsigned k = 0; k < n; k++) {
        rvm__block_run *r = &runs[k];
        if (rvm__cuda_enter(r->c)) {
            r->c->d->stream_wait(r->c->stream);
            rvm__cuda_leave(r->c);
        }
    }
    if (!good) take_back(runs);
    for (unsigned k = 0; k < n; k++) {
        rvm__block_run *r = &runs[k];
        for (uint64_t v = 0; v < r->k->nviews; v++) rvm__cuda_put(r->places[v].buffer), r->places[v].buffer = NULL;
        rvm__cuda_free_changes(r);
        rvm__cuda_free_chunk_sums(r);
        rvm__cuda_put_room(r);
    }
}

static bool try_once(rvm__block_run *runs, unsigned n) {
    return begin_all(runs, n) && run_pieces(runs, n) && sum_copies(runs, n) && rvm__cuda_on_each(runs, n, fetch_sums) &&
           rvm__cuda_merge(runs, n);
}

/* Fewer than n, where some were lost in the last try. */
static unsigned how_many_live(rvm_cuda *c, unsigned n) {
    while (n && !rvm__cuda_alive(c, n - 1)) n--;
    return n;
}

static bool try_until_there_is_room(rvm__block_run *runs, unsigned n, rvm__block_run *like, rvm__place *places) {
    for (int k = 0; k < RVM__MOST_TRIES; k++) {
        if ((n = how_many_live(like->c->first, n)) < 2) return false;
        bool again = false;
        rvm__cuda_share_out(runs, n, like, places);
        const bool good = try_once(runs, n);
        if (good) rvm__cuda_merge_sums(runs, n);
        for (unsigned d = 0; d < n && good; d++) rvm__cuda_merge_counts(&runs[d]);
        for (unsigned d = 0; d < n && !good; d++) {
            again |= rvm__cuda_wants_more(&runs[d]);
            like->too_large |= runs[d].too_large;
        }
        end_try(runs, n, good);
        if (!again) return good;
    }
    return false;
}

bool rvm__cuda_run_split(rvm__block_run *like, unsigned n) {
    const rvm_allocator *al = &like->c->al;
    const size_t size = n * sizeof(rvm__block_run), places = (n * like->k->nviews + 1) * sizeof(rvm__place);
    rvm__block_run *runs = rvm__realloc(al, NULL, 0, size);
    rvm__place *all = rvm__realloc(al, NULL, 0, places);
    const bool room = runs && all;
    if (room)
        memset(all, 0, places);
    else
        rvm__fail_memory(like->err);
    const bool good = room && try_until_there_is_room(runs, n, like, all);
    rvm__realloc(al, all, places, 0);
    rvm__realloc(al, runs, size, 0);
    return good;
}

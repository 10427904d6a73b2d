/* timeline.c: keyframes on the way of a run, and the way from one of them to a position: always forward.
 *
 * Keyframes come in the order of the run: the first leg by how far from where it was bound, then the second. One is added
 * where the run comes `spacing` beyond the last; where there are too many, every other goes and the spacing doubles. So a
 * run of any length has between MOST / 2 and MOST of them.
 *
 * Besides, one is kept NEAR before where a long way led, for steps back from there.
 *
 * What went back is not in all the same bit for bit (run.went_back): it is no keyframe, and seeks do not begin there. */
#include "memory.h"
#include "program.h"
#include "rvm_debug.h"
#include "run.h"
#include "support.h"

/* At least so many instructions run for each byte that is copied, which takes some per cent of their time. */
enum { MOST = 128, FIRST_SPACING = 1 << 20, INSTRUCTIONS_A_BYTE = 4, DEFAULT_MEMORY = 256 << 20, NEAR = 1 << 15 };

struct rvm_timeline {
    rvm_machine *m;
    rvm_keyframe *keyframe[MOST];
    rvm_keyframe *near; /* NULL: none */
    uint32_t n;
    size_t memory, used; /* bytes of keyframes; the origin is kept whatever it takes */
    uint64_t spacing, bind;
};

/* ---- order ---- */

/* Whether numbers of its leg go up. */
static bool rises(const rvm_timeline *t, rvm_run_position p) {
    return p.swept || t->m->run.began_at_start;
}

/* How far along its leg. */
static int64_t along(const rvm_timeline *t, rvm_run_position p) {
    return rises(t, p) ? p.at : p.at == INT64_MIN ? INT64_MAX : -p.at;
}

static int compare(const rvm_timeline *t, rvm_run_position a, rvm_run_position b) {
    if (a.swept != b.swept) return a.swept ? 1 : -1;
    const int64_t x = along(t, a), y = along(t, b);
    return x < y ? -1 : x > y;
}

/* So far on in the leg, or to where that position is if that is nearer. */
static rvm_run_position further(const rvm_timeline *t, rvm_run_position from, uint64_t by, rvm_run_position to) {
    const int64_t x = along(t, from), left = INT64_MAX - (x > 0 ? x : 0);
    const int64_t sum = by < (uint64_t)left ? x + (int64_t)by : INT64_MAX;
    const rvm_run_position p = {from.swept, rises(t, from) ? sum : -sum};
    return compare(t, p, to) < 0 ? p : to;
}

/* The last keyframe that is not beyond p. */
static uint32_t before(const rvm_timeline *t, rvm_run_position p) {
    uint32_t k = t->n - 1;
    while (k && compare(t, rvm_keyframe_position(t->keyframe[k]), p) > 0) k--;
    return k;
}

static uint64_t distance(const rvm_timeline *t, rvm_run_position a, rvm_run_position b) {
    const int64_t x = along(t, a), y = along(t, b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* ---- keeping ---- */

static void release(rvm_timeline *t, rvm_keyframe *k) {
    if (k) t->used -= rvm_keyframe_size(k);
    rvm_keyframe_free(k);
}

static void thin_out(rvm_timeline *t) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < t->n; k++)
        if (k % 2)
            release(t, t->keyframe[k]);
        else
            t->keyframe[kept++] = t->keyframe[k];
    t->n = kept;
    t->spacing *= 2;
}

/* Without memory for one there is none: seeks are slower then. */
static void add(rvm_timeline *t) {
    rvm_keyframe *k;
    if (rvm_keyframe_new(t->m, &k, NULL)) return;
    t->used += rvm_keyframe_size(k);
    t->keyframe[t->n++] = k;
    while (t->n > 1 && (t->n == MOST || t->used > t->memory)) thin_out(t);
}

/* Whether the machine's bits are those of a run that went straight there. */
static bool is_true(const rvm_timeline *t) {
    return !t->m->run.went_back;
}

static void note(rvm_timeline *t) {
    const rvm_run_position here = rvm_machine_position(t->m), last = rvm_keyframe_position(t->keyframe[t->n - 1]);
    if (!is_true(t) || compare(t, here, last) <= 0) return;
    if (here.swept != last.swept || distance(t, here, last) >= t->spacing) add(t);
}

/* ---- forward: in pieces, with a keyframe behind each ---- */

static rvm_run_position next_piece(const rvm_timeline *t, rvm_run_position to) {
    const rvm_run_position here = rvm_machine_position(t->m), sweep = {.swept = true};
    if (here.swept == to.swept) return further(t, here, t->spacing, to);
    if (t->m->run.where == AT_END) return further(t, sweep, t->spacing, to);
    return t->m->run.began_at_start ? further(t, here, t->spacing, (rvm_run_position){.at = INT64_MAX}) : to;
}

static rvm_status run_on(rvm_timeline *t, const rvm_goal *goal, rvm_arrival *how, rvm_error *err) {
    rvm_goal piece = *goal;
    for (;;) {
        piece.to = next_piece(t, goal->to);
        const rvm_status status = rvm_machine_run_to(t->m, &piece, how, err);
        note(t);
        if (status) return status;
        const bool on = how->reached == RVM_REACHED_POSITION && compare(t, piece.to, goal->to) < 0;
        const bool through = how->reached == RVM_REACHED_END && goal->to.swept && t->m->run.where == AT_END;
        if (!on && !through) return RVM_OK;
    }
}

/* ---- back ---- */

static rvm_status check(const rvm_timeline *t, rvm_error *err) {
    if (t->m->run.where != UNBOUND && t->bind == t->m->bound.number) return RVM_OK;
    return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the call that the timeline is of is not bound any more");
}

/* The last keyframe of all that is not beyond p. */
static const rvm_keyframe *nearest(const rvm_timeline *t, rvm_run_position p) {
    const rvm_keyframe *k = t->keyframe[before(t, p)];
    if (!t->near) return k;
    const rvm_run_position at = rvm_keyframe_position(t->near);
    return compare(t, at, p) <= 0 && compare(t, at, rvm_keyframe_position(k)) > 0 ? t->near : k;
}

/* On a long way within a leg, to NEAR before its goal, where a keyframe is kept. Without memory for it there is none. */
static rvm_status come_near(rvm_timeline *t, rvm_run_position to, rvm_error *err) {
    const rvm_run_position here = rvm_machine_position(t->m);
    const size_t size = rvm_keyframe_size(t->keyframe[0]);
    const uint64_t way = distance(t, here, to);
    if (here.swept != to.swept || way < 2 * NEAR || way / INSTRUCTIONS_A_BYTE < size || t->used + size > t->memory)
        return RVM_OK;
    rvm_arrival how;
    const rvm_goal goal = {.to = further(t, here, way - NEAR, to)};
    const rvm_status status = run_on(t, &goal, &how, err);
    if (status || how.reached != RVM_REACHED_POSITION) return status;
    release(t, t->near);
    if (rvm_keyframe_new(t->m, &t->near, NULL)) return RVM_OK;
    t->used += rvm_keyframe_size(t->near);
    return RVM_OK;
}

rvm_status rvm_timeline_seek(rvm_timeline *t, rvm_run_position to, rvm_arrival *out, rvm_error *err) {
    RVM__NEEDS(t);
    rvm_arrival how = {.reached = RVM_REACHED_POSITION};
    const rvm_goal goal = {.to = to};
    rvm_status status = check(t, err);
    if (status) return status;
    const rvm_keyframe *k = nearest(t, to);
    const rvm_run_position here = rvm_machine_position(t->m), from = rvm_keyframe_position(k);
    const bool on = is_true(t) && compare(t, to, here) >= 0 && compare(t, here, from) >= 0;
    if (!on) status = rvm_keyframe_restore(k, t->m, err);
    if (!status) status = come_near(t, to, err);
    if (!status) status = run_on(t, &goal, &how, err);
    if (!status && out) *out = how;
    return status;
}

/* The last arrival from here to `end`, which counts where the run back does not set out there: forward from a keyframe, stop
 * by stop. What stands at that keyframe is for the piece before: a run that sets out there does not stop. */
typedef struct found {
    bool any;
    rvm_run_position at;
    rvm_arrival how;
} found;

static rvm_status search_piece(rvm_timeline *t, const rvm_goal *goal, rvm_run_position end, bool with_end, found *f,
                               rvm_error *err) {
    rvm_goal piece = *goal;
    piece.to = end;
    for (;;) {
        rvm_arrival how;
        const rvm_status status = rvm_machine_run_to(t->m, &piece, &how, err);
        if (status || how.reached == RVM_REACHED_POSITION || how.reached == RVM_REACHED_END) return status;
        rvm_run_position at = rvm_machine_position(t->m);
        const bool last = compare(t, at, end) >= 0;
        if (how.reached == RVM_REACHED_WATCH) at.at -= rises(t, at) ? 1 : -1; /* a run back stops before the change */
        if (compare(t, at, goal->to) >= 0 && compare(t, at, end) < with_end) *f = (found){true, at, how};
        if (last) return RVM_OK;
    }
}

/* What a run back would stop at first: the last of what a run forward stops at. */
static rvm_status search_back(rvm_timeline *t, const rvm_goal *goal, rvm_arrival *how, rvm_error *err) {
    found f = {.any = false};
    rvm_run_position end = rvm_machine_position(t->m);
    rvm_status status = RVM_OK;
    bool with_end = false;
    for (uint32_t k = before(t, end) + 1; k-- > 0 && !status && !f.any && compare(t, end, goal->to) > 0;) {
        const rvm_run_position from = rvm_keyframe_position(t->keyframe[k]);
        if (compare(t, from, end) >= 0) continue;
        status = rvm_keyframe_restore(t->keyframe[k], t->m, err);
        if (!status) status = search_piece(t, goal, end, with_end, &f, err);
        end = from, with_end = true;
    }
    if (status) return status;
    status = rvm_timeline_seek(t, f.any ? f.at : goal->to, how, err);
    if (!status && f.any) how->reached = f.how.reached, how->index = f.how.index;
    return status;
}

rvm_status rvm_timeline_run_to(rvm_timeline *t, const rvm_goal *goal, rvm_arrival *out, rvm_error *err) {
    RVM__NEEDS(t);
    RVM__NEEDS(goal);
    rvm_arrival how = {.reached = RVM_REACHED_POSITION};
    rvm_status status = check(t, err);
    if (status) return status;
    const bool ahead = compare(t, goal->to, rvm_machine_position(t->m)) >= 0, free = !goal->nstops && !goal->nwatches;
    if (free)
        status = rvm_timeline_seek(t, goal->to, &how, err);
    else
        status = ahead ? run_on(t, goal, &how, err) : search_back(t, goal, &how, err);
    if (!status && out) *out = how;
    return status;
}

/* ---- the interface ---- */

rvm_status rvm_timeline_new(rvm_machine *m, size_t memory, rvm_timeline **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(m);
    rvm_status status = rvm__check_bound(m, err);
    if (!status && (rvm_machine_position(m).at || rvm_machine_position(m).swept))
        status = rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "a timeline begins where the call was bound");
    if (status) return status;
    rvm_timeline *t = rvm__zeroed(m, sizeof *t);
    if (!t) return rvm__no_memory(m, err);
    *t = (rvm_timeline){
        .m = m, .memory = memory ? memory : DEFAULT_MEMORY, .spacing = FIRST_SPACING, .bind = m->bound.number};
    status = rvm_keyframe_new(m, &t->keyframe[0], err);
    if (!status) {
        t->n = 1, t->used = rvm_keyframe_size(t->keyframe[0]);
        if (t->spacing < INSTRUCTIONS_A_BYTE * t->used) t->spacing = INSTRUCTIONS_A_BYTE * t->used;
        return *out = t, RVM_OK;
    }
    rvm_timeline_free(t);
    return status;
}

void rvm_timeline_free(rvm_timeline *t) {
    if (!t) return;
    for (uint32_t k = 0; k < t->n; k++) rvm_keyframe_free(t->keyframe[k]);
    rvm_keyframe_free(t->near);
    rvm__resize(t->m, t, sizeof *t, 0);
}

uint32_t rvm_timeline_keyframes(const rvm_timeline *t) {
    return t ? t->n : 0;
}

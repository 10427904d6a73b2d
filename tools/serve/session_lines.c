/* session_lines.c: line by line. On the timeline's way a line is found instruction by instruction; against it, from a place
 * some instructions before, by going forward again: so that no step rounds. */
#include "session.h"

#include <stdlib.h>

enum { LOOK_EVERY = 4096, FIRST_WINDOW = 64, WIDEN = 32 };

/* ---- lines ---- */

/* The line of the instruction that a move would run; frames tell calls of one function apart. */
typedef struct spot {
    bool known;
    uint32_t fn, line, frames;
} spot;

static spot spot_at(const session *s, int direction) {
    rvm_location l;
    if (!rvm_machine_location(s->t.machine, 0, direction, &l)) return (spot){0};
    return (spot){true, l.fn, l.line, rvm_machine_frames(s->t.machine)};
}

static bool is_same(spot a, spot b) {
    return a.known == b.known && a.fn == b.fn && a.line == b.line && a.frames == b.frames;
}

/* Whether a move by a line ends where the session stands: forward at another line, backward where a line begins. */
static bool is_there(const session *s, bool forward, spot from) {
    const spot here = spot_at(s, 1);
    if (!here.known || !here.line) return false;
    return forward ? !is_same(here, from) : !is_same(here, spot_at(s, -1));
}

/* ---- instructions, the way of the timeline ---- */

/* Whether the run is to be given up, asked now and then. */
static bool is_given_up(session *s, rvm_status *st) {
    if (++s->steps % LOOK_EVERY || !s->w->hook(s->w)) return false;
    *st = tool_fail(&s->t, RVM_ERR_CANCELLED, "cancelled");
    return true;
}

static rvm_run_position next(const session *s, bool crosses) {
    const rvm_run_position here = rvm_machine_position(s->t.machine);
    if (crosses) return (rvm_run_position){true, 1};
    return (rvm_run_position){here.swept, here.at + (s->t.o.backward ? -1 : 1)};
}

/* The end of a gradient's first leg is the beginning of its sweep. */
static rvm_status step(session *s, rvm_arrival *how) {
    rvm_goal g = {.to = next(s, false)};
    rvm_status st = rvm_machine_run_to(s->t.machine, &g, how, &s->t.err);
    if (st || how->reached != RVM_REACHED_END || g.to.swept || s->t.command != COMMAND_GRAD) return st;
    g.to = next(s, true);
    return rvm_machine_run_to(s->t.machine, &g, how, &s->t.err);
}

static rvm_status line_on(session *s, bool forward, rvm_arrival *how) {
    const spot from = spot_at(s, 1);
    rvm_status st = RVM_OK;
    while (!st && !is_given_up(s, &st)) {
        st = step(s, how);
        if (!st && (how->reached == RVM_REACHED_END || how->end || is_there(s, forward, from))) break;
    }
    return st;
}

/* ---- against it ---- */

static bool is_at(const session *s, rvm_run_position p) {
    const rvm_run_position here = rvm_machine_position(s->t.machine);
    return here.swept == p.swept && here.at == p.at;
}

/* From a window's begin on, to the last place before `here` where the move ends; false in *found: there is none. */
static rvm_status search(session *s, rvm_run_position here, bool forward, spot from, rvm_run_position *last, bool *found) {
    rvm_arrival how;
    rvm_status st = RVM_OK;
    *found = false;
    while (!st && !is_at(s, here) && !is_given_up(s, &st)) {
        if (is_there(s, forward, from)) *last = rvm_machine_position(s->t.machine), *found = true;
        st = step(s, &how);
    }
    return st;
}

/* In a window before `here`: goes to where the move ends, or to the window's begin. */
static rvm_status look_back(session *s, rvm_run_position here, int64_t window, bool forward, spot from, bool *found) {
    const rvm_run_position begin = {here.swept, here.at + (s->t.o.backward ? window : -window)};
    rvm_run_position last;
    rvm_keyframe *k = NULL;
    rvm_status st = rvm_timeline_seek(s->timeline, begin, NULL, &s->t.err);
    if (!st) st = rvm_keyframe_new(s->t.machine, &k, &s->t.err);
    if (!st) st = search(s, here, forward, from, &last, found);
    if (!st) st = rvm_keyframe_restore(k, s->t.machine, &s->t.err);
    if (!st && *found) st = rvm_timeline_seek(s->timeline, last, NULL, &s->t.err);
    rvm_keyframe_free(k);
    return st;
}

static rvm_status line_back(session *s, bool forward, rvm_arrival *how) {
    rvm_run_position here = rvm_machine_position(s->t.machine);
    const spot from = spot_at(s, 1);
    bool found = false;
    rvm_status st = RVM_OK;
    if (here.swept && !here.at) {
        st = rvm_timeline_seek(s->timeline, (rvm_run_position){.at = INT64_MAX}, NULL, &s->t.err);
        here = rvm_machine_position(s->t.machine);
    }
    const int64_t all = here.at < 0 ? -here.at : here.at;
    for (int64_t window = FIRST_WINDOW; !st && !found; window *= WIDEN) {
        st = look_back(s, here, window < all ? window : all, forward, from, &found);
        if (window >= all) break;
    }
    *how = (rvm_arrival){.reached = found ? RVM_REACHED_POSITION : RVM_REACHED_END};
    return st;
}

rvm_status session_lines(session *s, int64_t lines, rvm_arrival *how) {
    const bool forward = lines > 0, on = forward != s->t.o.backward;
    rvm_status st = RVM_OK;
    *how = (rvm_arrival){.reached = RVM_REACHED_POSITION};
    for (; !st && lines && how->reached == RVM_REACHED_POSITION; lines += forward ? -1 : 1)
        st = on ? line_on(s, forward, how) : line_back(s, forward, how);
    return st;
}

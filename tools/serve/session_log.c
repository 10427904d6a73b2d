/* session_log.c: what was there each time that a line came. */
#include "session.h"

enum { MOST_ENTRIES = 10000 };

static void entry(session *s, const json_t *places, json *j) {
    json_open(j, '{');
    session_position(j, s, NULL);
    session_places(j, s, 0, places);
    json_close(j, '}');
}

static rvm_status log_forward(session *s, const rvm_goal *g, const json_t *places, json *j) {
    rvm_arrival how = {.reached = RVM_REACHED_STOP};
    rvm_status st = RVM_OK;
    for (int k = 0; !st && how.reached == RVM_REACHED_STOP && k < MOST_ENTRIES; k++) {
        st = rvm_timeline_run_to(s->timeline, g, &how, &s->t.err);
        if (!st && how.reached == RVM_REACHED_STOP) entry(s, places, j);
    }
    return st;
}

/* Forward over an interval, stopping at the line; then back to where the session stood. */
rvm_status session_log(session *s, const json_t *v, json *j) {
    const rvm_run_position home = rvm_machine_position(s->t.machine);
    const json_t *from = json_object_get(v, "from"), *to = json_object_get(v, "to"), *swept = json_object_get(v, "swept");
    const uint32_t line = session_number(json_object_get(v, "line"), 0);
    rvm_run_position begin = home, end = home;
    rvm_stop stops[SESSION_STOPS];
    const uint32_t n = session_line(s, line, stops);
    if (!n) return tool_fail(&s->t, RVM_ERR_ARGUMENT, "\"line\" is to be a line with instructions");
    rvm_status st = from ? session_read_to(s, from, swept, &begin) : RVM_OK;
    if (!st) st = to ? session_read_to(s, to, swept, &end) : RVM_OK;
    if (!st) st = rvm_timeline_seek(s->timeline, begin, NULL, &s->t.err);
    const rvm_goal g = {.to = end, .stops = stops, .nstops = n};
    if (!st) st = log_forward(s, &g, json_object_get(v, "places"), j);
    rvm_error back;
    const rvm_status home_st = rvm_timeline_seek(s->timeline, home, NULL, &back);
    if (!st && home_st) s->t.err = back, st = home_st;
    return st;
}

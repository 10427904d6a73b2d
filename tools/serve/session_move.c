/* session_move.c: going somewhere in a run, either way. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* ---- where to ---- */

static rvm_status wrong(session *s) {
    return tool_fail(
        &s->t, RVM_ERR_USAGE,
        "a move has \"to\": a position, \"start\" or \"end\"; \"by\": instructions; \"lines\": lines; \"run\": forward or "
        "backward; or \"write\": a place");
}

/* Of both legs. */
static rvm_run_position leg_end(const session *s, bool forward) {
    return (rvm_run_position){forward && s->t.command == COMMAND_GRAD, forward ? INT64_MAX : INT64_MIN};
}

rvm_status session_read_to(session *s, const json_t *to, const json_t *swept, rvm_run_position *out) {
    const char *word = json_string_value(to);
    const bool leg = json_is_boolean(swept) ? json_is_true(swept) : rvm_machine_position(s->t.machine).swept;
    if (json_is_integer(to))
        *out = (rvm_run_position){leg, json_integer_value(to)};
    else if (word && strcmp(word, "start") == 0)
        *out = (rvm_run_position){leg, INT64_MIN};
    else if (word && strcmp(word, "end") == 0)
        *out = (rvm_run_position){leg, INT64_MAX};
    else
        return wrong(s);
    if (!leg || s->t.command == COMMAND_GRAD) return RVM_OK;
    return tool_fail(&s->t, RVM_ERR_USAGE, "only a session of kind grad has a sweep");
}

static bool is_present(const session *s, const char *name, rvm_variable *v) {
    for (uint32_t k = 0; rvm_machine_variable(s->t.machine, 0, k, v); k++)
        if (v->name && strcmp(v->name, name) == 0) return true;
    return false;
}

/* As many indices as dimensions, or none: any element. */
static rvm_status within(session *s, const char *text, const rvm_watch *w, const rvm_variable *v) {
    if (w->nindices && w->nindices != v->ndim)
        return tool_fail(&s->t, RVM_ERR_ARGUMENT, "`%s`: `%s` has %d dimension%s", text, w->name, v->ndim,
                         v->ndim == 1 ? "" : "s");
    for (int d = 0; d < w->nindices; d++)
        if (w->index[d] < 0 || w->index[d] >= v->shape[d])
            return tool_fail(&s->t, RVM_ERR_ARGUMENT, "`%s`: index %lld is out of bounds 0..%lld", text,
                             (long long)w->index[d], (long long)v->shape[d]);
    return RVM_OK;
}

/* "x", "x[3]", "x[1,2]": a place of the frame at hand; "x_b": the shadow of x. */
static rvm_status read_watch(session *s, const char *text, char name[64], rvm_watch *w) {
    const size_t n = strcspn(text, "[");
    if (n >= 64) return wrong(s);
    snprintf(name, 64, "%.*s", (int)n, text);
    *w = (rvm_watch){.height = rvm_machine_frames(s->t.machine), .name = name};
    for (const char *at = text + n; *at && *at != ']' && w->nindices < RVM_MAX_DIMS;) {
        char *end;
        w->index[w->nindices++] = strtoll(at + 1, &end, 10);
        if (end == at + 1 || (*end != ',' && *end != ']')) return wrong(s);
        at = end;
    }
    const size_t stem = shadow_stem(name);
    rvm_variable v;
    w->shadow = stem && !is_present(s, name, &v);
    if (w->shadow) name[stem] = 0;
    if (is_present(s, name, &v)) return within(s, text, w, &v);
    return tool_fail(&s->t, RVM_ERR_ARGUMENT, "`%s` is not present here", name);
}

/* Beyond the end of a gradient's first leg lies its sweep, and before that the first leg. */
static rvm_status by_instructions(session *s, int64_t by, rvm_arrival *how) {
    const rvm_run_position here = rvm_machine_position(s->t.machine), end = {.at = INT64_MAX};
    rvm_run_position to = here;
    rvm_status st = RVM_OK;
    if (__builtin_add_overflow(here.at, by, &to.at)) return wrong(s);
    if (here.swept && to.at < 0) {
        st = rvm_timeline_seek(s->timeline, end, NULL, &s->t.err);
        to = (rvm_run_position){.at = to.at + rvm_machine_position(s->t.machine).at};
    }
    if (!st) st = rvm_timeline_seek(s->timeline, to, how, &s->t.err);
    const bool sweeps = s->t.command == COMMAND_GRAD && !to.swept && by > 0;
    if (st || !sweeps || how->reached != RVM_REACHED_END) return st;
    to = (rvm_run_position){true, to.at - rvm_machine_position(s->t.machine).at};
    return rvm_timeline_seek(s->timeline, to, how, &s->t.err);
}

rvm_status session_move(session *s, const json_t *v, rvm_arrival *how) {
    const json_t *to = json_object_get(v, "to"), *by = json_object_get(v, "by"), *lines = json_object_get(v, "lines");
    const char *run = json_string_value(json_object_get(v, "run")), *write = json_string_value(json_object_get(v, "write"));
    rvm_goal g = {.to = rvm_machine_position(s->t.machine)};
    rvm_watch watch;
    char name[64];
    rvm_status st = RVM_OK;
    if (to) {
        st = session_read_to(s, to, json_object_get(v, "swept"), &g.to);
    } else if (json_is_integer(by)) {
        return by_instructions(s, json_integer_value(by), how);
    } else if (json_is_integer(lines)) {
        return session_lines(s, json_integer_value(lines), how);
    } else if (run && (strcmp(run, "forward") == 0 || strcmp(run, "backward") == 0)) {
        return session_run(s, leg_end(s, *run == 'f'), how);
    } else if (write) {
        st = read_watch(s, write, name, &watch);
        g.to = leg_end(s, false);
        g.watches = &watch, g.nwatches = 1;
    } else {
        st = wrong(s);
    }
    return st ? st : rvm_timeline_run_to(s->timeline, &g, how, &s->t.err);
}

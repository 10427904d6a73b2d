#include "session.h"

#include <stdlib.h>
#include <string.h>

static const size_t keyframe_bytes = 64u << 20;

static bool poll(progress *p, uint64_t instructions) {
    session *s = (session *)(void *)((char *)p - offsetof(tool, progress));
    s->w->live->instructions = instructions;
    return s->w->hook(s->w);
}
_Static_assert(offsetof(session, t) == 0, "the tool is found from its progress");

/* ---- opening ---- */

/* The machine, bound at the start; of a gradient the seed is there. */
static rvm_status bind(session *s) {
    tool *t = &s->t;
    bool wrt[RVM_MAX_PARAMS + 1] = {0};
    uint32_t of = 0;
    size_t element = 0;
    const bool sweeps = t->command == COMMAND_GRAD;
    if (t->command != COMMAND_RUN && !sweeps)
        return tool_fail(t, RVM_ERR_USAGE, "a session is of kind run, backward or grad");
    rvm_status st = tool_prepare(t);
    if (!st && sweeps) st = tool_choose_gradient(t, wrt, &of, &element);
    if (!st && sweeps) arg_set_shadow(&t->v.arg[of], element, rvm_scalar_from_double(t->v.info[of].type, 1));
    if (!st)
        st = rvm_machine_bind(t->machine, t->fn, t->v.arg, t->v.n, sweeps ? RVM_GRADIENT : RVM_PRIMAL, t->o.backward,
                              &t->err);
    return st ? st : rvm_timeline_new(t->machine, keyframe_bytes, &s->timeline, &t->err);
}

static void print(session *s, rvm_status st, void (*add)(json *j, session *s)) {
    json j;
    tool_json_begin(&j, &s->t, st);
    if (!st) add(&j, s);
    tool_json_end(&j);
    s->t.shown = false;
}

static void add_opened(json *j, session *s) {
    json_key(j, "function"), json_text(j, rvm_program_function_name(s->t.program, s->t.fn));
    session_position(j, s, NULL);
    session_frames(j, s);
    session_places(j, s, 0, NULL);
}

static rvm_status open_session(session *s) {
    work *w = s->w;
    tool *t = &s->t;
    t->progress.poll = poll;
    t->o = (options){.json = true, .no_include = true};
    if (!work_copy_program(w, t)) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    rvm_status st = request_read(t, s->request, &w->limits, &w->seconds, &s->texts);
    t->o.engine = "interp";
    t->o.profile = false;
    return st ? st : bind(s);
}

/* stdout is the answer's text while a message is worked on. */
static FILE *redirect(work *w) {
    FILE *before = stdout, *out = open_memstream(&w->text, &w->text_size);
    if (out) stdout = out;
    return out ? before : NULL;
}

static void restore(FILE *before) {
    fclose(stdout);
    stdout = before;
}

void work_open(work *w) {
    json_error_t e;
    json_t *request = json_loadb(w->in[0].bytes, w->in[0].size, JSON_REJECT_DUPLICATES, &e);
    if (!request) return work_fail(w, RVM_ERR_SYNTAX, "JSON, line %d, column %d: %s", e.line, e.column, e.text);
    if (!work_at_hand(w, request)) return json_decref(request);
    session *s = calloc(1, sizeof *s);
    FILE *before = s ? redirect(w) : NULL;
    if (!before) {
        free(s);
        json_decref(request);
        return work_fail(w, RVM_ERR_MEMORY, "out of memory");
    }
    s->w = w;
    s->request = request;
    work_program_name(w, s->name);
    s->words[0] = s->name;
    s->t.words = s->words;
    const rvm_status st = open_session(s);
    w->out.status = (uint32_t)st;
    print(s, st, add_opened);
    restore(before);
    *w->session = s; /* where that failed its worker goes with it */
}

/* ---- what is asked then ---- */

static rvm_status do_move(session *s, const json_t *v) {
    rvm_arrival how;
    json j;
    const rvm_status st = session_move(s, v, &how);
    work_name_limit(s->w, st, &s->t.err);
    tool_json_begin(&j, &s->t, st);
    session_position(&j, s, st ? NULL : &how);
    if (s->why[0]) json_key(&j, "why"), json_text(&j, s->why);
    session_frames(&j, s);
    session_places(&j, s, 0, NULL);
    tool_json_end(&j);
    return st;
}

static rvm_status do_state(session *s, const json_t *v) {
    const uint32_t frame = session_number(json_object_get(v, "frame"), UINT32_MAX);
    json j;
    tool_json_begin(&j, &s->t, RVM_OK);
    session_position(&j, s, NULL);
    session_frames(&j, s);
    session_places(&j, s, frame, json_object_get(v, "places"));
    tool_json_end(&j);
    return RVM_OK;
}

static rvm_status do_stops(session *s, const json_t *v) {
    json j;
    const rvm_status st = session_stops(s, v);
    tool_json_begin(&j, &s->t, st);
    json_key(&j, "stops"), json_open(&j, '[');
    for (uint32_t k = 0; k < s->nstops; k++) {
        json_open(&j, '{');
        json_key(&j, "function"), json_text(&j, rvm_program_function_name(s->t.program, s->stops[k].fn));
        json_key(&j, "pc"), json_uint(&j, s->stops[k].pc);
        json_key(&j, "line"), json_uint(&j, s->stops[k].line);
        if (s->stops[k].condition.text[0]) json_key(&j, "if"), json_text(&j, s->stops[k].condition.text);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    tool_json_end(&j);
    return st;
}

static rvm_status do_log(session *s, const json_t *v) {
    char *text = NULL;
    size_t size = 0;
    json j, entries = {.out = open_memstream(&text, &size)};
    if (!entries.out) return tool_fail(&s->t, RVM_ERR_MEMORY, "out of memory");
    const rvm_status st = session_log(s, v, &entries);
    fclose(entries.out);
    work_name_limit(s->w, st, &s->t.err);
    tool_json_begin(&j, &s->t, st);
    session_position(&j, s, NULL);
    json_key(&j, "entries"), json_open(&j, '[');
    fputs(text, j.out);
    json_close(&j, ']');
    tool_json_end(&j);
    free(text);
    return st;
}

static const struct verb {
    const char *name;
    rvm_status (*act)(session *s, const json_t *v);
} verbs[] = {{"move", do_move}, {"state", do_state}, {"stops", do_stops}, {"log", do_log}};

void work_session(work *w) {
    session *s = *w->session;
    json_error_t e;
    size_t k = 0;
    const part *verb = &w->in[0];
    const size_t n = sizeof verbs / sizeof *verbs;
    while (k < n && (strlen(verbs[k].name) != verb->size || memcmp(verbs[k].name, verb->bytes, verb->size) != 0)) k++;
    if (!s || k == n) return work_fail(w, RVM_ERR_USAGE, "there is no such session, or nothing of it is called that");
    json_t *v = json_loadb(w->in[1].bytes, w->in[1].size, JSON_REJECT_DUPLICATES, &e);
    if (!json_is_object(v)) {
        json_decref(v);
        return work_fail(w, RVM_ERR_SYNTAX, "a JSON object is expected%s%s", v ? "" : ": ", v ? "" : e.text);
    }
    FILE *before = redirect(w);
    if (before) {
        s->w = w;
        s->why[0] = 0, s->steps = 0;
        w->seconds = w->limits.seconds;
        progress_begin(&s->t.progress, s->t.machine);
        w->out.status = (uint32_t)verbs[k].act(s, v);
        s->t.shown = false;
        restore(before);
    } else {
        work_fail(w, RVM_ERR_MEMORY, "out of memory");
    }
    json_decref(v);
}

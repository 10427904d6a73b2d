/* session_stops.c: where lines begin in the code, and runs from stop to stop. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* ---- where lines begin ---- */

uint32_t session_number(const json_t *v, uint32_t none) {
    const json_int_t n = json_integer_value(v);
    return n >= 0 && n <= UINT32_MAX ? (uint32_t)n : none;
}

/* The first instruction of each piece of a line. */
static bool begins_line(const rvm_program *p, uint32_t fn, uint32_t pc, uint32_t line, const char *own) {
    const char *file, *before_file;
    uint32_t at, before = 0;
    rvm_program_position(p, fn, pc, &file, &at, NULL);
    if (at != line || !file || !own || strcmp(file, own) != 0) return false;
    if (pc) rvm_program_position(p, fn, pc - 1, &before_file, &before, NULL);
    return before != line;
}

static uint32_t find_stops(const session *s, uint32_t line, session_stop *to, uint32_t room) {
    const rvm_program *p = s->t.program;
    uint32_t n = 0;
    const char *own = rvm_program_file(p, 0);
    for (uint32_t fn = 0; fn < rvm_program_function_count(p); fn++)
        for (uint32_t pc = 0; pc < rvm_program_code_size(p, fn) && n < room; pc++)
            if (begins_line(p, fn, pc, line, own)) to[n++] = (session_stop){.fn = fn, .pc = pc, .line = line};
    return n;
}

/* ---- conditions ---- */

/* One that cannot be told holds, and s->why says so. */
static bool holds(void *userdata, const rvm_machine *m) {
    session_stop *p = userdata;
    rvm_arg a;
    rvm_error e;
    if (!expression_value(m, 0, &p->condition, &a, &e)) return rvm_scalar_to_double(a.type, a.value) != 0;
    snprintf(p->of->why, sizeof p->of->why, "`%.100s`: %.180s", p->condition.text, e.message);
    return true;
}

static void free_stops(session_stop *stops, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) expression_free(&stops[k].condition);
    free(stops);
}

/* 7, or {"line": 7, "if": "k > 100"}. */
static rvm_status read_stop(session *s, const json_t *v, session_stop *to, uint32_t *n) {
    const json_t *number = json_is_object(v) ? json_object_get(v, "line") : v, *condition = json_object_get(v, "if");
    const uint32_t line = session_number(number, 0);
    const char *text = json_string_value(condition);
    if (!json_is_integer(number) || (condition && !text))
        return tool_fail(&s->t, RVM_ERR_USAGE, "a stop is a line, or {\"line\": 3, \"if\": \"k > 100\"}");
    if (text && strlen(text) >= EXPRESSION_TEXT)
        return tool_fail(&s->t, RVM_ERR_LIMIT, "a condition has at most %d bytes", EXPRESSION_TEXT - 1);
    const uint32_t found = find_stops(s, line, to + *n, SESSION_STOPS - *n);
    if (*n == SESSION_STOPS) return tool_fail(&s->t, RVM_ERR_LIMIT, "there are more stops than %d", SESSION_STOPS);
    if (!found)
        return tool_fail(&s->t, RVM_ERR_ARGUMENT, "line %lld has no instruction", (long long)json_integer_value(number));
    for (const uint32_t end = *n + found; *n < end; ++*n) {
        to[*n].of = s;
        snprintf(to[*n].condition.text, EXPRESSION_TEXT, "%s", text ? text : "");
    }
    return RVM_OK;
}

rvm_status session_stops(session *s, const json_t *v) {
    const json_t *list = json_object_get(v, "lines");
    session_stop *stops = calloc(SESSION_STOPS, sizeof *stops);
    uint32_t n = 0;
    if (!stops) return tool_fail(&s->t, RVM_ERR_MEMORY, "out of memory");
    rvm_status st =
        json_is_array(list) ? RVM_OK : tool_fail(&s->t, RVM_ERR_USAGE, "\"lines\" is to be a list of stops on lines");
    for (size_t k = 0; !st && k < json_array_size(list); k++) st = read_stop(s, json_array_get(list, k), stops, &n);
    if (st) return free_stops(stops, n), st;
    free_stops(s->stops, s->nstops);
    s->stops = stops, s->nstops = n;
    return RVM_OK;
}

/* Those with conditions are borrowed. */
static void list_stops(session_stop *stops, uint32_t n, rvm_stop *to) {
    for (uint32_t k = 0; k < n; k++) to[k] = (rvm_stop){.fn = stops[k].fn, .pc = stops[k].pc};
    for (uint32_t k = 0; k < n; k++)
        if (stops[k].condition.text[0]) to[k].condition = holds, to[k].userdata = &stops[k];
}

rvm_status session_run(session *s, rvm_run_position to, rvm_arrival *how) {
    rvm_stop stops[SESSION_STOPS];
    const rvm_goal g = {.to = to, .stops = stops, .nstops = s->nstops};
    list_stops(s->stops, s->nstops, stops);
    return rvm_timeline_run_to(s->timeline, &g, how, &s->t.err);
}

uint32_t session_line(const session *s, uint32_t line, rvm_stop to[SESSION_STOPS]) {
    session_stop *found = calloc(SESSION_STOPS, sizeof *found);
    const uint32_t n = found ? find_stops(s, line, found, SESSION_STOPS) : 0;
    list_stops(found, n, to);
    free(found);
    return n;
}

/* session_show.c: where a session stands, as JSON. */
#include "session.h"

#include <string.h>

enum { MOST_FRAMES = 100, MOST_ELEMENTS = 4096 };

static void number(json *j, int64_t v) {
    json_number(j, RVM_I64, (rvm_scalar){.i = v});
}

void session_position(json *j, const session *s, const rvm_arrival *how) {
    static const char *const reached[] = {"position", "end", "stop", "watch"};
    const rvm_run_position at = rvm_machine_position(s->t.machine);
    json_key(j, "position"), json_open(j, '{');
    json_key(j, "at"), number(j, at.at);
    json_key(j, "swept"), json_bool(j, at.swept);
    json_close(j, '}');
    if (!how) return;
    json_key(j, "reached"), json_text(j, reached[how->reached]);
    if (how->reached == RVM_REACHED_STOP) json_key(j, "stop"), json_uint(j, how->index);
}

void session_frames(json *j, const session *s) {
    const uint32_t n = rvm_machine_frames(s->t.machine);
    rvm_location at;
    json_key(j, "depth"), json_uint(j, n);
    json_key(j, "frames"), json_open(j, '[');
    for (uint32_t k = 0; k < n && k < MOST_FRAMES && rvm_machine_location(s->t.machine, k, 1, &at); k++) {
        json_open(j, '{');
        json_key(j, "function"), json_text(j, at.function);
        json_key(j, "pc"), json_uint(j, at.pc);
        json_key(j, "direction"), number(j, at.direction);
        json_key(j, "file"), json_text(j, at.file);
        json_key(j, "line"), json_uint(j, at.line);
        json_key(j, "column"), json_uint(j, at.column);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The elements of an array, row by row, as far as they are shown. */
static void elements(json *j, const rvm_variable *v, const void *data, const int64_t *stride) {
    rvm_arg a = {.type = v->type, .ndim = v->ndim, .data = (void *)data};
    memcpy(a.shape, v->shape, sizeof a.shape), memcpy(a.stride, stride, sizeof a.stride);
    const size_t n = arg_count(&a);
    json_open(j, '[');
    for (size_t k = 0; k < n && k < MOST_ELEMENTS; k++) json_number(j, v->type, arg_get(&a, k));
    json_close(j, ']');
}

static void place(json *j, const rvm_variable *v) {
    json_open(j, '{');
    json_key(j, "name"), json_text(j, v->name);
    json_key(j, "type"), json_text(j, rvm_type_name(v->type));
    json_key(j, "shape"), json_open(j, '[');
    for (int d = 0; d < v->ndim; d++) number(j, v->shape[d]);
    json_close(j, ']');
    json_key(j, "value");
    if (v->ndim)
        elements(j, v, v->data, v->stride);
    else
        json_number(j, v->type, v->value);
    if (v->shadowed && (!v->ndim || v->shadow_data)) {
        json_key(j, "shadow");
        if (v->ndim)
            elements(j, v, v->shadow_data, v->shadow_stride);
        else
            json_number(j, v->type, v->shadow);
    }
    json_close(j, '}');
}

static bool is_wanted(const char *name, const json_t *names) {
    if (!json_is_array(names)) return true;
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *one = json_string_value(json_array_get(names, k));
        if (one && strcmp(one, name) == 0) return true;
    }
    return false;
}

void session_places(json *j, const session *s, uint32_t frame, const json_t *names) {
    rvm_variable v;
    json_key(j, "places"), json_open(j, '[');
    for (uint32_t k = 0; rvm_machine_variable(s->t.machine, frame, k, &v); k++)
        if (v.name && is_wanted(v.name, names)) place(j, &v);
    json_close(j, ']');
}

#include "tasks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void work_free(work *w) {
    free(w->text);
    free(w->more);
    w->text = w->more = NULL;
}

void work_fail(work *w, rvm_status st, const char *format, ...) {
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    work_free(w);
    w->out.status = (uint32_t)st;
    FILE *out = open_memstream(&w->text, &w->text_size);
    if (!out) return;
    json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "ok"), json_bool(&j, false);
    json_key(&j, "error");
    json_open(&j, '{');
    json_key(&j, "severity"), json_text(&j, "error");
    json_key(&j, "code"), json_text(&j, rvm_status_name(st));
    json_key(&j, "message"), json_text(&j, message);
    json_close(&j, '}');
    json_close(&j, '}');
    fputc('\n', out);
    fclose(out);
}

bool work_at_hand(work *w, const json_t *request) {
    const char *id = json_string_value(json_object_get(request, "program"));
    if (!id) return work_fail(w, RVM_ERR_USAGE, "\"program\" is to be the id of a program"), false;
    if (strlen(id) == w->in[1].size && w->in[1].size && memcmp(id, w->in[1].bytes, w->in[1].size) == 0) return true;
    snprintf(w->need, sizeof w->need, "%s", id);
    return false;
}

bool work_copy_program(const work *w, tool *t) {
    const part *bytes = &w->in[2];
    if (!(t->source = malloc(bytes->size + 1))) return false;
    memcpy(t->source, bytes->bytes, t->source_size = bytes->size);
    return true;
}

void work_program_name(const work *w, char name[WORK_NAME]) {
    const int most = WORK_NAME - 6; /* as long as names of uploads are */
    snprintf(name, WORK_NAME, "%.*s", w->in[3].size < (size_t)most ? (int)w->in[3].size : most,
             (const char *)w->in[3].bytes);
}

void work_name_limit(const work *w, rvm_status st, rvm_error *e) {
    if (st == RVM_ERR_CANCELLED && w->out_of_time)
        snprintf(e->message, sizeof e->message, "the time limit, %g s, is reached", w->seconds);
}

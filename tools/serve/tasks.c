#include "tasks.h"

#include <stdarg.h>
#include <stdlib.h>

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

#include "answer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char json_type[] = "application/json";

unsigned answer_code(rvm_status st) {
    if (st == RVM_ERR_VERIFY) return 422;
    if (st == RVM_ERR_INTERNAL) return 500;
    switch (rvm_status_exit(st)) {
    case 1: return 422;
    case 2:
    case 3: return 400;
    default: return 200;
    }
}

static void error_with(http_request *r, unsigned code, const char *name, const char *message, const char *const *headers) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "ok"), json_bool(&j, false);
        json_key(&j, "error");
        json_open(&j, '{');
        json_key(&j, "severity"), json_text(&j, "error");
        json_key(&j, "code"), json_text(&j, name);
        json_key(&j, "message"), json_text(&j, message);
        json_close(&j, '}');
        json_close(&j, '}');
        fputc('\n', out);
        fclose(out);
    }
    http_answer(r, code, json_type, text, text ? size : 0, headers);
}

void answer_error(http_request *r, unsigned code, const char *name, const char *format, ...) {
    char message[400];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    error_with(r, code, name, message, NULL);
}

void answer_busy(http_request *r, const char *what) {
    static const char *const later[] = {"Retry-After", "1", NULL};
    error_with(r, 503, "BUSY", what, later);
}

void answer_json(http_request *r, unsigned code, char *text, size_t size) {
    if (text)
        http_answer(r, code, json_type, text, size, NULL);
    else
        answer_busy(r, "out of memory");
}

void answer_members(http_request *r, unsigned code, void (*add)(json *j, const void *of), const void *of) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "ok"), json_bool(&j, true);
        add(&j, of);
        json_close(&j, '}');
        fputc('\n', out);
        fclose(out);
    }
    answer_json(r, code, text, size);
}

char *answer_with(const char *members, const char *text, size_t size, size_t *out) {
    const size_t front = strlen(members);
    char *whole = size && *text == '{' ? malloc(front + size + 1) : NULL;
    if (!whole) return NULL;
    *whole = '{';
    memcpy(whole + 1, members, front);
    memcpy(whole + 1 + front, text + 1, size - 1);
    *out = front + size;
    whole[*out] = 0;
    return whole;
}

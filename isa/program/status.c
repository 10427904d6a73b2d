/* status.c: status codes and errors. */
#include "program.h"
#include "support.h"
#include <stdarg.h>
#include <string.h>

typedef struct status_row {
    const char *name, *text;
    int exit_status;
} status_row;

static const status_row statuses[] = {
#define X(name_, exit_, text_) {#name_, text_, exit_},
    RVM_STATUS_MAP(X)
#undef X
};

/* The map's row; INTERNAL's, the last, for a code outside it. */
static const status_row *status_of(rvm_status s) {
    size_t n = sizeof statuses / sizeof *statuses;
    return statuses + ((size_t)s < n ? (size_t)s : n - 1);
}

const char *rvm_status_name(rvm_status s) {
    return status_of(s)->name;
}

const char *rvm_status_text(rvm_status s) {
    return status_of(s)->text;
}

int rvm_status_exit(rvm_status s) {
    return status_of(s)->exit_status;
}

static void fill(rvm_error *err, rvm_status code, const char *file, uint32_t line, uint32_t column, uint32_t pc,
                 const char *format, va_list args) {
    err->code = code;
    err->line = line;
    err->column = column;
    err->pc = pc;
    snprintf(err->file, sizeof err->file, "%s", file ? file : "");
    vsnprintf(err->message, sizeof err->message, format, args);
}

rvm_status rvm__fail(rvm_error *err, rvm_status code, const char *file, uint32_t line, uint32_t column, const char *format,
                     ...) {
    if (!err) return code;
    va_list args;
    va_start(args, format);
    fill(err, code, file, line, column, 0, format, args);
    va_end(args);
    return code;
}

rvm_status rvm__fail_memory(rvm_error *err) {
    return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
}

rvm_status rvm__fail_null(rvm_error *err, const char *names, size_t k) {
    while (k--) names += strcspn(names, ",") + 2;
    return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "`%.*s` is NULL", (int)strcspn(names, ","), names);
}

rvm_status rvm__fail_at(rvm_error *err, rvm_status code, const rvm_program *p, uint32_t fn, uint32_t pc, const char *format,
                        ...) {
    if (!err) return code;
    const char *file;
    uint32_t line, column;
    rvm_program_position(p, fn, pc, &file, &line, &column);
    va_list args;
    va_start(args, format);
    fill(err, code, file, line, column, pc, format, args);
    va_end(args);
    return code;
}

rvm_status rvm__fail_in(rvm_error *err, rvm_status code, const rvm_program *p, int64_t fn) {
    const bool about = code && code != RVM_ERR_USAGE && code != RVM_ERR_MEMORY;
    if (!err || !about || err->file[0] || err->line || fn < 0 || fn >= p->nfunctions) return code;
    const char *file;
    rvm_program_position(p, (uint32_t)fn, 0, &file, &err->line, &err->column);
    snprintf(err->file, sizeof err->file, "%s", file ? file : "");
    return code;
}

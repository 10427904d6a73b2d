#include "errors.h"

#include <stdarg.h>

rvm_status fail(rvm_error *err, rvm_status code, const char *file, const char *format, ...) {
    va_list list;
    if (!err) return code;
    *err = (rvm_error){.code = code};
    snprintf(err->file, sizeof err->file, "%s", file ? file : "");
    va_start(list, format);
    vsnprintf(err->message, sizeof err->message, format, list);
    va_end(list);
    return code;
}

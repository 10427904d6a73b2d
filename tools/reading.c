#include "reading.h"
#include "errors.h"

#include <string.h>

rvm_status reading_allocate(reading *r, const char *file, rvm_arg *a, const int64_t *shape, rvm_error *err) {
    size_t n = 0;
    if (r->limit && shape_count(a->ndim, shape, &n)) {
        if (n * sizeof(rvm_scalar) > r->limit - r->taken)
            return fail(err, RVM_ERR_MEMORY, file,
                        "%zu elements take %zu bytes, and of the limit of %llu (--memory) there are %llu left", n,
                        n * sizeof(rvm_scalar), (unsigned long long)r->limit, (unsigned long long)(r->limit - r->taken));
        r->taken += n * sizeof(rvm_scalar);
    }
    const rvm_status st = arg_allocate(a, shape, err);
    if (st && err && file) snprintf(err->file, sizeof err->file, "%s", file);
    return st;
}

rvm_status reading_open(reading *r, input *in, const char *path, rvm_error *err) {
    const bool standard = strcmp(path, "-") == 0;
    *in = (input){0};
    if (standard && r->standard_input) return fail(err, RVM_ERR_USAGE, NULL, "standard input is read twice");
    r->standard_input |= standard;
    return input_open(in, path, err);
}

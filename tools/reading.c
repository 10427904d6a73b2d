#include "reading.h"
#include "errors.h"

#include <errno.h>
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

static rvm_status open_given(const file_set_item *f, input *in, const char *name, rvm_error *err) {
    in->name = name;
    in->file = f && !f->error ? fmemopen(f->bytes, f->size, "rb") : NULL;
    if (!in->file) return fail(err, RVM_ERR_IO, name, "cannot read: %s", strerror(f ? f->error : ENOENT));
    in->known = true, in->left = f->size;
    return RVM_OK;
}

rvm_status reading_open(reading *r, input *in, const char *path, rvm_error *err) {
    const bool standard = strcmp(path, "-") == 0;
    *in = (input){0};
    if (standard && r->standard_input) return fail(err, RVM_ERR_USAGE, NULL, "standard input is read twice");
    r->standard_input |= standard;
    if (r->files) return open_given(file_set_find(r->files, path), in, standard ? "<stdin>" : path, err);
    return input_open(in, path, err);
}

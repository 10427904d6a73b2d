/* file.c: bytecode from and to memory and files. */
#include "support.h"
#include "rbc.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rvm_bytecode_begins(const void *bytes, size_t size) {
    const size_t n = size < sizeof RVM_RBC_MAGIC - 1 ? size : sizeof RVM_RBC_MAGIC - 1;
    return bytes && n && !memcmp(bytes, RVM_RBC_MAGIC, n);
}

rvm_status rvm_program_load(const void *bytes, size_t size, const char *name, const rvm_allocator *al, rvm_program **out,
                            rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(bytes);
    rvm_status s = rvm__decode(bytes, size, name, al, out, err);
    if (s == RVM_OK) s = rvm__verify(*out, err);
    if (s == RVM_OK) return s;
    rvm_program_free(*out);
    *out = NULL;
    return s;
}

static rvm_status fail_io(rvm_error *err, const char *path, const char *doing) {
    return rvm__fail(err, RVM_ERR_IO, path, 0, 0, "cannot %s %s: %s", doing, path, strerror(errno));
}

rvm_status rvm_program_load_file(const char *path, const rvm_allocator *al, rvm_program **out, rvm_error *err) {
    uint8_t *bytes = NULL;
    size_t size = 0, cap = 0;
    rvm_status s = RVM_OK;
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(path);
    FILE *in = fopen(path, "rb");
    if (!in) return fail_io(err, path, "open");
    while (!feof(in)) {
        if (size == cap) {
            uint8_t *grown = rvm__realloc(al, bytes, cap, cap * 2 + 65536);
            if (!grown) {
                s = rvm__fail(err, RVM_ERR_MEMORY, path, 0, 0, "out of memory reading %s", path);
                goto done;
            }
            bytes = grown;
            cap = cap * 2 + 65536;
        }
        size += fread(bytes + size, 1, cap - size, in);
        if (size >= 4 && memcmp(bytes, RVM_RBC_MAGIC, 4) != 0) break; /* nothing to read on for, as from /dev/zero */
        if (ferror(in)) {
            s = fail_io(err, path, "read");
            goto done;
        }
    }
    s = rvm_program_load(bytes, size, path, al, out, err);
done:
    fclose(in);
    rvm__realloc(al, bytes, cap, 0);
    return s;
}

rvm_status rvm_program_save(const rvm_program *p, void **bytes, size_t *size, rvm_error *err) {
    RVM__NEEDS(bytes, size);
    *bytes = NULL;
    *size = 0;
    RVM__NEEDS(p);
    return rvm__encode(p, bytes, size, err);
}

/* Opens a new file beside path and leaves its name in temporary. */
static FILE *open_beside(const char *path, char *temporary, size_t size) {
    for (int k = 0; k < 100; k++) {
        snprintf(temporary, size, "%s.%ld-%d.tmp", path, (long)getpid(), k);
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        FILE *out = fd >= 0 ? fdopen(fd, "wb") : NULL;
        if (out) return out;
        if (fd >= 0) close(fd), remove(temporary);
        if (fd >= 0 || errno != EEXIST) break;
    }
    return NULL;
}

rvm_status rvm_file_write(const char *path, const void *bytes, size_t size, rvm_error *err) {
    char temporary[4096];
    struct stat st;
    RVM__NEEDS(path);
    if (size) RVM__NEEDS(bytes);
    bool device = !stat(path, &st) && !S_ISREG(st.st_mode); /* a pipe or a terminal is not to be replaced */
    if (strlen(path) + 32 > sizeof temporary)
        return rvm__fail(err, RVM_ERR_IO, path, 0, 0, "the name of the file is too long");
    FILE *out = device ? fopen(path, "wb") : open_beside(path, temporary, sizeof temporary);
    if (!out) return fail_io(err, path, "write");
    bool written = !size || fwrite(bytes, 1, size, out) == size;
    int why = errno;
    if (fclose(out)) written = false, why = errno;
    if (written && !device && rename(temporary, path)) written = false, why = errno;
    if (written) return RVM_OK;
    if (!device) remove(temporary);
    errno = why;
    return fail_io(err, path, "write");
}

rvm_status rvm_program_save_file(const rvm_program *p, const char *path, rvm_error *err) {
    void *bytes;
    size_t size;
    RVM__NEEDS(p, path);
    rvm_status s = rvm__encode(p, &bytes, &size, err);
    if (s != RVM_OK) return s;
    s = rvm_file_write(path, bytes, size, err);
    rvm_program_free_bytes(p, bytes, size);
    return s;
}

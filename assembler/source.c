/* source.c: files. A file is read once, whatever the names it is included by. */
#include "asm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

rvm_status rvm__read_file(assembler *a, const char *path, char **text, size_t *size) {
    struct stat st;
    rvm_status status = RVM_ERR_IO;
    *text = NULL;
    *size = 0;
    FILE *in = fopen(path, "rb");
    if (!in) return status;
    if (fstat(fileno(in), &st) || !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        goto fail;
    }
    if (st.st_size > MAX_SOURCE) {
        errno = EFBIG;
        goto fail;
    }
    *text = rvm__arena(a, (size_t)st.st_size + 1);
    status = RVM_ERR_MEMORY;
    if (!*text) goto fail;
    *size = fread(*text, 1, (size_t)st.st_size, in);
    status = ferror(in) ? RVM_ERR_IO : RVM_OK;
fail:;
    int why = errno;
    fclose(in);
    errno = why;
    return status;
}

bool rvm__source_add(assembler *a, const char *shown, const char *path, const char *text, size_t size) {
    void *list = a->sources;
    if (a->nsources > UINT16_MAX || !rvm__grow(&a->al, &list, &a->cap_sources, a->nsources + 1, sizeof *a->sources)) {
        a->oom = true;
        return false;
    }
    a->sources = list;
    a->sources[a->nsources] = (source){rvm__arena_copy(a, shown, strlen(shown)),
                                       path ? rvm__arena_copy(a, path, strlen(path)) : NULL,
                                       (char *)text,
                                       size,
                                       NULL,
                                       0,
                                       0,
                                       -1};
    return a->sources[a->nsources].name && a->nsources++ < UINT16_MAX;
}

/* Reads shown (folder/file) unless it was read before. False when there is no such file. */
static bool include_from(assembler *a, const char *folder, size_t folder_length, const char *file, rvm_status *status) {
    char shown[4096];
    bool slash = folder_length && folder[folder_length - 1] != '/';
    if (file[0] == '/') folder_length = 0, slash = false;
    if ((size_t)snprintf(shown, sizeof shown, "%.*s%s%s", (int)folder_length, folder, slash ? "/" : "", file) >=
        sizeof shown)
        return false;
    char *path = realpath(shown, NULL);
    if (!path) return false;
    *status = RVM_OK;
    bool known = false;
    for (uint32_t k = 0; k < a->nsources; k++) known = known || (a->sources[k].path && !strcmp(a->sources[k].path, path));
    if (!known) {
        char *text;
        size_t size;
        *status = rvm__read_file(a, shown, &text, &size);
        if (*status == RVM_OK && !rvm__source_add(a, shown, path, text, size)) *status = RVM_ERR_MEMORY;
    }
    int why = errno;
    free(path);
    errno = why;
    return true;
}

bool rvm__source_include(assembler *a, const char *file, size_t length, uint16_t from, span at) {
    rvm_status status = RVM_ERR_IO;
    const char *includer = a->sources[from].name, *slash = strrchr(includer, '/');
    bool found = false;
    errno = ENOENT;
    if (length && strlen(file) == length) {
        found = include_from(a, includer, slash ? (size_t)(slash - includer) + 1 : 0, file, &status);
        for (const char *const *p = a->options.include_path; !found && p && *p; p++)
            found = include_from(a, *p, strlen(*p), file, &status);
        char folder[PATH_MAX];
        for (unsigned k = 0; !found && rvm__search_folder(k, folder); k++)
            found = *folder && include_from(a, folder, strlen(folder), file, &status);
    }
    if (status == RVM_ERR_IO) rvm__diag(a, at, D_INCLUDE, file, strerror(errno), NULL);
    return status == RVM_OK;
}

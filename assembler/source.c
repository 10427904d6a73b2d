/* source.c: where texts come from: files, and the callback of rvm_asm.h. A file is read once, whatever the names it is
 * included by; what the callback gives, once by its name.
 *
 * Only regular files are read, and opening does not wait: a pipe without a writer would hold the assembler for ever.
 */
#include "asm.h"
#include "program.h"
#include "support.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const too_large = "it has more than 256 MiB", *const too_many = "there are too many sources";
_Static_assert(MAX_SOURCE == 256 << 20, "as the message says");

FILE *rvm__open_source(const char *path, size_t *size, const char **why) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        *why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        *why = S_ISDIR(st.st_mode) ? strerror(EISDIR) : "it is no regular file";
    else if (st.st_size > MAX_SOURCE)
        *why = too_large;
    else {
        *size = (size_t)st.st_size;
        FILE *in = fdopen(fd, "rb");
        if (in) return in;
        *why = strerror(errno);
    }
    if (fd >= 0) close(fd);
    return NULL;
}

/* To the file's end, whatever size it said: files of /proc say 0. NULL: out of memory, or *why. */
static char *read_to_end(assembler *a, FILE *in, size_t expected, size_t *size, const char **why) {
    size_t room = expected + 1;
    char *text = rvm__arena(a, room);
    *size = 0;
    while (text && (*size += fread(text + *size, 1, room - *size, in)) == room && room <= MAX_SOURCE) {
        const size_t more = 2 * room + (1 << 12);
        char *grown = rvm__arena(a, more);
        if (grown) memcpy(grown, text, room);
        text = grown;
        room = more;
    }
    if (text && ferror(in)) *why = strerror(errno);
    if (text && *size > MAX_SOURCE) *why = too_large;
    return text && !**why ? text : NULL;
}

rvm_status rvm__read_file(assembler *a, const char *path, char **text, size_t *size, const char **why) {
    *text = NULL;
    *size = 0;
    *why = "";
    size_t expected;
    FILE *in = rvm__open_source(path, &expected, why);
    if (!in) return RVM_ERR_IO;
    *text = read_to_end(a, in, expected, size, why);
    fclose(in);
    return *text ? RVM_OK : **why ? RVM_ERR_IO : RVM_ERR_MEMORY;
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

/* ---- the callback ---- */

struct rvm_inclusion {
    assembler *a;
    const char *name;
    rvm_error *err;
    bool given;
};

static rvm_status refuse(rvm_inclusion *to, rvm_status status, const char *why) {
    return rvm__fail(to->err, status, NULL, 0, 0, "%s", why);
}

static rvm_status give(rvm_inclusion *to, const char *text, size_t size) {
    if (to->given) return refuse(to, RVM_ERR_USAGE, "a second text was given");
    if (to->a->nsources >= RVM_MAX_FILES) return refuse(to, RVM_ERR_LIMIT, too_many);
    if (!text || !rvm__source_add(to->a, to->name, NULL, text, size)) return RVM_ERR_MEMORY;
    to->given = true;
    return RVM_OK;
}

rvm_status rvm_include_text(rvm_inclusion *to, const char *text, size_t size) {
    if (!to || (!text && size)) return RVM_ERR_USAGE;
    if (size > MAX_SOURCE) return refuse(to, RVM_ERR_LIMIT, too_large);
    return give(to, rvm__arena_copy(to->a, text ? text : "", size), size);
}

/* Whether a name leads to below std/. */
static bool is_std(const char *path) {
    if (strncmp(path, "std/", 4) != 0) return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (!part[2] || part[2] == '/')) return false;
    }
    return true;
}

rvm_status rvm_include_std(rvm_inclusion *to, const char *wanted) {
    char folder[PATH_MAX], path[PATH_MAX];
    if (!to || !wanted) return RVM_ERR_USAGE;
    for (unsigned k = 0; is_std(wanted) && rvm__search_folder(k, folder); k++) {
        const char *why;
        char *text;
        size_t size;
        if (!*folder || snprintf(path, sizeof path, "%s/%s", folder, wanted) >= PATH_MAX || access(path, F_OK)) continue;
        const rvm_status status = rvm__read_file(to->a, path, &text, &size, &why);
        return status == RVM_ERR_IO ? refuse(to, status, why) : status ? status : give(to, text, size);
    }
    return RVM_ERR_NAME;
}

/* ---- includes ---- */

typedef struct search {
    assembler *a;
    const char *file; /* as it is written */
    rvm_status status;
    bool found;
    char why[512]; /* it is not there, or cannot be read */
} search;

static void fail_search(search *s, rvm_status status, const char *why) {
    s->status = status;
    snprintf(s->why, sizeof s->why, "%s", why);
}

/* folder/file, or what a path from the root says; false: too long. */
static bool join(char to[PATH_MAX], const char *folder, size_t length, const char *file) {
    const bool slash = length && folder[length - 1] != '/';
    if (file[0] == '/') length = 0;
    return snprintf(to, PATH_MAX, "%.*s%s%s", (int)length, folder, slash && length ? "/" : "", file) < PATH_MAX;
}

static void ask(search *s, const char *wanted) {
    const rvm_asm_options *o = &s->a->options;
    rvm_error e = {.code = RVM_OK};
    if (s->found) return;
    for (uint32_t k = 0; k < s->a->nsources; k++)
        if (!s->a->sources[k].path && !strcmp(s->a->sources[k].name, wanted)) s->found = true;
    rvm_inclusion to = {.a = s->a, .name = wanted, .err = &e};
    rvm_status status = s->found ? RVM_OK : o->include(o->include_userdata, wanted, &to, &e);
    if (status == RVM_ERR_NAME) return;
    if (!status && !s->found && !to.given)
        status = RVM_ERR_INTERNAL, snprintf(e.message, sizeof e.message, "no text was given");
    s->found = true;
    fail_search(s, status, e.message[0] ? e.message : rvm_status_text(status));
}

/* Reads folder/file unless it was read before. */
static void look_in(search *s, const char *folder, size_t length) {
    char shown[PATH_MAX], real[PATH_MAX];
    const char *path = NULL;
    if (s->found) return;
    if (join(shown, folder, length, s->file))
        path = realpath(shown, real);
    else
        errno = ENAMETOOLONG;
    if (!path) { /* a link that leads round in circles, say: the search goes on, but that is why */
        if (errno != ENOENT && errno != ENOTDIR) fail_search(s, RVM_ERR_IO, strerror(errno));
        return;
    }
    bool known = false;
    for (uint32_t k = 0; k < s->a->nsources; k++)
        known = known || (s->a->sources[k].path && !strcmp(s->a->sources[k].path, path));
    char *text;
    const char *why = "";
    size_t size;
    rvm_status status = RVM_OK;
    if (!known && s->a->nsources >= RVM_MAX_FILES)
        status = RVM_ERR_LIMIT, why = too_many;
    else if (!known)
        status = rvm__read_file(s->a, shown, &text, &size, &why);
    if (!status && !known && !rvm__source_add(s->a, shown, path, text, size)) status = RVM_ERR_MEMORY;
    s->found = true;
    fail_search(s, status, why);
}

static void look_in_files(search *s, const char *includer, size_t folder_length) {
    char folder[PATH_MAX];
    look_in(s, includer, folder_length);
    for (const char *const *p = s->a->options.include_path; p && *p; p++) look_in(s, *p, strlen(*p));
    for (unsigned k = 0; !s->found && rvm__search_folder(k, folder); k++)
        if (*folder) look_in(s, folder, strlen(folder));
}

bool rvm__source_include(assembler *a, const char *file, size_t length, uint16_t from, span at) {
    search s = {.a = a, .file = file};
    const char *includer = a->sources[from].name, *slash = strrchr(includer, '/');
    const size_t folder = slash ? (size_t)(slash - includer) + 1 : 0;
    char beside[PATH_MAX];
    fail_search(&s, RVM_ERR_IO, strerror(ENOENT));
    if (length && strlen(file) == length) {
        if (a->options.include && folder && file[0] != '/' && join(beside, includer, folder, file)) ask(&s, beside);
        if (a->options.include) ask(&s, file);
        if (!a->options.no_files) look_in_files(&s, includer, folder);
    }
    if (s.status == RVM_ERR_MEMORY)
        a->oom = true;
    else if (s.status && !s.found && a->options.no_files)
        rvm__diag(a, at, D_NO_FILES, file, NULL, NULL);
    else if (s.status)
        rvm__diag(a, at, D_INCLUDE, file, rvm__arena_copy(a, s.why, strlen(s.why)), NULL);
    return s.status == RVM_OK;
}

/* files.c: which files a command reads and writes, so that none is lost.
 *
 * Two names are one file if what stands there is, or, where nothing stands yet, if their last parts are equal and their
 * folders are one. What is no regular file, as a terminal or a pipe, loses nothing. */
#include "npy.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool same_place(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool stat_folder(const char *path, struct stat *out) {
    char folder[4096];
    const int length = (int)(last_part(path) - path);
    if (length >= (int)sizeof folder) return false;
    snprintf(folder, sizeof folder, "%.*s", length ? length : 1, length ? path : ".");
    return stat(folder, out) == 0;
}

static bool same_file(const char *a, const char *b) {
    struct stat sa, sb;
    const bool there = stat(a, &sa) == 0;
    if (there != (stat(b, &sb) == 0)) return false;
    if (there) return S_ISREG(sa.st_mode) && same_place(&sa, &sb);
    return strcmp(last_part(a), last_part(b)) == 0 && stat_folder(a, &sa) && stat_folder(b, &sb) && same_place(&sa, &sb);
}

/* The file of NAME=FILE, or NULL. */
static const char *behind_equals(const char *word) {
    const char *equals = strchr(word, '=');
    return equals && equals[1] ? equals + 1 : NULL;
}

/* k-th of the files that are written; *end past the last. NULL: that option names none. */
static const char *output_file(const tool *t, size_t k, bool *end) {
    const char *const single[] = {t->o.output, t->o.header, t->o.save_all, t->o.save_record, t->o.svg, t->o.counts};
    enum { SINGLE = sizeof single / sizeof *single };
    *end = k >= SINGLE + t->o.save.n;
    if (*end) return NULL;
    return k < SINGLE ? single[k] : behind_equals(t->o.save.item[k - SINGLE]);
}

/* The word's file, if it is a value that stands in one, or all values. */
static const char *value_file(const char *word) {
    const char *value = *word == '@' ? word : behind_equals(word);
    return value && *value == '@' ? value + 1 : NULL;
}

static rvm_status check_lists(tool *t, const char *path, const text_list *l) {
    for (size_t i = 0; i < l->n; i++) {
        const char *file = value_file(l->item[i]);
        if (file && same_file(path, file))
            return tool_fail(t, RVM_ERR_USAGE, "`%s` is read, too: name another file to write to", path);
    }
    return RVM_OK;
}

rvm_status files_check_output(tool *t, const char *path) {
    if (!strcmp(path, "-")) return tool_fail(t, RVM_ERR_USAGE, "`-` is no file to write to: name one, or ./-");
    if (t->nwords && same_file(path, t->words[0]))
        return tool_fail(t, RVM_ERR_USAGE, "`%s` is the program itself: name another file to write to", path);
    for (int i = 1; i < t->nwords; i++) {
        const char *file = value_file(t->words[i]);
        if (file && same_file(path, file))
            return tool_fail(t, RVM_ERR_USAGE, "`%s` is read, too, by %.*s: name another file to write to", path,
                             (int)strcspn(t->words[i], "="), t->words[i]);
    }
    if (t->o.record && same_file(path, t->o.record))
        return tool_fail(t, RVM_ERR_USAGE, "`%s` is read, too, by --record: name another file to write to", path);
    if (t->o.pattern && same_file(path, t->o.pattern))
        return tool_fail(t, RVM_ERR_USAGE, "`%s` is read, too, by --pattern: name another file to write to", path);
    if (t->o.graph && same_file(path, t->o.graph))
        return tool_fail(t, RVM_ERR_USAGE, "`%s` is read, too, by --graph: name another file to write to", path);
    if (t->o.list && same_file(path, t->o.list))
        return tool_fail(t, RVM_ERR_USAGE, "`%s` is read, too, by --list: name another file to write to", path);
    const rvm_status st = check_lists(t, path, &t->o.dot);
    return st ? st : check_lists(t, path, &t->o.seed);
}

rvm_status files_check(tool *t) {
    bool end;
    for (size_t k = 0;; k++) {
        const char *path = output_file(t, k, &end), *other;
        if (end) return RVM_OK;
        if (!path) continue;
        for (size_t i = 0; i < k; i++)
            if ((other = output_file(t, i, &end)) && same_file(path, other))
                return tool_fail(t, RVM_ERR_USAGE, "`%s` and `%s` are one file: what is written first would be lost", other,
                                 path);
        const rvm_status st = files_check_output(t, path);
        if (st) return st;
    }
}

/* ---- what is read ---- */

static rvm_status take_list(const text_list *l, rvm_status (*take)(void *userdata, const char *path), void *userdata) {
    rvm_status st = RVM_OK;
    for (size_t k = 0; !st && k < l->n; k++) {
        const char *file = value_file(l->item[k]);
        if (file) st = take(userdata, file);
    }
    return st;
}

/* FILE.npy, or ROWS.npy,COLUMNS.npy, or the matrix itself. */
static rvm_status take_pattern(tool *t, rvm_status (*take)(void *userdata, const char *path), void *userdata) {
    const char *text = t->o.pattern;
    if (!text || *text == '[') return RVM_OK;
    const size_t length = strcspn(text, ",");
    char *first = strndup(text, length);
    rvm_status st = first ? take(userdata, first) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st && text[length]) st = take(userdata, text + length + 1);
    free(first);
    return st;
}

rvm_status files_each_input(tool *t, rvm_status (*take)(void *userdata, const char *path), void *userdata) {
    const text_list *const lists[] = {&t->o.dot, &t->o.seed, &t->o.constants};
    rvm_status st = RVM_OK;
    for (int k = 1; !st && k < t->nwords; k++) {
        const char *file = value_file(t->words[k]);
        if (file) st = take(userdata, file);
    }
    for (size_t k = 0; !st && k < sizeof lists / sizeof *lists; k++) st = take_list(lists[k], take, userdata);
    if (!st) st = take_pattern(t, take, userdata);
    return !st && t->o.record ? take(userdata, t->o.record) : st;
}

/* ---- what is written ---- */

rvm_status files_each_output(tool *t, rvm_status (*take)(void *userdata, const char *path), void *userdata) {
    rvm_status st = RVM_OK;
    bool end = false;
    for (size_t k = 0; !st && !end; k++) {
        const char *path = output_file(t, k, &end);
        if (path) st = take(userdata, path);
    }
    return st;
}

rvm_status files_write(tool *t, const char *path, const void *bytes, size_t size) {
    if (!t->written) return rvm_file_write(path, bytes, size, &t->err);
    return file_set_add_copy(t->written, path, bytes, size) ? RVM_OK : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
}

rvm_status files_write_array(tool *t, const char *path, const rvm_arg *a, const rvm_arg *im, bool shadow) {
    char *bytes;
    size_t size;
    rvm_status st = npy_bytes(path, a, im, shadow, &bytes, &size, &t->err);
    if (!st) st = files_write(t, path, bytes, size);
    free(bytes);
    return st;
}

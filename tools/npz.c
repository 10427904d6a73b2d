/* npz.c: reads and writes zip files as far as NumPy writes them.
 *
 *     local header, name, extra, bytes   for each member
 *     directory entry, name, extra       for each member: offsets, sizes, checksum; in `extra` those of 64 bits
 *     [end of directory of 64 bits, and where that is]
 *     end of directory                   where the directory is, and how long
 *
 * What a file says is held against how long it is before it is used. Numbers are little-endian. */
#include "npz.h"
#include "member.h"
#include "errors.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOCAL = 0x04034b50,
    ENTRY = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    WHERE64 = 0x07064b50,
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    END64_SIZE = 56,
    WHERE64_SIZE = 20,
    EXTRA64 = 1,
    STORED = 0,
    DEFLATED = 8,
    LONGEST_DIRECTORY = 1 << 24
};

static uint64_t number_at(const unsigned char *p, int bytes) {
    uint64_t v = 0;
    for (int k = bytes; k-- > 0;) v = v << 8 | p[k];
    return v;
}

/* ---- reading ---- */

typedef struct archive {
    const char *path;
    FILE *file;
    uint64_t size;
    unsigned char *directory;
    uint64_t at, length, count; /* of the directory */
    rvm_error *err;
} archive;

typedef struct entry {
    char name[256];
    unsigned method, flags;
    uint64_t packed, unpacked, offset;
    uLong crc;
} entry;

static rvm_status damaged(const archive *a, const char *what) {
    return fail(a->err, RVM_ERR_FORMAT, a->path, "not an archive of NumPy: %s", what);
}

/* n bytes at an offset, all of which the file has. */
static bool bytes_at(const archive *a, uint64_t at, void *to, size_t n) {
    if (at > a->size || n > a->size - at || at > INT64_MAX) return false;
    return fseeko(a->file, (off_t)at, SEEK_SET) == 0 && fread(to, 1, n, a->file) == n;
}

/* Where the directory of 64 bits is, if there is one before the end at `end`. */
static rvm_status find_directory64(archive *a, uint64_t end) {
    unsigned char where[WHERE64_SIZE], b[END64_SIZE];
    if (end < WHERE64_SIZE || !bytes_at(a, end - WHERE64_SIZE, where, sizeof where) || number_at(where, 4) != WHERE64)
        return RVM_OK;
    if (!bytes_at(a, number_at(where + 8, 8), b, sizeof b) || number_at(b, 4) != END64)
        return damaged(a, "its end of 64 bits is not where it says");
    a->count = number_at(b + 32, 8);
    a->length = number_at(b + 40, 8);
    a->at = number_at(b + 48, 8);
    return RVM_OK;
}

static rvm_status find_directory(archive *a) {
    enum { LONGEST_COMMENT = 0xffff };
    unsigned char b[END_SIZE];
    for (uint64_t back = END_SIZE; back <= END_SIZE + LONGEST_COMMENT && back <= a->size; back++) {
        const uint64_t at = a->size - back;
        if (!bytes_at(a, at, b, sizeof b)) break;
        if (number_at(b, 4) != END || number_at(b + 20, 2) != back - END_SIZE) continue;
        a->count = number_at(b + 10, 2);
        a->length = number_at(b + 12, 4);
        a->at = number_at(b + 16, 4);
        const rvm_status st = find_directory64(a, at);
        if (st) return st;
        if (a->length > LONGEST_DIRECTORY || a->at > a->size || a->length > a->size - a->at)
            return damaged(a, "its directory lies beyond its end");
        if (a->count > a->length / ENTRY_SIZE) return damaged(a, "its directory is too short for its members");
        return RVM_OK;
    }
    return damaged(a, "it has no directory");
}

static rvm_status read_directory(archive *a) {
    rvm_status st = find_directory(a);
    if (st) return st;
    a->directory = malloc((size_t)a->length + 1);
    if (!a->directory) return fail(a->err, RVM_ERR_MEMORY, a->path, "out of memory");
    return bytes_at(a, a->at, a->directory, (size_t)a->length) ? RVM_OK : damaged(a, "its directory cannot be read");
}

/* Sizes and the offset that do not fit 32 bits stand in an extra field, in this order. */
static bool take_extra64(entry *e, const unsigned char *extra, size_t size) {
    uint64_t *const wide[] = {&e->unpacked, &e->packed, &e->offset};
    while (size >= 4) {
        const size_t id = number_at(extra, 2), n = number_at(extra + 2, 2);
        if (n > size - 4) return false;
        const unsigned char *at = extra + 4, *stop = at + n;
        for (int k = 0; id == EXTRA64 && k < 3; k++) {
            if (*wide[k] != UINT32_MAX) continue;
            if (stop - at < 8) return false;
            *wide[k] = number_at(at, 8);
            at += 8;
        }
        extra += 4 + n;
        size -= 4 + n;
    }
    return true;
}

/* The entry at *at of the directory, and moves behind it. */
static rvm_status take_entry(archive *a, size_t *at, entry *e) {
    const unsigned char *b = a->directory + *at;
    const size_t left = (size_t)a->length - *at;
    if (left < ENTRY_SIZE || number_at(b, 4) != ENTRY) return damaged(a, "its directory is cut off");
    const size_t name = number_at(b + 28, 2), extra = number_at(b + 30, 2), comment = number_at(b + 32, 2);
    if (left - ENTRY_SIZE < name + extra + comment) return damaged(a, "its directory is cut off");
    if (name >= sizeof e->name || memchr(b + ENTRY_SIZE, 0, name)) return damaged(a, "the name of a member is none");
    memcpy(e->name, b + ENTRY_SIZE, name);
    e->name[name] = 0;
    for (char *c = e->name; *c; c++)
        if (*c < 0x20 && *c >= 0) *c = '?';
    e->flags = (unsigned)number_at(b + 8, 2);
    e->method = (unsigned)number_at(b + 10, 2);
    e->crc = (uLong)number_at(b + 16, 4);
    e->packed = number_at(b + 20, 4);
    e->unpacked = number_at(b + 24, 4);
    e->offset = number_at(b + 42, 4);
    if (!take_extra64(e, b + ENTRY_SIZE + name, extra)) return damaged(a, "an extra field of its directory is cut off");
    *at += ENTRY_SIZE + name + extra + comment;
    return RVM_OK;
}

/* Leaves the file where the member's bytes begin. */
static rvm_status find_member(archive *a, const entry *e) {
    unsigned char b[LOCAL_SIZE];
    if (e->flags & 1) return fail(a->err, RVM_ERR_UNSUPPORTED, a->path, "`%s` is encrypted", e->name);
    if (e->method != STORED && e->method != DEFLATED)
        return fail(a->err, RVM_ERR_UNSUPPORTED, a->path, "`%s` is compressed by method %u; known are 0 and 8", e->name,
                    e->method);
    if (!bytes_at(a, e->offset, b, sizeof b) || number_at(b, 4) != LOCAL)
        return damaged(a, "a member is not where the directory says");
    const uint64_t begin = e->offset + LOCAL_SIZE + number_at(b + 26, 2) + number_at(b + 28, 2);
    if (begin > a->size || e->packed > a->size - begin || (e->method == STORED && e->packed != e->unpacked))
        return damaged(a, "a member is longer than the file");
    return fseeko(a->file, (off_t)begin, SEEK_SET) ? damaged(a, "a member cannot be read") : RVM_OK;
}

static rvm_status read_member(archive *a, entry *e,
                              rvm_status (*take)(void *userdata, const char *name, input *in, rvm_error *err),
                              void *userdata) {
    char shown[512];
    const size_t length = strlen(e->name);
    struct member *m = malloc(sizeof *m);
    if (!m) return fail(a->err, RVM_ERR_MEMORY, a->path, "out of memory");
    *m = (struct member){.deflated = e->method == DEFLATED, .packed = e->packed, .wanted = e->crc};
    snprintf(shown, sizeof shown, "%.250s:%.250s", a->path, e->name);
    input in = {.name = shown, .file = a->file, .known = true, .left = e->unpacked, .member = m};
    rvm_status st = find_member(a, e);
    const bool inflating = !st && m->deflated && inflateInit2(&m->z, -MAX_WBITS) == Z_OK;
    if (!st && m->deflated && !inflating) st = fail(a->err, RVM_ERR_MEMORY, shown, "out of memory");
    if (length > 4 && strcmp(e->name + length - 4, ".npy") == 0) e->name[length - 4] = 0;
    if (!st) st = take(userdata, e->name, &in, a->err);
    if (inflating) inflateEnd(&m->z);
    free(m);
    return st;
}

/* Standard input as a file in memory, since an archive's directory stands at its end. How long it is is not known before,
 * so that it has a limit even where there is none. */
static rvm_status hold(archive *a, const reading *r, input *in, char **bytes) {
    const size_t longest = (size_t)1 << 32, limit = r->limit && r->limit < longest ? (size_t)r->limit : longest;
    size_t size;
    const rvm_status st = input_whole(in, limit, bytes, &size, a->err);
    if (st) return st;
    a->file = fmemopen(*bytes, size + 1, "rb"); /* of no bytes it might not open; behind them is a 0 */
    a->size = size;
    return a->file ? RVM_OK : fail(a->err, RVM_ERR_MEMORY, a->path, "out of memory");
}

static rvm_status take_members(archive *a, rvm_status (*take)(void *userdata, const char *name, input *in, rvm_error *err),
                               void *userdata) {
    size_t at = 0;
    rvm_status st = read_directory(a);
    for (uint64_t k = 0; !st && k < a->count; k++) {
        entry e;
        st = take_entry(a, &at, &e);
        if (!st) st = read_member(a, &e, take, userdata);
    }
    free(a->directory);
    return st;
}

rvm_status npz_read(const char *path, reading *r,
                    rvm_status (*take)(void *userdata, const char *name, input *in, rvm_error *err), void *userdata,
                    rvm_error *err) {
    input in;
    char *bytes = NULL;
    rvm_status st = reading_open(r, &in, path, err);
    if (st) return st;
    archive a = {.path = in.name, .file = in.file, .size = in.left, .err = err};
    if (in.file == stdin)
        st = hold(&a, r, &in, &bytes);
    else if (!in.known)
        st = fail(err, RVM_ERR_IO, path, "an archive is read from a file or, as @-, from standard input");
    if (!st) st = take_members(&a, take, userdata);
    if (a.file && a.file != in.file) fclose(a.file);
    input_close(&in);
    free(bytes);
    return st;
}

/* ---- writing: members are stored; all sizes have 64 bits, as those that NumPy writes ---- */

struct npz_entry {
    char name[256];
    uint64_t size, offset;
    uLong crc;
};

static void put(FILE *f, uint64_t v, int bytes) {
    for (int k = 0; k < bytes; k++) putc((int)(v >> 8 * k & 0xff), f);
}

rvm_status npz_begin(npz *z, rvm_error *err) {
    *z = (npz){0};
    z->out = open_memstream(&z->bytes, &z->size);
    return z->out ? RVM_OK : fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
}

/* What the local header and the directory share: from the version needed to the lengths of name and extra field. */
static void put_facts(FILE *f, const struct npz_entry *e, int extra) {
    const unsigned needed = 45, date = 1 << 5 | 1; /* 1980-01-01, as NumPy has it */
    put(f, needed, 2), put(f, 0, 2), put(f, STORED, 2), put(f, 0, 2), put(f, date, 2);
    put(f, e->crc, 4), put(f, UINT32_MAX, 4), put(f, UINT32_MAX, 4);
    put(f, strlen(e->name), 2), put(f, (uint64_t)extra, 2);
}

static void put_local(FILE *f, const struct npz_entry *e) {
    put(f, LOCAL, 4);
    put_facts(f, e, 20);
    fputs(e->name, f);
    put(f, EXTRA64, 2), put(f, 16, 2), put(f, e->size, 8), put(f, e->size, 8);
}

static void put_entry(FILE *f, const struct npz_entry *e) {
    put(f, ENTRY, 4), put(f, 45, 2);
    put_facts(f, e, 28);
    put(f, 0, 2), put(f, 0, 2), put(f, 0, 2), put(f, 0, 4), put(f, UINT32_MAX, 4);
    fputs(e->name, f);
    put(f, EXTRA64, 2), put(f, 24, 2), put(f, e->size, 8), put(f, e->size, 8), put(f, e->offset, 8);
}

static rvm_status add_member(npz *z, const char *name, const char *bytes, size_t size, rvm_error *err) {
    struct npz_entry *grown = realloc(z->entries, (z->n + 1) * sizeof *grown);
    if (!grown) return fail(err, RVM_ERR_MEMORY, NULL, "out of memory");
    z->entries = grown;
    struct npz_entry *e = &z->entries[z->n++];
    *e = (struct npz_entry){
        .size = size, .offset = (uint64_t)ftello(z->out), .crc = crc32_z(crc32(0, NULL, 0), (void *)bytes, size)};
    snprintf(e->name, sizeof e->name, "%.250s.npy", name);
    put_local(z->out, e);
    fwrite(bytes, 1, size, z->out);
    return RVM_OK;
}

rvm_status npz_add(npz *z, const char *name, const rvm_arg *a, const rvm_arg *im, bool shadow, rvm_error *err) {
    char *bytes = NULL;
    size_t size = 0;
    rvm_status st = npy_bytes(name, a, im, shadow, &bytes, &size, err);
    if (!st) st = add_member(z, name, bytes, size, err);
    free(bytes);
    return st;
}

rvm_status npz_add_text(npz *z, const char *name, const char *text, rvm_error *err) {
    enum { HEAD = 128 };
    char bytes[HEAD + 128], about[HEAD];
    const int n = snprintf(about, sizeof about, "{'descr': '|S%zu', 'fortran_order': False, 'shape': (), }", strlen(text));
    if (n < 0 || n > HEAD - 11 || strlen(text) > 60)
        return fail(err, RVM_ERR_ARGUMENT, NULL, "`%.20s...` is too long", text);
    memcpy(bytes, "\x93NUMPY\1\0\x76\0", 10); /* 118 bytes of header follow */
    snprintf(bytes + 10, sizeof bytes - 10, "%-117s\n%s", about, text);
    return add_member(z, name, bytes, HEAD + strlen(text), err);
}

static void put_end(npz *z, uint64_t at) {
    FILE *f = z->out;
    const uint64_t end = (uint64_t)ftello(f), length = end - at;
    put(f, END64, 4), put(f, END64_SIZE - 12, 8), put(f, 45, 2), put(f, 45, 2), put(f, 0, 4), put(f, 0, 4);
    put(f, z->n, 8), put(f, z->n, 8), put(f, length, 8), put(f, at, 8);
    put(f, WHERE64, 4), put(f, 0, 4), put(f, end, 8), put(f, 1, 4);
    put(f, END, 4), put(f, 0, 4), put(f, UINT16_MAX, 2), put(f, UINT16_MAX, 2);
    put(f, UINT32_MAX, 4), put(f, UINT32_MAX, 4), put(f, 0, 2);
}

rvm_status npz_end(npz *z, const char *name, char **bytes, size_t *size, rvm_error *err) {
    if (name) {
        const uint64_t at = (uint64_t)ftello(z->out);
        for (size_t k = 0; k < z->n; k++) put_entry(z->out, &z->entries[k]);
        put_end(z, at);
    }
    bool bad = !z->out || ferror(z->out);
    if (z->out) bad |= fclose(z->out) != 0;
    const bool whole = name && !bad;
    *bytes = whole ? z->bytes : NULL, *size = z->size;
    if (!whole) free(z->bytes);
    free(z->entries);
    *z = (npz){0};
    return name && bad ? fail(err, RVM_ERR_MEMORY, name, "out of memory") : RVM_OK;
}

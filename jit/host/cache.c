/* cache.c: entries as files of one folder: $RVM_CACHE_DIR, else $XDG_CACHE_HOME/rvm, else $HOME/.cache/rvm. Nobody but its
 * owner may write there, since what it holds is executed.
 *
 * A file, its numbers little-endian:
 *      0   8  "rvmcache"
 *      8   8  version of this layout
 *     16   8  bytes of key
 *     24   8  parts, 8 at most
 *     32  64  bytes of each; of those that are not there 0
 *     96      key, then each part, with zeros up to a multiple of 16 behind each of them
 *     end 16  XXH3-128 of all before, low half first
 * and its name is the XXH3-128 of the key, with .rvm behind it. While it is written it is called .PROCESS.ADDRESS.tmp.
 * It was used last when it was changed last. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "cache.h"
#include "support.h"

enum {
    SIZES = 32,
    HEADER = SIZES + 8 * RVM__MOST_PARTS,
    CHECK = 16,
    ALIGN = 16,
    VERSION = 2,
    NAME = 32 + 4,
    TEMPORARY = 48
};
static const uint64_t usual_limit = (uint64_t)256 << 20, stale_seconds = 3600;
static const char magic[8] = {'r', 'v', 'm', 'c', 'a', 'c', 'h', 'e'};

struct rvm__cache {
    rvm_allocator al;
    uint64_t limit, since; /* bytes written since the folder was looked through */
    bool looked;
    int fd; /* of the folder */
    char folder[PATH_MAX];
};

void rvm__bytes_add(rvm__bytes *b, const void *p, size_t n) {
    if (b->failed || !n) return;
    if (n > b->cap - b->n) {
        const size_t cap = 2 * (b->n + n);
        char *grown = rvm__realloc(b->al, b->p, b->cap, cap);
        b->failed = !grown;
        if (!grown) return;
        b->p = grown;
        b->cap = cap;
    }
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

void rvm__bytes_free(rvm__bytes *b) {
    rvm__realloc(b->al, b->p, b->cap, 0);
    *b = (rvm__bytes){.al = b->al};
}

/* ---- the folder ---- */

static rvm_status refuse(rvm_error *err, const char *folder, const char *why) {
    return rvm__fail(err, RVM_ERR_IO, folder, 0, 0, "native code is not kept in %.300s: %s", folder, why);
}

/* The user's folder; false: there is none, or its name is too long. */
static bool find_folder(const char *given, char folder[PATH_MAX]) {
    const struct {
        const char *from, *below;
    } ways[] = {{given, ""},
                {secure_getenv("RVM_CACHE_DIR"), ""},
                {secure_getenv("XDG_CACHE_HOME"), "/rvm"},
                {secure_getenv("HOME"), "/.cache/rvm"}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        const char *from = ways[k].from;
        if (!from || (k > 1 && *from != '/')) continue;
        if (k == 1 && !strcmp(from, "off")) return false; /* as --cache off */
        return *from && snprintf(folder, PATH_MAX, "%s%s", from, ways[k].below) < PATH_MAX;
    }
    return false;
}

/* With those around it. */
static void make_folder(char *folder) {
    if (mkdir(folder, 0700) == 0 || errno != ENOENT) return;
    for (char *s = folder + 1; (s = strchr(s, '/')); s++) {
        *s = 0;
        mkdir(folder, 0700);
        *s = '/';
    }
    mkdir(folder, 0700);
}

static rvm_status open_folder(rvm__cache *c, rvm_error *err) {
    struct stat s;
    make_folder(c->folder);
    c->fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->fd < 0 || fstat(c->fd, &s)) return refuse(err, c->folder, strerror(errno));
    if (s.st_uid != geteuid()) return refuse(err, c->folder, "it belongs to another user");
    if (s.st_mode & (S_IWGRP | S_IWOTH)) return refuse(err, c->folder, "others may write there");
    return RVM_OK;
}

rvm_status rvm__cache_limit(uint64_t given, uint64_t *out, rvm_error *err) {
    const char *text = given ? NULL : secure_getenv("RVM_CACHE_SIZE");
    char *end;
    *out = given ? given : usual_limit;
    if (!text || !*text) return RVM_OK;
    const unsigned long long n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : (end = (char *)text, 0);
    const char *const units = "kMG", *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || (*end && (!unit || end[1])))
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0,
                         "RVM_CACHE_SIZE is `%.60s`, which is no size: digits, with k, M or G behind them, as 256M", text);
    *out = n > UINT64_MAX >> shift ? UINT64_MAX : n << shift;
    return RVM_OK;
}

rvm_status rvm__cache_open(const char *folder, uint64_t limit, const rvm_allocator *al, rvm__cache **out, rvm_error *err) {
    *out = NULL;
    rvm__cache *c = rvm__realloc(al, NULL, 0, sizeof *c);
    if (!c) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    *c = (rvm__cache){.al = *al, .fd = -1};
    rvm_status status = rvm__cache_limit(limit, &c->limit, err);
    const bool any = !status && find_folder(folder, c->folder);
    if (any) status = open_folder(c, err);
    if (any && !status)
        *out = c;
    else
        rvm__cache_close(c);
    return status;
}

void rvm__cache_close(rvm__cache *c) {
    if (!c) return;
    const rvm_allocator al = c->al;
    if (c->fd >= 0) close(c->fd);
    rvm__realloc(&al, c, sizeof *c, 0);
}

const char *rvm__cache_folder(const rvm__cache *c) {
    return c->folder;
}

/* ---- one file ---- */

static void put_number(char *p, uint64_t v) {
    for (int k = 0; k < 8; k++) p[k] = (char)(v >> 8 * k);
}

static uint64_t get_number(const char *p) {
    uint64_t v = 0;
    for (int k = 8; k-- > 0;) v = v << 8 | (unsigned char)p[k];
    return v;
}

static void name_of(const rvm__bytes *key, char name[NAME + 1]) {
    const XXH128_hash_t h = XXH3_128bits(key->p, key->n);
    snprintf(name, NAME + 1, "%016llx%016llx.rvm", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

static void put_check(char *at, const void *p, size_t n) {
    const XXH128_hash_t h = XXH3_128bits(p, n);
    put_number(at, h.low64);
    put_number(at + 8, h.high64);
}

static uint64_t padded(uint64_t n) {
    return (n + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Where the parts stand that begin at an offset; false: not up to the check. */
static bool find_parts(rvm__cached *x, uint64_t at) {
    const char *file = x->file;
    const uint64_t n = get_number(file + 24), end = x->size - CHECK;
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t size = get_number(file + SIZES + 8 * k);
        if (size > end - at || padded(size) > end - at) return false;
        x->part[x->nparts++] = (rvm__part){file + at, size};
        at += padded(size);
    }
    return at == end;
}

/* Whether a file is whole, and of this key; *ours: at least it is whole. */
static bool is_entry(const rvm__bytes *key, rvm__cached *x, bool *ours) {
    const char *file = x->file;
    char check[CHECK];
    *ours = false;
    if (x->size < HEADER + CHECK || memcmp(file, magic, sizeof magic) != 0 || get_number(file + 8) != VERSION) return false;
    const uint64_t n = get_number(file + 16), rest = x->size - HEADER - CHECK;
    if (n > rest || padded(n) > rest || get_number(file + 24) > RVM__MOST_PARTS) return false;
    if (!find_parts(x, HEADER + padded(n))) return false;
    put_check(check, file, x->size - CHECK);
    *ours = memcmp(check, file + x->size - CHECK, CHECK) == 0;
    return *ours && n == key->n && memcmp(file + HEADER, key->p, n) == 0;
}

static bool read_all(int fd, char *p, size_t n) {
    while (n) {
        const ssize_t got = read(fd, p, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t n) {
    const char *p = bytes;
    while (n) {
        const ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

static rvm_status file_failed(const rvm__cache *c, const char *name, const char *what, rvm_error *err) {
    return rvm__fail(err, RVM_ERR_IO, name, 0, 0, "%s in %.300s: %s", what, c->folder, strerror(errno));
}

/* An open file of this user's, into memory. */
static rvm_status read_file(const rvm__cache *c, int fd, const char *name, rvm__cached *x, rvm_error *err) {
    struct stat s;
    if (fstat(fd, &s)) return file_failed(c, name, "an entry cannot be read", err);
    if (!S_ISREG(s.st_mode) || s.st_uid != geteuid() || (uint64_t)s.st_size > SIZE_MAX / 2 || s.st_size == 0)
        return rvm__fail(err, RVM_ERR_FORMAT, name, 0, 0, "an entry in %.300s is no file of this user's", c->folder);
    x->size = (size_t)s.st_size;
    x->file = rvm__realloc(&c->al, NULL, 0, x->size);
    if (!x->file) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    if (read_all(fd, x->file, x->size)) return RVM_OK;
    rvm__cached_free(c, x);
    return file_failed(c, name, "an entry cannot be read", err);
}

rvm_status rvm__cache_get(rvm__cache *c, const rvm__bytes *key, rvm__cached *out, rvm_error *err) {
    char name[NAME + 1];
    bool ours = true;
    *out = (rvm__cached){0};
    name_of(key, name);
    const int fd = openat(c->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return RVM_OK;
    if (fd < 0) return file_failed(c, name, "an entry cannot be read", err);
    rvm_status status = read_file(c, fd, name, out, err);
    if (!status && is_entry(key, out, &ours))
        futimens(fd, NULL); /* used now */
    else if (!status)
        rvm__cached_free(c, out);
    close(fd);
    if (status || ours) return status;
    unlinkat(c->fd, name, 0);
    return rvm__fail(err, RVM_ERR_FORMAT, name, 0, 0, "an entry in %.300s was damaged and is removed", c->folder);
}

void rvm__cached_free(const rvm__cache *c, rvm__cached *x) {
    rvm__realloc(&c->al, x->file, x->size, 0);
    *x = (rvm__cached){0};
}

void rvm__cache_remove(rvm__cache *c, const rvm__bytes *key) {
    char name[NAME + 1];
    name_of(key, name);
    unlinkat(c->fd, name, 0);
}

/* ---- not too many ---- */

typedef struct file {
    char name[NAME + 1];
    uint64_t size;
    struct timespec used;
} file;

static int by_use(const void *a, const void *b) {
    const struct timespec *x = &((const file *)a)->used, *y = &((const file *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static bool ends_in(const char *name, const char *end) {
    const size_t n = strlen(name), k = strlen(end);
    return n >= k && strcmp(name + n - k, end) == 0;
}

/* Entries of the folder; what a process left that ended while it wrote is removed. */
static void list_files(const rvm__cache *c, DIR *folder, rvm__bytes *files) {
    const time_t now = time(NULL);
    for (const struct dirent *d; (d = readdir(folder));) {
        struct stat s;
        file f = {0};
        const bool entry = strlen(d->d_name) == NAME && ends_in(d->d_name, ".rvm");
        if (!entry && !(*d->d_name == '.' && ends_in(d->d_name, ".tmp"))) continue;
        if (fstatat(c->fd, d->d_name, &s, AT_SYMLINK_NOFOLLOW)) continue;
        if (!entry) {
            if (now - s.st_mtime > (time_t)stale_seconds) unlinkat(c->fd, d->d_name, 0);
            continue;
        }
        memcpy(f.name, d->d_name, NAME);
        f.size = (uint64_t)s.st_size;
        f.used = s.st_mtim;
        rvm__bytes_add(files, &f, sizeof f);
    }
}

/* Where the limit is passed, entries go until a quarter is free: so that this is rare. */
static void make_room(rvm__cache *c) {
    const int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    rvm__bytes list = {.al = &c->al};
    uint64_t total = 0;
    if (!folder) {
        if (fd >= 0) close(fd);
        return;
    }
    list_files(c, folder, &list);
    closedir(folder);
    file *files = (file *)(void *)list.p;
    const size_t n = list.n / sizeof *files;
    for (size_t k = 0; k < n; k++) total += files[k].size;
    if (total > c->limit) {
        qsort(files, n, sizeof *files, by_use);
        for (size_t k = 0; k + 1 < n && total > c->limit - c->limit / 4; k++) {
            unlinkat(c->fd, files[k].name, 0);
            total -= files[k].size;
        }
    }
    rvm__bytes_free(&list);
    c->looked = true;
    c->since = 0;
}

/* ---- keeping ---- */

/* Pieces one behind the other, and the check of all; false: errno. */
static bool write_pieces(int fd, const rvm__part *piece, unsigned n) {
    XXH3_state_t *hash = XXH3_createState();
    char check[CHECK];
    bool good = true;
    if (!hash) return errno = ENOMEM, false;
    XXH3_128bits_reset(hash);
    for (unsigned k = 0; k < n && good; k++) {
        XXH3_128bits_update(hash, piece[k].p, piece[k].n);
        good = write_all(fd, piece[k].p, piece[k].n);
    }
    const XXH128_hash_t h = XXH3_128bits_digest(hash);
    const int why = errno;
    XXH3_freeState(hash);
    errno = why;
    put_number(check, h.low64);
    put_number(check + 8, h.high64);
    return good && write_all(fd, check, CHECK);
}

/* Writes under a name that nobody else has; false: errno. */
static bool write_beside(const rvm__cache *c, const rvm__part *piece, unsigned n, char name[TEMPORARY]) {
    snprintf(name, TEMPORARY, ".%ld.%llx.tmp", (long)getpid(), (unsigned long long)(uintptr_t)c);
    const int fd = openat(c->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    const bool good = write_pieces(fd, piece, n);
    const int why = errno;
    const bool closed = close(fd) == 0;
    if (good && closed) return true;
    unlinkat(c->fd, name, 0);
    if (!good) errno = why;
    return false;
}

/* The header, then each of the others with what is behind it; all bytes. */
static uint64_t lay_out(const rvm__bytes *key, const rvm__part *part, unsigned n, char header[HEADER], rvm__part *piece) {
    static const char zeros[ALIGN];
    uint64_t all = HEADER;
    memset(header, 0, HEADER);
    memcpy(header, magic, sizeof magic);
    put_number(header + 8, VERSION);
    put_number(header + 16, key->n);
    put_number(header + 24, n);
    *piece++ = (rvm__part){header, HEADER};
    for (unsigned k = 0; k <= n; k++) {
        const rvm__part one = k ? part[k - 1] : (rvm__part){key->p, key->n};
        if (k) put_number(header + SIZES + 8 * (k - 1), one.n);
        *piece++ = one;
        *piece++ = (rvm__part){zeros, padded(one.n) - one.n};
        all += padded(one.n);
    }
    return all + CHECK;
}

rvm_status rvm__cache_put(rvm__cache *c, const rvm__bytes *key, const rvm__part *part, unsigned n, rvm_error *err) {
    char name[NAME + 1], beside[TEMPORARY], header[HEADER];
    rvm__part piece[3 + 2 * RVM__MOST_PARTS];
    const uint64_t all = lay_out(key, part, n, header, piece);
    if (all > c->limit)
        return rvm__fail(err, RVM_ERR_LIMIT, NULL, 0, 0, "an entry of %llu bytes is too large for %.300s",
                         (unsigned long long)all, c->folder);
    name_of(key, name);
    bool good = write_beside(c, piece, 3 + 2 * n, beside);
    if (good && renameat(c->fd, beside, c->fd, name)) {
        good = false;
        unlinkat(c->fd, beside, 0);
    }
    if (!good) return file_failed(c, name, "an entry cannot be written", err);
    c->since += all;
    if (!c->looked || c->since > c->limit / 16) make_room(c);
    return RVM_OK;
}

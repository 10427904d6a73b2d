/* spill.c: chunks of the trail in files, where memory does not suffice. See trail.h.
 *
 * A machine that needs files has a stem, rvm-PID-TIME-SERIAL, in the folder of option checkpoint_dir:
 *
 *     STEM.lock       empty, and locked as long as the machine lives
 *     STEM-N.trail    magic, so many cells, XXH3 of what follows, then the chunks from above, each its cells
 *     STEM-N.part     that one, while it is written
 *
 * A file appears whole: it is written under another name, synchronized and renamed. Reading compares its length and its
 * checksum. What processes leave that crashed is known by a lock that is there and free: it is removed when the next machine
 * begins to use the folder, and never read. Files of this machine go when they are read, or at its end. */
#define XXH_STATIC_LINKING_ONLY /* the state of a hash */
#include "trail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "memory.h"

enum { CELL = RVM__TRAIL_CELL, MOST_CHUNKS = 64, NAME = 128 };
static const char magic[8] = "rvmtrail";

struct rvm__spill {
    char stem[NAME];
    int folder, lock;
    uint64_t next; /* number of a file */
};

typedef struct header {
    char magic[8];
    uint64_t cells, hash;
} header;

static rvm_status fail(rvm_machine *m, rvm_status status, const char *name, const char *why) {
    snprintf(m->detail, sizeof m->detail, "%.60s/%.80s: %.60s", m->o.checkpoint_dir, name, why);
    return status;
}

static void name_file(const rvm_machine *m, uint64_t file, const char *suffix, char *name) {
    snprintf(name, NAME, "%.80s-%llu%s", m->trail.spill->stem, (unsigned long long)file, suffix);
}

/* ---- what others left ---- */

static bool is_of(const char *name, const char *stem, size_t length) {
    return !strncmp(name, stem, length) && (name[length] == '-' || name[length] == '.');
}

/* All files of a stem of this form. */
static void remove_stem(int folder, const char *stem, size_t length) {
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again >= 0 ? fdopendir(again) : NULL;
    if (!d && again >= 0) close(again);
    for (const struct dirent *e; d && (e = readdir(d));)
        if (is_of(e->d_name, stem, length)) unlinkat(folder, e->d_name, 0);
    if (d) closedir(d);
}

static void remove_if_left(int folder, const char *name, size_t length) {
    const int lock = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) return;
    if (!flock(lock, LOCK_EX | LOCK_NB)) remove_stem(folder, name, length);
    close(lock);
}

static void remove_left(int folder) {
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again >= 0 ? fdopendir(again) : NULL;
    if (!d && again >= 0) close(again);
    for (const struct dirent *e; d && (e = readdir(d));) {
        const char *end = strrchr(e->d_name, '.');
        if (!strncmp(e->d_name, "rvm-", 4) && end && !strcmp(end, ".lock"))
            remove_if_left(folder, e->d_name, (size_t)(end - e->d_name));
    }
    if (d) closedir(d);
}

/* ---- the folder ---- */

static rvm_status open_folder(rvm_machine *m, struct rvm__spill *s) {
    char name[NAME + 8];
    struct timespec now;
    s->lock = -1;
    s->folder = open(m->o.checkpoint_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->folder < 0) return fail(m, RVM_ERR_IO, "", strerror(errno));
    remove_left(s->folder);
    for (int tries = 0; tries < 100 && s->lock < 0; tries++) {
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(s->stem, NAME, "rvm-%ld-%llx-%d", (long)getpid(),
                 (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec, tries);
        snprintf(name, sizeof name, "%s.lock", s->stem);
        s->lock = openat(s->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (s->lock < 0 && errno != EEXIST) break;
    }
    if (s->lock >= 0 && !flock(s->lock, LOCK_EX | LOCK_NB)) return RVM_OK;
    return fail(m, RVM_ERR_IO, name, strerror(errno));
}

static void close_folder(struct rvm__spill *s) {
    if (s->lock >= 0) {
        remove_stem(s->folder, s->stem, strlen(s->stem));
        close(s->lock);
    }
    if (s->folder >= 0) close(s->folder);
}

static rvm_status begin(rvm_machine *m) {
    if (m->trail.spill) return RVM_OK;
    struct rvm__spill *s = rvm__zeroed(m, sizeof *s);
    if (!s) return RVM_ERR_MEMORY;
    const rvm_status status = open_folder(m, s);
    if (!status) {
        m->trail.spill = s;
        return RVM_OK;
    }
    close_folder(s);
    rvm__resize(m, s, sizeof *s, 0);
    return status;
}

void rvm__spill_end(rvm_machine *m) {
    if (!m->trail.spill) return;
    close_folder(m->trail.spill);
    rvm__resize(m, m->trail.spill, sizeof *m->trail.spill, 0);
    m->trail.spill = NULL;
}

void rvm__spill_forget(rvm_machine *m, uint64_t file) {
    char name[NAME];
    name_file(m, file, ".trail", name);
    unlinkat(m->trail.spill->folder, name, 0);
}

/* ---- bytes ---- */

static bool write_all(int fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t size) {
    char *at = bytes;
    while (size) {
        const ssize_t n = read(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Of n chunks from c down. */
static header head_of(const rvm__trail_chunk *c, uint32_t n) {
    header h = {.cells = 0};
    XXH3_state_t state;
    memcpy(h.magic, magic, sizeof magic);
    XXH3_64bits_reset(&state);
    for (; n--; c = c->below) {
        h.cells += c->cap;
        XXH3_64bits_update(&state, c->cells, (size_t)c->cap * CELL);
    }
    h.hash = XXH3_64bits_digest(&state);
    return h;
}

static bool write_chunks(int fd, const rvm__trail_chunk *c, uint32_t n) {
    const header h = head_of(c, n);
    bool good = write_all(fd, &h, sizeof h);
    for (; n-- && good; c = c->below) good = write_all(fd, c->cells, (size_t)c->cap * CELL);
    return good && !fsync(fd);
}

/* ---- out ---- */

static rvm_status write_file(rvm_machine *m, const rvm__trail_chunk *c, uint32_t n) {
    const struct rvm__spill *s = m->trail.spill;
    char part[NAME], name[NAME];
    name_file(m, s->next, ".part", part);
    name_file(m, s->next, ".trail", name);
    const int fd = openat(s->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write_chunks(fd, c, n);
    int why = errno;
    if (fd >= 0 && close(fd) && good) good = false, why = errno;
    if (good && renameat(s->folder, part, s->folder, name)) good = false, why = errno;
    if (good) return RVM_OK;
    unlinkat(s->folder, part, 0);
    return fail(m, RVM_ERR_IO, name, strerror(why));
}

static void give_room(rvm_machine *m, rvm__trail_chunk *c, uint32_t n) {
    for (; n--; c = c->below) {
        if (!c->cells) continue;
        rvm__resize(m, c->cells, (size_t)c->size * CELL, 0);
        c->cells = NULL;
        m->trail.granted -= (size_t)c->cap * CELL;
    }
}

rvm_status rvm__spill_out(rvm_machine *m, rvm__trail_stack *t) {
    uint32_t there = 0;
    rvm__trail_chunk *c = t->top ? t->top->below : NULL;
    for (rvm__trail_chunk *at = c; at && at->cells; at = at->below) there++;
    if (!there) return RVM_ERR_LIMIT;
    const uint32_t n = there / 2 + 1 < MOST_CHUNKS ? there / 2 + 1 : MOST_CHUNKS;
    for (uint32_t k = there - n; k--;) c = c->below;
    rvm_status status = begin(m);
    if (!status) status = write_file(m, c, n);
    if (status) return status;
    give_room(m, c, n);
    for (uint32_t k = n; k--; c = c->below) c->file = m->trail.spill->next;
    m->trail.spill->next++;
    return RVM_OK;
}

/* ---- in ---- */

static rvm_status take_room(rvm_machine *m, rvm__trail_chunk *c, uint32_t n) {
    for (; n--; c = c->below) {
        c->cells = rvm__resize(m, NULL, 0, (size_t)c->cap * CELL);
        c->size = c->cap;
        if (!c->cells) return RVM_ERR_MEMORY;
        m->trail.granted += (size_t)c->cap * CELL;
    }
    return RVM_OK;
}

static rvm_status read_chunks(rvm_machine *m, int fd, const char *name, rvm__trail_chunk *c, uint32_t n) {
    header h;
    if (fd < 0) return fail(m, RVM_ERR_IO, name, strerror(errno));
    bool good = read_all(fd, &h, sizeof h);
    uint32_t left = n;
    for (rvm__trail_chunk *at = c; left-- && good; at = at->below) good = read_all(fd, at->cells, (size_t)at->cap * CELL);
    if (!good) return fail(m, RVM_ERR_FORMAT, name, "it ends too early");
    const header is = head_of(c, n);
    return memcmp(&is, &h, sizeof h) == 0 ? RVM_OK : fail(m, RVM_ERR_FORMAT, name, "its checksum differs: it was changed");
}

/* c is the uppermost one of its file. The limit may be passed by as much as a file holds. */
rvm_status rvm__spill_in(rvm_machine *m, rvm__trail_chunk *c) {
    char name[NAME];
    uint32_t n = 0;
    for (const rvm__trail_chunk *at = c; at && !at->cells && at->file == c->file; at = at->below) n++;
    name_file(m, c->file, ".trail", name);
    const uint64_t file = c->file;
    rvm_status status = take_room(m, c, n);
    if (status) {
        give_room(m, c, n);
        return status;
    }
    const int fd = openat(m->trail.spill->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    status = read_chunks(m, fd, name, c, n);
    if (fd >= 0) close(fd);
    rvm__spill_forget(m, file);
    if (status) give_room(m, c, n);
    return status;
}

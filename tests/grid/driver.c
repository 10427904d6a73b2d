/* driver.c: what stands in for CUDA's driver where there is no device. Memory of the device is the host's; a kernel is an
 * object file for the host (jit/device/), and its threads are fibers: those of a warp meet in shuffles, those of a CTA at
 * barriers, else they run one after the other. RVM_CUDA_DRIVER names it.
 *
 * RVM_GRID_FAIL=NAME:N makes the N-th call of that function of the driver fail, with error 2 (out of memory) where NAME is
 * allocate, else with 719 (a launch failed), or RVM_GRID_ERROR, NAME:N:D the N-th of those on device D; RVM_GRID_MEMORY=N
 * limits memory of each device to N bytes; RVM_GRID_DEVICES=N: so many, RVM_GRID_SHARED=N what a CTA has,
 * RVM_GRID_MULTIPROCESSORS=N each. RVM_GRID_SIGNAL=N raises SIGUSR1 in the N-th launch. Of several each has memory of its
 * own: while a kernel runs no other's can be touched.
 * RVM_GRID_DEFER=1: a copy between it and the host is made only when the driver is called next. RVM_GRID_FAIL=wait:N: the
 * N-th wait for a stream tells of a failure before. rvm_grid_watch: a stream of who calls, which is never destroyed; what is
 * not sent there is counted in rvm_grid_elsewhere, what is in rvm_grid_there.
 * RVM_GRID_LIBDEVICE=1: elementary functions are libdevice's, where CUDA's toolkit is, as on a device, not the host's.
 * Each mistake of who calls ends the process: memory, a stream, an event or a kernel used that is not of the device whose
 * context is current, freed twice, or left over. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "functions.h"
#include "grid.h"

EXPORT extern int rvm_grid; /* 2: with libdevice's functions */
int rvm_grid;
__attribute__((constructor)) static void choose_functions(void) {
    rvm_grid = getenv("RVM_GRID_LIBDEVICE") ? 2 : 1;
}

void die(const char *what) {
    fprintf(stderr, "grid driver: %s\n", what);
    abort();
}

/* ---- devices: a context of one is its address; those that are entered are a stack ---- */

enum { MOST_DEVICES = 20, MOST_ENTERED = 8 };
typedef struct owner {
    size_t used; /* bytes */
    char stream, event;
} owner;
static owner contexts[MOST_DEVICES];
static owner *entered[MOST_ENTERED];
static unsigned depth;

static owner *current(void) {
    if (!depth) die("there is no context");
    return entered[depth - 1];
}

/* A stream, or an event, of that kind: of the current device, or who calls has made it. */
static void check_owner(const void *stream) {
    for (int d = 0; d < MOST_DEVICES; d++)
        if ((stream == &contexts[d].stream || stream == &contexts[d].event) && current() != &contexts[d])
            die("a stream or an event of another device");
}

EXPORT extern const void *rvm_grid_watch;
EXPORT extern unsigned rvm_grid_there, rvm_grid_elsewhere;
const void *rvm_grid_watch;
unsigned rvm_grid_there, rvm_grid_elsewhere;

/* A copy that is not made yet. */
static struct pending {
    void *to;
    const void *from;
    size_t bytes;
} pending;

static void flush(void) {
    if (pending.bytes) memcpy(pending.to, pending.from, pending.bytes);
    pending.bytes = 0;
}

/* What is sent to a stream comes behind all that was before. */
static void send_to(const void *stream) {
    check_owner(stream);
    flush();
    ++*(stream == rvm_grid_watch ? &rvm_grid_there : &rvm_grid_elsewhere);
}

/* ---- failures that are asked for ---- */

static long setting(const char *name, long usual) {
    const char *s = getenv(name);
    return s && *s ? atol(s) : usual;
}

static int fails(const char *name) {
    static int calls;
    if (getenv("RVM_GRID_RESET")) calls = 0, unsetenv("RVM_GRID_RESET");
    const char *asked = getenv("RVM_GRID_FAIL"), *on = asked ? strrchr(asked, ':') : NULL;
    const size_t n = strlen(name);
    if (!asked || strncmp(asked, name, n) != 0 || asked[n] != ':') return 0;
    if (on != asked + n && current() != &contexts[atoi(on + 1)]) return 0;
    if (++calls != atoi(asked + n + 1)) return 0;
    return strcmp(name, "allocate") == 0 ? 2 : (int)setting("RVM_GRID_ERROR", 719);
}

typedef struct known_error {
    int number;
    const char *name, *text;
} known_error;
static const known_error *error_of(int number) {
    static const known_error errors[] = {{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
                                         {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
                                         {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
                                         {0, "CUDA_ERROR", "it was asked to fail"}};
    const known_error *e = errors;
    while (e->number && e->number != number) e++;
    return e;
}

/* ---- modules ---- */

typedef struct kernel {
    void (*run)(void *);
    unsigned params;
    const owner *on;
} kernel;
typedef struct module {
    const owner *on;
    void *library; /* NULL: that of sums */
    kernel kernels[64];
    unsigned n;
} module;

/* An object file has no length of its own; its table of sections stands at its end. */
static size_t size_of(const char *object) {
    uint64_t at;
    uint16_t each, n;
    memcpy(&at, object + 40, sizeof at);
    memcpy(&each, object + 58, sizeof each);
    memcpy(&n, object + 60, sizeof n);
    return at + (size_t)each * n;
}

/* What has been linked stays: other devices, and who opens them again, load the same. Kernels have no variables of their
 * own. */
typedef struct linked {
    struct linked *next;
    void *library;
    size_t size;
    char object[];
} linked;

/* What kernels call of elementary functions: named here, they are linked into this file, in whose scope kernels are. */
#define LIBM(name)
#define OWN(name)                                 (void (*)(void)) rvm_##name,
#define FUNCTION(name, shape, who, error, serves) who(name)
__attribute__((used)) static void (*const functions_of_programs[])(void) = {
#include "functions.def"
#undef LIBM
#undef OWN
#undef FUNCTION
#if RVM_SLEEF
#define FUNCTION(name, shape, who, error, serves) (void (*)(void)) rvm_sleef_##name,
#include "functions.def"
#undef FUNCTION
#endif
};

static void *link_object(const char *object) {
    static linked *all;
    const char *folder = getenv("TMPDIR");
    char from[300], to[sizeof from + 4], command[2000];
    Dl_info self;
    const size_t size = size_of(object);
    for (const linked *l = all; l; l = l->next)
        if (l->size == size && !memcmp(l->object, object, size)) return l->library;
    if (snprintf(from, sizeof from, "%s/rvm_grid_XXXXXX.o", folder ? folder : "/tmp") >= (int)sizeof from)
        die("TMPDIR is too long");
    const int fd = mkstemps(from, 2);
    dladdr(&rvm_grid, &self);
    snprintf(to, sizeof to, "%s.so", from);
    if (fd < 0) die("an object cannot be written");
    const bool written = write(fd, object, size) == (ssize_t)size;
    close(fd);
    snprintf(command, sizeof command, "exec ld -shared -o %s %s %s %s", to, from, self.dli_fname, RVM_COMPILER_RUNTIME);
    const bool made = written && !system(command);
    void *library = made ? dlopen(to, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(from); /* whatever came of it */
    unlink(to);
    if (!library) die(made ? dlerror() : written ? "an object cannot be linked" : "an object cannot be written");
    linked *const one = malloc(sizeof *one + size);
    *one = (linked){all, library, size};
    memcpy(one->object, object, size);
    all = one;
    return library;
}

EXPORT int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values);
int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values) {
    (void)n, (void)options, (void)values;
    module *m = calloc(1, sizeof *m);
    const int failed = fails("module_load");
    if (failed) return free(m), failed;
    m->on = current();
    if (memcmp(image, "\177ELF", 4) == 0) m->library = link_object(image);
    *out = m;
    return 0;
}

EXPORT int cuModuleUnload(void *m);
int cuModuleUnload(void *m) {
    module *x = m;
    if (x->on != current()) die("a module of another device");
    free(x);
    return 0;
}

EXPORT int cuModuleGetFunction(void **f, void *m, const char *name);
int cuModuleGetFunction(void **f, void *m, const char *name) {
    module *x = m;
    kernel *k = &x->kernels[x->n++];
    char params[80];
    if (!x->library) {
        const sum_kernel *sum = sum_named(name);
        if (sum) *k = (kernel){sum->call, sum->params, x->on}, *f = k;
        return k->run ? 0 : 500;
    }
    snprintf(params, sizeof params, "%s_params", name);
    void *const found = dlsym(x->library, name);
    const int64_t *count = dlsym(x->library, params);
    if (!found || !count) return 500;
    memcpy(&k->run, &found, sizeof found);
    k->params = (unsigned)*count;
    k->on = x->on;
    *f = k;
    return 0;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, void *f);
int cuFuncGetAttribute(int *value, int attribute, void *f) {
    (void)attribute, (void)f;
    *value = 0;
    return 0;
}

/* ---- memory ---- */

typedef struct block {
    struct block *next;
    char *p;
    size_t size, mapped;
    owner *on;
    bool shut; /* it cannot be touched */
} block;
static block *blocks;

static void shut(block *b, bool shuts) {
    if (b->shut != shuts && mprotect(b->p, b->mapped, shuts ? PROT_NONE : PROT_READ | PROT_WRITE))
        die("memory cannot be kept apart");
    b->shut = shuts;
}

static void check_on(const owner *on, uint64_t p, size_t bytes) {
    for (block *b = blocks; b; b = b->next)
        if (b->on == on && p >= (uintptr_t)b->p && p - (uintptr_t)b->p <= b->size &&
            bytes <= b->size - (p - (uintptr_t)b->p)) {
            shut(b, false);
            return;
        }
    die("memory that is not the device's");
}

static void check(uint64_t p, size_t bytes) {
    check_on(current(), p, bytes);
}

/* Theirs is shut until it is copied or their kernels run: each call of mprotect costs. */
static void shut_others(void) {
    for (block *b = blocks; b; b = b->next) shut(b, b->on != current());
}

static int most_shared = 48 << 10;
EXPORT int cuFuncSetAttribute(void *f, int attribute, int value);
int cuFuncSetAttribute(void *f, int attribute, int value) {
    (void)f;
    if (attribute == 8) most_shared = value;
    return fails("function_set");
}

EXPORT int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *stream, void **params, void **extra);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **params, void **extra) {
    const kernel *k = f;
    static uint64_t arguments[1024];
    static long launches;
    const int failed = fails("launch");
    if (++launches == setting("RVM_GRID_SIGNAL", 0)) raise(SIGUSR1);
    (void)gy, (void)gz, (void)bz, (void)extra;
    if (failed) return failed;
    send_to(stream);
    if (k->on != current()) die("a kernel of another device");
    if (!gx || bx * by > MOST_THREADS || k->params > 1024) die("a launch of a wrong size");
    for (unsigned n = 0; n < k->params; n++) memcpy(&arguments[n], params[n], 8);
    if ((int)shared > most_shared) die("more shared memory than was asked for");
    shut_others();
    run_grid(&(grid){k->run, arguments, gx, bx, by, shared});
    return 0;
}

/* Memory that holds something, not zeros: pieces of one file, of which only the pages that are written become its own. Most
 * of a large one never is. */
static char *map_filled(size_t size) {
    enum { PIECE = 1 << 20 };
    static int file = -1;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return p;
    if (size < PIECE) return memset(p, 0x5a, size);
    if (file < 0) {
        file = memfd_create("filled", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, PIECE)) die("no memory to fill others with");
        char *all = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (all == MAP_FAILED) die("no memory to fill others with");
        munmap(memset(all, 0x5a, PIECE), PIECE);
    }
    for (size_t at = 0; at < size; at += PIECE)
        if (mmap(p + at, size - at < PIECE ? size - at : PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) ==
            MAP_FAILED)
            die("memory cannot be filled");
    return p;
}

EXPORT int cuMemAlloc_v2(uint64_t *p, size_t bytes);
int cuMemAlloc_v2(uint64_t *p, size_t bytes) {
    const int failed = fails("allocate");
    if (failed) return failed;
    if (current()->used + bytes > (size_t)setting("RVM_GRID_MEMORY", 1L << 40)) return 2;
    block *b = malloc(sizeof *b);
    const size_t mapped = (bytes + 4095) / 4096 * 4096;
    *b = (block){blocks, map_filled(mapped), bytes, mapped, current(), false};
    if (b->p == MAP_FAILED) return free(b), 2;
    blocks = b;
    b->on->used += bytes;
    *p = (uintptr_t)b->p;
    return 0;
}

EXPORT int cuMemFree_v2(uint64_t p);
int cuMemFree_v2(uint64_t p) {
    flush();
    for (block **link = &blocks, *b; (b = *link); link = &b->next)
        if ((uintptr_t)b->p == p && b->on == current()) {
            *link = b->next;
            b->on->used -= b->size;
            munmap(b->p, b->mapped);
            free(b);
            return 0;
        }
    die("memory is freed that is not the device's");
    return 1;
}

EXPORT int cuMemAllocHost_v2(void **p, size_t bytes);
int cuMemAllocHost_v2(void **p, size_t bytes) {
    *p = malloc(bytes);
    return *p ? 0 : 2;
}
EXPORT int cuMemFreeHost(void *p);
int cuMemFreeHost(void *p) {
    free(p);
    return 0;
}
static void copy_later(void *to, const void *from, size_t bytes) {
    pending = (struct pending){to, from, bytes};
    if (!setting("RVM_GRID_DEFER", 0)) flush();
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    const int failed = fails("upload");
    if (failed) return failed;
    send_to(stream);
    check(to, bytes);
    copy_later((void *)(uintptr_t)to, from, bytes);
    return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    const int failed = fails("download");
    if (failed) return failed;
    send_to(stream);
    check(from, bytes);
    copy_later(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    const int failed = fails("copy");
    if (failed) return failed;
    send_to(stream);
    check(to, bytes), check(from, bytes);
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
EXPORT int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes, void *stream);
int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes, void *stream) {
    const int failed = fails("copy_across");
    if (failed) return failed;
    send_to(stream);
    check_on(to_context, to, bytes), check_on(from_context, from, bytes);
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
EXPORT int cuMemsetD8Async(uint64_t p, unsigned char value, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t p, unsigned char value, size_t bytes, void *stream) {
    send_to(stream);
    check(p, bytes);
    memset((void *)(uintptr_t)p, value, bytes);
    return 0;
}
EXPORT int cuMemGetInfo_v2(size_t *left, size_t *total);
int cuMemGetInfo_v2(size_t *left, size_t *total) {
    *total = (size_t)setting("RVM_GRID_MEMORY", 1L << 40);
    *left = *total - current()->used;
    return 0;
}

/* ---- all else ---- */

#define DONE(name, ...)                                                                                                     \
    EXPORT int name(__VA_ARGS__);                                                                                           \
    int name(__VA_ARGS__) {                                                                                                 \
        return 0;                                                                                                           \
    }
#define SETS(name, to, value, ...)                                                                                          \
    EXPORT int name(__VA_ARGS__);                                                                                           \
    int name(__VA_ARGS__) {                                                                                                 \
        *to = value;                                                                                                        \
        return 0;                                                                                                           \
    }
#define OWNED(name, what, ...)                                                                                              \
    EXPORT int name(__VA_ARGS__);                                                                                           \
    int name(__VA_ARGS__) {                                                                                                 \
        check_owner(what);                                                                                                  \
        return 0;                                                                                                           \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
DONE(cuInit, unsigned flags)
SETS(cuDriverGetVersion, version, (int)setting("RVM_GRID_VERSION", 12000), int *version)
SETS(cuDeviceGetCount, count, (int)setting("RVM_GRID_DEVICES", 1), int *count)
SETS(cuDeviceGet, device, ordinal, int *device, int ordinal)
SETS(cuDeviceTotalMem_v2, bytes, (size_t)setting("RVM_GRID_MEMORY", 1L << 40), size_t *bytes, int device)
SETS(cuDevicePrimaryCtxRetain, context, (void *)&contexts[device], void **context, int device)
DONE(cuDevicePrimaryCtxRelease_v2, int device)
DONE(cuCtxSetLimit, int limit, size_t value)
SETS(cuStreamCreate, stream, (void *)&current()->stream, void **stream, unsigned flags)
SETS(cuEventCreate, event, (void *)&current()->event, void **event, unsigned flags)
OWNED(cuEventDestroy_v2, event, void *event)
OWNED(cuEventRecord, stream, void *event, void *stream)
SETS(cuEventElapsedTime, milliseconds, 1.0F, float *milliseconds, void *begin_event, void *end_event)
SETS(cuGetErrorName, name, error_of(error)->name, int error, const char **name)
SETS(cuGetErrorString, text, error_of(error)->text, int error, const char **text)

EXPORT int cuStreamDestroy_v2(void *stream);
int cuStreamDestroy_v2(void *stream) {
    check_owner(stream);
    if (stream == rvm_grid_watch) die("a stream of who calls is destroyed");
    return 0;
}
EXPORT int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream) {
    check_owner(stream);
    flush();
    return fails("wait");
}

EXPORT int cuCtxPushCurrent_v2(void *context_entered);
int cuCtxPushCurrent_v2(void *context_entered) {
    if (depth == MOST_ENTERED) die("contexts are entered and not left");
    entered[depth++] = context_entered;
    return 0;
}
EXPORT int cuCtxPopCurrent_v2(void **context_left);
int cuCtxPopCurrent_v2(void **context_left) {
    *context_left = current();
    depth--;
    return 0;
}

EXPORT int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "a grid on the host");
    return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 16   ? (int)setting("RVM_GRID_MULTIPROCESSORS", 1)
             : attribute == 75 ? (int)setting("RVM_GRID_MAJOR", 9)
             : attribute == 87 ? 2
             : attribute == 97 ? (int)setting("RVM_GRID_SHARED", 232448)
                               : 1;
    return 0;
}

/* driver.c: what stands in for CUDA's driver where there is no device. Memory of the device is the host's; a kernel is an
 * object file for the host (jit/device/), and its threads are fibers: those of a warp meet in shuffles, those of a CTA at
 * barriers, else they run one after the other. RVM_CUDA_DRIVER names it.
 *
 * RVM_GRID_FAIL=NAME:N makes the N-th call of that function of the driver fail, with error 2 (out of memory) where NAME is
 * allocate, else with 719 (a launch failed); RVM_GRID_MEMORY=N limits memory to N bytes, RVM_GRID_SHARED=N that of a CTA;
 * RVM_GRID_DEVICES=N: so many. Each mistake of who calls ends the process: memory used that is not the device's, freed
 * twice, or left over. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT extern const int rvm_grid;
const int rvm_grid = 1;

static void die(const char *what) {
    fprintf(stderr, "grid driver: %s\n", what);
    abort();
}

/* ---- failures that are asked for ---- */

static int fails(const char *name) {
    static int calls;
    if (getenv("RVM_GRID_RESET")) calls = 0, unsetenv("RVM_GRID_RESET");
    const char *asked = getenv("RVM_GRID_FAIL");
    const size_t n = strlen(name);
    if (!asked || strncmp(asked, name, n) != 0 || asked[n] != ':') return 0;
    if (++calls != atoi(asked + n + 1)) return 0;
    return strcmp(name, "allocate") == 0 ? 2 : 719;
}

static long setting(const char *name, long usual) {
    const char *s = getenv(name);
    return s && *s ? atol(s) : usual;
}

/* ---- threads as fibers: swapcontext enters one's stack once, _longjmp, without system calls, switches after that ---- */

enum { STACK = 1 << 20, MOST = 1024, WARP = 32 };
enum state { READY, SHUFFLES, WAITS, ENDED };
typedef struct fiber {
    char *stack;
    jmp_buf start, at; /* where its function begins; where it stopped */
    enum state state;
    uint32_t mask, bits;
    uint64_t value, got; /* of a shuffle */
    unsigned place;      /* of a barrier */
} fiber;

static fiber fibers[MOST];
static jmp_buf scheduler;
static unsigned running, threads;
static void (*body)(void *);
static void *argument;

typedef struct dim3 {
    unsigned x, y, z;
} dim3;
static dim3 threadIdx, blockIdx, blockDim, gridDim;

static void stop(enum state s) {
    fibers[running].state = s;
    if (_setjmp(fibers[running].at) == 0) _longjmp(scheduler, 1);
}

static ucontext_t entering;

static void begin(void) {
    if (_setjmp(fibers[running].start) == 0) setcontext(&entering);
    body(argument);
    fibers[running].state = ENDED;
    _longjmp(scheduler, 1);
}

static void make(fiber *f) {
    f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED) die("no memory for a thread's stack");
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = NULL;
    makecontext(&context, begin, 0);
    swapcontext(&entering, &context);
}

static void resume(fiber *f) {
    if (_setjmp(scheduler) == 0) _longjmp(f->at, 1);
}

static uint64_t shuffle(uint32_t mask, uint64_t value, uint32_t from) {
    fiber *f = &fibers[running];
    f->mask = mask;
    f->bits = from;
    f->value = value;
    if (!(mask >> running % WARP & 1)) die("a thread shuffles that the mask does not name");
    stop(SHUFFLES);
    return f->got;
}

/* Once all threads of the warp that the mask of one names, but those that have ended, are there with that mask. */
static bool meet_with(unsigned first, unsigned end, uint32_t mask) {
    for (unsigned k = first; k < end; k++)
        if (mask >> (k - first) & 1 && fibers[k].state != ENDED && (fibers[k].state != SHUFFLES || fibers[k].mask != mask))
            return false;
    for (unsigned k = first; k < end; k++) {
        const unsigned from = first + fibers[k].bits;
        if (!(mask >> (k - first) & 1) || fibers[k].state == ENDED) continue;
        fibers[k].got =
            from < end && fibers[from].state == SHUFFLES && mask >> (from - first) & 1 ? fibers[from].value : 0xdeadbeef;
    }
    for (unsigned k = first; k < end; k++)
        if (mask >> (k - first) & 1 && fibers[k].state == SHUFFLES) fibers[k].state = READY;
    return true;
}

static bool meet(unsigned first) {
    const unsigned end = first + WARP < threads ? first + WARP : threads;
    for (unsigned k = first; k < end; k++)
        if (fibers[k].state == SHUFFLES && meet_with(first, end, fibers[k].mask)) return true;
    return false;
}

/* All that have not ended are there, at the same one: control that differs may lead to none. */
static bool pass_barrier(void) {
    bool any = false;
    unsigned place = 0;
    for (unsigned k = 0; k < threads; k++) {
        if (fibers[k].state == READY || fibers[k].state == SHUFFLES) return false;
        if (fibers[k].state != WAITS) continue;
        if (any && fibers[k].place != place) die("threads wait at different barriers");
        place = fibers[k].place;
        any = true;
    }
    for (unsigned k = 0; k < threads; k++)
        if (fibers[k].state == WAITS) fibers[k].state = READY;
    return any;
}

static void run_cta(void) {
    for (running = 0; running < threads; running++) {
        fiber *f = &fibers[running];
        if (!f->stack) make(f);
        memcpy(&f->at, &f->start, sizeof f->at);
        f->state = READY;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (running = 0; running < threads; running++) {
            if (fibers[running].state != READY) continue;
            threadIdx = (dim3){running % blockDim.x, running / blockDim.x, 0};
            resume(&fibers[running]);
            moved = true;
        }
        for (unsigned w = 0; w < threads; w += WARP) moved |= meet(w);
        if (!moved) moved = pass_barrier();
    }
    for (unsigned k = 0; k < threads; k++)
        if (fibers[k].state != ENDED) die("threads wait for each other");
}

/* ---- what kernels call ---- */

EXPORT uint32_t rvm_grid_tid(void);
EXPORT uint32_t rvm_grid_ctaid(void);
EXPORT uint32_t rvm_grid_ntid(void);
EXPORT uint32_t rvm_grid_nctaid(void);
EXPORT uint32_t rvm_grid_shuffle(uint32_t mask, uint32_t x, uint32_t bits);
EXPORT void rvm_grid_exit(void);
EXPORT void *rvm_grid_shared(void);
EXPORT void rvm_grid_barrier(uint32_t place);
uint32_t rvm_grid_tid(void) {
    return threadIdx.x;
}
uint32_t rvm_grid_ctaid(void) {
    return blockIdx.x;
}
uint32_t rvm_grid_ntid(void) {
    return blockDim.x;
}
uint32_t rvm_grid_nctaid(void) {
    return gridDim.x;
}
uint32_t rvm_grid_shuffle(uint32_t mask, uint32_t x, uint32_t bits) {
    return (uint32_t)shuffle(mask, x, (running % WARP) ^ bits);
}
void rvm_grid_exit(void) {
    stop(ENDED);
}

/* Of a CTA, as much as the launch asked for; what lies behind it may not change. */
enum { BEHIND = 4096, MARK = 0xa5 };
static unsigned char *shared_memory;
static size_t shared_size;
void *rvm_grid_shared(void) {
    return shared_memory;
}
void rvm_grid_barrier(uint32_t place) {
    fibers[running].place = place;
    stop(WAITS);
}
static void begin_shared(void) {
    if (shared_size > 232448) die("more shared memory than there is");
    shared_memory = malloc(shared_size + BEHIND);
    memset(shared_memory, 0x5a, shared_size);
    memset(shared_memory + shared_size, MARK, BEHIND);
}
static void end_shared(void) {
    for (size_t k = 0; k < BEHIND; k++)
        if (shared_memory[shared_size + k] != MARK) die("memory behind the shared memory has changed");
    free(shared_memory);
}

/* ---- the kernels of cuda/sums.cu ---- */

#define KERNEL static void
#define DEVICE static
#define UNROLL
#define __shared__ static
static double __longlong_as_double(unsigned long long x) {
    double y;
    return memcpy(&y, &x, sizeof y), y;
}
static unsigned long long __double_as_longlong(double x) {
    unsigned long long y;
    return memcpy(&y, &x, sizeof y), y;
}
static unsigned long long __shfl_down_sync(uint32_t mask, unsigned long long x, unsigned by, unsigned width) {
    const unsigned lane = running % WARP;
    return shuffle(mask, x, lane % width + by < width ? lane + by : lane);
}
static void __syncthreads(void) {
    fibers[running].place = 0;
    stop(WAITS);
}
#include "../../cuda/sums.cu"

static void call_sum_terms(void *p) {
    const uint64_t *v = p;
    rvm_sum_terms((const number *)(uintptr_t)v[0], v[1], v[2], v[3], v[4], (number *)(uintptr_t)v[5]);
}
static void call_sum_copies(void *p) {
    const uint64_t *v = p;
    rvm_sum_copies((double *)(uintptr_t)v[0], (const char *)(uintptr_t)v[1], v[2], v[3], v[4]);
}

static void call_sum_log(void *p) {
    const uint64_t *v = p;
    rvm_sum_log((double *const *)(uintptr_t)v[0], (const unsigned *)(uintptr_t)v[1], (const unsigned *)(uintptr_t)v[2],
                (const double *)(uintptr_t)v[3], v[4], v[5], (unsigned)v[6]);
}
static const struct {
    const char *name;
    void (*call)(void *);
    unsigned params;
} sums[] = {{"rvm_sum_terms", call_sum_terms, 6}, {"rvm_sum_copies", call_sum_copies, 5}, {"rvm_sum_log", call_sum_log, 7}};

/* ---- modules ---- */

typedef struct kernel {
    void (*run)(void *);
    unsigned params;
} kernel;
typedef struct module {
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

static void *link_object(const char *object) {
    char from[] = "/tmp/rvm_grid_XXXXXX.o", to[sizeof from + 4], command[1000];
    Dl_info self;
    const int fd = mkstemps(from, 2);
    const size_t size = size_of(object);
    dladdr(&rvm_grid, &self);
    snprintf(to, sizeof to, "%s.so", from);
    if (fd < 0 || write(fd, object, size) != (ssize_t)size) die("an object cannot be written");
    close(fd);
    snprintf(command, sizeof command, "exec ld -shared -o %s %s %s %s", to, from, self.dli_fname, RVM_COMPILER_RUNTIME);
    if (system(command)) die("an object cannot be linked");
    void *library = dlopen(to, RTLD_NOW | RTLD_LOCAL);
    if (!library) die(dlerror());
    unlink(from);
    unlink(to);
    return library;
}

EXPORT int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values);
int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values) {
    (void)n, (void)options, (void)values;
    module *m = calloc(1, sizeof *m);
    const int failed = fails("module_load");
    if (failed) return free(m), failed;
    if (memcmp(image, "\177ELF", 4) == 0) m->library = link_object(image);
    *out = m;
    return 0;
}

EXPORT int cuModuleUnload(void *m);
int cuModuleUnload(void *m) {
    module *x = m;
    if (x->library) dlclose(x->library);
    free(x);
    return 0;
}

EXPORT int cuModuleGetFunction(void **f, void *m, const char *name);
int cuModuleGetFunction(void **f, void *m, const char *name) {
    module *x = m;
    kernel *k = &x->kernels[x->n++];
    char params[80];
    if (!x->library) {
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
            if (!strcmp(name, sums[i].name)) *k = (kernel){sums[i].call, sums[i].params}, *f = k;
        return k->run ? 0 : 500;
    }
    snprintf(params, sizeof params, "%s_params", name);
    void *const found = dlsym(x->library, name);
    const int64_t *count = dlsym(x->library, params);
    if (!found || !count) return 500;
    memcpy(&k->run, &found, sizeof found);
    k->params = (unsigned)*count;
    *f = k;
    return 0;
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, void *f);
int cuFuncGetAttribute(int *value, int attribute, void *f) {
    (void)attribute, (void)f;
    *value = 0;
    return 0;
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
    const int failed = fails("launch");
    (void)gy, (void)gz, (void)bz, (void)stream, (void)extra;
    if (failed) return failed;
    if (!gx || bx * by > MOST || k->params > 1024) die("a launch of a wrong size");
    for (unsigned n = 0; n < k->params; n++) memcpy(&arguments[n], params[n], 8);
    gridDim = (dim3){gx, 1, 1};
    blockDim = (dim3){bx, by, 1};
    threads = bx * by;
    body = k->run;
    argument = arguments;
    if ((int)shared > most_shared) die("more shared memory than was asked for");
    shared_size = shared;
    for (unsigned n = 0; n < gx; n++) {
        blockIdx = (dim3){n, 0, 0};
        begin_shared();
        run_cta();
        end_shared();
    }
    return 0;
}

/* ---- memory ---- */

typedef struct block {
    struct block *next;
    char *p;
    size_t size;
} block;
static block *blocks;
static size_t used;

static void check(uint64_t p, size_t bytes) {
    for (const block *b = blocks; b; b = b->next)
        if (p >= (uintptr_t)b->p && p - (uintptr_t)b->p <= b->size && bytes <= b->size - (p - (uintptr_t)b->p)) return;
    die("memory that is not the device's");
}

EXPORT int cuMemAlloc_v2(uint64_t *p, size_t bytes);
int cuMemAlloc_v2(uint64_t *p, size_t bytes) {
    const int failed = fails("allocate");
    if (failed) return failed;
    if (used + bytes > (size_t)setting("RVM_GRID_MEMORY", 1L << 40)) return 2;
    block *b = malloc(sizeof *b);
    *b = (block){blocks, malloc(bytes), bytes};
    memset(b->p, 0x5a, bytes);
    blocks = b;
    used += bytes;
    *p = (uintptr_t)b->p;
    return 0;
}

EXPORT int cuMemFree_v2(uint64_t p);
int cuMemFree_v2(uint64_t p) {
    for (block **link = &blocks, *b; (b = *link); link = &b->next)
        if ((uintptr_t)b->p == p) {
            *link = b->next;
            used -= b->size;
            free(b->p);
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
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    const int failed = fails("upload");
    (void)stream;
    if (failed) return failed;
    check(to, bytes);
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    const int failed = fails("download");
    (void)stream;
    if (failed) return failed;
    check(from, bytes);
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    check(to, bytes), check(from, bytes);
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}
EXPORT int cuMemsetD8Async(uint64_t p, unsigned char value, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t p, unsigned char value, size_t bytes, void *stream) {
    (void)stream;
    check(p, bytes);
    memset((void *)(uintptr_t)p, value, bytes);
    return 0;
}
EXPORT int cuMemGetInfo_v2(size_t *left, size_t *total);
int cuMemGetInfo_v2(size_t *left, size_t *total) {
    *total = (size_t)setting("RVM_GRID_MEMORY", 1L << 40);
    *left = *total - used;
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
#pragma GCC diagnostic ignored "-Wunused-parameter"
DONE(cuInit, unsigned flags)
SETS(cuDriverGetVersion, version, (int)setting("RVM_GRID_VERSION", 12000), int *version)
SETS(cuDeviceGetCount, count, (int)setting("RVM_GRID_DEVICES", 1), int *count)
SETS(cuDeviceGet, device, ordinal, int *device, int ordinal)
SETS(cuDeviceTotalMem_v2, bytes, (size_t)setting("RVM_GRID_MEMORY", 1L << 40), size_t *bytes, int device)
SETS(cuDevicePrimaryCtxRetain, context, (void *)&used, void **context, int device)
DONE(cuDevicePrimaryCtxRelease_v2, int device)
DONE(cuCtxPushCurrent_v2, void *context)
SETS(cuCtxPopCurrent_v2, context, (void *)&used, void **context)
DONE(cuCtxSetLimit, int limit, size_t value)
SETS(cuStreamCreate, stream, (void *)&used, void **stream, unsigned flags)
DONE(cuStreamDestroy_v2, void *stream)
DONE(cuStreamSynchronize, void *stream)
SETS(cuEventCreate, event, (void *)&used, void **event, unsigned flags)
DONE(cuEventDestroy_v2, void *event)
DONE(cuEventRecord, void *event, void *stream)
SETS(cuEventElapsedTime, milliseconds, 1.0F, float *milliseconds, void *begin_event, void *end_event)
SETS(cuGetErrorName, name, error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR", int error, const char **name)
SETS(cuGetErrorString, text, error == 2 ? "out of memory" : "it was asked to fail", int error, const char **text)

EXPORT int cuDeviceGetName(char *name, int length, int device);
int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "a grid on the host");
    return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75   ? (int)setting("RVM_GRID_MAJOR", 9)
             : attribute == 87 ? 2
             : attribute == 97 ? (int)setting("RVM_GRID_SHARED", 232448)
                               : 1;
    return 0;
}

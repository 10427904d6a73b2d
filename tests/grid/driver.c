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

#define EXPORT __attribute__((visibility("default")))
EXPORT extern int rvm_grid; /* 2: with libdevice's functions */
int rvm_grid;
__attribute__((constructor)) static void choose_functions(void) {
    rvm_grid = getenv("RVM_GRID_LIBDEVICE") ? 2 : 1;
}

static void die(const char *what) {
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

/* ---- threads as fibers ---- */

/* Where one stopped. Elsewhere swapcontext serves, which is slow: it calls the system. */
#ifdef __x86_64__
typedef void *halt; /* its stack, and on it the registers that a function keeps */
void rvm_grid_switch(halt *from, halt *to);
__asm__(".text\n"
        "rvm_grid_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq (%rsi), %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n");
static void begin_at(halt *c, char *stack, size_t size, void (*f)(void)) {
    enum { KEPT = 6 };
    void **top = (void **)(void *)(stack + size / 16 * 16 - 2 * sizeof(void *));
    memset(top - KEPT, 0, (KEPT + 2) * sizeof *top);
    memcpy(top, &f, sizeof f); /* to which the switch returns */
    *c = top - KEPT;
}
#else
#include <ucontext.h>
typedef ucontext_t halt;
static void rvm_grid_switch(halt *from, halt *to) {
    swapcontext(from, to);
}
static void begin_at(halt *c, char *stack, size_t size, void (*f)(void)) {
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = size;
    c->uc_link = NULL;
    makecontext(c, f, 0);
}
#endif

/* Stacks end at different places of a page, else the same few lines of a cache held what all threads use. */
enum { STACK = 1 << 20, APART = 5 * 64, PLACES = 128, MOST = 1024, WARP = 32 };
enum state { READY, SHUFFLES, WAITS, ENDED };
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
typedef struct fiber {
    char *stack;
    halt at; /* where it stopped */
    enum state state;
    uint32_t mask, bits;
    uint64_t value, got; /* of a shuffle */
    unsigned barrier;    /* at which it waits */
    dim3 index;
} fiber;

static fiber fibers[MOST];
static halt scheduler;
static unsigned running, threads;
static uint32_t ready; /* those of its warp */
static void (*body)(void *);
static void *argument;
static dim3 threadIdx, blockIdx, blockDim, gridDim;

/* The first of those that are ready runs on from there. */
static halt *next_of(unsigned warp) {
    running = warp + (unsigned)__builtin_ctz(ready);
    threadIdx = fibers[running].index;
    return &fibers[running].at;
}

static bool meet(unsigned warp);

/* The next of the warp goes on at once, without the scheduler: half as many switches, and each returns to where the
 * processor expects it. */
static void stop(enum state s) {
    fiber *f = &fibers[running];
    const unsigned warp = running / WARP * WARP;
    f->state = s;
    ready &= ready - 1;
    halt *const next = ready || meet(warp) ? next_of(warp) : &scheduler;
    if (next != &f->at) rvm_grid_switch(&f->at, next);
}

static void begin(void) {
    body(argument);
    stop(ENDED);
}

static void make_ready(unsigned k) {
    fiber *f = &fibers[k];
    if (!f->stack) f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED) die("no memory for a thread's stack");
    begin_at(&f->at, f->stack, STACK - (size_t)k % PLACES * APART, begin);
    f->state = READY;
    f->index = (dim3){k % blockDim.x, k / blockDim.x, 0};
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

/* What a thread that shuffles asks for in place of another one's value: who has one that is not 0. */
enum { BALLOT = 0x10000 };

/* Once all threads of the warp that the mask of one names, but those that have ended, are there with that mask. */
static bool meet_with(unsigned warp, unsigned n, uint32_t mask) {
    fiber *const f = &fibers[warp];
    uint32_t there = 0;
    uint64_t set = 0;
    for (unsigned k = 0; k < n; k++) {
        if (!(mask >> k & 1) || f[k].state == ENDED) continue;
        if (f[k].state != SHUFFLES || f[k].mask != mask) return false;
        there |= UINT32_C(1) << k;
        if (f[k].value) set |= UINT64_C(1) << k;
    }
    for (uint32_t left = there; left; left &= left - 1) {
        fiber *const to = &f[__builtin_ctz(left)];
        if (to->bits == BALLOT)
            to->got = set;
        else
            to->got = to->bits < n && there >> to->bits & 1 ? f[to->bits].value : 0xdeadbeef;
        to->state = READY;
    }
    ready |= there;
    return true;
}

static bool meet(unsigned warp) {
    const unsigned n = warp + WARP < threads ? WARP : threads - warp;
    for (unsigned k = 0; k < n; k++)
        if (fibers[warp + k].state == SHUFFLES && meet_with(warp, n, fibers[warp + k].mask)) return true;
    return false;
}

/* Until all its threads have ended or wait for those of other warps. */
static void run_warp(unsigned warp) {
    ready = 0;
    for (unsigned k = 0; k < WARP && warp + k < threads; k++)
        if (fibers[warp + k].state == READY) ready |= UINT32_C(1) << k;
    if (ready) rvm_grid_switch(&scheduler, next_of(warp));
}

/* All that have not ended are there, at the same one: control that differs may lead to none. */
static bool pass_barrier(void) {
    bool any = false;
    unsigned place = 0;
    for (unsigned k = 0; k < threads; k++) {
        if (fibers[k].state == SHUFFLES) return false;
        if (fibers[k].state != WAITS) continue;
        if (any && fibers[k].barrier != place) die("threads wait at different barriers");
        place = fibers[k].barrier;
        any = true;
    }
    for (unsigned k = 0; k < threads; k++)
        if (fibers[k].state == WAITS) fibers[k].state = READY;
    return any;
}

static void run_cta(void) {
    for (unsigned k = 0; k < threads; k++) make_ready(k);
    do
        for (unsigned warp = 0; warp < threads; warp += WARP) run_warp(warp);
    while (pass_barrier());
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
    fibers[running].barrier = place;
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

#include "sums.inc"

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
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
            if (!strcmp(name, sums[i].name)) *k = (kernel){sums[i].call, sums[i].params, x->on}, *f = k;
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
    if (!gx || bx * by > MOST || k->params > 1024) die("a launch of a wrong size");
    for (unsigned n = 0; n < k->params; n++) memcpy(&arguments[n], params[n], 8);
    gridDim = (dim3){gx, 1, 1};
    blockDim = (dim3){bx, by, 1};
    threads = bx * by;
    body = k->run;
    argument = arguments;
    if ((int)shared > most_shared) die("more shared memory than was asked for");
    shared_size = shared;
    shut_others();
    for (unsigned n = 0; n < gx; n++) {
        blockIdx = (dim3){n, 0, 0};
        begin_shared();
        run_cta();
        end_shared();
    }
    return 0;
}

EXPORT int cuMemAlloc_v2(uint64_t *p, size_t bytes);
int cuMemAlloc_v2(uint64_t *p, size_t bytes) {
    const int failed = fails("allocate");
    if (failed) return failed;
    if (current()->used + bytes > (size_t)setting("RVM_GRID_MEMORY", 1L << 40)) return 2;
    block *b = malloc(sizeof *b);
    const size_t mapped = (bytes + 4095) / 4096 * 4096;
    *b = (block){blocks,    mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                 bytes,     mapped,
                 current(), false};
    if (b->p == MAP_FAILED) return free(b), 2;
    memset(b->p, 0x5a, bytes);
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

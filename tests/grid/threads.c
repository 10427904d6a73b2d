/* threads.c: a kernel's threads as fibers: those of a warp meet in shuffles, those of a CTA at barriers, else they run one
 * after the other. What kernels call of it, and the kernels of cuda/sums.cu. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "grid.h"

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
enum { STACK = 1 << 20, APART = 5 * 64, PLACES = 128, WARP = 32 };
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

static fiber fibers[MOST_THREADS];
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

const sum_kernel *sum_named(const char *name) {
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
        if (!strcmp(name, sums[k].name)) return &sums[k];
    return NULL;
}

void run_grid(const grid *g) {
    gridDim = (dim3){g->ctas, 1, 1};
    blockDim = (dim3){g->width, g->height, 1};
    threads = g->width * g->height;
    body = g->run;
    argument = g->arguments;
    shared_size = g->shared;
    for (unsigned n = 0; n < g->ctas; n++) {
        blockIdx = (dim3){n, 0, 0};
        begin_shared();
        run_cta();
        end_shared();
    }
}

/* module.c: the one thing that the module exports. Requests are guarded: where LLVM runs out of memory they fail, and where
 * it crashes they are made once more without its vectorizers, in which most of its faults are. What compiles goes through
 * calls and expressions by recursion, as LLVM does: it has a thread with enough stack of its own, whatever the caller's is
 * like. */
#include "engine.h"
#include "crash.h"
#include "guarded.h"
#include "support.h"
#include "thread.h"

typedef struct request {
    enum { OPEN, COMPILE, LINK, PRINT, OBJECT } kind;
    rvm__compiler *c;
    const rvm__lowering *what;
    const rvm__compiler_options *options;
    const rvm__object *object;
    const char *cpu, **about;
    uint64_t *stack;
    rvm_jit_form form;
    void *out;
} request;

static rvm_status carry_out(void *p, rvm_error *err) {
    const request *r = p;
    switch (r->kind) {
    case OPEN: return rvm__compiler_open(r->options, r->out, r->about, err);
    case COMPILE: return rvm__compiler_compile(r->c, r->what, r->out, err);
    case LINK: return rvm__compiler_link(r->c, r->object, r->out, err);
    case PRINT: return rvm__compiler_print(r->c, r->what, r->form, r->out, err);
    case OBJECT: return rvm__compiler_object(r->c, r->what, r->cpu, r->out, r->stack, err);
    }
    return RVM_ERR_INTERNAL;
}

typedef struct errand {
    request *r;
    rvm_status status;
    bool crashed;
    rvm_error *err;
} errand;

static void *run_errand(void *p) {
    errand *x = p;
    char stack[RVM__CRASH_STACK];
    rvm__crash_thread(stack);
    x->status = rvm__guarded(carry_out, x->r, &x->crashed, x->err);
    rvm__crash_thread(NULL);
    return NULL;
}

/* In a thread of its own, for which the caller waits. */
static bool run_apart(errand *x) {
    enum { ROOMY = 64 << 20, ENOUGH = 8 << 20 };
    pthread_t thread;
    if (!rvm__thread_start(&thread, ROOMY, run_errand, x) && !rvm__thread_start(&thread, ENOUGH, run_errand, x))
        return false;
    pthread_join(thread, NULL);
    return true;
}

static rvm_status carry_out_apart(request r, rvm_error *err) {
    errand x = {.r = &r, .err = err};
    bool ran = run_apart(&x);
    if (ran && x.crashed) {
        rvm__lowering plain = *r.what;
        plain.plain = true;
        r.what = &plain;
        ran = run_apart(&x);
    }
    return ran ? x.status : rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "there is no memory for a thread that compiles");
}

static rvm_status carry_out_here(request r, rvm_error *err) {
    bool crashed;
    return rvm__guarded(carry_out, &r, &crashed, err);
}

static rvm_status module_open(const rvm__compiler_options *o, rvm__compiler **out, const char **about, rvm_error *err) {
    return carry_out_here((request){OPEN, .options = o, .out = out, .about = about}, err);
}

static void module_close(rvm__compiler *c) {
    if (!rvm__llvm_out_of_memory()) rvm__compiler_close(c);
}

static rvm_status module_compile(rvm__compiler *c, const rvm__lowering *what, rvm__object *out, rvm_error *err) {
    return carry_out_apart((request){COMPILE, .c = c, .what = what, .out = out}, err);
}

static rvm_status module_link(rvm__compiler *c, const rvm__object *object, rvm__compiled *out, rvm_error *err) {
    return carry_out_here((request){LINK, .c = c, .object = object, .out = out}, err);
}

static rvm_status module_print(rvm__compiler *c, const rvm__lowering *what, rvm_jit_form form, FILE *out, rvm_error *err) {
    return carry_out_apart((request){PRINT, .c = c, .what = what, .form = form, .out = out}, err);
}

static rvm_status module_object(rvm__compiler *c, const rvm__lowering *what, const char *cpu, FILE *out, uint64_t *stack,
                                rvm_error *err) {
    return carry_out_apart((request){OBJECT, .c = c, .what = what, .cpu = cpu, .out = out, .stack = stack}, err);
}

RVM_API const rvm__module *rvm_llvm_module(void);

const rvm__module *rvm_llvm_module(void) {
    static const rvm__module module = {.interface = RVM__MODULE_INTERFACE,
                                       .machine_size = sizeof(rvm_machine),
                                       .version = RVM_VERSION_STRING,
                                       .open = module_open,
                                       .close = module_close,
                                       .compile = module_compile,
                                       .link = module_link,
                                       .print = module_print,
                                       .object = module_object};
    return &module;
}

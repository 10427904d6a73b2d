/* module.c: the one thing that the module exports. Requests are guarded: where LLVM runs out of memory they fail. */
#include "engine.h"
#include "exhausted.h"

typedef struct request {
    enum { OPEN, COMPILE, LINK, PRINT, OBJECT } kind;
    rvm__compiler *c;
    const rvm__lowering *what;
    const rvm__compiler_options *options;
    const rvm__object *object;
    const char *cpu, **about;
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
    case OBJECT: return rvm__compiler_object(r->c, r->what, r->cpu, r->out, err);
    }
    return RVM_ERR_INTERNAL;
}

static rvm_status module_open(const rvm__compiler_options *o, rvm__compiler **out, const char **about, rvm_error *err) {
    return rvm__guarded(carry_out, &(request){OPEN, .options = o, .out = out, .about = about}, err);
}

static void module_close(rvm__compiler *c) {
    if (!rvm__exhausted()) rvm__compiler_close(c);
}

static rvm_status module_compile(rvm__compiler *c, const rvm__lowering *what, rvm__object *out, rvm_error *err) {
    return rvm__guarded(carry_out, &(request){COMPILE, .c = c, .what = what, .out = out}, err);
}

static rvm_status module_link(rvm__compiler *c, const rvm__object *object, rvm__compiled *out, rvm_error *err) {
    return rvm__guarded(carry_out, &(request){LINK, .c = c, .object = object, .out = out}, err);
}

static rvm_status module_print(rvm__compiler *c, const rvm__lowering *what, rvm_jit_form form, FILE *out, rvm_error *err) {
    return rvm__guarded(carry_out, &(request){PRINT, .c = c, .what = what, .form = form, .out = out}, err);
}

static rvm_status module_object(rvm__compiler *c, const rvm__lowering *what, const char *cpu, FILE *out, rvm_error *err) {
    return rvm__guarded(carry_out, &(request){OBJECT, .c = c, .what = what, .cpu = cpu, .out = out}, err);
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

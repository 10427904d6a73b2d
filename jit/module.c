/* module.c: the one thing that the module exports. Requests are guarded: where LLVM runs out of memory they fail. */
#include "engine.h"
#include "exhausted.h"

typedef struct request {
    rvm__compiler *c;
    const rvm__lowering *what;
    const rvm__compiler_options *options;
    const rvm__object *object;
    const char *cpu;
    rvm_jit_form form;
    FILE *file;
    void *out;
    const char **about;
} request;

static rvm_status open_guarded(void *p, rvm_error *err) {
    const request *r = p;
    return rvm__compiler_open(r->options, r->out, r->about, err);
}

static rvm_status module_open(const rvm__compiler_options *o, rvm__compiler **out, const char **about, rvm_error *err) {
    request r = {.options = o, .out = out, .about = about};
    return rvm__guarded(open_guarded, &r, err);
}

static void module_close(rvm__compiler *c) {
    if (!rvm__exhausted()) rvm__compiler_close(c);
}

static rvm_status compile_guarded(void *p, rvm_error *err) {
    const request *r = p;
    return rvm__compiler_compile(r->c, r->what, r->out, err);
}

static rvm_status module_compile(rvm__compiler *c, const rvm__lowering *what, rvm__object *out, rvm_error *err) {
    request r = {.c = c, .what = what, .out = out};
    return rvm__guarded(compile_guarded, &r, err);
}

static rvm_status link_guarded(void *p, rvm_error *err) {
    const request *r = p;
    return rvm__compiler_link(r->c, r->object, r->out, err);
}

static rvm_status module_link(rvm__compiler *c, const rvm__object *object, rvm__compiled *out, rvm_error *err) {
    request r = {.c = c, .object = object, .out = out};
    return rvm__guarded(link_guarded, &r, err);
}

static rvm_status print_guarded(void *p, rvm_error *err) {
    const request *r = p;
    return rvm__compiler_print(r->c, r->what, r->form, r->file, err);
}

static rvm_status module_print(rvm__compiler *c, const rvm__lowering *what, rvm_jit_form form, FILE *out, rvm_error *err) {
    request r = {.c = c, .what = what, .form = form, .file = out};
    return rvm__guarded(print_guarded, &r, err);
}

static rvm_status object_guarded(void *p, rvm_error *err) {
    const request *r = p;
    return rvm__compiler_object(r->c, r->what, r->cpu, r->file, err);
}

static rvm_status module_object(rvm__compiler *c, const rvm__lowering *what, const char *cpu, FILE *out, rvm_error *err) {
    request r = {.c = c, .what = what, .cpu = cpu, .file = out};
    return rvm__guarded(object_guarded, &r, err);
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

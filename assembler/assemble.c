/* assemble.c: the public functions: read, parse all files, lower all functions, verify. */
#include "asm.h"
#include "builder.h"
#include "support.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_pi(assembler *a) {
    name *n = rvm__intern(a, "pi", 2);
    constant *c = rvm__arena(a, sizeof *c);
    expr *e = rvm__expr_new(a, E_REAL, (span){0, 0, 0, 0}, 0);
    if (!n || !c || !e) return;
    rvm__set_real(e, 3.14159265358979323846);
    *c = (constant){.name = n, .expr = e, .type = T_NONE};
    n->constant = c;
}

static rvm_status check_options(const rvm_asm_options *o, rvm_error *err) {
    rvm_math math;
    if (!o || (unsigned)o->real < RVM_TYPE_COUNT) return rvm_math_choose(o ? o->math : RVM_MATH_AUTO, &math, err);
    return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no type has number %d, which is to be `real`", (int)o->real);
}

static bool start(assembler *a, const rvm_asm_options *options) {
    *a = (assembler){.options = options ? *options : (rvm_asm_options){.real = RVM_F64}};
    if (a->options.real == RVM_I64) a->options.real = RVM_F64;
    rvm_math_choose(a->options.math, &a->options.math, NULL);
    a->al = a->options.allocator ? *a->options.allocator : rvm__libc_allocator;
    a->funcs_end = &a->funcs;
    a->constants_end = &a->constants;
    a->callees_end = &a->callees;
    a->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    a->program = rvm__program_new(&a->al);
    a->oom = !a->c_locale || !a->program;
    if (a->program) a->program->exact = a->options.exact;
    if (!a->oom) add_pi(a);
    if (!a->oom && !rvm__add_complex(a)) a->oom = true;
    return !a->oom;
}

static void finish(assembler *a) {
    if (a->c_locale) freelocale(a->c_locale);
    for (uint32_t k = 0; k < a->nsources; k++)
        rvm__realloc(&a->al, a->sources[k].files, a->sources[k].cap_files * sizeof *a->sources->files, 0);
    rvm__realloc(&a->al, a->sources, a->cap_sources * sizeof *a->sources, 0);
    rvm__realloc(&a->al, a->messages, a->cap_messages * sizeof *a->messages, 0);
    rvm_program_free(a->program);
    rvm__arena_free(a);
}

static void build(assembler *a) {
    for (uint32_t k = 0; k < a->nsources && !a->oom; k++) rvm__scan_file(a, (uint16_t)k); /* grows as files are included */
    for (uint32_t k = 0; k < a->nsources && !a->oom; k++) rvm__parse_file(a, (uint16_t)k);
    for (constant *c = a->constants; c && !a->oom; c = c->next) rvm__constant_resolve(a, c);
    for (func *f = a->funcs; f && !a->oom; f = f->next) {
        int64_t k = rvm__program_add_function(a->program, f->name->text, f->name->length);
        if (k < 0) a->oom = true;
        f->index = (uint32_t)k;
    }
    rvm__resolve_derived(a);
    for (func *f = a->funcs; f && !a->oom; f = f->next)
        if (f->is_raw) rvm__lower_raw_fn(a, f);
    for (func *f = a->funcs; f && !a->oom; f = f->next)
        if (!f->is_raw) rvm__declare_function(a, f);
    if (!a->oom) rvm__declare_derived(a);
    for (func *f = a->funcs; f && !a->oom; f = f->next)
        if (!f->is_raw) rvm__lower_function(a, f);
}

/* A function without code is the verifier's to tell of: to the transforms it would be one that they are to write. */
static bool all_coded(const assembler *a) {
    for (const func *f = a->funcs; f; f = f->next)
        if (!a->program->functions[f->index].ncode) return false;
    return true;
}

/* Writes the derived functions, and verifies. */
static void finish_program(assembler *a) {
    rvm_error e = {0};
    bool derive = a->callees && all_coded(a);
    rvm_status st = derive ? rvm__transform_resolve(a->program, &e) : rvm__verify(a->program, &e);
    if (st == RVM_ERR_MEMORY)
        a->oom = true;
    else if (st && derive && !e.line)
        rvm__diag_error(a, a->callees->at, &e);
    else if (st)
        rvm__diag_verify(a, &e);
    else {
        rvm__check_rules(a);
        rvm__check_given(a);
        rvm__check_taken(a);
    }
}

static rvm_status assemble(assembler *a, rvm_program **out, rvm_error *err, rvm_diagnostic report, void *userdata) {
    const source *first = &a->sources[0];
    if (rvm_bytecode_begins(first->text, first->size))
        return rvm__fail(err, RVM_ERR_FORMAT, first->name, 0, 0, "this is bytecode, not a source");
    build(a);
    if (!a->oom && !a->nerrors) finish_program(a);
    if (a->oom) return rvm__fail(err, RVM_ERR_MEMORY, a->nsources ? a->sources[0].name : "", 0, 0, "out of memory");
    const rvm_status status = rvm__diag_report(a, err, report, userdata);
    if (status) return status;
    *out = a->program;
    a->program = NULL;
    return RVM_OK;
}

rvm_status rvm_assemble(const char *text, size_t size, const char *shown, const rvm_asm_options *options, rvm_program **out,
                        rvm_error *err, rvm_diagnostic report, void *userdata) {
    assembler a;
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(text);
    if (!shown) return rvm__fail_null(err, "name", 0);
    rvm_status status = check_options(options, err);
    if (status) return status;
    if (size > MAX_SOURCE)
        return rvm__fail(err, RVM_ERR_SYNTAX, shown, 0, 0, "a source may have %d bytes at most", MAX_SOURCE);
    if (start(&a, options) && rvm__source_add(&a, shown, NULL, text, size))
        status = assemble(&a, out, err, report, userdata);
    else
        status = rvm__fail(err, RVM_ERR_MEMORY, shown, 0, 0, "out of memory");
    finish(&a);
    return status;
}

rvm_status rvm_assemble_file(const char *path, const rvm_asm_options *options, rvm_program **out, rvm_error *err,
                             rvm_diagnostic report, void *userdata) {
    assembler a;
    char *text;
    size_t size;
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(path);
    rvm_status status = check_options(options, err);
    if (status) return status;
    const char *why = "";
    char folder[PATH_MAX];
    const char *real = realpath(path, folder);
    status = start(&a, options) ? rvm__read_file(&a, path, &text, &size, &why) : RVM_ERR_MEMORY;
    if (status == RVM_OK && !rvm__source_add(&a, path, real, text, size)) status = RVM_ERR_MEMORY;
    if (status == RVM_OK)
        status = assemble(&a, out, err, report, userdata);
    else
        rvm__fail(err, status, path, 0, 0, "cannot read the file: %s", status == RVM_ERR_IO ? why : "out of memory");
    finish(&a);
    return status;
}

/* Derivatives that are derived of bytecode are for runs as derivatives of a source are. */
static rvm_status loaded(rvm_status status, const rvm_asm_options *options, rvm_program *p) {
    if (!status && options) p->exact = options->exact;
    return status;
}

static rvm_status load(const char *path, const rvm_asm_options *options, rvm_program **out, rvm_error *err) {
    const rvm_status status = rvm_program_load_file(path, options ? options->allocator : NULL, out, err);
    return loaded(status, options, *out);
}

rvm_status rvm_open_bytes(const void *bytes, size_t size, const char *shown, const rvm_asm_options *options,
                          rvm_program **out, rvm_error *err, rvm_diagnostic report, void *userdata) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(bytes);
    if (!rvm_bytecode_begins(bytes, size)) return rvm_assemble(bytes, size, shown, options, out, err, report, userdata);
    const rvm_status status = rvm_program_load(bytes, size, shown, options ? options->allocator : NULL, out, err);
    return loaded(status, options, *out);
}

rvm_status rvm_open(const char *path, const rvm_asm_options *options, rvm_program **out, rvm_error *err,
                    rvm_diagnostic report, void *userdata) {
    char head[4] = "";
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(path);
    size_t size;
    const char *why;
    FILE *in = rvm__open_source(path, &size, &why);
    if (!in) return rvm__fail(err, RVM_ERR_IO, path, 0, 0, "cannot read the file: %s", why);
    size_t n = fread(head, 1, sizeof head, in);
    const bool empty = !n && !ferror(in);
    fclose(in);
    if (empty) return rvm__fail(err, RVM_ERR_FORMAT, path, 0, 0, "the file is empty");
    if (!n || rvm_bytecode_begins(head, n)) return load(path, options, out, err);
    return rvm_assemble_file(path, options, out, err, report, userdata);
}

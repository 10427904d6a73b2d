/* cmd_compile.c: rvm compile: a function, or what is derived of it, as an object file and a C header. */
#include "rvm_jit.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

/* The function that is meant: by name, and then what one option derives of it. */
static rvm_status choose_function(tool *t) {
    const bool wanted[RVM_TRANSFORM_COUNT] = {[RVM_INVERSE] = t->o.as_inverse,
                                              [RVM_TANGENT_OF] = t->o.as_tangent,
                                              [RVM_ADJOINT] = t->o.as_adjoint,
                                              [RVM_GRADIENT_OF] = t->o.as_gradient};
    int n = 0, kind = 0;
    for (int k = 0; k < RVM_TRANSFORM_COUNT; k++)
        if (wanted[k]) n++, kind = k;
    if (n > 1)
        return tool_fail(t, RVM_ERR_USAGE, "one derivative at a time: others by name, as \"%s'grad'tan\"", t->words[1]);
    if (t->o.wrt && (!n || t->o.as_inverse))
        return tool_fail(t, RVM_ERR_USAGE, "--wrt goes with --tangent, --adjoint or --gradient");
    return n ? tool_derive(t, (rvm_transform)kind, t->words[1], &t->fn) : tool_function(t, t->words[1], &t->fn);
}

/* FILE.o beside FILE.h. */
static char *header_beside(const char *object) {
    const char *slash = strrchr(object, '/'), *point = strrchr(object, '.');
    const size_t n = point && (!slash || point > slash + 1) && point > object ? (size_t)(point - object) : strlen(object);
    char *path = malloc(n + 3);
    if (path) memcpy(path, object, n), memcpy(path + n, ".h", 3);
    return path;
}

/* A file in memory. */
typedef struct text {
    FILE *out;
    char *bytes;
    size_t size;
} text;

static rvm_status text_open(tool *t, text *x) {
    x->out = open_memstream(&x->bytes, &x->size);
    return x->out ? RVM_OK : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
}

static rvm_status text_write(tool *t, text *x, const char *path) {
    const bool complete = !fflush(x->out) && !ferror(x->out);
    return complete ? rvm_file_write(path, x->bytes, x->size, &t->err) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
}

static void text_close(text *x) {
    if (x->out) fclose(x->out);
    free(x->bytes);
}

static rvm_status make(tool *t, text *object, text *header) {
    rvm_jit_options jo = rvm_jit_options_default();
    rvm_jit_object what = rvm_jit_object_default();
    rvm_options o;
    rvm_jit *j = NULL;
    jo.fast_math = t->o.fast_math;
    jo.vector_math = t->o.vector_math;
    jo.no_lanes = native_has_no_lanes(t);
    jo.cache = ""; /* what is made goes into a file anyway */
    what.name = t->o.name;
    what.lines = t->o.symbols;
    what.stack = t->o.stack;
    if (t->o.cpu) what.cpu = t->o.cpu;
    rvm_status st = native_check_lanes(t);
    if (!st) st = tool_options(t, &o);
    if (!st) st = rvm_jit_new(&jo, &j, &t->err);
    if (!st) st = text_open(t, object);
    if (!st) st = text_open(t, header);
    if (!st) st = rvm_jit_compile(j, t->program, t->fn, &o, &what, object->out, header->out, &t->err);
    rvm_jit_free(j);
    return st;
}

static void print(tool *t, const char *header) {
    json j;
    if (!t->o.json) return;
    tool_json_begin(&j, t, RVM_OK);
    json_key(&j, "output"), json_text(&j, t->o.output);
    json_key(&j, "header"), json_text(&j, header);
    json_key(&j, "function"), json_text(&j, rvm_program_function_name(t->program, t->fn));
    tool_json_end(&j);
}

rvm_status command_COMPILE(tool *t) {
    text object = {0}, header = {0};
    char *beside = NULL;
    if (!t->o.output) return tool_fail(t, RVM_ERR_USAGE, "-o names the object file");
    if (!t->o.math) t->o.math = rvm_math_name(RVM_MATH_LIBM); /* that every host has; constants are folded with it, too */
    const char *path = t->o.header ? t->o.header : (beside = header_beside(t->o.output));
    rvm_status st = path ? files_check_output(t, path) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st && strcmp(path, t->o.output) == 0)
        st = tool_fail(t, RVM_ERR_USAGE, "the object file and the header are one file");
    if (!st) st = tool_open(t);
    if (!st) st = choose_function(t);
    if (!st) st = make(t, &object, &header);
    if (!st) st = text_write(t, &object, t->o.output);
    if (!st) st = text_write(t, &header, path);
    if (!st) print(t, path);
    text_close(&object);
    text_close(&header);
    free(beside);
    return st;
}

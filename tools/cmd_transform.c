/* cmd_transform.c: rvm transform: derives functions and writes the program with them, or prints them. */
#include "tool.h"

#include <stdlib.h>

/* The functions that were asked for, by number: numbers stay when functions are added. */
typedef struct derived {
    uint32_t *fn, n;
} derived;

static rvm_status derive_all(tool *t, derived *d) {
    const text_list *const lists[RVM_TRANSFORM_COUNT] = {[RVM_INVERSE] = &t->o.inverse,
                                                         [RVM_TANGENT_OF] = &t->o.tangent,
                                                         [RVM_ADJOINT] = &t->o.adjoint,
                                                         [RVM_GRADIENT_OF] = &t->o.gradient};
    size_t n = 0;
    rvm_status st = RVM_OK;
    for (int k = 0; k < RVM_TRANSFORM_COUNT; k++) n += lists[k]->n;
    if (!n) return tool_fail(t, RVM_ERR_USAGE, "nothing to derive: give --inverse, --tangent, --adjoint or --gradient FN");
    d->fn = calloc(n, sizeof *d->fn);
    if (!d->fn) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    for (int k = 0; k < RVM_TRANSFORM_COUNT; k++)
        for (size_t i = 0; !st && i < lists[k]->n; i++) {
            st = tool_derive(t, (rvm_transform)k, lists[k]->item[i], &d->fn[d->n]);
            d->n += !st;
        }
    return st;
}

/* With -o a line each, else the code. */
static rvm_status print_text(tool *t, const derived *d) {
    rvm_status st = RVM_OK;
    for (uint32_t k = 0; !st && k < d->n; k++) {
        if (t->o.output) {
            printf("%8u  ", rvm_program_code_size(t->program, d->fn[k]));
            output_signature(t, d->fn[k], stdout);
            putchar('\n');
        } else
            st = rvm_program_disassemble(t->program, d->fn[k], stdout, &t->err);
    }
    return st;
}

static void print_json(tool *t, const derived *d) {
    json j;
    tool_json_begin(&j, t, RVM_OK);
    json_key(&j, "output"), json_text(&j, t->o.output);
    json_key(&j, "functions");
    json_open(&j, '[');
    for (uint32_t k = 0; k < d->n; k++) output_json_signature(&j, t, d->fn[k]);
    json_close(&j, ']');
    tool_json_end(&j);
}

rvm_status command_TRANSFORM(tool *t) {
    derived d = {0};
    rvm_status st = tool_open(t);
    if (!st) st = derive_all(t, &d);
    if (!st && t->o.output) st = rvm_program_save_file(t->program, t->o.output, &t->err);
    if (!st && t->o.json)
        print_json(t, &d);
    else if (!st)
        st = print_text(t, &d);
    free(d.fn);
    return st;
}

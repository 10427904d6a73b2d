#include "expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

void frame_names_free(frame_names *s) {
    free(s->name), free(s->arg), free(s->text);
}

/* False: out of memory. */
static bool add(frame_names *s, const char *name, const char *suffix, const rvm_arg *a) {
    if (s->n == s->cap) {
        const uint32_t cap = 2 * s->cap + 32;
        void *name_ = realloc(s->name, cap * sizeof *s->name), *arg = name_ ? realloc(s->arg, cap * sizeof *s->arg) : NULL;
        void *text = arg ? realloc(s->text, cap * sizeof *s->text) : NULL;
        if (name_) s->name = name_;
        if (arg) s->arg = arg;
        if (!text) return false;
        s->text = text;
        s->cap = cap;
    }
    snprintf(s->text[s->n], FRAME_NAME, "%s%s", name, suffix);
    s->arg[s->n] = *a;
    s->name[s->n++] = (rvm_asm_name){NULL, a->type, a->ndim};
    return true;
}

rvm_arg variable_view(const rvm_variable *v, bool shadow) {
    rvm_arg a = {.type = v->type,
                 .ndim = v->ndim,
                 .value = shadow ? v->shadow : v->value,
                 .data = (void *)(uintptr_t)(shadow ? v->shadow_data : v->data)};
    memcpy(a.shape, v->shape, sizeof a.shape);
    memcpy(a.stride, shadow ? v->shadow_stride : v->stride, sizeof a.stride);
    return a;
}

bool frame_names_of(const rvm_machine *m, uint32_t frame, frame_names *s) {
    rvm_variable v;
    bool good = true;
    rvm_options o;
    rvm_machine_options(m, &o);
    s->math = o.math;
    for (uint32_t k = 0; good && rvm_machine_variable(m, frame, k, &v); k++) {
        const rvm_arg value = variable_view(&v, false), shadow = variable_view(&v, true);
        if (v.shadowed) good = add(s, v.name, rvm_shadow_suffix(RVM_ADJOINT), &shadow);
        good = good && add(s, v.name, "", &value);
    }
    for (uint32_t k = 0; k < s->n; k++) s->name[k].name = s->text[k];
    return good;
}

/* ---- expressions ---- */

void expression_free(expression *x) {
    rvm_machine_free(x->machine);
    rvm_program_free(x->program);
    free(x->argument);
    x->machine = NULL, x->program = NULL, x->argument = NULL;
}

static uint64_t kinds_of(const frame_names *s) {
    uint64_t h = s->n;
    for (uint32_t k = 0; k < s->n; k++)
        for (const char *c = s->text[k]; c == s->text[k] || c[-1]; c++)
            h = (h ^ (uint64_t)*c ^ ((uint64_t)s->name[k].type << 8) ^ ((uint64_t)s->name[k].ndim << 16)) *
                UINT64_C(0x100000001b3);
    return h;
}

static rvm_status compile(expression *x, const frame_names *s, rvm_error *e) {
    rvm_options o = rvm_options_default();
    o.tolerance = HUGE_VAL;
    o.fuel = 100000000;
    o.math = s->math;
    expression_free(x);
    rvm_status st = rvm_assemble_expression(x->text, s->name, s->n, s->math, NULL, &x->used, &x->program, e);
    if (!st) st = rvm_machine_new(x->program, &o, &x->machine, e);
    if (!st && !(x->argument = calloc(x->used.n + 1, sizeof *x->argument)))
        st = RVM_ERR_MEMORY, snprintf(e->message, sizeof e->message, "out of memory");
    return st;
}

rvm_status expression_evaluate(expression *x, const frame_names *s, rvm_arg *out, rvm_error *e) {
    const uint64_t kinds = kinds_of(s);
    rvm_param_info value;
    rvm_status st = RVM_OK;
    if (!x->program || x->kinds != kinds) st = compile(x, s, e);
    x->kinds = kinds;
    if (st) return st;
    rvm_program_param(x->program, 0, 0, &value);
    x->argument[0] = (rvm_arg){.type = value.type};
    for (uint32_t k = 0; k < x->used.n; k++) x->argument[k + 1] = s->arg[x->used.name[k]];
    st = rvm_call(x->machine, 0, x->argument, x->used.n + 1, e);
    *out = x->argument[0];
    return st;
}

rvm_status expression_value(const rvm_machine *m, uint32_t frame, expression *x, rvm_arg *out, rvm_error *e) {
    frame_names s = {0};
    rvm_status st = RVM_ERR_MEMORY;
    *e = (rvm_error){0};
    if (frame_names_of(m, frame, &s)) st = expression_evaluate(x, &s, out, e);
    frame_names_free(&s);
    return st;
}

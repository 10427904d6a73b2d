/* signature.c: a function as its parameters and their roles, as text and as JSON. */
#include "number.h"
#include "tool.h"

void output_signature(const tool *t, uint32_t fn, FILE *out) {
    fprintf(out, "fn %s(", rvm_program_function_name(t->program, fn));
    for (uint32_t i = 0; i < rvm_program_param_count(t->program, fn); i++) {
        rvm_param_info p;
        char type[256];
        rvm_program_param(t->program, fn, i, &p);
        param_type_text(&p, type, sizeof type);
        fprintf(out, "%s%s: %s %s", i ? ", " : "", p.name, rvm_role_name(p.role), type);
    }
    fputc(')', out);
}

void output_json_signature(json *j, const tool *t, uint32_t fn) {
    json_open(j, '{');
    json_key(j, "name"), json_text(j, rvm_program_function_name(t->program, fn));
    json_key(j, "instructions"), json_uint(j, rvm_program_code_size(t->program, fn));
    json_key(j, "parameters");
    json_open(j, '[');
    for (uint32_t i = 0; i < rvm_program_param_count(t->program, fn); i++) {
        rvm_param_info p;
        rvm_program_param(t->program, fn, i, &p);
        json_open(j, '{');
        json_key(j, "name"), json_text(j, p.name);
        json_key(j, "type"), json_text(j, rvm_type_name(p.type));
        json_key(j, "role"), json_text(j, rvm_role_name(p.role));
        json_key(j, "shape");
        json_open(j, '[');
        for (int d = 0; d < p.ndim; d++) {
            if (p.dim_name[d])
                json_text(j, p.dim_name[d]);
            else
                json_uint(j, (uint64_t)p.dim_value[d]);
        }
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

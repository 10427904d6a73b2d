/* program.c: rvm_program.h. */
#include "nulls.h"
#include "rvm_program.h"

static void names(void) {
    rvm_math math;
    HARMLESS(rvm_math_name, math, !strcmp(rvm_math_name((rvm_math)99), "?"));
    REFUSED(rvm_math_choose, out, RVM_MATH_AUTO, NULL, &e);
    NO_KIND(rvm_math_choose, asked, (rvm_math)99, &math, &e);
    UNTOLD(rvm_math_choose, (rvm_math)99, &math, NULL);
    HARMLESS(rvm_status_name, s, !strcmp(rvm_status_name((rvm_status)99), "INTERNAL"));
    HARMLESS(rvm_status_text, s, rvm_status_text((rvm_status)99) != NULL);
    HARMLESS(rvm_status_exit, s, rvm_status_exit((rvm_status)99) == 1);
    HARMLESS(rvm_type_is_floating, t, !rvm_type_is_floating((rvm_type)99));
    HARMLESS(rvm_type_name, t, !strcmp(rvm_type_name((rvm_type)99), "?"));
    HARMLESS(rvm_role_name, r, !strcmp(rvm_role_name((rvm_role)99), "?"));
    HARMLESS(rvm_class_name, c, !strcmp(rvm_class_name((rvm_class)99), "?"));
    HARMLESS(rvm_unit_name, unit, !strcmp(rvm_unit_name((rvm_unit)99), "?"));
}

static void files(void) {
    void *bytes = NULL;
    size_t size = 0;
    REFUSED(rvm_program_load, bytes, NULL, 8, "x", NULL, &made, &e);
    HARMLESS(rvm_program_load, bytes, is_cleared());
    REFUSED(rvm_program_load, out, "x", 1, "x", NULL, NULL, &e);
    UNTOLD(rvm_program_load, NULL, 8, "x", NULL, &made, NULL);
    REFUSED(rvm_program_load_file, path, NULL, NULL, &made, &e);
    HARMLESS(rvm_program_load_file, path, is_cleared());
    REFUSED(rvm_program_load_file, out, "x", NULL, NULL, &e);
    HARMLESS(rvm_program_load_file, al, rvm_program_load_file("no/such/file", NULL, &made, &e) == RVM_ERR_IO);
    UNTOLD(rvm_program_load_file, NULL, NULL, &made, NULL);
    REFUSED(rvm_program_save, p, NULL, &bytes, &size, &e);
    REFUSED(rvm_program_save, bytes, p, NULL, &size, &e);
    REFUSED(rvm_program_save, size, p, &bytes, NULL, &e);
    UNTOLD(rvm_program_save, NULL, &bytes, &size, NULL);
    REFUSED(rvm_program_save_file, p, NULL, "x", &e);
    REFUSED(rvm_program_save_file, path, p, NULL, &e);
    UNTOLD(rvm_program_save_file, NULL, "x", NULL);
    REFUSED(rvm_file_write, path, NULL, "x", 1, &e);
    REFUSED(rvm_file_write, bytes, "x", NULL, 1, &e);
    UNTOLD(rvm_file_write, NULL, "x", 1, NULL);
    HARMLESS(rvm_bytecode_begins, bytes, !rvm_bytecode_begins(NULL, 4));
    if (rvm_program_save(p, &bytes, &size, &e)) failures++;
    ALLOWED(rvm_program_load, name, bytes, size, NULL, NULL, &made, &e);
    rvm_program_free(made);
    ALLOWED(rvm_program_load, al, bytes, size, "x", NULL, &made, &e);
    rvm_program_free(made);
    HARMLESS(rvm_program_free_bytes, p, (rvm_program_free_bytes(NULL, bytes, size), true));
    HARMLESS(rvm_program_free_bytes, bytes, (rvm_program_free_bytes(p, NULL, size), true));
    rvm_program_free_bytes(p, bytes, size);
    HARMLESS(rvm_program_free, p, (rvm_program_free(NULL), true));
}

static void queries(void) {
    uint64_t id[2] = {1, 1};
    uint32_t line = 1, column = 1, other = 1;
    const char *file = "x";
    bool proved;
    char text[8] = "x";
    rvm_instruction in;
    HARMLESS(rvm_program_id, p, (rvm_program_id(NULL, id), !id[0] && !id[1]));
    HARMLESS(rvm_program_id, id, (rvm_program_id(p, NULL), true));
    HARMLESS(rvm_program_function_count, p, !rvm_program_function_count(NULL));
    HARMLESS(rvm_program_find, p, rvm_program_find(NULL, "f") == -1);
    HARMLESS(rvm_program_find, name, rvm_program_find(p, NULL) == -1);
    HARMLESS(rvm_program_function_name, p, !rvm_program_function_name(NULL, 0));
    HARMLESS(rvm_program_param_count, p, !rvm_program_param_count(NULL, 0));
    HARMLESS(rvm_program_param, p, rvm_program_param(NULL, 0, 0, &(rvm_param_info){0}) == RVM_ERR_USAGE);
    HARMLESS(rvm_program_param, out, rvm_program_param(p, fn, 0, NULL) == RVM_ERR_USAGE);
    HARMLESS(rvm_program_code_size, p, !rvm_program_code_size(NULL, 0));
    HARMLESS(rvm_program_position, p, (rvm_program_position(NULL, 0, 0, &file, &line, &column), !file && !line && !column));
    HARMLESS(rvm_program_position, file, (rvm_program_position(p, fn, 1, NULL, &line, &column), line > 0));
    HARMLESS(rvm_program_position, line, (rvm_program_position(p, fn, 1, &file, NULL, &column), file != NULL));
    HARMLESS(rvm_program_position, column, (rvm_program_position(p, fn, 1, &file, &line, NULL), line > 0));
    HARMLESS(rvm_program_component, p, !rvm_program_component(NULL, 0, 0, &other, text, sizeof text) && !other && !*text);
    HARMLESS(rvm_program_component, other, (rvm_program_component(p, fn, 1, NULL, text, sizeof text), *text == 'x'));
    HARMLESS(rvm_program_component, name, (rvm_program_component(p, fn, 1, &other, NULL, 100), other == 1));
    HARMLESS(rvm_program_file, p, !rvm_program_file(NULL, 0));
    HARMLESS(rvm_program_instruction, p, !rvm_program_instruction(NULL, 0, 0, &in));
    HARMLESS(rvm_program_instruction, out, !rvm_program_instruction(p, fn, 0, NULL));
    HARMLESS(rvm_program_place_text, p, !rvm_program_place_text(NULL, 0, 0, 0, text, sizeof text) && !*text);
    HARMLESS(rvm_program_place_text, text, rvm_program_place_text(p, fn, 1, 0, NULL, 100) > 0);
    HARMLESS(rvm_program_operand, p, !rvm_program_operand(NULL, 0, 0, 0, &(rvm_operand){0}));
    HARMLESS(rvm_program_operand, out, !rvm_program_operand(p, fn, 1, 0, NULL));
    HARMLESS(rvm_program_variable, p, !rvm_program_variable(NULL, 0, 0, &(rvm_variable_info){0}));
    HARMLESS(rvm_program_variable, out, !rvm_program_variable(p, fn, 0, NULL));
    HARMLESS(rvm_program_block, p, rvm_program_block(NULL, 0, 0, &proved) == -1);
    HARMLESS(rvm_program_block, proved, rvm_program_block(p, fn, 0, NULL) == -1);
    HARMLESS(rvm_program_instruction_text, p, !rvm_program_instruction_text(NULL, 0, 0, text, sizeof text) && !*text);
    HARMLESS(rvm_program_instruction_text, text, rvm_program_instruction_text(p, fn, 1, NULL, 100) > 0);
    REFUSED(rvm_program_disassemble, p, NULL, -1, stdout, &e);
    REFUSED(rvm_program_disassemble, out, p, -1, NULL, &e);
    UNTOLD(rvm_program_disassemble, NULL, -1, stdout, NULL);
}

static void transforms(void) {
    uint8_t active[2] = {1, 1};
    const rvm_constant n = {"n", {.i = 1}};
    HARMLESS(rvm_shadow_suffix, kind, rvm_shadow_suffix((rvm_transform)99) != NULL);
    REFUSED(rvm_program_transform, p, NULL, fn, RVM_INVERSE, NULL, &made, &index_, &e);
    HARMLESS(rvm_program_transform, p, is_cleared());
    REFUSED(rvm_program_transform, out, p, fn, RVM_INVERSE, NULL, NULL, &index_, &e);
    REFUSED(rvm_program_transform, index, p, fn, RVM_INVERSE, NULL, &made, NULL, &e);
    NO_KIND(rvm_program_transform, kind, p, fn, (rvm_transform)99, NULL, &made, &index_, &e);
    UNTOLD(rvm_program_transform, NULL, fn, RVM_INVERSE, NULL, &made, &index_, NULL);
    ALLOWED(rvm_program_transform, active, p, fn, RVM_ADJOINT, NULL, &made, &index_, &e);
    rvm_program_free(made);
    REFUSED(rvm_program_derive, p, NULL, "f'adj", &made, &index_, &e);
    HARMLESS(rvm_program_derive, p, is_cleared());
    REFUSED(rvm_program_derive, name, p, NULL, &made, &index_, &e);
    REFUSED(rvm_program_derive, out, p, "f'adj", NULL, &index_, &e);
    REFUSED(rvm_program_derive, index, p, "f'adj", &made, NULL, &e);
    UNTOLD(rvm_program_derive, NULL, "f'adj", &made, &index_, NULL);
    HARMLESS(rvm_program_by_hand, p, !rvm_program_by_hand(NULL, fn, RVM_ADJOINT));
    HARMLESS(rvm_program_by_hand, kind, !rvm_program_by_hand(p, fn, (rvm_transform)99));
    HARMLESS(rvm_program_prints, p, !rvm_program_prints(NULL, fn));
    REFUSED(rvm_program_close_active, p, NULL, fn, active, &e);
    REFUSED(rvm_program_close_active, active, p, fn, NULL, &e);
    UNTOLD(rvm_program_close_active, NULL, fn, active, NULL);
    rvm_checkpointed loop;
    uint32_t nloops;
    REFUSED(rvm_program_checkpointed, p, NULL, fn, &loop, 1, &nloops, &e);
    REFUSED(rvm_program_checkpointed, out, p, fn, NULL, 1, &nloops, &e);
    REFUSED(rvm_program_checkpointed, n, p, fn, &loop, 1, NULL, &e);
    UNTOLD(rvm_program_checkpointed, NULL, fn, &loop, 1, &nloops, NULL);
    REFUSED(rvm_program_fold, p, NULL, fn, &n, 1, &made, &index_, &e);
    HARMLESS(rvm_program_fold, p, is_cleared());
    REFUSED(rvm_program_fold, constants, p, fn, NULL, 1, &made, &index_, &e);
    REFUSED(rvm_program_fold, out, p, fn, &n, 1, NULL, &index_, &e);
    REFUSED(rvm_program_fold, index, p, fn, &n, 1, &made, NULL, &e);
    UNTOLD(rvm_program_fold, NULL, fn, &n, 1, &made, &index_, NULL);
    ALLOWED(rvm_program_fold, constants, p, fn, NULL, 0, &made, &index_, &e);
    rvm_program_free(made);
}

void try_program(void) {
    names();
    files();
    queries();
    transforms();
}

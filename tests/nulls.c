/* nulls.c: every public function, with NULL for each of its pointers and a number that is none for each of its kinds. Prints
 * "function parameter" for each that was tried; nulls.sh compares that with what the headers declare and librvm.so exports,
 * so that a function that is new fails until it stands here. Linked with librvm.so as users' programs are.
 */
#include <stdlib.h>
#include <string.h>

#include "rvm.h"
#include "rvm_asm.h"
#include "rvm_coprocessor.h"
#include "rvm_derivatives.h"
#include "rvm_jit.h"
#include "rvm_profile.h"
#include "rvm_schedule.h"

static int failures;
static rvm_error e;

static void tried(const char *fn, const char *param, bool good, const char *what) {
    printf("%s %s\n", fn, param);
    if (good) return;
    fprintf(stderr, "%s, %s: %s\n", fn, param, what);
    failures++;
}

static void refused(const char *fn, const char *param, rvm_status status) {
    char named[100];
    snprintf(named, sizeof named, "`%s` is NULL", param);
    tried(fn, param, status == RVM_ERR_USAGE && e.code == status && !strcmp(e.message, named), e.message);
}

static void none(const char *fn, const char *param, rvm_status status) {
    const bool good = status == RVM_ERR_USAGE && e.code == status && strstr(e.message, "has number 99");
    tried(fn, param, good, e.message);
}

/* NULL is USAGE, and the message names the parameter. */
#define REFUSED(fn, param, ...) refused(#fn, #param, (memset(&e, 0, sizeof e), fn(__VA_ARGS__)))
/* The same of a function that tells nobody why. */
#define NO_MESSAGE(fn, param, ...) tried(#fn, #param, fn(__VA_ARGS__) == RVM_ERR_USAGE, "USAGE")
/* A kind of number 99 is USAGE. */
#define NO_KIND(fn, param, ...) none(#fn, #param, (memset(&e, 0, sizeof e), fn(__VA_ARGS__)))
/* The error is asked of nobody. */
#define UNTOLD(fn, ...) tried(#fn, "err", fn(__VA_ARGS__) == RVM_ERR_USAGE, "USAGE without an rvm_error")
/* NULL means something there. */
#define ALLOWED(fn, param, ...)                                                                                             \
    tried(#fn, #param, (memset(&e, 0, sizeof e), fn(__VA_ARGS__)) == RVM_OK, e.message[0] ? e.message : "not OK")
/* A call without a status, and what holds then. */
#define HARMLESS(fn, param, condition) tried(#fn, #param, condition, #condition)

static rvm_program *p, *made = (rvm_program *)&e; /* NULL after a refusal */
static rvm_machine *m;
static uint32_t fn, index_;

static bool is_cleared(void) {
    const bool is = !made;
    made = (rvm_program *)&e;
    return is;
}

static void *allocate(void *userdata, void *old, size_t old_size, size_t size) {
    (void)userdata, (void)old_size;
    if (size) return realloc(old, size);
    free(old);
    return NULL;
}

static void open_all(void) {
    static const char text[] = "fn f(y: f64, x: f64[n])\n    for i in 0..n\n        y += x[i] * x[i]\n    end\nend\n";
    if (rvm_assemble(text, strlen(text), "nulls", NULL, &p, &e, NULL, NULL) || rvm_machine_new(p, NULL, &m, &e)) {
        fprintf(stderr, "%s\n", e.message);
        exit(1);
    }
    fn = (uint32_t)rvm_program_find(p, "f");
}

/* ---- rvm_program.h ---- */

static void names(void) {
    HARMLESS(rvm_status_name, s, !strcmp(rvm_status_name((rvm_status)99), "INTERNAL"));
    HARMLESS(rvm_status_text, s, rvm_status_text((rvm_status)99) != NULL);
    HARMLESS(rvm_status_exit, s, rvm_status_exit((rvm_status)99) == 1);
    HARMLESS(rvm_type_is_floating, t, !rvm_type_is_floating((rvm_type)99));
    HARMLESS(rvm_type_name, t, !strcmp(rvm_type_name((rvm_type)99), "?"));
    HARMLESS(rvm_role_name, r, !strcmp(rvm_role_name((rvm_role)99), "?"));
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

static void questions(void) {
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
    REFUSED(rvm_program_close_active, p, NULL, fn, active, &e);
    REFUSED(rvm_program_close_active, active, p, fn, NULL, &e);
    UNTOLD(rvm_program_close_active, NULL, fn, active, NULL);
    REFUSED(rvm_program_fold, p, NULL, fn, &n, 1, &made, &index_, &e);
    HARMLESS(rvm_program_fold, p, is_cleared());
    REFUSED(rvm_program_fold, constants, p, fn, NULL, 1, &made, &index_, &e);
    REFUSED(rvm_program_fold, out, p, fn, &n, 1, NULL, &index_, &e);
    REFUSED(rvm_program_fold, index, p, fn, &n, 1, &made, NULL, &e);
    UNTOLD(rvm_program_fold, NULL, fn, &n, 1, &made, &index_, NULL);
    ALLOWED(rvm_program_fold, constants, p, fn, NULL, 0, &made, &index_, &e);
    rvm_program_free(made);
}

/* ---- rvm_asm.h ---- */

static rvm_status include(void *userdata, const char *wanted, rvm_inclusion *to, rvm_error *why) {
    (void)userdata, (void)wanted, (void)why;
    NO_MESSAGE(rvm_include_text, to, NULL, "", 0);
    NO_MESSAGE(rvm_include_text, text, to, NULL, 1);
    NO_MESSAGE(rvm_include_std, to, NULL, "std/blas.rasm");
    NO_MESSAGE(rvm_include_std, name, to, NULL);
    return RVM_ERR_NAME;
}

static void assembler(void) {
    const rvm_asm_options asks = {.real = RVM_F64, .include = include, .no_files = true};
    rvm_assemble("include \"y\"\n", 12, "x", &asks, &made, &e, NULL, NULL);
    const rvm_asm_options odd = {.real = (rvm_type)99};
    REFUSED(rvm_assemble, text, NULL, 1, "x", NULL, &made, &e, NULL, NULL);
    HARMLESS(rvm_assemble, text, is_cleared());
    REFUSED(rvm_assemble, name, "", 0, NULL, NULL, &made, &e, NULL, NULL);
    REFUSED(rvm_assemble, out, "", 0, "x", NULL, NULL, &e, NULL, NULL);
    NO_KIND(rvm_assemble, options, "", 0, "x", &odd, &made, &e, NULL, NULL);
    UNTOLD(rvm_assemble, NULL, 0, "x", NULL, &made, NULL, NULL, NULL);
    ALLOWED(rvm_assemble, options, "fn g()\nend\n", 11, "x", NULL, &made, &e, NULL, NULL);
    rvm_program_free(made);
    HARMLESS(rvm_assemble, report, rvm_assemble("fn", 2, "x", NULL, &made, &e, NULL, NULL) == RVM_ERR_SYNTAX);
    HARMLESS(rvm_assemble, userdata, is_cleared());
    REFUSED(rvm_assemble_file, path, NULL, NULL, &made, &e, NULL, NULL);
    HARMLESS(rvm_assemble_file, path, is_cleared());
    REFUSED(rvm_assemble_file, out, "x", NULL, NULL, &e, NULL, NULL);
    NO_KIND(rvm_assemble_file, options, "no/such/file", &odd, &made, &e, NULL, NULL);
    UNTOLD(rvm_assemble_file, NULL, NULL, &made, NULL, NULL, NULL);
    HARMLESS(rvm_assemble_file, report, rvm_assemble_file("no/such/file", NULL, &made, &e, NULL, NULL) == RVM_ERR_IO);
    HARMLESS(rvm_assemble_file, userdata, is_cleared());
    REFUSED(rvm_open, path, NULL, NULL, &made, &e, NULL, NULL);
    HARMLESS(rvm_open, path, is_cleared());
    REFUSED(rvm_open, out, "x", NULL, NULL, &e, NULL, NULL);
    HARMLESS(rvm_open, options, rvm_open("no/such/file", NULL, &made, &e, NULL, NULL) == RVM_ERR_IO);
    UNTOLD(rvm_open, NULL, NULL, &made, NULL, NULL, NULL);
    HARMLESS(rvm_open, report, rvm_open("no/such/file", NULL, &made, &e, NULL, NULL) == RVM_ERR_IO);
    HARMLESS(rvm_open, userdata, is_cleared());
    char text[8] = "x";
    HARMLESS(rvm_asm_excerpt, source, !rvm_asm_excerpt(NULL, 1, 1, 1, text, sizeof text) && !*text);
    HARMLESS(rvm_asm_excerpt, text, !rvm_asm_excerpt("x", 1, 1, 1, NULL, 100));
    REFUSED(rvm_listing, p, NULL, "x", stdout, &e);
    REFUSED(rvm_listing, path, p, NULL, stdout, &e);
    REFUSED(rvm_listing, out, p, "x", NULL, &e);
    UNTOLD(rvm_listing, NULL, "x", stdout, NULL);
}

/* ---- rvm.h ---- */

static double x[] = {3, 4};
static const int64_t shape[] = {2};
static rvm_arg args[2];

static void set_arguments(void) {
    args[0] = rvm_arg_f64(0);
    args[1] = rvm_arg_array_f64(x, 1, shape);
}

static void machines(void) {
    rvm_machine *other = (rvm_machine *)&e;
    rvm_options o = rvm_options_default();
    const rvm_allocator al = {allocate, NULL};
    REFUSED(rvm_machine_new, p, NULL, NULL, &other, &e);
    HARMLESS(rvm_machine_new, p, other == NULL);
    REFUSED(rvm_machine_new, out, p, NULL, NULL, &e);
    UNTOLD(rvm_machine_new, NULL, NULL, &other, NULL);
    o.trail = (rvm_trail)99;
    NO_KIND(rvm_machine_new, options, p, &o, &other, &e);
    o = rvm_options_default();
    o.allocator = &al;
    ALLOWED(rvm_machine_new, options, p, &o, &other, &e);
    rvm_machine_free(other);
    ALLOWED(rvm_machine_new, options, p, NULL, &other, &e);
    rvm_machine_free(other);

    HARMLESS(rvm_machine_free, m, (rvm_machine_free(NULL), true));
    HARMLESS(rvm_machine_program, m, !rvm_machine_program(NULL));
    HARMLESS(rvm_machine_options, m, (rvm_machine_options(NULL, &o), !o.depth));
    HARMLESS(rvm_machine_options, out, (rvm_machine_options(m, NULL), true));
    HARMLESS(rvm_machine_bound, m, !rvm_machine_bound(NULL));
    HARMLESS(rvm_machine_cancel, m, (rvm_machine_cancel(NULL), true));
    HARMLESS(rvm_arg_lns_value, a, rvm_arg_lns_value(NULL) == 0);
    /* These are refused where they are bound. */
    set_arguments();
    args[1] = rvm_arg_array(RVM_F64, NULL, 1, shape);
    HARMLESS(rvm_arg_array, data, rvm_call(m, fn, args, 2, &e) == RVM_ERR_ARGUMENT);
    args[1] = rvm_arg_array(RVM_F64, x, 1, NULL);
    HARMLESS(rvm_arg_array, shape, rvm_call(m, fn, args, 2, &e) == RVM_ERR_SHAPE);
    args[1] = rvm_arg_array((rvm_type)99, x, 1, shape);
    HARMLESS(rvm_arg_array, type, rvm_call(m, fn, args, 2, &e) == RVM_ERR_ARGUMENT);
    args[1] = rvm_arg_array_f64(NULL, 1, shape);
    HARMLESS(rvm_arg_array_f64, data, rvm_call(m, fn, args, 2, &e) == RVM_ERR_ARGUMENT);
    args[1] = rvm_arg_array_f64(x, 1, NULL);
    HARMLESS(rvm_arg_array_f64, shape, rvm_call(m, fn, args, 2, &e) == RVM_ERR_SHAPE);
    HARMLESS(rvm_arg_array_i64, data, !rvm_arg_array_i64(NULL, 1, shape).data);
    HARMLESS(rvm_arg_array_i64, shape, rvm_arg_array_i64(NULL, 1, NULL).shape[0] == -1);
    set_arguments();
}

static void numbers(void) {
    char text[8] = "";
    rvm_scalar cells[2];
    HARMLESS(rvm_scalar_to_double, t, rvm_scalar_to_double((rvm_type)99, (rvm_scalar){.i = 1}) == 0);
    HARMLESS(rvm_scalar_from_double, t, rvm_scalar_from_double((rvm_type)99, 1).i == 0);
    HARMLESS(rvm_scalar_text, t, rvm_scalar_text((rvm_type)99, cells[0], text, sizeof text) == 1 && *text == '?');
    HARMLESS(rvm_scalar_text, text, rvm_scalar_text(RVM_F64, (rvm_scalar){.f = 1.5}, NULL, 100) == 3);
    HARMLESS(rvm_arg_count, a, rvm_arg_count(NULL) == 0);
    HARMLESS(rvm_arg_gather, a, (rvm_arg_gather(NULL, false, cells), true));
    HARMLESS(rvm_arg_gather, to, (rvm_arg_gather(&args[1], false, NULL), true));
    HARMLESS(rvm_arg_scatter, a, (rvm_arg_scatter(NULL, false, cells), true));
    HARMLESS(rvm_arg_scatter, from, (rvm_arg_scatter(&args[1], false, NULL), true));
    HARMLESS(rvm_arg_element_text, name, rvm_arg_element_text(NULL, &args[1], 0, text, sizeof text) == 1);
    HARMLESS(rvm_arg_element_text, a, rvm_arg_element_text("x", NULL, 0, text, sizeof text) == 1);
    HARMLESS(rvm_arg_element_text, text, rvm_arg_element_text("x", &args[1], 0, NULL, 100) == 4);
}

static void runs(void) {
#define RUN(run)                                                                                                            \
    REFUSED(run, m, NULL, fn, args, 2, &e);                                                                                 \
    REFUSED(run, args, m, fn, NULL, 2, &e);                                                                                 \
    UNTOLD(run, NULL, fn, args, 2, NULL)
    RUN(rvm_call);
    RUN(rvm_uncall);
    RUN(rvm_gradient);
    RUN(rvm_value_and_gradient);
    RUN(rvm_sweep);
    RUN(rvm_tangent);
    REFUSED(rvm_machine_bind, m, NULL, fn, args, 2, RVM_PRIMAL, false, &e);
    REFUSED(rvm_machine_bind, args, m, fn, NULL, 2, RVM_PRIMAL, false, &e);
    NO_KIND(rvm_machine_bind, mode, m, fn, args, 2, (rvm_mode)99, false, &e);
    UNTOLD(rvm_machine_bind, NULL, fn, args, 2, RVM_PRIMAL, false, NULL);
    HARMLESS(rvm_machine_unbind, m, (rvm_machine_unbind(NULL), true));
#define MOVE(move)                                                                                                          \
    REFUSED(move, m, NULL, &e);                                                                                             \
    UNTOLD(move, NULL, NULL)
    MOVE(rvm_machine_forward);
    MOVE(rvm_machine_backward);
    MOVE(rvm_machine_sweep);
    bool done;
    REFUSED(rvm_machine_step, m, NULL, 1, &done, &e);
    UNTOLD(rvm_machine_step, NULL, 1, &done, NULL);
    if (rvm_machine_bind(m, fn, args, 2, RVM_PRIMAL, false, &e)) failures++;
    ALLOWED(rvm_machine_step, done, m, 1, NULL, &e);
    rvm_growth growth;
    REFUSED(rvm_machine_growth, m, NULL, m, 1, &growth, &e);
    REFUSED(rvm_machine_growth, reference, m, NULL, 1, &growth, &e);
    REFUSED(rvm_machine_growth, out, m, m, 1, NULL, &e);
    UNTOLD(rvm_machine_growth, NULL, m, 1, &growth, NULL);
}

/* counting: has run with a profile. */
static void profiles(const rvm_machine *counting) {
    rvm_profile *f = (rvm_profile *)&e;
    rvm_profile_counts c;
    rvm_profile_kind_count kind;
    rvm_profile_path path;
    rvm_profile_recursion recursion;
    rvm_profile_function function;
    rvm_profile_line line;
    rvm_profile_memory memory;
    HARMLESS(rvm_profile_mode_name, mode, !strcmp(rvm_profile_mode_name((rvm_profile_mode)99), "?"));
    HARMLESS(rvm_profile_sum, c, !rvm_profile_sum(NULL));
    REFUSED(rvm_profile_new, m, NULL, &f, &e);
    REFUSED(rvm_profile_new, out, counting, NULL, &e);
    UNTOLD(rvm_profile_new, NULL, &f, NULL);
    if (rvm_profile_new(counting, &f, &e)) failures++;
    HARMLESS(rvm_profile_total, f, (rvm_profile_total(NULL, &c), !rvm_profile_sum(&c)));
    HARMLESS(rvm_profile_total, out, (rvm_profile_total(f, NULL), true));
    HARMLESS(rvm_profile_kind, f, !rvm_profile_kind(NULL, 0, &kind));
    HARMLESS(rvm_profile_kind, out, !rvm_profile_kind(f, 0, NULL));
    HARMLESS(rvm_profile_kind_work, f, !rvm_profile_kind_work(NULL, 0, &(rvm_work){0}));
    HARMLESS(rvm_profile_kind_work, out, !rvm_profile_kind_work(f, 0, NULL));
    HARMLESS(rvm_profile_path_at, f, !rvm_profile_path_at(NULL, 0, &path));
    HARMLESS(rvm_profile_path_at, out, !rvm_profile_path_at(f, 0, NULL));
    HARMLESS(rvm_profile_recursion_at, f, !rvm_profile_recursion_at(NULL, 0, &recursion));
    HARMLESS(rvm_profile_recursion_at, out, !rvm_profile_recursion_at(f, 0, NULL));
    HARMLESS(rvm_profile_function_at, f, !rvm_profile_function_at(NULL, fn, &function));
    HARMLESS(rvm_profile_function_at, out, !rvm_profile_function_at(f, fn, NULL));
    HARMLESS(rvm_profile_instruction, f, !rvm_profile_instruction(NULL, fn, 1, &c));
    HARMLESS(rvm_profile_instruction, out, !rvm_profile_instruction(f, fn, 1, NULL));
    HARMLESS(rvm_profile_instruction_on, f, !rvm_profile_instruction_on(NULL, 0, 1, &c));
    HARMLESS(rvm_profile_instruction_on, out, !rvm_profile_instruction_on(f, 0, 1, NULL));
    HARMLESS(rvm_profile_line_at, f, !rvm_profile_line_at(NULL, 0, &line));
    HARMLESS(rvm_profile_line_at, out, !rvm_profile_line_at(f, 0, NULL));
    HARMLESS(rvm_profile_memory_at, f, !rvm_profile_memory_at(NULL, 0, &memory));
    HARMLESS(rvm_profile_memory_at, out, !rvm_profile_memory_at(f, 0, NULL));
    HARMLESS(rvm_profile_memory_peak, f, (rvm_profile_memory_peak(NULL, &memory), !memory.states));
    HARMLESS(rvm_profile_memory_peak, out, (rvm_profile_memory_peak(f, NULL), true));
    rvm_profile_free(f);
    HARMLESS(rvm_profile_free, f, (rvm_profile_free(NULL), true));
}

/* Of the machine as it stands in a run. */
static void inspection(void) {
    rvm_location location;
    rvm_variable variable;
    rvm_stats stats = {.forward = 1};
    HARMLESS(rvm_machine_frames, m, !rvm_machine_frames(NULL));
    HARMLESS(rvm_machine_location, m, !rvm_machine_location(NULL, 0, 1, &location));
    HARMLESS(rvm_machine_location, out, !rvm_machine_location(m, 0, 1, NULL));
    HARMLESS(rvm_machine_variable, m, !rvm_machine_variable(NULL, 0, 0, &variable));
    HARMLESS(rvm_machine_variable, out, !rvm_machine_variable(m, 0, 0, NULL));
    HARMLESS(rvm_machine_share, m, rvm_machine_share(NULL) == -1);
    HARMLESS(rvm_machine_stats, m, (rvm_machine_stats(NULL, &stats), !stats.forward));
    HARMLESS(rvm_machine_stats, out, (rvm_machine_stats(m, NULL), true));
    HARMLESS(rvm_machine_stats_reset, m, (rvm_machine_stats_reset(NULL), true));
    rvm_machine *counting;
    rvm_options o = rvm_options_default();
    o.profile = true;
    if (rvm_machine_new(p, &o, &counting, &e) || rvm_call(counting, fn, args, 2, &e)) failures++;
    profiles(counting);
    rvm_machine_free(counting);
    set_arguments();
}

static void records(void) {
    void *bytes = &e;
    size_t size = 1;
    REFUSED(rvm_machine_record_save, m, NULL, &bytes, &size, &e);
    HARMLESS(rvm_machine_record_save, m, !bytes && !size);
    REFUSED(rvm_machine_record_save, bytes, m, NULL, &size, &e);
    REFUSED(rvm_machine_record_save, size, m, &bytes, NULL, &e);
    UNTOLD(rvm_machine_record_save, NULL, &bytes, &size, NULL);
    REFUSED(rvm_machine_record_load, m, NULL, "x", 1, &e);
    REFUSED(rvm_machine_record_load, bytes, m, NULL, 1, &e);
    UNTOLD(rvm_machine_record_load, NULL, "x", 1, NULL);
    HARMLESS(rvm_machine_record_free, m, (rvm_machine_record_free(NULL, &e, 1), true));
    HARMLESS(rvm_machine_record_free, bytes, (rvm_machine_record_free(m, NULL, 1), true));
}

/* ---- rvm_schedule.h ---- */

static void schedules(void) {
    const rvm_move move = {RVM_MOVE_FORWARD, 1, 0, 1}, step = {RVM_MOVE_FORWARD, 0, 0, 0};
    const rvm_schedule_kind none_such = (rvm_schedule_kind)99;
    rvm_schedule *s = NULL, *other = NULL;
    rvm_schedule_counts c;
    uint64_t number = 1;
    if (rvm_schedule_new(RVM_SCHEDULE_PEBBLE, 4, 3, NULL, &s, &e)) failures++;
    HARMLESS(rvm_schedule_name, kind, !strcmp(rvm_schedule_name(none_such), "?"));
    HARMLESS(rvm_schedule_budget_name, kind, !strcmp(rvm_schedule_budget_name(none_such), "?"));
    HARMLESS(rvm_schedule_formula_text, kind, !strcmp(rvm_schedule_formula_text(none_such), "?"));
    HARMLESS(rvm_schedule_is_gradient, kind, !rvm_schedule_is_gradient(none_such));
    HARMLESS(rvm_schedule_least, kind, !rvm_schedule_least(none_such, 4));
    HARMLESS(rvm_move_name, kind, !strcmp(rvm_move_name((rvm_move_kind)99), "?"));
    NO_KIND(rvm_schedule_formula, kind, none_such, 4, 3, &number, &number, &e);
    ALLOWED(rvm_schedule_formula, evaluations, RVM_SCHEDULE_PEBBLE, 4, 3, NULL, &number, &e);
    ALLOWED(rvm_schedule_formula, states, RVM_SCHEDULE_PEBBLE, 4, 3, &number, NULL, &e);
    UNTOLD(rvm_schedule_formula, none_such, 4, 3, &number, &number, NULL);
    NO_KIND(rvm_schedule_new, kind, none_such, 4, 3, NULL, &other, &e);
    REFUSED(rvm_schedule_new, out, RVM_SCHEDULE_PEBBLE, 4, 3, NULL, NULL, &e);
    ALLOWED(rvm_schedule_new, options, RVM_SCHEDULE_PEBBLE, 4, 3, NULL, &other, &e);
    rvm_schedule_free(other);
    UNTOLD(rvm_schedule_new, none_such, 4, 3, NULL, &other, NULL);
    HARMLESS(rvm_schedule_free, s, (rvm_schedule_free(NULL), true));
    HARMLESS(rvm_schedule_moves, s, !rvm_schedule_moves(NULL, &number) && !number);
    HARMLESS(rvm_schedule_moves, n, rvm_schedule_moves(s, NULL) != NULL);
    NO_MESSAGE(rvm_schedule_count, s, NULL, &c);
    NO_MESSAGE(rvm_schedule_count, out, s, NULL);
    REFUSED(rvm_schedule_replay, moves, NULL, 1, 1, 2, false, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay, al, &move, 1, 1, 2, false, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay, counts, &move, 1, 1, 2, false, NULL, NULL, &e);
    UNTOLD(rvm_schedule_replay, NULL, 1, 1, 2, false, NULL, NULL, NULL);
    rvm_schedule_free(s);
    rvm_schedule_graph *g = NULL;
    bool output = true;
    uint32_t n = 1;
    REFUSED(rvm_schedule_graph_parse, text, NULL, 5, "g", NULL, &g, &e);
    REFUSED(rvm_schedule_graph_parse, out, "a: x", 4, "g", NULL, NULL, &e);
    UNTOLD(rvm_schedule_graph_parse, NULL, 5, "g", NULL, &g, NULL);
    ALLOWED(rvm_schedule_graph_parse, name, "a: x", 4, NULL, NULL, &g, &e);
    HARMLESS(rvm_schedule_graph_free, g, (rvm_schedule_graph_free(NULL), true));
    rvm_schedule_graph_free(g);
    ALLOWED(rvm_schedule_graph_parse, al, "a: x", 4, "g", NULL, &g, &e);
    HARMLESS(rvm_schedule_graph_size, g, !rvm_schedule_graph_size(NULL));
    HARMLESS(rvm_schedule_graph_name, g, !rvm_schedule_graph_name(NULL, 0, &output) && !output);
    HARMLESS(rvm_schedule_graph_name, output, !strcmp(rvm_schedule_graph_name(g, 0, NULL), "a"));
    HARMLESS(rvm_schedule_graph_sources, g, !rvm_schedule_graph_sources(NULL, 0, &n) && !n);
    HARMLESS(rvm_schedule_graph_sources, n, (rvm_schedule_graph_sources(g, 0, NULL), true));
    REFUSED(rvm_schedule_new_of_graph, g, NULL, 1, NULL, &s, &output, &e);
    REFUSED(rvm_schedule_new_of_graph, out, g, 1, NULL, NULL, &output, &e);
    UNTOLD(rvm_schedule_new_of_graph, NULL, 1, NULL, &s, &output, NULL);
    ALLOWED(rvm_schedule_new_of_graph, options, g, 1, NULL, &s, &output, &e);
    rvm_schedule_free(s);
    ALLOWED(rvm_schedule_new_of_graph, optimal, g, 1, NULL, &s, NULL, &e);
    rvm_schedule_free(s);
    REFUSED(rvm_schedule_replay_graph, g, NULL, &step, 1, 1, NULL, &c, &e);
    REFUSED(rvm_schedule_replay_graph, moves, g, NULL, 1, 1, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay_graph, al, g, &step, 1, 1, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay_graph, counts, g, &step, 1, 1, NULL, NULL, &e);
    UNTOLD(rvm_schedule_replay_graph, NULL, &step, 1, 1, NULL, NULL, NULL);
    rvm_schedule_graph_free(g);
}

/* ---- rvm_coprocessor.h ---- */

static void model_names(void) {
    const rvm_model_key none_such = (rvm_model_key)99;
    HARMLESS(rvm_cause_name, cause, !strcmp(rvm_cause_name((rvm_cause)99), "?"));
    HARMLESS(rvm_law_name, law, !strcmp(rvm_law_name((rvm_law)99), "?"));
    HARMLESS(rvm_model_key_name, key, !strcmp(rvm_model_key_name(none_such), "?"));
    HARMLESS(rvm_model_key_unit, key, !strcmp(rvm_model_key_unit(none_such), "?"));
    HARMLESS(rvm_model_key_doc, key, !strcmp(rvm_model_key_doc(none_such), "?"));
    HARMLESS(rvm_model_shipped_name, text, rvm_model_shipped_name(0, NULL) != NULL);
}

static void models(void) {
    const rvm_model_key none_such = (rvm_model_key)99;
    rvm_model *model = NULL, *other = NULL;
    const char *text;
    uint32_t line;
    model_names();
    if (!rvm_model_shipped_name(0, &text) || rvm_model_shipped("cmos45", NULL, &model, &e)) failures++;
    const size_t size = strlen(text);
    REFUSED(rvm_model_shipped, name, NULL, NULL, &other, &e);
    REFUSED(rvm_model_shipped, out, "cmos45", NULL, NULL, &e);
    UNTOLD(rvm_model_shipped, NULL, NULL, &other, NULL);
    ALLOWED(rvm_model_shipped, al, "cmos45", NULL, &other, &e);
    rvm_model_free(other);
    REFUSED(rvm_model_parse, text, NULL, size, "x", NULL, &other, &e);
    REFUSED(rvm_model_parse, name, text, size, NULL, NULL, &other, &e);
    REFUSED(rvm_model_parse, out, text, size, "x", NULL, NULL, &e);
    UNTOLD(rvm_model_parse, NULL, size, "x", NULL, &other, NULL);
    ALLOWED(rvm_model_parse, al, text, size, "x", NULL, &other, &e);
    rvm_model_free(other);
    HARMLESS(rvm_model_free, m, (rvm_model_free(NULL), true));
    HARMLESS(rvm_model_name, m, !rvm_model_name(NULL));
    HARMLESS(rvm_model_title, m, !rvm_model_title(NULL));
    HARMLESS(rvm_model_against, m, !rvm_model_against(NULL));
    HARMLESS(rvm_model_law, m, rvm_model_law(NULL) == RVM_LAWS);
    HARMLESS(rvm_model_get, m, rvm_model_get(NULL, RVM_MODEL_CLOCK) != rvm_model_get(NULL, RVM_MODEL_CLOCK));
    HARMLESS(rvm_model_get, key, rvm_model_get(model, none_such) != rvm_model_get(model, none_such));
    HARMLESS(rvm_model_source, m, !rvm_model_source(NULL, RVM_MODEL_CLOCK, &line));
    HARMLESS(rvm_model_source, key, !rvm_model_source(model, none_such, &line));
    HARMLESS(rvm_model_source, line, rvm_model_source(model, RVM_MODEL_CLOCK, NULL) != NULL);
    REFUSED(rvm_model_set, m, NULL, RVM_MODEL_CLOCK, 1, &e);
    tried("rvm_model_set", "key", rvm_model_set(model, none_such, 1, &e) == RVM_ERR_ARGUMENT, e.message);
    UNTOLD(rvm_model_set, NULL, RVM_MODEL_CLOCK, 1, NULL);
    HARMLESS(rvm_model_cycles, m, rvm_model_cycles(NULL, &(rvm_work){0}) == 0);
    HARMLESS(rvm_model_cycles, w, rvm_model_cycles(model, NULL) == 0);
    HARMLESS(rvm_model_turn_cycles, m, rvm_model_turn_cycles(NULL) == 0);
    rvm_model_free(model);
}

static rvm_counts *some_counts(void) {
    const rvm_counted kind = {.kind = "add", .direction = 1, .count = 1};
    rvm_counts *c = NULL, *none_such = NULL;
    rvm_counted k;
    REFUSED(rvm_counts_new, out, NULL, NULL, &e);
    UNTOLD(rvm_counts_new, NULL, NULL, NULL);
    ALLOWED(rvm_counts_new, al, NULL, &c, &e);
    HARMLESS(rvm_counts_free, c, (rvm_counts_free(NULL), true));
    REFUSED(rvm_counts_add_machine, c, NULL, m, 1, &e);
    REFUSED(rvm_counts_add_machine, m, c, NULL, 1, &e);
    UNTOLD(rvm_counts_add_machine, NULL, m, 1, NULL);
    REFUSED(rvm_counts_add, c, NULL, c, 1, &e);
    REFUSED(rvm_counts_add, from, c, none_such, 1, &e);
    UNTOLD(rvm_counts_add, NULL, c, 1, NULL);
    REFUSED(rvm_counts_add_kind, c, NULL, &kind, 1, &e);
    REFUSED(rvm_counts_add_kind, kind, c, NULL, 1, &e);
    UNTOLD(rvm_counts_add_kind, NULL, &kind, 1, NULL);
    REFUSED(rvm_counts_add_sums, c, NULL, &(rvm_counts_sums){0}, 1, &e);
    REFUSED(rvm_counts_add_sums, s, c, NULL, 1, &e);
    UNTOLD(rvm_counts_add_sums, NULL, NULL, 1, NULL);
    if (rvm_counts_add_kind(c, &kind, 1, &e)) failures++;
    HARMLESS(rvm_counts_kind, c, !rvm_counts_kind(NULL, 0, &k));
    HARMLESS(rvm_counts_kind, out, !rvm_counts_kind(c, 0, NULL));
    return c;
}

static void prices(void) {
    rvm_counts *c = some_counts();
    rvm_counts_sums sums;
    rvm_model *model = NULL;
    rvm_price price, other;
    rvm_break_even b;
    FILE *sink = tmpfile();
    if (!sink || rvm_model_shipped("cmos45", NULL, &model, &e)) exit(1);
    HARMLESS(rvm_counts_total, c, (rvm_counts_total(NULL, &sums), !sums.instructions));
    HARMLESS(rvm_counts_total, out, (rvm_counts_total(c, NULL), true));
    HARMLESS(rvm_counts_erased, c, !rvm_counts_erased(NULL));
    REFUSED(rvm_counts_write, c, NULL, sink, &e);
    REFUSED(rvm_counts_write, out, c, NULL, &e);
    UNTOLD(rvm_counts_write, NULL, sink, NULL);
    REFUSED(rvm_counts_read, c, NULL, "", 0, "x", &e);
    REFUSED(rvm_counts_read, text, c, NULL, 0, "x", &e);
    REFUSED(rvm_counts_read, name, c, "", 0, NULL, &e);
    UNTOLD(rvm_counts_read, NULL, "", 0, "x", NULL);
    REFUSED(rvm_model_price, m, NULL, c, 0, &price, &e);
    REFUSED(rvm_model_price, c, model, NULL, 0, &price, &e);
    REFUSED(rvm_model_price, out, model, c, 0, NULL, &e);
    UNTOLD(rvm_model_price, NULL, c, 0, &price, NULL);
    REFUSED(rvm_model_best_clock, m, NULL, c, 1, 2, &price, &e);
    REFUSED(rvm_model_best_clock, c, model, NULL, 1, 2, &price, &e);
    REFUSED(rvm_model_best_clock, out, model, c, 1, 2, NULL, &e);
    UNTOLD(rvm_model_best_clock, NULL, c, 1, 2, &price, NULL);
    if (rvm_model_price(model, c, 0, &price, &e)) failures++;
    other = price;
    REFUSED(rvm_break_even_of, reversible, NULL, &price, c, &other, &b, &e);
    REFUSED(rvm_break_even_of, price, c, NULL, c, &other, &b, &e);
    REFUSED(rvm_break_even_of, irreversible, c, &price, NULL, &other, &b, &e);
    REFUSED(rvm_break_even_of, other, c, &price, c, NULL, &b, &e);
    REFUSED(rvm_break_even_of, out, c, &price, c, &other, NULL, &e);
    UNTOLD(rvm_break_even_of, NULL, &price, c, &other, &b, NULL);
    fclose(sink);
    rvm_model_free(model);
    rvm_counts_free(c);
}

/* ---- rvm_derivatives.h ---- */

static const rvm_part of = {0, -1}, by = {1, -1};
static rvm_derivative_spec q;

static void shapes_of_questions(void) {
    int64_t rows, columns;
    char text[8] = "";
    q = (rvm_derivative_spec){
        .fn = fn, .args = args, .nargs = 2, .outputs = &of, .noutputs = 1, .inputs = &by, .ninputs = 1};
    rvm_derivative_spec without = q;
    REFUSED(rvm_derivative_size, m, NULL, &q, &rows, &columns, &e);
    REFUSED(rvm_derivative_size, q, m, NULL, &rows, &columns, &e);
    REFUSED(rvm_derivative_size, rows, m, &q, NULL, &columns, &e);
    REFUSED(rvm_derivative_size, columns, m, &q, &rows, NULL, &e);
    UNTOLD(rvm_derivative_size, NULL, &q, &rows, &columns, NULL);
    without.args = NULL;
    HARMLESS(rvm_derivative_size, q, rvm_derivative_size(m, &without, &rows, &columns, &e) == RVM_ERR_USAGE);
    without = q, without.outputs = NULL;
    HARMLESS(rvm_derivative_size, q, rvm_derivative_size(m, &without, &rows, &columns, &e) == RVM_ERR_USAGE);
    without = q, without.inputs = NULL;
    HARMLESS(rvm_derivative_size, q, rvm_derivative_size(m, &without, &rows, &columns, &e) == RVM_ERR_USAGE);
    HARMLESS(rvm_derivative_name, m, rvm_derivative_name(NULL, &q, true, 0, text, sizeof text) == 1);
    HARMLESS(rvm_derivative_name, q, rvm_derivative_name(m, NULL, true, 0, text, sizeof text) == 1);
    HARMLESS(rvm_derivative_name, text, rvm_derivative_name(m, &q, true, 0, NULL, 100) == 4);
}

static void products(void) {
    double v[2] = {1, 1}, w[2] = {1, 1}, H[4];
    REFUSED(rvm_jvp, m, NULL, &q, v, w, NULL, &e);
    REFUSED(rvm_jvp, q, m, NULL, v, w, NULL, &e);
    REFUSED(rvm_jvp, v, m, &q, NULL, w, NULL, &e);
    REFUSED(rvm_jvp, jv, m, &q, v, NULL, NULL, &e);
    ALLOWED(rvm_jvp, cost, m, &q, v, w, NULL, &e);
    UNTOLD(rvm_jvp, NULL, &q, v, w, NULL, NULL);
    REFUSED(rvm_vjp, m, NULL, &q, w, v, NULL, &e);
    REFUSED(rvm_vjp, q, m, NULL, w, v, NULL, &e);
    REFUSED(rvm_vjp, w, m, &q, NULL, v, NULL, &e);
    REFUSED(rvm_vjp, wj, m, &q, w, NULL, NULL, &e);
    ALLOWED(rvm_vjp, cost, m, &q, w, v, NULL, &e);
    UNTOLD(rvm_vjp, NULL, &q, w, v, NULL, NULL);
    REFUSED(rvm_hvp, m, NULL, &q, NULL, v, w, NULL, &e);
    REFUSED(rvm_hvp, q, m, NULL, NULL, v, w, NULL, &e);
    REFUSED(rvm_hvp, v, m, &q, NULL, NULL, w, NULL, &e);
    REFUSED(rvm_hvp, hv, m, &q, NULL, v, NULL, NULL, &e);
    ALLOWED(rvm_hvp, w, m, &q, NULL, v, w, NULL, &e);
    ALLOWED(rvm_hvp, cost, m, &q, NULL, v, w, NULL, &e);
    UNTOLD(rvm_hvp, NULL, &q, NULL, v, w, NULL, NULL);
    REFUSED(rvm_jacobian, m, NULL, &q, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_jacobian, q, m, NULL, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_jacobian, J, m, &q, RVM_AUTO, NULL, NULL, &e);
    NO_KIND(rvm_jacobian, method, m, &q, (rvm_method)99, H, NULL, &e);
    HARMLESS(rvm_jacobian, method, rvm_jacobian(m, &q, RVM_BY_SWEEP, H, NULL, &e) == RVM_ERR_USAGE);
    ALLOWED(rvm_jacobian, cost, m, &q, RVM_AUTO, H, NULL, &e);
    UNTOLD(rvm_jacobian, NULL, &q, RVM_AUTO, H, NULL, NULL);
    REFUSED(rvm_hessian, m, NULL, &q, NULL, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_hessian, q, m, NULL, NULL, RVM_AUTO, H, NULL, &e);
    REFUSED(rvm_hessian, H, m, &q, NULL, RVM_AUTO, NULL, NULL, &e);
    NO_KIND(rvm_hessian, method, m, &q, NULL, (rvm_method)99, H, NULL, &e);
    HARMLESS(rvm_hessian, method, rvm_hessian(m, &q, NULL, RVM_BY_TANGENTS, H, NULL, &e) == RVM_ERR_USAGE);
    ALLOWED(rvm_hessian, w, m, &q, NULL, RVM_AUTO, H, NULL, &e);
    ALLOWED(rvm_hessian, cost, m, &q, NULL, RVM_AUTO, H, NULL, &e);
    UNTOLD(rvm_hessian, NULL, &q, NULL, RVM_AUTO, H, NULL, NULL);
}

static void sparse(void) {
    int64_t start[] = {0, 2}, column[] = {0, 1};
    double value[2];
    const rvm_sparse pattern = {1, 2, start, column, NULL};
    rvm_sparse H;
    REFUSED(rvm_jacobian_sparse, m, NULL, &q, RVM_AUTO, &pattern, value, NULL, &e);
    REFUSED(rvm_jacobian_sparse, q, m, NULL, RVM_AUTO, &pattern, value, NULL, &e);
    REFUSED(rvm_jacobian_sparse, pattern, m, &q, RVM_AUTO, NULL, value, NULL, &e);
    REFUSED(rvm_jacobian_sparse, value, m, &q, RVM_AUTO, &pattern, NULL, NULL, &e);
    NO_KIND(rvm_jacobian_sparse, method, m, &q, (rvm_method)99, &pattern, value, NULL, &e);
    ALLOWED(rvm_jacobian_sparse, cost, m, &q, RVM_AUTO, &pattern, value, NULL, &e);
    UNTOLD(rvm_jacobian_sparse, NULL, &q, RVM_AUTO, &pattern, value, NULL, NULL);
    const rvm_sparse no_start = {1, 2, NULL, column, NULL}, no_column = {1, 2, start, NULL, NULL};
    HARMLESS(rvm_jacobian_sparse, pattern,
             rvm_jacobian_sparse(m, &q, RVM_AUTO, &no_start, value, NULL, &e) == RVM_ERR_USAGE);
    HARMLESS(rvm_jacobian_sparse, pattern,
             rvm_jacobian_sparse(m, &q, RVM_AUTO, &no_column, value, NULL, &e) == RVM_ERR_USAGE);
    REFUSED(rvm_hessian_sparse, m, NULL, &q, NULL, &H, NULL, &e);
    REFUSED(rvm_hessian_sparse, q, m, NULL, NULL, &H, NULL, &e);
    REFUSED(rvm_hessian_sparse, out, m, &q, NULL, NULL, NULL, &e);
    ALLOWED(rvm_hessian_sparse, w, m, &q, NULL, &H, NULL, &e);
    HARMLESS(rvm_sparse_free, m, (rvm_sparse_free(NULL, &H), H.row_start != NULL));
    HARMLESS(rvm_sparse_free, s, (rvm_sparse_free(m, NULL), true));
    rvm_sparse_free(m, &H);
    ALLOWED(rvm_hessian_sparse, cost, m, &q, NULL, &H, NULL, &e);
    rvm_sparse_free(m, &H);
    UNTOLD(rvm_hessian_sparse, NULL, &q, NULL, &H, NULL, NULL);
}

static void nonsmooth(void) {
    const double v[2] = {1, 1};
    rvm_nonsmooth_point point;
    uint32_t n;
    REFUSED(rvm_nonsmooth_points, m, NULL, &q, v, &point, 1, &n, &e);
    REFUSED(rvm_nonsmooth_points, q, m, NULL, v, &point, 1, &n, &e);
    REFUSED(rvm_nonsmooth_points, v, m, &q, NULL, &point, 1, &n, &e);
    REFUSED(rvm_nonsmooth_points, points, m, &q, v, NULL, 1, &n, &e);
    ALLOWED(rvm_nonsmooth_points, points, m, &q, v, NULL, 0, &n, &e);
    REFUSED(rvm_nonsmooth_points, n, m, &q, v, &point, 1, NULL, &e);
    UNTOLD(rvm_nonsmooth_points, NULL, &q, v, &point, 1, &n, NULL);
    bool all;
    REFUSED(rvm_nonsmooth_corners, m, NULL, &q, 1, &point, 1, &n, &all, &e);
    REFUSED(rvm_nonsmooth_corners, q, m, NULL, 1, &point, 1, &n, &all, &e);
    REFUSED(rvm_nonsmooth_corners, points, m, &q, 1, NULL, 1, &n, &all, &e);
    ALLOWED(rvm_nonsmooth_corners, points, m, &q, 1, NULL, 0, &n, &all, &e);
    REFUSED(rvm_nonsmooth_corners, n, m, &q, 1, &point, 1, NULL, &all, &e);
    REFUSED(rvm_nonsmooth_corners, all, m, &q, 1, &point, 1, &n, NULL, &e);
    UNTOLD(rvm_nonsmooth_corners, NULL, &q, 1, &point, 1, &n, &all, NULL);
}

/* ---- rvm_jit.h ---- */

/* Without LLVM there is no rvm_jit; what is asked of it comes after what is NULL is refused. */
static void native(void) {
    rvm_jit *j = NULL;
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit_totals totals = {.compiled = 1};
    o.tiers = true; /* LLVM is not opened here */
    o.cache = "";
    const bool is = rvm_jit_new(&o, &j, &e) == RVM_OK;
    rvm_jit *const some = is ? j : (rvm_jit *)(void *)&e;
    REFUSED(rvm_jit_new, out, NULL, NULL, &e);
    UNTOLD(rvm_jit_new, NULL, NULL, NULL);
    o.level = 99;
    rvm_jit *none_ = (rvm_jit *)&e;
    HARMLESS(rvm_jit_new, options, rvm_jit_new(&o, &none_, &e) == RVM_ERR_USAGE && !none_);
    HARMLESS(rvm_jit_free, j, (rvm_jit_free(NULL), true));
    HARMLESS(rvm_jit_about, j, !rvm_jit_about(NULL));
    HARMLESS(rvm_jit_busy, j, !rvm_jit_busy(NULL));
    HARMLESS(rvm_jit_stats, j, (rvm_jit_stats(NULL, &totals), !totals.compiled));
    HARMLESS(rvm_jit_stats, out, (rvm_jit_stats(some, NULL), true));
    REFUSED(rvm_jit_attach, j, NULL, m, &e);
    REFUSED(rvm_jit_attach, m, some, NULL, &e);
    UNTOLD(rvm_jit_attach, NULL, m, NULL);
    HARMLESS(rvm_jit_detach, m, (rvm_jit_detach(NULL), true));
    REFUSED(rvm_jit_reason, m, NULL, &e);
    UNTOLD(rvm_jit_reason, NULL, NULL);
    REFUSED(rvm_jit_dump, j, NULL, p, fn, 1, NULL, RVM_JIT_IR, stdout, &e);
    REFUSED(rvm_jit_dump, p, some, NULL, fn, 1, NULL, RVM_JIT_IR, stdout, &e);
    REFUSED(rvm_jit_dump, out, some, p, fn, 1, NULL, RVM_JIT_IR, NULL, &e);
    UNTOLD(rvm_jit_dump, NULL, p, fn, 1, NULL, RVM_JIT_IR, stdout, NULL);
    REFUSED(rvm_jit_compile, j, NULL, p, fn, NULL, NULL, stdout, NULL, &e);
    REFUSED(rvm_jit_compile, p, some, NULL, fn, NULL, NULL, stdout, NULL, &e);
    REFUSED(rvm_jit_compile, object, some, p, fn, NULL, NULL, NULL, NULL, &e);
    UNTOLD(rvm_jit_compile, NULL, p, fn, NULL, NULL, stdout, NULL, NULL);
    FILE *sink = fopen("/dev/null", "w");
    if (is) {
        NO_KIND(rvm_jit_dump, form, j, p, fn, 1, NULL, (rvm_jit_form)99, sink, &e);
        ALLOWED(rvm_jit_dump, options, j, p, fn, 1, NULL, RVM_JIT_IR, sink, &e);
        ALLOWED(rvm_jit_compile, options, j, p, fn, NULL, &(rvm_jit_object){0}, sink, sink, &e);
        ALLOWED(rvm_jit_compile, what, j, p, fn, NULL, NULL, sink, sink, &e);
        ALLOWED(rvm_jit_compile, header, j, p, fn, NULL, NULL, sink, NULL, &e);
    } else {
        fprintf(stderr, "no native code here: %s\n", e.message);
        puts("rvm_jit_dump form\nrvm_jit_dump options\nrvm_jit_compile options\nrvm_jit_compile what\nrvm_jit_compile "
             "header");
    }
    fclose(sink);
    rvm_jit_free(j);
}

int main(void) {
    open_all();
    names();
    files();
    questions();
    transforms();
    assembler();
    machines();
    numbers();
    runs();
    inspection();
    records();
    schedules();
    models();
    prices();
    shapes_of_questions();
    products();
    sparse();
    nonsmooth();
    native();
    rvm_machine_free(m);
    rvm_program_free(p);
    return failures != 0;
}

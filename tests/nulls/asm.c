/* asm.c: rvm_asm.h. */
#include "nulls.h"
#include "rvm_asm.h"

static rvm_status include(void *userdata, const char *wanted, rvm_inclusion *to, rvm_error *why) {
    (void)userdata, (void)wanted, (void)why;
    NO_MESSAGE(rvm_include_text, to, NULL, "", 0);
    NO_MESSAGE(rvm_include_text, text, to, NULL, 1);
    NO_MESSAGE(rvm_include_std, to, NULL, "std/blas.rasm");
    NO_MESSAGE(rvm_include_std, name, to, NULL);
    return RVM_ERR_NAME;
}

void try_asm(void) {
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
    REFUSED(rvm_open_bytes, bytes, NULL, 0, "x", NULL, &made, &e, NULL, NULL);
    HARMLESS(rvm_open_bytes, bytes, is_cleared());
    REFUSED(rvm_open_bytes, name, "", 0, NULL, NULL, &made, &e, NULL, NULL);
    HARMLESS(rvm_open_bytes, name, is_cleared());
    REFUSED(rvm_open_bytes, out, "", 0, "x", NULL, NULL, &e, NULL, NULL);
    HARMLESS(rvm_open_bytes, options, rvm_open_bytes("?", 1, "x", NULL, &made, &e, NULL, NULL) == RVM_ERR_SYNTAX);
    UNTOLD(rvm_open_bytes, NULL, 0, "x", NULL, &made, NULL, NULL, NULL);
    HARMLESS(rvm_open_bytes, report, rvm_open_bytes("?", 1, "x", NULL, &made, &e, NULL, NULL) == RVM_ERR_SYNTAX);
    HARMLESS(rvm_open_bytes, userdata, is_cleared());
    char text[8] = "x";
    HARMLESS(rvm_asm_excerpt, source, !rvm_asm_excerpt(NULL, 1, 1, 1, text, sizeof text) && !*text);
    HARMLESS(rvm_asm_excerpt, text, !rvm_asm_excerpt("x", 1, 1, 1, NULL, 100));
    rvm_asm_used used;
    const rvm_asm_name name = {"y", RVM_F64, 0};
    REFUSED(rvm_assemble_expression, text, NULL, &name, 1, RVM_MATH_AUTO, NULL, &used, &made, &e);
    HARMLESS(rvm_assemble_expression, text, is_cleared());
    REFUSED(rvm_assemble_expression, names, "y", NULL, 1, RVM_MATH_AUTO, NULL, &used, &made, &e);
    REFUSED(rvm_assemble_expression, used, "y", &name, 1, RVM_MATH_AUTO, NULL, NULL, &made, &e);
    REFUSED(rvm_assemble_expression, out, "y", &name, 1, RVM_MATH_AUTO, NULL, &used, NULL, &e);
    NO_KIND(rvm_assemble_expression, math, "y", &name, 1, (rvm_math)99, NULL, &used, &made, &e);
    UNTOLD(rvm_assemble_expression, NULL, &name, 1, RVM_MATH_AUTO, NULL, &used, &made, NULL);
    ALLOWED(rvm_assemble_expression, allocator, "y", &name, 1, RVM_MATH_AUTO, NULL, &used, &made, &e);
    rvm_program_free(made);
    REFUSED(rvm_listing, p, NULL, "x", stdout, &e);
    REFUSED(rvm_listing, path, p, NULL, stdout, &e);
    REFUSED(rvm_listing, out, p, "x", NULL, &e);
    UNTOLD(rvm_listing, NULL, "x", stdout, NULL);
}

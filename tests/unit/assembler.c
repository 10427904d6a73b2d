/* assembler.c: options, diagnostics and includes, which a case file cannot say. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

typedef struct seen {
    unsigned count, lines[64];
    char text[4096];
} seen;

static void on_diagnostic(void *userdata, const rvm_error *e, const char *text) {
    seen *s = userdata;
    if (s->count < 64) s->lines[s->count] = e->line;
    s->count++;
    snprintf(s->text, sizeof s->text, "%s", text);
}

static rvm_status assemble(const char *text, const rvm_asm_options *o, rvm_program **p, rvm_error *e, seen *s) {
    *s = (seen){0};
    return rvm_assemble(text, strlen(text), "unit.rasm", o, p, e, on_diagnostic, s);
}

Test(assembler, one_diagnostic_in_full) {
    seen s;
    rvm_program *p;
    rvm_error e;
    cr_assert(assemble("fn f(x: real)\n    x += z * 2\nend\n", NULL, &p, &e, &s) == RVM_ERR_NAME && !p);
    cr_assert(s.count == 1 && e.line == 2 && e.column == 10 && !strcmp(e.file, "unit.rasm"));
    cr_assert_str_eq(s.text, "unit.rasm:2:10: error: unknown name 'z'\n"
                             "        x += z * 2\n"
                             "             ^");
}

Test(assembler, no_more_than_max_errors) {
    char text[8192] = "fn f(x: real)\n";
    seen s;
    rvm_program *p;
    rvm_error e;
    for (int k = 0; k < 100; k++) strcat(text, "    x += z\n");
    strcat(text, "end\n");
    rvm_asm_options o = {.real = RVM_F64, .max_errors = 7};
    cr_assert(assemble(text, &o, &p, &e, &s) == RVM_ERR_NAME && s.count == 7 && e.line == 2);
    cr_assert(assemble(text, NULL, &p, &e, &s) == RVM_ERR_NAME && s.count == 20);
    for (unsigned k = 1; k < 20; k++) cr_assert(s.lines[k] > s.lines[k - 1], "diagnostics stand in order");
}

/* The program is made all the same; the error is the first error, behind the warnings or not. */
Test(assembler, warnings) {
    static const char text[] = "fn f(y: real, x: real)\n    compute\n        y += x\n    do\n    undo\nend\n";
    char wrong[200];
    seen s;
    rvm_program *p;
    rvm_error e = {.code = RVM_ERR_INTERNAL};
    cr_assert(assemble(text, NULL, &p, &e, &s) == RVM_OK && p && e.code == RVM_ERR_INTERNAL);
    cr_assert(s.count == 1 && s.lines[0] == 3 && strstr(s.text, "unit.rasm:3:9: warning: "), "%s", s.text);
    rvm_program_free(p);
    snprintf(wrong, sizeof wrong, "%.*s    y += q\n    y += r\nend\n", (int)strlen(text) - 4, text);
    cr_assert(assemble(wrong, NULL, &p, &e, &s) == RVM_ERR_NAME && !p && e.code == RVM_ERR_NAME && e.line == 6);
    cr_assert(s.count == 3 && s.lines[0] == 3 && s.lines[2] == 7);
}

Test(assembler, null_error_and_report) {
    rvm_program *p;
    cr_assert(rvm_assemble("fn", 2, "x", NULL, &p, NULL, NULL, NULL) == RVM_ERR_SYNTAX && !p);
}

Test(assembler, bytes_that_are_no_text) {
    static const char text[] = "fn f(x: real)\n    x += 1 \0 + 2\nend\n\xff\xfe";
    seen s = {0};
    rvm_program *p;
    rvm_error e;
    cr_assert(rvm_assemble(text, sizeof text - 1, "x", NULL, &p, &e, on_diagnostic, &s) == RVM_ERR_SYNTAX && !p);
    cr_assert(s.count >= 1 && s.lines[0] == 2);
}

Test(assembler, size_is_the_end) {
    static const char text[] = "fn f(x: i64)\n    x += 12345\nend\n";
    for (size_t n = 0; n < sizeof text; n++) { /* cut anywhere: no read past the end, and a status */
        char *cut = malloc(n ? n : 1);
        rvm_program *p;
        memcpy(cut, text, n);
        rvm_status st = rvm_assemble(cut, n, "x", NULL, &p, NULL, NULL, NULL);
        cr_assert((st == RVM_OK) == (p != NULL));
        rvm_program_free(p);
        free(cut);
    }
}

Test(assembler, real_means_what_the_option_says) {
    seen s;
    rvm_program *p;
    rvm_error e;
    rvm_param_info i;
    rvm_asm_options o = {.real = RVM_FIX};
    cr_assert(assemble("fn f(x: real)\n    x += 0.5\nend\n", &o, &p, &e, &s) == RVM_OK);
    cr_assert(rvm_program_param(p, 0, 0, &i) == RVM_OK && i.type == RVM_FIX);
    rvm_program_free(p);
}

static void write_file(const char *dir, const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    cr_assert(f);
    fputs(text, f);
    fclose(f);
}

/* Beside the file first, then along the path; once; errors inside name the included file; cycles end. */
Test(assembler, includes) {
    char dir[] = "/tmp/rvm-test-XXXXXX", sub[64], main_path[64], command[80];
    cr_assert(mkdtemp(dir));
    snprintf(sub, sizeof sub, "%s/lib", dir);
    snprintf(main_path, sizeof main_path, "%s/main.rasm", dir);
    cr_assert(mkdir(sub, 0700) == 0);
    write_file(dir, "main.rasm",
               "include \"a.rasm\"\ninclude \"far.rasm\"\nfn f(x: real)\n    call a(x)\n    call far(x)\nend\n");
    write_file(dir, "a.rasm", "include \"main.rasm\"\nfn a(x: real)\n    x += 1\nend\n");
    write_file(sub, "far.rasm", "fn far(x: real)\n    x += 2\nend\n");
    const char *path[] = {sub, NULL};
    rvm_asm_options o = {.real = RVM_F64, .include_path = path};
    rvm_program *p;
    rvm_error e;
    seen s = {0};
    cr_assert(rvm_assemble_file(main_path, &o, &p, &e, on_diagnostic, &s) == RVM_OK, "%s", s.text);
    cr_assert(rvm_program_function_count(p) == 3);
    rvm_program_free(p);
    cr_assert(rvm_assemble_file(main_path, NULL, &p, &e, on_diagnostic, &s) == RVM_ERR_IO && strstr(e.message, "far.rasm"));
    /* RVM_PATH: any entry; empty and missing ones are passed over; -I goes before */
    char list[200];
    snprintf(list, sizeof list, "/nonexistent::%s", sub);
    cr_assert(setenv("RVM_PATH", list, 1) == 0);
    cr_assert(rvm_assemble_file(main_path, NULL, &p, &e, on_diagnostic, &s) == RVM_OK, "%s", s.text);
    rvm_program_free(p);
    cr_assert(unsetenv("RVM_PATH") == 0);
    write_file(sub, "far.rasm", "fn far(x: real)\n    x += nothing\nend\n");
    cr_assert(rvm_assemble_file(main_path, &o, &p, &e, on_diagnostic, &s) == RVM_ERR_NAME);
    cr_assert(strstr(e.file, "far.rasm") && e.line == 2);
    cr_assert(rvm_assemble_file("/nonexistent.rasm", &o, &p, &e, on_diagnostic, &s) == RVM_ERR_IO && !p);
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert(system(command) == 0);
}

/* std/ is found beside the binary, whatever folder one is in; a std/ of the user's own goes before. */
Test(assembler, standard_library) {
    static const char text[] = "include \"std/blas.rasm\"\nfn f(x: real[n], out: real)\n    call dot(out, x, x)\nend\n";
    char dir[] = "/tmp/rvm-test-XXXXXX", sub[64], main_path[64], command[80];
    rvm_program *p;
    rvm_error e;
    cr_assert(mkdtemp(dir) && chdir(dir) == 0);
    snprintf(sub, sizeof sub, "%s/std", dir);
    snprintf(main_path, sizeof main_path, "%s/main.rasm", dir);
    write_file(dir, "main.rasm", text);
    cr_assert(rvm_assemble_file(main_path, NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_program_find(p, "gemm") >= 0);
    rvm_program_free(p);
    cr_assert(mkdir(sub, 0700) == 0);
    write_file(sub, "blas.rasm", "fn dot(out: real, x: real[n], y: real[n])\nend\n");
    cr_assert(rvm_assemble_file(main_path, NULL, &p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_program_find(p, "gemm") < 0);
    rvm_program_free(p);
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert(system(command) == 0);
}

Test(assembler, listing) {
    char dir[] = "/tmp/rvm-test-XXXXXX", path[64], *text = NULL;
    size_t size;
    rvm_program *p;
    rvm_error e;
    cr_assert(mkdtemp(dir));
    write_file(dir, "l.rasm", "fn f(y: real, x: real)\n    y += x * sin(x)\nend\n");
    snprintf(path, sizeof path, "%s/l.rasm", dir);
    cr_assert(rvm_assemble_file(path, NULL, &p, &e, NULL, NULL) == RVM_OK);
    FILE *f = open_memstream(&text, &size);
    cr_assert(rvm_listing(p, path, f, &e) == RVM_OK);
    fclose(f);
    const char *statement = strstr(text, "y += x * sin(x)"), *insn = strstr(text, "add.mul y, x, ");
    cr_assert(statement && insn && insn > statement, "%s", text);
    cr_assert(strstr(text, "let.sin") && strstr(text, "unlet.sin"), "%s", text);
    free(text);
    rvm_program_free(p);
    remove(path);
    rmdir(dir);
}

/* Deep nesting is an error, not a crash of the assembler's own stack. */
Test(assembler, deep_nesting) {
    enum { DEPTH = 200000 };
    char *text = malloc(4 * DEPTH + 100), *at = text;
    seen s;
    rvm_program *p;
    rvm_error e;
    at += sprintf(at, "fn f(x: real)\n    x += ");
    for (int k = 0; k < DEPTH; k++) *at++ = '(';
    *at++ = '1';
    for (int k = 0; k < DEPTH; k++) *at++ = ')';
    strcpy(at, "\nend\n");
    rvm_status st = assemble(text, NULL, &p, &e, &s);
    cr_assert(st == RVM_OK || st == RVM_ERR_SYNTAX, "%s", rvm_status_name(st));
    rvm_program_free(p);
    at = text + sprintf(text, "fn f(x: real)\n");
    for (int k = 0; k < DEPTH / 20; k++) at += sprintf(at, "if x > 0\n");
    for (int k = 0; k < DEPTH / 20; k++) at += sprintf(at, "end\n");
    strcpy(at, "end\n");
    st = assemble(text, NULL, &p, &e, &s);
    cr_assert(st == RVM_OK || st == RVM_ERR_SYNTAX, "%s", rvm_status_name(st));
    rvm_program_free(p);
    free(text);
}

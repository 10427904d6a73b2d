/* includes.c: where included texts come from: the callback, files of every kind, and none at all. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

/* ---- the callback ---- */

typedef struct shelf {
    const char *const (*texts)[2]; /* name, text; ended by NULL */
    unsigned asked;
    char log[400];
} shelf;

static rvm_status from_shelf(void *userdata, const char *name, rvm_inclusion *to, rvm_error *err) {
    shelf *s = userdata;
    s->asked++;
    snprintf(s->log + strlen(s->log), sizeof s->log - strlen(s->log), "%s ", name);
    if (!strcmp(name, "denied")) {
        snprintf(err->message, sizeof err->message, "not for you");
        return RVM_ERR_CANCELLED;
    }
    if (!strcmp(name, "nothing")) return RVM_OK;
    for (unsigned k = 0; s->texts && s->texts[k][0]; k++)
        if (!strcmp(s->texts[k][0], name)) {
            char copy[200]; /* gone after the call */
            snprintf(copy, sizeof copy, "%s", s->texts[k][1]);
            return rvm_include_text(to, copy, strlen(copy));
        }
    return rvm_include_std(to, name);
}

static char told[4096];
static void on_diagnostic(void *userdata, const rvm_error *e, const char *text) {
    (void)userdata, (void)e;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", text);
}

static rvm_status assemble(const char *text, const rvm_asm_options *o, rvm_program **p, rvm_error *e) {
    told[0] = 0;
    return rvm_assemble(text, strlen(text), "upload.rasm", o, p, e, on_diagnostic, NULL);
}

Test(includes, callback) {
    static const char *const texts[][2] = {
        {"lib/a.rasm", "include \"b.rasm\"\ninclude \"/upload.rasm\"\nfn a(x: real)\n    call b(x)\nend\n"},
        {"lib/b.rasm", "include \"lib/a.rasm\"\ninclude \"c.rasm\"\nfn b(x: real)\n    call c(x)\nend\n"},
        {"c.rasm", "fn c(x: real)\n    x += 1\nend\n"},
        {"/upload.rasm", "fn rooted(x: real)\nend\n"},
        {NULL, NULL}};
    shelf s = {.texts = texts};
    const rvm_asm_options o = {.real = RVM_F64, .include = from_shelf, .include_userdata = &s, .no_files = true};
    rvm_program *p;
    rvm_error e;
    cr_assert(assemble("include \"lib/a.rasm\"\ninclude \"lib/a.rasm\"\nfn f(x: real)\n    call a(x)\nend\n", &o, &p, &e) ==
                  RVM_OK,
              "%s", told);
    cr_assert(rvm_program_function_count(p) == 5);
    cr_assert_str_eq(s.log, "lib/a.rasm lib/b.rasm /upload.rasm lib/lib/a.rasm lib/c.rasm c.rasm ");
    rvm_program_free(p);
}

/* Where something is defined that is defined again, in another file. */
Test(includes, defined_twice) {
    static const char *const texts[][2] = {{"own.rasm", "type T = (u: real)\nconst c = 1\nfn f(x: real)\nend\n"},
                                           {NULL, NULL}};
    static const char *const hints[] = {"first defined on line 4 of upload.rasm", "first defined on line 7 of upload.rasm",
                                        "first defined on line 5 of upload.rasm"};
    shelf s = {.texts = texts};
    const rvm_asm_options o = {.real = RVM_F64, .include = from_shelf, .include_userdata = &s, .no_files = true};
    rvm_program *p;
    rvm_error e;
    cr_assert(assemble("\n\ninclude \"own.rasm\"\ntype T = (v: real)\nfn f(x: real)\nend\nconst c = 2\n", &o, &p, &e));
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++) cr_assert(strstr(told, hints[k]), "%s: %s", hints[k], told);
}

Test(includes, errors_of_the_callback) {
    static const char *const texts[][2] = {{"bad.rasm", "fn a(x: real)\n    x += nothing\nend\n"}, {NULL, NULL}};
    shelf s = {.texts = texts};
    const rvm_asm_options o = {.real = RVM_F64, .include = from_shelf, .include_userdata = &s, .no_files = true};
    rvm_program *p;
    rvm_error e;
    cr_assert(assemble("include \"denied\"\n", &o, &p, &e) == RVM_ERR_IO && strstr(e.message, "not for you"), "%s", told);
    cr_assert(e.line == 1 && !p);
    cr_assert(assemble("include \"nothing\"\n", &o, &p, &e) == RVM_ERR_IO && strstr(e.message, "no text"), "%s", told);
    cr_assert(assemble("include \"bad.rasm\"\n", &o, &p, &e) == RVM_ERR_NAME && strstr(told, "bad.rasm:2"), "%s", told);
}

/* A service serves std/ through the callback, and nothing beside it. */
Test(includes, standard_library_of_a_service) {
    shelf s = {.texts = NULL};
    const rvm_asm_options o = {.real = RVM_F64, .include = from_shelf, .include_userdata = &s, .no_files = true};
    rvm_program *p;
    rvm_error e;
    cr_assert(assemble("include \"std/linalg.rasm\"\n", &o, &p, &e) == RVM_OK, "%s", told); /* includes "blas.rasm" */
    cr_assert(rvm_program_find(p, "dot") >= 0);
    rvm_program_free(p);
    static const char *const others[] = {"std/../README.md", "std/..", "std/x/../../y", "std/nothing.rasm", "/etc/passwd"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        char text[80];
        snprintf(text, sizeof text, "include \"%s\"\n", others[k]);
        cr_assert(assemble(text, &o, &p, &e) == RVM_ERR_IO && strstr(e.message, "no files are read here"), "%s", told);
    }
}

/* ---- no files ---- */

Test(includes, no_files) {
    static const char *const names[] = {"/etc/passwd",   "etc/passwd", "../../../../../../etc/passwd",
                                        "std/blas.rasm", "/dev/zero",  "."};
    const rvm_asm_options none = {.real = RVM_F64, .no_files = true}, any = {.real = RVM_F64};
    rvm_program *p;
    rvm_error e;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char text[80];
        snprintf(text, sizeof text, "include \"%s\"\nfn f(x: real)\nend\n", names[k]);
        cr_assert(assemble(text, &none, &p, &e) == RVM_ERR_IO && !p, "%s", names[k]);
        cr_assert(strstr(told, "upload.rasm:1:9") && strstr(told, "no files are read here"), "%s", told);
        cr_assert(!strstr(told, "root:"), "%s", told);
    }
    cr_assert(assemble("include \"/etc/passwd\"\n", &any, &p, &e) != RVM_OK && strstr(told, "root:"), "what it is for: %s",
              told);
}

/* ---- files that are no text ---- */

static void cannot(const char *dir, const char *name, const char *why) {
    char text[200];
    const rvm_asm_options o = {.real = RVM_F64};
    rvm_program *p;
    rvm_error e;
    snprintf(text, sizeof text, "include \"%s%s%s\"\n", dir, *dir ? "/" : "", name);
    cr_assert(assemble(text, &o, &p, &e) == RVM_ERR_IO && strstr(e.message, why), "%s: %s", name, told);
}

Test(includes, odd_files, .timeout = 60) {
    char dir[] = "/tmp/rvm-test-XXXXXX", path[100], command[200];
    const rvm_asm_options o = {.real = RVM_F64};
    rvm_program *p;
    rvm_error e;
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/pipe", dir);
    cr_assert(mkfifo(path, 0600) == 0);
    cannot(dir, "pipe", "no regular file");
    cr_assert(rvm_open(path, &o, &p, &e, NULL, NULL) == RVM_ERR_IO && strstr(e.message, "no regular file"), "%s", e.message);
    snprintf(path, sizeof path, "%s/loop", dir);
    cr_assert(symlink("loop", path) == 0);
    cannot(dir, "loop", "symbolic links");
    cannot("", "/dev/zero", "no regular file");
    cannot(dir, "", "directory");
    cannot(dir, "none", "No such file");
    snprintf(path, sizeof path, "%s/huge", dir);
    FILE *f = fopen(path, "w");
    cr_assert(f && ftruncate(fileno(f), (off_t)1 << 40) == 0); /* a hole */
    fclose(f);
    cannot(dir, "huge", "more than 256 MiB");
    cr_assert(rvm_open(path, &o, &p, &e, NULL, NULL) == RVM_ERR_IO && strstr(e.message, "256 MiB"), "%s", e.message);
    cr_assert(rvm_program_load_file("/dev/zero", NULL, &p, &e) == RVM_ERR_FORMAT);
    cr_assert(truncate(path, 1 << 22) == 0); /* binary */
    snprintf(command, sizeof command, "include \"%s\"\n", path);
    cr_assert(assemble(command, &o, &p, &e) == RVM_ERR_SYNTAX && strstr(e.message, "byte 0x00"), "%s", told);
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_assert(system(command) == 0);
}

/* lines.c: code compiled with symbols tells profilers its lines: the file that LLVM writes for perf names the source. */
#include "harness.h"
#include "rvm_jit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] = "fn work(y: real, n: i64)\n"
                             "    for i in 0..n\n"
                             "        y += sin(i * 1.5)\n"
                             "    end\n"
                             "end\n";

static bool contains(const char *path, const char *text) {
    FILE *in = fopen(path, "rb");
    size_t matched = 0;
    for (int c; in && text[matched] && (c = getc(in)) >= 0;) matched = c == text[matched] ? matched + 1 : c == *text;
    if (in) fclose(in);
    return in && !text[matched];
}

/* Looks for the text in all files below the folder, and removes them. */
static bool empty_folder(const char *folder, const char *text, bool *found) {
    char path[600];
    DIR *d = opendir(folder);
    bool any = false;
    for (struct dirent *f; d && (f = readdir(d));) {
        if (f->d_name[0] == '.' && (!f->d_name[1] || f->d_name[1] == '.')) continue;
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        any |= empty_folder(path, text, found) || !access(path, F_OK);
        *found |= contains(path, text);
        remove(path);
    }
    if (d) closedir(d);
    return any;
}

static bool run(report *r, rvm_jit *j) {
    rvm_error e = {0};
    rvm_machine *m = NULL;
    rvm_program *p = NULL;
    const rvm_asm_options a = {.real = RVM_F64};
    rvm_arg given[] = {rvm_arg_f64(0), rvm_arg_i64(10)};
    bool good =
        report_ok(r, "assemble", rvm_assemble(source, sizeof source - 1, "the_source.rasm", &a, &p, &e, NULL, NULL), &e) &&
        report_ok(r, "machine", rvm_machine_new(p, NULL, &m, &e), &e) &&
        report_ok(r, "attach", rvm_jit_attach(j, m, &e), &e) &&
        report_ok(r, "call", rvm_call(m, rvm_program_find(p, "work"), given, 2, &e), &e) &&
        report_ok(r, "native", rvm_jit_reason(m, &e), &e);
    rvm_machine_free(m);
    rvm_program_free(p);
    return good;
}

int main(void) {
    char folder[] = "/tmp/rvm-lines-XXXXXX";
    report r = {.name = "lines"};
    rvm_jit_options o = rvm_jit_options_default();
    rvm_jit *j = NULL;
    rvm_error e = {0};
    bool found = false;
    o.symbols = true;
    o.tiers = false;
    if (!mkdtemp(folder) || setenv("JITDUMPDIR", folder, 1)) return 1;
    bool good = report_ok(&r, "native code", rvm_jit_new(&o, &j, &e), &e) && run(&r, j);
    rvm_jit_free(j);
    if (!empty_folder(folder, "the_source.rasm", &found))
        report_skip(&r, "this LLVM writes nothing for perf");
    else if (good && !found)
        good = report_fail(&r, "what LLVM writes for perf does not name the source");
    remove(folder);
    return good ? 0 : 1;
}

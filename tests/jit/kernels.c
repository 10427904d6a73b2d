/* kernels.c: PTX of many functions, for ptx.sh, in one process: LLVM is opened once, which takes as long as compiling one.
 *
 *     jit_kernels FOLDER <LINES
 *
 * Each line is FILE FUNCTION [trust] [fast]. The N-th, from 0 on, becomes FOLDER/N.ptx, or FOLDER/N.none, in which stands
 * why not. As `rvm run --dump ptx --unchecked --trail=off`. */
#include <stdio.h>
#include <string.h>

#include "rvm_asm.h"
#include "rvm_jit.h"

static rvm_status write_kernels(const char *path, const char *name, const char *how, rvm_jit *j, FILE *out, rvm_error *err) {
    const rvm_asm_options as = {.real = RVM_F64};
    rvm_program *p = NULL;
    rvm_options o = rvm_options_default();
    o.unchecked = true;
    o.trust = strstr(how, "trust");
    o.trail = RVM_TRAIL_OFF;
    rvm_status status = rvm_assemble_file(path, &as, &p, err, NULL, NULL);
    const int64_t fn = status ? -1 : rvm_program_find(p, name);
    if (!status && fn < 0) status = RVM_ERR_USAGE, snprintf(err->message, sizeof err->message, "there is no such function");
    if (!status) status = rvm_jit_dump(j, p, (uint32_t)fn, 1, &o, RVM_JIT_PTX, out, err);
    rvm_program_free(p);
    return status;
}

int main(int argc, char **argv) {
    char line[1000], path[400], name[200], how[100];
    rvm_jit *jits[2];
    rvm_error e;
    for (int fast = 0; fast < 2; fast++) {
        rvm_jit_options o = rvm_jit_options_default();
        o.cache = "";
        o.fast_math = fast;
        if (rvm_jit_new(&o, &jits[fast], &e)) return fprintf(stderr, "%s\n", e.message), 1;
    }
    for (unsigned n = 0; argc == 2 && fgets(line, sizeof line, stdin); n++) {
        char ptx[600], none[600];
        *how = 0;
        if (sscanf(line, "%399s %199s %99[^\n]", path, name, how) < 2) return 1;
        snprintf(ptx, sizeof ptx, "%s/%u.ptx", argv[1], n);
        snprintf(none, sizeof none, "%s/%u.none", argv[1], n);
        FILE *f = fopen(ptx, "w");
        if (!f) return perror(ptx), 1;
        const rvm_status status = write_kernels(path, name, how, jits[strstr(how, "fast") != NULL], f, &e);
        fclose(f);
        if (!status) continue;
        if (rename(ptx, none) || !(f = fopen(none, "w"))) return perror(none), 1;
        fprintf(f, "%s\n", e.message);
        fclose(f);
    }
    for (int fast = 0; fast < 2; fast++) rvm_jit_free(jits[fast]);
    return argc == 2 ? 0 : 2;
}

/* nulls.c: see nulls.h. */
#include "nulls.h"
#include "rvm_asm.h"

#include <stdlib.h>

int failures;
rvm_error e;
rvm_program *p, *made = (rvm_program *)&e;
rvm_machine *m;
uint32_t fn, index_;
double x[2] = {3, 4};
const int64_t shape[1] = {2};
rvm_arg args[2];

void set_arguments(void) {
    args[0] = rvm_arg_f64(0);
    args[1] = rvm_arg_array_f64(x, 1, shape);
}

bool is_cleared(void) {
    const bool is = !made;
    made = (rvm_program *)&e;
    return is;
}

void tried(const char *function, const char *param, bool good, const char *what) {
    printf("%s %s\n", function, param);
    if (good) return;
    fprintf(stderr, "%s, %s: %s\n", function, param, what);
    failures++;
}

void refused(const char *function, const char *param, rvm_status status) {
    char named[100];
    snprintf(named, sizeof named, "`%s` is NULL", param);
    tried(function, param, status == RVM_ERR_USAGE && e.code == status && !strcmp(e.message, named), e.message);
}

void none(const char *function, const char *param, rvm_status status) {
    const bool good = status == RVM_ERR_USAGE && e.code == status && strstr(e.message, "has number 99");
    tried(function, param, good, e.message);
}

static void open_all(void) {
    static const char text[] = "fn f(y: f64, x: f64[n])\n    for i in 0..n\n        y += x[i] * x[i]\n    end\nend\n";
    if (rvm_assemble(text, strlen(text), "nulls", NULL, &p, &e, NULL, NULL) || rvm_machine_new(p, NULL, &m, &e)) {
        fprintf(stderr, "%s\n", e.message);
        exit(1);
    }
    fn = (uint32_t)rvm_program_find(p, "f");
}

int main(void) {
    open_all();
    try_program();
    try_asm();
    try_rvm();
    try_debug();
    try_schedule();
    try_coprocessor();
    try_derivatives();
    try_jit();
    try_cuda();
    rvm_machine_free(m);
    rvm_program_free(p);
    return failures != 0;
}

/* A program elsewhere that uses the installed library: d(x^2)/dx at 3 is 6. */
#include <rvm.h>
#include <rvm_asm.h>
#include <rvm_jit.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    static const char text[] = "fn square(out: f64, x: f64)\n    out += x ^ 2\nend\n";
    rvm_program *p = NULL;
    rvm_machine *m = NULL;
    rvm_jit *j = NULL;
    rvm_jit_options o = rvm_jit_options_default();
    rvm_error e = {0};
    rvm_arg a[] = {rvm_arg_f64(0), rvm_arg_f64(3)};
    a[0].active = a[1].active = true;
    a[0].shadow.f = 1; /* the seed */
    rvm_status s = rvm_assemble(text, strlen(text), "square.rasm", NULL, &p, &e, NULL, NULL);
    if (!s) s = rvm_machine_new(p, NULL, &m, &e);
    o.tiers = false; /* compiled at once, for these few instructions */
    if (!s && argc > 1 && strcmp(argv[1], "--native") == 0) s = rvm_jit_new(&o, &j, &e);
    if (!s && j) s = rvm_jit_attach(j, m, &e);
    if (!s) s = rvm_gradient(m, rvm_program_find(p, "square"), a, 2, &e);
    if (!s && j) s = rvm_jit_reason(m, &e);
    if (s)
        fprintf(stderr, "%s:%u: %s\n", e.file, e.line, e.message);
    else
        printf("%g\n", a[1].shadow.f);
    rvm_machine_free(m);
    rvm_jit_free(j);
    rvm_program_free(p);
    return s;
}

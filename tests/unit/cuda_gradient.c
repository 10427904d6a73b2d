/* cuda_gradient.c: rvm_gradient where points of a mixture have a CTA each, forward and backward: both call the same
 * functions, whose blocks each needs for itself. By what stands in for a driver (tests/grid). */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rvm_asm.h"
#include "rvm_cuda.h"
#include "rvm_jit.h"

#include "mixture.h"

Test(cuda_gradient, of_the_mixture_in_ctas) {
    static mixture expected, got;
    rvm_program *p;
    rvm_machine *m;
    rvm_jit *j;
    rvm_cuda *c;
    rvm_error e;
    rvm_cuda_totals t;
    rvm_options unchecked = rvm_options_default();
    rvm_jit_options o = rvm_jit_options_default();
    o.threads = 0;
    rvm_cuda_options device = rvm_cuda_options_default();
    o.tiers = false;
    o.level = 0;
    unchecked.unchecked = unchecked.trust = true;
    unchecked.trail = RVM_TRAIL_OFF;
    device.least = 0;
    device.nested = RVM_CUDA_ALWAYS;
    setenv("RVM_CUDA_DRIVER", RVM_GRID_DRIVER, 1);
    cr_assert(!rvm_open(RVM_EXAMPLES "/gmm/gmm.rasm", NULL, &p, &e, NULL, NULL), "%s", e.message);
    cr_assert(!rvm_machine_new(p, &unchecked, &m, &e));
    mixture_gradient(m, rvm_program_find(p, "gmm"), &expected);
    if (!rvm_jit_new(&o, &j, &e)) { /* there is LLVM */
        cr_assert(!rvm_jit_attach(j, m, &e) && !rvm_cuda_new(&device, &c, &e) && !rvm_cuda_attach(c, m, &e));
        mixture_gradient(m, rvm_program_find(p, "gmm"), &got);
        rvm_cuda_stats(c, &t);
        cr_assert(t.nested == 2 && !t.on_host, "%d: %s", (int)t.nested, t.why);
        cr_assert(!memcmp(&expected, &got, sizeof got) && got.by_icf[K - 1][C - 1] != 0);
        rvm_machine_free(m);
        rvm_cuda_free(c);
        rvm_jit_free(j);
    } else
        rvm_machine_free(m);
    rvm_program_free(p);
}

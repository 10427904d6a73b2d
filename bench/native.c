/* native.c: machines with native code of their own: compiled when it is first run, all at once, and kept by nobody. */
#include "bench.h"

rvm_jit_options native_options(void) {
    rvm_jit_options o = rvm_jit_options_default();
    o.tiers = false;
    o.cache = "";
    o.threads = 0;
    return o;
}

bool native_is_there(void) {
    const rvm_jit_options o = native_options();
    rvm_jit *j = NULL;
    rvm_error e;
    const bool there = !rvm_jit_new(&o, &j, &e);
    if (!there) fprintf(stderr, "rvm_bench: %s\n", e.message);
    rvm_jit_free(j);
    return there;
}

rvm_status native_open(native_machine *n, const rvm_program *p, const rvm_options *o, const rvm_jit_options *jit,
                       rvm_error *e) {
    rvm_status status = rvm_jit_new(jit, &n->j, e);
    if (!status) status = rvm_machine_new(p, o, &n->m, e);
    return status ? status : rvm_jit_attach(n->j, n->m, e);
}

void native_close(native_machine *n) {
    rvm_machine_free(n->m);
    rvm_jit_free(n->j);
}

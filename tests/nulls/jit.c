/* jit.c: rvm_jit.h. */
#include "nulls.h"
#include "rvm_jit.h"

/* Without LLVM there is no rvm_jit; what is asked of it comes after what is NULL is refused. */
void try_jit(void) {
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

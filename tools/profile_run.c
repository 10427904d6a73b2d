/* profile_run.c: what rvm profile and rvm cost share: a run that is counted, forward, backward or as a gradient. */
#include "profiled.h"

#include <stdlib.h>

rvm_status counted_options(tool *t) {
    if (t->o.backward && t->o.of)
        return tool_fail(t, RVM_ERR_USAGE, "--backward and --of: is the run back to be counted, or the gradient?");
    if (t->o.wrt && !t->o.of) return tool_fail(t, RVM_ERR_USAGE, "--wrt goes with --of NAME: what is differentiated?");
    if (!t->o.engine) t->o.engine = "interp";
    return RVM_OK;
}

rvm_status counted_run(tool *t) {
    bool wrt[RVM_MAX_PARAMS + 1] = {0};
    uint32_t of = 0;
    size_t element = 0;
    rvm_status st = t->o.of ? tool_choose_gradient(t, wrt, &of, &element) : RVM_OK;
    if (st) return st;
    if (t->o.of) arg_set_shadow(&t->v.arg[of], element, rvm_scalar_from_double(t->v.info[of].type, 1));
    progress_begin(&t->progress, t->machine);
    if (t->o.of)
        st = rvm_gradient(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    else if (t->o.backward)
        st = rvm_uncall(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    else
        st = rvm_call(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    progress_end(&t->progress);
    native_tell(t);
    return st;
}

void counted_text(const tool *t, rvm_status ran, char *text, size_t size) {
    snprintf(text, size, "%s%s%s%s", rvm_program_function_name(t->program, t->fn), t->o.backward ? ", backward" : "",
             t->o.of ? ", then its sweep" : "", ran ? ", up to an error" : "");
}

rvm_status write_printed(tool *t, const char *path, printer *print, const void *what) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool good = out && print(out, what);
    if (out) good = !ferror(out) && !fclose(out) && good;
    const rvm_status st = good ? files_write(t, path, text, size) : tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    free(text);
    return st;
}

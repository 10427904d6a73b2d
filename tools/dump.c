/* dump.c: --dump: the native code, in place of the command. */
#include "tool.h"

#include <string.h>

/* f'grad for what --of and --wrt name: all reals if they do not say. */
static rvm_status gradient_program(tool *t) {
    uint8_t active[RVM_MAX_PARAMS + 1] = {0};
    const char *const lists[] = {t->o.of, t->o.wrt};
    for (int k = 0; k < 2; k++)
        for (const char *s = lists[k]; s && *s; s += strcspn(s, ","), s += *s == ',') {
            const rvm_status st = tool_mark(t, t->fn, s, strcspn(s, ",["), active);
            if (st) return st;
        }
    rvm_status st = rvm_program_close_active(t->program, t->fn, active, &t->err);
    if (!st)
        st = rvm_program_transform(t->program, t->fn, RVM_GRADIENT_OF, t->o.wrt ? active : NULL, &t->derived_program, &t->fn,
                                   &t->err);
    return st;
}

rvm_status native_dump(tool *t) {
    static const char *const forms[] = {[RVM_JIT_IR] = "ir", [RVM_JIT_ASSEMBLY] = "asm", [RVM_JIT_PTX] = "ptx"};
    int form = sizeof forms / sizeof *forms;
    int first;
    rvm_options o;
    while (form-- > 0 && strcmp(t->o.dump, forms[form]) != 0) {}
    if (form < 0) return tool_fail(t, RVM_ERR_USAGE, "--dump is ir, asm or ptx, not `%s`", t->o.dump);
    if (t->o.json) return tool_fail(t, RVM_ERR_USAGE, "--dump prints text: not with --json");
    rvm_status st = tool_choose(t, &first);
    if (!st) st = tool_options(t, &o);
    if (!st) st = native_jit(t, false, &t->err);
    if (!st && t->command == COMMAND_GRAD) st = gradient_program(t);
    if (st) return st;
    const rvm_program *p = t->derived_program ? t->derived_program : t->program;
    t->chosen = false; /* t->fn may be another program's */
    return rvm_jit_dump(t->jit, p, t->fn, t->o.backward ? -1 : 1, &o, (rvm_jit_form)form, stdout, &t->err);
}

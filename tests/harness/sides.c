/* sides.c: see sides.h. */
#include "sides.h"

#include <string.h>

bool side_open(const subject *s, const rvm_options *o, side *y, rvm_jit *j) {
    if (!report_ok(s->rep, "machine", rvm_machine_new(s->program, o, &y->m, &y->e), &y->e)) return false;
    if (j && !report_ok(s->rep, "attach", rvm_jit_attach(j, y->m, &y->e), &y->e)) return false;
    rvm_cuda *device = j && s->native ? s->native->device : NULL;
    return !device || report_ok(s->rep, "attach a device", rvm_cuda_attach(device, y->m, &y->e), &y->e);
}

void sides_close(side *x) {
    for (int k = 0; k < SIDES; k++) {
        rvm_machine_free(x[k].m);
        args_free(&x[k].a);
    }
}

static bool same_error(const rvm_error *a, const rvm_error *b) {
    return a->line == b->line && a->column == b->column && !strcmp(a->message, b->message);
}

bool sides_end_alike(report *r, const char *what, const side *x) {
    const side *i = &x[INTERPRETED], *n = &x[NATIVE];
    r->checks++;
    if (i->status == n->status && (!i->status || same_error(&i->e, &n->e))) return true;
    return report_fail(r, "%s: interpreted %s at %u:%u: %s; natively %s at %u:%u: %s", what, rvm_status_name(i->status),
                       i->e.line, i->e.column, i->status ? i->e.message : "", rvm_status_name(n->status), n->e.line,
                       n->e.column, n->status ? n->e.message : "");
}

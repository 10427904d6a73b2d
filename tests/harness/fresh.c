/* fresh.c: what a function adds to may be fresh: the same bits as where it holds what adds nothing, whatever stands there,
 * by the interpreter and natively, in lanes and one by one. */
#include "builder.h"
#include "first_block.h"
#include "harness.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>

static bool is_added_to(const subject *s, uint32_t k) {
    return s->program->functions[s->fn].params[k].role == RVM_ACC;
}

static void prepare(const subject *s, args *a, bool fresh) {
    for (uint32_t k = 0; k < a->n; k++) {
        if (!is_added_to(s, k)) continue;
        a->a[k].fresh = fresh;
        for (size_t n = 0; n < arg_count(&a->a[k]); n++) {
            rvm_scalar *v = arg_value(&a->a[k], n);
            if (fresh)
                memset(v, 0xff, sizeof *v);
            else
                v->i = rvm__sum_start(a->a[k].type).i;
        }
    }
}

static bool is_cleared(args *a) {
    for (uint32_t k = 0; k < a->n; k++)
        for (size_t n = 0; a->a[k].fresh && n < arg_count(&a->a[k]); n++)
            if (arg_value(&a->a[k], n)->i) return false;
    return true;
}

static rvm_status run(const subject *s, const engine *e, rvm_jit *j, args *a, rvm_error *err) {
    rvm_options o = engine_options(s, e);
    rvm_machine *m = NULL;
    if (e->unchecked) o.trail = RVM_TRAIL_OFF;
    rvm_status st = rvm_machine_new(s->program, &o, &m, err);
    if (!st && j) st = rvm_jit_attach(j, m, err);
    if (!st) st = rvm_call(m, s->fn, a->a, a->n, err);
    if (st) rvm_machine_unbind(m);
    rvm_machine_free(m);
    return st;
}

/* Against *want, which ended with that status. */
static bool agrees(const subject *s, const engine *e, const char *way, rvm_jit *j, args *want, rvm_status status) {
    char what[100];
    rvm_error err = {0};
    args got = args_copy(s->in);
    snprintf(what, sizeof what, "%s, %s, fresh", e->name, way);
    prepare(s, &got, true);
    const rvm_status st = run(s, e, j, &got, &err);
    s->rep->checks++;
    bool good = st == status || report_fail(s->rep, "%s: expected %s, got %s: %s", what, rvm_status_name(status),
                                            rvm_status_name(st), err.message);
    if (good && !st) good = args_agree(s->rep, what, s->program, s->fn, want, &got, COMPARE_BITS, 0);
    const bool refused = st == RVM_ERR_SHAPE || st == RVM_ERR_ALIAS; /* perhaps before it was bound */
    if (good && st && !refused) good = is_cleared(&got) || report_fail(s->rep, "%s: it is not 0 where the run failed", what);
    args_free(&got);
    return good;
}

static bool check_by(const subject *s, const engine *e) {
    rvm_error err;
    args want = args_copy(s->in);
    prepare(s, &want, false);
    const rvm_status status = run(s, e, NULL, &want, &err);
    bool good = agrees(s, e, "interpreted", NULL, &want, status);
    for (int way = 0; good && s->native && !s->native->device && way < NATIVE_WAYS; way += NATIVE_LATER)
        if (s->native->way[way] && status != RVM_ERR_FUEL)
            good = agrees(s, e, way ? "natively, one by one" : "natively", s->native->way[way], &want, status);
    args_free(&want);
    return good;
}

bool check_fresh(const subject *s, bool fails) {
    bool any = false;
    rvm__first_block b;
    for (uint32_t k = 0; k < s->in->n; k++)
        any |= is_added_to(s, k) && rvm__first_block_of(s->program, &s->program->functions[s->fn], k, &b);
    if (s->inverse || s->derived || s->options.exact) return true;
    subject t = *s;
    if (!any) t.native = NULL; /* it is filled before, as for the interpreter */
    return check_by(&t, &engines[0]) && (fails || check_by(&t, &engines[1]));
}

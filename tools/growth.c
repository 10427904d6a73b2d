/* growth.c: why something does not come back: two machines going back in lockstep (rvm_machine_growth). */
#include "tool.h"

#include <math.h>

enum { MOST = 1 << 20 }; /* instructions: half a second or so */

typedef struct pair {
    rvm_machine *m, *other;
    values v, w;
} pair;

static rvm_status machine(tool *t, bool exact, rvm_machine **out) {
    rvm_options o;
    rvm_status st = tool_options(t, &o);
    o.exact = exact;
    o.profile = false;
    o.progress = NULL;
    o.print = NULL;
    return st ? st : rvm_machine_new(t->program, &o, out, &t->err);
}

static rvm_status pair_new(tool *t, pair *p, const values *from, bool exact) {
    *p = (pair){.m = NULL};
    rvm_status st = machine(t, false, &p->m);
    if (!st) st = machine(t, exact, &p->other);
    if (!st) st = values_copy(&p->v, from, &t->err);
    return st ? st : values_copy(&p->w, from, &t->err);
}

static void pair_free(pair *p) {
    rvm_machine_free(p->m);
    rvm_machine_free(p->other);
    values_free(&p->v);
    values_free(&p->w);
}

static void tell(pair *p, char *text, size_t size) {
    rvm_growth g;
    rvm_error e;
    *text = 0;
    if (rvm_machine_growth(p->m, p->other, MOST, &g, &e) || !g.times) return;
    snprintf(text, size, "rounding grew most at %s:%u, where `%s` is updated: %.3g times at each of %llu turns",
             g.file ? g.file : "?", g.line, g.place, g.factor, (unsigned long long)g.times);
}

static rvm_status forward(const tool *t, rvm_machine *m, values *v) {
    rvm_error e;
    rvm_status st = rvm_machine_bind(m, t->fn, v->arg, v->n, RVM_PRIMAL, false, &e);
    return st ? st : rvm_machine_forward(m, &e);
}

void growth_of_run(tool *t, const values *start, char *text, size_t size) {
    pair p;
    const rvm_error told = t->err;
    *text = 0;
    if (!pair_new(t, &p, start, true) && !forward(t, p.m, &p.v) && !forward(t, p.other, &p.w)) tell(&p, text, size);
    pair_free(&p);
    t->err = told;
}

/* Each real becomes its neighbour. */
static void change_last_bits(values *v) {
    for (uint32_t i = 0; i < v->n; i++)
        for (size_t k = 0, n = rvm_type_is_floating(v->info[i].type) ? arg_count(&v->arg[i]) : 0; k < n; k++) {
            rvm_scalar x = arg_get(&v->arg[i], k);
            x.f = v->info[i].type == RVM_F32 ? (double)nextafterf((float)x.f, INFINITY) : nextafter(x.f, INFINITY);
            arg_set(&v->arg[i], k, x);
        }
}

/* Whether inputs depend on the last bits of the results; where *name does most. */
static bool is_undetermined(const tool *t, pair *p, const values *end, char *name, size_t size, double *apart) {
    rvm_error e;
    change_last_bits(&p->w);
    if (rvm_uncall(p->m, t->fn, p->v.arg, p->v.n, &e)) return false;
    if (rvm_uncall(p->other, t->fn, p->w.arg, p->w.n, &e)) return false;
    const difference d = values_compare(&p->v, &p->w, option_given(&t->o, tol) ? t->o.tol : rvm_options_default().tolerance);
    *apart = d.error;
    values_element_name(&p->v, d.param, d.element, name, size);
    values_assign(&p->v, end);
    values_assign(&p->w, end);
    change_last_bits(&p->w);
    return !d.same;
}

void growth_from_end(tool *t, const values *end, char *text, size_t size) {
    pair p;
    char name[96], where[256] = "";
    double apart = 0;
    rvm_stats s;
    rvm_error e;
    const rvm_error told = t->err;
    *text = 0;
    rvm_machine_stats(t->machine, &s);
    if (t->o.exact || t->o.unchecked || t->o.trust || s.backward > MOST) return;
    if (!pair_new(t, &p, end, false) && is_undetermined(t, &p, end, name, sizeof name, &apart)) {
        if (!rvm_machine_bind(p.m, t->fn, p.v.arg, p.v.n, RVM_PRIMAL, true, &e) &&
            !rvm_machine_bind(p.other, t->fn, p.w.arg, p.w.n, RVM_PRIMAL, true, &e))
            tell(&p, where, sizeof where);
        snprintf(text, size, "the results hardly determine `%s`: with other last bits it comes back %.2g apart%s%s", name,
                 apart, *where ? "; " : "", where);
    }
    pair_free(&p);
    t->err = told;
}

/* activity.c: which places depend on the active parameters. See activity.h. */
#include "activity.h"
#include "accesses.h"
#include "builder.h"
#include "solver.h"
#include "sites.h"

#include <string.h>

typedef struct walk {
    const rvm_program *p;
    rvm__activity *a;
    bool grew;
} walk;

static uint8_t *mark_of(const walk *w, uint32_t fn, uint32_t number) {
    return &w->a->marks[w->a->at[fn] + number];
}

static void raise_mark(walk *w, uint8_t *mark) {
    w->grew |= rvm__join8(mark, 1);
}

/* A place of the pool, and its slot or array with it. Constants and integers have no shadow. */
static void raise_place(walk *w, uint32_t fn, const rvm_place *q) {
    const rvm_function *f = &w->p->functions[fn];
    if (q->kind == RVM_PLACE_RANGE || rvm__place_type(f, q) == RVM_I64) return;
    if (q->kind == RVM_PLACE_SLOT && q->slot >= f->nregs) return;
    raise_mark(w, mark_of(w, fn, rvm__web_of(f, q)));
    raise_mark(w, mark_of(w, fn, rvm__slot_number(f, q)));
}

static bool is_active(const walk *w, uint32_t fn, const rvm_place *q) {
    return rvm__is_active(w->p, w->a, fn, q);
}

static uint8_t *mark_of_param(const walk *w, uint32_t fn, uint32_t k) {
    const rvm_param *param = &w->p->functions[fn].params[k];
    const rvm_place q = {.kind = param->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = param->index};
    return mark_of(w, fn, rvm__slot_number(&w->p->functions[fn], &q));
}

/* What one instruction puts on the trail others of its site take from there. */
static uint8_t *mark_of_site(const walk *w, uint32_t fn, const rvm_insn *in) {
    const int64_t site = rvm__insn_site(&w->p->functions[fn], in);
    return site < 0 ? NULL : &w->a->at_site[rvm__sites_find(w->a->sites, w->a->nsites, site)];
}

/* ---- what is only printed ---- */

static bool is_shown(const walk *w, uint32_t fn, const rvm_place *q) {
    return q->kind == RVM_PLACE_SLOT && w->a->shown[w->a->at[fn] + rvm__web_of(&w->p->functions[fn], q)];
}

/* Whether the instruction does no more with what it reads than to show it. */
static bool only_shows(const walk *w, uint32_t fn, const rvm_insn *in, const rvm_place *q) {
    if (in->op == RVM_OP_let || in->op == RVM_OP_unlet) return is_shown(w, fn, q);
    return rvm__is_call(in) && in->op != RVM_OP_calli && rvm__print_text(w->p, in->target);
}

/* What is used otherwise is not only shown; whether that is new of some. */
static bool use_otherwise(void *userdata, uint32_t fn) {
    walk *w = userdata;
    const rvm_function *f = &w->p->functions[fn];
    w->grew = false;
    RVM__EACH_INSN(x, f) {
        const bool appears = x.in->op == RVM_OP_let || x.in->op == RVM_OP_unlet;
        for (uint32_t k = only_shows(w, fn, x.in, x.q) ? x.in->nplaces : appears; k < x.in->nplaces; k++) {
            if (!is_shown(w, fn, &x.q[k]) || x.q[k].slot >= f->nregs) continue;
            w->a->shown[w->a->at[fn] + rvm__web_of(f, &x.q[k])] = 0;
            w->grew = true;
        }
    }
    return w->grew;
}

/* The largest set of places that nothing reads but a print, and what gives such their values. */
static void find_shown(walk *w, uint32_t fn) {
    const rvm_function *f = &w->p->functions[fn];
    RVM__EACH_INSN(x, f)
        if (x.in->op == RVM_OP_let && x.q->kind == RVM_PLACE_SLOT) w->a->shown[w->a->at[fn] + rvm__web_of(f, x.q)] = 1;
    while (use_otherwise(w, fn)) {}
}

static void visit_places(walk *w, uint32_t fn, const rvm_insn *in) {
    const rvm_function *f = &w->p->functions[fn];
    const bool stack = rvm__op_on_stack((rvm_op)in->op);
    uint8_t *site = mark_of_site(w, fn, in), any = stack ? w->a->stack : site && *site;
    RVM__EACH_ACCESS(a, w->p, f, in)
        if (rvm__letter_shadow(a.letter) & RVM__BITS_READ) any |= is_active(w, fn, a.q);
    if (!any || ((in->op == RVM_OP_let || in->op == RVM_OP_unlet) && is_shown(w, fn, rvm__places(f, in)))) return;
    RVM__EACH_ACCESS(a, w->p, f, in)
        if (stack || rvm__letter_shadow(a.letter) & RVM__BITS_ACC) raise_place(w, fn, a.q);
    if (site) raise_mark(w, site);
    w->grew |= stack && !w->a->stack;
    w->a->stack |= stack;
}

static void visit_callee(walk *w, uint32_t fn, const rvm_place *args, uint32_t callee) {
    const rvm_function *g = &w->p->functions[callee];
    raise_mark(w, &w->a->reached[callee]);
    for (uint32_t k = 0; k < g->nparams; k++) {
        const rvm_param *param = &g->params[k];
        uint8_t *mark = mark_of_param(w, callee, k);
        if (is_active(w, fn, &args[k])) raise_mark(w, mark);
        if (*mark && ((w->a->one_code && param->ndim) || param->role != RVM_READ)) raise_place(w, fn, &args[k]);
    }
}

static bool visit(void *userdata, uint32_t fn) {
    walk *w = userdata;
    w->grew = false;
    if (!w->a->reached[fn]) return false;
    RVM__EACH_INSN(x, &w->p->functions[fn]) {
        if (!rvm__is_call(x.in)) visit_places(w, fn, x.in);
        RVM__EACH_CALLEE(g, w->p, x.in) visit_callee(w, fn, x.q + rvm__callee_of(w->p, x.in).first, g);
    }
    return w->grew;
}

static size_t numbers_of(const rvm_function *f) {
    return (size_t)rvm__slot_numbers(f) + f->nwebs;
}

size_t rvm__activity_size(const rvm_program *p) {
    size_t bytes = (size_t)p->nfunctions * (sizeof(size_t) + 1) + 1 + rvm__sites_most(p) * (sizeof(uint32_t) + 1);
    for (uint32_t k = 0; k < p->nfunctions; k++) bytes += 2 * numbers_of(&p->functions[k]);
    return bytes;
}

rvm__activity rvm__activity_in(const rvm_program *p, void *block) {
    const uint32_t n = p->nfunctions;
    rvm__activity a = {.at = block, .size = rvm__activity_size(p), .calls = &p->calls};
    size_t at = 0;
    a.sites = (uint32_t *)(a.at + n);
    a.nsites = rvm__sites_collect(p, a.sites);
    a.marks = (uint8_t *)(a.sites + a.nsites);
    for (uint32_t k = 0; k < n; k++) {
        a.at[k] = at;
        at += numbers_of(&p->functions[k]);
    }
    a.shown = a.marks + at;
    a.reached = a.shown + at;
    a.at_site = a.reached + n;
    return a;
}

void rvm__activity_find(const rvm_program *p, rvm__activity *a, uint32_t fn, const uint8_t *wrt, bool stack) {
    walk w = {p, a, false};
    memset(a->marks, 0, a->size - (size_t)(a->marks - (uint8_t *)a->at));
    for (uint32_t k = 0; k < p->nfunctions && p->nprints; k++)
        if (p->functions[k].webs) find_shown(&w, k);
    a->stack = stack;
    a->reached[fn] = 1;
    for (uint32_t k = 0; k < p->functions[fn].nparams; k++)
        if (wrt[k]) raise_mark(&w, mark_of_param(&w, fn, k));
    rvm__solve_both_ways(a->calls, visit, &w);
}

bool rvm__activity_close(const rvm_program *p, rvm__activity *a, uint32_t fn, uint8_t *active, bool stack) {
    bool grew = false;
    rvm__activity_find(p, a, fn, active, stack);
    for (uint32_t k = 0; k < p->functions[fn].nparams; k++)
        grew |= rvm__is_param_active(p, a, fn, k) && rvm__join8(&active[k], 1);
    return grew;
}

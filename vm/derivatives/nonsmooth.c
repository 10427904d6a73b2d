/* nonsmooth.c: where a derivative ends: instructions that take a number which depends on the inputs and whose result has no
 * derivative by it (comparisons, conversions to integers, floor). Such an instruction contributes 0, by the rules; that this
 * is what was meant only the author can tell, so it is reported where it happens. So are corners, where a derivative that
 * there is elsewhere is taken by rule: sqrt and abs of 0, ties.
 *
 * A tangent run, instruction by instruction: a number depends on the inputs where its tangent along the given direction is
 * not 0; for a corner it suffices that it is active, since 0 is often where its tangent is 0 too (sqrt(x^2 + y^2)).
 */
#include <string.h>

#include "memory.h"
#include "out_of_line.h"
#include "spec.h"
#include "reals.h"
#include "second.h"
#include "program.h"
#include "support.h"

typedef struct search {
    rvm__work w;
    rvm_nonsmooth_point *points;
    uint32_t room, n;
    bool corners; /* nothing else */
} search;

static bool has_derivative(const rvm_insn *in, rvm_type y, rvm_type t, int operand) {
    return rvm__has_partial((rvm_row)in->row, rvm__kernel_index((rvm_row)in->row, y, t), operand);
}

static void note(search *s, uint32_t fn, uint32_t pc, const rvm_place *q, bool corner, double taken) {
    const rvm_program *p = s->w.m->p;
    const rvm_function *f = &p->functions[fn];
    const rvm_row row = (rvm_row)f->code[pc].row;
    rvm_nonsmooth_point c = {
        .fn = fn, .pc = pc, .function = f->name, .row = rvm__row_info[row].name, .taken = taken, .corner = corner};
    rvm__place_text(f, q, pc, NULL, c.place, sizeof c.place);
    rvm_program_position(p, fn, pc, &c.file, &c.line, &c.column);
    for (uint32_t k = 0; k < s->n && k < s->room; k++) /* the same again, or its release */
        if (s->points[k].fn == fn && s->points[k].line == c.line && !strcmp(s->points[k].row, c.row) &&
            !strcmp(s->points[k].place, c.place))
            return;
    if (s->n < s->room) s->points[s->n] = c;
    s->n++;
}

static double number_at(const rvm_machine *m, const rvm__frame *top, const rvm_function *f, const rvm_place *q,
                        bool shadow) {
    const rvm_value *v = q->kind == RVM_PLACE_SLOT
                             ? (shadow ? m->shadows : m->slots) + top->slots + q->slot
                             : rvm__element_at(&m->arrays[top->arrays + q->slot], q, m->slots + top->slots, shadow);
    return v ? rvm__real_of(rvm__place_type(f, q), *v) : 0;
}

/* The instruction that runs next. */
static void look(search *s) {
    const rvm_machine *m = s->w.m;
    const rvm__frame *top = &m->frames[m->nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    const uint32_t pc = m->where == INSIDE ? (uint32_t)(m->pc - m->codes[top->fn].x) : 1;
    const rvm_insn *in = &f->code[pc];
    if (!rvm__op_is_update((rvm_op)in->op)) return;
    const rvm_place *places = rvm__places(f, in);
    const rvm_row_info *row = &rvm__row_info[in->row];
    const rvm_type y = rvm__place_type(f, &places[0]), t = rvm__place_type(f, &places[row->sig == RVM_SIG_SEL ? 2 : 1]);
    rvm__second second = {0};
    double x[3] = {0};
    for (int k = 0; k < row->arity; k++) x[k] = number_at(m, top, f, &places[k + 1], false);
    rvm__row_second((rvm_row)in->row, x, &second);
    for (int k = 0; k < row->arity; k++) {
        const rvm_place *q = &places[k + 1];
        if (!rvm__is_active(m->p, &m->activity, top->fn, q)) continue;
        if (!has_derivative(in, y, t, k)) {
            if (!s->corners && number_at(m, top, f, q, true) != 0) note(s, top->fn, pc, q, false, 0);
        } else if (second.corner[k])
            note(s, top->fn, pc, q, true, second.d[k]);
    }
}

rvm_status rvm_nonsmooth_points(rvm_machine *m, const rvm_derivative_spec *q, const double *v, rvm_nonsmooth_point *points,
                                uint32_t room, uint32_t *n, rvm_error *err) {
    search s = {.points = points, .room = room};
    bool done = false;
    RVM__NEEDS(n);
    *n = 0;
    if (room) RVM__NEEDS(points);
    rvm_status status = rvm__work_begin(&s.w, m, q, err);
    if (status) return status;
    status = rvm__work_needs(v, s.w.columns, "v", err);
    rvm__work_reset(&s.w);
    if (!status) rvm__work_put(&s.w, true, v);
    if (!status) status = rvm_machine_bind(m, q->fn, s.w.args, q->nargs, RVM_TANGENT, false, err);
    while (!status && !done) {
        look(&s);
        status = rvm_machine_step(m, 1, &done, err);
    }
    rvm__work_end(&s.w, NULL);
    *n = s.n;
    return status;
}

/* Whether a row has a corner, by its operand: asked where the rules of rows.def decide. */
static bool may_have_corner(rvm_row row, int operand) {
    static const double at[][3] = {{0, 0, 0}, {0, 0.5, 0}};
    rvm__second s;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        if (rvm__row_second(row, at[k], &s) && s.corner[operand]) return true;
    return false;
}

static bool any_in(const rvm_machine *m, uint32_t fn) {
    RVM__EACH_INSN(x, &m->p->functions[fn]) {
        if (!rvm__op_is_update((rvm_op)x.in->op)) continue;
        for (int k = 0; k < rvm__row_info[x.in->row].arity; k++)
            if (may_have_corner((rvm_row)x.in->row, k) && rvm__is_active(m->p, &m->activity, fn, &x.q[k + 1])) return true;
    }
    return false;
}

rvm_status rvm_nonsmooth_corners(rvm_machine *m, const rvm_derivative_spec *q, uint64_t most, rvm_nonsmooth_point *points,
                                 uint32_t room, uint32_t *n, bool *all, rvm_error *err) {
    search s = {.points = points, .room = room, .corners = true};
    bool any = false, done = false;
    RVM__NEEDS(n, all);
    *n = 0;
    *all = false;
    if (room) RVM__NEEDS(points);
    rvm_status status = rvm__work_begin(&s.w, m, q, err);
    if (status) return status;
    rvm__work_reset(&s.w);
    status = rvm_machine_bind(m, q->fn, s.w.args, q->nargs, RVM_TANGENT, false, err);
    for (uint32_t fn = 0; !status && !any && fn < m->p->nfunctions; fn++) any = any_in(m, fn);
    for (uint64_t k = 0; !status && any && !done && k < most; k++) {
        look(&s);
        status = rvm_machine_step(m, 1, &done, err);
    }
    rvm__work_end(&s.w, NULL);
    *n = s.n;
    *all = done || !any;
    return status;
}

/* corners.c: points without a derivative, at the instruction that runs next (vm/derivatives/nonsmooth.c looks at one after
 * the other), and whether there can be any. */
#include "answers.h"
#include "out_of_line.h"
#include "program.h"
#include "reals.h"
#include "second.h"

static bool has_derivative(const rvm_insn *in, rvm_type y, rvm_type t, int operand) {
    return rvm__has_partial((rvm_row)in->row, rvm__kernel_index((rvm_row)in->row, y, t), operand);
}

static double number_at(const rvm_machine *m, const rvm__frame *top, const rvm_function *f, const rvm_place *q,
                        bool shadow) {
    const rvm_value *v = q->kind == RVM_PLACE_SLOT ? (shadow ? m->store.shadows : m->store.slots) + top->slots + q->slot
                                                   : rvm__element_at(&m->store.arrays[top->arrays + q->slot], q,
                                                                     m->store.slots + top->slots, shadow);
    return v ? rvm__real_of(rvm__place_type(f, q), *v) : 0;
}

static rvm_nonsmooth_point point(const rvm_machine *m, uint32_t fn, uint32_t pc, const rvm_place *q, bool corner,
                                 double taken) {
    const rvm_function *f = &m->p->functions[fn];
    const char *row = rvm__row_info[f->code[pc].row].name;
    rvm_nonsmooth_point c = {.fn = fn, .pc = pc, .function = f->name, .row = row, .taken = taken, .corner = corner};
    rvm__place_text(f, q, pc, NULL, c.place, sizeof c.place);
    rvm_program_position(m->p, fn, pc, &c.file, &c.line, &c.column);
    return c;
}

static bool same_position(const rvm_position *a, const rvm_position *b) {
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

/* Whether the instruction makes the condition of a `select` at its own position: both are of one operation of the source,
 * whose value is smooth there, as the sum of two lns is, and not a comparison of its author's. */
static bool is_of_formula(const rvm_function *f, uint32_t pc) {
    const uint16_t condition = rvm__places(f, &f->code[pc])[0].slot;
    if (!f->positions[pc].line || rvm__place_type(f, rvm__places(f, &f->code[pc])) != RVM_I64) return false;
    RVM__EACH_INSN(x, f) {
        if (rvm__op_is_update((rvm_op)x.in->op) && x.in->row == RVM_ROW_select && x.q[1].slot == condition &&
            same_position(&f->positions[x.pc], &f->positions[pc]))
            return true;
    }
    return false;
}

int rvm__nonsmooth_here(const rvm_machine *m, bool corners, rvm_nonsmooth_point out[3]) {
    int n = 0;
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const rvm_function *f = &m->p->functions[top->fn];
    const uint32_t pc = m->run.where == INSIDE ? (uint32_t)(m->run.pc - m->codes[top->fn].x) : 1;
    const rvm_insn *in = &f->code[pc];
    if (!rvm__op_is_update((rvm_op)in->op)) return 0;
    const rvm_place *places = rvm__places(f, in);
    const rvm_row_info *row = &rvm__row_info[in->row];
    const rvm_type y = rvm__place_type(f, &places[0]), t = rvm__place_type(f, &places[1 + rvm__row_first((rvm_row)in->row)]);
    rvm__second second = {0};
    double x[3] = {0};
    for (int k = 0; k < row->arity; k++) x[k] = number_at(m, top, f, &places[k + 1], false);
    rvm__row_second(m->math, (rvm_row)in->row, x, &second);
    for (int k = 0; k < row->arity; k++) {
        const rvm_place *q = &places[k + 1];
        if (!rvm__is_active(m->p, &m->bound.activity, top->fn, q)) continue;
        if (!has_derivative(in, y, t, k)) {
            if (!corners && number_at(m, top, f, q, true) != 0 && !is_of_formula(f, pc))
                out[n++] = point(m, top->fn, pc, q, false, 0);
        } else if (second.corner[k])
            out[n++] = point(m, top->fn, pc, q, true, second.d[k]);
    }
    return n;
}

/* ---- in all of a program ---- */

/* Whether a row has a corner, by its operand: asked where the rules of rows.def decide. */
static bool may_have_corner(rvm_row row, int operand) {
    static const double at[][3] = {{0, 0, 0}, {0, 0.5, 0}};
    rvm__second s;
    for (size_t k = 0; k < sizeof at / sizeof *at; k++)
        if (rvm__row_second(&rvm__math_libm, row, at[k], &s) && s.corner[operand]) return true;
    return false;
}

static bool any_in(const rvm_machine *m, uint32_t fn) {
    RVM__EACH_INSN(x, &m->p->functions[fn]) {
        if (!rvm__op_is_update((rvm_op)x.in->op)) continue;
        for (int k = 0; k < rvm__row_info[x.in->row].arity; k++)
            if (may_have_corner((rvm_row)x.in->row, k) && rvm__is_active(m->p, &m->bound.activity, fn, &x.q[k + 1]))
                return true;
    }
    return false;
}

bool rvm__may_meet_corner(const rvm_machine *m) {
    for (uint32_t fn = 0; fn < m->p->nfunctions; fn++)
        if (any_in(m, fn)) return true;
    return false;
}

/* derive_rows.c: arrays whose shadow is made row by row.
 *
 * A program that keeps what it computed, for all steps and places, in an array fills a row of it in each trip of its loops,
 * by one call:
 *
 *     let kept: real[n, m]
 *     for t in 0..n
 *         call step(kept[t], ...)
 *
 * In the sweep nothing else has gradients for such a row, which is another one in every trip. So its shadow is 0 when the
 * call's adjoint begins, and is dropped when that ends: it appears for the call alone, and there is none of the whole array.
 */
#include "derive.h"
#include "accesses.h"

enum { NONE = UINT32_MAX };

typedef struct uses {    /* of an array, or of the source as a whole */
    uint32_t made, view; /* instructions, or NONE */
    bool other;
} uses;

size_t rvm__rows_scratch(const rvm_function *f) {
    return f->narrays * sizeof(uses);
}

static void note(uses *u, uint32_t *pc, uint32_t at) {
    u->other |= *pc != NONE;
    *pc = at;
}

static void see(uses *u, const rvm_insn *in, uint32_t k, uint32_t pc) {
    if (in->op == RVM_OP_new)
        note(u, &u->made, pc);
    else if (in->op == RVM_OP_view && k == 1)
        note(u, &u->view, pc);
    else if (in->op != RVM_OP_unview && in->op != RVM_OP_del)
        u->other = true;
}

static void find_uses(const rvm_program *p, const rvm_function *f, uses *all) {
    for (uint32_t k = 0; k < f->narrays; k++) all[k] = (uses){NONE, NONE, false};
    RVM__EACH_INSN(x, f)
        RVM__EACH_ACCESS(a, p, f, x.in)
            if (a.array) see(&all[a.q->slot], x.in, a.k, x.pc);
}

static bool has_index(const rvm_function *f, uint32_t view, uint16_t index) {
    const rvm_place *q = rvm__places(f, &f->code[view]);
    for (uint32_t k = 2; k < f->code[view].nplaces; k++)
        if (q[k].kind == RVM_PLACE_SLOT && q[k].slot == index) return true;
    return false;
}

/* Whether what lies around the view, since the array is there, is loops alone, of whose indices it has each: then each of
 * its runs shows another row. */
static bool is_new_each_time(const rvm_function *f, const uses *u) {
    RVM__EACH_INSN_IN(x, f, u->made, u->view) {
        const bool around = x.in->target > u->view;
        if (rvm__is_jump(x.in->op)) return false;
        if (x.in->op == RVM_OP_compute && f->code[x.in->target].target > u->view) return false;
        if ((x.in->op == RVM_OP_do || x.in->op == RVM_OP_par) && around) return false;
        if (x.in->op == RVM_OP_for && around && !has_index(f, u->view, x.q->slot)) return false;
    }
    return true;
}

/* An array of constant lengths, which engines may keep in registers, is left as it is. */
static bool is_fixed(const rvm_function *f, uint32_t made) {
    const rvm_place *q = rvm__places(f, &f->code[made]);
    bool fixed = true;
    for (uint32_t k = 1; k + 1 < f->code[made].nplaces; k++) fixed &= q[k].slot >= f->nregs;
    return fixed;
}

/* Whether a compute part around runs as an adjoint twice. */
static bool is_borrowed(const rvm__derive *t, const rvm_function *f, uint32_t pc) {
    RVM__EACH_INSN_IN(x, f, 0, pc)
        if (t->borrows[x.pc] && x.in->op == RVM_OP_compute && x.in->target > pc) return true;
    return false;
}

void rvm__find_rows(rvm__derive *t, void *scratch) {
    const rvm_function *f = rvm__source(t);
    uses *all = scratch;
    find_uses(t->p, f, all);
    for (uint32_t k = 0; k < f->narrays; k++) {
        const uses *u = &all[k];
        if (u->other || u->made == NONE || u->view == NONE || u->made > u->view || is_fixed(f, u->made)) continue;
        const rvm_place *value = rvm__places(f, &f->code[u->made]) + f->code[u->made].nplaces - 1;
        if (rvm__active(t, value) || is_borrowed(t, f, u->made)) continue;
        if (is_new_each_time(f, u)) t->rows[k] = u->made;
    }
}

bool rvm__shows_row(const rvm__derive *t, const rvm_insn *in) {
    return rvm__pair_of(in->op) == RVM_PAIR_view && t->rows[rvm__places(rvm__source(t), in)[1].slot];
}

/* Whether the slot holds the same throughout the function: a constant, or a length of a parameter. */
static bool is_always_there(const rvm_function *f, uint16_t slot) {
    bool any = slot >= f->nregs;
    for (uint32_t k = 0; k < f->nparams && !any; k++)
        for (int d = 0; d < f->params[k].ndim; d++) any |= f->params[k].dim[d] == slot;
    return any;
}

/* The shadow of the row appears or disappears: by lengths where they are at hand, from which engines know more than from
 * those of another array. */
static void shadow_row(rvm__derive *t, const rvm_insn *in, bool appears) {
    const rvm_function *f = rvm__source(t);
    const rvm_place *q = rvm__places(f, in), v = rvm__value_place(t, q),
                    *made = rvm__places(f, &f->code[t->rows[q[1].slot]]);
    rvm_place places[RVM_MAX_DIMS + 2] = {rvm__shadow_place(t, q)};
    int n = 1;
    bool known = true;
    for (int d = 0; d < f->arrays[q[1].slot].ndim; d++) {
        if (2 + (uint32_t)d < in->nplaces) {
            known &= q[2 + d].kind == RVM_PLACE_SLOT;
            continue;
        }
        known &= is_always_there(f, made[1 + d].slot);
        if (known) places[n++] = rvm__value_place(t, &made[1 + d]);
    }
    if (!known) {
        RVM__ADD(t, appears ? RVM_OP_like : RVM_OP_unlike, 0, 0, places[0], v);
        return;
    }
    places[n++] = rvm__const_place(t, rvm__place_type(f, q), 0);
    rvm__add(t, appears ? RVM_OP_new : RVM_OP_del, 0, 0, n, places);
}

void rvm__sweep_row(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const rvm_place *q = rvm__places(rvm__source(t), in), v = rvm__value_place(t, q);
    uint16_t *shadow = &t->shadow_array[q->slot];
    if (op == RVM_OP_view) {
        rvm__add_value(t, in, op);
        t->others[q->slot] = *shadow;
        *shadow = rvm__temp_array(t, rvm__place_type(rvm__source(t), q), &v).slot;
        shadow_row(t, in, true);
        return;
    }
    const rvm_place v_ = rvm__shadow_place(t, q);
    rvm__discard(t, RVM_OP_drop, v_);
    shadow_row(t, in, false);
    rvm__temp_array_free(t, v_);
    *shadow = t->others[q->slot];
    rvm__add_value(t, in, op);
}

/* lower_trail.c: set and drop, whose old values go onto the trail. docs/semantics.md, section 8, draws what they become. */
#include "asm.h"
#include "instruction.h"

/* ---- set ---- */

static bool is_temporary(const expr *e) {
    return e->kind == E_ROW || e->kind == E_POWER || e->kind == E_COMPLEX;
}

/* Whether a subscript of the place is a temporary that reads v. */
static bool subscript_reads(const expr *e, const var *v) {
    if (e->kind != E_ELEM) return false;
    for (int k = 0; k < e->nkids; k++)
        if (!(e->kids[k]->kind == E_VAR) && rvm__mentions(e->kids[k], v)) return true;
    return false;
}

/* Whether some temporary of e reads v: behind the change it would not disappear as it appeared. */
static bool temporaries_read(const expr *e, const var *v) {
    if (e->kind == E_POWER || e->kind == E_COMPLEX) return rvm__mentions(e, v);
    if (e->kind != E_ROW) return subscript_reads(e, v);
    for (int k = 0; k < e->nkids; k++)
        if (is_temporary(e->kids[k]) ? rvm__mentions(e->kids[k], v) : subscript_reads(e->kids[k], v)) return true;
    return false;
}

static void set_directly(gen *g, const stmt *s) {
    uint32_t mark = g->ntemps;
    rvm_place places[5];
    int row;
    places[0] = rvm__lower_place(g, s->args[0]);
    uint32_t n = 1 + rvm__lower_root(g, s->expr, &row, places + 1);
    places[n++] = rvm__gen_site(g);
    rvm__emit(g, RVM_OP_set, row, 0, places, n, s->at);
    rvm__unwind(g, mark);
}

/* t <- e; drop y; swap y, t; t disappears as 0. */
static void set_by_swap(gen *g, const stmt *s) {
    uint32_t mark = g->ntemps;
    rvm_place let[4], both[2], none[2];
    int row;
    rvm_place t = rvm__gen_slot(rvm__gen_reg(g, (rvm_type)s->args[0]->type));
    let[0] = none[0] = both[1] = t;
    uint32_t n = 1 + rvm__lower_root(g, s->expr, &row, let + 1);
    rvm__emit(g, RVM_OP_let, row, 0, let, n, s->at);
    rvm__unwind(g, mark);
    both[0] = rvm__lower_place(g, s->args[0]);
    rvm__emit_drop(g, 0, both[0], s->at);
    rvm__emit(g, RVM_OP_swap, -1, 0, both, 2, s->at);
    none[1] = rvm__gen_const(g, (rvm_type)s->args[0]->type, (rvm_value){0});
    rvm__emit(g, RVM_OP_unlet, RVM_ROW_id, 0, none, 2, s->at);
    rvm__unwind(g, mark);
    rvm__gen_free_reg(g, t.slot);
}

void rvm__lower_set(gen *g, const stmt *s) {
    if (rvm__is_complex(s->args[0]->type))
        rvm__lower_set_parts(g, s);
    else if (temporaries_read(s->expr, s->args[0]->u.var))
        set_by_swap(g, s);
    else
        set_directly(g, s);
}

/* ---- drop ---- */

/* An adjoint takes from the trail of its function, and drops onto its own, as derived ones do. */
static int64_t drop_level(const func *fn) {
    return fn->rule && fn->rule->kind == RVM_ADJOINT;
}

void rvm__lower_drop(gen *g, const stmt *s) {
    const var *leaves[RVM_MAX_PARAMS];
    if (!rvm__check_drop(g->a, s->args[0])) return;
    uint32_t mark = g->ntemps;
    const expr *whole = rvm__lower_subscripts(g, s->args[0]);
    const uint32_t n = whole ? rvm__leaf_vars(whole->u.var, leaves, 0) : 0;
    for (uint32_t k = 0; k < n; k++) {
        const expr leaf = rvm__leaf_of(whole, leaves[k]);
        rvm__emit_drop(g, drop_level(g->fn), rvm__lower_part(g, &leaf), s->at);
    }
    rvm__unwind(g, mark);
}

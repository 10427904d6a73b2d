/* lower_expr.c: checked expressions to instructions, by recursive descent.
 *
 * Every operation but the outermost becomes a temporary: `let.row t, ...`, which rvm__unwind mirrors behind the statement.
 * Places and constants are operands as they are; a subscript is a register or a constant. The operands of a complex
 * operation become places first (a place as it is, all else a temporary), then the formulas of numbers.def are trees over
 * these places.
 */
#include "asm.h"
#include "instruction.h"

static const expr *part_of(gen *g, const expr *e);
static rvm_place lower_guarded(gen *g, const expr *e);

static rvm_place lower_function(gen *g, const expr *e) {
    rvm_place p = rvm__gen_slot(rvm__gen_reg(g, RVM_I64));
    rvm__emit_temp(g, RVM_OP_addr, -1, &p, 1, e->at);
    if (!g->failed) g->f->code[g->f->ncode - 1].target = (uint32_t)e->u.callee->index;
    return p;
}

rvm_place rvm__lower_temp(gen *g, const expr *e) {
    rvm_place ops[4] = {{0}};
    int row;
    if (e->kind == E_FN) return lower_function(g, e);
    if (e->guards) return lower_guarded(g, e);
    uint32_t n = rvm__lower_root(g, e, &row, ops + 1);
    ops[0] = rvm__gen_slot(rvm__gen_reg(g, (rvm_type)e->type));
    rvm__emit_temp(g, RVM_OP_let, row, ops, n + 1, e->at);
    return ops[0];
}

static uint16_t lower_index(gen *g, const expr *e) {
    rvm_place p = rvm__lower_operand(g, e);
    if (p.kind == RVM_PLACE_SLOT) return p.slot;
    return rvm__lower_temp(g, e).slot;
}

rvm_place rvm__lower_place(gen *g, const expr *e) {
    if (e->kind == E_VAR) return e->u.var->ndim ? rvm__gen_whole(e->u.var->slot) : rvm__gen_slot(e->u.var->slot);
    rvm_place p = {.kind = RVM_PLACE_ELEM, .nidx = e->nkids, .slot = e->u.var->slot};
    for (int k = 0; k < e->nkids && k < RVM_MAX_DIMS; k++) p.idx[k] = lower_index(g, e->kids[k]);
    return p;
}

rvm_place rvm__lower_operand(gen *g, const expr *e) {
    switch ((expr_kind)e->kind) {
    case E_VALUE: return rvm__gen_const(g, (rvm_type)e->type, e->u.value);
    case E_VAR:
    case E_ELEM: return rvm__lower_place(g, e);
    case E_FN:
    case E_ROW:
    case E_POWER: return rvm__lower_temp(g, e);
    case E_PLACE: return e->u.place;
    case E_COMPLEX: {
        const expr *part = rvm__is_complex(e->type) ? NULL : part_of(g, e);
        if (part) return rvm__lower_operand(g, part);
        break;
    }
    case E_EXACT:
    case E_REAL:
    case E_NAME:
    case E_INDEX:
    case E_RANGE:
    case E_UNARY:
    case E_BINARY:
    case E_CALL:
    case E_PART:
    case E_ERROR: break;
    }
    g->failed = true; /* a message has been given */
    return rvm__gen_slot(0);
}

/* base ^ n by squares and products; the last of them is left to the caller. */
static uint32_t lower_power(gen *g, const expr *e, int *row, rvm_place ops[3]) {
    rvm_place base = rvm__lower_operand(g, e->kids[0]), r = base;
    int64_t n = e->u.i;
    int bit = 0;
    while (n >> (bit + 1)) bit++;
    for (bit--; bit >= 0; bit--) {
        bool odd = n >> bit & 1, last = bit == 0;
        rvm_place let[3] = {{0}, r, base};
        for (int step = 0; step <= odd; step++) { /* the square, then the product */
            *row = step ? RVM_ROW_mul : RVM_ROW_sqr;
            let[1] = r;
            if (last && step == odd) break;
            let[0] = rvm__gen_slot(rvm__gen_reg(g, RVM_I64));
            rvm__emit_temp(g, RVM_OP_let, *row, let, step ? 3 : 2, e->at);
            r = let[0];
        }
    }
    ops[0] = r;
    ops[1] = base;
    return n & 1 ? 2 : 1;
}

/* ---- and, or whose second operand may fail ---- */

/* What they are where the first operand decides. */
static rvm_place decided(gen *g, const expr *e) {
    return rvm__gen_const(g, RVM_I64, (rvm_value){.i = e->op == RVM_ROW_or});
}

/* 0 ^ b, or 1 ^ not b */
static void emit_second(gen *g, const guard *x) {
    const uint32_t mark = g->ntemps;
    const expr *b = x->e->kids[1];
    rvm_place ops[4] = {x->into};
    int row = RVM_ROW_eq;
    uint32_t n = 2;
    if (x->e->op == RVM_ROW_and)
        n = rvm__lower_root(g, b, &row, ops + 1);
    else {
        ops[1] = rvm__lower_operand(g, b);
        ops[2] = rvm__gen_const(g, RVM_I64, (rvm_value){.i = 0});
    }
    rvm__emit(g, RVM_OP_xor, row, 0, ops, n + 1, b->at);
    rvm__unwind(g, mark);
}

/* An if over the first operand. */
static void emit_guard(gen *g, const guard *x) {
    const span at = x->e->at;
    const bool when = x->e->op == RVM_ROW_and;
    const uint32_t split = rvm__emit_jump(g, RVM_OP_jf, &x->first, 0, at);
    if (when) emit_second(g, x);
    const uint32_t over = rvm__emit_jump(g, RVM_OP_jt, &x->first, 0, at);
    rvm__gen_aim(g, split, rvm__emit_jump(g, RVM_OP_cff, &x->first, split, at));
    if (!when) emit_second(g, x);
    rvm__gen_aim(g, over, rvm__emit_jump(g, RVM_OP_cft, &x->first, over, at));
}

static rvm_place lower_guarded(gen *g, const expr *e) {
    guard x = {.e = e, .first = rvm__lower_register(g, e->kids[0]), .emit = emit_guard};
    const rvm_place places[2] = {x.into = rvm__gen_slot(rvm__gen_reg(g, RVM_I64)), decided(g, e)};
    rvm__emit_temp(g, RVM_OP_let, RVM_ROW_id, places, 2, e->at);
    rvm__emit_guarded(g, &x);
    return x.into;
}

void rvm__lower_condition(gen *g, rvm_op op, rvm_place c, const expr *e) {
    const uint32_t mark = g->ntemps;
    rvm_place places[4] = {c};
    int row = RVM_ROW_id;
    uint32_t n = 1;
    if (e->guards) {
        const guard x = {.e = e, .first = rvm__lower_register(g, e->kids[0]), .into = c, .emit = emit_guard};
        places[1] = decided(g, e);
        if (op == RVM_OP_unlet) emit_guard(g, &x);
        rvm__emit(g, op, row, 0, places, n + 1, e->at);
        if (op == RVM_OP_let) emit_guard(g, &x);
    } else {
        n = rvm__lower_root(g, e, &row, places + 1);
        rvm__emit(g, op, row, 0, places, n + 1, e->at);
    }
    rvm__unwind(g, mark);
}

/* ---- operations ---- */

uint32_t rvm__lower_root(gen *g, const expr *e, int *row, rvm_place ops[3]) {
    if (e->kind == E_POWER) return lower_power(g, e, row, ops);
    if (e->kind == E_COMPLEX) {
        const expr *part = part_of(g, e);
        if (part) return rvm__lower_root(g, part, row, ops);
    }
    if (e->kind != E_ROW || e->guards) {
        *row = RVM_ROW_id;
        ops[0] = rvm__lower_operand(g, e);
        return 1;
    }
    *row = e->op;
    for (int k = 0; k < e->nkids && k < 3; k++) ops[k] = rvm__lower_operand(g, e->kids[k]);
    return e->nkids;
}

rvm_place rvm__lower_register(gen *g, const expr *e) {
    bool place = e->kind == E_VAR && !e->u.var->ndim;
    return place ? rvm__lower_place(g, e) : rvm__lower_temp(g, e);
}

uint32_t rvm__lower_subs(gen *g, expr *const *subs, uint32_t n, rvm_place *places) {
    for (uint32_t k = 0; k < n; k++) {
        const expr *s = subs[k];
        if (s->kind == E_RANGE) {
            places[k] = (rvm_place){.kind = RVM_PLACE_RANGE, .nidx = 1, .slot = lower_index(g, s->kids[0])};
            places[k].idx[0] = lower_index(g, s->kids[1]);
        } else
            places[k] = rvm__gen_slot(lower_index(g, s));
    }
    return n;
}

rvm_place rvm__lower_part(gen *g, const expr *e) {
    if (e->kind != E_PART) return rvm__lower_place(g, e);
    rvm_place places[2 + RVM_MAX_DIMS];
    uint32_t n = rvm__lower_subs(g, e->kids, e->nkids, places + 2);
    places[0] = rvm__gen_whole(rvm__gen_array(g, (rvm_type)e->type, e->op));
    places[1] = rvm__gen_whole(e->u.var->slot);
    rvm__emit_temp(g, RVM_OP_view, -1, places, n + 2, e->at);
    return places[0];
}

/* ---- records ---- */

uint32_t rvm__leaf_vars(const var *v, const var **list, uint32_t n) {
    for (uint32_t k = 0; k < v->nparts; k++) n = rvm__leaf_vars(v->part[k], list, n);
    if (!v->part && n < RVM_MAX_PARAMS) list[n++] = v;
    return n;
}

expr rvm__leaf_of(const expr *e, const var *v) {
    expr leaf = *e;
    leaf.u.var = (var *)(uintptr_t)v;
    leaf.type = v->type;
    leaf.op = (uint8_t)(v->ndim - e->nkids);
    for (int k = 0; k < e->nkids; k++) leaf.op = (uint8_t)(leaf.op + (e->kids[k]->kind == E_RANGE));
    leaf.kind = !e->nkids ? E_VAR : leaf.op ? E_PART : E_ELEM;
    return leaf;
}

static expr *place_leaf(gen *g, rvm_place place, int type, span at);

static expr *lower_subscript(gen *g, expr *e) {
    if (e->kind == E_VALUE || e->kind == E_VAR || e->kind == E_PLACE) return e;
    if (e->kind != E_RANGE) return place_leaf(g, rvm__lower_temp(g, e), RVM_I64, e->at);
    expr *range = rvm__expr_new(g->a, E_RANGE, e->at, 2);
    for (int k = 0; range && k < 2; k++)
        if (!(range->kids[k] = lower_subscript(g, e->kids[k]))) return NULL;
    return range;
}

const expr *rvm__lower_subscripts(gen *g, const expr *e) {
    expr *copy = rvm__expr_copy(g->a, e);
    if (!copy || !e->nkids) return copy;
    if (!(copy->kids = rvm__arena(g->a, e->nkids * sizeof *copy->kids))) return NULL;
    for (int k = 0; k < e->nkids; k++)
        if (!(copy->kids[k] = lower_subscript(g, e->kids[k]))) return NULL;
    return copy;
}

/* ---- complex ---- */

static expr *place_leaf(gen *g, rvm_place place, int type, span at) {
    expr *e = rvm__expr_new(g->a, E_PLACE, at, 0);
    if (!e) return NULL;
    e->type = (uint8_t)type;
    e->checked = true;
    e->u.place = place;
    return e;
}

static expr *place_of(gen *g, expr *e) {
    if (!e || e->kind == E_PLACE || e->kind == E_VALUE) return e;
    return place_leaf(g, rvm__lower_operand(g, e), e->type, e->at);
}

static bool have_parts(gen *g, expr *parts[2]) {
    const bool good = parts[0] && parts[1];
    if (!good) g->failed = true; /* no memory, or a message has been given */
    return good;
}

bool rvm__lower_leaves(gen *g, const expr *e, expr **leaf) {
    if (!rvm__is_complex(e->type)) {
        leaf[0] = e->kind == E_VALUE ? (expr *)(uintptr_t)e : place_leaf(g, rvm__lower_operand(g, e), e->type, e->at);
        return leaf[0];
    }
    if (!rvm__lower_parts(g, e, leaf)) return false;
    for (int k = 0; k < 2; k++) leaf[k] = place_of(g, leaf[k]);
    return leaf[0] && leaf[1];
}

static bool operation(gen *g, const expr *e, expr *parts[2]) {
    const int base = rvm__is_complex(e->type) ? (int)rvm__part_type(e->type) : -1;
    maker m = {.a = g->a, .at = e->at};
    bool good = true;
    int part = base;
    for (int k = 0; good && k < e->nkids && k < 3; k++) {
        good = rvm__lower_leaves(g, e->kids[k], m.leaf + 2 * k);
        if (rvm__is_complex(e->kids[k]->type)) part = (int)rvm__part_type(e->kids[k]->type);
    }
    m.base = (rvm_type)(part < 0 ? RVM_F64 : part);
    m.leaf[6] = good ? place_of(g, rvm__number_formula(&m, e->op, FORMULA_S)) : NULL;
    m.leaf[7] = good ? place_of(g, rvm__number_formula(&m, e->op, FORMULA_T)) : NULL;
    parts[0] = good ? rvm__number_formula(&m, e->op, FORMULA_RE) : NULL;
    parts[1] = good && base >= 0 ? rvm__number_formula(&m, e->op, FORMULA_IM) : parts[0];
    return have_parts(g, parts);
}

bool rvm__lower_parts(gen *g, const expr *e, expr *parts[2]) {
    if (e->kind == E_COMPLEX) return operation(g, e, parts);
    parts[0] = parts[1] = NULL;
    if (e->kind != E_VAR && e->kind != E_ELEM) return have_parts(g, parts);
    rvm_place place = {.kind = RVM_PLACE_SLOT};
    if (e->kind == E_ELEM) place = rvm__lower_place(g, e);
    for (int k = 0; k < 2; k++) {
        place.slot = e->u.var->part[k]->slot;
        parts[k] = place_leaf(g, place, (int)rvm__part_type(e->type), e->at);
    }
    return have_parts(g, parts);
}

static const expr *part_of(gen *g, const expr *e) {
    expr *parts[2];
    return operation(g, e, parts) ? parts[0] : NULL;
}

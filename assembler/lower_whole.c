/* lower_whole.c: += -= swap set and their kin on whole arrays and states: member by member, and element by element by a
 * function that the assembler writes, one for each instruction, type and number of dimensions: swap'f64'2. A call of it
 * finds that shapes differ, and its roles are those of the elements.
 */
#include "asm.h"
#include "builder.h"
#include "instruction.h"
#include <string.h>

enum { MOST_OPERANDS = 3 }; /* places that an instruction takes */

typedef struct whole {
    expr *e[MOST_OPERANDS];
    uint32_t n;
    bool others; /* it takes an operand that is no place, too */
} whole;

static whole operands_of(const stmt *s) {
    whole w = {.n = 0};
    const char *letters = s->kind == S_OP ? rvm__op_info[s->op].operands : "";
    if (s->kind != S_OP) {
        w.e[w.n++] = s->args[0];
        w.e[w.n++] = s->expr;
    }
    for (uint32_t k = 0; k < s->nargs && letters[k]; k++)
        if ((letters[k] == 'y' || letters[k] == 'p') && w.n < MOST_OPERANDS)
            w.e[w.n++] = s->args[k];
        else
            w.others = true;
    return w;
}

bool rvm__on_wholes(const stmt *s) {
    if ((s->kind != S_OP && s->kind != S_UPDATE && s->kind != S_SET) || s->row >= 0 || s->broken || !s->nargs) return false;
    if (s->kind == S_OP && s->nargs != strlen(rvm__op_info[s->op].operands)) return false;
    const whole w = operands_of(s);
    return w.n && rvm__names_whole(w.e[0]);
}

/* What each operand is; they must be alike. */
static bool check_alike(assembler *a, const stmt *s, const whole *w, int *type, int *ndim) {
    const var *first = rvm__find_var(w->e[0]);
    *type = first->type;
    *ndim = rvm__whole_ndim(w->e[0]);
    for (uint32_t k = 1; k < w->n; k++) {
        const var *v = rvm__find_var(w->e[k]);
        const int other = rvm__whole_ndim(w->e[k]);
        if (v && v->type == *type && other == *ndim) continue;
        rvm__tell_unlike(a, s, w->e[k]->at, &(typed){.type = (uint8_t)*type, .ndim = (uint8_t)*ndim}, v, other);
        return false;
    }
    return true;
}

static bool wrong_type(gen *g, const stmt *s, int type, int ndim) {
    rvm__diag(g->a, s->at, D_UPDATE_TYPE, rvm__change_text(s), rvm__array_text(g->a, type, ndim), NULL);
    return false;
}

/* ---- arrays ---- */

static rvm_place element(const uint16_t array, const uint16_t *index, int ndim) {
    rvm_place p = {.kind = RVM_PLACE_ELEM, .nidx = (uint8_t)ndim, .slot = array};
    memcpy(p.idx, index, (size_t)ndim * sizeof *index);
    return p;
}

/* y, x ...: arrays of one shape. */
static void add_arrays(gen *h, rvm_type type, int ndim, uint32_t n, uint16_t *arrays) {
    static const char *const names[MOST_OPERANDS] = {"y", "x", "z"};
    rvm_param q = {.type = (uint8_t)type, .ndim = (uint8_t)ndim};
    for (uint32_t k = 0; k < n; k++) arrays[k] = rvm__gen_array(h, type, ndim);
    for (int d = 0; d < ndim; d++) q.dim[d] = rvm__gen_reg(h, RVM_I64);
    for (uint32_t k = 0; k < n && !h->failed; k++) {
        q.index = arrays[k];
        if (rvm__function_add_param(h->a->program, h->f, &q, names[k], 1) < 0) h->a->oom = true;
    }
}

/* The outermost loop runs its elements in parallel, but where their order is that of a stack or of the trail. */
static rvm_op loop_op(rvm_op op, int d) {
    return d || rvm__op_on_stack(op) || rvm__op_on_trail(op) ? RVM_OP_for : RVM_OP_par;
}

static void emit_loops(gen *h, rvm_op op, int ndim, uint32_t n, const uint16_t *arrays, span at) {
    const rvm_place zero = rvm__gen_const(h, RVM_I64, (rvm_value){.i = 0}),
                    one = rvm__gen_const(h, RVM_I64, (rvm_value){.i = 1});
    rvm_place loop[RVM_MAX_DIMS][4], places[MOST_OPERANDS + 1];
    uint16_t index[RVM_MAX_DIMS];
    uint32_t top[RVM_MAX_DIMS];
    for (int d = 0; d < ndim && !h->failed; d++) {
        const rvm_op over = loop_op(op, d);
        index[d] = rvm__gen_reg(h, RVM_I64);
        loop[d][0] = rvm__gen_slot(index[d]), loop[d][1] = zero, loop[d][2] = rvm__gen_slot(h->f->params[0].dim[d]);
        loop[d][3] = one;
        top[d] = rvm__emit(h, over, -1, 0, loop[d], (uint32_t)rvm__op_places(over, 0, 0), at);
    }
    for (uint32_t k = 0; k < n && !h->failed; k++) places[k] = element(arrays[k], index, ndim);
    if (rvm__op_sets(op)) places[n++] = rvm__gen_site(h);
    if (!h->failed) rvm__emit(h, op, rvm__op_is_update(op) ? RVM_ROW_id : -1, 0, places, n, at);
    for (int d = ndim; d-- && !h->failed;) {
        const rvm_op over = rvm__op_inverse(loop_op(op, d));
        const uint32_t end =
            rvm__emit(h, over, -1, top[d], loop[d], (uint32_t)rvm__op_places(over, 0, 0), at); /* may move the code */
        h->f->code[top[d]].target = end;
    }
}

static void write_function(assembler *a, const func *fn, rvm_op op, rvm_type type, int ndim, uint32_t n) {
    gen state, *h = &state;
    uint16_t arrays[MOST_OPERANDS];
    rvm__gen_start(h, a, fn);
    add_arrays(h, type, ndim, n, arrays);
    rvm__emit(h, RVM_OP_start, -1, 0, NULL, 0, fn->at);
    emit_loops(h, op, ndim, n, arrays, fn->at);
    rvm__emit(h, RVM_OP_halt, -1, 0, NULL, 0, fn->at);
    if (!h->failed) rvm__function_finish(h->f);
    rvm__gen_free(h);
}

/* The number of the function that does it to each element; -1: no memory. */
static int64_t function_of(gen *g, rvm_op op, rvm_type type, int ndim, uint32_t n, span at) {
    assembler *a = g->a;
    char text[64];
    const int length = snprintf(text, sizeof text, "%s'%s'%d", rvm__op_info[op].name, rvm_type_name(type), ndim);
    int64_t k = rvm__program_find(a->program, text, (size_t)length);
    if (k >= 0) return k;
    k = rvm__program_add_function(a->program, text, (size_t)length);
    if (k < 0) {
        a->oom = g->failed = true;
        return -1;
    }
    const func fn = {.index = (uint32_t)k, .at = at};
    write_function(a, &fn, op, type, ndim, n);
    g->f = a->program->functions + g->fn->index; /* functions have moved */
    return k;
}

static bool check_arrays(gen *g, const stmt *s, const whole *w) {
    for (uint32_t k = 0; k < w->n; k++) {
        if (rvm__check_part(g->a, w->e[k]) < 0) return false;
        for (uint32_t i = 0; i < k; i++)
            if (rvm__same_place(w->e[i], w->e[k])) {
                const bool updates = s->kind == S_UPDATE;
                const char *what = s->kind == S_SET ? "set" : rvm__op_info[s->op].name;
                rvm__diag(g->a, w->e[k]->at, updates ? D_WHOLE_TWICE : D_SAME_PLACE,
                          updates ? w->e[k]->u.var->name->text : what, NULL, NULL);
                return false;
            }
    }
    return true;
}

static void lower_arrays(gen *g, const stmt *s, const whole *w, int type, int ndim) {
    const bool multiplies = rvm__pair_of(s->op) == RVM_PAIR_mul && s->kind == S_UPDATE;
    int op = s->kind == S_SET ? RVM_OP_set : s->op;
    if (rvm__is_lns(type) && s->kind != S_SET) op = rvm__op_on_lns(g->a, (rvm_op)op);
    const bool legal = op >= 0 && (rvm__op_info[s->kind == S_SET ? RVM_OP_set : op].types >> rvm__part_type(type) & 1) &&
                       !(rvm__is_lns(type) && s->kind == S_UPDATE && !multiplies) && !(multiplies && type == RVM_I64);
    const uint32_t mark = g->ntemps;
    rvm_place places[MOST_OPERANDS];
    if (!legal || w->others) {
        wrong_type(g, s, type, ndim);
        return;
    }
    if (!check_arrays(g, s, w)) return;
    const bool back = rvm__is_inverse(op);
    const rvm_op own = back ? rvm__op_inverse((rvm_op)op) : (rvm_op)op;
    const int64_t k = function_of(g, own, rvm__part_type(type), ndim, w->n, s->at);
    if (k < 0) return;
    for (uint32_t i = 0; i < w->n; i++) places[i] = rvm__lower_part(g, w->e[i]);
    rvm__emit(g, back ? RVM_OP_uncall : RVM_OP_call, -1, (uint32_t)k, places, w->n, s->at);
    rvm__unwind(g, mark);
}

/* ---- members ---- */

static void lower_any(gen *g, const stmt *s);

/* A sum of states is one of logarithms, where a member is kept as that. */
static void add_logarithms(stmt *s) {
    const var *v = s->kind == S_UPDATE ? rvm__find_var(s->args[0]) : NULL;
    if (v && rvm__is_lns(v->type)) s->op = rvm__is_inverse(s->op) ? RVM_OP_div : RVM_OP_mul;
}

/* e, with that member in place of each state. */
static expr *member_of(assembler *a, const expr *e, name *own) {
    if (rvm__find_var(e)) return rvm__copy_member(a, e, rvm__is_state(rvm__find_var(e)->type) ? own : NULL);
    expr *copy = rvm__tree_copy(a, e);
    for (int k = 0; copy && k < e->nkids; k++)
        if (!(copy->kids[k] = member_of(a, e->kids[k], own))) return NULL;
    return copy;
}

/* The statement on the member of each operand. */
static bool take_member(assembler *a, const stmt *s, name *own, stmt *out) {
    *out = *s;
    out->args = rvm__arena(a, (s->nargs + 1u) * sizeof *out->args);
    const char *letters = s->kind == S_OP ? rvm__op_info[s->op].operands : "y";
    for (uint32_t k = 0; out->args && k < s->nargs; k++) {
        const bool place = letters[k] == 'y' || letters[k] == 'p';
        if (!(out->args[k] = rvm__copy_member(a, s->args[k], place ? own : NULL))) return false;
    }
    if (s->kind != S_OP)
        out->expr = rvm__names_whole(s->expr) ? rvm__copy_member(a, s->expr, own) : member_of(a, s->expr, own);
    if (s->kind != S_OP && !out->expr) return false;
    if (out->args) add_logarithms(out);
    return out->args;
}

static void lower_members(gen *g, const stmt *s, const record *r) {
    const bool steps = s->kind == S_OP && rvm__adds_constant((rvm_op)s->op),
               back = s->kind != S_SET && rvm__is_inverse(s->op);
    const uint32_t n = steps ? 1 : r->nmembers;
    for (uint32_t k = 0; k < n && !g->a->oom; k++) {
        stmt part;
        if (take_member(g->a, s, r->members[back ? n - 1 - k : k].name, &part)) lower_any(g, &part);
    }
}

static void lower_scalar(gen *g, const stmt *s) {
    if (s->kind == S_UPDATE)
        rvm__lower_update(g, s);
    else if (s->kind == S_OP)
        rvm__lower_op(g, s);
    else if (rvm__check_set(g->a, s))
        rvm__lower_set(g, s);
}

static bool mentions_state(const expr *e) {
    if (rvm__find_var(e)) return rvm__names_whole(e) && rvm__is_state(rvm__find_var(e)->type);
    for (int k = 0; k < e->nkids; k++)
        if (mentions_state(e->kids[k])) return true;
    return false;
}

/* A sum of lns is more than one instruction. */
static bool adds_lns(const stmt *s, const var *y) {
    return s->kind == S_UPDATE && rvm__is_lns(y->type) && rvm__pair_of(s->op) == RVM_PAIR_add;
}

/* Whether an operand is an expression, of states where the target is one, or of a type that widens. */
static bool is_broadcast(const stmt *s, const whole *w) {
    if (s->kind == S_OP) return w->others;
    const var *y = rvm__find_var(w->e[0]), *x = rvm__find_var(w->e[1]);
    if (rvm__is_state(y->type)) return !x && mentions_state(w->e[1]);
    return !rvm__names_whole(w->e[1]) || adds_lns(s, y) || (x->type != y->type && !rvm__is_state(x->type));
}

static void lower_any(gen *g, const stmt *s) {
    whole w = operands_of(s);
    int type, ndim;
    if (!rvm__on_wholes(s)) {
        lower_scalar(g, s);
        return;
    }
    const bool broadcast = is_broadcast(s, &w);
    if (broadcast && s->kind != S_OP) w.n = 1;
    if (!check_alike(g->a, s, &w, &type, &ndim)) return;
    const record *r = rvm__record(g->a, type);
    const bool adds = s->kind == S_UPDATE && rvm__pair_of(s->op) == RVM_PAIR_add;
    if (broadcast && !rvm__is_state(type))
        rvm__lower_broadcast(g, s, rvm__whole_ndim(w.e[0]));
    else if (!r)
        lower_arrays(g, s, &w, type, ndim);
    else if (adds || s->kind == S_SET ||
             (s->kind == S_OP &&
              (rvm__acts_by_parts((rvm_op)s->op) || (rvm__adds_constant((rvm_op)s->op) && !rvm__is_state(type)))))
        lower_members(g, s, r);
    else
        wrong_type(g, s, type, ndim);
}

void rvm__lower_whole(gen *g, const stmt *s) {
    lower_any(g, s);
}

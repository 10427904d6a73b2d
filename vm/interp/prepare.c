/* prepare.c: choose a handler for each instruction and lay its operands out for it. */
#include "prepare.h"
#include "support.h"
#include "accesses.h"
#include "elision.h"
#include "reach.h"
#include "sites.h"

#include "handlers.h"
#include "memory.h"

#include <string.h>

/* Handlers of hot rows by operand type, each + 1; 0: not hot. */
typedef struct hot {
    uint16_t r_add, g_add, r_let, r_letu, g_let, g_letu;
} hot;
#define INDEX_i64 RVM_I64
#define INDEX_f64 RVM_F64
#define HOT_LET_ENTRY(T, row)                                                                                               \
    .r_let = H_r_##T##_let_##row + 1, .r_letu = H_r_##T##_letu_##row + 1, .g_let = H_g_##T##_let_##row + 1,                 \
    .g_letu = H_g_##T##_letu_##row + 1
#define HOT_ENTRY(Y, T, row, arity)                                                                                         \
    [INDEX_##T][RVM_ROW_##row] = {.r_add = H_r_##T##_add_##row + 1, .g_add = H_g_##T##_add_##row + 1, HOT_LET_ENTRY(T, row)},
#define HOT_CMP_ENTRY(Y, T, row, arity) [INDEX_##T][RVM_ROW_##row] = {HOT_LET_ENTRY(T, row)},
static const hot hot_rows[RVM_TYPE_COUNT][RVM_ROW_COUNT] = {HOT_I64(HOT_ENTRY) HOT_F64(HOT_ENTRY) HOT_CMP(HOT_CMP_ENTRY)};

/* Handlers of form e, each + 1, by the kinds of the places. */
#define KIND_S               XSLOT
#define KIND_1               XELEM1
#define KIND_2               XELEM2
#define E_MUL_ENTRY(y, a, b) [KIND_##y][KIND_##a][KIND_##b] = H_e_add_mul_##y##a##b + 1,
#define E_ID_ENTRY(y, a, b)  [KIND_##y][KIND_##a] = H_e_add_id_##y##a##b + 1,
static const uint16_t e_mul[3][3][3] = {E_MUL(E_MUL_ENTRY)}, e_id[3][3] = {E_ID(E_ID_ENTRY)};

enum { FIRST_E = H_e_add_mul_SS1, LAST_E = H_e_sub_id_22S };

typedef struct preparation {
    rvm_machine *m;
    const rvm_function *f;
    uint32_t fn;
    bool shadow;
    const uint8_t *local; /* by array: may be local, so that its elements may have a magnitude to keep (locals.c) */
    uint8_t *modified;    /* by register: changed otherwise than by appearing and disappearing */
    uint32_t depth, deepest;
    rvm__code *code;
    bool failed; /* out of memory */
} preparation;

static bool is_let(const rvm_insn *in) {
    return (in->op | 1) == RVM_OP_unlet;
}

static rvm__xplace place_of(const preparation *p, const rvm_place *q) {
    if (q->kind != RVM_PLACE_ELEM) return (rvm__xplace){.slot = q->slot, .kind = XSLOT};
    if (q->nidx <= 2) return (rvm__xplace){q->slot, q->idx[0], q->idx[1], q->nidx == 1 ? XELEM1 : XELEM2};
    const uint32_t k = (uint32_t)(q - p->f->places);
    return (rvm__xplace){q->slot, (uint16_t)k, (uint16_t)(k >> 16), XELEM};
}

static bool place_active(const preparation *p, const rvm_place *q) {
    return p->shadow && rvm__is_active(p->m->p, &p->m->bound.activity, p->fn, q);
}

static bool is_constant(const preparation *p, const rvm_place *q) {
    return q->kind == RVM_PLACE_SLOT && q->slot >= p->f->nregs;
}

static int64_t const_value(const preparation *p, const rvm_place *q) {
    return p->f->consts[q->slot - p->f->nregs].i;
}

static bool tracked(const preparation *p, const rvm_place *q) {
    if (p->m->o.unchecked || !rvm__is_floating(rvm__place_type(p->f, q))) return false;
    return q->kind == RVM_PLACE_SLOT ? q->slot < p->f->nregs && p->modified[q->slot] : p->local[rvm__root_of(p->f, q)];
}

/* Whether every place is a register or constant, and in shadowed code every real one active or constant: form r. */
static bool all_registers(const preparation *p, const rvm_place *places, int n, bool active) {
    for (int k = 0; k < n; k++) {
        const rvm_place *q = &places[k];
        if (q->kind != RVM_PLACE_SLOT) return false;
        if (active && !is_constant(p, q) && !place_active(p, q)) return false;
    }
    return true;
}

static uint16_t kernel_handler(rvm_type y, const rvm_insn *in, bool unchecked) {
    static const uint16_t of_family[][RVM_TYPE_COUNT] = {
        [RVM_PAIR_add] = {H_i64_add, H_f64_add, H_fix_add, H_f32_add},
        [RVM_PAIR_xor] = {H_i64_xor},
        [RVM_PAIR_mul] = {[RVM_I64] = H_i64_mul, [RVM_F64] = H_f64_mul, [RVM_F32] = H_f32_mul},
        [RVM_PAIR_let] = {H_i64_let, H_f64_let, H_fix_let, H_f32_let},
        [RVM_PAIR_set] = {H_i64_set, H_f64_set, H_fix_set, H_f32_set}};
    static const uint16_t letu[] = {H_i64_letu, H_f64_letu, H_fix_letu, H_f32_letu};
    return is_let(in) && unchecked ? letu[y] : of_family[rvm__pair_of(in->op)][y];
}

static uint16_t update_handler(const rvm_insn *in, rvm_type y, rvm_type t, bool registers, bool unchecked) {
    const hot *h = &hot_rows[t][in->row];
    uint16_t chosen = 0;
    if (rvm__pair_of(in->op) == RVM_PAIR_add) chosen = registers ? h->r_add : h->g_add;
    if (is_let(in)) chosen = registers ? (unchecked ? h->r_letu : h->r_let) : unchecked ? h->g_letu : h->g_let;
    if (in->op == RVM_OP_xor && registers && in->row == RVM_ROW_id) return H_r_xor;
    return chosen ? (uint16_t)(chosen - 1) : kernel_handler(y, in, unchecked);
}

/* Form e of an addition of a product or a copy, + 1, or 0: indices must be proved or trusted. */
static uint16_t element_handler(const preparation *p, const rvm_insn *in, const rvm_place *places, const rvm__xinsn *x,
                                bool active) {
    const int n = rvm__row_info[in->row].arity + 1;
    if (rvm__pair_of(in->op) != RVM_PAIR_add || x->type != RVM_F64 || (x->flags & (X_ALIAS | X_CONV))) return 0;
    if ((x->flags & X_TRACK) && x->p[0].kind == XSLOT) return 0;
    for (int k = 0; k < n; k++) {
        if (x->p[k].kind == XELEM) return 0;
        if (x->p[k].kind != XSLOT && !p->m->o.trust && !(in->facts & (RVM_FACT_INBOUNDS0 << k))) return 0;
        if (active && !is_constant(p, &places[k]) && !place_active(p, &places[k])) return 0;
    }
    if (in->row == RVM_ROW_mul) return e_mul[x->p[0].kind][x->p[1].kind][x->p[2].kind];
    return in->row == RVM_ROW_id ? e_id[x->p[0].kind][x->p[1].kind] : 0;
}

/* Reals in a run that restores every bit; 0: as in any run. */
_Static_assert(H_x_let > 0 && H_x_add > 0 && H_x_mul > 0 && H_x_foreign > 0, "0 is no exact handler");
static uint16_t exact_handler(const preparation *p, const rvm_insn *in, rvm_type y, bool unchecked) {
    if (!p->m->o.exact || !rvm__is_floating(y)) return 0;
    if (rvm__is_of_shadows(in) && p->m->exact.values_only) return 0;
    if (rvm__is_foreign(in)) return H_x_foreign;
    if (is_let(in)) return unchecked ? 0 : H_x_let;
    if (!rvm__op_rounds(in->op)) return 0;
    return rvm__pair_of(in->op) == RVM_PAIR_add ? H_x_add : H_x_mul;
}

static void prepare_update(const preparation *p, const rvm_insn *in, const rvm_place *places, bool unchecked,
                           rvm__xinsn *x) {
    const rvm_row_info *row = &rvm__row_info[in->row];
    const rvm_type y = rvm__place_type(p->f, &places[0]);
    const rvm_type t = rvm__place_type(p->f, &places[1 + rvm__row_first((rvm_row)in->row)]);
    const bool active = place_active(p, &places[0]);
    x->type = (uint8_t)y;
    x->arity = row->arity;
    x->kernel = rvm__kernel_index((rvm_row)in->row, y, t);
    for (int k = 0; k <= row->arity; k++) {
        x->p[k] = place_of(p, &places[k]);
        if (place_active(p, &places[k]) && (k == 0 || rvm__has_partial((rvm_row)in->row, x->kernel, k - 1)))
            x->active |= (uint8_t)(1 << k);
    }
    if (rvm__row_has_domain((rvm_row)in->row)) x->flags |= X_DOMAIN;
    if (row->sig == RVM_SIG_CONV && y != RVM_I64 && t != RVM_I64) x->flags |= X_CONV;
    if (tracked(p, &places[0])) x->flags |= is_let(in) || rvm__op_sets((rvm_op)in->op) ? X_TRACK | X_FRESH : X_TRACK;
    const bool registers = !(x->flags & (X_TRACK | X_ALIAS)) && all_registers(p, places, row->arity + 1, active);
    const uint16_t element = element_handler(p, in, places, x, active);
    const uint16_t exact = exact_handler(p, in, y, unchecked);
    x->handler = exact ? exact : element ? (uint16_t)(element - 1) : update_handler(in, y, t, registers, unchecked);
    if (rvm__op_sets((rvm_op)in->op) && row->arity < 3) x->set.site = rvm__trail_site(p->m, rvm__insn_site(p->f, in));
    x->handler = (uint16_t)(x->handler + rvm__is_inverse(in->op));
    if (!active) x->handler = (uint16_t)(x->handler + RVM__PLAIN);
}

static int32_t bytes_to(uint32_t from, uint32_t to) {
    return (int32_t)(((int64_t)to - from) * (int64_t)sizeof(rvm__xinsn));
}

static uint16_t hidden_slot(const preparation *p, uint32_t depth) {
    return (uint16_t)(p->f->nregs + p->f->nconsts + depth);
}

static void prepare_loop(const preparation *p, const rvm_insn *in, const rvm_place *places, rvm__xinsn *x) {
    x->to.i = places[0].slot;
    x->to.lo = places[1].slot;
    x->to.hi = places[2].slot;
    if (rvm__pair_of(in->op) == RVM_PAIR_par) {
        if (in->flags & RVM_FLAG_REVERSED) x->flags |= X_REVERSED;
        if ((in->facts & RVM_FACT_GUARD) && !(x->flags & X_UNCHECKED)) x->flags |= X_GUARD;
        return; /* the rest: blocks.c */
    }
    x->to.step = places[3].slot;
    x->to.last = hidden_slot(p, p->depth);
}

static void deeper(preparation *p) {
    if (++p->depth > p->deepest) p->deepest = p->depth;
}

/* Two arguments that may be the same memory: same register, same array, or parameters that the caller may have overlapped.
 */
static bool may_share(const preparation *p, const rvm_place *a, const rvm_place *b) {
    if (a->kind == RVM_PLACE_SLOT || b->kind == RVM_PLACE_SLOT)
        return a->kind == b->kind && a->slot == b->slot && a->slot < p->f->nregs;
    const uint16_t x = rvm__root_of(p->f, a), y = rvm__root_of(p->f, b);
    if (x == y) return true;
    int roles[2] = {-1, -2};
    for (uint32_t k = 0; k < p->f->nparams; k++) {
        if (!p->f->params[k].ndim) continue;
        if (p->f->params[k].index == x) roles[0] = p->f->params[k].role;
        if (p->f->params[k].index == y) roles[1] = p->f->params[k].role;
    }
    return roles[0] == roles[1] && roles[0] != RVM_OWN;
}

static void prepare_call(const preparation *p, const rvm_insn *in, const rvm_place *places, rvm__xinsn *x) {
    const int first = (int)rvm__callee_of(p->m->p, in).first;
    if (rvm__op_target((rvm_op)in->op) == 'S') x->flags |= X_BY_VALUE;
    for (int k = first + 1; k < in->nplaces; k++)
        for (int i = first; i < k; i++)
            if (may_share(p, &places[i], &places[k])) x->flags |= X_ALIAS;
}

/* ---- handlers of what is no update; the caller adds the direction bit ---- */

static uint16_t control_handler(const rvm_insn *in, bool unchecked) {
    switch ((int)rvm__pair_of(in->op)) {
    case RVM_PAIR_start: return H_start;
    case RVM_PAIR_jmp: return H_jmp;
    case RVM_PAIR_jt: return unchecked ? H_jtu : H_jt;
    case RVM_PAIR_jf: return unchecked ? H_jfu : H_jf;
    case RVM_PAIR_par: return in->op == RVM_OP_par ? H_par_up : H_endpar_up - 1;
    case RVM_PAIR_for: /* reversed: the ends trade places, and each is met from the other side */
        if (in->flags & RVM_FLAG_REVERSED) return in->op == RVM_OP_for ? H_next_down : H_for_down - 1;
        return in->op == RVM_OP_for ? H_for_up : H_next_up - 1;
    }
    return H_trap;
}

static uint16_t shape_of(const rvm_change_info *info) {
    if (info->conditional || info->places > 2 || info->operands > info->places / 2) return H_change;
    return info->places == 1 ? H_change_1 : info->operands ? H_change_21 : H_change_2;
}

#define HOT_CHANGE_ENTRY(T, row, places, operands)                                                                          \
    [INDEX_##T][RVM_PAIR_##row - RVM__PAIRS_BEFORE_CHANGES] = H_##T##_##row##_forward + 1,
static const uint16_t hot_changes[RVM_TYPE_COUNT][RVM_CHANGE_COUNT] = {HOT_CHANGES(HOT_CHANGE_ENTRY)};

/* By the row's function, but for exchanges. Hot rows are inlined, but for reals in runs that restore every bit. */
static uint16_t in_place_handler(const preparation *p, const rvm_insn *in, const rvm_place *places, rvm__xinsn *x) {
    x->kernel = (uint16_t)rvm__change_of(in->op);
    const rvm_type t = rvm__place_type(p->f, &places[0]);
    const uint16_t inlined = hot_changes[t][x->kernel];
    const bool recorded = p->m->o.exact && !(rvm__is_of_shadows(in) && p->m->exact.values_only);
    if (inlined && !(recorded && rvm__is_floating(t))) return (uint16_t)(inlined - 1);
    if (in->op != RVM_OP_swap) return shape_of(&rvm__change_info[x->kernel]);
    return !(x->flags & X_TRACK) && all_registers(p, places, 2, false) ? H_r_swap : H_g_swap;
}

static uint16_t check_handler(const rvm_insn *in, bool unchecked, rvm__xinsn *x) {
    if (rvm__pair_of(in->op) == RVM_PAIR_assert) return unchecked ? H_nop : H_assert;
    if (rvm__pair_of(in->op) == RVM_PAIR_trap) return H_trap;
    x->to.jump = (int32_t)in->target;
    return H_addr;
}

static uint16_t other_handler(const preparation *p, const rvm_insn *in, const rvm_place *places, bool unchecked,
                              rvm__xinsn *x) {
    const enum rvm_pair pair = rvm__pair_of(in->op);
    switch (rvm__class_of(in->op)) {
    case RVM_CLASS_CONTROL: return control_handler(in, unchecked);
    case RVM_CLASS_REGION:
        if (in->flags & RVM_FLAG_FORGETS) return H_forget_up;
        return pair == RVM_PAIR_compute ? H_compute_up : pair == RVM_PAIR_do ? H_do_up : H_undo_up;
    case RVM_CLASS_CALL: prepare_call(p, in, places, x); return p->m->o.exact && rvm__is_foreign(in) ? H_x_foreign : H_call;
    case RVM_CLASS_IN_PLACE:
        if (p->m->o.exact && rvm__is_foreign(in) && rvm__op_is_recorded((rvm_op)in->op)) return H_x_foreign;
        return in_place_handler(p, in, places, x);
    case RVM_CLASS_STACK: return pair == RVM_PAIR_push ? H_push : pair == RVM_PAIR_pushc ? H_pushc : H_stow;
    case RVM_CLASS_TRAIL: return pair == RVM_PAIR_drop ? H_drop : pair == RVM_PAIR_recall ? H_recall : H_segment;
    case RVM_CLASS_ARRAY: return pair == RVM_PAIR_view ? H_view : H_new;
    case RVM_CLASS_CHECK: return check_handler(in, unchecked, x);
    case RVM_CLASS_UPDATE: break;
    }
    return H_trap;
}

/* Whether the instruction is shadowed: some owned or read real place of it is active. */
static void prepare_places(const preparation *p, const rvm_insn *in, const rvm_place *places, rvm__xinsn *x) {
    const int n = in->nplaces < 4 ? in->nplaces : 4;
    for (int k = 0; k < n; k++) {
        x->p[k] = place_of(p, &places[k]);
        if (place_active(p, &places[k])) x->active |= (uint8_t)(1 << k);
        if (k <= 2 && tracked(p, &places[k])) x->flags |= X_TRACK;
    }
}

/* Instructions of a level of the trail, and slots of the stack; their places vary in number. */
static void prepare_trail(const preparation *p, const rvm_insn *in, const rvm_place *places, rvm__xinsn *x) {
    const char *operands = rvm__op_info[in->op].operands;
    if (*operands == 'l') x->trail.level = (uint16_t)const_value(p, &places[0]);
    x->trail.appear = rvm__pair_of(in->op) == RVM_PAIR_recall;
    if (strchr(operands, 's')) x->trail.site = rvm__trail_site(p->m, rvm__insn_site(p->f, in));
    for (int k = (int)rvm__positions_at((rvm_op)in->op) + 1; k < in->nplaces; k++) x->active |= place_active(p, &places[k]);
}

/* What the part makes, once for the three ends of the region. */
static void find_made(preparation *p, uint32_t compute, rvm__xinsn *x) {
    rvm__code *code = p->code;
    uint16_t *room = rvm__scratch(p->m, SCRATCH_MADE, rvm__made_most(p->f) * sizeof *room), levels = 0;
    const uint32_t begin = p->f->code[compute].target;
    const rvm__made made = room ? rvm__made_find(p->f, compute, room) : (rvm__made){0};
    const size_t n = 2 + (size_t)made.nregs + made.narrays, at = code->nmade;
    p->failed |= !room || !rvm__trail_pops_between(p->m, p->fn, compute + 1, begin, &levels) ||
                 !rvm__reserve(p->m, (void **)&code->made, &code->cap_made, at + n, sizeof *code->made);
    if (p->failed) return;
    code->nmade += n;
    code->made[at] = (uint16_t)made.nregs;
    code->made[at + 1] = (uint16_t)made.narrays;
    memcpy(code->made + at + 2, made.regs, made.nregs * sizeof *made.regs);
    memcpy(code->made + at + 2 + made.nregs, made.arrays, made.narrays * sizeof *made.arrays);
    x->flags |= X_FORGETS;
    x->to.i = (uint16_t)~levels;
    x->to.lo = (uint16_t)at;
    x->to.hi = (uint16_t)(at >> 16);
}

static void prepare_forgetting(preparation *p, uint32_t pc, rvm__xinsn *x) {
    const rvm_insn *code = p->f->code;
    const uint32_t compute = code[pc].op == RVM_OP_compute ? pc
                             : code[pc].op == RVM_OP_undo  ? code[pc].target
                                                           : code[code[pc].target].target;
    if (!rvm__forgets(p->f, compute)) return;
    if (pc == compute) {
        find_made(p, pc, x);
        return;
    }
    x->to.lo = p->code->x[compute].to.lo;
    x->to.hi = p->code->x[compute].to.hi;
}

static void prepare_other(preparation *p, uint32_t pc, const rvm_insn *in, const rvm_place *places, bool unchecked,
                          rvm__xinsn *x) {
    const char *operands = rvm__op_info[in->op].operands;
    const rvm_place *last = in->nplaces ? &places[in->nplaces - 1] : NULL;
    if (in->op == RVM_OP_for || in->op == RVM_OP_compute) deeper(p);
    if (rvm__is_loop(in->op))
        prepare_loop(p, in, places, x);
    else if (strchr(operands, 'c') && !strchr(operands, 'y'))
        x->to.c = places[0].slot;
    else if (strchr(operands, 't'))
        x->to.i = places[0].slot;
    else if (strpbrk(operands, "lm"))
        prepare_trail(p, in, places, x);
    else if (strpbrk(operands, "yp"))
        prepare_places(p, in, places, x);
    else if (strchr(operands, '+'))
        x->active = place_active(p, last) ? 2 : 0;
    if (strpbrk(operands, "yp+")) x->type = (uint8_t)rvm__place_type(p->f, last);
    if (strchr(operands, 'L')) x->to.jump = bytes_to(pc, in->target);
    if (in->op == RVM_OP_compute || in->op == RVM_OP_do || in->op == RVM_OP_undo) {
        x->to.hidden = hidden_slot(p, p->depth);
        const uint32_t next = in->target, after = p->f->code[next].target;
        if (in->op == RVM_OP_compute) x->to.jump2 = bytes_to(pc, after);
        if (in->op == RVM_OP_do) x->to.jump = bytes_to(pc, after), x->to.jump2 = bytes_to(pc, next);
        if (in->op == RVM_OP_undo) x->to.jump = bytes_to(pc, after), x->to.jump2 = bytes_to(pc, next);
    }
    if (rvm__class_of(in->op) == RVM_CLASS_REGION) prepare_forgetting(p, pc, x);
    const uint16_t handler = other_handler(p, in, places, unchecked, x);
    x->handler = (uint16_t)(handler + rvm__is_inverse(in->op));
    if (!(x->active)) x->handler = (uint16_t)(x->handler + RVM__PLAIN);
    if (in->op == RVM_OP_next || in->op == RVM_OP_undo) p->depth--;
}

static bool touches_elements(const preparation *p, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, p->m->p, p->f, in)
        if (a.q->kind == RVM_PLACE_ELEM || (a.q->kind == RVM_PLACE_ARRAY && a.letter == 'd')) return true;
    return false;
}

static void prepare_one(preparation *p, uint32_t pc, rvm__xinsn *x) {
    const rvm_insn *in = &p->f->code[pc];
    const rvm_place *places = rvm__places(p->f, in);
    const bool unchecked = p->m->o.unchecked || (in->flags & RVM_FLAG_UNCHECKED);
    memset(x, 0, sizeof *x);
    x->touches = touches_elements(p, in);
    if (unchecked) x->flags |= X_UNCHECKED;
    if (in->facts & RVM_FACT_ALIAS) x->flags |= X_ALIAS;
    if (rvm__restores_otherwise(in)) x->flags |= X_OTHERWISE;
    if (rvm__is_of_shadows(in) && rvm__op_is_recorded((rvm_op)in->op)) x->flags |= X_OF_SHADOWS;
    if (rvm__op_is_update((rvm_op)in->op))
        prepare_update(p, in, places, unchecked, x);
    else
        prepare_other(p, pc, in, places, unchecked, x);
}

/* What changes registers other than by let and unlet. */
static void find_modified(const preparation *p) {
    RVM__EACH_INSN(x, p->f)
        RVM__EACH_ACCESS(a, p->m->p, p->f, x.in)
            if (a.reg && !a.toggles && a.bits & RVM__BITS_ACC) p->modified[a.q->slot] = 1;
}

/* The number of an instruction among FUSIBLE, or 0. */
static int fusible(const rvm__xinsn *x) {
    switch (x->handler) {
    case H_r_i64_add_id + RVM__PLAIN: return 1;
    case H_r_i64_sub_id + RVM__PLAIN: return 2;
    case H_r_xor + RVM__PLAIN: return 3;
    case H_r_swap + RVM__PLAIN: return 4;
    default: return 0;
    }
}

/* Give runs of fusible instructions the handlers that take their neighbours along. */
static void fuse(rvm__xinsn *x, uint32_t n) {
    int before = 0, here = fusible(&x[0]);
    for (uint32_t k = 0; k < n; k++) {
        const int after = k + 1 < n ? fusible(&x[k + 1]) : 0;
        if (here && (before || after)) x[k].handler = (uint16_t)(RVM__FUSED + here * 25 + before * 5 + after);
        before = here;
        here = after;
    }
}

/* Loops around one update of form e run in one piece. Such an update stands in the table between the first and last e. */
static void find_inner_loops(const rvm_function *f, rvm__xinsn *x) {
    RVM__EACH_INSN(loop, f) {
        rvm__xinsn *begin = &x[loop.pc], *inner = begin + 1;
        if (loop.in->op != RVM_OP_for || loop.in->target != loop.pc + 2) continue;
        const uint16_t body = inner->handler % RVM__PLAIN;
        if (inner->handler >= RVM__FUSED || body < FIRST_E || body > LAST_E) continue;
        const bool reversed = loop.in->flags & RVM_FLAG_REVERSED;
        begin->handler = (reversed ? H_inner_next_down : H_inner_for_up) + RVM__PLAIN;
        inner[1].handler = (reversed ? H_inner_for_down : H_inner_next_up) + RVM__PLAIN;
    }
}

static bool mark_borrowing(const preparation *p) {
    const rvm_function *f = p->f;
    uint8_t *ways = rvm__scratch(p->m, SCRATCH_BORROW, f->ncode + 7 + rvm__borrow_scratch(f));
    if (!ways) return false;
    rvm__borrow_find(p->m->p, &p->m->bound.activity, p->fn, ways + (f->ncode + 7) / 8 * 8, ways);
    RVM__EACH_INSN(c, f) {
        if (!ways[c.pc]) continue;
        const uint8_t flags =
            (uint8_t)((ways[c.pc] & RVM__BORROWS_DOWN ? X_BORROWS : 0) | (ways[c.pc] & RVM__BORROWS_UP ? X_BORROWS_UP : 0));
        rvm__xinsn *x = p->code->x;
        x[c.pc].flags |= flags;
        x[c.in->target].flags |= flags;
        x[f->code[c.in->target].target].flags |= flags;
    }
    return true;
}

static rvm_status prepare_function(rvm_machine *m, uint32_t fn, bool shadow, const uint8_t *local, rvm__code *code) {
    const rvm_function *f = &m->p->functions[fn];
    preparation p = {.m = m, .f = f, .fn = fn, .shadow = shadow, .local = local, .code = code};
    p.modified = rvm__scratch(m, SCRATCH_MODIFIED, f->nregs);
    if (!code->x) code->x = rvm__resize(m, NULL, 0, f->ncode * sizeof *code->x);
    if (!p.modified || !code->x) return RVM_ERR_MEMORY;
    find_modified(&p);
    code->nmade = 0;
    RVM__EACH_INSN(x, f) prepare_one(&p, x.pc, &code->x[x.pc]);
    if (p.failed) return RVM_ERR_MEMORY;
    if (shadow && !mark_borrowing(&p)) return RVM_ERR_MEMORY;
    fuse(code->x, f->ncode);
    find_inner_loops(f, code->x);
    code->slots = f->nregs + f->nconsts + p.deepest + 1;
    if (!rvm__prepare_blocks(m, fn, shadow, code)) return RVM_ERR_MEMORY;
    return code->slots > UINT16_MAX || f->ncode > INT32_MAX / sizeof *code->x ? RVM_ERR_LIMIT : RVM_OK;
}

/* What the bound function, and what it calls, do with trails; NULL: nothing is asked of that. */
static bool find_reach(rvm_machine *m, bool shadow, const rvm__reach **reach) {
    rvm__reach *all = NULL;
    *reach = NULL;
    if (!shadow || !m->p->nrules) return true;
    if (!(all = rvm__scratch(m, SCRATCH_REACH, m->p->nfunctions * sizeof *all)) || !rvm__reach_find(m->p, all)) return false;
    *reach = all;
    return true;
}

typedef struct reaching {
    const rvm_machine *m;
    rvm__code *codes;
    const rvm__reach *reach; /* NULL: derivatives by hand take no part */
    uint32_t entry, *list, n;
    uint8_t *marks;
} reaching;

/* As derive.c has it: at another level than that of the first derivative of `of`, not where either uses a trail. */
static bool serves(const reaching *r, const rvm_rule *rule) {
    const rvm__reach *reach = r->reach;
    return reach[r->entry].order == reach[rule->of].order || (!reach[rule->of].trail && !reach[rule->fn].trail);
}

/* The derivatives by hand that serve what is active of a function. */
static void find_rules(const reaching *r, uint32_t fn) {
    const rvm_program *p = r->m->p;
    const rvm_function *f = &p->functions[fn];
    rvm__code *code = &r->codes[fn];
    uint8_t active[RVM_MAX_PARAMS], none = 1;
    for (uint32_t k = 0; k < f->nparams; k++) none &= !(active[k] = rvm__is_param_active(p, &r->m->bound.activity, fn, k));
    for (int k = 0; k < 2; k++) {
        const rvm_transform kind = k ? RVM_ADJOINT : RVM_TANGENT_OF;
        const rvm_rule *rule = none ? NULL : rvm__rule_find(p, fn, kind, active);
        code->lacks_rule[k] = !none && !rule && rvm__has_rule(p, fn, kind);
        code->rules[k] = rule && serves(r, rule) ? rule : NULL;
    }
}

static void reach_one(reaching *r, uint32_t fn) {
    if (!r->marks[fn]) r->marks[r->list[r->n++] = fn] = 1;
}

/* What the entry may come to run is marked, itself as well; the list is scratch of as many functions as there are. */
static void mark_reached(reaching *r) {
    reach_one(r, r->entry);
    while (r->n) {
        const uint32_t here = r->list[--r->n];
        RVM__EACH_INSN(x, &r->m->p->functions[here])
            RVM__EACH_CALLEE(callee, r->m->p, x.in) reach_one(r, callee);
        if (!r->reach) continue;
        find_rules(r, here);
        for (int k = 0; k < 2; k++)
            if (r->codes[here].rules[k]) reach_one(r, r->codes[here].rules[k]->fn);
    }
}

static rvm_status prepare_marked(rvm_machine *m, bool shadow, const uint8_t *marks, rvm__code *codes) {
    const uint8_t *local = rvm__local_arrays(m);
    rvm_status status = local ? RVM_OK : RVM_ERR_MEMORY;
    size_t at = 0;
    for (uint32_t fn = 0; fn < m->p->nfunctions && !status; at += m->p->functions[fn++].narrays)
        if (marks[fn] && !codes[fn].ready) status = prepare_function(m, fn, shadow, local + at, &codes[fn]);
    for (uint32_t fn = 0; fn < m->p->nfunctions && !status; fn++) codes[fn].ready |= marks[fn];
    return status;
}

static bool find_swept(rvm_machine *m) {
    if (m->swept.at) return true;
    const size_t size = rvm__swept_size(m->p);
    void *block = rvm__zeroed(m, size);
    if (!block) return false;
    m->swept = rvm__swept_find(m->p, block);
    m->exact.levels = RVM__OF_VALUES + 1;
    if (!m->exact.values_only && memchr(m->swept.marks, 1, size - (size_t)((char *)m->swept.marks - (char *)block)))
        m->exact.levels = RVM__OF_SHADOWS + 1;
    return true;
}

rvm_status rvm__prepare(rvm_machine *m, uint32_t fn, bool shadow, rvm__code **codes) {
    const size_t n = m->p->nfunctions;
    if (!*codes && !(*codes = rvm__zeroed(m, (n + 1) * sizeof **codes))) return RVM_ERR_MEMORY;
    if (rvm__is_prepared(*codes, fn)) return RVM_OK;
    uint32_t *list = rvm__scratch(m, SCRATCH_REACHED, n * (sizeof *list + 1));
    if (!list) return RVM_ERR_MEMORY;
    uint8_t *marks = memset(list + n, 0, n);
    if (m->o.exact && !find_swept(m)) return RVM_ERR_MEMORY;
    reaching r = {.m = m, .codes = *codes, .entry = fn, .list = list, .marks = marks};
    if (!find_reach(m, shadow, &r.reach)) return RVM_ERR_MEMORY;
    mark_reached(&r);
    return prepare_marked(m, shadow, marks, *codes);
}

void rvm__unprepare(const rvm_machine *m, rvm__code *codes) {
    for (uint32_t fn = 0; codes && fn < m->p->nfunctions; fn++) codes[fn].ready = false;
}

rvm_status rvm__tell_unprepared(const rvm_machine *m, rvm_status status, rvm_error *err) {
    if (status == RVM_ERR_MEMORY) return rvm__no_memory(m, err);
    return rvm__fail(err, status, NULL, 0, 0,
                     "a function is too large: registers, constants and nested regions are more than %d, or instructions "
                     "more than %zu",
                     UINT16_MAX, INT32_MAX / sizeof(rvm__xinsn));
}

void rvm__prepare_free(rvm_machine *m, rvm__code **codes) {
    if (m->swept.at) rvm__resize(m, m->swept.at, rvm__swept_size(m->p), 0);
    m->swept.at = NULL;
    if (!*codes) return;
    for (uint32_t fn = 0; fn < m->p->nfunctions; fn++) {
        rvm__code *code = &(*codes)[fn];
        if (code->x) rvm__resize(m, code->x, m->p->functions[fn].ncode * sizeof(rvm__xinsn), 0);
        rvm__resize(m, code->made, code->cap_made * sizeof *code->made, 0);
        if (code->shared) rvm__resize(m, code->shared, code->cap_shared * sizeof *code->shared, 0);
        rvm__resize(m, code->summed, code->cap_summed * sizeof *code->summed, 0);
    }
    rvm__resize(m, *codes, (m->p->nfunctions + 1) * sizeof **codes, 0);
    *codes = NULL;
}

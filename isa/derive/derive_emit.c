/* derive_emit.c: registers, places and instructions of the new function. See derive.h. */
#include "derive.h"
#include "kernels.h"
#include "builder.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

void rvm__derive_fail(rvm__derive *t, rvm_status s) {
    if (t->status || !s) return;
    t->status = s;
    if (s == RVM_ERR_MEMORY) rvm__fail(t->err, s, NULL, 0, 0, "out of memory deriving '%s'", rvm__source(t)->name);
}

static void too_large(rvm__derive *t) {
    if (t->status) return;
    t->status = rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                             "the derivative of '%s' is too large: more registers, arrays, constants or instructions than a "
                             "function can have",
                             rvm__source(t)->name);
}

/* Something could not be added to the function. */
static void no_room(rvm__derive *t) {
    const rvm_function *g = &t->g;
    if (g->nregs >= RVM_MAX_REGS || g->nconsts >= RVM_MAX_CONSTS || g->narrays >= RVM_MAX_ARRAYS)
        too_large(t);
    else
        rvm__derive_fail(t, RVM_ERR_MEMORY);
}

/* ---- maps ---- */

static void *make(rvm__derive *t, size_t count, size_t size, int fill) {
    void *p = rvm__realloc(&t->p->al, NULL, 0, count * size + 1);
    if (!p)
        rvm__derive_fail(t, RVM_ERR_MEMORY);
    else
        memset(p, fill, count * size + 1);
    return p;
}

static void drop(rvm__derive *t, void *p, size_t count, size_t size) {
    if (p) rvm__realloc(&t->p->al, p, count * size + 1, 0);
}

static uint16_t new_register(rvm__derive *t, rvm_type type) {
    const int64_t k = t->status ? -1 : rvm__function_add_register(t->p, &t->g, type);
    if (k < 0) no_room(t);
    return (uint16_t)(k < 0 ? 0 : k);
}

static uint16_t new_array(rvm__derive *t, const rvm_array_decl *a) {
    const int64_t k = t->status ? -1 : rvm__function_add_array(t->p, &t->g, (rvm_type)a->type, a->ndim);
    if (k < 0) no_room(t);
    return (uint16_t)(k < 0 ? 0 : k);
}

static bool has_shadow(const rvm__derive *t, rvm_place_kind kind, uint32_t slot) {
    return rvm__is_ever_active(t->p, &t->a, t->src, kind == RVM_PLACE_ARRAY, (uint16_t)slot);
}

static bool shadowed(const rvm__derive *t) {
    return t->kind == RVM_TANGENT_OF || t->kind == RVM_ADJOINT;
}

/* A length of the source's parameter as one of the new function's. */
static uint16_t length_of(rvm__derive *t, uint16_t slot) {
    return rvm__value_place(t, &(rvm_place){.kind = RVM_PLACE_SLOT, .slot = slot}).slot;
}

/* The parameters, declared before, are the first registers and arrays; then what remains of the source's. */
static void map_params(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    uint32_t to = 0;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = &f->params[k];
        uint16_t *map = q->ndim ? t->array : t->reg, *shadow = q->ndim ? t->shadow_array : t->shadow_reg;
        map[q->index] = t->g.params[to++].index;
        if (t->wrt[k]) shadow[q->index] = t->g.params[to++].index;
    }
}

static void map_lengths(rvm__derive *t) {
    uint32_t to = 0;
    const rvm_function *f = rvm__source(t);
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = &f->params[k];
        for (int copies = 0; copies <= (t->wrt[k] != 0); copies++, to++)
            for (int d = 0; d < q->ndim; d++) t->g.params[to].dim[d] = length_of(t, q->dim[d]);
    }
}

static void map_rest(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    for (uint32_t k = 0; k < f->nregs && !t->status; k++) {
        if (t->reg[k] == RVM__NO_PLACE) t->reg[k] = new_register(t, (rvm_type)f->reg_type[k]);
        if (!shadowed(t) || t->shadow_reg[k] != RVM__NO_PLACE || !has_shadow(t, RVM_PLACE_SLOT, k)) continue;
        t->shadow_reg[k] = new_register(t, (rvm_type)f->reg_type[k]);
    }
    for (uint32_t k = 0; k < f->narrays && !t->status; k++) {
        if (t->array[k] == RVM__NO_PLACE) t->array[k] = new_array(t, &f->arrays[k]);
        if (!shadowed(t) || t->shadow_array[k] != RVM__NO_PLACE || !has_shadow(t, RVM_PLACE_ARRAY, k) || t->rows[k])
            continue;
        t->shadow_array[k] = new_array(t, &f->arrays[k]);
    }
}

static void mark_borrowing(void *userdata, uint32_t compute, uint32_t undo) {
    rvm__derive *t = userdata;
    t->borrows[compute] = t->borrows[undo] = 1;
}

static void find_borrowing(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    const size_t size = rvm__borrow_scratch(f);
    void *scratch = make(t, size, 1, 0);
    if (!t->status) rvm__borrow_find(t->p, &t->a, t->src, scratch, mark_borrowing, t);
    drop(t, scratch, size, 1);
}

static void find_rows(rvm__derive *t) {
    const size_t size = rvm__rows_scratch(rvm__source(t));
    void *scratch = make(t, size, 1, 0);
    if (!t->status) rvm__find_rows(t, scratch);
    drop(t, scratch, size, 1);
}

rvm_status rvm__derive_begin(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    t->g = t->p->functions[t->dst];
    t->reg = make(t, f->nregs, sizeof *t->reg, 0xff);
    t->shadow_reg = make(t, f->nregs, sizeof *t->shadow_reg, 0xff);
    t->array = make(t, f->narrays, sizeof *t->array, 0xff);
    t->shadow_array = make(t, f->narrays, sizeof *t->shadow_array, 0xff);
    t->borrows = make(t, f->ncode, sizeof *t->borrows, 0);
    t->mirror = make(t, (size_t)f->nregs + f->narrays, sizeof *t->mirror, 0);
    t->map = make(t, f->ncode, sizeof *t->map, 0);
    t->rows = make(t, f->narrays, sizeof *t->rows, 0);
    t->others = make(t, f->narrays, sizeof *t->others, 0xff);
    if (!t->status && t->kind == RVM_ADJOINT) find_borrowing(t);
    if (!t->status && t->kind == RVM_ADJOINT) find_rows(t);
    if (!t->status) map_params(t);
    if (!t->status) map_rest(t);
    if (!t->status) map_lengths(t);
    return t->status;
}

/* ---- places ---- */

bool rvm__active(const rvm__derive *t, const rvm_place *q) {
    return shadowed(t) && rvm__is_active(t->p, &t->a, t->src, q);
}

static uint16_t slot_of(rvm__derive *t, uint16_t slot) {
    const rvm_function *f = rvm__source(t);
    if (slot < f->nregs) return t->reg[slot];
    const uint32_t k = slot - f->nregs;
    const int64_t c = rvm__function_add_const(t->p, &t->g, (rvm_type)f->const_type[k], f->consts[k]);
    if (c < 0) no_room(t);
    return (uint16_t)(RVM_BUILD_CONST + (c < 0 ? 0 : c));
}

static rvm_place map_place(rvm__derive *t, const rvm_place *q, bool shadow) {
    rvm_place to = *q;
    switch ((rvm_place_kind)q->kind) {
    case RVM_PLACE_SLOT: to.slot = shadow ? t->shadow_reg[q->slot] : slot_of(t, q->slot); break;
    case RVM_PLACE_RANGE: to.slot = slot_of(t, q->slot); break;
    case RVM_PLACE_ELEM:
    case RVM_PLACE_ARRAY: to.slot = shadow ? t->shadow_array[q->slot] : t->array[q->slot]; break;
    case RVM_PLACE_KIND_COUNT: break;
    }
    const int nidx = q->kind == RVM_PLACE_RANGE ? 1 : q->kind == RVM_PLACE_ELEM ? q->nidx : 0;
    for (int k = 0; k < nidx; k++) to.idx[k] = slot_of(t, q->idx[k]);
    return to;
}

rvm_place rvm__value_place(rvm__derive *t, const rvm_place *q) {
    return map_place(t, q, false);
}

rvm_place rvm__shadow_place(rvm__derive *t, const rvm_place *q) {
    return map_place(t, q, true);
}

rvm_place rvm__const_place(rvm__derive *t, rvm_type type, double k) {
    rvm_value v = {.f = k}, none = {.u = 0};
    int overflow = 0;
    if (type != RVM_F64) v = rvm__kernels[rvm__kernel_index(RVM_ROW_conv, type, RVM_F64)].f(v, none, none, &overflow);
    const int64_t c = t->status ? -1 : rvm__function_add_const(t->p, &t->g, type, v);
    if (c < 0) no_room(t);
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)(RVM_BUILD_CONST + (c < 0 ? 0 : c))};
}

rvm_place rvm__no_gain(rvm__derive *t, rvm_type type) {
    return rvm__const_place(t, type, -0.0);
}

rvm_place rvm__integer_place(rvm__derive *t, int64_t k) {
    const int64_t c = t->status ? -1 : rvm__function_add_const(t->p, &t->g, RVM_I64, (rvm_value){.i = k});
    if (c < 0) no_room(t);
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)(RVM_BUILD_CONST + (c < 0 ? 0 : c))};
}

rvm_place rvm__temp(rvm__derive *t, rvm_type type) {
    const uint16_t k = t->nfree[type] ? t->free_regs[type][--t->nfree[type]] : new_register(t, type);
    return (rvm_place){.kind = RVM_PLACE_SLOT, .slot = k};
}

void rvm__temp_free(rvm__derive *t, rvm_place q) {
    const rvm_type type = t->status ? RVM_I64 : (rvm_type)t->g.reg_type[q.slot];
    if (t->status) return;
    if (!rvm__grow(&t->p->al, (void **)&t->free_regs[type], &t->cap_free[type], t->nfree[type] + 1u, sizeof(uint16_t)))
        rvm__derive_fail(t, RVM_ERR_MEMORY);
    else
        t->free_regs[type][t->nfree[type]++] = q.slot;
}

rvm_place rvm__temp_array(rvm__derive *t, rvm_type type, const rvm_place *like) {
    const rvm_array_decl want = {.type = (uint8_t)type, .ndim = t->status ? 1 : t->g.arrays[like->slot].ndim};
    rvm_place q = {.kind = RVM_PLACE_ARRAY};
    for (uint16_t k = 0; k < t->nspare && !t->status; k++) {
        const rvm_array_decl *a = &t->g.arrays[t->spare_arrays[k]];
        if (a->type != want.type || a->ndim != want.ndim) continue;
        q.slot = t->spare_arrays[k];
        t->spare_arrays[k] = t->spare_arrays[--t->nspare];
        return q;
    }
    q.slot = new_array(t, &want);
    return q;
}

void rvm__temp_array_free(rvm__derive *t, rvm_place q) {
    if (t->nspare < RVM_MAX_SLOT) t->spare_arrays[t->nspare++] = q.slot;
}

/* ---- instructions ---- */

/* What a derived function may have: many times what one can become by the formulas of its instructions. Only compute parts
 * in one another that borrow (derive.c) make more, twice as many for each level. */
static uint32_t most_instructions(const rvm__derive *t) {
    enum { LEAST = 1 << 16, FOR_EACH = 256 };
    const uint64_t most = LEAST + (uint64_t)FOR_EACH * rvm__source(t)->ncode;
    return most < INT32_MAX ? (uint32_t)most : INT32_MAX;
}

/* How many compute parts the instruction being derived stands in. */
static uint32_t nested(const rvm__derive *t) {
    const rvm_insn *code = rvm__source(t)->code;
    uint32_t n = 0;
    for (uint32_t pc = 0; pc < t->pc; pc++) n += (code[pc].op == RVM_OP_compute) - (code[pc].op == RVM_OP_do);
    return n;
}

static void grows_too_large(rvm__derive *t) {
    t->status =
        rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                     "%s'%s has more than %u instructions: compute parts nest %u deep here, and each level that changes "
                     "what was there before it doubles them; make an inner one a function",
                     rvm__source(t)->name, rvm__transform_tick[t->kind], most_instructions(t), nested(t));
}

uint32_t rvm__add(rvm__derive *t, rvm_op op, rvm_row row, uint8_t flags, int n, const rvm_place *places) {
    if (t->status) return 0;
    const rvm_function *f = rvm__source(t);
    if (t->g.ncode >= most_instructions(t)) {
        grows_too_large(t);
        return 0;
    }
    if (n > UINT8_MAX || !rvm__grow(&t->p->al, (void **)&t->from, &t->cap_from, t->g.ncode + 1, sizeof *t->from)) {
        n > UINT8_MAX ? too_large(t) : rvm__derive_fail(t, RVM_ERR_MEMORY);
        return 0;
    }
    const int64_t at = rvm__function_emit(t->p, &t->g, op, row, flags, 0, places, (uint32_t)n, f->positions[t->pc]);
    if (at < 0) {
        no_room(t);
        return 0;
    }
    t->from[at] = t->pc;
    return (uint32_t)at;
}

static uint32_t emit_mapped(rvm__derive *t, const rvm_insn *in, rvm_op op, bool shadow) {
    rvm_place places[UINT8_MAX];
    const rvm_place *q = rvm__places(rvm__source(t), in);
    for (int k = 0; k < in->nplaces; k++) places[k] = map_place(t, &q[k], shadow && rvm__active(t, &q[k]));
    return rvm__add(t, op, (rvm_row)in->row, in->flags, in->nplaces, places);
}

void rvm__discard(rvm__derive *t, rvm_op op, rvm_place shadow) {
    const rvm_place site = rvm__integer_place(t, (*t->next_site)++);
    RVM__ADD(t, op, 0, 0, rvm__integer_place(t, t->level), site, rvm__integer_place(t, 1), shadow);
}

void rvm__slot_too_deep(rvm__derive *t) {
    if (t->status) return;
    t->status = rvm__fail_at(t->err, RVM_ERR_UNSUPPORTED, t->p, t->src, t->pc,
                             "a slot has no room for the shadows of derivative %d of '%s'", t->level, rvm__source(t)->name);
}

void rvm__add_value(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const uint32_t at = emit_mapped(t, in, op, false);
    if (!t->status && rvm__op_target(op) == 'F') t->g.code[at].target = in->target;
}

void rvm__add_shadow(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    emit_mapped(t, in, op, true);
}

void rvm__add_control(rvm__derive *t, const rvm_insn *in, rvm_op op) {
    const uint32_t at = emit_mapped(t, in, op, false);
    if (t->status) return;
    t->map[t->pc] = at;
    t->g.code[at].target = in->target;
    if (op != in->op) t->g.code[at].flags ^= rvm__op_flags(op) & RVM_FLAG_REVERSED; /* the last trip is undone first */
    if (!rvm__grow(&t->p->al, (void **)&t->open, &t->cap_open, t->nopen + 1, sizeof *t->open))
        rvm__derive_fail(t, RVM_ERR_MEMORY);
    else
        t->open[t->nopen++] = at;
}

void rvm__close_targets(rvm__derive *t, uint32_t nopen_before) {
    while (!t->status && t->nopen > nopen_before) {
        rvm_insn *in = &t->g.code[t->open[--t->nopen]];
        in->target = t->map[in->target];
    }
}

/* ---- source names: a name holds where the instruction came from one at which it holds ---- */

typedef struct names {
    rvm__derive *t;
    uint32_t *since; /* by symbol of the source: emitted instruction from which it holds, or UINT32_MAX */
    uint32_t *from, *to, *next_from, *next_to; /* lists of symbols, by pc where they begin or end; + 1, 0 ends */
} names;

static void add_symbol(rvm__derive *t, const rvm_symbol *s, uint32_t from, uint32_t to, bool shadow) {
    const uint16_t *map = s->is_array ? shadow ? t->shadow_array : t->array : shadow ? t->shadow_reg : t->reg;
    char name[256];
    const rvm_symbol copy = {.is_array = s->is_array, .index = map[s->index], .from = from, .to = to};
    if (copy.index == RVM__NO_PLACE || t->status) return;
    const int n = snprintf(name, sizeof name, "%s%s", s->name, !shadow ? "" : t->kind == RVM_TANGENT_OF ? "_d" : "_b");
    if (n >= (int)sizeof name) return; /* a name so long goes without */
    if (rvm__function_add_symbol(t->p, &t->g, &copy, name, (size_t)n) < 0) rvm__derive_fail(t, RVM_ERR_MEMORY);
}

/* Whether what the name stands for has a shadow, which is not said of all that its register or array is elsewhere: by the
 * instruction that makes it appear, where the name begins. */
static bool names_active(const rvm__derive *t, const rvm_symbol *s) {
    const rvm_function *f = rvm__source(t);
    const rvm_insn *in = &f->code[s->from];
    const rvm_place *q = rvm__places(f, in);
    const uint8_t kind = s->is_array ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT;
    for (int k = 0; k < in->nplaces; k++)
        if (q[k].kind == kind && q[k].slot == s->index) return rvm__active(t, &q[k]);
    return true;
}

static void close_name(names *w, uint32_t k, uint32_t to) {
    const uint32_t from = w->since[k];
    const rvm_symbol *s = &rvm__source(w->t)->symbols[k];
    w->since[k] = UINT32_MAX;
    if (from >= to) return;
    add_symbol(w->t, s, from, to, false);
    if (names_active(w->t, s)) add_symbol(w->t, s, from, to, true);
}

static void close_list(names *w, const uint32_t *next, uint32_t k, uint32_t at) {
    for (; k; k = next[k - 1]) close_name(w, k - 1, at);
}

static void open_list(names *w, const uint32_t *next, uint32_t k, uint32_t at) {
    for (; k; k = next[k - 1]) w->since[k - 1] = at;
}

/* From instruction a of the source to b, at emitted instruction `at`. */
static void go(names *w, uint32_t a, uint32_t b, uint32_t at) {
    while (a < b) {
        a++;
        open_list(w, w->next_from, w->from[a], at);
        close_list(w, w->next_to, w->to[a], at);
    }
    while (a > b) {
        close_list(w, w->next_from, w->from[a], at);
        a--;
        open_list(w, w->next_to, w->to[a + 1], at);
    }
}

static void list_names(names *w, const rvm_function *f) {
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        const rvm_symbol *s = &f->symbols[k];
        if (s->from >= s->to || s->to > f->ncode) continue;
        w->next_from[k] = w->from[s->from];
        w->from[s->from] = k + 1;
        w->next_to[k] = w->to[s->to];
        w->to[s->to] = k + 1;
    }
}

static void name_places(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    const size_t n = f->nsymbols, pcs = (size_t)f->ncode + 1;
    if (!n || t->status) return;
    uint32_t *block = make(t, 3 * n + 2 * pcs, sizeof *block, 0);
    if (!block) return;
    names w = {t, block, block + n, block + n + pcs, block + n + 2 * pcs, block + 2 * n + 2 * pcs};
    memset(w.since, 0xff, n * sizeof *w.since);
    list_names(&w, f);
    open_list(&w, w.next_from, w.from[0], 0);
    uint32_t at = 0;
    for (uint32_t k = 0; k < t->g.ncode; at = t->from[k++]) go(&w, at, t->from[k], k);
    for (uint32_t k = 0; k < n; k++) close_name(&w, k, t->g.ncode);
    drop(t, block, 3 * n + 2 * pcs, sizeof *block);
}

/* ---- end ---- */

void rvm__derive_end(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    name_places(t);
    drop(t, t->reg, f->nregs, sizeof *t->reg);
    drop(t, t->shadow_reg, f->nregs, sizeof *t->shadow_reg);
    drop(t, t->array, f->narrays, sizeof *t->array);
    drop(t, t->shadow_array, f->narrays, sizeof *t->shadow_array);
    drop(t, t->rows, f->narrays, sizeof *t->rows);
    drop(t, t->others, f->narrays, sizeof *t->others);
    drop(t, t->borrows, f->ncode, sizeof *t->borrows);
    drop(t, t->mirror, (size_t)f->nregs + f->narrays, sizeof *t->mirror);
    drop(t, t->map, f->ncode, sizeof *t->map);
    for (int k = 0; k < RVM_TYPE_COUNT; k++) rvm__realloc(&t->p->al, t->free_regs[k], t->cap_free[k] * sizeof(uint16_t), 0);
    rvm__realloc(&t->p->al, t->open, t->cap_open * sizeof *t->open, 0);
    rvm__realloc(&t->p->al, t->from, t->cap_from * sizeof *t->from, 0);
    if (!t->status) rvm__function_finish(&t->g);
    if (t->status) t->g.ncode = 0; /* what it holds goes with the program */
    t->p->functions[t->dst] = t->g;
}

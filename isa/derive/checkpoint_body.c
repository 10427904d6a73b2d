/* checkpoint_body.c: what the functions of a loop share, and its body. See outline.h. */
#include "outline.h"

#include <string.h>

#include "accesses.h"

/* ---- parameters that all share ---- */

rvm_place rvm__place_at(bool array, uint16_t slot) {
    return (rvm_place){.kind = array ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = slot};
}

rvm_type rvm__outline_type(const rvm__outline *o, uint32_t k) {
    const rvm__loop_place *q = &o->loop->places[k];
    return (rvm_type)(q->array ? o->f->arrays[q->index].type : o->f->reg_type[q->index]);
}

int rvm__outline_ndim(const rvm__outline *o, uint32_t k) {
    const rvm__loop_place *q = &o->loop->places[k];
    return q->array ? o->f->arrays[q->index].ndim : 0;
}

static uint16_t slot_of(rvm__outline *o, uint16_t slot) {
    if (slot >= o->f->nregs) {
        const uint32_t k = slot - o->f->nregs;
        return rvm__write_constant(&o->w, (rvm_type)o->f->const_type[k], o->f->consts[k]).slot;
    }
    if (o->reg[slot] == RVM__NOT_MAPPED) o->reg[slot] = rvm__write_register(&o->w, (rvm_type)o->f->reg_type[slot]).slot;
    return o->reg[slot];
}

static bool is_length(const rvm_function *f, uint16_t slot) {
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++)
            if (f->params[k].dim[d] == slot) return true;
    return false;
}

/* The slot of f that is that length of the array, where it is one that never changes; else RVM__NOT_MAPPED. */
static uint16_t length_of(const rvm__outline *o, uint16_t array, int d) {
    for (uint32_t k = 0; k < o->f->nparams; k++)
        if (o->f->params[k].ndim && o->f->params[k].index == array) return o->f->params[k].dim[d];
    RVM__EACH_INSN_UP(x, o->f, o->loop->pc, 0) {
        if (!rvm__op_names_array((rvm_op)x.in->op) || x.q[0].slot != array) continue;
        if (x.in->op == RVM_OP_like) return length_of(o, x.q[1].slot, d);
        if (x.in->op != RVM_OP_new) continue;
        const uint16_t slot = x.q[1 + d].slot;
        return slot >= o->f->nregs || is_length(o->f, slot) ? slot : RVM__NOT_MAPPED;
    }
    return RVM__NOT_MAPPED;
}

/* A name that no parameter has so far. */
static void name_place(const rvm__outline *o, const rvm__loop_place *q, char *name, size_t size) {
    const char *is = rvm__symbol_at(o->f, q->array, q->index, o->loop->pc + 1);
    bool taken = !is || strlen(is) >= size;
    for (uint32_t k = 0; !taken && k < o->w.g.nparams; k++) taken = !strcmp(o->w.g.params[k].name, is);
    if (taken)
        snprintf(name, size, "place%u", o->w.g.nparams);
    else
        snprintf(name, size, "%s", is);
}

static void add_place(rvm__outline *o, uint32_t k) {
    char name[256];
    const rvm__loop_place *q = &o->loop->places[k];
    name_place(o, q, name, sizeof name);
    o->own[k] = rvm__write_param(&o->w, name, rvm__outline_type(o, k), rvm__outline_ndim(o, k));
    (q->array ? o->array : o->reg)[q->index] = o->own[k].slot;
}

/* Lengths have registers of their own, so that what is a parameter is none. */
static bool is_place(const rvm__outline *o, uint16_t slot) {
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (!o->loop->places[k].array && o->loop->places[k].index == slot) return true;
    return false;
}

static void add_lengths(rvm__outline *o, uint32_t k) {
    const rvm__loop_place *q = &o->loop->places[k];
    for (int d = 0; q->array && d < o->f->arrays[q->index].ndim; d++) {
        uint16_t slot = length_of(o, q->index, d);
        if (slot != RVM__NOT_MAPPED && is_place(o, slot)) slot = RVM__NOT_MAPPED;
        o->dims[k][d] = slot == RVM__NOT_MAPPED ? rvm__write_register(&o->w, RVM_I64).slot : slot_of(o, slot);
        if (!o->w.status) o->w.g.params[k].dim[d] = o->dims[k][d];
    }
}

void rvm__outline_begin(rvm__outline *o, const char *suffix, const char *const *names, uint32_t n, rvm_place *more) {
    char name[300];
    snprintf(name, sizeof name, "%s%s", o->name, suffix);
    memset(o->reg, 0xff, (o->f->nregs + 1u) * sizeof *o->reg);
    memset(o->array, 0xff, (o->f->narrays + 1u) * sizeof *o->array);
    rvm__write_begin(&o->w, name);
    for (uint32_t k = 0; k < o->loop->nplaces; k++) add_place(o, k);
    for (uint32_t k = 0; k < n; k++) more[k] = rvm__write_param(&o->w, names[k], RVM_I64, 0);
    for (uint32_t k = 0; k < o->loop->nplaces; k++) add_lengths(o, k);
    rvm__write(&o->w, RVM_OP_start, 0, 0, 0, NULL);
}

void rvm__outline_end(rvm__outline *o, uint32_t *made) {
    *made = o->w.fn;
    rvm__write_end(&o->w);
}

void rvm__outline_call(rvm__outline *o, rvm_op op, uint32_t fn, const rvm_place *places, const rvm_place *more, uint32_t n) {
    memcpy(o->args, places, o->loop->nplaces * sizeof *o->args);
    if (n) memcpy(o->args + o->loop->nplaces, more, n * sizeof *more);
    rvm__write_call(&o->w, op, fn, o->loop->nplaces + n, o->args);
}

bool rvm__outline_is_state(const rvm__outline *o, uint32_t k) {
    return o->loop->places[k].use == RVM__LOOP_CHANGES;
}

/* ---- trips by their numbers ---- */

rvm_place rvm__outline_bound(rvm__outline *o, int which) {
    if (o->loop->whiles) return rvm__write_integer(&o->w, which == RVM__BY);
    const rvm_place *q = rvm__places(o->f, &o->f->code[o->loop->pc]);
    return rvm__place_at(false, slot_of(o, q[which].slot));
}

rvm_place rvm__outline_index(rvm__outline *o, rvm_place number) {
    const rvm_place way = rvm__write_let(&o->w, RVM_ROW_mul, number, rvm__outline_bound(o, RVM__BY));
    return rvm__write_let(&o->w, RVM_ROW_add, rvm__outline_bound(o, RVM__LO), way);
}

/* ---- the body ---- */

static rvm_place map_place(rvm__outline *o, const rvm_place *q) {
    rvm_place to = *q;
    if (q->kind == RVM_PLACE_SLOT || q->kind == RVM_PLACE_RANGE)
        to.slot = slot_of(o, q->slot);
    else {
        uint16_t *array = &o->array[q->slot];
        const rvm_array_decl *a = &o->f->arrays[q->slot];
        if (*array == RVM__NOT_MAPPED) *array = rvm__write_array(&o->w, (rvm_type)a->type, a->ndim).slot;
        to.slot = *array;
    }
    for (uint32_t k = 0; k < rvm__nindices(q); k++) to.idx[k] = slot_of(o, q->idx[k]);
    return to;
}

/* Instructions of `of` from lo up to hi: the loop's function, as it was or as it is in the copy. Calls go to `plain`, or as
 * they are. */
static void copy_code(rvm__outline *o, const rvm_function *of, uint32_t lo, uint32_t hi, const uint32_t *plain) {
    rvm_place places[UINT8_MAX];
    const uint32_t delta = o->w.g.ncode - lo;
    RVM__EACH_INSN_IN(x, of, lo, hi) {
        const char target = rvm__op_target((rvm_op)x.in->op);
        for (uint32_t k = 0; k < x.in->nplaces; k++) places[k] = map_place(o, &x.q[k]);
        o->w.at = of->positions[x.pc];
        const uint32_t at = rvm__write(&o->w, (rvm_op)x.in->op, (rvm_row)x.in->row, x.in->flags, x.in->nplaces, places);
        if (o->w.status) return;
        o->w.g.code[at].target = target == 'L' ? x.in->target + delta : x.in->target;
        if (target == 'F' && plain) o->w.g.code[at].target = plain[x.in->target];
    }
    o->w.at = o->f->positions[o->loop->pc];
}

/* Names of the loop's places in instructions lo up to hi of `of`, which stand from `to` on. */
static void copy_symbols(rvm__outline *o, const rvm_function *of, uint32_t lo, uint32_t hi, uint32_t to) {
    for (uint32_t k = 0; k < of->nsymbols && !o->w.status; k++) {
        const rvm_symbol *s = &of->symbols[k];
        const uint32_t from = (uint32_t)rvm__most(s->from, lo), end = (uint32_t)rvm__least(s->to, hi);
        const uint16_t index = (s->is_array ? o->array : o->reg)[s->index];
        const rvm_symbol copy = {.is_array = s->is_array, .index = index, .from = from - lo + to, .to = end - lo + to};
        if (from >= end || index == RVM__NOT_MAPPED) continue;
        if (rvm__function_add_symbol(o->w.p, &o->w.g, &copy, s->name, strlen(s->name)) < 0) o->w.status = RVM_ERR_MEMORY;
    }
}

static void copy_part(rvm__outline *o, const rvm_function *of, uint32_t lo, uint32_t hi, const uint32_t *plain) {
    const uint32_t to = o->w.g.ncode;
    copy_code(o, of, lo, hi, plain);
    copy_symbols(o, of, lo, hi, to);
}

/* ---- a counted loop ---- */

/* The trip of index i. */
static void write_trip(rvm__outline *o, const rvm_function *of, const char *suffix, const uint32_t *plain, uint32_t *made) {
    static const char *const names[] = {"i'"};
    rvm_place i;
    rvm__outline_begin(o, suffix, names, 1, &i);
    o->reg[rvm__places(o->f, &o->f->code[o->loop->pc])[0].slot] = i.slot;
    copy_part(o, of, o->loop->pc + 1, of->code[o->loop->pc].target, plain);
    rvm__outline_end(o, made);
}

/* ---- a loop with conditions ----
 * Its condition is a parameter, and a register while code of the loop runs, in which it appears and disappears. */

rvm_place rvm__outline_condition(const rvm__outline *o) {
    const uint16_t c = rvm__places(o->f, &o->f->code[o->loop->pc])->slot;
    for (uint32_t k = 0; k < o->loop->nplaces; k++)
        if (!o->loop->places[k].array && o->loop->places[k].index == c) return o->own[k];
    return (rvm_place){0}; /* there always is */
}

/* Into the register, which appears, and back. */
static rvm_place enter_condition(rvm__outline *o) {
    rvm__writer *w = &o->w;
    const rvm_place c = rvm__write_register(w, RVM_I64), of = rvm__outline_condition(o);
    RVM__WRITE(w, RVM_OP_let, RVM_ROW_id, 0, c, rvm__write_integer(w, 0));
    RVM__WRITE(w, RVM_OP_swap, 0, 0, c, of);
    o->reg[rvm__places(o->f, &o->f->code[o->loop->pc])->slot] = c.slot;
    return c;
}

static void leave_condition(rvm__outline *o, rvm_place c) {
    RVM__WRITE(&o->w, RVM_OP_swap, 0, 0, c, rvm__outline_condition(o));
    RVM__WRITE(&o->w, RVM_OP_unlet, RVM_ROW_id, 0, c, rvm__write_integer(&o->w, 0));
}

void rvm__outline_assert(rvm__outline *o, rvm_place c, bool is) {
    rvm__writer *w = &o->w;
    const uint32_t at = RVM__WRITE(w, is ? RVM_OP_jt : RVM_OP_jf, 0, 0, c);
    rvm__write(w, RVM_OP_trap, 0, 0, 0, NULL);
    const uint32_t to = RVM__WRITE(w, is ? RVM_OP_cft : RVM_OP_cff, 0, 0, c);
    if (w->status) return;
    w->g.code[at].target = to;
    w->g.code[to].target = at;
}

static void copy_test(rvm__outline *o) {
    copy_code(o, o->f, o->loop->pc + 1, rvm__while_at(o->f, o->loop->pc).test, NULL);
}

/* The condition turns from that of the entry to that of a trip. */
static void write_head(rvm__outline *o) {
    rvm__outline_begin(o, "'head", NULL, 0, NULL);
    const rvm_place c = enter_condition(o);
    copy_test(o);
    leave_condition(o, c);
    rvm__outline_end(o, &o->made.head);
}

/* to += 1 if there is a trip. */
static void write_test(rvm__outline *o) {
    static const char *const names[] = {"to'"};
    rvm_place to;
    rvm__outline_begin(o, "'test", names, 1, &to);
    rvm__outline_call(o, RVM_OP_call, o->made.head, o->own, NULL, 0);
    RVM__WRITE(&o->w, RVM_OP_add, RVM_ROW_id, 0, to, rvm__outline_condition(o));
    rvm__outline_call(o, RVM_OP_uncall, o->made.head, o->own, NULL, 0);
    rvm__outline_end(o, &o->test);
}

static void write_round(rvm__outline *o, const rvm_function *of, const char *suffix, const uint32_t *plain, uint32_t *made) {
    static const char *const names[] = {"i'"};
    rvm_place i;
    const rvm__while l = rvm__while_at(of, o->loop->pc);
    rvm__outline_begin(o, suffix, names, 1, &i);
    const rvm_place c = enter_condition(o);
    copy_test(o);
    copy_part(o, of, l.test + 1, l.back, plain);
    rvm__outline_assert(o, c, false);
    leave_condition(o, c);
    rvm__outline_end(o, made);
}

/* ---- the loop as it was ---- */

static void write_whole(rvm__outline *o) {
    const uint32_t pc = o->loop->pc, end = o->loop->whiles ? rvm__while_at(o->f, pc).end : o->f->code[pc].target;
    rvm__outline_begin(o, "'whole", NULL, 0, NULL);
    const rvm_place c = o->loop->whiles ? enter_condition(o) : (rvm_place){0};
    copy_part(o, o->f, pc, end + 1, o->plain);
    if (o->loop->whiles) leave_condition(o, c);
    rvm__outline_end(o, &o->made.whole);
}

void rvm__outline_bodies(rvm__outline *o) {
    const rvm_function *is = &o->w.p->functions[o->loop->fn];
    const rvm_function now = *is; /* the table of functions may move, what it points to stays */
    if (o->loop->whiles) {
        write_head(o);
        write_test(o);
        write_round(o, o->f, "'run", o->plain, &o->run);
        write_round(o, &now, "'step", NULL, &o->made.step);
    } else {
        write_trip(o, o->f, "'run", o->plain, &o->run);
        write_trip(o, &now, "'step", NULL, &o->made.step);
    }
    if (o->loop->turns) write_whole(o);
}

/* ---- functions whose loops stay as they are ---- */

static rvm_place numbered(const rvm_function *f, rvm_place q) {
    if (q.kind == RVM_PLACE_SLOT || q.kind == RVM_PLACE_RANGE)
        if (q.slot >= f->nregs) q.slot = (uint16_t)(q.slot - f->nregs + RVM_BUILD_CONST);
    for (uint32_t d = 0; d < rvm__nindices(&q); d++)
        if (q.idx[d] >= f->nregs) q.idx[d] = (uint16_t)(q.idx[d] - f->nregs + RVM_BUILD_CONST);
    return q;
}

static void copy_slots(rvm__writer *w, const rvm_function *f) {
    for (uint32_t k = 0; k < f->nregs; k++) rvm__write_register(w, (rvm_type)f->reg_type[k]);
    for (uint32_t k = 0; k < f->narrays; k++) rvm__write_array(w, (rvm_type)f->arrays[k].type, f->arrays[k].ndim);
    for (uint32_t k = 0; k < f->nconsts; k++) rvm__write_constant(w, (rvm_type)f->const_type[k], f->consts[k]);
    for (uint32_t k = 0; k < f->nparams && !w->status; k++) {
        rvm_param q = f->params[k];
        for (int d = 0; d < q.ndim; d++) q.dim[d] = numbered(f, rvm__place_at(false, q.dim[d])).slot;
        q.name = NULL;
        if (rvm__function_add_param(w->p, &w->g, &q, f->params[k].name, strlen(f->params[k].name)) < 0)
            w->status = RVM_ERR_MEMORY;
    }
}

/* But for `halt`, which ends what is written. */
static void copy_all(rvm__outline *o, const rvm_function *f) {
    rvm_place places[UINT8_MAX];
    RVM__EACH_INSN_IN(x, f, 0, f->ncode - 1) {
        for (uint32_t k = 0; k < x.in->nplaces; k++) places[k] = numbered(f, x.q[k]);
        o->w.at = f->positions[x.pc];
        const uint32_t at = rvm__write(&o->w, (rvm_op)x.in->op, (rvm_row)x.in->row, x.in->flags, x.in->nplaces, places);
        if (o->w.status) return;
        o->w.g.code[at].target = rvm__op_target((rvm_op)x.in->op) == 'F' ? o->plain[x.in->target] : x.in->target;
    }
    o->w.at = f->positions[f->ncode - 1];
    for (uint32_t k = 0; k < f->nsymbols && !o->w.status; k++) {
        const rvm_symbol *s = &f->symbols[k];
        if (rvm__function_add_symbol(o->w.p, &o->w.g, s, s->name, strlen(s->name)) < 0) o->w.status = RVM_ERR_MEMORY;
    }
}

void rvm__outline_plain(rvm__outline *o, uint32_t fn) {
    const rvm_function *f = &o->p->functions[fn];
    char name[600];
    snprintf(name, sizeof name, "%.500s'plain", f->name);
    rvm__write_begin(&o->w, name);
    o->plain[fn] = o->w.fn; /* it may call itself */
    copy_slots(&o->w, f);
    copy_all(o, f);
    rvm__write_end(&o->w);
}

/* text.c: what the text of a function tells: which array a name stands for, whether that needs memory, which lengths are
 * known, which blocks go in lanes. */
#include "emit.h"
#include "guarding.h"
#include "blocks.h"
#include "analysis.h"
#include "accesses.h"
#include "builder.h"
#include "instance.h"

#include <string.h>

/* ---- what arrays are part of ---- */

uint32_t rvm__maker_of(const rvm_function *f, uint16_t array, uint32_t pc) {
    unsigned closed = 0;
    RVM__EACH_INSN_UP(x, f, pc, 1) {
        if (x.in->op == RVM_OP_undo) x.pc = x.in->target; /* a region that is behind: what it made is gone */
        if (!rvm__op_names_array((rvm_op)x.in->op) || x.q->slot != array) continue;
        if (rvm__is_inverse(x.in->op))
            closed++;
        else if (closed-- == 0)
            return x.pc;
    }
    return 0;
}

bool rvm__is_closed(const rvm_function *f, uint32_t from, uint32_t to) {
    RVM__EACH_INSN_IN(x, f, from + 1, to)
        if (rvm__is_jump(x.in->op) && x.in->target < from) return false;
    return true;
}

uint16_t rvm__base_of(const rvm__emit *e, uint16_t array, uint32_t pc) {
    const uint32_t at = rvm__maker_of(e->f, array, pc);
    if (!at) return array;
    return rvm__is_closed(e->f, at, pc) ? rvm__root_of(e->f, rvm__places(e->f, &e->f->code[at])) : RVM__NO_BASE;
}

const rvm_insn *rvm__view_at(const rvm__emit *e, uint16_t array, uint32_t pc) {
    const uint32_t at = rvm__maker_of(e->f, array, pc);
    return at && rvm__is_closed(e->f, at, pc) && e->f->code[at].op == RVM_OP_view ? &e->f->code[at] : NULL;
}

/* ---- indices ---- */

bool rvm__goes_on(const rvm_insn *in) {
    const char *operands = rvm__op_info[in->op].operands;
    return !operands || (*operands && !strpbrk(operands, "LFS")); /* none: an update */
}

static bool is_changed(const rvm__emit *e, uint16_t reg, uint32_t from, uint32_t to) {
    RVM__EACH_INSN_IN(x, e->f, from, to)
        if (rvm__changes_register(e->u->p, e->f, x.in, reg)) return true;
    return false;
}

/* The register appears as another one, or a constant, plus or minus a constant. */
static bool is_let_as_sum(const rvm__emit *e, const rvm_insn *in, rvm__index *of) {
    const rvm_place *q = rvm__places(e->f, in);
    if (rvm__pair_of(in->op) != RVM_PAIR_let || rvm__is_inverse(in->op)) return false;
    if ((in->row != RVM_ROW_add && in->row != RVM_ROW_sub) || q[1].kind != RVM_PLACE_SLOT || q[2].kind != RVM_PLACE_SLOT ||
        q[2].slot < e->f->nregs)
        return false;
    const uint64_t c = e->f->consts[q[2].slot - e->f->nregs].u;
    *of = (rvm__index){q[1].slot, in->row == RVM_ROW_add ? c : -c};
    return true;
}

bool rvm__index_at(const rvm__emit *e, uint16_t slot, uint32_t from, uint32_t pc, rvm__index *of) {
    *of = (rvm__index){slot, 0};
    if (slot >= e->f->nregs || e->control.context->dir < 0) return true; /* backward, what is let above is still to come */
    RVM__EACH_INSN_UP(x, e->f, pc, 1) {
        if (x.pc < from && !rvm__goes_on(x.in)) return true;
        if (!rvm__goes_on(x.in)) return false;
        if (!rvm__changes_register(e->u->p, e->f, x.in, slot)) continue;
        if (x.pc > from) return false;
        if (!is_let_as_sum(e, x.in, of) || (of->reg < e->f->nregs && is_changed(e, of->reg, x.pc, pc)))
            *of = (rvm__index){slot, 0};
        return true;
    }
    return true;
}

/* ---- local arrays that need no memory ---- */

enum { MOST_BYTES = 1024 };

/* Elements by what makes an array appear or disappear; 0: not a constant. */
static uint64_t constant_size(const rvm_function *f, const rvm_insn *in) {
    const rvm_place *q = rvm__places(f, in);
    uint64_t n = 1;
    if (rvm__pair_of(in->op) != RVM_PAIR_new) return 0;
    for (int d = 0; d < f->arrays[q->slot].ndim; d++) {
        const uint16_t slot = q[1 + d].slot;
        const int64_t length = slot < f->nregs ? -1 : f->consts[slot - f->nregs].i;
        if (length <= 0 || length > MOST_BYTES) return 0;
        n *= (uint64_t)length;
        if (n > MOST_BYTES / sizeof(rvm_value)) return 0;
    }
    return n;
}

static bool makes(const rvm_insn *in, const rvm_place *q, uint16_t array) {
    const enum rvm_pair pair = rvm__pair_of(in->op);
    return (pair == RVM_PAIR_new || pair == RVM_PAIR_like) && q->slot == array;
}

/* Of few elements, a constant number, wherever it appears. Recursion, which may be deep, keeps its arrays in the arena. */
uint64_t rvm__alloca_bytes(const rvm__unit *u, uint32_t fn, uint16_t array) {
    const rvm_function *f = &u->p->functions[fn];
    uint64_t n = 0;
    RVM__EACH_INSN(x, f) {
        if (!makes(x.in, x.q, array)) continue;
        const uint64_t here = constant_size(f, x.in);
        if (!here || (n && n != here)) return 0;
        n = here;
    }
    return n && !u->recursive ? RVM__ARRAY_HEADER + n * sizeof(rvm_value) : 0;
}

bool rvm__appears(const rvm_function *f, uint16_t array) {
    RVM__EACH_INSN(x, f)
        if (makes(x.in, x.q, array)) return true;
    return false;
}

uint64_t rvm__local_bytes(const rvm__unit *u, uint32_t fn, uint16_t array) {
    const uint64_t always = rvm__alloca_bytes(u, fn, array);
    const bool few = !u->recursive && !u->w->standalone && rvm__appears(&u->p->functions[fn], array);
    return always || !few ? always : RVM__ARRAY_HEADER + RVM__FEW * sizeof(rvm_value);
}

/* ---- functions for some lengths ---- */

uint32_t rvm__known_as(const rvm__unit *u, uint32_t fn) {
    const rvm__shaped_copy *c = rvm__shaped_at(&u->shaped, fn);
    return c ? c->of : fn;
}

LLVMValueRef rvm__known_number(const rvm__emit *e) {
    return LLVMConstInt(e->k->i32, rvm__known_as(e->u, e->fn), false);
}

static uint32_t added_constants(const rvm__emit *e) {
    return e->f->nconsts - e->u->p->functions[rvm__known_as(e->u, e->fn)].nconsts;
}

uint32_t rvm__machine_slots(const rvm__emit *e) {
    return e->code->slots - added_constants(e);
}

uint32_t rvm__machine_slot(const rvm__emit *e, uint32_t slot) {
    return slot < e->f->nregs ? slot : slot - added_constants(e);
}

LLVMValueRef rvm__known_length(const rvm__unit *u, uint32_t fn, uint16_t slot) {
    const rvm__shaped_copy *c = rvm__shaped_at(&u->shaped, fn);
    return c && slot < c->nregs && c->value[slot] >= 0 ? rvm__build_int(u->k, c->value[slot]) : NULL;
}

/* ---- blocks ---- */

bool rvm__is_ascending(const rvm__emit *e, const rvm__xinsn *x) {
    return (e->control.context->dir > 0) != ((x->flags & X_REVERSED) != 0);
}

void rvm__body_of(const rvm__emit *e, uint32_t pc, uint32_t *first, uint32_t *last) {
    const uint32_t other = e->f->code[pc].target;
    *first = (pc < other ? pc : other) + 1;
    *last = (pc < other ? other : pc) - 1;
}

bool rvm__is_around(const rvm__emit *e, const rvm__guarding *g, uint32_t pc) {
    return g->par < pc && pc < e->f->code[g->par].target;
}

unsigned rvm__guards_open(const rvm__emit *e, uint32_t pc, int dir) {
    unsigned n = 0;
    for (const rvm__guarding *g = e->block.guards; g; g = g->next)
        n += rvm__is_around(e, g, pc) || pc == (dir > 0 ? e->f->code[g->par].target : g->par);
    return n;
}

bool rvm__is_within_guard(const rvm__emit *e, uint32_t pc) {
    if (e->guarded) return true;
    for (const rvm__guarding *g = e->block.guards; g; g = g->next)
        if (rvm__is_around(e, g, pc)) return true;
    return false;
}

/* osr.c: a function that is entered by on-stack replacement (OSR), where the interpreter stands in a loop
 * (vm/interp/loops.c); the inverse of a side exit (frame.c). Its parameters come as ever; all else is read from the
 * machine's frame.
 *
 * Nothing is known of what ran before but what the text tells: the loops, blocks and compute parts around, and which array
 * is part of which. That the latter is so is looked at; else the interpreter goes on. Local arrays that are there stand in
 * the arena and stay there. LLVM must not see that what it was promised to be apart may be reached in another way than from
 * there: so the address of a part is computed from that of the whole.
 */
#include "emit.h"
#include "analysis.h"
#include "walk.h"
#include "program.h"

#include <stddef.h>

static LLVMValueRef int32(const rvm__emit *e, int64_t n) {
    return LLVMConstInt(e->k->i32, (uint64_t)n, true);
}

/* ---- registers ---- */

/* Parameters that are only read, and lengths, stand where they are known to be so. */
static void find_known(const rvm__emit *e, uint8_t *known) {
    for (uint32_t k = 0; k < e->f->nparams; k++) {
        const rvm_param *param = &e->f->params[k];
        if (!param->ndim && param->role == RVM_READ) known[param->index] = 1;
        for (int d = 0; d < param->ndim; d++)
            if (param->dim[d] < e->f->nregs) known[param->dim[d]] = 1;
    }
}

static void load_slots(rvm__emit *e, LLVMValueRef slots) {
    uint8_t *known = rvm__unit_alloc(e->u, e->f->nregs + 1u);
    if (!known) return;
    find_known(e, known);
    for (uint32_t n = 0; n < e->code->slots; n++) {
        const rvm_type t = n < e->f->nregs ? (rvm_type)e->f->reg_type[n] : RVM_I64;
        if (!e->frame.reg[n] || (n < e->f->nregs && known[n])) continue;
        rvm__put_at(
            e, rvm__get(e, rvm__build_type(e->k, t), rvm__member(e, slots, rvm__machine_slot(e, n) * sizeof(rvm_value))),
            e->frame.reg[n]);
    }
    if (e->u->w->unchecked) return;
    LLVMValueRef args[2] = {e->frame.machine, e->frame.first_slot};
    LLVMValueRef held = rvm__call_runtime(e, "rvm__native_magnitudes", e->k->ptr, 2, args);
    for (uint32_t n = 0; n < e->code->slots; n++)
        if (e->frame.held[n])
            rvm__put_at(e, rvm__get(e, e->k->f64, rvm__member(e, held, rvm__machine_slot(e, n) * sizeof(double))),
                        e->frame.held[n]);
}

/* ---- arrays ---- */

static bool is_parameter(const rvm__emit *e, uint32_t array) {
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (e->f->params[k].ndim && e->f->params[k].index == array) return true;
    return false;
}

static LLVMValueRef field(rvm__emit *e, LLVMValueRef arrays, uint32_t n, size_t offset) {
    return rvm__member(e, arrays, n * sizeof(rvm__array) + offset);
}

/* As it stands in the frame. */
static void load_array(rvm__emit *e, LLVMValueRef arrays, uint32_t n) {
    const rvm__array_ir *a = &e->frame.array[n];
    rvm__build *k = e->k;
#define TAKE(type, name) rvm__put_at(e, rvm__get(e, type, field(e, arrays, n, offsetof(rvm__array, name))), a->name)
    TAKE(k->ptr, data);
    TAKE(k->i16, base);
    TAKE(k->i8, present);
    if (a->magnitude) TAKE(k->ptr, magnitude);
#undef TAKE
    for (int d = 0; d < e->f->arrays[n].ndim; d++) {
        const size_t at = sizeof(int64_t) * (size_t)d;
        rvm__put_at(e, rvm__get(e, k->i64, field(e, arrays, n, offsetof(rvm__array, dim) + at)), a->dim[d]);
        rvm__put_at(e, rvm__get(e, k->i64, field(e, arrays, n, offsetof(rvm__array, stride) + at)), a->stride[d]);
    }
}

/* Leaves where the array is there and part of another one than the text tells. */
static void check_base(rvm__emit *e, uint32_t n, uint16_t whole) {
    LLVMBuilderRef b = e->k->b;
    const rvm__array_ir *a = &e->frame.array[n];
    LLVMValueRef here = LLVMBuildIsNotNull(b, rvm__get(e, e->k->i8, a->present), "");
    LLVMValueRef is = LLVMConstInt(e->k->i16, whole, false);
    LLVMValueRef other = LLVMBuildICmp(b, LLVMIntNE, rvm__get(e, e->k->i16, a->base), is, "");
    rvm__exit_if(e, LLVMBuildAnd(b, here, other, ""));
}

/* Its address, from that of what it is part of. */
static void rebase(rvm__emit *e, LLVMValueRef arrays, uint32_t n, uint16_t whole) {
    rvm__build *k = e->k;
    LLVMValueRef from = rvm__get(e, k->ptr, field(e, arrays, whole, offsetof(rvm__array, data)));
    LLVMValueRef here = rvm__get(e, k->ptr, field(e, arrays, n, offsetof(rvm__array, data)));
    LLVMValueRef apart =
        LLVMBuildSub(k->b, LLVMBuildPtrToInt(k->b, here, k->i64, ""), LLVMBuildPtrToInt(k->b, from, k->i64, ""), "");
    LLVMValueRef at = rvm__get(e, k->ptr, e->frame.array[whole].data);
    rvm__put_at(e, LLVMBuildGEP2(k->b, k->i8, at, &apart, 1, ""), e->frame.array[n].data);
}

/* Strides of a view are some of those of what it views, those of a new array follow from its lengths. */
static void know_strides(rvm__emit *e, uint32_t n, uint32_t gap) {
    const rvm_insn *in = rvm__view_at(e, (uint16_t)n, gap);
    const rvm__array_ir *a = &e->frame.array[n];
    int kept = e->f->arrays[n].ndim;
    if (!in) {
        LLVMValueRef stride = rvm__build_int(e->k, sizeof(rvm_value));
        for (int d = kept - 1; d >= 0; d--) {
            rvm__put_at(e, stride, a->stride[d]);
            stride = LLVMBuildMul(e->k->b, stride, rvm__dimension(e, (uint16_t)n, d), "");
        }
        return;
    }
    const rvm_place *q = rvm__places(e->f, in);
    const uint16_t whole = q[1].slot;
    for (int d = e->f->arrays[whole].ndim - 1; d >= 0; d--)
        if (2 + (uint32_t)d >= in->nplaces || q[2 + d].kind == RVM_PLACE_RANGE)
            rvm__put_at(e, rvm__stride(e, whole, d), a->stride[--kept]);
}

/* What an array is part of must be known before it is. */
static void know_array(rvm__emit *e, LLVMValueRef arrays, uint32_t n, uint32_t gap, uint8_t *known) {
    const uint16_t whole = rvm__base_of(e, (uint16_t)n, gap);
    const rvm_insn *view = rvm__view_at(e, (uint16_t)n, gap);
    if (known[n]) return;
    known[n] = 1;
    if (whole == RVM__NO_BASE) return;
    if (view) know_array(e, arrays, rvm__places(e->f, view)[1].slot, gap, known);
    know_strides(e, n, gap);
    if (whole != n) rebase(e, arrays, n, whole);
}

static void enter_arrays(rvm__emit *e, LLVMValueRef arrays, uint32_t gap) {
    uint8_t *known = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    if (!known) return;
    for (uint32_t n = 0; n < e->f->narrays; n++) {
        const uint16_t whole = rvm__base_of(e, (uint16_t)n, gap);
        known[n] = is_parameter(e, n);
        if (!known[n]) check_base(e, n, whole == RVM__NO_BASE ? (uint16_t)n : whole);
    }
    for (uint32_t n = 0; n < e->f->narrays; n++) know_array(e, arrays, n, gap, known);
}

/* ---- control ---- */

/* Compute parts around that no trail is to know of. */
static unsigned untracked_parts(const rvm__emit *e, uint32_t gap) {
    unsigned n = 0;
    RVM__EACH_INSN_IN(x, e->f, 0, gap)
        if (x.in->op == RVM_OP_compute && x.in->target >= gap) n += !rvm__is_part_tracked(e, x.pc);
    return n;
}

/* Into the compute part: how it is run follows from the direction and from whether it turns around. */
static rvm__context *part_around(rvm__emit *e, rvm__context *c, uint32_t compute, bool turns) {
    const int dir = turns ? -c->dir : c->dir;
    const enum rvm__pass pass = dir > 0 ? (turns ? PASS_AGAIN : PASS_FIRST) : turns ? PASS_UNDO : PASS_LAST;
    return rvm__context_in(e, c, compute, pass, dir);
}

/* Into the loop or block that begins at pc in the text; it goes on with what its index says. */
static rvm__context *loop_around(rvm__emit *e, rvm__context *c, uint32_t pc) {
    const rvm_insn *in = &e->f->code[pc];
    e->control.context = c;
    e->control.pc = c->dir > 0 ? pc : in->target;
    if (in->op == RVM_OP_for) return rvm__enter_strips(e, c);
    if (in->op == RVM_OP_par) rvm__begin_strips(e, &e->code->x[e->control.pc]);
    return c;
}

static rvm__context *all_around(rvm__emit *e, int inner, uint32_t gap) {
    rvm__context *c = rvm__context_in(e, NULL, 0, PASS_WHOLE, e->dir);
    uint32_t parts = 0;
    if (!c) return NULL;
    c->gap = gap;
    c->head = rvm__loop_head(e->f, e->at, inner);
    RVM__EACH_INSN_IN(x, e->f, 0, gap) {
        if (x.in->target < gap) continue;
        if (x.in->op == RVM_OP_compute)
            c = part_around(e, c, x.pc, e->u->w->turns >> parts++ & 1);
        else if (rvm__begins_loop(e->f, x.pc))
            c = loop_around(e, c, x.pc);
        if (!c) break;
    }
    return c;
}

/* The direction at e->at. */
static int inner_direction(const rvm__emit *e) {
    return __builtin_popcount(e->u->w->turns) & 1 ? -e->dir : e->dir;
}

void rvm__osr_entry(rvm__emit *e) {
    const int dir = inner_direction(e);
    const uint32_t gap = rvm__gap(e->at, dir), untracked = rvm__untracked_segments(e, e->at, dir);
    LLVMValueRef args[7] = {
        e->frame.machine,    rvm__known_number(e), int32(e, e->at), int32(e, dir), int32(e, untracked_parts(e, gap)),
        int32(e, untracked), e->frame.first_slot};
    load_slots(e, rvm__call_runtime(e, "rvm__native_enter", e->k->ptr, 7, args));
    rvm__window_take(e);
    LLVMValueRef arrays_args[2] = {e->frame.machine, e->frame.first_array};
    LLVMValueRef arrays = rvm__call_runtime(e, "rvm__native_arrays", e->k->ptr, 2, arrays_args);
    for (uint32_t n = 0; n < e->f->narrays; n++)
        if (!is_parameter(e, n)) load_array(e, arrays, n);
    rvm__context *c = all_around(e, dir, gap);
    if (!c) return;
    e->control.context = c;
    e->control.pc = e->at;
    e->count.walked = 0;
    enter_arrays(e, arrays, gap);
    const bool at_head = c->head == e->at - (uint32_t)dir && rvm__pair_of(e->f->code[c->head].op) != RVM_PAIR_par;
    LLVMBasicBlockRef next = at_head ? rvm__landing_of(e, c, c->head) : rvm__block(e, "osr");
    LLVMBuildBr(e->k->b, next);
    if (!at_head) rvm__walk_later(e, next, e->at, c);
}

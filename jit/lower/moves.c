/* moves.c: drop, shed, stow and what takes back, as vm/interp/moves.c has them. What a discarding trail does not keep is
 * counted here; for all else the places are handed over as lanes: registers through memory of their own, elements and arrays
 * where they stand. */
#include "emit.h"
#include "analysis.h"
#include "walk.h"
#include "sites.h"
#include "trail_inline.h"

#include <stddef.h>
#include <string.h>

typedef struct moving {
    const rvm__xinsn *x;
    const rvm_place *places;
    uint32_t first, n; /* first: of the places, in the instruction */
    enum rvm_pair pair;
    bool back, appear, discarded;
} moving;

static moving moving_of(const rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const enum rvm_pair pair = rvm__pair_of(op);
    moving w = {.x = x, .first = rvm__positions_at((rvm_op)in->op) + 1, .pair = pair, .appear = pair == RVM_PAIR_recall};
    w.places = rvm__places(e->f, in) + w.first;
    w.n = in->nplaces - w.first;
    w.back = pair == RVM_PAIR_recall ? op == RVM_OP_recall : rvm__is_inverse(op);
    w.discarded = pair != RVM_PAIR_stow && rvm__is_discarded(e, x->trail.level);
    return w;
}

static LLVMValueRef bits_of(rvm__emit *e, LLVMValueRef v) {
    return LLVMBuildBitCast(e->k->b, v, e->k->i64, "");
}

/* ---- what is not kept ---- */

/* An instruction that the array does not outlive, and that does not look at it. */
static bool ends(const rvm__emit *e, uint32_t pc, uint16_t array) {
    const rvm_insn *in = &e->f->code[pc];
    const rvm_op op = e->control.context->dir > 0 ? (rvm_op)in->op : rvm__op_inverse((rvm_op)in->op);
    const bool gone = op == RVM_OP_del || op == RVM_OP_unlike;
    return gone && e->code->x[pc].flags & X_UNCHECKED && rvm__places(e->f, in)->slot == array;
}

/* Whether the array disappears before anything could look at it. */
static bool is_dead(const rvm__emit *e, uint16_t array) {
    for (uint32_t pc = e->control.pc + (uint32_t)e->control.context->dir;; pc += (uint32_t)e->control.context->dir) {
        const enum rvm_pair pair = rvm__pair_of(e->f->code[pc].op);
        if (ends(e, pc, array)) return true;
        const rvm_place *q = rvm__places(e->f, &e->f->code[pc]);
        if (pair != RVM_PAIR_new && pair != RVM_PAIR_like && pair != RVM_PAIR_drop && pair != RVM_PAIR_recall) return false;
        for (uint32_t k = 0; k < e->f->code[pc].nplaces; k++)
            if (q[k].kind == RVM_PLACE_ARRAY && q[k].slot == array) return false;
    }
}

/* Arrays that are discarded: of each the address of an element; dead: nothing looks at it any more. */
typedef struct discarded {
    const moving *w;
    LLVMValueRef *address, some; /* some: the address of how many elements beyond the first array's are not 0; or NULL */
    bool *dead;
} discarded;

/* An element of each becomes 0. */
static void discard_element(rvm__emit *e, const discarded *x) {
    rvm__build *k = e->k;
    LLVMValueRef zero = rvm__build_int(k, 0);
    for (uint32_t n = 0; n < x->w->n; n++) {
        if (n) {
            LLVMValueRef any = LLVMBuildICmp(k->b, LLVMIntNE, rvm__get(e, k->i64, x->address[n]), zero, "");
            LLVMValueRef more = LLVMBuildZExt(k->b, any, k->i64, "");
            rvm__put_at(e, LLVMBuildAdd(k->b, rvm__get(e, k->i64, x->some), more, ""), x->some);
        }
        if (!x->dead[n]) rvm__put_at(e, zero, x->address[n]);
    }
}

/* Dimensions from d on, at those addresses: a loop for each. */
static void discard_from(rvm__emit *e, const discarded *x, int d) {
    LLVMBuilderRef b = e->k->b;
    const uint16_t first = x->w->places->slot;
    if (d == e->f->arrays[first].ndim) {
        discard_element(e, x);
        return;
    }
    LLVMValueRef *address = x->address, *inner = rvm__unit_alloc(e->u, x->w->n * sizeof *inner);
    if (!inner) return;
    LLVMValueRef index = rvm__local(e, e->k->i64, "index");
    LLVMBasicBlockRef next = rvm__block(e, "clear"), some = rvm__block(e, "some"), on = rvm__block(e, "on");
    rvm__put_at(e, rvm__build_int(e->k, 0), index);
    LLVMBuildBr(b, next);
    rvm__at(e, next);
    LLVMValueRef i = rvm__get(e, e->k->i64, index);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, i, rvm__dimension(e, first, d), ""), some, on);
    rvm__at(e, some);
    for (uint32_t n = 0; n < x->w->n; n++) {
        LLVMValueRef offset = LLVMBuildNSWMul(b, i, rvm__stride(e, x->w->places[n].slot, d), "");
        inner[n] = LLVMBuildInBoundsGEP2(b, e->k->i8, address[n], &offset, 1, "");
    }
    discard_from(e, &(discarded){x->w, inner, x->some, x->dead}, d + 1);
    rvm__put_at(e, LLVMBuildNSWAdd(b, i, rvm__build_int(e->k, 1), ""), index);
    LLVMBuildBr(b, next);
    rvm__at(e, on);
}

/* All have the first one's shape, or the interpreter says which has not. */
static void exit_unless_alike(rvm__emit *e, const moving *w) {
    const uint16_t first = w->places->slot;
    for (uint32_t n = 1; n < w->n; n++)
        for (int d = 0; d < e->f->arrays[first].ndim; d++)
            rvm__exit_if(e, LLVMBuildICmp(e->k->b, LLVMIntNE, rvm__dimension(e, w->places[n].slot, d),
                                          rvm__dimension(e, first, d), ""));
}

/* Elements are erased, but for those beyond the first array's that are 0. */
static void discard_arrays(rvm__emit *e, const rvm_insn *in, const moving *w) {
    rvm__build *k = e->k;
    discarded x = {w, rvm__unit_alloc(e->u, w->n * sizeof *x.address), NULL, rvm__unit_alloc(e->u, w->n)};
    LLVMValueRef bits = w->n > 1 ? rvm__site_bits_of(e, in) : rvm__build_int(k, 64);
    bool any = w->n > 1;
    if (!x.address || !x.dead) return;
    exit_unless_alike(e, w);
    for (uint32_t n = 0; n < w->n; n++) {
        x.address[n] = rvm__get(e, k->ptr, e->frame.array[w->places[n].slot].data);
        x.dead[n] = is_dead(e, w->places[n].slot);
        any |= !x.dead[n];
    }
    bits = LLVMBuildMul(k->b, rvm__elements(e, w->places->slot), bits, "");
    if (w->n > 1) rvm__put_at(e, rvm__build_int(k, 0), x.some = rvm__local(e, k->i64, "some"));
    rvm__settle_erased(e); /* before control parts */
    if (any) discard_from(e, &x, 0);
    if (x.some)
        bits = LLVMBuildAdd(k->b, bits, LLVMBuildMul(k->b, rvm__get(e, k->i64, x.some), rvm__build_int(k, 64), ""), "");
    rvm__count_erased(e, rvm__erased_by(w->x->trail.level), bits);
}

/* Each is erased, but for those beyond the first that are 0. */
static void discard_scalars(rvm__emit *e, const rvm_insn *in, const moving *w) {
    rvm__build *k = e->k;
    rvm__operand *o = rvm__unit_alloc(e->u, w->n * sizeof *o);
    LLVMValueRef bits = rvm__site_bits_of(e, in), zero = rvm__build_int(k, 0), full = rvm__build_int(k, 64);
    for (uint32_t n = 0; n < w->n && o; n++) o[n] = rvm__operand_of(e, &w->places[n], w->first + n);
    for (uint32_t n = 0; n < w->n && o && w->x->flags & X_ALIAS; n++)
        for (uint32_t i = 0; i < n; i++) rvm__apart(e, &o[n], &o[i]);
    for (uint32_t n = 1; n < w->n && o; n++) {
        LLVMValueRef some = LLVMBuildICmp(k->b, LLVMIntNE, bits_of(e, rvm__load(e, &o[n])), zero, "");
        bits = LLVMBuildAdd(k->b, bits, LLVMBuildSelect(k->b, some, full, zero, ""), "");
    }
    rvm__count_erased(e, rvm__erased_by(w->x->trail.level), bits);
    for (uint32_t n = 0; n < w->n && o; n++) {
        const rvm_place *q = &w->places[n];
        rvm__store(e, &o[n], LLVMConstNull(rvm__build_type(k, o[n].type)));
        if (q->kind == RVM_PLACE_SLOT && e->frame.held[q->slot])
            rvm__put_at(e, LLVMConstNull(k->f64), e->frame.held[q->slot]);
        if (w->appear) rvm__gone(e, q->slot);
    }
}

/* False: not such a simple case. */
static bool discard(rvm__emit *e, const rvm_insn *in, const moving *w) {
    if (w->places->kind != RVM_PLACE_ARRAY) return discard_scalars(e, in, w), true;
    if (w->n > 1 && rvm__is_forgotten(e, e->control.pc))
        rvm__exit_if(e, LLVMConstInt(e->k->i1, 1, false)); /* which knows */
    else if (w->n == 1 || !(w->x->flags & X_ALIAS))
        return discard_arrays(e, in, w), true;
    return false;
}

/* ---- lanes ---- */

/* Memory for the lanes of any instruction of the function: | rvm__lane .. | values .. | largest magnitudes .. | arrays .. |
 */
typedef struct scratch {
    LLVMValueRef lanes;
    uint32_t most;
} scratch;

static scratch scratch_of(rvm__emit *e) {
    const size_t each = sizeof(rvm__lane) + sizeof(rvm_value) + sizeof(double) + sizeof(rvm__array);
    uint32_t most = 0;
    RVM__EACH_INSN(x, e->f)
        if (x.in->nplaces > most) most = x.in->nplaces;
    if (!e->frame.lanes) e->frame.lanes = rvm__local(e, LLVMArrayType2(e->k->i64, most * each / 8), "lanes");
    return (scratch){e->frame.lanes, most};
}
_Static_assert(sizeof(rvm__lane) % 8 == 0 && sizeof(rvm__array) % 8 == 0, "one after the other");

static LLVMValueRef value_at(rvm__emit *e, const scratch *s, uint32_t k) {
    return rvm__member(e, s->lanes, s->most * sizeof(rvm__lane) + k * sizeof(rvm_value));
}
static LLVMValueRef held_at(rvm__emit *e, const scratch *s, uint32_t k) {
    return rvm__member(e, s->lanes, s->most * (sizeof(rvm__lane) + sizeof(rvm_value)) + k * sizeof(double));
}
static LLVMValueRef array_at(rvm__emit *e, const scratch *s, uint32_t k) {
    const size_t before = sizeof(rvm__lane) + sizeof(rvm_value) + sizeof(double);
    return rvm__member(e, s->lanes, s->most * before + k * sizeof(rvm__array));
}

static void put_lane(rvm__emit *e, const scratch *s, uint32_t k, const rvm_place *q, LLVMValueRef value, LLVMValueRef array,
                     LLVMValueRef held) {
    rvm__build *b = e->k;
    LLVMValueRef to = rvm__member(e, s->lanes, k * sizeof(rvm__lane)), null = LLVMConstNull(b->ptr);
#define PUT(field, v) rvm__put_at(e, v, rvm__member(e, to, offsetof(rvm__lane, field)))
    PUT(value, value);
    PUT(shadow, null);
    PUT(array, array ? array : null);
    PUT(held, held ? held : null);
    PUT(type, LLVMConstInt(b->i8, rvm__place_type(e->f, q), false));
    PUT(fresh, LLVMConstInt(b->i8, q->kind == RVM_PLACE_SLOT, false));
#undef PUT
}

void rvm__describe_array(rvm__emit *e, uint16_t array, LLVMValueRef to) {
    const rvm__array_ir *a = &e->frame.array[array];
    const unsigned ndim = e->f->arrays[array].ndim;
    rvm__put_at(e, rvm__get(e, e->k->ptr, a->data), rvm__member(e, to, offsetof(rvm__array, data)));
    rvm__put_at(e, LLVMConstInt(e->k->i16, ndim, false), rvm__member(e, to, offsetof(rvm__array, ndim)));
    for (unsigned d = 0; d < ndim; d++) {
        rvm__put_at(e, rvm__get(e, e->k->i64, a->dim[d]), rvm__member(e, to, offsetof(rvm__array, dim) + 8 * d));
        rvm__put_at(e, rvm__get(e, e->k->i64, a->stride[d]), rvm__member(e, to, offsetof(rvm__array, stride) + 8 * d));
    }
}

static void make_lane(rvm__emit *e, const moving *w, const scratch *s, uint32_t k) {
    const rvm_place *q = &w->places[k];
    if (q->kind == RVM_PLACE_SLOT) {
        LLVMValueRef value = value_at(e, s, k), held = e->frame.held[q->slot] ? held_at(e, s, k) : NULL;
        LLVMTypeRef t = rvm__build_type(e->k, (rvm_type)e->f->reg_type[q->slot]);
        if (w->back && w->appear) rvm__put_at(e, LLVMConstNull(t), e->frame.reg[q->slot]); /* as it was left */
        rvm__put_at(e, rvm__get(e, t, e->frame.reg[q->slot]), value);
        if (held) rvm__put_at(e, rvm__get(e, e->k->f64, e->frame.held[q->slot]), held);
        put_lane(e, s, k, q, value, NULL, held);
        return;
    }
    const rvm__array_ir *a = &e->frame.array[q->slot];
    LLVMValueRef held = a->magnitude ? rvm__get(e, e->k->ptr, a->magnitude) : NULL, array = NULL, value;
    if (q->kind == RVM_PLACE_ARRAY) {
        array = array_at(e, s, k);
        rvm__describe_array(e, q->slot, array);
        value = rvm__get(e, e->k->ptr, a->data);
    } else
        value = rvm__operand_of(e, q, w->first + k).address;
    put_lane(e, s, k, q, value, array, held);
}

/* The register has what its lane has now. */
static void take_lane(rvm__emit *e, const moving *w, const scratch *s, uint32_t k) {
    const rvm_place *q = &w->places[k];
    if (q->kind != RVM_PLACE_SLOT) return;
    LLVMTypeRef t = rvm__build_type(e->k, (rvm_type)e->f->reg_type[q->slot]);
    rvm__put_at(e, w->back ? rvm__get(e, t, value_at(e, s, k)) : LLVMConstNull(t), e->frame.reg[q->slot]);
    if (e->frame.held[q->slot]) rvm__put_at(e, rvm__get(e, e->k->f64, held_at(e, s, k)), e->frame.held[q->slot]);
    if (w->appear && !w->back) rvm__gone(e, q->slot);
}

static void by_lanes(rvm__emit *e, const moving *w, bool seldom) {
    rvm__build *k = e->k;
    const scratch s = scratch_of(e);
    for (uint32_t n = 0; n < w->n; n++)
        if (w->places[n].kind != RVM_PLACE_SLOT) rvm__join_magnitudes_of(e, &w->places[n]);
    for (uint32_t n = 0; n < w->n; n++) make_lane(e, w, &s, n);
    LLVMValueRef args[5] = {e->frame.machine, rvm__known_number(e), LLVMConstInt(k->i32, e->control.pc, false), s.lanes,
                            LLVMConstInt(k->i32, w->back, false)};
    const bool one = w->n == 1 && w->places->kind != RVM_PLACE_ARRAY && w->pair != RVM_PAIR_stow;
    const char *name = one ? "rvm__native_move_one" : "rvm__native_move";
    LLVMValueRef moved = seldom ? rvm__call_seldom(e, name, k->i1, 5, args) : rvm__call_runtime(e, name, k->i1, 5, args);
    rvm__exit_if(e, LLVMBuildNot(k->b, moved, ""));
    for (uint32_t n = 0; n < w->n; n++) take_lane(e, w, &s, n);
}

/* ---- scalars of which but the first all are 0: an entry of one cell ---- */

/* A jump to `seldom` where one of the places from `first` on is not 0. */
static void look_for_zeros(rvm__emit *e, const moving *w, const rvm__operand *o, uint32_t first, LLVMBasicBlockRef seldom) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef on = rvm__block(e, "zeros");
    LLVMValueRef all = rvm__build_int(k, 0);
    for (uint32_t n = first; n < w->n; n++) all = LLVMBuildOr(k->b, all, bits_of(e, rvm__load(e, &o[n])), "");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, all, rvm__build_int(k, 0), ""), on, seldom);
    rvm__at(e, on);
}

static void zero(rvm__emit *e, const moving *w, const rvm__operand *o, uint32_t n) {
    const rvm_place *q = &w->places[n];
    rvm__store(e, &o[n], LLVMConstNull(rvm__build_type(e->k, o[n].type)));
    if (q->kind == RVM_PLACE_SLOT && e->frame.held[q->slot])
        rvm__put_at(e, LLVMConstNull(e->k->f64), e->frame.held[q->slot]);
    if (w->appear && !w->back) rvm__gone(e, q->slot);
}

static void take_scalars(rvm__emit *e, const moving *w, const rvm__operand *o, LLVMBasicBlockRef seldom) {
    const rvm_place *q = w->places;
    if (!w->appear && !(w->x->flags & X_UNCHECKED)) look_for_zeros(e, w, o, 0, seldom);
    LLVMValueRef top = rvm__trail_top_inline(e, w->x->trail.site, seldom);
    LLVMValueRef v = LLVMBuildBitCast(e->k->b, top, rvm__build_type(e->k, o->type), "");
    for (uint32_t n = 1; n < w->n; n++) zero(e, w, o, n);
    rvm__store(e, o, v);
    rvm__trail_pop_inline(e, w->x->trail.site);
    const bool holds = q->kind == RVM_PLACE_SLOT ? e->frame.held[q->slot] : e->frame.array[q->slot].magnitude;
    if (holds && rvm__is_floating(o->type)) rvm__track_held(e, q, v, true);
}

static void put_scalars(rvm__emit *e, const moving *w, const rvm__operand *o, LLVMBasicBlockRef seldom) {
    look_for_zeros(e, w, o, 1, seldom);
    rvm__trail_put_inline(e, w->x->trail.site, bits_of(e, rvm__load(e, o)), seldom);
    for (uint32_t n = 0; n < w->n; n++) zero(e, w, o, n);
}

static bool are_scalars(const moving *w) {
    for (uint32_t n = 0; n < w->n; n++)
        if (w->places[n].kind == RVM_PLACE_ARRAY) return false;
    return w->pair != RVM_PAIR_stow && rvm__trail_is_inline(w->x->trail.level);
}

static void move_scalars(rvm__emit *e, const moving *w) {
    rvm__operand *o = rvm__unit_alloc(e->u, w->n * sizeof *o);
    LLVMBasicBlockRef seldom = rvm__block(e, "move"), on = rvm__block(e, "on");
    rvm__settle_erased(e); /* before control parts: one side may exit */
    for (uint32_t n = 0; n < w->n && o; n++) o[n] = rvm__operand_of(e, &w->places[n], w->first + n);
    for (uint32_t n = 0; n < w->n && o && w->x->flags & X_ALIAS; n++)
        for (uint32_t i = 0; i < n; i++) rvm__apart(e, &o[n], &o[i]);
    if (o) (w->back ? take_scalars : put_scalars)(e, w, o, seldom);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, seldom);
    by_lanes(e, w, true);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, on);
}

void rvm__emit_slots(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const moving w = moving_of(e, in, x, op);
    if (w.discarded && !w.back && discard(e, in, &w)) return;
    if (are_scalars(&w))
        move_scalars(e, &w);
    else
        by_lanes(e, &w, false);
}

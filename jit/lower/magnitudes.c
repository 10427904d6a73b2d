/* magnitudes.c: largest magnitudes. Those of arrays stand in memory, in front of the elements, where views, callees and the
 * machine find them. What a function makes of elements it gathers in a value of its own for each name of an array, so that
 * loops keep it in a register, and joins that with what is in memory where somebody may look: at side exits, at its end, at
 * calls with that array, and where the array, or a view of it, disappears. Not where instances of a block share arrays. */
#include "emit.h"
#include "accesses.h"
#include "analysis.h"
#include "blocks.h"
#include "walk.h"

LLVMValueRef rvm__magnitude(rvm__emit *e, const rvm_place *q) {
    if (q->kind == RVM_PLACE_SLOT) return e->frame.held[q->slot];
    return rvm__get(e, e->k->ptr, e->frame.array[q->slot].magnitude);
}

/* ---- arrays ---- */

static void note_root(rvm__array_ir *a, uint16_t root) {
    a->root = a->root == RVM__NO_BASE || a->root == root ? root : RVM__SEVERAL_BASES;
}

/* The array, or none, of which an element is changed. */
static void look_at(rvm__emit *e, const rvm_insn *in, bool *changed) {
    RVM__EACH_ACCESS(a, e->u->p, e->f, in) {
        if (!a.array) continue;
        note_root(&e->frame.array[a.q->slot], rvm__root_of(e->f, a.q));
        changed[a.q->slot] |= a.q->kind == RVM_PLACE_ELEM && a.bits & RVM__BITS_ACC;
    }
}

void rvm__make_magnitudes(rvm__emit *e) {
    bool *changed = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    if (!changed || e->u->w->unchecked || (e->u->w->exact && !e->u->releases_shadows) || e->block.chunk) return;
    for (uint32_t n = 0; n < e->f->narrays; n++) e->frame.array[n].root = RVM__NO_BASE;
    RVM__EACH_INSN(x, e->f) {
        if (rvm__pair_of(x.in->op) == RVM_PAIR_par) return;
        look_at(e, x.in, changed);
    }
    for (uint32_t n = 0; n < e->f->narrays; n++) {
        if (!changed[n] || !rvm__is_floating((rvm_type)e->f->arrays[n].type)) continue;
        e->frame.array[n].largest = rvm__local(e, e->k->f64, "largest");
        rvm__forget_magnitude(e, (uint16_t)n);
    }
}

void rvm__forget_magnitude(rvm__emit *e, uint16_t array) {
    const rvm__array_ir *a = &e->frame.array[array];
    if (a->largest) rvm__put_at(e, LLVMConstNull(e->k->f64), a->largest);
}

static LLVMValueRef larger_of(rvm__emit *e, LLVMValueRef size, LLVMValueRef was) {
    return LLVMBuildSelect(e->k->b, LLVMBuildFCmp(e->k->b, LLVMRealOGT, size, was, ""), size, was, "");
}

/* Of an array that is there; those from outside have none. */
static void raise(rvm__emit *e, LLVMValueRef there, LLVMValueRef held, LLVMValueRef size) {
    if (e->vectorised) {
        rvm__raise_in_instance(e, LLVMBuildSelect(e->k->b, there, held, LLVMConstNull(e->k->ptr), ""), size);
        return;
    }
    LLVMBasicBlockRef some = rvm__block(e, "held"), on = rvm__block(e, "on");
    LLVMBuildCondBr(e->k->b, there, some, on);
    rvm__at(e, some);
    LLVMValueRef was = rvm__get_from(e, RVM__MAGNITUDES, e->k->f64, held);
    rvm__put_into(e, RVM__MAGNITUDES, larger_of(e, size, was), held);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, on);
}

void rvm__join_magnitude(rvm__emit *e, uint16_t array) {
    const rvm__array_ir *a = &e->frame.array[array];
    if (!a->largest) return;
    LLVMValueRef held = rvm__get(e, e->k->ptr, a->magnitude), has = LLVMBuildIsNotNull(e->k->b, held, "");
    LLVMValueRef present = LLVMBuildIsNotNull(e->k->b, rvm__get(e, e->k->i8, a->present), "");
    LLVMValueRef no = LLVMConstInt(e->k->i1, 0, false); /* a select: what is not there has any address */
    raise(e, LLVMBuildSelect(e->k->b, present, has, no, ""), held, rvm__get(e, e->k->f64, a->largest));
}

void rvm__join_magnitudes_of(rvm__emit *e, const rvm_place *q) {
    const uint16_t root = rvm__root_of(e->f, q);
    for (uint32_t n = 0; n < e->f->narrays; n++)
        if (e->frame.array[n].root == root || e->frame.array[n].root == RVM__SEVERAL_BASES)
            rvm__join_magnitude(e, (uint16_t)n);
}

void rvm__join_magnitudes(rvm__emit *e) {
    for (uint32_t n = 0; n < e->f->narrays; n++) rvm__join_magnitude(e, (uint16_t)n);
}

void rvm__join_parameters(rvm__emit *e) {
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (e->f->params[k].ndim) rvm__join_magnitude(e, e->f->params[k].index);
}

/* ---- what changes ---- */

void rvm__track_held(rvm__emit *e, const rvm_place *q, LLVMValueRef v, bool fresh) {
    const bool slot = q->kind == RVM_PLACE_SLOT;
    if (e->u->w->exact && !rvm__tracks_shadows(e)) return; /* releases ask for the same bits */
    LLVMValueRef size = rvm__absolute(e, v), own = slot ? e->frame.held[q->slot] : e->frame.array[q->slot].largest;
    if (own) {
        rvm__put_at(e, slot && fresh ? size : larger_of(e, size, rvm__get(e, e->k->f64, own)), own);
        return;
    }
    LLVMValueRef held = rvm__magnitude(e, q);
    raise(e, LLVMBuildIsNotNull(e->k->b, held, ""), held, size);
}

/* releases.c: whether what disappears agrees with what it must be: equal, or within the tolerance, as vm/checks.c has it.
 *
 * What is equal is found here. For all else a function asks the machine, which knows the run and notes residues; standalone
 * code, and an instance of a block, compute it. An instance notes residues by RVM__RESIDUE, which whoever runs several makes
 * one for all of; where it does not agree it bails out, and where what is released is infinite or NaN, since whether that
 * counts only the machine knows.
 */
#include <math.h>

#include "emit.h"
#include "analysis.h"
#include "blocks.h"
#include "out_of_line.h"
#include "walk.h"

static LLVMValueRef larger(rvm__emit *e, LLVMValueRef x, LLVMValueRef other) { /* `other` if x is NaN */
    return LLVMBuildSelect(e->k->b, LLVMBuildFCmp(e->k->b, LLVMRealOGT, x, other, ""), x, other, "");
}

/* rvm__allowed */
static LLVMValueRef bound_of(rvm__emit *e, LLVMValueRef held) {
    const double tolerance = rvm__tolerance_at(e->u->m, e->fn, &e->code->x[e->control.pc]);
    LLVMValueRef one = LLVMConstReal(e->k->f64, 1), infinite = LLVMConstReal(e->k->f64, INFINITY);
    LLVMValueRef size = LLVMBuildSelect(e->k->b, LLVMBuildFCmp(e->k->b, LLVMRealOLT, held, infinite, ""), held, one, "");
    return LLVMBuildFMul(e->k->b, LLVMConstReal(e->k->f64, tolerance), larger(e, size, one), "");
}

static LLVMValueRef residue_of(rvm__emit *e, LLVMValueRef y, LLVMValueRef f) {
    return rvm__absolute(e, LLVMBuildFSub(e->k->b, y, f, ""));
}

static LLVMValueRef is_within(rvm__emit *e, LLVMValueRef y, LLVMValueRef f, LLVMValueRef held) {
    LLVMValueRef most = larger(e, held, rvm__absolute(e, y));
    return LLVMBuildFCmp(e->k->b, LLVMRealOLE, residue_of(e, y, f), bound_of(e, most), "");
}

/* ---- one value ---- */

static LLVMValueRef bits(rvm__emit *e, LLVMValueRef v) {
    return LLVMBuildBitCast(e->k->b, v, e->k->i64, "");
}

static LLVMValueRef ask_machine(rvm__emit *e, LLVMValueRef y, LLVMValueRef f, LLVMValueRef held) {
    LLVMValueRef args[6] = {
        e->frame.machine, rvm__known_number(e), LLVMConstInt(e->k->i32, e->control.pc, false), y, f, held};
    return rvm__call_seldom(e, "rvm__native_agrees", e->k->i1, 6, args);
}

/* In an instance: it does, or the instance bails out. */
static LLVMValueRef agree_or_bail_out(rvm__emit *e, LLVMValueRef y, LLVMValueRef f, LLVMValueRef held) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef infinite = LLVMConstReal(e->k->f64, INFINITY);
    LLVMValueRef finite = LLVMBuildFCmp(b, LLVMRealOLT, rvm__absolute(e, y), infinite, "");
    LLVMValueRef good = LLVMBuildAnd(b, finite, is_within(e, y, f, held), "");
    rvm__disagrees(e, LLVMBuildNot(b, good, ""));
    rvm__note_residue(e, residue_of(e, y, f));
    return LLVMConstInt(e->k->i1, 1, false);
}

/* rvm__exact_same */
static LLVMValueRef same_bits(rvm__emit *e, LLVMValueRef y, LLVMValueRef f) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef nan[2] = {LLVMBuildFCmp(b, LLVMRealUNO, y, y, ""), LLVMBuildFCmp(b, LLVMRealUNO, f, f, "")};
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, bits(e, y), bits(e, f), "");
    return LLVMBuildOr(b, same, LLVMBuildAnd(b, nan[0], nan[1], ""), "");
}

LLVMValueRef rvm__emit_agrees(rvm__emit *e, const rvm__xinsn *x, const rvm_place *q, LLVMValueRef y, LLVMValueRef f) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef held = x->flags & X_TRACK ? rvm__magnitude(e, q) : NULL;
    if (!rvm__is_floating((rvm_type)x->type)) return LLVMBuildICmp(b, LLVMIntEQ, y, f, "");
    if (rvm__is_exact(e, (rvm_type)x->type)) return same_bits(e, y, f);
    LLVMBasicBlockRef here, near = rvm__block(e, "near"), on = rvm__block(e, "on");
    LLVMValueRef equal = LLVMBuildFCmp(b, LLVMRealOEQ, y, f, "");
    here = LLVMGetInsertBlock(b);
    LLVMBuildCondBr(b, equal, on, near);
    rvm__at(e, near);
    if (held && q->kind == RVM_PLACE_ELEM) rvm__join_magnitudes_of(e, q);
    LLVMValueRef most = held ? rvm__get(e, e->k->f64, held) : LLVMConstReal(e->k->f64, 0);
    LLVMValueRef within = e->vectorised         ? agree_or_bail_out(e, y, f, most)
                          : e->u->w->standalone ? is_within(e, y, f, most)
                                                : ask_machine(e, y, f, most);
    near = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, on);
    rvm__at(e, on);
    LLVMValueRef phi = LLVMBuildPhi(b, e->k->i1, ""), values[2] = {LLVMConstInt(e->k->i1, 1, false), within};
    LLVMBasicBlockRef from[2] = {here, near};
    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

/* ---- all elements of a local array ---- */

static LLVMValueRef element_at(rvm__emit *e, LLVMTypeRef t, LLVMValueRef data, LLVMValueRef i) {
    LLVMValueRef at = LLVMBuildNSWMul(e->k->b, i, rvm__build_int(e->k, sizeof(rvm_value)), "");
    return rvm__get(e, t, LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, data, &at, 1, ""));
}

static void join_all(rvm__emit *e, LLVMValueRef all, LLVMValueRef good) {
    rvm__put_at(e, LLVMBuildAnd(e->k->b, rvm__get(e, e->k->i1, all), good, ""), all);
}

/* Whether they do; *worst: the largest residue of reals, an alloca. */
static LLVMValueRef all_within(rvm__emit *e, rvm_type t, const rvm__released *r, LLVMValueRef *worst) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef all = rvm__local(e, e->k->i1, "all"), bound = NULL;
    rvm__put_at(e, LLVMConstInt(e->k->i1, 1, false), all);
    if (rvm__is_floating(t)) {
        bound = bound_of(e, rvm__get(e, e->k->f64, r->held));
        *worst = rvm__local(e, e->k->f64, "worst");
        rvm__put_at(e, LLVMConstNull(e->k->f64), *worst);
    }
    const rvm__each l = rvm__each_begin(e, r->n);
    LLVMValueRef is = element_at(e, rvm__build_type(e->k, t), r->data, l.i);
    if (bound) {
        LLVMValueRef residue = residue_of(e, is, r->v), equal = LLVMBuildFCmp(b, LLVMRealOEQ, is, r->v, "");
        LLVMValueRef near = LLVMBuildFCmp(b, LLVMRealOLE, residue, bound, "");
        residue = LLVMBuildSelect(b, equal, LLVMConstNull(e->k->f64), residue, ""); /* infinite ones may be equal */
        rvm__put_at(e, larger(e, residue, rvm__get(e, e->k->f64, *worst)), *worst);
        join_all(e, all, LLVMBuildOr(b, equal, near, ""));
    } else
        join_all(e, all, LLVMBuildICmp(b, LLVMIntEQ, is, r->v, ""));
    rvm__each_end(e, &l);
    return rvm__get(e, e->k->i1, all);
}

LLVMValueRef rvm__elements_agree(rvm__emit *e, rvm_type t, const rvm__released *r) {
    LLVMValueRef null = LLVMConstNull(e->k->ptr), worst = NULL;
    if (e->u->w->standalone || e->vectorised) {
        LLVMValueRef good = all_within(e, t, r, &worst);
        if (!e->vectorised) return good;
        if (worst) rvm__note_residue(e, rvm__get(e, e->k->f64, worst));
        rvm__disagrees(e, LLVMBuildNot(e->k->b, good, ""));
        return LLVMConstInt(e->k->i1, 1, false);
    }
    LLVMValueRef args[7] = {
        e->frame.machine, rvm__known_number(e),    LLVMConstInt(e->k->i32, e->control.pc, false), r->data, r->n,
        bits(e, r->v),    r->held ? r->held : null};
    return rvm__call_runtime(e, "rvm__native_agree_all", e->k->i1, 7, args);
}

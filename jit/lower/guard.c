/* guard.c: parallel blocks whose roles are enforced while they run, one instance after the other; vm/guard.c has the marks.
 *
 * Before an instruction uses an element it asks whether the instance may. Only of arrays that instances use in more than one
 * way: what all of them read, or all add to, cannot race. Where the machine says no there is a side exit, and the
 * interpreter, which asks again, says what fails. What such an array is passed to asks, too, in a specialisation. A run of
 * a block in which such an array has a home is the interpreter's, since marks go by address.
 */
#include "emit.h"
#include "accesses.h"
#include "analysis.h"
#include "blocks.h"
#include "guarding.h"
#include "plan.h"
#include "walk.h"

#include <stddef.h>

/* ---- the block ---- */

/* Side exits where an array may move at one. */
static void stay_in_place(rvm__emit *e, uint16_t array) {
    rvm__build *k = e->k;
    const rvm__array_ir *a = &e->frame.array[array];
    LLVMValueRef home = rvm__get(e, k->i64, a->home);
    LLVMValueRef moves = LLVMBuildICmp(k->b, LLVMIntNE, home, rvm__build_int(k, 0), "");
    if (a->memory) moves = LLVMBuildOr(k->b, moves, rvm__get(e, k->i1, a->own), "");
    rvm__exit_if(e, moves);
}

bool rvm__enter_guard(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef some) {
    rvm__build *k = e->k;
    const rvm__guarding *g = rvm__guarding_at(e, e->control.pc);
    if (!g) return false;
    const rvm__plan *p = g->plan;
    LLVMValueRef list = rvm__local(e, LLVMArrayType2(k->i64, (p->narrays + 1) * sizeof(rvm__array) / 8), "guarded");
    LLVMBasicBlockRef begin = rvm__block(e, "guard"), on = rvm__block(e, "on");
    uint32_t n = 0;
    rvm__settle_erased(e); /* before control parts: one side may exit */
    LLVMBuildCondBr(k->b, some, begin, on);
    rvm__at(e, begin);
    for (uint32_t i = 0; i < p->narrays; i++) {
        const uint16_t array = p->arrays[i];
        if (p->base[array] != array || !rvm__is_asked(p, array)) continue; /* what it is part of tells of it */
        stay_in_place(e, array);
        rvm__describe_array(e, array, rvm__member(e, list, n++ * sizeof(rvm__array)));
    }
    LLVMValueRef args[6] = {e->frame.machine,
                            rvm__known_number(e),
                            LLVMConstInt(k->i32, p->par, false),
                            rvm__slot_value(e, x->to.lo),
                            list,
                            LLVMConstInt(k->i32, n, false)};
    LLVMValueRef begun = rvm__call_runtime(e, "rvm__guard_begin", k->i1, 6, args);
    rvm__exit_if(e, LLVMBuildNot(k->b, begun, ""));
    rvm__inspect(e, x);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    return true;
}

void rvm__guard_instance_at(rvm__emit *e, const rvm__xinsn *x) {
    if (!(x->flags & X_GUARD)) return;
    LLVMValueRef args[2] = {e->frame.machine, rvm__slot_value(e, x->to.i)};
    rvm__call_runtime(e, "rvm__guard_instance", e->k->nothing, 2, args);
}

void rvm__leave_guard(rvm__emit *e, const rvm__xinsn *x) {
    if (x->flags & X_GUARD) rvm__call_runtime(e, "rvm__guard_close", e->k->nothing, 1, &e->frame.machine);
}

/* ---- an instruction within ---- */

/* Whether the array, which is part of no other, is asked for there. */
static bool is_asked_around(const rvm__emit *e, uint16_t root) {
    for (uint32_t k = 0; e->guarded && k < e->f->nparams; k++)
        if (e->guarded & rvm__param_bit(k) && e->f->params[k].ndim && e->f->params[k].index == root) return true;
    for (const rvm__guarding *g = e->block.guards; g; g = g->next)
        if (rvm__is_around(e, g, e->control.pc) && rvm__is_asked(g->plan, root)) return true;
    return false;
}

static void ask(rvm__emit *e, const char *function, LLVMValueRef of, unsigned bits) {
    LLVMValueRef args[3] = {e->frame.machine, of, LLVMConstInt(e->k->i32, bits, false)};
    rvm__exit_if(e, LLVMBuildNot(e->k->b, rvm__call_runtime(e, function, e->k->i1, 3, args), ""));
}

void rvm__guard_accesses(rvm__emit *e, const rvm_insn *in) {
    if (!rvm__is_within_guard(e, e->control.pc)) return;
    RVM__EACH_ACCESS(a, e->u->p, e->f, in) {
        if (!rvm__is_guarded_access(&a) || !is_asked_around(e, rvm__root_of(e->f, a.q))) continue;
        if (a.q->kind == RVM_PLACE_ELEM) {
            ask(e, "rvm__guard_admits", rvm__operand_of(e, a.q, a.k).address, a.bits);
            continue;
        }
        LLVMValueRef whole = rvm__local(e, LLVMArrayType2(e->k->i64, sizeof(rvm__array) / 8), "guarded");
        rvm__describe_array(e, a.q->slot, whole);
        ask(e, "rvm__guard_admits_all", whole, a.bits);
    }
}

uint64_t rvm__guarded_arguments(const rvm__emit *e, const rvm_function *g, const rvm_place *places) {
    uint64_t all = 0;
    for (uint32_t k = 0; k < g->nparams; k++)
        if (places[k].kind == RVM_PLACE_ARRAY && is_asked_around(e, rvm__root_of(e->f, &places[k])))
            all |= rvm__param_bit(k);
    return all;
}

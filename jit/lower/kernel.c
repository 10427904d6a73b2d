/* kernel.c: parallel blocks that may run on a device. Where such a block is entered its job (chunk.c) has a record of the
 * kernel, which jit/device/ defines, and what the kernel's instances take; addresses among that are of the host, and who
 * runs the job knows by the record in which array each is. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "accesses.h"
#include "native.h"
#include "plan.h"
#include "support.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LLVMValueRef number(const rvm__build *k, uint64_t v) {
    return rvm__build_int(k, (int64_t)v);
}

static LLVMValueRef views_of(const rvm__emit *e, const rvm__plan *p) {
    enum { FIELDS = sizeof(rvm__kernel_view) / 8 };
    LLVMValueRef *v = rvm__unit_alloc(e->u, (p->narrays + 1u) * FIELDS * sizeof *v);
    unsigned n = 0;
    if (!v) return NULL;
    for (uint32_t k = 0; k < p->narrays; k++) {
        const uint16_t array = p->arrays[k];
        v[n++] = number(e->k, e->f->arrays[array].ndim);
        v[n++] = number(e->k, rvm__plan_index(p, p->base[array]));
        const unsigned bits = p->bits[p->base[array]];
        v[n++] = number(e->k, (bits & RVM__BITS_OWN) | (bits & RVM__SUMMED ? RVM__KERNEL_BY_CHUNKS : 0));
        v[n++] = number(e->k, e->f->arrays[array].type);
    }
    return LLVMConstArray2(e->k->i64, v, n);
}

/* What the instance takes, argument by argument, as rvm__pass_to_instance has it. */
static void describe(const rvm__emit *e, const rvm__plan *p, const rvm__instance *o, rvm__block_kernel *to) {
    rvm__block_arg *a = to->args;
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (rvm__takes_register(o, k)) *a++ = (rvm__block_arg){.view = RVM__KERNEL_VALUE};
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!o->array[k]) continue;
        const int ndim = e->f->arrays[k].ndim;
        *a++ = (rvm__block_arg){.view = (int32_t)rvm__plan_index(p, (uint16_t)k),
                                .root = (int32_t)rvm__plan_index(p, p->base[k]),
                                .shared = e->block.conflicts[k],
                                .summed = p->bits[p->base[k]] & RVM__SUMMED,
                                .own = (p->bits[p->base[k]] & RVM__BITS_OWN) == RVM__BITS_OWN,
                                .read = (p->bits[p->base[k]] & RVM__BITS_OWN) == RVM__BITS_READ};
        for (int d = 0; d < 2 * ndim; d++) *a++ = (rvm__block_arg){.view = RVM__KERNEL_VALUE};
        a[-1].known = true; /* the innermost stride, which is looked at before */
        a[-1].constant = sizeof(rvm_value);
    }
    to->nargs = (uint32_t)(a - to->args);
}

static unsigned number_of(LLVMValueRef instance) {
    size_t length;
    return (unsigned)strtoul(LLVMGetValueName2(instance, &length) + strlen(RVM__INSTANCE), NULL, 10);
}

/* Its instance's function is declared with what conflicts, whoever calls it. */
static bool declare(rvm__emit *e, rvm__instance *o, uint32_t pc) {
    uint32_t first, last;
    bool any;
    rvm__body_of(e, pc, &first, &last);
    const bool known = rvm__find_array_conflicts(e, first, last, o->x->to.i, &any);
    return rvm__pass_to_instance(o, LLVMConstNull(e->k->ptr), rvm__build_int(e->k, 0)) && known &&
           rvm__declare_instance(o, pc);
}

/* The kernel of a block that is entered so, wherever it is entered. */
static rvm__block_kernel *known_kernel(const rvm__build *k, unsigned instance) {
    for (rvm__block_kernel *one = k->kernels; one; one = one->next)
        if (one->instance == instance) return one;
    return NULL;
}

static rvm__block_kernel *new_kernel(rvm__emit *e, const rvm__plan *p, const rvm__instance *o) {
    rvm__build *k = e->k;
    const size_t size = sizeof(rvm__block_kernel) + o->n * sizeof(rvm__block_arg);
    rvm__block_kernel *to = rvm__realloc(k->al, NULL, 0, size);
    char name[40];
    if (!to) return rvm__out_of_memory(e->u), NULL;
    snprintf(name, sizeof name, "rvm.kernel.%u", k->nkernels++);
    *to = (rvm__block_kernel){.next = k->kernels,
                              .size = size,
                              .views = views_of(e, p),
                              .record = LLVMAddGlobal(k->module, k->i64, name),
                              .instance = number_of(o->function),
                              .nested = RVM__NO_INSTANCE,
                              .sums = o->x->to.shared,
                              .ascending = rvm__is_ascending(e, o->x),
                              .work = p->work,
                              .line = e->f->positions[p->par].line,
                              .nviews = p->narrays};
    for (unsigned n = 0; n < to->sums; n++) to->sum_types[n] = e->code->shared[(uint32_t)o->x->to.jump2 + n].type;
    describe(e, p, o, to);
    return k->kernels = to;
}

/* With blocks within it is made a second time, for a CTA to each instance. */
static void add_nested(rvm__emit *e, rvm__block_kernel *to) {
    rvm__instance *o = rvm__has_blocks_within(e, e->control.pc) ? rvm__instance_of(e, e->control.pc) : NULL;
    if (!o) return;
    o->nested = true;
    if (declare(e, o, e->control.pc)) to->nested = number_of(o->function);
}

/* ---- what has an order of its own, strictly ---- */

enum { MOST_DEEP = 16 };

/* Whether the register of fn, a parameter, is a sum of a block in fn, or in what fn passes it to. */
static bool is_block_sum(const rvm__unit *u, uint32_t fn, uint16_t slot, unsigned depth) {
    const rvm__code *code = &u->m->codes[fn];
    if (depth == MOST_DEEP) return true;
    RVM__EACH_INSN(x, &u->p->functions[fn]) {
        const rvm__xinsn *at = &code->x[x.pc];
        for (uint32_t k = 0; x.in->op == RVM_OP_par && k < at->to.shared; k++)
            if (code->shared[(uint32_t)at->to.jump2 + k].slot == slot) return true;
        RVM__EACH_CALLEE(g, u->p, x.in) {
            const rvm_callee to = rvm__callee_of(u->p, x.in);
            const rvm_function *f = &u->p->functions[g];
            for (uint32_t k = 0; k < f->nparams; k++)
                if (x.q[to.first + k].kind == RVM_PLACE_SLOT && x.q[to.first + k].slot == slot && !f->params[k].ndim &&
                    f->params[k].role == RVM_ACC && is_block_sum(u, g, f->params[k].index, depth + 1))
                    return true;
        }
    }
    return false;
}

/* Whether an element, of whatever array, is passed to what is such a sum, from instruction `first` to `last` of fn. */
static bool passes_to_block(const rvm__unit *u, uint32_t fn, uint32_t first, uint32_t last, unsigned depth) {
    if (depth == MOST_DEEP) return true;
    RVM__EACH_INSN_IN(x, &u->p->functions[fn], first, last + 1)
        RVM__EACH_CALLEE(g, u->p, x.in) {
            const rvm_callee to = rvm__callee_of(u->p, x.in);
            const rvm_function *f = &u->p->functions[g];
            for (uint32_t k = 0; k < f->nparams; k++)
                if (x.q[to.first + k].kind == RVM_PLACE_ELEM && f->params[k].role == RVM_ACC &&
                    rvm__is_floating((rvm_type)f->params[k].type) && is_block_sum(u, g, f->params[k].index, 0))
                    return true;
            if (f->ncode && passes_to_block(u, g, 0, f->ncode - 1, depth + 1)) return true;
        }
    return false;
}

/* Whether what an instance calls adds chunk by chunk to elements that others add into, too: these are not its own to put
 * aside. */
static bool shares_chunks(const rvm__emit *e, uint32_t first, uint32_t last) {
    RVM__EACH_INSN_IN(x, e->f, first, last + 1)
        RVM__EACH_CALLEE(g, e->u->p, x.in) {
            const rvm_place *q = x.q + rvm__callee_of(e->u->p, x.in).first;
            if (e->u->summaries[g].sums && rvm__conflicting_arguments(e, &e->u->p->functions[g], q)) return true;
        }
    return false;
}

/* Where there is but one instance, which meets no other, what it adds is summed all the same before it is added. */
static bool sums_for_itself(rvm__emit *e, const rvm__plan *p, uint32_t first, uint32_t last) {
    bool any;
    if (!rvm__find_array_conflicts(e, first, last, e->code->x[e->control.pc].to.i, &any)) return false;
    for (uint32_t k = 0; k < p->narrays; k++)
        if (p->bits[p->base[p->arrays[k]]] & RVM__SUMMED && !e->block.conflicts[p->arrays[k]]) return true;
    return false;
}

static const char *why_ordered(rvm__emit *e, const rvm__plan *p) {
    uint32_t first, last;
    rvm__body_of(e, e->control.pc, &first, &last);
    if (e->k->fast) return NULL;
    if (sums_for_itself(e, p, first, last)) return "it has one instance, whose additions are summed before";
    if (passes_to_block(e->u, e->fn, first, last, 0))
        return "a block within adds to an element that it is given as a scalar, in an order of its own unless math is fast";
    if (shares_chunks(e, first, last)) return "what it calls adds chunk by chunk to elements that other instances add into";
    return NULL;
}

rvm__block_kernel *rvm__kernel_of(rvm__emit *e, const rvm__plan *p, LLVMValueRef *params) {
    const uint32_t pc = e->control.pc, line = e->f->positions[p->par].line;
    rvm__build *k = e->k;
    rvm__block_kernel *made = NULL;
    const char *why = p->why ? p->why : p->guarded ? "roles in it are enforced while it runs" : NULL;
    if (!e->u->w->unchecked) why = "its code is checked, and kernels are of unchecked code alone";
    if (!why && !rvm__is_instance(e, pc)) why = "what it calls, or a trail that it keeps, is the machine's";
    if (!why) why = why_ordered(e, p);
    rvm__instance *o = why ? NULL : rvm__instance_of(e, pc);
    if (o && o->x->to.shared <= RVM__MOST_KERNEL_SUMS && declare(e, o, pc))
        made = known_kernel(k, number_of(o->function));
    else if (!why)
        why = "it uses too much of what is around it, or adds into elements of f32";
    if (o && !why && !made && (made = new_kernel(e, p, o))) add_nested(e, made);
    e->block.conflicts = NULL;
    if (why) rvm__stays_on_host(k, line, why);
    if (!made) return NULL;
    *params = rvm__local(e, LLVMArrayType2(k->i64, o->n), "params");
    const unsigned fixed = RVM__VECTORISED_SUMS + made->sums;
    for (unsigned n = fixed; n < o->n; n++)
        rvm__put_at(e, o->args[n], rvm__member(e, *params, (n - fixed) * sizeof(uint64_t)));
    return made;
}

/* instance.c: an instance of a parallel block as a function of IR: what it takes. Its body waits until the code around it
 * has been emitted (instance_body.c).
 *
 *     rvm_instance.N(machine, frame, out, index, sums .., registers .., (data, lengths, strides) of arrays ..)
 *
 * With checks the address of an array's largest magnitude, or NULL, follows its strides, and the largest magnitudes of the
 * sums the counts in out.
 *
 * It counts into out, and adds into partial sums of the registers that instances add into. Where others take
 * a side exit it bails out; where instances may add to the same element (an array that is added into, of which the verifier
 * has not proved that they do not, and not only at the block's index in one dimension) that array *conflicts*, and each
 * addition is a call of RVM__ADD. Whoever runs instances says what these calls do: groups.c makes groups of lanes of it.
 */
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "accesses.h"

static void find_arrays(rvm__instance *o, uint32_t first, uint32_t last) {
    const rvm_function *f = o->outer->f;
    RVM__EACH_INSN_IN(x, f, first, last + 1)
        RVM__EACH_ACCESS(a, o->outer->u->p, f, x.in)
            if (a.array) o->array[a.q->slot] = 1;
    RVM__EACH_INSN_IN(x, f, first, last + 1)
        if (rvm__op_names_array((rvm_op)x.in->op)) o->array[x.q->slot] = 0;
}

static void add(rvm__instance *o, LLVMValueRef v) {
    if (o->n < RVM__MOST_VECTORISED_ARGS) o->args[o->n] = v;
    o->n++;
}

rvm__instance *rvm__instance_of(rvm__emit *e, uint32_t pc) {
    rvm__instance *o = rvm__unit_alloc(e->u, sizeof *o);
    uint32_t first, last;
    rvm__body_of(e, pc, &first, &last);
    if (!o) return NULL;
    *o = (rvm__instance){.outer = e, .x = &e->code->x[pc], .bits = rvm__unit_alloc(e->u, e->f->nregs + 1u)};
    o->array = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    if (!o->bits || !o->array) return NULL;
    rvm__block_registers(e->u->p, e->f, first - 1, o->bits);
    find_arrays(o, first, last);
    return o;
}

static bool is_alone(const rvm__instance *o, uint16_t array) {
    const rvm__emit *e = o->outer;
    for (uint32_t k = 0; k < e->f->narrays; k++)
        if (o->array[k] && k != array && rvm__base_of(e, (uint16_t)k, e->control.pc) == array) return false;
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (e->f->params[k].ndim && e->f->params[k].index == array) return rvm__is_apart(&e->f->params[k], e->apart);
    return false;
}

static bool is_far(const rvm__emit *e, uint32_t array) {
    bool far = false;
    for (uint32_t k = 0; k < e->f->nparams && k < 64 && e->fn == e->u->w->fn; k++)
        far |= e->f->params[k].ndim && e->f->params[k].index == array && e->u->w->far >> k & 1;
    return far;
}

bool rvm__pass_to_instance(rvm__instance *o, LLVMValueRef out, LLVMValueRef index) {
    rvm__emit *e = o->outer;
    LLVMValueRef fixed[4] = {e->frame.machine, e->frame.number, out, index};
    for (int k = 0; k < 4; k++) add(o, fixed[k]);
    for (uint32_t k = 0; k < o->x->to.shared; k++) add(o, rvm__partial_sum(e, o->x, k, index));
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (rvm__takes_register(o, k))
            add(o, rvm__get(e, rvm__build_type(e->k, (rvm_type)e->f->reg_type[k]), e->frame.reg[k]));
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!o->array[k]) continue;
        if (o->n < RVM__MOST_VECTORISED_ARGS) {
            o->apart[o->n] = is_alone(o, (uint16_t)k);
            o->met[o->n] = o->meets && o->meets[k];
            o->far[o->n] = is_far(e, k);
            o->summed[o->n] = rvm__is_summed(e, o->x, (uint16_t)k);
        }
        add(o, rvm__get(e, e->k->ptr, e->frame.array[k].data));
        for (int d = 0; d < e->f->arrays[k].ndim; d++) add(o, rvm__dimension(e, (uint16_t)k, d));
        for (int d = 0; d < e->f->arrays[k].ndim; d++) add(o, rvm__stride(e, (uint16_t)k, d));
        if (e->frame.array[k].magnitude) add(o, rvm__get(e, e->k->ptr, e->frame.array[k].magnitude));
    }
    return o->n <= RVM__MOST_VECTORISED_ARGS;
}

static void say(const rvm__instance *o, LLVMValueRef f, unsigned param, const char *name) {
    LLVMAddAttributeAtIndex(f, 1 + param,
                            LLVMCreateStringAttribute(o->outer->k->context, name, (unsigned)strlen(name), "", 0));
}

static LLVMValueRef declare(rvm__instance *o) {
    rvm__build *k = o->outer->k;
    LLVMTypeRef t[RVM__MOST_VECTORISED_ARGS];
    char name[40];
    for (unsigned n = 0; n < o->n; n++) t[n] = LLVMTypeOf(o->args[n]);
    o->type = LLVMFunctionType(k->i32, t, o->n, false);
    snprintf(name, sizeof name, RVM__INSTANCE "%u", k->instances++);
    LLVMValueRef f = LLVMAddFunction(k->module, name, o->type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    rvm__attribute(k, f, -1, "nounwind", 0);
    rvm__attribute(k, f, -1, "noinline", 0);
    for (unsigned n = 0; n < o->x->to.shared + 1u; n++) {
        const unsigned at = n ? RVM__VECTORISED_SUMS + n - 1 : RVM__VECTORISED_OUT;
        say(o, f, at, RVM__PRIVATE);
    }
    for (unsigned n = 0; n < o->n; n++) {
        if (o->apart[n]) rvm__attribute(k, f, (int)n, "noalias", 0);
        if (o->met[n]) say(o, f, n, RVM__MEETING);
        if (o->far[n]) say(o, f, n, RVM__FAR);
        if (o->summed[n]) say(o, f, n, RVM__BY_CHUNKS);
    }
    return f;
}

/* With all that the body is to know of the code around. */
static void begin_body(rvm__instance *o, uint32_t pc) {
    const rvm__emit *outer = o->outer;
    o->dir = outer->control.context->dir;
    o->first = pc + (uint32_t)o->dir;
    o->body = (rvm__emit){.u = outer->u,
                          .k = outer->k,
                          .f = outer->f,
                          .code = outer->code,
                          .fn = outer->fn,
                          .dir = outer->dir,
                          .apart = outer->apart,
                          .whole = outer->whole,
                          .discards = outer->discards,
                          .fresh = outer->fresh && outer->control.context->dir > 0 && !outer->control.context->parent,
                          .vectorised = true,
                          .nested = o->nested,
                          .block.ends = outer->f->code[pc].target,
                          .block.conflicts = outer->block.conflicts,
                          .function = o->function};
    o->later = outer->u->instances;
    outer->u->instances = o;
}

/* One function serves all copies of the block that run in the same direction. */
bool rvm__declare_instance(rvm__instance *o, uint32_t pc) {
    rvm__emit *outer = o->outer;
    LLVMValueRef **made = &outer->block.instances[o->nested];
    if (!*made && !(*made = rvm__unit_alloc(outer->u, outer->f->ncode * sizeof **made))) return false;
    if ((o->function = (*made)[pc])) {
        o->type = LLVMGlobalGetValueType(o->function);
        return true;
    }
    o->function = (*made)[pc] = declare(o);
    begin_body(o, pc);
    return true;
}

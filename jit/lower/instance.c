/* instance.c: an instance of a parallel block as a function of IR, and the place that runs some at once.
 *
 *     rvm_instance.N(machine, frame, out, index, sums .., registers .., (data, lengths, strides) of arrays ..)
 *
 * lanes.c makes a group of it, which takes the same and the index of its first lane; out is then what each lane
 * counted, sums their partial sums of a register that instances add into. A group is a run of instances whose numbers
 * within the block begin at a multiple of their count, 8 or 4, so that their partial sums stand side by side. What is left
 * at both ends runs as before, instance after instance; so does a group that bails out: where others leave to the
 * interpreter it takes back what it did and returns 1. Then the single instances leave, if they still do, at the right
 * place.
 *
 * In lanes go blocks of unchecked code without recursion, function values, the stack and trails that are kept. Where
 * instances may add to the same element (an array that is added into, but not only at the block's index in one dimension)
 * the order counts: such an array *conflicts*, and each addition is a call of RVM__ADD that lanes.c knows. Where the order
 * is free (k->fast), lanes are summed first; else order.c looks whether lanes can keep it.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"
#include "lanes.h"
#include "accesses.h"

/* ---- which blocks ---- */

static bool calls_are_plain(const rvm__emit *e, uint32_t first, uint32_t last) {
    RVM__EACH_INSN_IN(x, e->f, first, last + 1) {
        if (x.in->op >> 1 == RVM_PAIR_calli) return false;
        if (x.in->op >> 1 != RVM_PAIR_call) continue;
        const rvm__summary *g = &e->u->summaries[x.in->target];
        if (g->recursive || g->by_value || g->size > RVM__MOST_VECTORISED) return false;
    }
    return true;
}

static void body_of(const rvm__emit *e, uint32_t pc, uint32_t *first, uint32_t *last) {
    const uint32_t other = e->f->code[pc].target;
    *first = (pc < other ? pc : other) + 1;
    *last = (pc < other ? other : pc) - 1;
}

bool rvm__goes_in_lanes(rvm__emit *e, uint32_t pc) {
    const rvm__xinsn *x = &e->code->x[pc];
    const rvm__lowering *w = e->u->w;
    uint32_t first, last;
    if (!w->lanes || !w->unchecked || w->standalone || w->lines || e->vectorised || x->flags & X_GUARD) return false;
    body_of(e, pc, &first, &last);
    return first <= last && calls_are_plain(e, first, last) && !rvm__is_tracked(e, first - 1, last + 1);
}

/* ---- the function ---- */

typedef struct instance {
    rvm__emit *outer;
    rvm__emit e;
    const rvm__xinsn *x;
    uint8_t *bits;  /* by register, as rvm__block_registers has them */
    uint8_t *array; /* by array: it comes from outside */
    LLVMValueRef args[RVM__MOST_VECTORISED_ARGS];
    bool apart[RVM__MOST_VECTORISED_ARGS]; /* arguments that are arrays which nothing else is part of */
    unsigned n;
    unsigned lanes;     /* of a group of them */
    char order;         /* in which elements gain, '+' or '-'; 0: it is free */
    LLVMValueRef asked; /* i32: 0 before it is known whether a group keeps the order, 1 if so, else 2 */
    LLVMTypeRef type;
} instance;

static void find_arrays(instance *o, uint32_t first, uint32_t last) {
    const rvm_function *f = o->outer->f;
    RVM__EACH_INSN_IN(x, f, first, last + 1)
        RVM__EACH_ACCESS(a, o->outer->u->p, f, x.in)
            if (a.array) o->array[a.q->slot] = 1;
    RVM__EACH_INSN_IN(x, f, first, last + 1)
        if (rvm__op_names_array((rvm_op)x.in->op)) o->array[x.q->slot] = 0;
}

static bool is_register(const instance *o, uint32_t k) {
    return o->bits[k] == RVM__BITS_READ && k != o->x->to.i;
}

static void add(instance *o, LLVMValueRef v) {
    if (o->n < RVM__MOST_VECTORISED_ARGS) o->args[o->n] = v;
    o->n++;
}

static bool is_alone(const instance *o, uint16_t array) {
    const rvm__emit *e = o->outer;
    for (uint32_t k = 0; k < e->f->narrays; k++)
        if (o->array[k] && k != array && rvm__base_of(e, (uint16_t)k, e->pc) == array) return false;
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (e->f->params[k].ndim && e->f->params[k].index == array) return rvm__is_apart(&e->f->params[k], e->apart);
    return false;
}

/* The partial sum, of the k-th register that instances add into, of the instance with that index. */
static LLVMValueRef part_of(rvm__emit *e, const rvm__xinsn *x, uint32_t k, LLVMValueRef index) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef n = LLVMBuildSub(b, index, rvm__slot_value(e, x->to.lo), "");
    n = LLVMBuildAnd(b, n, rvm__build_int(e->k, RVM__MOST_GROUP - 1), "");
    n = LLVMBuildNSWMul(b, n, rvm__build_int(e->k, sizeof(rvm_value)), "");
    return LLVMBuildInBoundsGEP2(b, e->k->i8, e->reg[x->to.hidden + RVM__SUMS * k + 1], &n, 1, "");
}

/* What is passed, in order; out and the index are the caller's. */
static void gather(instance *o, LLVMValueRef out, LLVMValueRef index) {
    rvm__emit *e = o->outer;
    LLVMValueRef fixed[4] = {e->machine, e->frame, out, index};
    for (int k = 0; k < 4; k++) add(o, fixed[k]);
    for (uint32_t k = 0; k < o->x->to.shared; k++) add(o, part_of(e, o->x, k, index));
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (is_register(o, k)) add(o, rvm__get(e, rvm__build_type(e->k, (rvm_type)e->f->reg_type[k]), e->reg[k]));
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!o->array[k]) continue;
        if (o->n < RVM__MOST_VECTORISED_ARGS) o->apart[o->n] = is_alone(o, (uint16_t)k);
        add(o, rvm__get(e, e->k->ptr, e->array[k].data));
        for (int d = 0; d < e->f->arrays[k].ndim; d++) add(o, rvm__dimension(e, (uint16_t)k, d));
        for (int d = 0; d < e->f->arrays[k].ndim; d++) add(o, rvm__stride(e, (uint16_t)k, d));
    }
}

static LLVMValueRef declare(instance *o) {
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
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(k->context, RVM__LANES, strlen(RVM__LANES), &"48"[o->lanes > 4], 1));
    if (o->order)
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(k->context, RVM__ORDERED, strlen(RVM__ORDERED), &o->order, 1));
    for (unsigned n = 0; n < o->x->to.shared + 1u; n++) {
        const unsigned at = n ? RVM__VECTORISED_SUMS + n - 1 : RVM__VECTORISED_OUT;
        LLVMAddAttributeAtIndex(f, 1 + at, LLVMCreateStringAttribute(k->context, RVM__PRIVATE, strlen(RVM__PRIVATE), "", 0));
    }
    for (unsigned n = 0; n < o->n; n++)
        if (o->apart[n]) rvm__attribute(k, f, (int)n, "noalias", 0);
    return f;
}

/* Registers and arrays of the instance have what was passed. */
static void bind(instance *o) {
    rvm__emit *e = &o->e;
    unsigned at = RVM__VECTORISED_SUMS;
    for (uint32_t k = 0; k < o->x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)o->x->to.jump2 + k];
        rvm__put_at(e, rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), LLVMGetParam(e->function, at++)),
                    e->reg[s->slot]);
    }
    for (uint32_t k = 0; k < e->f->nregs; k++)
        if (is_register(o, k)) rvm__put_at(e, LLVMGetParam(e->function, at++), e->reg[k]);
    rvm__put_at(e, LLVMGetParam(e->function, RVM__VECTORISED_INDEX), e->reg[o->x->to.i]);
    for (uint32_t k = 0; k < e->f->narrays; k++) {
        if (!o->array[k]) continue;
        rvm__put_at(e, LLVMGetParam(e->function, at++), e->array[k].data);
        for (int d = 0; d < e->f->arrays[k].ndim; d++) rvm__put_at(e, LLVMGetParam(e->function, at++), e->array[k].dim[d]);
        for (int d = 0; d < e->f->arrays[k].ndim; d++)
            rvm__put_at(e, LLVMGetParam(e->function, at++), e->array[k].stride[d]);
        rvm__put_at(e, LLVMConstInt(e->k->i8, 1, false), e->array[k].present);
    }
    rvm__know_lengths(e);
}

static const size_t counted[RVM__VECTORISED_COUNTS] = {offsetof(rvm__native, charged), offsetof(rvm__native, calls),
                                                       offsetof(rvm__native, peak), offsetof(rvm__native, erased),
                                                       offsetof(rvm__native, erased) + 8};

static void make_native(rvm__emit *e) {
    LLVMValueRef n = rvm__local(e, LLVMArrayType2(e->k->i64, sizeof(rvm__native) / 8), "native");
    e->native = n;
    for (int k = 0; k < RVM__VECTORISED_COUNTS; k++) rvm__put_at(e, rvm__build_int(e->k, 0), rvm__member(e, n, counted[k]));
    rvm__begin_counts(e);
}

static void finish(instance *o) {
    rvm__emit *e = &o->e;
    rvm__at(e, e->done);
    rvm__end_counts(e);
    for (uint32_t k = 0; k < o->x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)o->x->to.jump2 + k];
        LLVMValueRef v = rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), e->reg[s->slot]);
        rvm__put_at(e, v, LLVMGetParam(e->function, RVM__VECTORISED_SUMS + k));
    }
    for (size_t k = 0; k < RVM__VECTORISED_COUNTS; k++)
        rvm__put_at(e, rvm__get(e, e->k->i64, rvm__member(e, e->native, counted[k])),
                    rvm__member(e, LLVMGetParam(e->function, RVM__VECTORISED_OUT), k * sizeof(int64_t)));
    LLVMTypeRef none = LLVMFunctionType(e->k->i32, NULL, 0, false);
    LLVMValueRef f = LLVMGetNamedFunction(e->k->module, RVM__RESULT);
    if (!f) f = LLVMAddFunction(e->k->module, RVM__RESULT, none);
    LLVMBuildRet(e->k->b, LLVMBuildCall2(e->k->b, none, f, NULL, 0, ""));
    rvm__frame_close(e);
}

/* The builder stands where it stood. One function serves all copies of the block that run in the same direction. */
static void emit(instance *o, uint32_t pc) {
    rvm__emit *outer = o->outer, *e = &o->e;
    if (!outer->instance && !(outer->instance = rvm__unit_alloc(outer->u, outer->f->ncode * sizeof *outer->instance)))
        return;
    if ((e->function = outer->instance[pc])) {
        o->type = LLVMGlobalGetValueType(e->function);
        return;
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(outer->k->b);
    *e = (rvm__emit){.u = outer->u,
                     .k = outer->k,
                     .f = outer->f,
                     .code = outer->code,
                     .fn = outer->fn,
                     .dir = outer->dir,
                     .apart = outer->apart,
                     .deep = outer->deep,
                     .vectorised = true,
                     .ends = outer->f->code[pc].target,
                     .conflicts = outer->conflicts,
                     .function = declare(o)};
    e->machine = LLVMGetParam(e->function, 0);
    e->frame = LLVMGetParam(e->function, 1);
    e->first_slot = e->first_array = rvm__build_int(e->k, 0);
    if (rvm__frame_make(e)) {
        make_native(e);
        bind(o);
        LLVMBasicBlockRef first = rvm__block(e, "first");
        LLVMBuildBr(e->k->b, first);
        rvm__walk_from(e, first, pc + (uint32_t)outer->context->dir, outer->context->dir);
        if (!e->u->status) finish(o); /* else blocks were left open */
    }
    outer->instance[pc] = e->function;
    rvm__at(outer, here);
}

/* ---- where it is called ---- */

static LLVMValueRef reduced(const instance *o, LLVMValueRef out, int which) {
    rvm__emit *e = o->outer;
    rvm__build *k = e->k;
    LLVMValueRef sum = NULL;
    for (size_t n = 0; n < o->lanes; n++) {
        LLVMValueRef v = rvm__get(e, k->i64, rvm__member(e, out, ((size_t)which * o->lanes + n) * 8));
        if (sum && which == RVM__VECTORISED_PEAK)
            sum = LLVMBuildSelect(k->b, LLVMBuildICmp(k->b, LLVMIntUGT, v, sum, ""), v, sum, "");
        else
            sum = sum ? LLVMBuildAdd(k->b, sum, v, "") : v;
    }
    return sum;
}

static void increase(rvm__emit *e, LLVMValueRef counter, LLVMValueRef by) {
    rvm__put_at(e, LLVMBuildAdd(e->k->b, rvm__get(e, e->k->i64, counter), by, ""), counter);
}

static void count(const instance *o, LLVMValueRef out, LLVMValueRef cost) {
    rvm__emit *e = o->outer;
    rvm__build *k = e->k;
    LLVMValueRef charged = LLVMBuildAdd(k->b, reduced(o, out, RVM__VECTORISED_CHARGED), rvm__build_int(k, o->lanes - 1), "");
    LLVMValueRef frames = LLVMBuildAdd(k->b, e->frame, rvm__build_int(k, 1), ""), was = rvm__get(e, k->i64, e->below);
    LLVMValueRef below = LLVMBuildSub(k->b, reduced(o, out, RVM__VECTORISED_PEAK), frames, "");
    rvm__put_at(e, charged, cost);
    increase(e, e->charged, charged);
    increase(e, e->calls, reduced(o, out, RVM__VECTORISED_CALLS));
    for (int n = 0; n < 2; n++) increase(e, e->erased[n], reduced(o, out, RVM__VECTORISED_ERASED + n));
    rvm__put_at(e, LLVMBuildSelect(k->b, LLVMBuildICmp(k->b, LLVMIntUGT, below, was, ""), below, was, ""), e->below);
}

/* Registers that instances add into, and their partial sums: the one of the instance with that index is in the register. */
static void move_sums(rvm__emit *e, const rvm__xinsn *x, LLVMValueRef index, bool out) {
    for (uint32_t k = 0; k < x->to.shared; k++) {
        const rvm__shared *s = &e->code->shared[(uint32_t)x->to.jump2 + k];
        LLVMValueRef part = part_of(e, x, k, index), place = e->reg[s->slot];
        rvm__put_at(e, rvm__get(e, rvm__build_type(e->k, (rvm_type)s->type), out ? place : part), out ? part : place);
    }
}

/* Whether a whole group begins with the next instance, and there is fuel for as much as the last one took. */
static LLVMValueRef may_group(const instance *o, uint32_t pc, bool up, LLVMValueRef cost) {
    rvm__emit *e = o->outer;
    const rvm__xinsn *x = o->x;
    rvm__build *k = e->k;
    LLVMValueRef lo = rvm__slot_value(e, x->to.lo), hi = rvm__slot_value(e, x->to.hi), at = rvm__slot_value(e, x->to.i);
    LLVMValueRef n = LLVMBuildSub(k->b, at, lo, ""), last = rvm__build_int(k, o->lanes - 1);
    LLVMValueRef part = LLVMBuildAnd(k->b, n, last, "");
    LLVMValueRef whole = LLVMBuildICmp(k->b, LLVMIntEQ, part, up ? rvm__build_int(k, 0) : last, "");
    LLVMValueRef behind = up ? LLVMBuildSub(k->b, hi, at, "") : LLVMBuildAdd(k->b, n, rvm__build_int(k, 1), "");
    if (e->block == pc && pc) /* the last one of the chunk has a number of its own */
        behind = LLVMBuildAdd(k->b, up ? LLVMBuildSub(k->b, e->last, n, "") : LLVMBuildSub(k->b, n, e->last, ""),
                              rvm__build_int(k, 1), "");
    LLVMValueRef left = LLVMBuildICmp(k->b, LLVMIntUGT, behind, last, "");
    LLVMValueRef fuel = rvm__get(e, k->i64, rvm__member(e, e->native, offsetof(rvm__native, fuel)));
    LLVMValueRef then = LLVMBuildAdd(k->b, rvm__get(e, k->i64, e->charged), rvm__get(e, k->i64, cost), "");
    whole = LLVMBuildAnd(k->b, whole, left, "");
    return LLVMBuildAnd(k->b, whole, LLVMBuildICmp(k->b, LLVMIntSLE, then, fuel, ""), "");
}

/* Before the first group of a block: whether lanes keep the order of sums. */
static void ask_for_order(instance *o, LLVMBasicBlockRef single) {
    rvm__emit *e = o->outer;
    rvm__build *k = e->k;
    LLVMValueRef one = LLVMConstInt(k->i32, 1, false), zero = LLVMConstNull(k->i32);
    char name[40];
    size_t length;
    snprintf(name, sizeof name, RVM__ORDER "%s", LLVMGetValueName2(o->e.function, &length) + strlen(RVM__INSTANCE));
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name);
    if (!f) f = LLVMAddFunction(k->module, name, o->type);
    LLVMBasicBlockRef ask = rvm__block(e, "ask"), known = rvm__block(e, "known"), go = rvm__block(e, "go");
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, rvm__get(e, k->i32, o->asked), zero, ""), ask, known);
    rvm__at(e, ask);
    LLVMValueRef differs = LLVMBuildCall2(k->b, o->type, f, o->args, o->n, "");
    rvm__put_at(e, LLVMBuildAdd(k->b, differs, one, ""), o->asked);
    LLVMBuildBr(k->b, known);
    rvm__at(e, known);
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntEQ, rvm__get(e, k->i32, o->asked), one, ""), go, single);
    rvm__at(e, go);
}

/* The run ends in the middle of a group. */
static void end_adrift(rvm__emit *e, uint32_t pc, LLVMBasicBlockRef never) {
    LLVMValueRef args[2] = {e->machine, e->native};
    rvm__native_site site = rvm__site_here(e);
    rvm__call_runtime(e, "rvm__native_adrift", e->k->nothing, 2, args);
    site.pc = pc + (uint32_t)e->context->dir;
    rvm__exit_at(e, LLVMConstInt(e->k->i1, 1, false), site, 0);
    LLVMBuildBr(e->k->b, never);
}

static void run_group(rvm__emit *e, instance *o, uint32_t pc, bool up, LLVMBasicBlockRef single, LLVMValueRef out,
                      LLVMValueRef cost) {
    rvm__build *k = e->k;
    const rvm__xinsn *x = o->x;
    LLVMBasicBlockRef done = rvm__block(e, "group.done");
    LLVMValueRef at = rvm__slot_value(e, x->to.i), others = rvm__build_int(k, o->lanes - 1);
    LLVMValueRef last = up ? LLVMBuildAdd(k->b, at, others, "") : LLVMBuildSub(k->b, at, others, "");
    move_sums(e, x, at, true);
    gather(o, out, up ? at : last);
    if (o->n > RVM__MOST_VECTORISED_ARGS) {
        LLVMBuildBr(k->b, single);
        rvm__at(e, done);
        LLVMBuildBr(k->b, single);
        return;
    }
    emit(o, pc);
    if (!o->e.function) return;
    if (o->order) ask_for_order(o, single);
    LLVMValueRef left = LLVMBuildCall2(k->b, o->type, o->e.function, o->args, o->n, "");
    LLVMBasicBlockRef adrift = rvm__block(e, "adrift");
    LLVMValueRef choice = LLVMBuildSwitch(k->b, left, single, 2);
    LLVMAddCase(choice, LLVMConstInt(k->i32, RVM__GROUP_DONE, false), done);
    LLVMAddCase(choice, LLVMConstInt(k->i32, RVM__GROUP_ADRIFT, false), adrift);
    rvm__at(e, adrift);
    end_adrift(e, pc, single);
    rvm__at(e, done);
    count(o, out, cost);
    move_sums(e, x, last, false);
    rvm__set_slot(e, x->to.i, last);
    rvm__jump(e, e->context, e->f->code[pc].target - (uint32_t)e->context->dir, false);
}

/* A block that goes on with a group, if it can, or with one instance. */
static LLVMBasicBlockRef start_block(rvm__emit *e, uint32_t pc) {
    rvm__build *k = e->k;
    instance *o = rvm__unit_alloc(e->u, sizeof *o);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b), start = rvm__block(e, "start");
    LLVMBasicBlockRef single = rvm__block(e, "single");
    uint32_t first, last;
    bool conflicts = false;
    body_of(e, pc, &first, &last);
    rvm__at(e, start);
    if (!o) return start;
    *o = (instance){.outer = e, .x = &e->code->x[pc], .bits = rvm__unit_alloc(e->u, e->f->nregs + 1u)};
    o->array = rvm__unit_alloc(e->u, e->f->narrays + 1u);
    if (!o->bits || !o->array) return start;
    const bool known = rvm__survey_conflicts(e, first, last, o->x->to.i, &conflicts);
    const bool up = (e->context->dir > 0) != ((o->x->flags & X_REVERSED) != 0);
    o->lanes = conflicts ? RVM__MOST_GROUP : k->group; /* more lanes, fewer sums over them */
    o->order = !conflicts || k->fast ? 0 : up ? '+' : '-';
    if (!known)
        LLVMBuildBr(k->b, single);
    else {
        o->asked = e->asked[pc] = rvm__local(e, k->i32, "asked");
        LLVMValueRef out = rvm__local(e, LLVMArrayType2(k->i64, RVM__VECTORISED_COUNTS * RVM__MOST_GROUP), "counted");
        LLVMValueRef cost = rvm__local(e, k->i64, "cost");
        rvm__at(e, e->entry);
        rvm__put_at(e, rvm__build_int(k, 0), cost);
        rvm__put_at(e, LLVMConstNull(k->i32), o->asked); /* the block may have been entered by on-stack replacement */
        rvm__at(e, start);
        rvm__block_registers(e->u->p, e->f, first - 1, o->bits);
        find_arrays(o, first, last);
        LLVMBasicBlockRef group = rvm__block(e, "group");
        LLVMBuildCondBr(k->b, may_group(o, pc, up, cost), group, single);
        rvm__at(e, group);
        run_group(e, o, pc, up, single, out, cost);
    }
    e->conflicts = NULL;
    rvm__at(e, single);
    rvm__jump(e, e->context, pc, false);
    rvm__at(e, here);
    return start;
}

void rvm__to_instance(rvm__emit *e, uint32_t pc, bool back) {
    rvm__context *c = e->context;
    if (!rvm__goes_in_lanes(e, pc)) {
        rvm__jump(e, c, pc, back);
        return;
    }
    if (!c->start && !(c->start = rvm__unit_alloc(e->u, e->f->ncode * sizeof *c->start))) return;
    if (back) rvm__emit_safepoint(e, pc + (uint32_t)c->dir);
    if (!e->asked && !(e->asked = rvm__unit_alloc(e->u, e->f->ncode * sizeof *e->asked))) return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->k->b);
    if (!c->start[pc]) c->start[pc] = start_block(e, pc);
    rvm__at(e, here);
    if (!back && e->asked[pc]) rvm__put_at(e, LLVMConstNull(e->k->i32), e->asked[pc]);
    LLVMBuildBr(e->k->b, c->start[pc]);
}

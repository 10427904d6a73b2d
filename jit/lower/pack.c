/* pack.c: in lanes, a row that each instance reads again and again, copied so that it lies interleaved by lanes.
 *
 * An instance's row of an array from outside stands a row away from that of the next instance, so that each element is
 * gathered. Where the row is a view for calls only, and a callee reads it in a loop within a loop, its elements are gathered
 * once, into a local array, when the view appears.
 */
#include "emit.h"
#include "blocks.h"
#include "builder.h"

enum { MOST_LOOKED_AT = 20000, MOST_DEEP = 16 };

typedef struct search {
    const rvm_program *p;
    uint32_t left; /* instructions that may be looked at */
} search;

/* How many loops are around the innermost access to a parameter's elements. */
static unsigned depth_of(search *s, uint32_t fn, uint32_t param, unsigned around);

static unsigned deeper(unsigned x, unsigned y) {
    return x > y ? x : y;
}

static unsigned depth_in_call(search *s, const rvm_insn *in, const rvm_place *places, uint16_t array, unsigned around) {
    const rvm_callee g = rvm__callee_of(s->p, in);
    unsigned depth = 0;
    if (rvm__pair_of(in->op) != RVM_PAIR_call) return around;
    for (uint32_t k = 0; k < g.nparams; k++)
        if (g.params[k].ndim && places[g.first + k].slot == array) depth = deeper(depth, depth_of(s, in->target, k, around));
    return depth;
}

static unsigned depth_of(search *s, uint32_t fn, uint32_t param, unsigned around) {
    const rvm_function *f = &s->p->functions[fn];
    const uint16_t array = f->params[param].index;
    unsigned open = 0, depth = 0;
    if (around >= MOST_DEEP) return depth;
    RVM__EACH_INSN(x, f) {
        if (!s->left) break;
        s->left--;
        if (x.in->op == RVM_OP_for || x.in->op == RVM_OP_par) open++;
        if (x.in->op == RVM_OP_next || x.in->op == RVM_OP_endpar) open--;
        if (rvm__is_call(x.in)) depth = deeper(depth, depth_in_call(s, x.in, x.q, array, around + open));
        for (uint32_t k = 0; k < x.in->nplaces; k++)
            if (x.q[k].kind == RVM_PLACE_ELEM && x.q[k].slot == array) depth = deeper(depth, around + open);
    }
    return depth;
}

/* Whether it appears at the block's index, as part of an array that does not appear in the block. */
static bool is_row_from_outside(const rvm__emit *e, uint32_t pc) {
    const rvm_function *f = e->f;
    const rvm_insn *in = &f->code[pc];
    const rvm_place *q = rvm__places(f, in);
    const uint32_t ends = e->block.ends, starts = f->code[ends].target;
    const rvm_array_decl *a = &f->arrays[q[0].slot];
    bool at_index = false;
    for (uint32_t k = 2; k < in->nplaces; k++) at_index |= q[k].kind == RVM_PLACE_SLOT && q[k].slot == e->code->x[ends].to.i;
    if (!at_index || a->ndim != 1 || a->type == RVM_F32) return false;
    for (uint32_t k = ends < starts ? ends : starts; k < (ends < starts ? starts : ends); k++) {
        if (!rvm__op_names_array((rvm_op)f->code[k].op)) continue;
        if (rvm__places(f, &f->code[k])->slot == q[1].slot) return false;
    }
    return true;
}

/* Whether a call may change what the view is a part of. */
static bool changes_whole(const rvm__emit *e, uint32_t call, uint32_t view) {
    const rvm_insn *in = &e->f->code[call];
    const rvm_place *q = rvm__places(e->f, in);
    const rvm_callee g = rvm__callee_of(e->u->p, in);
    const uint16_t whole = rvm__root_of(e->f, rvm__places(e->f, &e->f->code[view]));
    for (uint32_t n = 0; n < g.nparams; n++) {
        const rvm_place *a = &q[g.first + n];
        if (g.params[n].role != RVM_READ && a->kind != RVM_PLACE_SLOT && rvm__root_of(e->f, a) == whole) return true;
    }
    return false;
}

/* What stands between the ends of a view: -1 where that is more than views and calls that do not change it. Else how deep
 * calls read it. */
static int depth_between(const rvm__emit *e, uint32_t pc) {
    const rvm_function *f = e->f;
    const uint16_t array = rvm__places(f, &f->code[pc])->slot;
    const int step = f->code[pc].op == RVM_OP_view ? 1 : -1;
    search s = {.p = e->u->p, .left = MOST_LOOKED_AT};
    unsigned depth = 0;
    for (uint32_t k = pc + (uint32_t)step;; k += (uint32_t)step) {
        const rvm_insn *in = &f->code[k];
        const rvm_place *q = rvm__places(f, in);
        if (rvm__pair_of(in->op) == RVM_PAIR_view && q->slot == array) return (int)depth;
        if (rvm__pair_of(in->op) == RVM_PAIR_view && q[1].slot != array) continue;
        if (rvm__pair_of(in->op) != RVM_PAIR_call) return -1;
        if (changes_whole(e, k, pc)) return -1;
        depth = deeper(depth, depth_in_call(&s, in, q, array, 0));
    }
}

bool rvm__is_packed(const rvm__emit *e, uint32_t pc) {
    return e->vectorised && e->block.ends && is_row_from_outside(e, pc) && depth_between(e, pc) >= 2;
}

/* n elements from there on, at the stride. */
static void copy(rvm__emit *e, LLVMValueRef to, LLVMValueRef from, LLVMValueRef n, LLVMValueRef stride) {
    rvm__build *k = e->k;
    LLVMBasicBlockRef loop = rvm__block(e, "pack"), body = rvm__block(e, "element"), on = rvm__block(e, "packed");
    LLVMValueRef at = rvm__local(e, k->i64, "at"), element = rvm__build_int(k, sizeof(rvm_value));
    rvm__put_at(e, rvm__build_int(k, 0), at);
    LLVMBuildBr(k->b, loop);
    rvm__at(e, loop);
    LLVMValueRef i = rvm__get(e, k->i64, at);
    LLVMBuildCondBr(k->b, LLVMBuildICmp(k->b, LLVMIntSLT, i, n, ""), body, on);
    rvm__at(e, body);
    LLVMValueRef x = LLVMBuildNSWMul(k->b, i, stride, ""), y = LLVMBuildNSWMul(k->b, i, element, "");
    x = LLVMBuildInBoundsGEP2(k->b, k->i8, from, &x, 1, "");
    y = LLVMBuildInBoundsGEP2(k->b, k->i8, to, &y, 1, "");
    rvm__put_at(e, rvm__get(e, k->i64, x), y);
    rvm__put_at(e, LLVMBuildNSWAdd(k->b, i, rvm__build_int(k, 1), ""), at);
    LLVMBuildBr(k->b, loop);
    rvm__at(e, on);
}

static LLVMValueRef are_few(rvm__emit *e, LLVMValueRef n) {
    return LLVMBuildICmp(e->k->b, LLVMIntULE, n, rvm__build_int(e->k, RVM__FEW), "");
}

static LLVMValueRef from_arena(rvm__emit *e, LLVMValueRef n) {
    LLVMValueRef args[3] = {e->frame.machine, n, rvm__build_int(e->k, 0)};
    LLVMValueRef p = rvm__call_runtime(e, "rvm__native_new", e->k->ptr, 3, args);
    rvm__exit_if(e, LLVMBuildIsNull(e->k->b, p, ""));
    return rvm__member(e, p, RVM__ARRAY_HEADER);
}

/* Few elements stand in an alloca, as those of local arrays do (array.c): it goes where they are read one by one. */
static LLVMValueRef place_of(rvm__emit *e, rvm__array_ir *a, LLVMValueRef n) {
    rvm__build *k = e->k;
    if (e->u->recursive) return from_arena(e, n);
    if (!a->row) a->row = rvm__local(e, LLVMArrayType2(k->i64, RVM__FEW), "row");
    LLVMBasicBlockRef there = rvm__block(e, "many"), on = rvm__block(e, "on"), from[2] = {LLVMGetInsertBlock(k->b)};
    LLVMValueRef p[2] = {a->row};
    LLVMBuildCondBr(k->b, are_few(e, n), on, there);
    rvm__at(e, there);
    p[1] = from_arena(e, n);
    from[1] = LLVMGetInsertBlock(k->b);
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    LLVMValueRef phi = LLVMBuildPhi(k->b, k->ptr, "");
    LLVMAddIncoming(phi, p, from, 2);
    return phi;
}

void rvm__pack(rvm__emit *e, uint16_t array) {
    rvm__array_ir *a = &e->frame.array[array];
    LLVMValueRef n = rvm__dimension(e, array, 0), p = place_of(e, a, n);
    copy(e, p, rvm__get(e, e->k->ptr, a->data), n, rvm__stride(e, array, 0));
    rvm__put_at(e, p, a->data);
    rvm__put_at(e, rvm__build_int(e->k, sizeof(rvm_value)), a->stride[0]);
}

void rvm__unpack(rvm__emit *e, uint16_t array) {
    LLVMValueRef args[2] = {e->frame.machine, rvm__dimension(e, array, 0)};
    LLVMBasicBlockRef many = rvm__block(e, "many"), on = rvm__block(e, "unpacked");
    LLVMValueRef stands = e->u->recursive ? LLVMConstInt(e->k->i1, 0, false) : are_few(e, args[1]);
    LLVMBuildCondBr(e->k->b, stands, on, many);
    rvm__at(e, many);
    rvm__call_runtime(e, "rvm__native_del", e->k->nothing, 2, args);
    LLVMBuildBr(e->k->b, on);
    rvm__at(e, on);
}

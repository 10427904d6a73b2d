/* call.c: calls, as vm/interp/frames.c has them: scalars go as values or as copies that come back, arrays as they are.
 *
 * Where arguments may be the same memory, the callee is a specialisation that does not rely on the contrary; an accumulating
 * scalar whose place is another argument's, too, enters as 0 and is added on return; and what the roles forbid is left to
 * the interpreter. What liveness.h says that nobody reads behind a call does not come back from it. */
#include "emit.h"
#include "blocks.h"
#include "analysis.h"
#include "walk.h"
#include "builder.h"
#include "profile.h"

#include <stddef.h>

typedef struct argument {
    const rvm_place *q;
    const rvm_param *param;  /* the callee's */
    rvm__operand o;          /* scalars */
    LLVMValueRef copy, held; /* of one that comes back: allocas */
    bool added;              /* an accumulating scalar that entered as 0, since an earlier one has its register */
    bool conflicts;          /* it goes as its address: instances of a block may add to its place */
    LLVMValueRef shares;     /* likewise where this is so: its place is another's; or NULL */
} argument;

typedef struct call {
    rvm__emit *e;
    uint32_t callee;
    int dir;
    uint32_t n;
    uint64_t conflicts; /* of what is vectorised, by parameter */
    uint64_t guarded;   /* by parameter: guard.c */
    argument *arg;
} call;

static bool has_magnitudes(const rvm__emit *e) {
    return !e->u->w->unchecked;
}

/* ---- arguments that may be the same memory ---- */

typedef struct part { /* of an array: one index or a range in each of its first dimensions */
    uint16_t whole;
    uint32_t pc; /* where its indices are read */
    unsigned n;
    struct {
        uint16_t lo, hi; /* slots; hi RVM__NO_BASE: an index */
    } cut[RVM_MAX_DIMS];
} part;

/* False: all of an array. */
static bool part_of(const rvm__emit *e, const rvm_place *q, part *to) {
    if (q->kind == RVM_PLACE_ELEM) {
        *to = (part){.whole = q->slot, .pc = e->control.pc, .n = q->nidx};
        for (unsigned d = 0; d < to->n; d++) to->cut[d].lo = q->idx[d], to->cut[d].hi = RVM__NO_BASE;
        return true;
    }
    const rvm_insn *in = rvm__view_at(e, q->slot, e->control.pc);
    if (!in) return false;
    const rvm_place *of = rvm__places(e->f, in) + 1;
    *to = (part){.whole = of->slot, .pc = (uint32_t)(in - e->f->code), .n = in->nplaces - 2u};
    for (unsigned d = 0; d < to->n; d++) {
        const rvm_place *cut = &of[1 + d];
        to->cut[d].lo = cut->slot;
        to->cut[d].hi = cut->kind == RVM_PLACE_RANGE ? cut->idx[0] : RVM__NO_BASE;
    }
    return true;
}

/* Bounds in dimension d, if they are constants. */
static bool constant_cut(const rvm__emit *e, const part *p, unsigned d, int64_t *lo, int64_t *hi) {
    const rvm_function *f = e->f;
    const bool index = p->cut[d].hi == RVM__NO_BASE;
    if (p->cut[d].lo < f->nregs || (!index && p->cut[d].hi < f->nregs)) return false;
    *lo = f->consts[p->cut[d].lo - f->nregs].i;
    *hi = index ? *lo + 1 : f->consts[p->cut[d].hi - f->nregs].i;
    return true;
}

/* Whether they are indices in dimension d that differ by a number. */
static bool differ(const rvm__emit *e, const part *x, const part *y, unsigned d) {
    rvm__index a, b;
    if (x->cut[d].hi != RVM__NO_BASE || y->cut[d].hi != RVM__NO_BASE) return false;
    const uint32_t pc = e->control.pc;
    if (!rvm__index_at(e, x->cut[d].lo, x->pc, pc, &a) || !rvm__index_at(e, y->cut[d].lo, y->pc, pc, &b)) return false;
    return a.reg == b.reg && a.plus != b.plus;
}

/* Parts of one array that are apart in some dimension by what the text says. Only where no array of the call overlaps
 * itself. */
static bool cut_apart(const rvm__emit *e, const rvm_place *a, const rvm_place *b) {
    part x, y;
    if (!e->u->w->contiguous || !part_of(e, a, &x) || !part_of(e, b, &y) || x.whole != y.whole) return false;
    for (unsigned d = 0; d < x.n && d < y.n; d++) {
        int64_t x_lo, x_hi, y_lo, y_hi;
        if (differ(e, &x, &y, d)) return true;
        if (!constant_cut(e, &x, d, &x_lo, &x_hi) || !constant_cut(e, &y, d, &y_lo, &y_hi)) continue;
        if (x_hi <= y_lo || y_hi <= x_lo) return true;
    }
    return false;
}

/* Whether that is a parameter that others may overlap which are added into, too. */
static bool overlaps(const rvm__emit *e, uint16_t array) {
    for (uint32_t k = 0; k < e->f->nparams; k++)
        if (e->f->params[k].ndim && e->f->params[k].index == array) return !rvm__is_apart(&e->f->params[k], e->apart);
    return false;
}

/* Not for two arguments that are only read. */
static bool same_memory(const rvm__emit *e, const rvm_place *a, const rvm_place *b) {
    if (a->kind == RVM_PLACE_SLOT || b->kind == RVM_PLACE_SLOT)
        return a->kind == b->kind && a->slot == b->slot && a->slot < e->f->nregs;
    if (cut_apart(e, a, b)) return false;
    const uint16_t x = rvm__root_of(e->f, a), y = rvm__root_of(e->f, b);
    return x == y || (overlaps(e, x) && overlaps(e, y));
}

/* Addresses, not numbers: parts of what is the instance's own compare as LLVM compiles, and it may become registers. */
typedef struct extent {
    LLVMValueRef from, to; /* to: behind the last element */
} extent;

static LLVMValueRef behind(rvm__emit *e, LLVMValueRef address, LLVMValueRef bytes) {
    return LLVMBuildInBoundsGEP2(e->k->b, e->k->i8, address, &bytes, 1, "");
}

static extent extent_of(rvm__emit *e, const argument *a) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef bytes = rvm__build_int(e->k, sizeof(rvm_value)), empty = NULL, zero = rvm__build_int(e->k, 0);
    if (a->q->kind != RVM_PLACE_ARRAY) return (extent){a->o.address, behind(e, a->o.address, bytes)};
    LLVMValueRef from = rvm__get(e, e->k->ptr, e->frame.array[a->q->slot].data);
    for (int d = 0; d < a->param->ndim; d++) {
        LLVMValueRef n = rvm__dimension(e, a->q->slot, d), last = LLVMBuildSub(b, n, rvm__build_int(e->k, 1), "");
        LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, n, zero, "");
        bytes = LLVMBuildAdd(b, bytes, LLVMBuildMul(b, last, rvm__stride(e, a->q->slot, d), ""), "");
        empty = empty ? LLVMBuildOr(b, empty, none, "") : none;
    }
    if (empty) bytes = LLVMBuildSelect(b, empty, zero, bytes, "");
    return (extent){from, behind(e, from, bytes)};
}

static LLVMValueRef distance(rvm__emit *e, LLVMValueRef from, LLVMValueRef to) {
    LLVMBuilderRef b = e->k->b;
    return LLVMBuildSub(b, LLVMBuildPtrToInt(b, to, e->k->i64, ""), LLVMBuildPtrToInt(b, from, e->k->i64, ""), "");
}

/* vm/overlap.c: whether some element of x is `apart` bytes before one of y, from dimension d on. */
static LLVMValueRef overlap_at(rvm__emit *e, const argument *x, const argument *y, int d, LLVMValueRef apart) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef zero = rvm__build_int(e->k, 0), one = rvm__build_int(e->k, 1), found = NULL;
    if (d == x->param->ndim) return LLVMBuildICmp(b, LLVMIntEQ, apart, zero, "");
    LLVMValueRef stride = rvm__stride(e, x->q->slot, d), most = rvm__dimension(e, x->q->slot, d);
    LLVMValueRef least = LLVMBuildNeg(b, rvm__dimension(e, y->q->slot, d), "");
    stride = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, stride, zero, ""), one, stride, "");
    LLVMValueRef low = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildSRem(b, apart, stride, ""), zero, "");
    LLVMValueRef n = LLVMBuildSub(b, LLVMBuildSDiv(b, apart, stride, ""), LLVMBuildZExt(b, low, e->k->i64, ""), "");
    for (int k = 0; k < 2; k++, n = LLVMBuildAdd(b, n, one, "")) {
        LLVMValueRef above = LLVMBuildICmp(b, LLVMIntSGT, n, least, ""), below = LLVMBuildICmp(b, LLVMIntSLT, n, most, "");
        LLVMValueRef rest = overlap_at(e, x, y, d + 1, LLVMBuildSub(b, apart, LLVMBuildMul(b, n, stride, ""), ""));
        LLVMValueRef here = LLVMBuildAnd(b, LLVMBuildAnd(b, above, below, ""), rest, "");
        found = found ? LLVMBuildOr(b, found, here, "") : here;
    }
    return found;
}

/* Whether every stride is more than the later ones together can bridge: then `overlap_at` is right. */
static LLVMValueRef nests(rvm__emit *e, const argument *a) {
    LLVMBuilderRef b = e->k->b;
    LLVMValueRef bridged = rvm__build_int(e->k, 0), good = LLVMConstInt(e->k->i1, 1, false);
    for (int d = a->param->ndim; d-- > 0;) {
        LLVMValueRef stride = rvm__stride(e, a->q->slot, d);
        LLVMValueRef last = LLVMBuildSub(b, rvm__dimension(e, a->q->slot, d), rvm__build_int(e->k, 1), "");
        good = LLVMBuildAnd(b, good, LLVMBuildICmp(b, LLVMIntSGT, stride, bridged, ""), "");
        bridged = LLVMBuildAdd(b, bridged, LLVMBuildMul(b, last, stride, ""), "");
    }
    return good;
}

/* As vm/overlap.c decides it, but that elements are aligned, and dimensions in the order of falling strides. */
static LLVMValueRef overlapping(rvm__emit *e, const argument *a, const argument *b) {
    LLVMBuilderRef builder = e->k->b;
    const extent x = extent_of(e, a), y = extent_of(e, b);
    LLVMValueRef left = LLVMBuildICmp(builder, LLVMIntULT, x.from, y.to, "");
    LLVMValueRef right = LLVMBuildICmp(builder, LLVMIntULT, y.from, x.to, "");
    LLVMValueRef near = LLVMBuildAnd(builder, left, right, "");
    if (!a->param->ndim || a->param->ndim != b->param->ndim) return near;
    LLVMValueRef plain = LLVMBuildAnd(builder, nests(e, a), nests(e, b), "");
    for (int d = 0; d < a->param->ndim; d++) {
        LLVMValueRef s = rvm__stride(e, a->q->slot, d), t = rvm__stride(e, b->q->slot, d);
        plain = LLVMBuildAnd(builder, plain, LLVMBuildICmp(builder, LLVMIntEQ, s, t, ""), "");
    }
    LLVMValueRef common = overlap_at(e, a, b, 0, distance(e, x.from, y.from));
    return LLVMBuildAnd(builder, near, LLVMBuildOr(builder, LLVMBuildNot(builder, plain, ""), common, ""), "");
}

static bool is_exact(const call *c, const rvm_param *param) {
    if (!c->e->u->w->exact || param->ndim || !rvm__is_floating((rvm_type)param->type)) return false;
    return !c->e->u->w->values_only || !rvm__is_swept(c->e->u->p, &c->e->u->m->swept, c->callee, false, param->index);
}

/* What is added on return is recorded by the interpreter; what is an address adds at once, and a group bails out. */
static void share(const call *c, argument *a, LLVMValueRef cond) {
    rvm__emit *e = c->e;
    if (is_exact(c, a->param) || a->conflicts) rvm__exit_if(e, cond), cond = NULL;
    if (cond && !a->param->ndim) a->shares = a->shares ? LLVMBuildOr(e->k->b, a->shares, cond, "") : cond;
}

/* False: only the interpreter can do it. *apart: the arrays of the callee that are added into are apart; others are so by
 * their roles, or the interpreter goes on. */
static bool look_at_pair(call *c, argument *a, argument *b, bool *apart) {
    const rvm_role x = (rvm_role)a->param->role, y = (rvm_role)b->param->role;
    if ((x == RVM_READ && y == RVM_READ) || a->param->untouched || b->param->untouched) return true;
    if (!same_memory(c->e, a->q, b->q)) return true;
    if (x == RVM_ACC && y == RVM_ACC && a->param->ndim && b->param->ndim) return *apart = false, true;
    if (a->q->kind == RVM_PLACE_SLOT) { /* the same register */
        if (x != RVM_ACC || y != RVM_ACC || is_exact(c, b->param) || b->conflicts) return false;
        b->added = true;
        return true;
    }
    LLVMValueRef cond = overlapping(c->e, a, b);
    if (x != RVM_ACC || y != RVM_ACC)
        rvm__exit_if(c->e, cond);
    else {
        share(c, b, cond);
        if (b->param->ndim) share(c, a, cond);
    }
    return true;
}

static bool look_at_sharing(call *c, bool *apart) {
    *apart = true;
    for (uint32_t k = 1; k < c->n; k++)
        for (uint32_t i = 0; i < k; i++)
            if (!look_at_pair(c, &c->arg[i], &c->arg[k], apart)) return false;
    return true;
}

/* ---- lengths ---- */

/* Whether a length of an array is a constant of the function, as a parameter has it of which the array may be a view. */
static bool is_constant(const rvm__emit *e, uint16_t array, int d, int64_t *n) {
    const rvm_function *f = e->f;
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (!f->params[k].ndim || f->params[k].index != array) continue;
        if (f->params[k].dim[d] < f->nregs) return false;
        return *n = f->consts[f->params[k].dim[d] - f->nregs].i, true;
    }
    const rvm_insn *view = rvm__view_at(e, array, e->control.pc);
    if (!view) return false;
    const rvm_place *q = rvm__places(f, view);
    for (int from = 0, kept = 0; from < f->arrays[q[1].slot].ndim; from++) {
        const bool cut = 2u + (uint32_t)from < view->nplaces, range = cut && q[2 + from].kind == RVM_PLACE_RANGE;
        if (cut && !range) continue;
        if (kept++ == d) return !range && is_constant(e, q[1].slot, from, n);
    }
    return false;
}

/* The first array that has a length says it; others, and constants, must agree. So must all with what a copy is for: an
 * array has other lengths than the text before the call says where that is run backward from what makes it disappear. */
static void look_at_lengths(call *c) {
    rvm__emit *e = c->e;
    const rvm_function *g = &e->u->p->functions[c->callee];
    LLVMValueRef *length = rvm__unit_alloc(e->u, (g->nregs + 1) * sizeof *length);
    for (uint32_t k = 0; k < c->n && length; k++)
        for (int d = 0; d < c->arg[k].param->ndim; d++) {
            const uint16_t slot = c->arg[k].param->dim[d];
            LLVMValueRef n = rvm__dimension(e, c->arg[k].q->slot, d), must;
            int64_t known;
            if (is_constant(e, c->arg[k].q->slot, d, &known)) n = rvm__build_int(e->k, known);
            if (slot < g->nregs && !length[slot]) length[slot] = rvm__known_length(e->u, c->callee, slot);
            if (slot < g->nregs && !length[slot]) {
                length[slot] = n;
                continue;
            }
            must = slot < g->nregs ? length[slot] : rvm__build_int(e->k, g->consts[slot - g->nregs].i);
            rvm__exit_if(e, LLVMBuildICmp(e->k->b, LLVMIntNE, n, must, ""));
        }
}

/* ---- the call ---- */

static unsigned pass_array(call *c, const argument *a, LLVMValueRef *to) {
    rvm__emit *e = c->e;
    const uint16_t array = a->q->slot;
    unsigned n = 0;
    rvm__join_magnitudes_of(e, a->q);
    to[n++] = rvm__get(e, e->k->ptr, e->frame.array[array].data);
    for (int d = 0; d < a->param->ndim; d++) to[n++] = rvm__dimension(e, array, d);
    for (int d = 0; d < a->param->ndim; d++) to[n++] = rvm__stride(e, array, d);
    to[n++] = rvm__get(e, e->k->i64, e->frame.array[array].home);
    to[n++] = rvm__get(e, e->k->i64, e->frame.array[array].offset);
    if (has_magnitudes(e)) to[n++] = rvm__get(e, e->k->ptr, e->frame.array[array].magnitude);
    return n;
}

static unsigned pass_scalar(call *c, argument *a, LLVMValueRef *to) {
    rvm__emit *e = c->e;
    LLVMTypeRef t = rvm__build_type(e->k, a->o.type);
    const bool held = has_magnitudes(e) && rvm__is_floating(a->o.type);
    if (a->conflicts) {
        to[0] = rvm__conflicting_element(e, a->q);
        if (!to[0]) to[0] = a->o.address;
        if (held) to[1] = LLVMConstNull(e->k->ptr);
        return 1 + held;
    }
    LLVMValueRef v = a->added ? LLVMConstNull(t) : rvm__load(e, &a->o);
    if (a->shares) v = LLVMBuildSelect(e->k->b, a->shares, LLVMConstNull(t), v, "");
    if (a->param->role == RVM_READ) return to[0] = v, 1;
    to[0] = a->copy = rvm__local(e, t, "copy");
    rvm__put_at(e, v, a->copy);
    if (!held) return 1;
    to[1] = a->held = rvm__local(e, e->k->f64, "held");
    return 2;
}

/* vm/interp/frames.c: the caller's register has held what the callee's did. */
static void take_back(call *c, const argument *a) {
    rvm__emit *e = c->e;
    if (!a->copy) return;
    LLVMValueRef v = rvm__get(e, rvm__build_type(e->k, a->o.type), a->copy), overflow = NULL;
    LLVMValueRef now = v;
    if (a->added || a->shares) now = rvm__build_update(e->k, RVM_OP_add, a->o.type, rvm__load(e, &a->o), v, &overflow);
    if (a->shares) now = LLVMBuildSelect(e->k->b, a->shares, now, v, "");
    rvm__store(e, &a->o, now);
    if (!a->held || a->q->kind != RVM_PLACE_SLOT) return;
    LLVMValueRef to = e->frame.held[a->q->slot], both[2] = {v, rvm__get(e, e->k->f64, a->held)};
    for (int k = 0; k < 2; k++) {
        LLVMValueRef size = rvm__absolute(e, both[k]), was = rvm__get(e, e->k->f64, to);
        LLVMValueRef larger = LLVMBuildFCmp(e->k->b, LLVMRealOGT, size, was, "");
        rvm__put_at(e, LLVMBuildSelect(e->k->b, larger, size, was, ""), to);
    }
}

/* Whether nobody reads what the parameter holds behind any of these calls. */
static bool is_unused(const call *c, uint32_t param) {
    return c->e->u->liveness && !c->e->whole && rvm__dead_param(c->e->u->liveness, c->callee, c->dir < 0, param);
}

/* The callee's frame, by the fixed parameters but for its counts. */
static void pass_frame(const call *c, LLVMValueRef *args) {
    const rvm__emit *e = c->e;
    rvm__build *k = e->k;
    args[0] = e->frame.machine;
    args[1] = e->frame.native;
    args[2] = e->u->w->standalone ? e->frame.first_slot
                                  : LLVMBuildAdd(k->b, e->frame.first_slot, rvm__build_int(k, rvm__machine_slots(e)), "");
    args[3] = LLVMBuildAdd(k->b, e->frame.first_array, rvm__build_int(k, e->f->narrays), "");
    args[4] = LLVMBuildAdd(k->b, e->frame.number, rvm__build_int(k, 1), "");
}

/* Room for the frame of a callee that is recursive; that of the others was made sure of at the start. */
static void make_room(const call *c, const LLVMValueRef *args) {
    rvm__emit *e = c->e;
    if (!e->u->summaries[c->callee].recursive) return;
    if (e->u->w->standalone) {
        rvm__standalone_depth(e, args[4]);
        return;
    }
    LLVMValueRef room[5] = {args[0], args[2], args[3], args[4], rvm__need_constant(e->u, c->callee)};
    LLVMValueRef has = rvm__call_runtime(e, "rvm__native_room", e->k->i1, 5, room);
    rvm__exit_if(e, LLVMBuildNot(e->k->b, has, ""));
}

/* Where the callee took a side exit, the caller takes one. */
static void exit_as_callee(const call *c, LLVMValueRef exited, rvm__native_site site) {
    rvm__emit *e = c->e;
    LLVMValueRef ended = LLVMBuildICmp(e->k->b, LLVMIntNE, exited, LLVMConstInt(e->k->i32, 0, false), "");
    if (e->vectorised) return; /* which bails out at once */
    if (e->u->w->standalone)
        rvm__exit_with(e, ended, exited);
    else
        rvm__exit_at(e, ended, site, 0);
}

/* With a profile: what the callee counts in. A call of one function finds it in a link once the machine has made it. */
static LLVMValueRef tallies_below(rvm__emit *e, uint32_t callee) {
    rvm__build *k = e->k;
    const bool one = rvm__tally_has_link(e, e->control.pc);
    LLVMValueRef args[5] = {e->frame.machine, e->count.tallies, LLVMConstInt(k->i32, e->control.pc, false),
                            LLVMConstInt(k->i32, rvm__known_as(e->u, callee), false), LLVMConstInt(k->i32, !one, false)};
    LLVMValueRef known = one ? rvm__get(e, k->ptr, rvm__tally_link(e, e->control.pc, offsetof(rvm__path_link, to))) : NULL,
                 made;
    if (!one) {
        made = rvm__call_runtime(e, "rvm__native_tallies_below", k->ptr, 5, args);
        rvm__exit_if(e, LLVMBuildIsNull(k->b, made, ""));
        return made;
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(k->b), make = rvm__block(e, "path"), on = rvm__block(e, "on");
    rvm__unlikely(e, LLVMBuildCondBr(k->b, LLVMBuildIsNull(k->b, known, ""), make, on));
    rvm__at(e, make);
    made = rvm__call_seldom(e, "rvm__native_tallies_below", k->ptr, 5, args);
    rvm__exit_if(e, LLVMBuildIsNull(k->b, made, ""));
    LLVMBasicBlockRef from[2] = {here, LLVMGetInsertBlock(k->b)};
    LLVMBuildBr(k->b, on);
    rvm__at(e, on);
    LLVMValueRef phi = LLVMBuildPhi(k->b, k->ptr, ""), values[2] = {known, made};
    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

/* rvm__exact_against; where it depends on the run, else there is a side exit. */
static bool enters(const call *c, const rvm_insn *in) {
    rvm__emit *e = c->e;
    const bool sweeps = in->flags & RVM_FLAG_SWEPT;
    if (!e->u->w->exact) return true;
    if (rvm__is_foreign(in) || (sweeps && rvm__is_adjoint_by_hand(e->u->p, c->callee))) return false;
    if (!rvm__is_marked(&e->u->p->functions[c->callee])) return true;
    if (rvm__is_foreign(&e->u->p->functions[c->callee].code[0])) return false;
    if (sweeps) return true;
    if (rvm__restores_at(e, e->control.pc) != (c->dir < 0)) return false;
    LLVMValueRef n = rvm__get(e, e->k->i64, rvm__member(e, e->frame.machine, offsetof(rvm_machine, trail.nforgetting)));
    rvm__exit_if(e, LLVMBuildICmp(e->k->b, LLVMIntNE, n, rvm__build_int(e->k, 0), ""));
    return true;
}

/* What was kept whole before an adjoint takes it back, or recorded it, is counted. */
static void settle(const call *c) {
    rvm__emit *e = c->e;
    LLVMValueRef args[2] = {e->frame.machine, LLVMConstInt(e->k->i32, 0, false)};
    if (!rvm__is_inside(e) || !(e->f->code[e->control.pc].flags & RVM_FLAG_SWEPT)) return;
    rvm__window_give(e);
    rvm__call_runtime(e, "rvm__trail_deeper", e->k->nothing, 2, args);
    rvm__window_take(e);
}

static void run_call(call *c, bool apart) {
    rvm__emit *e = c->e;
    LLVMValueRef *args = rvm__unit_alloc(e->u, (RVM__FIXED_PARAMS + c->n * (size_t)RVM__MOST_PARAMS) * sizeof *args);
    const uint16_t discards = rvm__discards_at(e, e->control.pc);
    const rvm__specialisation like = {.fn = c->callee,
                                      .dir = c->dir,
                                      .restoring = rvm__restores_at(e, e->control.pc),
                                      .inside = rvm__is_inside(e),
                                      .apart = apart,
                                      .whole = e->whole,
                                      .discards = rvm__discards_that_matter(e->u, c->callee, discards),
                                      .vectorised = e->vectorised,
                                      .nested = e->nested,
                                      .conflicts = e->vectorised ? c->conflicts : 0,
                                      .guarded = c->guarded};
    const rvm__specialisation *v = rvm__declare_specialisation(e->u, &like);
    if (!args || !v || !v->function) return;
    if (!rvm__is_inlined(e->u, c->callee) && e->u->summaries[c->callee].most > RVM__MOST_UNSEEN) {
        rvm__charge(e, 0); /* calls alone can go on for ever */
        rvm__emit_safepoint(e, e->control.pc);
    }
    LLVMValueRef tallies = e->u->w->profile ? tallies_below(e, c->callee) : NULL;
    pass_frame(c, args);
    make_room(c, args);
    unsigned n = RVM__FIXED_PARAMS;
    for (uint32_t a = 0; a < c->n; a++)
        n += c->arg[a].param->ndim ? pass_array(c, &c->arg[a], args + n) : pass_scalar(c, &c->arg[a], args + n);
    rvm__native_site site = rvm__site_here(e);
    site.calling = 1;
    site.against = c->dir != e->control.context->dir;
    rvm__charge(e, 1);
    args[RVM__COUNTS_PARAM] = rvm__counts_for_call(e, tallies);
    settle(c);
    rvm__window_give(e);
    LLVMValueRef exited = LLVMBuildCall2(e->k->b, v->type, v->function, args, n, "");
    rvm__window_take(e);
    settle(c);
    rvm__counts_of_call(e, args[RVM__COUNTS_PARAM]);
    exit_as_callee(c, exited, site);
    for (uint32_t a = 0; a < c->n; a++)
        if (!is_unused(c, a)) take_back(c, &c->arg[a]);
}

/* Calls `callee` with the arguments of the instruction, unless the interpreter must. */
static void call_one(rvm__emit *e, const rvm_insn *in, uint32_t callee, int dir, const rvm__xinsn *x) {
    const rvm_function *g = &e->u->p->functions[callee];
    const rvm_place *places = rvm__places(e->f, in) + rvm__callee_of(e->u->p, in).first;
    call c = {.e = e, .callee = callee, .dir = dir, .n = g->nparams};
    c.arg = rvm__unit_alloc(e->u, (g->nparams + 1) * sizeof *c.arg);
    bool apart = e->apart;
    if (!c.arg) return;
    c.conflicts = rvm__conflicting_arguments(e, g, places);
    for (uint32_t k = 0; k < c.n; k++) {
        c.arg[k] = (argument){.q = &places[k], .param = &g->params[k]};
        if (!c.arg[k].param->ndim) c.arg[k].o = rvm__operand_of(e, &places[k], UINT32_MAX);
        c.arg[k].conflicts = !g->params[k].ndim && rvm__takes_conflict(c.conflicts, g, k);
    }
    c.guarded = rvm__guarded_arguments(e, g, places);
    look_at_lengths(&c);
    if (!enters(&c, in) || ((x->flags & X_ALIAS || !e->apart) && !look_at_sharing(&c, &apart))) {
        const uint32_t walked = e->count.walked;
        rvm__exit_now(e);
        rvm__at(e, rvm__block(e, "dead"));
        e->count.walked = walked;
        return;
    }
    run_call(&c, apart);
}

/* Through a function value: a call for each function that it may be. */
static void call_value(rvm__emit *e, const rvm_insn *in, int dir, const rvm__xinsn *x) {
    rvm__build *k = e->k;
    const rvm_program *p = e->u->p;
    LLVMValueRef value = rvm__slot_value(e, rvm__places(e->f, in)->slot);
    LLVMBasicBlockRef other = rvm__block(e, "other"), on = rvm__block(e, "on");
    LLVMValueRef choice = LLVMBuildSwitch(k->b, value, other, 4);
    const uint32_t walked = e->count.walked;
    rvm__at(e, other);
    rvm__exit_now(e);
    for (uint32_t fn = 0; fn < p->nfunctions; fn++) {
        const int64_t callee = rvm__variant_callee(p, in->target, fn);
        if (callee < 0) continue;
        LLVMBasicBlockRef here = rvm__block(e, "value");
        LLVMAddCase(choice, rvm__build_int(k, fn), here);
        rvm__at(e, here);
        e->count.walked = walked;
        call_one(e, in, (uint32_t)callee, dir, x);
        LLVMBuildBr(k->b, on);
    }
    e->count.walked = 0;
    rvm__at(e, on);
}

void rvm__emit_call(rvm__emit *e, const rvm_insn *in, const rvm__xinsn *x, rvm_op op) {
    const int dir = rvm__is_inverse(op) ? -1 : 1;
    if (rvm__pair_of(in->op) == RVM_PAIR_calli)
        call_value(e, in, dir, x);
    else
        call_one(e, in, in->target, dir, x);
    e->count.walked = 0;
}

/* verify_shape.c: each instruction by itself, then how they pair and nest.
 *
 * Loops and regions nest, and the two ends of a jump stand in the same loop body or region part. So control enters and
 * leaves a body or part only through the instructions that bound it, which is what read-only bounds, the hidden state of
 * loops and the direction bit of a region rest on.
 */
#include "transform.h"
#include "support.h"
#include "verify.h"
#include "builder.h"
#include <math.h>
#include <string.h>

/* ---- one place ---- */

static rvm_status check_index(rvm__verifier *v, uint32_t pc, uint16_t slot) {
    const rvm_function *f = v->f;
    if (slot >= f->nregs + f->nconsts) return RVM__REJECT(v, pc, "no register or constant has the number %u", slot);
    if (rvm__slot_type(f, slot) == RVM_I64) return RVM_OK;
    return RVM__REJECT(v, pc, "the index or length '%s' is %s; it must be i64", RVM__REG_NAME(v, pc, slot),
                       rvm_type_name(rvm__slot_type(f, slot)));
}

static rvm_status check_element(rvm__verifier *v, uint32_t pc, const rvm_place *q) {
    const rvm_array_decl *a = v->f->arrays + q->slot;
    if (q->nidx != a->ndim)
        return RVM__REJECT(v, pc, "%d indices for '%s', which has %d dimensions", q->nidx, RVM__ARRAY_NAME(v, pc, q->slot),
                           a->ndim);
    for (int k = 0; k < q->nidx; k++) RVM__TRY(check_index(v, pc, q->idx[k]));
    return RVM_OK;
}

static rvm_status check_place(rvm__verifier *v, uint32_t pc, const rvm_place *q) {
    const rvm_function *f = v->f;
    switch ((rvm_place_kind)q->kind) {
    case RVM_PLACE_SLOT:
        if (q->slot < f->nregs + f->nconsts) return RVM_OK;
        return RVM__REJECT(v, pc, "no register or constant has the number %u", q->slot);
    case RVM_PLACE_ELEM:
    case RVM_PLACE_ARRAY:
        if (q->slot >= f->narrays) return RVM__REJECT(v, pc, "no array has the number %u", q->slot);
        return q->kind == RVM_PLACE_ELEM ? check_element(v, pc, q) : RVM_OK;
    case RVM_PLACE_RANGE: RVM__TRY(check_index(v, pc, q->slot)); return check_index(v, pc, q->idx[0]);
    case RVM_PLACE_KIND_COUNT: break;
    }
    return RVM__REJECT(v, pc, "unknown kind of place %d", q->kind);
}

/* ---- a place against its letter ---- */

static rvm_status check_tolerance(rvm__verifier *v, uint32_t pc, const rvm_place *q) {
    bool constant = q->kind == RVM_PLACE_SLOT && rvm__is_const(v->f, q->slot) && rvm__slot_type(v->f, q->slot) == RVM_F64;
    double x = constant ? rvm__const_value(v->f, q->slot).f : -1;
    if (isfinite(x) && x >= 0) return RVM_OK;
    return RVM__REJECT(v, pc, "a tolerance is an f64 constant, finite and not negative");
}

/* A level of trails, or a site: what names a slot must be known before the program runs. */
static rvm_status check_constant(rvm__verifier *v, uint32_t pc, const rvm_place *q, int64_t limit, const char *what) {
    bool constant = q->kind == RVM_PLACE_SLOT && rvm__is_const(v->f, q->slot) && rvm__slot_type(v->f, q->slot) == RVM_I64;
    int64_t x = constant ? rvm__const_value(v->f, q->slot).i : -1;
    if (x >= 0 && x < limit) return RVM_OK;
    return RVM__REJECT(v, pc, "%s is an i64 constant from 0 up to, not including, %lld", what, (long long)limit);
}

/* A register that may appear and disappear. */
static rvm_status check_local(rvm__verifier *v, uint32_t pc, const rvm_place *q) {
    if (!rvm__is_register(v->f, q))
        return RVM__REJECT(v, pc, "'%s' appears or disappears here, but is no register", RVM__NAME(v, pc, q));
    if (!rvm__is_fixed(v, q->slot)) return RVM_OK;
    return RVM__REJECT(v, pc, "%s '%s' is always present; it cannot appear or disappear",
                       v->is_length[q->slot] ? "the length" : "the parameter", RVM__NAME(v, pc, q));
}

/* What the instruction may change, or moves onto a trail. */
static rvm_status check_changed(rvm__verifier *v, uint32_t pc, const rvm_place *q, bool moves) {
    if (rvm__is_register(v->f, q) || q->kind == RVM_PLACE_ELEM || (moves && q->kind == RVM_PLACE_ARRAY)) return RVM_OK;
    if (moves)
        return RVM__REJECT(v, pc, "'%s' is no register, element or array, so it cannot go onto the trail",
                           RVM__NAME(v, pc, q));
    return RVM__REJECT(v, pc, "'%s' is no register or element, so %s cannot change it", RVM__NAME(v, pc, q),
                       rvm__op_info[v->f->code[pc].op].name);
}

static rvm_status check_kind(rvm__verifier *v, uint32_t pc, const rvm_place *q, char letter) {
    const rvm_function *f = v->f;
    bool slot = q->kind == RVM_PLACE_SLOT, scalar = slot || q->kind == RVM_PLACE_ELEM;
    switch (letter) {
    case 'y':
    case 'w':
    case 'p':
    case 'd': return check_changed(v, pc, q, letter == 'd');
    case 'a':
    case '*':
        if (scalar || letter == '*') break;
        return RVM__REJECT(v, pc, "'%s' is no register, element or constant", RVM__NAME(v, pc, q));
    case 'c':
        if (rvm__is_register(f, q) && rvm__slot_type(f, q->slot) == RVM_I64) return RVM_OK;
        return RVM__REJECT(v, pc, "the condition '%s' is no i64 register", RVM__NAME(v, pc, q));
    case 'k':
    case '#':
        if (q->kind == RVM_PLACE_RANGE && letter == '#') return RVM_OK;
        if (slot) return check_index(v, pc, q->slot);
        return RVM__REJECT(v, pc, "'%s' is no i64 register or constant", RVM__NAME(v, pc, q));
    case 'i':
        if (rvm__is_register(f, q) && rvm__slot_type(f, q->slot) != RVM_I64)
            return RVM__REJECT(v, pc, "the loop index '%s' is no i64", RVM__NAME(v, pc, q));
        return check_local(v, pc, q);
    case 'l': return check_constant(v, pc, q, RVM_MAX_ORDER, "a level of trails");
    case 's': return check_constant(v, pc, q, RVM__MAX_SITE, "a site");
    case 'm': return check_constant(v, pc, q, INT64_MAX, "what says positions in a slot");
    case 't':
    case 'r': return check_local(v, pc, q);
    case 'X':
    case 'V':
    case 'W':
        if (q->kind != RVM_PLACE_ARRAY) return RVM__REJECT(v, pc, "'%s' is no whole array", RVM__NAME(v, pc, q));
        if (letter != 'X' || q->slot >= rvm__array_params(v)) return RVM_OK;
        return RVM__REJECT(v, pc, "the parameter '%s' is always present; it cannot appear or disappear",
                           RVM__NAME(v, pc, q));
    case 'e': return check_tolerance(v, pc, q);
    }
    return q->kind != RVM_PLACE_RANGE ? RVM_OK : RVM__REJECT(v, pc, "a range stands where only a view may have one");
}

/* ---- types ---- */

static rvm_status check_type(rvm__verifier *v, uint32_t pc, const rvm_place *q, rvm_type t) {
    rvm_type got = rvm__place_type(v->f, q);
    if (got == t) return RVM_OK;
    return RVM__REJECT(v, pc, "'%s' is %s where %s is expected", RVM__NAME(v, pc, q), rvm_type_name(got), rvm_type_name(t));
}

/* An i64 is multiplied by an odd constant only, which has an inverse. */
static rvm_status check_factor(rvm__verifier *v, uint32_t pc, const rvm_insn *in, const rvm_place *q) {
    if (rvm__pair_of(in->op) != RVM_PAIR_mul || rvm__place_type(v->f, q) != RVM_I64) return RVM_OK;
    if (q[1].kind == RVM_PLACE_SLOT && rvm__is_const(v->f, q[1].slot) && rvm__const_value(v->f, q[1].slot).u & 1)
        return RVM_OK;
    return RVM__REJECT(v, pc, "an i64 is multiplied or divided in place by odd constants only, not by '%s'",
                       RVM__NAME(v, pc, q + 1));
}

static rvm_status check_update(rvm__verifier *v, uint32_t pc, const rvm_insn *in, const rvm_place *q) {
    const rvm_row_info *row = rvm__row_info + in->row;
    rvm_type y = rvm__place_type(v->f, q), operand[3];
    bool own = row->sig == RVM_SIG_CMP || row->sig == RVM_SIG_CONV; /* the operands' type is not the target's */
    rvm_type t = own ? rvm__place_type(v->f, q + 1) : y;
    if (!rvm__update_legal((rvm_op)in->op, (rvm_row)in->row, y) || !rvm__row_types((rvm_row)in->row, y, t, operand))
        return RVM__REJECT(v, pc, "%s.%s does not exist for a target '%s' of type %s", rvm__op_info[in->op].name, row->name,
                           RVM__NAME(v, pc, q), rvm_type_name(y));
    for (int k = 0; k < row->arity; k++) RVM__TRY(check_type(v, pc, q + 1 + k, operand[k]));
    if (in->flags & RVM_FLAG_TOL && y == RVM_I64)
        return RVM__REJECT(v, pc, "an i64 disappears exactly, without a tolerance");
    return check_factor(v, pc, in, q);
}

/* The places that share a type, and whether that is one the instruction takes. */
static rvm_status check_types(rvm__verifier *v, uint32_t pc, const rvm_insn *in, const rvm_place *q, const char *letters) {
    int t = -1;
    for (uint32_t k = 0; k < in->nplaces; k++) {
        if (!rvm__letter_typed(letters[k])) continue;
        if (t < 0) t = (int)rvm__place_type(v->f, q + k);
        RVM__TRY(check_type(v, pc, q + k, (rvm_type)t));
    }
    if (t < 0 || rvm__op_info[in->op].types >> t & 1) return RVM_OK;
    return RVM__REJECT(v, pc, "%s does not exist for '%s', which is %s", rvm__op_info[in->op].name, RVM__NAME(v, pc, q),
                       rvm_type_name((rvm_type)t));
}

/* ---- calls, arrays, views ---- */

static rvm_status check_argument(rvm__verifier *v, uint32_t pc, const rvm_place *q, const rvm_param *param) {
    bool array = q->kind == RVM_PLACE_ARRAY;
    const char *name = param->name ? param->name : "of the function value";
    if (array != (param->ndim > 0))
        return RVM__REJECT(v, pc, "'%s' is %s array, but the parameter '%s' is %s", RVM__NAME(v, pc, q), array ? "an" : "no",
                           name, array ? "a scalar" : "an array");
    if (array && v->f->arrays[q->slot].ndim != param->ndim)
        return RVM__REJECT(v, pc, "'%s' has %d dimensions, the parameter '%s' %d", RVM__NAME(v, pc, q),
                           v->f->arrays[q->slot].ndim, name, param->ndim);
    return check_type(v, pc, q, (rvm_type)param->type);
}

static rvm_status check_call(rvm__verifier *v, uint32_t pc, const rvm_insn *in, const rvm_place *q) {
    rvm_callee g = rvm__callee_of(v->p, in);
    if (in->nplaces != g.first + g.nparams)
        return RVM__REJECT(v, pc, "%d arguments for '%s', which has %u parameters", in->nplaces - (int)g.first,
                           g.name ? g.name : RVM__NAME(v, pc, q), g.nparams);
    for (uint32_t k = 0; k < g.nparams; k++) RVM__TRY(check_argument(v, pc, q + g.first + k, g.params + k));
    return RVM_OK;
}

/* A slot is of places, or of arrays of as many dimensions, at as many positions; q: the positions, then the places. */
static rvm_status check_slot(rvm__verifier *v, uint32_t pc, const rvm_place *q, int n) {
    const int64_t positions = rvm__const_value(v->f, q++->slot).i;
    if (!(positions & 1) || __builtin_popcountll((uint64_t)positions) != n)
        return RVM__REJECT(v, pc, "the slot has %d places, but its positions are %lld: a bit for each, and bit 0", n,
                           (long long)positions);
    const bool array = q[0].kind == RVM_PLACE_ARRAY;
    for (int k = 1; k < n; k++) {
        if ((q[k].kind == RVM_PLACE_ARRAY) != array)
            return RVM__REJECT(v, pc, "'%s' and '%s' cannot share a slot: one is an array", RVM__NAME(v, pc, q),
                               RVM__NAME(v, pc, q + k));
        if (array && v->f->arrays[q[k].slot].ndim != v->f->arrays[q[0].slot].ndim)
            return RVM__REJECT(v, pc, "'%s' and '%s' cannot share slots: they have different dimensions",
                               RVM__NAME(v, pc, q), RVM__NAME(v, pc, q + k));
    }
    return RVM_OK;
}

static rvm_status check_view(rvm__verifier *v, uint32_t pc, const rvm_insn *in, const rvm_place *q) {
    int x = v->f->arrays[q[0].slot].ndim, dims = v->f->arrays[q[1].slot].ndim, leading = in->nplaces - 2, removed = 0;
    for (int k = 0; k < leading; k++) removed += q[2 + k].kind == RVM_PLACE_SLOT;
    if (leading <= dims && dims - removed == x) return RVM_OK;
    return RVM__REJECT(v, pc, "'%s' has %d dimensions, which do not follow from '%s' and the indices", RVM__NAME(v, pc, q),
                       x, RVM__NAME(v, pc, q + 1));
}

static rvm_status check_like(rvm__verifier *v, uint32_t pc, const rvm_place *q) {
    if (v->f->arrays[q[0].slot].ndim == v->f->arrays[q[1].slot].ndim) return RVM_OK;
    return RVM__REJECT(v, pc, "'%s' and '%s' have different dimensions", RVM__NAME(v, pc, q), RVM__NAME(v, pc, q + 1));
}

/* ---- one instruction ---- */

/* Enough places that every letter has one. */
static rvm_status check_count(rvm__verifier *v, uint32_t pc, const rvm_insn *in) {
    const char *operands = rvm__op_info[in->op].operands;
    const rvm_place *q = rvm__places(v->f, in);
    uint32_t want = 0;
    bool varies = false;
    if (!operands) want = (uint32_t)rvm__op_places((rvm_op)in->op, (rvm_row)in->row, in->flags);
    for (const char *c = operands; c && *c; c++) {
        if (*c == 'L' || *c == 'F' || *c == 'S') continue;
        if (*c != '*' && *c != '#' && *c != '+')
            want++, varies |= *c == 'd' || *c == 'r';
        else if (*c != '+')
            varies = true;
        else /* what is no array is rejected by its letter, which needs two places behind it */
            want += in->nplaces && q[0].kind == RVM_PLACE_ARRAY && q[0].slot < v->f->narrays
                        ? v->f->arrays[q[0].slot].ndim + 1u
                        : 2;
    }
    if (varies ? in->nplaces >= want : in->nplaces == want) return RVM_OK;
    return RVM__REJECT(v, pc, "%s has %d places where %s%u are expected", rvm__op_info[in->op].name, in->nplaces,
                       varies ? "at least " : "", want);
}

static rvm_status check_header(rvm__verifier *v, uint32_t pc, rvm_insn *in, uint32_t places) {
    if (in->op >= RVM_OP_LIMIT || !rvm__op_info[in->op].name) return RVM__REJECT(v, pc, "unknown instruction %d", in->op);
    if (in->row >= RVM_ROW_COUNT || (in->row && !rvm__op_is_update((rvm_op)in->op)))
        return RVM__REJECT(v, pc, "unknown row %d", in->row);
    if (in->flags & ~rvm__op_flags((rvm_op)in->op)) return RVM__REJECT(v, pc, "unknown flags %d", in->flags);
    if (in->places != places || in->nplaces > v->f->nplaces - places) return RVM__REJECT(v, pc, "places out of order");
    in->facts = 0;
    if (!v->target[in->op]) in->target = 0;
    if (v->target[in->op] == 'F' && in->target >= v->p->nfunctions)
        return RVM__REJECT(v, pc, "no function has the number %u", in->target);
    if (v->target[in->op] == 'S' && in->target >= v->p->nvariants)
        return RVM__REJECT(v, pc, "no variant has the number %u", in->target);
    return check_count(v, pc, in);
}

static rvm_status check_insn(rvm__verifier *v, uint32_t pc, const rvm_insn *in) {
    const rvm_place *q = rvm__places(v->f, in);
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    for (uint32_t k = 0; k < in->nplaces; k++) {
        RVM__TRY(check_place(v, pc, q + k));
        RVM__TRY(check_kind(v, pc, q + k, letters[k]));
    }
    if (rvm__op_is_update((rvm_op)in->op)) return check_update(v, pc, in, q);
    RVM__TRY(check_types(v, pc, in, q, letters));
    const char *operands = rvm__op_info[in->op].operands;
    if (rvm__is_call(in)) return check_call(v, pc, in, q);
    const bool entry = rvm__op_on_trail((rvm_op)in->op) || rvm__op_on_stack((rvm_op)in->op);
    const char *m = entry ? strchr(operands, 'm') : NULL;
    if (m) return check_slot(v, pc, q + (m - operands), in->nplaces - (int)(m - operands) - 1);
    if (operands[0] && operands[1] == 'W') return check_like(v, pc, q);
    return operands[0] && operands[1] == 'V' ? check_view(v, pc, in, q) : RVM_OK;
}

/* ---- pairing and nesting ---- */

typedef struct nest {
    uint32_t open[RVM__MAX_NEST]; /* pc of the for, par, compute, do or segment that opened a body or part */
    uint32_t depth;
} nest;

static rvm_status push(rvm__verifier *v, nest *n, uint32_t pc) {
    if (n->depth == RVM__MAX_NEST)
        return RVM__REJECT(v, pc, "loops, regions and segments nest deeper than %d", RVM__MAX_NEST);
    n->open[n->depth++] = pc;
    return RVM_OK;
}

/* Close the innermost part, which `opener` must have opened. */
static rvm_status pop(rvm__verifier *v, nest *n, uint32_t pc, enum rvm_pair opener, uint32_t *opened) {
    *opened = n->depth ? n->open[n->depth - 1] : 0;
    if (!n->depth || rvm__pair_of(v->f->code[*opened].op) != opener)
        return RVM__REJECT(v, pc, "%s without its %s", rvm__op_info[v->f->code[pc].op].name, rvm__op_info[opener * 2].name);
    n->depth--;
    return RVM_OK;
}

static bool same_slots(const rvm_place *a, const rvm_place *b, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (a[k].slot != b[k].slot) return false;
    return true;
}

/* The instruction and its target name each other and the same places. */
static rvm_status check_pair(rvm__verifier *v, uint32_t pc, const rvm_insn *in) {
    const rvm_function *f = v->f;
    const rvm_insn *other = in->target < f->ncode ? f->code + in->target : NULL;
    if (!other || other->op != rvm__op_inverse((rvm_op)in->op) || other->target != pc)
        return RVM__REJECT(v, pc, "%s is not paired: instruction %u is no %s that names it", rvm__op_info[in->op].name,
                           in->target, rvm__op_info[rvm__op_inverse((rvm_op)in->op)].name);
    if (!same_slots(rvm__places(f, in), rvm__places(f, other), in->nplaces))
        return RVM__REJECT(v, pc, "%s and its %s have different operands", rvm__op_info[in->op].name,
                           rvm__op_info[other->op].name);
    return RVM_OK;
}

/* Loops and parallel blocks. */
static rvm_status check_loop(rvm__verifier *v, nest *n, uint32_t pc, const rvm_insn *in) {
    uint32_t opened;
    if (!rvm__is_inverse(in->op)) return push(v, n, pc);
    RVM__TRY(pop(v, n, pc, rvm__pair_of(in->op), &opened));
    if (opened != in->target)
        return RVM__REJECT(v, pc, "%s belongs to another %s than the innermost", rvm__op_info[in->op].name,
                           rvm__op_info[rvm__op_inverse((rvm_op)in->op)].name);
    if ((in->flags ^ v->f->code[opened].flags) & (RVM_FLAG_REVERSED | RVM_FLAG_UNCHECKED | RVM_FLAG_TELLS))
        return RVM__REJECT(v, pc, "one end is reversed, unchecked or telling, the other is not");
    return RVM_OK;
}

/* A segment ends at the level where it began. */
static rvm_status check_segment(rvm__verifier *v, nest *n, uint32_t pc, const rvm_insn *in) {
    uint32_t opened;
    if (!rvm__is_inverse(in->op)) return push(v, n, pc);
    RVM__TRY(pop(v, n, pc, RVM_PAIR_segment, &opened));
    if (same_slots(rvm__places(v->f, in), rvm__places(v->f, v->f->code + opened), 1)) return RVM_OK;
    return RVM__REJECT(v, pc, "endsegment is of another level than its segment at line %u", v->f->positions[opened].line);
}

static rvm_status check_undo(rvm__verifier *v, nest *n, uint32_t pc, rvm_insn *code) {
    uint32_t opened;
    RVM__TRY(pop(v, n, pc, RVM_PAIR_do, &opened));
    code[pc].target = code[opened].target; /* until now, of do: its compute */
    code[opened].target = pc;
    return RVM_OK;
}

static rvm_status check_do(rvm__verifier *v, nest *n, uint32_t pc, rvm_insn *code) {
    uint32_t opened;
    RVM__TRY(pop(v, n, pc, RVM_PAIR_compute, &opened));
    code[opened].target = pc;
    code[pc].target = opened;
    return push(v, n, pc);
}

static rvm_status check_structure(rvm__verifier *v, nest *n, uint32_t pc, rvm_insn *code) {
    const rvm_insn *in = code + pc;
    if (v->target[in->op] == 'L') RVM__TRY(check_pair(v, pc, in));
    bool ends = rvm__pair_of(in->op) == RVM_PAIR_start;
    if (ends != (pc == 0 || pc == v->f->ncode - 1) || (ends && rvm__is_inverse(in->op) != (pc > 0)))
        return RVM__REJECT(v, pc, "a function begins with start and ends with halt, and has neither elsewhere");
    v->scope[pc] = n->depth ? n->open[n->depth - 1] + 1 : 0;
    switch ((int)rvm__pair_of(in->op)) {
    case RVM_PAIR_jmp:
    case RVM_PAIR_jt:
    case RVM_PAIR_jf:
        if (in->target > pc || v->scope[in->target] == v->scope[pc]) return RVM_OK;
        return RVM__REJECT(v, pc, "a jump crosses into or out of a loop, region or segment");
    case RVM_PAIR_for:
    case RVM_PAIR_par: return check_loop(v, n, pc, in);
    case RVM_PAIR_compute: return push(v, n, pc);
    case RVM_PAIR_segment: return check_segment(v, n, pc, in);
    case RVM_PAIR_do: return check_do(v, n, pc, code);
    case RVM_PAIR_undo: return check_undo(v, n, pc, code);
    }
    return RVM_OK;
}

static rvm_status check_function(rvm__verifier *v) {
    rvm_function *f = v->p->functions + v->fn;
    nest n = {.depth = 0};
    uint32_t places = 0;
    RVM__EACH_INSN(x, f) {
        RVM__TRY(check_header(v, x.pc, f->code + x.pc, places));
        RVM__TRY(check_insn(v, x.pc, x.in));
        places += x.in->nplaces;
    }
    RVM__EACH_INSN(x, f) RVM__TRY(check_structure(v, &n, x.pc, f->code));
    if (!n.depth) return RVM_OK;
    uint32_t last = n.open[n.depth - 1];
    return RVM__REJECT(v, last, "%s is never closed", rvm__op_info[f->code[last].op].name);
}

rvm_status rvm__verify_shape(rvm__verifier *v) {
    RVM__EACH_FUNCTION(v) RVM__TRY(check_function(v));
    return RVM_OK;
}

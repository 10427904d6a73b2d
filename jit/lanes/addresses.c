/* addresses.c: where the elements stand that lanes load and store: in a line, side by side, interleaved, or anywhere. */
#include "group.h"

static LLVMTypeRef integers(const rvm__group *g) {
    return LLVMVectorType(g->k->i64, g->lanes);
}

typedef struct offset { /* in bytes: uniform, linear if it has a stride, or else `many` */
    LLVMValueRef one, stride, many;
} offset;

static LLVMValueRef wide(rvm__group *g, const offset *o) {
    if (o->many) return o->many;
    LLVMValueRef all = rvm__splat(g, o->one);
    return o->stride ? LLVMBuildAdd(g->k->b, all, rvm__steps(g, o->stride), "") : all;
}

static offset plus(rvm__group *g, offset x, offset y) {
    LLVMBuilderRef b = g->k->b;
    if (x.many || y.many) return (offset){.many = LLVMBuildAdd(b, wide(g, &x), wide(g, &y), "")};
    offset sum = {.one = LLVMBuildAdd(b, x.one, y.one, "")};
    sum.stride = x.stride && y.stride ? LLVMBuildAdd(b, x.stride, y.stride, "") : x.stride ? x.stride : y.stride;
    return sum;
}

static offset times(rvm__group *g, offset x, uint64_t n) {
    LLVMBuilderRef b = g->k->b;
    if (n == 1) return x;
    if (x.many) return (offset){.many = LLVMBuildMul(b, x.many, rvm__splat(g, rvm__number(g, n)), "")};
    x.one = LLVMBuildMul(b, x.one, rvm__number(g, n), "");
    if (x.stride) x.stride = LLVMBuildMul(b, x.stride, rvm__number(g, n), "");
    return x;
}

static offset of_index(rvm__group *g, LLVMValueRef v) {
    const rvm__item *i = rvm__item_of(&g->flow, v);
    LLVMTypeRef t = LLVMTypeOf(v);
    if (!rvm__is_varying(&g->flow, v)) {
        LLVMValueRef one = rvm__one(g, v);
        return (offset){.one = t == g->k->i64 ? one : LLVMBuildSExt(g->k->b, one, g->k->i64, "")};
    }
    if (i->stride && t == g->k->i64) return (offset){.one = i->one, .stride = i->stride};
    LLVMValueRef many = rvm__many(g, v);
    return (offset){.many = t == g->k->i64 ? many : LLVMBuildSExt(g->k->b, many, integers(g), "")};
}

/* Bytes from the address that a getelementptr starts from. */
static offset offset_of(rvm__group *g, LLVMValueRef gep) {
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
    offset sum = times(g, of_index(g, LLVMGetOperand(gep, 1)), LLVMABISizeOfType(g->layout, t));
    for (int k = 2; k < LLVMGetNumOperands(gep); k++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)k);
        if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            sum = plus(g, sum, (offset){.one = rvm__number(g, LLVMOffsetOfElement(g->layout, t, field))});
            t = LLVMStructGetTypeAtIndex(t, field);
            continue;
        }
        t = LLVMGetElementType(t);
        sum = plus(g, sum, times(g, of_index(g, index), LLVMABISizeOfType(g->layout, t)));
    }
    return sum;
}

/* Bytes: the values of a that stand outside its loop, or those within. */
static LLVMValueRef terms_of(rvm__group *g, const rvm__affine *a, bool outside, unsigned lanes) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef sum = NULL;
    for (unsigned k = 0; k < a->n; k++) {
        if (rvm__is_outside(&g->flow, a->value[k], a->loop) != outside) continue;
        LLVMValueRef times = rvm__number(g, (uint64_t)a->times[k] * lanes),
                     x = LLVMBuildMul(b, rvm__one(g, a->value[k]), times, "");
        sum = sum ? LLVMBuildAdd(b, sum, x, "") : x;
    }
    return sum;
}

/* Of a loop, the same in all lanes: what its trip has in common with other addresses there, and how far from that it is,
 * which processors add where they load; false: it has nothing such. */
static bool group_address_in_loop(rvm__group *g, LLVMValueRef gep, unsigned lanes) {
    const uint32_t loop = g->flow.nodes[rvm__node_of(&g->flow, LLVMGetInstructionParent(gep))].loop;
    const rvm__affine a = rvm__affine_within(g, gep, loop);
    if (loop == RVM__NO_LOOP || a.unknown || !a.offset || !a.n || rvm__is_varying(&g->flow, a.root)) return false;
    for (unsigned k = 0; k < a.n; k++)
        if (rvm__is_varying(&g->flow, a.value[k]) || LLVMTypeOf(a.value[k]) != g->k->i64) return false;
    LLVMValueRef at = rvm__one(g, a.root), outside = terms_of(g, &a, true, lanes), inside = terms_of(g, &a, false, lanes);
    if (outside) at = rvm__behind(g, at, outside);
    if (inside) at = rvm__behind(g, at, inside);
    rvm__item_of(&g->flow, gep)->one = rvm__behind(g, at, rvm__number(g, (uint64_t)a.offset * lanes));
    return true;
}

void rvm__group_address(rvm__group *g, LLVMValueRef gep) {
    rvm__item *to = rvm__item_of(&g->flow, gep);
    if (!to->varying && group_address_in_loop(g, gep, to->memory == RVM__PRIVATE_MEMORY ? g->lanes : 1)) return;
    LLVMValueRef base = LLVMGetOperand(gep, 0);
    const rvm__item *from = rvm__item_of(&g->flow, base);
    const bool private = to->memory == RVM__PRIVATE_MEMORY, varies = rvm__is_varying(&g->flow, base);
    const offset o = times(g, offset_of(g, gep), private ? g->lanes : 1);
    if (o.many || (varies && !from->stride)) {
        LLVMValueRef start = varies ? rvm__many(g, base) : rvm__one(g, base);
        to->many = rvm__behind(g, start, o.many ? o.many : wide(g, &o));
        return;
    }
    to->one = rvm__behind(g, varies ? from->one : rvm__one(g, base), o.one);
    if (!to->varying) return;
    to->stride = !varies ? o.stride : o.stride ? LLVMBuildAdd(g->k->b, from->stride, o.stride, "") : from->stride;
    if (!to->stride) to->stride = rvm__number(g, 0);
    to->many = rvm__behind(g, to->one, rvm__steps(g, to->stride));
}

/* `address` + so many elements; what is private lies interleaved. */
static LLVMValueRef element_behind(rvm__group *g, LLVMValueRef v, LLVMValueRef address, unsigned element) {
    const unsigned gap = rvm__memory_of(&g->flow, v) == RVM__PRIVATE_MEMORY ? 8 * g->lanes : 8;
    return element && address ? rvm__behind(g, address, rvm__number(g, element * gap)) : address;
}

LLVMValueRef rvm__addresses(rvm__group *g, LLVMValueRef v, unsigned element) {
    LLVMValueRef many = element_behind(g, v, rvm__many(g, v), element);
    if (rvm__memory_of(&g->flow, v) != RVM__PRIVATE_MEMORY) return many;
    return rvm__behind(g, many, rvm__steps(g, rvm__number(g, 8)));
}

static LLVMValueRef first_of_row(rvm__group *g, LLVMValueRef v) {
    const rvm__item *i = rvm__item_of(&g->flow, v);
    const bool private = rvm__memory_of(&g->flow, v) == RVM__PRIVATE_MEMORY;
    if (!rvm__is_varying(&g->flow, v)) return private ? rvm__one(g, v) : NULL;
    if (private || !i || !i->stride || !LLVMIsAConstantInt(i->stride)) return NULL;
    return LLVMConstIntGetSExtValue(i->stride) == 8 ? i->one : NULL;
}

LLVMValueRef rvm__side_by_side(rvm__group *g, LLVMValueRef v, unsigned element) {
    return element_behind(g, v, first_of_row(g, v), element);
}

bool rvm__is_line(const rvm__group *g, LLVMValueRef v) {
    const rvm__item *i = rvm__item_of(&g->flow, v);
    return i && i->stride && i->memory != RVM__PRIVATE_MEMORY;
}

unsigned rvm__elements_apart(const rvm__group *g, LLVMValueRef v) {
    LLVMValueRef stride = rvm__is_line(g, v) ? rvm__item_of(&g->flow, v)->stride : NULL;
    const int64_t bytes = stride && LLVMIsAConstantInt(stride) ? LLVMConstIntGetSExtValue(stride) : 0;
    return bytes > 8 && bytes <= 8 * RVM__MOST_APART && bytes % 8 == 0 ? (unsigned)(bytes / 8) : 0;
}

LLVMValueRef rvm__address_among(rvm__group *g, LLVMValueRef v, LLVMValueRef many, unsigned element, unsigned n) {
    const rvm__item *i = rvm__item_of(&g->flow, v);
    if (!rvm__is_line(g, v)) return rvm__lane_of(g, many, n);
    return element_behind(g, v, rvm__behind(g, i->one, LLVMBuildMul(g->k->b, i->stride, rvm__number(g, n), "")), element);
}

LLVMValueRef rvm__address_of_lane(rvm__group *g, LLVMValueRef v, unsigned element, unsigned n) {
    return rvm__address_among(g, v, rvm__is_line(g, v) ? NULL : rvm__addresses(g, v, element), element, n);
}

/* memory.c: loads and stores of a group.
 *
 * Elements that stand side by side go as one vector, those at a stride one by one, others too, or under a mask by the gather
 * and scatter that LLVM has for the host. What a store to shared memory replaces is kept (log.c) if the group may bail out
 * later.
 */
#include "group.h"
#include "native.h"

static LLVMTypeRef integers(const rvm__group *g) {
    return LLVMVectorType(g->k->i64, g->lanes);
}

static LLVMTypeRef pointers(const rvm__group *g) {
    return LLVMVectorType(g->k->ptr, g->lanes);
}

static LLVMValueRef all_lanes(const rvm__group *g) {
    return LLVMConstAllOnes(LLVMVectorType(g->k->i1, g->lanes));
}

enum { LINE = 64 }; /* of a cache, bytes */

/* What the instance marks stores with that are to go past the caches (jit/lower/fresh.c). */
static unsigned kind_of_stream(const rvm__group *g) {
    static const char name[] = "nontemporal";
    return LLVMGetMDKindIDInContext(g->k->context, name, sizeof name - 1);
}

/* ---- one by one ---- */

static LLVMValueRef load_each(rvm__group *g, LLVMValueRef from, unsigned element, LLVMTypeRef t) {
    LLVMValueRef many = rvm__addresses(g, from, element), all = LLVMGetPoison(rvm__vector_of(g, t));
    for (unsigned n = 0; n < g->lanes; n++) {
        LLVMValueRef x = LLVMBuildLoad2(g->k->b, t, rvm__address_among(g, from, many, element, n), "");
        all = LLVMBuildInsertElement(g->k->b, all, x, LLVMConstInt(g->k->i32, n, false), "");
    }
    return all;
}

static void store_each(rvm__group *g, LLVMValueRef to, unsigned element, LLVMValueRef v) {
    LLVMValueRef many = rvm__addresses(g, to, element);
    for (unsigned n = 0; n < g->lanes; n++)
        LLVMBuildStore(g->k->b, rvm__lane_of(g, v, n), rvm__address_among(g, to, many, element, n));
}

/* Elements `apart` from one to the next: vectors of all that stands from the first to the last, of which lanes take theirs.
 * The last vector ends with the last element. */
static LLVMValueRef load_apart(rvm__group *g, LLVMValueRef from, unsigned apart, LLVMTypeRef t) {
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef row = rvm__vector_of(g, t);
    LLVMValueRef all = LLVMGetPoison(row);
    for (unsigned p = 0; p < apart; p++) {
        const unsigned start = p + 1 < apart ? p * g->lanes : (g->lanes - 1) * (apart - 1);
        LLVMValueRef each[RVM__MAX_LANES], v = LLVMBuildLoad2(b, row, rvm__behind(g, from, rvm__number(g, 8 * start)), "");
        LLVMSetAlignment(v, 8);
        for (unsigned n = 0; n < g->lanes; n++) {
            const unsigned here = n * apart - start, taken = n * apart / g->lanes < p;
            each[n] = LLVMConstInt(g->k->i32, !taken && here < g->lanes ? g->lanes + here : n, false);
        }
        all = LLVMBuildShuffleVector(b, all, v, LLVMConstVector(each, g->lanes), "");
    }
    return all;
}

/* ---- under a mask ---- */

static LLVMValueRef gather(rvm__group *g, LLVMValueRef from, LLVMTypeRef t, LLVMValueRef mask) {
    LLVMTypeRef types[2] = {t, pointers(g)};
    LLVMValueRef args[4] = {from, LLVMConstInt(g->k->i32, 8, false), mask ? mask : all_lanes(g), LLVMConstNull(t)};
    return rvm__build_overloaded(g->k, "llvm.masked.gather", 2, types, 4, args);
}

static void scatter(rvm__group *g, LLVMValueRef to, LLVMValueRef v, LLVMValueRef mask) {
    LLVMTypeRef types[2] = {LLVMTypeOf(v), pointers(g)};
    LLVMValueRef args[4] = {v, to, LLVMConstInt(g->k->i32, 8, false), mask};
    rvm__build_overloaded(g->k, "llvm.masked.scatter", 2, types, 4, args);
}

static LLVMValueRef load_row(rvm__group *g, LLVMValueRef from, LLVMTypeRef t, LLVMValueRef mask) {
    LLVMTypeRef types[2] = {t, g->k->ptr};
    LLVMValueRef args[4] = {from, LLVMConstInt(g->k->i32, 8, false), mask, LLVMConstNull(t)};
    if (mask) return rvm__build_overloaded(g->k, "llvm.masked.load", 2, types, 4, args);
    LLVMValueRef v = LLVMBuildLoad2(g->k->b, t, from, "");
    LLVMSetAlignment(v, 8);
    return v;
}

static void store_row(rvm__group *g, LLVMValueRef to, LLVMValueRef v, LLVMValueRef mask) {
    LLVMTypeRef types[2] = {LLVMTypeOf(v), g->k->ptr};
    LLVMValueRef args[4] = {v, to, LLVMConstInt(g->k->i32, 8, false), mask};
    if (mask)
        rvm__build_overloaded(g->k, "llvm.masked.store", 2, types, 4, args);
    else
        LLVMSetAlignment(LLVMBuildStore(g->k->b, v, to), 8);
}

/* What is whole lines before it, so that LLVM sees whether they begin at one together. */
static LLVMValueRef whole_lines_before(LLVMValueRef address) {
    while (LLVMIsAGetElementPtrInst(address) && LLVMGetNumOperands(address) == 2) {
        LLVMValueRef n = LLVMGetOperand(address, 1);
        if (!LLVMIsAConstantInt(n) || LLVMConstIntGetZExtValue(n) % LINE) break;
        address = LLVMGetOperand(address, 0);
    }
    return address;
}

/* A whole line past the caches, where it is one. */
static void stream_row(rvm__group *g, LLVMValueRef to, LLVMValueRef v, LLVMValueRef as) {
    LLVMBuilderRef b = g->k->b;
    LLVMBasicBlockRef line = rvm__group_block(g, "line"), no_line = rvm__group_block(g, "no.line"),
                      on = rvm__group_block(g, "on");
    LLVMValueRef part =
        LLVMBuildAnd(b, LLVMBuildPtrToInt(b, whole_lines_before(to), g->k->i64, ""), rvm__number(g, LINE - 1), "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, part, rvm__number(g, 0), ""), line, no_line);
    LLVMPositionBuilderAtEnd(b, line);
    LLVMValueRef store = LLVMBuildStore(b, v, to);
    LLVMSetAlignment(store, LINE);
    LLVMSetMetadata(store, kind_of_stream(g), as);
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, no_line);
    store_row(g, to, v, NULL);
    LLVMBuildBr(b, on);
    LLVMPositionBuilderAtEnd(b, on);
}

/* ---- what is taken back ---- */

static void keep_each(rvm__group *g, LLVMValueRef where, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef m = mask ? mask : all_lanes(g);
    LLVMValueRef bits = LLVMBuildBitCast(b, m, LLVMIntTypeInContext(g->k->context, g->lanes), "");
    rvm__keep_old(g, gather(g, where, integers(g), m), where, LLVMBuildZExt(b, bits, g->k->i64, ""));
}

/* What stands there, so many elements behind `to`, which is to be replaced. */
static void keep(rvm__group *g, LLVMValueRef to, unsigned element, LLVMValueRef mask) {
    LLVMValueRef row = g->logs && !mask ? rvm__side_by_side(g, to, element) : NULL;
    if (!g->logs) return;
    if (row)
        rvm__keep_run(g, row, load_row(g, row, integers(g), NULL));
    else
        keep_each(g, rvm__addresses(g, to, element), mask);
}

/* ---- loads and stores ---- */

/* Whether the host has gathers, for what is no line. Pairs of neighbours are faster: on Zen 4 they take a third of the time.
 */
static bool gathers(const rvm__group *g) {
    return g->k->target->width == RVM__MOST_GROUP;
}

/* How many elements apart lanes' are, where whole vectors with what is between pay; 0: not. */
static unsigned apart_of(const rvm__group *g, LLVMValueRef address, LLVMTypeRef t) {
    return gathers(g) && LLVMABISizeOfType(g->layout, t) == 8 ? rvm__elements_apart(g, address) : 0;
}

/* What varies: each lane's own element, so many behind `from`. */
static LLVMValueRef load(rvm__group *g, LLVMValueRef from, unsigned element, LLVMTypeRef t, LLVMValueRef mask) {
    LLVMValueRef row = rvm__side_by_side(g, from, element);
    if (row) return load_row(g, row, rvm__vector_of(g, t), rvm__memory_of(&g->flow, from) == RVM__SHARED ? mask : NULL);
    const unsigned apart = mask ? 0 : apart_of(g, from, t);
    if (apart) return load_apart(g, rvm__address_of_lane(g, from, element, 0), apart, t);
    if (mask || gathers(g)) return gather(g, rvm__addresses(g, from, element), rvm__vector_of(g, t), mask);
    return load_each(g, from, element, t);
}

/* Whether each lane's pair is read or written as a whole. */
static bool as_pairs(rvm__group *g, LLVMValueRef address, LLVMValueRef mask) {
    return !mask && rvm__memory_of(&g->flow, address) == RVM__SHARED && rvm__is_varying(&g->flow, address) &&
           !rvm__side_by_side(g, address, 0);
}

/* Elements that fill all that stands from the first lane's to the last one's: of whole vectors of that rows are made. */
static LLVMValueRef load_together(rvm__group *g, LLVMValueRef from, LLVMTypeRef t, unsigned width) {
    LLVMBuilderRef b = g->k->b;
    LLVMTypeRef part = LLVMVectorType(LLVMGetElementType(t), g->lanes);
    LLVMValueRef first = rvm__address_of_lane(g, from, 0, 0), rows = LLVMGetPoison(rvm__vector_of(g, t)), v[RVM__MOST_APART];
    for (unsigned p = 0; p < width; p++) {
        v[p] = LLVMBuildLoad2(b, part, rvm__behind(g, first, rvm__number(g, 8 * p * g->lanes)), "");
        LLVMSetAlignment(v[p], 8);
    }
    for (unsigned row = 0; row < width; row++) {
        LLVMValueRef all = LLVMGetPoison(part), each[RVM__MOST_GROUP];
        for (unsigned p = 0; p < width; p++) {
            for (unsigned n = 0; n < g->lanes; n++) {
                const unsigned at = n * width + row;
                each[n] = LLVMConstInt(g->k->i32, at / g->lanes == p ? g->lanes + at % g->lanes : n, false);
            }
            all = LLVMBuildShuffleVector(b, all, v[p], LLVMConstVector(each, g->lanes), "");
        }
        rows = rvm__with_row(g, rows, all, row);
    }
    return rows;
}

static LLVMValueRef load_rows(rvm__group *g, LLVMValueRef from, LLVMTypeRef t, LLVMValueRef mask) {
    LLVMTypeRef one = LLVMGetElementType(t);
    LLVMValueRef rows = LLVMGetPoison(rvm__vector_of(g, t)), row[2];
    const bool threes = apart_of(g, from, one) == 3; /* two rows of them take fewer loads than pairs */
    if (threes && !mask && rvm__width_of(t) == 3) return load_together(g, from, t, 3); /* of four, more shuffles */
    const bool pairs = as_pairs(g, from, mask) && !threes;
    for (unsigned n = 0, width = rvm__width_of(t), some; n < width; n += some) {
        some = pairs && n + 1 < width ? 2 : 1;
        if (some == 2)
            rvm__load_pairs(g, from, n, one, row);
        else
            row[0] = load(g, from, n, one, mask);
        for (unsigned k = 0; k < some; k++) rows = rvm__with_row(g, rows, row[k], n + k);
    }
    return rows;
}

void rvm__group_load(rvm__group *g, LLVMValueRef v, LLVMValueRef mask) {
    rvm__item *to = rvm__item_of(&g->flow, v);
    LLVMValueRef from = LLVMGetOperand(v, 0);
    LLVMTypeRef t = LLVMTypeOf(v);
    if (!to->varying) {
        to->one = LLVMBuildLoad2(g->k->b, t, rvm__one(g, from), "");
        LLVMSetAlignment(to->one, 8);
    } else
        to->many = rvm__width_of(t) > 1 ? load_rows(g, from, t, mask) : load(g, from, 0, t, mask);
}

static void store(rvm__group *g, LLVMValueRef to, unsigned element, LLVMValueRef v, LLVMValueRef mask) {
    LLVMValueRef row = rvm__side_by_side(g, to, element);
    if (row && mask && rvm__memory_of(&g->flow, to) == RVM__PRIVATE_MEMORY) { /* as one value, so that it may become one */
        LLVMValueRef was = load_row(g, row, LLVMTypeOf(v), NULL);
        store_row(g, row, LLVMBuildSelect(g->k->b, mask, v, was, ""), NULL);
    } else if (row)
        store_row(g, row, v, mask);
    else if (mask)
        scatter(g, rvm__addresses(g, to, element), v, mask);
    else
        store_each(g, to, element, v);
}

/* Elements that fill all that stands from the first lane's to the last one's: as whole vectors of that. */
static void store_together(rvm__group *g, LLVMValueRef to, LLVMValueRef rows, unsigned width) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef first = rvm__address_of_lane(g, to, 0, 0);
    for (unsigned p = 0; p < width; p++) {
        LLVMValueRef all = LLVMGetPoison(LLVMVectorType(LLVMGetElementType(LLVMTypeOf(rows)), g->lanes));
        for (unsigned row = 0; row < width; row++) {
            LLVMValueRef each[RVM__MOST_GROUP];
            for (unsigned n = 0; n < g->lanes; n++) {
                const unsigned at = p * g->lanes + n;
                each[n] = LLVMConstInt(g->k->i32, at % width == row ? g->lanes + at / width : n, false);
            }
            all = LLVMBuildShuffleVector(b, all, rvm__row_of(g, rows, row), LLVMConstVector(each, g->lanes), "");
        }
        LLVMSetAlignment(LLVMBuildStore(b, all, rvm__behind(g, first, rvm__number(g, 8 * p * g->lanes))), 8);
    }
}

static void store_rows(rvm__group *g, LLVMValueRef to, LLVMValueRef rows, unsigned width, LLVMValueRef mask) {
    if (!mask && apart_of(g, to, LLVMGetElementType(LLVMTypeOf(rows))) == width) {
        store_together(g, to, rows, width);
        return;
    }
    const bool pairs = as_pairs(g, to, mask);
    for (unsigned n = 0; n < width; n++) {
        LLVMValueRef row = rvm__row_of(g, rows, n);
        if (!pairs || n + 1 == width)
            store(g, to, n, row, mask);
        else
            rvm__store_pairs(g, to, n, row, rvm__row_of(g, rows, n + 1)), n++;
    }
}

void rvm__group_store(rvm__group *g, LLVMValueRef v, LLVMValueRef mask) {
    LLVMValueRef value = rvm__many(g, LLVMGetOperand(v, 0)), to = LLVMGetOperand(v, 1);
    const unsigned width = rvm__width_of(LLVMTypeOf(LLVMGetOperand(v, 0)));
    rvm__group_before_store(g, to);
    for (unsigned n = 0; n < width && rvm__memory_of(&g->flow, to) != RVM__PRIVATE_MEMORY; n++) keep(g, to, n, mask);
    LLVMValueRef streams = LLVMGetMetadata(v, kind_of_stream(g)), row = rvm__side_by_side(g, to, 0);
    if (width > 1)
        store_rows(g, to, value, width, mask);
    else if (streams && row && !mask && 8 * g->lanes == LINE)
        stream_row(g, row, value, streams);
    else
        store(g, to, 0, value, mask);
}

void rvm__group_memset(rvm__group *g, LLVMValueRef call) {
    LLVMValueRef bytes = LLVMBuildMul(g->k->b, rvm__one(g, LLVMGetOperand(call, 2)), rvm__number(g, g->lanes), "");
    LLVMBuildMemSet(g->k->b, rvm__one(g, LLVMGetOperand(call, 0)), rvm__one(g, LLVMGetOperand(call, 1)), bytes, 8);
}

/* ---- adding to elements that lanes share ---- */

/* Lanes that are not active add nothing, to memory of no meaning. */
static void add_each(rvm__group *g, LLVMValueRef many, LLVMValueRef v, LLVMValueRef mask, bool real) {
    LLVMBuilderRef b = g->k->b;
    if (mask) many = LLVMBuildSelect(b, mask, many, rvm__splat(g, rvm__group_local(g, g->k->i64)), "");
    for (unsigned n = 0; n < g->lanes; n++) rvm__add_to(g, rvm__lane_of(g, many, n), rvm__lane_of(g, v, n), real);
}

void rvm__group_add(rvm__group *g, LLVMValueRef call, LLVMValueRef mask) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef to = LLVMGetOperand(call, 0), v = rvm__many(g, LLVMGetOperand(call, 1)), row = rvm__side_by_side(g, to, 0);
    LLVMTypeRef t = LLVMTypeOf(v);
    if (rvm__item_of(&g->flow, call)->later) {
        rvm__add_later(g, to, v, mask);
        return;
    }
    const bool real = LLVMGetTypeKind(LLVMGetElementType(t)) == LLVMDoubleTypeKind;
    const bool private = rvm__memory_of(&g->flow, to) == RVM__PRIVATE_MEMORY;
    if (mask) v = LLVMBuildSelect(b, mask, v, real ? rvm__splat(g, LLVMConstReal(g->k->f64, -0.0)) : LLVMConstNull(t), "");
    if (!private && (row || rvm__is_varying(&g->flow, to))) keep(g, to, 0, mask);
    if (row) {
        LLVMValueRef was = load_row(g, row, t, private ? NULL : mask);
        store_row(g, row, real ? LLVMBuildFAdd(b, was, v, "") : LLVMBuildAdd(b, was, v, ""), private ? NULL : mask);
    } else if (rvm__is_varying(&g->flow, to))
        add_each(g, rvm__addresses(g, to, 0), v, mask, real);
    else if (real)
        rvm__add_all(g, call, v);
    else {
        if (!private) rvm__keep_run(g, rvm__one(g, to), LLVMBuildLoad2(b, g->k->i64, rvm__one(g, to), ""));
        rvm__add_to(g, rvm__one(g, to), rvm__sum_of(g, v, false), false);
    }
}

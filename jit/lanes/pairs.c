/* pairs.c: elements side by side that an instance loads or stores at once, as LLVM finds them in it.
 *
 * In the instance they are a vector, from which elements are taken, or into which they are put, by constant numbers. In a
 * group it is a vector of rows: all lanes' first elements, then all second ones. Each lane loads or stores two at a time;
 * they are transposed in registers, lanes of even number beside those of odd number, so that two rows take two shuffles.
 */
#include "group.h"

#include <llvm-c/Transforms/PassBuilder.h>

/* ---- in instances ---- */

/* Functions that are to stay as they are. */
static void spare_others(const rvm__build *k, bool spared) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !rvm__is_instance_function(f)) rvm__build_vectors(k, f, !spared);
}

LLVMErrorRef rvm__find_pairs(rvm__build *k, LLVMTargetMachineRef machine) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    spare_others(k, true);
    LLVMErrorRef e = LLVMRunPasses(k->module, "function(load-store-vectorizer)", machine, options);
    spare_others(k, false);
    LLVMDisposePassBuilderOptions(options);
    return e;
}

/* ---- in groups ---- */

/* Of x and y, each of n elements, which may be the same: n, of the numbers that `at` gives. */
static LLVMValueRef pick(rvm__group *g, LLVMValueRef x, LLVMValueRef y, unsigned n, const unsigned *at) {
    LLVMValueRef each[RVM__MOST_GROUP];
    for (unsigned k = 0; k < n; k++) each[k] = LLVMConstInt(g->k->i32, at[k], false);
    return LLVMBuildShuffleVector(g->k->b, x, y, LLVMConstVector(each, n), "");
}

/* Pairs one after the other, a power of two of them. */
static LLVMValueRef joined(rvm__group *g, LLVMValueRef *pair, unsigned count) {
    static const unsigned in_order[RVM__MOST_GROUP] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (unsigned n = 4; count > 1; count /= 2, n *= 2)
        for (unsigned k = 0; k < count / 2; k++) pair[k] = pick(g, pair[2 * k], pair[2 * k + 1], n, in_order);
    return pair[0];
}

/* Every other element of x, and between them those of y; from the second one on, if asked. */
static LLVMValueRef woven(rvm__group *g, LLVMValueRef x, LLVMValueRef y, bool second) {
    unsigned at[RVM__MOST_GROUP];
    for (unsigned k = 0; k < g->lanes; k++) at[k] = k / 2 * 2 + second + k % 2 * g->lanes;
    return pick(g, x, y, g->lanes, at);
}

void rvm__load_pairs(rvm__group *g, LLVMValueRef from, unsigned element, LLVMTypeRef t, LLVMValueRef row[2]) {
    LLVMValueRef half[2][RVM__MOST_GROUP / 2]; /* of lanes of even and of odd number */
    for (unsigned n = 0; n < g->lanes; n++) {
        LLVMValueRef p = LLVMBuildLoad2(g->k->b, LLVMVectorType(t, 2), rvm__address_of_lane(g, from, element, n), "");
        LLVMSetAlignment(p, 8);
        half[n % 2][n / 2] = p;
    }
    LLVMValueRef even = joined(g, half[0], g->lanes / 2), odd = joined(g, half[1], g->lanes / 2);
    for (int k = 0; k < 2; k++) row[k] = woven(g, even, odd, k);
}

void rvm__store_pairs(rvm__group *g, LLVMValueRef to, unsigned element, LLVMValueRef first, LLVMValueRef second) {
    const LLVMValueRef half[2] = {woven(g, first, second, false), woven(g, first, second, true)};
    for (unsigned n = 0; n < g->lanes; n++) {
        LLVMValueRef p = pick(g, half[n % 2], half[n % 2], 2, (unsigned[]){n / 2 * 2, n / 2 * 2 + 1});
        LLVMSetAlignment(LLVMBuildStore(g->k->b, p, rvm__address_of_lane(g, to, element, n)), 8);
    }
}

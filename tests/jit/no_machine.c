/* no_machine.c: what IR says of where an instance has added to (jit/llvm/no_machine.c) against what C says of it
 * (vm/native/native.c), at elements in no order, and side by side. */
#include "compile.h"
#include "harness.h"
#include "native.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 300, STEPS = 400, ELEMENTS = 450 }; /* of which no more than MOST_SEEN are apart: both know all */

typedef bool is_new(rvm__native_seen *seen, const char *element);

static is_new *in_c(void) {
    is_new *f = NULL;
    for (size_t k = 0; k < rvm__native_nsymbols; k++)
        if (!strcmp(rvm__native_symbols[k].name, "rvm__native_is_new"))
            memcpy(&f, &rvm__native_symbols[k].address, sizeof f);
    return f;
}

/* Declared, as a group does that calls it, and called for others to find it. */
static bool build(rvm__build *k, report *r) {
    LLVMTypeRef params[2] = {k->ptr, k->ptr}, t = LLVMFunctionType(k->i1, params, 2, false);
    LLVMTypeRef outer = LLVMFunctionType(k->i64, params, 2, false);
    LLVMValueRef inner = LLVMAddFunction(k->module, "rvm__native_is_new", t),
                 f = LLVMAddFunction(k->module, "is_new", outer);
    rvm_error e = {0};
    LLVMPositionBuilderAtEnd(k->b, LLVMAppendBasicBlockInContext(k->context, f, "entry"));
    LLVMValueRef both[2] = {LLVMGetParam(f, 0), LLVMGetParam(f, 1)};
    LLVMBuildRet(k->b, LLVMBuildZExt(k->b, LLVMBuildCall2(k->b, t, inner, both, 2, ""), k->i64, ""));
    return report_ok(r, "IR", rvm__build_no_machine(k, &e), &e);
}

/* Elements drawn at random, each now and then followed by those beside it. */
static void compare(report *r, is_new *want, int64_t (*got)(rvm__native_seen *, const char *), rng *random) {
    static double memory[ELEMENTS];
    rvm__native_seen a = {0}, b = {0};
    int64_t at = 0;
    for (int step = 0; step < STEPS; step++) {
        const uint64_t way = rng_below(random, 4);
        at = way > 1 ? (int64_t)rng_below(random, ELEMENTS) : at + (way ? 1 : -1);
        at = (at + ELEMENTS) % ELEMENTS;
        const bool wanted = want(&a, (const char *)(memory + at)), is = got(&b, (const char *)(memory + at)) != 0;
        r->checks++;
        if (is != wanted || a.n != b.n) report_fail(r, "element %d, step %d: %d, not %d", (int)at, step, is, wanted);
        if (is != wanted) return;
    }
}

int main(void) {
    report r = {.name = "no machine"};
    compiled c = {0};
    rvm__build k;
    rng random = {11};
    int64_t (*got)(rvm__native_seen *, const char *) = NULL;
    is_new *want = in_c();
    if (!want || !rvm__build_begin(&k, &plain, "test")) return 2;
    if (build(&k, &r) && compile(&c, &k, false, 1)) {
        void *at = compiled_function(&c, "is_new");
        memcpy(&got, &at, sizeof got);
    }
    if (!got) report_fail(&r, "%s", c.why);
    for (int n = 0; got && n < ROUNDS && !r.failures; n++) compare(&r, want, got, &random);
    compiled_end(&c);
    rvm__build_end(&k);
    printf("%u answers compared\n", r.checks);
    return r.failures || !r.checks;
}

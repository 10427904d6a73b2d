/* vectors.c: functions of doubles in lanes: exact ones are instructions, elementary ones calls lane by lane, but SLEEF's,
 * which there are for vectors, with the same bits; or, if that is allowed, of glibc's libmvec, whose errors are below 4 ulp.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "group.h"
#include "target.h"

/* Arguments of a call, each a vector. */
static unsigned arguments(rvm__group *g, LLVMValueRef call, LLVMValueRef args[3]) {
    const unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned k = 0; k < n && k < 3; k++) args[k] = rvm__many(g, LLVMGetOperand(call, k));
    return n;
}

/* A function of LLVM's: of operands and a result of one type, or a conversion. */
static LLVMValueRef intrinsic(rvm__group *g, LLVMValueRef call, unsigned n, LLVMValueRef *args) {
    const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(call));
    LLVMTypeRef t[2] = {rvm__vector_of(g, LLVMTypeOf(call)), LLVMTypeOf(args[0])};
    const char *name = rvm__callee_name(call);
    const bool converts = !strncmp(name, "llvm.fptosi.sat", 15), classifies = !strncmp(name, "llvm.is.fpclass", 15);
    if (classifies) t[0] = t[1];
    if (classifies || !strncmp(name, "llvm.abs", 8)) args[1] = LLVMGetOperand(call, 1);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->k->module, id, t, 1u + converts);
    return LLVMBuildCall2(g->k->b, LLVMIntrinsicGetType(g->k->context, id, t, 1u + converts), f, args, n, "");
}

static LLVMValueRef lane_by_lane(rvm__group *g, LLVMValueRef call, unsigned n, LLVMValueRef *args) {
    LLVMBuilderRef b = g->k->b;
    LLVMValueRef f = LLVMGetCalledValue(call), all = LLVMGetPoison(rvm__vector_of(g, LLVMTypeOf(call))), one[3];
    for (unsigned lane = 0; lane < g->lanes; lane++) {
        LLVMValueRef at = LLVMConstInt(g->k->i32, lane, false);
        for (unsigned k = 0; k < n; k++) one[k] = LLVMBuildExtractElement(b, args[k], at, "");
        LLVMValueRef x = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, one, n, "");
        all = LLVMBuildInsertElement(b, all, x, at, "");
    }
    return all;
}

/* ---- libmvec ---- */

static LLVMValueRef lanes_of(rvm__group *g, LLVMValueRef v, unsigned first, unsigned n, unsigned of) {
    LLVMValueRef each[RVM__MOST_GROUP];
    for (unsigned k = 0; k < n; k++) each[k] = LLVMConstInt(g->k->i32, first + k, false);
    (void)of;
    return LLVMBuildShuffleVector(g->k->b, v, v, LLVMConstVector(each, n), "");
}

/* As many at once as fit a register; then put together again. */
static LLVMValueRef in_parts(rvm__group *g, LLVMValueRef f, LLVMTypeRef type, unsigned n, LLVMValueRef *args) {
    LLVMBuilderRef b = g->k->b;
    const unsigned w = g->k->target->width;
    LLVMValueRef part[RVM__MOST_GROUP], some[3];
    for (unsigned at = 0; at < g->lanes; at += w) {
        for (unsigned k = 0; k < n; k++) some[k] = w == g->lanes ? args[k] : lanes_of(g, args[k], at, w, g->lanes);
        part[at / w] = LLVMBuildCall2(b, type, f, some, n, "");
    }
    unsigned have = w;
    for (unsigned count = g->lanes / w; count > 1; count /= 2, have *= 2)
        for (unsigned k = 0; k < count / 2; k++) {
            LLVMValueRef each[RVM__MOST_GROUP];
            for (unsigned i = 0; i < 2 * have; i++) each[i] = LLVMConstInt(g->k->i32, i, false);
            part[k] = LLVMBuildShuffleVector(b, part[2 * k], part[2 * k + 1], LLVMConstVector(each, 2 * have), "");
        }
    return part[0];
}

/* libmvec's name of a function. The library stays open, so that code finds it. */
static bool is_in_libmvec(const rvm__group *g, const char *function, unsigned n, char name[80]) {
    const rvm__traits *t = g->k->target;
    void *library = t->vectors ? dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL) : NULL;
    snprintf(name, 80, "_ZGV%cN%u%.*s_%.40s", t->vectors, t->width, (int)n, "vvv", function);
    return library && dlsym(library, name);
}

/* ---- SLEEF ---- */

/* How its set serves a function, of so many numbers as fit a register. */
static int served_by_sleef(const rvm__group *g, const char *function) {
    static const struct {
        const char *name;
        int serves;
    } set[] = {
#define FUNCTION(name, shape, who, error, serves) {#name, RVM__##serves},
#include "functions.def"
#undef FUNCTION
    };
    const unsigned width = g->k->target->width;
    if (!g->k->sleef || (width != 4 && width != 8)) return RVM__NEVER;
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        if (!strcmp(function, set[k].name)) return set[k].serves;
    return RVM__NEVER;
}

/* The function that serves a register of lanes (isa/table/functions.h): where 4 ulp are allowed libmvec's, but for ours,
 * which are about as fast and closer; else SLEEF's. */
static bool is_in_library(const rvm__group *g, LLVMValueRef call, unsigned n, char name[80]) {
    const char *function = rvm__function_of(rvm__callee_name(call));
    if (!function || LLVMTypeOf(call) != g->k->f64) return false;
    const int serves = served_by_sleef(g, function);
    if (g->vector_math && serves != RVM__OURS && is_in_libmvec(g, function, n, name)) return true;
    snprintf(name, 80, "rvm__sleef%u_%.40s", g->k->target->width, function);
    return serves != RVM__NEVER;
}

const char *rvm__of_ours(const rvm__group *g, LLVMValueRef call) {
    const char *function = rvm__function_of(rvm__callee_name(call));
    const bool is = function && LLVMTypeOf(call) == g->k->f64 && served_by_sleef(g, function) == RVM__OURS;
    return is ? function : NULL;
}

bool rvm__is_lane_by_lane(const rvm__group *g, LLVMValueRef v) {
    char name[80];
    if (!LLVMIsACallInst(v) || LLVMTypeOf(v) != g->k->f64 || LLVMGetIntrinsicID(LLVMGetCalledValue(v))) return false;
    return !is_in_library(g, v, LLVMGetNumArgOperands(v), name);
}

/* NULL: there is none. */
static LLVMValueRef of_library(rvm__group *g, LLVMValueRef call, unsigned n, LLVMTypeRef *type) {
    char name[80];
    if (!is_in_library(g, call, n, name)) return NULL;
    LLVMTypeRef t = LLVMVectorType(g->k->f64, g->k->target->width), of[3] = {t, t, t};
    *type = LLVMFunctionType(t, of, n, false);
    LLVMValueRef f = LLVMGetNamedFunction(g->k->module, name);
    if (f) return f;
    f = LLVMAddFunction(g->k->module, name, *type);
    static const char *const attributes[] = {"memory", "nounwind", "willreturn"};
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++) {
        const unsigned kind = LLVMGetEnumAttributeKindForName(attributes[k], strlen(attributes[k]));
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->k->context, kind, 0));
    }
    return f;
}

/* Of operands and a result of one type, but for what intrinsic() knows. */
static const char *const known[] = {"fabs",     "sqrt",     "floor",      "ceil",       "trunc",      "nearbyint", "rint",
                                    "fma",      "fmuladd",  "copysign",   "minnum",     "maxnum",     "smin",      "smax",
                                    "umin",     "umax",     "abs",        "ctpop",      "ctlz",       "cttz",      "fshl",
                                    "fshr",     "bswap",    "bitreverse", "fptosi.sat", "is.fpclass", "minimum",   "maximum",
                                    "usub.sat", "uadd.sat", "ssub.sat",   "sadd.sat"};

bool rvm__is_group_function(LLVMValueRef call) {
    const char *name = rvm__callee_name(call);
    const unsigned n = LLVMGetNumArgOperands(call);
    bool good = n <= 3;
    if (LLVMGetIntrinsicID(LLVMGetCalledValue(call))) {
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            const size_t length = strlen(known[k]);
            if (!strncmp(name + 5, known[k], length) && name[5 + length] == '.') return good;
        }
        return false;
    }
    for (unsigned k = 0; k < n; k++) {
        const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, k)));
        good &= kind == LLVMDoubleTypeKind || kind == LLVMIntegerTypeKind; /* an i64: an order */
    }
    return good && LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMDoubleTypeKind;
}

LLVMValueRef rvm__group_function(rvm__group *g, LLVMValueRef call) {
    LLVMValueRef args[3];
    LLVMTypeRef type = NULL;
    const unsigned n = arguments(g, call, args);
    if (LLVMGetIntrinsicID(LLVMGetCalledValue(call))) return intrinsic(g, call, n, args);
    LLVMValueRef f = of_library(g, call, n, &type);
    return f ? in_parts(g, f, type, n, args) : lane_by_lane(g, call, n, args);
}

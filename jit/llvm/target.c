#include "target.h"
#include "support.h"

#include "lanes.h"
#include "large.h"

#include <llvm-c/Support.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(number)    #number
#define TEXT_OF(number) TEXT(number)

/* A loop with a sum whose order counts goes in vectors but for the additions of it, which LLVM thinks of where the host has
 * instructions for that alone; more copies are made of loops; and sums that are free to be taken in another order are looked
 * for behind what is stored, too. Which integers x86 may as well keep as masks is not asked: that takes the square of a
 * function's size, a minute for a block of some hundred checked updates. Loops' addresses are made of counters that go along
 * (loop strength reduction) in what has no groups alone (below): these have so many that they leave the registers, and
 * nested loops took up to half as long again, depending on how code happens to lie. The options are the process's; of those
 * that are unknown nothing comes. */
static void set_options(void) {
    static const char *const options[] = {"rvm",
                                          "-force-ordered-reductions",
                                          ("-unroll-max-upperbound=" TEXT_OF(RVM__MOST_COPIES)),
                                          "-slp-vectorize-hor-store",
                                          "-disable-x86-domain-reassignment",
                                          "-disable-lsr"};
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "");
}

static void know_host(void) {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    set_options();
}

rvm_status rvm__target_fail(LLVMErrorRef e, const char *doing, const char *more, rvm_error *err) {
    if (!e) return RVM_OK;
    char *text = LLVMGetErrorMessage(e);
    rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "LLVM fails when it %s: %.300s%s%.120s", doing, text, *more ? "; " : "",
              more);
    LLVMDisposeErrorMessage(text);
    return RVM_ERR_UNSUPPORTED;
}

/* What they have beyond all of their kind. */
static const char *features_of(const char *cpu) {
    static const struct {
        const char *name, *features;
    } processors[] = {
#define HAS(feature)                    "+" feature ","
#define PROCESSOR(kind, name, features) {name, "" features},
#include "processors.def"
#undef PROCESSOR
#undef HAS
    };
    for (size_t k = 0; k < sizeof processors / sizeof *processors; k++)
        if (!strcmp(cpu, processors[k].name)) return processors[k].features;
    return "";
}

static const char *same_name(const char *name, bool sleef) {
    (void)sleef;
    return name;
}

/* Those of functions.def: in programs, on a host of the C library's set, where that has it or rvm_functions.h, of SLEEF's.
 */
static const struct {
    const char *name, *libm, *sleef;
} functions[] = {
#define LIBM(name)                                ""
#define OWN(name)                                 "rvm_"
#define FUNCTION(name, shape, who, error, serves) {#name, who(name) #name, "rvm_sleef_" #name},
#include "functions.def"
#undef LIBM
#undef OWN
#undef FUNCTION
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

const char *rvm__host_function(const char *name, bool sleef) {
    for (size_t k = 0; k < FUNCTIONS; k++)
        if (!strcmp(name, functions[k].name)) return sleef ? functions[k].sleef : functions[k].libm;
    return name;
}

const char *rvm__function_of(const char *symbol) {
    for (size_t k = 0; k < FUNCTIONS; k++)
        if (!strcmp(symbol, functions[k].libm) || !strcmp(symbol, functions[k].sleef)) return functions[k].name;
    return NULL;
}

/* A group has as many instances as a register has doubles, but 4 at least. x86-64 converts i64 one at a time before AVX-512;
 * conventions that keep registers, on x86-64 those of doubles, too, and libmvec are there for two kinds. At level 0 little
 * is in registers: there such calls would only take LLVM longer. */
static rvm__traits traits_of(const rvm__target *t) {
    enum { PRESERVE_MOST = 14, PRESERVE_ALL = 15 };
    const bool device = !strncmp(t->triple, "nvptx", 5), x86 = !strncmp(t->triple, "x86_64", 6),
               arm = !strncmp(t->triple, "aarch64", 7), keeps = t->level > 0;
    const unsigned width = strstr(t->features, "+avx512f") ? 8 : strstr(t->features, "+avx2") ? 4 : 2;
    return (rvm__traits){.group = width < 4 ? 4 : width,
                         .width = width,
                         .converts = !x86 || width == 8,
                         .cold = x86 && keeps   ? PRESERVE_ALL
                                 : arm && keeps ? PRESERVE_MOST
                                                : 0,
                         .poll = (x86 || arm) && keeps ? PRESERVE_MOST : 0,
                         .vectors = x86   ? "bde"[width / 4]
                                    : arm ? 'n'
                                          : 0,
                         .words = device,
                         .function = device ? same_name : rvm__host_function};
}

/* preserve_all keeps whole registers of doubles, but LLVM ends a function that touched them by vzeroupper, whatever its
 * convention: their upper halves, just restored, were 0 in the caller. */
static bool keep_upper_halves(rvm__target *t) {
    static const char without[] = "-vzeroupper";
    if (strncmp(t->triple, "x86_64", 6) != 0) return true;
    const size_t size = strlen(t->features) + sizeof "," + sizeof without;
    char *text = malloc(size);
    if (!text) return false;
    snprintf(text, size, "%s%s%s", t->features, *t->features ? "," : "", without);
    t->traits.cold_features = t->cold_features = LLVMCreateMessage(text);
    free(text);
    return true;
}

static LLVMTargetMachineRef machine_of(const rvm__target *t, LLVMTargetRef target, LLVMCodeGenOptLevel level) {
    return LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features, level, LLVMRelocPIC, LLVMCodeModelSmall);
}

rvm_status rvm__target_open(rvm__target *t, const char *triple, const char *cpu, const char *features, unsigned level,
                            rvm_error *err) {
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault,
                                                 LLVMCodeGenLevelAggressive};
    LLVMTargetRef target;
    char *why = NULL;
    *t = (rvm__target){.level = level,
                       .triple = LLVMCreateMessage(triple),
                       .cpu = LLVMCreateMessage(cpu),
                       .features = LLVMCreateMessage(features)};
    t->traits = traits_of(t);
    if (!keep_upper_halves(t)) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    if (LLVMGetTargetFromTriple(t->triple, &target, &why)) {
        rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "LLVM has no code for %s: %s", t->triple, why);
        LLVMDisposeMessage(why);
        return RVM_ERR_UNSUPPORTED;
    }
    t->machine = machine_of(t, target, levels[t->level]);
    if (!t->machine)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "LLVM has no code for %s with %s", t->triple, t->cpu);
    LLVMTargetDataRef data = LLVMCreateTargetDataLayout(t->machine);
    t->layout = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    return RVM_OK;
}

/* A name stands for more than decides of it: of that, what this processor has not goes, too, as virtual machines may hide
 * it. In LLVM's words; NULL: out of memory. */
static char *limited_features(const char *cpu, const char *host) {
    const char *all = features_of(cpu);
    const size_t size = strlen(all);
    char *text = malloc(size + strlen(host) + 1), *end = text + size;
    if (!text) return NULL;
    memcpy(text, all, size);
    for (const char *f = host; *f;) {
        const size_t n = strcspn(f, ","), whole = n + (f[n] == ',');
        if (*f == '-') memcpy(end, f, whole), end += whole;
        f += whole;
    }
    *end = 0;
    return text;
}

rvm_status rvm__target_open_host(rvm__target *t, const char *cpu, bool here, unsigned level, rvm_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* LLVM's table of targets belongs to the process */
    pthread_once(&once, know_host);
    const bool native = strcmp(cpu, RVM__CPU_NATIVE) == 0;
    char *const triple = LLVMGetDefaultTargetTriple();
    char *const name = native ? LLVMGetHostCPUName() : LLVMCreateMessage(cpu);
    char *const host = LLVMGetHostCPUFeatures(), *const limited = limited_features(cpu, here ? host : "");
    *t = (rvm__target){0};
    const rvm_status status = limited ? rvm__target_open(t, triple, name, native ? host : limited, level, err)
                                      : rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    free(limited);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(name);
    LLVMDisposeMessage(host);
    return status;
}

void rvm__target_close(rvm__target *t) {
    char *const texts[] = {t->triple, t->cpu, t->features, t->layout, t->cold_features};
    if (t->machine) LLVMDisposeTargetMachine(t->machine);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (texts[k]) LLVMDisposeMessage(texts[k]);
    *t = (rvm__target){0};
}

void rvm__target_prepare(const rvm__target *t, LLVMModuleRef module) {
    LLVMSetTarget(module, t->triple);
    LLVMSetDataLayout(module, t->layout);
}

static rvm_status verify(LLVMModuleRef module, rvm_error *err) {
    char *why = NULL;
    const bool refused = LLVMVerifyModule(module, LLVMReturnStatusAction, &why);
    if (refused)
        rvm__fail(err, RVM_ERR_INTERNAL, NULL, 0, 0, "LLVM refuses what was lowered: %.*s", (int)strcspn(why, "\n"), why);
    LLVMDisposeMessage(why);
    return refused ? RVM_ERR_INTERNAL : RVM_OK;
}

rvm_status rvm__target_group(const rvm__target *t, rvm__build *k, const rvm__lowering *what, rvm_error *err) {
    const bool groups = k->instances && what->lanes, all = t->level > 0, moves = what->unchecked && t->level >= 2;
    if (!groups) rvm__drop_parts(k);
    if (!groups && !(moves && rvm__calls_functions(k))) return RVM_OK;
    rvm_status status = verify(k->module, err);
    if (!status) status = rvm__target_fail(rvm__simplify(k, t->machine, all), "simplifies", "", err);
    if (!status) rvm__make_groups(k, what->vector_math, t->level > 1);
    return status || !k->no_machine ? status : rvm__build_no_machine(k, err);
}

/* Whether it computes with vectors of more than 256 bits, as groups do. */
static bool is_wide(LLVMTargetDataRef data, LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            LLVMTypeRef t = LLVMTypeOf(in);
            if (LLVMGetTypeKind(t) == LLVMVectorTypeKind && LLVMSizeOfTypeInBits(data, t) > 256) return true;
        }
    return false;
}

/* Where LLVM makes vectors itself it takes 256 bits if that suits the processor; it is not to move them by 512 bits at once
 * then, which would leave fewer units for the rest. As C's compilers do. */
static void keep_narrow(LLVMModuleRef module) {
    static const char width[] = "min-legal-vector-width";
    LLVMTargetDataRef data = LLVMGetModuleDataLayout(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_wide(data, f))
            LLVMAddAttributeAtIndex(
                f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                LLVMCreateStringAttribute(LLVMGetModuleContext(module), width, sizeof width - 1, "0", 1));
}

static void vectorise(const rvm__build *k, bool allowed) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) rvm__build_vectors(k, f, allowed);
}

rvm_status rvm__target_optimise(const rvm__target *t, const rvm__build *k, bool checked, bool plain, rvm_error *err) {
    /* Once more behind all else: of a product that may be taken in any order the factors come last that are there last. Then
     * addresses: of groups, what they have in common is computed once; of others that run on a host, counters go along. A
     * device would keep each of these in a register, beside the 128 that a thread should have. */
    static const char again[] = ",function(reassociate)";
    static const char of_groups[] = ",function(separate-const-offset-from-gep,slsr,early-cse)";
    static const char of_others[] = ",function(loop(loop-reduce))";
    char passes[sizeof "default<O0>" + sizeof again + sizeof of_groups] = "default<O0>";
    enum { MOST_CHECKED = 2 };
    const unsigned level = checked && t->level > MOST_CHECKED ? MOST_CHECKED : t->level;
    if (verify(k->module, err)) return RVM_ERR_INTERNAL;
    keep_narrow(k->module);
    if (plain) vectorise(k, false);
    *strchr(passes, '0') = (char)('0' + level);
    if (k->fast && t->level >= 2) strcat(passes, again);
    if (t->level >= 2 && !k->on_device) strcat(passes, k->grouped ? of_groups : of_others);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = k->on_device ? NULL : rvm__optimise_large(k, t->machine);
    if (!e) e = LLVMRunPasses(k->module, passes, t->machine, options);
    rvm__hand_back_large(k);
    LLVMDisposePassBuilderOptions(options);
    if (plain) vectorise(k, true);
    return rvm__target_fail(e, "optimises", "", err);
}

/* A magnitude is all bits but the sign: at its lowest level LLVM has machine instructions for that at once, but for a call
 * of fabs makes a graph, which long derivatives took a tenth of the time for. */
static void put_magnitude(LLVMBuilderRef b, LLVMValueRef call) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
    LLVMTypeRef word = LLVMInt64TypeInContext(context);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef bits = LLVMBuildBitCast(b, LLVMGetOperand(call, 0), word, "");
    bits = LLVMBuildAnd(b, bits, LLVMConstInt(word, INT64_MAX, false), "");
    LLVMReplaceAllUsesWith(call, LLVMBuildBitCast(b, bits, LLVMTypeOf(call), ""));
    LLVMInstructionEraseFromParent(call);
}

static void put_magnitudes(LLVMModuleRef module) {
    LLVMValueRef f = LLVMGetNamedFunction(module, "llvm.fabs.f64");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMUseRef u = f ? LLVMGetFirstUse(f) : NULL, next; u; u = next) {
        LLVMValueRef call = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        if (LLVMIsACallInst(call)) put_magnitude(b, call);
    }
    LLVMDisposeBuilder(b);
}

rvm_status rvm__target_emit(const rvm__target *t, LLVMModuleRef module, LLVMCodeGenFileType form, LLVMMemoryBufferRef *out,
                            rvm_error *err) {
    char *why = NULL;
    LLVMTargetMachineRef machine = t->machine, simple = NULL;
    if (rvm__is_emitted_simply(module)) simple = machine_of(t, LLVMGetTargetMachineTarget(t->machine), LLVMCodeGenLevelNone);
    if (simple) machine = simple;
    if ((simple || !t->level) && !t->traits.words) put_magnitudes(module); /* on a host */
    const bool failed = LLVMTargetMachineEmitToMemoryBuffer(machine, module, form, &why, out);
    if (simple) LLVMDisposeTargetMachine(simple);
    if (!failed) return RVM_OK;
    rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "LLVM emits no code: %s", why);
    LLVMDisposeMessage(why);
    return RVM_ERR_UNSUPPORTED;
}

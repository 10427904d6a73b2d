/* engine.c: from a request to an object file, and where load.c is not to load that, to code in the process.
 *
 *     rvm__lower ──▶ module of IR ──passes──▶ object code ( ──LLJIT──▶ addresses of the entry and of what it needs )
 *
 * All code that is linked here is in one library of the LLJIT. So the two names that a lowering defines get a number behind
 * them, and everything else that it defines is internal. Code calls the machine's functions by the names of
 * rvm__native_symbols, bound to what the library that opened this module handed over; all else, as libm's, is looked up in
 * the process.
 */
#include "engine.h"
#include "support.h"

#include <dlfcn.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Object.h>
#include <llvm-c/OrcEE.h>
#include <string.h>
#include <time.h>

#include "c_function.h"
#include "device.h"
#include "lower.h"
#include "guarded.h"
#include "target.h"

struct rvm__compiler {
    rvm__target target;
    rvm__compiler_options o;
    rvm_allocator al;    /* o.al, unguarded */
    LLVMOrcLLJITRef jit; /* NULL: nothing was linked yet */
    unsigned made;       /* pieces of code, the next one's number */
    char said[256];      /* by LLVM, beside the errors that it returns */
    uint64_t stack;      /* of the frames of the functions that it made */
    char about[200];
};

/* ---- what LLVM says, which it would print otherwise ---- */

static void on_error(void *context, LLVMErrorRef e) {
    rvm__compiler *c = context;
    char *text = LLVMGetErrorMessage(e);
    snprintf(c->said, sizeof c->said, "%s", text);
    LLVMDisposeErrorMessage(text);
}

static void on_diagnostic(LLVMDiagnosticInfoRef d, void *context) {
    static const char frame[] = "stack frame size ("; /* before it is where, in some versions of LLVM */
    rvm__compiler *c = context;
    char *text = LLVMGetDiagInfoDescription(d);
    const char *at = strstr(text, frame);
    unsigned long long bytes;
    if (at && sscanf(at + sizeof frame - 1, "%llu", &bytes) == 1)
        c->stack += bytes;
    else if (LLVMGetDiagInfoSeverity(d) == LLVMDSError)
        snprintf(c->said, sizeof c->said, "%s", text);
    LLVMDisposeMessage(text);
}

/* LLVM says how large a frame is where that is more than an attribute of the function allows. What is not in it: the address
 * to return to, the 128 bytes below the stack's end that a leaf may use, and what aligns the frame to a vector. */
static void ask_for_frames(rvm__compiler *c, const rvm__build *k) {
    enum { MORE = 256 };
    static const char attribute[] = "warn-stack-size";
    c->stack = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        c->stack += MORE;
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateStringAttribute(k->context, attribute, sizeof attribute - 1, "0", 1));
    }
}

/* ---- setting up ---- */

/* A linker that tells debuggers and profilers; LLVM's default one does not. */
static LLVMOrcObjectLayerRef linker_with_symbols(void *context, LLVMOrcExecutionSessionRef session, const char *triple) {
    LLVMOrcObjectLayerRef layer = LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
    const LLVMJITEventListenerRef listeners[] = {LLVMCreateGDBRegistrationListener(), LLVMCreatePerfJITEventListener()};
    (void)context, (void)triple;
    for (size_t k = 0; k < sizeof listeners / sizeof *listeners; k++)
        if (listeners[k]) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, listeners[k]);
    return layer;
}

static LLVMErrorRef define_native(rvm__compiler *c, const rvm__compiler_options *o) {
    const LLVMJITSymbolFlags flags = {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
    if (!o->nnative) return NULL;
    LLVMOrcCSymbolMapPair *pairs = rvm__realloc(&c->al, NULL, 0, o->nnative * sizeof *pairs);
    if (!pairs) return LLVMCreateStringError("out of memory");
    for (size_t k = 0; k < o->nnative; k++) {
        pairs[k] = (LLVMOrcCSymbolMapPair){
            .Name = LLVMOrcLLJITMangleAndIntern(c->jit, o->native[k].name),
            .Sym = {.Address = (LLVMOrcExecutorAddress)(uintptr_t)o->native[k].address, .Flags = flags}};
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, o->nnative);
    LLVMErrorRef e = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(c->jit), unit);
    if (e) LLVMOrcDisposeMaterializationUnit(unit);
    rvm__realloc(&c->al, pairs, o->nnative * sizeof *pairs, 0);
    return e;
}

static LLVMErrorRef define_process(rvm__compiler *c) {
    LLVMOrcDefinitionGeneratorRef process;
    dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD); /* it is here; now it can be found in the process */
    LLVMErrorRef e =
        LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(c->jit), NULL, NULL);
    if (!e) LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(c->jit), process);
    return e;
}

static rvm_status open_linker(rvm__compiler *c, rvm_error *err) {
    const rvm__compiler_options *o = &c->o;
    if (!LLVMTargetHasJIT(LLVMGetTargetMachineTarget(c->target.machine)))
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "LLVM links no code in the process for %s", c->target.triple);
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    if (o->symbols) LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, linker_with_symbols, NULL);
    LLVMErrorRef e = LLVMOrcCreateLLJIT(&c->jit, builder);
    if (!e) {
        LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(c->jit), on_error, c);
        e = define_native(c, o);
    }
    if (!e) e = define_process(c);
    return rvm__target_fail(e, "is set up", c->said, err);
}

rvm_status rvm__compiler_open(const rvm__compiler_options *o, rvm__compiler **out, const char **about, rvm_error *err) {
    const rvm_allocator al = rvm__unguarded(o->al);
    rvm__compiler *c = rvm__realloc(&al, NULL, 0, sizeof *c);
    if (!c) return rvm__fail_memory(err);
    *c = (rvm__compiler){.o = *o, .al = al};
    const rvm_status status = rvm__target_open_host(&c->target, o->cpu, true, o->level, err);
    if (status) {
        rvm__compiler_close(c);
        return status;
    }
    snprintf(c->about, sizeof c->about, "LLVM %s, %.80s, %.60s", LLVM_VERSION_STRING, c->target.triple, c->target.cpu);
    *about = c->about;
    *out = c;
    return RVM_OK;
}

void rvm__compiler_close(rvm__compiler *c) {
    if (!c) return;
    if (c->jit) {
        LLVMErrorRef e = LLVMOrcDisposeLLJIT(c->jit);
        if (e) LLVMConsumeError(e);
    }
    rvm__target_close(&c->target);
    const rvm_allocator al = c->al;
    rvm__realloc(&al, c, sizeof *c, 0);
}

/* ---- one piece of code ---- */

static double lap(double *since) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, took = now - *since;
    *since = now;
    return took;
}

static void export_two(LLVMModuleRef module, LLVMValueRef a, LLVMValueRef b) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && f != a && f != b) LLVMSetLinkage(f, LLVMInternalLinkage);
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && g != b) LLVMSetLinkage(g, LLVMInternalLinkage);
}

/* The entry has the function's own name, for profilers; with a number, so that pieces do not meet. */
static rvm_status name_piece(rvm__compiler *c, const rvm__build *k, const char *name, rvm__object *n, rvm_error *err) {
    LLVMValueRef entry = LLVMGetNamedFunction(k->module, RVM__ENTRY), need = LLVMGetNamedGlobal(k->module, RVM__NEED);
    if (!entry || !need) return rvm__fail(err, RVM_ERR_INTERNAL, NULL, 0, 0, "lowering made no entry");
    export_two(k->module, entry, need);
    const int a = snprintf(n->entry, sizeof n->entry, "%.100s.%u", name, c->made);
    const int b = snprintf(n->need, sizeof n->need, "%s.%u", RVM__NEED, c->made);
    LLVMSetValueName2(entry, n->entry, (size_t)a);
    LLVMSetValueName2(need, n->need, (size_t)b);
    c->made++;
    return RVM_OK;
}

/* Of standalone code: its function and what explains its status keep their names. */
static rvm_status name_functions(const rvm__build *k, const char *name, rvm_error *err) {
    char message[RVM__C_NAME + sizeof RVM__C_MESSAGE];
    snprintf(message, sizeof message, "%s" RVM__C_MESSAGE, name);
    LLVMValueRef f = LLVMGetNamedFunction(k->module, name), g = LLVMGetNamedFunction(k->module, message);
    if (!f || !g) return rvm__fail(err, RVM_ERR_INTERNAL, NULL, 0, 0, "lowering made no function %s", name);
    export_two(k->module, f, g);
    return RVM_OK;
}

/* Lowered, named and optimised; k is to be ended in any case. PTX of its kernels, if it is asked for, is to be disposed of.
 * shown: as text. Else values go without names, which cost long functions a fifth of the time; but parts of kernels are
 * found by theirs. */
static rvm_status make_ir(rvm__compiler *c, const rvm__target *t, const rvm__lowering *what, bool shown, rvm__build *k,
                          rvm__object *n, LLVMMemoryBufferRef *ptx, rvm_error *err) {
    double since = 0;
    lap(&since);
    c->said[0] = 0;
    if (!rvm__build_begin(k, &t->traits, what->p->functions[what->fn].name))
        return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    k->al = &c->al;
    LLVMContextSetDiscardValueNames(k->context, !shown && !what->device);
    LLVMContextSetDiagnosticHandler(k->context, on_diagnostic, c);
    rvm__target_prepare(t, k->module);
    k->fast = what->fast;
    k->singles = what->device;
    k->sleef = what->math == RVM_MATH_SLEEF;
    k->no_machine = what->standalone != NULL;
    k->small = t->level < 2 ? 60 : 2000;
    rvm_status status = rvm__lower(k, what, err);
    if (!status)
        status = what->standalone ? name_functions(k, what->standalone, err)
                                  : name_piece(c, k, what->p->functions[what->fn].name, n, err);
    n->seconds[RVM_JIT_LOWER] = lap(&since);
    if (!status && what->device)
        status = rvm__device_make(k, (enum rvm__device_code)what->device, t->level, what->lines, what->plain, c->o.libdevice,
                                  ptx, err);
    if (status || ptx) return status; /* PTX is all that is asked for */
    status = rvm__target_group(t, k, what, err);
    if (!status) status = rvm__target_optimise(t, k, !what->trust, what->plain, err);
    n->seconds[RVM_JIT_OPTIMISE] = lap(&since);
    return status;
}

/* Bytes of machine code in an object file. */
static size_t code_size(LLVMMemoryBufferRef object) {
    char *why = NULL;
    size_t size = 0;
    LLVMBinaryRef file = LLVMCreateBinary(object, NULL, &why);
    if (!file) {
        LLVMDisposeMessage(why);
        return 0;
    }
    LLVMSectionIteratorRef s = LLVMObjectFileCopySectionIterator(file);
    for (; !LLVMObjectFileIsSectionIteratorAtEnd(file, s); LLVMMoveToNextSection(s)) {
        const char *name = LLVMGetSectionName(s);
        if (name && strncmp(name, ".text", 5) == 0) size += LLVMGetSectionSize(s);
    }
    LLVMDisposeSectionIterator(s);
    LLVMDisposeBinary(file);
    return size;
}

rvm_status rvm__compiler_link(rvm__compiler *c, const rvm__object *object, rvm__compiled *out, rvm_error *err) {
    LLVMOrcExecutorAddress entry = 0, need = 0;
    double since = 0;
    *out = (rvm__compiled){0};
    c->said[0] = 0;
    lap(&since);
    rvm_status status = c->jit ? RVM_OK : open_linker(c, err);
    if (status) return status;
    LLVMMemoryBufferRef copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(object->bytes, object->size, object->entry);
    out->size = code_size(copy);
    LLVMErrorRef e = LLVMOrcLLJITAddObjectFile(c->jit, LLVMOrcLLJITGetMainJITDylib(c->jit), copy);
    if (!e) e = LLVMOrcLLJITLookup(c->jit, &entry, object->entry);
    if (!e) e = LLVMOrcLLJITLookup(c->jit, &need, object->need);
    if (e) return rvm__target_fail(e, "links", c->said, err);
    memcpy(&out->need, (const void *)(uintptr_t)need, sizeof out->need);
    const uintptr_t address = (uintptr_t)entry;
    memcpy(&out->entry, &address, sizeof out->entry);
    out->seconds[RVM_JIT_LINK] = lap(&since);
    return RVM_OK;
}

static rvm__found found_of(const rvm__build *k) {
    rvm__found f = {
        .blocks = k->blocks, .in_threads = k->in_threads, .grouped = k->grouped, .single = k->single, .kernels = k->made};
    snprintf(f.on_host, sizeof f.on_host, "%s", k->on_host);
    snprintf(f.serial, sizeof f.serial, "%s", k->serial);
    snprintf(f.why_single, sizeof f.why_single, "%s", k->why);
    return f;
}

rvm_status rvm__compiler_compile(rvm__compiler *c, const rvm__lowering *what, rvm__object *out, rvm_error *err) {
    rvm__build k;
    LLVMMemoryBufferRef object = NULL;
    double since = 0;
    *out = (rvm__object){0};
    rvm_status status = make_ir(c, &c->target, what, false, &k, out, NULL, err);
    lap(&since);
    ask_for_frames(c, &k);
    if (!status) status = rvm__target_emit(&c->target, k.module, LLVMObjectFile, &object, err);
    out->found = found_of(&k);
    out->found.stack = c->stack; /* all at once: what calls what is not looked at */
    rvm__build_end(&k);
    if (status) return status;
    out->size = LLVMGetBufferSize(object);
    out->bytes = rvm__realloc(&c->al, NULL, 0, out->size);
    if (out->bytes) memcpy(out->bytes, LLVMGetBufferStart(object), out->size);
    LLVMDisposeMemoryBuffer(object);
    out->seconds[RVM_JIT_EMIT] = lap(&since);
    return out->bytes ? RVM_OK : rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
}

static void print_reasons(const rvm__build *k, FILE *out) {
    for (const char *s = k->on_host; *s; s += strspn(s, "; ")) {
        const size_t n = strcspn(s, ";");
        fprintf(out, "// not a kernel: %.*s\n", (int)n, s);
        s += n;
    }
}

rvm_status rvm__compiler_print(rvm__compiler *c, const rvm__lowering *what, rvm_jit_form form, FILE *out, rvm_error *err) {
    rvm__build k;
    rvm__object n;
    LLVMMemoryBufferRef text = NULL;
    const bool kernels = form == RVM_JIT_PTX;
    rvm_status status = make_ir(c, &c->target, what, true, &k, &n, kernels ? &text : NULL, err);
    if (kernels && !status) print_reasons(&k, out);
    if (kernels && !status && !k.made)
        status = rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "there are no kernels: %s",
                           *k.on_host ? k.on_host : "there is no parallel block");
    if (!status && form == RVM_JIT_IR) {
        char *ir = LLVMPrintModuleToString(k.module);
        fputs(ir, out);
        LLVMDisposeMessage(ir);
    }
    if (!status && form == RVM_JIT_ASSEMBLY) status = rvm__target_emit(&c->target, k.module, LLVMAssemblyFile, &text, err);
    if (text) {
        if (!status) fwrite(LLVMGetBufferStart(text), 1, LLVMGetBufferSize(text), out);
        LLVMDisposeMemoryBuffer(text);
    }
    rvm__build_end(&k);
    return status;
}

rvm_status rvm__compiler_object(rvm__compiler *c, const rvm__lowering *what, const char *cpu, FILE *out, uint64_t *stack,
                                rvm_error *err) {
    rvm__build k = {0};
    rvm__target t;
    rvm__object n;
    LLVMMemoryBufferRef object = NULL;
    rvm_status status = rvm__target_open_host(&t, cpu, false, c->target.level, err);
    if (!status) status = make_ir(c, &t, what, false, &k, &n, NULL, err);
    if (!status) ask_for_frames(c, &k);
    if (!status) status = rvm__target_emit(&t, k.module, LLVMObjectFile, &object, err);
    *stack = c->stack + (k.recurses ? what->stack : 0);
    if (object) {
        fwrite(LLVMGetBufferStart(object), 1, LLVMGetBufferSize(object), out);
        LLVMDisposeMemoryBuffer(object);
    }
    rvm__build_end(&k);
    rvm__target_close(&t);
    return status;
}

/* device.c: kernels of a module that was lowered for the host.
 *
 *     module ──copy──▶ instances alone ──simplify──▶ kernels around them ──inline──▶ runtime, libdevice ──O3──▶ PTX
 *
 * The copy is simplified as one for lanes is (simplify.c), whose additions and markers it shares. PTX is text; it becomes a
 * constant of the host's module, to which the records of its kernels refer. */
#include "device.h"
#include "lanes.h"
#include "native.h"
#include "support.h"
#include "target.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The oldest device whose doubles are added by atomic instructions and whose threads exit one by one that today's assembler
 * knows; the driver makes code of it for what there is. */
#define TRIPLE   "nvptx64-nvidia-cuda"
#define DEVICE   "sm_75"
#define FEATURES "+ptx73"

#pragma weak LLVMInitializeNVPTXTargetInfo
#pragma weak LLVMInitializeNVPTXTarget
#pragma weak LLVMInitializeNVPTXTargetMC
#pragma weak LLVMInitializeNVPTXAsmPrinter

static bool has_devices;
static void know_devices(void) {
    const bool new_enough = LLVM_VERSION_MAJOR >= 18; /* local arrays of any length */
    has_devices = new_enough && LLVMInitializeNVPTXTargetInfo && LLVMInitializeNVPTXTarget && LLVMInitializeNVPTXTargetMC &&
                  LLVMInitializeNVPTXAsmPrinter;
    if (!has_devices) return;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

typedef struct making {
    rvm__build *host, k; /* k: the copy */
    rvm__target target;
    rvm__device_kernel *kernels;
    unsigned n;
    const char *libdevice;
    bool grid, lines, plain, nested; /* nested: some kernel is */
    bool host_functions;             /* elementary functions stay the host's */
    rvm_error *err;
} making;

static rvm_status run_passes(const making *m, const char *passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef e = LLVMRunPasses(m->k.module, passes, m->target.machine, options);
    LLVMDisposePassBuilderOptions(options);
    return rvm__target_fail(e, "optimises a kernel", "", m->err);
}

static void attribute(const rvm__build *k, LLVMValueRef f, const char *name, bool set) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (set)
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(k->context, kind, 0));
    else
        LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

/* ---- the copy ---- */

static LLVMValueRef instance_of(const making *m, const rvm__device_kernel *x) {
    return rvm__instance_function(&m->k, RVM__INSTANCE, x->nested ? x->from->nested : x->from->instance);
}

/* Of kernels, and of blocks within, which markers name. */
static bool is_wanted(const making *m, LLVMValueRef f) {
    for (unsigned n = 0; n < m->n; n++)
        if (m->kernels[n].instance == f) return true;
    size_t length;
    return m->nested && !strncmp(LLVMGetValueName2(f, &length), RVM__INSTANCE, strlen(RVM__INSTANCE)) && !LLVMGetFirstUse(f);
}

/* What an instance counts and sums in is its own. */
static void keep_apart(const making *m, const rvm__device_kernel *x) {
    const unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
    for (unsigned n = RVM__VECTORISED_OUT; n < RVM__VECTORISED_SUMS + x->from->sums; n++)
        if (n != RVM__VECTORISED_INDEX)
            LLVMAddAttributeAtIndex(x->instance, n + 1, LLVMCreateEnumAttribute(m->k.context, kind, 0));
}

/* Of the copy, instances and what they call stay, which goes into them. */
static rvm_status keep_instances(making *m) {
    for (unsigned n = 0; n < m->n; n++) {
        m->kernels[n].instance = instance_of(m, &m->kernels[n]);
        keep_apart(m, &m->kernels[n]);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(m->k.module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        const bool wanted = is_wanted(m, f);
        LLVMSetLinkage(f, wanted ? LLVMExternalLinkage : LLVMInternalLinkage);
        LLVMSetFunctionCallConv(f, LLVMCCallConv);
        attribute(&m->k, f, "noinline", wanted);
        if (!wanted) attribute(&m->k, f, "alwaysinline", true);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->k.module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g)) LLVMSetLinkage(g, LLVMInternalLinkage);
    return run_passes(m, "globaldce");
}

static bool is_host_property(LLVMValueRef property) {
    unsigned length;
    LLVMValueRef name = NULL;
    if (!LLVMIsAMDNode(property) || LLVMGetMDNodeNumOperands(property) != 1) return false;
    LLVMGetMDNodeOperands(property, &name);
    const char *text = name ? LLVMGetMDString(name, &length) : NULL;
    return text && length == strlen(RVM__ON_HOST) && !memcmp(text, RVM__ON_HOST, length);
}

/* Loops lose what is said of them for the host. */
static void drop_host_properties(const rvm__build *k, LLVMValueRef branch) {
    enum { MOST = 16 };
    static const char name[] = "llvm.loop";
    const unsigned kind = LLVMGetMDKindIDInContext(k->context, name, sizeof name - 1);
    LLVMValueRef loop = LLVMGetMetadata(branch, kind), part[MOST];
    const unsigned n = loop ? LLVMGetMDNodeNumOperands(loop) : 0;
    if (!n || n > MOST) return;
    LLVMGetMDNodeOperands(loop, part);
    for (unsigned i = 1; i < n; i++) /* the first is the loop itself */
        if (is_host_property(part[i])) LLVMSetMetadata(branch, kind, NULL);
}

static void drop_hints(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            drop_host_properties(k, LLVMGetBasicBlockTerminator(b));
}

static rvm_status begin(making *m, unsigned level) {
    rvm_status status = m->grid ? rvm__target_open_host(&m->target, RVM__CPU_NATIVE, true, level, m->err)
                                : rvm__target_open(&m->target, TRIPLE, DEVICE, FEATURES, level, m->err);
    if (status) return status;
    m->k = *m->host;
    m->k.module = m->lines ? rvm__device_copy_with_lines(m->host) : LLVMCloneModule(m->host->module);
    if (!m->k.module) return rvm__fail(m->err, RVM_ERR_INTERNAL, NULL, 0, 0, "LLVM does not read what it wrote");
    m->k.target = &m->target.traits;
    m->k.on_device = true;
    rvm__target_prepare(&m->target, m->k.module);
    drop_hints(&m->k);
    rvm__device_narrow(&m->k, m->k.fast && !m->host_functions && *m->libdevice);
    status = keep_instances(m);
    return status ? status : rvm__target_fail(rvm__simplify_for_device(&m->k, m->target.machine), "simplifies", "", m->err);
}

/* ---- kernels ---- */

static void drop(rvm__device_kernel *x) {
    if (x->kernel) LLVMDeleteFunction(x->kernel);
    x->kernel = NULL;
}

/* Instances that nobody runs, or none here. */
static void drop_instances(const rvm__build *k) {
    for (unsigned n = 0; n < k->instances; n++) {
        LLVMValueRef f = rvm__instance_function(k, RVM__INSTANCE, n);
        if (f && !LLVMGetFirstUse(f)) LLVMDeleteFunction(f);
    }
}

static void make_inline(const making *m, LLVMValueRef f) {
    attribute(&m->k, f, "noinline", false);
    attribute(&m->k, f, "alwaysinline", true);
    LLVMSetLinkage(f, LLVMInternalLinkage);
}

/* Instances of blocks within come into a kernel once it runs them. */
static rvm_status nest(making *m) {
    static const char *const last[] = {"rvm.device.begin", "rvm.device.meet"};
    for (unsigned n = 0; n < m->n; n++) {
        rvm__device_kernel *x = &m->kernels[n];
        if (x->nested && x->kernel) rvm__device_nest(&m->k, x);
        for (unsigned i = 0; i < x->nwithin; i++) make_inline(m, x->within[i].function);
    }
    for (size_t n = 0; n < sizeof last / sizeof *last; n++)
        attribute(&m->k, LLVMGetNamedFunction(m->k.module, last[n]), "alwaysinline", true);
    return run_passes(m, "always-inline");
}

static rvm_status find_within(making *m) {
    bool copies = false;
    for (unsigned n = 0; n < m->n; n++)
        if (m->kernels[n].nested) rvm__device_find_within(&m->k, &m->kernels[n], &copies);
    return copies ? run_passes(m, "always-inline") : RVM_OK;
}

static rvm_status make_kernels(making *m) {
    rvm_status status = find_within(m);
    if (status) return status;
    for (unsigned n = 0; n < m->n; n++) {
        rvm__device_kernel *x = &m->kernels[n];
        snprintf(x->name, sizeof x->name, x->nested ? "rvm_nested_%u" : "rvm_kernel_%u", n);
        x->grid = m->grid;
        if (!x->why) rvm__device_additions(&m->k, x);
        if (!x->why) rvm__device_wrap(&m->k, x);
    }
    for (unsigned n = 0; n < m->n; n++) {
        make_inline(m, m->kernels[n].instance);
        m->kernels[n].lines = LLVMGetSubprogram(m->kernels[n].instance);
    }
    status = run_passes(m, "always-inline");
    if (!status && m->nested) status = nest(m);
    for (unsigned n = 0; n < m->n && !status; n++) {
        rvm__device_kernel *x = &m->kernels[n];
        if (x->kernel && x->lines) LLVMSetSubprogram(x->kernel, x->lines); /* whose the instance's instructions are now */
        if (x->kernel && !x->why) rvm__device_replace_markers(&m->k, x);
        if (x->why) drop(x);
    }
    drop_instances(&m->k);
    return status;
}

/* What a kernel calls that is not there; the name is the function's. */
static const char *missing_in(const rvm__device_kernel *x) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(x->kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (LLVMIsACallInst(v) && !strncmp(rvm__callee_name(v), "__nv_", 5) && LLVMIsDeclaration(LLVMGetCalledValue(v)))
                return rvm__callee_name(v) + 5;
    return NULL;
}

/* Functions that no file has: kernels that call them are none. */
static void drop_unlinked(making *m) {
    if (!rvm__device_add_functions(&m->k, m->libdevice, m->grid)) return;
    for (unsigned n = 0; n < m->n; n++) {
        rvm__device_kernel *x = &m->kernels[n];
        const char *name = x->kernel ? missing_in(x) : NULL;
        if (!name) continue;
        snprintf(x->name, sizeof x->name, "no libdevice has `%.20s`", name);
        x->why = x->name;
        drop(x);
    }
}

/* Kernels are all that is there for others; fast math may contract. */
static void finish(const making *m) {
    static const char unsafe[] = "unsafe-fp-math", yes[] = "true";
    for (LLVMValueRef f = LLVMGetFirstFunction(m->k.module); f; f = LLVMGetNextFunction(f)) {
        bool is_kernel = false;
        for (unsigned n = 0; n < m->n; n++) is_kernel |= m->kernels[n].kernel == f;
        if (LLVMIsDeclaration(f)) continue;
        if (!is_kernel) LLVMSetLinkage(f, LLVMInternalLinkage);
        if (m->k.fast)
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                    LLVMCreateStringAttribute(m->k.context, unsafe, sizeof unsafe - 1, yes, sizeof yes - 1));
    }
}

/* ---- registers ---- */

enum { REGISTERS = 128, OF_MULTIPROCESSOR = 65536 };

/* Once it is optimised. Of a kernel with a CTA for each instance, into one of whose blocks more than 128 registers live, the
 * assembler would take up to 255; of others it takes fewer than if it were told that it may take 128. */
static bool spare_registers(making *m, LLVMValueRef f) {
    unsigned live;
    if (m->k.fast && !m->grid) rvm__device_approximate(&m->k, f);
    if (!rvm__device_rematerialise(&m->k, f, m->grid, &live)) return false;
    for (unsigned n = 0; n < m->n; n++)
        if (m->kernels[n].kernel == f) m->kernels[n].limited = m->kernels[n].nested && !m->grid && live > REGISTERS;
    return true;
}

/* Where directives of the kernel end; NULL: it is not there. */
static const char *end_of_directives(const char *ptx, const char *name) {
    char entry[sizeof ".entry (" + sizeof((rvm__device_kernel *)NULL)->name];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *at = strstr(ptx, entry);
    return at ? strstr(at, "\n{") : NULL;
}

/* In PTX, since LLVM looks up what is said of a kernel but once, before it is optimised. */
static rvm_status limit_registers(const making *m, const rvm__device_kernel *x, LLVMMemoryBufferRef *ptx) {
    char limit[40];
    const char *text = LLVMGetBufferStart(*ptx), *at = end_of_directives(text, x->name);
    if (!at) return RVM_OK;
    const size_t more =
        (size_t)snprintf(limit, sizeof limit, "\n.minnctapersm %u", OF_MULTIPROCESSOR / REGISTERS / RVM__NESTED_CTA);
    const size_t before = (size_t)(at - text), size = LLVMGetBufferSize(*ptx);
    char *all = rvm__realloc(m->k.al, NULL, 0, size + more);
    if (!all) return rvm__fail(m->err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    memcpy(all, text, before);
    memcpy(all + before, limit, more);
    memcpy(all + before + more, at, size - before);
    LLVMDisposeMemoryBuffer(*ptx);
    *ptx = LLVMCreateMemoryBufferWithMemoryRangeCopy(all, size + more, "ptx");
    rvm__realloc(m->k.al, all, size + more, 0);
    return RVM_OK;
}

static rvm_status emit(making *m, LLVMMemoryBufferRef *ptx) {
    if (!rvm__device_add_runtime(&m->k, m->grid))
        return rvm__fail(m->err, RVM_ERR_INTERNAL, NULL, 0, 0, "LLVM does not read the kernels' own functions");
    rvm_status status = make_kernels(m);
    if (!status && !m->host_functions) drop_unlinked(m);
    for (unsigned n = 0; n < m->n && m->grid; n++)
        if (m->kernels[n].kernel) rvm__device_make_call(&m->k, &m->kernels[n]);
    finish(m);
    if (!status) status = rvm__target_optimise(&m->target, &m->k, false, m->plain, m->err);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->k.module); f && !status; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !spare_registers(m, f))
            status = rvm__fail(m->err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
    if (!status)
        status = rvm__target_emit(&m->target, m->k.module, m->grid ? LLVMObjectFile : LLVMAssemblyFile, ptx, m->err);
    for (unsigned n = 0; n < m->n && !status; n++)
        if (m->kernels[n].limited) status = limit_registers(m, &m->kernels[n], ptx);
    return status;
}

/* ---- records, in the host's module ---- */

static LLVMValueRef constant(const rvm__build *k, LLVMValueRef v, const char *name) {
    LLVMValueRef g = LLVMAddGlobal(k->module, LLVMTypeOf(v), name);
    LLVMSetInitializer(g, v);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetAlignment(g, 8);
    return g;
}

static LLVMValueRef text(const rvm__build *k, const char *s, size_t n, const char *name) {
    return constant(k, LLVMConstStringInContext(k->context, s, (unsigned)n, false), name);
}

static LLVMValueRef numbers(const rvm__build *k, LLVMValueRef *v, unsigned n, const char *name) {
    return constant(k, LLVMConstArray2(k->i64, v, n), name);
}

/* Of the kernel's own parameters; *n of them. */
static LLVMValueRef params_of(const rvm__build *k, const rvm__device_kernel *x, unsigned *n) {
    LLVMValueRef v[2 * RVM__MOST_VECTORISED_ARGS];
    for (unsigned a = *n = 0; a < x->from->nargs; a++) {
        const rvm__block_arg *one = &x->from->args[a];
        v[2 * a] = rvm__build_int(k, one->known ? RVM__KERNEL_KNOWN : one->view);
        v[2 * a + 1] =
            rvm__build_int(k, (x->by_copies[a] ? RVM__KERNEL_COPIED : 0) | (x->by_entries[a] ? RVM__KERNEL_ENTRIES : 0));
        *n = a + 1;
    }
    return numbers(k, v, 2 * *n, "rvm.params");
}

/* Fields in the order of an rvm__native_kernel. */
static LLVMValueRef record_of(const rvm__build *k, const rvm__device_kernel *x, LLVMValueRef ptx, size_t size,
                              LLVMValueRef nested) {
    const rvm__block_kernel *from = x->from;
    LLVMValueRef terms[RVM__MOST_KERNEL_SUMS], none = LLVMConstNull(k->ptr);
    unsigned nparams = 0;
    for (unsigned s = 0; s < from->sums; s++) terms[s] = rvm__build_int(k, (int64_t)x->terms[s]);
    const bool made = x->kernel;
    const uint64_t flags = (x->copied ? RVM__KERNEL_COPIED : 0) | (x->may_fail ? RVM__KERNEL_MAY_FAIL : 0) |
                           (x->arena ? RVM__KERNEL_ARENA : 0) | (x->logs ? RVM__KERNEL_LOGS : 0) |
                           (x->enters ? RVM__KERNEL_ENTRIES : 0) | (x->functions ? RVM__KERNEL_FUNCTIONS : 0) |
                           (k->fast ? RVM__KERNEL_FAST : 0);
    LLVMValueRef v[] = {made ? ptx : none,
                        rvm__build_int(k, (int64_t)size),
                        made ? text(k, x->name, strlen(x->name), "rvm.name") : none,
                        made ? params_of(k, x, &nparams) : none,
                        constant(k, from->views, "rvm.views"),
                        made ? numbers(k, terms, from->sums, "rvm.terms") : none,
                        rvm__build_int(k, nparams),
                        rvm__build_int(k, from->nviews),
                        rvm__build_int(k, (int64_t)flags),
                        rvm__build_int(k, (int64_t)from->work),
                        rvm__build_int(k, from->line),
                        nested,
                        rvm__build_int(k, (int64_t)x->frame)};
    _Static_assert(sizeof(rvm__native_kernel) == 8 * sizeof v / sizeof *v, "each field");
    return LLVMConstStructInContext(k->context, v, sizeof v / sizeof *v, false);
}

static LLVMValueRef define(const rvm__build *k, const rvm__device_kernel *x, LLVMValueRef ptx, size_t size,
                           LLVMValueRef nested) {
    return constant(k, record_of(k, x, ptx, size, nested), "rvm.kernel");
}

static void stays_single(rvm__build *k, const rvm__device_kernel *x) {
    char why[160];
    snprintf(why, sizeof why, "no CTA for each instance: %.110s", x->why);
    rvm__stays_on_host(k, x->from->line, why);
}

/* A kernel follows the nested one of the same block, if there is one (find). */
static void define_all(making *m, LLVMMemoryBufferRef ptx) {
    rvm__build *k = m->host;
    const size_t size = ptx ? LLVMGetBufferSize(ptx) : 0;
    LLVMValueRef all = size ? text(k, LLVMGetBufferStart(ptx), size, "rvm.ptx") : LLVMConstNull(k->ptr);
    LLVMValueRef none = LLVMConstNull(k->ptr), nested = none;
    for (unsigned n = 0; n < m->n; n++) {
        rvm__device_kernel *x = &m->kernels[n];
        if (!ptx) x->kernel = NULL;
        if (x->nested) {
            nested = x->kernel ? define(k, x, all, size + 1, none) : none;
            if (x->why) stays_single(k, x);
            continue;
        }
        k->made += x->kernel || nested != none;
        if (x->why) rvm__stays_on_host(k, x->from->line, x->why);
        LLVMReplaceAllUsesWith(x->from->record, define(k, x, all, size + 1, nested));
        LLVMDeleteGlobal(x->from->record);
        nested = none;
    }
    drop_instances(k);
}

/* ---- all ---- */

/* Two marks of each argument of each kernel. */
static void find(making *m, bool *marks) {
    for (const rvm__block_kernel *from = m->host->kernels; from; from = from->next)
        for (int nested = from->nested != RVM__NO_INSTANCE; nested >= 0; nested--) {
            m->kernels[m->n++] =
                (rvm__device_kernel){.from = from, .by_copies = marks, .by_entries = marks + from->nargs, .nested = nested};
            m->nested |= nested;
            marks += 2 * from->nargs;
        }
}

rvm_status rvm__device_make(rvm__build *k, enum rvm__device_code form, unsigned level, bool lines, bool plain,
                            const char *libdevice, LLVMMemoryBufferRef *out, rvm_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    making m = {.host = k,
                .libdevice = libdevice,
                .grid = form != RVM__KERNELS_PTX,
                .host_functions = form == RVM__KERNELS_GRID,
                .lines = lines,
                .plain = plain,
                .err = err};
    LLVMMemoryBufferRef ptx = NULL;
    size_t nmarks = 1;
    rvm_status status = RVM_OK;
    if (out) *out = NULL;
    if (!k->kernels) return RVM_OK;
    pthread_once(&once, know_devices);
    for (const rvm__block_kernel *from = k->kernels; from; from = from->next) nmarks += 4 * from->nargs;
    const size_t most = 2 * k->nkernels * sizeof *m.kernels;
    m.kernels = rvm__realloc(k->al, NULL, 0, most);
    bool *marks = rvm__realloc(k->al, NULL, 0, nmarks);
    if (!m.kernels || !marks) {
        status = rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
        goto done;
    }
    memset(marks, 0, nmarks);
    find(&m, marks);
    if (has_devices || m.grid) {
        status = begin(&m, level);
        if (!status) status = emit(&m, &ptx);
    } else
        rvm__stays_on_host(k, k->kernels->line, "this LLVM has no code for devices");
    if (!status) define_all(&m, ptx);
done:
    if (m.k.module) LLVMDisposeModule(m.k.module);
    rvm__target_close(&m.target);
    rvm__realloc(k->al, marks, nmarks, 0);
    rvm__realloc(k->al, m.kernels, most, 0);
    if (out)
        *out = ptx;
    else if (ptx)
        LLVMDisposeMemoryBuffer(ptx);
    return status;
}

/* targets.c: code for targets other than the host: parallel blocks are lowered, go in lanes and are emitted, and nothing is
 * loaded. For a device local arrays are cleared by words. Targets that this LLVM has not are skipped. */
#include "harness.h"
#include "lower.h"
#include "program.h"
#include "target.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "fn histogram(s: real, x: real[n], p: i64[n], y: real[n])\n"
                             "    parallel i in 0..n\n"
                             "        compute\n"
                             "            let t: real[16] = 0\n"
                             "            t[p[i]] += sqrt(x[i])\n"
                             "        do\n"
                             "            y[i] += t[p[i]] * x[i]\n"
                             "            s += t[3]\n"
                             "        undo\n"
                             "    end\n"
                             "end\n";

typedef struct wanted {
    const char *triple, *cpu, *features;
    bool bytes;                   /* memory is cleared by bytes */
    const char *has[2], *has_not; /* in its assembly, without lanes and in lanes; has_not may be NULL */
} wanted;

#define DEVICE "nvptx64-nvidia-cuda", "sm_80", "+ptx70"
static const wanted targets[] = {
    {DEVICE, false, {"sqrt.rn.f64", "sqrt.rn.f64"}, "st.local.u8"},
    {DEVICE, true, {"st.local.u8", "st.local.u8"}, NULL}, /* so the line above tells something */
    {"x86_64-unknown-linux-gnu", "x86-64-v3", "", false, {"vsqrtsd", "vsqrtpd"}, NULL},
    {"aarch64-unknown-linux-gnu", "generic", "", false, {"fsqrt\td", "fsqrt\tv"}, NULL},
    {"riscv64-unknown-linux-gnu", "generic-rv64", "+d", false, {"fsqrt.d", "fsqrt.d"}, NULL},
};

static bool is_there(const char *triple) {
    LLVMTargetRef target;
    char *why = NULL;
    const bool missing = LLVMGetTargetFromTriple(triple, &target, &why);
    LLVMDisposeMessage(why);
    return !missing;
}

/* The assembly; NULL: a failure, reported. */
static LLVMMemoryBufferRef emit(report *r, const rvm_program *p, const wanted *w, bool lanes) {
    const rvm__lowering what = {
        .p = p, .direction = 1, .unchecked = true, .trust = true, .contiguous = true, .fast = true, .lanes = lanes};
    rvm__target t;
    rvm__build k = {0};
    rvm_error e = {0};
    LLVMMemoryBufferRef out = NULL;
    rvm_status status = rvm__target_open(&t, w->triple, w->cpu, w->features, 2, &e);
    t.traits.words &= !w->bytes;
    if (!status && !rvm__build_begin(&k, &t.traits, "test")) abort();
    if (!status) {
        rvm__target_prepare(&t, k.module);
        k.fast = what.fast;
        k.small = 60;
        status = rvm__lower(&k, &what, &e);
    }
    if (!status) status = rvm__target_group(&t, &k, &what, &e);
    if (!status && lanes && !k.grouped) report_fail(r, "no lanes: %s", k.why);
    if (!status) status = rvm__target_optimise(&t, &k, false, false, &e);
    if (!status) status = rvm__target_emit(&t, k.module, LLVMAssemblyFile, &out, &e);
    report_ok(r, "code", status, &e);
    rvm__build_end(&k);
    rvm__target_close(&t);
    return out;
}

static void try(report *r, const rvm_program *p, const wanted *w, bool lanes) {
    LLVMMemoryBufferRef out = emit(r, p, w, lanes);
    if (!out) return;
    char *text = calloc(LLVMGetBufferSize(out) + 1, 1);
    if (!text) abort();
    memcpy(text, LLVMGetBufferStart(out), LLVMGetBufferSize(out));
    if (!strstr(text, w->has[lanes])) report_fail(r, "no `%s` in it", w->has[lanes]);
    if (w->has_not && strstr(text, w->has_not)) report_fail(r, "`%s` in it", w->has_not);
    free(text);
    LLVMDisposeMemoryBuffer(out);
}

int main(void) {
    report r = {.name = "targets"};
    rvm_program *p = NULL;
    rvm_error e = {0};
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    if (!report_ok(&r, "program", rvm_assemble(source, sizeof source - 1, "test", NULL, &p, &e, NULL, NULL), &e)) return 1;
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        r.about = targets[k].triple;
        if (!is_there(r.about))
            report_skip(&r, "this LLVM has no code for it");
        else
            for (int lanes = 0; lanes < 2; lanes++) try(&r, p, &targets[k], lanes);
    }
    rvm_program_free(p);
    printf("%u checks of code for %zu targets\n", r.checks, sizeof targets / sizeof *targets);
    return r.failures || !r.checks;
}

/* runtime.c: what kernels call that is no function of the program.
 *
 * Its own part is IR, as LLVM reads it. Threads of a warp that have failed are gone, so that those that are left exchange
 * values all the same (shfl.sync asks for threads that have not exited only). */
#include "device.h"
#include "native.h"
#include "support.h"
#include "target.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* other: of the thread of the warp whose number differs in those bits, where it is one of the first `active`, else -0.
 * fail: the instance of that number does not go on, if c.
 * add_term: what is added to *p by the instance i of n in its *slot-th addition, of which the first `most` are kept.
 * add_entry: the same, of the instance that has that row of entries, with p itself; *entered counts those of the thread.
 * no_entries: those from there to there. lacks_entries: whether there is no room for n.
 * clear: words, of which there are whole ones; what LLVM makes of memset for devices stores bytes.
 * lacks, take, fill, del: n elements behind a header, of the `size` bytes at `arena`, of which those up to `top` are taken.
 * count: what all threads of the warp have, together, is added to, or compared with, what stands there. */
#define SHUFFLE "define i32 @rvm.device.shuffle(i32 %mask, i32 %x, i32 %bits, i32 %c) alwaysinline convergent nounwind {\n"
#define EXIT    "define void @rvm.device.exit() alwaysinline nounwind {\n"
static const char device[] = "declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)\n" SHUFFLE
                             "  %y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %mask, i32 %x, i32 %bits, i32 %c)\n"
                             "  ret i32 %y\n"
                             "}\n" EXIT "  call void asm sideeffect \"exit;\", \"\"()\n"
                             "  ret void\n"
                             "}\n";
/* What runs the threads of a grid does these. */
static const char grid[] =
    "declare i32 @rvm_grid_shuffle(i32, i32, i32)\n"
    "declare void @rvm_grid_exit() noreturn\n" SHUFFLE "  %y = call i32 @rvm_grid_shuffle(i32 %mask, i32 %x, i32 %bits)\n"
    "  ret i32 %y\n"
    "}\n" EXIT "  call void @rvm_grid_exit()\n"
    "  ret void\n"
    "}\n";
static const char both[] =
    "define i64 @rvm.device.exchange(i64 %x, i32 %mask, i32 %bits) alwaysinline convergent nounwind {\n"
    "  %l = trunc i64 %x to i32\n"
    "  %s = lshr i64 %x, 32\n"
    "  %h = trunc i64 %s to i32\n"
    "  %a = call i32 @rvm.device.shuffle(i32 %mask, i32 %l, i32 %bits, i32 31)\n"
    "  %b = call i32 @rvm.device.shuffle(i32 %mask, i32 %h, i32 %bits, i32 31)\n"
    "  %c = zext i32 %a to i64\n"
    "  %d = zext i32 %b to i64\n"
    "  %e = shl i64 %d, 32\n"
    "  %f = or i64 %c, %e\n"
    "  ret i64 %f\n"
    "}\n"
    "define double @rvm.device.other(double %x, i32 %mask, i32 %lane, i32 %active, i32 %bits) alwaysinline "
    "convergent nounwind {\n"
    "  %i = bitcast double %x to i64\n"
    "  %j = call i64 @rvm.device.exchange(i64 %i, i32 %mask, i32 %bits)\n"
    "  %y = bitcast i64 %j to double\n"
    "  %n = xor i32 %lane, %bits\n"
    "  %there = icmp ult i32 %n, %active\n"
    "  %z = select i1 %there, double %y, double -0.0\n"
    "  ret double %z\n"
    "}\n"
    "define void @rvm.device.add_warp.f64(ptr %p, double %x, i32 %mask, i32 %lane, i32 %active) alwaysinline "
    "convergent nounwind {\n"
    "  %a = call double @rvm.device.other(double %x, i32 %mask, i32 %lane, i32 %active, i32 16)\n"
    "  %s = fadd double %x, %a\n"
    "  %b = call double @rvm.device.other(double %s, i32 %mask, i32 %lane, i32 %active, i32 8)\n"
    "  %t = fadd double %s, %b\n"
    "  %c = call double @rvm.device.other(double %t, i32 %mask, i32 %lane, i32 %active, i32 4)\n"
    "  %u = fadd double %t, %c\n"
    "  %d = call double @rvm.device.other(double %u, i32 %mask, i32 %lane, i32 %active, i32 2)\n"
    "  %v = fadd double %u, %d\n"
    "  %e = call double @rvm.device.other(double %v, i32 %mask, i32 %lane, i32 %active, i32 1)\n"
    "  %w = fadd double %v, %e\n"
    "  %first = icmp eq i32 %lane, 0\n"
    "  br i1 %first, label %add, label %on\n"
    "add:\n"
    "  call void @rvm.device.add_each.f64(ptr %p, double %w)\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_each.f64(ptr %p, double %x) alwaysinline nounwind {\n"
    "  %q = addrspacecast ptr %p to ptr addrspace(1)\n"
    "  %was = atomicrmw fadd ptr addrspace(1) %q, double %x monotonic\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_each.i64(ptr %p, i64 %x) alwaysinline nounwind {\n"
    "  %q = addrspacecast ptr %p to ptr addrspace(1)\n"
    "  %was = atomicrmw add ptr addrspace(1) %q, i64 %x monotonic\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.fail(i1 %c, ptr %control, i64 %number) alwaysinline nounwind {\n"
    "  br i1 %c, label %fail, label %on\n"
    "fail:\n"
    "  %q = addrspacecast ptr %control to ptr addrspace(1)\n"
    "  %was = atomicrmw umin ptr addrspace(1) %q, i64 %number monotonic\n"
    "  call void @rvm.device.exit()\n"
    "  unreachable\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define i1 @rvm.device.lacks(ptr %top, i64 %size, i64 %n, ptr %control) alwaysinline nounwind {\n"
    "entry:\n"
    "  %from = load i64, ptr %top\n"
    "  %length = shl i64 %n, 3\n"
    "  %bytes = add i64 %length, 16\n"
    "  %to = add i64 %from, %bytes\n"
    "  %beyond = icmp ugt i64 %to, %size\n"
    "  br i1 %beyond, label %ask, label %on\n"
    "ask:\n"
    "  %needed = getelementptr i8, ptr %control, i64 56\n"
    "  %q = addrspacecast ptr %needed to ptr addrspace(1)\n"
    "  %was = atomicrmw umax ptr addrspace(1) %q, i64 %to monotonic\n"
    "  br label %on\n"
    "on:\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define ptr @rvm.device.take(ptr %arena, ptr %top, i64 %n) alwaysinline nounwind {\n"
    "  %from = load i64, ptr %top\n"
    "  %length = shl i64 %n, 3\n"
    "  %bytes = add i64 %length, 16\n"
    "  %to = add i64 %from, %bytes\n"
    "  store i64 %to, ptr %top\n"
    "  %p = getelementptr i8, ptr %arena, i64 %from\n"
    "  ret ptr %p\n"
    "}\n"
    "define void @rvm.device.fill(ptr %p, i64 %n, i64 %bits) alwaysinline nounwind {\n"
    "entry:\n"
    "  %first = getelementptr i8, ptr %p, i64 16\n"
    "  br label %head\n"
    "head:\n"
    "  %i = phi i64 [0, %entry], [%j, %fill]\n"
    "  %more = icmp ult i64 %i, %n\n"
    "  br i1 %more, label %fill, label %done\n"
    "fill:\n"
    "  %e = getelementptr i64, ptr %first, i64 %i\n"
    "  store i64 %bits, ptr %e\n"
    "  %j = add i64 %i, 1\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.del(ptr %top, i64 %n) alwaysinline nounwind {\n"
    "  %to = load i64, ptr %top\n"
    "  %length = shl i64 %n, 3\n"
    "  %bytes = add i64 %length, 16\n"
    "  %from = sub i64 %to, %bytes\n"
    "  store i64 %from, ptr %top\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.clear(ptr %p, i64 %bytes) alwaysinline nounwind {\n"
    "entry:\n"
    "  br label %head\n"
    "head:\n"
    "  %i = phi i64 [0, %entry], [%j, %store]\n"
    "  %more = icmp ult i64 %i, %bytes\n"
    "  br i1 %more, label %store, label %done\n"
    "store:\n"
    "  %q = getelementptr i8, ptr %p, i64 %i\n"
    "  store i64 0, ptr %q, align 8\n"
    "  %j = add nuw i64 %i, 8\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_term(ptr %p, double %x, ptr %slot, ptr %log, ptr %addresses, i64 %n, i64 %i, i64 %most) "
    "alwaysinline nounwind {\n"
    "  %s = load i64, ptr %slot\n"
    "  %t = add i64 %s, 1\n"
    "  store i64 %t, ptr %slot\n"
    "  %fits = icmp ult i64 %s, %most\n"
    "  br i1 %fits, label %keep, label %on\n"
    "keep:\n"
    "  %row = mul i64 %s, %n\n"
    "  %at = add i64 %row, %i\n"
    "  %to = getelementptr double, ptr %log, i64 %at\n"
    "  store double %x, ptr %to\n"
    "  %first = icmp eq i64 %i, 0\n"
    "  br i1 %first, label %name, label %on\n"
    "name:\n"
    "  %where = getelementptr i64, ptr %addresses, i64 %s\n"
    "  store ptr %p, ptr %where\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_entry(ptr %p, double %x, ptr %slot, ptr %entries, i64 %row, i64 %width, ptr %entered) "
    "alwaysinline nounwind {\n"
    "  %s = load i64, ptr %slot\n"
    "  %t = add i64 %s, 1\n"
    "  store i64 %t, ptr %slot\n"
    "  %fits = icmp ult i64 %s, %width\n"
    "  br i1 %fits, label %keep, label %on\n"
    "keep:\n"
    "  %begin = mul i64 %row, %width\n"
    "  %at = add i64 %begin, %s\n"
    "  %to = getelementptr <2 x i64>, ptr %entries, i64 %at\n"
    "  %a = ptrtoint ptr %p to i64\n"
    "  %b = bitcast double %x to i64\n"
    "  %one = insertelement <2 x i64> poison, i64 %a, i32 0\n"
    "  %two = insertelement <2 x i64> %one, i64 %b, i32 1\n"
    "  store <2 x i64> %two, ptr %to, align 16\n"
    "  %k = load i64, ptr %entered\n"
    "  %l = add i64 %k, 1\n"
    "  store i64 %l, ptr %entered\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.no_entries(ptr %entries, i64 %row, i64 %width, i64 %from, i64 %to) alwaysinline nounwind {\n"
    "entry:\n"
    "  %begin = mul i64 %row, %width\n"
    "  %less = icmp ult i64 %to, %width\n"
    "  %end = select i1 %less, i64 %to, i64 %width\n"
    "  br label %head\n"
    "head:\n"
    "  %s = phi i64 [%from, %entry], [%t, %store]\n"
    "  %more = icmp ult i64 %s, %end\n"
    "  br i1 %more, label %store, label %done\n"
    "store:\n"
    "  %at = add i64 %begin, %s\n"
    "  %p = getelementptr <2 x i64>, ptr %entries, i64 %at\n"
    "  store i64 0, ptr %p\n"
    "  %t = add i64 %s, 1\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define i1 @rvm.device.lacks_entries(ptr %control, i64 %n, i64 %width) alwaysinline nounwind {\n"
    "entry:\n"
    "  %beyond = icmp ugt i64 %n, %width\n"
    "  br i1 %beyond, label %ask, label %on\n"
    "ask:\n"
    "  %there = getelementptr i8, ptr %control, i64 88\n"
    "  %q = addrspacecast ptr %there to ptr addrspace(1)\n"
    "  %was = atomicrmw umax ptr addrspace(1) %q, i64 %n monotonic\n"
    "  br label %on\n"
    "on:\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define i1 @rvm.device.tell_additions(ptr %control, i64 %n, i64 %most) alwaysinline nounwind {\n"
    "  %there = getelementptr i8, ptr %control, i64 64\n"
    "  %q = addrspacecast ptr %there to ptr addrspace(1)\n"
    "  store i64 %n, ptr addrspace(1) %q\n"
    "  %beyond = icmp ugt i64 %n, %most\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define void @rvm.device.count(ptr %p, i64 %x, i32 %lane, i1 %largest) alwaysinline convergent nounwind {\n"
    "entry:\n"
    "  br label %step\n"
    "step:\n"
    "  %bits = phi i32 [16, %entry], [%half, %step]\n"
    "  %v = phi i64 [%x, %entry], [%w, %step]\n"
    "  %o = call i64 @rvm.device.exchange(i64 %v, i32 -1, i32 %bits)\n"
    "  %sum = add i64 %v, %o\n"
    "  %more = icmp ugt i64 %v, %o\n"
    "  %most = select i1 %more, i64 %v, i64 %o\n"
    "  %w = select i1 %largest, i64 %most, i64 %sum\n"
    "  %half = lshr i32 %bits, 1\n"
    "  %again = icmp ne i32 %half, 0\n"
    "  br i1 %again, label %step, label %done\n"
    "done:\n"
    "  %first = icmp eq i32 %lane, 0\n"
    "  br i1 %first, label %add, label %on\n"
    "add:\n"
    "  %q = addrspacecast ptr %p to ptr addrspace(1)\n"
    "  br i1 %largest, label %compare, label %plus\n"
    "compare:\n"
    "  %was = atomicrmw umax ptr addrspace(1) %q, i64 %w monotonic\n"
    "  ret void\n"
    "plus:\n"
    "  %had = atomicrmw add ptr addrspace(1) %q, i64 %w monotonic\n"
    "  ret void\n"
    "on:\n"
    "  ret void\n"
    "}\n";

_Static_assert(RVM__ARRAY_HEADER == 16 && offsetof(rvm__kernel_control, needed) == 56 &&
                   offsetof(rvm__kernel_control, additions) == 64 && offsetof(rvm__kernel_control, width) == 88 &&
                   sizeof(rvm__kernel_entry) == 16,
               "as these have them");

bool rvm__device_add_runtime(const rvm__build *k, bool is_grid) {
    const char *parts[] = {is_grid ? grid : device, both, is_grid ? rvm__cta_grid : rvm__cta_device, rvm__cta_both};
    size_t size = 1;
    char *all;
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++) size += strlen(parts[n]);
    if (!(all = rvm__realloc(k->al, NULL, 0, size))) return false;
    *all = 0;
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++) strcat(all, parts[n]);
    const bool good = rvm__build_link(k, all);
    rvm__realloc(k->al, all, size, 0);
    return good;
}

/* ---- libdevice ---- */

bool rvm__device_is_function(const char *name) {
    return rvm__function_of(name) || (strncmp(name, "llvm.", 5) != 0 && strncmp(name, "rvm", 3) != 0);
}

static bool is_function(LLVMValueRef f, const char *name) {
    return LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && rvm__device_is_function(name);
}

/* Names become those that libdevice has; false: nothing is called. */
static bool rename_functions(const rvm__build *k) {
    bool any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        char name[80];
        const char *symbol = LLVMGetValueName2(f, &length), *of = rvm__function_of(symbol);
        if (!is_function(f, symbol)) continue;
        snprintf(name, sizeof name, "__nv_%.60s", of ? of : symbol);
        LLVMSetValueName2(f, name, strlen(name));
        any = true;
    }
    return any;
}

static void link_file(const rvm__build *k, const char *path) {
    LLVMMemoryBufferRef file;
    LLVMModuleRef module;
    char *why = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &file, &why)) {
        LLVMDisposeMessage(why);
        return;
    }
    const bool bad = LLVMParseBitcodeInContext2(k->context, file, &module);
    LLVMDisposeMemoryBuffer(file);
    if (bad) return;
    LLVMSetTarget(module, LLVMGetTarget(k->module));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(k->module));
    LLVMLinkModules2(k->module, module); /* what is not there then is missed */
}

/* A device's instructions that libdevice has as text; of the function a part of it tells. */
static const char *function_of_assembly(LLVMValueRef assembly) {
    static const struct {
        const char *part, *name;
    } known[] = {{"rsqrt.approx.ftz.f64", RVM__NVVM "rsqrt.approx.ftz.d"},
                 {"setp.equ.f64", RVM__NVVM "equal"},
                 {"add.cc.u32      r0, a0, b0", RVM__NVVM "add.wide"},
                 {"sub.cc.u32      r0, a0, b0", RVM__NVVM "sub.wide"},
                 {"mad.lo.cc.u32   r0, alo, blo, clo", RVM__NVVM "mad.wide"},
                 {"mad.lo.cc.u32   $0, $2, $3, $4", RVM__NVVM "mad.half"},
                 {"rcp.approx.ftz.f32", RVM__NVVM "rcp.approx.ftz.f"},
                 {"sub.rn.f32", RVM__NVVM "sub.rn.f"},
                 {"sub.rn.ftz.f32", RVM__NVVM "sub.rn.ftz.f"},
                 {"mul.lo.u32      r0, alo, blo", RVM__NVVM "mul.wide"}};
    const char *name = NULL;
    char *text = LLVMPrintValueToString(assembly);
    for (size_t n = 0; n < sizeof known / sizeof *known && !name; n++)
        if (strstr(text, known[n].part)) name = known[n].name;
    LLVMDisposeMessage(text);
    return name;
}

static void replace_assembly(const rvm__build *k, LLVMValueRef call) {
    enum { MOST = 4 };
    LLVMValueRef args[MOST], called = LLVMGetCalledValue(call);
    const char *name = LLVMIsAInlineAsm(called) ? function_of_assembly(called) : NULL;
    LLVMValueRef f = name ? LLVMGetNamedFunction(k->module, name) : NULL;
    const unsigned n = LLVMGetNumArgOperands(call);
    if (!f || n > MOST || LLVMGlobalGetValueType(f) != LLVMGetCalledFunctionType(call)) return;
    for (unsigned a = 0; a < n; a++) args[a] = LLVMGetOperand(call, a);
    LLVMPositionBuilderBefore(k->b, call);
    LLVMReplaceAllUsesWith(call, LLVMBuildCall2(k->b, LLVMGlobalGetValueType(f), f, args, n, ""));
    LLVMInstructionEraseFromParent(call);
}

static void replace_all_assembly(const rvm__build *k) {
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef v = LLVMGetFirstInstruction(b), next; v; v = next) {
                next = LLVMGetNextInstruction(v);
                if (LLVMIsACallInst(v)) replace_assembly(k, v);
            }
}

/* What libdevice calls for a device becomes what is here. */
static void link_for_host(const rvm__build *k) {
    static const char prefix[] = "llvm.nvvm.";
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        char name[80];
        const char *symbol = LLVMGetValueName2(f, &length);
        if (strncmp(symbol, prefix, sizeof prefix - 1) != 0) continue;
        snprintf(name, sizeof name, RVM__NVVM "%.60s", symbol + sizeof prefix - 1);
        LLVMSetValueName2(f, name, strlen(name));
    }
    if (rvm__build_link(k, rvm__nvvm_on_host)) replace_all_assembly(k); /* what is left is missed */
}

const char *rvm__device_add_functions(const rvm__build *k, const char *path, bool is_grid) {
    if (!rename_functions(k)) return NULL;
    if (*path) link_file(k, path);
    if (*path && is_grid) link_for_host(k);
    for (LLVMValueRef f = LLVMGetFirstFunction(k->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (is_function(f, name) && strncmp(name, "__nv_", 5) == 0) return name + 5;
    }
    return NULL;
}

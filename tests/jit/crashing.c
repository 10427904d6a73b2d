/* crashing.c: preloaded, it is LLVM with a fault in it: the first time that a module is optimised, or each time, as
 * $CRASHING says. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/Transforms/PassBuilder.h>

typedef LLVMErrorRef run_passes(LLVMModuleRef, const char *, LLVMTargetMachineRef, LLVMPassBuilderOptionsRef);

static void fault(void) {
    *(volatile int *)NULL = 1;
}

static unsigned use_up_the_stack(unsigned n) {
    volatile char some[4096];
    some[n % sizeof some] = (char)n;
    return n == ~0u ? 0 : use_up_the_stack(n + 1) + (unsigned)some[0];
}

static void *fault_in_thread(void *unused) {
    fault();
    return unused;
}

static void fault_elsewhere(void) {
    pthread_t other;
    if (!pthread_create(&other, NULL, fault_in_thread, NULL)) pthread_join(other, NULL);
}

static bool is(const char *what) {
    const char *wanted = getenv("CRASHING");
    return wanted && !strcmp(wanted, what);
}

static void on_fault(int signal) {
    static const char said[] = "the caller's handler\n";
    (void)signal;
    _exit(write(STDERR_FILENO, said, sizeof said - 1) > 0 ? 7 : 8);
}

__attribute__((constructor)) static void begin(void) {
    if (is("handled")) signal(SIGSEGV, on_fault);
}

/* LLVM's own, which only the module sees, whose library it is. */
static int find_real(struct dl_phdr_info *info, size_t size, void *real) {
    (void)size;
    void *const library = strstr(info->dlpi_name, "libLLVM") ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *const found = library ? dlsym(library, "LLVMRunPasses") : NULL;
    memcpy(real, &found, sizeof found);
    return found != NULL;
}

__attribute__((visibility("default"))) LLVMErrorRef
LLVMRunPasses(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine, LLVMPassBuilderOptionsRef options) {
    static volatile unsigned times; /* kept where what follows crashes */
    run_passes *real = NULL;
    dl_iterate_phdr(find_real, &real);
    const bool optimises = !strncmp(passes, "default<", 8), first = optimises && !times++;
    if (is("always") && optimises) fault();
    if (is("once") && first) fault();
    if (is("abort") && first) abort();
    if (is("overflow") && first) times += use_up_the_stack(0) & 1;
    if ((is("elsewhere") || is("handled")) && first) fault_elsewhere();
    return real(module, passes, machine, options);
}

/* nvtx.c: stands in for a profiler's library, which NVTX opens: the ranges of a run, one a line, into the file that
 * $RVM_RANGES names. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

static void say(const char *what) {
    FILE *f = fopen(getenv("RVM_RANGES"), "a");
    if (!f) return;
    fprintf(f, "%s\n", what);
    fclose(f);
}

static int push(const char *text) {
    say(text);
    return 0;
}

static int pop(void) {
    say("end");
    return 0;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
    if (size <= NVTX_CBID_CORE_RangePushA || size <= NVTX_CBID_CORE_RangePop) return 0;
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
    return 1;
}

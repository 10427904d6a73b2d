/* ranges.c: what Nsight Systems shows above kernels: blocks by function and line, as ranges of NVTX. Its header, which
 * CUDA's toolkit has, opens a profiler's library where there is one; built without it, or without a profiler, nothing
 * happens. */
#include <stdio.h>

#include "cuda.h"
#include "program.h"

#ifdef RVM_HAS_NVTX
#include <nvtx3/nvToolsExt.h>

void rvm__cuda_range_begin(const rvm_machine *m, const rvm__native_kernel *k) {
    char text[120];
    snprintf(text, sizeof text, "%.90s, line %u", m->p->functions[m->bound.entry].name, (unsigned)k->line);
    nvtxRangePushA(text);
}

void rvm__cuda_range_end(void) {
    nvtxRangePop();
}
#else
void rvm__cuda_range_begin(const rvm_machine *m, const rvm__native_kernel *k) {
    (void)m, (void)k;
}

void rvm__cuda_range_end(void) {}
#endif

/* totals.c: what all devices of an rvm_cuda did. */
#include "cuda.h"

void rvm_cuda_stats(const rvm_cuda *c, rvm_cuda_totals *out) {
    if (!out) return;
    *out = c ? c->totals : (rvm_cuda_totals){0};
    for (unsigned k = 0; c && k < c->nothers; k++) {
        const rvm_cuda_totals *one = &c->others[k]->totals;
        out->launches += one->launches;
        out->uploaded += one->uploaded;
        out->downloaded += one->downloaded;
        out->across += one->across;
        out->loading += one->loading;
        out->kernels += one->kernels;
    }
}

/* cuda.c: rvm_cuda.h. A device is what stands in for one (tests/grid), where RVM_CUDA_DRIVER names that. */
#include "nulls.h"
#include "rvm_cuda.h"

/* Without a device what is asked of one comes after what is NULL is refused. */
void try_cuda(void) {
    rvm_cuda *c = NULL;
    rvm_cuda_array *a = NULL, *one = (rvm_cuda_array *)(void *)&e;
    rvm_cuda_totals totals = {.blocks = 1};
    rvm_cuda_device about;
    rvm_cuda_block block;
    rvm_cuda_options o = rvm_cuda_options_default();
    int n;
    const bool is = rvm_cuda_new(&o, &c, &e) == RVM_OK;
    rvm_cuda *const some = is ? c : (rvm_cuda *)(void *)&e;
    REFUSED(rvm_cuda_count, n, NULL, &e);
    tried("rvm_cuda_count", "err", (rvm_cuda_count(&n, NULL) == RVM_OK) == is, "the same without an rvm_error");
    REFUSED(rvm_cuda_describe, out, 0, NULL, &e);
    tried("rvm_cuda_describe", "err", (rvm_cuda_describe(0, &about, NULL) == RVM_OK) == is, "the same without an rvm_error");
    REFUSED(rvm_cuda_new, out, NULL, NULL, &e);
    UNTOLD(rvm_cuda_new, NULL, NULL, NULL);
    rvm_cuda *other = NULL;
    HARMLESS(rvm_cuda_new, options, (rvm_cuda_new(NULL, &other, &e) == RVM_OK) == is);
    rvm_cuda_free(other);
    HARMLESS(rvm_cuda_free, c, (rvm_cuda_free(NULL), true));
    HARMLESS(rvm_cuda_devices, c, rvm_cuda_devices(NULL, (int[]){1}, 1) == 0);
    HARMLESS(rvm_cuda_devices, devices, !is || rvm_cuda_devices(c, NULL, 1) == 1);
    REFUSED(rvm_cuda_attach, c, NULL, m, &e);
    REFUSED(rvm_cuda_attach, m, some, NULL, &e);
    UNTOLD(rvm_cuda_attach, NULL, m, NULL);
    REFUSED(rvm_cuda_array_new, c, NULL, 1, &a, &e);
    REFUSED(rvm_cuda_array_new, out, some, 1, NULL, &e);
    UNTOLD(rvm_cuda_array_new, NULL, 1, &a, NULL);
    REFUSED(rvm_cuda_array_wrap, c, NULL, 8, 1, &a, &e);
    REFUSED(rvm_cuda_array_wrap, out, some, 8, 1, NULL, &e);
    UNTOLD(rvm_cuda_array_wrap, NULL, 8, 1, &a, NULL);
    HARMLESS(rvm_cuda_array_free, a, (rvm_cuda_array_free(NULL), true));
    HARMLESS(rvm_cuda_array_data, a, !rvm_cuda_array_data(NULL));
    HARMLESS(rvm_cuda_array_pointer, a, !rvm_cuda_array_pointer(NULL));
    REFUSED(rvm_cuda_array_upload, a, NULL, 0, 1, x, &e);
    REFUSED(rvm_cuda_array_upload, from, one, 0, 1, NULL, &e);
    UNTOLD(rvm_cuda_array_upload, NULL, 0, 1, x, NULL);
    REFUSED(rvm_cuda_array_download, a, NULL, 0, 1, x, &e);
    REFUSED(rvm_cuda_array_download, to, one, 0, 1, NULL, &e);
    UNTOLD(rvm_cuda_array_download, NULL, 0, 1, x, NULL);
    REFUSED(rvm_cuda_array_upload_async, a, NULL, 0, 1, x, &e);
    REFUSED(rvm_cuda_array_upload_async, from, one, 0, 1, NULL, &e);
    UNTOLD(rvm_cuda_array_upload_async, NULL, 0, 1, x, NULL);
    REFUSED(rvm_cuda_array_download_async, a, NULL, 0, 1, x, &e);
    REFUSED(rvm_cuda_array_download_async, to, one, 0, 1, NULL, &e);
    UNTOLD(rvm_cuda_array_download_async, NULL, 0, 1, x, NULL);
    REFUSED(rvm_cuda_synchronize, c, NULL, &e);
    UNTOLD(rvm_cuda_synchronize, NULL, NULL);
    HARMLESS(rvm_cuda_stats, c, (rvm_cuda_stats(NULL, &totals), !totals.blocks));
    HARMLESS(rvm_cuda_stats, out, (rvm_cuda_stats(some, NULL), true));
    HARMLESS(rvm_cuda_blocks, c, rvm_cuda_blocks(NULL, &block, 1) == 0);
    HARMLESS(rvm_cuda_blocks, out, !is || rvm_cuda_blocks(c, NULL, 1) == 0);
    rvm_cuda_free(c);
}

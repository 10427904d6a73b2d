/* rvm_cuda.h: parallel blocks on a CUDA device.
 *
 *     rvm_cuda *c;
 *     rvm_jit *j;
 *     if (!rvm_jit_new(NULL, &j, &e) && !rvm_jit_attach(j, m, &e) && // rvm_jit.h
 *         !rvm_cuda_new(NULL, &c, &e)) // else there is no device here: e says why
 *         rvm_cuda_attach(c, m, &e);
 *     rvm_gradient(m, fn, a, 2, &e); // as ever; parallel blocks run as kernels
 *
 * A parallel block of unchecked code (options.unchecked) that native code runs becomes a kernel, compiled with that code to
 * PTX, of which the driver makes machine code and keeps that in a cache of its own ($CUDA_CACHE_PATH). A block that cannot
 * be one, that has fewer instructions than `least`, or for which the device fails, runs where it would without one, and
 * gives the same results; rvm_cuda_stats tells how many, and why. An instance that fails ends its kernel; what that has
 * changed is dropped, and the block runs on the host, where it fails as ever.
 *
 * Results. Where no elementary function is called and math is not fast, the bits are those of the interpreter, whatever the
 * launch and the device. Elementary functions are those of libdevice: within 2 ulp of the host's. What instances add to
 * a register is summed in the interpreter's order. With fast math, what all instances of a warp add to one element is summed
 * over the warp, into a copy for each warp of 2,048, modulo that, and then over these: the same bits for any run and device;
 * where an index depends on the instance, elements gain in no order.
 *
 * Memory. What a block reads is copied to the device before it and what it changes back behind it. An rvm_cuda_array stays
 * there: its address goes into an rvm_arg, and nothing is copied as long as only kernels use it. One that ends before the
 * argument does is refused (SHAPE).
 *
 * Threads: an rvm_cuda and the machines attached to it belong to one thread at a time. Nothing here prints.
 */
#ifndef RVM_CUDA_H
#define RVM_CUDA_H

#include "rvm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rvm_cuda rvm_cuda;

typedef struct rvm_cuda_device {
    char name[256];
    int major, minor;    /* compute capability; 7.5 is the least that will do */
    int multiprocessors; /* so many; */
    int clock;           /* kHz */
    size_t memory;       /* bytes */
    bool slow_double;    /* doubles take 32 times as long as floats, or longer */
} rvm_cuda_device;

/* *n: how many devices there are. Errors: UNSUPPORTED: no driver, or one that is too old: why. */
RVM_API rvm_status rvm_cuda_count(int *n, rvm_error *err);
/* Errors besides: USAGE (no such device). */
RVM_API rvm_status rvm_cuda_describe(int device, rvm_cuda_device *out, rvm_error *err);

/* Start from rvm_cuda_options_default(). */
/* Of a block with blocks within: a CTA for each instance, whose threads share those; or a thread. By size: the former where
 * instances are too few to fill the device, or their local arrays are too large for a thread. */
typedef enum rvm_cuda_nested { RVM_CUDA_BY_SIZE, RVM_CUDA_NEVER, RVM_CUDA_ALWAYS } rvm_cuda_nested;
typedef struct rvm_cuda_options {
    int device; /* its number; default 0 */
    uint64_t
        least; /* instructions that a block must have, as far as its text tells, to go to the device; default 2^22; 0: all */
    rvm_cuda_nested nested; /* default: by size; RVM_CUDA_NESTED=0 or =1 in the environment: never, always */
    void *stream; /* a CUstream of the device's primary context on which all goes, in the caller's order; NULL: an own one */
    const rvm_allocator *allocator; /* NULL: the C library's; must outlive the rvm_cuda */
} rvm_cuda_options;
RVM_API rvm_cuda_options rvm_cuda_options_default(void);

/* options NULL: the defaults. *out is owned by the caller, NULL on failure. The device's primary context is retained, which
 * PyTorch, CuPy and the runtime API have, too. Errors: UNSUPPORTED (no driver, an older one than of CUDA 11.3, no device,
 * one of an older kind than 7.5), USAGE (no such device), MEMORY. */
RVM_API rvm_status rvm_cuda_new(const rvm_cuda_options *options, rvm_cuda **out, rvm_error *err);
/* Machines that are attached must be freed before, or detached. Its arrays must be freed before. NULL is allowed. */
RVM_API void rvm_cuda_free(rvm_cuda *c);

/* From now on blocks of m may run on the device, and those of the machines that run its derivatives. m must be attached to
 * an rvm_jit; detaching it there detaches it here. Errors: USAGE (it is not). */
RVM_API rvm_status rvm_cuda_attach(rvm_cuda *c, rvm_machine *m, rvm_error *err);

/* ---- arrays that stay on the device ---- */

typedef struct rvm_cuda_array rvm_cuda_array;
/* n elements of 8 bytes, 0. *out is owned by the caller. Errors: MEMORY (of the device or of addresses). */
RVM_API rvm_status rvm_cuda_array_new(rvm_cuda *c, size_t n, rvm_cuda_array **out, rvm_error *err);
/* The same around device memory of the caller's, n elements of 8 bytes at that CUdeviceptr, as a DLTensor of kDLCUDA
 * and float64 has in data + byte_offset; it must outlive the array. */
RVM_API rvm_status rvm_cuda_array_wrap(rvm_cuda *c, uint64_t device_pointer, size_t n, rvm_cuda_array **out, rvm_error *err);
/* It may not be bound to a machine. NULL is allowed. */
RVM_API void rvm_cuda_array_free(rvm_cuda_array *a);
/* What stands in an rvm_arg's data or shadow_data in its place: an address of this process that only machines attached to
 * the rvm_cuda may read or write. */
RVM_API void *rvm_cuda_array_data(rvm_cuda_array *a);
RVM_API uint64_t rvm_cuda_array_pointer(rvm_cuda_array *a); /* on the device: what it holds when no machine runs */
/* n elements from `first` on, to or from the host. Errors: USAGE (beyond its end), UNSUPPORTED (the device fails). */
RVM_API rvm_status rvm_cuda_array_upload(rvm_cuda_array *a, size_t first, size_t n, const void *from, rvm_error *err);
RVM_API rvm_status rvm_cuda_array_download(rvm_cuda_array *a, size_t first, size_t n, void *to, rvm_error *err);

/* ---- what it did ---- */

typedef struct rvm_cuda_totals {   /* since it was made */
    uint64_t blocks, on_host;      /* that ran on the device; that were asked for but did not */
    uint64_t nested;               /* of those that ran there: with a CTA for each instance */
    uint64_t launches;             /* of their kernels */
    uint64_t uploaded, downloaded; /* bytes */
    double loading;                /* seconds of the driver making machine code, or finding it */
    double kernels;                /* seconds of kernels, on the device */
    char why[300];                 /* the last that did not run there: "line 12: ..", or empty */
    int registers, local_bytes;    /* of the last kernel that was loaded, a thread */
} rvm_cuda_totals;
RVM_API void rvm_cuda_stats(const rvm_cuda *c, rvm_cuda_totals *out);

#ifdef __cplusplus
}
#endif
#endif

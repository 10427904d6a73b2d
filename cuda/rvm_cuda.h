/* rvm_cuda.h: parallel blocks on a CUDA device, or on several.
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
 * Several devices. The instances of a block are split over the devices of an rvm_cuda, where each gets instructions enough;
 * what they sum is summed in the same order, so that results have the bits that one device gives, but for elements that
 * gain in no order. What they change of an array that stays on the first device comes to that. A block that a device has
 * failed for runs on the first, then on the host; a device that is lost takes part in no other.
 *
 * Choice. With options.automatic a block is timed on the host, and, once what a device might have saved is as long as it
 * takes to open one, or to load its code, on the device, too, twice; from then on it runs where it took less, copies
 * included, each size apart. A block for which even copies take longer than the host never goes there, nor does one of few
 * instances, nor, unless math is fast, one that calls elementary functions, whose bits would be others.
 *
 * Memory. What a block reads is copied to the device before it and what it changes back behind it. An rvm_cuda_array stays
 * there: its address goes into an rvm_arg, and nothing is copied as long as only kernels use it; what a derivative saves of
 * it, compares and gives back stays there, too, in memory of the device for the time of the call. One that ends before the
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

enum { RVM_CUDA_MAX_DEVICES = 16, RVM_CUDA_ALL_DEVICES = -1 };

/* Of a block with blocks within: a CTA for each instance, whose threads share those; or a thread. By size: the former where
 * instances are too few to fill the device, or their local arrays are too large for a thread; with fast math, where one way
 * has other bits than the other, by the number of instances, not by the device. */
typedef enum rvm_cuda_nested { RVM_CUDA_BY_SIZE, RVM_CUDA_NEVER, RVM_CUDA_ALWAYS } rvm_cuda_nested;

/* Start from rvm_cuda_options_default(). */
typedef struct rvm_cuda_options {
    int device;         /* its number; default 0 */
    const int *devices; /* several: their numbers, in place of `device`; arrays that stay are on the first; not kept */
    int ndevices;       /* so many; 0: `device` alone; RVM_CUDA_ALL_DEVICES: all that will do, but for devices beyond 16 */
    uint64_t least; /* instructions that a block must have, as far as its text tells, to go to the device, unless that takes
                       less than to copy what only the device has; on several devices each of them; default 2^22; 0: all */
    rvm_cuda_nested nested; /* default: by size; RVM_CUDA_NESTED=0 or =1 in the environment: never, always */
    bool automatic; /* a block goes to the device only where that is faster, copies included, and has the host's bits, see
                       above; till then no driver is opened; default false */
    void *stream; /* a CUstream of the (first) device's primary context on which all goes there, in the caller's order; NULL:
                     an own one */
    const rvm_allocator *allocator; /* NULL: the C library's; must outlive the rvm_cuda */
} rvm_cuda_options;
RVM_API rvm_cuda_options rvm_cuda_options_default(void);

/* options NULL: the defaults. *out is owned by the caller, NULL on failure. The device's primary context is retained, which
 * PyTorch, CuPy and the runtime API have, too. Errors: UNSUPPORTED (no driver, an older one than of CUDA 11.3, no device,
 * one of an older kind than 7.5; automatic: nothing of a driver is to be seen), USAGE (no such device, one named twice, more
 * than 16), MEMORY. */
RVM_API rvm_status rvm_cuda_new(const rvm_cuda_options *options, rvm_cuda **out, rvm_error *err);
/* Machines that are attached must be freed before, or detached. Its arrays must be freed before. NULL is allowed. */
RVM_API void rvm_cuda_free(rvm_cuda *c);

/* How many devices it has open; the numbers of the first n of them to `devices`, which may be NULL where n is 0. */
RVM_API int rvm_cuda_devices(const rvm_cuda *c, int *devices, int n);

/* From now on blocks of m may run on the device, and those of the machines that run its derivatives. m must be attached to
 * an rvm_jit; detaching it there detaches it here. Errors: USAGE (it is not). */
RVM_API rvm_status rvm_cuda_attach(rvm_cuda *c, rvm_machine *m, rvm_error *err);

/* ---- arrays that stay on the device ---- */

typedef struct rvm_cuda_array rvm_cuda_array;
/* n elements of 8 bytes, 0, on the first device; what blocks on others use of it is copied to these, till it changes. *out
 * is owned by the caller. Errors: MEMORY (of the device or of addresses). */
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
/* n elements from `first` on, to or from the host, in the stream's order; waits for the stream. Errors: USAGE (beyond its
 * end), UNSUPPORTED (the device fails). */
RVM_API rvm_status rvm_cuda_array_upload(rvm_cuda_array *a, size_t first, size_t n, const void *from, rvm_error *err);
RVM_API rvm_status rvm_cuda_array_download(rvm_cuda_array *a, size_t first, size_t n, void *to, rvm_error *err);
/* The same, sent to the stream (options.stream, or an own one) behind all that was sent there before, and ahead of what
 * comes after, blocks of machines included; nobody waits for it. Till the stream has done it, which rvm_cuda_synchronize
 * waits for, or the caller by the stream or an event of it: what stands at `from` must not change, and what is to stand at
 * `to` is not there, nor may that memory be freed or used. Host memory that is page-locked (cuMemHostAlloc,
 * cuMemHostRegister) is copied while the host goes on; of other memory the driver may have copied some, or all, when it
 * returns. Where host code of a run has the array, as above, it is copied at once. What fails later is told by whatever
 * waits next for the stream: rvm_cuda_synchronize, a copy that waits, or a run; what such copies were to write is undefined
 * then. */
RVM_API rvm_status rvm_cuda_array_upload_async(rvm_cuda_array *a, size_t first, size_t n, const void *from, rvm_error *err);
RVM_API rvm_status rvm_cuda_array_download_async(rvm_cuda_array *a, size_t first, size_t n, void *to, rvm_error *err);
/* Waits till the (first) device has done all that was sent to the stream. Errors: UNSUPPORTED (some of that has failed, or
 * the device is lost). */
RVM_API rvm_status rvm_cuda_synchronize(rvm_cuda *c, rvm_error *err);

/* ---- what it did ---- */

typedef struct rvm_cuda_totals {   /* since it was made, of all its devices */
    uint64_t blocks, on_host;      /* that ran on the device; that were asked for but did not */
    uint64_t nested;               /* of those that ran there: with a CTA for each instance */
    uint64_t launches;             /* of their kernels */
    uint64_t split;                /* blocks, of those that ran on devices, that ran on several */
    uint64_t uploaded, downloaded; /* bytes */
    uint64_t across;               /* bytes, from one device to another */
    double opening;                /* seconds of opening driver and devices; 0: they are not open */
    double loading;                /* seconds of the driver making machine code, or finding it */
    double kernels;                /* seconds of kernels, on the device */
    char why[300];                 /* the last that did not run there: "line 12: ..", or empty */
    char why_one[300];             /* of several devices: the last block that ran on one alone: likewise */
    const char *why_none;       /* the last run none of whose blocks could run there: why, a constant; NULL: none was so */
    int registers, local_bytes; /* of the last kernel that was loaded, a thread */
} rvm_cuda_totals;
RVM_API void rvm_cuda_stats(const rvm_cuda *c, rvm_cuda_totals *out);

typedef struct rvm_cuda_block {   /* a parallel block of the source in a function, since the rvm_cuda was made */
    char file[120], function[80]; /* what is longer ends early; file: "": it is not known */
    uint32_t line;
    uint64_t runs, launches; /* of it that ended well on devices; of its kernels */
    double seconds;          /* of kernels and of sums behind them, by the device's events, of all its devices */
} rvm_cuda_block;
/* Those that ran on devices: their number; the first n of them, in the order in which they ran first, to `out`, which may be
 * NULL where n is 0. */
RVM_API size_t rvm_cuda_blocks(const rvm_cuda *c, rvm_cuda_block *out, size_t n);

#ifdef __cplusplus
}
#endif
#endif

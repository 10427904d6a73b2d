/* device.h: inside jit/. Kernels for a device: from instances of parallel blocks (lower/kernel.c) to PTX.
 *
 *   device.c     a copy of the module, for the device, and what its parts make of it; PTX
 *   kernel_ir.c  a kernel around an instance, which it runs for several indices
 *   additions.c  what instances add to registers and to elements: where a warp can do it at once
 *   runtime.c    what kernels call that is no function of the program: IR, and libdevice's functions
 *   lines.c      line tables of kernels
 */
#ifndef RVM_JIT_DEVICE_H
#define RVM_JIT_DEVICE_H

#include "build.h"
#include "flow.h"
#include "instance.h"
#include "native.h"

/* A kernel while it is made. */
enum { RVM__MOST_TERMS = 32 };
typedef struct rvm__device_kernel {
    const rvm__block_kernel *from;
    LLVMValueRef instance, kernel;
    LLVMMetadataRef lines; /* NULL: none */
    const char *why;       /* NULL, or why it cannot be made */
    bool grid;             /* RVM__KERNELS_GRID */
    bool may_fail, arena, logs, functions;
    uint64_t terms[RVM__MOST_KERNEL_SUMS]; /* by register that it adds into */
    bool copied;                           /* some array is, */
    bool *by_copies;                       /* by argument: this one */
    char name[40];
} rvm__device_kernel;

/* ---- additions.c ---- */
/* Takes the additions of an instance apart: those to registers become terms; each to an element goes to RVM__ADD_WARP, where
 * all instances add to the same one, or to RVM__ADD_EACH. x->why tells what cannot be. */
void rvm__device_additions(const rvm__build *k, rvm__device_kernel *x);
#define RVM__ADD_WARP "rvm.warp."
#define RVM__ADD_EACH "rvm.each."

/* ---- kernel_ir.c ---- */
/* x->kernel, which calls x->instance. */
void rvm__device_wrap(const rvm__build *k, rvm__device_kernel *x);
/* Of a grid: a function of its name that takes the address of all its parameters, 8 bytes each; and their number,
 * NAME_params. */
void rvm__device_make_call(const rvm__build *k, rvm__device_kernel *x);
/* Once the instance is inlined: its markers become calls of the runtime. */
void rvm__device_replace_markers(const rvm__build *k, rvm__device_kernel *x);

/* ---- runtime.c ---- */
/* Into the module; false: LLVM does not take it. */
bool rvm__device_add_runtime(const rvm__build *k, bool grid);
/* Elementary functions that are called become those of libdevice, which is in the file at `path` ("": there is none). NULL,
 * or the name of one that is not there. */
const char *rvm__device_add_functions(const rvm__build *k, const char *path);
/* Whether what is called so is an elementary function, and neither LLVM's nor the machine's. */
bool rvm__device_is_function(const char *name);

/* ---- lines.c ---- */
/* k's module once more, as LLVMCloneModule's, but that PTX has directives of lines alone. NULL: LLVM does not read it. */
LLVMModuleRef rvm__device_copy_with_lines(const rvm__build *k);

/* ---- device.c ---- */
/* Kernels of k->kernels, with lines where k->module has any and they are asked for: each record is defined, of those that
 * could not be made with no code; k->made, k->on_host tell. plain: without LLVM's vectorizers.
 * Code goes to *text, too, unless that is NULL: to be disposed of. Errors: UNSUPPORTED, INTERNAL, MEMORY; where this LLVM
 * has no code for devices, or there are no kernels, records say that there is none. */
rvm_status rvm__device_make(rvm__build *k, enum rvm__device_code form, unsigned level, bool lines, bool plain,
                            const char *libdevice, LLVMMemoryBufferRef *text, rvm_error *err);

#endif

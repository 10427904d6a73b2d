/* open.c: finds and opens the module that has LLVM.
 *
 *   1. the file that RVM_LLVM_MODULE names, and then no other
 *   2. beside the binary that holds this code, as installed from the commands and from the library; a build folder is laid
 *      out alike, with the examples a folder deeper
 *   3. the folder that the build was configured to be installed in
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "support.h"

/* It was built for the library that opens it. */
static rvm_status check_module(const rvm__module *module, const char *path, rvm_error *err) {
    if (module->interface != RVM__MODULE_INTERFACE)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, path, 0, 0,
                         "the module of native code has version %u of the interface, and this library wants %u",
                         module->interface, RVM__MODULE_INTERFACE);
    if (strcmp(module->version, RVM_VERSION_STRING) != 0 || module->machine_size != sizeof(rvm_machine))
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, path, 0, 0,
                         "the module of native code is of version %.40s, another build than this library, of version %s",
                         module->version, RVM_VERSION_STRING);
    return RVM_OK;
}

rvm_status rvm__module_open(const char *path, const rvm__module **out, rvm_error *err) {
    /* Never closed: LLVM does not unload, and code may be running. */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, path, 0, 0, "the module of native code cannot be opened: %s", dlerror());
    void *const found = dlsym(handle, RVM__MODULE_ENTRY);
    rvm__module_entry entry;
    memcpy(&entry, &found, sizeof entry); /* ISO C has no conversion of it to a function */
    if (!found) {
        dlclose(handle);
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, path, 0, 0, "this is no module of native code: it has no %s",
                         RVM__MODULE_ENTRY);
    }
    const rvm__module *module = entry();
    const rvm_status status = check_module(module, path, err);
    if (!status) *out = module;
    return status;
}

void rvm__libdevice_find(char path[PATH_MAX]) {
    static const char *const homes[] = {"/usr/local/cuda/nvvm/libdevice", "/usr/lib/nvidia-cuda-toolkit/libdevice"};
    const char *named = secure_getenv("RVM_LIBDEVICE"), *toolkit = secure_getenv("CUDA_HOME");
    if (named) {
        snprintf(path, PATH_MAX, "%s", access(named, R_OK) ? "" : named);
        return;
    }
    snprintf(path, PATH_MAX, "%s/nvvm/libdevice/libdevice.10.bc", toolkit ? toolkit : "");
    for (size_t k = 0; k < sizeof homes / sizeof *homes && access(path, R_OK); k++)
        snprintf(path, PATH_MAX, "%s/libdevice.10.bc", homes[k]);
    if (access(path, R_OK)) *path = 0;
}

rvm_status rvm__module_find(char path[PATH_MAX], rvm_error *err) {
    static const char *const ways[] = {RVM_MODULE_FROM_BIN, RVM_MODULE_FROM_LIB, ("../" RVM_MODULE_FROM_BIN)};
    const char *named = secure_getenv("RVM_LLVM_MODULE");
    if (named && *named && access(named, F_OK) && strchr(named, '/'))
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, named, 0, 0,
                         "the module of native code cannot be opened: %s, which RVM_LLVM_MODULE names, is not there", named);
    if (named && *named) return snprintf(path, PATH_MAX, "%s", named), RVM_OK;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        if (rvm__find_installed(ways[k], path)) return RVM_OK;
    if (access(RVM_MODULE_INSTALLED, F_OK) == 0) return snprintf(path, PATH_MAX, "%s", RVM_MODULE_INSTALLED), RVM_OK;
    if (!RVM_MODULE_BUILT)
        return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "there is no native code: this was built without LLVM");
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0,
                     "there is no native code: its module is neither beside the program or library, as %s or %s, nor at %s; "
                     "RVM_LLVM_MODULE may name it, which a build folder has as lib/rvm/rvm_llvm.so",
                     RVM_MODULE_FROM_BIN, RVM_MODULE_FROM_LIB, RVM_MODULE_INSTALLED);
}

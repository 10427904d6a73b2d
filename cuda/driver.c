/* driver.c: CUDA's driver, which is opened when a device is asked for first. What is linked is nothing of CUDA's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"
#include "support.h"

enum { OLDEST = 11030 }; /* of which PTX of version 7.3 is */

static rvm__driver driver;
static char why[200]; /* it cannot be used; empty: it can */

/* rvm_grid: of what only looks like a driver; it says whether libdevice's functions are to be called there. */
static enum rvm__device_code code_of(void *library) {
    const int *grid = dlsym(library, "rvm_grid");
    if (!grid) return RVM__KERNELS_PTX;
    return *grid > 1 ? RVM__KERNELS_GRID_LIBDEVICE : RVM__KERNELS_GRID;
}

static bool find_functions(void *library) {
#define FUNCTION(name, symbol, params)                                                                                      \
    {                                                                                                                       \
        void *const found = dlsym(library, symbol);                                                                         \
        memcpy(&driver.name, &found, sizeof found);                                                                         \
        if (!found) return snprintf(why, sizeof why, "CUDA's driver has no %s: it is too old", symbol), false;              \
    }
#include "driver.def"
#undef FUNCTION
    driver.code = code_of(library);
    return true;
}

/* RVM_CUDA_DRIVER names another file, as tests do. */
static const char *name_of_file(void) {
    const char *named = secure_getenv("RVM_CUDA_DRIVER");
    return named && *named ? named : "libcuda.so.1";
}

static void open_file(void) {
    void *library = dlopen(name_of_file(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library)
        find_functions(library);
    else
        snprintf(why, sizeof why, "there is no CUDA driver: %.150s", dlerror());
}

static void begin(void) {
    int version = 0;
    const int code = driver.init(0);
    const char *text = NULL;
    if (code && driver.error_text(code, &text)) text = NULL;
    if (code)
        snprintf(why, sizeof why, "CUDA's driver does not start: %.100s", text ? text : "for an unknown reason");
    else if (driver.driver_version(&version) || version < OLDEST)
        snprintf(why, sizeof why, "CUDA's driver is of version %d.%d; 11.3 is the least that will do", version / 1000,
                 version % 1000 / 10);
}

static pthread_once_t file = PTHREAD_ONCE_INIT, begun = PTHREAD_ONCE_INIT;

bool rvm__driver_may_be_there(enum rvm__device_code *code) {
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/dxg"}; /* of Linux, of Windows' subsystem for it */
    const char *named = secure_getenv("RVM_CUDA_DRIVER");
    *code = RVM__KERNELS_PTX;
    if (!named || !*named) return access(nodes[0], F_OK) == 0 || access(nodes[1], F_OK) == 0;
    pthread_once(&file, open_file);
    *code = driver.code;
    return !why[0];
}

rvm_status rvm__driver_open(const rvm__driver **out, rvm_error *err) {
    pthread_once(&file, open_file);
    if (!why[0]) pthread_once(&begun, begin);
    if (why[0]) return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "%s", why);
    *out = &driver;
    return RVM_OK;
}

rvm_status rvm__driver_fail(const rvm__driver *d, int code, const char *doing, rvm_error *err) {
    const char *name = NULL, *text = NULL;
    if (!code) return RVM_OK;
    if (d->error_name(code, &name)) name = NULL;
    if (d->error_text(code, &text)) text = NULL;
    if (code == CUDA_OUT_OF_MEMORY)
        return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "the device is out of memory when %s", doing);
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "the device fails when %s: %.100s (%.60s, %d)%s", doing,
                     text ? text : "for an unknown reason", name ? name : "an unknown error", code,
                     code == CUDA_TIMEOUT ? ": it ran longer than the watchdog of a device that has a screen lets it" : "");
}

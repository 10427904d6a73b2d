/* search.c: the folders in which any program finds files to include, whatever folders its caller names.
 *
 *   1. those of the environment variable RVM_PATH, separated by colons
 *   2. the data folder beside the binary that holds this code: <prefix>/share/rvm for <prefix>/bin/rvm and for
 *      <prefix>/lib/librvm.so, so that a prefix may be moved; a build folder has one too, which leads to the sources
 *   3. the data folder that the build was configured to be installed with
 *
 * The data folder holds std/.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr, secure_getenv */
#endif
#include "asm.h"
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

typedef struct object {
    uintptr_t address;
    char path[PATH_MAX];
} object;

static int holds_address(struct dl_phdr_info *info, size_t size, void *data) {
    object *o = data;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr;
        if (info->dlpi_phdr[k].p_type != PT_LOAD || o->address - start >= info->dlpi_phdr[k].p_memsz) continue;
        const char *file = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe"; /* the program */
        if (!realpath(file, o->path)) o->path[0] = 0;
        return 1;
    }
    return 0;
}

/* The folder that lies at `way` from the one of this code's binary. */
static bool beside_binary(const char *way, char folder[PATH_MAX]) {
    static const char here = 0;
    object o = {.address = (uintptr_t)&here};
    if (!dl_iterate_phdr(holds_address, &o)) return false;
    char *slash = strrchr(o.path, '/');
    size_t room = slash ? (size_t)(o.path + sizeof o.path - slash - 1) : 0;
    return strlen(way) < room && strcpy(slash + 1, way) && realpath(o.path, folder);
}

/* Entry k of a list separated by colons; empty entries count, and name no folder. */
static bool listed(const char *list, unsigned k, char folder[PATH_MAX]) {
    for (; list && k; k--) {
        list = strchr(list, ':');
        if (list) list++;
    }
    if (!list) return false;
    size_t length = strcspn(list, ":");
    if (length >= PATH_MAX) length = 0;
    memcpy(folder, list, length);
    folder[length] = 0;
    return true;
}

bool rvm__search_folder(unsigned k, char folder[PATH_MAX]) {
    static const char *const ways[] = {RVM_DATA_FROM_BIN, RVM_DATA_FROM_LIB};
    const char *path = secure_getenv("RVM_PATH");
    unsigned count = 0;
    if (path && *path)
        for (count = 1; (path = strchr(path, ':')); path++) count++;
    if (k < count) return listed(secure_getenv("RVM_PATH"), k, folder);
    k -= count;
    folder[0] = 0;
    if (k < 2 && !beside_binary(ways[k], folder)) folder[0] = 0;
    if (k == 2) strcpy(folder, RVM_DATA_INSTALLED);
    return k <= 2;
}

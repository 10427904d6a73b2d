/* install_prefix.c: what was installed together is found from where the binary that holds this code lies, so that a prefix
 * may be moved. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "support.h"
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

bool rvm__find_installed(const char *way, char *found) {
    static const char here = 0;
    object o = {.address = (uintptr_t)&here};
    if (!dl_iterate_phdr(holds_address, &o)) return false;
    char *slash = strrchr(o.path, '/');
    size_t room = slash ? (size_t)(o.path + sizeof o.path - slash - 1) : 0;
    return strlen(way) < room && strcpy(slash + 1, way) && realpath(o.path, found);
}

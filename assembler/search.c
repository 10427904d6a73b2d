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
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "asm.h"
#include "support.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
    if (k < 2 && !rvm__find_installed(ways[k], folder)) folder[0] = 0;
    if (k == 2) strcpy(folder, RVM_DATA_INSTALLED);
    return k <= 2;
}

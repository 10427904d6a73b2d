/* replay.c: a fuzz target's main where there is no libFuzzer: every file of the given folders and files goes through it, and
 * so do a few hundred deterministic mutations of each. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MUTATIONS = 200, LARGEST = 1 << 20 };

/* Flip bits, cut, double, or overwrite a part. */
static size_t mutate(uint8_t *data, size_t size, rng *r) {
    for (uint32_t n = 1 + rng_below(r, 4); n > 0 && size > 1; n--) {
        uint32_t at = rng_below(r, (uint32_t)size), length = 1 + rng_below(r, (uint32_t)size - at);
        switch (rng_below(r, 4)) {
        case 0: data[at] ^= (uint8_t)(1u << rng_below(r, 8)); break;
        case 1: data[at] = (uint8_t)rng_next(r); break;
        case 2: memmove(data + at, data + at + length, size - at - length), size -= length; break;
        case 3: memmove(data + at, data + rng_below(r, (uint32_t)(size - length) + 1), length); break;
        }
    }
    return size;
}

static int replay_file(const char *path, unsigned mutations) {
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(LARGEST), *copy = malloc(LARGEST);
    size_t size = f && data ? fread(data, 1, LARGEST, f) : 0;
    rng r = {size};
    if (f) fclose(f);
    if (!f || !data || !copy) {
        printf("%s: cannot read\n", path);
        free(data);
        free(copy);
        return 1;
    }
    LLVMFuzzerTestOneInput(data, size);
    for (unsigned k = 0; k < mutations; k++) {
        memcpy(copy, data, size);
        size_t n = mutate(copy, size, &r);
        uint8_t *exact = malloc(n ? n : 1); /* so that the sanitizers see a read past the end */
        if (!exact) break;
        memcpy(exact, copy, n);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    free(data);
    free(copy);
    return 0;
}

static int replay(const char *path, unsigned *files) {
    DIR *d = opendir(path);
    int failed = 0;
    if (!d) {
        ++*files;
        return replay_file(path, MUTATIONS);
    }
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed |= replay(name, files);
    }
    closedir(d);
    return failed;
}

int main(int argc, char **argv) {
    unsigned files = 0;
    int failed = argc < 2;
    for (int k = 1; k < argc; k++) failed |= replay(argv[k], &files);
    printf("%u files, %u mutations each\n", files, MUTATIONS);
    return failed || !files;
}

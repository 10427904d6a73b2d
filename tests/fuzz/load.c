/* load.c: any bytes as bytecode. With a right checksum they get past the first door. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static void load(const uint8_t *data, size_t size) {
    rvm_program *p = NULL;
    rvm_error e;
    rvm_status s = rvm_program_load(data, size, "fuzz.rbc", NULL, &p, &e);
    if ((s == RVM_OK) != (p != NULL) || s == RVM_ERR_INTERNAL) abort();
    if (p) exercise(p, size);
    rvm_program_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    load(data, size);
    uint8_t *sealed = malloc(size + 1);
    if (!sealed) return 0;
    memcpy(sealed, data, size);
    if (bytecode_seal(sealed, size)) load(sealed, size);
    free(sealed);
    return 0;
}

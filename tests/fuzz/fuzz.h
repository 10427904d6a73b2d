/* fuzz.h: what a fuzz target is to libFuzzer, and to replay.c where there is no clang.
 *
 *   load       bytes as they are, and with the checksum made right
 *   verify     a program decoded, its fields mutated; what verifies then is encoded, loaded
 *   assemble   text
 *   object     bytes as an object of native code
 *
 * Whatever the verifier lets pass is run in every mode, and so are its derivatives. Objects that load are not run.
 */
#ifndef RVM_FUZZ_H
#define RVM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

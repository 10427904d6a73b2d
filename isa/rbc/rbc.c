/* rbc.c: see rbc.h. */
#include "rbc.h"
#include "support.h"
#include <xxhash.h>

void rvm__body_id(const void *bytes, size_t size, uint64_t id[2]) {
    XXH128_hash_t h = XXH3_128bits((const uint8_t *)bytes + RVM_RBC_HEADER, size - RVM_RBC_HEADER);
    id[0] = h.high64;
    id[1] = h.low64;
}

void rvm_program_free_bytes(const rvm_program *p, void *bytes, size_t size) {
    if (p && bytes) rvm__realloc(&p->al, bytes, size, 0);
}

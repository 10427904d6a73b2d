/* object.c: any bytes as an object of native code (jit/host/load.h), then with fields of its tables damaged, since those
 * decide what the loader does. What loads is not run. */
#include "fuzz.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "harness.h"
#include "load.h"

enum { DAMAGED = 8 };

static bool is_within(const rvm__loaded *l, const void *p, size_t n) {
    const uint64_t at = (uintptr_t)p - (uintptr_t)l->base;
    return at <= l->size && n <= l->size - at;
}

static void load(const uint8_t *object, size_t size) {
    rvm__loaded l;
    rvm_error e;
    const rvm_status s = rvm__object_load(object, size, NULL, &l, &e);
    if (s != RVM_OK && s != RVM_ERR_UNSUPPORTED && s != RVM_ERR_MEMORY) abort();
    if ((s == RVM_OK) != (l.base != NULL)) abort();
    if (l.base && (!is_within(&l, l.entry, 0) || !is_within(&l, l.need, l.need_size))) abort();
    rvm__object_unload(&l);
}

/* Near what it was, or at an edge of what it may be. */
static uint64_t damaged(uint64_t was, size_t size, rng *r) {
    const uint64_t edges[] = {0, 1, was + 1, was - 1, size, size - 1, INT32_MAX, INT64_MAX, UINT64_MAX, rng_next(r)};
    return edges[rng_below(r, sizeof edges / sizeof *edges)];
}

/* The table of sections, or the symbols or relocations that an entry of it names. False: damaged already. */
static bool choose_table(const uint8_t *object, size_t size, rng *r, uint64_t *begin, uint64_t *length) {
    Elf64_Ehdr h;
    Elf64_Shdr s;
    if (size < sizeof h) return false;
    memcpy(&h, object, sizeof h);
    *begin = h.e_shoff, *length = h.e_shnum * sizeof s;
    if (!h.e_shnum || *begin > size || *length > size - *begin) return false;
    memcpy(&s, object + *begin + rng_below(r, h.e_shnum) * sizeof s, sizeof s);
    if (s.sh_type == SHT_SYMTAB || s.sh_type == SHT_RELA) *begin = s.sh_offset, *length = s.sh_size;
    return *begin <= size && *length <= size - *begin;
}

static void damage(uint8_t *object, size_t size, rng *r) {
    uint64_t begin, length, field = 0;
    const uint32_t width = 2u << rng_below(r, 3);
    if (!choose_table(object, size, r, &begin, &length) || length < width) return;
    uint8_t *const at = object + begin + (uint64_t)width * rng_below(r, (uint32_t)(length / width));
    memcpy(&field, at, width);
    field = damaged(field, size, r);
    memcpy(at, &field, width);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rng r = {XXH3_64bits(data, size)};
    uint8_t *copy = malloc(size + !size);
    load(data, size);
    for (int k = 0; copy && k < DAMAGED; k++) {
        memcpy(copy, data, size);
        for (uint32_t n = 1 + rng_below(&r, 3); n > 0; n--) damage(copy, size, &r);
        load(copy, size);
    }
    free(copy);
    return 0;
}

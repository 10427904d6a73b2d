/* memory.c: all memory of the library goes through an rvm_allocator; these are its few uses. Not so what the C library and
 * LLVM take and give back themselves: streams, locales, threads, IR. */
#include "support.h"
#include <stdlib.h>
#include <string.h>

static void *libc_alloc(void *userdata, void *p, size_t old_size, size_t new_size) {
    (void)userdata, (void)old_size;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

const rvm_allocator rvm__libc_allocator = {libc_alloc, NULL};

void *rvm__realloc(const rvm_allocator *al, void *p, size_t old_size, size_t new_size) {
    if (!p && !new_size) return NULL;
    if (!al) al = &rvm__libc_allocator;
    return al->alloc(al->userdata, p, old_size, new_size);
}

void *rvm__make(const rvm_allocator *al, size_t bytes) {
    void *p = rvm__realloc(al, NULL, 0, bytes + 1);
    if (p) memset(p, 0, bytes + 1);
    return p;
}

void rvm__release(const rvm_allocator *al, void *p, size_t bytes) {
    if (p) rvm__realloc(al, p, bytes + 1, 0);
}

typedef struct rvm__zone_block {
    struct rvm__zone_block *before;
    size_t size;
    _Alignas(16) char bytes[];
} zone_block;

void *rvm__zone_make(rvm__zone *z, size_t count, size_t size) {
    const bool fits = count < (SIZE_MAX / 2) / size;
    const size_t whole = fits ? sizeof(zone_block) + count * size : 0;
    zone_block *b = rvm__realloc(z->al, NULL, 0, whole);
    z->failed |= !b;
    if (!b) return NULL;
    memset(b, 0, whole);
    b->before = z->last;
    b->size = whole;
    z->last = b;
    return b->bytes;
}

void rvm__zone_free(rvm__zone *z) {
    while (z->last) {
        zone_block *b = z->last;
        z->last = b->before;
        rvm__realloc(z->al, b, b->size, 0);
    }
}

bool rvm__grow(const rvm_allocator *al, void **p, uint32_t *cap, uint32_t need, size_t element_size) {
    if (need <= *cap) return true;
    uint64_t size = (uint64_t)*cap * 2 > need ? (uint64_t)*cap * 2 : need;
    if (size < 8) size = 8;
    if (size > UINT32_MAX) size = need;
    void *grown = rvm__realloc(al, *p, (size_t)*cap * element_size, (size_t)size * element_size);
    if (!grown) return false;
    *p = grown;
    *cap = (uint32_t)size;
    return true;
}

bool rvm__grow_two(const rvm_allocator *al, void **a, size_t a_size, void **b, size_t b_size, uint32_t *cap, uint32_t need) {
    if (need <= *cap) return true;
    uint32_t a_cap = 0, b_cap = 0, want = need > *cap * UINT64_C(2) ? need : *cap * 2;
    void *a_new = NULL, *b_new = NULL;
    if (!rvm__grow(al, &a_new, &a_cap, want, a_size) || !rvm__grow(al, &b_new, &b_cap, want, b_size)) {
        rvm__realloc(al, a_new, a_cap * a_size, 0);
        return false;
    }
    if (*cap) {
        memcpy(a_new, *a, *cap * a_size);
        memcpy(b_new, *b, *cap * b_size);
    }
    rvm__realloc(al, *a, *cap * a_size, 0);
    rvm__realloc(al, *b, *cap * b_size, 0);
    *a = a_new;
    *b = b_new;
    *cap = a_cap;
    return true;
}

char *rvm__strdup(const rvm_allocator *al, const char *s, size_t length) {
    char *copy = rvm__realloc(al, NULL, 0, length + 1);
    if (!copy) return NULL;
    if (length) memcpy(copy, s, length);
    copy[length] = 0;
    return copy;
}

void rvm__strfree(const rvm_allocator *al, char *s) {
    if (s) rvm__realloc(al, s, strlen(s) + 1, 0);
}

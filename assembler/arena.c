/* arena.c: memory of one assembly, given back as a whole; and the interned names in it. */
#include "asm.h"
#include "instruction.h"
#include "support.h"
#include <string.h>

typedef struct block {
    struct block *next;
    size_t size, used;
} block;

enum { BLOCK = 1 << 16, ALIGN = 16, HEAD = (sizeof(block) + ALIGN - 1) / ALIGN * ALIGN };

void *rvm__arena(assembler *a, size_t size) {
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    block *b = a->blocks;
    if (!b || b->size - b->used < size) {
        size_t room = size + HEAD > BLOCK ? size + HEAD : BLOCK;
        b = a->oom ? NULL : rvm__realloc(&a->al, NULL, 0, room);
        if (!b) {
            a->oom = true;
            return NULL;
        }
        *b = (block){a->blocks, room, HEAD};
        a->blocks = b;
    }
    void *p = (char *)b + b->used;
    b->used += size;
    return memset(p, 0, size);
}

const char *rvm__arena_copy(assembler *a, const char *text, size_t length) {
    char *copy = rvm__arena(a, length + 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void rvm__arena_free(assembler *a) {
    while (a->blocks) {
        block *b = a->blocks;
        a->blocks = b->next;
        rvm__realloc(&a->al, b, b->size, 0);
    }
}

/* ---- names ---- */

static const char *const keywords[] = {"",
#define X(word) #word,
                                       KEYWORDS(X)
#undef X
};

const char *rvm__keyword_text(keyword k) {
    return keywords[k];
}

static uint8_t keyword_find(const char *text, size_t length) {
    for (size_t k = 1; k < sizeof keywords / sizeof *keywords; k++)
        if (strlen(keywords[k]) == length && !memcmp(keywords[k], text, length)) return (uint8_t)k;
    return KW_NONE;
}

static int16_t type_find(const assembler *a, const char *text) {
    for (int t = 0; t < RVM_TYPE_COUNT; t++)
        if (!strcmp(text, rvm_type_name((rvm_type)t))) return (int16_t)t;
    return (int16_t)(strcmp(text, "real") == 0 ? (int)a->options.real : -1);
}

static uint32_t hash_of(const char *text, size_t length) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (size_t k = 0; k < length; k++) h = (h ^ (unsigned char)text[k]) * 16777619u;
    return h;
}

static bool rehash(assembler *a) {
    uint32_t count = a->nbuckets ? a->nbuckets * 4 : 1024;
    name **buckets = rvm__arena(a, count * sizeof *buckets);
    if (!buckets) return false;
    for (uint32_t k = 0; k < a->nbuckets; k++)
        for (name *n = a->buckets[k], *next; n; n = next) {
            next = n->next;
            n->next = buckets[n->hash & (count - 1)];
            buckets[n->hash & (count - 1)] = n;
        }
    a->buckets = buckets;
    a->nbuckets = count;
    return true;
}

name *rvm__intern(assembler *a, const char *text, size_t length) {
    if (a->nnames >= a->nbuckets && !rehash(a)) return NULL;
    uint32_t hash = hash_of(text, length);
    name **bucket = a->buckets + (hash & (a->nbuckets - 1));
    for (name *n = *bucket; n; n = n->next)
        if (n->hash == hash && n->length == length && !memcmp(n->text, text, length)) return n;
    name *n = rvm__arena(a, sizeof *n);
    const char *copy = rvm__arena_copy(a, text, length);
    if (!n || !copy) return NULL;
    *n = (name){.next = *bucket, .text = copy, .hash = hash, .length = (uint32_t)length};
    n->op = (int16_t)rvm__op_find(text, length);
    n->row = (int16_t)rvm__row_find(text, length);
    n->type = type_find(a, copy);
    n->keyword = keyword_find(text, length);
    a->nnames++;
    return *bucket = n;
}

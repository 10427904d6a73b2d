#include "program_cache.h"

#include <stdlib.h>
#include <string.h>

static const size_t most = 32u << 20;

bool program_is_id(const char *text) {
    return strspn(text, "0123456789abcdef") == PROGRAM_ID - 1 && !text[PROGRAM_ID - 1];
}

void program_drop(program *p) {
    if (!p || --p->refs) return;
    free(p->source), free(p->bytecode), free(p->info);
    free(p);
}

static unsigned digit(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Of the id's first four digits, which are random. */
static program **bucket_of(program_cache *c, const char *id) {
    unsigned n = 0;
    for (int k = 0; k < 4; k++) n = n << 4 | digit(id[k]);
    return &c->bucket[n % CACHE_BUCKETS];
}

static size_t size_of(const program *p) {
    return sizeof *p + p->source_size + p->bytecode_size + p->info_size;
}

static void unlink_program(program_cache *c, program *p) {
    *(p->newer ? &p->newer->older : &c->newest) = p->older;
    *(p->older ? &p->older->newer : &c->oldest) = p->newer;
}

static void make_newest(program_cache *c, program *p) {
    p->newer = NULL, p->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = p;
    c->newest = p;
}

program *cache_find(program_cache *c, const char *id) {
    program *p = *bucket_of(c, id);
    while (p && memcmp(p->id, id, PROGRAM_ID) != 0) p = p->same_bucket;
    if (p && p != c->newest) unlink_program(c, p), make_newest(c, p);
    return p;
}

void cache_remove(program_cache *c, const char *id) {
    program **at = bucket_of(c, id), *p;
    while (*at && memcmp((*at)->id, id, PROGRAM_ID) != 0) at = &(*at)->same_bucket;
    if (!(p = *at)) return;
    *at = p->same_bucket;
    unlink_program(c, p);
    c->bytes -= size_of(p);
    program_drop(p);
}

void cache_add(program_cache *c, program *p) {
    program **bucket = bucket_of(c, p->id);
    cache_remove(c, p->id);
    p->same_bucket = *bucket, *bucket = p;
    make_newest(c, p);
    c->bytes += size_of(p);
    while (c->bytes > most && c->oldest != p) cache_remove(c, c->oldest->id);
}

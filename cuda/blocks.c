/* blocks.c: what devices did for each parallel block of the source. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "program.h"
#include "support.h"

static bool is_block(const rvm_cuda_block *a, const rvm_cuda_block *b) {
    return a->line == b->line && !strcmp(a->file, b->file) && !strcmp(a->function, b->function);
}

static bool reserve(rvm_cuda *c) {
    const size_t cap = c->capacity ? 2 * c->capacity : 8, size = sizeof *c->blocks;
    if (c->nblocks < c->capacity) return true;
    rvm_cuda_block *more = rvm__realloc(&c->al, c->blocks, c->capacity * size, cap * size);
    if (!more) return false;
    c->blocks = more;
    c->capacity = cap;
    return true;
}

long rvm__cuda_block_of(rvm_cuda *c, const rvm_machine *m, const rvm__native_job *job) {
    const rvm_function *f = &m->p->functions[job->fn];
    rvm_cuda_block b = {.line = (uint32_t)job->kernel->line};
    const rvm_position *at = &f->positions[job->pc];
    snprintf(b.function, sizeof b.function, "%s", f->name);
    if (at->line && at->file < m->p->nfiles) snprintf(b.file, sizeof b.file, "%s", m->p->files[at->file]);
    for (size_t k = 0; k < c->nblocks; k++)
        if (is_block(&c->blocks[k], &b)) return (long)k;
    if (!reserve(c)) return RVM__NO_BLOCK;
    c->blocks[c->nblocks++] = b;
    return (long)c->nblocks - 1;
}

void rvm__cuda_free_blocks(rvm_cuda *c) {
    rvm__realloc(&c->al, c->blocks, c->capacity * sizeof *c->blocks, 0);
    c->blocks = NULL;
}

size_t rvm_cuda_blocks(const rvm_cuda *c, rvm_cuda_block *out, size_t n) {
    if (!c) return 0;
    for (size_t k = 0; out && k < n && k < c->nblocks; k++) out[k] = c->blocks[k];
    return c->nblocks;
}

/* memory.c: buffers of the device, which are kept for the next time. */
#include "cuda.h"
#include "support.h"

static rvm__buffer *find_free(rvm_cuda *c, size_t size) {
    rvm__buffer *best = NULL;
    for (rvm__buffer *b = c->buffers; b; b = b->next)
        if (!b->busy && b->size >= size && (!best || b->size < best->size)) best = b;
    return best && best->size / 2 <= size + 4096 ? best : NULL;
}

/* Those that nobody uses. */
static void give_back(rvm_cuda *c) {
    for (rvm__buffer **link = &c->buffers, *b; (b = *link);) {
        if (b->busy) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        c->d->free(b->p);
        rvm__realloc(&c->al, b, sizeof *b, 0);
    }
}

rvm__buffer *rvm__cuda_take(rvm_cuda *c, size_t size, rvm_error *err) {
    rvm__buffer *b = find_free(c, size);
    if (!b) {
        if (!(b = rvm__realloc(&c->al, NULL, 0, sizeof *b))) return rvm__fail_memory(err), NULL;
        *b = (rvm__buffer){.size = size + !size};
        int code = c->d->allocate(&b->p, b->size);
        if (code == CUDA_OUT_OF_MEMORY) {
            give_back(c);
            code = c->d->allocate(&b->p, b->size);
        }
        if (rvm__cuda_failed(c, code, "memory is taken", err)) return rvm__realloc(&c->al, b, sizeof *b, 0), NULL;
        b->next = c->buffers;
        c->buffers = b;
    }
    b->busy = true;
    return b;
}

void rvm__cuda_put(rvm__buffer *b) {
    if (b) b->busy = false;
}

void rvm__cuda_free_buffers(rvm_cuda *c) {
    for (rvm__buffer *b = c->buffers; b; b = b->next) b->busy = false;
    give_back(c);
}

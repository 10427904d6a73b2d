/* memory.c: counted memory, frames' storage, and the arena of local arrays. */
#include "memory.h"
#include "native.h"
#include "support.h"

#include <string.h>

enum { CHUNK = 64 * 1024, ALIGN = RVM__LINE };

void *rvm__resize(rvm_machine *m, void *p, size_t old_size, size_t new_size) {
    if (!p && !new_size) return NULL;
    if (m->jit.worker) return m->jit.runner->resize(m, p, old_size, new_size);
    const size_t others = m->memory - old_size;
    if (new_size > old_size && m->o.memory && (new_size > m->o.memory || others > m->o.memory - new_size)) return NULL;
    void *q = m->al.alloc(m->al.userdata, p, old_size, new_size);
    if (!q && new_size) return NULL;
    m->memory = others + new_size;
    if (m->memory > m->stats.memory_peak) m->stats.memory_peak = m->memory;
    return q;
}

void *rvm__zeroed(rvm_machine *m, size_t size) {
    void *p = rvm__resize(m, NULL, 0, size);
    return p ? memset(p, 0, size) : NULL;
}

rvm_status rvm__no_memory(const rvm_machine *m, rvm_error *err) {
    if (m->o.memory) return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory: the limit is %zu bytes", m->o.memory);
    return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
}

/* Where twice as much is too much, half of that more, and so on. */
bool rvm__reserve(rvm_machine *m, void **p, size_t *cap, size_t need, size_t element) {
    if (need <= *cap) return true;
    size_t grown = *cap * 2 < 64 ? 64 : *cap * 2;
    if (grown < need) grown = need;
    if (grown > SIZE_MAX / 2 / element) return false;
    void *q;
    while (!(q = rvm__resize(m, *p, *cap * element, grown * element)) && grown > need) grown = need + (grown - need) / 2;
    if (!q) return false;
    memset((char *)q + *cap * element, 0, (grown - *cap) * element);
    *p = q;
    *cap = grown;
    return true;
}

void *rvm__scratch(rvm_machine *m, enum rvm__scratch which, size_t size) {
    if (size >= m->store.cap_scratch[which]) {
        void *p = rvm__resize(m, m->store.scratch[which], m->store.cap_scratch[which], size + 1);
        if (!p) return NULL;
        m->store.scratch[which] = p;
        m->store.cap_scratch[which] = size + 1;
    }
    memset(m->store.scratch[which], 0, size);
    return m->store.scratch[which];
}

void *rvm__room(rvm_machine *m, enum rvm__keeps which, size_t size) {
    if (size <= m->store.cap_kept[which]) return m->store.kept[which];
    void *p = rvm__resize(m, m->store.kept[which], m->store.cap_kept[which], size);
    if (!p) return NULL;
    m->store.cap_kept[which] = size;
    return m->store.kept[which] = p;
}

bool rvm__reserve_frame(rvm_machine *m, size_t slots, size_t arrays) {
    if (!rvm__reserve(m, (void **)&m->store.slots, &m->store.cap_slots, slots, sizeof *m->store.slots)) return false;
    if (m->bound.mode != RVM_PRIMAL &&
        !rvm__reserve(m, (void **)&m->store.shadows, &m->store.cap_shadows, slots, sizeof *m->store.shadows))
        return false;
    if (!m->o.unchecked &&
        !rvm__reserve(m, (void **)&m->store.magnitudes, &m->store.cap_magnitudes, slots, sizeof *m->store.magnitudes))
        return false;
    return rvm__reserve(m, (void **)&m->store.arrays, &m->store.cap_arrays, arrays, sizeof *m->store.arrays);
}

/* A chunk that holds `size` bytes, above the present one: the one kept there if it is large enough. */
static rvm__chunk *chunk_for(rvm_machine *m, size_t size) {
    rvm__chunk *present = m->store.arena, *next = present ? present->above : NULL;
    if (next && next->size >= size) return next;
    const size_t room = size > CHUNK ? size : CHUNK;
    if (room > SIZE_MAX / 2) return NULL;
    rvm__chunk *c = rvm__resize(m, NULL, 0, sizeof *c + ALIGN + room);
    if (!c) return NULL;
    char *behind = (char *)(c + 1);
    const size_t before = (ALIGN - ((uintptr_t)behind + RVM__ARRAY_HEADER) % ALIGN) % ALIGN;
    *c = (rvm__chunk){.below = present, .above = next, .size = room, .bytes = behind + before};
    if (next) next->below = c;
    if (present) present->above = c;
    return c;
}

size_t rvm__locals_size(size_t size) {
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

void *rvm__locals_push(rvm_machine *m, size_t size) {
    if (size > SIZE_MAX / 4) return NULL;
    size = rvm__locals_size(size);
    if (!m->store.arena || m->store.arena->size - m->store.arena->used < size) {
        rvm__chunk *c = chunk_for(m, size);
        if (!c) return NULL;
        m->store.arena = c;
    }
    void *p = m->store.arena->bytes + m->store.arena->used;
    m->store.arena->used += size;
    m->store.arena_used += size;
    if (m->store.arena_used > m->stats.ancilla_peak) m->stats.ancilla_peak = m->store.arena_used;
    return p;
}

void rvm__locals_pop(rvm_machine *m, size_t size) {
    size = rvm__locals_size(size);
    m->store.arena_used -= size;
    while (m->store.arena->used == 0 && size && m->store.arena->below) m->store.arena = m->store.arena->below;
    m->store.arena->used -= size;
    while (m->store.arena->used == 0 && m->store.arena->below) m->store.arena = m->store.arena->below;
}

void rvm__locals_release(rvm_machine *m, uint64_t mark) {
    while (m->store.arena_used > mark) {
        const size_t more = m->store.arena_used - mark;
        rvm__locals_pop(m, more < m->store.arena->used ? more : m->store.arena->used);
    }
}

void rvm__locals_clear(rvm_machine *m) {
    while (m->store.arena && m->store.arena->above) m->store.arena = m->store.arena->above;
    for (rvm__chunk *c = m->store.arena; c; c = c->below) {
        c->used = 0;
        m->store.arena = c;
    }
    m->store.arena_used = 0;
}

void rvm__locals_free(rvm_machine *m) {
    while (m->store.arena && m->store.arena->above) m->store.arena = m->store.arena->above;
    while (m->store.arena) {
        rvm__chunk *below = m->store.arena->below;
        rvm__resize(m, m->store.arena, sizeof *m->store.arena + ALIGN + m->store.arena->size, 0);
        m->store.arena = below;
    }
}

/* tape.h: pieces of memory one behind the other, written and read in the same order; and pointers into memory that is
 * elsewhere when they are read again. Pieces begin at multiples of 8. */
#ifndef RVM_TAPE_H
#define RVM_TAPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Without memory (at NULL) writing counts only. */
typedef struct rvm__tape {
    char *at;
    size_t size; /* so far */
} rvm__tape;

static inline void *rvm__tape_piece(rvm__tape *t, size_t n) {
    void *p = t->at ? t->at + t->size : NULL;
    t->size += (n + 7) / 8 * 8;
    return p;
}
static inline void rvm__tape_put(rvm__tape *t, const void *from, size_t n) {
    void *p = rvm__tape_piece(t, n);
    if (p && n) memcpy(p, from, n);
}
static inline void rvm__tape_get(rvm__tape *t, void *to, size_t n) {
    const void *p = rvm__tape_piece(t, n);
    if (n) memcpy(to, p, n);
}

/* What stood at `from` stands at `to`. */
typedef struct rvm__shift {
    uintptr_t from;
    size_t size;
    char *to;
} rvm__shift;
typedef struct rvm__shifts {
    const rvm__shift *shift;
    size_t n;
} rvm__shifts;
/* Pointers to nothing that is known stay as they are: of arrays without elements. */
static inline char *rvm__shifted(const rvm__shifts *s, char *p) {
    for (size_t k = 0; p && k < s->n; k++)
        if ((uintptr_t)p - s->shift[k].from < s->shift[k].size) return s->shift[k].to + ((uintptr_t)p - s->shift[k].from);
    return p;
}

#endif

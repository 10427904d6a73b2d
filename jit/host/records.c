/* records.c: records, found again by what their code depends on, or made. */
#include "records.h"
#include "job.h"
#include "program.h"
#include "support.h"

#include <string.h>

bool rvm__same_code(const rvm__lowering *a, const rvm__lowering *b) {
#define FIELD(type, name) &&!memcmp(&a->name, &b->name, sizeof(type))
    return true RVM__LOWERING(FIELD);
#undef FIELD
}

static const rvm__lengths any_lengths;

static bool same_lengths(const rvm__lengths *a, const rvm__lengths *b) {
    return !memcmp(a, b, sizeof *a);
}

/* Locked. A record that is there, or NULL; *others: such ones for other lengths. */
static rvm__record *find(const rvm_jit *j, const uint64_t id[2], const rvm__lowering *what, unsigned *others) {
    rvm__lowering like = *what;
    *others = 0;
    for (rvm__record *r = j->records; r; r = r->next) {
        if (r->id[0] != id[0] || r->id[1] != id[1]) continue;
        if (rvm__same_code(&r->what, what)) return r;
        like.lengths = r->what.lengths;
        *others += !same_lengths(&like.lengths, &any_lengths) && rvm__same_code(&r->what, &like);
    }
    return NULL;
}

static void forget(rvm_jit *j, rvm__record *r) {
    rvm__record **link = &j->records;
    while (*link != r) link = &(*link)->next;
    *link = r->next;
    rvm__realloc(&j->al, r, sizeof *r, 0);
}

/* A record that was found: who asks first tells of it. Memory may be there again next time. */
static const rvm__record *found(rvm_jit *j, rvm__record *r, const rvm__lowering *what, rvm_error *why) {
    *why = r->why;
    if (!r->noticed) rvm__tell(j, what, &r->code, &r->why);
    r->noticed = true;
    if (r->why.code != RVM_ERR_MEMORY) return r;
    forget(j, r);
    return NULL;
}

const rvm__record *rvm__obtain(rvm_jit *j, const uint64_t id[2], const rvm__lowering *asked, enum rvm__asks asks,
                               bool *pending, rvm_error *why) {
    enum { MOST_SHAPES = 4 };
    rvm__lowering what = *asked;
    rvm__bytes key;
    unsigned others;
    rvm__record *r = find(j, id, &what, &others);
    *pending = false;
    *why = (rvm_error){0};
    if (!r && others >= MOST_SHAPES) {
        what.lengths = any_lengths;
        what.fresh = what.streams = what.far = 0; /* which need them, or are for such */
        r = find(j, id, &what, &others);
    }
    if (r) return found(j, r, &what, why);
    if (asks == RVM__ASKS_COMPILER && j->busy) return *pending = true, NULL;
    if (asks == RVM__ASKS_KNOWN) return NULL;
    if (!(r = rvm__realloc(&j->al, NULL, 0, sizeof *r))) goto fail;
    *r = (rvm__record){.id = {id[0], id[1]}, .what = what};
    if (rvm__look_in_cache(j, &what, r, &key))
        rvm__add_record(j, r);
    else if (asks == RVM__ASKS_COMPILER)
        *pending = rvm__job_start(j, &what, r, &key);
    rvm__bytes_free(&key);
    if (r->code.cached) return found(j, r, &what, why);
    if (*pending) return NULL;
    rvm__realloc(&j->al, r, sizeof *r, 0);
fail:
    if (asks == RVM__ASKS_COMPILER) rvm__fail(why, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory while compiling");
    return NULL;
}

/* trail.h: what instructions overwrote, to be taken back when the run goes back (docs/semantics.md, section 8).
 *
 * A stack for each level and depth, of entries. What an entry is tells its kind, which each machine has numbers for: a site,
 * and which extra cells there are: a shadow, or a further place of `drop`, whose bits are not 0. Its values are in cells of
 * 8 bytes (chunks.h), from below
 *
 *     | extra cells | value |                       extra cells by falling index
 *     | extra cells | mask | mask | value |         where a site has had many kinds: their indices are the bits of the masks
 *
 * But an entry that is one 0 or 1 of a site onto which nothing else ever goes, a flag, has no cell: these are two kinds. A
 * stack knows the kind of the entry on top, and by its links which kind that stands on (links.h). So each entry names its
 * site, for a bit or less, and a flag is a bit.
 */
#ifndef RVM_TRAIL_H
#define RVM_TRAIL_H

#include "links.h"
#include "program.h"
#include "rvm.h"
#include "transform.h"

enum { RVM__TRAIL_CELL = sizeof(rvm_value) }; /* bytes; those of a link's word, too */

typedef struct rvm__trail_chunk {
    struct rvm__trail_chunk *below;
    uint32_t cap, size; /* in use at most; allocated */
    uint64_t file;      /* its number, where cells is NULL */
    rvm_value *cells;
} rvm__trail_chunk;

typedef struct rvm__trail_stack {
    rvm_value *cells; /* of the top chunk; those below are full */
    uint32_t n, cap;
    uint32_t last, nlinks;         /* last: kind on top, where there are links, or BOTTOM */
    rvm__trail_link *links;        /* by kind; NULL: nothing has been pushed. Else all kinds that a program has have one */
    uint64_t flags;                /* entries without a cell */
    rvm__trail_chunk *top, *spare; /* spare: empty, above the top */
} rvm__trail_stack;

enum rvm__trail_what { RVM__TRAIL_VALUES, RVM__TRAIL_ZERO, RVM__TRAIL_ONE, RVM__TRAIL_MASKED };

/* Those without extra cells come first: of site s number s, of a flag that is 1 ones[s]. Others as they come, until the
 * trail is cleared. */
typedef struct rvm__trail_kind {
    uint8_t *index;      /* of the extra cells */
    uint32_t site, next; /* next: another that came later, of the same site; 0: none */
    uint8_t extra, what;
} rvm__trail_kind;

struct rvm__xinsn;

/* A compute part that is forgotten (forget.c): while it runs, at its own depth the trail keeps nothing but what the part
 * itself takes back, and no record of what rounding loses. */
typedef struct rvm__forgetting {
    uint32_t deep, segments[RVM_MAX_ORDER]; /* in it */
    uint16_t discards;                      /* levels that keep nothing */
    int64_t position;                       /* where the run was when it began; of the outermost */
    const rvm__trail_chunk *top[RVM_MAX_ORDER];
    uint32_t n[RVM_MAX_ORDER]; /* where the stacks of that depth stood when it began */
    uint64_t flags[RVM_MAX_ORDER];
} rvm__forgetting;

/* Why bits are erased: values and shadows that a trail does not keep, gradients of an adjoint (levels from 1 on), places
 * that a part made which is forgotten. */
enum rvm__erasing { RVM__ERASED_VALUES, RVM__ERASED_GRADIENTS, RVM__ERASED_PLACES, RVM__ERASED };

typedef struct rvm__trail {
    rvm__trail_stack *stacks[RVM_MAX_ORDER]; /* by depth */
    size_t nstacks[RVM_MAX_ORDER];
    uint32_t deep, segments[RVM_MAX_ORDER]; /* depth: compute parts around, and segments of the level */
    rvm__trail_stack *now;                  /* of level 0 at the present depth, or `none` */
    rvm__trail_stack none;                  /* without room: pushes are looked at out of line */
    uint16_t discards;                      /* levels that keep nothing at depth 0 */
    rvm__trail_stack redo;                  /* redo log: shadows that a sweep discarded (redo.c) */
    uint64_t redo_zeros;                    /* that stand on top of it */
    uint64_t held, words;                   /* units of 8 bytes held now, cells and words of links; the latter of them */
    uint64_t peak;                          /* most that were held, but for what is held now */
    uint64_t erased[RVM__ERASED];           /* bits discarded */
    size_t linked;                          /* stacks that have links */
    size_t granted;                         /* bytes of chunks and words, which the limit bounds */
    rvm__trail_chunk *left;                 /* chunks that no stack has, the last one first (chunks.h) */
    size_t left_bytes;                      /* of these, RVM_TRAIL_LEFT at most */
    uint32_t *sites;                        /* the program's, rising: their index is the number in this machine */
    uint32_t *ones;                         /* by index of `sites`: of a flag the kind that is 1; 0: no flag */
    uint32_t nsites, nkinds, nstatic;       /* kinds; those that a program has from the start */
    rvm__trail_kind *kinds;
    size_t cap_kinds;
    rvm__link_spot *spots; /* for walks, by kind */
    size_t cap_spots;
    uint32_t walks;
    rvm__forgetting *forgetting; /* parts that run and are forgotten, the innermost last */
    size_t nforgetting, cap_forgetting;
    uint16_t forgotten;       /* levels that the innermost one discards */
    bool forgets;             /* some region of the program does */
    struct rvm__spill *spill; /* files of chunks; NULL: none so far */
    rvm_status broken;        /* why one of them cannot be read: what stands below is lost; OK: all can be */
} rvm__trail;

/* A value and its extra cells, indices rising, as the machine hands them over: extra k of place p is 2 p, its shadow 2 p
 * + 1. */
enum { RVM__ENTRY_CELLS = 2 * RVM_MAX_ENTRY };
typedef struct rvm__trail_entry {
    uint32_t site, n; /* n: cells, the value's too */
    rvm_value value[RVM__ENTRY_CELLS];
    uint8_t index[RVM__ENTRY_CELLS];
} rvm__trail_entry;
/* Into the entry, where the index belongs, unless it is an extra cell that is 0. */
void rvm__entry_insert(rvm__trail_entry *entry, uint32_t index, rvm_value v);

/* init: false when out of memory. clear: at a bind. */
bool rvm__trail_init(rvm_machine *m);
void rvm__trail_clear(rvm_machine *m);
void rvm__trail_free(rvm_machine *m);
void rvm__trail_stats(const rvm_machine *m, rvm_stats *out);
uint64_t rvm__trail_bytes(const rvm_machine *m); /* held now */
void rvm__trail_note_peak(rvm_machine *m);       /* before that becomes less */
/* The machine's number of a site of the program. */
uint32_t rvm__trail_site(const rvm_machine *m, int64_t site);
/* Of the value of an entry of that one: 1 where it is 0 or 1, else 64. */
uint64_t rvm__site_bits(const rvm_machine *m, uint32_t site);
/* trail_off.c: levels from which a run of function `entry` in this direction takes entries that it did not put there in a
 * compute part or segment: those that option trail = off must keep. False: out of memory. */
bool rvm__trail_pops(rvm_machine *m, uint32_t entry, int direction, uint16_t *levels);
/* Levels of the trail that discard at an instruction: (x & and) | or, of those x that do where the function is entered. A
 * compute part keeps all, or, where it is forgotten, all but some; a segment keeps its levels. */
typedef struct rvm__discarding {
    uint16_t and, or ;
} rvm__discarding;
/* Along the text of a function: there, and around the parts that are open. Starts as {.now.and = UINT16_MAX}, and passes
 * each instruction in turn; forgets: what the part that begins there discards. */
typedef struct rvm__trail_cover {
    rvm__discarding now, outer[256]; /* as deep as the verifier lets parts nest */
    uint32_t depth;
} rvm__trail_cover;
void rvm__trail_pass(rvm__trail_cover *c, const rvm__cursor *x, uint16_t forgets);

/* Levels from which instructions lo up to hi of function fn, going up, take entries likewise. */
bool rvm__trail_pops_between(rvm_machine *m, uint32_t fn, uint32_t lo, uint32_t hi, uint16_t *levels);

/* forget.c: regions that end by `forget`. begin: into the compute part, one deeper, which discards these levels; MEMORY with
 * nothing changed. end: out of it. places: what it made that is still there, the region being the one of the instruction x
 * at which the innermost frame stands, a forgetting `undo` or its `do`. */
rvm_status rvm__forget_begin(rvm_machine *m, uint16_t discards);
void rvm__forget_end(rvm_machine *m);
void rvm__forget_places(rvm_machine *m, const struct rvm__xinsn *x);
/* Whether what goes onto the trail, or into the record of what rounding loses, is discarded by such a part. */
static inline bool rvm__forgets_at(const rvm__trail *tr) {
    return tr->nforgetting && tr->forgetting[tr->nforgetting - 1].deep == tr->deep;
}
/* Native code has been left: the parts around, by the frames. False: out of memory. */
bool rvm__forget_rebuild(rvm_machine *m);
/* A run that turns around in such a part: all that the outermost one around has done is gone, and the run stands where it
 * was entered, to go on towards `course`. */
void rvm__forget_unwind(rvm_machine *m, int course);

/* The stack of a level at the present depth; NULL: what goes there is discarded, or nothing ever went there. */
rvm__trail_stack *rvm__trail_present(const rvm_machine *m, uint32_t level);
bool rvm__trail_discards(const rvm_machine *m, uint32_t level);

/* Depth of all levels by one more or less (regions), or of levels 0 to `level`. */
void rvm__trail_deeper(rvm_machine *m, int by);
void rvm__trail_segment(rvm_machine *m, uint32_t level, int by);

/* push: one entry; MEMORY or LIMIT, with nothing changed. pop: drop the entry on top, which there is. */
rvm_status rvm__trail_push(rvm_machine *m, uint32_t level, const rvm__trail_entry *entry);
void rvm__trail_pop(rvm_machine *m, uint32_t level);
/* One value alone, likewise; the value on top if nothing but one of that site is in its entry, else NULL: to be read at
 * once. */
rvm_status rvm__trail_push_plain(rvm_machine *m, uint32_t level, uint32_t site, rvm_value value);
const rvm_value *rvm__trail_top(const rvm_machine *m, uint32_t level, uint32_t site);
/* Entries from the top down, nothing changed; false: no more, or what is there cannot be read. begin: for one entry. walk:
 * for all; without memory for that it ends before the first. */
typedef struct rvm__trail_cursor {
    const rvm__trail *trail;
    const rvm__trail_stack *stack;
    const rvm__trail_chunk *chunk;
    rvm__link_spot *spots;
    uint32_t n, kind, walk;
    bool begun;
} rvm__trail_cursor;
rvm__trail_cursor rvm__trail_begin(const rvm_machine *m, uint32_t level);
/* False: out of memory. */
bool rvm__trail_walk(rvm_machine *m, uint32_t level, rvm__trail_cursor *c);
/* Spots for a machine that is not to change: nkinds of them, zeroed at first; walk: a number that had none before, from 1.
 */
rvm__trail_cursor rvm__trail_walk_by(const rvm_machine *m, uint32_t level, rvm__link_spot *spots, uint32_t walk);
bool rvm__trail_next(rvm__trail_cursor *c, rvm__trail_entry *entry);
/* The value of the entry on top of level 0, where that has a cell; NULL: it has none, or there is none. */
const rvm_value *rvm__trail_top_cell(const rvm_machine *m);
/* TRAIL, with the reason in m->detail: found, not the entry that was expected, or NULL, none. */
rvm_status rvm__trail_wrong(rvm_machine *m, uint32_t level, const rvm__trail_entry *found);

/* spill.c: chunks in files. out: of the stack those below the top, some of them or all, go to a file; IO, with the reason in
 * m->detail; LIMIT: there are none. in: the chunks of c's file are there again; IO, FORMAT, MEMORY. end: no file is left. */
rvm_status rvm__spill_out(rvm_machine *m, rvm__trail_stack *t);
rvm_status rvm__spill_in(rvm_machine *m, rvm__trail_chunk *c);
void rvm__spill_forget(rvm_machine *m, uint64_t file); /* that nobody will ask for */
void rvm__spill_end(rvm_machine *m);

/* With option keep_shadows, what a sweep discards, to be taken back in reverse when the run goes forward again: 0 without
 * the option. keep: MEMORY or LIMIT. */
rvm_status rvm__redo_push(rvm_machine *m, rvm_value shadow);
rvm_value rvm__redo_pop(rvm_machine *m);

/* extra_shadows.c: what an entry has besides the positions that are taken from it, by instruction x of function fn. fits:
 * whether it may be lost: a shadow in a sweep (level 1), else what is 0 within the tolerance. fails: TRAIL or STACK, with
 * the reason. push: in a sweep, with option keep_shadows, onto the redo log; pop: back into the entry what was pushed last.
 */
bool rvm__extra_fits(rvm_machine *m, uint32_t fn, const struct rvm__xinsn *x, rvm_type type, uint64_t positions,
                     const rvm__trail_entry *entry, int level);
rvm_status rvm__extra_fails(rvm_machine *m, bool stack);
rvm_status rvm__redo_push_extra(rvm_machine *m, uint64_t positions, const rvm__trail_entry *entry);
void rvm__redo_pop_extra(rvm_machine *m, rvm__trail_entry *entry);

/* stack.c: one entry on the stack. push: MEMORY, with nothing changed. entry: the one whose value is cell n - 1, and n
 * becomes the number of cells below it; false: none, or of another type. */
rvm_status rvm__stack_push(rvm_machine *m, rvm_type type, const rvm__trail_entry *entry);
bool rvm__stack_entry(const rvm_machine *m, rvm_type type, uint32_t *n, rvm__trail_entry *entry);

/* A value and a shadow, level 0: what `set` moves. */
rvm_status rvm__trail_push_value(rvm_machine *m, uint32_t site, rvm_value value, rvm_value shadow);

/* The site of a `set` with three operands. moves.c: drop, undrop, shed and recall of the instruction at x. level as in
 * updates.h. */
uint32_t rvm__set_site(const rvm_machine *m, const struct rvm__xinsn *x);
rvm_status rvm__drop(rvm_machine *m, const struct rvm__xinsn *x, int level);
rvm_status rvm__undrop(rvm_machine *m, const struct rvm__xinsn *x, int level);

/* A place of such an instruction, a scalar or an array; its bytes are what the program has there. */
typedef struct rvm__lane {
    char *value, *shadow;           /* shadow NULL: none, or none that counts in this run */
    const struct rvm__array *array; /* NULL: a scalar */
    double *held;                   /* the largest magnitude of an f64, where that is kept */
    uint8_t type;
    bool fresh; /* that magnitude is of what is there now: a register */
} rvm__lane;
/* Instruction x of function fn, of which there may be no frame, with these lanes, in primal mode. back: from the trail or
 * the stack; else onto it. */
rvm_status rvm__move_lanes(rvm_machine *m, uint32_t fn, const struct rvm__xinsn *x, const rvm__lane *lanes, bool back);
/* One scalar and the trail, as it mostly is; false: nothing has changed, look closer. */
bool rvm__move_one(rvm_machine *m, const struct rvm__xinsn *x, const rvm__lane *l, bool back);

/* ---- what is usual, inline; natively jit/lower/trail_inline.c has the same ---- */

/* An entry of a kind that a program has goes onto a stack that has links; its cell is for the caller. False: to be done out
 * of line, nothing changed. */
static inline bool rvm__trail_on(rvm__trail_stack *t, uint32_t kind) {
    rvm__trail_link *l = &t->links[kind];
    const uint32_t last = t->last;
    const uint32_t number = last == l->below[0] ? 0 : last == l->below[1] ? 1 : last == l->below[2] ? 2 : 3;
    if (last != l->below[number] || !(l->mask >> number & 1) || l->bits >> 62) return false;
    l->bits = l->bits << l->width | number;
    t->last = kind;
    return true;
}

/* Whether the entry on top, of that kind, can be taken off so; and that. */
static inline bool rvm__trail_comes_off(const rvm__trail_stack *t, uint32_t kind) {
    return t->last == kind && t->links[kind].mask && t->links[kind].bits != RVM__LINK_EMPTY;
}
static inline void rvm__trail_off(rvm__trail_stack *t) {
    rvm__trail_link *l = &t->links[t->last];
    t->last = l->below[l->bits & ((1u << l->width) - 1)];
    l->bits >>= l->width;
}

#endif

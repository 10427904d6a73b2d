/* links.h: on what kind of entry each entry of a stack of the trail stands. That is how a pop by another site is found, and
 * it costs next to nothing where a program does the same again and again.
 *
 * For each kind the stack has a link. While its entries stand on the kind that the first one stood on, width is 0, and
 * nothing is kept. From another one on, the kinds below are numbered as they come, and the link has a word of such numbers,
 * that of the uppermost entry lowest:
 *
 *     | 0 .. 0 1 | number | .. | number |        each of `width` bits; the 1 ends them
 *
 * A loop with one `set` has a width of 1 that way, with two ways through its body, too. A word that is full goes onto the
 * link's own stack, of
 *
 *     numbers        a word of them, bit 63 clear
 *     AGAIN + n      the word beneath n times more: loops
 *     WIDTH + w      width was w beneath
 */
#ifndef RVM_TRAIL_LINKS_H
#define RVM_TRAIL_LINKS_H

#include "rvm.h"
#include "tape.h"

enum { RVM__LINK_NEAR = 4 };
enum { RVM__LINK_EMPTY = 1, RVM__LINK_SINGLE = 2 }; /* bits: without a number; of width 0 */
#define RVM__TRAIL_BOTTOM UINT32_MAX                /* in place of a kind: there is no entry */
#define RVM__TRAIL_NEVER  (UINT32_MAX - 1)          /* none has been seen yet */

struct rvm__link_more;

typedef struct rvm__trail_link {
    uint32_t below[RVM__LINK_NEAR]; /* of the numbers 0 to 3; of width 0 the only one first. NEVER: not seen yet */
    uint64_t bits;
    uint8_t width, mask; /* mask: which of these four have a number of that width; 0: it is wider, and done out of line */
    uint32_t nbelow;     /* kinds that have numbers */
    struct rvm__link_more *more; /* NULL: none have */
} rvm__trail_link;

/* Where a walk down has come to, in the numbers of a link. */
typedef struct rvm__link_spot {
    uint64_t bits, again; /* again: of the AGAIN on top, what is left of it; 0: all */
    size_t nwords;
    uint32_t walk; /* which one */
    uint8_t width;
} rvm__link_spot;

void rvm__link_init(rvm__trail_link *l);
void rvm__link_free(rvm_machine *m, rvm__trail_link *l);
/* reserve: the number of a kind below, of width 0 one more but for the only one, and room for it: MEMORY, LIMIT, with
 * nothing changed that matters. put: it, then. */
rvm_status rvm__link_reserve(rvm_machine *m, rvm__trail_link *l, uint32_t below, uint32_t *number);
void rvm__link_put(rvm_machine *m, rvm__trail_link *l, uint32_t number);
/* That of the own kind, n times over. The first of a kind stands on another, so that this needs a width. */
rvm_status rvm__link_put_all(rvm_machine *m, rvm__trail_link *l, uint32_t number, size_t n);
/* The kind below the uppermost entry, which is gone then. */
uint32_t rvm__link_take(rvm_machine *m, rvm__trail_link *l);
/* The same without a change: from a spot on, which goes down. */
rvm__link_spot rvm__link_top(const rvm__trail_link *l);
uint32_t rvm__link_down(const rvm__trail_link *l, rvm__link_spot *s);
/* Of at most n entries from there down: how many in a row stand on their own kind; they are passed. */
size_t rvm__link_down_all(const rvm__trail_link *l, rvm__link_spot *s, uint32_t kind, size_t n);
/* They are gone. */
void rvm__link_leave(rvm_machine *m, rvm__trail_link *l, const rvm__link_spot *s);

void rvm__link_save(const rvm__trail_link *l, rvm__tape *tape);
bool rvm__link_load(rvm_machine *m, rvm__trail_link *l, rvm__tape *tape); /* into one that is as init made it */

#endif

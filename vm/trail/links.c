/* links.c: see links.h. */
#include "links.h"

#include <string.h>

#include "chunks.h"
#include "memory.h"

#define AGAIN (UINT64_C(1) << 63)
#define WIDTH (UINT64_C(3) << 62)
#define COUNT (~WIDTH)

typedef struct rvm__link_more {
    uint32_t only, zeroth; /* what is not in link.below[0]: width is 0, or is not */
    uint32_t *below;       /* from RVM__LINK_NEAR on */
    size_t cap_below;
    uint64_t *words;
    size_t nwords, cap_words;
} more;

static void note_width(rvm__trail_link *l, unsigned width) {
    l->width = (uint8_t)width;
    l->mask = width > 2 ? 0 : (uint8_t)((1u << (1u << width)) - 1);
}

static void set_width(rvm__trail_link *l, unsigned width) {
    more *r = l->more;
    if (!l->width && width) r->only = l->below[0], l->below[0] = r->zeroth;
    if (l->width && !width) r->zeroth = l->below[0], l->below[0] = r->only;
    note_width(l, width);
}

void rvm__link_init(rvm__trail_link *l) {
    *l = (rvm__trail_link){.bits = RVM__LINK_SINGLE};
    for (int k = 0; k < RVM__LINK_NEAR; k++) l->below[k] = RVM__TRAIL_NEVER;
    note_width(l, 0);
}

void rvm__link_free(rvm_machine *m, rvm__trail_link *l) {
    more *r = l->more;
    if (r) {
        rvm__words_count(m, -(int64_t)r->nwords);
        rvm__resize(m, r->below, r->cap_below * sizeof *r->below, 0);
        rvm__resize(m, r->words, r->cap_words * sizeof *r->words, 0);
        rvm__resize(m, r, sizeof *r, 0);
    }
    rvm__link_init(l);
}

/* ---- numbers of kinds ---- */

static uint32_t only_of(const rvm__trail_link *l) {
    return l->width ? l->more->only : l->below[0];
}

static uint32_t numbered(const rvm__trail_link *l, uint64_t number) {
    if (!number) return l->width ? l->below[0] : l->more->zeroth;
    return number < RVM__LINK_NEAR ? l->below[number] : l->more->below[number - RVM__LINK_NEAR];
}

static more *more_of(rvm_machine *m, rvm__trail_link *l) {
    if (!l->more && (l->more = rvm__zeroed(m, sizeof *l->more))) l->more->zeroth = RVM__TRAIL_NEVER;
    return l->more;
}

/* Its number; a kind that is seen for the first time gets the next one. */
static bool find_number(rvm_machine *m, rvm__trail_link *l, uint32_t below, uint32_t *number) {
    uint32_t k = 0;
    while (k < l->nbelow && numbered(l, k) != below) k++;
    *number = k;
    if (k < l->nbelow) return true;
    more *r = more_of(m, l);
    if (!r) return false;
    if (!k && !l->width)
        r->zeroth = below;
    else if (k < RVM__LINK_NEAR)
        l->below[k] = below;
    else {
        if (!rvm__reserve(m, (void **)&r->below, &r->cap_below, k - RVM__LINK_NEAR + 1, sizeof *r->below)) return false;
        r->below[k - RVM__LINK_NEAR] = below;
    }
    l->nbelow++;
    return true;
}

static bool number_of(rvm_machine *m, rvm__trail_link *l, uint32_t below, uint32_t *number) {
    *number = 0;
    if (!l->width && l->below[0] == RVM__TRAIL_NEVER) l->below[0] = below;
    if (!l->width && l->below[0] == below) return true;
    if (!find_number(m, l, below, number)) return false;
    *number += !l->width;
    return true;
}

/* ---- words ---- */

static bool is_full(const rvm__trail_link *l) {
    return l->width && l->bits >> (63 - l->width);
}

static rvm_status room_for_words(rvm_machine *m, rvm__trail_link *l, size_t n) {
    more *r = more_of(m, l);
    if (!r) return RVM_ERR_MEMORY;
    if (!rvm__words_granted(m, n)) return RVM_ERR_LIMIT;
    if (r->nwords + n <= r->cap_words) return RVM_OK;
    const size_t cap = r->nwords + n + r->nwords / 2 + 2;
    void *p = rvm__resize(m, r->words, r->cap_words * sizeof *r->words, cap * sizeof *r->words);
    if (!p) return RVM_ERR_MEMORY;
    r->words = p;
    r->cap_words = cap;
    return RVM_OK;
}

static void push_word(rvm_machine *m, more *r, uint64_t word) {
    r->words[r->nwords++] = word;
    rvm__words_count(m, 1);
}

static bool is_again(const more *r, uint64_t word) {
    const uint64_t top = r && r->nwords ? r->words[r->nwords - 1] : 0;
    return top >= AGAIN && top < WIDTH && r->words[r->nwords - 2] == word;
}

/* A word of numbers, n times. */
static void push_numbers(rvm_machine *m, more *r, uint64_t word, uint64_t n) {
    if (is_again(r, word)) {
        r->words[r->nwords - 1] += n;
        return;
    }
    if (!r->nwords || r->words[r->nwords - 1] != word) push_word(m, r, word), n--;
    if (n) push_word(m, r, AGAIN | n);
}

rvm_status rvm__link_reserve(rvm_machine *m, rvm__trail_link *l, uint32_t below, uint32_t *number) {
    if (!number_of(m, l, below, number)) return RVM_ERR_MEMORY;
    const bool widens = *number >> l->width, /* of width 0, too */
        closes = widens ? l->width && l->bits != RVM__LINK_EMPTY : is_full(l);
    const size_t n = widens + (closes && !is_again(l->more, l->bits));
    return n ? room_for_words(m, l, n) : RVM_OK;
}

/* Wide enough for the number, which is as it is kept then. */
static uint32_t settle(rvm_machine *m, rvm__trail_link *l, uint32_t number) {
    unsigned width = l->width ? l->width : 1;
    if (!(number >> l->width)) return number;
    number -= !l->width;
    while (number >> width) width++;
    if (l->width && l->bits != RVM__LINK_EMPTY) push_numbers(m, l->more, l->bits, 1);
    push_word(m, l->more, WIDTH | l->width);
    set_width(l, width);
    l->bits = RVM__LINK_EMPTY;
    return number;
}

void rvm__link_put(rvm_machine *m, rvm__trail_link *l, uint32_t number) {
    number = settle(m, l, number);
    if (is_full(l)) {
        push_numbers(m, l->more, l->bits, 1);
        l->bits = RVM__LINK_EMPTY;
    }
    l->bits = l->bits << l->width | number;
}

rvm_status rvm__link_put_all(rvm_machine *m, rvm__trail_link *l, uint32_t number, size_t n) {
    const rvm_status status = n ? room_for_words(m, l, 5) : RVM_OK;
    if (status || !n) return status;
    number = settle(m, l, number);
    for (; n && !is_full(l); n--) l->bits = l->bits << l->width | number;
    const unsigned each = 62 / l->width;
    uint64_t word = RVM__LINK_EMPTY;
    for (unsigned k = 0; k < each; k++) word = word << l->width | number;
    for (; n; n -= n < each ? n : each) {
        push_numbers(m, l->more, l->bits, 1);
        l->bits = RVM__LINK_EMPTY;
        const size_t whole = n > each ? (n - 1) / each : 0;
        if (whole) push_numbers(m, l->more, word, whole), n -= whole * each;
        for (size_t k = 0; k < n && k < each; k++) l->bits = l->bits << l->width | number;
    }
    return RVM_OK;
}

/* ---- down ---- */

rvm__link_spot rvm__link_top(const rvm__trail_link *l) {
    return (rvm__link_spot){.bits = l->bits, .width = l->width, .nwords = l->more ? l->more->nwords : 0};
}

/* What stands on top of the words. */
static void refill(const more *r, rvm__link_spot *s) {
    const uint64_t top = r->words[s->nwords - 1];
    if (top >= WIDTH) {
        s->width = top & 63;
        s->bits = s->width ? RVM__LINK_EMPTY : RVM__LINK_SINGLE;
        s->nwords--;
    } else if (top >= AGAIN) {
        if (!s->again) s->again = top & COUNT;
        s->bits = r->words[s->nwords - 2];
        s->nwords -= !--s->again;
    } else {
        s->bits = top;
        s->nwords--;
    }
}

uint32_t rvm__link_down(const rvm__trail_link *l, rvm__link_spot *s) {
    while (s->bits == RVM__LINK_EMPTY) refill(l->more, s);
    const uint64_t number = s->bits & ((UINT64_C(1) << s->width) - 1);
    s->bits >>= s->width;
    return s->width ? numbered(l, number) : only_of(l);
}

size_t rvm__link_down_all(const rvm__trail_link *l, rvm__link_spot *s, uint32_t kind, size_t n) {
    size_t done = 0;
    while (done < n) {
        while (s->bits == RVM__LINK_EMPTY) refill(l->more, s);
        if (!s->width) return done;
        const uint64_t number = s->bits & ((UINT64_C(1) << s->width) - 1);
        if (numbered(l, number) != kind) return done;
        s->bits >>= s->width;
        done++;
    }
    return done;
}

void rvm__link_leave(rvm_machine *m, rvm__trail_link *l, const rvm__link_spot *s) {
    more *r = l->more;
    l->bits = s->bits;
    if (l->width != s->width) set_width(l, s->width);
    if (!r) return;
    if (s->again) r->words[s->nwords - 1] = AGAIN | s->again;
    if (r->nwords == s->nwords) return;
    rvm__words_count(m, (int64_t)s->nwords - (int64_t)r->nwords);
    r->nwords = s->nwords;
    if (r->cap_words < 256 || r->nwords > r->cap_words / 4) return;
    void *p = rvm__resize(m, r->words, r->cap_words * sizeof *r->words, r->cap_words / 2 * sizeof *r->words);
    if (!p) return;
    r->words = p;
    r->cap_words /= 2;
}

uint32_t rvm__link_take(rvm_machine *m, rvm__trail_link *l) {
    rvm__link_spot s = rvm__link_top(l);
    const uint32_t below = rvm__link_down(l, &s);
    rvm__link_leave(m, l, &s);
    return below;
}

/* ---- onto a tape and back ---- */

typedef struct sizes {
    uint64_t bits, nwords;
    uint32_t nbelow, width, only, zeroth;
} sizes;

void rvm__link_save(const rvm__trail_link *l, rvm__tape *tape) {
    static const more none;
    const more *r = l->more ? l->more : &none;
    const sizes n = {l->bits, r->nwords, l->nbelow, l->width, r->only, r->zeroth};
    rvm__tape_put(tape, &n, sizeof n);
    rvm__tape_put(tape, l->below, sizeof l->below);
    if (n.nbelow > RVM__LINK_NEAR) rvm__tape_put(tape, r->below, (n.nbelow - RVM__LINK_NEAR) * sizeof *r->below);
    if (n.nwords) rvm__tape_put(tape, r->words, n.nwords * sizeof *r->words);
}

bool rvm__link_load(rvm_machine *m, rvm__trail_link *l, rvm__tape *tape) {
    sizes n;
    rvm__tape_get(tape, &n, sizeof n);
    rvm__tape_get(tape, l->below, sizeof l->below);
    const size_t far = n.nbelow > RVM__LINK_NEAR ? n.nbelow - RVM__LINK_NEAR : 0;
    const void *below = rvm__tape_piece(tape, far * sizeof *l->below), *words = rvm__tape_piece(tape, n.nwords * 8);
    if (!n.nbelow) return true;
    more *r = more_of(m, l);
    if (!r || !rvm__reserve(m, (void **)&r->below, &r->cap_below, far, sizeof *r->below)) return false;
    if (n.nwords && !(r->words = rvm__resize(m, NULL, 0, n.nwords * sizeof *r->words))) return false;
    if (far) memcpy(r->below, below, far * sizeof *r->below);
    if (n.nwords) memcpy(r->words, words, n.nwords * sizeof *r->words);
    r->nwords = r->cap_words = n.nwords;
    rvm__words_count(m, (int64_t)n.nwords);
    r->only = n.only, r->zeroth = n.zeroth;
    l->bits = n.bits;
    l->nbelow = n.nbelow;
    note_width(l, n.width);
    return true;
}

/* kinds.c: see kinds.h. */
#include "kinds.h"

#include <string.h>

#include "memory.h"
#include "sites.h"

enum { MOST_PATTERNS = 16 }; /* sets of extra cells of a site that are kinds of their own; of more a mask tells */

/* ---- those that a program has ---- */

static bool collect_sites(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    const size_t most = rvm__sites_most(m->p);
    if (!most) return true;
    if (!(tr->sites = rvm__resize(m, NULL, 0, most * sizeof *tr->sites))) return false;
    tr->nsites = rvm__sites_collect(m->p, tr->sites);
    void *fitted = rvm__resize(m, tr->sites, most * sizeof *tr->sites, tr->nsites * sizeof *tr->sites);
    if (fitted)
        tr->sites = fitted;
    else
        tr->nsites = (uint32_t)most; /* as large as it is */
    return fitted && (tr->ones = rvm__zeroed(m, tr->nsites * sizeof *tr->ones));
}

static bool collect_flags(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    uint8_t *flags = tr->nsites ? rvm__resize(m, NULL, 0, tr->nsites) : NULL;
    tr->nstatic = tr->nsites;
    if (!flags) return !tr->nsites;
    rvm__sites_flags(m->p, tr->sites, tr->nsites, flags);
    for (uint32_t site = 0; site < tr->nsites; site++)
        if (flags[site]) tr->ones[site] = tr->nstatic++;
    rvm__resize(m, flags, tr->nsites, 0);
    return true;
}

bool rvm__kinds_init(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    if (!collect_sites(m) || !collect_flags(m)) return false;
    if (!rvm__reserve(m, (void **)&tr->kinds, &tr->cap_kinds, tr->nstatic, sizeof *tr->kinds)) return false;
    for (uint32_t site = 0; site < tr->nsites; site++) {
        const uint32_t one = tr->ones[site];
        tr->kinds[site] = (rvm__trail_kind){.site = site, .what = one ? RVM__TRAIL_ZERO : RVM__TRAIL_VALUES};
        if (one) tr->kinds[one] = (rvm__trail_kind){.site = site, .what = RVM__TRAIL_ONE};
    }
    tr->nkinds = tr->nstatic;
    return true;
}

void rvm__kinds_clear(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    while (tr->nkinds > tr->nstatic) {
        const rvm__trail_kind *k = &tr->kinds[--tr->nkinds];
        tr->kinds[k->site].next = 0;
        rvm__resize(m, k->index, k->extra, 0);
    }
}

void rvm__kinds_free(rvm_machine *m) {
    rvm__trail *tr = &m->trail;
    rvm__kinds_clear(m);
    rvm__resize(m, tr->kinds, tr->cap_kinds * sizeof *tr->kinds, 0);
    rvm__resize(m, tr->sites, tr->nsites * sizeof *tr->sites, 0);
    rvm__resize(m, tr->ones, tr->ones ? tr->nsites * sizeof *tr->ones : 0, 0);
}

/* ---- as they come ---- */

static bool add(rvm_machine *m, uint32_t site, enum rvm__trail_what what, const uint8_t *index, uint32_t extra) {
    rvm__trail *tr = &m->trail;
    uint8_t *copy = extra ? rvm__resize(m, NULL, 0, extra) : NULL;
    if (extra && !copy) return false;
    if (!rvm__reserve(m, (void **)&tr->kinds, &tr->cap_kinds, tr->nkinds + 1, sizeof *tr->kinds)) {
        rvm__resize(m, copy, extra, 0);
        return false;
    }
    if (extra) memcpy(copy, index, extra);
    uint32_t last = site;
    while (tr->kinds[last].next) last = tr->kinds[last].next;
    tr->kinds[last].next = tr->nkinds;
    tr->kinds[tr->nkinds++] = (rvm__trail_kind){.index = copy, .site = site, .extra = (uint8_t)extra, .what = (uint8_t)what};
    return true;
}

bool rvm__kind_of(rvm_machine *m, const rvm__trail_entry *entry, uint32_t *kind) {
    const rvm__trail *tr = &m->trail;
    const uint32_t site = entry->site, extra = entry->n - 1, one = tr->ones[site];
    uint32_t patterns = 0;
    *kind = site;
    if (!extra && !one) return true;
    if (!extra && entry->value[0].u <= 1) {
        *kind = entry->value[0].u ? one : site;
        return true;
    }
    for (*kind = tr->kinds[site].next; *kind; *kind = tr->kinds[*kind].next, patterns++) {
        const rvm__trail_kind *k = &tr->kinds[*kind];
        if (k->what == RVM__TRAIL_MASKED) return true; /* the last of them */
        if (k->extra == extra && (!extra || !memcmp(k->index, entry->index + 1, extra))) return true;
    }
    *kind = tr->nkinds;
    return patterns < MOST_PATTERNS ? add(m, site, RVM__TRAIL_VALUES, entry->index + 1, extra)
                                    : add(m, site, RVM__TRAIL_MASKED, NULL, 0);
}

/* ---- onto a tape and back ---- */

void rvm__kinds_save(const rvm__trail *tr, rvm__tape *tape) {
    const uint64_t n = tr->nkinds - tr->nstatic;
    rvm__tape_put(tape, &n, sizeof n);
    for (uint32_t k = tr->nstatic; k < tr->nkinds; k++) {
        rvm__tape_put(tape, &tr->kinds[k], sizeof tr->kinds[k]);
        rvm__tape_put(tape, tr->kinds[k].index, tr->kinds[k].extra);
    }
}

bool rvm__kinds_load(rvm_machine *m, rvm__tape *tape) {
    uint64_t n;
    rvm__trail_kind k;
    bool good = true;
    rvm__tape_get(tape, &n, sizeof n);
    for (; n; n--) {
        rvm__tape_get(tape, &k, sizeof k);
        const uint8_t *index = rvm__tape_piece(tape, k.extra);
        good = good && add(m, k.site, (enum rvm__trail_what)k.what, index, k.extra);
    }
    return good;
}

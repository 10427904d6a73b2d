/* counts.c: what runs asked of the device: kinds of instructions with their work, and sums. */
#include "coprocessor.h"

#include <string.h>

const char *rvm_cause_name(rvm_cause cause) {
    static const char *const names[RVM_CAUSES] = {
#define X(id, name) name,
        RVM_CAUSE_MAP(X)
#undef X
    };
    return (unsigned)cause < RVM_CAUSES ? names[cause] : "?";
}

rvm_status rvm_counts_new(const rvm_allocator *al, rvm_counts **out, rvm_error *err) {
    RVM__NEEDS(out);
    if (!al) al = &rvm__libc_allocator;
    *out = rvm__make(al, sizeof **out);
    if (!*out) return rvm__fail_memory(err);
    (*out)->al = *al;
    return RVM_OK;
}

void rvm_counts_free(rvm_counts *c) {
    if (!c) return;
    const rvm_allocator al = c->al;
    rvm__release(&al, c->kinds, c->cap * sizeof *c->kinds);
    rvm__release(&al, c, sizeof *c);
}

/* ---- adding ---- */

static bool same_work(const rvm_work *a, const rvm_work *b) {
    return !memcmp(a, b, sizeof *a); /* 16 bits each, without gaps */
}
_Static_assert(sizeof(rvm_work) == (RVM_UNITS + 7) * sizeof(uint16_t), "no gaps");

static bool same_kind(const rvm_counted *a, const rvm_counted *b) {
    return !strcmp(a->kind, b->kind) && a->type == b->type && a->operands == b->operands && !strcmp(a->places, b->places) &&
           a->direction == b->direction && a->mode == b->mode && same_work(&a->work, &b->work);
}

static rvm_counted *find(rvm_counts *c, const rvm_counted *kind) {
    for (uint32_t k = 0; k < c->n; k++)
        if (same_kind(&c->kinds[k], kind)) return &c->kinds[k];
    return NULL;
}

static rvm_status too_large(rvm_error *err) {
    return rvm__fail(err, RVM_ERR_LIMIT, NULL, 0, 0, "a count is beyond 2^64");
}

static rvm_status room(rvm_counts *c, rvm_error *err) {
    void *kinds = c->kinds;
    const bool good = rvm__grow(&c->al, &kinds, &c->cap, c->n + 1, sizeof *c->kinds);
    c->kinds = kinds;
    return good ? RVM_OK : rvm__fail_memory(err);
}

static bool is_kind(const rvm_counted *kind) {
    return memchr(kind->kind, 0, sizeof kind->kind) && memchr(kind->places, 0, sizeof kind->places) &&
           (unsigned)kind->type < RVM_TYPE_COUNT && (unsigned)kind->operands < RVM_TYPE_COUNT &&
           (unsigned)kind->mode < RVM_PROFILE_MODES;
}

static bool gain_switched(rvm_switching *to, const rvm_switching *from, uint64_t times) {
    bool fits = true;
    for (int where = 0; where < 2; where++)
        fits = fits && rvm__gain(&to->bits[where], from->bits[where], times) &&
               rvm__gain(&to->flipped[where], from->flipped[where], times);
    return fits;
}

rvm_status rvm_counts_add_kind(rvm_counts *c, const rvm_counted *kind, uint64_t times, rvm_error *err) {
    RVM__NEEDS(c, kind);
    if (!is_kind(kind)) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "a count of no type, or of no mode");
    if (!kind->count || !times) return RVM_OK;
    rvm_counted *to = find(c, kind);
    if (!to) {
        RVM__TRY(room(c, err));
        to = &c->kinds[c->n++];
        *to = *kind;
        to->count = 0;
        to->switched = (rvm_switching){{0}, {0}};
    }
    const bool fits = rvm__gain(&to->count, kind->count, times) && rvm__gain(&c->sums.instructions, kind->count, times) &&
                      rvm__gain(&c->sums.modes[kind->mode], kind->count, times) &&
                      gain_switched(&to->switched, &kind->switched, times);
    return fits ? RVM_OK : too_large(err);
}

rvm_status rvm_counts_add_sums(rvm_counts *c, const rvm_counts_sums *s, uint64_t times, rvm_error *err) {
    RVM__NEEDS(c, s);
    rvm_counts_sums *to = &c->sums;
    bool fits = rvm__gain(&to->to_device, s->to_device, times) && rvm__gain(&to->to_host, s->to_host, times) &&
                rvm__gain(&to->turns, s->turns, times);
    for (int cause = 0; cause < RVM_CAUSES; cause++) fits = fits && rvm__gain(&to->bits[cause], s->bits[cause], times);
    if (times && s->peak > to->peak) to->peak = s->peak;
    return fits ? RVM_OK : too_large(err);
}

rvm_status rvm_counts_add(rvm_counts *c, const rvm_counts *from, uint64_t times, rvm_error *err) {
    RVM__NEEDS(c, from);
    for (uint32_t k = 0, n = from->n; k < n; k++) {
        const rvm_counted kind = from->kinds[k]; /* a copy: c may be from, and grow */
        RVM__TRY(rvm_counts_add_kind(c, &kind, times, err));
    }
    const rvm_counts_sums sums = from->sums;
    return rvm_counts_add_sums(c, &sums, times, err);
}

/* ---- a machine's ---- */

static rvm_counted counted_of(const rvm_profile_kind_count *k) {
    rvm_counted to = {
        .type = k->type, .operands = k->operands, .direction = k->direction, .mode = k->mode, .count = k->count};
    snprintf(to.kind, sizeof to.kind, "%s%s%s%s", k->mnemonic, k->row ? "." : "", k->row ? k->row : "",
             k->tangents ? "'tan" : "");
    memcpy(to.places, k->places, sizeof to.places);
    return to;
}

static rvm_counts_sums sums_of(const rvm_machine *m, const rvm_profile *f, uint64_t turns) {
    rvm_stats s;
    rvm_profile_memory peak;
    rvm_machine_stats(m, &s);
    rvm_profile_memory_peak(f, &peak);
    return (rvm_counts_sums){.bits = {[RVM_CAUSE_TRAIL] = s.bits_trail,
                                      [RVM_CAUSE_SHADOWS] = s.bits_shadows,
                                      [RVM_CAUSE_STACK] = s.bits_stack,
                                      [RVM_CAUSE_FORGOTTEN] = s.bits_forgotten},
                             .turns = turns,
                             .peak = peak.states + peak.trail + peak.stack + peak.shadows};
}

rvm_status rvm_counts_add_machine(rvm_counts *c, const rvm_machine *m, uint64_t times, rvm_error *err) {
    rvm_stats s;
    RVM__NEEDS(c, m);
    rvm_machine_stats(m, &s);
    return rvm__counts_add_run(c, m, times, s.swept > 0, err);
}

rvm_status rvm__counts_add_run(rvm_counts *c, const rvm_machine *m, uint64_t times, uint64_t turns, rvm_error *err) {
    rvm_profile *f;
    rvm_profile_kind_count k;
    RVM__TRY(rvm_profile_new(m, &f, err));
    rvm_status st = RVM_OK;
    const rvm_counts_sums sums = sums_of(m, f, turns);
    rvm_options o;
    rvm_machine_options(m, &o);
    for (uint32_t i = 0; !st && rvm_profile_kind(f, i, &k); i++) {
        rvm_counted to = counted_of(&k);
        rvm_profile_kind_work(f, i, &to.work);
        rvm_profile_kind_switching(f, i, &to.switched);
        if (o.trail == RVM_TRAIL_OFF) to.work.trail = 0; /* it is erased, and counted so */
        st = rvm_counts_add_kind(c, &to, times, err);
    }
    if (!st) st = rvm_counts_add_sums(c, &sums, times, err);
    rvm_profile_free(f);
    return st;
}

/* ---- asking ---- */

bool rvm_counts_kind(const rvm_counts *c, uint32_t k, rvm_counted *out) {
    if (!c || !out || k >= c->n) return false;
    *out = c->kinds[k];
    return true;
}

void rvm_counts_total(const rvm_counts *c, rvm_counts_sums *out) {
    if (out) *out = c ? c->sums : (rvm_counts_sums){0};
}

uint64_t rvm_counts_erased(const rvm_counts *c) {
    uint64_t n = 0;
    for (int cause = 0; c && cause < RVM_CAUSES; cause++)
        if (__builtin_add_overflow(n, c->sums.bits[cause], &n)) return UINT64_MAX;
    return n;
}

/* record.c: what a run backward in another process needs besides the results: what rounding lost, the trail, the stack.
 *
 *     magic "\x89RVR"  u32 version  u64 XXH3-64 of all behind it  u64 size of the whole
 *     u64 u64 program  u32 function  u32 flags  u32 arguments  u32 elementary functions
 *     each argument: u8 type  u8 dimensions  u64 lengths ...  u64 XXH3-64 of the values
 *     u64 depths  at each, of values and of shadows: u64 bits  the words that hold them
 *     each level of the trail: u64 depths  at each: u64 entries  entries from the bottom up: u32 site  u8 cells  each cell:
 * u8 index  u64 value u64 cells of the stack, from the bottom up: u64 value  u64 shadow  u8 type  u8 index  u16 extra
 * (little-endian)
 *
 * A file is untrusted. Values may be any bits: instructions check what they take back. Numbers of cells, sites and indices
 * are what memory safety rests on, and are checked here. */
#include <string.h>
#include <xxhash.h>

#include "fresh.h"
#include "memory.h"
#include "out_of_line.h"
#include "trail.h"
#include "support.h"

#define MAGIC "\x89RVR"
enum { VERSION = 4, HASHED_FROM = 16, UNCHECKED = 1, TRUSTED = 2 };

#define BAD(code, ...) return rvm__fail(err, code, NULL, 0, 0, __VA_ARGS__)

/* ---- values of arguments ---- */

/* Element by element, so that it is the same whatever the strides are. */
static void digest_from(XXH64_hash_t *h, const rvm_arg *a, int d, const uint64_t *p) {
    if (d >= a->ndim || d >= RVM_MAX_DIMS)
        *h = XXH3_64bits_withSeed(p, sizeof *p, *h);
    else
        for (int64_t i = 0; i < a->shape[d]; i++) digest_from(h, a, d + 1, p + i * a->stride[d]);
}

static uint64_t digest(const rvm_arg *a) {
    const uint64_t scalar = (uint64_t)a->value.i;
    XXH64_hash_t h = 0;
    digest_from(&h, a, 0, a->ndim ? a->data : &scalar);
    return h;
}

static uint32_t flags_of(const rvm_machine *m) {
    return (m->o.unchecked ? UNCHECKED : 0) | (m->o.trust ? TRUSTED : 0);
}

/* ---- writing ---- */

typedef struct writer {
    const rvm_allocator *al;
    uint8_t *bytes;
    size_t n, cap;
    bool failed;
    rvm__link_spot *spots; /* for walks down the trail */
    uint32_t walks;
} writer;

static uint8_t *room(writer *w, size_t n) {
    if (!w->failed && w->cap - w->n < n) {
        const size_t cap = w->cap + n > 2 * w->cap ? w->cap + n : 2 * w->cap;
        uint8_t *grown = rvm__realloc(w->al, w->bytes, w->cap, cap);
        w->failed = !grown;
        if (grown) w->bytes = grown, w->cap = cap;
    }
    if (w->failed) return NULL;
    w->n += n;
    return w->bytes + w->n - n;
}

static uint8_t *set(uint8_t *at, uint64_t v, int bytes) {
    for (int k = 0; k < bytes; k++) *at++ = (uint8_t)(v >> 8 * k);
    return at;
}

static void put(writer *w, uint64_t v, int bytes) {
    uint8_t *at = room(w, (size_t)bytes);
    if (at) set(at, v, bytes);
}

static void put_head(writer *w, const rvm_machine *m) {
    uint64_t id[2];
    uint8_t *magic = room(w, 4);
    if (magic) memcpy(magic, MAGIC, 4);
    rvm_program_id(m->p, id);
    put(w, VERSION, 4), put(w, 0, 8), put(w, 0, 8); /* the checksum and the size come last */
    put(w, id[0], 8), put(w, id[1], 8);
    put(w, m->bound.entry, 4), put(w, flags_of(m), 4), put(w, m->bound.nargs, 4), put(w, m->math->digest(), 4);
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_arg *a = &m->bound.args[k];
        put(w, a->type, 1), put(w, (uint64_t)a->ndim, 1);
        for (int d = 0; d < a->ndim; d++) put(w, (uint64_t)a->shape[d], 8);
        put(w, digest(a), 8);
    }
}

static void put_bits(writer *w, const rvm_machine *m, size_t number) {
    const rvm__bits *b = number < m->exact.nbits ? &m->exact.bits[number] : NULL;
    const size_t n = b ? b->n : 0;
    put(w, n, 8);
    for (size_t k = 0; k < n / 64; k++) put(w, b->words[k], 8);
    if (n % 64) put(w, b->words[n / 64] & ((UINT64_C(1) << n % 64) - 1), 8);
}

/* At each depth: compute parts have taken back what they did to values, but not segments, nor what adjoints add to shadows
 * in compute parts that they run again. */
static void put_records(writer *w, const rvm_machine *m) {
    const size_t depths = (m->exact.nbits + RVM__EXACT_LEVELS - 1) / RVM__EXACT_LEVELS;
    put(w, depths, 8);
    for (size_t k = 0; k < depths * RVM__EXACT_LEVELS; k++)
        if (k % RVM__EXACT_LEVELS != RVM__OF_BORROWED) put_bits(w, m, k);
}

enum { ENTRY_HEAD = 5, ENTRY_CELL = 9 };

/* Slots come from the top down, and are written from the end backward. */
static void put_stack_of(writer *w, const rvm_machine *m, uint32_t level) {
    rvm__trail_entry entry;
    uint64_t entries = 0;
    size_t size = 0;
    rvm__trail_cursor c = rvm__trail_walk_by(m, level, w->spots, ++w->walks);
    for (; rvm__trail_next(&c, &entry); entries++) size += ENTRY_HEAD + ENTRY_CELL * (size_t)entry.n;
    put(w, entries, 8);
    uint8_t *at = size ? room(w, size) : NULL;
    if (!at) return;
    at += size;
    c = rvm__trail_walk_by(m, level, w->spots, ++w->walks);
    while (rvm__trail_next(&c, &entry)) {
        uint8_t *p = at -= ENTRY_HEAD + ENTRY_CELL * (size_t)entry.n;
        p = set(set(p, entry.site, 4), entry.n, 1);
        for (uint32_t k = 0; k < entry.n; k++) p = set(set(p, k ? entry.index[k] : 0, 1), entry.value[k].u, 8);
    }
}

/* What segments have left stands deeper. */
static void put_level(writer *w, const rvm_machine *m, uint32_t level) {
    rvm_machine at = *m;
    put(w, m->trail.nstacks[level], 8);
    for (size_t d = 0; d < m->trail.nstacks[level]; d++) {
        at.trail.deep = (uint32_t)d;
        put_stack_of(w, &at, level);
    }
}

static void put_stack(writer *w, const rvm_machine *m) {
    put(w, m->store.nstack, 8);
    for (uint32_t k = 0; k < m->store.nstack; k++) {
        const rvm__cell *c = &m->store.stack[k];
        put(w, c->value.u, 8), put(w, c->shadow.u, 8);
        put(w, c->type, 1), put(w, c->index, 1), put(w, c->extra, 2);
    }
}

rvm_status rvm_machine_record_save(const rvm_machine *m, void **bytes, size_t *size, rvm_error *err) {
    RVM__NEEDS(bytes, size);
    *bytes = NULL, *size = 0;
    RVM__NEEDS(m);
    if (m->run.where != AT_END || !m->run.began_at_start || m->bound.mode != RVM_PRIMAL)
        BAD(RVM_ERR_USAGE, "a record is of a run that went forward from its start to its end");
    if (!m->o.exact) BAD(RVM_ERR_USAGE, "a record is of an exact run: set the option exact");
    if (m->o.trail == RVM_TRAIL_OFF) BAD(RVM_ERR_USAGE, "a record takes the trail, which is off");
    const size_t spots = (m->trail.nkinds + 1) * sizeof(rvm__link_spot);
    writer w = {.al = &m->al, .spots = rvm__make(&m->al, spots)};
    if (!w.spots) BAD(RVM_ERR_MEMORY, "out of memory for a record");
    put_head(&w, m);
    put_records(&w, m);
    for (uint32_t level = 0; level < RVM_MAX_ORDER; level++) put_level(&w, m, level);
    put_stack(&w, m);
    rvm__release(&m->al, w.spots, spots);
    uint8_t *fitted = w.failed ? NULL : rvm__realloc(w.al, w.bytes, w.cap, w.n);
    if (!fitted) {
        rvm__realloc(w.al, w.bytes, w.cap, 0);
        BAD(RVM_ERR_MEMORY, "out of memory for a record");
    }
    set(fitted + HASHED_FROM, w.n, 8);
    set(fitted + 8, XXH3_64bits(fitted + HASHED_FROM, w.n - HASHED_FROM), 8);
    *bytes = fitted, *size = w.n;
    return RVM_OK;
}

void rvm_machine_record_free(const rvm_machine *m, void *bytes, size_t size) {
    if (m && bytes) rvm__realloc(&m->al, bytes, size, 0);
}

/* ---- reading ---- */

typedef struct reader {
    const uint8_t *at, *end;
    bool cut; /* more was asked for than there is */
} reader;

static const uint8_t *take(reader *r, uint64_t n) {
    const uint8_t *p = r->at;
    r->cut |= n > (uint64_t)(r->end - r->at);
    if (r->cut) return NULL;
    r->at += n;
    return p;
}

static uint64_t get(reader *r, int bytes) {
    const uint8_t *p = take(r, (uint64_t)bytes);
    uint64_t v = 0;
    for (int k = bytes; p && k-- > 0;) v = v << 8 | p[k];
    return v;
}

static rvm_status check_whole(reader *r, rvm_error *err) {
    const uint8_t *begin = r->at;
    const size_t size = (size_t)(r->end - r->at);
    if (size < 4 || memcmp(take(r, 4), MAGIC, 4) != 0) BAD(RVM_ERR_FORMAT, "this is no record of a run");
    const uint64_t version = get(r, 4), hash = get(r, 8), whole = get(r, 8);
    if (r->cut) BAD(RVM_ERR_FORMAT, "the record is cut off");
    if (version != VERSION)
        BAD(RVM_ERR_VERSION, "a record of version %u; this library reads %d", (unsigned)version, VERSION);
    if (whole != size)
        BAD(RVM_ERR_FORMAT, "the record is cut off, or has more behind it: %llu bytes are %zu", (unsigned long long)whole,
            size);
    if (hash != XXH3_64bits(begin + HASHED_FROM, size - HASHED_FROM))
        BAD(RVM_ERR_FORMAT, "the record is damaged: its checksum differs");
    return RVM_OK;
}

static rvm_status check_argument(reader *r, const rvm_machine *m, uint32_t k, rvm_error *err) {
    const rvm_arg *a = &m->bound.args[k];
    const char *name = m->p->functions[m->bound.entry].params[k].name;
    if (get(r, 1) != a->type || get(r, 1) != (uint64_t)a->ndim) BAD(RVM_ERR_ARGUMENT, "the record is of another function");
    for (int d = 0; d < a->ndim; d++) {
        const uint64_t length = get(r, 8);
        if (length != (uint64_t)a->shape[d])
            BAD(RVM_ERR_SHAPE, "the record is of a run whose `%s` has length %llu in dimension %d, not %lld", name,
                (unsigned long long)length, d + 1, (long long)a->shape[d]);
    }
    if (get(r, 8) != digest(a))
        BAD(RVM_ERR_ARGUMENT, "`%s` is not what the recorded run has left there, to the last bit", name);
    return RVM_OK;
}

/* Whether it is the record of the bound call. */
static rvm_status check_head(reader *r, const rvm_machine *m, rvm_error *err) {
    uint64_t id[2];
    rvm_program_id(m->p, id);
    const uint64_t low = get(r, 8), high = get(r, 8);
    const bool program = low == id[0] && high == id[1];
    const uint64_t fn = get(r, 4), flags = get(r, 4), nargs = get(r, 4), math = get(r, 4);
    if (r->cut) BAD(RVM_ERR_FORMAT, "the record is cut off");
    if (!program) BAD(RVM_ERR_ARGUMENT, "the record is of another program");
    if (fn != m->bound.entry || nargs != m->bound.nargs)
        BAD(RVM_ERR_ARGUMENT, "the record is of %s%s", fn < m->p->nfunctions ? "the function " : "another function",
            fn < m->p->nfunctions ? m->p->functions[fn].name : "");
    if (flags != flags_of(m)) BAD(RVM_ERR_ARGUMENT, "the record is of a run with other checks: unchecked, trust");
    if (math != m->math->digest())
        BAD(RVM_ERR_ARGUMENT, "the record is of a run with other elementary functions than %s has them here",
            rvm_math_name(m->o.math));
    for (uint32_t k = 0; k < m->bound.nargs; k++) {
        const rvm_status status = check_argument(r, m, k, err);
        if (r->cut) BAD(RVM_ERR_FORMAT, "the record is cut off");
        if (status) return status;
    }
    return RVM_OK;
}

static rvm_status load_bits(reader *r, rvm_machine *m) {
    const uint64_t n = get(r, 8), words = n / 64 + (n % 64 != 0);
    if (words > (uint64_t)(r->end - r->at) / 8) return RVM_ERR_FORMAT;
    if (!n) return RVM_OK;
    if ((unsigned)m->exact.level >= m->exact.levels) return RVM_ERR_FORMAT; /* no code here records there */
    if (!rvm__exact_reserve(m, n)) return RVM_ERR_MEMORY;
    for (uint64_t left = n; left;) {
        const unsigned some = left < 64 ? (unsigned)left : 64;
        rvm__exact_load(m, get(r, 8), some);
        left -= some;
    }
    return RVM_OK;
}

static rvm_status load_records(reader *r, rvm_machine *m) {
    rvm_status status = RVM_OK;
    const uint64_t depths = get(r, 8);
    if (depths > (uint64_t)(r->end - r->at) / 8) return RVM_ERR_FORMAT;
    for (uint64_t k = 0; k < depths * RVM__OF_BORROWED && !status; k++) {
        m->trail.deep = (uint32_t)(k / RVM__OF_BORROWED); /* which says where they go, */
        m->exact.level = k % RVM__OF_BORROWED ? RVM__OF_SHADOWS : RVM__OF_VALUES;
        status = load_bits(r, m);
    }
    m->trail.deep = 0;
    m->exact.level = RVM__OF_VALUES;
    return status;
}

/* Indices rise, as they do in entries that the machine makes. */
static rvm_status load_slot(reader *r, rvm_machine *m, uint32_t level) {
    rvm__trail_entry entry;
    entry.site = (uint32_t)get(r, 4);
    entry.n = (uint32_t)get(r, 1);
    if (r->cut || entry.site >= m->trail.nsites || !entry.n || entry.n > RVM__ENTRY_CELLS) return RVM_ERR_FORMAT;
    for (uint32_t k = 0; k < entry.n; k++) {
        entry.index[k] = (uint8_t)get(r, 1);
        entry.value[k].u = get(r, 8);
        const bool rises = k ? entry.index[k] > entry.index[k - 1] && entry.index[k] < RVM__ENTRY_CELLS : !entry.index[k];
        if (r->cut || !rises) return RVM_ERR_FORMAT;
    }
    return rvm__trail_push(m, level, &entry);
}

static rvm_status load_level(reader *r, rvm_machine *m, uint32_t level) {
    rvm_status status = RVM_OK;
    uint32_t deep = 0;
    for (uint64_t depths = get(r, 8); !status && depths; depths--) {
        for (uint64_t n = get(r, 8); !status && n; n--) status = load_slot(r, m, level);
        if (r->cut) status = RVM_ERR_FORMAT;
        rvm__trail_deeper(m, 1), deep++;
    }
    rvm__trail_deeper(m, -(int)deep);
    return status;
}

static rvm_status load_trail(reader *r, rvm_machine *m) {
    rvm_status status = RVM_OK;
    for (uint32_t level = 0; !status && level < RVM_MAX_ORDER; level++) status = load_level(r, m, level);
    return status;
}

/* The cells of each entry lie below its value: from the top down these must come out even. */
static bool stack_is_whole(const rvm_machine *m) {
    uint32_t n = m->store.nstack;
    while (n) {
        const rvm__cell *top = &m->store.stack[n - 1];
        if (top->index || top->extra > RVM__ENTRY_CELLS - 2 || top->extra > n - 1) return false;
        for (uint32_t k = 1; k <= top->extra; k++)
            if (m->store.stack[n - 1 - k].type != top->type || m->store.stack[n - 1 - k].index < 2) return false;
        for (uint32_t k = 1; k < top->extra; k++)
            if (m->store.stack[n - 1 - k].index <= m->store.stack[n - 2 - k].index) return false;
        n -= 1u + top->extra;
    }
    return true;
}

static rvm_status load_stack(reader *r, rvm_machine *m) {
    enum { CELL = 20 };
    const uint64_t n = get(r, 8);
    size_t cap = m->store.cap_stack;
    if (r->cut || n != (uint64_t)(r->end - r->at) / CELL || (r->end - r->at) % CELL || n > UINT32_MAX) return RVM_ERR_FORMAT;
    if (!rvm__reserve(m, (void **)&m->store.stack, &cap, n, sizeof *m->store.stack)) return RVM_ERR_MEMORY;
    m->store.cap_stack = (uint32_t)cap;
    for (; m->store.nstack < n; m->store.nstack++) {
        rvm__cell *c = &m->store.stack[m->store.nstack];
        c->value.u = get(r, 8), c->shadow.u = get(r, 8);
        c->type = (uint8_t)get(r, 1), c->index = (uint8_t)get(r, 1), c->extra = (uint16_t)get(r, 2);
        if (c->type >= RVM_TYPE_COUNT || c->index >= RVM__ENTRY_CELLS) return RVM_ERR_FORMAT;
    }
    return stack_is_whole(m) ? RVM_OK : RVM_ERR_FORMAT;
}

rvm_status rvm_machine_record_load(rvm_machine *m, const void *bytes, size_t size, rvm_error *err) {
    RVM__NEEDS(m);
    if (size) RVM__NEEDS(bytes);
    reader r = {bytes, bytes ? (const uint8_t *)bytes + size : NULL, false};
    if (m->run.where != AT_END || m->run.began_at_start || m->bound.mode != RVM_PRIMAL)
        BAD(RVM_ERR_USAGE, "a record is for a call that is bound at its end, and has not moved");
    if (!m->o.exact || m->o.trail == RVM_TRAIL_OFF)
        BAD(RVM_ERR_USAGE, "a record is for an exact run that keeps its trail: set the options so");
    rvm__fresh_show(m);
    rvm_status status = check_whole(&r, err);
    if (!status) status = check_head(&r, m, err);
    if (status) return rvm__fail_in(err, status, m->p, m->bound.entry);
    status = load_records(&r, m);
    if (!status) status = load_trail(&r, m);
    if (!status) status = load_stack(&r, m);
    m->run.began_at_start = !status;
    if (!status) return RVM_OK;
    rvm__exact_clear(m);
    rvm__trail_clear(m);
    m->store.nstack = 0;
    if (status == RVM_ERR_MEMORY) return rvm__no_memory(m, err);
    if (status == RVM_ERR_LIMIT) BAD(status, "the trail of the record is beyond the limit of %zu bytes", m->o.trail_limit);
    BAD(RVM_ERR_FORMAT, "the record is damaged: what it holds is none of a trail and a stack");
}

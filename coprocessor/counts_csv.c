/* counts_csv.c: counts as CSV, and back from text of any origin. */
#include "coprocessor.h"

#include <string.h>

/* Sums by name, and columns of a kind behind its words. */
#define SUMS(X)                                                                                                             \
    X("erased.trail", bits[RVM_CAUSE_TRAIL])                                                                                \
    X("erased.shadows", bits[RVM_CAUSE_SHADOWS])                                                                            \
    X("erased.stack", bits[RVM_CAUSE_STACK])                                                                                \
    X("erased.forgotten", bits[RVM_CAUSE_FORGOTTEN])                                                                        \
    X("erased.copied", bits[RVM_CAUSE_COPIED])                                                                              \
    X("to.device", to_device)                                                                                               \
    X("to.host", to_host)                                                                                                   \
    X("turns", turns)                                                                                                       \
    X("peak.bytes", peak)
_Static_assert(RVM_CAUSES == 5, "a line for each cause");
#define COLUMNS(X)                                                                                                          \
    X("add", units[RVM_UNIT_ADD])                                                                                           \
    X("multiply", units[RVM_UNIT_MULTIPLY])                                                                                 \
    X("divide", units[RVM_UNIT_DIVIDE])                                                                                     \
    X("function", units[RVM_UNIT_FUNCTION])                                                                                 \
    X("compare", units[RVM_UNIT_COMPARE])                                                                                   \
    X("logic", units[RVM_UNIT_LOGIC])                                                                                       \
    X("convert", units[RVM_UNIT_CONVERT])                                                                                   \
    X("register_reads", register_reads)                                                                                     \
    X("register_writes", register_writes)                                                                                   \
    X("memory_reads", memory_reads)                                                                                         \
    X("memory_writes", memory_writes)                                                                                       \
    X("trail", trail)                                                                                                       \
    X("jumps", jumps)                                                                                                       \
    X("turns", turns)

/* Behind them. */
#define SWITCHED(X)                                                                                                         \
    X("register_bits", bits[0])                                                                                             \
    X("register_flips", flipped[0])                                                                                         \
    X("memory_bits", bits[1])                                                                                               \
    X("memory_flips", flipped[1])

static const char header[] = "kind,type,operands,places,direction,mode,count"
#define X(name, member) "," name
    COLUMNS(X) SWITCHED(X)
#undef X
    ;

static void write_kind(const rvm_counted *k, FILE *out) {
    fprintf(out, "%s,%s,%s,%s,%s,%s,%llu", k->kind, rvm_type_name(k->type), rvm_type_name(k->operands), k->places,
            k->direction > 0 ? "up" : "down", rvm_profile_mode_name(k->mode), (unsigned long long)k->count);
#define X(name, member) fprintf(out, ",%u", k->work.member);
    COLUMNS(X)
#undef X
#define X(name, member) fprintf(out, ",%llu", (unsigned long long)k->switched.member);
    SWITCHED(X)
#undef X
    fputc('\n', out);
}

rvm_status rvm_counts_write(const rvm_counts *c, FILE *out, rvm_error *err) {
    RVM__NEEDS(c, out);
#define X(name, member) fprintf(out, "# %s %llu\n", name, (unsigned long long)c->sums.member);
    SUMS(X)
#undef X
    fprintf(out, "%s\n", header);
    for (uint32_t k = 0; k < c->n; k++) write_kind(&c->kinds[k], out);
    return ferror(out) ? rvm__fail(err, RVM_ERR_IO, NULL, 0, 0, "cannot write counts") : RVM_OK;
}

/* ---- reading ---- */

typedef struct reader {
    const char *at, *end, *name; /* of the present line */
    uint32_t line;
    rvm_error *err;
} reader;

static rvm_status bad(const reader *r, const char *what) {
    return rvm__fail(r->err, RVM_ERR_FORMAT, r->name, r->line, 0, "%s: `%.*s`", what,
                     r->end - r->at > 60 ? 60 : (int)(r->end - r->at), r->at);
}

/* Up to a comma or the end, which the reader then stands behind. */
static bool word(reader *r, char *to, size_t size) {
    const char *comma = memchr(r->at, ',', (size_t)(r->end - r->at));
    const size_t n = (size_t)((comma ? comma : r->end) - r->at);
    if (n >= size || memchr(r->at, 0, n)) return false;
    memcpy(to, r->at, n);
    to[n] = 0;
    r->at += comma ? n + 1 : n;
    return true;
}

static bool number(reader *r, uint64_t most, uint64_t *to) {
    char text[24];
    *to = 0;
    if (!word(r, text, sizeof text) || !*text) return false;
    for (const char *c = text; *c; c++)
        if (*c < '0' || *c > '9' || !rvm__gain(to, *to, 9) || !rvm__gain(to, (uint64_t)(*c - '0'), 1)) return false;
    return *to <= most;
}

/* Which of n names, by name_of; n: none. */
static unsigned choice(reader *r, const char *const *names, unsigned n) {
    char text[24];
    unsigned k = 0;
    if (!word(r, text, sizeof text)) return n;
    while (k < n && strcmp(text, names[k]) != 0) k++;
    return k;
}

static bool read_kind(reader *r, rvm_counted *k) {
    const char *types[RVM_TYPE_COUNT], *modes[RVM_PROFILE_MODES], *const ways[] = {"down", "up"};
    for (int t = 0; t < RVM_TYPE_COUNT; t++) types[t] = rvm_type_name((rvm_type)t);
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++) modes[mode] = rvm_profile_mode_name((rvm_profile_mode)mode);
    if (!word(r, k->kind, sizeof k->kind) || !*k->kind) return false;
    k->type = (rvm_type)choice(r, types, RVM_TYPE_COUNT);
    k->operands = (rvm_type)choice(r, types, RVM_TYPE_COUNT);
    if (k->type == RVM_TYPE_COUNT || k->operands == RVM_TYPE_COUNT || !word(r, k->places, sizeof k->places)) return false;
    const unsigned way = choice(r, ways, 2);
    k->direction = way ? 1 : -1;
    k->mode = (rvm_profile_mode)choice(r, modes, RVM_PROFILE_MODES);
    if (way == 2 || k->mode == RVM_PROFILE_MODES || !number(r, UINT64_MAX, &k->count)) return false;
    uint64_t n;
#define X(name, member_)                                                                                                    \
    if (!number(r, UINT16_MAX, &n)) return false;                                                                           \
    k->work.member_ = (uint16_t)n;
    COLUMNS(X)
#undef X
#define X(name, member_)                                                                                                    \
    if (!number(r, UINT64_MAX, &k->switched.member_)) return false;
    SWITCHED(X)
#undef X
    for (int where = 0; where < 2; where++)
        if (k->switched.flipped[where] > k->switched.bits[where]) return false;
    return r->at == r->end;
}

static rvm_status read_sum(reader *r, rvm_counts_sums *s) {
    const char *const line = r->at;
    const size_t size = (size_t)(r->end - line);
#define X(name, member_)                                                                                                    \
    if (size > sizeof "# " name && !memcmp(line, "# " name " ", sizeof "# " name)) {                                        \
        r->at += sizeof "# " name;                                                                                          \
        return number(r, UINT64_MAX, &s->member_) && r->at == r->end ? RVM_OK : (r->at = line, bad(r, "no whole number"));  \
    }
    SUMS(X)
#undef X
    return bad(r, "no sum of this name");
}

enum { MOST_LINES = 1 << 16 };

static rvm_status read_line(reader *r, rvm_counts *c, rvm_counts_sums *s, bool *headed) {
    const char *const line = r->at;
    rvm_counted k = {0};
    if (line == r->end) return RVM_OK;
    if (*line == '#') return read_sum(r, s);
    if (!*headed) {
        *headed = (size_t)(r->end - line) == sizeof header - 1 && !memcmp(line, header, sizeof header - 1);
        return *headed ? RVM_OK : bad(r, "not the columns of counts");
    }
    if (read_kind(r, &k)) return rvm_counts_add_kind(c, &k, 1, r->err);
    r->at = line;
    return bad(r, "no kind of instruction with its counts");
}

rvm_status rvm_counts_read(rvm_counts *c, const char *text, size_t size, const char *name, rvm_error *err) {
    RVM__NEEDS(c, text, name);
    reader r = {.name = name, .err = err};
    rvm_counts_sums sums = {0};
    bool headed = false;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        r.at = at;
        r.end = newline ? newline : end;
        if (++r.line > MOST_LINES) return rvm__fail(err, RVM_ERR_LIMIT, name, r.line, 0, "more than %d lines", MOST_LINES);
        RVM__TRY(read_line(&r, c, &sums, &headed));
        at = r.end + 1;
    }
    if (!headed) return rvm__fail(err, RVM_ERR_FORMAT, name, r.line, 0, "no counts");
    return rvm_counts_add_sums(c, &sums, 1, err);
}

/* types.c: the types of the language: the machine's; lns, which becomes a real of it; and records, which become their
 * leaves: complex, and what the sources declare.
 */
#include "asm.h"
#include "instruction.h"
#include "program.h"
#include <string.h>

bool rvm__is_complex(int type) {
    return type >= T_COMPLEX && type < T_STATE;
}

bool rvm__is_state(int type) {
    return type >= T_STATE;
}

bool rvm__is_record(int type) {
    return type >= T_COMPLEX;
}

bool rvm__is_lns(int type) {
    return type >= T_LNS && type < T_LNS + RVM_TYPE_COUNT;
}

rvm_type rvm__part_type(int type) {
    if (rvm__is_lns(type)) return (rvm_type)(type - T_LNS);
    return (rvm_type)(rvm__is_complex(type) ? type - T_COMPLEX : type);
}

bool rvm__is_value_type(int type) {
    return type < RVM_TYPE_COUNT || type >= T_LNS;
}

bool rvm__is_real(int type) {
    return type < RVM_TYPE_COUNT && type != RVM_I64;
}

/* ---- records ---- */

record *rvm__record(const assembler *a, int type) {
    return rvm__is_record(type) ? a->records[type - T_COMPLEX] : NULL;
}

record *rvm__record_new(assembler *a, name *n, span at) {
    if (a->nrecords == MAX_RECORDS) {
        rvm__diag(a, at, D_TYPES, rvm__number(a, MAX_RECORDS - RVM_TYPE_COUNT), NULL, NULL);
        return NULL;
    }
    record *r = rvm__arena(a, sizeof *r);
    if (!r) return NULL;
    *r = (record){.name = n, .at = at, .type = (uint8_t)(T_COMPLEX + a->nrecords)};
    return a->records[a->nrecords++] = r;
}

const leaf_type *rvm__leaves(const assembler *a, int type, uint32_t *n) {
    static const leaf_type plain[] = {[RVM_I64] = {RVM_I64, 0},
                                      [RVM_F64] = {RVM_F64, 0},
                                      [RVM_FIX] = {RVM_FIX, 0},
                                      [RVM_F32] = {RVM_F32, 0},
                                      [T_LNS + RVM_F64] = {T_LNS + RVM_F64, 0},
                                      [T_LNS + RVM_FIX] = {T_LNS + RVM_FIX, 0},
                                      [T_LNS + RVM_F32] = {T_LNS + RVM_F32, 0}};
    const record *r = rvm__record(a, type);
    *n = r ? r->nleaves : 1;
    return r ? r->leaves : plain + type;
}

uint32_t rvm__leaf_count(const assembler *a, int type) {
    const record *r = rvm__record(a, type);
    return r ? r->nleaves : 1;
}

/* Those of its members, one after the other. */
static void find_leaves(assembler *a, record *r) {
    for (uint32_t k = 0; k < r->nmembers; k++) r->nleaves += rvm__leaf_count(a, r->members[k].as.type);
    r->leaves = rvm__arena(a, (r->nleaves + 1) * sizeof *r->leaves);
    for (uint32_t k = 0, to = 0; r->leaves && k < r->nmembers; k++) {
        const typed *as = &r->members[k].as;
        const record *within = rvm__record(a, as->type);
        uint32_t n, longest = r->members[k].name->length + 1 + (within ? within->longest : rvm__is_lns(as->type) ? 4 : 0);
        const leaf_type *leaves = rvm__leaves(a, as->type, &n);
        for (uint32_t i = 0; i < n; i++) r->leaves[to++] = (leaf_type){leaves[i].type, (uint8_t)(leaves[i].ndim + as->ndim)};
        if (longest > r->longest) r->longest = longest;
    }
}

bool rvm__record_finish(assembler *a, record *r, const member *members, uint32_t n) {
    r->members = rvm__arena(a, (n + 1) * sizeof *r->members);
    if (!r->members) return false;
    memcpy(r->members, members, n * sizeof *members);
    r->nmembers = n;
    find_leaves(a, r);
    r->state = 2;
    for (uint32_t k = 0; r->leaves && k < r->nleaves; k++)
        if (r->leaves[k].ndim > RVM_MAX_DIMS) {
            rvm__diag(a, r->at, D_DIMS, rvm__number(a, RVM_MAX_DIMS), NULL, NULL);
            return false;
        }
    if (r->nleaves > RVM_MAX_PARAMS || r->longest > MAX_NAME) {
        rvm__diag(a, r->at, D_STATE_SIZE, r->name->text, rvm__number(a, RVM_MAX_PARAMS), rvm__number(a, MAX_NAME));
        return false;
    }
    return r->leaves;
}

bool rvm__add_complex(assembler *a) {
    name *re = rvm__intern(a, "re", 2), *im = rvm__intern(a, "im", 2);
    for (int t = 0; re && im && t < RVM_TYPE_COUNT; t++) {
        record *r = rvm__record_new(a, NULL, (span){0, 0, 0, 0});
        const typed as = {.type = (uint8_t)t};
        const member parts[] = {{re, as}, {im, as}};
        if (!r || !rvm__record_finish(a, r, parts, 2)) return false;
    }
    return re && im;
}

/* ---- lengths ---- */

static uint32_t add_length(name **list, uint32_t n, name *length) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == length) return n;
    if (n < MAX_LENGTHS) list[n++] = length;
    return n;
}

static uint32_t add_lengths_in(name **list, uint32_t n, const expr *e) {
    if (e->kind == E_NAME && !e->u.name->constant) n = add_length(list, n, e->u.name);
    for (int k = 0; k < e->nkids; k++) n = add_lengths_in(list, n, e->kids[k]);
    return n;
}

uint32_t rvm__record_lengths(const assembler *a, const record *r, name **list) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->nmembers; k++) {
        const typed *as = &r->members[k].as;
        const record *within = rvm__record(a, as->type);
        for (int d = 0; d < as->ndim; d++) n = add_lengths_in(list, n, as->dim[d]);
        for (uint32_t i = 0; i < as->nlengths; i++) n = add_lengths_in(list, n, as->lengths[i]);
        name *inner[MAX_LENGTHS];
        const uint32_t ninner = within && !as->lengths ? rvm__record_lengths(a, within, inner) : 0;
        for (uint32_t i = 0; i < ninner; i++) n = add_length(list, n, inner[i]);
    }
    return n;
}

/* ---- shadows ---- */

int rvm__shadow_type(assembler *a, int type) {
    if (type == RVM_I64) return T_NONE;
    record *r = rvm__record(a, type);
    if (!r) return (int)rvm__part_type(type);
    if (r->shadow) return r->shadow;
    member *list = rvm__arena(a, r->nmembers * sizeof *list);
    uint32_t n = 0;
    bool same = true;
    if (!list) return T_ERROR;
    for (uint32_t k = 0; k < r->nmembers; k++) {
        const int own = rvm__shadow_type(a, r->members[k].as.type);
        same = same && own == r->members[k].as.type;
        if (own == T_NONE) continue;
        list[n] = r->members[k];
        list[n++].as.type = (uint8_t)own;
    }
    if (!n) return r->shadow = T_NONE;
    record *s = same ? r : rvm__record_new(a, r->name, r->at);
    if (!s || (!same && !rvm__record_finish(a, s, list, n))) return T_ERROR;
    s->shadow = s->type;
    s->shadows = !same;
    return r->shadow = s->type;
}

/* ---- as words ---- */

int rvm__number_type(const assembler *a, const name *n) {
    if (!strcmp(n->text, "lns")) return T_LNS + RVM_F64;
    return strcmp(n->text, "complex") ? -1 : T_COMPLEX + (int)a->options.real;
}

static const char *number_text(bool lns, rvm_type part) {
    static const char *const texts[][2] = {[RVM_I64] = {"", ""},
                                           [RVM_F64] = {"complex", "lns"},
                                           [RVM_FIX] = {"complex(fix)", "lns(fix)"},
                                           [RVM_F32] = {"complex(f32)", "lns(f32)"}};
    _Static_assert(sizeof texts / sizeof *texts == RVM_TYPE_COUNT, "texts for each type");
    return texts[part][lns];
}

static const char *state_text(assembler *a, const record *r) {
    char text[MAX_NAME + 16];
    const int length = snprintf(text, sizeof text, "%s%s", r->name->text, r->shadows ? "'shadow" : "");
    const char *copy = rvm__arena_copy(a, text, (size_t)length);
    return copy ? copy : "";
}

const char *rvm__type_text(assembler *a, int type) {
    switch (type) {
    case T_INT: return "a whole number";
    case T_REAL: return "a number";
    case T_ERROR:
    case T_NONE: return "nothing";
    }
    if (rvm__is_state(type)) return state_text(a, rvm__record(a, type));
    const bool lns = rvm__is_lns(type);
    return lns || rvm__is_complex(type) ? number_text(lns, rvm__part_type(type)) : rvm_type_name((rvm_type)type);
}

const char *rvm__array_text(assembler *a, int type, int ndim) {
    char text[MAX_NAME + 32];
    const int length = snprintf(text, sizeof text, "%s%s%.*s%s", rvm__type_text(a, type), ndim ? "[" : "",
                                ndim > 1 ? ndim - 1 : 0, ",,,", ndim ? "]" : "");
    const char *copy = rvm__arena_copy(a, text, (size_t)length);
    return copy ? copy : "";
}

void rvm__fn_limit(assembler *a, span at, int64_t result) {
    if (result == -1)
        a->oom = true;
    else
        rvm__diag(a, at, D_FN_TYPES, rvm__number(a, RVM_MAX_SIGNATURE_SIZE), NULL, NULL);
}

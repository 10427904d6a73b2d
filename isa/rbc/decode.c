/* decode.c: the bytes of rbc.h as a program, in one pass.
 *
 * The bytes may be any, their checksum right or not. What is left when this succeeds: every type, op, row, flag and kind is
 * one of its enum; every slot, array, function, instruction and file number is in range; counts of places fit their ops;
 * names are words, file names hold no NUL; and encoding again gives the same body. All else is the verifier's. A count is
 * compared with the bytes that remain before anything is allocated for it.
 */
#include "builder.h"
#include "support.h"
#include "rbc.h"
#include "transform.h"
#include "wellformed.h"
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

typedef struct reader {
    const uint8_t *start, *at, *end;
    const char *name; /* of the file */
    rvm_program *p;
    rvm_tables tables; /* that the file was made with */
    rvm_error *err;
    rvm_status status;
} reader;

static bool reject(reader *r, const char *what, uint64_t value) {
    if (r->status == RVM_OK)
        r->status = rvm__fail(r->err, RVM_ERR_FORMAT, r->name, 0, 0, "byte %zu: %s (%" PRIu64 ")",
                              (size_t)(r->at - r->start), what, value);
    return false;
}

static bool truncated(reader *r) {
    size_t size = (size_t)(r->end - r->start);
    if (r->status == RVM_OK)
        r->status = rvm__fail(r->err, RVM_ERR_FORMAT, r->name, 0, 0, "byte %zu: the file ends too early", size);
    return false;
}

static bool no_memory(reader *r) {
    if (r->status == RVM_OK) r->status = rvm__fail(r->err, RVM_ERR_MEMORY, r->name, 0, 0, "out of memory loading a program");
    return false;
}

/* What was read from `at` on is well formed. */
static bool sound(reader *r, const uint8_t *at, rvm_fault fault) {
    if (!fault.what) return true;
    r->at = at;
    return reject(r, fault.what, fault.value);
}

/* ---- numbers ---- */

static bool get_long_number(reader *r, uint64_t *out) {
    uint64_t x = 0;
    const uint8_t *at = r->at;
    for (int shift = 0; at < r->end; shift += 7) {
        uint8_t b = *at++;
        if (shift == 63 && b > 1) return reject(r, "a number has more than 64 bits, its last byte", b);
        x |= (uint64_t)(b & 127) << shift;
        if (b & 128) continue;
        if (shift && !b) return reject(r, "a number is written longer than it need be", x);
        r->at = at;
        *out = x;
        return true;
    }
    return truncated(r);
}

static inline bool get_number(reader *r, uint64_t *out) {
    if (r->at < r->end && *r->at < 128) {
        *out = *r->at++;
        return true;
    }
    return get_long_number(r, out);
}

/* A number below `limit`. */
static inline bool get_below(reader *r, uint64_t limit, const char *what, uint32_t *out) {
    const uint8_t *at = r->at;
    uint64_t x = 0;
    *out = 0;
    if (!get_number(r, &x)) return false;
    if (x >= limit) {
        r->at = at;
        return reject(r, what, x);
    }
    *out = (uint32_t)x;
    return true;
}

/* A count of things of at least `bytes` bytes each, at most `limit`. */
static bool get_count(reader *r, uint64_t limit, size_t bytes, const char *what, uint32_t *out) {
    const uint8_t *at = r->at;
    if (!get_below(r, limit + 1, what, out)) return false;
    if (*out <= (size_t)(r->end - r->at) / bytes) return true;
    r->at = at;
    return reject(r, what, *out);
}

/* base + a signed difference, in [0, limit). */
static bool get_offset(reader *r, uint64_t base, uint64_t limit, const char *what, uint32_t *out) {
    const uint8_t *at = r->at;
    uint64_t z = 0;
    *out = 0;
    if (!get_number(r, &z)) return false;
    uint64_t x = base + (z >> 1 ^ (z & 1 ? UINT64_MAX : 0));
    if (x < limit) {
        *out = (uint32_t)x;
        return true;
    }
    r->at = at;
    return reject(r, what, x);
}

static bool get_byte(reader *r, unsigned limit, const char *what, uint8_t *out) {
    if (r->at == r->end) return truncated(r);
    if (*r->at >= limit) return reject(r, what, *r->at);
    *out = *r->at++;
    return true;
}

static uint64_t fixed(const uint8_t *at, int size) {
    uint64_t x = 0;
    for (int k = 0; k < size; k++) x |= (uint64_t)at[k] << 8 * k;
    return x;
}

/* A string's bytes, in the file. */
static bool get_string(reader *r, const char **s, size_t *length) {
    uint32_t n;
    if (!get_count(r, UINT32_MAX - 1, 1, "a name is longer than the file", &n)) return false;
    if (n && memchr(r->at, 0, n)) return reject(r, "a name holds a NUL, its length", n);
    *s = (const char *)r->at;
    *length = n;
    r->at += n;
    return true;
}

static bool get_name(reader *r, bool (*is_name)(const char *name, size_t length), const char **s, size_t *length) {
    const uint8_t *at = r->at;
    if (!get_string(r, s, length)) return false;
    if (is_name(*s, *length)) return true;
    r->at = at;
    return reject(r, "a name is not a word, its length", *length);
}

#define MAKE(r, f, array, cap, n)                                                                                           \
    (rvm__grow(&(r)->p->al, (void **)&(f)->array, &(f)->cap, n, sizeof *(f)->array) || no_memory(r))

/* ---- types of function values, and variants ---- */

/* A type and a number of dimensions. */
static bool get_shape(reader *r, const char *what, uint8_t *type, uint8_t *ndim) {
    uint8_t b;
    if (!get_byte(r, 256, "", &b)) return false;
    *type = b & 15;
    *ndim = b >> 4;
    return *type < r->tables.types || reject(r, what, b);
}

static bool get_signature_param(reader *r, uint32_t number, rvm_param *q) {
    const uint8_t *at = r->at;
    uint32_t signature;
    *q = (rvm_param){.role = 0};
    if (!get_shape(r, "a parameter of unknown type", &q->type, &q->ndim)) return false;
    if (!get_byte(r, 256, "", &q->role)) return false;
    if (!get_below(r, UINT16_MAX, "the type of a parameter is no earlier type", &signature)) return false;
    q->signature = (uint16_t)signature;
    return sound(r, at, rvm__signature_param_fault(number, q));
}

static bool get_signatures(reader *r) {
    uint32_t n, nparams;
    rvm_param params[RVM_MAX_PARAMS];
    if (!get_count(r, RVM_MAX_SIGNATURES, 1, "too many types of function values", &n)) return false;
    if (!MAKE(r, r->p, signatures, cap_signatures, n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t size = 1;
        if (!get_count(r, RVM_MAX_SIGNATURE_PARAMS, 3, "too many parameters", &nparams)) return false;
        for (uint32_t i = 0; i < nparams; i++) {
            if (!get_signature_param(r, k, params + i)) return false;
            size += 1 + (params[i].signature ? r->p->signatures[params[i].signature - 1].size : 0);
            if (size > RVM_MAX_SIGNATURE_SIZE) return reject(r, "a type is too large", size);
        }
        int64_t got = rvm__program_add_signature(r->p, params, nparams);
        if (got < 0) return no_memory(r);
        if (got != k) return reject(r, "a type appears a second time", k);
    }
    return true;
}

static bool get_derived(reader *r, uint32_t variant) {
    uint32_t n, fn = 0, more, derived;
    if (!get_count(r, r->p->nfunctions, 2, "more derived functions than functions", &n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        if (!get_below(r, r->p->nfunctions - fn, "no function has this number", &more)) return false;
        if (k && !more) return reject(r, "a function has two derived ones", fn);
        fn += more;
        if (!get_below(r, r->p->nfunctions, "no function has this number", &derived)) return false;
        if (!rvm__variant_set(r->p, variant, fn, derived)) return no_memory(r);
    }
    return true;
}

/* Of a variant that is not its own parent, what it is derived by. */
static bool get_derivation(reader *r, rvm_variant *v) {
    const uint32_t n = r->p->signatures[r->p->variants[v->parent].signature].nparams;
    uint8_t ways;
    if (!get_byte(r, 256, "", &v->kind) || !get_byte(r, 256, "", &v->level)) return false;
    if (!get_byte(r, RVM__VARIANT_WAYS, "no variant is derived in such a way", &ways)) return false;
    rvm__variant_take_ways(v, ways);
    if (!get_below(r, r->p->nsignatures, "no type has this number", &v->signature)) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!get_byte(r, 256, "", v->active + k)) return false;
    return true;
}

static bool get_variant(reader *r, uint32_t number) {
    const uint8_t *at = r->at;
    uint8_t active[RVM_MAX_PARAMS];
    rvm_variant v = {.active = active};
    if (!get_below(r, r->p->nsignatures, "no type has this number", &v.of)) return false;
    if (!get_offset(r, number, number + 1, "the parent of a variant stands before it", &v.parent)) return false;
    const bool itself = v.parent == number;
    v.signature = v.of;
    if (!itself && !get_derivation(r, &v)) return false;
    if (!sound(r, at, rvm__variant_fault(r->p, &v, number))) return false;
    const int64_t got = itself ? rvm__program_add_variant(r->p, v.of) : rvm__variant_make(r->p, &v);
    if (got < 0) return no_memory(r);
    if (got != number) return reject(r, "a variant appears a second time", number);
    return itself || get_derived(r, number);
}

static bool get_variants(reader *r) {
    uint32_t n;
    if (!get_count(r, RVM_MAX_VARIANTS, 2, "too many variants", &n)) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!get_variant(r, k)) return false;
    return true;
}

/* ---- declarations ---- */

static bool get_types(reader *r, rvm_function *f) {
    uint32_t n;
    if (!get_count(r, RVM_MAX_REGS, 1, "too many registers", &n) || !MAKE(r, f, reg_type, cap_regs, n)) return false;
    for (; f->nregs < n; f->nregs++)
        if (!get_byte(r, r->tables.types, "unknown type of a register", f->reg_type + f->nregs)) return false;
    return true;
}

static bool get_consts(reader *r, rvm_function *f) {
    uint32_t n;
    if (!get_count(r, RVM_MAX_CONSTS, 9, "too many constants", &n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        uint8_t type;
        if (!get_byte(r, r->tables.types, "unknown type of a constant", &type)) return false;
        if (r->end - r->at < 8) return truncated(r);
        rvm_value v = {.u = fixed(r->at, 8)};
        int64_t got = rvm__function_add_const(r->p, f, (rvm_type)type, v);
        if (got < 0) return no_memory(r);
        if (got != k) return reject(r, "a constant appears a second time", k);
        r->at += 8;
    }
    return true;
}

static bool get_arrays(reader *r, rvm_function *f) {
    uint32_t n;
    if (!get_count(r, RVM_MAX_ARRAYS, 1, "too many arrays", &n) || !MAKE(r, f, arrays, cap_arrays, n)) return false;
    for (; f->narrays < n; f->narrays++) {
        const uint8_t *at = r->at;
        rvm_array_decl d;
        if (!get_shape(r, "an array of unknown type", &d.type, &d.ndim)) return false;
        if (!sound(r, at, rvm__array_fault(d))) return false;
        f->arrays[f->narrays] = d;
    }
    return true;
}

static bool get_param(reader *r, rvm_function *f, uint32_t next[2]) {
    const uint8_t *at = r->at;
    const char *name;
    size_t length;
    uint8_t b;
    uint32_t slot;
    if (!get_name(r, rvm__is_place_name, &name, &length)) return false;
    if (!get_byte(r, 16, "unknown kind of a parameter", &b)) return false;
    bool is_array = b & 1;
    rvm_param q = {.role = b >> 1 & 3, .index = (uint16_t)next[is_array]};
    if (q.index >= (is_array ? f->narrays : f->nregs)) return reject(r, "a parameter without a register or array", q.index);
    q.type = is_array ? f->arrays[q.index].type : f->reg_type[q.index];
    q.ndim = is_array ? f->arrays[q.index].ndim : 0;
    for (int d = 0; d < q.ndim; d++) {
        if (!get_below(r, UINT16_MAX, "the length of a parameter is no slot", &slot)) return false;
        q.dim[d] = (uint16_t)slot;
    }
    if (b & 8) {
        if (!get_below(r, r->p->nsignatures, "no type has this number", &slot)) return false;
        q.signature = (uint16_t)(slot + 1);
    }
    const int64_t got = rvm__function_add_param(r->p, f, &q, name, length);
    return got < 0 ? no_memory(r) : sound(r, at, rvm__param_fault(r->p, f, f->params + got, next));
}

static bool get_params(reader *r, rvm_function *f) {
    uint32_t n;
    uint32_t next[2] = {0, 0};
    if (!get_count(r, RVM_MAX_PARAMS, 3, "too many parameters", &n)) return false;
    for (uint32_t k = 0; k < n; k++)
        if (!get_param(r, f, next)) return false;
    return true;
}

/* ---- code ---- */

static inline bool get_slot(reader *r, const rvm_function *f, uint16_t *out) {
    uint32_t slot;
    if (!get_below(r, f->nregs + f->nconsts, "neither a register nor a constant", &slot)) return false;
    *out = (uint16_t)slot;
    return true;
}

static inline bool get_place(reader *r, const rvm_function *f, rvm_place *q) {
    uint32_t x;
    if (!get_below(r, UINT32_C(4) << 16, "a place outside the format", &x)) return false;
    *q = (rvm_place){.kind = x & 3, .slot = (uint16_t)(x >> 2)};
    _Static_assert(RVM_PLACE_KIND_COUNT == 4, "a kind is two bits");
    uint32_t slots = f->nregs + f->nconsts;
    switch ((rvm_place_kind)q->kind) {
    case RVM_PLACE_KIND_COUNT: break;
    case RVM_PLACE_SLOT: return q->slot < slots || reject(r, "neither a register nor a constant", q->slot);
    case RVM_PLACE_ARRAY: return q->slot < f->narrays || reject(r, "no array has this number", q->slot);
    case RVM_PLACE_RANGE:
        q->nidx = 1;
        if (q->slot >= slots) return reject(r, "neither a register nor a constant", q->slot);
        break;
    case RVM_PLACE_ELEM:
        if (q->slot >= f->narrays) return reject(r, "no array has this number", q->slot);
        q->nidx = f->arrays[q->slot].ndim;
        break;
    }
    for (int k = 0; k < q->nidx; k++)
        if (!get_slot(r, f, q->idx + k)) return false;
    return true;
}

/* What is the same for all instructions of an op. */
typedef struct op_shape {
    char target;
    bool varies;
} op_shape;

static bool get_insn(reader *r, const op_shape *shapes, uint32_t pc, uint32_t ncode, rvm_insn *in) {
    if (r->end - r->at < 2) return truncated(r);
    *in = (rvm_insn){.op = r->at[0], .flags = r->at[1]};
    if (in->op >= 2 * r->tables.pairs || !rvm__op_info[in->op].name) return reject(r, "unknown instruction", in->op);
    if (in->flags & ~rvm__op_flags((rvm_op)in->op)) return reject(r, "unknown flags", in->flags);
    r->at += 2;
    rvm_op op = (rvm_op)in->op;
    const op_shape *shape = shapes + op;
    if (rvm__op_is_update(op) && !get_byte(r, r->tables.rows, "unknown row of an update", &in->row)) return false;
    if (shape->varies) {
        uint32_t n;
        if (!get_below(r, UINT8_MAX + 1, "too many places", &n)) return false;
        in->nplaces = (uint8_t)n;
    } else
        in->nplaces = (uint8_t)rvm__op_places(op, (rvm_row)in->row, in->flags);
    if (shape->target == 'L') return get_offset(r, pc, ncode, "a target outside the function", &in->target);
    if (shape->target == 'S') return get_below(r, r->p->nvariants, "no variant has this number", &in->target);
    return shape->target != 'F' || get_below(r, r->p->nfunctions, "no function has this number", &in->target);
}

static bool get_code(reader *r, rvm_function *f, const op_shape *shapes) {
    uint32_t ncode, nplaces;
    if (!get_count(r, INT32_MAX, 2, "too many instructions", &ncode)) return false;
    if (!get_count(r, INT32_MAX, 1, "too many places", &nplaces)) return false;
    if (!rvm__grow_two(&r->p->al, (void **)&f->code, sizeof *f->code, (void **)&f->positions, sizeof *f->positions,
                       &f->cap_code, ncode))
        return no_memory(r);
    if (!MAKE(r, f, places, cap_places, nplaces)) return false;
    for (; f->ncode < ncode; f->ncode++) {
        rvm_insn *in = f->code + f->ncode;
        if (!get_insn(r, shapes, f->ncode, ncode, in)) return false;
        if (in->nplaces > nplaces - f->nplaces) return reject(r, "more places than were announced", nplaces);
        in->places = f->nplaces;
        for (int k = 0; k < in->nplaces; k++)
            if (!get_place(r, f, f->places + f->nplaces++)) return false;
    }
    return f->nplaces == nplaces || reject(r, "fewer places than were announced", nplaces);
}

/* ---- positions and symbols ---- */

static bool get_positions(reader *r, rvm_function *f) {
    rvm_position last = {0, 0, 0};
    for (uint32_t pc = 0; pc < f->ncode;) {
        const uint8_t *start = r->at;
        uint32_t run, file, line, column;
        if (!get_below(r, (uint64_t)f->ncode - pc + 1, "positions of more instructions than there are", &run)) return false;
        if (!get_offset(r, last.file, 65536, "no file has this number", &file)) return false;
        if (!get_offset(r, last.line, UINT64_C(1) << 32, "a line outside the format", &line)) return false;
        if (!get_below(r, 65536, "a column outside the format", &column)) return false;
        rvm_position at = {.line = line, .column = (uint16_t)column, .file = (uint16_t)file};
        if (!sound(r, start, rvm__position_fault(r->p, at))) return false;
        bool same = pc && at.line == last.line && at.column == last.column && at.file == last.file;
        if (!run || same) return reject(r, "a run of positions is empty or goes on the last one, its length", run);
        for (uint32_t end = pc + run; pc < end; pc++) f->positions[pc] = at;
        last = at;
    }
    return true;
}

static bool get_symbol(reader *r, rvm_function *f) {
    const uint8_t *at = r->at;
    const char *name;
    size_t length;
    uint32_t from = f->nsymbols ? f->symbols[f->nsymbols - 1].from : 0, more, span, x;
    if (!get_name(r, rvm__is_place_name, &name, &length)) return false;
    if (!get_below(r, (uint64_t)UINT32_MAX - from + 1, "a symbol starts outside the code", &more)) return false;
    from += more;
    if (!get_below(r, (uint64_t)UINT32_MAX - from + 1, "a symbol ends outside the code", &span)) return false;
    if (!get_below(r, UINT32_C(2) << 16, "a symbol of no place", &x)) return false;
    const rvm_symbol s = {.is_array = x & 1, .index = (uint16_t)(x >> 1), .from = from, .to = from + span};
    const int64_t got = rvm__function_add_symbol(r->p, f, &s, name, length);
    if (got < 0) return no_memory(r);
    return sound(r, at, rvm__symbol_fault(f, f->symbols + got)) && sound(r, at, rvm__symbol_order_fault(f, (uint32_t)got));
}

static bool get_symbols(reader *r, rvm_function *f) {
    uint32_t n;
    if (!get_count(r, INT32_MAX, 5, "too many symbols", &n) || !MAKE(r, f, symbols, cap_symbols, n)) return false;
    while (f->nsymbols < n)
        if (!get_symbol(r, f)) return false;
    return true;
}

/* ---- the body ---- */

static bool get_files(reader *r) {
    uint32_t n;
    if (!get_count(r, RVM_MAX_FILES, 1, "too many files", &n) || !MAKE(r, r->p, files, cap_files, n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        const char *s;
        size_t length;
        if (!get_string(r, &s, &length)) return false;
        char *copy = rvm__strdup(&r->p->al, s, length);
        if (!copy) return no_memory(r);
        int64_t got = rvm__program_add_file(r->p, copy);
        rvm__strfree(&r->p->al, copy);
        if (got < 0) return no_memory(r);
        if (got != k) return reject(r, "a file appears a second time", k);
    }
    return true;
}

static bool get_function_names(reader *r) {
    uint32_t n;
    if (!get_count(r, INT32_MAX, 9, "too many functions", &n) || !MAKE(r, r->p, functions, cap_functions, n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        const char *s;
        size_t length;
        if (!get_name(r, rvm__is_word, &s, &length)) return false;
        if (rvm__program_find(r->p, s, length) >= 0)
            return reject(r, "two functions have one name, the second is number", k);
        if (rvm__program_add_function(r->p, s, length) < 0) return no_memory(r);
    }
    return true;
}

static bool get_rule(reader *r, uint32_t *fn) {
    const uint8_t *at = r->at;
    rvm_rule rule = {0};
    uint32_t more;
    if (!get_below(r, r->p->nfunctions - *fn, "no function has this number", &more)) return false;
    rule.fn = *fn += more;
    if (!get_below(r, r->p->nfunctions, "no function has this number", &rule.of)) return false;
    if (!get_byte(r, 256, "", &rule.kind)) return false;
    rule.nactive = r->p->functions[rule.of].nparams;
    for (uint32_t k = 0; k < rule.nactive; k++)
        if (!get_byte(r, 2, "a parameter is neither active nor not", rule.active + k)) return false;
    if (!sound(r, at, rvm__rule_fault(r->p, &rule))) return false;
    return rvm__program_add_rule(r->p, &rule) || no_memory(r);
}

static bool get_rules(reader *r) {
    uint32_t n, fn = 0;
    if (!get_count(r, r->p->nfunctions, 3, "more rules than functions", &n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t last = fn;
        if (!get_rule(r, &fn)) return false;
        if (k && fn == last) return reject(r, "a function is the derivative of two", fn);
    }
    return true;
}

static bool get_prints(reader *r) {
    uint32_t n, fn = 0, more;
    if (!get_count(r, r->p->nfunctions, 2, "more that show their arguments than functions", &n)) return false;
    for (uint32_t k = 0; k < n; k++) {
        const uint8_t *at = r->at;
        const char *s;
        size_t length;
        if (!get_below(r, r->p->nfunctions - fn, "no function has this number", &more)) return false;
        if (k && !more) return reject(r, "a function shows its arguments twice", fn);
        fn += more;
        if (!get_string(r, &s, &length)) return false;
        if (!rvm__program_add_print(r->p, fn, s, length)) return no_memory(r);
        if (!sound(r, at, rvm__print_fault(r->p, k))) return false;
    }
    return true;
}

static bool get_body(reader *r) {
    op_shape shapes[RVM_OP_LIMIT] = {{0, false}};
    for (int op = 0; op < RVM_OP_LIMIT; op++)
        if (rvm__op_info[op].name)
            shapes[op] = (op_shape){rvm__op_target((rvm_op)op), rvm__op_places((rvm_op)op, RVM_ROW_id, 0) < 0};
    if (!get_files(r) || !get_function_names(r) || !get_signatures(r) || !get_variants(r)) return false;
    for (uint32_t k = 0; k < r->p->nfunctions; k++) {
        rvm_function *f = r->p->functions + k;
        if (!get_types(r, f) || !get_consts(r, f) || !get_arrays(r, f) || !get_params(r, f) || !get_code(r, f, shapes) ||
            !get_positions(r, f) || !get_symbols(r, f))
            return false;
    }
    if (!get_rules(r) || !get_prints(r)) return false;
    return r->at == r->end || reject(r, "bytes behind the last function", (uint64_t)(r->end - r->at));
}

/* ---- the header ---- */

static bool other_version(reader *r, const char *what, uint64_t theirs, uint64_t ours) {
    r->status =
        rvm__fail(r->err, RVM_ERR_VERSION, r->name, 0, 0,
                  "this bytecode %s (%" PRIx64 ", of this library %" PRIx64 "): assemble it again", what, theirs, ours);
    return false;
}

static bool check_tables(reader *r) {
    const uint8_t *b = r->start;
    const rvm_tables all = rvm__tables;
    r->tables = (rvm_tables){.types = (uint16_t)fixed(b + RVM_RBC_AT_TYPES, 2),
                             .pairs = (uint16_t)fixed(b + RVM_RBC_AT_PAIRS, 2),
                             .rows = (uint16_t)fixed(b + RVM_RBC_AT_ROWS, 2)};
    const uint64_t theirs = fixed(b + RVM_RBC_AT_TABLES, 8);
    if (r->tables.types > all.types || r->tables.pairs > all.pairs || r->tables.rows > all.rows)
        return other_version(r, "was made with larger tables of instructions", theirs, rvm__tables_fingerprint(all));
    const uint64_t ours = rvm__tables_fingerprint(r->tables);
    return ours == theirs || other_version(r, "was made with other tables of instructions", theirs, ours);
}

static bool check_header(reader *r, size_t size) {
    const uint8_t *b = r->start;
    if (size < 4 || memcmp(b, RVM_RBC_MAGIC, 4) != 0) {
        r->status = rvm__fail(r->err, RVM_ERR_FORMAT, r->name, 0, 0, "not a bytecode file");
        return false;
    }
    if (size < RVM_RBC_AT_VERSION + 2) return truncated(r);
    const uint64_t version = fixed(b + RVM_RBC_AT_VERSION, 2);
    if (version != RVM_RBC_VERSION) return other_version(r, "has a container of another version", version, RVM_RBC_VERSION);
    if (size < RVM_RBC_HEADER) return truncated(r);
    if (!check_tables(r)) return false;
    r->at = b + RVM_RBC_AT_LENGTH;
    const uint64_t length = fixed(r->at, 8);
    if (length != size - RVM_RBC_HEADER)
        return length > size - RVM_RBC_HEADER ? reject(r, "the file is truncated: more bytes belong to its body", length)
                                              : reject(r, "bytes behind the body, whose length is", length);
    r->at = b + RVM_RBC_AT_HASH;
    uint64_t hash = XXH3_64bits(b + RVM_RBC_HEADER, size - RVM_RBC_HEADER);
    if (hash != fixed(r->at, 8)) return reject(r, "the file is damaged: its body has another checksum", hash);
    r->at = b + RVM_RBC_HEADER;
    return true;
}

rvm_status rvm__decode(const void *bytes, size_t size, const char *name, const rvm_allocator *al, rvm_program **out,
                       rvm_error *err) {
    if (!bytes) bytes = "", size = 0;
    reader r = {.start = bytes, .at = bytes, .end = (const uint8_t *)bytes + size, .name = name, .err = err};
    *out = NULL;
    if (!check_header(&r, size)) return r.status;
    r.p = rvm__program_new(al);
    if (!r.p) {
        no_memory(&r);
        return r.status;
    }
    if (!get_body(&r)) {
        rvm_program_free(r.p);
        return r.status;
    }
    rvm__body_id(bytes, size, r.p->id);
    r.p->roles_claimed = true;
    *out = r.p;
    return RVM_OK;
}

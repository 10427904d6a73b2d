/* encode.c: a program as the bytes of rbc.h. The program is verified: so the format can say it (wellformed.h). */
#include "support.h"
#include "rbc.h"
#include <string.h>
#include <xxhash.h>

typedef struct writer {
    const rvm_allocator *al;
    uint8_t *bytes;
    size_t size, cap;
    bool failed; /* out of memory */
} writer;

static bool room(writer *w, size_t n) {
    if (w->failed) return false;
    if (w->size + n <= w->cap) return true;
    size_t cap = w->cap * 2 > w->size + n ? w->cap * 2 : w->size + n + 4096;
    uint8_t *grown = rvm__realloc(w->al, w->bytes, w->cap, cap);
    if (!grown) {
        w->failed = true;
        return false;
    }
    w->bytes = grown;
    w->cap = cap;
    return true;
}

static void put_bytes(writer *w, const void *bytes, size_t n) {
    if (!n || !room(w, n)) return;
    memcpy(w->bytes + w->size, bytes, n);
    w->size += n;
}

static void put_byte(writer *w, unsigned b) {
    if (room(w, 1)) w->bytes[w->size++] = (uint8_t)b;
}

static void put_fixed(writer *w, uint64_t x, int size) {
    for (int k = 0; k < size; k++) put_byte(w, (unsigned)(x >> 8 * k & 255));
}

static void put_number(writer *w, uint64_t x) {
    for (; x >= 128; x >>= 7) put_byte(w, (unsigned)(x & 127) | 128);
    put_byte(w, (unsigned)x);
}

static void put_signed(writer *w, int64_t x) {
    put_number(w, (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0));
}

static void put_string(writer *w, const char *s) {
    size_t n = strlen(s);
    put_number(w, n);
    put_bytes(w, s, n);
}

/* ---- types and variants ---- */

static void put_signature(writer *w, const rvm_signature *s) {
    put_number(w, s->nparams);
    for (uint32_t k = 0; k < s->nparams; k++) {
        put_byte(w, s->params[k].type | s->params[k].ndim << 4);
        put_byte(w, s->params[k].role);
        put_number(w, s->params[k].signature);
    }
}

static void put_variant(writer *w, const rvm_program *p, uint32_t variant) {
    const rvm_variant *v = p->variants + variant;
    uint32_t nactive = p->signatures[p->variants[v->parent].signature].nparams;
    put_number(w, v->of);
    put_signed(w, (int64_t)v->parent - variant);
    if (v->parent == variant) return;
    put_byte(w, v->kind);
    put_byte(w, v->level);
    put_byte(w, (uint8_t)rvm__variant_ways(v));
    put_number(w, v->signature);
    for (uint32_t k = 0; k < nactive; k++) put_byte(w, v->active[k]);
    put_number(w, v->nderived);
    for (uint32_t k = 0; k < v->nderived; k++) {
        put_number(w, v->derived[k].fn - (k ? v->derived[k - 1].fn : 0));
        put_number(w, v->derived[k].derived);
    }
}

/* ---- functions ---- */

static void put_declarations(writer *w, const rvm_function *f) {
    put_number(w, f->nregs);
    put_bytes(w, f->reg_type, f->nregs);
    put_number(w, f->nconsts);
    for (uint32_t k = 0; k < f->nconsts; k++) {
        put_byte(w, f->const_type[k]);
        put_fixed(w, f->consts[k].u, 8);
    }
    put_number(w, f->narrays);
    for (uint32_t k = 0; k < f->narrays; k++) put_byte(w, f->arrays[k].type | f->arrays[k].ndim << 4);
    put_number(w, f->nparams);
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = f->params + k;
        put_string(w, q->name);
        put_byte(w, (q->ndim > 0) | q->role << 1 | (q->signature > 0) << 3);
        for (int d = 0; d < q->ndim; d++) put_number(w, q->dim[d]);
        if (q->signature) put_number(w, q->signature - 1u);
    }
}

static void put_place(writer *w, const rvm_place *p) {
    put_number(w, p->kind | (uint32_t)p->slot << 2);
    int n = p->kind == RVM_PLACE_ELEM ? p->nidx : p->kind == RVM_PLACE_RANGE;
    for (int k = 0; k < n; k++) put_number(w, p->idx[k]);
}

static void put_code(writer *w, const rvm_function *f) {
    uint32_t places = 0;
    RVM__EACH_INSN(x, f) places += x.in->nplaces;
    put_number(w, f->ncode);
    put_number(w, places);
    RVM__EACH_INSN(x, f) {
        const rvm_insn *in = x.in;
        rvm_op op = (rvm_op)in->op;
        put_byte(w, in->op);
        put_byte(w, in->flags);
        if (rvm__op_is_update(op)) put_byte(w, in->row);
        if (rvm__op_places(op, (rvm_row)in->row, in->flags) < 0) put_number(w, in->nplaces);
        if (rvm__op_target(op) == 'L') put_signed(w, (int64_t)in->target - x.pc);
        if (rvm__op_target(op) == 'F' || rvm__op_target(op) == 'S') put_number(w, in->target);
        for (int k = 0; k < in->nplaces; k++) put_place(w, x.q + k);
    }
}

static bool same_position(rvm_position a, rvm_position b) {
    return a.line == b.line && a.column == b.column && a.file == b.file;
}

static void put_positions(writer *w, const rvm_function *f) {
    rvm_position last = {0, 0, 0};
    for (uint32_t pc = 0, end; pc < f->ncode; pc = end) {
        rvm_position at = f->positions[pc];
        for (end = pc + 1; end < f->ncode && same_position(at, f->positions[end]); end++) {}
        put_number(w, end - pc);
        put_signed(w, (int64_t)at.file - last.file);
        put_signed(w, (int64_t)at.line - last.line);
        put_number(w, at.column);
        last = at;
    }
}

static void put_symbols(writer *w, const rvm_function *f) {
    put_number(w, f->nsymbols);
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        const rvm_symbol *s = f->symbols + k;
        put_string(w, s->name);
        put_number(w, s->from - (k ? s[-1].from : 0));
        put_number(w, s->to - s->from);
        put_number(w, s->is_array | (uint32_t)s->index << 1);
    }
}

static void put_rules(writer *w, const rvm_program *p) {
    put_number(w, p->nrules);
    for (uint32_t k = 0; k < p->nrules; k++) {
        const rvm_rule *r = p->rules + k;
        put_number(w, r->fn - (k ? r[-1].fn : 0));
        put_number(w, r->of);
        put_byte(w, r->kind);
        for (uint32_t i = 0; i < r->nactive; i++) put_byte(w, r->active[i]);
    }
}

static void put_body(writer *w, const rvm_program *p) {
    put_number(w, p->nfiles);
    for (uint32_t k = 0; k < p->nfiles; k++) put_string(w, p->files[k]);
    put_number(w, p->nfunctions);
    for (uint32_t k = 0; k < p->nfunctions; k++) put_string(w, p->functions[k].name);
    put_number(w, p->nsignatures);
    for (uint32_t k = 0; k < p->nsignatures; k++) put_signature(w, p->signatures + k);
    put_number(w, p->nvariants);
    for (uint32_t k = 0; k < p->nvariants; k++) put_variant(w, p, k);
    for (uint32_t k = 0; k < p->nfunctions; k++) {
        put_declarations(w, p->functions + k);
        put_code(w, p->functions + k);
        put_positions(w, p->functions + k);
        put_symbols(w, p->functions + k);
    }
    put_rules(w, p);
    put_number(w, p->nprints);
    for (uint32_t k = 0; k < p->nprints; k++) {
        put_number(w, p->prints[k].fn - (k ? p->prints[k - 1].fn : 0));
        put_string(w, p->prints[k].text);
    }
}

static void put_header(writer *w, size_t body_size, uint64_t hash) {
    put_bytes(w, RVM_RBC_MAGIC, 4);
    put_fixed(w, RVM_RBC_VERSION, 2);
    put_fixed(w, rvm__tables.types, 2);
    put_fixed(w, rvm__tables.pairs, 2);
    put_fixed(w, rvm__tables.rows, 2);
    put_fixed(w, rvm__tables_fingerprint(rvm__tables), 8);
    put_fixed(w, body_size, 8);
    put_fixed(w, hash, 8);
}

rvm_status rvm__encode(const rvm_program *p, void **bytes, size_t *size, rvm_error *err) {
    writer w = {.al = &p->al};
    *bytes = NULL;
    *size = 0;
    if (!p->verified) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the program is not verified");
    put_header(&w, 0, 0);
    put_body(&w, p);
    if (w.failed) goto fail;
    uint8_t *exact = rvm__realloc(w.al, w.bytes, w.cap, w.size);
    if (!exact) goto fail;
    w.bytes = exact;
    w.cap = w.size;
    size_t body_size = w.size - RVM_RBC_HEADER;
    w.size = 0;
    put_header(&w, body_size, XXH3_64bits(exact + RVM_RBC_HEADER, body_size));
    *bytes = exact;
    *size = RVM_RBC_HEADER + body_size;
    return RVM_OK;
fail:
    rvm__realloc(w.al, w.bytes, w.cap, 0);
    return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory encoding a program");
}

void rvm_program_id(const rvm_program *p, uint64_t id[2]) {
    void *bytes;
    size_t size;
    if (!id) return;
    id[0] = p ? p->id[0] : 0;
    id[1] = p ? p->id[1] : 0;
    if (!p || id[0] | id[1] || rvm__encode(p, &bytes, &size, NULL) != RVM_OK) return;
    rvm__body_id(bytes, size, id);
    rvm_program_free_bytes(p, bytes, size);
}

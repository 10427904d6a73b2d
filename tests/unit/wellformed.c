/* wellformed.c: what verifies can be encoded, and comes back from its bytes as the same program: whatever is in any field of
 * a program in memory, and whatever number stands in raw text. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "program.h"

static const char values_text[] = "fn square(y: real, x: real)\n"
                                  "    y += x ^ 2\n"
                                  "end\n"
                                  "fn apply(g: fn(acc real, read real), y: real[n], x: real[n])\n"
                                  "    for i in 0..n\n"
                                  "        compute\n"
                                  "            let t ~ 1e-3 = 2 * x[i]\n"
                                  "        do\n"
                                  "            call g(y[i], t)\n"
                                  "        undo\n"
                                  "    end\n"
                                  "end\n"
                                  "fn main(y: real[n], x: real[n])\n"
                                  "    call apply(&square, y, x)\n"
                                  "end\n";

/* The property itself. Returns whether p verifies. */
static bool comes_back(rvm_program *p, const char *what) {
    rvm_program *q = NULL;
    rvm_error e = {0};
    void *bytes = NULL;
    size_t size;
    uint64_t a[2], b[2];
    p->id[0] = p->id[1] = 0;
    if (rvm__verify(p, &e)) {
        cr_assert(e.message[0], "%s", what);
        return false;
    }
    cr_assert(rvm_program_save(p, &bytes, &size, &e) == RVM_OK, "%s: %s", what, e.message);
    cr_assert(rvm_program_load(bytes, size, "again.rbc", NULL, &q, &e) == RVM_OK, "%s: %s", what, e.message);
    rvm_program_id(p, a);
    rvm_program_id(q, b);
    cr_assert(a[0] | a[1], "%s: no identity", what);
    cr_assert(a[0] == b[0] && a[1] == b[1], "%s", what);
    rvm_program_free(q);
    rvm_program_free_bytes(p, bytes, size);
    return true;
}

/* ---- every field ---- */

typedef struct field {
    void *at;
    size_t size;
    bool is_count; /* of what there is memory for: only made smaller */
    const char *name;
} field;
typedef struct fields {
    field *list;
    size_t n, cap;
} fields;

static void add_field(fields *to, void *at, size_t size, bool is_count, const char *name) {
    if (to->n == to->cap) to->list = realloc(to->list, (to->cap = 2 * to->cap + 64) * sizeof *to->list);
    to->list[to->n++] = (field){at, size, is_count, name};
}

#define FIELD(x) add_field(to, &(x), sizeof(x), false, #x)
#define COUNT(x) add_field(to, &(x), sizeof(x), true, #x)
#define EACH(k, n, ...)                                                                                                     \
    for (uint32_t k = 0; k < (n); k++) { __VA_ARGS__; }

static void add_param(fields *to, rvm_param *q) {
    FIELD(q->type), FIELD(q->ndim), FIELD(q->role), FIELD(q->signature), FIELD(q->index);
    EACH(d, RVM_MAX_DIMS, FIELD(q->dim[d]));
}

static void add_function(fields *to, rvm_function *f) {
    COUNT(f->nparams), COUNT(f->nregs), COUNT(f->nconsts), COUNT(f->narrays), COUNT(f->ncode), COUNT(f->nplaces);
    COUNT(f->nsymbols), FIELD(f->name[0]);
    EACH(k, f->nparams, add_param(to, f->params + k); FIELD(f->params[k].name[0]));
    EACH(k, f->nregs, FIELD(f->reg_type[k]));
    EACH(k, f->nconsts, FIELD(f->const_type[k]); FIELD(f->consts[k].u));
    EACH(k, f->narrays, FIELD(f->arrays[k].type); FIELD(f->arrays[k].ndim));
    EACH(k, f->ncode, FIELD(f->code[k].op); FIELD(f->code[k].row); FIELD(f->code[k].flags); FIELD(f->code[k].nplaces);
         FIELD(f->code[k].places); FIELD(f->code[k].target); FIELD(f->positions[k].line); FIELD(f->positions[k].column);
         FIELD(f->positions[k].file));
    EACH(k, f->nplaces, rvm_place *q = f->places + k; FIELD(q->kind); FIELD(q->nidx); FIELD(q->slot); FIELD(q->idx[0]);
         FIELD(q->idx[1]));
    EACH(k, f->nsymbols, rvm_symbol *s = f->symbols + k; FIELD(s->index); FIELD(s->from); FIELD(s->to); FIELD(s->name[0]));
}

/* What a variant's list of active parameters is as long as stays: the parent, and the type of what others derive from. */
static void add_program(fields *to, rvm_program *p) {
    COUNT(p->nfiles);
    EACH(k, p->nfiles, FIELD(p->files[k][0]));
    EACH(k, p->nfunctions, add_function(to, p->functions + k));
    EACH(k, p->nsignatures, EACH(i, p->signatures[k].nparams, add_param(to, p->signatures[k].params + i)));
    EACH(k, p->nvariants, rvm_variant *v = p->variants + k; FIELD(v->of); FIELD(v->kind); FIELD(v->level);
         COUNT(v->nderived);
         EACH(i, v->active ? p->signatures[p->variants[v->parent].signature].nparams : 0, FIELD(v->active[i]));
         EACH(i, v->nderived, FIELD(v->derived[i].fn); FIELD(v->derived[i].derived)));
}

/* What verifying fills in goes back as well: it depends on the fields. */
typedef struct keeper {
    rvm_insn **code;
    rvm_param **params;
} keeper;

static void *copy_of(const void *from, size_t size) {
    void *copy = malloc(size + 1);
    cr_assert(copy);
    if (size) memcpy(copy, from, size);
    return copy;
}

static keeper keep(const rvm_program *p) {
    keeper k = {calloc(p->nfunctions, sizeof *k.code), calloc(p->nfunctions, sizeof *k.params)};
    for (uint32_t i = 0; i < p->nfunctions; i++) {
        k.code[i] = copy_of(p->functions[i].code, p->functions[i].ncode * sizeof **k.code);
        k.params[i] = copy_of(p->functions[i].params, p->functions[i].nparams * sizeof **k.params);
    }
    return k;
}

static void put_back(const keeper *k, rvm_program *p) {
    for (uint32_t i = 0; i < p->nfunctions; i++) {
        memcpy(p->functions[i].code, k->code[i], p->functions[i].ncode * sizeof **k->code);
        memcpy(p->functions[i].params, k->params[i], p->functions[i].nparams * sizeof **k->params);
    }
}

static void forget(keeper *k, const rvm_program *p) {
    for (uint32_t i = 0; i < p->nfunctions; i++) free(k->code[i]), free(k->params[i]);
    free(k->code), free(k->params);
}

static uint64_t value_for(const field *f, uint64_t old, int try, rng *r) {
    const uint64_t values[] = {0, 1, old + 1, old - 1, UINT64_MAX, rng_below(r, 16), rng_next(r)};
    const uint64_t value = values[try];
    return f->is_count ? rng_below(r, (uint32_t)old) : value;
}

static void try_fields(rvm_program *p, unsigned *passed, unsigned *refused) {
    fields all = {0};
    rng r = {7};
    cr_assert(comes_back(p, "unchanged"));
    add_program(&all, p);
    keeper before = keep(p);
    for (size_t i = 0; i < all.n; i += TRY_ONE_IN)
        for (int try = 0; try < 7; try++) {
            const field *f = all.list + i;
            uint64_t old = 0;
            memcpy(&old, f->at, f->size); /* little-endian, as the bytes of a number below are */
            const uint64_t value = value_for(f, old, try, &r);
            memcpy(f->at, &value, f->size);
            char what[200];
            snprintf(what, sizeof what, "%s (field %zu) is %llu, was %llu", f->name, i, (unsigned long long)value,
                     (unsigned long long)old);
            *(comes_back(p, what) ? passed : refused) += 1;
            memcpy(f->at, &old, f->size);
            put_back(&before, p);
        }
    cr_assert(comes_back(p, "unchanged at the end"));
    forget(&before, p);
    free(all.list);
}

static rvm_program *assembled(const char *text) {
    report rep = {.name = "wellformed"};
    rvm_program *p = assemble_text(text, NULL, &rep);
    cr_assert(p);
    return p;
}

Test(wellformed, any_field, .timeout = 300) {
    unsigned passed = 0, refused = 0;
    rvm_program *p = assembled(sample_text);
    try_fields(p, &passed, &refused);
    rvm_program_free(p);
    cr_assert(passed > 100 && refused > passed / 4, "%u passed, %u refused", passed, refused);
}

/* With types of function values, variants and derived functions. */
Test(wellformed, any_field_of_a_derived_program, .timeout = 300) {
    unsigned passed = 0, refused = 0;
    rvm_program *p = assembled(values_text), *q;
    rvm_error e;
    uint32_t index;
    cr_assert(rvm_program_derive(p, "main'grad", &q, &index, &e) == RVM_OK, "%s", e.message);
    cr_assert(q->nvariants > 1);
    try_fields(q, &passed, &refused);
    rvm_program_free(q);
    rvm_program_free(p);
    cr_assert(passed > 100 && refused > passed / 4, "%u passed, %u refused", passed, refused);
}

/* ---- every number of the text ---- */

static char *disassembled(const rvm_program *p) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out && rvm_program_disassemble(p, -1, out, NULL) == RVM_OK);
    fclose(out);
    return text;
}

static const char *next_number(const char *at) {
    while (*at && (*at < '0' || *at > '9')) at++;
    return *at ? at : NULL;
}

static bool try_text(const char *text) {
    rvm_program *p = NULL;
    rvm_error e;
    if (rvm_assemble(text, strlen(text), "numbers.rasm", NULL, &p, &e, NULL, NULL)) return false;
    const bool good = comes_back(p, text);
    rvm_program_free(p);
    return good;
}

static void try_numbers(rvm_program *p) {
    static const char *const numbers[] = {"0", "1", "2", "9", "255", "65536", "2147483648", "4294967295"};
    unsigned passed = 0, refused = 0;
    char *text = disassembled(p), *other = malloc(strlen(text) + 32);
    cr_assert(other && try_text(text));
    for (const char *at = text; (at = next_number(at));) {
        const char *end = at + strspn(at, "0123456789");
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            snprintf(other, strlen(text) + 32, "%.*s%s%s", (int)(at - text), text, numbers[k], end);
            *(try_text(other) ? &passed : &refused) += 1;
        }
        at = end;
    }
    cr_assert(passed > 100 && refused > 100, "%u passed, %u refused", passed, refused);
    free(text), free(other);
}

Test(wellformed, any_number_of_raw_text, .timeout = 300) {
    rvm_program *p = assembled(values_text), *q;
    rvm_error e;
    uint32_t index;
    cr_assert(rvm_program_derive(p, "main'adj", &q, &index, &e) == RVM_OK, "%s", e.message);
    try_numbers(q);
    rvm_program_free(q);
    rvm_program_free(p);
}

/* Symbols are refused where they stand, with the reason. */
static void refused_symbol(const char *symbol, const char *why) {
    char text[300];
    rvm_program *p;
    rvm_error e;
    snprintf(text, sizeof text,
             "raw fn f\n    .reg i64\n    .param x %%0\n    .symbol %s\n    start\n    inc %%0\n    halt\nend\n", symbol);
    cr_assert(rvm_assemble(text, strlen(text), "symbol.rasm", NULL, &p, &e, NULL, NULL) == RVM_ERR_TYPE, "%s", symbol);
    cr_assert(e.line == 4 && strstr(e.message, why), "%u: %s", e.line, e.message);
}

Test(wellformed, symbols) {
    refused_symbol("x %0 0 9", "a symbol ends outside the code (9)");
    refused_symbol("x %0 4 9", "a symbol starts outside the code (4)");
    refused_symbol("x %0 2 1", "a symbol ends before it starts (1)");
}

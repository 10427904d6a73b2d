/* builder.c: programs in the making.
 *
 * While a function is built, constant k is slot RVM_BUILD_CONST + k, since the number of registers is not known yet;
 * rvm__function_finish turns that into nregs + k. Equal constants are one, so that text which writes them out names them.
 */
#include "builder.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define GROW(p, f, array, cap, need) rvm__grow(&(p)->al, (void **)&(f)->array, &(f)->cap, need, sizeof *(f)->array)

/* ---- index ---- */

typedef uint64_t hash_of(const void *owner, uint32_t k);

/* Room for one element more than the `count` there are. */
static bool index_room(const rvm_allocator *al, rvm_index *index, uint32_t count, const void *owner, hash_of *hash) {
    if (((uint64_t)count + 1) * 2 <= index->cap) return true;
    uint32_t cap = index->cap ? index->cap * 2 : 16;
    uint32_t *slots = cap ? rvm__realloc(al, NULL, 0, cap * sizeof *slots) : NULL;
    if (!slots) return false;
    memset(slots, 0, cap * sizeof *slots);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t at = (uint32_t)hash(owner, k) & (cap - 1);
        while (slots[at]) at = (at + 1) & (cap - 1);
        slots[at] = k + 1;
    }
    rvm__realloc(al, index->slots, index->cap * sizeof *slots, 0);
    *index = (rvm_index){slots, cap};
    return true;
}

static void index_free(const rvm_allocator *al, rvm_index *index) {
    rvm__realloc(al, index->slots, index->cap * sizeof *index->slots, 0);
    *index = (rvm_index){NULL, 0};
}

/* ---- programs ---- */

rvm_program *rvm__program_new(const rvm_allocator *al) {
    if (!al) al = &rvm__libc_allocator;
    rvm_program *p = rvm__realloc(al, NULL, 0, sizeof *p);
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->al = *al;
    return p;
}

static void function_free(const rvm_allocator *al, rvm_function *f) {
    rvm__strfree(al, f->name);
    for (uint32_t k = 0; k < f->nparams; k++) rvm__strfree(al, f->params[k].name);
    for (uint32_t k = 0; k < f->nsymbols; k++) rvm__strfree(al, f->symbols[k].name);
    rvm__realloc(al, f->params, f->cap_params * sizeof *f->params, 0);
    rvm__realloc(al, f->reg_type, f->cap_regs * sizeof *f->reg_type, 0);
    rvm__realloc(al, f->const_type, f->cap_consts * sizeof *f->const_type, 0);
    rvm__realloc(al, f->consts, f->cap_consts * sizeof *f->consts, 0);
    rvm__realloc(al, f->arrays, f->cap_arrays * sizeof *f->arrays, 0);
    rvm__realloc(al, f->code, f->cap_code * sizeof *f->code, 0);
    rvm__realloc(al, f->positions, f->cap_code * sizeof *f->positions, 0);
    rvm__realloc(al, f->places, f->cap_places * sizeof *f->places, 0);
    rvm__realloc(al, f->symbols, f->cap_symbols * sizeof *f->symbols, 0);
    rvm__realloc(al, f->webs, f->cap_webs * sizeof *f->webs, 0);
    rvm__realloc(al, f->roots, f->cap_webs * sizeof *f->roots, 0);
    index_free(al, &f->const_index);
}

static void variant_free(const rvm_allocator *al, rvm_variant *v, const rvm_program *p) {
    if (v->active) rvm__realloc(al, v->active, p->signatures[p->variants[v->parent].signature].nparams, 0);
    rvm__realloc(al, v->derived, v->cap_derived * sizeof *v->derived, 0);
}

void rvm__callgraph_free(const rvm_allocator *al, rvm__callgraph *g) {
    if (g->order) rvm__realloc(al, g->order, rvm__callgraph_size(g->n), 0);
    *g = (rvm__callgraph){0};
}

void rvm_program_free(rvm_program *p) {
    if (!p) return;
    rvm_allocator al = p->al;
    rvm__callgraph_free(&al, &p->calls);
    for (uint32_t k = 0; k < p->nvariants; k++) variant_free(&al, p->variants + k, p);
    for (uint32_t k = 0; k < p->nsignatures; k++) {
        rvm__realloc(&al, p->signatures[k].params, p->signatures[k].nparams * sizeof *p->signatures->params, 0);
        rvm__strfree(&al, p->signatures[k].text);
    }
    rvm__realloc(&al, p->variants, p->cap_variants * sizeof *p->variants, 0);
    rvm__realloc(&al, p->signatures, p->cap_signatures * sizeof *p->signatures, 0);
    for (uint32_t k = 0; k < p->nfunctions; k++) function_free(&al, p->functions + k);
    for (uint32_t k = 0; k < p->nfiles; k++) rvm__strfree(&al, p->files[k]);
    rvm__realloc(&al, p->functions, p->cap_functions * sizeof *p->functions, 0);
    rvm__realloc(&al, p->files, p->cap_files * sizeof *p->files, 0);
    for (uint32_t k = 0; k < p->nprints; k++) rvm__strfree(&al, p->prints[k].text);
    rvm__realloc(&al, p->prints, p->cap_prints * sizeof *p->prints, 0);
    if (p->ruled) rvm__realloc(&al, p->ruled, p->nruled, 0);
    rvm__realloc(&al, p->rules, p->cap_rules * sizeof *p->rules, 0);
    rvm__realloc(&al, p->derived, p->cap_derived * sizeof *p->derived, 0);
    rvm__realloc(&al, p->outlined, p->cap_outlined * sizeof *p->outlined, 0);
    index_free(&al, &p->name_index);
    rvm__realloc(&al, p, sizeof *p, 0);
}

int64_t rvm__program_add_file(rvm_program *p, const char *name) {
    for (uint32_t k = 0; k < p->nfiles; k++)
        if (!strcmp(p->files[k], name)) return k;
    if (p->nfiles >= RVM_MAX_FILES || !GROW(p, p, files, cap_files, p->nfiles + 1)) return -1;
    char *copy = rvm__strdup(&p->al, name, strlen(name));
    if (!copy) return -1;
    p->files[p->nfiles] = copy;
    return p->nfiles++;
}

bool rvm__is_word(const char *name, size_t length) {
    for (size_t k = 0; k < length; k++) {
        char c = name[k];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (k == 0 || !((c >= '0' && c <= '9') || c == '\''))) return false;
    }
    return length > 0;
}

bool rvm__is_place_name(const char *name, size_t length) {
    const char *point;
    for (; (point = memchr(name, '.', length)); name = point + 1) {
        const size_t head = (size_t)(point - name);
        if (!rvm__is_word(name, head)) return false;
        length -= head + 1;
    }
    return rvm__is_word(name, length);
}

static uint64_t name_hash(const void *owner, uint32_t k) {
    const char *name = ((const rvm_program *)owner)->functions[k].name;
    return XXH3_64bits(name, strlen(name));
}

int64_t rvm__program_find(const rvm_program *p, const char *name, size_t length) {
    if (!p->name_index.cap) return -1;
    uint32_t mask = p->name_index.cap - 1;
    for (uint32_t at = (uint32_t)XXH3_64bits(name, length) & mask; p->name_index.slots[at]; at = (at + 1) & mask) {
        uint32_t k = p->name_index.slots[at] - 1;
        if (!strncmp(p->functions[k].name, name, length) && !p->functions[k].name[length]) return k;
    }
    return -1;
}

int64_t rvm_program_find(const rvm_program *p, const char *name) {
    return p && name ? rvm__program_find(p, name, strlen(name)) : -1;
}

int64_t rvm__program_add_function(rvm_program *p, const char *name, size_t length) {
    if (!rvm__is_word(name, length) || rvm__program_find(p, name, length) >= 0) return -1;
    if (!GROW(p, p, functions, cap_functions, p->nfunctions + 1) ||
        !index_room(&p->al, &p->name_index, p->nfunctions, p, name_hash))
        return -1;
    rvm_function *f = p->functions + p->nfunctions;
    memset(f, 0, sizeof *f);
    f->name = rvm__strdup(&p->al, name, length);
    if (!f->name) return -1;
    uint32_t mask = p->name_index.cap - 1, at = (uint32_t)name_hash(p, p->nfunctions) & mask;
    while (p->name_index.slots[at]) at = (at + 1) & mask;
    p->name_index.slots[at] = ++p->nfunctions;
    return p->nfunctions - 1;
}

/* ---- functions ---- */

int64_t rvm__function_add_register(const rvm_program *p, rvm_function *f, rvm_type t) {
    if (f->nregs >= RVM_MAX_REGS || !GROW(p, f, reg_type, cap_regs, f->nregs + 1)) return -1;
    f->reg_type[f->nregs] = (uint8_t)t;
    return f->nregs++;
}

static uint64_t value_hash(rvm_type t, rvm_value v) {
    return XXH3_64bits_withSeed(&v, sizeof v, t);
}

static uint64_t const_hash(const void *owner, uint32_t k) {
    const rvm_function *f = owner;
    return value_hash((rvm_type)f->const_type[k], f->consts[k]);
}

/* Where in the index a constant stands, or would. */
static uint32_t find_const(const rvm_function *f, rvm_type t, rvm_value v) {
    uint32_t mask = f->const_index.cap - 1, at = (uint32_t)value_hash(t, v) & mask;
    for (; f->const_index.slots[at]; at = (at + 1) & mask) {
        uint32_t k = f->const_index.slots[at] - 1;
        if (f->const_type[k] == t && f->consts[k].u == v.u) break;
    }
    return at;
}

int64_t rvm__function_find_const(const rvm_function *f, rvm_type t, rvm_value v) {
    return f->const_index.cap ? (int64_t)f->const_index.slots[find_const(f, t, v)] - 1 : -1;
}

int64_t rvm__function_add_const(const rvm_program *p, rvm_function *f, rvm_type t, rvm_value v) {
    if (!index_room(&p->al, &f->const_index, f->nconsts, f, const_hash)) return -1;
    const uint32_t at = find_const(f, t, v);
    if (f->const_index.slots[at]) return f->const_index.slots[at] - 1;
    if (f->nconsts >= RVM_MAX_CONSTS ||
        !rvm__grow_two(&p->al, (void **)&f->const_type, sizeof *f->const_type, (void **)&f->consts, sizeof *f->consts,
                       &f->cap_consts, f->nconsts + 1))
        return -1;
    f->const_type[f->nconsts] = (uint8_t)t;
    f->consts[f->nconsts] = v;
    f->const_index.slots[at] = ++f->nconsts;
    return f->nconsts - 1;
}

int64_t rvm__function_add_array(const rvm_program *p, rvm_function *f, rvm_type t, int ndim) {
    if (ndim < 1 || ndim > RVM_MAX_DIMS || f->narrays >= RVM_MAX_ARRAYS) return -1;
    if (!GROW(p, f, arrays, cap_arrays, f->narrays + 1)) return -1;
    f->arrays[f->narrays] = (rvm_array_decl){(uint8_t)t, (uint8_t)ndim};
    return f->narrays++;
}

int64_t rvm__function_add_param(const rvm_program *p, rvm_function *f, const rvm_param *param, const char *name,
                                size_t length) {
    if (!rvm__is_place_name(name, length) || f->nparams >= RVM_MAX_PARAMS) return -1;
    if (!GROW(p, f, params, cap_params, f->nparams + 1)) return -1;
    rvm_param *copy = f->params + f->nparams;
    *copy = *param;
    copy->name = rvm__strdup(&p->al, name, length);
    return copy->name ? (int64_t)f->nparams++ : -1;
}

int64_t rvm__function_add_symbol(const rvm_program *p, rvm_function *f, const rvm_symbol *s, const char *name,
                                 size_t length) {
    if (!rvm__is_place_name(name, length) || f->nsymbols == UINT32_MAX) return -1;
    if (!GROW(p, f, symbols, cap_symbols, f->nsymbols + 1)) return -1;
    rvm_symbol *copy = f->symbols + f->nsymbols;
    *copy = *s;
    copy->name = rvm__strdup(&p->al, name, length);
    return copy->name ? (int64_t)f->nsymbols++ : -1;
}

int64_t rvm__function_emit(const rvm_program *p, rvm_function *f, rvm_op op, rvm_row row, uint8_t flags, uint32_t target,
                           const rvm_place *places, uint32_t nplaces, rvm_position at) {
    if (nplaces > UINT8_MAX || f->ncode >= INT32_MAX || f->nplaces >= INT32_MAX) return -1;
    if (!GROW(p, f, places, cap_places, f->nplaces + nplaces) ||
        !rvm__grow_two(&p->al, (void **)&f->code, sizeof *f->code, (void **)&f->positions, sizeof *f->positions,
                       &f->cap_code, f->ncode + 1))
        return -1;
    if (nplaces) memcpy(f->places + f->nplaces, places, nplaces * sizeof *places);
    f->code[f->ncode] = (rvm_insn){(uint8_t)op, (uint8_t)row, flags, (uint8_t)nplaces, 0, f->nplaces, target};
    f->positions[f->ncode] = at;
    f->nplaces += nplaces;
    return f->ncode++;
}

static void turn_places(rvm_place *q, uint32_t n) {
    for (uint32_t a = 0; a + 1 < n; a++) {
        const rvm_place one = q[a];
        q[a] = q[--n];
        q[n] = one;
    }
}

/* Places stand in the order of instructions: all of them are turned, and those of each once more. */
void rvm__function_turn(rvm_function *f, uint32_t from) {
    uint32_t at = from < f->ncode ? f->code[from].places : f->nplaces;
    for (uint32_t a = from, b = f->ncode; a + 1 < b; a++) {
        const rvm_insn in = f->code[a];
        f->code[a] = f->code[--b];
        f->code[b] = in;
    }
    turn_places(f->places + at, f->nplaces - at);
    for (uint32_t k = from; k < f->ncode; k++) {
        rvm_insn *in = &f->code[k];
        in->op = (uint8_t)rvm__op_inverse((rvm_op)in->op);
        in->places = at;
        turn_places(f->places + at, in->nplaces);
        at += in->nplaces;
    }
}

/* ---- finish ---- */

int rvm__symbol_compare(const void *a, const void *b) {
    const rvm_symbol *s = a, *t = b;
    if (s->from != t->from) return s->from < t->from ? -1 : 1;
    if (s->is_array != t->is_array) return s->is_array ? 1 : -1;
    if (s->index != t->index) return s->index < t->index ? -1 : 1;
    if (s->to != t->to) return s->to < t->to ? -1 : 1;
    return strcmp(s->name, t->name);
}

static void finish_slot(const rvm_function *f, uint16_t *slot) {
    if (*slot >= RVM_BUILD_CONST) *slot = (uint16_t)(*slot - RVM_BUILD_CONST + f->nregs);
}

static void finish_place(const rvm_function *f, rvm_place *p) {
    switch ((rvm_place_kind)p->kind) {
    case RVM_PLACE_ARRAY:
    case RVM_PLACE_KIND_COUNT: return;
    case RVM_PLACE_SLOT:
    case RVM_PLACE_RANGE: finish_slot(f, &p->slot); break;
    case RVM_PLACE_ELEM: break;
    }
    uint32_t n = p->kind == RVM_PLACE_RANGE ? 1 : p->nidx;
    for (uint32_t k = 0; k < n && k < RVM_MAX_DIMS; k++) finish_slot(f, p->idx + k);
}

void rvm__function_finish(rvm_function *f) {
    for (uint32_t k = 0; k < f->nplaces; k++) finish_place(f, f->places + k);
    for (uint32_t k = 0; k < f->nparams; k++)
        for (uint32_t d = 0; d < f->params[k].ndim && d < RVM_MAX_DIMS; d++) finish_slot(f, f->params[k].dim + d);
    if (f->nsymbols) qsort(f->symbols, f->nsymbols, sizeof *f->symbols, rvm__symbol_compare);
}

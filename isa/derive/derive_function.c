/* derive_function.c: a new function begun and ended: its registers and arrays for those of its source, source names. */
#include "derive.h"
#include "builder.h"
#include "reach.h"
#include "support.h"
#include <stdio.h>
#include <string.h>

static void *make(rvm__derive *t, size_t count, size_t size, int fill) {
    void *p = rvm__zone_make(&t->memory, count, size);
    if (!p) rvm__derive_fail(t, RVM_ERR_MEMORY);
    if (p && fill) memset(p, fill, count * size);
    return p;
}

/* A length of the source's parameter as one of the new function's. */
static uint16_t length_of(rvm__derive *t, uint16_t slot) {
    return rvm__value_place(t, &(rvm_place){.kind = RVM_PLACE_SLOT, .slot = slot}).slot;
}

static bool has_shadow(const rvm__derive *t, rvm_place_kind kind, uint32_t slot) {
    return rvm__is_ever_active(t->p, &t->a, t->src, kind == RVM_PLACE_ARRAY, (uint16_t)slot);
}

/* The parameters, declared before, are the first registers and arrays; then what remains of the source's. */
static void map_params(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    uint32_t to = 0;
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = &f->params[k];
        uint16_t *map = q->ndim ? t->array : t->reg, *shadow = q->ndim ? t->shadow_array : t->shadow_reg;
        map[q->index] = t->g.params[to++].index;
        if (t->wrt[k]) shadow[q->index] = t->g.params[to++].index;
    }
}

static void map_lengths(rvm__derive *t) {
    uint32_t to = 0;
    const rvm_function *f = rvm__source(t);
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = &f->params[k];
        for (int copies = 0; copies <= (t->wrt[k] != 0); copies++, to++)
            for (int d = 0; d < q->ndim; d++) t->g.params[to].dim[d] = length_of(t, q->dim[d]);
    }
}

static void map_rest(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    for (uint32_t k = 0; k < f->nregs && !t->status; k++) {
        if (t->reg[k] == RVM__NO_PLACE) t->reg[k] = rvm__new_register(t, (rvm_type)f->reg_type[k]);
        if (!rvm__has_shadows(t) || t->shadow_reg[k] != RVM__NO_PLACE || !has_shadow(t, RVM_PLACE_SLOT, k)) continue;
        t->shadow_reg[k] = rvm__new_register(t, (rvm_type)f->reg_type[k]);
    }
    for (uint32_t k = 0; k < f->narrays && !t->status; k++) {
        if (t->array[k] == RVM__NO_PLACE) t->array[k] = rvm__new_array(t, &f->arrays[k]);
        if (!rvm__has_shadows(t) || t->shadow_array[k] != RVM__NO_PLACE || !has_shadow(t, RVM_PLACE_ARRAY, k) || t->rows[k])
            continue;
        t->shadow_array[k] = rvm__new_array(t, &f->arrays[k]);
    }
}

static void find_borrowing(rvm__derive *t) {
    void *scratch = make(t, rvm__borrow_scratch(rvm__source(t)), 1, 0);
    if (scratch) rvm__borrow_find(t->p, &t->a, t->src, scratch, t->borrows);
}

static void find_rows(rvm__derive *t) {
    void *scratch = make(t, rvm__rows_scratch(rvm__source(t)), 1, 0);
    if (scratch) rvm__find_rows(t, scratch);
}

rvm_status rvm__derive_begin(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    t->memory.al = &t->p->al;
    t->g = t->p->functions[t->dst];
    t->reg = make(t, f->nregs, sizeof *t->reg, 0xff);
    t->shadow_reg = make(t, f->nregs, sizeof *t->shadow_reg, 0xff);
    t->array = make(t, f->narrays, sizeof *t->array, 0xff);
    t->shadow_array = make(t, f->narrays, sizeof *t->shadow_array, 0xff);
    t->borrows = make(t, f->ncode, sizeof *t->borrows, 0);
    t->around = make(t, f->nregs, sizeof *t->around, 0);
    t->part_of = make(t, f->nregs, sizeof *t->part_of, 0);
    t->mirror = make(t, (size_t)f->nregs + f->narrays, sizeof *t->mirror, 0);
    t->map = make(t, f->ncode, sizeof *t->map, 0);
    t->rows = make(t, f->narrays, sizeof *t->rows, 0);
    t->others = make(t, f->narrays, sizeof *t->others, 0xff);
    if (!t->status && t->kind == RVM_ADJOINT) find_borrowing(t);
    if (!t->status && t->kind == RVM_ADJOINT) find_rows(t);
    if (!t->status) map_params(t);
    if (!t->status) map_rest(t);
    if (!t->status) map_lengths(t);
    return t->status;
}

typedef struct names {
    rvm__derive *t;
    uint32_t *since; /* by symbol of the source: emitted instruction from which it holds, or UINT32_MAX */
    uint32_t *from, *to, *next_from, *next_to; /* lists of symbols, by pc where they begin or end; + 1, 0 ends */
} names;

static void add_symbol(rvm__derive *t, const rvm_symbol *s, uint32_t from, uint32_t to, bool shadow) {
    const uint16_t *map = s->is_array ? shadow ? t->shadow_array : t->array : shadow ? t->shadow_reg : t->reg;
    char name[256];
    const rvm_symbol copy = {.is_array = s->is_array, .index = map[s->index], .from = from, .to = to};
    if (copy.index == RVM__NO_PLACE || t->status) return;
    const int n = snprintf(name, sizeof name, "%s%s", s->name, shadow ? rvm_shadow_suffix(t->kind) : "");
    if (n >= (int)sizeof name) return; /* a name so long goes without */
    if (rvm__function_add_symbol(t->p, &t->g, &copy, name, (size_t)n) < 0) rvm__derive_fail(t, RVM_ERR_MEMORY);
}

/* Whether what the name stands for has a shadow, which is not said of all that its register or array is elsewhere: by the
 * instruction that makes it appear, where the name begins. */
static bool names_active(const rvm__derive *t, const rvm_symbol *s) {
    const rvm_function *f = rvm__source(t);
    const rvm_insn *in = &f->code[s->from];
    const rvm_place *q = rvm__places(f, in);
    const uint8_t kind = s->is_array ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT;
    for (int k = 0; k < in->nplaces; k++)
        if (q[k].kind == kind && q[k].slot == s->index) return rvm__active(t, &q[k]);
    return true;
}

static void close_name(names *w, uint32_t k, uint32_t to) {
    const uint32_t from = w->since[k];
    const rvm_symbol *s = &rvm__source(w->t)->symbols[k];
    w->since[k] = UINT32_MAX;
    if (from >= to) return;
    add_symbol(w->t, s, from, to, false);
    if (names_active(w->t, s)) add_symbol(w->t, s, from, to, true);
}

static void close_list(names *w, const uint32_t *next, uint32_t k, uint32_t at) {
    for (; k; k = next[k - 1]) close_name(w, k - 1, at);
}

static void open_list(names *w, const uint32_t *next, uint32_t k, uint32_t at) {
    for (; k; k = next[k - 1]) w->since[k - 1] = at;
}

/* From instruction a of the source to b, at emitted instruction `at`. */
static void go(names *w, uint32_t a, uint32_t b, uint32_t at) {
    while (a < b) {
        a++;
        open_list(w, w->next_from, w->from[a], at);
        close_list(w, w->next_to, w->to[a], at);
    }
    while (a > b) {
        close_list(w, w->next_from, w->from[a], at);
        a--;
        open_list(w, w->next_to, w->to[a + 1], at);
    }
}

static void list_names(names *w, const rvm_function *f) {
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        const rvm_symbol *s = &f->symbols[k];
        if (s->from >= s->to || s->to > f->ncode) continue;
        w->next_from[k] = w->from[s->from];
        w->from[s->from] = k + 1;
        w->next_to[k] = w->to[s->to];
        w->to[s->to] = k + 1;
    }
}

static void name_places(rvm__derive *t) {
    const rvm_function *f = rvm__source(t);
    const size_t n = f->nsymbols, pcs = (size_t)f->ncode + 1;
    if (!n || t->status) return;
    uint32_t *block = make(t, 3 * n + 2 * pcs, sizeof *block, 0);
    if (!block) return;
    names w = {t, block, block + n, block + n + pcs, block + n + 2 * pcs, block + 2 * n + 2 * pcs};
    memset(w.since, 0xff, n * sizeof *w.since);
    list_names(&w, f);
    open_list(&w, w.next_from, w.from[0], 0);
    uint32_t at = 0;
    for (uint32_t k = 0; k < t->g.ncode; at = t->from[k++]) go(&w, at, t->from[k], k);
    for (uint32_t k = 0; k < n; k++) close_name(&w, k, t->g.ncode);
}

/* Whether fn, by its name, is the adjoint of `of`, or of its inverse, derived for exact runs. */
static bool is_marked_adjoint(const rvm_program *p, uint32_t fn, uint32_t of) {
    static const char inverse[] = "'inv", adjoint[] = "'adj";
    const char *name = p->functions[fn].name, *base = p->functions[of].name;
    const size_t n = strlen(base);
    if (!rvm__is_marked(&p->functions[fn]) || strncmp(name, base, n)) return false;
    name += n;
    if (!strncmp(name, inverse, strlen(inverse))) name += strlen(inverse);
    return !strncmp(name, adjoint, strlen(adjoint));
}

/* The tangent of an adjoint takes back values and tangents at once, as the function's derived tangent records them. One that
 * is written by hand records otherwise, and an adjoint by hand takes nothing back. */
static bool meets_rules(const rvm__derive *t) {
    for (uint32_t k = 0; k < t->p->nrules; k++) {
        const rvm_rule *rule = &t->p->rules[k];
        if (rule->kind == RVM_ADJOINT ? rule->fn == t->src : is_marked_adjoint(t->p, t->src, rule->of)) return true;
    }
    return false;
}

/* In exact runs adjoints take back, and what would not take back what was recorded is refused. */
static unsigned mark_of(const rvm__derive *t) {
    if (!t->p->exact) return 0;
    if (t->kind == RVM_TANGENT_OF) return meets_rules(t) ? RVM_FLAG_RESTORE : 0;
    if (t->kind != RVM_ADJOINT && t->kind != RVM_GRADIENT_OF) return 0;
    return rvm__is_marked(rvm__source(t)) ? RVM_FLAG_RESTORE : RVM_FLAG_SWEPT;
}

void rvm__derive_end(rvm__derive *t) {
    name_places(t);
    rvm__zone_free(&t->memory);
    for (int k = 0; k < RVM_TYPE_COUNT; k++) rvm__realloc(&t->p->al, t->free_regs[k], t->cap_free[k] * sizeof(uint16_t), 0);
    rvm__realloc(&t->p->al, t->open, t->cap_open * sizeof *t->open, 0);
    rvm__realloc(&t->p->al, t->from, t->cap_from * sizeof *t->from, 0);
    const unsigned mark = t->status ? 0 : mark_of(t);
    if (mark == RVM_FLAG_RESTORE) t->g.code[0].flags &= (uint8_t)~RVM_FLAG_SWEPT;
    if (mark) t->g.code[0].flags |= (uint8_t)mark;
    if (!t->status) rvm__function_finish(&t->g);
    if (t->status) t->g.ncode = 0; /* what it holds goes with the program */
    t->p->functions[t->dst] = t->g;
}

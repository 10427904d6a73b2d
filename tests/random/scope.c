/* scope.c: text, and the variables that are known where it is written. */
#include "generator.h"

/* ---- text ---- */
void put(generator *g, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(g->out, format, list);
    va_end(list);
}

void line(generator *g) {
    g->cost += 2 * g->weight;
    put(g, "\n%*s", 4 * g->indent, "");
}

bool chance(generator *g, uint32_t one_in) {
    return rng_below(&g->r, one_in) == 0;
}

void capture_begin(generator *g, capture *c) {
    *c = (capture){.out = g->out};
    g->out = open_memstream(&c->text, &c->size);
    if (!g->out) abort();
}

char *capture_end(generator *g, capture *c) {
    fclose(g->out);
    g->out = c->out;
    return c->text;
}

/* ---- variables ---- */
set bit(int k) {
    return (set)1 << k;
}

int declare(generator *g, sort s, rvm_type type, int ndim) {
    static const char of_type[] = "nxsq", of_sort[] = " zyh";
    variable *v = &g->vars[g->nvars];
    *v = (variable){.sort = s, .type = type, .ndim = ndim, .readable = true, .index = -1};
    snprintf(v->name, sizeof v->name, "%c%d", s == PLAIN ? of_type[type] : of_sort[s], g->names++);
    return g->nvars++;
}

bool full(const generator *g) {
    return g->nvars >= MAX_VARS - 4;
}

void lock(generator *g, set which, int by) {
    for (int k = 0; k < g->nvars; k++)
        if (which >> k & 1) g->vars[k].locks += by;
}

void hide(generator *g, set which, bool readable) {
    for (int k = 0; k < g->nvars; k++)
        if (which >> k & 1) g->vars[k].readable = readable;
}

static bool usable(const variable *v, bool write, int ndim) {
    if (!v->readable || (write && (v->locks || v->summed))) return false;
    return ndim < 0 || (v->ndim == ndim && v->index < 0);
}

int pick_sort(generator *g, sort s, rvm_type type, set except, bool write, int ndim) {
    int found = -1;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++) {
        const variable *v = &g->vars[k];
        const bool part = s == PLAIN && v->sort == COMPLEX && ndim <= 0;
        if (v->type != type || (v->sort != s && !part) || except >> k & 1 || !usable(v, write, ndim)) continue;
        if (chance(g, ++seen)) found = k;
    }
    return found;
}

int pick(generator *g, rvm_type type, set except, bool write, int ndim) {
    return pick_sort(g, PLAIN, type, except, write, ndim);
}

int pick_any(generator *g, bool write, int ndim) {
    int found = -1;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++)
        if (g->vars[k].sort != VALUE && usable(&g->vars[k], write, ndim) && chance(g, ++seen)) found = k;
    return found;
}

void put_whole(generator *g, int k, set except) {
    const variable *v = &g->vars[k];
    g->touched |= bit(k);
    put(g, "%s", v->name);
    for (int d = 0; d < v->ndim; d++) {
        put(g, d ? ", " : "[");
        const int own = d == 0 ? v->index : -1;
        const int index = own >= 0 ? own : pick(g, RVM_I64, except | bit(k), false, 0);
        if (index < 0 || (own < 0 && chance(g, 2)))
            put(g, "%u", rng_below(&g->r, AXIS));
        else
            put(g, own < 0 ? "%s & 3" : "%s", g->vars[index].name), g->touched |= bit(index);
    }
    if (v->ndim) put(g, "]");
}

void put_place(generator *g, int k, set except) {
    put_whole(g, k, except);
    if (g->vars[k].sort == COMPLEX) put(g, chance(g, 2) ? ".re" : ".im");
}

char *whole_text(generator *g, int k, set except) {
    capture c;
    capture_begin(g, &c);
    put_whole(g, k, except);
    return capture_end(g, &c);
}

void put_type(generator *g, sort s, rvm_type type) {
    switch (s) {
    case PLAIN: put(g, "%s", rvm_type_name(type)); break;
    case COMPLEX: put(g, "complex(%s)", rvm_type_name(type)); break;
    case LOGARITHM: put(g, "lns"); break;
    case VALUE: break; /* calls.c */
    }
}

/* calls.c: functions, function values, and calls of both. */
#include "generator.h"

/* ---- types ---- */

static void put_fn_type(generator *g, const signature *f) {
    static const char *const roles[] = {"", "read ", "acc "}, *const dims[] = {"", "[]", "[,]"};
    put(g, "fn(");
    for (int i = 0; i < f->n; i++) {
        const parameter *q = &f->param[i];
        put(g, "%s%s", i ? ", " : "", roles[q->role]);
        if (q->sort == VALUE)
            put_fn_type(g, &g->functions[q->shape]);
        else
            put_type(g, q->sort, q->type);
        put(g, "%s", dims[q->ndim]);
    }
    put(g, ")");
}

/* Whether its parameters are those that its type says: there, complex and logarithmic ones are reals. */
static bool can_be_value(const signature *f) {
    for (int i = 0; i < f->n; i++)
        if (f->param[i].sort == COMPLEX || f->param[i].sort == LOGARITHM) return false;
    return true;
}

static int any_of_shape(generator *g, int shape) {
    int found = -1;
    uint32_t seen = 0;
    for (int k = 0; k < g->nfunctions; k++)
        if (g->functions[k].shape == shape && chance(g, ++seen)) found = k;
    return found;
}

/* A variable that holds a function of the type, or -1. */
static int pick_value(generator *g, int shape, set except, bool write) {
    int found = -1;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++) {
        const variable *v = &g->vars[k];
        if (v->sort != VALUE || (shape >= 0 && v->shape != shape) || except >> k & 1 || (write && v->locks)) continue;
        if (chance(g, ++seen)) found = k;
    }
    return found;
}

/* ---- arguments ---- */

static void put_value_argument(generator *g, int shape, set *used) {
    const int h = chance(g, 2) ? pick_value(g, shape, *used, false) : -1;
    if (h < 0) {
        put(g, "&%s", g->functions[any_of_shape(g, shape)].name);
        return;
    }
    put(g, "%s", g->vars[h].name);
    g->touched |= bit(h);
    *used |= bit(h);
}

/* Something to which the callee only adds: among them, what is only added to here. */
static int pick_summed(generator *g, const parameter *q, set except) {
    int found = -1;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++) {
        const variable *v = &g->vars[k];
        if (!v->summed || v->locks || v->sort != q->sort || v->type != q->type || except >> k & 1) continue;
        if ((q->ndim == 0 || v->ndim == q->ndim) && chance(g, ++seen)) found = k;
    }
    return found;
}

static void put_array(generator *g, int k, const parameter *q, bool row) {
    const variable *v = &g->vars[k];
    if (!row)
        put(g, q->ndim == 1 && chance(g, 3) ? "%s[0..4]" : "%s", v->name);
    else if (v->index >= 0)
        put(g, "%s[%s]", v->name, g->vars[v->index].name);
    else
        put(g, "%s[%u]", v->name, rng_below(&g->r, AXIS));
    g->touched |= bit(k);
}

/* A matrix whose row is an argument: as a whole, or by the instance that owns it. */
static int pick_matrix(generator *g, const parameter *q, set except, bool write) {
    const int k = pick_sort(g, q->sort, q->type, except, write, -1);
    return k >= 0 && g->vars[k].ndim == 2 && g->vars[k].sort == q->sort ? k : -1;
}

/* One argument; false when nothing fits. `used` are the variables that other arguments write or read. */
static bool argument(generator *g, const parameter *q, set *used) {
    const bool write = q->role != READ;
    if (q->sort == VALUE) {
        put_value_argument(g, q->shape, used);
        return true;
    }
    if (!write && q->ndim == 0 && chance(g, 2)) {
        const set before = g->touched;
        g->touched = 0;
        value(g, q->sort, q->type, *used);
        *used |= g->touched;
        g->touched |= before;
        return true;
    }
    const int row = q->ndim == 1 && chance(g, 2) ? pick_matrix(g, q, *used, write) : -1;
    int k = q->role == ACC ? pick_summed(g, q, *used) : -1;
    if (k < 0) k = row >= 0 ? row : pick_sort(g, q->sort, q->type, *used, write, q->ndim ? q->ndim : -1);
    if (k < 0) return false;
    if (q->ndim) {
        put_array(g, k, q, k == row);
    } else {
        const set before = g->touched;
        g->touched = 0;
        if (q->sort == PLAIN)
            put_place(g, k, *used | bit(k));
        else
            put_whole(g, k, *used | bit(k));
        *used |= g->touched;
        g->touched |= before;
    }
    *used |= bit(k);
    return true;
}

/* ---- calls ---- */

typedef struct chosen {
    const signature *f; /* what has its type */
    int k;              /* the variable that holds it, or -1 */
    char *arguments;    /* to be freed */
    set used;
} chosen;

static const char *name_of(const generator *g, const chosen *c) {
    return c->k < 0 ? c->f->name : g->vars[c->k].name;
}

/* Which function, on what; false when there is none that may be called here. */
static bool choose(generator *g, chosen *c, bool back) {
    *c = (chosen){.k = chance(g, 2) ? pick_value(g, -1, 0, false) : -1};
    if (!g->nfunctions) return false;
    c->f = &g->functions[c->k < 0 ? (int)rng_below(&g->r, (uint32_t)g->nfunctions) : g->vars[c->k].shape];
    const effects *e = &c->f->effects;
    if (c->f->cost * g->weight + g->cost > 4 * MAX_COST) return false;
    if ((e->stack && !g->fair.stack) || (!back && e->leaves_stack && !g->fair.leaves_stack)) return false;
    if (!back && e->leaves_trail && !g->fair.leaves_trail) return false;
    const set before = g->touched;
    bool good = true;
    capture text;
    capture_begin(g, &text);
    if (c->k >= 0) c->used = bit(c->k);
    for (int i = 0; good && i < c->f->n; i++) {
        if (i) put(g, ", ");
        good = argument(g, &c->f->param[i], &c->used);
    }
    c->arguments = capture_end(g, &text);
    if (good && c->k >= 0) g->touched |= bit(c->k);
    if (good) {
        g->cost += (back ? 2 : 1) * c->f->cost * g->weight;
        g->done.stack |= e->stack;
        g->done.calls_values |= e->calls_values || c->k >= 0;
    } else {
        g->touched = before;
        free(c->arguments);
    }
    return good;
}

/* A derivative of what calls function values is one of all that these may be: the present function perhaps. */
static bool has_derivative(const chosen *c) {
    return c->k < 0 && !c->f->effects.calls_values;
}

static bool leaves_something(const chosen *c) {
    return c->f->effects.leaves_stack || c->f->effects.leaves_trail;
}

bool call(generator *g) {
    chosen c;
    if (!choose(g, &c, false)) return false;
    const bool back = !leaves_something(&c) && chance(g, 3), tick = back && has_derivative(&c) && chance(g, 2);
    line(g);
    put(g, "%s %s%s(%s)", back && !tick ? "uncall" : "call", name_of(g, &c), tick ? "'inv" : "", c.arguments);
    g->done.leaves_stack |= c.f->effects.leaves_stack;
    g->done.leaves_trail |= c.f->effects.leaves_trail;
    free(c.arguments);
    return true;
}

/* Called, and uncalled when something else is done, which leaves alone what it was called on. */
bool there_and_back(generator *g) {
    chosen c;
    const effects fair = g->fair;
    set readable = 0;
    if (!choose(g, &c, true)) return false;
    for (int k = 0; k < g->nvars; k++)
        if (g->vars[k].readable) readable |= bit(k);
    line(g);
    put(g, "call %s(%s)", name_of(g, &c), c.arguments);
    lock(g, c.used, 1);
    hide(g, c.used, false);
    g->fair.leaves_stack = g->fair.leaves_trail = false;
    g->depth++;
    block(g, 2); /* no scope, as between push and pop */
    g->depth--;
    g->fair = fair;
    hide(g, c.used & readable, true);
    lock(g, c.used, -1);
    line(g);
    put(g, "uncall %s(%s)", name_of(g, &c), c.arguments);
    free(c.arguments);
    return true;
}

/* A function value in a name; in a compute part, sometimes exchanged with another. */
bool local_value(generator *g) {
    const int f = (int)rng_below(&g->r, (uint32_t)g->nfunctions), shape = g->functions[f].shape;
    if (!g->nfunctions || full(g) || !can_be_value(&g->functions[f])) return false;
    const int h = declare(g, VALUE, RVM_I64, 0);
    g->vars[h].shape = shape;
    line(g);
    put(g, "let %s: ", g->vars[h].name);
    put_fn_type(g, &g->functions[shape]);
    put(g, " = &%s", g->functions[f].name);
    g->touched |= bit(h);
    const int other = g->in_compute ? pick_value(g, shape, bit(h), true) : -1, c = pick(g, RVM_I64, 0, false, 0);
    if (!g->in_compute) lock(g, bit(h), 1);
    if (other < 0) return true;
    line(g);
    put(g, c < 0 ? "%sswap %s, %s" : "cswap %s, %s, %s", c < 0 ? "" : g->vars[c].name, g->vars[h].name, g->vars[other].name);
    g->touched |= bit(other) | (c < 0 ? 0 : bit(c));
    return true;
}

/* ---- functions ---- */

/* The first have each a type of number; the others anything. */
static parameter any_parameter(generator *g, int i, bool inner) {
    parameter q = {.type = i < RVM_TYPE_COUNT ? (rvm_type)i : any_type(g)};
    if (i >= RVM_TYPE_COUNT) {
        const uint32_t s = rng_below(&g->r, inner ? 10 : 5);
        q.sort = s == 0 ? COMPLEX : s == 1 ? LOGARITHM : PLAIN;
        q.type = s == 0 ? RVM_F64 + rng_below(&g->r, 3) : s == 1 ? RVM_F64 : q.type;
        q.role = chance(g, 3) ? READ : chance(g, 3) && q.sort != LOGARITHM ? ACC : OWN;
    }
    q.ndim = i < 2 || !chance(g, 3) ? 0 : 1 + (int)chance(g, 3);
    const signature *f = &g->functions[rng_below(&g->r, (uint32_t)g->nfunctions)];
    if (inner && i >= 3 && g->nfunctions && chance(g, 3) && can_be_value(f))
        q = (parameter){.sort = VALUE, .type = RVM_I64, .shape = f->shape, .role = READ};
    return q;
}

static void put_parameters(generator *g, const signature *f) {
    static const char *const dims[] = {"", "[4]", "[4, m]"};
    for (int i = 0; i < f->n; i++) {
        const parameter *q = &f->param[i];
        variable *v = &g->vars[declare(g, q->sort, q->type, q->ndim)];
        v->locks = q->role == READ;
        v->summed = q->role == ACC;
        v->readable = q->role != ACC;
        v->shape = q->shape;
        put(g, "%s%s: ", i ? ", " : "", v->name);
        if (q->sort == VALUE)
            put_fn_type(g, &g->functions[q->shape]);
        else
            put_type(g, q->sort, q->type);
        put(g, "%s", dims[q->ndim]);
    }
}

void function(generator *g, const char *name, int params, int statements) {
    const bool inner = strcmp(name, "main_fn") != 0;
    const signature *like =
        inner && g->nfunctions && chance(g, 3) ? &g->functions[rng_below(&g->r, (uint32_t)g->nfunctions)] : NULL;
    signature f = {.n = params, .shape = g->nfunctions};
    if (like) {
        f = *like;
        g->fair = g->functions[like->shape].effects;
    } else {
        for (int i = 0; i < f.n; i++) f.param[i] = any_parameter(g, i, inner);
        g->fair = (effects){true, true, true, true};
        if (chance(g, 2)) g->fair = (effects){true, false, false, true}; /* so that it can be uncalled */
    }
    snprintf(f.name, sizeof f.name, "%s", name);
    g->nvars = g->names = g->cost = g->depth = 0;
    g->weight = 1;
    g->touched = 0;
    g->in_parallel = false;
    g->done = (effects){false, false, false, false};
    put(g, "fn %s(", name);
    put_parameters(g, &f);
    put(g, ")");
    g->indent = 1;
    for (int k = 0; k < statements; k++) block(g, 3);
    put(g, "\nend\n");
    f.cost = g->cost + 10;
    f.effects = like ? g->functions[like->shape].effects : g->done;
    f.effects.calls_values = g->done.calls_values; /* no other needs to keep to that */
    if (g->nfunctions < MAX_FUNCTIONS) g->functions[g->nfunctions++] = f;
}

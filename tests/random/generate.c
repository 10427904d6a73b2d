/* generate.c: see generate.h. Statements are a table of functions that may decline; a block tries until its budget is spent.
 */
#include "generate.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MAX_VARS = 60, MAX_PARAMS = 8, MAX_FUNCTIONS = 4, MAX_DEPTH = 3, MAX_COST = 3000, AXIS = 4 };

typedef uint64_t set; /* of variables, by number */

typedef struct variable {
    char name[32];
    rvm_type type;
    int ndim; /* 0, 1, 2 */
    bool readable;
    int locks;
} variable;

typedef struct signature {
    char name[32];
    int n, cost;
    rvm_type type[MAX_PARAMS];
    int ndim[MAX_PARAMS];
    bool read[MAX_PARAMS];
    bool stack; /* it, or what it calls, pushes */
} signature;

typedef struct generator {
    rng r;
    FILE *out;
    int indent, names, depth, cost, weight; /* cost: instructions so far, weighted by the loops around */
    variable vars[MAX_VARS];
    int nvars;
    set touched;
    bool in_compute;              /* directly in a compute part: what appears there is taken back, and may change */
    bool in_parallel, uses_stack; /* inside a parallel block; the present function pushes */
    signature functions[MAX_FUNCTIONS];
    int nfunctions;
} generator;

/* ---- text ---- */
static void put(generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(generator *g, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(g->out, format, list);
    va_end(list);
}

static void line(generator *g) {
    g->cost += 2 * g->weight;
    put(g, "\n%*s", 4 * g->indent, "");
}

static bool chance(generator *g, uint32_t one_in) {
    return rng_below(&g->r, one_in) == 0;
}

/* ---- variables ---- */
static int declare(generator *g, const char *prefix, rvm_type type, int ndim) {
    variable *v = &g->vars[g->nvars];
    *v = (variable){.type = type, .ndim = ndim, .readable = true};
    snprintf(v->name, sizeof v->name, "%s%d", prefix, g->names++);
    return g->nvars++;
}

static bool full(const generator *g) {
    return g->nvars >= MAX_VARS - 4;
}

static void lock(generator *g, set which, int by) {
    for (int k = 0; k < g->nvars; k++)
        if (which >> k & 1) g->vars[k].locks += by;
}

/* A random variable that fits, or -1. */
static int pick(generator *g, rvm_type type, set except, bool write, int ndim) {
    int found = -1;
    uint32_t seen = 0;
    for (int k = 0; k < g->nvars; k++) {
        const variable *v = &g->vars[k];
        if (v->type != type || except >> k & 1 || !v->readable || (write && v->locks)) continue;
        if (ndim >= 0 && v->ndim != ndim) continue;
        if (chance(g, ++seen)) found = k;
    }
    return found;
}

static void expression(generator *g, rvm_type type, set except, int depth);

/* The variable as a scalar: itself or an element. */
static void put_place(generator *g, int k, set except) {
    const variable *v = &g->vars[k];
    g->touched |= (set)1 << k;
    put(g, "%s", v->name);
    for (int d = 0; d < v->ndim; d++) {
        put(g, d ? ", " : "[");
        int index = pick(g, RVM_I64, except | (set)1 << k, false, 0);
        if (index < 0 || chance(g, 2))
            put(g, "%u", rng_below(&g->r, AXIS));
        else
            put(g, "%s & 3", g->vars[index].name), g->touched |= (set)1 << index;
    }
    if (v->ndim) put(g, "]");
}

/* ---- expressions: nothing in `except` is read ---- */
static void leaf(generator *g, rvm_type type, set except) {
    int k = chance(g, 5) ? -1 : pick(g, type, except, false, -1);
    if (k >= 0)
        put_place(g, k, except);
    else if (type == RVM_I64)
        put(g, "%d", (int)rng_below(&g->r, 2000) - 1000);
    else
        put(g, "%.3f", rng_real(&g->r, -2, 2));
}

static void integer(generator *g, set except, int depth) {
    static const char *const infix[] = {"+", "-", "*", "&", "|", "^^", "<<", ">>", "<", ">=", "==", "!="};
    static const char *const prefix[] = {"min", "max", "lshr"};
    uint32_t form = rng_below(&g->r, 8);
    if (form < 5) {
        put(g, "(");
        expression(g, RVM_I64, except, depth);
        put(g, " %s ", infix[rng_below(&g->r, sizeof infix / sizeof *infix)]);
        expression(g, RVM_I64, except, depth);
        put(g, ")");
    } else if (form < 6) {
        put(g, "%s(", prefix[rng_below(&g->r, sizeof prefix / sizeof *prefix)]);
        expression(g, RVM_I64, except, depth);
        put(g, ", ");
        expression(g, RVM_I64, except, depth);
        put(g, ")");
    } else {
        put(g, "(");
        expression(g, RVM_I64, except, depth);
        put(g, " %s (", chance(g, 2) ? "//" : "%");
        expression(g, RVM_I64, except, depth);
        put(g, " | 1))");
    }
}

/* Between -2 and 2. */
static void bounded(generator *g, rvm_type type, set except, int depth) {
    static const char *const functions[] = {"sin", "cos", "tanh", "atan", "erf"};
    switch (rng_below(&g->r, 4)) {
    case 0:
        put(g, "exp(-(");
        expression(g, type, except, depth);
        put(g, ") ^ 2)");
        break;
    case 1:
        put(g, "(1 / (1 + tanh(");
        expression(g, type, except, depth);
        put(g, ") ^ 2))");
        break;
    default:
        put(g, "%s(", functions[rng_below(&g->r, sizeof functions / sizeof *functions)]);
        expression(g, type, except, depth);
        put(g, ")");
    }
}

static void real(generator *g, rvm_type type, set except, int depth) {
    switch (rng_below(&g->r, 6)) {
    case 0: bounded(g, type, except, depth); break;
    case 1:
        put(g, "%s(", chance(g, 2) ? "min" : "max");
        expression(g, type, except, depth);
        put(g, ", ");
        expression(g, type, except, depth);
        put(g, ")");
        break;
    case 2:
        put(g, "select(");
        expression(g, RVM_I64, except, 0);
        put(g, " > 0, ");
        expression(g, type, except, depth);
        put(g, ", ");
        expression(g, type, except, depth);
        put(g, ")");
        break;
    case 3: {
        rvm_type from = !rvm__is_floating(type) || chance(g, 2) ? RVM_I64
                        : type == RVM_F32 && chance(g, 2)       ? RVM_F64
                                                                : RVM_FIX;
        int other = pick(g, from, except, false, 0);
        if (other < 0) return leaf(g, type, except);
        g->touched |= (set)1 << other;
        put(g, g->vars[other].type == RVM_I64 ? "%s(%s & 7)" : "%s(%s)", rvm_type_name(type), g->vars[other].name);
        break;
    }
    default:
        put(g, "(");
        expression(g, type, except, depth);
        put(g, chance(g, 2) ? " + " : " - ");
        expression(g, type, except, depth);
        put(g, ")");
    }
}

static void expression(generator *g, rvm_type type, set except, int depth) {
    if (depth <= 0 || chance(g, 4))
        leaf(g, type, except);
    else if (type == RVM_I64)
        integer(g, except, depth - 1);
    else
        real(g, type, except, depth - 1);
}

/* What may be added to a place of the type. */
static void increment(generator *g, rvm_type type, set except) {
    if (type == RVM_I64)
        expression(g, type, except, 2);
    else
        bounded(g, type, except, 2);
}

/* Emit by f and return what it read; what was touched before stays touched. */
static set condition(generator *g, set except) {
    set before = g->touched;
    g->touched = 0;
    rvm_type type = (rvm_type)rng_below(&g->r, RVM_TYPE_COUNT);
    leaf(g, type, except);
    put(g, chance(g, 2) ? " > " : " <= ");
    if (type == RVM_I64)
        leaf(g, type, except);
    else
        put(g, "%.2f", rng_real(&g->r, -1, 1));
    set read = g->touched;
    g->touched |= before;
    return read;
}

/* ---- statements: false when this one is not possible here ---- */
static rvm_type any_type(generator *g) {
    return (rvm_type)rng_below(&g->r, RVM_TYPE_COUNT);
}

static bool update(generator *g) {
    static const char *const signs[] = {"+=", "-=", "^="};
    rvm_type type = any_type(g);
    int k = pick(g, type, 0, true, -1);
    if (k < 0) return false;
    set except = (set)1 << k;
    line(g);
    put_place(g, k, except);
    uint32_t how = rng_below(&g->r, type == RVM_I64 ? 4 : rvm__is_floating(type) ? 3 : 2);
    if (type == RVM_I64 && how == 3) {
        put(g, " %s %d", chance(g, 2) ? "*=" : "/=", 2 * (int)rng_below(&g->r, 1000) - 999);
    } else if (rvm__is_floating(type) && how == 2) {
        put(g, " %s 1 + 0.1 * ", chance(g, 2) ? "*=" : "/=");
        bounded(g, type, except, 1);
    } else {
        put(g, " %s ", signs[how]);
        increment(g, type, except);
    }
    return true;
}

static bool in_place(generator *g) {
    static const char *const of_i64[] = {"neg ", "not ", "inc ", "dec ", "rol ", "ror "};
    rvm_type type = any_type(g);
    int k = pick(g, type, 0, true, -1);
    if (k < 0) return false;
    uint32_t which = rng_below(&g->r, type == RVM_I64 ? 6 : 1);
    line(g);
    put(g, "%s", of_i64[which]);
    put_place(g, k, (set)1 << k);
    if (which >= 4) put(g, ", %u", rng_below(&g->r, 64));
    return true;
}

/* swap, cswap, rot, irot, hadamard, ihadamard on two different variables. */
static bool two_places(generator *g) {
    static const char *const words[] = {"swap ", "rot ", "irot ", "hadamard ", "ihadamard "};
    rvm_type type = any_type(g);
    int a = pick(g, type, 0, true, -1), b = a < 0 ? -1 : pick(g, type, (set)1 << a, true, -1);
    if (b < 0) return false;
    set except = (set)1 << a | (set)1 << b;
    uint32_t which = rng_below(&g->r, type == RVM_I64 ? 1 : 5);
    int c = which == 0 && chance(g, 2) ? pick(g, RVM_I64, except, false, 0) : -1;
    line(g);
    if (c >= 0) {
        put(g, "cswap %s, ", g->vars[c].name);
        g->touched |= (set)1 << c;
    } else {
        put(g, "%s", words[which]);
    }
    put_place(g, a, except);
    put(g, ", ");
    put_place(g, b, except);
    if (which == 1 || which == 2) {
        put(g, ", ");
        leaf(g, type, except);
    }
    return true;
}

static void block(generator *g, int statements);

/* A block of its own: its locals go at its end, and so do the locks that they held. */
static void nested(generator *g, int statements) {
    bool compute = g->in_compute;
    int vars = g->nvars, locks[MAX_VARS];
    for (int k = 0; k < vars; k++) locks[k] = g->vars[k].locks;
    g->in_compute = false;
    g->indent++;
    g->depth++;
    block(g, statements);
    g->depth--;
    g->indent--;
    g->in_compute = compute;
    g->nvars = vars;
    g->touched &= ((set)1 << vars) - 1;
    for (int k = 0; k < vars; k++) g->vars[k].locks = locks[k];
}

static bool branch(generator *g) {
    line(g);
    put(g, "if ");
    set read = condition(g, 0);
    lock(g, read, 1);
    nested(g, 3);
    if (chance(g, 2)) {
        line(g);
        put(g, "else");
        nested(g, 3);
    }
    line(g);
    put(g, "end");
    lock(g, read, -1);
    return true;
}

/* A flag that the branch raises, a postcondition on it, and the way back. */
static bool flagged_branch(generator *g) {
    if (full(g)) return false;
    int z = declare(g, "z", RVM_I64, 0);
    const char *flag = g->vars[z].name;
    char *cond = NULL;
    size_t size;
    FILE *out = g->out;
    line(g);
    put(g, "let %s: i64", flag);
    g->out = open_memstream(&cond, &size);
    set read = condition(g, (set)1 << z) | (set)1 << z;
    fclose(g->out);
    g->out = out;
    lock(g, read, 1);
    g->vars[z].readable = false; /* or a local that read it would be released behind the change */
    line(g);
    put(g, "if %s -> %s == 1", cond, flag);
    nested(g, 2);
    put(g, "\n%*s%s += 1", 4 * g->indent + 4, "", flag);
    if (chance(g, 2)) {
        line(g);
        put(g, "else");
        nested(g, 2);
    }
    line(g);
    put(g, "end");
    line(g);
    put(g, "if %s == 1 -> %s", flag, cond);
    put(g, "\n%*s%s -= 1", 4 * g->indent + 4, "", flag);
    line(g);
    put(g, "end");
    g->vars[z].readable = true;
    lock(g, read & ~((set)1 << z), -1); /* the flag must be 0 again when it goes: nobody else may write it */
    free(cond);
    return true;
}

static set bound(generator *g) {
    int k = chance(g, 2) ? -1 : pick(g, RVM_I64, 0, false, 0);
    if (k < 0) {
        put(g, "%u", rng_below(&g->r, AXIS + 1));
        return 0;
    }
    put(g, "(%s & 3)", g->vars[k].name);
    g->touched |= (set)1 << k;
    return (set)1 << k;
}

static bool counted(generator *g) {
    if (full(g) || g->weight > 20) return false;
    int weight = g->weight;
    line(g);
    put(g, "for i%d in ", g->names);
    set read = 0;
    if (chance(g, 3)) {
        read |= bound(g);
        put(g, "..-1 step -1");
    } else {
        put(g, "0..");
        read |= bound(g);
    }
    int vars = g->nvars, i = declare(g, "i", RVM_I64, 0);
    lock(g, read | (set)1 << i, 1);
    g->weight *= AXIS;
    nested(g, 3);
    g->weight = weight;
    line(g);
    put(g, "end");
    g->nvars = vars;
    lock(g, read, -1);
    g->touched &= ((set)1 << vars) - 1;
    return true;
}

/* In a parallel block: what all add to, and a vector whose elements instances own, are not read by the rest of the body. */
static void shared_change(generator *g, int k, set except, const char *index) {
    if (k < 0) return;
    const variable *v = &g->vars[k];
    put(g, "\n%*s", 4 * g->indent + 4, "");
    if (index)
        put(g, "%s[%s]", v->name, index), g->touched |= (set)1 << k;
    else
        put_place(g, k, except);
    if (index && rvm__is_floating(v->type) && chance(g, 2))
        put(g, " *= 1.5");
    else {
        put(g, chance(g, 2) ? " += " : " -= ");
        increment(g, v->type, except);
    }
}

static bool instances(generator *g) {
    if (full(g) || g->weight > 20) return false;
    const int weight = g->weight, vars = g->nvars;
    const bool outer = g->in_parallel;
    int sum = pick(g, any_type(g), 0, true, -1), own = pick(g, any_type(g), sum < 0 ? 0 : (set)1 << sum, true, 1);
    const int hidden[2] = {sum, own};
    set except = 0;
    for (int k = 0; k < 2; k++)
        if (hidden[k] >= 0) except |= (set)1 << hidden[k], g->vars[hidden[k]].readable = false;
    line(g);
    put(g, "parallel i%d in 0..", g->names);
    bound(g);
    const int i = declare(g, "i", RVM_I64, 0);
    const set all = ((set)1 << g->nvars) - 1;
    lock(g, all, 1);
    g->weight *= AXIS;
    g->in_parallel = true;
    nested(g, 3);
    g->in_parallel = outer;
    g->weight = weight;
    shared_change(g, sum, except, NULL);
    shared_change(g, own, except, g->vars[i].name);
    line(g);
    put(g, "end");
    for (int k = 0; k < 2; k++)
        if (hidden[k] >= 0) g->vars[hidden[k]].readable = true;
    g->nvars = vars;
    lock(g, all, -1);
    g->touched &= ((set)1 << vars) - 1;
    return true;
}

static bool conditional_loop(generator *g) {
    if (full(g) || g->weight > 20) return false;
    int weight = g->weight, k = declare(g, "k", RVM_I64, 0);
    const char *name = g->vars[k].name;
    char *limit = NULL;
    size_t size;
    FILE *out = g->out;
    line(g);
    put(g, "let %s: i64", name);
    lock(g, (set)1 << k, 1); /* for good: the generator counts with it */
    g->out = open_memstream(&limit, &size);
    g->vars[k].readable = false; /* as a flag is not */
    set read = bound(g);
    fclose(g->out);
    g->out = out;
    lock(g, read, 1);
    line(g);
    put(g, "from %s == 0 while %s < %s", name, name, limit);
    g->weight *= AXIS;
    nested(g, 3);
    g->weight = weight;
    put(g, "\n%*s%s += 1", 4 * g->indent + 4, "", name);
    line(g);
    put(g, "end");
    line(g);
    put(g, "%s -= %s", name, limit);
    g->vars[k].readable = true;
    lock(g, read, -1);
    free(limit);
    return true;
}

static bool region(generator *g) {
    set before = g->touched;
    int vars = g->nvars;
    bool compute = g->in_compute;
    line(g);
    put(g, "compute");
    g->touched = 0;
    g->in_compute = true;
    g->indent++;
    g->depth++;
    block(g, 4);
    g->in_compute = false;
    g->depth--;
    g->indent--;
    set used = g->touched;
    lock(g, used, 1);
    line(g);
    put(g, "do");
    nested(g, 3);
    line(g);
    put(g, "undo");
    lock(g, used, -1);
    g->nvars = vars;
    g->in_compute = compute;
    g->touched = (g->touched | used | before) & (((set)1 << vars) - 1);
    return true;
}

/* A local with a value. In compute it may change, since that is taken back; elsewhere it and what it read are locked. */
static bool local(generator *g) {
    if (full(g) || (!g->in_compute && !chance(g, 3))) return false;
    rvm_type type = any_type(g);
    set before = g->touched;
    bool array = g->in_compute && chance(g, 3);
    g->touched = 0;
    line(g);
    put(g, "let t%d: %s%s = ", g->names, rvm_type_name(type), array ? "[4]" : "");
    if (array)
        leaf(g, type, ~(set)0);
    else
        increment(g, type, 0);
    set read = g->touched;
    int t = declare(g, "t", type, array);
    if (!g->in_compute) lock(g, read | (set)1 << t, 1);
    g->touched |= before | (set)1 << t;
    return true;
}

/* What is on the stack is 0 meanwhile, and must stay so. */
static bool stacked(generator *g) {
    rvm_type type = any_type(g);
    int k = pick(g, type, 0, true, 0);
    bool copy = chance(g, 2);
    if (k < 0 || g->in_parallel) return false;
    g->uses_stack = true;
    set self = (set)1 << k;
    g->touched |= self;
    line(g);
    put(g, "%s %s", copy ? "pushc" : "push", g->vars[k].name);
    g->vars[k].locks++;
    g->vars[k].readable = copy;
    g->depth++;
    block(g, 2); /* no scope: its locals go with the block around */
    g->depth--;
    g->vars[k].readable = true;
    g->vars[k].locks--;
    line(g);
    put(g, "%s %s", copy ? "popc" : "pop", g->vars[k].name);
    return true;
}

static bool unchecked(generator *g) {
    line(g);
    put(g, "unchecked");
    nested(g, 2);
    line(g);
    put(g, "end");
    return true;
}

/* One argument; false when nothing fits. `used` are the variables that other arguments write or read. */
static bool argument(generator *g, const signature *f, int i, set *used) {
    rvm_type type = f->type[i];
    bool write = !f->read[i];
    if (!write && f->ndim[i] == 0 && chance(g, 2)) {
        set before = g->touched;
        g->touched = 0;
        increment(g, type, *used);
        *used |= g->touched;
        g->touched |= before;
        return true;
    }
    int k = pick(g, type, *used, write, f->ndim[i] ? f->ndim[i] : -1);
    int row = f->ndim[i] == 1 && chance(g, 2) ? pick(g, type, *used, write, 2) : -1;
    if (row >= 0) {
        put(g, "%s[%u]", g->vars[row].name, rng_below(&g->r, AXIS));
        k = row;
        g->touched |= (set)1 << k;
    } else if (k >= 0 && f->ndim[i]) {
        put(g, f->ndim[i] == 1 && chance(g, 3) ? "%s[0..4]" : "%s", g->vars[k].name);
        g->touched |= (set)1 << k;
    } else if (k >= 0) {
        set before = g->touched;
        g->touched = 0;
        put_place(g, k, *used | (set)1 << k);
        *used |= g->touched;
        g->touched |= before;
    }
    if (k >= 0) *used |= (set)1 << k;
    return k >= 0;
}

static bool call(generator *g) {
    if (!g->nfunctions) return false;
    const signature *f = &g->functions[rng_below(&g->r, (uint32_t)g->nfunctions)];
    if (f->cost * g->weight + g->cost > 4 * MAX_COST || (f->stack && g->in_parallel)) return false;
    char *text = NULL;
    size_t size;
    FILE *out = g->out;
    set used = 0, before = g->touched;
    g->out = open_memstream(&text, &size);
    bool good = true;
    for (int i = 0; good && i < f->n; i++) {
        if (i) put(g, ", ");
        good = argument(g, f, i, &used);
    }
    fclose(g->out);
    g->out = out;
    if (good) {
        line(g);
        put(g, "%s %s(%s)", chance(g, 3) ? "uncall" : "call", f->name, text);
        g->cost += f->cost * g->weight;
        g->uses_stack |= f->stack;
    } else {
        g->touched = before;
    }
    free(text);
    return good;
}

static bool assertion(generator *g) {
    line(g);
    put(g, "assert ");
    leaf(g, RVM_FIX, 0);
    put(g, " < 1000000");
    return true;
}

typedef bool (*statement)(generator *g);
static const statement simple[] = {update,     update,     update, update, update, in_place,
                                   two_places, two_places, call,   call,   local};
static const statement structured[] = {branch, flagged_branch, counted,   conditional_loop, region,
                                       region, stacked,        unchecked, assertion,        instances};

static void block(generator *g, int statements) {
    int count = 1 + (int)rng_below(&g->r, (uint32_t)statements);
    for (int tried = 0; count > 0 && tried < 40; tried++) {
        bool deep = g->depth >= MAX_DEPTH || g->cost > MAX_COST || !chance(g, 3);
        if (deep ? simple[rng_below(&g->r, sizeof simple / sizeof *simple)](g)
                 : structured[rng_below(&g->r, sizeof structured / sizeof *structured)](g))
            count--;
    }
}

/* ---- functions ---- */
static void function(generator *g, const char *name, int params, int statements) {
    static const char *const prefix[] = {"n", "x", "q", "s"};
    signature f = {.n = params};
    memcpy(f.name, name, strlen(name) + 1);
    g->nvars = g->names = g->cost = g->depth = 0;
    g->weight = 1;
    g->touched = 0;
    g->in_parallel = g->uses_stack = false;
    put(g, "fn %s(", name);
    for (int i = 0; i < f.n; i++) {
        f.type[i] = i < RVM_TYPE_COUNT ? (rvm_type)i : any_type(g);
        f.ndim[i] = i < 2 || !chance(g, 3) ? 0 : 1 + (int)chance(g, 3);
        f.read[i] = i >= RVM_TYPE_COUNT && chance(g, 3);
        int k = declare(g, prefix[f.type[i]], f.type[i], f.ndim[i]);
        g->vars[k].locks = f.read[i];
        static const char *const dims[] = {"", "[4]", "[4, m]"};
        put(g, "%s%s: %s%s", i ? ", " : "", g->vars[k].name, rvm_type_name(f.type[i]), dims[f.ndim[i]]);
    }
    put(g, ")");
    g->indent = 1;
    for (int k = 0; k < statements; k++) block(g, 3);
    put(g, "\nend\n");
    f.cost = g->cost + 10;
    f.stack = g->uses_stack;
    if (g->nfunctions < MAX_FUNCTIONS) g->functions[g->nfunctions++] = f;
}

char *generate_program(uint64_t seed) {
    generator *g = calloc(1, sizeof *g);
    char *text = NULL;
    size_t size;
    if (!g) abort();
    g->r.state = seed;
    g->out = open_memstream(&text, &size);
    for (int k = 0, n = (int)rng_below(&g->r, MAX_FUNCTIONS); k < n; k++) {
        char name[32];
        snprintf(name, sizeof name, "f%d", k);
        function(g, name, 3 + (int)rng_below(&g->r, 3), 3);
    }
    function(g, "main_fn", MAX_PARAMS, 6);
    fclose(g->out);
    free(g);
    return text;
}

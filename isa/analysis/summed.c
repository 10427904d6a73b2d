/* summed.c: see summed.h.
 *
 * A scope is the body of a block, or a function that it calls, whole. Each register there has an origin: the parameters that
 * its value comes from, of the function, or that it varies: from one instance to the next, or between two calls with the
 * same integers and lengths. So does each array, of its lengths and of where it begins in an array of the surroundings.
 * Origins are a fixed point over the instructions of the scope, without regard to order: a scope and its inverse have the
 * same. What appears by two different instructions varies.
 *
 * Of a function each array parameter has a need: the origins of all indices at which it is added into, or, where it is read,
 * of those that the adjoint adds at. Callees come first. */
#include "summed.h"
#include "accesses.h"
#include "solver.h"

#include <string.h>

enum { WORDS = (RVM_MAX_PARAMS + 64) / 64, VARIES = WORDS * 64 - 1, DEEPEST = 8, PASSES = 64 };
_Static_assert(VARIES >= RVM_MAX_PARAMS, "a bit of its own");
enum { SEVERAL = UINT32_MAX };

typedef struct origin { /* parameters, by bit; or VARIES */
    uint64_t from[WORDS];
} origin;

typedef struct facts { /* of a web */
    origin value;      /* of a register; of an array where it begins */
    origin shape;      /* of an array */
    uint32_t made[2];  /* 1 + the instruction by which it appears, and disappears; 0: none; SEVERAL */
    uint16_t outer;    /* of an array: the one of the surroundings that it is part of, */
    bool part, parts;  /* if it is; of several such */
} facts;

typedef struct scope {
    const rvm_program *p;
    const rvm_function *f;
    uint32_t first, end; /* instructions */
    facts *of;           /* by web */
    uint32_t *now;       /* by slot: the web that is present where the walk is */
    uint8_t *inner;      /* by array: it appears in the scope */
    uint8_t *bits;       /* by array that is no part of another: how it is accessed */
    origin *need;        /* by the same */
    const origin *needs; /* of parameters, all functions */
    const size_t *at;    /* where a function's begin there */
    uint64_t work;       /* left for looking at code again; 0: nothing more is known */
    bool grew;
} scope;

/* ---- origins ---- */

static bool join(origin *to, const origin *from) {
    bool grows = false;
    for (int k = 0; k < WORDS; k++) {
        grows |= (from->from[k] & ~to->from[k]) != 0;
        to->from[k] |= from->from[k];
    }
    return grows;
}

static bool has(const origin *o, uint32_t bit) {
    return o->from[bit / 64] >> bit % 64 & 1;
}

static origin only(uint32_t bit) {
    origin o = {{0}};
    o.from[bit / 64] = UINT64_C(1) << bit % 64;
    return o;
}

static const origin *varying(void) {
    static const origin v = {{[WORDS - 1] = UINT64_C(1) << 63}};
    return &v;
}

static facts *of(const scope *s, const rvm_place *q) {
    return &s->of[rvm__web_of(s->f, q)];
}

static const origin *of_slot(const scope *s, uint16_t slot) {
    return &s->of[slot < s->f->nregs ? s->now[slot] : slot].value;
}

static void grow(scope *s, origin *to, const origin *from) {
    s->grew |= join(to, from);
}

/* ---- which web of a register is present, in the order of the text ---- */

static void arrive(const scope *s, const rvm_insn *in, bool up) {
    RVM__EACH_ACCESS(a, s->p, s->f, in)
        if (a.reg && a.toggles && (up || !a.appears)) s->now[a.q->slot] = rvm__web_of(s->f, a.q);
}

/* At a come-from what its jump saw is present, if that stands above. */
static void arrive_from(scope *s, uint32_t pc) {
    const rvm_insn *in = &s->f->code[pc];
    if (!rvm__is_jump(in->op) || !rvm__is_inverse(in->op) || in->target >= pc || in->target < s->first) return;
    const uint32_t steps = pc - in->target;
    s->work = steps < s->work ? s->work - steps : 0;
    if (!s->work) return;
    RVM__EACH_INSN_UP(x, s->f, pc, in->target) arrive(s, x.in, false);
}

static void begin_walk(const scope *s) {
    for (uint32_t k = 0; k < s->f->nregs; k++) s->now[k] = k; /* of the surroundings: nothing is noted there */
    if (s->first) arrive(s, &s->f->code[s->first - 1], true);
}

/* ---- facts ---- */

static void note_made(scope *s, facts *w, uint32_t pc, bool appears) {
    uint32_t *made = &w->made[!appears];
    if (!*made) *made = pc + 1;
    if (*made != pc + 1) grow(s, &w->value, varying()), grow(s, &w->shape, varying());
}

/* A register appears or disappears, by what its instruction reads. */
static void toggle_register(scope *s, const rvm_insn *in, uint32_t pc, const rvm__accesses *t) {
    const enum rvm_pair pair = rvm__pair_of(in->op);
    facts *w = of(s, t->q);
    note_made(s, w, pc, t->appears);
    if (pair != RVM_PAIR_let && pair != RVM_PAIR_for && pair != RVM_PAIR_par && pair != RVM_PAIR_addr)
        grow(s, &w->value, varying());
    RVM__EACH_ACCESS(a, s->p, s->f, in) {
        if (a.toggles) continue;
        grow(s, &w->value, a.q->kind == RVM_PLACE_SLOT ? of_slot(s, a.q->slot) : varying());
    }
}

static const origin *shape_of(const scope *s, const rvm_place *q) {
    return s->inner[q->slot] ? &of(s, q)->shape : &s->of[s->f->nregs + s->f->nconsts + q->slot].shape;
}

/* The array of the surroundings that a place is part of; false: none, or several. */
static bool outer_of(const scope *s, const rvm_place *q, uint16_t *outer) {
    *outer = s->inner[q->slot] ? of(s, q)->outer : q->slot;
    return !s->inner[q->slot] || (of(s, q)->part && !of(s, q)->parts);
}

static void take_part(scope *s, facts *w, const rvm_place *whole) {
    uint16_t outer;
    if (s->inner[whole->slot]) grow(s, &w->value, &of(s, whole)->value);
    grow(s, &w->shape, shape_of(s, whole));
    if (outer_of(s, whole, &outer)) {
        s->grew |= !w->part || (w->outer != outer && !w->parts);
        w->parts |= w->part && w->outer != outer;
        w->part = true;
        w->outer = outer;
    } else if (s->inner[whole->slot] && of(s, whole)->parts && !w->parts)
        s->grew = w->part = w->parts = true;
}

static void toggle_array(scope *s, const rvm_insn *in, uint32_t pc, const rvm__accesses *t) {
    const enum rvm_pair pair = rvm__pair_of(in->op);
    const rvm_place *q = rvm__places(s->f, in);
    facts *w = of(s, t->q);
    note_made(s, w, pc, t->appears);
    if (pair == RVM_PAIR_view) take_part(s, w, q + 1);
    if (pair == RVM_PAIR_like) grow(s, &w->shape, shape_of(s, q + 1));
    const uint32_t last = in->nplaces - (pair == RVM_PAIR_new); /* its value */
    for (uint32_t k = pair == RVM_PAIR_view ? 2 : 1; pair != RVM_PAIR_like && k < last; k++) {
        grow(s, &w->value, of_slot(s, q[k].slot));
        if (pair == RVM_PAIR_view && q[k].kind != RVM_PLACE_RANGE) continue;
        grow(s, &w->shape, of_slot(s, q[k].slot));
        if (q[k].kind == RVM_PLACE_RANGE) grow(s, &w->shape, of_slot(s, q[k].idx[0]));
    }
}

static void visit_insn(scope *s, const rvm_insn *in, uint32_t pc) {
    RVM__EACH_ACCESS(a, s->p, s->f, in) {
        if (a.toggles && a.array) toggle_array(s, in, pc, &a);
        if (!a.reg || rvm__slot_type(s->f, a.q->slot) != RVM_I64) continue;
        if (a.toggles)
            toggle_register(s, in, pc, &a);
        else if (a.bits & RVM__BITS_ACC)
            grow(s, &of(s, a.q)->value, varying());
    }
}

static bool visit(void *userdata, uint32_t node) {
    scope *s = userdata;
    (void)node;
    s->grew = false;
    begin_walk(s);
    RVM__EACH_INSN_IN(x, s->f, s->first, s->end) {
        arrive_from(s, x.pc);
        visit_insn(s, x.in, x.pc);
        arrive(s, x.in, true);
    }
    return s->grew && s->work;
}

/* ---- accesses that count ---- */

/* Whether the adjoint adds to the shadow of what is read there. */
static bool gives(const scope *s, const rvm__accesses *a) {
    if (a->bits != RVM__BITS_READ) return false;
    if (a->letter != 'a' && a->letter != 'p' && !a->param) return false;
    if (!rvm__op_is_update((rvm_op)a->in->op)) return true;
    const char *partial = a->k ? rvm__row_info[a->in->row].partial[a->k - 1] : NULL;
    return rvm__place_type(s->f, a->places) != RVM_I64 && (!partial || strcmp(partial, "0"));
}

/* What the needs of a parameter come from, where it is called. */
static void need_of_argument(const scope *s, const rvm__accesses *a, origin *need) {
    const uint32_t g = a->in->target;
    const rvm_function *callee = rvm__class_of(a->in->op) == RVM_CLASS_CALL && a->callee.name ? &s->p->functions[g] : NULL;
    const bool recursive = !callee || g >= s->p->calls.n || s->p->calls.recursive[g];
    const origin *of_callee = recursive ? varying() : &s->needs[s->at[g] + (a->k - a->callee.first)];
    if (has(of_callee, VARIES)) join(need, varying());
    for (uint32_t k = 0; !recursive && k < callee->nparams; k++) {
        const rvm_place *q = &a->places[a->callee.first + k];
        if (!has(of_callee, k)) continue;
        if (callee->params[k].ndim)
            join(need, shape_of(s, q));
        else
            join(need, q->kind == RVM_PLACE_SLOT ? of_slot(s, q->slot) : varying());
    }
}

static void use_array(scope *s, const rvm__accesses *a) {
    uint16_t outer;
    const uint16_t root = rvm__root_of(s->f, a->q);
    if (s->inner[root]) return;
    s->bits[root] |= (uint8_t)a->bits;
    if (!(a->bits & RVM__BITS_ACC) && !gives(s, a)) return;
    origin *need = &s->need[root];
    if (!s->work || !outer_of(s, a->q, &outer)) join(need, varying());
    if (s->inner[a->q->slot]) join(need, &of(s, a->q)->value);
    for (uint32_t d = 0; d < rvm__nindices(a->q); d++) join(need, of_slot(s, a->q->idx[d]));
    if (a->q->kind == RVM_PLACE_ARRAY && a->param) need_of_argument(s, a, need);
    if (a->q->kind == RVM_PLACE_ARRAY && !a->param) join(need, varying());
}

/* ---- bounds ---- */

typedef struct bounds {
    rvm__edge lo, hi;
} bounds;

static bounds unknown(void) {
    const rvm__edge any = {RVM__SUMMED_ANY, 0};
    return (bounds){any, any};
}

static rvm__edge moved(rvm__edge e, int64_t by) {
    if (e.base != RVM__SUMMED_ANY && __builtin_add_overflow(e.offset, by, &e.offset)) e.base = RVM__SUMMED_ANY;
    return e;
}

static bounds bounds_of(const scope *s, uint16_t slot, uint32_t web, unsigned depth);

static bounds bounds_at(const scope *s, const rvm_place *q, unsigned depth) {
    return q->kind == RVM_PLACE_SLOT ? bounds_of(s, q->slot, rvm__web_of(s->f, q), depth) : unknown();
}

static bool is_constant(bounds b) {
    return b.lo.base == RVM__SUMMED_NONE && b.hi.base == RVM__SUMMED_NONE && b.lo.offset == b.hi.offset;
}

static bounds plus(bounds a, bounds b) {
    if (is_constant(a) && !is_constant(b)) return plus(b, a);
    if (!is_constant(b)) return unknown();
    return (bounds){moved(a.lo, b.lo.offset), moved(a.hi, b.lo.offset)};
}

static bounds bounds_of_let(const scope *s, const rvm_insn *in, const rvm_place *q, unsigned depth) {
    const bounds a = bounds_at(s, q + 1, depth), b = in->row == RVM_ROW_id ? a : bounds_at(s, q + 2, depth);
    if (in->row == RVM_ROW_id) return a;
    if (in->row == RVM_ROW_add) return plus(a, b);
    if (in->row != RVM_ROW_sub || !is_constant(b) || b.lo.offset == INT64_MIN) return unknown();
    return (bounds){moved(a.lo, -b.lo.offset), moved(a.hi, -b.lo.offset)};
}

static bounds bounds_of_loop(const scope *s, const rvm_insn *in, const rvm_place *q, unsigned depth) {
    const bounds lo = bounds_at(s, q + 1, depth), hi = bounds_at(s, q + 2, depth);
    const bounds step = in->op == RVM_OP_for ? bounds_at(s, q + 3, depth) : lo;
    if (in->op == RVM_OP_par || (is_constant(step) && step.lo.offset > 0)) return (bounds){lo.lo, moved(hi.hi, -1)};
    if (is_constant(step)) return (bounds){moved(hi.lo, 1), lo.hi};
    return unknown();
}

static bounds bounds_of(const scope *s, uint16_t slot, uint32_t web, unsigned depth) {
    const rvm_function *f = s->f;
    if (slot >= f->nregs) {
        const rvm__edge e = {RVM__SUMMED_NONE, f->consts[slot - f->nregs].i};
        return (bounds){e, e};
    }
    const facts *w = &s->of[web];
    if (!depth || has(&w->value, VARIES)) return unknown();
    if (!w->made[0] && !w->made[1]) return (bounds){{slot, 0}, {slot, 0}};
    if (!w->made[0]) return unknown();
    const rvm_insn *in = &f->code[w->made[0] - 1];
    const rvm_place *q = rvm__places(f, in);
    if (in->op == RVM_OP_let) return bounds_of_let(s, in, q, depth - 1);
    return in->op == RVM_OP_for || in->op == RVM_OP_par ? bounds_of_loop(s, in, q, depth - 1) : unknown();
}

/* The lower, the higher of both; what cannot be compared is not known. */
static rvm__edge further(rvm__edge a, rvm__edge b, bool higher) {
    if (a.base != b.base) return (rvm__edge){RVM__SUMMED_ANY, 0};
    return (a.offset < b.offset) == higher ? b : a;
}

static void widen(rvm__summed *to, int d, bounds b, bool first) {
    to->lo[d] = first ? b.lo : further(to->lo[d], b.lo, false);
    to->hi[d] = first ? b.hi : further(to->hi[d], b.hi, true);
}

/* Bounds in dimension d of an array of the surroundings, at an access to it or to a part that is made of it. */
static bounds bounds_in(const scope *s, const rvm_place *q, int d) {
    if (!s->inner[q->slot]) {
        const bool indexed = q->kind == RVM_PLACE_ELEM && (uint32_t)d < q->nidx;
        return indexed ? bounds_of(s, q->idx[d], q->idx[d] < s->f->nregs ? s->now[q->idx[d]] : 0, DEEPEST) : unknown();
    }
    const rvm_insn *in = &s->f->code[of(s, q)->made[0] - 1];
    const rvm_place *v = rvm__places(s->f, in);
    const bool of_outer = rvm__pair_of(in->op) == RVM_PAIR_view && !s->inner[v[1].slot];
    return of_outer && 2u + (uint32_t)d < in->nplaces ? bounds_at(s, v + 2 + d, DEEPEST) : unknown();
}

static void note_bounds(const scope *s, const rvm__accesses *a, rvm__summed *list, uint32_t n) {
    uint16_t outer;
    if (s->inner[rvm__root_of(s->f, a->q)] || !outer_of(s, a->q, &outer)) return;
    if (!(a->bits & RVM__BITS_ACC) && !gives(s, a)) return;
    for (uint32_t k = 0; k < n; k++) {
        rvm__summed *to = &list[k];
        if (to->array != outer) continue;
        for (int d = 0; d < s->f->arrays[outer].ndim; d++) widen(to, d, bounds_in(s, a->q, d), !to->type);
        to->type = 1; /* it has bounds; the type comes later */
    }
}

/* ---- scopes ---- */

static size_t numbers_of(const rvm_function *f) {
    return (size_t)rvm__slot_numbers(f) + f->nwebs;
}

/* What appears in the scope; a register of that kind is nobody's where the text has not come to it yet. */
static void find_inner(scope *s) {
    RVM__EACH_INSN_IN(x, s->f, s->first, s->end)
        RVM__EACH_ACCESS(a, s->p, s->f, x.in) {
            if (a.toggles && a.array) s->inner[a.q->slot] = 1;
            if (a.toggles && a.reg) s->of[a.q->slot].value = *varying();
        }
}

/* The fixed point, then all accesses. */
static void look(scope *s) {
    s->work = (uint64_t)PASSES * s->f->ncode + 1;
    find_inner(s);
    rvm__solve(1, visit, s);
    begin_walk(s);
    RVM__EACH_INSN_IN(x, s->f, s->first, s->end) {
        arrive_from(s, x.pc);
        RVM__EACH_ACCESS(a, s->p, s->f, x.in)
            if (a.array && !a.toggles) use_array(s, &a);
        arrive(s, x.in, true);
    }
}

static void clear(const scope *s) {
    memset(s->of, 0, numbers_of(s->f) * sizeof *s->of);
    memset(s->inner, 0, s->f->narrays);
    memset(s->bits, 0, s->f->narrays);
    memset(s->need, 0, s->f->narrays * sizeof *s->need);
}

/* The needs of a function's parameters. */
static void look_at_function(scope *s, uint32_t fn, origin *needs) {
    const rvm_function *f = s->f = &s->p->functions[fn];
    s->first = 0, s->end = f->ncode;
    clear(s);
    for (uint32_t k = f->nparams; k-- > 0;) {
        const rvm_param *param = &f->params[k];
        const origin own = only(k);
        if (!param->ndim) s->of[param->index].value = own;
        if (param->ndim) s->of[f->nregs + f->nconsts + param->index].shape = own;
        for (int d = 0; d < param->ndim; d++)
            if (param->dim[d] < f->nregs) s->of[param->dim[d]].value = own;
    }
    look(s);
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k].ndim) needs[s->at[fn] + k] = s->need[f->params[k].index];
}

/* What the block may come to run is marked: callers stand behind callees. */
static bool mark_callees(const scope *s, uint32_t fn, uint32_t par, uint8_t *marks) {
    const rvm__callgraph *g = &s->p->calls;
    bool any = false;
    RVM__EACH_INSN_IN(x, &s->p->functions[fn], par + 1, s->p->functions[fn].code[par].target)
        RVM__EACH_CALLEE(c, s->p, x.in) any = true, marks[c] = 1;
    for (uint32_t k = g->n; any && k-- > 0;) {
        if (!marks[g->order[k]]) continue;
        RVM__EACH_INSN(x, &s->p->functions[g->order[k]])
            RVM__EACH_CALLEE(c, s->p, x.in) marks[c] = 1;
    }
    return any;
}

typedef struct room { /* of the scratch, in this order */
    size_t *at;
    origin *needs, *need;
    facts *of;
    uint32_t *now;
    uint8_t *inner, *bits, *marks;
} room;

typedef struct most {
    size_t params, numbers, regs, arrays;
} most;

static most most_of(const rvm_program *p) {
    most m = {0, 0, 0, 0};
    for (uint32_t k = 0; k < p->nfunctions; k++) {
        const rvm_function *f = &p->functions[k];
        m.params += f->nparams;
        if (numbers_of(f) > m.numbers) m.numbers = numbers_of(f);
        if (f->nregs > m.regs) m.regs = f->nregs;
        if (f->narrays > m.arrays) m.arrays = f->narrays;
    }
    return m;
}

size_t rvm__summed_scratch(const rvm_program *p) {
    const most m = most_of(p);
    const size_t bytes = p->nfunctions * (sizeof(size_t) + 1) + (m.params + m.arrays) * sizeof(origin) +
                         m.numbers * sizeof(facts) + m.regs * sizeof(uint32_t) + 2 * m.arrays + 1;
    return (bytes + 7) & ~(size_t)7;
}

static room room_in(const rvm_program *p, void *scratch) {
    const most m = most_of(p);
    room r = {.at = scratch};
    r.needs = (origin *)(r.at + p->nfunctions);
    r.need = r.needs + m.params;
    r.of = (facts *)(r.need + m.arrays);
    r.now = (uint32_t *)(r.of + m.numbers);
    r.inner = (uint8_t *)(r.now + m.regs);
    r.bits = r.inner + m.arrays;
    r.marks = r.bits + m.arrays;
    for (uint32_t k = 1; k < p->nfunctions; k++) r.at[k] = r.at[k - 1] + p->functions[k - 1].nparams;
    return r;
}
_Static_assert(sizeof(size_t) == 8 && sizeof(facts) % 8 == 0, "one behind the other");

/* Whether the block stands in another one: such run one instance after the other, where those do. */
static bool is_nested(const rvm_function *f, uint32_t par) {
    for (uint32_t k = 0; k < par; k++)
        if (f->code[k].op == RVM_OP_par && f->code[k].target > par) return true;
    return false;
}

static uint32_t list(const scope *s, enum rvm__summed_of what, rvm__summed *out) {
    const unsigned role = what == RVM__SUMMED_VALUES ? RVM__BITS_ACC : RVM__BITS_READ;
    enum { NAMED = 128 }; /* by itself, or a part that is made of it */
    uint32_t n = 0;
    RVM__EACH_INSN_IN(x, s->f, s->first, s->end)
        RVM__EACH_ACCESS(a, s->p, s->f, x.in) {
            uint16_t outer;
            if (!a.array || a.toggles || !outer_of(s, a.q, &outer)) continue;
            const uint16_t root = rvm__root_of(s->f, a.q);
            if (s->inner[root] || (s->bits[root] & RVM__BITS_OWN) != role || has(&s->need[root], VARIES)) continue;
            if (!(a.bits & RVM__BITS_ACC) && !gives(s, &a)) continue;
            if (rvm__is_floating((rvm_type)s->f->arrays[outer].type)) s->bits[outer] |= NAMED;
        }
    for (uint32_t k = 0; k < s->f->narrays; k++)
        if (s->bits[k] & NAMED) out[n++] = (rvm__summed){.array = (uint16_t)k};
    return n;
}

uint32_t rvm__summed_find(const rvm_program *p, uint32_t fn, uint32_t par, enum rvm__summed_of what, void *scratch,
                          rvm__summed *out) {
    const rvm_function *f = &p->functions[fn];
    if (is_nested(f, par)) return 0;
    const room r = room_in(p, scratch);
    scope s = {
        .p = p, .of = r.of, .now = r.now, .inner = r.inner, .bits = r.bits, .need = r.need, .needs = r.needs, .at = r.at};
    const bool calls = mark_callees(&s, fn, par, r.marks);
    for (uint32_t k = 0; calls && k < p->calls.n; k++)
        if (r.marks[p->calls.order[k]]) look_at_function(&s, p->calls.order[k], r.needs);
    s.f = f, s.first = par + 1, s.end = f->code[par].target;
    clear(&s);
    of(&s, rvm__places(f, &f->code[par]))->value = *varying();
    look(&s);
    const uint32_t n = list(&s, what, out);
    begin_walk(&s);
    RVM__EACH_INSN_IN(x, f, s.first, s.end) {
        arrive_from(&s, x.pc);
        RVM__EACH_ACCESS(a, p, f, x.in)
            if (a.array && !a.toggles) note_bounds(&s, &a, out, n);
        arrive(&s, x.in, true);
    }
    for (uint32_t k = 0; k < n; k++) out[k].type = f->arrays[out[k].array].type;
    return n;
}

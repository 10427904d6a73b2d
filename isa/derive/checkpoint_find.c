/* checkpoint_find.c: loops that leave something on the trail, and what they use of their surroundings. See checkpoint.h.
 *
 * What compute parts and segments put on the trail they take back themselves; a function leaves what it moves there outside
 * of them, and what its callees leave. */
#include "accesses.h"
#include "checkpoint.h"
#include "reach.h"
#include "solver.h"

#include <string.h>

enum { LEAVES = 1, TAKES = 2 };                /* of a trail */
enum { REACHED = 1, DERIVED = 2, TURNED = 4 }; /* of a function: called; derivatives are there; rvm__loop.turns */
enum { READ = RVM__BITS_READ, ADDED = RVM__BITS_ACC, USED = 4, LOCAL = 8, TOGGLED = 16, VIEWED = 32 }; /* of a place */

typedef struct finder {
    const rvm_program *p;
    const rvm_function *f;
    uint32_t fn;
    rvm__zone *memory;
    rvm__reach *reach;
    uint8_t (*trail)[2]; /* by function, and whether it runs backward */
    uint8_t *marks;      /* by function */
    uint8_t *uses;       /* by register, then array, of f */
    rvm__loops *to;
} finder;

/* ---- trails ---- */

static unsigned trail_of(const finder *w, const rvm_insn *in, bool down) {
    const rvm_op op = down ? rvm__op_inverse((rvm_op)in->op) : (rvm_op)in->op;
    unsigned does = 0;
    if (op == RVM_OP_set || op == RVM_OP_drop || op == RVM_OP_shed) return LEAVES;
    if (op == RVM_OP_unset || op == RVM_OP_undrop || op == RVM_OP_recall) return TAKES;
    RVM__EACH_CALLEE(g, w->p, in) does |= w->trail[g][rvm__is_inverse(op)];
    return does;
}

static int deeper(const rvm_insn *in) {
    return (in->op == RVM_OP_compute || in->op == RVM_OP_segment) - (in->op == RVM_OP_do || in->op == RVM_OP_endsegment);
}

static bool visit_trail(void *userdata, uint32_t fn) {
    const finder *w = userdata;
    int depth = 0;
    bool grew = false;
    RVM__EACH_INSN(x, &w->p->functions[fn]) {
        depth += deeper(x.in);
        for (int down = 0; down < 2 && !depth; down++) grew |= rvm__join8(&w->trail[fn][down], trail_of(w, x.in, down));
    }
    return grew;
}

/* ---- what a loop leaves there ---- */

/* Whether the slot is the counter, or that and a constant or length, in the body. */
static bool follows(const finder *w, uint16_t slot, uint32_t pc, uint32_t from, uint16_t counter) {
    if (slot == counter) return true;
    if (slot >= w->f->nregs) return false;
    RVM__EACH_INSN_UP(x, w->f, pc, from + 1) {
        if (x.in->op != RVM_OP_let || x.q[0].slot != slot || x.q[0].kind != RVM_PLACE_SLOT) continue;
        const bool sum = x.in->row == RVM_ROW_add || x.in->row == RVM_ROW_sub || x.in->row == RVM_ROW_id;
        if (!sum || x.q[1].kind != RVM_PLACE_SLOT) return false;
        return x.q[1].slot == counter || (x.in->row == RVM_ROW_add && x.q[2].slot == counter);
    }
    return false;
}

static bool indexed_by(const finder *w, const rvm_place *q, uint32_t pc, uint32_t from, uint16_t counter) {
    for (uint32_t d = 0; d < rvm__nindices(q); d++)
        if (follows(w, q->idx[d], pc, from, counter)) return true;
    return false;
}

/* Whether an array in the body is a row or a slice of another at an index that follows the counter. */
static bool views_by(const finder *w, uint16_t array, uint32_t pc, uint32_t from, uint16_t counter) {
    RVM__EACH_INSN_UP(x, w->f, pc, from + 1) {
        if (!rvm__op_names_array((rvm_op)x.in->op) || x.q[0].slot != array) continue;
        if (rvm__is_inverse(x.in->op)) return false;
        for (uint32_t k = 2; k < x.in->nplaces; k++) /* behind the array that it is part of */
            if (indexed_by(w, &x.q[k], pc, from, counter) || follows(w, x.q[k].slot, pc, from, counter)) return true;
        return false;
    }
    return false;
}

/* Whether what the instruction leaves on the trail is of other elements in each trip, so that all of it is no more than a
 * state: all that it changes is indexed by the counter. */
static bool leaves_others(const finder *w, const rvm__cursor *x, uint32_t from, uint16_t counter) {
    bool any = false;
    RVM__EACH_ACCESS(a, w->p, w->f, x->in) {
        if (!(a.bits & ADDED) || a.toggles) continue;
        any = true;
        const bool whole = a.q->kind == RVM_PLACE_ARRAY;
        if (whole ? !views_by(w, a.q->slot, x->pc, from, counter) : !indexed_by(w, a.q, x->pc, from, counter)) return false;
    }
    return any;
}

/* Whether the loops around instruction pc within the body, and the loop, each count through its elements. */
static bool goes_through(const finder *w, const rvm__loop *loop, const rvm__cursor *x) {
    RVM__EACH_INSN_IN(y, w->f, loop->pc, x->pc) {
        const bool around = y.in->target > x->pc;
        if (rvm__is_jump(y.in->op) && rvm__is_inverse(y.in->op) && around) return false;
        if (rvm__is_loop(y.in->op) && around && !leaves_others(w, x, loop->pc, y.q[0].slot)) return false;
    }
    return true;
}

/* What the loop's body does with trails. Its cells; whether all that it leaves is of elements that it goes through. */
static unsigned body_trail(const finder *w, rvm__loop *loop) {
    unsigned does = 0;
    int depth = 0;
    uint32_t behind = 0; /* an inner loop */
    bool known = true;
    loop->cells = 0;
    loop->once = !loop->whiles;
    RVM__EACH_INSN_IN(x, w->f, loop->pc + 1, loop->end) {
        const bool loops = rvm__is_loop(x.in->op) || (rvm__is_jump(x.in->op) && rvm__is_inverse(x.in->op));
        if (loops && x.in->target > x.pc) behind = (uint32_t)rvm__most(behind, x.in->target);
        depth += deeper(x.in);
        const unsigned here = depth ? 0 : trail_of(w, x.in, false);
        does |= here;
        if (!(here & LEAVES)) continue;
        loop->once = loop->once && goes_through(w, loop, &x);
        known = known && x.pc >= behind && !rvm__is_call(x.in);
        for (uint32_t k = 0; k < x.in->nplaces; k++) known = known && x.q[k].kind != RVM_PLACE_ARRAY;
        loop->cells += rvm__op_sets((rvm_op)x.in->op) ? 1 : x.in->nplaces;
    }
    if (!known) loop->cells = 0;
    return does;
}

/* ---- places ---- */

static void use_register(const finder *w, uint16_t slot, unsigned how) {
    if (slot < w->f->nregs) w->uses[slot] |= (uint8_t)(how | USED);
}

/* An array that appears in the loop is the loop's own, as long as it does not stand for part of another. */
static void use_array(const finder *w, const rvm__accesses *a) {
    uint8_t *named = &w->uses[w->f->nregs + a->q->slot];
    const uint16_t root = rvm__root_of(w->f, a->q);
    if (a->toggles) {
        *named |= (uint8_t)(*named & USED ? TOGGLED : LOCAL);
        *named |= USED;
        return;
    }
    if (!(*named & LOCAL) && root != a->q->slot) w->uses[w->f->nregs + root] |= VIEWED;
    *named |= USED;
    w->uses[w->f->nregs + (*named & LOCAL ? root : a->q->slot)] |= (uint8_t)(a->bits | USED);
}

static void use_place(const finder *w, const rvm__accesses *a) {
    for (uint32_t d = 0; d < rvm__nindices(a->q); d++) use_register(w, a->q->idx[d], READ);
    if (a->array) {
        use_array(w, a);
        return;
    }
    if (a->q->slot >= w->f->nregs) return;
    uint8_t *use = &w->uses[a->q->slot];
    if (a->toggles) *use |= (uint8_t)(*use & LOCAL ? 0 : *use & USED ? TOGGLED : LOCAL);
    use_register(w, a->q->slot, a->q->kind == RVM_PLACE_RANGE ? READ : a->toggles ? 0 : a->bits);
}

/* A counted loop reads its bounds, and its counter is its own; the condition of another is kept from trip to trip. */
static void find_uses(const finder *w, const rvm__loop *loop) {
    memset(w->uses, 0, (size_t)w->f->nregs + w->f->narrays);
    const rvm_place *q = rvm__places(w->f, &w->f->code[loop->pc]);
    for (int k = 1; k < w->f->code[loop->pc].nplaces; k++) use_register(w, q[k].slot, READ);
    RVM__EACH_INSN_IN(x, w->f, loop->pc + 1, loop->end)
        RVM__EACH_ACCESS(a, w->p, w->f, x.in) use_place(w, &a);
    w->uses[q[0].slot] = loop->whiles ? READ | ADDED | USED : LOCAL;
}

static const char *refuse_uses(const finder *w) {
    const size_t n = (size_t)w->f->nregs + w->f->narrays;
    for (size_t k = 0; k < n; k++) {
        if (w->uses[k] & TOGGLED) return "what is there before it disappears in it";
        if (w->uses[k] & VIEWED) return "it uses part of an array under a name that was given outside of it";
    }
    return NULL;
}

/* Lengths of arrays among the places come with them. */
static bool is_length_of_used(const finder *w, uint16_t reg) {
    for (uint32_t k = 0; k < w->f->nparams; k++) {
        const rvm_param *q = &w->f->params[k];
        for (int d = 0; d < q->ndim; d++)
            if (q->dim[d] == reg && w->uses[w->f->nregs + q->index] & USED) return true;
    }
    return false;
}

static bool take_places(const finder *w, rvm__loop *loop) {
    const uint32_t n = w->f->nregs + w->f->narrays;
    for (uint32_t pass = 0; pass < 2; pass++) {
        loop->nplaces = 0;
        for (uint32_t k = 0; k < n; k++) {
            const bool array = k >= w->f->nregs;
            const uint8_t use = w->uses[k];
            if (!(use & USED) || use & LOCAL || (!array && is_length_of_used(w, (uint16_t)k))) continue;
            const enum rvm__loop_use how = !(use & ADDED) ? RVM__LOOP_READS
                                           : use & READ   ? RVM__LOOP_CHANGES
                                                          : RVM__LOOP_ADDS;
            if (pass)
                loop->places[loop->nplaces] =
                    (rvm__loop_place){array, (uint8_t)how, (uint16_t)(array ? k - w->f->nregs : k)};
            loop->nplaces++;
        }
        if (!pass && !(loop->places = rvm__zone_make(w->memory, loop->nplaces + 1, sizeof *loop->places))) return false;
    }
    return true;
}

/* ---- loops ---- */

static const char *refuse_body(const finder *w, const rvm__loop *loop, unsigned does) {
    if (does & TAKES) return "it takes from the trail what was put there before it";
    if (w->f->code[loop->pc].flags & RVM_FLAG_REVERSED) return "it runs from its last trip to its first";
    RVM__EACH_INSN_IN(x, w->f, loop->pc, loop->end) {
        if (rvm__op_on_stack((rvm_op)x.in->op)) return "it uses the stack";
        RVM__EACH_CALLEE(g, w->p, x.in)
            if (w->reach[g].stack) return "it uses the stack";
    }
    return NULL;
}

static const char *refuse_function(const finder *w) {
    if (w->marks[w->fn] & DERIVED) return "derivatives of the function that it stands in are part of the program";
    for (uint32_t k = 0; k < w->p->nrules; k++)
        if (w->p->rules[k].of == w->fn) return "a derivative of the function that it stands in is written by hand";
    return w->p->calls.recursive[w->fn] ? "the function that it stands in may call itself" : NULL;
}

rvm__while rvm__while_at(const rvm_function *f, uint32_t pc) {
    const rvm_insn *code = f->code;
    rvm__while l = {.back = code[pc].op == RVM_OP_cff ? code[pc].target : 0};
    if (l.back <= pc || l.back + 2 >= f->ncode) return (rvm__while){0};
    l.end = l.back + 2;
    if (code[l.back].op != RVM_OP_jf || code[l.back + 1].op != RVM_OP_trap || code[l.end].op != RVM_OP_cff)
        return (rvm__while){0};
    l.test = code[l.end].target;
    const uint16_t c = rvm__places(f, &code[pc])->slot;
    const bool one = rvm__places(f, &code[l.back])->slot == c && rvm__places(f, &code[l.end])->slot == c;
    if (!one || l.test <= pc || l.test >= l.back) return (rvm__while){0};
    for (uint32_t k = pc + 1; k < l.test; k++)
        if (rvm__op_target((rvm_op)code[k].op)) return (rvm__while){0};
    return l;
}

/* Where a loop that begins there ends by `until`; 0: none does. */
static uint32_t until_at(const rvm_function *f, uint32_t pc) {
    const uint32_t back = f->code[pc].op == RVM_OP_cff ? f->code[pc].target : 0;
    if (back <= pc || back + 2 >= f->ncode) return 0;
    const rvm_insn *in = &f->code[back];
    return in[0].op == RVM_OP_jf && in[1].op == RVM_OP_trap && in[2].op == RVM_OP_cft ? back + 2 : 0;
}

static bool in_compute(const rvm_function *f, uint32_t pc) {
    int depth = 0;
    RVM__EACH_INSN_IN(x, f, 0, pc) depth += (x.in->op == RVM_OP_compute) - (x.in->op == RVM_OP_do);
    return depth > 0;
}

/* Whether a loop begins there that leaves something on the trail for long; fills *loop, without places. */
static bool look_at(const finder *w, uint32_t pc, bool in_block, rvm__loop *loop) {
    const rvm_insn *in = &w->f->code[pc];
    *loop = (rvm__loop){.fn = w->fn, .pc = pc, .end = in->op == RVM_OP_for ? in->target : rvm__while_at(w->f, pc).end};
    const uint32_t until = loop->end ? 0 : until_at(w->f, pc);
    if (until) loop->end = until;
    if (!loop->end) return false;
    loop->whiles = in->op != RVM_OP_for;
    const unsigned does = body_trail(w, loop);
    if (!(does & LEAVES) || loop->once) return false;
    loop->why = until ? "it ends by `until`, within a trip" : refuse_function(w);
    if (!loop->why) loop->why = refuse_body(w, loop, does);
    if (!loop->why && in_block) loop->why = "it stands in a parallel block";
    if (loop->why) return true;
    find_uses(w, loop);
    loop->why = refuse_uses(w);
    loop->turns = w->marks[w->fn] & TURNED || in_compute(w->f, pc);
    return true;
}

/* The next loop of the function from *pc on that leaves something; *pc: where to go on. */
static bool next_loop(const finder *w, uint32_t *pc, uint32_t *block, rvm__loop *loop) {
    RVM__EACH_INSN_IN(x, w->f, *pc, w->f->ncode) {
        if (x.in->op == RVM_OP_par) *block = (uint32_t)rvm__most(*block, x.in->target);
        if (!look_at(w, x.pc, x.pc < *block, loop)) continue;
        *pc = x.pc + 1;
        return true;
    }
    return false;
}

static void stand_in(finder *w, uint32_t fn) {
    w->fn = fn;
    w->f = &w->p->functions[fn];
}

/* Callers before callees: who is called, and how. */
static bool visit_marks(void *userdata, uint32_t fn) {
    const finder *w = userdata;
    bool grew = false;
    int depth = 0;
    if (!(w->marks[fn] & REACHED)) return false;
    RVM__EACH_INSN(x, &w->p->functions[fn]) {
        depth += (x.in->op == RVM_OP_compute) - (x.in->op == RVM_OP_do);
        const unsigned turned = depth || rvm__is_inverse(x.in->op) ? TURNED : w->marks[fn] & TURNED;
        RVM__EACH_CALLEE(g, w->p, x.in) grew |= rvm__join8(&w->marks[g], (uint8_t)(REACHED | turned));
    }
    return grew;
}

/* Functions of which the program has derivatives: these go back over the function as it is. */
static void mark_derived(const finder *w) {
    for (uint32_t k = 0; k < w->p->nfunctions; k++) {
        const char *name = w->p->functions[k].name, *tick = strchr(name, '\'');
        const int64_t of = tick ? rvm__program_find(w->p, name, (size_t)(tick - name)) : -1;
        if (of >= 0) w->marks[of] |= DERIVED;
        if (tick) w->marks[k] |= DERIVED;
    }
}

static bool collect(finder *w, uint32_t fn) {
    rvm__loop loop;
    uint32_t pc = 0, block = 0;
    if (!(w->marks[fn] & REACHED)) return true;
    stand_in(w, fn);
    while (next_loop(w, &pc, &block, &loop)) {
        if (!loop.why && !take_places(w, &loop)) return false;
        if (w->to->loops) w->to->loops[w->to->n] = loop;
        w->to->n++;
    }
    return true;
}

/* Twice: to count them, then into as much room. */
static bool collect_all(finder *w) {
    for (int pass = 0; pass < 2; pass++) {
        w->to->n = 0;
        for (uint32_t k = 0; k < w->p->nfunctions; k++)
            if (!collect(w, k)) return false;
        if (!pass && !(w->to->loops = rvm__zone_make(w->memory, w->to->n + 1, sizeof *w->to->loops))) return false;
    }
    return true;
}

static bool begin(finder *w) {
    uint32_t most = 1;
    for (uint32_t k = 0; k < w->p->nfunctions; k++)
        most = (uint32_t)rvm__most(most, (uint64_t)w->p->functions[k].nregs + w->p->functions[k].narrays);
    w->reach = rvm__zone_make(w->memory, w->p->nfunctions, sizeof *w->reach);
    w->trail = rvm__zone_make(w->memory, w->p->nfunctions, sizeof *w->trail);
    w->marks = rvm__zone_make(w->memory, w->p->nfunctions, 1);
    w->uses = rvm__zone_make(w->memory, most, 1);
    return !w->memory->failed && rvm__reach_find(w->p, w->reach);
}

rvm_status rvm__loops_find(const rvm_program *p, uint32_t fn, rvm__zone *memory, rvm__loops *out, rvm_error *err) {
    finder w = {.p = p, .memory = memory, .to = out};
    *out = (rvm__loops){0};
    if (!begin(&w)) return rvm__fail_memory(err);
    rvm__solve_calls(&p->calls, RVM__CALLEES_FIRST, visit_trail, &w);
    mark_derived(&w);
    w.marks[fn] |= REACHED;
    rvm__solve_calls(&p->calls, RVM__CALLERS_FIRST, visit_marks, &w);
    return collect_all(&w) ? RVM_OK : rvm__fail_memory(err);
}

/* ---- as users ask ---- */

static rvm_checkpointed told(const rvm_program *p, const rvm__loop *loop) {
    rvm_checkpointed out = {.fn = loop->fn, .function = p->functions[loop->fn].name, .why = loop->why};
    rvm_program_position(p, loop->fn, loop->pc, &out.file, &out.line, &out.column);
    for (uint32_t k = 0; k < loop->nplaces; k++)
        *(loop->places[k].use == RVM__LOOP_CHANGES ? &out.changes : &out.reads) += 1;
    return out;
}

rvm_status rvm_program_checkpointed(const rvm_program *p, int64_t fn, rvm_checkpointed *out, uint32_t most, uint32_t *n,
                                    rvm_error *err) {
    RVM__NEEDS(p, n);
    *n = 0;
    if (most) RVM__NEEDS(out);
    if (fn < 0 || fn >= p->nfunctions)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no function has number %lld", (long long)fn);
    rvm__zone memory = {.al = &p->al};
    rvm__loops loops;
    const rvm_status status = rvm__loops_find(p, (uint32_t)fn, &memory, &loops, err);
    if (!status) *n = loops.n;
    for (uint32_t k = 0; k < *n && k < most; k++) out[k] = told(p, &loops.loops[k]);
    rvm__zone_free(&memory);
    return status;
}

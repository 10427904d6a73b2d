/* cost_bound.c: how many instructions run at most, where the text alone tells: no back edge but of loops whose trips are
 * constants, or no more than the elements of a local array that each trip has one of, and only calls of what is bounded.
 * Loops around such code poll every so many trips (counted.c, block.c). */
#include "emit.h"
#include "analysis.h"
#include "builder.h"
#include "work.h"

enum { MOST_TRIPS = 1 << 16 };

static uint64_t limited(uint64_t n) {
    return n < RVM__UNBOUNDED ? n : RVM__UNBOUNDED;
}

static bool constant(const rvm_function *f, uint16_t slot, int64_t *to) {
    if (slot < f->nregs || slot >= f->nregs + f->nconsts) return false;
    *to = f->consts[slot - f->nregs].i;
    return true;
}

/* Bytes of a local array in an alloca, if that is what has the name at pc, and not a view. */
static uint64_t alloca_at(const rvm__unit *u, uint32_t fn, uint32_t pc, uint16_t array) {
    const rvm_function *f = &u->p->functions[fn];
    const uint64_t bytes = rvm__alloca_bytes(u, fn, array);
    const bool itself = rvm__op_names_array((rvm_op)f->code[pc].op) && rvm__places(f, &f->code[pc])->slot == array;
    const uint32_t maker = !bytes || itself ? pc : rvm__maker_of(f, array, pc);
    return maker && rvm__pair_of(f->code[maker].op) != RVM_PAIR_view && rvm__is_closed(f, maker, pc) ? bytes : 0;
}

/* Elements of a local array, a small constant, of which the instruction has the one at an index; else 0. */
static uint64_t elements_at(const rvm__unit *u, uint32_t fn, uint32_t pc, uint16_t index) {
    const rvm_function *f = &u->p->functions[fn];
    const rvm_insn *in = &f->code[pc];
    const rvm_place *q = rvm__places(f, in);
    for (uint32_t k = 0; k < in->nplaces; k++) {
        if (q[k].kind != RVM_PLACE_ELEM || q[k].nidx != 1 || q[k].idx[0] != index) continue;
        const uint64_t bytes = alloca_at(u, fn, pc, q[k].slot);
        if (bytes) return (bytes - RVM__ARRAY_HEADER) / sizeof(rvm_value);
    }
    return 0;
}

uint64_t rvm__trips_in_array(const rvm__unit *u, uint32_t fn, uint32_t pc) {
    enum { MOST_BODY = 64 };
    const rvm_function *f = &u->p->functions[fn];
    const rvm__xinsn *x = &u->m->codes[fn].x[pc];
    const uint32_t lo = rvm__lower_end(f, pc), hi = f->code[lo].target;
    uint64_t n = 0;
    if (!u->w->trust || rvm__pair_of(f->code[pc].op) != RVM_PAIR_for || hi - lo > MOST_BODY) return RVM__UNBOUNDED;
    RVM__EACH_INSN_IN(i, f, lo + 1, hi) {
        if (!rvm__goes_on(i.in)) return RVM__UNBOUNDED;
        if (!n) n = elements_at(u, fn, i.pc, x->to.i);
    }
    return n ? n : RVM__UNBOUNDED;
}

/* Of the loop or block that begins at pc. */
static uint64_t trips_at(const rvm__unit *u, uint32_t fn, uint32_t pc) {
    const rvm_function *f = &u->p->functions[fn];
    const rvm__xinsn *x = &u->m->codes[fn].x[pc];
    int64_t lo, hi, step = 1;
    if (!constant(f, x->to.lo, &lo) || !constant(f, x->to.hi, &hi)) return RVM__UNBOUNDED;
    if (rvm__pair_of(f->code[pc].op) == RVM_PAIR_for && !constant(f, x->to.step, &step)) return RVM__UNBOUNDED;
    const int64_t most = RVM__UNBOUNDED / 2;
    if (lo < -most || lo > most || hi < -most || hi > most) return RVM__UNBOUNDED;
    return (uint64_t)(hi > lo ? hi - lo : lo - hi); /* whatever the step */
}

static uint64_t most_of_call(const rvm__unit *u, const rvm_insn *in, bool polled) {
    uint64_t most = 0;
    RVM__EACH_CALLEE(g, u->p, in) {
        const uint64_t n = polled ? u->summaries[g].unseen : u->summaries[g].most;
        if (n > most) most = n;
    }
    return most;
}

/* Whether it passes over the elements of an array, which may be many. */
static bool is_long(const rvm__unit *u, uint32_t fn, uint32_t pc) {
    const rvm_insn *in = &u->p->functions[fn].code[pc];
    const rvm_place *q = rvm__places(&u->p->functions[fn], in);
    if (rvm__is_call(in) || rvm__pair_of(in->op) == RVM_PAIR_view) return false;
    for (uint32_t k = 0; k < in->nplaces; k++)
        if (q[k].kind == RVM_PLACE_ARRAY && !alloca_at(u, fn, pc, q[k].slot)) return true;
    return false;
}

/* Of all trips of the loop or block that begins at pc. */
static uint64_t count_trips(const rvm__unit *u, uint32_t fn, uint32_t pc, bool polled) {
    const uint64_t body = rvm__most_between(u, fn, pc + 1, u->p->functions[fn].code[pc].target, polled);
    uint64_t trips = trips_at(u, fn, pc);
    if (trips >= RVM__UNBOUNDED) trips = rvm__trips_in_array(u, fn, pc);
    const bool bounded = trips < RVM__UNBOUNDED && body < RVM__UNBOUNDED;
    const uint64_t all = bounded ? limited(trips * (body + 1)) : RVM__UNBOUNDED; /* too small, both, for that to overflow */
    return polled && all > RVM__STRIP ? body : all;
}

uint64_t rvm__most_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to, bool polled) {
    uint64_t n = 0;
    RVM__EACH_INSN_IN(x, &u->p->functions[fn], from, to) {
        const bool back = rvm__is_jump(x.in->op) && !rvm__is_inverse(x.in->op) && x.in->target < x.pc;
        n++;
        if ((back && !polled) || is_long(u, fn, x.pc)) return RVM__UNBOUNDED;
        if (rvm__is_call(x.in)) n += most_of_call(u, x.in, polled);
        if (x.in->op == RVM_OP_compute) { /* the part runs twice, unless it is forgotten */
            n += (rvm__forgets(x.f, x.pc) ? 1 : 2) * rvm__most_between(u, fn, x.pc + 1, x.in->target, polled);
            x.pc = x.in->target - 1;
        } else if (rvm__is_loop(x.in->op) && x.in->target > x.pc) {
            n += count_trips(u, fn, x.pc, polled);
            x.pc = x.in->target;
        }
        if (n >= RVM__UNBOUNDED) return RVM__UNBOUNDED;
    }
    return n;
}

uint64_t rvm__work_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to) {
    enum { LOOP = 8 };
    const uint64_t most = UINT64_C(1) << 40;
    uint64_t weight = 1, sum = 0;
    RVM__EACH_INSN_IN(x, &u->p->functions[fn], from, to) {
        const bool loop = rvm__pair_of(x.in->op) == RVM_PAIR_for;
        uint64_t work = 1;
        if (loop && x.in->target < x.pc) weight /= LOOP;
        RVM__EACH_CALLEE(g, u->p, x.in)
            if (u->summaries[g].work > work) work = u->summaries[g].work;
        sum += weight * work < most ? weight * work : most;
        if (loop && x.in->target > x.pc) weight *= LOOP;
    }
    return sum < most ? sum : most;
}

bool rvm__fixed_number(const rvm__unit *u, uint32_t fn, uint16_t slot, int64_t *n) {
    LLVMValueRef length = rvm__known_length(u, fn, slot);
    if (length) *n = LLVMConstIntGetSExtValue(length);
    return length || constant(&u->p->functions[fn], slot, n);
}

/* Of a loop or block whose trips are not known many: code is made for lengths that are short. */
static uint64_t expected_trips(const rvm__unit *u, uint32_t fn, uint32_t pc) {
    enum { MANY = 256, MOST = 1 << 16 };
    const rvm__xinsn *x = &u->m->codes[fn].x[pc];
    int64_t lo, hi;
    if (!rvm__fixed_number(u, fn, x->to.lo, &lo) || !rvm__fixed_number(u, fn, x->to.hi, &hi)) return MANY;
    if (lo < 0 || hi < 0 || lo > MOST || hi > MOST) return MANY;
    return (uint64_t)(hi > lo ? hi - lo : lo - hi);
}

uint64_t rvm__load_between(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to) {
    enum { FUNCTION = 8 };
    const uint64_t most = UINT64_C(1) << 40;
    uint64_t sum = 0;
    RVM__EACH_INSN_IN(x, &u->p->functions[fn], from, to) {
        uint64_t load = 1;
        RVM__EACH_CALLEE(g, u->p, x.in)
            if (u->summaries[g].load > load) load = u->summaries[g].load;
        if (!rvm__is_call(x.in) && rvm__takes_functions(u, fn, x.pc, x.pc + 1)) load = FUNCTION;
        if (rvm__is_loop(x.in->op) && x.in->target > x.pc) {
            load += expected_trips(u, fn, x.pc) * (rvm__load_between(u, fn, x.pc + 1, x.in->target) + 1);
            x.pc = x.in->target;
        }
        sum = sum + load < most ? sum + load : most;
    }
    return sum;
}

bool rvm__takes_functions(const rvm__unit *u, uint32_t fn, uint32_t from, uint32_t to) {
    RVM__EACH_INSN_IN(x, &u->p->functions[fn], from, to) {
        if (rvm__work_calls(x.f, x.in)) return true;
        RVM__EACH_CALLEE(g, u->p, x.in)
            if (u->summaries[g].functions) return true;
    }
    return false;
}

bool rvm__passes_unseen(const rvm__emit *e, uint32_t pc) {
    const uint32_t lo = rvm__lower_end(e->f, pc);
    const uint64_t trips = trips_at(e->u, e->fn, lo);
    return trips < RVM__UNBOUNDED &&
           trips * (rvm__most_between(e->u, e->fn, lo + 1, e->f->code[lo].target, true) + 1) <= RVM__STRIP;
}

bool rvm__is_twice(const rvm__emit *e, uint32_t pc) {
    enum { MOST = 4096, MOST_CHECKED = 512 }; /* checks are several times the code, and branches */
    const uint32_t lo = rvm__lower_end(e->f, pc), hi = e->f->code[lo].target;
    const uint64_t most = e->u->w->unchecked ? MOST : MOST_CHECKED;
    return trips_at(e->u, e->fn, lo) <= 2 && rvm__most_between(e->u, e->fn, lo + 1, hi, false) <= most;
}

bool rvm__is_around_loops(const rvm__emit *e, uint32_t pc) {
    const uint32_t lo = rvm__lower_end(e->f, pc);
    RVM__EACH_INSN_IN(x, e->f, lo + 1, e->f->code[lo].target)
        if (rvm__pair_of(x.in->op) == RVM_PAIR_for || rvm__is_call(x.in)) return true;
    return false;
}

/* Whether the instruction changes an element of a row of the caller's, row and place in it by these registers. */
static bool changes_row(const rvm__emit *e, const rvm_insn *in, uint16_t row, uint16_t at) {
    if (!rvm__op_is_update((rvm_op)in->op) || !in->nplaces) return false;
    const rvm_place *y = rvm__places(e->f, in);
    if (y->kind != RVM_PLACE_ELEM || y->nidx < 2 || rvm__alloca_bytes(e->u, e->fn, y->slot)) return false;
    return y->idx[y->nidx - 2] == row && y->idx[y->nidx - 1] == at;
}

bool rvm__goes_by_rows(const rvm__emit *e, uint32_t pc) {
    enum { VECTOR = 4 };
    const rvm__xinsn *x = e->code->x;
    const uint32_t lo = rvm__lower_end(e->f, pc), hi = e->f->code[lo].target;
    RVM__EACH_INSN_IN(i, e->f, lo + 1, hi) {
        if (rvm__pair_of(i.in->op) != RVM_PAIR_for || i.in->target < i.pc) continue;
        const uint64_t trips = trips_at(e->u, e->fn, i.pc);
        if (trips < VECTOR / 2 + 1 || trips % VECTOR == 0 || trips >= RVM__UNBOUNDED) continue;
        RVM__EACH_INSN_IN(k, e->f, i.pc + 1, i.in->target)
            if (changes_row(e, k.in, x[lo].to.i, x[i.pc].to.i)) return true;
    }
    return false;
}

uint64_t rvm__trips_unseen(const rvm__emit *e, uint32_t pc) {
    const uint32_t lo = rvm__lower_end(e->f, pc), hi = e->f->code[lo].target;
    if (e->u->w->standalone || e->vectorised) return 0;
    const uint64_t body = rvm__most_between(e->u, e->fn, lo + 1, hi, false) + 1;
    if (body > RVM__MOST_UNSEEN) return 0;
    return body * MOST_TRIPS > RVM__STRIP ? RVM__STRIP / body : MOST_TRIPS;
}

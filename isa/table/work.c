/* work.c: the .def files in the work vocabulary, and what operand letters ask of registers and memory. */
#include "work.h"

#include <string.h>

static const char *const unit_names[RVM_UNITS] = {"add", "multiply", "divide", "function", "compare", "logic", "convert"};

const char *rvm_unit_name(rvm_unit unit) {
    return (unsigned)unit < RVM_UNITS ? unit_names[unit] : "?";
}

/* ---- formulas ---- */

#include "work_words.h"
static const struct {
    uint64_t f, d[3];
} rows[RVM_ROW_COUNT] = {
#define ROW1(name, sig, f_, da, doc)         [RVM_ROW_##name] = {f_, {da, 0, 0}},
#define ROW2(name, sig, f_, da, db, doc)     [RVM_ROW_##name] = {f_, {da, db, 0}},
#define ROW3(name, sig, f_, da, db, dc, doc) [RVM_ROW_##name] = {f_, {da, db, dc}},
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3
};

/* value: of a family, beside f. seed: with what becomes of the target's shadow. */
#define Y  UINT64_C(0)
#define Y_ UINT64_C(0)
#define F  UINT64_C(0)
#define D  UINT64_C(0)
static const struct {
    uint64_t value, seed;
} families[RVM_OP_start] = {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc) [RVM_OP_##name] = {value, UNITS(seed) + UNITS(sb)},
#define INVERSE                                                      FAMILY
#include "families.def"
#undef FAMILY
#undef INVERSE
};
#undef F
#undef D

#define Z                  UINT64_C(0)
#define W                  UINT64_C(0)
#define SUM3(a, b, c)      (UNITS(a) + UNITS(b) + UNITS(c))
#define SUM_(a, b, c, ...) SUM3(a, b, c)
#define SUM(...)           SUM_(__VA_ARGS__, Y, Y, Y)
#define OUT                SUM
#define ITSELF             NOTHING
#define NOTHING(...)       UINT64_C(0)
#define INVERSE(name, ...) SUM(__VA_ARGS__) NOTHING_MORE
#define NOTHING_MORE(...)
#define STAY        UINT64_C(0)
#define MOVE        UINT64_C(0)
#define LINEAR      UINT64_C(0)
#define SCALE(a, b) UNITS(DIV(Y_, b))
static const struct {
    uint64_t value[2], shadow; /* value: 0 of an inverse that is the instruction itself */
} maps[RVM_CHANGE_COUNT] = {
#define CHANGE(name, inverse, operands, types, value, exact, shadows, out, partials, where, doc)                            \
    [RVM_PAIR_##name - RVM__PAIRS_BEFORE_CHANGES] = {{out, inverse()}, shadows},
#include "inplace.def"
#undef CHANGE
};
#include "words_undef.h"

static void add_units(rvm_work *w, uint64_t packed, unsigned times) {
    for (int unit = 0; unit < RVM_UNITS; unit++) w->units[unit] += (uint16_t)(times * (packed >> 8 * unit & 0xff));
}

/* ---- places ---- */

/* A constant costs no port; an element is addressed by the registers of its indices. */
static void touch(rvm_work *w, const rvm_function *f, const rvm_place *q, bool changes) {
    if (q->kind == RVM_PLACE_ELEM) {
        for (int k = 0; k < q->nidx; k++) w->register_reads += q->idx[k] < f->nregs;
        w->memory_reads++;
        w->memory_writes += changes;
    } else if (q->kind == RVM_PLACE_SLOT && q->slot < f->nregs) {
        w->register_reads++;
        w->register_writes += changes;
    }
}

/* What is passed to a callee costs no port, nor do constants that say which and where: letters l, s, m, e. */
static bool is_touched(char letter) {
    return !strchr("*#lsmeVWX", letter);
}

static bool moves(const rvm_insn *in) {
    return rvm__op_on_trail((rvm_op)in->op) || rvm__op_on_stack((rvm_op)in->op);
}

bool rvm__work_writes(const rvm_insn *in, char letter) {
    return is_touched(letter) && rvm__letter_access(in, letter) != RVM__BITS_READ;
}

bool rvm__work_moves(const rvm_insn *in, char letter) {
    return is_touched(letter) && moves(in) && strchr("wydr", letter);
}

static bool is_real(const rvm_function *f, const rvm_place *q) {
    return (q->kind == RVM_PLACE_SLOT || q->kind == RVM_PLACE_ELEM) && rvm__place_type(f, q) != RVM_I64;
}

static bool is_constant(const rvm_function *f, const rvm_place *q) {
    return q->kind == RVM_PLACE_SLOT && q->slot >= f->nregs;
}

static void touch_places(rvm_work *w, const rvm_function *f, const rvm_insn *in, bool swept) {
    const rvm_place *q = rvm__places(f, in);
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    for (uint32_t k = 0; k < in->nplaces && letters[k]; k++) {
        const bool changes = rvm__work_writes(in, letters[k]);
        if (!is_touched(letters[k])) continue;
        touch(w, f, &q[k], changes);
        if (swept && changes && is_real(f, &q[k])) touch(w, f, &q[k], true);
        w->trail += rvm__work_moves(in, letters[k]);
    }
}

/* ---- derivatives ---- */

/* The gain of an operand: its partial times the seed, added to its shadow. */
static void gain(rvm_work *w, const rvm_function *f, const rvm_place *q, uint64_t partial) {
    if (partial & IS_ZERO || !is_real(f, q) || is_constant(f, q)) return;
    add_units(w, partial, 1);
    w->units[RVM_UNIT_MULTIPLY] += !(partial & IS_ONE);
    w->units[RVM_UNIT_ADD]++;
    touch(w, f, q, true);
}

static void update_work(rvm_work *w, const rvm_function *f, const rvm_insn *in, rvm_op op, bool swept) {
    const rvm_place *q = rvm__places(f, in);
    add_units(w, rows[in->row].f, 1);
    add_units(w, families[op].value, 1);
    if (!swept || !is_real(f, &q[0])) return;
    add_units(w, families[rvm__op_inverse(op)].seed, 1);
    for (int k = 0; k < rvm__row_info[in->row].arity; k++) gain(w, f, &q[1 + k], rows[in->row].d[k]);
}

/* Shadows that go by the same map cost as much again. */
static void change_work(rvm_work *w, const rvm_function *f, const rvm_insn *in, rvm_op op, bool swept) {
    const unsigned change = rvm__change_of(op);
    const rvm_change_info *info = &rvm__change_info[change];
    const rvm_place *q = rvm__places(f, in) + info->conditional;
    const uint64_t value = maps[change].value[rvm__is_inverse(op)];
    add_units(w, value, 1);
    if (!swept || !is_real(f, &q[0])) return;
    add_units(w, info->shadows == RVM_SHADOWS_LINEAR ? value : maps[change].shadow, 1);
    for (int k = 0; k < info->operands; k++)
        for (int place = 0; place < RVM_MAX_CHANGED; place++)
            if (info->partials.by[k][place].sign) gain(w, f, &q[info->places + k], 0);
}

/* ---- the whole ---- */

/* Against whom a callee runs its caller's way, the counter turns twice: there and back; so it does where a part is taken
 * back. */
static unsigned turns_of(const rvm_insn *in) {
    if (rvm__class_of(in->op) == RVM_CLASS_CALL) return rvm__is_inverse(in->op) ? 2 : 0;
    return rvm__pair_of(in->op) == RVM_PAIR_undo && !(in->flags & RVM_FLAG_FORGETS) ? 2 : 0;
}

void rvm__work_of(const rvm_function *f, const rvm_insn *in, bool down, bool swept, rvm_work *out) {
    const rvm_op op = down ? rvm__op_inverse((rvm_op)in->op) : (rvm_op)in->op;
    *out = (rvm_work){.turns = (uint16_t)turns_of(in)};
    touch_places(out, f, in, swept);
    out->jumps = rvm__is_jump(op) || rvm__is_loop(op) || rvm__class_of(op) == RVM_CLASS_CALL;
    if (rvm__op_is_update(op)) update_work(out, f, in, op, swept);
    if (rvm__class_of(op) == RVM_CLASS_IN_PLACE) change_work(out, f, in, op, swept);
    if (!rvm__is_loop(op)) return;
    out->units[RVM_UNIT_ADD]++; /* the counter */
    out->units[RVM_UNIT_COMPARE]++;
}

bool rvm__work_calls(const rvm_function *f, const rvm_insn *in) {
    const bool exact = rvm__op_is_update((rvm_op)in->op) && (in->row == RVM_ROW_sqrt || in->row == RVM_ROW_floor);
    rvm_work work;
    rvm__work_of(f, in, false, false, &work);
    return work.units[RVM_UNIT_FUNCTION] && !exact;
}

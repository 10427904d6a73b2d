/* numbering.c: see numbering.h. Two tables, each without chains: an entry is where its hash says, or forgotten. */
#include "numbering.h"
#include "accesses.h"

enum { VALUES = 1 << 12, ENTRIES = 1 << 11, NO_LENGTH = 0xffff, NOT_MADE = NO_LENGTH - 1 };
enum kind { ROW, ELEMENT, BOUND }; /* of keys */

typedef uint32_t number; /* 0: not known to be that of anything else */

typedef struct key {
    uint32_t kind, of, more; /* of a row: itself, and the type; of an element: its array, and how often that changed */
    number part[RVM_MAX_DIMS];
} key;
typedef struct entry {
    key key;
    uint32_t stretch;
    number is;
} entry;

typedef struct value { /* by number */
    number part[3];    /* that it was made of, */
    uint8_t nan;       /* a bit for each that would make it a NaN */
    bool ordered;      /* it is none */
} value;

typedef struct place { /* by slot number (program.h) */
    uint32_t stretch;
    number is;       /* of a slot */
    uint32_t change; /* of an array: how often it, or a part of it, was changed; */
    uint32_t form;   /* likewise: how often it appeared */
} place;

struct rvm__numbering {
    const rvm_program *p;
    const rvm_function *f;
    place *places;
    uint16_t (*length)[RVM_MAX_DIMS]; /* by array of f: the slot that has it whenever it is there, or NO_LENGTH */
    uint32_t stretch, nvalues;
    value values[VALUES];
    entry entries[ENTRIES];
};

/* ---- lengths that the text tells ---- */

static bool is_steady(const rvm_function *f, uint16_t slot) {
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++)
            if (f->params[k].dim[d] == slot) return true;
    return slot >= f->nregs;
}

static uint16_t made_with(const rvm__numbering *n, const rvm_insn *in, const rvm_place *q, int d) {
    const enum rvm_pair pair = rvm__pair_of(in->op);
    if (pair == RVM_PAIR_like) return n->length[q[1].slot][d] < NOT_MADE ? n->length[q[1].slot][d] : NO_LENGTH;
    return pair == RVM_PAIR_new && is_steady(n->f, q[1 + d].slot) ? q[1 + d].slot : NO_LENGTH;
}

/* In the order of the text, in which an array appears before others appear with its lengths. */
static void find_lengths(rvm__numbering *n) {
    const rvm_function *f = n->f;
    for (uint32_t a = 0; a < f->narrays; a++)
        for (int d = 0; d < RVM_MAX_DIMS; d++) n->length[a][d] = NOT_MADE;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++) n->length[f->params[k].index][d] = f->params[k].dim[d];
    RVM__EACH_INSN(x, f) {
        if (!rvm__op_names_array((rvm_op)x.in->op)) continue;
        uint16_t *length = n->length[x.q->slot];
        for (int d = 0; d < f->arrays[x.q->slot].ndim; d++) {
            const uint16_t is = made_with(n, x.in, x.q, d);
            length[d] = length[d] == NOT_MADE || length[d] == is ? is : NO_LENGTH;
        }
    }
}

/* ---- numbers ---- */

static number new_number(rvm__numbering *n) {
    if (n->nvalues == VALUES) return 0;
    n->values[n->nvalues] = (value){{0}, 0, false};
    return n->nvalues++;
}

static uint32_t hash(const key *k) {
    uint32_t h = k->kind;
    h = (h ^ k->of) * 0x9e3779b1u;
    h = (h ^ k->more) * 0x9e3779b1u;
    for (int d = 0; d < RVM_MAX_DIMS; d++) h = ((h ^ k->part[d]) * 0x9e3779b1u) ^ h >> 15;
    return h % ENTRIES;
}

static bool same(const key *a, const key *b) {
    bool parts = true;
    for (int d = 0; d < RVM_MAX_DIMS; d++) parts &= a->part[d] == b->part[d];
    return parts && a->kind == b->kind && a->of == b->of && a->more == b->more;
}

/* Where that is, or would be; *found: it is. */
static entry *look_up(rvm__numbering *n, const key *k, bool *found) {
    entry *e = &n->entries[hash(k)];
    *found = e->stretch == n->stretch && same(&e->key, k);
    return e;
}

static number number_of_key(rvm__numbering *n, const key *k) {
    bool found;
    entry *e = look_up(n, k, &found);
    if (!found) *e = (entry){*k, n->stretch, new_number(n)};
    return e->is;
}

static place *at(rvm__numbering *n, uint32_t slot_number) {
    place *to = &n->places[slot_number];
    if (to->stretch != n->stretch) *to = (place){.stretch = n->stretch};
    return to;
}

static place *array_at(rvm__numbering *n, uint16_t array) {
    return at(n, n->f->nregs + n->f->nconsts + array);
}

static number number_of_slot(rvm__numbering *n, uint16_t slot) {
    const rvm_function *f = n->f;
    place *q = at(n, slot);
    if (q->is) return q->is;
    q->is = new_number(n);
    if (slot < f->nregs || !rvm__is_floating(rvm__slot_type(f, slot))) return q->is;
    const double c = f->consts[slot - f->nregs].f;
    n->values[q->is].ordered = c == c;
    return q->is;
}

/* Of an element: the array under that name, as it is now. False: of an index nothing is known. */
static bool element_key(rvm__numbering *n, const rvm_place *q, key *k) {
    *k = (key){.kind = ELEMENT, .of = q->slot, .more = array_at(n, rvm__root_of(n->f, q))->change};
    for (int d = 0; d < q->nidx; d++)
        if (!(k->part[d] = number_of_slot(n, q->idx[d]))) return false;
    return true;
}

static number number_of(rvm__numbering *n, const rvm_place *q) {
    key k;
    if (q->kind == RVM_PLACE_SLOT) return number_of_slot(n, q->slot);
    return q->kind == RVM_PLACE_ELEM && element_key(n, q, &k) ? number_of_key(n, &k) : 0;
}

static void set_number(rvm__numbering *n, const rvm_place *q, number is) {
    bool found;
    key k;
    if (q->kind == RVM_PLACE_SLOT)
        at(n, q->slot)->is = is ? is : new_number(n);
    else if (is && element_key(n, q, &k))
        *look_up(n, &k, &found) = (entry){k, n->stretch, is};
}

/* What the place holds, or the array, is another now. */
static void change(rvm__numbering *n, const rvm_place *q) {
    if (q->kind == RVM_PLACE_SLOT)
        at(n, q->slot)->is = new_number(n);
    else
        array_at(n, rvm__root_of(n->f, q))->change++;
}

/* Of f of an update. On fix what is unchecked may have overflowed, where checked code fails. */
static number number_of_row(rvm__numbering *n, const rvm_insn *in) {
    const rvm_place *q = rvm__places(n->f, in);
    const rvm_type t = rvm__place_type(n->f, q);
    const unsigned arity = rvm__row_info[in->row].arity, wraps = t == RVM_FIX ? in->flags & RVM_FLAG_UNCHECKED : 0;
    key k = {.kind = ROW, .of = in->row, .more = (uint32_t)t << 8 | wraps};
    for (unsigned o = 0; o < arity; o++)
        if (!(k.part[o] = number_of(n, &q[1 + o]))) return 0;
    if (in->row == RVM_ROW_id) return k.part[0];
    const number is = number_of_key(n, &k);
    value *v = &n->values[is];
    if (is && rvm__is_floating(t)) v->nan = rvm__row_nan[in->row];
    for (unsigned o = 0; o < arity && is; o++) v->part[o] = k.part[o];
    return is;
}

/* It is no NaN, nor what would have made it one. */
static void is_ordered(rvm__numbering *n, number is) {
    number left[64];
    unsigned most = sizeof left / sizeof *left, nleft = 0;
    for (left[nleft++] = is; nleft > 0;) {
        value *v = &n->values[left[--nleft]];
        if (v->ordered || left[nleft] == 0) continue;
        v->ordered = true;
        for (int o = 0; o < 3; o++)
            if (v->nan >> o & 1 && nleft < most) left[nleft++] = v->part[o];
    }
}

/* ---- bounds ---- */

/* False: nothing is known of the index. */
static bool bound_key(rvm__numbering *n, const rvm_place *q, int d, key *k) {
    const uint16_t length = n->length[q->slot][d];
    *k = (key){.kind = BOUND, .part = {number_of_slot(n, q->idx[d])}};
    if (length != NO_LENGTH)
        k->part[1] = number_of_slot(n, length);
    else
        k->of = 1u + q->slot, k->more = array_at(n, q->slot)->form, k->part[2] = 1u + (unsigned)d;
    return k->part[0] && (length == NO_LENGTH || k->part[1]);
}

bool rvm__numbering_inbounds(rvm__numbering *n, const rvm_insn *in, uint32_t k, int d) {
    const rvm_place *q = rvm__places(n->f, in);
    bool found = false;
    key is, other;
    if (!bound_key(n, &q[k], d, &is)) return false;
    look_up(n, &is, &found);
    for (uint32_t i = 0; i < k && !found; i++)
        for (int c = 0; c < q[i].nidx && q[i].kind == RVM_PLACE_ELEM && !found; c++)
            found = bound_key(n, &q[i], c, &other) && same(&is, &other);
    return found;
}

/* Of a release nothing may have been looked at; of a change on a condition neither. */
static void note_bounds(rvm__numbering *n, const rvm_insn *in, rvm_op op) {
    switch (rvm__class_of(op)) {
    case RVM_CLASS_UPDATE:
        if (op == RVM_OP_unlet) return;
        break;
    case RVM_CLASS_IN_PLACE:
        if (rvm__change_info[rvm__change_of(op)].conditional) return;
        break;
    case RVM_CLASS_STACK:
    case RVM_CLASS_TRAIL: break;
    case RVM_CLASS_CONTROL:
    case RVM_CLASS_REGION:
    case RVM_CLASS_CALL:
    case RVM_CLASS_CHECK:
    case RVM_CLASS_ARRAY: return;
    }
    const rvm_place *q = rvm__places(n->f, in);
    bool found;
    key is;
    for (uint32_t k = 0; k < in->nplaces; k++)
        for (int d = 0; d < q[k].nidx && q[k].kind == RVM_PLACE_ELEM; d++)
            if (bound_key(n, &q[k], d, &is)) *look_up(n, &is, &found) = (entry){is, n->stretch, 0};
}

/* ---- instructions ---- */

bool rvm__numbering_agrees(rvm__numbering *n, const rvm_insn *in, bool bits) {
    const rvm_place *y = rvm__places(n->f, in);
    const number is = number_of(n, y);
    if (!is || is != number_of_row(n, in)) return false;
    return bits || n->values[is].ordered || !rvm__is_floating(rvm__place_type(n->f, y));
}

static void pass_update(rvm__numbering *n, const rvm_insn *in, rvm_op op) {
    const rvm_place *y = rvm__places(n->f, in);
    if (rvm__pair_of(op) != RVM_PAIR_let) {
        change(n, y);
        return;
    }
    const number is = number_of_row(n, in);
    if (!rvm__is_inverse(op)) {
        set_number(n, y, is);
        return;
    }
    if (!(in->flags & RVM_FLAG_UNCHECKED)) is_ordered(n, is), is_ordered(n, number_of(n, y));
    change(n, y);
}

static void swap(rvm__numbering *n, const rvm_place *q) {
    const number a = number_of(n, &q[0]), b = number_of(n, &q[1]);
    change(n, &q[0]);
    change(n, &q[1]);
    set_number(n, &q[0], b);
    set_number(n, &q[1], a);
}

static void pass_other(rvm__numbering *n, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, n->p, n->f, in) {
        if (!(a.bits & RVM__BITS_ACC) && !a.toggles) continue;
        if (a.reg || a.array) change(n, a.q);
        if (a.toggles && a.array) array_at(n, a.q->slot)->form++;
    }
}

void rvm__numbering_pass(rvm__numbering *n, const rvm_insn *in, rvm_op op) {
    note_bounds(n, in, op);
    if (rvm__class_of(op) == RVM_CLASS_UPDATE)
        pass_update(n, in, op);
    else if (rvm__pair_of(op) == RVM_PAIR_swap)
        swap(n, rvm__places(n->f, in));
    else
        pass_other(n, in);
}

void rvm__numbering_begin(rvm__numbering *n, const rvm_function *f) {
    if (n->f != f) {
        n->f = f;
        find_lengths(n);
    }
    n->stretch++;
    n->nvalues = 1;
}

rvm__numbering *rvm__numbering_new(rvm__zone *zone, const rvm_program *p) {
    uint32_t most = 0, arrays = 0;
    for (uint32_t fn = 0; fn < p->nfunctions; fn++) {
        const rvm_function *f = &p->functions[fn];
        if (rvm__slot_numbers(f) > most) most = rvm__slot_numbers(f);
        if (f->narrays > arrays) arrays = f->narrays;
    }
    rvm__numbering *n = rvm__zone_make(zone, 1, sizeof *n);
    place *places = rvm__zone_make(zone, most, sizeof *places);
    uint16_t(*length)[RVM_MAX_DIMS] = rvm__zone_make(zone, arrays, sizeof *length);
    if (!n || !places || !length) return NULL;
    n->p = p, n->places = places, n->length = length;
    return n;
}

/* report.c: a profile as its reader has it: prefix sums of what was counted, and what they add up to. */
#include "profile.h"
#include "support.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

/* Of an instruction on a path: by enum rvm__tallied. */
typedef struct ran {
    uint64_t n[4];
} ran;

typedef struct kind {
    uint64_t key; /* 0: none */
    rvm_profile_kind_count is;
    rvm_work work; /* of one */
    rvm_switching switched;
} kind;

struct rvm_profile {
    rvm_allocator al;
    const rvm_program *p;
    uint32_t npaths, nrecursions, nkinds, cap_kinds, nlines, nfunctions;
    bool failed;          /* out of memory */
    size_t nran, nplaces; /* instructions of all paths; of all functions */
    rvm_profile_path *paths;
    uint8_t *up;   /* by path */
    size_t *first; /* by path, in ran */
    ran *ran;
    rvm_switching *switched; /* by instruction of a path, RVM__SWITCHED each; NULL: not measured */
    rvm_profile_recursion *recursions;
    rvm_profile_function *functions;
    size_t *start; /* by function, in sums */
    rvm_profile_counts *sums;
    kind *kinds; /* a table by key, then in order */
    rvm_profile_line *lines;
    rvm_profile_counts total;
    rvm_profile_memory peak, samples[RVM__MOST_SAMPLES];
    uint32_t nsamples;
};

const char *rvm_profile_mode_name(rvm_profile_mode mode) {
    static const char *const names[RVM_PROFILE_MODES] = {"forward", "compute", "undo", "backward", "swept"};
    return (unsigned)mode < RVM_PROFILE_MODES ? names[mode] : "?";
}

uint64_t rvm_profile_sum(const rvm_profile_counts *c) {
    uint64_t n = 0;
    for (int mode = 0; c && mode < RVM_PROFILE_MODES; mode++) n += c->n[mode][0] + c->n[mode][1];
    return n;
}

static void add(rvm_profile_counts *to, const rvm_profile_counts *c) {
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        for (int way = 0; way < 2; way++) to->n[mode][way] += c->n[mode][way];
}

/* ---- memory ---- */

static void *zeroed(rvm_profile *f, size_t n, size_t size) {
    void *p = f->al.alloc(f->al.userdata, NULL, 0, (n ? n : 1) * size);
    if (p) memset(p, 0, (n ? n : 1) * size);
    return p;
}

static void release(rvm_profile *f, void *p, size_t n, size_t size) {
    if (p) f->al.alloc(f->al.userdata, p, (n ? n : 1) * size, 0);
}

void rvm_profile_free(rvm_profile *f) {
    if (!f) return;
    release(f, f->paths, f->npaths, sizeof *f->paths);
    release(f, f->up, f->npaths, sizeof *f->up);
    release(f, f->first, f->npaths, sizeof *f->first);
    release(f, f->ran, f->nran, sizeof *f->ran);
    release(f, f->switched, f->nran, RVM__SWITCHED * sizeof *f->switched);
    release(f, f->recursions, f->nrecursions, sizeof *f->recursions);
    release(f, f->functions, f->nfunctions, sizeof *f->functions);
    release(f, f->start, f->nfunctions, sizeof *f->start);
    release(f, f->sums, f->nplaces, sizeof *f->sums);
    release(f, f->kinds, f->cap_kinds, sizeof *f->kinds);
    release(f, f->lines, f->nplaces, sizeof *f->lines);
    const rvm_allocator al = f->al;
    al.alloc(al.userdata, f, sizeof *f, 0);
}

static bool make_room(rvm_profile *f, bool measured) {
    f->paths = zeroed(f, f->npaths, sizeof *f->paths);
    f->up = zeroed(f, f->npaths, sizeof *f->up);
    f->first = zeroed(f, f->npaths, sizeof *f->first);
    f->ran = zeroed(f, f->nran, sizeof *f->ran);
    if (measured && !(f->switched = zeroed(f, f->nran, RVM__SWITCHED * sizeof *f->switched))) return false;
    f->recursions = zeroed(f, f->nrecursions, sizeof *f->recursions);
    f->functions = zeroed(f, f->nfunctions, sizeof *f->functions);
    f->start = zeroed(f, f->nfunctions, sizeof *f->start);
    f->sums = zeroed(f, f->nplaces, sizeof *f->sums);
    f->lines = zeroed(f, f->nplaces, sizeof *f->lines);
    return f->paths && f->up && f->first && f->ran && f->recursions && f->functions && f->start && f->sums && f->lines;
}

/* ---- paths ---- */

static bool recurs(const rvm__profile *from, const rvm__path_edge *e) {
    const rvm__path *to = &from->paths[e->to];
    return e->from < from->npaths && !to->shared && to->parent != e->from;
}

static void measure(rvm_profile *f, const rvm_machine *m) {
    const rvm__profile *from = m->profile;
    f->npaths = from->npaths;
    f->nfunctions = f->p->nfunctions;
    for (uint32_t k = 0; k < from->npaths; k++) f->nran += f->p->functions[from->paths[k].fn].ncode;
    for (uint32_t k = 0; k < from->nedges; k++)
        f->nrecursions += recurs(from, &from->edges[k]) && rvm__profile_calls(m, &from->edges[k]);
    for (uint32_t fn = 0; fn < f->nfunctions; fn++) f->nplaces += f->p->functions[fn].ncode;
}

/* What the instruction ran for, on a path where the counter going up does so elsewhere. */
static rvm_profile_counts counts_of(const ran *r, bool computes, uint8_t up) {
    rvm_profile_counts c = {0};
    const uint8_t way = computes ? RVM_PROFILE_COMPUTE : up;
    c.n[way][0] = r->n[RVM__UP];
    c.n[rvm__profile_opposite(way)][1] = r->n[RVM__DOWN];
    c.n[RVM_PROFILE_SWEPT][0] = r->n[RVM__SWEPT_UP];
    c.n[RVM_PROFILE_SWEPT][1] = r->n[RVM__SWEPT_DOWN];
    return c;
}

/* Calls visit with each instruction of a path. */
typedef void visitor(rvm_profile *f, uint32_t path, uint32_t pc, const rvm_profile_counts *c);
static void each(rvm_profile *f, uint32_t path, visitor *visit) {
    uint32_t end = 0;
    RVM__EACH_INSN(x, &f->p->functions[f->paths[path].fn]) {
        end = rvm__compute_end(x.in, end);
        const rvm_profile_counts c = counts_of(&f->ran[f->first[path] + x.pc], x.pc < end, f->up[path]);
        if (rvm_profile_sum(&c)) visit(f, path, x.pc, &c);
    }
}

static void add_own(rvm_profile *f, uint32_t path, uint32_t pc, const rvm_profile_counts *c) {
    (void)pc;
    add(&f->paths[path].own, c);
}

static void take_paths(rvm_profile *f, const rvm__profile *from) {
    size_t at = 0;
    for (uint32_t k = 0; k < from->npaths; k++) {
        const rvm__path *path = &from->paths[k];
        const bool any = path->parent != (uint32_t)RVM__NO_PATH;
        f->paths[k] = (rvm_profile_path){.parent = any ? (int64_t)path->parent : -1,
                                         .fn = path->fn,
                                         .call_pc = path->call_pc,
                                         .tangents = path->tangents,
                                         .shared = path->shared};
        f->up[k] = path->up;
        f->first[k] = at;
        rvm__profile_sums(path, f->p->functions[path->fn].ncode, f->ran[at].n);
        if (f->switched && path->switched)
            memcpy(f->switched + at * RVM__SWITCHED, path->switched,
                   f->p->functions[path->fn].ncode * RVM__SWITCHED * sizeof *f->switched);
        at += f->p->functions[path->fn].ncode;
        each(f, k, add_own);
        f->paths[k].total = rvm_profile_sum(&f->paths[k].own);
    }
    for (uint32_t k = f->npaths; k-- > 0;)
        if (f->paths[k].parent >= 0) f->paths[f->paths[k].parent].total += f->paths[k].total;
}

static void take_edges(rvm_profile *f, const rvm_machine *m) {
    const rvm__profile *from = m->profile;
    uint32_t n = 0;
    for (uint32_t k = 0; k < from->nedges; k++) {
        const rvm__path_edge *e = &from->edges[k];
        const uint64_t calls = rvm__profile_calls(m, e);
        f->functions[e->callee].calls += calls;
        if (!recurs(from, e)) {
            f->paths[e->to].calls += calls;
            continue;
        }
        f->paths[e->to].recursions += calls;
        if (calls) f->recursions[n++] = (rvm_profile_recursion){e->from, e->to, e->pc, calls};
    }
}

static void take_memory(rvm_profile *f, const rvm_machine *m) {
    rvm_stats stats;
    rvm_machine_stats(m, &stats);
    f->peak = m->profile->peak;
    f->peak.trail = stats.trail_peak;
    f->nsamples = m->profile->nsamples;
    memcpy(f->samples, m->profile->samples, sizeof f->samples);
}

/* ---- functions and lines ---- */

static bool within_itself(const rvm_profile *f, uint32_t path) {
    for (int64_t k = f->paths[path].parent; k >= 0; k = f->paths[k].parent)
        if (f->paths[k].fn == f->paths[path].fn) return true;
    return false;
}

static void add_sum(rvm_profile *f, uint32_t path, uint32_t pc, const rvm_profile_counts *c) {
    add(&f->sums[f->start[f->paths[path].fn] + pc], c);
}

static void add_functions(rvm_profile *f) {
    size_t at = 0;
    for (uint32_t fn = 0; fn < f->nfunctions; at += f->p->functions[fn++].ncode) f->start[fn] = at;
    for (uint32_t k = 0; k < f->npaths; k++) {
        rvm_profile_function *g = &f->functions[f->paths[k].fn];
        each(f, k, add_sum);
        add(&g->own, &f->paths[k].own);
        add(&f->total, &f->paths[k].own);
        if (!within_itself(f, k)) g->total += f->paths[k].total;
    }
}

static int by_place(const void *a, const void *b) {
    const rvm_profile_line *x = a, *y = b;
    const int files = x->file && y->file ? strcmp(x->file, y->file) : (x->file != NULL) - (y->file != NULL);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static void add_lines(rvm_profile *f) {
    uint32_t n = 0;
    for (uint32_t fn = 0; fn < f->nfunctions; fn++)
        RVM__EACH_INSN(x, &f->p->functions[fn]) {
            const rvm_profile_counts *c = &f->sums[f->start[fn] + x.pc];
            const rvm_position at = f->p->functions[fn].positions[x.pc];
            if (!rvm_profile_sum(c)) continue;
            f->lines[f->nlines++] = (rvm_profile_line){at.line ? f->p->files[at.file] : NULL, at.line, *c};
        }
    qsort(f->lines, f->nlines, sizeof *f->lines, by_place);
    for (uint32_t k = 0; k < f->nlines; k++) {
        if (n && !by_place(&f->lines[n - 1], &f->lines[k]))
            add(&f->lines[n - 1].own, &f->lines[k].own);
        else
            f->lines[n++] = f->lines[k];
    }
    f->nlines = n;
}

/* ---- kinds ---- */

static char letter_of(const rvm_function *f, const rvm_place *q) {
    switch ((rvm_place_kind)q->kind) {
    case RVM_PLACE_ELEM: return 'e';
    case RVM_PLACE_ARRAY: return 'a';
    case RVM_PLACE_SLOT:
    case RVM_PLACE_RANGE:
    case RVM_PLACE_KIND_COUNT: break;
    }
    return q->slot < f->nregs ? 'r' : 'c';
}

static void letters_of(const rvm_function *f, const rvm_place *q, uint32_t n, char to[8]) {
    for (uint32_t k = 0; k < n && k < 7; k++) to[k] = k == 6 && n > 7 ? '+' : letter_of(f, &q[k]);
}

/* The op is the one that the text has. */
static rvm_profile_kind_count kind_of(const rvm_function *f, const rvm_insn *in) {
    rvm_profile_kind_count k = {0};
    const rvm_place *q = rvm__places(f, in);
    uint32_t n = in->nplaces;
    if (rvm__op_is_update((rvm_op)in->op)) {
        const rvm_row_info *row = &rvm__row_info[in->row];
        k.row = row->name;
        k.type = rvm__place_type(f, &q[0]);
        k.operands = rvm__place_type(f, &q[1 + rvm__row_first((rvm_row)in->row)]);
        n = row->arity + 1u;
    } else if (n && strpbrk(rvm__op_info[in->op].operands, "yp+"))
        k.type = k.operands = rvm__place_type(f, &q[n - 1]);
    letters_of(f, q, n, k.places);
    return k;
}

static uint64_t key_of(const rvm_profile_kind_count *k, unsigned op, unsigned row) {
    static const char letters[] = "rcea+";
    uint64_t key = 256 + op; /* not 0 */
    for (int i = 0; i < 7; i++) key = key << 3 | (uint64_t)(k->places[i] ? strchr(letters, k->places[i]) - letters + 1 : 0);
    key = key << 8 | row;
    key = key << 3 | (unsigned)k->type;
    key = key << 3 | (unsigned)k->operands;
    key = key << 3 | (unsigned)k->mode;
    return key << 2 | (uint64_t)(k->direction > 0) << 1 | k->tangents;
}
_Static_assert(RVM_OP_LIMIT <= 256 && RVM_ROW_COUNT <= 256 && RVM_TYPE_COUNT <= 8, "a key is 9 + 21 + 8 + 3 * 3 + 2 bits");

static kind *slot_of(const kind *kinds, uint32_t cap, uint64_t key) {
    for (uint32_t k = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);; k++) {
        const kind *slot = &kinds[k & (cap - 1)];
        if (!slot->key || slot->key == key) return (kind *)(uintptr_t)slot;
    }
}

static bool reserve_kind(rvm_profile *f) {
    const uint32_t cap = f->cap_kinds ? 2 * f->cap_kinds : 256;
    if (2 * (f->nkinds + 1) <= f->cap_kinds) return true;
    kind *grown = zeroed(f, cap, sizeof *grown);
    if (!grown) return false;
    for (uint32_t k = 0; k < f->cap_kinds; k++)
        if (f->kinds[k].key) *slot_of(grown, cap, f->kinds[k].key) = f->kinds[k];
    release(f, f->kinds, f->cap_kinds, sizeof *f->kinds);
    f->kinds = grown;
    f->cap_kinds = cap;
    return true;
}

/* What the instruction's writes changed, which ran so. */
static const rvm_switching *switched_of(const rvm_profile *f, uint32_t path, uint32_t pc, const rvm_profile_kind_count *k) {
    const size_t which = (k->mode == RVM_PROFILE_SWEPT ? RVM__SWEPT_UP : RVM__UP) + (k->direction < 0);
    return f->switched ? f->switched + (f->first[path] + pc) * RVM__SWITCHED + which : NULL;
}

static void add_switched(rvm_switching *to, const rvm_switching *from) {
    for (int where = 0; from && where < 2; where++) {
        to->bits[where] += from->bits[where];
        to->flipped[where] += from->flipped[where];
    }
}

static void add_kind(rvm_profile *f, const rvm_profile_kind_count *k, const rvm_function *g, const rvm_insn *in, unsigned op,
                     const rvm_switching *switched) {
    const bool forgets = rvm__pair_of(op) == RVM_PAIR_undo && in->flags & RVM_FLAG_FORGETS;
    const uint64_t key = key_of(k, op, forgets ? 1 : in->row);
    if (!reserve_kind(f)) f->failed = true;
    if (f->failed) return;
    kind *slot = slot_of(f->kinds, f->cap_kinds, key);
    if (!slot->key) {
        *slot = (kind){.key = key, .is = *k};
        slot->is.count = 0;
        if (forgets) slot->is.mnemonic = "forget";
        rvm__work_of(g, in, k->direction < 0, k->mode == RVM_PROFILE_SWEPT, &slot->work);
        f->nkinds++;
    }
    slot->is.count += k->count;
    add_switched(&slot->switched, switched);
}

static void add_kinds(rvm_profile *f, uint32_t path, uint32_t pc, const rvm_profile_counts *c) {
    const rvm_function *g = &f->p->functions[f->paths[path].fn];
    const rvm_insn *in = &g->code[pc];
    rvm_profile_kind_count k = kind_of(g, in);
    k.tangents = f->paths[path].tangents;
    for (int mode = 0; mode < RVM_PROFILE_MODES; mode++)
        for (int down = 0; down < 2; down++) {
            const rvm_op op = down ? rvm__op_inverse((rvm_op)in->op) : (rvm_op)in->op;
            k.mode = (rvm_profile_mode)mode;
            k.direction = down ? -1 : 1;
            k.mnemonic = rvm__op_info[op].name;
            k.about = rvm__class_of(op);
            k.count = c->n[mode][down];
            if (k.count) add_kind(f, &k, g, in, op, switched_of(f, path, pc, &k));
        }
}

static int by_count(const void *a, const void *b) {
    const kind *x = a, *y = b;
    if (x->is.count != y->is.count) return x->is.count < y->is.count ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Empty ones last, as they count nothing. */
static void sort_kinds(rvm_profile *f) {
    for (uint32_t k = 0; k < f->npaths; k++) each(f, k, add_kinds);
    if (f->kinds && !f->failed) qsort(f->kinds, f->cap_kinds, sizeof *f->kinds, by_count);
}

/* ---- the interface ---- */

rvm_status rvm_profile_new(const rvm_machine *m, rvm_profile **out, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(m);
    if (!m->profile)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "the machine counts nothing: it has no option profile");
    rvm_profile *f = m->al.alloc(m->al.userdata, NULL, 0, sizeof *f);
    if (f) {
        *f = (rvm_profile){.al = m->al, .p = m->p};
        measure(f, m);
        f->failed = !make_room(f, m->o.activity);
    }
    if (f && !f->failed) {
        take_paths(f, m->profile);
        take_edges(f, m);
        take_memory(f, m);
        add_functions(f);
        add_lines(f);
        sort_kinds(f);
    }
    if (f && !f->failed) return *out = f, RVM_OK;
    rvm_profile_free(f);
    return rvm__fail(err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
}

void rvm_profile_total(const rvm_profile *f, rvm_profile_counts *out) {
    if (out) *out = f ? f->total : (rvm_profile_counts){0};
}

bool rvm_profile_kind(const rvm_profile *f, uint32_t k, rvm_profile_kind_count *out) {
    if (!f || !out || k >= f->nkinds) return false;
    *out = f->kinds[k].is;
    return true;
}

bool rvm_profile_kind_work(const rvm_profile *f, uint32_t k, rvm_work *out) {
    if (!f || !out || k >= f->nkinds) return false;
    *out = f->kinds[k].work;
    return true;
}

bool rvm_profile_kind_switching(const rvm_profile *f, uint32_t k, rvm_switching *out) {
    if (!f || !out || k >= f->nkinds) return false;
    *out = f->kinds[k].switched;
    return true;
}

bool rvm_profile_path_at(const rvm_profile *f, uint32_t k, rvm_profile_path *out) {
    if (!f || !out || k >= f->npaths) return false;
    *out = f->paths[k];
    return true;
}

bool rvm_profile_recursion_at(const rvm_profile *f, uint32_t k, rvm_profile_recursion *out) {
    if (!f || !out || k >= f->nrecursions) return false;
    *out = f->recursions[k];
    return true;
}

bool rvm_profile_function_at(const rvm_profile *f, uint32_t fn, rvm_profile_function *out) {
    if (!f || !out || fn >= f->nfunctions) return false;
    *out = f->functions[fn];
    return true;
}

bool rvm_profile_instruction(const rvm_profile *f, uint32_t fn, uint32_t pc, rvm_profile_counts *out) {
    if (!f || !out || fn >= f->nfunctions || pc >= f->p->functions[fn].ncode) return false;
    *out = f->sums[f->start[fn] + pc];
    return true;
}

bool rvm_profile_instruction_on(const rvm_profile *f, uint32_t k, uint32_t pc, rvm_profile_counts *out) {
    if (!f || !out || k >= f->npaths || pc >= f->p->functions[f->paths[k].fn].ncode) return false;
    const bool computes = rvm__in_compute(&f->p->functions[f->paths[k].fn], pc);
    *out = counts_of(&f->ran[f->first[k] + pc], computes, f->up[k]);
    return true;
}

bool rvm_profile_line_at(const rvm_profile *f, uint32_t k, rvm_profile_line *out) {
    if (!f || !out || k >= f->nlines) return false;
    *out = f->lines[k];
    return true;
}

bool rvm_profile_memory_at(const rvm_profile *f, uint32_t k, rvm_profile_memory *out) {
    if (!f || !out || k >= f->nsamples) return false;
    *out = f->samples[k];
    return true;
}

void rvm_profile_memory_peak(const rvm_profile *f, rvm_profile_memory *out) {
    if (out) *out = f ? f->peak : (rvm_profile_memory){0};
}

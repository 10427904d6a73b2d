/* verify_flow.c: what is present where.
 *
 * Between two instructions lies a boundary; boundary b is before instruction b. Each has one state: the local registers and
 * arrays that are present, and which array each view is part of. An instruction changes the state the same way whichever
 * direction it is passed in, so a state known at one boundary spreads both up and down. Only jmp, cf and undo are not
 * passed: they end a run of boundaries. Runs are linked by the edges of isa/analysis/flowgraph.h, of which both ends have
 * one state. The first end of a link that is met leaves a snapshot and puts the other on the list of runs to do; the second
 * compares. All starts from boundary 0, where no local is present, and from the end likewise. A run met by neither can never
 * execute, in either direction, and is rejected.
 *
 * Arrays form a stack, since they must disappear in nested order: so a view cannot outlive what it is part of.
 *
 * Of all that is present the state also knows a place of its web (program.h). A link that is met again makes the webs on its
 * two sides one.
 */
#include "verify.h"
#include "builder.h"
#include "support.h"
#include <string.h>

enum { EMPTY = 0 /* the snapshot of no locals; as the snapshot of a link: none yet */ };
#define ABSENT UINT32_MAX

typedef struct flow {
    rvm__verifier *v;
    uint32_t *live, *where; /* present local registers in any order; by register: its index there, or ABSENT */
    uint32_t *stack;        /* present local arrays, the latest last: array and, above 16 bits, its root */
    uint32_t *height;       /* by array: its index in the stack, or ABSENT */
    uint32_t *seen_at;      /* by register and, behind all of those, array that is present: a place of its web */
    uint32_t *webs;         /* the function's: until the end, by place an earlier one of its web, or itself */
    uint16_t *roots;        /* the function's */
    uint32_t *work;         /* boundaries to spread from: their state is the snapshot of the link `via` */
    uint32_t *via;
    uint8_t *seen;                                                  /* by boundary */
    uint8_t reg_param[RVM_MAX_PARAMS], array_param[RVM_MAX_PARAMS]; /* the parameters that registers and arrays are */
    uint32_t nlive, nstack, nwork;
} flow;

/* ---- the state ---- */

static bool register_present(const flow *w, uint32_t reg) {
    return rvm__is_fixed(w->v, reg) || w->where[reg] != ABSENT;
}

static bool array_present(const flow *w, uint32_t array) {
    return array < rvm__array_params(w->v) || w->height[array] != ABSENT;
}

static uint16_t root_of(const flow *w, uint32_t array) {
    return (uint16_t)(array < rvm__array_params(w->v) ? array : w->stack[w->height[array]] >> 16);
}

/* A place of the web of a register or array that is present. */
static uint32_t *of_register(const flow *w, uint32_t reg) {
    return w->seen_at + reg;
}
static uint32_t *of_array(const flow *w, uint32_t array) {
    return w->seen_at + w->v->max_regs + (array & UINT16_MAX);
}

static void add_register(flow *w, uint32_t reg) {
    w->where[reg] = w->nlive;
    w->live[w->nlive++] = reg;
}

static void remove_register(flow *w, uint32_t reg) {
    uint32_t last = w->live[--w->nlive];
    w->live[w->where[reg]] = last;
    w->where[last] = w->where[reg];
    w->where[reg] = ABSENT;
}

static void clear(flow *w) {
    while (w->nlive) w->where[w->live[--w->nlive]] = ABSENT;
    while (w->nstack) w->height[w->stack[--w->nstack] & UINT16_MAX] = ABSENT;
}

static void load(flow *w, uint32_t snapshot) {
    const uint32_t *s = w->v->words + snapshot;
    clear(w);
    const uint32_t *webs = s + 2 + s[0] + s[1];
    for (uint32_t k = 0; k < s[0]; k++) {
        add_register(w, s[2 + k]);
        *of_register(w, s[2 + k]) = *webs++;
    }
    for (uint32_t k = 0; k < s[1]; k++) {
        w->stack[k] = s[2 + s[0] + k];
        w->height[w->stack[k] & UINT16_MAX] = k;
        *of_array(w, w->stack[k]) = *webs++;
    }
    w->nstack = s[1];
}

static rvm_status save(flow *w, uint32_t pc, uint32_t *snapshot) {
    rvm__verifier *v = w->v;
    uint32_t size = 2 + 2 * (w->nlive + w->nstack);
    if (size > RVM__MAX_WORDS - v->nwords) return RVM__REJECT(v, pc, "too complex: too many places at too many jumps");
    if (!rvm__grow(&v->p->al, (void **)&v->words, &v->cap_words, v->nwords + size, sizeof *v->words))
        return rvm__verify_no_memory(v);
    uint32_t *s = v->words + v->nwords;
    s[0] = w->nlive;
    s[1] = w->nstack;
    memcpy(s + 2, w->live, w->nlive * sizeof *s);
    memcpy(s + 2 + w->nlive, w->stack, w->nstack * sizeof *s);
    uint32_t *webs = s + 2 + w->nlive + w->nstack;
    for (uint32_t k = 0; k < w->nlive; k++) *webs++ = *of_register(w, w->live[k]);
    for (uint32_t k = 0; k < w->nstack; k++) *webs++ = *of_array(w, w->stack[k]);
    *snapshot = v->nwords;
    v->nwords += size;
    return RVM_OK;
}

/* ---- webs ---- */

static bool is_local(const rvm__verifier *v, const rvm_place *q) {
    if (q->kind == RVM_PLACE_ELEM || q->kind == RVM_PLACE_ARRAY) return q->slot >= rvm__array_params(v);
    return rvm__is_register(v->f, q) && !rvm__is_fixed(v, q->slot);
}

/* A place whose register or array is present: of the web that this is of. */
static uint32_t *web_at(const flow *w, const rvm_place *q) {
    return q->kind == RVM_PLACE_SLOT ? of_register(w, q->slot) : of_array(w, q->slot);
}

/* The first place of a web. */
static uint32_t first_of(const flow *w, uint32_t place) {
    uint32_t *webs = w->webs;
    while (webs[place] != place) place = webs[place] = webs[webs[place]];
    return place;
}

static void join(const flow *w, uint32_t a, uint32_t b) {
    a = first_of(w, a);
    b = first_of(w, b);
    w->webs[rvm__most(a, b)] = (uint32_t)rvm__least(a, b);
}

/* What is present here is what the snapshot found there. */
static void join_present(const flow *w, const uint32_t *s) {
    const uint32_t *webs = s + 2 + s[0] + s[1];
    for (uint32_t k = 0; k < s[0]; k++) join(w, *of_register(w, s[2 + k]), *webs++);
    for (uint32_t k = 0; k < s[1]; k++) join(w, *of_array(w, w->stack[k]), *webs++);
}

static rvm_status begin_webs(flow *w) {
    rvm_function *f = w->v->p->functions + w->v->fn;
    if (!rvm__grow_two(&w->v->p->al, (void **)&f->webs, sizeof *f->webs, (void **)&f->roots, sizeof *f->roots, &f->cap_webs,
                       f->nplaces))
        return rvm__verify_no_memory(w->v);
    for (uint32_t k = 0; k < f->nplaces; k++) f->webs[k] = k, f->roots[k] = 0;
    w->webs = f->webs;
    w->roots = f->roots;
    return RVM_OK;
}

/* Numbers in place of first places, which come first. */
static void number_webs(const flow *w) {
    rvm_function *f = w->v->p->functions + w->v->fn;
    f->nwebs = 0;
    for (uint32_t k = 0; k < f->nplaces; k++) {
        const rvm_place *q = f->places + k;
        if (!is_local(w->v, q))
            f->webs[k] = rvm__slot_number(f, q);
        else
            f->webs[k] = f->webs[k] == k ? rvm__slot_numbers(f) + f->nwebs++ : f->webs[f->webs[k]];
    }
}

/* ---- links ---- */

static rvm_status differs(const flow *w, uint32_t pc, uint32_t other, const rvm_place *q) {
    rvm__verifier *v = w->v;
    return RVM__REJECT(v, pc, "'%s' is present on one path but not on the other: here and at line %u", RVM__NAME(v, pc, q),
                       v->f->positions[other].line);
}

static rvm_status compare(const flow *w, uint32_t pc, uint32_t other, uint32_t snapshot) {
    const uint32_t *s = w->v->words + snapshot, *arrays = s + 2 + s[0];
    for (uint32_t k = 0; k < s[0]; k++)
        if (w->where[s[2 + k]] == ABSENT)
            return differs(w, pc, other, &(rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)s[2 + k]});
    for (uint32_t k = 0; s[0] != w->nlive && k < w->nlive; k++) {
        uint32_t j = 0;
        while (j < s[0] && s[2 + j] != w->live[k]) j++;
        if (j == s[0]) return differs(w, pc, other, &(rvm_place){.kind = RVM_PLACE_SLOT, .slot = (uint16_t)w->live[k]});
    }
    uint32_t n = (uint32_t)rvm__least(s[1], w->nstack), k = 0;
    while (k < n && arrays[k] == w->stack[k]) k++;
    if (k == s[1] && k == w->nstack) {
        join_present(w, s);
        return RVM_OK;
    }
    uint32_t odd = (k < w->nstack ? w->stack[k] : arrays[k]) & UINT16_MAX;
    return differs(w, pc, other, &(rvm_place){.kind = RVM_PLACE_ARRAY, .slot = (uint16_t)odd});
}

/* The present state, at pc, is that of boundary `there`, at the instruction `other`. `key` is the instruction that keeps the
 * snapshot of the link. */
static rvm_status link(flow *w, uint32_t pc, uint32_t key, uint32_t other, uint32_t there) {
    uint32_t *snapshot = w->v->snapshot + w->v->at->code + key;
    if (*snapshot != EMPTY) return compare(w, pc, other, *snapshot);
    RVM__TRY(save(w, pc, snapshot));
    w->work[w->nwork] = there;
    w->via[w->nwork++] = *snapshot;
    return RVM_OK;
}

/* ---- places of one instruction ---- */

static rvm_status need_register(const flow *w, uint32_t pc, uint32_t slot) {
    if (rvm__is_const(w->v->f, (uint16_t)slot) || register_present(w, slot)) return RVM_OK;
    return RVM__REJECT(w->v, pc, "'%s' is not present here", RVM__REG_NAME(w->v, pc, slot));
}

/* Of a parameter, how it is accessed; register, or array. */
static void note(const flow *w, const uint8_t *param_of, uint32_t index, uint32_t nparams, unsigned bits) {
    if (index < nparams) w->v->bits[w->v->at->params + param_of[index]] |= bits;
}

static inline rvm_status use_register(const flow *w, uint32_t pc, uint16_t slot, unsigned bits) {
    RVM__TRY(need_register(w, pc, slot));
    note(w, w->reg_param, slot, w->v->at->nscalars, bits);
    return RVM_OK;
}

static rvm_status use_indices(const flow *w, uint32_t pc, const rvm_place *q) {
    const uint32_t n = rvm__nindices(q);
    for (uint32_t k = 0; k < n; k++) RVM__TRY(use_register(w, pc, q->idx[k], RVM__BITS_READ));
    return RVM_OK;
}

static rvm_status use_array(const flow *w, uint32_t pc, uint32_t place, unsigned bits) {
    const rvm_place *q = w->v->f->places + place;
    if (!array_present(w, q->slot))
        return RVM__REJECT(w->v, pc, "'%s' is not present here", RVM__ARRAY_NAME(w->v, pc, q->slot));
    const uint16_t root = w->roots[place] = root_of(w, q->slot);
    note(w, w->array_param, root, rvm__array_params(w->v), bits);
    if (q->slot >= rvm__array_params(w->v)) join(w, place, *of_array(w, q->slot));
    return RVM_OK;
}

/* Everything the place names is present; its root is kept, and the access noted. */
static rvm_status use(const flow *w, uint32_t pc, uint32_t place, unsigned bits) {
    const rvm_place *q = w->v->f->places + place;
    if (q->kind != RVM_PLACE_SLOT) {
        RVM__TRY(use_indices(w, pc, q));
        return q->kind == RVM_PLACE_RANGE ? use_register(w, pc, q->slot, RVM__BITS_READ) : use_array(w, pc, place, bits);
    }
    if (rvm__is_const(w->v->f, q->slot)) return RVM_OK;
    RVM__TRY(use_register(w, pc, q->slot, bits));
    if (!rvm__is_fixed(w->v, q->slot)) join(w, place, *of_register(w, q->slot));
    return RVM_OK;
}

static rvm_status add_edge(flow *w, uint32_t pc, size_t from, size_t to) {
    rvm__verifier *v = w->v;
    if (v->nedges >= UINT32_MAX / 2) return RVM__REJECT(v, pc, "too complex: too many arguments");
    if (!rvm__grow(&v->p->al, (void **)&v->edges, &v->cap_edges, v->nedges + 1, sizeof *v->edges))
        return rvm__verify_no_memory(v);
    v->edges[v->nedges++] = (rvm__fact_edge){(uint32_t)from, (uint32_t)to, 0};
    return RVM_OK;
}

static rvm_status hand_on(flow *w, uint32_t pc, const rvm_insn *in, uint32_t k) {
    rvm__verifier *v = w->v;
    const rvm_place *q = rvm__places(v->f, in) + k;
    uint16_t root = rvm__root_of(v->f, q);
    bool slot = q->kind == RVM_PLACE_SLOT;
    if (slot ? q->slot >= v->at->nscalars : root >= rvm__array_params(v)) return RVM_OK;
    size_t to = v->at->params + (slot ? w->reg_param[q->slot] : w->array_param[root]);
    return add_edge(w, pc, v->base[in->target].params + k, to);
}

/* Whether the stack is used: here, or by who is called. */
static rvm_status note_stack(flow *w, uint32_t pc, const rvm_insn *in) {
    rvm__verifier *v = w->v;
    const size_t here = rvm__uses_stack(v, v->fn);
    if (rvm__op_on_stack((rvm_op)in->op)) v->bits[here] = RVM__BITS_OWN;
    return rvm__is_call(in) ? add_edge(w, pc, rvm__calls_stack(v, in), here) : RVM_OK;
}

static rvm_status use_all(flow *w, uint32_t pc, const rvm_insn *in) {
    RVM__EACH_ACCESS(a, w->v->p, w->v->f, in) {
        if (a.toggles) continue;
        const bool argument = a.param && w->v->target[in->op] == 'F'; /* of which the role is not known yet */
        RVM__TRY(use(w, pc, in->places + a.k, argument ? RVM__BITS_NONE : a.bits));
        if (argument) RVM__TRY(hand_on(w, pc, in, a.k));
    }
    return RVM_OK;
}

/* ---- what appears and disappears ---- */

static rvm_status appear(flow *w, uint32_t pc, uint32_t place, uint32_t root) {
    const rvm_place *q = w->v->f->places + place;
    bool array = q->kind == RVM_PLACE_ARRAY;
    if (array ? array_present(w, q->slot) : register_present(w, q->slot))
        return RVM__REJECT(w->v, pc, "'%s' appears here but is already present", RVM__NAME(w->v, pc, q));
    *web_at(w, q) = place;
    if (!array) {
        add_register(w, q->slot);
        return RVM_OK;
    }
    w->height[q->slot] = w->nstack;
    w->stack[w->nstack++] = q->slot | root << 16;
    w->roots[place] = (uint16_t)root;
    return RVM_OK;
}

static rvm_status disappear_array(flow *w, uint32_t pc, const rvm_place *q) {
    if (w->height[q->slot] == w->nstack - 1) {
        w->height[q->slot] = ABSENT;
        w->nstack--;
        return RVM_OK;
    }
    return RVM__REJECT(w->v, pc, "'%s' disappears before '%s', which appeared later", RVM__NAME(w->v, pc, q),
                       RVM__ARRAY_NAME(w->v, pc, w->stack[w->nstack - 1] & UINT16_MAX));
}

static rvm_status disappear(flow *w, uint32_t pc, uint32_t place) {
    const rvm_place *q = w->v->f->places + place;
    bool array = q->kind == RVM_PLACE_ARRAY;
    if (!(array ? array_present(w, q->slot) : register_present(w, q->slot)))
        return RVM__REJECT(w->v, pc, "'%s' disappears here but is not present", RVM__NAME(w->v, pc, q));
    join(w, place, *web_at(w, q));
    if (!array) {
        remove_register(w, q->slot);
        return RVM_OK;
    }
    w->roots[place] = root_of(w, q->slot);
    return disappear_array(w, pc, q);
}

/* What the array of the instruction is part of: the viewed array's root, or itself. */
static uint16_t new_root(const flow *w, const rvm_place *q, const char *letters) {
    return letters[1] == 'V' ? root_of(w, q[1].slot) : q[0].slot;
}

/* Pass an instruction whose places from `first` on appear or disappear: one, or several registers. Its operands are looked
 * at while they are absent. */
static rvm_status pass_toggle(flow *w, uint32_t pc, const rvm_insn *in, const char *letters, uint32_t first, bool up) {
    const rvm_place *q = rvm__places(w->v->f, in) + first;
    bool array = q->kind == RVM_PLACE_ARRAY;
    uint32_t end = first;
    while (end < in->nplaces && rvm__letter_toggles(letters[end])) end++;
    if (rvm__is_inverse(in->op) != up) {
        RVM__TRY(use_all(w, pc, in));
        for (uint32_t k = first; k < end; k++) RVM__TRY(appear(w, pc, in->places + k, array ? new_root(w, q, letters) : 0));
        return RVM_OK;
    }
    for (uint32_t k = end; k-- > first;) RVM__TRY(disappear(w, pc, in->places + k));
    RVM__TRY(use_all(w, pc, in));
    if (!array || rvm__root_of(w->v->f, q) == new_root(w, q, letters)) return RVM_OK;
    return RVM__REJECT(w->v, pc, "'%s' did not appear as part of '%s'", RVM__NAME(w->v, pc, q),
                       RVM__ARRAY_NAME(w->v, pc, new_root(w, q, letters)));
}

/* ---- instructions ---- */

static bool makes_appear(const rvm_program *p, const rvm_function *f, const rvm_insn *in, const rvm_place *q) {
    RVM__EACH_ACCESS(a, p, f, in)
        if (a.appears && a.q->kind == q->kind && a.q->slot == q->slot) return true;
    return false;
}

/* The last instruction before pc that makes the place appear, or 0. */
static uint32_t appeared_at(const flow *w, uint32_t pc, const rvm_place *q) {
    RVM__EACH_INSN_UP(x, w->v->f, pc, 0)
    if (makes_appear(w->v->p, w->v->f, x.in, q)) return x.pc;
    return 0;
}

static rvm_status at_end(const flow *w, uint32_t pc) {
    rvm__verifier *v = w->v;
    if (!w->nlive && !w->nstack) return RVM_OK;
    rvm_place q = {.kind = w->nlive ? RVM_PLACE_SLOT : RVM_PLACE_ARRAY,
                   .slot = (uint16_t)(w->nlive ? w->live[0] : w->stack[0] & UINT16_MAX)};
    uint32_t since = appeared_at(w, pc, &q);
    return RVM__REJECT(v, pc, "'%s', which appears at line %u, is still present at the %s of '%s'",
                       RVM__NAME(v, since + (since < pc), &q), v->f->positions[since].line, pc ? "end" : "start",
                       v->f->name);
}

/* The link at a side of the instruction: where its places are present, if it is passed. */
static rvm_status pass_edge(flow *w, uint32_t pc, bool behind) {
    rvm__edge to;
    if (rvm__pair_of(w->v->f->code[pc].op) == RVM_PAIR_start) return at_end(w, pc);
    return rvm__edge_at(w->v->f, pc, behind, &to) ? link(w, pc, (uint32_t)rvm__least(pc, to.pc), to.pc, to.boundary)
                                                  : RVM_OK;
}

static rvm_status pass(flow *w, uint32_t pc, bool up) {
    const rvm_insn *in = w->v->f->code + pc;
    char buffer[256];
    const char *letters = rvm__place_letters(in, buffer);
    uint32_t first = rvm__first_toggle(in, letters);
    bool toggles = first < in->nplaces, behind = toggles && !rvm__is_inverse(in->op), edge_first = toggles && behind != up;
    RVM__TRY(note_stack(w, pc, in));
    if (edge_first) RVM__TRY(pass_edge(w, pc, behind));
    RVM__TRY(toggles ? pass_toggle(w, pc, in, letters, first, up) : use_all(w, pc, in));
    return edge_first ? RVM_OK : pass_edge(w, pc, behind);
}

/* ---- runs ---- */

static rvm_status sweep_up(flow *w, uint32_t b) {
    const rvm_function *f = w->v->f;
    for (; w->seen[b] = 1, b < f->ncode; b++) {
        if (rvm__parts_control(f->code + b)) return pass_edge(w, b, false);
        RVM__TRY(pass(w, b, true));
    }
    return RVM_OK;
}

static rvm_status sweep_down(flow *w, uint32_t b) {
    const rvm_function *f = w->v->f;
    for (; w->seen[b] = 1, b > 0; b--) {
        if (rvm__parts_control(f->code + b - 1)) return pass_edge(w, b - 1, true);
        RVM__TRY(pass(w, b - 1, false));
    }
    return RVM_OK;
}

/* Spread from boundary b, whose state is the snapshot, both ways; then from all that this reaches. */
static rvm_status spread(flow *w, uint32_t b, uint32_t snapshot) {
    w->work[0] = b;
    w->via[0] = snapshot;
    w->nwork = 1;
    while (w->nwork) {
        b = w->work[--w->nwork];
        snapshot = w->via[w->nwork];
        if (w->seen[b]) continue;
        load(w, snapshot);
        RVM__TRY(sweep_up(w, b));
        load(w, snapshot);
        RVM__TRY(sweep_down(w, b));
    }
    return RVM_OK;
}

static rvm_status check_seen(const flow *w) {
    const rvm_function *f = w->v->f;
    for (uint32_t b = 0; b <= f->ncode; b++) {
        bool between = b > 0 && b < f->ncode && f->code[b - 1].op == RVM_OP_jmp && f->code[b].op == RVM_OP_cf;
        if (!w->seen[b] && !between)
            return RVM__REJECT(w->v, b < f->ncode ? b : b - 1, "control never arrives here, in either direction");
    }
    return RVM_OK;
}

/* ---- the program ---- */

static rvm_status make(flow *w) {
    rvm__verifier *v = w->v;
    w->live = rvm__verify_make(v, v->max_regs, sizeof *w->live);
    w->where = rvm__verify_make(v, v->max_regs, sizeof *w->where);
    w->stack = rvm__verify_make(v, v->max_arrays, sizeof *w->stack);
    w->height = rvm__verify_make(v, v->max_arrays, sizeof *w->height);
    w->seen_at = rvm__verify_make(v, (size_t)v->max_regs + v->max_arrays, sizeof *w->seen_at);
    w->work = rvm__verify_make(v, v->max_code + 1u, sizeof *w->work);
    w->via = rvm__verify_make(v, v->max_code + 1u, sizeof *w->via);
    w->seen = rvm__verify_make(v, v->max_code + 1u, sizeof *w->seen);
    RVM__TRY(rvm__verify_has_memory(v));
    if (!rvm__grow(&v->p->al, (void **)&v->words, &v->cap_words, EMPTY + 2, sizeof *v->words))
        return rvm__verify_no_memory(v);
    memset(w->where, 0xff, v->max_regs * sizeof *w->where);
    memset(w->height, 0xff, v->max_arrays * sizeof *w->height);
    memset(v->words, 0, 2 * sizeof *v->words);
    v->nwords = EMPTY + 2;
    return RVM_OK;
}

static rvm_status check_function(flow *w) {
    const rvm_function *f = w->v->f;
    uint8_t scalars = 0, arrays = 0;
    for (uint32_t k = 0; k < f->nparams; k++)
        *(f->params[k].ndim ? w->array_param + arrays++ : w->reg_param + scalars++) = (uint8_t)k;
    memset(w->seen, 0, f->ncode + 1);
    RVM__TRY(begin_webs(w));
    RVM__TRY(spread(w, 0, EMPTY));
    RVM__TRY(spread(w, f->ncode, EMPTY));
    RVM__TRY(check_seen(w));
    number_webs(w);
    clear(w);
    return RVM_OK;
}

/* What calls through function values may run: by shape, and by variant. */
static rvm_status note_values(flow *w) {
    rvm__verifier *v = w->v;
    const rvm_program *p = v->p;
    for (uint32_t fn = 0; fn < p->nfunctions && p->nvariants; fn++)
        for (uint32_t k = 0; k < p->nsignatures; k++) {
            if (p->signatures[k].shape != k || !rvm__fits_types(p, fn, k)) continue;
            RVM__TRY(add_edge(w, 0, rvm__uses_stack(v, fn), rvm__uses_stack(v, p->nfunctions + k)));
            break;
        }
    for (uint32_t k = 0; k < p->nvariants; k++)
        for (uint32_t i = 0; i < p->variants[k].nderived; i++)
            RVM__TRY(add_edge(w, 0, rvm__uses_stack(v, p->variants[k].derived[i].derived),
                              rvm__uses_stack(v, p->nfunctions + p->nsignatures + k)));
    return RVM_OK;
}

rvm_status rvm__verify_flow(rvm__verifier *v) {
    flow w = {.v = v};
    RVM__TRY(make(&w));
    RVM__TRY(note_values(&w));
    RVM__EACH_FUNCTION(v) RVM__TRY(check_function(&w));
    return RVM_OK;
}

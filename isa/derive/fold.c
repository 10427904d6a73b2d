/* fold.c: functions for given values of what they only read. See rvm_program.h.
 *
 * A register whose value is given, a scalar parameter or a length, becomes a constant wherever it stands, and its parameter
 * goes. A few places take registers only, such as the condition of a jump: for these it appears at the start as a local that
 * holds the value. Calls that pass such a value on, as an argument or as the length of an array, get a copy of what they
 * call, made in the same way; a copy for the same values is made once. Instructions stay what they are, so that errors are
 * those of the function.
 *
 * For engines (shaped.h) copies keep the frames of what they are copies of: a register is known where it is read, and there
 * nevertheless.
 */
#include "shaped.h"
#include "transform.h"
#include "accesses.h"
#include "solver.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

enum { MOST_COPIES = 256, MOST_ROUNDS = 8, NONE = UINT16_MAX };
/* Copies of one function that keep its frame: so many, of so many instructions in all, or one. Recursion has some for the
 * lengths of each of its calls, and would never end. */
enum { MOST_OF_ONE = 8, MOST_CODE_OF_ONE = 2048 };

typedef struct known { /* what is given: of a register, or of the length of an array */
    bool is;
    bool literal; /* the program says so itself, which alone makes no copy */
    rvm_value value;
} known;

typedef struct request {
    uint32_t of, fn;
    known *regs; /* by register of the source */
} request;

typedef struct folding {
    rvm_program *p;
    rvm_error *err;
    request *requests;
    uint32_t n, cap;
    bool framed; /* copies keep frames */
    rvm__zone memory;
    known *told; /* room for what is known of a function that is asked for */
} folding;

typedef struct copying { /* a function being written */
    folding *w;
    rvm_function f, g; /* source, copy */
    const known *regs;
    known (*lengths)[RVM_MAX_DIMS]; /* by array: of all that makes it appear */
    known (*latest)[RVM_MAX_DIMS];  /* by array: of what did so last, */
    uint32_t *since;                /* in the stretch of straight code of this number */
    uint32_t stretch;
    bool wrong;              /* less is known than was thought */
    uint64_t visits;         /* of instructions, to find lengths */
    uint8_t *seen;           /* by array: it has appeared */
    uint16_t *slots, *local; /* by slot of the source: that of the copy; the register in place of a constant, or NONE */
    uint32_t nlocal;         /* such registers that are not the source's */
} copying;

static rvm_status no_memory(folding *w) {
    return rvm__fail(w->err, RVM_ERR_MEMORY, NULL, 0, 0, "out of memory");
}

/* ---- requests ---- */

static bool same_known(const known *a, const known *b, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (a[k].is != b[k].is || (a[k].is && a[k].value.u != b[k].value.u)) return false;
    return true;
}

/* A name that is free: f'const, f'const2. */
static int64_t add_named(rvm_program *p, const char *of) {
    char name[1024];
    int n = snprintf(name, sizeof name, "%s'const", of);
    for (int k = 2; n < (int)sizeof name && rvm__program_find(p, name, (size_t)n) >= 0; k++)
        n = snprintf(name, sizeof name, "%s'const%d", of, k);
    return n < (int)sizeof name ? rvm__program_add_function(p, name, (size_t)n) : -1;
}

/* Whether there are enough copies, so many of this function. */
static bool are_many(const folding *w, uint32_t of, uint32_t copies) {
    if (w->n >= MOST_COPIES) return true;
    return w->framed && copies && (copies >= MOST_OF_ONE || (copies + 1) * w->p->functions[of].ncode > MOST_CODE_OF_ONE);
}

/* Nothing is known yet of the registers of a function. */
static known *begin_telling(const folding *w, uint32_t fn) {
    return memset(w->told, 0, w->p->functions[fn].nregs * sizeof *w->told);
}

/* The copy of a function for what w->told says; `of` itself where there are too many. */
static rvm_status ask(folding *w, uint32_t of, uint32_t *fn) {
    const uint32_t nregs = w->p->functions[of].nregs;
    uint32_t copies = 0;
    *fn = of;
    for (uint32_t k = 0; k < w->n; k++) {
        if (w->requests[k].of != of) continue;
        copies++;
        if (!same_known(w->requests[k].regs, w->told, nregs)) continue;
        *fn = w->requests[k].fn;
        return RVM_OK;
    }
    if (are_many(w, of, copies)) return RVM_OK;
    const bool room = rvm__grow(&w->p->al, (void **)&w->requests, &w->cap, w->n + 1, sizeof *w->requests);
    const int64_t added = room ? add_named(w->p, w->p->functions[of].name) : -1;
    known *regs = added < 0 ? NULL : rvm__zone_make(&w->memory, nregs, sizeof *regs);
    if (!regs) return no_memory(w);
    memcpy(regs, w->told, nregs * sizeof *regs);
    *fn = (uint32_t)added;
    w->requests[w->n++] = (request){of, *fn, regs};
    return RVM_OK;
}

/* ---- what is known in a function ---- */

static known known_slot(const copying *c, uint16_t slot) {
    if (slot < c->f.nregs) return c->regs[slot];
    return (known){true, true, c->f.consts[slot - c->f.nregs]};
}

static bool agree(known a, known b) {
    return a.is == b.is && (!a.is || a.value.i == b.value.i);
}

static const known *lengths_of(const copying *c, uint16_t array) {
    return c->since[array] == c->stretch ? c->latest[array] : c->lengths[array];
}

/* The lengths of an array that appears, by the instruction. */
static void lengths_here(const copying *c, const rvm_insn *in, const rvm_place *q, known to[RVM_MAX_DIMS]) {
    const int ndim = c->f.arrays[q[0].slot].ndim;
    if (rvm__pair_of(in->op) == RVM_PAIR_like) memcpy(to, lengths_of(c, q[1].slot), sizeof c->lengths[0]);
    for (int d = 0; rvm__pair_of(in->op) == RVM_PAIR_new && d < ndim; d++) to[d] = known_slot(c, q[1 + d].slot);
    for (int d = 0, at = 0; rvm__pair_of(in->op) == RVM_PAIR_view && d < c->f.arrays[q[1].slot].ndim; d++) {
        if (d + 2 >= in->nplaces) {
            to[at++] = lengths_of(c, q[1].slot)[d];
        } else if (q[d + 2].kind == RVM_PLACE_RANGE) {
            const known lo = known_slot(c, q[d + 2].slot), hi = known_slot(c, q[d + 2].idx[0]);
            to[at].is = lo.is && hi.is && lo.value.i <= hi.value.i; /* else it never appears */
            to[at].literal = lo.literal && hi.literal;
            to[at++].value.u = hi.value.u - lo.value.u;
        }
    }
}

/* Names of arrays are used again for others. What one is known as where it has just appeared holds up to where paths
 * may join; elsewhere a length is known where all that makes the array appear says the same. */
static void note_lengths(copying *c, const rvm_insn *in) {
    const rvm_place *q = rvm__places(&c->f, in);
    if (rvm__op_target((rvm_op)in->op) == 'L' || rvm__class_of(in->op) == RVM_CLASS_REGION) c->stretch++;
    if (!rvm__op_names_array((rvm_op)in->op)) return;
    known here[RVM_MAX_DIMS] = {{false}}, *there = c->lengths[q[0].slot];
    lengths_here(c, in, q, here);
    for (int d = 0; d < RVM_MAX_DIMS; d++) {
        if (!c->seen[q[0].slot])
            there[d] = here[d];
        else if (!agree(there[d], here[d]) && there[d].is) {
            there[d].is = false;
            c->wrong = true;
        }
    }
    c->seen[q[0].slot] = 1;
    memcpy(c->latest[q[0].slot], here, sizeof here);
    c->since[q[0].slot] = c->stretch;
}

static uint64_t most_visits(const copying *c) {
    return (uint64_t)MOST_ROUNDS * c->f.ncode;
}

static bool visit_lengths(void *userdata, uint32_t pc) {
    copying *c = userdata;
    c->wrong = false;
    if (++c->visits <= most_visits(c)) note_lengths(c, &c->f.code[pc]);
    return c->wrong;
}

static void find_lengths(copying *c) {
    for (uint32_t k = 0; k < c->f.nparams; k++)
        for (int d = 0; d < c->f.params[k].ndim; d++)
            c->lengths[c->f.params[k].index][d] = known_slot(c, c->f.params[k].dim[d]);
    rvm__solve(c->f.ncode, visit_lengths, c);
    for (uint32_t k = 0; c->visits > most_visits(c) && k < c->f.narrays; k++)
        if (c->seen[k]) memset(c->lengths[k], 0, sizeof c->lengths[k]);
    c->stretch++; /* now again, to be asked on the way */
}

/* ---- places ---- */

static uint16_t map(const copying *c, uint16_t slot) {
    return c->slots[slot];
}

static rvm_place map_place(const copying *c, const rvm_place *q, char letter) {
    rvm_place to = *q;
    const bool local = letter == 'c' || letter == 'p'; /* which take no constant */
    if (q->kind == RVM_PLACE_SLOT || q->kind == RVM_PLACE_RANGE) to.slot = map(c, q->slot);
    if (q->kind == RVM_PLACE_SLOT && local && c->local[q->slot] != NONE) to.slot = c->local[q->slot];
    for (uint32_t k = 0; k < rvm__nindices(q); k++) to.idx[k] = map(c, q->idx[k]);
    return to;
}

/* Constants that stand where only a register may. */
static bool needs_local(const copying *c, uint16_t slot) {
    RVM__EACH_INSN(x, &c->f)
        RVM__EACH_ACCESS(a, c->w->p, &c->f, x.in)
            if (a.reg && a.q->slot == slot && (a.letter == 'c' || a.letter == 'p')) return true;
    return false;
}

/* Scalar parameters first, as in the source. */
static bool add_registers(copying *c) {
    const rvm_program *p = c->w->p;
    const bool framed = c->w->framed;
    for (uint32_t k = 0; k < c->f.nregs; k++) {
        const rvm_type t = (rvm_type)c->f.reg_type[k];
        const bool given = c->regs[k].is;
        const int64_t at = !given || framed ? rvm__function_add_register(p, &c->g, t) : 0;
        const int64_t is = given ? rvm__function_add_const(p, &c->g, t, c->regs[k].value) : 0;
        if (at < 0 || is < 0) return false;
        c->local[k] = given && framed ? (uint16_t)at : NONE;
        c->slots[k] = (uint16_t)(given ? RVM_BUILD_CONST + is : at);
    }
    for (uint32_t k = 0; k < c->f.nregs && !framed; k++) {
        if (!c->regs[k].is || !needs_local(c, (uint16_t)k)) continue;
        const int64_t at = rvm__function_add_register(p, &c->g, (rvm_type)c->f.reg_type[k]);
        if (at < 0) return false;
        c->local[k] = (uint16_t)at;
        c->nlocal++;
    }
    return true;
}

static bool add_slots(copying *c) {
    const rvm_program *p = c->w->p;
    bool ok = add_registers(c);
    for (uint32_t k = 0; ok && k < c->f.nconsts; k++) {
        const int64_t at = rvm__function_add_const(p, &c->g, (rvm_type)c->f.const_type[k], c->f.consts[k]);
        ok = at >= 0;
        c->slots[c->f.nregs + k] = (uint16_t)(RVM_BUILD_CONST + at);
        c->local[c->f.nregs + k] = NONE;
    }
    for (uint32_t k = 0; ok && k < c->f.narrays; k++)
        ok = rvm__function_add_array(p, &c->g, (rvm_type)c->f.arrays[k].type, c->f.arrays[k].ndim) >= 0;
    return ok;
}

/* Whether the copy lacks a register. */
static bool is_gone(const copying *c, bool scalar, uint16_t k) {
    return scalar && c->regs[k].is && !c->w->framed;
}

static uint16_t register_of(const copying *c, uint16_t k) {
    return c->local[k] != NONE ? c->local[k] : map(c, k);
}

/* Of a parameter: a register even if it is known, so that the frame has it. */
static uint16_t length_of(const copying *c, uint16_t slot) {
    return slot < c->f.nregs && c->w->framed ? register_of(c, slot) : map(c, slot);
}

static bool add_params(copying *c) {
    bool ok = true;
    for (uint32_t k = 0; ok && k < c->f.nparams; k++) {
        rvm_param q = c->f.params[k];
        if (is_gone(c, !q.ndim, q.index)) continue;
        if (!q.ndim) q.index = register_of(c, q.index);
        for (int d = 0; d < q.ndim; d++) q.dim[d] = length_of(c, q.dim[d]);
        ok = rvm__function_add_param(c->w->p, &c->g, &q, q.name, strlen(q.name)) >= 0;
    }
    return ok;
}

static bool add_symbols(copying *c) {
    bool ok = true;
    for (uint32_t k = 0; ok && k < c->f.nsymbols; k++) {
        rvm_symbol s = c->f.symbols[k];
        if (is_gone(c, !s.is_array, s.index)) continue;
        if (!s.is_array) s.index = register_of(c, s.index);
        s.from += s.from ? c->nlocal : 0;
        s.to += c->nlocal;
        ok = rvm__function_add_symbol(c->w->p, &c->g, &s, s.name, strlen(s.name)) >= 0;
    }
    return ok;
}

/* ---- calls ---- */

/* What the callee knows of a register; false: another argument says otherwise. */
static bool tell(known *to, known is, bool *given) {
    if (!is.is) return true;
    if (to->is) return to->value.u == is.value.u;
    *to = is;
    *given |= !is.literal;
    return true;
}

/* What the arguments of a call say of the callee's registers. */
static bool tell_callee(const copying *c, const rvm_function *g, const rvm_place *q, known *regs) {
    bool given = false, consistent = true;
    for (uint32_t k = 0; k < g->nparams; k++) {
        const rvm_param *param = &g->params[k];
        if (!param->ndim && param->role == RVM_READ && q[k].kind == RVM_PLACE_SLOT)
            consistent &= tell(&regs[param->index], known_slot(c, q[k].slot), &given);
        for (int d = 0; d < param->ndim; d++)
            if (param->dim[d] < g->nregs) consistent &= tell(&regs[param->dim[d]], lengths_of(c, q[k].slot)[d], &given);
    }
    return given && consistent;
}

/* The function to call, and in gone[] the arguments that it does not take. */
/* A copy has no derivative that is written by hand: for who derives, the function stays as it is. */
static bool is_ruled(const folding *w, uint32_t fn) {
    for (uint32_t k = 0; k < w->p->nrules && !w->framed; k++)
        if (w->p->rules[k].of == fn) return true;
    return rvm__print_text(w->p, fn); /* nor a text */
}

static rvm_status choose_callee(copying *c, const rvm_insn *in, uint32_t *target, bool *gone) {
    folding *w = c->w;
    const rvm_function g = w->p->functions[in->target];
    known *regs = begin_telling(w, in->target);
    bool scalar[RVM_MAX_PARAMS];
    *target = in->target;
    if (is_ruled(w, in->target) || !tell_callee(c, &g, rvm__places(&c->f, in), regs)) return RVM_OK;
    for (uint32_t k = 0; k < g.nparams; k++) scalar[k] = !g.params[k].ndim && regs[g.params[k].index].is;
    rvm_status st = ask(w, in->target, target);
    for (uint32_t k = 0; k < g.nparams; k++) gone[k] = *target != in->target && scalar[k] && !w->framed;
    return st;
}

/* ---- code ---- */

static rvm_status emit(copying *c, rvm_op op, const rvm_insn *like, uint32_t target, const rvm_place *q, uint32_t n,
                       uint32_t pc) {
    const int64_t at =
        rvm__function_emit(c->w->p, &c->g, op, (rvm_row)like->row, like->flags, target, q, n, c->f.positions[pc]);
    return at < 0 ? no_memory(c->w) : RVM_OK;
}

static rvm_status copy_insn(copying *c, uint32_t pc) {
    const rvm_insn *in = &c->f.code[pc];
    const char kind = rvm__op_target((rvm_op)in->op);
    rvm_place places[256];
    bool gone[RVM_MAX_PARAMS + 1] = {false};
    note_lengths(c, in);
    uint32_t n = 0, target = kind == 'L' ? in->target + c->nlocal : kind ? in->target : 0;
    if (rvm__pair_of(in->op) == RVM_PAIR_call) RVM__TRY(choose_callee(c, in, &target, gone));
    RVM__EACH_ACCESS(a, c->w->p, &c->f, in)
        if (!gone[a.k]) places[n++] = map_place(c, a.q, a.letter);
    return emit(c, (rvm_op)in->op, in, target, places, n, pc);
}

/* Locals that hold constants appear first and disappear last. */
static rvm_status emit_locals(copying *c, rvm_op op, uint32_t pc) {
    static const rvm_insn let = {.row = RVM_ROW_id};
    for (uint32_t k = 0; c->nlocal && k < c->f.nregs; k++) {
        const rvm_place q[] = {{.kind = RVM_PLACE_SLOT, .slot = c->local[k]}, {.kind = RVM_PLACE_SLOT, .slot = c->slots[k]}};
        if (c->local[k] != NONE) RVM__TRY(emit(c, op, &let, 0, q, 2, pc));
    }
    return RVM_OK;
}

static rvm_status copy_code(copying *c) {
    RVM__EACH_INSN(x, &c->f) {
        if (x.pc + 1 == x.end) RVM__TRY(emit_locals(c, RVM_OP_unlet, x.pc));
        RVM__TRY(copy_insn(c, x.pc));
        if (x.pc == 0) RVM__TRY(emit_locals(c, RVM_OP_let, 0));
    }
    return RVM_OK;
}

static rvm_status write_with(copying *c) {
    folding *w = c->w;
    find_lengths(c);
    if (!add_slots(c) || !add_params(c)) return no_memory(w);
    RVM__TRY(copy_code(c));
    return add_symbols(c) ? RVM_OK : no_memory(w);
}

static rvm_status write_copy(folding *w, uint32_t number) {
    const request *r = &w->requests[number];
    const uint32_t fn = r->fn;
    copying c = {.w = w, .f = w->p->functions[r->of], .regs = r->regs};
    const size_t nslots = (size_t)c.f.nregs + c.f.nconsts;
    rvm__zone memory = {.al = &w->p->al};
    c.slots = rvm__zone_make(&memory, nslots, sizeof *c.slots);
    c.local = rvm__zone_make(&memory, nslots, sizeof *c.local);
    c.lengths = rvm__zone_make(&memory, c.f.narrays, sizeof *c.lengths);
    c.latest = rvm__zone_make(&memory, c.f.narrays, sizeof *c.latest);
    c.since = rvm__zone_make(&memory, c.f.narrays, sizeof *c.since);
    c.seen = rvm__zone_make(&memory, c.f.narrays, 1);
    c.stretch = 1;
    const rvm_status st = memory.failed ? no_memory(w) : write_with(&c);
    /* What was written goes into the program even if it is not whole, to be freed with it. */
    c.g.name = w->p->functions[fn].name;
    w->p->functions[fn] = c.g;
    if (!st) rvm__function_finish(&w->p->functions[fn]);
    rvm__zone_free(&memory);
    return st;
}

/* ---- what is given ---- */

/* Marks the register of a scalar parameter, or of a length. */
static rvm_status take(folding *w, uint32_t fn, const rvm_constant *is, known *regs) {
    const rvm_function *f = &w->p->functions[fn];
    const known value = {true, false, {.i = is->value.i}};
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = &f->params[k];
        const bool named = !strcmp(q->name, is->name);
        if (named && q->ndim)
            return rvm__fail(w->err, RVM_ERR_ARGUMENT, NULL, 0, 0,
                             "`%s` is an array: only scalars and lengths are constants", is->name);
        if (named && q->role != RVM_READ)
            return rvm__fail(w->err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%s` changes `%s`, which so is no constant", f->name,
                             is->name);
        if (named && q->type == RVM_F32 && !rvm__is_single(is->value.f))
            return rvm__fail(w->err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%s` is f32, but %.17g does not fit one", is->name,
                             is->value.f);
        if (named) return regs[q->index] = value, RVM_OK;
        for (int d = 0; d < q->ndim; d++) {
            const char *name = q->dim[d] < f->nregs ? rvm__symbol_at(f, false, q->dim[d], 0) : NULL;
            if (!name || strcmp(name, is->name)) continue;
            if (is->value.i < 0)
                return rvm__fail(w->err, RVM_ERR_ARGUMENT, NULL, 0, 0, "the length `%s` is negative: %lld", name,
                                 (long long)is->value.i);
            return regs[q->dim[d]] = value, RVM_OK;
        }
    }
    return rvm__fail(w->err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%s` has no parameter and no length `%s`", f->name, is->name);
}

static rvm_status take_all(folding *w, uint32_t fn, const rvm_constant *constants, uint32_t n, uint32_t *index) {
    known *regs = begin_telling(w, fn);
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t j = 0; j < k; j++)
            if (!strcmp(constants[j].name, constants[k].name))
                return rvm__fail(w->err, RVM_ERR_ARGUMENT, NULL, 0, 0, "`%s` is given twice", constants[k].name);
        RVM__TRY(take(w, fn, &constants[k], regs));
    }
    return ask(w, fn, index);
}

/* w->p is a copy of the program then, with what is asked for. */
static rvm_status begin(folding *w, const rvm_program *p) {
    uint32_t most = 0; /* registers */
    for (uint32_t k = 0; k < p->nfunctions; k++) most = p->functions[k].nregs > most ? p->functions[k].nregs : most;
    w->memory.al = &p->al;
    w->told = rvm__zone_make(&w->memory, most, sizeof *w->told);
    const rvm_status st = w->told ? rvm__program_copy(p, &p->al, &w->p, w->err) : no_memory(w);
    return st ? st : rvm__verify(w->p, w->err); /* for roles */
}

static rvm_status write_all(folding *w) {
    for (uint32_t k = 0; k < w->n; k++) RVM__TRY(write_copy(w, k));
    return rvm__verify(w->p, w->err);
}

static void end(folding *w, bool failed) {
    rvm__zone_free(&w->memory);
    if (w->p) rvm__realloc(&w->p->al, w->requests, w->cap * sizeof *w->requests, 0);
    if (!failed) return;
    rvm_program_free(w->p);
    w->p = NULL;
}

rvm_status rvm_program_fold(const rvm_program *p, uint32_t fn, const rvm_constant *constants, uint32_t n, rvm_program **out,
                            uint32_t *index, rvm_error *err) {
    RVM__NEEDS(out);
    *out = NULL;
    RVM__NEEDS(p, index);
    if (n) RVM__NEEDS(constants);
    if (fn >= p->nfunctions) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no function has number %u", fn);
    folding w = {.err = err};
    rvm_status st = begin(&w, p);
    if (!st && n && is_ruled(&w, fn))
        st = rvm__fail_at(err, RVM_ERR_UNSUPPORTED, p, fn, 0,
                          "'%s' has a derivative that is written by hand, which one for given values would not have",
                          p->functions[fn].name);
    if (!st) st = take_all(&w, fn, constants, n, index);
    if (!st) st = write_all(&w);
    end(&w, st);
    *out = w.p;
    return st ? rvm__fail_in(err, st, p, fn) : RVM_OK;
}

/* ---- with frames ---- */

static rvm_status take_lengths(folding *w, uint32_t fn, const int64_t *lengths, uint32_t *index) {
    const uint32_t nregs = w->p->functions[fn].nregs;
    known *regs = begin_telling(w, fn);
    for (uint32_t k = 0; k < nregs; k++)
        if (lengths[k] >= 0) regs[k] = (known){true, false, {.i = lengths[k]}};
    return ask(w, fn, index);
}

/* What is known of the copies, which stand behind the program's own functions. */
static rvm_status describe(folding *w, rvm__shaped *to) {
    to->first = w->p->nfunctions - w->n;
    to->memory.al = &w->p->al;
    to->copies = rvm__zone_make(&to->memory, w->n, sizeof *to->copies);
    to->ncopies = w->n;
    uint32_t *copied = rvm__zone_make(&to->memory, w->n, sizeof *copied);
    if (!copied) return no_memory(w);
    w->p->copied = copied, w->p->first_copy = to->first;
    for (uint32_t k = 0; to->copies && k < w->n; k++) {
        const request *r = &w->requests[k];
        rvm__shaped_copy *c = &to->copies[r->fn - to->first];
        copied[r->fn - to->first] = r->of;
        *c = (rvm__shaped_copy){.of = r->of, .nregs = w->p->functions[r->of].nregs};
        c->value = rvm__zone_make(&to->memory, c->nregs, sizeof *c->value);
        if (!c->value) return no_memory(w);
        for (uint32_t i = 0; i < c->nregs; i++) c->value[i] = r->regs[i].is ? r->regs[i].value.i : -1;
    }
    return to->copies ? RVM_OK : no_memory(w);
}

rvm_status rvm__shaped_make(const rvm_program *p, uint32_t fn, const int64_t *lengths, rvm__shaped *out, rvm_error *err) {
    *out = (rvm__shaped){0};
    folding w = {.err = err, .framed = true};
    rvm_status st = begin(&w, p);
    if (!st) st = take_lengths(&w, fn, lengths, &out->fn);
    if (!st) st = write_all(&w);
    if (!st) st = describe(&w, out);
    end(&w, false);
    out->p = w.p;
    if (st) rvm__shaped_free(out);
    return st;
}

void rvm__shaped_free(rvm__shaped *s) {
    if (!s->p) return;
    rvm__zone_free(&s->memory);
    rvm_program_free(s->p);
    *s = (rvm__shaped){0};
}

uint32_t rvm__length_registers(const rvm_function *f, uint16_t *to, uint32_t most) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++) {
            const uint16_t slot = f->params[k].dim[d];
            uint32_t at = 0;
            while (at < n && to[at] != slot) at++;
            if (slot < f->nregs && at == n && n < most) to[n++] = slot;
        }
    return n;
}

const rvm__shaped_copy *rvm__shaped_at(const rvm__shaped *s, uint32_t fn) {
    return s->p && fn >= s->first && fn - s->first < s->ncopies ? &s->copies[fn - s->first] : NULL;
}

/* checkpoint_write.c: loops become functions, with those that their adjoints call. See checkpoint.h. */
#include "outline.h"

#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "sites.h"
#include "solver.h"
#include "transform.h"

/* ---- the call in its place ---- */

/* The loop's instructions in the copy, where loops within it may have become calls. */
typedef struct stretch {
    uint32_t pc, end;
} stretch;

static stretch stretch_of(const rvm_function *f, const rvm__loop *loop) {
    const uint32_t pc = loop->pc;
    return (stretch){pc, loop->whiles ? rvm__while_at(f, pc).end : f->code[pc].target};
}

/* Where an instruction of f stands once those from `pc` to `end` are one. */
static uint32_t moved(const stretch *l, uint32_t at) {
    return at <= l->pc ? at : at <= l->end ? l->pc + 1 : at - (l->end - l->pc);
}

static void move_symbols(rvm__outline *o, rvm_function *f, const stretch *l) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        rvm_symbol s = f->symbols[k];
        s.from = moved(l, s.from);
        s.to = moved(l, s.to);
        if (s.from < s.to)
            f->symbols[kept++] = s;
        else
            rvm__strfree(&o->w.p->al, s.name);
    }
    f->nsymbols = kept;
    if (kept) qsort(f->symbols, kept, sizeof *f->symbols, rvm__symbol_compare);
}

/* The arguments where the places of these instructions were, since a function has its places in the order of the text. */
static void move_places(rvm__outline *o, rvm_function *f, const stretch *l) {
    const uint32_t lo = f->code[l->pc].places, hi = f->code[l->end].places + f->code[l->end].nplaces;
    const uint32_t behind = f->nplaces - o->loop->nplaces - hi, to = lo + o->loop->nplaces;
    memmove(f->places + to, f->places + hi, behind * sizeof *f->places);
    memcpy(f->places + lo, o->args, o->loop->nplaces * sizeof *f->places);
    f->nplaces = to + behind;
    for (uint32_t k = l->end + 1; k < f->ncode - 1; k++) f->code[k].places = f->code[k].places - hi + to;
    f->code[f->ncode - 1].places = lo;
}

static void put_call(rvm__outline *o) {
    rvm_function *f = &o->w.p->functions[o->loop->fn];
    const stretch is = stretch_of(f, o->loop), *l = &is;
    const uint32_t n = f->ncode, behind = n - (l->end + 1), nplaces = o->loop->nplaces;
    if (o->w.status) return;
    for (uint32_t k = 0; k < nplaces; k++) o->args[k] = rvm__place_at(o->loop->places[k].array, o->loop->places[k].index);
    const rvm_position at = f->positions[l->pc];
    if (rvm__function_emit(o->w.p, f, RVM_OP_call, 0, 0, o->made.fn, o->args, nplaces, at) < 0) {
        o->w.status = RVM_ERR_MEMORY;
        return;
    }
    move_places(o, f, l);
    f->code[l->pc] = f->code[n];
    memmove(f->code + l->pc + 1, f->code + l->end + 1, behind * sizeof *f->code);
    memmove(f->positions + l->pc + 1, f->positions + l->end + 1, behind * sizeof *f->positions);
    f->ncode = l->pc + 1 + behind;
    for (uint32_t k = 0; k < f->ncode; k++)
        if (rvm__op_target((rvm_op)f->code[k].op) == 'L') f->code[k].target = moved(l, f->code[k].target);
    move_symbols(o, f, l);
}

static void note_outlined(rvm__outline *o) {
    rvm_program *p = o->w.p;
    if (o->w.status) return;
    if (rvm__grow(&p->al, (void **)&p->outlined, &p->cap_outlined, p->noutlined + 1, sizeof *p->outlined))
        p->outlined[p->noutlined++] = o->made;
    else
        o->w.status = RVM_ERR_MEMORY;
}

/* ---- one loop ---- */

static void outline_one(rvm__outline *o) {
    o->w.at = o->f->positions[o->loop->pc];
    snprintf(o->name, sizeof o->name, "%.200s'loop%u", o->f->name, o->loop->pc);
    o->made.whiles = o->loop->whiles;
    o->made.turns = o->loop->turns;
    rvm__outline_bodies(o);
    rvm__outline_snapshots(o);
    if (o->loop->whiles)
        rvm__outline_online(o);
    else
        rvm__outline_counted(o);
    put_call(o);
    note_outlined(o);
}

/* Room for the loop's places. */
static bool make_room(rvm__outline *o, rvm__zone *z) {
    const size_t n = o->loop->nplaces + RVM__MOST_MORE;
    o->reg = rvm__zone_make(z, o->f->nregs + 1u, sizeof *o->reg);
    o->array = rvm__zone_make(z, o->f->narrays + 1u, sizeof *o->array);
    o->dims = rvm__zone_make(z, n, sizeof *o->dims);
    o->own = rvm__zone_make(z, n, sizeof *o->own);
    o->args = rvm__zone_make(z, n, sizeof *o->args);
    o->first = rvm__zone_make(z, n, sizeof *o->first);
    o->to = rvm__zone_make(z, n, sizeof *o->to);
    return !z->failed;
}

/* ---- functions that marches call ---- */

enum {
    HAS = 1,
    MARCHED = 2
}; /* of a function: loops that are made functions, there or in what it calls; from such a loop */
typedef struct marking {
    const rvm_program *p;
    const rvm__loops *loops;
    uint8_t *marks;
} marking;

static bool mark_callees(const marking *m, const rvm_function *f, uint32_t lo, uint32_t hi) {
    bool grew = false;
    RVM__EACH_INSN_IN(x, f, lo, hi)
        RVM__EACH_CALLEE(g, m->p, x.in) grew |= rvm__join8(&m->marks[g], MARCHED);
    return grew;
}

static bool visit_has(void *userdata, uint32_t fn) {
    const marking *m = userdata;
    uint8_t has = 0;
    for (uint32_t k = 0; k < m->loops->n; k++) has |= m->loops->loops[k].fn == fn && !m->loops->loops[k].why ? HAS : 0;
    RVM__EACH_INSN(x, &m->p->functions[fn])
        RVM__EACH_CALLEE(g, m->p, x.in) has |= m->marks[g] & HAS;
    return rvm__join8(&m->marks[fn], has);
}

static bool visit_marched(void *userdata, uint32_t fn) {
    const marking *m = userdata;
    const rvm_function *f = &m->p->functions[fn];
    return m->marks[fn] & MARCHED && mark_callees(m, f, 0, f->ncode);
}

/* Marches run loops as they are: of functions that have such loops, another stands by. Callees first. */
static void write_plain(rvm__outline *o, const rvm__loops *loops, rvm__zone *z) {
    const rvm_program *p = o->p;
    marking m = {p, loops, rvm__zone_make(z, p->nfunctions, 1)};
    o->plain = rvm__zone_make(z, p->nfunctions, sizeof *o->plain);
    if (z->failed) {
        o->w.status = RVM_ERR_MEMORY;
        return;
    }
    for (uint32_t k = 0; k < p->nfunctions; k++) o->plain[k] = k;
    rvm__solve_calls(&p->calls, RVM__CALLEES_FIRST, visit_has, &m);
    for (uint32_t k = 0; k < loops->n; k++) {
        const rvm__loop *l = &loops->loops[k];
        if (!l->why) mark_callees(&m, &p->functions[l->fn], l->pc, l->end);
    }
    rvm__solve_calls(&p->calls, RVM__CALLERS_FIRST, visit_marched, &m);
    for (uint32_t k = 0; k < p->nfunctions && !o->w.status; k++) {
        const uint32_t fn = p->calls.order[k];
        if (m.marks[fn] == (HAS | MARCHED)) rvm__outline_plain(o, fn);
    }
}

/* ---- all ---- */

static bool any(const rvm__loops *loops, bool whiles) {
    for (uint32_t k = 0; k < loops->n; k++)
        if (!loops->loops[k].why && (!whiles || loops->loops[k].whiles)) return true;
    return false;
}

static rvm_status too_many(const rvm_program *p, const rvm__loop *loop, rvm_status s, rvm_error *err) {
    if (s == RVM_ERR_MEMORY) return rvm__fail_memory(err);
    return rvm__fail_at(err, s, p, loop->fn, loop->pc, "this loop uses too much of what is there before it for snapshots");
}

rvm_status rvm__loops_outline(const rvm_program *p, const rvm__loops *loops, const rvm__snapshots *snapshots,
                              rvm_program *copy, rvm_error *err) {
    rvm__outline o = {.w = {.p = copy, .site = rvm__sites_next(p)}, .p = p, .snapshots = snapshots};
    rvm__zone memory = {.al = &copy->al};
    if (any(loops, false)) rvm__write_once(&o);
    if (any(loops, true)) rvm__write_once_online(&o);
    write_plain(&o, loops, &memory);
    for (uint32_t k = loops->n; k-- > 0 && !o.w.status;) { /* of a function the last first: inner loops before outer ones */
        o.loop = &loops->loops[k];
        if (o.loop->why) continue;
        o.f = &p->functions[o.loop->fn];
        if (make_room(&o, &memory))
            outline_one(&o);
        else
            o.w.status = RVM_ERR_MEMORY;
        if (o.w.status) too_many(p, o.loop, o.w.status, err);
    }
    if (o.w.status == RVM_ERR_MEMORY) rvm__fail_memory(err);
    rvm__zone_free(&memory);
    copy->verified = copy->roles_claimed = false;
    copy->id[0] = copy->id[1] = 0;
    return o.w.status;
}

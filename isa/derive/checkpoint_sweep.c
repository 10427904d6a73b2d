/* checkpoint_sweep.c: the adjoint of a loop that was made a function (checkpoint.h):
 *
 *     count ; adjoint of the last trip, whose trail is there ; then for state n - 1 down to 1
 *         the state is discarded ; rewind ; the trip before that state ; its adjoint
 *
 * Without snapshots: the trips' adjoints, the last first. Of `from` and `while` the trail has no trip:
 *
 *     adjoint of the condition ; for state n down to 1 as above
 *
 * Where the adjoint of its inverse may have run instead, that of X'whole, as a number on the trail tells. */
#include "derive.h"

#include <string.h>

typedef struct sweep {
    rvm__derive *t;
    const rvm__outlined *x;
    rvm_place own[RVM_MAX_PARAMS]; /* of X, places of it; then those of a call */
    rvm_place args[2 * RVM_MAX_PARAMS + 4];
    uint32_t n;
} sweep;

const rvm__outlined *rvm__outlined_find(const rvm_program *p, uint32_t fn) {
    for (uint32_t k = 0; k < p->noutlined; k++)
        if (p->outlined[k].fn == fn) return &p->outlined[k];
    return NULL;
}

static const rvm_param *param(const sweep *s, uint32_t k) {
    return &rvm__source(s->t)->params[k];
}

static rvm_place slot_of(const sweep *s, uint16_t slot) {
    return rvm__value_place(s->t, &(rvm_place){.kind = RVM_PLACE_SLOT, .slot = slot});
}

/* A register appears as that, or disappears. */
static rvm_place appear(const sweep *s, rvm_row row, rvm_place a, rvm_place b) {
    const rvm_place q = rvm__temp(s->t, RVM_I64);
    RVM__ADD(s->t, RVM_OP_let, row, 0, q, a, b);
    return q;
}

static void disappear(const sweep *s, rvm_place q, rvm_row row, rvm_place a, rvm_place b) {
    RVM__ADD(s->t, RVM_OP_unlet, row, 0, q, a, b);
    rvm__temp_free(s->t, q);
}

static rvm_place number(const sweep *s, int64_t k) {
    return rvm__integer_place(s->t, k);
}

static rvm_place zero(const sweep *s) {
    return appear(s, RVM_ROW_add, number(s, 0), number(s, 0));
}

/* ---- calls ---- */

static void emit_call(sweep *s, rvm_op op, uint32_t fn, uint32_t n) {
    const uint32_t at = rvm__add(s->t, op, 0, 0, (int)n, s->args);
    if (!s->t->status) s->t->g.code[at].target = fn;
}

static void call(sweep *s, rvm_op op, uint32_t fn, const rvm_place *places, const rvm_place *more, uint32_t nmore) {
    memcpy(s->args, places, s->n * sizeof *places);
    if (nmore) memcpy(s->args + s->n, more, nmore * sizeof *more);
    emit_call(s, op, fn, s->n + nmore);
}

/* Of the body or the condition; i: behind the places that all share, where it has a slot. */
static void call_adjoint(sweep *s, uint32_t fn, const rvm_place *i) {
    uint8_t active[RVM_MAX_PARAMS] = {0};
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        const rvm_param *q = param(s, k);
        const rvm_place of = {.kind = q->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = q->index};
        active[k] = s->t->wrt[k];
        s->args[n++] = rvm__value_place(s->t, &of);
        if (active[k]) s->args[n++] = rvm__shadow_place(s->t, &of);
    }
    if (i) s->args[n++] = *i;
    emit_call(s, RVM_OP_call, rvm__derive_request(s->t, fn, RVM_ADJOINT, active), n);
}

/* ---- loops ---- */

static uint32_t open_for(const sweep *s, uint8_t flags, const rvm_place q[4]) {
    return rvm__add(s->t, RVM_OP_for, 0, flags, 4, q);
}

static void close_for(const sweep *s, uint32_t at, uint8_t flags, const rvm_place q[4]) {
    const uint32_t next = rvm__add(s->t, RVM_OP_next, 0, flags, 4, q);
    if (s->t->status) return;
    s->t->g.code[at].target = next;
    s->t->g.code[next].target = at;
}

/* ---- trips ---- */

enum { BACK = RVM_FLAG_REVERSED | RVM_FLAG_TELLS };

/* The adjoint of the trip of that number; before it, where `places` are given, the trip. */
static void sweep_trip(sweep *s, rvm_place trip, const rvm_place *places) {
    const rvm_place lo = s->x->whiles ? number(s, 0) : slot_of(s, s->x->lo);
    const rvm_place by = s->x->whiles ? number(s, 1) : slot_of(s, s->x->by);
    const rvm_place way = appear(s, RVM_ROW_mul, trip, by), i = appear(s, RVM_ROW_add, lo, way);
    if (places) call(s, RVM_OP_call, s->x->step, places, &i, 1);
    call_adjoint(s, s->x->step, &i);
    disappear(s, i, RVM_ROW_add, lo, way);
    disappear(s, way, RVM_ROW_mul, trip, by);
}

static void discard(const sweep *s, rvm_place q) {
    rvm__discard(s->t, RVM_OP_shed, q);
    rvm__temp_free(s->t, q);
}

/* What the forward run ended with: the last trip's trail, and which state it stood in front of. */
static void sweep_last(sweep *s, rvm_place n) {
    const rvm_place last = appear(s, RVM_ROW_sub, n, number(s, 1));
    sweep_trip(s, last, NULL);
    disappear(s, last, RVM_ROW_sub, n, number(s, 1));
    s->args[0] = zero(s);
    s->args[1] = zero(s);
    const rvm_place pos = s->args[0], left = s->args[1];
    emit_call(s, RVM_OP_uncall, s->x->mark, 2);
    discard(s, left);
    discard(s, pos);
}

/* Back over the trip before state `behind`. What the loop only adds to is another place while trips run again. */
static void sweep_from_snapshot(sweep *s, rvm_place behind) {
    rvm_place places[RVM_MAX_PARAMS];
    for (uint32_t k = 0; k < s->n; k++) {
        places[k] = s->own[k];
        if (param(s, k)->role == RVM_OWN) rvm__discard(s->t, RVM_OP_drop, s->own[k]);
    }
    const rvm_place more[3] = {zero(s), zero(s), behind};
    rvm_place of[RVM_MAX_PARAMS];
    for (uint32_t k = 0; k < s->n; k++) {
        of[k] = (rvm_place){.kind = param(s, k)->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = param(s, k)->index};
        if (param(s, k)->role == RVM_ACC) places[k] = rvm__lend(s->t, &of[k]);
    }
    call(s, RVM_OP_call, s->x->rewind, places, more, 3);
    sweep_trip(s, more[0], places);
    for (uint32_t k = s->n; k-- > 0;)
        if (param(s, k)->role == RVM_ACC) rvm__take_lent(s->t, &of[k], places[k]);
    discard(s, more[1]);
    discard(s, more[0]);
}

/* Back over the trips before states n - 1 to 1. */
static void sweep_trips(sweep *s, rvm_place n) {
    const rvm_place one = number(s, 1), loop[4] = {rvm__temp(s->t, RVM_I64), one, n, one};
    const uint32_t at = open_for(s, BACK, loop);
    sweep_from_snapshot(s, loop[0]);
    close_for(s, at, BACK, loop);
    rvm__temp_free(s->t, loop[0]);
}

static void sweep_plainly(sweep *s) {
    const rvm_place loop[4] = {rvm__temp(s->t, RVM_I64), slot_of(s, s->x->lo), slot_of(s, s->x->hi), slot_of(s, s->x->by)};
    const uint32_t at = open_for(s, BACK, loop);
    call_adjoint(s, s->x->step, &loop[0]);
    close_for(s, at, BACK, loop);
    rvm__temp_free(s->t, loop[0]);
}

static void begin(sweep *s) {
    s->n = rvm__source(s->t)->nparams;
    for (uint32_t k = 0; k < s->n; k++) {
        const rvm_param *q = param(s, k);
        const rvm_place of = {.kind = q->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = q->index};
        s->own[k] = rvm__value_place(s->t, &of);
    }
    s->t->pc = 0;
}

static void sweep_counted(sweep *s) {
    const rvm_place more[3] = {zero(s), zero(s), zero(s)}, one = number(s, 1), from = number(s, 0);
    call(s, RVM_OP_call, s->x->count, s->own, more, 3);
    rvm_place loop[4] = {rvm__temp(s->t, RVM_I64), from, more[1], one};
    uint32_t at = open_for(s, 0, loop);
    sweep_last(s, more[0]);
    sweep_trips(s, more[0]);
    close_for(s, at, 0, loop);
    loop[2] = appear(s, RVM_ROW_sub, one, more[1]);
    at = open_for(s, 0, loop);
    sweep_plainly(s);
    close_for(s, at, 0, loop);
    disappear(s, loop[2], RVM_ROW_sub, one, more[1]);
    rvm__temp_free(s->t, loop[0]);
    call(s, RVM_OP_uncall, s->x->count, s->own, more, 3);
    for (int k = 3; k-- > 0;) disappear(s, more[k], RVM_ROW_add, from, from);
}

/* How many trips there were is on the trail, with how many states were kept. */
static void sweep_while(sweep *s) {
    call_adjoint(s, s->x->head, NULL);
    const rvm_place n = zero(s), kept = zero(s), one = number(s, 1);
    s->args[0] = n;
    s->args[1] = kept;
    emit_call(s, RVM_OP_uncall, s->x->mark, 2);
    const rvm_place end = appear(s, RVM_ROW_add, n, one);
    sweep_trips(s, end);
    disappear(s, end, RVM_ROW_add, n, one);
    discard(s, kept);
    discard(s, n);
}

/* ---- where the trail may be that of X'whole ---- */

/* Counts from 0 to a number, which is 0 or 1: if it is 1. */
static uint32_t open_if(const sweep *s, rvm_place loop[4], rvm_place is) {
    loop[0] = rvm__temp(s->t, RVM_I64);
    loop[1] = number(s, 0);
    loop[2] = is;
    loop[3] = number(s, 1);
    return open_for(s, 0, loop);
}

static void close_if(const sweep *s, uint32_t at, const rvm_place loop[4]) {
    close_for(s, at, 0, loop);
    rvm__temp_free(s->t, loop[0]);
}

static void sweep_states(sweep *s) {
    if (s->x->whiles)
        sweep_while(s);
    else
        sweep_counted(s);
}

/* The adjoint of X, behind X or behind that of its inverse. */
static void sweep_either(sweep *s) {
    const rvm_place one = number(s, 1), whole = zero(s);
    rvm_place loop[4];
    s->args[0] = whole;
    emit_call(s, RVM_OP_uncall, s->x->note, 1);
    uint32_t at = open_if(s, loop, whole);
    call_adjoint(s, s->x->whole, NULL);
    close_if(s, at, loop);
    const rvm_place states = appear(s, RVM_ROW_sub, one, whole);
    at = open_if(s, loop, states);
    sweep_states(s);
    close_if(s, at, loop);
    disappear(s, states, RVM_ROW_sub, one, whole);
    discard(s, whole);
}

/* to += how many elements of the shadow are not 0. */
static void count_shadow(const sweep *s, rvm_place to, uint32_t k) {
    const rvm_param *q = param(s, k);
    rvm_place loop[RVM_MAX_DIMS][4], is = {.kind = q->ndim ? RVM_PLACE_ARRAY : RVM_PLACE_SLOT, .slot = q->index};
    uint32_t at[RVM_MAX_DIMS];
    is = rvm__shadow_place(s->t, &is);
    for (int d = 0; d < q->ndim; d++) {
        at[d] = open_if(s, loop[d], slot_of(s, q->dim[d]));
        is.kind = RVM_PLACE_ELEM;
        is.nidx = q->ndim;
        is.idx[d] = loop[d][0].slot;
    }
    RVM__ADD(s->t, RVM_OP_add, RVM_ROW_ne, 0, to, is, rvm__const_place(s->t, (rvm_type)q->type, 0));
    for (int d = q->ndim; d-- > 0;) close_if(s, at[d], loop[d]);
}

/* The adjoint of the inverse of X: X, where all shadows are 0 that go along; else that of the inverse of X'whole. */
static void sweep_back(sweep *s) {
    static const uint8_t none[RVM_MAX_PARAMS];
    const rvm_place some = zero(s), one = number(s, 1), nought = number(s, 0);
    rvm_place loop[4];
    for (uint32_t k = 0; k < s->n; k++)
        if (s->t->wrt[k] && s->t->p->functions[s->x->fn].params[k].role != RVM_READ) count_shadow(s, some, k);
    const rvm_place whole = appear(s, RVM_ROW_gt, some, nought), states = appear(s, RVM_ROW_sub, one, whole);
    uint32_t at = open_if(s, loop, states);
    call(s, RVM_OP_call, s->x->fn, s->own, NULL, 0);
    close_if(s, at, loop);
    at = open_if(s, loop, whole);
    call_adjoint(s, rvm__derive_request(s->t, s->x->whole, RVM_INVERSE, none), NULL);
    s->args[0] = appear(s, RVM_ROW_add, one, nought);
    const rvm_place note = s->args[0];
    emit_call(s, RVM_OP_call, s->x->note, 1);
    disappear(s, note, RVM_ROW_add, nought, nought);
    close_if(s, at, loop);
    disappear(s, states, RVM_ROW_sub, one, whole);
    disappear(s, whole, RVM_ROW_gt, some, nought);
    discard(s, some);
}

/* Whether the function is such a loop, or the inverse of one; NULL: neither. */
static const rvm__outlined *sought(const rvm_program *p, uint32_t fn, bool *back) {
    const rvm__derivation *d = rvm__derived_find(p, fn);
    *back = d && d->kind == RVM_INVERSE;
    return rvm__outlined_find(p, *back ? d->of : fn);
}

bool rvm__sweep_outlined(rvm__derive *t) {
    sweep s = {.t = t};
    bool back;
    const rvm__outlined *found = sought(t->p, t->src, &back);
    if (!found) return false;
    const rvm__outlined x = *found; /* the table may move */
    s.x = &x;
    begin(&s);
    rvm__add(t, RVM_OP_start, 0, 0, 0, NULL);
    if (back)
        sweep_back(&s);
    else if (x.turns)
        sweep_either(&s);
    else
        sweep_states(&s);
    rvm__add(t, RVM_OP_halt, 0, 0, 0, NULL);
    return true;
}

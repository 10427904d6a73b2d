/* schedule.c: rvm_schedule.h's kinds: what their budgets must be, what they cost, their lists. */
#include "schedule.h"

static const struct {
    const char *name, *counts, *formula;
} kinds[RVM_SCHEDULE_KIND_COUNT] = {
#define X(id, name, counts, formula) {name, counts, formula},
    RVM_SCHEDULE_MAP(X)
#undef X
};

static bool is_kind(rvm_schedule_kind kind) {
    return (unsigned)kind < RVM_SCHEDULE_KIND_COUNT;
}

const char *rvm_schedule_name(rvm_schedule_kind kind) {
    return is_kind(kind) ? kinds[kind].name : "?";
}

const char *rvm_schedule_budget_name(rvm_schedule_kind kind) {
    return is_kind(kind) ? kinds[kind].counts : "?";
}

const char *rvm_schedule_formula_text(rvm_schedule_kind kind) {
    return is_kind(kind) ? kinds[kind].formula : "?";
}

bool rvm_schedule_is_gradient(rvm_schedule_kind kind) {
    return is_kind(kind) && kind != RVM_SCHEDULE_BENNETT && kind != RVM_SCHEDULE_PEBBLE;
}

rvm_schedule_options rvm_schedule_options_default(void) {
    return (rvm_schedule_options){.most_moves = UINT64_C(1) << 26};
}

/* s with 2^(s - 1) >= steps. */
static uint64_t least_pebbles(uint64_t steps) {
    uint64_t s = 1;
    while (s < 64 && UINT64_C(1) << (s - 1) < steps) s++;
    return s;
}

uint64_t rvm_schedule_least(rvm_schedule_kind kind, uint64_t steps) {
    if (!steps) return 0;
    switch (kind) {
    case RVM_SCHEDULE_BENNETT: return 2;
    case RVM_SCHEDULE_PEBBLE: return least_pebbles(steps);
    case RVM_SCHEDULE_TREEVERSE:
    case RVM_SCHEDULE_REVOLVE:
    case RVM_SCHEDULE_ONLINE: return 1;
    case RVM_SCHEDULE_KIND_COUNT: break;
    }
    return 0;
}

/* More than `steps` of anything serve no schedule: *budget is cut to what does, and to 32 bits. */
static rvm_status check(rvm_schedule_kind kind, uint64_t steps, uint64_t *budget, rvm_error *err) {
    if (!is_kind(kind)) return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no kind of schedule has number %d", (int)kind);
    if (!steps || steps > RVM_SCHEDULE_MOST_STEPS)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "a schedule is of 1 to %d steps, not of %llu",
                         RVM_SCHEDULE_MOST_STEPS, (unsigned long long)steps);
    const uint64_t least = rvm_schedule_least(kind, steps), most = steps < 2 ? 2 : steps;
    if (*budget < least)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "%s of %llu steps needs at least %llu %s, not %llu",
                         kinds[kind].name, (unsigned long long)steps, (unsigned long long)least, kinds[kind].counts,
                         (unsigned long long)*budget);
    if (*budget > most) *budget = most;
    return RVM_OK;
}

static rvm_status pebble_cost(uint32_t steps, uint32_t s, uint64_t *evaluations, rvm_error *err) {
    rvm__pebble_table *t;
    RVM__TRY(rvm__pebble_table_new(&rvm__libc_allocator, steps, s, &t, err));
    *evaluations = rvm__pebble_cost(t, steps, s);
    rvm__pebble_table_free(t);
    return RVM_OK;
}

rvm_status rvm_schedule_formula(rvm_schedule_kind kind, uint64_t steps, uint64_t budget, uint64_t *evaluations,
                                uint64_t *states, rvm_error *err) {
    uint64_t cost = 0, rows;
    RVM__TRY(check(kind, steps, &budget, err));
    const uint32_t n = (uint32_t)steps, s = (uint32_t)budget;
    rvm_status st = RVM_OK;
    rows = (s < n ? s : n) + UINT64_C(1);
    switch (kind) {
    case RVM_SCHEDULE_BENNETT: rvm__bennett_cost(n, s, &cost, &rows); break;
    case RVM_SCHEDULE_PEBBLE: st = pebble_cost(n, s, &cost, err); break;
    case RVM_SCHEDULE_TREEVERSE: st = rvm__treeverse_cost(n, s, &cost, err); break;
    case RVM_SCHEDULE_REVOLVE: cost = rvm__revolve_cost(n, s); break;
    case RVM_SCHEDULE_ONLINE: st = rvm__online_cost(n, s, &cost, err); break;
    case RVM_SCHEDULE_KIND_COUNT: break;
    }
    if (!st && evaluations) *evaluations = cost;
    if (!st && states) *states = rows;
    return st;
}

static rvm_status pebble_make(rvm__maker *m, uint32_t steps, uint32_t s) {
    rvm__pebble_table *t;
    RVM__TRY(rvm__pebble_table_new(m->s->al, steps, s, &t, m->err));
    const rvm_status st = rvm__pebble_make(m, t, steps, s);
    rvm__pebble_table_free(t);
    return st;
}

static rvm_status make(rvm__maker *m, rvm_schedule_kind kind, uint32_t n, uint32_t s) {
    switch (kind) {
    case RVM_SCHEDULE_BENNETT: return rvm__bennett_make(m, n, s);
    case RVM_SCHEDULE_PEBBLE: return pebble_make(m, n, s);
    case RVM_SCHEDULE_TREEVERSE: return rvm__treeverse_make(m, n, s);
    case RVM_SCHEDULE_REVOLVE: return rvm__revolve_make(m, n, s);
    case RVM_SCHEDULE_ONLINE: return rvm__online_make(m, n, s);
    case RVM_SCHEDULE_KIND_COUNT: break;
    }
    return RVM_OK;
}

/* What has no number while the list is made gets one: the working row is the last, the row that ends with state N is 1. */
static rvm_status finish(rvm__maker *m, bool gradient, uint32_t n) {
    if (!gradient) {
        rvm__swap_rows(m->s, m->row_of[n], 1);
        return RVM_OK;
    }
    const rvm_move last = {RVM_MOVE_FREE, RVM__NO_ROW, RVM__NO_ROW, m->marched};
    RVM__TRY(rvm__append_move(m->s, last, m->of, m->err));
    rvm__swap_rows(m->s, RVM__NO_ROW, m->rows++);
    return RVM_OK;
}

static rvm_status fill(rvm_schedule *s, rvm_schedule_kind kind, uint32_t n, uint32_t budget, uint64_t of, rvm_error *err) {
    const bool gradient = rvm_schedule_is_gradient(kind);
    rvm__maker m;
    RVM__TRY(rvm__maker_begin(&m, s, n + 1, of, err));
    rvm_status st = make(&m, kind, n, budget);
    if (!st) st = finish(&m, gradient, n);
    if (!st) st = rvm_schedule_replay(s->moves, s->n, n, m.rows, gradient, s->al, &s->counts, err);
    rvm__maker_end(&m);
    return st;
}

rvm_status rvm__schedule_begin(const rvm_schedule_options *options, rvm_schedule **out, rvm_error *err) {
    const rvm_schedule_options o = options ? *options : rvm_schedule_options_default();
    const rvm_allocator *al = o.allocator ? o.allocator : &rvm__libc_allocator;
    *out = rvm__realloc(al, NULL, 0, sizeof **out);
    if (!*out) return rvm__fail_memory(err);
    **out = (rvm_schedule){.o = o, .al = al};
    if (o.most_moves > UINT32_MAX) (*out)->o.most_moves = UINT32_MAX;
    return RVM_OK;
}

rvm_status rvm_schedule_new(rvm_schedule_kind kind, uint64_t steps, uint64_t budget, const rvm_schedule_options *options,
                            rvm_schedule **out, rvm_error *err) {
    uint64_t evaluations;
    RVM__NEEDS(out);
    *out = NULL;
    RVM__TRY(rvm_schedule_formula(kind, steps, budget, &evaluations, NULL, err));
    RVM__TRY(check(kind, steps, &budget, err));
    const uint64_t least = rvm_schedule_is_gradient(kind) ? evaluations + steps : evaluations;
    RVM__TRY(rvm__schedule_begin(options, out, err));
    rvm_status st = RVM_OK;
    if (least > (*out)->o.most_moves)
        st = rvm__fail(err, RVM_ERR_LIMIT, NULL, 0, 0, "the list has %llu moves or more; the limit is %llu",
                       (unsigned long long)least, (unsigned long long)(*out)->o.most_moves);
    if (!st) st = fill(*out, kind, (uint32_t)steps, (uint32_t)budget, rvm_schedule_is_gradient(kind) ? 0 : least, err);
    if (!st) return RVM_OK;
    rvm_schedule_free(*out);
    *out = NULL;
    return st;
}

void rvm_schedule_free(rvm_schedule *s) {
    if (!s) return;
    rvm__realloc(s->al, s->moves, (size_t)s->cap * sizeof *s->moves, 0);
    rvm__realloc(s->al, s, sizeof *s, 0);
}

const rvm_move *rvm_schedule_moves(const rvm_schedule *s, uint64_t *n) {
    if (n) *n = s ? s->n : 0;
    return s ? s->moves : NULL;
}

rvm_status rvm_schedule_count(const rvm_schedule *s, rvm_schedule_counts *out) {
    if (!s || !out) return RVM_ERR_USAGE;
    *out = s->counts;
    return RVM_OK;
}

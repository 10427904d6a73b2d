/* replay.c: the judge of lists: what each row holds, move by move. It believes nothing of a list. */
#include "schedule.h"
#include "pebbling.h"

static const char *const names[RVM_MOVE_KIND_COUNT] = {"forward", "uncompute", "advance", "store",
                                                       "restore", "free",      "sweep"};

const char *rvm_move_name(rvm_move_kind kind) {
    return (unsigned)kind < RVM_MOVE_KIND_COUNT ? names[kind] : "?";
}

typedef struct pool {
    uint32_t *holds; /* by row: a state, or RVM__NO_STATE */
    uint32_t rows, held, steps, unswept;
    rvm_schedule_counts c;
    const rvm_allocator *al;
    char why[160];
} pool;

static rvm_status open_pool(pool *p, uint32_t rows, const rvm_allocator *al, rvm_error *err) {
    *p = (pool){.al = al ? al : &rvm__libc_allocator, .rows = rows};
    if (!rows) return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "a pool has one row at least");
    p->holds = rvm__realloc(p->al, NULL, 0, (size_t)rows * sizeof *p->holds);
    if (!p->holds) return rvm__fail_memory(err);
    for (uint32_t r = 0; r < rows; r++) p->holds[r] = RVM__NO_STATE;
    p->c.rows = rows;
    return RVM_OK;
}

static void close_pool(pool *p) {
    rvm__realloc(p->al, p->holds, (size_t)p->rows * sizeof *p->holds, 0);
}

static bool holds(pool *p, uint32_t row, uint32_t state) {
    if (p->holds[row] == state) return true;
    if (p->holds[row] == RVM__NO_STATE)
        snprintf(p->why, sizeof p->why, "row %u is to hold state %u and is empty", row, state);
    else
        snprintf(p->why, sizeof p->why, "row %u is to hold state %u and holds state %u", row, state, p->holds[row]);
    return false;
}

static bool is_empty(pool *p, uint32_t row) {
    if (p->holds[row] == RVM__NO_STATE) return true;
    snprintf(p->why, sizeof p->why, "row %u is to be empty and holds state %u", row, p->holds[row]);
    return false;
}

static bool is_one_row(pool *p, const rvm_move *m) {
    if (m->target == m->source) return true;
    snprintf(p->why, sizeof p->why, "target and source are to be one row, not %u and %u", m->target, m->source);
    return false;
}

static void fill(pool *p, uint32_t row, uint32_t state) {
    p->held += p->holds[row] == RVM__NO_STATE;
    p->holds[row] = state;
    if (p->held > p->c.states) p->c.states = p->held;
}

static void empty(pool *p, uint32_t row) {
    p->holds[row] = RVM__NO_STATE;
    p->held--;
}

static bool in_range(pool *p, const rvm_move *m, uint32_t least, uint32_t most) {
    if (m->target >= p->rows || m->source >= p->rows)
        snprintf(p->why, sizeof p->why, "there is no row %u: there are %u", m->target < p->rows ? m->source : m->target,
                 p->rows);
    else if (m->state < least || m->state > most)
        snprintf(p->why, sizeof p->why, "state %u is none of %u to %u", m->state, least, most);
    return !*p->why;
}

static bool sweep(pool *p, const rvm_move *m) {
    if (!is_one_row(p, m) || !holds(p, m->source, m->state - 1)) return false;
    if (m->state != p->unswept) {
        snprintf(p->why, sizeof p->why, "step %u is swept where step %u is the last that is not", m->state, p->unswept);
        return false;
    }
    p->unswept--;
    p->c.swept++;
    return true;
}

static bool restore(pool *p, const rvm_move *m) {
    if (!holds(p, m->source, m->state)) return false;
    p->c.restored++;
    p->c.erased += p->holds[m->target] != RVM__NO_STATE;
    fill(p, m->target, m->state);
    return true;
}

static bool play(pool *p, const rvm_move *m) {
    const bool copies = m->kind == RVM_MOVE_STORE || m->kind == RVM_MOVE_RESTORE || m->kind == RVM_MOVE_FREE;
    if (!in_range(p, m, !copies, p->steps)) return false;
    switch (m->kind) {
    case RVM_MOVE_FORWARD:
        if (!holds(p, m->source, m->state - 1) || !is_empty(p, m->target)) return false;
        p->c.forward++;
        fill(p, m->target, m->state);
        return true;
    case RVM_MOVE_UNCOMPUTE:
        if (!holds(p, m->source, m->state - 1) || !holds(p, m->target, m->state)) return false;
        p->c.uncomputed++;
        empty(p, m->target);
        return true;
    case RVM_MOVE_ADVANCE:
        if (!is_one_row(p, m) || !holds(p, m->source, m->state - 1)) return false;
        p->c.advanced++;
        p->c.erased++;
        fill(p, m->target, m->state);
        return true;
    case RVM_MOVE_STORE:
        if (!holds(p, m->source, m->state) || !is_empty(p, m->target)) return false;
        p->c.stored++;
        fill(p, m->target, m->state);
        return true;
    case RVM_MOVE_RESTORE: return restore(p, m);
    case RVM_MOVE_FREE:
        if (!is_one_row(p, m) || !holds(p, m->source, m->state)) return false;
        p->c.freed++;
        p->c.erased++;
        empty(p, m->target);
        return true;
    case RVM_MOVE_SWEEP: return sweep(p, m);
    case RVM_MOVE_KIND_COUNT: break;
    }
    snprintf(p->why, sizeof p->why, "no kind of move has number %d", (int)m->kind);
    return false;
}

static rvm_status illegal(const pool *p, uint64_t k, const rvm_move *m, rvm_error *err) {
    return rvm__fail(err, RVM_ERR_CHECK, NULL, 0, 0, "move %llu, %s of state %u: %s", (unsigned long long)k,
                     rvm_move_name(m->kind), m->state, p->why);
}

static rvm_status at_end(pool *p, bool gradient, rvm_error *err) {
    uint32_t last = 0;
    bool good = holds(p, 0, 0);
    if (good && gradient && p->unswept) {
        snprintf(p->why, sizeof p->why, "step %u is not swept", p->unswept);
        good = false;
    }
    for (uint32_t r = 1; r < p->rows && good; r++)
        if (!gradient && p->holds[r] == p->steps && !last)
            last = r;
        else
            good = is_empty(p, r);
    if (good && !gradient && !last) {
        snprintf(p->why, sizeof p->why, "no row holds state %u", p->steps);
        good = false;
    }
    return good ? RVM_OK : rvm__fail(err, RVM_ERR_CHECK, NULL, 0, 0, "at the end: %s", p->why);
}

static void finish_counts(pool *p, uint64_t n, rvm_schedule_counts *counts) {
    p->c.moves = n;
    p->c.evaluations = p->c.forward + p->c.uncomputed + p->c.advanced;
    if (counts) *counts = p->c;
}

rvm_status rvm_schedule_replay(const rvm_move *moves, uint64_t n, uint64_t steps, uint32_t rows, bool gradient,
                               const rvm_allocator *al, rvm_schedule_counts *counts, rvm_error *err) {
    pool p;
    if (n) RVM__NEEDS(moves);
    if (!steps || steps > RVM_SCHEDULE_MOST_STEPS)
        return rvm__fail(err, RVM_ERR_ARGUMENT, NULL, 0, 0, "a schedule is of 1 to %d steps, not of %llu",
                         RVM_SCHEDULE_MOST_STEPS, (unsigned long long)steps);
    RVM__TRY(open_pool(&p, rows, al, err));
    rvm_status st = RVM_OK;
    p.steps = p.unswept = (uint32_t)steps;
    fill(&p, 0, 0);
    for (uint64_t k = 0; k < n && !st; k++)
        if (!play(&p, &moves[k])) st = illegal(&p, k, &moves[k], err);
    if (!st) st = at_end(&p, gradient, err);
    if (!st) finish_counts(&p, n, counts);
    close_pool(&p);
    return st;
}

/* ---- graphs ---- */

/* Every step that step v takes is in a row. */
static bool has_sources(pool *p, const rvm_schedule_graph *g, const uint32_t *row_of, uint32_t v) {
    uint32_t n;
    const uint32_t *from = rvm_schedule_graph_sources(g, v, &n);
    for (uint32_t k = 0; k < n; k++)
        if (row_of[from[k]] == RVM__NO_ROW) {
            snprintf(p->why, sizeof p->why, "it takes `%.60s`, which no row holds",
                     rvm_schedule_graph_name(g, from[k], NULL));
            return false;
        }
    return true;
}

static bool play_step(pool *p, const rvm_schedule_graph *g, uint32_t *row_of, const rvm_move *m) {
    if (!in_range(p, m, 0, rvm_schedule_graph_size(g) - 1) || !has_sources(p, g, row_of, m->state)) return false;
    if (m->kind == RVM_MOVE_FORWARD && row_of[m->state] != RVM__NO_ROW)
        snprintf(p->why, sizeof p->why, "row %u holds it", row_of[m->state]);
    else if (m->kind == RVM_MOVE_FORWARD && is_empty(p, m->target)) {
        p->c.forward++;
        fill(p, m->target, m->state);
        row_of[m->state] = m->target;
    } else if (m->kind == RVM_MOVE_UNCOMPUTE && holds(p, m->target, m->state)) {
        p->c.uncomputed++;
        empty(p, m->target);
        row_of[m->state] = RVM__NO_ROW;
    } else if (!*p->why)
        snprintf(p->why, sizeof p->why, "a graph's moves are forward and uncompute");
    return !*p->why;
}

static rvm_status graph_end(const rvm_schedule_graph *g, const uint32_t *row_of, rvm_error *err) {
    for (uint32_t v = 0; v < rvm_schedule_graph_size(g); v++) {
        bool output;
        const char *name = rvm_schedule_graph_name(g, v, &output);
        if (output == (row_of[v] != RVM__NO_ROW)) continue;
        return rvm__fail(err, RVM_ERR_CHECK, NULL, 0, 0, "at the end: %s `%.60s`", output ? "no row holds" : "a row holds",
                         name);
    }
    return RVM_OK;
}

rvm_status rvm_schedule_replay_graph(const rvm_schedule_graph *g, const rvm_move *moves, uint64_t n, uint32_t rows,
                                     const rvm_allocator *al, rvm_schedule_counts *counts, rvm_error *err) {
    pool p;
    RVM__NEEDS(g);
    if (n) RVM__NEEDS(moves);
    const uint32_t size = rvm_schedule_graph_size(g);
    RVM__TRY(open_pool(&p, rows, al, err));
    uint32_t *row_of = rvm__realloc(p.al, NULL, 0, (size_t)size * sizeof *row_of);
    rvm_status st = row_of ? RVM_OK : rvm__fail_memory(err);
    for (uint32_t v = 0; v < size && !st; v++) row_of[v] = RVM__NO_ROW;
    for (uint64_t k = 0; k < n && !st; k++)
        if (!play_step(&p, g, row_of, &moves[k])) st = illegal(&p, k, &moves[k], err);
    if (!st) st = graph_end(g, row_of, err);
    if (!st) finish_counts(&p, n, counts);
    rvm__realloc(p.al, row_of, (size_t)size * sizeof *row_of, 0);
    close_pool(&p);
    return st;
}

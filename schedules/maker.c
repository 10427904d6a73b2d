#include "schedule.h"

rvm_status rvm__maker_begin(rvm__maker *m, rvm_schedule *s, uint32_t states, uint64_t of, rvm_error *err) {
    *m = (rvm__maker){.s = s, .err = err, .states = states, .marched = RVM__NO_STATE, .of = of, .rows = 1};
    m->row_of = rvm__realloc(s->al, NULL, 0, (size_t)states * sizeof *m->row_of);
    if (!m->row_of) return rvm__fail_memory(err);
    for (uint32_t i = 1; i < states; i++) m->row_of[i] = RVM__NO_ROW;
    m->row_of[0] = 0;
    return RVM_OK;
}

void rvm__maker_end(rvm__maker *m) {
    const rvm_allocator *al = m->s->al;
    rvm__realloc(al, m->row_of, (size_t)m->states * sizeof *m->row_of, 0);
    rvm__realloc(al, m->free_rows, (size_t)m->free_cap * sizeof *m->free_rows, 0);
    rvm__realloc(al, m->tasks, (size_t)m->task_cap * sizeof *m->tasks, 0);
}

rvm_status rvm__push_task(rvm__maker *m, rvm__task t) {
    if (!rvm__grow(m->s->al, (void **)&m->tasks, &m->task_cap, m->ntasks + 1, sizeof *m->tasks))
        return rvm__fail_memory(m->err);
    m->tasks[m->ntasks++] = t;
    return RVM_OK;
}

rvm_status rvm__expand_tasks(rvm__maker *m, rvm__expand *expand, const void *how) {
    while (m->ntasks) RVM__TRY(expand(m, how, m->tasks[--m->ntasks]));
    return RVM_OK;
}

rvm_status rvm__tell_moves(const rvm_schedule_options *o, uint64_t done, uint64_t of, rvm_error *err) {
    if (done % 65536 || !o->progress || !o->progress(o->userdata, done, of)) return RVM_OK;
    return rvm__fail(err, RVM_ERR_CANCELLED, NULL, 0, 0, "cancelled");
}

rvm_status rvm__append_move(rvm_schedule *s, rvm_move move, uint64_t of, rvm_error *err) {
    if (s->n >= s->o.most_moves)
        return rvm__fail(err, RVM_ERR_LIMIT, NULL, 0, 0, "the list is longer than %llu moves, the limit",
                         (unsigned long long)s->o.most_moves);
    if (!rvm__grow(s->al, (void **)&s->moves, &s->cap, s->n + 1, sizeof *s->moves)) return rvm__fail_memory(err);
    s->moves[s->n++] = move;
    return rvm__tell_moves(&s->o, s->n, of, err);
}

static uint32_t take_row(rvm__maker *m) {
    return m->nfree ? m->free_rows[--m->nfree] : m->rows++;
}

static rvm_status give_row(rvm__maker *m, uint32_t state) {
    if (!rvm__grow(m->s->al, (void **)&m->free_rows, &m->free_cap, m->nfree + 1, sizeof *m->free_rows))
        return rvm__fail_memory(m->err);
    m->free_rows[m->nfree++] = m->row_of[state];
    m->row_of[state] = RVM__NO_ROW;
    return RVM_OK;
}

rvm_status rvm__add_move(rvm__maker *m, rvm_move_kind kind, uint32_t i) {
    rvm_move move = {kind, RVM__NO_ROW, RVM__NO_ROW, i};
    switch (kind) {
    case RVM_MOVE_FORWARD:
        move.source = m->row_of[i - 1];
        move.target = m->row_of[i] = take_row(m);
        break;
    case RVM_MOVE_UNCOMPUTE:
        move.source = m->row_of[i - 1];
        move.target = m->row_of[i];
        RVM__TRY(give_row(m, i));
        break;
    case RVM_MOVE_ADVANCE: m->marched = i; break;
    case RVM_MOVE_STORE: move.target = m->row_of[i] = take_row(m); break;
    case RVM_MOVE_RESTORE:
        move.source = m->row_of[i];
        m->marched = i;
        break;
    case RVM_MOVE_FREE:
        move.source = move.target = m->row_of[i];
        RVM__TRY(give_row(m, i));
        break;
    case RVM_MOVE_SWEEP:
    case RVM_MOVE_KIND_COUNT: break;
    }
    return rvm__append_move(m->s, move, m->of, m->err);
}

void rvm__swap_rows(rvm_schedule *s, uint32_t a, uint32_t b) {
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t *row[] = {&s->moves[k].target, &s->moves[k].source};
        for (int r = 0; r < 2; r++) *row[r] = *row[r] == a ? b : *row[r] == b ? a : *row[r];
    }
}

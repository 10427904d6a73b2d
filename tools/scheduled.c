#include "scheduled.h"
#include "number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

rvm_status scheduled_kind(tool *t, const char *text, size_t length, rvm_schedule_kind *kind) {
    char name[24];
    nearest near = {.wanted = name};
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (*kind = 0; *kind < RVM_SCHEDULE_KIND_COUNT; ++*kind) {
        if (strcmp(name, rvm_schedule_name(*kind)) == 0) return RVM_OK;
        nearest_offer(&near, rvm_schedule_name(*kind));
    }
    char all[120] = "";
    for (int k = 0; k < RVM_SCHEDULE_KIND_COUNT; k++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 !k                                ? ""
                 : k + 1 < RVM_SCHEDULE_KIND_COUNT ? ", "
                                                   : " or ",
                 rvm_schedule_name((rvm_schedule_kind)k));
    return tool_fail(t, RVM_ERR_USAGE, "--by has no schedule `%s`%s%s%s: %s", name, near.best ? "; did you mean " : "",
                     near.best ? near.best : "", near.best ? "?" : "", all);
}

rvm_status scheduled_read(tool *t, const char *text, size_t length, scheduled *out) {
    const char *colon = memchr(text, ':', length), *last = text + length;
    char *end = NULL;
    const rvm_status st = scheduled_kind(t, text, colon ? (size_t)(colon - text) : length, &out->kind);
    if (st) return st;
    if (colon && colon[1] >= '0' && colon[1] <= '9') out->budget = strtoull(colon + 1, &end, 10);
    if (end == last) return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE, "--by is %s:NUMBER, the number of %s, not `%.*s`", rvm_schedule_name(out->kind),
                     rvm_schedule_budget_name(out->kind), (int)length, text);
}

static rvm_status read_range(tool *t, uint64_t *low, uint64_t *high) {
    const char *text = t->o.budget;
    char *end;
    *low = *high = strtoull(text, &end, 10);
    bool good = *text >= '0' && *text <= '9' && end[0] == '.' && end[1] == '.' && end[2] >= '0' && end[2] <= '9';
    if (good) *high = strtoull(end + 2, &end, 10);
    if (good && !*end && *low && *low <= *high) return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE, "--budget is LOW..HIGH, two whole numbers that rise from 1, not `%s`", text);
}

rvm_status scheduled_range(tool *t, rvm_schedule_kind kind, uint64_t *low, uint64_t *high) {
    const uint64_t least = rvm_schedule_least(kind, t->o.steps);
    const rvm_status st = read_range(t, low, high);
    if (st) return st;
    if (*low < least) *low = least;
    if (*high >= least) return RVM_OK;
    return tool_fail(t, RVM_ERR_ARGUMENT, "--budget %s: %s of %" PRIu64 " steps needs at least %" PRIu64 " %s", t->o.budget,
                     rvm_schedule_name(kind), t->o.steps, least, rvm_schedule_budget_name(kind));
}

void scheduled_cells(const rvm_move *moves, uint64_t n, int64_t *cells) {
    for (uint64_t k = 0; k < n; k++) {
        const rvm_move *m = &moves[k];
        const int64_t cell[MOVE_COLUMNS] = {m->kind, m->target, m->source, m->state};
        memcpy(cells + MOVE_COLUMNS * k, cell, sizeof cell);
    }
}

static rvm_status read_moves(tool *t, const int64_t *cells, uint64_t n, rvm_move *moves) {
    for (uint64_t k = 0; k < n; k++, cells += MOVE_COLUMNS) {
        bool good = cells[0] >= 0 && cells[0] < RVM_MOVE_KIND_COUNT;
        for (int i = 1; i < MOVE_COLUMNS; i++) good = good && cells[i] >= 0 && cells[i] <= RVM_SCHEDULE_MOST_STEPS;
        good = good && cells[1] <= (int64_t)n && cells[2] <= (int64_t)n; /* a row that is used has a move */
        if (!good)
            return tool_fail(t, RVM_ERR_CHECK,
                             "move %" PRIu64 " is [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                             "]: a kind from 0 to %d, two rows and a state are wanted",
                             k, cells[0], cells[1], cells[2], cells[3], RVM_MOVE_KIND_COUNT - 1);
        moves[k] = (rvm_move){(rvm_move_kind)cells[0], (uint32_t)cells[1], (uint32_t)cells[2], (uint32_t)cells[3]};
    }
    return RVM_OK;
}

/* What a list goes for, over how many rows. */
static rvm_status judge(tool *t, const rvm_move *moves, uint64_t n, uint64_t steps, rvm_schedule_counts *counts,
                        bool *gradient) {
    uint32_t rows = 1;
    *gradient = false;
    for (uint64_t k = 0; k < n; k++) {
        *gradient = *gradient || moves[k].kind == RVM_MOVE_SWEEP;
        if (moves[k].target >= rows) rows = moves[k].target + 1;
        if (moves[k].source >= rows) rows = moves[k].source + 1;
    }
    return rvm_schedule_replay(moves, n, steps, rows, *gradient, NULL, counts, &t->err);
}

rvm_status scheduled_list(tool *t, uint64_t steps, rvm_move **moves, uint64_t *n, rvm_schedule_counts *counts,
                          bool *gradient) {
    const rvm_param_info info = {.name = "moves", .type = RVM_I64, .ndim = 2, .dim_value = {-1, MOVE_COLUMNS}};
    rvm_arg a = {.type = RVM_I64, .ndim = 2};
    char value[4100];
    *moves = NULL;
    if (snprintf(value, sizeof value, "@%s", t->o.list) >= (int)sizeof value)
        return tool_fail(t, RVM_ERR_USAGE, "--list: a path is not that long");
    rvm_status st = literal_read(&t->reading, &info, value, &a, &t->err);
    if (!st && a.shape[1] != MOVE_COLUMNS)
        st = tool_fail(t, RVM_ERR_SHAPE, "a list of moves has %d columns, not %" PRId64, MOVE_COLUMNS, a.shape[1]);
    *n = st ? 0 : (uint64_t)a.shape[0];
    if (!st && !(*moves = malloc((*n + 1) * sizeof **moves))) st = tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    if (!st) st = read_moves(t, a.data, *n, *moves);
    if (!st) st = judge(t, *moves, *n, steps, counts, gradient);
    if (st && !t->err.file[0]) snprintf(t->err.file, sizeof t->err.file, "%.250s", t->o.list);
    arg_free(&a);
    return st;
}

bool scheduled_progress(void *userdata, uint64_t done, uint64_t of) {
    progress *p = userdata;
    const double s = p->terminal ? progress_seconds(p) : 0;
    if (s >= 1 && s >= p->shown + 0.25) {
        if (of)
            fprintf(stderr, "\r%3.0f%%, ", 100 * (double)done / (double)of);
        else
            fputc('\r', stderr);
        fprintf(stderr, "%" PRIu64 " moves or positions, %.0f s\033[K", done, s);
        p->shown = s;
    }
    return progress_interrupted();
}

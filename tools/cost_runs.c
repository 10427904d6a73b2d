/* cost_runs.c: the runs that rvm cost prices: of the command's function, of the irreversible one that it is held against, by
 * schedules of several budgets; and counts that were written before. */
#include "cost.h"
#include "input.h"
#include "scheduled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_csv(const char *name) {
    const size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".csv");
}

static rvm_status read_counts(cost *c, const char *path, costed *to) {
    enum { LONGEST = 1 << 26 };
    input in;
    char *text;
    size_t size;
    snprintf(to->name, sizeof to->name, "%s", path);
    rvm_status st = input_open(&in, path, &c->t->err);
    if (st) return st;
    st = input_whole(&in, LONGEST, &text, &size, &c->t->err);
    if (!st) st = rvm_counts_new(NULL, &to->counts, &c->t->err);
    if (!st) st = rvm_counts_read(to->counts, text, size, in.name, &c->t->err);
    input_close(&in);
    free(text);
    return st;
}

/* ---- a run ---- */

/* What t->machine has counted since it was made or reset. */
static rvm_status take_counts(cost *c, costed *to) {
    rvm_status st = rvm_counts_new(NULL, &to->counts, &c->t->err);
    if (!st) st = rvm_counts_add_machine(to->counts, c->t->machine, 1, &c->t->err);
    rvm_machine_stats_reset(c->t->machine);
    return st;
}

static rvm_status run_once(cost *c, costed *to) {
    tool *t = c->t;
    const rvm_status st = counted_run(t);
    counted_text(t, RVM_OK, to->name, sizeof to->name);
    return st ? st : take_counts(c, to);
}

/* ---- the irreversible one ---- */

/* The words of function fn; what neither it nor `other` takes is among them, and is told of. */
static int words_of(const tool *t, uint32_t fn, uint32_t other, char **words, int n, char **to) {
    int count = 0;
    for (int k = 0; k < n; k++)
        if (tool_takes(t, fn, words[k]) || !tool_takes(t, other, words[k])) to[count++] = words[k];
    return count;
}

/* A function of the program on the values that it has names for, forward, with nothing kept for going back. */
static rvm_status run_against(cost *c, uint32_t fn, char **words, int n) {
    tool *t = c->t;
    const options kept = t->o;
    const uint32_t own = t->fn;
    t->fn = fn;
    t->o.of = t->o.wrt = NULL;
    t->o.backward = false;
    t->o.trail = "off";
    rvm_status st = values_read(&t->v, &t->reading, fn, words, n, &t->err);
    if (!st) st = tool_machine(t, &t->machine);
    if (!st) st = run_once(c, &c->against);
    values_free(&t->v);
    rvm_machine_free(t->machine), t->machine = NULL;
    t->o = kept;
    t->fn = own;
    return st;
}

/* ---- schedules ---- */

/* The parameter that is `name`, of so many dimensions. */
static rvm_status find_integer(cost *c, const char *name, int ndim, uint32_t *at) {
    tool *t = c->t;
    rvm_param_info info;
    for (*at = 0; rvm_program_param(t->program, t->fn, *at, &info) == RVM_OK; ++*at)
        if (!strcmp(info.name, name) && info.type == RVM_I64 && info.ndim == ndim) return RVM_OK;
    return tool_fail(t, RVM_ERR_USAGE,
                     "--by: `%s` has no parameters `rows: i64` and `moves: i64[t, 4]` to give a schedule to",
                     rvm_program_function_name(t->program, t->fn));
}

/* The function on the list, which the words `rows` and `moves`, the last of them, make room for. */
static rvm_status run_list(cost *c, const rvm_schedule *s, char **words, int n, costed *to) {
    tool *t = c->t;
    uint64_t nmoves;
    uint32_t rows, at;
    rvm_schedule_counts counts;
    char text[2][40];
    const rvm_move *moves = rvm_schedule_moves(s, &nmoves);
    rvm_schedule_count(s, &counts);
    snprintf(text[0], sizeof text[0], "rows=%u", counts.rows);
    snprintf(text[1], sizeof text[1], "moves=zeros(%" PRIu64 ",%d)", nmoves, MOVE_COLUMNS);
    words[n] = text[0], words[n + 1] = text[1];
    rvm_status st = find_integer(c, "rows", 0, &rows);
    if (!st) st = find_integer(c, "moves", 2, &at);
    if (!st) st = values_read(&t->v, &t->reading, t->fn, words, n + 2, &t->err);
    if (!st) scheduled_cells(moves, nmoves, t->v.arg[at].data);
    if (!st) st = run_once(c, to);
    values_free(&t->v);
    return st;
}

static rvm_status run_schedule(cost *c, rvm_schedule_kind kind, uint64_t budget, char **words, int n) {
    rvm_schedule *s;
    if (c->n == COST_RUNS) return tool_fail(c->t, RVM_ERR_LIMIT, "more than %d runs", COST_RUNS);
    costed *to = &c->list[c->n];
    rvm_status st = rvm_schedule_new(kind, c->t->o.steps, budget, NULL, &s, &c->t->err);
    if (st) return st;
    c->n++;
    st = run_list(c, s, words, n, to);
    *to = (costed){.counts = to->counts, .scheduled = true, .kind = kind, .budget = budget};
    snprintf(to->name, sizeof to->name, "%s:%" PRIu64, rvm_schedule_name(kind), budget);
    rvm_schedule_free(s);
    return st;
}

/* Four or so in a doubling. */
static rvm_status run_kind(cost *c, rvm_schedule_kind kind, char **words, int n) {
    uint64_t low, high;
    rvm_status st = scheduled_range(c->t, kind, &low, &high);
    for (uint64_t b = low; !st && b <= high; b = scheduled_next(b)) st = run_schedule(c, kind, b, words, n);
    return st;
}

/* words has room for two more. */
static rvm_status run_schedules(cost *c, char **words, int n) {
    tool *t = c->t;
    rvm_status st = tool_machine(t, &t->machine);
    for (const char *at = t->o.by; !st && *at;) {
        rvm_schedule_kind kind;
        const size_t length = strcspn(at, ",");
        st = scheduled_kind(t, at, length, &kind);
        if (!st) st = run_kind(c, kind, words, n);
        at += length + (at[length] == ',');
    }
    return st;
}

/* ---- all of them ---- */

static rvm_status check_options(cost *c) {
    const options *o = &c->t->o;
    const bool some = o->by || o->budget || option_given(o, steps), all = o->by && o->budget && option_given(o, steps);
    if (some != all)
        return tool_fail(c->t, RVM_ERR_USAGE,
                         "--by KIND,KIND, -n STEPS and --budget LOW..HIGH go together: runs by schedules");
    if (some && c->sweep.key != RVM_MODEL_KEYS)
        return tool_fail(c->t, RVM_ERR_USAGE, "--budget and %s: one of them is swept at a time",
                         rvm_model_key_name(c->sweep.key));
    if (some && o->counts) return tool_fail(c->t, RVM_ERR_USAGE, "--counts is of one run: not with --budget");
    return counted_options(c->t);
}

static rvm_status run_function(cost *c, char **words, int n) {
    tool *t = c->t;
    if (t->o.budget) return run_schedules(c, words, n);
    rvm_status st = values_read(&t->v, &t->reading, t->fn, words, n, &t->err);
    if (!st) st = tool_machine(t, &t->machine);
    return st ? st : run_once(c, &c->run);
}

static rvm_status run_program(cost *c) {
    tool *t = c->t;
    int first, n;
    uint32_t fn = 0;
    rvm_status st = tool_choose(t, &first);
    if (st) return st;
    char **all = t->words + first, **words = calloc((size_t)t->nwords + 2, sizeof *words);
    const int nall = t->nwords - first;
    const bool function = t->o.against && !is_csv(t->o.against);
    if (!words) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    fn = t->fn;
    if (function) st = tool_function(t, t->o.against, &fn);
    t->reading.program = t->program;
    if (!st) st = native_open(t);
    n = words_of(t, fn, t->fn, all, nall, words);
    if (!st && function) st = run_against(c, fn, words, n);
    n = words_of(t, t->fn, fn, all, nall, words);
    if (!st) st = run_function(c, words, n);
    free(words);
    return st;
}

static rvm_status price_file(cost *c) {
    const options *o = &c->t->o;
    if (o->against && !is_csv(o->against))
        return tool_fail(c->t, RVM_ERR_USAGE, "--against %s is a function: counts are held against counts", o->against);
    if (c->t->nwords > 1 || o->of || o->backward || o->budget)
        return tool_fail(c->t, RVM_ERR_USAGE, "%s are counts of a run that was: nothing is run", c->t->words[0]);
    return read_counts(c, c->t->words[0], &c->run);
}

rvm_status cost_runs(cost *c) {
    const options *o = &c->t->o;
    rvm_status st = check_options(c);
    if (!st && o->against && is_csv(o->against)) st = read_counts(c, o->against, &c->against);
    if (!st) st = is_csv(c->t->words[0]) ? price_file(c) : run_program(c);
    return st;
}

void cost_runs_free(cost *c) {
    rvm_counts_free(c->run.counts);
    rvm_counts_free(c->against.counts);
    for (int k = 0; k < c->n; k++) rvm_counts_free(c->list[k].counts);
}

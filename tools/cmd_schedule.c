/* cmd_schedule.c: rvm schedule: in which order to run the steps of a chain or a graph where few states fit; what that costs.
 */
#include "chart.h"
#include "diagram.h"
#include "input.h"
#include "measure.h"
#include "npy.h"
#include "profiled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct plan {
    bool listed; /* the moves come from a file: of no kind */
    rvm_schedule_kind kind;
    uint64_t steps, budget;
    uint64_t evaluations, states; /* by the formula */
    rvm_schedule_graph *graph;
    bool optimal; /* of a graph: the fewest moves there are */
    bool gradient;
    rvm_move *read; /* of --list */
    rvm_schedule *schedule;
    rvm_schedule_counts counts;
    const rvm_move *moves;
    uint64_t nmoves;
    char title[120];
} plan;

/* ---- what is asked for ---- */

enum { LONGEST_GRAPH = 1 << 28 };

static rvm_status read_graph(tool *t, plan *p) {
    input in;
    char *text;
    size_t size;
    if (p->kind != RVM_SCHEDULE_PEBBLE) return tool_fail(t, RVM_ERR_USAGE, "--graph goes with --by pebble:NUMBER");
    if (option_given(&t->o, steps)) return tool_fail(t, RVM_ERR_USAGE, "--graph has its steps: -n is of a chain");
    rvm_status st = input_open(&in, t->o.graph, &t->err);
    if (st) return st;
    st = input_whole(&in, LONGEST_GRAPH, &text, &size, &t->err);
    if (!st) st = rvm_schedule_graph_parse(text, size, in.name, NULL, &p->graph, &t->err);
    input_close(&in);
    free(text);
    p->steps = rvm_schedule_graph_size(p->graph);
    return st;
}

static rvm_status read_options(tool *t, plan *p) {
    scheduled by = {0};
    if (!t->o.by && (t->o.graph || t->o.output || (t->o.moves && !t->o.list)))
        return tool_fail(t, RVM_ERR_USAGE, "--by says which schedule: without it, all are compared");
    rvm_status st = t->o.by ? scheduled_read(t, t->o.by, strlen(t->o.by), &by) : RVM_OK;
    if (!st && t->o.by && t->o.list) st = tool_fail(t, RVM_ERR_USAGE, "--by and --list: one of them says which moves");
    p->kind = by.kind;
    p->budget = by.budget;
    p->gradient = rvm_schedule_is_gradient(by.kind);
    p->listed = t->o.list;
    if (!st && t->o.graph) return read_graph(t, p);
    if (!st && !option_given(&t->o, steps)) st = tool_fail(t, RVM_ERR_USAGE, "-n says of how many steps");
    p->steps = t->o.steps;
    return st;
}

/* ---- making it ---- */

/* --list: moves of any origin. */
static rvm_status judge(tool *t, plan *p) {
    rvm_status st = scheduled_list(t, p->steps, &p->read, &p->nmoves, &p->counts, &p->gradient);
    p->moves = p->read;
    snprintf(p->title, sizeof p->title, "%.60s, %" PRIu64 " steps", t->o.list, p->steps);
    return st;
}

static rvm_status make(tool *t, plan *p) {
    if (p->listed) return judge(t, p);
    rvm_schedule_options o = rvm_schedule_options_default();
    rvm_status st;
    o.progress = scheduled_progress;
    o.userdata = &t->progress;
    progress_begin(&t->progress, NULL);
    if (p->graph)
        st = rvm_schedule_new_of_graph(p->graph, p->budget, &o, &p->schedule, &p->optimal, &t->err);
    else {
        st = rvm_schedule_formula(p->kind, p->steps, p->budget, &p->evaluations, &p->states, &t->err);
        if (!st) st = rvm_schedule_new(p->kind, p->steps, p->budget, &o, &p->schedule, &t->err);
    }
    progress_end(&t->progress);
    if (st) return st;
    rvm_schedule_count(p->schedule, &p->counts);
    p->moves = rvm_schedule_moves(p->schedule, &p->nmoves);
    snprintf(p->title, sizeof p->title, "%s, %" PRIu64 " steps%s, %" PRIu64 " %s", rvm_schedule_name(p->kind), p->steps,
             p->graph ? " of a graph" : "", p->budget, rvm_schedule_budget_name(p->kind));
    return RVM_OK;
}

/* ---- files ---- */

static rvm_status write_moves(tool *t, const plan *p) {
    int64_t *cells = malloc(p->nmoves * MOVE_COLUMNS * sizeof *cells + 1);
    if (!cells) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    scheduled_cells(p->moves, p->nmoves, cells);
    const rvm_arg a = rvm_arg_array_i64(cells, 2, (int64_t[]){(int64_t)p->nmoves, MOVE_COLUMNS});
    const rvm_status st = npy_write(t->o.output, &a, NULL, false, &t->err);
    free(cells);
    return st;
}

static bool draw_plan(FILE *out, const void *what) {
    const plan *p = what;
    return diagram_draw(out, p->title, p->moves, p->nmoves, &p->counts, (uint32_t)p->steps, p->graph);
}

static rvm_status write_diagram(tool *t, const plan *p) {
    if (p->nmoves > DIAGRAM_MOVES)
        return tool_fail(t, RVM_ERR_LIMIT, "%" PRIu64 " moves are too many for a picture: %d at most", p->nmoves,
                         DIAGRAM_MOVES);
    return write_printed(t, t->o.svg, draw_plan, p);
}

/* ---- what is printed ---- */

static void print_move(const plan *p, const rvm_move *m) {
    printf("%-10s row %u", rvm_move_name(m->kind), m->target);
    if (p->graph)
        printf(": %s\n", rvm_schedule_graph_name(p->graph, m->state, NULL));
    else if (m->source != m->target)
        printf(" from row %u: state %u\n", m->source, m->state);
    else
        printf(": state %u\n", m->state);
}

static void print_counts(const plan *p) {
    const rvm_schedule_counts *c = &p->counts;
    printf("%s\n  evaluations  %" PRIu64, p->title, c->evaluations);
    if (p->gradient)
        printf(" advances, and %" PRIu64 " sweeps, each with a run of its step", c->swept);
    else
        printf(": %" PRIu64 " forward, %" PRIu64 " uncomputed", c->forward, c->uncomputed);
    printf("\n  states       %u at a time%s\n  rows         %u\n  moves        %" PRIu64, c->states,
           p->graph      ? ", without inputs"
           : p->gradient ? ", with the first and the one that is marched"
                         : ", with the first",
           c->rows, c->moves);
    if (c->erased)
        printf(": %" PRIu64 " stored, %" PRIu64 " restored; %" PRIu64 " states are erased", c->stored, c->restored,
               c->erased);
    putchar('\n');
}

static void print_text(const tool *t, const plan *p) {
    print_counts(p);
    if (p->graph)
        printf("  %s\n", p->optimal ? "optimal      no list with so many pebbles is shorter: all sets of steps were searched"
                                    : "optimal      not known: such a graph is not searched");
    else if (!p->listed)
        printf("  formula      %" PRIu64 " evaluations, %" PRIu64 " states%s: %s\n", p->evaluations, p->states,
               p->kind == RVM_SCHEDULE_BENNETT ? "" : " at most", rvm_schedule_formula_text(p->kind));
    for (uint64_t k = 0; t->o.moves && k < p->nmoves; k++) print_move(p, &p->moves[k]);
}

static void json_counts(json *j, const rvm_schedule_counts *c) {
    const struct {
        const char *name;
        uint64_t n;
    } all[] = {
        {"evaluations", c->evaluations}, {"states", c->states},         {"rows", c->rows},         {"moves", c->moves},
        {"forward", c->forward},         {"uncomputed", c->uncomputed}, {"advanced", c->advanced}, {"swept", c->swept},
        {"stored", c->stored},           {"restored", c->restored},     {"freed", c->freed},       {"erased", c->erased}};
    json_key(j, "counts");
    json_open(j, '{');
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) json_key(j, all[k].name), json_uint(j, all[k].n);
    json_close(j, '}');
}

static void json_formula(json *j, const plan *p) {
    json_key(j, "formula");
    json_open(j, '{');
    json_key(j, "evaluations"), json_uint(j, p->evaluations);
    json_key(j, "states"), json_uint(j, p->states);
    json_key(j, "text"), json_text(j, rvm_schedule_formula_text(p->kind));
    json_close(j, '}');
}

static void json_graph(json *j, const plan *p) {
    json_key(j, "optimal"), json_bool(j, p->optimal);
    json_key(j, "names");
    json_open(j, '[');
    for (uint32_t k = 0; k < p->steps; k++) json_text(j, rvm_schedule_graph_name(p->graph, k, NULL));
    json_close(j, ']');
}

static void json_moves(json *j, const plan *p) {
    json_key(j, "moves");
    json_open(j, '[');
    for (uint64_t k = 0; k < p->nmoves; k++) {
        const rvm_move *m = &p->moves[k];
        json_open(j, '[');
        json_text(j, rvm_move_name(m->kind));
        json_uint(j, m->target), json_uint(j, m->source), json_uint(j, m->state);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void print_json(tool *t, const plan *p) {
    json j;
    tool_json_begin(&j, t, RVM_OK);
    if (p->listed)
        json_key(&j, "list"), json_text(&j, t->o.list);
    else
        json_key(&j, "by"), json_text(&j, rvm_schedule_name(p->kind));
    json_key(&j, "steps"), json_uint(&j, p->steps);
    if (!p->listed) json_key(&j, rvm_schedule_budget_name(p->kind)), json_uint(&j, p->budget);
    json_counts(&j, &p->counts);
    if (p->graph)
        json_graph(&j, p);
    else if (!p->listed)
        json_formula(&j, p);
    if (t->o.moves) json_moves(&j, p);
    tool_json_end(&j);
}

/* ---- all kinds compared ---- */

enum { BUDGETS = 64 };

typedef struct comparison {
    uint64_t steps;
    struct kind_costs {
        int n;
        uint64_t budget[BUDGETS];
        double states[BUDGETS], evaluations[BUDGETS];
    } of[RVM_SCHEDULE_KIND_COUNT];
} comparison;

/* Budgets from the least on, about four in a doubling, while there are more states than before and fewer evaluations. */
static rvm_status compare_kind(tool *t, comparison *c, rvm_schedule_kind kind) {
    struct kind_costs *k = &c->of[kind];
    uint64_t budget = rvm_schedule_least(kind, c->steps), evaluations, states;
    if (!budget) budget = 1;
    while (k->n < BUDGETS) {
        const rvm_status st = rvm_schedule_formula(kind, c->steps, budget, &evaluations, &states, &t->err);
        if (st) return st;
        if (!k->n || (double)evaluations < k->evaluations[k->n - 1]) {
            k->budget[k->n] = budget;
            k->states[k->n] = (double)states;
            k->evaluations[k->n++] = (double)evaluations;
        }
        if (budget >= c->steps) break;
        budget = scheduled_next(budget);
        if (budget > c->steps) budget = c->steps;
    }
    return RVM_OK;
}

static void print_comparison(const comparison *c) {
    printf("%" PRIu64 " steps: evaluations of the step by states at a time, by formula\n", c->steps);
    for (rvm_schedule_kind kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++) {
        const struct kind_costs *k = &c->of[kind];
        printf("%-10s %10s %10s %14s %8s\n", rvm_schedule_name(kind), rvm_schedule_budget_name(kind), "states",
               "evaluations", "a step");
        for (int i = 0; i < k->n; i++)
            printf("%-10s %10" PRIu64 " %10.0f %14.0f %8.2f\n", "", k->budget[i], k->states[i], k->evaluations[i],
                   k->evaluations[i] / (double)c->steps);
    }
}

static void json_comparison(tool *t, const comparison *c) {
    json j;
    tool_json_begin(&j, t, RVM_OK);
    json_key(&j, "steps"), json_uint(&j, c->steps);
    json_key(&j, "by");
    json_open(&j, '{');
    for (rvm_schedule_kind kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++) {
        json_key(&j, rvm_schedule_name(kind));
        json_open(&j, '[');
        for (int i = 0; i < c->of[kind].n; i++) {
            json_open(&j, '{');
            json_key(&j, rvm_schedule_budget_name(kind)), json_uint(&j, c->of[kind].budget[i]);
            json_key(&j, "states"), json_uint(&j, (uint64_t)c->of[kind].states[i]);
            json_key(&j, "evaluations"), json_uint(&j, (uint64_t)c->of[kind].evaluations[i]);
            json_close(&j, '}');
        }
        json_close(&j, ']');
    }
    json_close(&j, '}');
    tool_json_end(&j);
}

/* The least and the most of all kinds, widened so that there is an axis between them. */
static axis axis_of(const char *label, const comparison *c, bool states) {
    axis a = {label, 1e300, 0, true, NULL};
    for (int kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++)
        for (int i = 0; i < c->of[kind].n; i++) {
            const double v = states ? c->of[kind].states[i] : c->of[kind].evaluations[i];
            if (v < a.low && v > 0) a.low = v;
            if (v > a.high) a.high = v;
        }
    if (a.low > a.high) a.low = a.high = 1;
    a.low /= 1.15;
    a.high *= 1.15;
    return a;
}

static bool draw_comparison(FILE *out, const void *what) {
    const comparison *c = what;
    chart plot;
    char title[80];
    snprintf(title, sizeof title, "%" PRIu64 " steps: time against space, by formula", c->steps);
    chart_begin(&plot, out, 760, 460, 120, title, axis_of("states at a time", c, true),
                axis_of("evaluations of the step", c, false), NULL);
    for (rvm_schedule_kind kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++) {
        const struct kind_costs *k = &c->of[kind];
        int n = k->n;
        while (n && k->evaluations[n - 1] <= 0) n--; /* one step takes none: no place on the axis */
        chart_line(&plot, (int)kind, k->states, k->evaluations, n, rvm_schedule_name(kind));
    }
    chart_end(&plot);
    return true;
}
_Static_assert((int)RVM_SCHEDULE_KIND_COUNT <= (int)SVG_SERIES, "a series for each kind");

static rvm_status compare(tool *t, uint64_t steps) {
    comparison *c = calloc(1, sizeof *c);
    if (!c) return tool_fail(t, RVM_ERR_MEMORY, "out of memory");
    rvm_status st = RVM_OK;
    c->steps = steps;
    for (rvm_schedule_kind kind = 0; kind < RVM_SCHEDULE_KIND_COUNT && !st; kind++) st = compare_kind(t, c, kind);
    if (!st && t->o.svg) st = write_printed(t, t->o.svg, draw_comparison, c);
    if (!st && t->o.json)
        json_comparison(t, c);
    else if (!st)
        print_comparison(c);
    free(c);
    return st;
}

static rvm_status check_words(tool *t) {
    const options *o = &t->o;
    if (!o->measure && t->nwords)
        return tool_fail(t, RVM_ERR_USAGE, "`%s`: a program goes with --measure PROG STEP", t->words[0]);
    if (!o->measure && (o->budget || o->format || o->engine))
        return tool_fail(t, RVM_ERR_USAGE, "--budget, --format and --engine go with --measure PROG STEP");
    return RVM_OK;
}

rvm_status command_SCHEDULE(tool *t) {
    plan p = {0};
    if (t->o.measure) return measure_command(t);
    rvm_status st = check_words(t);
    if (!st) st = read_options(t, &p);
    if (!st && !t->o.by && !p.listed) return compare(t, p.steps);
    if (!st) st = make(t, &p);
    if (!st && t->o.output) st = write_moves(t, &p);
    if (!st && t->o.svg) st = write_diagram(t, &p);
    if (!st && t->o.json)
        print_json(t, &p);
    else if (!st)
        print_text(t, &p);
    rvm_schedule_free(p.schedule);
    rvm_schedule_graph_free(p.graph);
    free(p.read);
    return st;
}

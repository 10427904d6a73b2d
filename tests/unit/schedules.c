/* schedules.c: rvm_schedule.h: figures known from the literature, formulas against counted moves, optima against search,
 * lists that are wrong, budgets that are too small, graphs, limits, memory. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rvm_schedule.h"

#define BENNETT   RVM_SCHEDULE_BENNETT
#define PEBBLE    RVM_SCHEDULE_PEBBLE
#define TREEVERSE RVM_SCHEDULE_TREEVERSE
#define REVOLVE   RVM_SCHEDULE_REVOLVE
#define ONLINE    RVM_SCHEDULE_ONLINE

static rvm_error e;

/* Known evaluations; states at a time with the first, 0 where none are known. */
static const struct {
    rvm_schedule_kind kind;
    uint32_t steps, budget;
    uint64_t evaluations;
    uint32_t states;
} known[] = {
    {BENNETT, 16, 2, 81, 6},   {BENNETT, 256, 4, 2401, 14},  {BENNETT, 1024, 2, 59049, 12}, {BENNETT, 4096, 8, 50625, 30},
    {BENNETT, 64, 2, 729, 0},  {BENNETT, 64, 4, 343, 0},     {BENNETT, 100, 4, 791, 0},     {PEBBLE, 4, 3, 9, 0},
    {PEBBLE, 8, 4, 25, 0},     {PEBBLE, 16, 5, 71, 0},       {PEBBLE, 16, 6, 51, 0},        {PEBBLE, 32, 6, 193, 0},
    {PEBBLE, 64, 7, 531, 0},   {PEBBLE, 64, 8, 369, 0},      {PEBBLE, 100, 8, 833, 0},      {PEBBLE, 100, 10, 581, 0},
    {PEBBLE, 256, 9, 3835, 0}, {PEBBLE, 256, 13, 1685, 0},   {PEBBLE, 1024, 14, 12385, 0},  {REVOLVE, 10, 3, 15, 0},
    {REVOLVE, 20, 4, 39, 0},   {REVOLVE, 30, 5, 62, 0},      {REVOLVE, 100, 10, 222, 0},    {REVOLVE, 126, 4, 504, 0},
    {REVOLVE, 256, 8, 804, 0}, {REVOLVE, 1000, 20, 2747, 0}, {TREEVERSE, 126, 4, 504, 0},   {TREEVERSE, 10, 3, 15, 0},
    {PEBBLE, 1, 1, 1, 2},      {BENNETT, 1, 2, 1, 2},        {REVOLVE, 1, 1, 0, 2},         {REVOLVE, 200, 1, 19900, 2},
    {ONLINE, 1, 1, 1, 2},
};

static rvm_schedule *make(rvm_schedule_kind kind, uint64_t steps, uint64_t budget) {
    rvm_schedule *s;
    cr_assert_eq(rvm_schedule_new(kind, steps, budget, NULL, &s, &e), RVM_OK, "%s, %d steps, %d: %s",
                 rvm_schedule_name(kind), (int)steps, (int)budget, e.message);
    return s;
}

Test(schedules, known_figures) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        rvm_schedule *s = make(known[k].kind, known[k].steps, known[k].budget);
        rvm_schedule_counts c;
        uint64_t evaluations, states;
        rvm_schedule_count(s, &c);
        cr_assert_eq(rvm_schedule_formula(known[k].kind, known[k].steps, known[k].budget, &evaluations, &states, &e),
                     RVM_OK);
        cr_expect_eq(c.evaluations, known[k].evaluations, "%s %u %u: %d", rvm_schedule_name(known[k].kind), known[k].steps,
                     known[k].budget, (int)c.evaluations);
        cr_expect_eq(evaluations, known[k].evaluations);
        cr_expect(!known[k].states || known[k].states == c.states, "%u", c.states);
        cr_expect(rvm_schedule_is_gradient(known[k].kind) || c.forward == c.uncomputed + 1);
        rvm_schedule_free(s);
    }
}

/* Bennett's schedule with sectors as textbooks cut them, n / k rounded up and a shorter one at the end: row `to` becomes the
 * state `steps` behind that of row `from`, by rows from `free` on. */
static uint32_t textbook(rvm_move *list, uint32_t n, uint32_t from, uint32_t to, uint32_t first, uint32_t steps,
                         uint32_t free, bool taken) {
    enum { K = 4 };
    uint32_t sectors = 0, start[K + 1], row[K + 1] = {from};
    if (steps == 1) {
        list[n] = (rvm_move){taken ? RVM_MOVE_UNCOMPUTE : RVM_MOVE_FORWARD, to, from, first + 1};
        return n + 1;
    }
    for (uint32_t at = 0, each = (steps + K - 1) / K; at < steps; at += each) start[sectors++] = at;
    start[sectors] = steps;
    for (uint32_t k = 1; k < sectors; k++) row[k] = free++;
    row[sectors] = to;
    for (uint32_t i = 0; i < 2 * sectors - 1; i++) {
        const uint32_t k = i < sectors ? i : 2 * sectors - 2 - i;
        n = textbook(list, n, row[k], row[k + 1], first + start[k], start[k + 1] - start[k], free,
                     k + 1 < sectors ? i >= sectors : taken);
    }
    return n;
}

Test(schedules, textbook_sectors) {
    rvm_move list[1000];
    rvm_schedule_counts c;
    const uint32_t n = textbook(list, 0, 0, 1, 0, 100, 2, false);
    cr_assert_eq(rvm_schedule_replay(list, n, 100, 20, false, NULL, &c, &e), RVM_OK, "%s", e.message);
    cr_expect_eq(c.evaluations, 847);
}

/* Of every kind, length and budget: what the formula says is what was counted when the list was replayed. */
static void agrees(rvm_schedule_kind kind, uint32_t steps, uint32_t budget) {
    rvm_schedule *s = make(kind, steps, budget);
    rvm_schedule_counts c;
    uint64_t evaluations, states;
    rvm_schedule_count(s, &c);
    cr_assert_eq(rvm_schedule_formula(kind, steps, budget, &evaluations, &states, &e), RVM_OK);
    cr_expect_eq(evaluations, c.evaluations, "%s %u %u: formula %d, counted %d", rvm_schedule_name(kind), steps, budget,
                 (int)evaluations, (int)c.evaluations);
    cr_expect(c.states <= states && c.states == c.rows, "%s %u %u: %u states, %u rows", rvm_schedule_name(kind), steps,
              budget, c.states, c.rows);
    if (kind == BENNETT) cr_expect_eq(c.states, states, "%u %u: %u, formula %d", steps, budget, c.states, (int)states);
    if (rvm_schedule_is_gradient(kind))
        cr_expect(c.swept == steps && c.forward == 0 && c.uncomputed == 0);
    else
        cr_expect(c.erased == 0 && c.forward == c.uncomputed + steps - (steps - 1) && c.moves == c.evaluations);
    rvm_schedule_free(s);
}

Test(schedules, formulas_agree_with_moves) {
    for (rvm_schedule_kind kind = 0; kind < RVM_SCHEDULE_KIND_COUNT; kind++)
        for (uint32_t steps = 1; steps <= 200; steps++)
            for (uint32_t budget = 1; budget <= 12; budget++)
                if (budget >= rvm_schedule_least(kind, steps)) agrees(kind, steps, budget);
}

/* The recurrences as they stand in the papers, over all m: what the makers take is what these say. */
enum { TABLE = 121, BUDGETS = 13 };
static uint64_t knill[TABLE][BUDGETS], marches[TABLE][BUDGETS];

static void fill_tables(void) {
    const uint64_t none = UINT64_C(1) << 50;
    for (uint32_t s = 0; s < BUDGETS; s++)
        for (uint32_t n = 1; n < TABLE; n++) {
            knill[n][s] = n > 1 || !s ? none : 1;
            marches[n][s] = n > 1 ? none : 0;
            for (uint32_t m = 1; m < n && s; m++) {
                const uint64_t f = knill[m][s] + knill[m][s - 1] + knill[n - m][s - 1];
                const uint64_t t = m + marches[n - m][s - 1] + marches[m][s];
                if (f < knill[n][s]) knill[n][s] = f;
                if (t < marches[n][s]) marches[n][s] = t;
            }
        }
}

Test(schedules, recurrences_over_all_splits) {
    uint64_t got;
    fill_tables();
    for (uint32_t n = 1; n < TABLE; n++)
        for (uint32_t s = 1; s < BUDGETS; s++) {
            rvm_schedule_formula(REVOLVE, n, s, &got, NULL, &e);
            cr_expect_eq(got, marches[n][s], "revolve %u %u", n, s);
            if (rvm_schedule_formula(PEBBLE, n, s, &got, NULL, &e))
                cr_expect(knill[n][s] >= UINT64_C(1) << 50, "pebble %u %u is possible", n, s);
            else
                cr_expect_eq(got, knill[n][s], "pebble %u %u: %d, not %d", n, s, (int)got, (int)knill[n][s]);
        }
}

Test(schedules, treeverse_and_online_are_near_revolve) {
    for (uint32_t n = 1; n < 3000; n = n * 5 / 3 + 1)
        for (uint32_t s = 1; s <= 30; s = s * 3 / 2 + 1) {
            uint64_t best, tree, online;
            rvm_schedule_formula(REVOLVE, n, s, &best, NULL, &e);
            rvm_schedule_formula(TREEVERSE, n, s, &tree, NULL, &e);
            rvm_schedule_formula(ONLINE, n, s, &online, NULL, &e);
            cr_expect(tree >= best && (double)tree <= 1.25 * (double)best + 1, "treeverse %u %u: %d of %d", n, s, (int)tree,
                      (int)best);
            cr_expect(online > best && (double)online <= 1.35 * (double)best + n, "online %u %u: %d of %d", n, s,
                      (int)online, (int)best);
        }
}

/* ---- long ones ---- */

Test(schedules, ten_thousand_steps) {
    rvm_schedule *s = make(PEBBLE, 10000, 20);
    rvm_schedule_counts c;
    uint64_t f;
    rvm_schedule_count(s, &c);
    rvm_schedule_formula(PEBBLE, 10000, 20, &f, NULL, &e);
    cr_expect(c.evaluations == f && c.rows <= 21);
    rvm_schedule_free(s);
    cr_expect_eq(rvm_schedule_formula(PEBBLE, 10000, 10000, &f, NULL, &e), RVM_OK);
    cr_expect_eq(f, 19999);
    cr_expect_eq(rvm_schedule_formula(PEBBLE, UINT64_C(1) << 30, 31, &f, NULL, &e), RVM_OK);
    cr_expect(f > UINT64_C(1) << 31 && f < UINT64_C(205891132094649), "Bennett's by halves is 3^30");
}

/* ---- what is refused ---- */

static const struct {
    rvm_schedule_kind kind;
    uint64_t steps, budget;
    rvm_status st;
    const char *says;
} refused[] = {
    {PEBBLE, 100, 7, RVM_ERR_ARGUMENT, "pebble of 100 steps needs at least 8 pebbles, not 7"},
    {PEBBLE, 128, 7, RVM_ERR_ARGUMENT, "at least 8 pebbles"},
    {PEBBLE, 129, 8, RVM_ERR_ARGUMENT, "at least 9 pebbles"},
    {BENNETT, 100, 1, RVM_ERR_ARGUMENT, "bennett of 100 steps needs at least 2 sectors, not 1"},
    {REVOLVE, 100, 0, RVM_ERR_ARGUMENT, "revolve of 100 steps needs at least 1 snapshots, not 0"},
    {ONLINE, 0, 3, RVM_ERR_ARGUMENT, "a schedule is of 1 to 2147483647 steps, not of 0"},
    {BENNETT, UINT64_C(1) << 31, 2, RVM_ERR_ARGUMENT, "not of 2147483648"},
    {BENNETT, 1 << 30, 2, RVM_ERR_LIMIT, "the list has 205891132094649 moves or more; the limit is 67108864"},
    {RVM_SCHEDULE_KIND_COUNT, 3, 2, RVM_ERR_USAGE, "no kind of schedule has number 5"},
};

Test(schedules, refused) {
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        rvm_schedule *s = (rvm_schedule *)&e;
        cr_expect_eq(rvm_schedule_new(refused[k].kind, refused[k].steps, refused[k].budget, NULL, &s, &e), refused[k].st);
        cr_expect(!s && strstr(e.message, refused[k].says), "%s", e.message);
    }
}

/* ---- lists that are wrong ---- */

static rvm_status replay(const rvm_move *moves, uint64_t n, const rvm_schedule *s, rvm_schedule_kind kind, uint32_t steps) {
    rvm_schedule_counts c;
    rvm_schedule_count(s, &c);
    return rvm_schedule_replay(moves, n, steps, c.rows, rvm_schedule_is_gradient(kind), NULL, NULL, &e);
}

/* A list without one of its moves, or with one of its numbers another, is found; only the gradient does without the last
 * state, which a march reaches whose end was not known. */
static void damage(rvm_schedule_kind kind, uint32_t steps, uint32_t budget) {
    rvm_schedule *s = make(kind, steps, budget);
    uint64_t n;
    const rvm_move *moves = rvm_schedule_moves(s, &n);
    rvm_move *copy = malloc(n * sizeof *copy);
    cr_expect_eq(replay(moves, n, s, kind, steps), RVM_OK);
    for (uint64_t k = 0; k < n; k++) {
        memcpy(copy, moves, k * sizeof *copy);
        memcpy(copy + k, moves + k + 1, (n - k - 1) * sizeof *copy);
        const bool in_vain = kind == ONLINE && moves[k].kind == RVM_MOVE_ADVANCE && moves[k].state == steps;
        cr_expect_eq(replay(copy, n - 1, s, kind, steps), in_vain ? RVM_OK : RVM_ERR_CHECK, "%s %u %u without move %d",
                     rvm_schedule_name(kind), steps, budget, (int)k);
        memcpy(copy, moves, n * sizeof *copy);
        copy[k].state ^= 1;
        cr_expect_eq(replay(copy, n, s, kind, steps), RVM_ERR_CHECK, "state of move %d", (int)k);
        copy[k] = moves[k];
        copy[k].source = 1000;
        cr_expect_eq(replay(copy, n, s, kind, steps), RVM_ERR_CHECK, "source of move %d", (int)k);
        copy[k] = moves[k];
        copy[k].kind = (rvm_move_kind)(moves[k].kind ^ 1);
        cr_expect_eq(replay(copy, n, s, kind, steps), RVM_ERR_CHECK, "kind of move %d", (int)k);
    }
    free(copy);
    rvm_schedule_free(s);
}

Test(schedules, damaged_lists_are_found) {
    for (uint32_t steps = 1; steps <= 14; steps++) {
        damage(BENNETT, steps, 3);
        damage(PEBBLE, steps, 5);
        damage(TREEVERSE, steps, 3);
        damage(REVOLVE, steps, 3);
        damage(ONLINE, steps, 4);
    }
}

Test(schedules, messages_of_the_judge) {
    const rvm_move unread[] = {{RVM_MOVE_FORWARD, 1, 2, 2}}, left[] = {{RVM_MOVE_FORWARD, 1, 0, 1}};
    cr_expect_eq(rvm_schedule_replay(unread, 1, 2, 3, false, NULL, NULL, &e), RVM_ERR_CHECK);
    cr_expect_str_eq(e.message, "move 0, forward of state 2: row 2 is to hold state 1 and is empty");
    cr_expect_eq(rvm_schedule_replay(left, 1, 2, 3, false, NULL, NULL, &e), RVM_ERR_CHECK);
    cr_expect_str_eq(e.message, "at the end: row 1 is to be empty and holds state 1");
    cr_expect_eq(rvm_schedule_replay(left, 1, 1, 1, false, NULL, NULL, &e), RVM_ERR_CHECK);
    cr_expect_str_eq(e.message, "move 0, forward of state 1: there is no row 1: there are 1");
    cr_expect_eq(rvm_schedule_replay(NULL, 0, 1, 1, true, NULL, NULL, &e), RVM_ERR_CHECK);
    cr_expect_str_eq(e.message, "at the end: step 1 is not swept");
}

/* ---- graphs ---- */

static rvm_schedule_graph *parse(const char *text) {
    rvm_schedule_graph *g;
    cr_assert_eq(rvm_schedule_graph_parse(text, strlen(text), "g", NULL, &g, &e), RVM_OK, "%s", e.message);
    return g;
}

static rvm_schedule_graph *chain(uint32_t n) {
    char *text = malloc(32 * (size_t)n), *at = text;
    for (uint32_t k = 1; k <= n; k++) at += sprintf(at, "s%u: s%u\n", k, k - 1);
    rvm_schedule_graph *g = parse(text);
    free(text);
    return g;
}

/* Knill's optimum is the optimum: search over all sets of states finds no shorter list, and none where there is none. */
Test(schedules, optimum_against_search) {
    for (uint32_t n = 1; n <= 16; n++)
        for (uint32_t s = 1; s <= 8; s++) {
            rvm_schedule_graph *g = chain(n);
            rvm_schedule *found;
            rvm_schedule_counts c;
            uint64_t f;
            bool optimal;
            const rvm_status st = rvm_schedule_formula(PEBBLE, n, s, &f, NULL, &e);
            cr_expect_eq(rvm_schedule_new_of_graph(g, s, NULL, &found, &optimal, &e), st, "%u steps, %u pebbles", n, s);
            char least[40];
            snprintf(least, sizeof least, "at least %d pebbles", (int)rvm_schedule_least(PEBBLE, n));
            if (st) { cr_expect(strstr(e.message, least), "%s", e.message); }
            if (!st) {
                rvm_schedule_count(found, &c);
                cr_expect(optimal && c.evaluations == f, "%u %u: %d", n, s, (int)f);
            }
            rvm_schedule_free(found);
            rvm_schedule_graph_free(g);
        }
}

/* A chain is cut where the optimum cuts it, for as many states as cuts are looked for; what is found does not claim it. */
Test(schedules, long_chains_as_graphs) {
    for (uint32_t n = 25; n < 400; n += 41) {
        rvm_schedule_graph *g = chain(n);
        for (uint64_t s = rvm_schedule_least(PEBBLE, n); s <= 64; s += 3) {
            rvm_schedule *found;
            rvm_schedule_counts c;
            uint64_t f;
            bool optimal;
            cr_assert_eq(rvm_schedule_new_of_graph(g, s, NULL, &found, &optimal, &e), RVM_OK, "%s", e.message);
            rvm_schedule_count(found, &c);
            rvm_schedule_formula(PEBBLE, n, s, &f, NULL, &e);
            cr_expect(!optimal && c.moves == f, "%u steps, %d pebbles: %d moves, not %d", n, (int)s, (int)c.moves, (int)f);
            rvm_schedule_free(found);
        }
        rvm_schedule_graph_free(g);
    }
}

static const struct {
    const char *text;
    uint32_t pebbles;
    uint64_t moves; /* the fewest; 0: there is none */
} graphs[] = {
    {"a: x\nb: a\nc: a b\n", 3, 5},
    {"a: x\nb: a\nc: a b\n", 2, 0},
    {"c: a b # a comment\nb: a\n\na:\n", 3, 5}, /* in any order; a step without anything to take */
    {"a: x\nb: a\nc: b\nout: a c\n", 3, 4},     /* an output in the middle */
    {"a: x\nb: y\nc: a b\nd: c\ndead: d\nout: d\n", 4, 7},
    {"a: x\nb: y\nc: a b\nd: c\ndead: d\nout: d\n", 3, 0},
    {"l1: x\nl2: x\nl3: x\nl4: x\nm1: l1 l2\nm2: l3 l4\nr: m1 m2\n", 5, 17},
    {"l1: x\nl2: x\nl3: x\nl4: x\nm1: l1 l2\nm2: l3 l4\nr: m1 m2\n", 7, 13},
    {"a: x x\nb: a a\n", 2, 3}, /* taken twice is taken */
};

Test(schedules, small_graphs) {
    for (size_t k = 0; k < sizeof graphs / sizeof *graphs; k++) {
        rvm_schedule_graph *g = parse(graphs[k].text);
        rvm_schedule *s;
        rvm_schedule_counts c = {0};
        bool optimal;
        const rvm_status st = rvm_schedule_new_of_graph(g, graphs[k].pebbles, NULL, &s, &optimal, &e);
        if (!st) rvm_schedule_count(s, &c);
        cr_expect(st == (graphs[k].moves ? RVM_OK : RVM_ERR_ARGUMENT), "graph %d: %s", (int)k, e.message);
        cr_expect(c.moves == graphs[k].moves && c.states <= graphs[k].pebbles, "graph %d: %d moves", (int)k, (int)c.moves);
        cr_expect_eq(optimal, !st);
        rvm_schedule_free(s);
        rvm_schedule_graph_free(g);
    }
}

/* A random graph of n steps, each of which takes up to three of the `near` before it. */
static rvm_schedule_graph *random_graph(uint32_t n, uint32_t near, rng *r) {
    char *text = malloc(64 * (size_t)n), *at = text;
    for (uint32_t k = 0; k < n; k++) {
        at += sprintf(at, "n%u: in", k);
        for (uint32_t i = 1 + rng_below(r, 3); i-- && k;)
            at += sprintf(at, " n%u", k - 1 - rng_below(r, near < k ? near : k));
        *at++ = '\n';
    }
    *at = 0;
    rvm_schedule_graph *g = parse(text);
    free(text);
    return g;
}

/* Beyond what is searched: legal, within the budget, and with a row for each step the fewest there can be: every step once,
 * and once more but for outputs. */
Test(schedules, large_graphs) {
    rng r = {5};
    for (int round = 0; round < 40; round++) {
        rvm_schedule_graph *g = random_graph(25 + rng_below(&r, 200), 1 + rng_below(&r, 9), &r);
        const uint32_t n = rvm_schedule_graph_size(g);
        rvm_schedule *s;
        rvm_schedule_counts c;
        bool optimal = true, output;
        uint32_t least = 0, outputs = 0;
        uint64_t before = UINT64_MAX;
        for (uint32_t k = 0; k < n; k++) rvm_schedule_graph_name(g, k, &output), outputs += output;
        cr_assert_eq(rvm_schedule_new_of_graph(g, 1, NULL, &s, &optimal, &e), RVM_ERR_ARGUMENT);
        cr_assert_eq(sscanf(e.message, "this graph needs more; the least that was found is %u", &least), 1, "%s", e.message);
        for (uint32_t pebbles = least; pebbles <= n; pebbles += 1 + (n - least) / 7) {
            cr_assert_eq(rvm_schedule_new_of_graph(g, pebbles, NULL, &s, &optimal, &e), RVM_OK, "%s", e.message);
            rvm_schedule_count(s, &c);
            cr_expect(!optimal && c.states <= pebbles && c.moves <= before, "%u pebbles: %u, %d moves", pebbles, c.states,
                      (int)c.moves);
            before = c.moves;
            rvm_schedule_free(s);
        }
        cr_assert_eq(rvm_schedule_new_of_graph(g, n, NULL, &s, &optimal, &e), RVM_OK);
        rvm_schedule_count(s, &c);
        cr_expect_eq(c.moves, 2 * n - outputs);
        rvm_schedule_free(s);
        rvm_schedule_graph_free(g);
    }
}

static const struct {
    const char *text;
    rvm_status st;
    uint32_t line;
    const char *says;
} bad_graphs[] = {
    {"", RVM_ERR_SYNTAX, 0, "there is no step"},
    {"a: x\nb a\n", RVM_ERR_SYNTAX, 2, "a line is `step: what it takes`, not `b a`"},
    {"a b: c\n", RVM_ERR_SYNTAX, 1, "one step before one colon"},
    {"a: b: c\n", RVM_ERR_SYNTAX, 1, "one step before one colon"},
    {": c\n", RVM_ERR_SYNTAX, 1, "one step before one colon"},
    {"a: x\nb: a\na: y\n", RVM_ERR_NAME, 3, "step `a` stands a second time"},
    {"a: x\nout: b\n", RVM_ERR_NAME, 2, "output `b` is no step"},
    {"a: x\nout:\n", RVM_ERR_SYNTAX, 2, "`out:` names no step"},
    {"a: x\nout: a\nout: a\n", RVM_ERR_NAME, 3, "`out` stands a second time"},
    {"a: c\nb: a\nc: b\nd: c\n", RVM_ERR_CHECK, 3, "takes itself, by way of others"},
    {"a: a\n", RVM_ERR_CHECK, 1, "step `a` takes itself"},
};

Test(schedules, bad_graphs) {
    for (size_t k = 0; k < sizeof bad_graphs / sizeof *bad_graphs; k++) {
        rvm_schedule_graph *g = (rvm_schedule_graph *)&e;
        e = (rvm_error){0};
        const char *text = bad_graphs[k].text;
        cr_expect_eq(rvm_schedule_graph_parse(text, strlen(text), "g.txt", NULL, &g, &e), bad_graphs[k].st);
        cr_expect(!g && e.line == bad_graphs[k].line && strstr(e.message, bad_graphs[k].says), "%s: line %u, %s", text,
                  e.line, e.message);
    }
}

/* ---- limits ---- */

static bool stop(void *userdata, uint64_t done, uint64_t of) {
    uint64_t *seen = userdata;
    seen[0] = done;
    seen[1] = of;
    return done >= 131072;
}

Test(schedules, progress_and_cancel) {
    uint64_t seen[2] = {0, 0};
    rvm_schedule_options o = rvm_schedule_options_default();
    rvm_schedule *s;
    o.progress = stop;
    o.userdata = seen;
    cr_expect_eq(rvm_schedule_new(PEBBLE, 10000, 15, &o, &s, &e), RVM_ERR_CANCELLED);
    cr_expect(!s && seen[0] == 131072 && seen[1] == 455765);
    rvm_schedule_graph *g = chain(20);
    seen[0] = 0;
    cr_expect_eq(rvm_schedule_new_of_graph(g, 20, &o, &s, NULL, &e), RVM_ERR_CANCELLED);
    cr_expect(!s && seen[0] == 131072);
    o.most_moves = 30;
    cr_expect_eq(rvm_schedule_new(ONLINE, 20, 3, &o, &s, &e), RVM_ERR_LIMIT);
    cr_expect(!s);
    rvm_schedule_graph_free(g);
}

/* Memory that ends at the k-th allocation, for every k. */
typedef struct meter {
    int left;
    int64_t held;
} meter;

static void *metered(void *userdata, void *p, size_t old, size_t size) {
    meter *m = userdata;
    if (size && m->left-- <= 0) return NULL;
    m->held += (int64_t)size - (int64_t)old;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}

static rvm_status everything(const rvm_allocator *al) {
    rvm_schedule_options o = rvm_schedule_options_default();
    rvm_schedule *s = NULL;
    rvm_schedule_graph *g = NULL;
    rvm_status st = RVM_OK;
    o.allocator = al;
    for (rvm_schedule_kind kind = 0; kind < RVM_SCHEDULE_KIND_COUNT && !st; kind++) {
        st = rvm_schedule_new(kind, 40, 7, &o, &s, &e);
        rvm_schedule_free(s);
    }
    for (int large = 0; large < 2 && !st; large++) {
        char text[1000], *at = text;
        for (int k = 1; k <= (large ? 30 : 8); k++) at += sprintf(at, "s%d: s%d\n", k, k - 1);
        st = rvm_schedule_graph_parse(text, strlen(text), NULL, al, &g, &e);
        if (!st) st = rvm_schedule_new_of_graph(g, 8, &o, &s, NULL, &e);
        if (!st) rvm_schedule_free(s);
        rvm_schedule_graph_free(g);
    }
    return st;
}

Test(schedules, out_of_memory_at_each_allocation) {
    rvm_status st = RVM_ERR_MEMORY;
    int k = 0;
    for (; st == RVM_ERR_MEMORY; k++) {
        meter m = {k, 0};
        const rvm_allocator al = {metered, &m};
        st = everything(&al);
        cr_assert_eq(m.held, 0, "%d bytes are held when allocation %d fails", (int)m.held, k);
    }
    cr_expect(st == RVM_OK && k > 50, "%s after %d", rvm_status_name(st), k);
}

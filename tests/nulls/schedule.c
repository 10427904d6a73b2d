/* schedule.c: rvm_schedule.h. */
#include "nulls.h"
#include "rvm_schedule.h"

void try_schedule(void) {
    const rvm_move move = {RVM_MOVE_FORWARD, 1, 0, 1}, step = {RVM_MOVE_FORWARD, 0, 0, 0};
    const rvm_schedule_kind none_such = (rvm_schedule_kind)99;
    rvm_schedule *s = NULL, *other = NULL;
    rvm_schedule_counts c;
    uint64_t number = 1;
    if (rvm_schedule_new(RVM_SCHEDULE_PEBBLE, 4, 3, NULL, &s, &e)) failures++;
    HARMLESS(rvm_schedule_name, kind, !strcmp(rvm_schedule_name(none_such), "?"));
    HARMLESS(rvm_schedule_budget_name, kind, !strcmp(rvm_schedule_budget_name(none_such), "?"));
    HARMLESS(rvm_schedule_formula_text, kind, !strcmp(rvm_schedule_formula_text(none_such), "?"));
    HARMLESS(rvm_schedule_is_gradient, kind, !rvm_schedule_is_gradient(none_such));
    HARMLESS(rvm_schedule_least, kind, !rvm_schedule_least(none_such, 4));
    HARMLESS(rvm_move_name, kind, !strcmp(rvm_move_name((rvm_move_kind)99), "?"));
    NO_KIND(rvm_schedule_formula, kind, none_such, 4, 3, &number, &number, &e);
    ALLOWED(rvm_schedule_formula, evaluations, RVM_SCHEDULE_PEBBLE, 4, 3, NULL, &number, &e);
    ALLOWED(rvm_schedule_formula, states, RVM_SCHEDULE_PEBBLE, 4, 3, &number, NULL, &e);
    UNTOLD(rvm_schedule_formula, none_such, 4, 3, &number, &number, NULL);
    NO_KIND(rvm_schedule_new, kind, none_such, 4, 3, NULL, &other, &e);
    REFUSED(rvm_schedule_new, out, RVM_SCHEDULE_PEBBLE, 4, 3, NULL, NULL, &e);
    ALLOWED(rvm_schedule_new, options, RVM_SCHEDULE_PEBBLE, 4, 3, NULL, &other, &e);
    rvm_schedule_free(other);
    UNTOLD(rvm_schedule_new, none_such, 4, 3, NULL, &other, NULL);
    HARMLESS(rvm_schedule_free, s, (rvm_schedule_free(NULL), true));
    HARMLESS(rvm_schedule_moves, s, !rvm_schedule_moves(NULL, &number) && !number);
    HARMLESS(rvm_schedule_moves, n, rvm_schedule_moves(s, NULL) != NULL);
    NO_MESSAGE(rvm_schedule_count, s, NULL, &c);
    NO_MESSAGE(rvm_schedule_count, out, s, NULL);
    REFUSED(rvm_schedule_replay, moves, NULL, 1, 1, 2, false, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay, al, &move, 1, 1, 2, false, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay, counts, &move, 1, 1, 2, false, NULL, NULL, &e);
    UNTOLD(rvm_schedule_replay, NULL, 1, 1, 2, false, NULL, NULL, NULL);
    rvm_schedule_free(s);
    rvm_schedule_graph *g = NULL;
    bool output = true;
    uint32_t n = 1;
    REFUSED(rvm_schedule_graph_parse, text, NULL, 5, "g", NULL, &g, &e);
    REFUSED(rvm_schedule_graph_parse, out, "a: x", 4, "g", NULL, NULL, &e);
    UNTOLD(rvm_schedule_graph_parse, NULL, 5, "g", NULL, &g, NULL);
    ALLOWED(rvm_schedule_graph_parse, name, "a: x", 4, NULL, NULL, &g, &e);
    HARMLESS(rvm_schedule_graph_free, g, (rvm_schedule_graph_free(NULL), true));
    rvm_schedule_graph_free(g);
    ALLOWED(rvm_schedule_graph_parse, al, "a: x", 4, "g", NULL, &g, &e);
    HARMLESS(rvm_schedule_graph_size, g, !rvm_schedule_graph_size(NULL));
    HARMLESS(rvm_schedule_graph_name, g, !rvm_schedule_graph_name(NULL, 0, &output) && !output);
    HARMLESS(rvm_schedule_graph_name, output, !strcmp(rvm_schedule_graph_name(g, 0, NULL), "a"));
    HARMLESS(rvm_schedule_graph_sources, g, !rvm_schedule_graph_sources(NULL, 0, &n) && !n);
    HARMLESS(rvm_schedule_graph_sources, n, (rvm_schedule_graph_sources(g, 0, NULL), true));
    REFUSED(rvm_schedule_new_of_graph, g, NULL, 1, NULL, &s, &output, &e);
    REFUSED(rvm_schedule_new_of_graph, out, g, 1, NULL, NULL, &output, &e);
    UNTOLD(rvm_schedule_new_of_graph, NULL, 1, NULL, &s, &output, NULL);
    ALLOWED(rvm_schedule_new_of_graph, options, g, 1, NULL, &s, &output, &e);
    rvm_schedule_free(s);
    ALLOWED(rvm_schedule_new_of_graph, optimal, g, 1, NULL, &s, NULL, &e);
    rvm_schedule_free(s);
    REFUSED(rvm_schedule_replay_graph, g, NULL, &step, 1, 1, NULL, &c, &e);
    REFUSED(rvm_schedule_replay_graph, moves, g, NULL, 1, 1, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay_graph, al, g, &step, 1, 1, NULL, &c, &e);
    ALLOWED(rvm_schedule_replay_graph, counts, g, &step, 1, 1, NULL, NULL, &e);
    UNTOLD(rvm_schedule_replay_graph, NULL, &step, 1, 1, NULL, NULL, NULL);
    rvm_schedule_graph_free(g);
}

/* rvm_schedule.h: in which order the steps of a long computation are run and taken back, where there is room for a few
 * states only. docs/schedules.md says which to take when.
 *
 * N steps lead from state 0 to state N. A schedule is a list of moves over a pool of rows, each of which holds one state or
 * is empty. There are two goals:
 *
 * Reversible (Bennett, pebbles): a step adds the next state to an empty row, or takes it away again; the list ends with
 * state 0 and state N, and nothing was erased. Gradient (treeverse, revolve, online): states may be overwritten; the list
 * sweeps back over all steps, the last first, and ends with state 0.
 *
 *     rvm_schedule *s;
 *     rvm_error e;
 *     rvm_schedule_counts c;
 *     if (!rvm_schedule_new(RVM_SCHEDULE_PEBBLE, 100, 10, NULL, &s, &e)) // 100 steps with 10 states beside the first
 *         rvm_schedule_count(s, &c);                                     // c.evaluations == 581
 *     rvm_schedule_free(s);
 *
 * Threads: a schedule and a graph are immutable, and may be shared. Nothing here prints or keeps global state.
 */
#ifndef RVM_SCHEDULE_H
#define RVM_SCHEDULE_H

#include "rvm_program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds: X(id, name, what the budget counts, the least budget there can be, formula).
 * BENNETT: the steps are cut into k sectors, the longer first; all but the last are taken back; each likewise. C. H.
 *   Bennett, "Time/space trade-offs for reversible computation", SIAM J. Comput. 18 (1989). With N = k^n: (2k - 1)^n.
 * PEBBLE: the fewest moves with s states beside the first: F(1, s) = 1, F(n, s) = min over m of F(m, s) + F(m, s - 1) +
 *   F(n - m, s - 1). E. Knill, "An analysis of Bennett's pebble game", arXiv:math/9508218 (1995). It needs n <= 2^(s - 1).
 * TREEVERSE: with s snapshots and the fewest sweeps t, C(s + t, s) >= N, a chain is split at the share t / (s + t) of it. A.
 *   Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic differentiation",
 *   Optim. Methods Softw. 1 (1992). Where C(s + t, s) = N it is optimal.
 * REVOLVE: the fewest advances with s snapshots, that of state 0 included: t N - C(s + t, t - 1). A. Griewank, A. Walther,
 *   "Algorithm 799: Revolve", ACM Trans. Math. Softw. 26 (2000).
 * ONLINE: as many steps as it takes, with s snapshots at any time. Q. Wang, P. Moin, G. Iaccarino, "Minimal repetition
 *   dynamic checkpointing algorithm for unsteady adjoint calculation", SIAM J. Sci. Comput. 31 (2009) keep them; the way
 *   back is that of REVOLVE between each two of them. */
#define RVM_SCHEDULE_MAP(X)                                                                                                 \
    X(BENNETT, "bennett", "sectors", "E(1) = 1, E(n) = 2 (E(n1) + ... + E(nk)) - E(nk); (2k - 1)^m where n = k^m")          \
    X(PEBBLE, "pebble", "pebbles", "F(1, s) = 1, F(n, s) = min over m of F(m, s) + F(m, s - 1) + F(n - m, s - 1)")          \
    X(TREEVERSE, "treeverse", "snapshots",                                                                                  \
      "T(n, s, t) = m + T(n - m, s - 1, t) + T(m, s, t - 1), m = t n / (s + t) rounded up; C(s + t, s) >= n")               \
    X(REVOLVE, "revolve", "snapshots", "t n - C(s + t, t - 1), C(s + t, s) >= n")                                           \
    X(ONLINE, "online", "snapshots", "n + the sum of revolve(n_j, s - j) over the stretches between snapshots")

typedef enum rvm_schedule_kind {
#define X(id, name, counts, formula) RVM_SCHEDULE_##id,
    RVM_SCHEDULE_MAP(X)
#undef X
        RVM_SCHEDULE_KIND_COUNT
} rvm_schedule_kind;

/* "bennett"; what its budget counts: "sectors"; its formula, as text. Static strings; "?" outside the enum. Any thread. */
RVM_API const char *rvm_schedule_name(rvm_schedule_kind kind);
RVM_API const char *rvm_schedule_budget_name(rvm_schedule_kind kind);
RVM_API const char *rvm_schedule_formula_text(rvm_schedule_kind kind);
/* Whether its goal is a gradient. */
RVM_API bool rvm_schedule_is_gradient(rvm_schedule_kind kind);

/* ---- moves ---- */

/* state: the number i of a state. Rows are numbers from 0; state 0 begins in row 0, all others are empty. In lists of
 * gradients the last row is the working row, in which states are marched. */
typedef enum rvm_move_kind {
    RVM_MOVE_FORWARD,   /* target, which is empty, becomes state i: the step of source, which holds i - 1, is added to it */
    RVM_MOVE_UNCOMPUTE, /* target, which holds state i, becomes empty: the same step, taken back */
    RVM_MOVE_ADVANCE,   /* target == source holds state i - 1, and is overwritten with state i */
    RVM_MOVE_STORE,     /* target, which is empty, becomes a copy of source, which holds state i */
    RVM_MOVE_RESTORE,   /* target is overwritten, whatever it holds, with a copy of source, which holds state i */
    RVM_MOVE_FREE,      /* target == source, which holds state i, is discarded and empty */
    RVM_MOVE_SWEEP,     /* target == source holds state i - 1: the gradient by state i becomes that by state i - 1 */
    RVM_MOVE_KIND_COUNT
} rvm_move_kind;
RVM_API const char *rvm_move_name(rvm_move_kind kind); /* "forward" ...; "?" outside the enum */

typedef struct rvm_move {
    rvm_move_kind kind;
    uint32_t target, source; /* rows */
    uint32_t state;          /* i; of a graph: the node, from 0 */
} rvm_move;

/* What a list costs. A sweep runs its step once forward and once as an adjoint; that run is not among the evaluations. */
typedef struct rvm_schedule_counts {
    uint64_t moves, evaluations; /* of the step: forward, uncomputed and advanced */
    uint64_t forward, uncomputed, advanced, swept, stored, restored, freed;
    uint64_t erased; /* states overwritten or discarded */
    uint32_t rows;   /* of the pool */
    uint32_t states; /* in rows at a time, at most; state 0 and the one that is marched are among them */
} rvm_schedule_counts;

/* ---- making them ---- */

/* Start from rvm_schedule_options_default(). */
typedef struct rvm_schedule_options {
    uint64_t most_moves; /* LIMIT where a list would be longer; default 2^26, at most 2^32 - 1; a move takes 16 bytes */
    const rvm_allocator *allocator; /* NULL: the C library's; must outlive the schedule */
    /* Called every 2^16 moves made, or positions searched, from the calling thread: how many, and of how many at most, 0
     * where that is not known. May be NULL. A true result cancels. */
    bool (*progress)(void *userdata, uint64_t done, uint64_t of);
    void *userdata;
} rvm_schedule_options;
RVM_API rvm_schedule_options rvm_schedule_options_default(void);

#define RVM_SCHEDULE_MOST_STEPS 0x7fffffff

/* The least budget with which a schedule of so many steps exists; 0 outside the enum, or of no steps. */
RVM_API uint64_t rvm_schedule_least(rvm_schedule_kind kind, uint64_t steps);
/* Evaluations and states by the formula: no list is made. *states: as in rvm_schedule_counts, of PEBBLE, and of gradients,
 * at most so many. Both may be NULL. Of PEBBLE by dynamic programming over the increments of F, which rise with n: of 10^4
 * steps in milliseconds. Errors: USAGE (kind), ARGUMENT (no steps or more than RVM_SCHEDULE_MOST_STEPS; a budget that is too
 * small, naming the least), MEMORY. */
RVM_API rvm_status rvm_schedule_formula(rvm_schedule_kind kind, uint64_t steps, uint64_t budget, uint64_t *evaluations,
                                        uint64_t *states, rvm_error *err);

typedef struct rvm_schedule rvm_schedule;
/* The list. options may be NULL. *out is owned by the caller, NULL on failure. Errors: those of rvm_schedule_formula; LIMIT,
 * naming the length; CANCELLED, MEMORY. */
RVM_API rvm_status rvm_schedule_new(rvm_schedule_kind kind, uint64_t steps, uint64_t budget,
                                    const rvm_schedule_options *options, rvm_schedule **out, rvm_error *err);
RVM_API void rvm_schedule_free(rvm_schedule *s); /* NULL is allowed */
/* The moves, owned by the schedule; *n how many. */
RVM_API const rvm_move *rvm_schedule_moves(const rvm_schedule *s, uint64_t *n);
/* What they cost, as counted when they were replayed. Errors: USAGE. */
RVM_API rvm_status rvm_schedule_count(const rvm_schedule *s, rvm_schedule_counts *out);

/* Replays a list of any origin over so many rows and proves that it is legal: every move finds the states that it needs, and
 * the list ends as its goal says, all other rows empty. *counts may be NULL. Errors: ARGUMENT (steps), CHECK (naming the
 * first move that is wrong, from 0, and why), MEMORY. */
RVM_API rvm_status rvm_schedule_replay(const rvm_move *moves, uint64_t n, uint64_t steps, uint32_t rows, bool gradient,
                                       const rvm_allocator *al, rvm_schedule_counts *counts, rvm_error *err);

/* ---- graphs of steps ----
 * Steps that take several states. Text, a line for each: `d: a b` says that step d takes a and b. What stands behind a colon
 * and before none is an input: always there, and in no row. `out: d e` names what is to be left; without it, what no step
 * takes. Names are any words without spaces, colons and #; # begins a comment. A step may stand before those it takes. */
typedef struct rvm_schedule_graph rvm_schedule_graph;
/* name is for messages, and may be NULL. *out is owned by the caller, NULL on failure. Errors: SYNTAX, NAME (a step twice,
 * an output that is no step), CHECK (steps that take each other), MEMORY; with the line. */
RVM_API rvm_status rvm_schedule_graph_parse(const char *text, size_t size, const char *name, const rvm_allocator *al,
                                            rvm_schedule_graph **out, rvm_error *err);
RVM_API void rvm_schedule_graph_free(rvm_schedule_graph *g); /* NULL is allowed */
/* How many steps; they are numbered so that each comes behind those it takes. */
RVM_API uint32_t rvm_schedule_graph_size(const rvm_schedule_graph *g);
/* Name of step k, owned by the graph, and whether it is to be left; NULL past the last. *output may be NULL. */
RVM_API const char *rvm_schedule_graph_name(const rvm_schedule_graph *g, uint32_t k, bool *output);
/* The steps that step k takes, without inputs; *n how many. */
RVM_API const uint32_t *rvm_schedule_graph_sources(const rvm_schedule_graph *g, uint32_t k, uint32_t *n);

/* Graphs of so many steps at most are searched. */
#define RVM_SCHEDULE_SEARCHED 24
/* A pebbling with so many states at a time, inputs not counted, FORWARD and UNCOMPUTE, that ends with the outputs alone;
 * state of a move is its step, source is 0: rows of what it takes are found by replaying. Up to RVM_SCHEDULE_SEARCHED steps
 * by breadth first search over all sets of states: the fewest moves. Beyond, by the cuts of a chain, and by leaving out what
 * need not be taken back: good, and not the best. *optimal (may be NULL): which. Errors: ARGUMENT (too few, naming the
 * least: of a search the least there is, else the least that was found), LIMIT, CANCELLED, MEMORY. G. Meuli et al.,
 * "Reversible pebbling game for quantum memory management", DATE 2019, state the problem. */
RVM_API rvm_status rvm_schedule_new_of_graph(const rvm_schedule_graph *g, uint64_t budget,
                                             const rvm_schedule_options *options, rvm_schedule **out, bool *optimal,
                                             rvm_error *err);
/* As rvm_schedule_replay, of a graph. */
RVM_API rvm_status rvm_schedule_replay_graph(const rvm_schedule_graph *g, const rvm_move *moves, uint64_t n, uint32_t rows,
                                             const rvm_allocator *al, rvm_schedule_counts *counts, rvm_error *err);

#ifdef __cplusplus
}
#endif
#endif

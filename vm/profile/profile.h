/* profile.h: counts of what runs, by call path and instruction. Not installed; what comes of it is rvm_profile.h.
 *
 * Stretches are counted, not instructions. An array of differences has a place for each instruction of a function and one
 * behind: where control leaves a stretch of straight code [first, behind), which is where it is charged, 1 is added at first
 * and taken away behind it. Prefix sums are how often each instruction ran. What did not run after all is counted and taken
 * back, by the stretch from behind it to itself.
 *
 * The counter goes up or down, and a sweep is on or not: four such arrays, interleaved as tallies of the size of a prepared
 * instruction, so that an address in code and one number, `at`, make the address of what counts there. Going down, first is
 * above behind; places are shifted by one instruction then, and sums have the other sign.
 *
 * Each call path has tallies of its own: the entry, or a path, the call in it and the function called. A function that is on
 * the path already, going the same way, is that path again, so that recursion makes none. */
#ifndef RVM_PROFILE_INSIDE_H
#define RVM_PROFILE_INSIDE_H

#include "machine.h"
#include "origin.h"
#include "rvm_profile.h"

enum rvm__tallied { RVM__UP, RVM__DOWN, RVM__SWEPT_UP, RVM__SWEPT_DOWN, RVM__NOTHING, RVM__TALLIED };
enum { RVM__SWITCHED = RVM__NOTHING };
typedef struct rvm__tally {
    int64_t of[RVM__TALLIED];
} rvm__tally;
_Static_assert(sizeof(rvm__tally) == sizeof(rvm__xinsn), "an offset in code is one among tallies");

/* What native code finds from the tallies of a path: before them the number of the path, behind them for each instruction
 * where it leads as a call, if native code made it, and how often that did. */
typedef struct rvm__path_link {
    rvm__tally *to; /* the callee's; NULL: not yet, or there are several callees */
    uint64_t calls;
} rvm__path_link;
typedef struct rvm__path_head {
    uint64_t number, unused;
} rvm__path_head;

typedef struct rvm__path {
    uint32_t fn, parent, call_pc; /* parent: RVM__NO_PATH of an entry, and of what all paths beyond the limit share */
    uint32_t origin;              /* of a derivative's: the path that it is of the machine that asks (traced.h) */
    uint8_t up;                   /* rvm_profile_mode of the counter going up, outside of compute parts */
    bool tangents, shared;
    rvm__tally *tallies;     /* of each instruction, and one behind */
    rvm_switching *switched; /* with option activity: of each instruction RVM__SWITCHED, by enum rvm__tallied; else NULL */
} rvm__path;

/* From a path, by a call, to the path of what is called. */
typedef struct rvm__path_edge {
    uint32_t from, pc, callee, to;
    uint64_t calls;
} rvm__path_edge;
enum { RVM__NO_PATH = -1, RVM__SHARED_PATH = -2 }; /* as `from` */

/* Of a machine for a derivative. */
typedef struct rvm__profile_source {
    rvm_machine *of;             /* whose program was derived; NULL: it is no such machine */
    const rvm__origins *origins; /* what was noted then */
    bool tangents;
    bool lost; /* something is of no instruction there, or memory was out: it cannot be told */
} rvm__profile_source;

enum { RVM__MOST_SAMPLES = 512, RVM__FIRST_SAMPLES = 64 }; /* the latter: instructions between two of the first */
struct rvm__profile {
    uintptr_t at; /* see above; of the innermost frame, as it runs now */
    rvm__path *paths;
    rvm__path_edge *edges;
    uint32_t *index; /* of edges, by their first three: number + 1, open addressing */
    uint32_t npaths, cap_paths, nedges, cap_edges, cap_index;
    size_t tallied; /* places of all tallies */
    rvm__profile_source source;
    /* What the run holds (memory.c). */
    uint64_t shadows;        /* bytes of local arrays that are shadows */
    uint64_t every;          /* instructions from one sample to the next */
    rvm_profile_memory peak; /* but for the trail's */
    rvm_profile_memory samples[RVM__MOST_SAMPLES];
    uint32_t nsamples;
};

/* False: out of memory. Memory is the allocator's, and not counted with the machine's. */
bool rvm__profile_new(rvm_machine *m);
void rvm__profile_free(rvm_machine *m);
void rvm__profile_reset(rvm_machine *m);

/* A run is about to move: the path of frame 0. Errors: MEMORY. */
rvm_status rvm__profile_enter(rvm_machine *m);
/* The way from nowhere to the path of an entry, made if need be; from a path, by a call; NULL: out of memory. Nothing is
 * counted. How often one was gone; how often each instruction of a path ran, 4 numbers each, by enum rvm__tallied. */
rvm__path_edge *rvm__profile_entry(rvm_machine *m, uint32_t fn, bool tangents);
rvm__path_edge *rvm__profile_edge(const rvm_machine *m, uint32_t from, uint32_t pc, uint32_t callee);
uint64_t rvm__profile_calls(const rvm_machine *m, const rvm__path_edge *e);
void rvm__profile_sums(const rvm__path *path, uint32_t n, uint64_t *to);
/* The innermost frame is about to call: the way to the path of the callee; NULL: out of memory. The call is not counted. */
rvm__path_edge *rvm__profile_call(rvm_machine *m, uint32_t pc, uint32_t callee);

/* Native code is about to call from a path: the tallies of the callee's. `counts`: the call is counted here, since the
 * instruction has several callees; else native code does, in the link. NULL: out of memory. */
rvm__tally *rvm__profile_below(rvm_machine *m, const rvm__tally *from, uint32_t pc, uint32_t callee, bool counts);
static inline uint32_t rvm__profile_number(const rvm__tally *tallies) {
    return (uint32_t)((const rvm__path_head *)tallies)[-1].number;
}
static inline rvm__path_link *rvm__profile_links(const rvm_machine *m, const rvm__path *path) {
    return (rvm__path_link *)(path->tallies + m->p->functions[path->fn].ncode + 1);
}

/* memory.c: the run may hold more than ever; at a poll, or at an end of a run; samples and peaks are of what comes now. */
void rvm__profile_grown(rvm_machine *m);
void rvm__profile_sample(rvm_machine *m);
void rvm__profile_forget_memory(rvm_machine *m);
void rvm__profile_take_peak(rvm_machine *m, const rvm_profile_memory *peak);
void rvm__profile_take_sample(rvm_machine *m, const rvm_profile_memory *h); /* the latest */

/* activity.c: the run, by single steps that `run` makes, with what their writes change counted. */
rvm_status rvm__profile_steps(rvm_machine *m, rvm_status (*run)(rvm_machine *m));

/* The innermost frame, the direction or the sweep is another one. */
static inline void rvm__profile_turn(rvm_machine *m, bool down) {
    const rvm__frame *top = &m->store.frames[m->store.nframes - 1];
    const size_t which = (m->run.sweeping ? RVM__SWEPT_UP : RVM__UP) + (size_t)down;
    const uintptr_t tallies = (uintptr_t)m->profile->paths[top->path].tallies;
    m->profile->at = tallies - (uintptr_t)m->codes[top->fn].x + which * sizeof(int64_t) + (down ? sizeof(rvm__tally) : 0);
}

/* `times` times from `first` on, up to, not including, `behind`, in the direction of the counter. */
static inline void rvm__profile_count(const rvm_machine *m, const void *first, const void *behind, int64_t times) {
    const uintptr_t at = m->profile->at;
    *(int64_t *)((uintptr_t)first + at) += times;
    *(int64_t *)((uintptr_t)behind + at) -= times;
}

/* n trips of a loop around one instruction; left: some are still to come, so that the last end of the loop is, too. */
static inline void rvm__profile_trips(const rvm_machine *m, const rvm__xinsn *body, int step, uint64_t n, bool left) {
    rvm__profile_count(m, body, body + step, (int64_t)n);
    rvm__profile_count(m, body + step, body + 2 * step, (int64_t)(n - left));
}

/* Through a function in the order of the text: where the compute parts end that have begun so far, given where those
 * before this instruction do, 0 at first. An instruction before that end is in one, `do` too. */
static inline uint32_t rvm__compute_end(const rvm_insn *in, uint32_t end) {
    return in->op == RVM_OP_compute && in->target + 1 > end ? in->target + 1 : end;
}
bool rvm__in_compute(const rvm_function *f, uint32_t pc); /* of one alone */

static inline uint8_t rvm__profile_opposite(uint8_t mode) {
    static const uint8_t other[] = {RVM_PROFILE_BACKWARD, RVM_PROFILE_UNDO, RVM_PROFILE_COMPUTE, RVM_PROFILE_FORWARD};
    return other[mode];
}

#endif

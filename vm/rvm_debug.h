/* rvm_debug.h: positions of a run, stops on its way, and copies of where it stands: what debuggers are made of.
 *
 *     rvm_goal g = {.to = {.at = INT64_MAX}, .stops = &(rvm_stop){.fn = fn, .pc = 3}, .nstops = 1};
 *     rvm_arrival how;
 *     if (!rvm_machine_run_to(m, &g, &how, &e) && how.reached == RVM_REACHED_STOP)
 *         printf("instruction 3 is next, at %lld\n", (long long)rvm_machine_position(m).at);
 *
 * Threads: as rvm.h has it; keyframes and timelines belong to the thread of their machine.
 */
#ifndef RVM_DEBUG_H
#define RVM_DEBUG_H

#include "rvm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where a run is, as a number ----
 * In its first leg: instructions forward less instructions backward since the call was bound; 0 at the start, and at the end
 * as many as the run has (rvm_stats.forward). Of a call that was bound at the end: 0 there, and less than 0 before. The
 * second leg, swept, is the backward sweep: instructions swept less those taken back; 0 at the end of the run, and largest
 * at its start. Of one run each number is one state, whichever way it is come to, but for what rounding loses on a way back
 * (docs/semantics.md, section 12), and for places passed to calls that are under way, which hold in the callers what they
 * held where the run came into the call, and for registers that the instances of a parallel block add into, within it.
 * Within a compute part that is forgotten going back leads to where that began. */
typedef struct rvm_run_position {
    bool swept;
    int64_t at;
} rvm_run_position;
/* Of a machine without a bound call: 0. It may be asked for within a run, by conditions and options.progress; native code
 * tells it at its polls. */
RVM_API rvm_run_position rvm_machine_position(const rvm_machine *m);

/* ---- running to somewhere ---- */

/* Where a run is to stop: where that instruction is the one that would run next towards the end (rvm_machine_location of
 * direction 1), whichever way it comes. What stands on the way costs nothing until it is come to. condition, which may be
 * NULL, is then asked whether to stop, in the machine's thread; it may look at the machine, and must not move it. */
typedef struct rvm_stop {
    uint32_t fn, pc;
    bool (*condition)(void *userdata, const rvm_machine *m);
    void *userdata;
} rvm_stop;

/* A place that is watched: of that name (as rvm_machine_variable has it) in the frame at that height, which is the number of
 * frames up to it from the outermost, itself included; an element of an array, or with fewer indices all that have these.
 * The run stops behind the instruction that changes it, by which it appears, or disappears. Running back, that is before the
 * latest change: the last write; of a place passed to a call, before that returns (on a timeline) or before the call. Every
 * instruction is looked at, which takes several times as long. */
typedef struct rvm_watch {
    uint32_t height;
    const char *name;
    bool shadow; /* its shadow, in gradient and tangent mode */
    int nindices;
    int64_t index[RVM_MAX_DIMS];
} rvm_watch;

/* All is borrowed during the call. `at` may lie beyond an end: INT64_MAX, INT64_MIN are the ends of the leg. */
typedef struct rvm_goal {
    rvm_run_position to;
    const rvm_stop *stops;
    uint32_t nstops;
    const rvm_watch *watches;
    uint32_t nwatches;
} rvm_goal;

typedef enum rvm_reached {
    RVM_REACHED_POSITION, /* `to` */
    RVM_REACHED_END,      /* an end of the leg that lies before that */
    RVM_REACHED_STOP,
    RVM_REACHED_WATCH
} rvm_reached;
typedef struct rvm_arrival {
    rvm_reached reached;
    uint32_t index; /* of the stop, the first that applies, or of the watch */
    int end;        /* where the machine stands: 1 behind the function, -1 before it, 0 within */
} rvm_arrival;

/* Run towards a position until that, an end, or a stop. From the first leg to the second through the end of the run; from
 * the second back to the first with options.keep_shadows only. A stop does not apply where the run sets out. With stops, or
 * to a position within, the run is interpreted, native code or not.
 * After an error the machine stands before the instruction that failed, as after rvm_machine_forward; after FUEL and
 * CANCELLED it may go on to either side. options.fuel counts each leg. Fills *out (may be NULL) where the result is OK.
 * Errors: those of rvm_machine_forward, _backward, _sweep; USAGE: a stop at no instruction. */
RVM_API rvm_status rvm_machine_run_to(rvm_machine *m, const rvm_goal *goal, rvm_arrival *out, rvm_error *err);

/* ---- keyframes: what a bound run is at one position ----
 * Kept: frames, local arrays, trail, stack, records of exact runs, position; and of the arrays that the caller lent the
 * elements, values and shadows. Not kept: statistics. Of the machine's memory (options.memory). */
typedef struct rvm_keyframe rvm_keyframe;
/* Errors: USAGE (no call is bound), UNSUPPORTED (with option profile, while a Hessian is swept, or where the run can go
 * neither on nor back), MEMORY. *out is NULL on failure, and is to be freed before m. */
RVM_API rvm_status rvm_keyframe_new(rvm_machine *m, rvm_keyframe **out, rvm_error *err);
RVM_API void rvm_keyframe_free(rvm_keyframe *k); /* NULL is allowed */
RVM_API rvm_run_position rvm_keyframe_position(const rvm_keyframe *k);
RVM_API size_t rvm_keyframe_size(const rvm_keyframe *k); /* bytes */
/* The machine is where it was, and so are the elements of the caller's arrays and its scalars.
 * Errors: USAGE (m is another machine, or another call has been bound since), MEMORY: then nothing is bound. */
RVM_API rvm_status rvm_keyframe_restore(const rvm_keyframe *k, rvm_machine *m, rvm_error *err);

/* Another machine of the same program and options, but without a profile and native code, that stands where m does; from
 * there each goes its own way. Shared with m: the program, the allocator, and userdata of the options. Copied: all that a
 * keyframe keeps, and with what the end of the way back is compared. args, as many as are bound: what the other machine is
 * bound to, of the same types, shapes and strides as those of m; their values, elements and shadows are overwritten by those
 * of m. args NULL: memory of the machine's own, to be read by rvm_machine_bound. m without a bound call: neither is.
 * Errors: as rvm_keyframe_new; ARGUMENT, SHAPE, ALIAS as rvm_machine_bind. */
RVM_API rvm_status rvm_machine_clone(rvm_machine *m, rvm_arg *args, rvm_machine **out, rvm_error *err);

/* ---- timelines: seeks in a run ----
 * Keeps keyframes on the way, evenly spaced; when there are too many, every other one goes. All ways lead forward, from a
 * keyframe or from where the machine stands, so that a position is the same, bit for bit, as in a run straight there,
 * whatever rounds on a way back. */
typedef struct rvm_timeline rvm_timeline;
/* m stands where it was bound, and is borrowed; it may be moved otherwise too, but not be bound again. memory: bytes of
 * keyframes, at most; 0: 256 MiB. *out is NULL on failure, and is to be freed before m. Errors: USAGE, those of
 * rvm_keyframe_new. */
RVM_API rvm_status rvm_timeline_new(rvm_machine *m, size_t memory, rvm_timeline **out, rvm_error *err);
RVM_API void rvm_timeline_free(rvm_timeline *t); /* NULL is allowed */
/* As rvm_machine_run_to, keeping keyframes, and in the second leg, and out of it, back without options.keep_shadows too.
 * What a run back would stop at first is found as the last of what runs forward stop at. */
RVM_API rvm_status rvm_timeline_run_to(rvm_timeline *t, const rvm_goal *goal, rvm_arrival *out, rvm_error *err);
/* To a position. Errors of both: those of rvm_machine_run_to; then m stands somewhere on the way. */
RVM_API rvm_status rvm_timeline_seek(rvm_timeline *t, rvm_run_position to, rvm_arrival *out, rvm_error *err);
RVM_API uint32_t rvm_timeline_keyframes(const rvm_timeline *t); /* how many there are */

#ifdef __cplusplus
}
#endif
#endif

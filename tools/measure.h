/* measure.h: rvm schedule --measure: a step run by schedules, for real: instructions, memory, erased bits, time. */
#ifndef RVM_TOOLS_MEASURE_H
#define RVM_TOOLS_MEASURE_H

#include "profiled.h"
#include "scheduled.h"

enum { MEASURED_RUNS = 64, MEASURED_NAME = 80 };
enum { INTERPRETED, NATIVELY, MEASURED_ENGINES };

/* A run of all steps. */
typedef struct measured {
    char name[MEASURED_NAME]; /* "irreversible", "trail", "gradient by trail", "bennett:4" */
    bool scheduled, listed;   /* by `by`; by a list from a file */
    bool gradient;
    scheduled by;
    rvm_schedule_counts list; /* of its moves; of a run without a schedule 0 */
    uint64_t instructions, classes[RVM_CLASSES];
    uint64_t bytes, erased;           /* memory at most; bits */
    double seconds[MEASURED_ENGINES]; /* of the processor; NAN: not measured */
    double off; /* the largest |difference| of any engine from the run without a schedule, over max(1, |value|) */
} measured;

typedef struct measurement {
    tool *t;
    const char *step;        /* its name */
    uint64_t steps, numbers; /* of a state, integers among them */
    uint32_t parts;          /* parameters that a state is */
    bool in_place;           /* the step overwrites, and is lifted */
    bool engines[MEASURED_ENGINES];
    measured run[MEASURED_RUNS];
    int n;
} measurement;
/* measure.c: the command. */
rvm_status measure_command(tool *t);
/* measure_step.c: opens the program, finds the step, and adds the functions that run it, of these names; values are read
 * into t->v, of `march`: the parts of y, env, steps. USAGE where the step has another shape. */
rvm_status measure_open(measurement *m, bool gradients);
#define MEASURED_MARCH    "rvm_measured_march"
#define MEASURED_RUN      "rvm_measured_run"
#define MEASURED_TRAIL    "rvm_measured_trail" /* the gradient by the trail */
#define MEASURED_GRADIENT "rvm_measured_gradient"
/* measure_run.c: without a schedule (moves NULL), or by a list: fills *r, whose name and kind are there. trail: what is
 * overwritten is kept. expected: NULL, or numbers that the end, or the gradient, is compared with; end: NULL, or where these
 * go. */
typedef struct measured_task {
    const rvm_move *moves;
    uint64_t nmoves;
    bool trail;
    const double *expected;
    double *end;
} measured_task;
rvm_status measure_run(measurement *m, const measured_task *task, measured *r);
/* Where the run by the trail stands in run[], which has the irreversible run first; -1: there is none. */
int measured_trail(const measurement *m, bool gradient);
/* Instructions over those of the irreversible run; log of that over log of the steps, which NiLang's second paper calls the
 * uncomputing level, NAN of one step. */
double measured_times(const measurement *m, const measured *r);
double measured_level(const measurement *m, const measured *r);

/* measure_show.c, measure_plot.c: printers (profiled.h), of a measurement. */
bool measured_text(FILE *out, const void *what);
bool measured_csv(FILE *out, const void *what);
bool measured_plot(FILE *out, const void *what); /* time against space, beside the formulas */
void measured_json(json *j, const measurement *m);

#endif

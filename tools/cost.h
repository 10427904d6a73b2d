/* cost.h: what counted runs cost by models of technologies: what rvm cost prices, and how it is printed and drawn. */
#ifndef RVM_TOOLS_COST_H
#define RVM_TOOLS_COST_H

#include "chart.h"
#include "profiled.h"
#include "rvm_coprocessor.h"
#include "rvm_schedule.h"

enum { COST_MODELS = 5, COST_RUNS = 96, COST_POINTS = 25 };

/* A run, or counts from a file. */
typedef struct costed {
    char name[300];
    rvm_counts *counts; /* NULL: there is none */
    bool scheduled;     /* by this schedule: */
    rvm_schedule_kind kind;
    uint64_t budget;
} costed;

/* A number of the models from low to high, in COST_POINTS steps of equal ratio. RVM_MODEL_KEYS: none. */
typedef struct sweep {
    rvm_model_key key;
    double low, high;
} sweep;

typedef struct cost {
    tool *t;
    int nmodels;
    const char *origin[COST_MODELS];                    /* by which name, or from which file */
    rvm_model *model[COST_MODELS], *other[COST_MODELS]; /* other: of the irreversible machine; may be the model itself */
    sweep sweep;
    costed run, against; /* against: the irreversible run */
    costed list[COST_RUNS];
    int n;
} cost;

/* cost_models.c: models by --model, with the numbers of --clock and --set. USAGE, ARGUMENT, NAME; of files IO, FORMAT. */
rvm_status cost_models_open(cost *c);
void cost_models_close(cost *c);
/* What a run costs by model k, the swept number being point i (-1: not swept); by the model of its irreversible machine. */
rvm_status cost_price(const cost *c, int k, const costed *run, int i, rvm_price *out);
rvm_status cost_price_against(const cost *c, int k, rvm_price *out);
double cost_point(const sweep *s, int i);
/* The clock of least energy where the clock is swept; whether that is within the range, not at an end of it. */
rvm_status cost_best(const cost *c, int k, const costed *run, rvm_price *out);
bool cost_best_is_inside(const cost *c, const rvm_price *best);

/* cost_models.c: what writes changed, of all kinds. */
rvm_switching cost_switching(const rvm_counts *c);

/* cost_runs.c: c->run, c->against and c->list, by the command's words and options. */
rvm_status cost_runs(cost *c);
void cost_runs_free(cost *c);

/* Parts of a price, as tables and pictures have them. */
#define COST_PARTS(X)                                                                                                       \
    X(ARITHMETIC, "arithmetic")                                                                                             \
    X(INSTRUCTIONS, "instructions")                                                                                         \
    X(REGISTERS, "registers")                                                                                               \
    X(MEMORY, "memory")                                                                                                     \
    X(TRANSFERS, "transfers")                                                                                               \
    X(LEAKAGE, "leakage")                                                                                                   \
    X(ERASURE, "erasure")
enum cost_part {
#define X(id, name) PART_##id,
    COST_PARTS(X)
#undef X
        COST_PART_COUNT
};
const char *cost_part_name(int part);
double cost_part(const rvm_price *p, int part);

/* Printers (profiled.h), of a cost. */
bool cost_text(FILE *out, const void *what);
bool cost_csv(FILE *out, const void *what);
bool cost_plot(FILE *out, const void *what); /* over what is swept, against memory, or by part */
void cost_json(json *j, const cost *c);      /* members of the open object */

#endif

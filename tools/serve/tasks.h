/* tasks.h: what a worker does for a message: everything that touches bytes of others happens behind these. */
#ifndef RVM_SERVE_TASKS_H
#define RVM_SERVE_TASKS_H

#include "frame.h"
#include "live.h"
#include "tool.h"

#include <jansson.h>

/* What a request may ask for at most. */
typedef struct work_limits {
    uint64_t fuel, memory;
    double seconds;
} work_limits;

/* Told beside the texts of an answer. program: the one that a run was of. */
typedef struct outcome {
    uint32_t status; /* rvm_status */
    char kind[16], fn[128];
} outcome;

/* One job. The hook is asked about every million instructions: true ends the run. */
typedef struct work {
    part in[FRAME_PARTS];
    work_limits limits;
    rvm_jit *jit; /* of the worker; NULL: it interprets */
    live *live;
    struct session **session; /* that the worker is for */
    bool (*hook)(struct work *w);
    void *userdata;
    /* Set by what is done: */
    outcome out;
    char *text, *more; /* JSON or another text; bytecode or a profile; malloc'd */
    size_t text_size, more_size;
    char need[40];    /* a run of a program that is not at hand: its id; then there is nothing else */
    double seconds;   /* of the request: the time limit */
    bool out_of_time; /* the hook ended it for that */
} work;

void work_free(work *w);

/* assemble.c: an upload: name, real, type ("" or "json": files by name), bytes. */
void work_assemble(work *w);
/* running.c: a run: the request's JSON, id, bytecode and name of the program that is at hand. */
void work_run(work *w);
/* request.c: fills words and options of a tool from the request. Texts that had to be made are kept in *texts. */
typedef struct text_pool {
    char **item;
    size_t n, room;
} text_pool;
rvm_status request_read(tool *t, json_t *request, const work_limits *most, double *seconds, text_pool *texts);
void text_pool_free(text_pool *p);
/* What a message about a run of a program begins with: whether the program at hand is the one that the request names (else
 * w->need names that); its bytes (false: out of memory) and its name. */
enum { WORK_NAME = 256 };
bool work_at_hand(work *w, const json_t *request);
bool work_copy_program(const work *w, tool *t);
void work_program_name(const work *w, char name[WORK_NAME]);
/* The time limit, and a cancel, come as the same: *e tells them apart. */
void work_name_limit(const work *w, rvm_status st, rvm_error *e);
/* t->command and the direction, by the name of a kind; NULL: run. by_words: also kinds of commanded.h alone. */
rvm_status request_kind(tool *t, const json_t *v, bool by_words);
/* exports.c: a profile, as JSON, in another format; two of them compared; a listing of a program. */
void work_export(work *w);
void work_compare(work *w);
void work_listing(work *w);

/* Something went wrong before there was a program, or beside one: as the JSON of an error. */
void work_fail(work *w, rvm_status st, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

/* session.h: a run that stands still between messages, in a worker of its own: time travel. */
#ifndef RVM_SERVE_SESSION_H
#define RVM_SERVE_SESSION_H

#include "expression.h"
#include "tasks.h"

#include <rvm_debug.h>

enum { SESSION_STOPS = 256 };

/* A stop: an instruction at which a line begins, and the condition of that line, if it has one. */
typedef struct session_stop {
    struct session *of;
    uint32_t fn, pc, line;
    expression condition;
} session_stop;

typedef struct session {
    tool t;  /* first: a poll finds the rest from its progress */
    work *w; /* the message that is worked on */
    json_t *request;
    text_pool texts;
    char name[WORK_NAME];
    char *words[2];
    rvm_timeline *timeline;
    session_stop *stops;
    uint32_t nstops;
    uint64_t steps; /* single ones, of the message at hand */
    char why[300];  /* a condition cannot be told, so the run stopped */
} session;

/* work_open makes w->session: a run (kind run), or a run with its sweep behind it (kind grad), bound at its start. */
void work_open(work *w);
/* What is asked of it: a verb and its JSON. */
void work_session(work *w);

/* session_show.c: members of the open object. how: NULL, or how a move ended. */
void session_position(json *j, const session *s, const rvm_arrival *how);
void session_frames(json *j, const session *s);
/* Places of a frame, all or those of a list of names, which is NULL or a JSON array. */
void session_places(json *j, const session *s, uint32_t frame, const json_t *names);
/* session_move.c: going somewhere; a position that a request names. Errors of all these are in s->t.err. */
rvm_status session_move(session *s, const json_t *v, rvm_arrival *how);
rvm_status session_read_to(session *s, const json_t *to, const json_t *swept, rvm_run_position *out);
/* session_lines.c: to where a line begins, so many lines on, or back if negative. */
rvm_status session_lines(session *s, int64_t lines, rvm_arrival *how);
/* session_stops.c: a number, 0 if it is left out, `none` for one that is out of range; sets stops; runs to the next one;
 * instructions at which a line begins: their number. */
uint32_t session_number(const json_t *v, uint32_t none);
rvm_status session_stops(session *s, const json_t *v);
rvm_status session_run(session *s, rvm_run_position to, rvm_arrival *how);
uint32_t session_line(const session *s, uint32_t line, rvm_stop to[SESSION_STOPS]);
/* session_log.c */
rvm_status session_log(session *s, const json_t *v, json *j);

#endif

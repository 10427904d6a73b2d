/* check.h: the table that rvm check prints, between the files that fill it. */
#ifndef RVM_TOOLS_CHECK_H
#define RVM_TOOLS_CHECK_H

#include "tool.h"

enum { MAX_ROWS = 4 + 2 * RVM_MAX_PARAMS, MAX_POINTS = 20 };

enum outcome { FAILED, PASSED, SKIPPED };

typedef struct row {
    const char *check;
    char what[80], worst[200], note[800];
    enum outcome outcome;
    double got, expected, ratio; /* of the worst; ratio: its error in terms of what is allowed */
} row;

typedef struct check {
    tool *t;
    bool wrt[RVM_MAX_PARAMS + 1];    /* parameters to move */
    bool active[RVM_MAX_PARAMS + 1]; /* those, and the reals that the function writes */
    bool single;                     /* something is computed in f32, by the function or by what it calls */
    values out;                      /* what the function makes of t->v */
    values tangent;                  /* its shadows: J v */
    values gradient;                 /* its shadows: J'w */
    row rows[MAX_ROWS];
    size_t n;
    rvm_nonsmooth_point points[MAX_POINTS];
    uint32_t npoints; /* all that there are */
} check;

/* check.c */
row *check_add_row(check *c, const char *name, const char *format, const char *what);
bool check_is_limit(rvm_status status); /* or a cancellation: what ends a command, whatever it runs */
/* A run has failed, or not (status OK): a limit and a cancellation end the command, so that they come back, in t->err; any
 * other failure is the row's. */
rvm_status check_run(check *c, row *r, rvm_status status, const rvm_error *e);
/* Fills c->single. False: out of memory. */
bool check_find_single(check *c);
/* What transposes may be apart, relative to their size. */
double check_transpose_tolerance(const check *c);

/* check_entries.c: a sample of the Jacobian by sweeps against the same by tangents; where derivatives end. */
rvm_status check_entries(check *c);
rvm_status check_cuts(check *c);
/* Whether a row meets a point without a derivative by that parameter. */
bool check_meets_corner(const check *c, uint32_t param);

#endif

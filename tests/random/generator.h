/* generator.h: what the files of the generator share. generate.h says what makes a program run without an error.
 *
 *   scope.c          text, variables, places
 *   expressions.c    values
 *   statements.c     statements without a block
 *   blocks.c         statements with one
 *   calls.c          functions, function values, their arguments
 *   generate.c       which statements there are; programs
 */
#ifndef RVM_TEST_GENERATOR_H
#define RVM_TEST_GENERATOR_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "harness.h"

enum { MAX_VARS = 60, MAX_PARAMS = 9, MAX_FUNCTIONS = 5, MAX_DEPTH = 3, MAX_COST = 2500, AXIS = 4 };

typedef uint64_t set; /* of variables, by number */

typedef enum sort { PLAIN, COMPLEX, LOGARITHM, VALUE } sort;
typedef enum role { OWN, READ, ACC } role;

typedef struct variable {
    char name[32];
    sort sort;
    rvm_type type; /* of its parts */
    int ndim;      /* 0, 1, 2 */
    int shape;     /* VALUE: the number of the first function of its type */
    bool readable;
    bool summed; /* only added to */
    int index;   /* a parallel block owns only the elements with this index; -1: all */
    int locks;
} variable;

typedef struct parameter {
    sort sort;
    rvm_type type;
    int ndim, shape;
    role role;
} parameter;

/* What a function, and all that it calls, does with what outlives a call. */
typedef struct effects {
    bool stack;        /* pushes */
    bool leaves_stack; /* and does not pop again */
    bool leaves_trail;
    bool calls_values; /* function values, or what does */
} effects;

typedef struct signature {
    char name[32];
    int n, cost;
    int shape; /* the first function of the same type, whose effects all others keep to */
    parameter param[MAX_PARAMS];
    effects effects;
} signature;

typedef struct generator {
    rng r;
    FILE *out;
    int indent, names, depth, cost, weight; /* cost: instructions so far, weighted by the loops around */
    variable vars[MAX_VARS];
    int nvars;
    set touched;
    bool in_compute;    /* directly in a compute part: what appears there is taken back, and may change */
    bool in_parallel;   /* inside a parallel block */
    effects done, fair; /* of the present function so far; which may be had here */
    signature functions[MAX_FUNCTIONS];
    int nfunctions;
} generator;

/* ---- scope.c ---- */
void put(generator *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void line(generator *g);
bool chance(generator *g, uint32_t one_in);
/* Text goes to a buffer between the two; what is returned is to be freed. */
typedef struct capture {
    FILE *out;
    char *text;
    size_t size;
} capture;
void capture_begin(generator *g, capture *c);
char *capture_end(generator *g, capture *c);

set bit(int k);
int declare(generator *g, sort s, rvm_type type, int ndim);
bool full(const generator *g);
void lock(generator *g, set which, int by);
void hide(generator *g, set which, bool readable);
/* A random variable that fits, or -1. ndim: of the whole, 0 a scalar, -1 anything of which an element is a scalar. A part of
 * a complex variable is a scalar. */
int pick(generator *g, rvm_type type, set except, bool write, int ndim);
int pick_sort(generator *g, sort s, rvm_type type, set except, bool write, int ndim);
int pick_any(generator *g, bool write, int ndim); /* of any type and sort, but no function value */
/* As a place of its sort, itself or an element; a part, where it is complex. */
void put_whole(generator *g, int k, set except);
void put_place(generator *g, int k, set except);
char *whole_text(generator *g, int k, set except); /* to be freed */
void put_type(generator *g, sort s, rvm_type type);

/* ---- expressions.c: nothing in `except` is read ---- */
rvm_type any_type(generator *g);
void leaf(generator *g, rvm_type type, set except);
void bounded(generator *g, rvm_type type, set except, int depth); /* between -2 and 2 */
void increment(generator *g, rvm_type type, set except);          /* what may be added to a place of the type */
void value(generator *g, sort s, rvm_type type, set except);      /* what may be written to it */
/* Each emits by its kind and returns what was read; what was touched before stays touched. */
set condition(generator *g, set except);
set bound(generator *g);

/* ---- statements: false when this one is not possible here ---- */
typedef bool statement(generator *g);
statement update, in_place, two_places, accumulate, overwrite, discard, garbage, local, assertion; /* statements.c */
statement branch, flagged_branch, forgetful_branch, counted, conditional_loop, forgetful_loop, region,
    instances, /* blocks.c */
    stacked, unchecked;
statement call, local_value, there_and_back; /* calls.c */

/* ---- generate.c ---- */
void block(generator *g, int statements);

/* ---- calls.c ---- */
void function(generator *g, const char *name, int params, int statements);

#endif

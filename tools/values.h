/* values.h: the arguments of a run: from name=value words, with shapes inferred; copies. */
#ifndef RVM_TOOLS_VALUES_H
#define RVM_TOOLS_VALUES_H

#include "elements.h"
#include "reading.h"

typedef struct values {
    uint32_t n;
    const rvm_program *program;
    uint32_t fn;
    rvm_param_info *info;              /* names are the program's */
    rvm_arg *arg;                      /* data and shadow_data are owned */
    bool left_out[RVM_MAX_PARAMS + 1]; /* by parameter: it was not given, and is 0 */
} values;

/* shown.c: complex and lns parameters, as users write them: by the name z, where the program has z.re and z.im; y for y.log.
 */
enum shown {
    SHOWN_PLAIN = RVM_COMPONENT_WHOLE,
    SHOWN_COMPLEX = RVM_COMPONENT_RE, /* i is the real part */
    SHOWN_PART = RVM_COMPONENT_IM,    /* the imaginary part of another */
    SHOWN_LNS = RVM_COMPONENT_LOG
};
enum { COMPLEX_TEXT = 96 };
enum shown values_shown(const values *v, uint32_t i, uint32_t *other); /* *other: the other part of a complex */
void values_shown_name(const values *v, uint32_t i, char *text, size_t size);
int values_find_shown(const values *v, const char *name, int length); /* a complex or lns of this name, or -1 */
void complex_text(rvm_type t, rvm_scalar re, rvm_scalar im, char text[COMPLEX_TEXT]);
/* False: as exp(X), since no decimal of a double reads back so. */
bool lns_text(rvm_type t, rvm_scalar logarithm, char text[40]);
rvm_status complex_parse(rvm_type t, const char **at, rvm_scalar part[2], rvm_error *err);
rvm_status lns_parse(rvm_type t, const char **at, rvm_scalar *out, rvm_error *err);

/* literal.c: the value of one parameter from the text behind its `=`, which may name a file. *a gets type, shape and data.
 * ARGUMENT, SHAPE (ragged, or other than ndim dimensions), MEMORY; of a file: IO, FORMAT, TYPE, VERSION. */
rvm_status literal_read(reading *source, const rvm_param_info *p, const char *text, rvm_arg *a, rvm_error *err);
/* The same of an lns, or of a complex, whose imaginary part goes to *im. */
rvm_status literal_read_shown(reading *source, enum shown kind, const rvm_param_info *p, const char *text, rvm_arg *a,
                              rvm_arg *im, rvm_error *err);

/* Every word is name=value. ARGUMENT (unknown, repeated, missing, not a value), SHAPE (lengths disagree), and those of
 * literal_read. What a function only accumulates into may be missing and is 0, and so may
 * the shadows of a derived function. */
rvm_status values_read(values *v, reading *r, uint32_t fn, char **words, int n, rvm_error *err);
void values_free(values *v);
/* What was left out is fresh in the run that comes; behind it a sum of nothing is 0 again. */
void values_begin_fresh(values *v);
void values_end_fresh(values *v);
/* Values, not shadows; arrays become row-major. MEMORY. */
rvm_status values_copy(values *to, const values *from, rvm_error *err);
/* The same with shadows, of what has one. MEMORY. */
rvm_status values_copy_all(values *to, const values *from, rvm_error *err);
/* Values of `from` into the storage of `to`, of the same shapes. */
void values_assign(values *to, const values *from);
void values_assign_all(values *to, const values *from); /* and shadows, of what has one in both */
/* Parameter by name (length < 0: all of it), or -1 with ARGUMENT naming the nearest. */
int values_find(const values *v, const char *name, int length, rvm_error *err);
/* "x", "x[1, 2]" */
void values_element_name(const values *v, uint32_t i, size_t k, char *text, size_t size);
/* "x" (a scalar) or "x[1, 2]" to parameter and element number. ARGUMENT, INDEX. */
rvm_status values_find_element(const values *v, const char *text, uint32_t *i, size_t *k, rvm_error *err);
/* The name of the function that scalar i is, or NULL: it is none. */
const char *values_function(const values *v, uint32_t i);
/* Splits "x,y" and marks those parameters in set[n], which must be real. NULL: all reals. ARGUMENT. */
rvm_status values_select(const values *v, const char *names, bool *set, rvm_error *err);

/* compare.c: how far two sets of values are apart, against what is allowed: i64 and fix exactly, f64 within
 * tol * max(1, |x|); NaN equals NaN. worst is the element with the largest error in terms of its allowance. */
typedef struct difference {
    bool same;
    uint32_t param;
    size_t element;
    double error;
} difference;
difference values_compare(const values *a, const values *b, double tol);

#endif

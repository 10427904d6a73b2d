/* transform.h: the inverse, the tangent and the adjoint of a function, as functions of the same program. Not installed;
 * rvm_program.h has rvm_program_transform and rvm_program_derive.
 *
 *   f'inv          f run backward
 *   f'tan          f with x_d beside every active real x
 *   f'adj          the backward sweep: from f's outputs y, y_b to its inputs x, x_b
 *   f'grad         call f, then f'adj: values as after f'adj, that is as before f
 *
 * Parameters are those of f, in order, each active one followed by its shadow of the same shape. Transforms nest. The rules
 * of every instruction stand in derive_*.c; those of updates are made from rows.def and families.def by the words of
 * code_words.h, those of changes in place from inplace.def.
 */
#ifndef RVM_TRANSFORM_H
#define RVM_TRANSFORM_H

#include "program.h"

extern const char *const rvm__transform_tick[RVM_TRANSFORM_COUNT]; /* "inv", "tan", "adj", "grad" */
int rvm__transform_find(const char *tick, size_t length);          /* which of them, or -1 */

/* Nested ticks of a name, at most; also the levels of trails. */
enum { RVM_MAX_ORDER = 12 };

/* Declare a function derived from fn: its name and its parameters; no code yet, so that calls to it can be made. active: by
 * parameter of fn, nonzero where it gets a shadow; NULL: every real. *out is the same for the same request. fn may itself be
 * a declared one. The name is f'adj, or where not every real is active f'adj'wrt'out'x. A rule of the program
 * (rvm_rule) with the same parameters is taken as it is; one with more is called, with shadows of 0 for the others, as is
 * one backward for the derivative of f'inv. So is a function of that name that is there already. Shadows of parameters
 * are named x_b or x_d, with a number behind where that is taken. Errors: UNSUPPORTED (an integer parameter is active, with
 * its name; nested deeper than RVM_MAX_ORDER), MEMORY. */
rvm_status rvm__transform_declare(rvm_program *p, uint32_t fn, rvm_transform kind, const uint8_t *active, uint32_t *out,
                                  rvm_error *err);

/* What fn was made of by rvm__transform_declare: active has a byte for each parameter of `of`. False: it was not. */
bool rvm__transform_of(const rvm_program *p, uint32_t fn, rvm_transform *kind, uint32_t *of, const uint8_t **active);

enum { RVM__SHOWN = 256 };
/* As a program calls it, f'adj[x, z], where the name tells more: how it was derived. Cut to size, which is not 0. */
void rvm__shown_name(const rvm_program *p, uint32_t fn, char *text, size_t size);

/* Write the code of all declared functions, and of all that they call. p need not be verified: functions are verified as far
 * as they must be to be transformed, and p is verified as a whole at the end. Errors: what the verifier says; UNSUPPORTED:
 * a function that calls its own derivative; an active set that leaves out a parameter whose value depends on it, with the
 * names of both; an instruction without the derivative, with its line. p is then incomplete: free it. */
rvm_status rvm__transform_resolve(rvm_program *p, rvm_error *err);

/* The name of the shadow of what is called `of`, x_d of a tangent and else x_b, with a number behind where it is taken;
 * cut to size. Its length, as of snprintf. */
int rvm__shadow_name(const char *of, rvm_transform kind, bool (*is_taken)(const void *by, const char *name), const void *by,
                     char *text, size_t size);

/* Marks the parameter of that name; of a complex and of a lns, its parts. Errors: ARGUMENT: there is none; it is an i64. */
rvm_status rvm__transform_mark(const rvm_function *f, const char *name, size_t length, uint8_t *active, rvm_error *err);

/* The function g of which fn is g'grad, by its name and parameters, as it then stands in files, too; or -1. values: by
 * parameter of fn, whether it is one of g's; the others are shadows. */
int64_t rvm__gradient_of(const rvm_program *p, uint32_t fn, uint8_t values[RVM_MAX_PARAMS]);
/* Whether it is an adjoint, or derived from one: such a function goes back over what another did. */
bool rvm__is_adjoint(const rvm_program *p, uint32_t fn);

/* A copy of p that may grow, made with another allocator if need be; not verified. Errors: MEMORY; *out is NULL then. */
rvm_status rvm__program_copy(const rvm_program *p, const rvm_allocator *al, rvm_program **out, rvm_error *err);

/* Whether fn was declared and has no code yet. */
static inline bool rvm__is_pending(const rvm_function *f) {
    return f->ncode == 0;
}

#endif

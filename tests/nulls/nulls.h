/* nulls.h: every public function, with NULL for each of its pointers and a number that is none for each of its kinds. Prints
 * "function parameter" for each that was tried; nulls.sh compares that with what the headers declare and librvm.so exports,
 * so that a function that is new fails until it stands here: a file for each header. Linked with librvm.so as users'
 * programs are.
 */
#ifndef NULLS_H
#define NULLS_H

#include <string.h>

#include "rvm.h"

extern int failures;
extern rvm_error e;
extern rvm_program *p;    /* with f(y: f64, x: f64[n]), number fn */
extern rvm_program *made; /* is NULL after a refusal */
extern rvm_machine *m;
extern uint32_t fn, index_;
extern double x[2];
extern const int64_t shape[1];
extern rvm_arg args[2]; /* of f */

void set_arguments(void);
bool is_cleared(void); /* `made`; and sets it again */
void tried(const char *function, const char *param, bool good, const char *what);
void refused(const char *function, const char *param, rvm_status status);
void none(const char *function, const char *param, rvm_status status);

/* NULL is USAGE, and the message names the parameter. */
#define REFUSED(fn, param, ...) refused(#fn, #param, (memset(&e, 0, sizeof e), fn(__VA_ARGS__)))
/* The same of a function that tells nobody why. */
#define NO_MESSAGE(fn, param, ...) tried(#fn, #param, fn(__VA_ARGS__) == RVM_ERR_USAGE, "USAGE")
/* A kind of number 99 is USAGE. */
#define NO_KIND(fn, param, ...) none(#fn, #param, (memset(&e, 0, sizeof e), fn(__VA_ARGS__)))
/* The error is asked of nobody. */
#define UNTOLD(fn, ...) tried(#fn, "err", fn(__VA_ARGS__) == RVM_ERR_USAGE, "USAGE without an rvm_error")
/* NULL means something there. */
#define ALLOWED(fn, param, ...)                                                                                             \
    tried(#fn, #param, (memset(&e, 0, sizeof e), fn(__VA_ARGS__)) == RVM_OK, e.message[0] ? e.message : "not OK")
/* A call without a status, and what holds then. */
#define HARMLESS(fn, param, condition) tried(#fn, #param, condition, #condition)

/* By header; counting: has run with a profile. */
void try_program(void);
void try_asm(void);
void try_rvm(void);
void try_profile(const rvm_machine *counting);
void try_debug(void);
void try_schedule(void);
void try_coprocessor(void);
void try_derivatives(void);
void try_jit(void);
void try_cuda(void);

#endif

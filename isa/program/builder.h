/* builder.h: how the assembler, the decoder and the transforms make programs; function values. Not installed. */
#ifndef RVM_BUILDER_H
#define RVM_BUILDER_H

#include "program.h"

/* All return an index, or -1 when out of memory or past a limit of the format ----
 * Names of functions are words ([A-Za-z_][A-Za-z0-9_']*) without repetition, those of parameters and symbols place names: -1
 * else.
 * A file added twice is one file. */
rvm_program *rvm__program_new(const rvm_allocator *al);
bool rvm__is_word(const char *name, size_t length);
bool rvm__is_place_name(const char *name, size_t length); /* words with points between: z.re, s.z.re */
int64_t rvm__program_find(const rvm_program *p, const char *name, size_t length); /* function or -1 */
int64_t rvm__program_add_file(rvm_program *p, const char *name);
int64_t rvm__program_add_function(rvm_program *p, const char *name, size_t length);
int64_t rvm__function_add_register(const rvm_program *p, rvm_function *f, rvm_type t);
/* Constants number from 0 here and become slot nregs + k: while building, refer to constant k as RVM_BUILD_CONST + k in
 * places and params, and call rvm__function_finish once all registers are known. Equal constants share one. */
enum { RVM_BUILD_CONST = 1 << 15 };
/* What a sum begins with, so that it is its first term: -0, since -0 + x is x for every x; of integers and fix 0. */
static inline rvm_value rvm__sum_start(rvm_type t) {
    return rvm__is_floating(t) ? (rvm_value){.f = -0.0} : (rvm_value){.i = 0};
}
int64_t rvm__function_add_const(const rvm_program *p, rvm_function *f, rvm_type t, rvm_value v);
int64_t rvm__function_find_const(const rvm_function *f, rvm_type t, rvm_value v); /* -1: there is none */
int64_t rvm__function_add_array(const rvm_program *p, rvm_function *f, rvm_type t, int ndim);
int64_t rvm__function_add_param(const rvm_program *p, rvm_function *f, const rvm_param *param, const char *name,
                                size_t length);
int64_t rvm__function_add_symbol(const rvm_program *p, rvm_function *f, const rvm_symbol *s, const char *name,
                                 size_t length);
/* Appends an instruction and a copy of its places; returns its pc. */
int64_t rvm__function_emit(const rvm_program *p, rvm_function *f, rvm_op op, rvm_row row, uint8_t flags, uint32_t target,
                           const rvm_place *places, uint32_t nplaces, rvm_position at);
/* The instructions from `from` on, which control does not leave, become the inverse of what they are. */
void rvm__function_turn(rvm_function *f, uint32_t from);
void rvm__function_finish(rvm_function *f); /* once; also sorts the symbols by rvm__symbol_compare */
int rvm__symbol_compare(const void *a, const void *b);

/* ---- derivatives written by hand (rules.c) ----
 * add: false: out of memory; one for each fn. find: the rule for a derivative by these active parameters, of as few
 * more parameters as may be; NULL: none is written. */
bool rvm__program_add_rule(rvm_program *p, const rvm_rule *rule);
const rvm_rule *rvm__rule_find(const rvm_program *p, uint32_t of, rvm_transform kind, const uint8_t *active);
bool rvm__has_rule(const rvm_program *p, uint32_t of,
                   rvm_transform kind);                          /* whether any is written, for whatever is active */
const rvm_rule *rvm__rule_of(const rvm_program *p, uint32_t fn); /* that fn is, or NULL */
bool rvm__is_adjoint_by_hand(const rvm_program *p, uint32_t fn);

/* ---- functions that show their arguments (prints.c) ----
 * add: false: out of memory; functions rise. text: of fn, or NULL. show_size: how many parameters a byte of a text takes. */
bool rvm__program_add_print(rvm_program *p, uint32_t fn, const char *text, size_t length);
const char *rvm__print_text(const rvm_program *p, uint32_t fn);
static inline uint32_t rvm__show_size(char c) {
    const unsigned char show = (unsigned char)c;
    return show >= RVM_SHOW_COUNT ? 0 : show == RVM_SHOW_COMPLEX ? 2 : 1;
}

/* ---- function values (signatures.c) ----
 * A function value is an i64, the number of a function. Nothing is proved of it: a call through it names a variant, whose
 * signature its arguments have, and looks at the value when it runs. What may be a value are the functions whose address is
 * taken, and those of the source, whose names have no tick, since such a number can come from outside.
 * So a transform leaves values as they are, and turns
 *
 *     calli v(g, a, ..)   into   calli v'(g, a, a_b, ..)   where   v' = rvm__variant_derive(p, &{.parent = v, ..})
 *
 * with `active` by parameter of v's signature. The signature of v' has for each parameter its own, then that of its shadow,
 * with the roles that transforms give them. transform.c then fills the table of v' for all that may be values and fit.
 * All return the same number for the same request, so that a second asking finds what the first made. -1: out of
 * memory; -2: past a limit of the format. Roles of functions are known once they are verified. */
static inline bool rvm__is_call(const rvm_insn *in) {
    return rvm__class_of(in->op) == RVM_CLASS_CALL;
}
int64_t rvm__program_add_signature(rvm_program *p, const rvm_param *params, uint32_t nparams);
int64_t rvm__signature_find(const rvm_program *p, const rvm_param *params, uint32_t nparams); /* -1: there is none */
int64_t rvm__program_add_variant(rvm_program *p, uint32_t signature);                         /* the functions themselves */
/* The first variant that is what v is as number `number`, or -1. */
int64_t rvm__variant_find(const rvm_program *p, const rvm_variant *v, uint32_t number);
/* Of d: parent, kind, level, stack, active (NULL: every real). The rest is found. */
int64_t rvm__variant_derive(rvm_program *p, const rvm_variant *d);
/* The same with a signature that is given. */
int64_t rvm__variant_make(rvm_program *p, const rvm_variant *d);
bool rvm__variant_has(const rvm_program *p, uint32_t variant, uint32_t fn);
bool rvm__variant_set(rvm_program *p, uint32_t variant, uint32_t fn, uint32_t derived); /* false: out of memory */
/* Fill `value` of all functions. */
void rvm__mark_values(rvm_program *p);
/* Whether a function fits the type: the same kinds and types of parameters; and roles equal, or `own` in the type. */
bool rvm__fits_types(const rvm_program *p, uint32_t fn, uint32_t signature);
bool rvm__fits(const rvm_program *p, uint32_t fn, uint32_t signature);
/* The same of the values of type `from` where one of type `to` is needed. */
bool rvm__signature_fits(const rvm_program *p, uint32_t from, uint32_t to);
/* The function that a call by the variant runs for a value, or -1: no function, one of another type, one without that
 * derivative. */
int64_t rvm__variant_callee(const rvm_program *p, uint32_t variant, int64_t value);
/* The functions that an instruction which calls may run, one after the other: *at counts from 0. False past the last. */
bool rvm__next_callee(const rvm_program *p, const rvm_insn *in, uint32_t *at, uint32_t *callee);
bool rvm__next_callee_types(const rvm_program *p, const rvm_insn *in, uint32_t *at, uint32_t *callee); /* types only */
/* None where the instruction does not call. */
#define RVM__EACH_CALLEE(g, p, in) for (uint32_t g##_at = 0, g; rvm__is_call(in) && rvm__next_callee(p, in, &g##_at, &g);)
/* Text of parameters as of a type. snprintf's convention. */
int rvm__params_text(const rvm_program *p, const rvm_param *params, uint32_t nparams, char *text, size_t size);

/* What an instruction that calls passes its arguments to; they stand from place `first` on. */
typedef struct rvm_callee {
    const rvm_param *params;
    uint32_t nparams, first;
    const char *name; /* NULL through a function value */
} rvm_callee;
rvm_callee rvm__callee_of(const rvm_program *p, const rvm_insn *in);

#endif

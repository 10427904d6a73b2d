/* wellformed.h: what a program must be so that bytecode can say it: the one rule of the decoder, which asks it of each
 * thing that it reads, and of the verifier, which asks it of the whole. The encoder takes what is verified and nothing else.
 * Code is apart: its rule is verify_shape.c's, which allows no more than the decoder does. For isa and the assembler.
 */
#ifndef RVM_WELLFORMED_H
#define RVM_WELLFORMED_H

#include "program.h"

typedef struct rvm_fault {
    const char *what; /* NULL: none */
    uint64_t value;
} rvm_fault;

/* Those before it are well formed, and so is what it names. A file is one by its number, and so on. */
rvm_fault rvm__signature_param_fault(uint32_t signature, const rvm_param *q); /* of the signature with that number */
rvm_fault rvm__variant_fault(const rvm_program *p, const rvm_variant *v, uint32_t number);
rvm_fault rvm__array_fault(rvm_array_decl d);
/* next: the number of the next register and array that parameters take; counts on. */
rvm_fault rvm__param_fault(const rvm_program *p, const rvm_function *f, const rvm_param *q, uint32_t next[2]);
rvm_fault rvm__position_fault(const rvm_program *p, rvm_position at);
rvm_fault rvm__symbol_fault(const rvm_function *f, const rvm_symbol *s);
rvm_fault rvm__symbol_order_fault(const rvm_function *f, uint32_t k);  /* of the symbols k - 1 and k */
rvm_fault rvm__rule_fault(const rvm_program *p, const rvm_rule *rule); /* its functions have their parameters */

rvm_fault rvm__print_fault(const rvm_program *p, uint32_t k); /* of number k, whose function has its code */

/* All of it, but for the code. skip: as rvm__verify_part takes it, and the types of function values are in the making, too.
 * Errors: VERIFY. */
rvm_status rvm__well_formed(const rvm_program *p, const uint8_t *skip, rvm_error *err);

#endif

/* raw_fn.h: what the files that read raw functions share. False: an error was told. */
#ifndef RVM_ASSEMBLER_RAW_FN_H
#define RVM_ASSEMBLER_RAW_FN_H

#include "asm.h"

typedef struct raw_fn {
    parser p;
    gen g;
    rvm_position at; /* of `.line` */
    bool has_line;
    bool code;        /* an instruction was read: declarations are over */
    uint32_t next[2]; /* register, array of the next parameter */
    span *symbol_at;  /* of each symbol, until the code is known */
    uint32_t cap_symbols;
} raw_fn;

/* raw_operand.c */
bool rvm__raw_number(raw_fn *r, uint32_t limit, uint32_t *out);                 /* up to limit */
bool rvm__raw_slot(raw_fn *r, const char *mark, uint32_t count, uint16_t *out); /* %k or @k, below count */
bool rvm__raw_value(raw_fn *r, rvm_type *type, rvm_value *v); /* -12  1.5  f64:0x7ff0000000000000  fix:1.5 */
bool rvm__raw_operand(raw_fn *r, uint16_t *slot);             /* a register, or a constant that .const lists */
bool rvm__raw_subscripts(raw_fn *r, uint16_t *out, uint8_t *n);
bool rvm__raw_place(raw_fn *r, rvm_place *out);
bool rvm__raw_word(raw_fn *r, name **out);

/* raw_directive.c */
bool rvm__raw_directive(raw_fn *r);
void rvm__raw_check_symbols(const raw_fn *r); /* at the end: they stand before the code that they are of */

#endif

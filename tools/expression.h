/* expression.h: expressions over the places of a frame: assembled once for the kinds of places that they name, and evaluated
 * by a machine of their own. */
#ifndef RVM_TOOLS_EXPRESSION_H
#define RVM_TOOLS_EXPRESSION_H

#include "rvm.h"
#include "rvm_asm.h"

enum { EXPRESSION_TEXT = 256, FRAME_NAME = 280 };

/* Names of a frame: its places, and their shadows as x_b. Starts zeroed. */
typedef struct frame_names {
    uint32_t n, cap;
    rvm_asm_name *name;
    rvm_arg *arg; /* views of the machine's memory */
    char (*text)[FRAME_NAME];
    rvm_math math; /* the machine's */
} frame_names;
/* False: out of memory. */
bool frame_names_of(const rvm_machine *m, uint32_t frame, frame_names *s);
void frame_names_free(frame_names *s);
rvm_arg variable_view(const rvm_variable *v, bool shadow);

/* An expression, and what it was assembled to. Starts zeroed, but for the text. */
typedef struct expression {
    char text[EXPRESSION_TEXT];
    rvm_program *program;
    rvm_machine *machine;
    rvm_asm_used used;
    rvm_arg *argument;
    uint64_t kinds; /* of the places that there were */
} expression;
/* *out: a scalar. *e tells why not. */
rvm_status expression_evaluate(expression *x, const frame_names *s, rvm_arg *out, rvm_error *e);
rvm_status expression_value(const rvm_machine *m, uint32_t frame, expression *x, rvm_arg *out, rvm_error *e);
void expression_free(expression *x);

#endif

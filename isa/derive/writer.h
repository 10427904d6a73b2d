/* writer.h: functions written instruction by instruction, beside those that are derived. Internal to isa/derive/. */
#ifndef RVM_WRITER_H
#define RVM_WRITER_H

#include "builder.h"
#include "support.h"

typedef struct rvm__let { /* a register that appeared, as a function of two slots */
    rvm_row row;
    rvm_place q[3];
} rvm__let;

enum { RVM__MOST_LETS = 32 };
typedef struct rvm__writer {
    rvm_program *p;
    uint32_t fn;
    rvm_function g;  /* moved into the program at the end */
    rvm_position at; /* of what is emitted */
    uint32_t site;   /* the next one */
    rvm__let lets[RVM__MOST_LETS];
    uint32_t nlets;
    rvm_status status; /* the first failure; then nothing more is emitted */
} rvm__writer;

/* A new function: begin, parameters, start, code, end. Names as of rvm__program_add_function. */
void rvm__write_begin(rvm__writer *w, const char *name);
/* dim: slots of g. Its register or array. */
rvm_place rvm__write_param(rvm__writer *w, const char *name, rvm_type type, int ndim);
rvm_status rvm__write_end(rvm__writer *w);

rvm_place rvm__write_register(rvm__writer *w, rvm_type type);
rvm_place rvm__write_array(rvm__writer *w, rvm_type type, int ndim);
/* A length of f, as g has it: reg, by register of f, has the numbers of those that g has, others RVM__NO_LENGTH. */
enum { RVM__NO_LENGTH = UINT16_MAX };
uint16_t rvm__write_length(rvm__writer *w, const rvm_function *f, uint16_t slot, uint16_t *reg);
rvm_place rvm__write_constant(rvm__writer *w, rvm_type type, rvm_value v);
rvm_place rvm__write_integer(rvm__writer *w, int64_t k);
/* rvm__sum_start */
rvm_place rvm__write_nothing(rvm__writer *w, rvm_type type);

uint32_t rvm__write(rvm__writer *w, rvm_op op, rvm_row row, uint8_t flags, uint32_t n, const rvm_place *places);
#define RVM__WRITE(w, op, row, flags, ...)                                                                                  \
    rvm__write(w, op, row, flags, (uint32_t)(sizeof((rvm_place[]){__VA_ARGS__}) / sizeof(rvm_place)),                       \
               (rvm_place[]){__VA_ARGS__})
void rvm__write_call(rvm__writer *w, rvm_op op, uint32_t fn, uint32_t n, const rvm_place *places);
void rvm__write_drop(rvm__writer *w, rvm_place q); /* onto trail 0, at a site of its own */

/* i64s: a new register appears as that; unwind releases those since `mark`, the last first. */
rvm_place rvm__write_let(rvm__writer *w, rvm_row row, rvm_place a, rvm_place b);
void rvm__write_unwind(rvm__writer *w, uint32_t mark);

/* par: i64 slots; returns the instruction, for its end. */
uint32_t rvm__write_par(rvm__writer *w, rvm_place i, rvm_place lo, rvm_place hi);
void rvm__write_endpar(rvm__writer *w, uint32_t at);
/* for: i64 slots; returns the instruction, for end. */
uint32_t rvm__write_for(rvm__writer *w, rvm_place i, rvm_place lo, rvm_place hi, rvm_place by);
void rvm__write_next(rvm__writer *w, uint32_t at);
/* The way of two loops over one number, which is 1 or 0: if it is 1. Ends by rvm__write_next. */
uint32_t rvm__write_if(rvm__writer *w, rvm_place c);
/* compute C do B forget. Begins; ends, with what rvm__write_compute returned: what C let appear goes. */
uint32_t rvm__write_compute(rvm__writer *w);
void rvm__write_forget(rvm__writer *w, uint32_t mark);
/* from FIRST while GOES: each a row of two i64. */
typedef struct rvm__written_loop {
    rvm__let first, goes; /* q[0]: the register that both are tested in */
    uint32_t head, test;
} rvm__written_loop;
void rvm__write_from(rvm__writer *w, rvm__written_loop *loop);
void rvm__write_again(rvm__writer *w, const rvm__written_loop *loop);
/* y op x of two places of one type: registers, or all elements of arrays whose lengths are these slots. */
void rvm__write_each(rvm__writer *w, rvm_op op, rvm_place y, rvm_place x, const uint16_t *dims);

#endif

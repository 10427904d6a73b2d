/* text.h: values, places and instructions as text, to a buffer or a file. */
#ifndef RVM_TEXT_H
#define RVM_TEXT_H

#include "program.h"

/* Where text goes: to `file`, or where that is NULL to a buffer, cut to its size; `used` counts it uncut. */
typedef struct rvm_sink {
    FILE *file;
    char *text;
    size_t size;
    int used;
} rvm_sink;
void rvm__put(rvm_sink *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Source names of registers [0] and arrays [1] at one pc: numbers of symbols + 1. Kept up to date by who walks the code. */
typedef struct rvm_names {
    uint32_t *current[2];
} rvm_names;

/* How an instruction is written: raw (%3), or with the source names that are known, looked up or from `names`. */
typedef struct rvm_view {
    const rvm_program *p;
    const rvm_function *f;
    uint32_t pc;
    bool raw;
    const rvm_names *names;  /* NULL: look every name up */
    const rvm_value *values; /* registers of a running frame: an index without a name goes by its value; or NULL */
} rvm_view;
const char *rvm__view_name(const rvm_view *v, bool is_array, uint16_t index);
void rvm__put_slot(rvm_sink *to, const rvm_view *v, uint16_t slot);
void rvm__put_place(rvm_sink *to, const rvm_view *v, const rvm_place *q);
void rvm__put_insn(rvm_sink *to, const rvm_view *v);

#endif

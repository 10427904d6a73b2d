/* jit_fixture.h: engines that tell what they compile, for jit.c, jit_printed.c and tiers.c. */
#ifndef RVM_TEST_JIT_FIXTURE_H
#define RVM_TEST_JIT_FIXTURE_H

#include <criterion/criterion.h>
#include <string.h>

#include "harness.h"

static rvm_error e;

typedef struct told {
    unsigned compiled, refused;
    char function[20], reason[200], lengths[80];
    int direction;
    uint32_t line;
    size_t size;
} told;

static inline void on_notice(void *userdata, const rvm_jit_notice *n) {
    told *t = userdata;
    ++*(n->status ? &t->refused : &t->compiled);
    snprintf(t->function, sizeof t->function, "%s", n->function);
    snprintf(t->reason, sizeof t->reason, "%s", n->status ? n->reason : "");
    snprintf(t->lengths, sizeof t->lengths, "%s", n->lengths);
    t->direction = n->direction;
    t->line = n->line;
    t->size = n->code_size;
}

/* An engine that tells what it compiles, without tiers, and a program. */
typedef struct telling {
    told told;
    rvm_jit *j;
    rvm_program *p;
} telling;

static inline void telling_begin_at(telling *f, const char *source, unsigned level) {
    report rep = {.name = "jit"};
    rvm_jit_options o = rvm_jit_options_default();
    *f = (telling){.p = assemble_text(source, NULL, &rep)};
    o.level = level;
    o.tiers = false;
    o.cache = "";
    o.notice = on_notice;
    o.userdata = &f->told;
    cr_assert(f->p);
    if (rvm_jit_new(&o, &f->j, &e)) cr_skip_test("%s", e.message);
}

static inline void telling_begin(telling *f, const char *source) {
    telling_begin_at(f, source, 0);
}

static inline void telling_end(telling *f) {
    rvm_jit_free(f->j);
    rvm_program_free(f->p);
}

/* Tiers without a cache, hot after so many instructions; t NULL: nothing is told. */
static inline rvm_jit_options in_tiers(uint64_t hot, told *t) {
    rvm_jit_options o = rvm_jit_options_default();
    o.level = 0;
    o.cache = "";
    o.notice = t ? on_notice : NULL;
    o.userdata = t;
    o.tiers = o.wait = true;
    o.hot = hot;
    return o;
}

/* A machine with native code for the program, which the source says. */
static inline rvm_machine *native_machine(rvm_jit *j, const char *source, rvm_program **p) {
    rvm_machine *m = NULL;
    cr_assert(rvm_assemble(source, strlen(source), "test.rasm", NULL, p, &e, NULL, NULL) == RVM_OK, "%s", e.message);
    cr_assert(rvm_machine_new(*p, NULL, &m, &e) == RVM_OK && rvm_jit_attach(j, m, &e) == RVM_OK);
    return m;
}

#endif

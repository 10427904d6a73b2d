/* sites.h: sites of the trail (sites.c, flags.c). Not installed. */
#ifndef RVM_SITES_H
#define RVM_SITES_H

#include "program.h"

/* The site of a finished instruction, or -1. Sites of a program: how many instructions have one; the different ones, rising,
 * into as much room, and their number; the index of one among them. */
int64_t rvm__insn_site(const rvm_function *f, const rvm_insn *in);
uint32_t rvm__sites_next(const rvm_program *p); /* above all that are there */
size_t rvm__sites_most(const rvm_program *p);
uint32_t rvm__sites_collect(const rvm_program *p, uint32_t *sites);
uint32_t rvm__sites_find(const uint32_t *sites, uint32_t n, int64_t site);
/* flags.c: of n sites: whether what goes onto the trail there is always 0 or 1. */
void rvm__sites_flags(const rvm_program *p, const uint32_t *sites, uint32_t n, uint8_t *flags);

/* The level of trails that an instruction of a verified function is about, a segment's included. */
static inline unsigned rvm__insn_level(const rvm_function *f, const rvm_insn *in) {
    return rvm__op_sets((rvm_op)in->op) ? 0 : (unsigned)f->consts[rvm__places(f, in)[0].slot - f->nregs].i;
}

#endif

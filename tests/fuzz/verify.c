/* verify.c: the verifier on programs that decode. The input is bytecode, 4 bytes of seed at its end: it is decoded, some
 * instructions are mutated by the seed, and what verifies is encoded, loaded and run. libFuzzer's own mutations go
 * through the same, so that most of its inputs get past the decoder. */
#include "fuzz.h"
#include "rbc.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static rvm_function *any_function(rvm_program *p, rng *r) {
    return p->nfunctions ? &p->functions[rng_below(r, p->nfunctions)] : NULL;
}

static uint16_t near_slot(const rvm_function *f, rng *r) {
    return (uint16_t)rng_below(r, f->nregs + f->nconsts + (rng_below(r, 16) ? 0 : 2));
}

static void mutate_place(rvm_function *f, rng *r) {
    if (!f->nplaces) return;
    rvm_place *q = &f->places[rng_below(r, f->nplaces)];
    switch (rng_below(r, 4)) {
    case 0: q->slot = near_slot(f, r); break;
    case 1: q->idx[rng_below(r, RVM_MAX_DIMS)] = near_slot(f, r); break;
    case 2: q->kind = (uint8_t)rng_below(r, RVM_PLACE_KIND_COUNT); break;
    case 3: q->slot = (uint16_t)rng_below(r, f->narrays + 1); break;
    }
}

static void swap_instructions(rvm_function *f, rng *r) {
    uint32_t a = rng_below(r, f->ncode), b = rng_below(r, f->ncode);
    rvm_insn t = f->code[a];
    f->code[a] = f->code[b];
    f->code[b] = t;
}

static void mutate_instruction(rvm_function *f, rng *r) {
    if (!f->ncode) return;
    rvm_insn *in = &f->code[rng_below(r, f->ncode)];
    switch (rng_below(r, 6)) {
    case 0: in->op = (uint8_t)rng_below(r, RVM_OP_LIMIT); break;
    case 1: in->op ^= 1; break;
    case 2: in->row = (uint8_t)rng_below(r, RVM_ROW_COUNT); break;
    case 3: in->flags ^= (uint8_t)(1u << rng_below(r, 3)); break;
    case 4: in->target = rng_below(r, f->ncode + 1); break;
    case 5: swap_instructions(f, r); break;
    }
}

static void mutate_declaration(rvm_function *f, rng *r) {
    switch (rng_below(r, 4)) {
    case 0:
        if (f->nregs) f->reg_type[rng_below(r, f->nregs)] = (uint8_t)rng_below(r, RVM_TYPE_COUNT);
        break;
    case 1:
        if (f->nconsts) f->consts[rng_below(r, f->nconsts)].u = rng_next(r) >> rng_below(r, 64);
        break;
    case 2:
        if (f->narrays) f->arrays[rng_below(r, f->narrays)].ndim = (uint8_t)(1 + rng_below(r, RVM_MAX_DIMS));
        break;
    case 3:
        if (f->nparams) f->params[rng_below(r, f->nparams)].role = (uint8_t)rng_below(r, 3);
        break;
    }
}

static void mutate_debug(rvm_function *f, rng *r) {
    rvm_symbol *s = f->nsymbols ? &f->symbols[rng_below(r, f->nsymbols)] : NULL;
    switch (s ? rng_below(r, 4) : 3) {
    case 0: s->from = rng_below(r, f->ncode + 2); break;
    case 1: s->to = rng_below(r, f->ncode + 2); break;
    case 2: s->index = near_slot(f, r); break;
    case 3:
        if (f->ncode) f->positions[rng_below(r, f->ncode)].file = (uint16_t)rng_below(r, 3);
        break;
    }
}

static void mutate(rvm_program *p, rng *r) {
    for (uint32_t n = 1 + rng_below(r, 3); n > 0; n--) {
        rvm_function *f = any_function(p, r);
        uint32_t which = f ? rng_below(r, 9) : 9;
        if (which < 3)
            mutate_place(f, r);
        else if (which < 7)
            mutate_instruction(f, r);
        else if (which < 8)
            mutate_declaration(f, r);
        else if (which < 9)
            mutate_debug(f, r);
    }
}

/* What verifies has bytes and comes back from them; all else has none. */
static rvm_program *through_bytes(rvm_program *p) {
    rvm_program *q = NULL;
    rvm_error e;
    void *bytes = NULL;
    size_t n = 0;
    if (rvm__verify(p, &e) != RVM_OK) return NULL;
    p->id[0] = p->id[1] = 0;
    if (rvm__encode(p, &bytes, &n, &e) != RVM_OK || rvm_program_load(bytes, n, "mutant.rbc", NULL, &q, &e) != RVM_OK)
        abort();
    rvm_program_free_bytes(p, bytes, n);
    return q;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rvm_program *p = NULL, *q = NULL;
    rvm_error e;
    if (size < RVM_RBC_HEADER + 4) return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed) return 0;
    memcpy(sealed, data, size);
    bytecode_seal(sealed, size - 4);
    uint32_t seed;
    memcpy(&seed, data + size - 4, sizeof seed);
    rng r = {seed};
    if (rvm__decode(sealed, size - 4, "fuzz.rbc", NULL, &p, &e) == RVM_OK) {
        if (seed) mutate(p, &r);
        q = through_bytes(p);
        if (q) exercise(q, seed);
    }
    rvm_program_free(q);
    rvm_program_free(p);
    free(sealed);
    return 0;
}

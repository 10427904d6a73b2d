/* columns.c: see columns.h. */
#include "columns.h"
#include "writer.h"

#include <string.h>

typedef struct columns {
    rvm__writer w;
    uint32_t of;
    const uint8_t *each;
    bool scalars; /* of which each has one go through a register of its own */
    rvm_place count, index;
    uint16_t *reg;                                           /* by register of fn: the length */
    rvm_place param[RVM_MAX_PARAMS], passed[RVM_MAX_PARAMS]; /* as it came; as fn gets it */
    rvm_place view[RVM_MAX_PARAMS][RVM_MAX_DIMS + 2];        /* of arrays of which fn gets a part: the instruction's */
} columns;

/* Why there is no such function, or NULL. */
static const char *refused(const rvm_function *f, const uint8_t *each) {
    for (uint32_t k = 0; k < f->nparams; k++) {
        if (f->params[k].signature) return "it takes a function value";
        if (each[k] && f->params[k].ndim == RVM_MAX_DIMS) return "an array has as many dimensions as there may be";
    }
    return NULL;
}

static void write_params(columns *c) {
    const rvm_function *f = &c->w.p->functions[c->of]; /* moves when a function is added, which is done */
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *q = &f->params[k];
        c->param[k] = rvm__write_param(&c->w, q->name, (rvm_type)q->type, q->ndim + c->each[k]);
    }
    c->count = rvm__write_register(&c->w, RVM_I64);
    for (uint32_t k = 0; k < f->nparams && !c->w.status; k++) {
        rvm_param *q = &c->w.g.params[k];
        for (int d = 0; d < f->params[k].ndim; d++) q->dim[d] = rvm__write_length(&c->w, f, f->params[k].dim[d], c->reg);
        if (c->each[k]) q->dim[f->params[k].ndim] = c->count.slot;
    }
    c->index = rvm__write_register(&c->w, RVM_I64);
}

/* What fn gets for parameter k, where an instance of its own has a part of it. */
static void pass_part(columns *c, uint32_t k) {
    const rvm_param *q = &c->w.p->functions[c->of].params[k];
    rvm_place *v = c->view[k], zero = rvm__write_integer(&c->w, 0);
    if (!q->ndim) {
        v[0] = (rvm_place){.kind = RVM_PLACE_ELEM, .nidx = 1, .slot = c->param[k].slot, .idx = {c->index.slot}};
        c->passed[k] = c->scalars ? rvm__write_register(&c->w, (rvm_type)q->type) : v[0];
        return;
    }
    c->passed[k] = v[0] = rvm__write_array(&c->w, (rvm_type)q->type, q->ndim);
    v[1] = c->param[k];
    for (int d = 0; d < q->ndim && !c->w.status; d++)
        v[d + 2] = (rvm_place){.kind = RVM_PLACE_RANGE, .nidx = 1, .slot = zero.slot, .idx = {c->w.g.params[k].dim[d]}};
    v[q->ndim + 2] = c->index;
}

static void write_views(columns *c, rvm_op op) {
    const rvm_function *f = &c->w.p->functions[c->of];
    for (uint32_t n = 0; n < f->nparams; n++) {
        const uint32_t k = op == RVM_OP_view ? n : f->nparams - 1 - n;
        if (c->each[k] && f->params[k].ndim) rvm__write(&c->w, op, 0, 0, f->params[k].ndim + 3u, c->view[k]);
    }
}

/* Blocks in fn sum in it. */
static void write_scalars(columns *c, rvm_op op) {
    const rvm_function *f = &c->w.p->functions[c->of];
    for (uint32_t n = 0; c->scalars && n < f->nparams; n++) {
        const uint32_t k = op == RVM_OP_let ? n : f->nparams - 1 - n;
        if (!c->each[k] || f->params[k].ndim) continue;
        const rvm_place zero = rvm__write_constant(&c->w, (rvm_type)f->params[k].type, (rvm_value){.i = 0});
        if (op == RVM_OP_let) RVM__WRITE(&c->w, op, RVM_ROW_id, 0, c->passed[k], zero);
        RVM__WRITE(&c->w, RVM_OP_swap, 0, 0, c->passed[k], c->view[k][0]);
        if (op == RVM_OP_unlet) RVM__WRITE(&c->w, op, RVM_ROW_id, 0, c->passed[k], zero);
    }
}

static void write_code(columns *c) {
    const uint32_t n = c->w.p->functions[c->of].nparams;
    for (uint32_t k = 0; k < n; k++) {
        c->passed[k] = c->param[k];
        if (c->each[k]) pass_part(c, k);
    }
    rvm__write(&c->w, RVM_OP_start, 0, 0, 0, NULL);
    const uint32_t par = rvm__write_par(&c->w, c->index, rvm__write_integer(&c->w, 0), c->count);
    write_views(c, RVM_OP_view);
    write_scalars(c, RVM_OP_let);
    rvm__write_call(&c->w, RVM_OP_call, c->of, n, c->passed);
    write_scalars(c, RVM_OP_unlet);
    write_views(c, RVM_OP_unview);
    rvm__write_endpar(&c->w, par);
}

static rvm_status declare(rvm__zone *memory, rvm_program *p, uint32_t fn, const uint8_t *each, bool scalars, uint32_t *out) {
    char name[600];
    columns *c = rvm__zone_make(memory, 1, sizeof *c);
    const size_t nregs = p->functions[fn].nregs + 1u;
    if (!c || !(c->reg = rvm__zone_make(memory, nregs, sizeof *c->reg))) return RVM_ERR_MEMORY;
    memset(c->reg, 0xff, nregs * sizeof *c->reg); /* RVM__NO_LENGTH */
    c->w.p = p;
    c->of = fn;
    c->each = each;
    c->scalars = scalars;
    if (p->functions[fn].ncode) c->w.at = p->functions[fn].positions[0];
    snprintf(name, sizeof name, "%.500s'columns", p->functions[fn].name);
    rvm__write_begin(&c->w, name);
    write_params(c);
    write_code(c);
    *out = c->w.fn;
    return rvm__write_end(&c->w);
}

rvm_status rvm__columns_declare(rvm_program *p, uint32_t fn, const uint8_t *each, bool blocks, uint32_t *out,
                                rvm_error *err) {
    rvm__zone memory = {.al = &p->al};
    const char *why = refused(&p->functions[fn], each);
    if (why) return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "'%s': %s", p->functions[fn].name, why);
    const rvm_status s = declare(&memory, p, fn, each, blocks, out);
    rvm__zone_free(&memory);
    if (s == RVM_ERR_UNSUPPORTED)
        return rvm__fail(err, s, NULL, 0, 0, "'%s' is too large for a block over columns", p->functions[fn].name);
    return s ? rvm__fail_memory(err) : RVM_OK;
}

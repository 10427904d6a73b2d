/* verify.c: the order in which a program is proved, and its parameters. See verify.h. */
#include "verify.h"
#include "wellformed.h"
#include "builder.h"
#include "callgraph.h"
#include "ruled.h"
#include "support.h"
#include <string.h>

/* ---- the present function ---- */

/* ---- parameters ---- */

static rvm_status check_length(rvm__verifier *v, const rvm_param *q, int d) {
    const rvm_function *f = v->f;
    uint16_t slot = q->dim[d];
    if (rvm__slot_type(f, slot) != RVM_I64) return RVM__REJECT(v, 0, "length %d of '%s' is no i64", d + 1, q->name);
    if (slot < v->at->nscalars)
        return RVM__REJECT(v, 0, "length %d of '%s' is the parameter '%s'; lengths have registers of their own", d + 1,
                           q->name, RVM__REG_NAME(v, 0, slot));
    if (rvm__is_const(f, slot) && rvm__const_value(f, slot).i < 0)
        return RVM__REJECT(v, 0, "length %d of '%s' is negative", d + 1, q->name);
    return RVM_OK;
}

static rvm_status check_params(rvm__verifier *v) {
    const rvm_function *f = v->f;
    for (uint32_t k = 0; k < f->nparams; k++)
        for (int d = 0; d < f->params[k].ndim; d++) RVM__TRY(check_length(v, f->params + k, d));
    return RVM_OK;
}

static rvm_status check_function(rvm__verifier *v) {
    const rvm_function *f = v->f;
    if (f->ncode < 2)
        return rvm__fail(v->err, RVM_ERR_VERIFY, NULL, 0, 0, "function '%s' has no code", f->name ? f->name : "");
    if (f->nplaces > INT32_MAX / 2) return RVM__REJECT(v, 0, "function '%s' is too large", f->name);
    for (uint32_t k = 0; k < f->nconsts; k++)
        if (f->const_type[k] == RVM_F32 && !rvm__is_single(f->consts[k].f))
            return RVM__REJECT(v, 0, "constant %u is an f32, but %.17g does not fit one", k, f->consts[k].f);
    return check_params(v);
}

/* ---- the program ---- */

static rvm_status make_tables(rvm__verifier *v) {
    for (int op = 0; op < RVM_OP_LIMIT; op++)
        if (rvm__op_info[op].name) v->target[op] = rvm__op_target((rvm_op)op);
    uint32_t n = v->p->nfunctions;
    v->base = rvm__verify_make(v, (size_t)n + 1, sizeof *v->base);
    if (!v->base) return rvm__verify_no_memory(v);
    for (uint32_t k = 0; k < n; k++) {
        const rvm_function *f = v->p->functions + k;
        rvm__fn_base *b = v->base + k;
        b[1] = (rvm__fn_base){b->params + f->nparams, b->code + f->ncode, 0};
        for (uint32_t q = 0; q < f->nparams; q++) b->nscalars += f->params[q].ndim == 0;
        if (f->nregs > v->max_regs) v->max_regs = f->nregs;
        if (f->narrays > v->max_arrays) v->max_arrays = f->narrays;
        if (f->ncode > v->max_code) v->max_code = f->ncode;
    }
    v->bits = rvm__verify_make(v, rvm__nbits(v), sizeof *v->bits);
    v->snapshot = rvm__verify_make(v, v->base[n].code, sizeof *v->snapshot);
    v->is_length = rvm__verify_make(v, v->max_regs, sizeof *v->is_length);
    v->scope = rvm__verify_make(v, v->max_code, sizeof *v->scope);
    return v->bits && v->snapshot && v->scope && v->is_length ? RVM_OK : rvm__verify_no_memory(v);
}

static rvm_status check_functions(rvm__verifier *v) {
    RVM__EACH_FUNCTION(v) RVM__TRY(check_function(v));
    return RVM_OK;
}

static rvm_status check_program(rvm__verifier *v) {
    RVM__TRY(rvm__well_formed(v->p, v->skip, v->err));
    rvm__mark_values(v->p);
    RVM__TRY(make_tables(v));
    RVM__TRY(check_functions(v));
    RVM__TRY(rvm__verify_shape(v));
    RVM__TRY(rvm__verify_flow(v));
    RVM__TRY(rvm__verify_roles(v));
    RVM__TRY(rvm__verify_alias(v));
    RVM__TRY(rvm__verify_rules(v));
    RVM__TRY(rvm__verify_par(v));
    return rvm__verify_facts(v);
}

rvm_status rvm__verify(rvm_program *p, rvm_error *err) {
    rvm__verifier v = {.p = p, .err = err, .memory = {.al = &p->al}};
    p->verified = false;
    rvm_status s = check_program(&v);
    if (!s && !(rvm__callgraph_make(p, false, &p->calls) && rvm__ruled_find(p))) s = rvm__verify_no_memory(&v);
    p->verified = !s;
    rvm__verify_release(&v);
    return s;
}

rvm_status rvm__verify_part(rvm__verifier *v, rvm_program *p, const uint8_t *skip, rvm_error *err) {
    *v = (rvm__verifier){.p = p, .err = err, .skip = skip, .memory = {.al = &p->al}};
    return check_program(v);
}

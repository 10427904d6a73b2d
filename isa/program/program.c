/* program.c: what a program says of itself: functions, parameters, positions, names of places. */
#include "program.h"

uint32_t rvm_program_function_count(const rvm_program *p) {
    return p ? p->nfunctions : 0;
}

static const rvm_function *function_at(const rvm_program *p, uint32_t fn) {
    return p && fn < p->nfunctions ? p->functions + fn : NULL;
}

const char *rvm_program_function_name(const rvm_program *p, uint32_t fn) {
    const rvm_function *f = function_at(p, fn);
    return f ? f->name : NULL;
}

uint32_t rvm_program_param_count(const rvm_program *p, uint32_t fn) {
    const rvm_function *f = function_at(p, fn);
    return f ? f->nparams : 0;
}

uint32_t rvm_program_code_size(const rvm_program *p, uint32_t fn) {
    const rvm_function *f = function_at(p, fn);
    return f ? f->ncode : 0;
}

rvm_status rvm_program_param(const rvm_program *p, uint32_t fn, uint32_t i, rvm_param_info *out) {
    const rvm_function *f = function_at(p, fn);
    if (!f || !out || i >= f->nparams) return RVM_ERR_USAGE;
    const rvm_param *q = f->params + i;
    *out = (rvm_param_info){.name = q->name, .type = (rvm_type)q->type, .role = (rvm_role)q->role, .ndim = q->ndim};
    if (q->signature) out->function_type = p->signatures[q->signature - 1].text;
    for (int d = 0; d < q->ndim; d++) {
        bool constant = q->dim[d] >= f->nregs;
        const char *name = constant ? NULL : rvm__symbol_at(f, false, q->dim[d], 0);
        out->dim_name[d] = constant || name ? name : "?"; /* a length without a name: the program was not made from source */
        out->dim_value[d] = constant ? f->consts[q->dim[d] - f->nregs].i : -1;
    }
    return RVM_OK;
}

void rvm_program_position(const rvm_program *p, uint32_t fn, uint32_t pc, const char **file, uint32_t *line,
                          uint32_t *column) {
    const rvm_function *f = function_at(p, fn);
    rvm_position at = {0, 0, 0};
    if (f && pc < f->ncode) at = f->positions[pc];
    if (file) *file = at.line && at.file < p->nfiles ? p->files[at.file] : NULL;
    if (line) *line = at.line;
    if (column) *column = at.column;
}

int64_t rvm_program_block(const rvm_program *p, uint32_t fn, uint32_t k, bool *proved) {
    const rvm_function *f = function_at(p, fn);
    if (!f) return -1;
    RVM__EACH_INSN(x, f) {
        if (x.in->op != RVM_OP_par || k-- > 0) continue;
        if (proved) *proved = !(x.in->facts & RVM_FACT_GUARD);
        return x.pc;
    }
    return -1;
}

const char *rvm__symbol_at(const rvm_function *f, bool is_array, uint16_t index, uint32_t pc) {
    const char *name = NULL; /* of several, the innermost: symbols stand in the order of their start */
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        const rvm_symbol *s = f->symbols + k;
        if (s->is_array == is_array && s->index == index && s->from <= pc && pc < s->to) name = s->name;
    }
    return name;
}

/* program.c: what a program says of itself: functions, parameters, positions, names of places. */
#include "isa.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t rvm_program_function_count(const rvm_program *p) {
    return p->nfunctions;
}

static const rvm_function *function_at(const rvm_program *p, uint32_t fn) {
    return fn < p->nfunctions ? p->functions + fn : NULL;
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
    if (!f || i >= f->nparams) return RVM_ERR_USAGE;
    const rvm_param *q = f->params + i;
    *out = (rvm_param_info){.name = q->name, .type = (rvm_type)q->type, .role = (rvm_role)q->role, .ndim = q->ndim};
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
    *file = at.line && at.file < p->nfiles ? p->files[at.file] : NULL;
    *line = at.line;
    *column = at.column;
}

const char *rvm__symbol_at(const rvm_function *f, bool is_array, uint16_t index, uint32_t pc) {
    const char *name = NULL; /* of several, the innermost: symbols stand in the order of their start */
    for (uint32_t k = 0; k < f->nsymbols; k++) {
        const rvm_symbol *s = f->symbols + k;
        if (s->is_array == is_array && s->index == index && s->from <= pc && pc < s->to) name = s->name;
    }
    return name;
}

/* ---- text ---- */

/* The shortest of 15, 16 or 17 digits that reads back as x, with a mark that it is no whole number of type i64. */
static int double_text(double x, char *text, size_t size) {
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, x);
        if (strtod(digits, NULL) == x) break;
    }
    return snprintf(text, size, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

int rvm__value_text(rvm_type t, rvm_value v, char *text, size_t size) {
    switch (t) {
    case RVM_TYPE_COUNT: break;
    case RVM_I64: return snprintf(text, size, "%lld", (long long)v.i);
    case RVM_F64:
        if (isfinite(v.f)) return double_text(v.f, text, size);
        break;
    case RVM_FIX:
        if (rvm_fix_from_double(rvm_fix_to_double(v.i)) == v.i) {
            char digits[40];
            double_text(rvm_fix_to_double(v.i), digits, sizeof digits);
            return snprintf(text, size, "fix:%s", digits);
        }
        break;
    }
    return snprintf(text, size, "%s:0x%016llx", rvm_type_name(t), (unsigned long long)v.u);
}

/* Appends to text; *used counts what there would be with room. */
static void append(char *text, size_t size, int *used, const char *s) {
    size_t at = (size_t)*used < size ? (size_t)*used : size;
    *used += snprintf(size ? text + at : NULL, size - at, "%s", s);
}

static void append_slot(const rvm_function *f, uint16_t slot, uint32_t pc, char *text, size_t size, int *used) {
    char number[64];
    const char *name = slot < f->nregs ? rvm__symbol_at(f, false, slot, pc) : NULL;
    if (slot < f->nregs)
        snprintf(number, sizeof number, "%%%u", slot);
    else if ((uint32_t)slot - f->nregs < f->nconsts)
        rvm__value_text(rvm__slot_type(f, slot), f->consts[slot - f->nregs], number, sizeof number);
    else
        snprintf(number, sizeof number, "slot %u", slot);
    append(text, size, used, name ? name : number);
}

static void append_array(const rvm_function *f, uint16_t array, uint32_t pc, char *text, size_t size, int *used) {
    char number[16];
    snprintf(number, sizeof number, "@%u", array);
    const char *name = rvm__symbol_at(f, true, array, pc);
    append(text, size, used, name ? name : number);
}

int rvm__place_text(const rvm_function *f, const rvm_place *p, uint32_t pc, char *text, size_t size) {
    int used = 0;
    if (size) *text = 0;
    switch ((rvm_place_kind)p->kind) {
    case RVM_PLACE_KIND_COUNT: break;
    case RVM_PLACE_SLOT: append_slot(f, p->slot, pc, text, size, &used); break;
    case RVM_PLACE_ARRAY: append_array(f, p->slot, pc, text, size, &used); break;
    case RVM_PLACE_RANGE:
        append_slot(f, p->slot, pc, text, size, &used);
        append(text, size, &used, "..");
        append_slot(f, p->idx[0], pc, text, size, &used);
        break;
    case RVM_PLACE_ELEM:
        append_array(f, p->slot, pc, text, size, &used);
        for (int k = 0; k < p->nidx && k < RVM_MAX_DIMS; k++) {
            append(text, size, &used, k ? ", " : "[");
            append_slot(f, p->idx[k], pc, text, size, &used);
        }
        append(text, size, &used, "]");
        break;
    }
    return used;
}

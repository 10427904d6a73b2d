/* program.c: what a program says of itself: functions, parameters, positions, instructions, names of places. */
#include "program.h"

#include <string.h>

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

bool rvm__is_part(const char *name, const char *part, int *stem, const char **rest) {
    const char *point = strrchr(name, '.');
    const size_t length = strlen(part);
    if (!point || strncmp(point + 1, part, length) != 0) return false;
    *stem = (int)(point - name);
    *rest = point + 1 + length;
    return **rest == 0 || **rest == '_';
}

/* Behind a part: nothing, indices, or that it is a shadow, of a shadow ... */
static bool ends_part(const char *rest) {
    return !*rest || *rest == '[' || (*rest == '_' && strspn(rest, "_bd") == strcspn(rest, "["));
}

void rvm__drop_part(char *text) {
    static const char *const parts[] = {".log", ".re", ".im"};
    for (char *at = strchr(text, '.'); at; at = strchr(at + 1, '.'))
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            const size_t n = strlen(parts[k]);
            if (strncmp(at, parts[k], n) != 0 || !ends_part(at + n)) continue;
            memmove(at, at + n, strlen(at + n) + 1);
            return;
        }
}

/* The parameter that is STEM "." PART REST, of the same type and dimensions as q; else i. */
static uint32_t partner(const rvm_function *f, uint32_t i, const char *part) {
    const rvm_param *q = &f->params[i];
    const char *point = strrchr(q->name, '.');
    const size_t stem = point ? (size_t)(point - q->name) + 1 : strlen(q->name), length = strlen(part);
    for (uint32_t k = 0; k < f->nparams; k++) {
        const rvm_param *o = &f->params[k];
        if (o->type == q->type && o->ndim == q->ndim && !strncmp(o->name, q->name, stem) &&
            !strncmp(o->name + stem, part, length) && !strcmp(o->name + stem + length, q->name + stem + length))
            return k;
    }
    return i;
}

static rvm_component component(const rvm_function *f, uint32_t i, uint32_t *other, int *stem, const char **rest) {
    const rvm_param *q = &f->params[i];
    *other = i;
    if (q->type == RVM_I64) return RVM_COMPONENT_WHOLE;
    if (rvm__is_part(q->name, "log", stem, rest) && !**rest) return RVM_COMPONENT_LOG; /* a shadow is by the logarithm */
    const bool im = rvm__is_part(q->name, "im", stem, rest);
    if (!im && !rvm__is_part(q->name, "re", stem, rest)) return RVM_COMPONENT_WHOLE;
    *other = partner(f, i, im ? "re" : "im");
    return *other == i ? RVM_COMPONENT_WHOLE : im ? RVM_COMPONENT_IM : RVM_COMPONENT_RE;
}

rvm_component rvm_program_component(const rvm_program *p, uint32_t fn, uint32_t i, uint32_t *other, char *name,
                                    size_t size) {
    const rvm_function *f = function_at(p, fn);
    const bool there = f && i < f->nparams;
    const char *rest = "", *whole = there ? f->params[i].name : "";
    int stem = 0;
    uint32_t with = i;
    const rvm_component is = there ? component(f, i, &with, &stem, &rest) : RVM_COMPONENT_WHOLE;
    if (other) *other = with;
    if (!name) return is;
    if (is == RVM_COMPONENT_WHOLE)
        snprintf(name, size, "%s", whole);
    else
        snprintf(name, size, "%.*s%s", stem, whole, rest);
    return is;
}

const char *rvm_program_file(const rvm_program *p, uint32_t k) {
    return p && k < p->nfiles ? p->files[k] : NULL;
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

/* By pair, of the instruction as written and of its inverse. */
static const uint8_t flows[RVM_PAIR_COUNT][2] = {[RVM_PAIR_start] = {RVM_FLOW_END, RVM_FLOW_END},
                                                 [RVM_PAIR_jmp] = {RVM_FLOW_JUMP, RVM_FLOW_COME_FROM},
                                                 [RVM_PAIR_jt] = {RVM_FLOW_JUMP_IF, RVM_FLOW_COME_FROM},
                                                 [RVM_PAIR_jf] = {RVM_FLOW_JUMP_IF, RVM_FLOW_COME_FROM},
                                                 [RVM_PAIR_for] = {RVM_FLOW_LOOP, RVM_FLOW_LOOP_END},
                                                 [RVM_PAIR_par] = {RVM_FLOW_BLOCK, RVM_FLOW_BLOCK_END},
                                                 [RVM_PAIR_compute] = {RVM_FLOW_COMPUTE},
                                                 [RVM_PAIR_do] = {RVM_FLOW_DO},
                                                 [RVM_PAIR_undo] = {RVM_FLOW_UNDO}};

/* A reversed loop or block has its ends the other way round. */
static rvm_flow flow_of(const rvm_insn *in, uint32_t pc) {
    const bool second = rvm__is_loop(in->op) ? in->target < pc : rvm__is_inverse(in->op);
    return (rvm_flow)flows[rvm__pair_of(in->op)][second];
}

bool rvm_program_instruction(const rvm_program *p, uint32_t fn, uint32_t pc, rvm_instruction *out) {
    const rvm_function *f = function_at(p, fn);
    if (!f || !out || pc >= f->ncode) return false;
    const rvm_insn *in = &f->code[pc];
    const char target = rvm__op_target((rvm_op)in->op);
    *out = (rvm_instruction){.mnemonic = rvm__op_info[in->op].name,
                             .symbol = rvm__op_info[in->op].symbol,
                             .places = in->nplaces,
                             .flow = flow_of(in, pc)};
    if (rvm__op_is_update((rvm_op)in->op)) out->row = rvm__row_info[in->row].name;
    out->target = target == 'L' ? (int64_t)in->target : -1;
    out->callee = target == 'F' ? (int64_t)in->target : -1;
    return true;
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
    for (uint32_t k = 0; k < f->nsymbols && f->symbols[k].from <= pc; k++) {
        const rvm_symbol *s = f->symbols + k;
        if (s->is_array == is_array && s->index == index && pc < s->to) name = s->name;
    }
    return name;
}

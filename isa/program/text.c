/* text.c: values, places and instructions as text.
 *
 * A value is written so that it reads back as the same bits, and its type shows; the syntax is that of docs/language.md,
 * raw mnemonics. Nothing here relies on a verified program: numbers out of range are written as they are.
 */
#include "text.h"
#include "digits.h"
#include "builder.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void rvm__put(rvm_sink *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (to->file)
        vfprintf(to->file, format, args);
    else {
        size_t at = (size_t)to->used < to->size ? (size_t)to->used : to->size;
        to->used += vsnprintf(to->size ? to->text + at : NULL, to->size - at, format, args);
    }
    va_end(args);
}

/* ---- values ---- */

/* The shortest digits that read back as x, with a mark that it is no whole number of type i64. */
static int double_text(double x, const char *prefix, char *text, size_t size) {
    char digits[40];
    rvm__shortest_digits(x, digits, sizeof digits);
    size_t point = strspn(digits, "+-0123456789e"); /* a locale may have another */
    if (digits[point]) digits[point] = '.';
    return snprintf(text, size, "%s%s%s", prefix, digits, strpbrk(digits, ".e") ? "" : ".0");
}

int rvm__value_text(rvm_type t, rvm_value v, char *text, size_t size) {
    switch (t) {
    case RVM_TYPE_COUNT: break;
    case RVM_I64: return snprintf(text, size, "%lld", (long long)v.i);
    case RVM_F64:
        if (isfinite(v.f)) return double_text(v.f, "", text, size);
        break;
    case RVM_F32:
        if (isfinite(v.f)) return double_text(v.f, "f32:", text, size);
        break;
    case RVM_FIX:
        if (rvm_fix_from_double(rvm_fix_to_double(v.i)) == v.i && v.i != INT64_MAX)
            return double_text(rvm_fix_to_double(v.i), "fix:", text, size);
        break;
    }
    return snprintf(text, size, "%s:0x%016llx", rvm_type_name(t), (unsigned long long)v.u);
}

/* ---- places ---- */

const char *rvm__view_name(const rvm_view *v, bool is_array, uint16_t index) {
    if (v->raw) return NULL;
    if (!v->names) return rvm__symbol_at(v->f, is_array, index, v->pc);
    if (index >= (is_array ? v->f->narrays : v->f->nregs)) return NULL;
    uint32_t k = v->names->current[is_array][index];
    return k && v->pc < v->f->symbols[k - 1].to ? v->f->symbols[k - 1].name : NULL;
}

void rvm__put_slot(rvm_sink *to, const rvm_view *v, uint16_t slot) {
    const rvm_function *f = v->f;
    if (slot >= f->nregs) {
        char number[64];
        uint32_t k = slot - f->nregs;
        if (k < f->nconsts) rvm__value_text((rvm_type)f->const_type[k], f->consts[k], number, sizeof number);
        rvm__put(to, "%s", k < f->nconsts ? number : "?");
        return;
    }
    const char *name = rvm__view_name(v, false, slot);
    if (name)
        rvm__put(to, "%s", name);
    else
        rvm__put(to, "%%%u", slot);
}

static void put_index(rvm_sink *to, const rvm_view *v, uint16_t slot) {
    if (v->values && slot < v->f->nregs && !rvm__view_name(v, false, slot))
        rvm__put(to, "%lld", (long long)v->values[slot].i);
    else
        rvm__put_slot(to, v, slot);
}

/* In a message, a part of an array that the source gives no name: as what made it says, where that stands above and has a
 * name itself. */
static bool put_part(rvm_sink *to, const rvm_view *v, uint16_t array) {
    const rvm_insn *in = NULL;
    for (uint32_t pc = v->pc; pc-- > 0 && !in;)
        if (v->f->code[pc].op == RVM_OP_view && v->f->code[pc].nplaces > 1 &&
            rvm__places(v->f, &v->f->code[pc])->slot == array)
            in = &v->f->code[pc];
    const rvm_place *q = in ? rvm__places(v->f, in) : NULL;
    const char *name = in ? rvm__view_name(v, true, q[1].slot) : NULL;
    if (!name) return false;
    rvm__put(to, "%s", name);
    for (uint32_t k = 2; k < in->nplaces; k++) {
        rvm__put(to, "%s", k > 2 ? ", " : "[");
        put_index(to, v, q[k].slot);
        if (q[k].kind != RVM_PLACE_RANGE) continue;
        rvm__put(to, "..");
        put_index(to, v, q[k].idx[0]);
    }
    rvm__put(to, "]");
    return true;
}

static void put_array(rvm_sink *to, const rvm_view *v, uint16_t array) {
    const char *name = rvm__view_name(v, true, array);
    if (name)
        rvm__put(to, "%s", name);
    else if (v->raw || v->names || !put_part(to, v, array))
        rvm__put(to, "@%u", array);
}

void rvm__put_place(rvm_sink *to, const rvm_view *v, const rvm_place *q) {
    switch ((rvm_place_kind)q->kind) {
    case RVM_PLACE_KIND_COUNT: break;
    case RVM_PLACE_SLOT: rvm__put_slot(to, v, q->slot); break;
    case RVM_PLACE_ARRAY: put_array(to, v, q->slot); break;
    case RVM_PLACE_RANGE:
        rvm__put_slot(to, v, q->slot);
        rvm__put(to, "..");
        rvm__put_slot(to, v, q->idx[0]);
        break;
    case RVM_PLACE_ELEM:
        put_array(to, v, q->slot);
        for (int k = 0; k < q->nidx && k < RVM_MAX_DIMS; k++) {
            rvm__put(to, "%s", k ? ", " : "[");
            put_index(to, v, q->idx[k]);
        }
        rvm__put(to, "]");
        break;
    }
}

int rvm__place_text(const rvm_function *f, const rvm_place *p, uint32_t pc, const rvm_value *values, char *text,
                    size_t size) {
    rvm_sink to = {.text = text, .size = size};
    rvm_view v = {.f = f, .pc = pc, .values = values};
    if (size) *text = 0;
    rvm__put_place(&to, &v, p);
    return to.used;
}

rvm__written rvm__is_written(const char *name) {
    const char *tick = strchr(name, '\'');
    if (!tick) return RVM__BY_SOURCE;
    const size_t n = strcspn(++tick, "'");
    if (n && strspn(tick, "0123456789") == n) return RVM__WRITTEN;
    for (rvm_type t = 0; t < RVM_TYPE_COUNT; t++)
        if (strlen(rvm_type_name(t)) == n && !memcmp(tick, rvm_type_name(t), n)) return RVM__WRITTEN_SHARED;
    return RVM__BY_SOURCE;
}

/* ---- instructions ---- */

static void put_mnemonic(rvm_sink *to, const rvm_insn *in) {
    rvm_op op = (rvm_op)in->op;
    for (unsigned flag = 1; flag <= RVM_FLAG_ALL; flag *= 2)
        if (in->flags & flag && rvm__flag_word(flag)) rvm__put(to, "%s ", rvm__flag_word(flag));
    rvm__put(to, "%s", rvm__op_info[op].name);
    if (rvm__op_is_update(op)) rvm__put(to, ".%s", rvm__row_info[in->row].name);
}

void rvm__put_insn(rvm_sink *to, const rvm_view *v) {
    const rvm_insn *in = v->f->code + v->pc;
    char target = rvm__op_target((rvm_op)in->op);
    const char *before = " ";
    put_mnemonic(to, in);
    const char *callee = in->target < v->p->nfunctions ? v->p->functions[in->target].name : "?";
    bool call = rvm__is_call(in);
    if (call) {
        if (target == 'F')
            rvm__put(to, " %s", callee);
        else
            rvm__put(to, " v%u", in->target);
        before = "(";
    }
    for (int k = 0; k < in->nplaces; k++) {
        bool tolerance = in->flags & RVM_FLAG_TOL && k == in->nplaces - 1;
        rvm__put(to, "%s", tolerance ? " ~ " : before);
        rvm__put_place(to, v, rvm__places(v->f, in) + k);
        before = ", ";
    }
    if (target == 'L') rvm__put(to, "%sL%u", before, in->target);
    if (target == 'F' && !call) rvm__put(to, "%s%s", before, callee);
    if (call) rvm__put(to, in->nplaces ? ")" : "()");
}

int rvm_program_instruction_text(const rvm_program *p, uint32_t fn, uint32_t pc, char *text, size_t size) {
    rvm_sink to = {.text = text, .size = text ? size : 0};
    if (to.size) *text = 0;
    if (!p || fn >= p->nfunctions || pc >= p->functions[fn].ncode) return 0;
    rvm_view v = {.p = p, .f = p->functions + fn, .pc = pc};
    rvm__put_insn(&to, &v);
    return to.used;
}

int rvm_program_place_text(const rvm_program *p, uint32_t fn, uint32_t pc, uint32_t k, char *text, size_t size) {
    if (!text) size = 0;
    if (size) *text = 0;
    if (!p || fn >= p->nfunctions || pc >= p->functions[fn].ncode) return 0;
    const rvm_function *f = &p->functions[fn];
    if (k >= f->code[pc].nplaces) return 0;
    return rvm__place_text(f, rvm__places(f, &f->code[pc]) + k, pc, NULL, text, size);
}

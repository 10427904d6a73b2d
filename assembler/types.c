/* types.c: the types of the language, which are the machine's, and complex and lns, which become reals of it. */
#include "asm.h"
#include "instruction.h"
#include "program.h"
#include <string.h>

bool rvm__is_complex(int type) {
    return type >= T_COMPLEX && type < T_COMPLEX + RVM_TYPE_COUNT;
}

rvm_type rvm__part_type(int type) {
    if (type == T_LNS) return RVM_F64;
    return (rvm_type)(rvm__is_complex(type) ? type - T_COMPLEX : type);
}

bool rvm__is_value_type(int type) {
    return type < RVM_TYPE_COUNT || type == T_LNS || rvm__is_complex(type);
}

bool rvm__is_real(int type) {
    return type < RVM_TYPE_COUNT && type != RVM_I64;
}

/* ---- as words ---- */

int rvm__number_type(const assembler *a, const name *n) {
    if (!strcmp(n->text, "lns")) return T_LNS;
    return strcmp(n->text, "complex") ? -1 : T_COMPLEX + (int)a->options.real;
}

static const char *complex_text(rvm_type part) {
    static const char *const texts[] = {
        [RVM_I64] = "", [RVM_F64] = "complex", [RVM_FIX] = "complex(fix)", [RVM_F32] = "complex(f32)"};
    _Static_assert(sizeof texts / sizeof *texts == RVM_TYPE_COUNT, "a text for each type");
    return texts[part];
}

const char *rvm__type_text(int type) {
    switch (type) {
    case T_INT: return "a whole number";
    case T_REAL: return "a number";
    case T_ERROR:
    case T_NONE: return "nothing";
    case T_LNS: return "lns";
    }
    return rvm__is_complex(type) ? complex_text(rvm__part_type(type)) : rvm_type_name((rvm_type)type);
}

void rvm__fn_limit(assembler *a, span at, int64_t result) {
    if (result == -1)
        a->oom = true;
    else
        rvm__diag(a, at, D_FN_TYPES, rvm__number(a, RVM_MAX_SIGNATURE_SIZE), NULL, NULL);
}

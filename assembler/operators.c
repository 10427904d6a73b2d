/* operators.c: the operators of expressions, how tightly they bind, and the rows they stand for. */
#include "asm.h"
#include "instruction.h"

const operator_info rvm__operators[] = {
    [O_OR] = {"or", KW_or, 1, -1},
    [O_AND] = {"and", KW_and, 2, -1},
    [O_POWER] = {"^", KW_NONE, LEVEL_POWER, RVM_ROW_pow},
    [O_NOT] = {"not", KW_not, 0, -1}, /* level 0: no infix */
    [O_NEG] = {"-", KW_NONE, 0, RVM_ROW_neg},
    [O_COMPLEMENT] = {"~", KW_NONE, 0, RVM_ROW_not},
    [O_OTHERS] = {"<", KW_NONE, LEVEL_COMPARE, RVM_ROW_lt},
    {"<=", KW_NONE, LEVEL_COMPARE, RVM_ROW_le},
    {">", KW_NONE, LEVEL_COMPARE, RVM_ROW_gt},
    {">=", KW_NONE, LEVEL_COMPARE, RVM_ROW_ge},
    {"==", KW_NONE, LEVEL_COMPARE, RVM_ROW_eq},
    {"!=", KW_NONE, LEVEL_COMPARE, RVM_ROW_ne},
    {"|", KW_NONE, 5, RVM_ROW_or},
    {"^^", KW_NONE, 6, RVM_ROW_xor},
    {"&", KW_NONE, 7, RVM_ROW_and},
    {"<<", KW_NONE, 8, RVM_ROW_shl},
    {">>", KW_NONE, 8, RVM_ROW_shr},
    {"+", KW_NONE, 9, RVM_ROW_add},
    {"-", KW_NONE, 9, RVM_ROW_sub},
    {"*", KW_NONE, 10, RVM_ROW_mul},
    {"/", KW_NONE, 10, RVM_ROW_div},
    {"//", KW_NONE, 10, RVM_ROW_idiv},
    {"%", KW_NONE, 10, RVM_ROW_irem},
};
const uint32_t rvm__operator_count = sizeof rvm__operators / sizeof *rvm__operators;

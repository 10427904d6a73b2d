/* tables.c: the .def files as tables, and which types an update may have.
 *
 * Names are found by looking along the table: it is short.
 */
#include "builder.h"
#include <string.h>

/* Types that a family's target may have; `mul` on i64 is narrower still (rvm__update_legal). */
enum {
    TYPES_add = RVM_TYPES_N,
    TYPES_sub = TYPES_add,
    TYPES_xor = RVM_TYPES_I,
    TYPES_mul = RVM_TYPES_I | RVM_TYPES_D,
    TYPES_div = TYPES_mul,
    TYPES_let = RVM_TYPES_N,
    TYPES_unlet = TYPES_let,
    TYPES_set = RVM_TYPES_N,
    TYPES_unset = TYPES_set,
};

/* Of changes in place: two opcodes, or one. */
enum {
#define ITSELF                     0
#define INVERSE(...)               1
#define CHANGE(name, inverse, ...) INVERSE_OF_##name = RVM_OP_##name + inverse,
#include "inplace.def"
#undef ITSELF
#undef INVERSE
#undef CHANGE
};

const rvm_op_info rvm__op_info[RVM_OP_LIMIT] = {
#define FAMILY(name_, inverse_, sym, access_, value, seed, sb, sd, doc_)                                                    \
    [RVM_OP_##name_] = {#name_, RVM_OP_##inverse_, RVM_CLASS_UPDATE, NULL, sym, RVM_##access_, TYPES_##name_, doc_},
#define INVERSE FAMILY
#include "families.def"
#undef FAMILY
#undef INVERSE
#define ENTRY(name, inverse, class, operands, types, doc)                                                                   \
    [RVM_OP_##name] = {#name, inverse, RVM_CLASS_##class, operands, NULL, RVM_READ, RVM_TYPES_##types, doc},
#define PAIR(name, inverse, class, operands, types, doc)                                                                    \
    ENTRY(name, RVM_OP_##inverse, class, operands, types, doc) ENTRY(inverse, RVM_OP_##name, class, operands, types, doc)
#define SELF(name, class, operands, types, doc) ENTRY(name, RVM_OP_##name, class, operands, types, doc)
#include "ops.def"
#undef PAIR
#undef SELF
/* REST, or NOTHING, takes what follows the inverse of a change. */
#define ITSELF NOTHING
#define NOTHING(...)
#define INVERSE(name, ...) [RVM_OP_##name] = {#name, (rvm_op)(RVM_OP_##name - 1), RVM_CLASS_IN_PLACE REST
#define REST(operands, types, doc)                                                                                          \
    , operands, NULL, RVM_READ, types, doc                                                                                  \
    }                                                                                                                       \
    ,
#define CHANGE(name, inverse, operands, types, value, exact, shadows, out, partials, where, doc)                            \
    [RVM_OP_##name] = {#name, (rvm_op)INVERSE_OF_##name,                                                                    \
                       RVM_CLASS_IN_PLACE REST(operands, RVM_TYPES_##types, doc) inverse(operands, RVM_TYPES_##types, doc)
#include "inplace.def"
#undef ITSELF
#undef INVERSE
#undef CHANGE
#undef ENTRY
};

#include "text_words.h"
const rvm_row_info rvm__row_info[RVM_ROW_COUNT] = {
#define ROW1(name_, sig_, f_, da, doc_)         {#name_, RVM_SIG_##sig_, 1, f_, {da, NULL, NULL}, doc_},
#define ROW2(name_, sig_, f_, da, db, doc_)     {#name_, RVM_SIG_##sig_, 2, f_, {da, db, NULL}, doc_},
#define ROW3(name_, sig_, f_, da, db, dc, doc_) {#name_, RVM_SIG_##sig_, 3, f_, {da, db, dc}, doc_},
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3
};
#include "words_undef.h"

#include "nan_words.h"
const uint8_t rvm__row_nan[RVM_ROW_COUNT] = {
#define ROW1(name, sig, f, da, doc)         [RVM_ROW_##name] = f,
#define ROW2(name, sig, f, da, db, doc)     [RVM_ROW_##name] = f,
#define ROW3(name, sig, f, da, db, dc, doc) [RVM_ROW_##name] = f,
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3
};
#include "words_undef.h"

static bool same(const char *entry, const char *name, size_t length) {
    return entry && strlen(entry) == length && !memcmp(entry, name, length);
}

int rvm__op_find(const char *name, size_t length) {
    for (int op = 0; op < RVM_OP_LIMIT; op++)
        if (same(rvm__op_info[op].name, name, length)) return op;
    return -1;
}

int rvm__row_find(const char *name, size_t length) {
    for (int row = 0; row < RVM_ROW_COUNT; row++)
        if (same(rvm__row_info[row].name, name, length)) return row;
    return -1;
}

static bool is_target(char letter) {
    return letter == 'L' || letter == 'F' || letter == 'S';
}

int rvm__op_places(rvm_op op, rvm_row row, uint8_t flags) {
    if (rvm__op_is_update(op)) return 1 + rvm__row_info[row].arity + (flags & RVM_FLAG_TOL || rvm__op_sets(op) ? 1 : 0);
    int n = 0;
    for (const char *c = rvm__op_info[op].operands; *c; c++) {
        if (rvm__letter_varies(*c)) return -1;
        n += !is_target(*c);
    }
    return n;
}

/* ---- letters of places ---- */

enum {
    NOTHING = RVM__BITS_NONE,
    READ = RVM__BITS_READ,
    OWN = RVM__BITS_OWN,
    TOGGLES = RVM__LETTER_TOGGLES,
    VARIES = RVM__LETTER_VARIES,
    TYPED = RVM__LETTER_TYPED
};
const uint8_t rvm__letters[256] = {
    ['y'] = OWN | TYPED,
    ['w'] = OWN,
    ['d'] = OWN | VARIES, /* changed */
    ['t'] = OWN | TOGGLES | TYPED,
    ['X'] = OWN | TOGGLES | TYPED,
    ['i'] = OWN | TOGGLES,
    ['r'] = OWN | TOGGLES | VARIES,
    ['V'] = TYPED,
    ['W'] = NOTHING, /* what a view or an array is made from */
    ['a'] = READ | TYPED,
    ['p'] = READ | TYPED,
    ['k'] = READ,
    ['c'] = READ,
    ['l'] = READ,
    ['m'] = READ,
    ['s'] = READ,
    ['e'] = READ,
    ['*'] = READ | VARIES,
    ['+'] = READ | VARIES,
    ['#'] = READ | VARIES,
};

static bool any_varies(const char *letters) {
    while (*letters && !rvm__letter_varies(*letters)) letters++;
    return *letters;
}

static const struct flag_word {
    const char *word;
    unsigned flag;
} flag_words[] = {
    {"unchecked", RVM_FLAG_UNCHECKED}, {"restore", RVM_FLAG_RESTORE}, {"reversed", RVM_FLAG_REVERSED},
    {"forgetting", RVM_FLAG_FORGETS},  {"telling", RVM_FLAG_TELLS},   {"swept", RVM_FLAG_SWEPT},
};
enum { FLAG_WORDS = sizeof flag_words / sizeof *flag_words };

const char *rvm__flag_word(unsigned flag) {
    for (int k = 0; k < FLAG_WORDS; k++)
        if (flag_words[k].flag == flag) return flag_words[k].word;
    return NULL;
}

unsigned rvm__flag_find(const char *word) {
    for (int k = 0; k < FLAG_WORDS; k++)
        if (!strcmp(flag_words[k].word, word)) return flag_words[k].flag;
    return 0;
}

const char *rvm__place_letters(const rvm_insn *in, char buffer[256]) {
    const char *at = rvm__letters_first(in), last = rvm__letter_last(in);
    if (!last && (rvm__op_is_update((rvm_op)in->op) || !any_varies(at))) return at;
    uint32_t k = 0;
    for (; k < in->nplaces; k++, at = rvm__letters_next(at)) buffer[k] = rvm__letter_at(in, at, last, k);
    buffer[k] = 0;
    return buffer;
}

char rvm__op_target(rvm_op op) {
    const char *operands = rvm__op_info[op].operands;
    while (operands && *operands && !is_target(*operands)) operands++;
    return operands ? *operands : 0;
}

/* Types that the target of a row may have. */
static unsigned result_types(rvm_row row) {
    switch (rvm__row_info[row].sig) {
    case RVM_SIG_NUM:
    case RVM_SIG_SEL:
    case RVM_SIG_CONV: return RVM_TYPES_N;
    case RVM_SIG_REAL:
    case RVM_SIG_POS:
    case RVM_SIG_ORD: return RVM_TYPES_R;
    case RVM_SIG_INT:
    case RVM_SIG_QUOT:
    case RVM_SIG_CMP: return RVM_TYPES_I;
    case RVM_SIG_COUNT: break;
    }
    return 0;
}

bool rvm__row_types(rvm_row row, rvm_type y, rvm_type t, rvm_type operand[3]) {
    if (!(result_types(row) & 1u << y)) return false;
    rvm_sig sig = rvm__row_info[row].sig;
    bool converts = sig == RVM_SIG_CONV;
    if (sig != RVM_SIG_CMP && converts == (t == y)) return false;
    for (int k = 0; k < 3; k++) operand[k] = t;
    if (rvm__row_first(row)) operand[0] = RVM_I64;
    return true;
}

bool rvm__update_legal(rvm_op op, rvm_row row, rvm_type y) {
    if (!rvm__op_is_update(op) || !(rvm__op_info[op].types & result_types(row) & 1u << y)) return false;
    return y != RVM_I64 || rvm__pair_of(op) != RVM_PAIR_mul || row == RVM_ROW_id; /* invertible by an odd constant only */
}

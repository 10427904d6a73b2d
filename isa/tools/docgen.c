/* docgen.c: writes docs/isa.md, the manual of the instruction set, from the tables. */
#include "docderive.h"
#include "instruction.h"
#include <stdlib.h>
#include <string.h>

/* ---- the families' formulas: Y_ is y_b in an adjoint, y_d in a tangent ---- */

typedef struct family_text {
    rvm_op op;
    const char *value, *seed, *shadow_b;
} family_text;

#include "text_words.h"
#define Y "y"
#define F "f"
#define D "f_d"
static const family_text families[] = {
#define Y_                                                                 "y_b"
#define FAMILY(name_, inverse_, sym, access_, value_, seed_, sb, sd, doc_) {RVM_OP_##name_, value_, seed_, sb},
#define INVERSE                                                            FAMILY
#include "families.def"
#undef FAMILY
#undef Y_
};
static const char *const tangents[] = {
#define Y_                                                                 "y_d"
#define FAMILY(name_, inverse_, sym, access_, value_, seed_, sb, sd, doc_) sd,
#include "families.def"
#undef FAMILY
#undef INVERSE
#undef Y_
};
#undef Y
#undef F
#undef D
#include "words_undef.h"

/* ---- text ---- */

/* Index of the parenthesis that closes the one at s[at]. */
static size_t closing(const char *s, size_t at) {
    int depth = 0;
    for (size_t k = at; s[k]; k++) {
        depth += (s[k] == '(') - (s[k] == ')');
        if (!depth) return k;
    }
    return at;
}

/* The words parenthesise everything: drop the pairs around a whole formula or a whole argument. Escapes bars for tables. */
static void print_formula(const char *s) {
    bool dropped[512] = {false};
    size_t n = strlen(s);
    if (n >= sizeof dropped) exit(2);
    for (size_t k = 0; k < n; k++) {
        if (s[k] != '(' || (k && s[k - 1] != '(' && (k < 2 || s[k - 2] != ','))) continue;
        size_t end = closing(s, k);
        if (end + 1 < n && s[end + 1] != ')' && s[end + 1] != ',') continue;
        dropped[k] = dropped[end] = true;
    }
    printf("`");
    for (size_t k = 0; k < n; k++)
        if (!dropped[k]) printf(s[k] == '|' ? "\\|" : "%c", s[k]);
    printf("`");
}

static void print_cell(const char *formula) {
    printf(" | ");
    if (formula)
        print_formula(formula);
    else
        printf("–");
}

static void print_types(unsigned mask) {
    const char *before = "";
    for (int t = 0; t < RVM_TYPE_COUNT; t++)
        if (mask & 1u << t) {
            printf("%s%s", before, rvm_type_name((rvm_type)t));
            before = ", ";
        }
}

/* ---- families ---- */

static void print_families(void) {
    printf("## Updates: families\n\n"
           "An update is written `family.row y, a, b, c`: the family says what happens to the target `y`, the row what `f` "
           "is.\n"
           "Below, `f` is the row's function of the operands, `y_b` and `y_d` are the shadow of `y` in gradient and tangent "
           "mode,\n"
           "and `f_d` is `df/da * a_d + df/db * b_d + df/dc * c_d`. The adjoint is what the backward sweep does at the "
           "update: the\n"
           "shadow of each operand x gains `df/dx` times the *gain*, with `y` as the update left it; then `y_b` changes, "
           "and `y` goes\n"
           "back by the inverse. Integers have no shadow; the shadow of a place that is absent is 0.\n\n"
           "| code | family | `y` | inverse | types of `y` | `y` afterwards | adjoint: gain | adjoint: `y_b` | tangent: "
           "`y_d` | "
           "role of `y` | |\n|--|--|--|--|--|--|--|--|--|--|--|\n");
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        const family_text *t = families + k;
        const rvm_op_info *info = rvm__op_info + t->op;
        bool shadows = info->types & RVM_TYPES_R;
        printf("| %d | `%s` | `%s` | `%s` | ", t->op, info->name, info->symbol, rvm__op_info[info->inverse].name);
        print_types(info->types);
        print_cell(t->value);
        print_cell(shadows ? t->seed : NULL);
        print_cell(shadows ? t->shadow_b : NULL);
        print_cell(shadows ? tangents[k] : NULL);
        printf(" | %s | %s |\n", rvm_role_name(info->access), info->doc);
    }
}

/* ---- rows ---- */

static const char *sig_title(rvm_sig sig) {
    switch (sig) {
    case RVM_SIG_NUM: return "Numbers: T ← T…, T any type";
    case RVM_SIG_REAL: return "Reals: T ← T…, T f64, f32 or fix";
    case RVM_SIG_INT: return "Integers: i64 ← i64…";
    case RVM_SIG_QUOT: return "Integer quotients: i64 ← i64, i64; a second operand of 0 is an error (DOMAIN)";
    case RVM_SIG_CMP: return "Comparisons: i64 ← T, T, T any type";
    case RVM_SIG_SEL: return "Selection: T ← i64, T, T, T any type";
    case RVM_SIG_CONV: return "Conversion: any type ← any other type";
    case RVM_SIG_POS:
        return "Of positive numbers: T ← T, T f64, f32 or fix; an operand that is not positive and finite is an error "
               "(DOMAIN)";
    case RVM_SIG_ORD: return "Functions of an order: T ← i64, T, T f64, f32 or fix";
    case RVM_SIG_COUNT: break;
    }
    return "";
}

static void print_rows_of(rvm_sig sig) {
    printf("\n### %s\n\n| code | row | `f` | `df/da` | `df/db` | `df/dc` | |\n|--|--|--|--|--|--|--|\n", sig_title(sig));
    for (int row = 0; row < RVM_ROW_COUNT; row++) {
        const rvm_row_info *info = rvm__row_info + row;
        if (info->sig != sig) continue;
        printf("| %d | `%s`", row, info->name);
        print_cell(info->f);
        for (int k = 0; k < 3; k++) print_cell(info->partial[k]);
        printf(" | %s |\n", info->doc);
    }
}

static void print_rows(void) {
    printf("\n## Updates: rows\n\n"
           "`f` in a partial derivative stands for the row's own value. `select(c, x, y)` is x where c is not 0, else y. "
           "Operands are\n"
           "registers, constants or array elements; in expressions of the language a row is a function or the operator it "
           "shows.\n");
    for (int sig = 0; sig < RVM_SIG_COUNT; sig++) print_rows_of((rvm_sig)sig);
}

/* ---- the other instructions ---- */

static const char *letter_text(char letter) {
    switch (letter) {
    case 'y': return "place of type T, owned";
    case 'p': return "place of type T, read";
    case 'a': return "operand of type T, read: a place or a constant";
    case 'c': return "i64 register, read";
    case 'k': return "i64 slot, read: a register or a constant";
    case 'i': return "i64 register, owned";
    case 'X': return "array, owned: it appears or disappears";
    case 'V': return "array, viewed";
    case 'W': return "array, of which the lengths are read";
    case '+': return "one k for each dimension of X, then a value of its type";
    case '#': return "for leading dimensions of V: a k, which removes the dimension, or a range lo..hi, which keeps it";
    case 'L': return "label of the paired instruction";
    case 'F': return "function";
    case 'S': return "variant: which function a function value stands for here";
    case 't': return "register of type T that appears or disappears";
    case '*': return "an argument for each parameter of F or S";
    case 'l': return "i64 constant, from 0: a level of trails";
    case 'm': return "i64 constant: positions in the slot, a bit for each place that follows";
    case 's': return "i64 constant, from 0: a site";
    case 'd': return "one or more places or whole arrays of any types, owned";
    case 'r': return "one or more registers, owned: they appear or disappear";
    }
    return NULL;
}

static void print_operands(const char *operands) {
    for (const char *at = operands; *at; at++) {
        const char *before = at == operands ? " " : ", ";
        switch (*at) {
        case '+': printf(", k…, a"); break;
        case '#': printf(", k or lo..hi…"); break;
        case '*': printf("(…)"); break;
        case 'd':
        case 'r': printf(", %c…", *at); break;
        default: printf("%s%c", before, *at);
        }
    }
}

static void print_name(int op) {
    printf("| %d | `%s", op, rvm__op_info[op].name);
    print_operands(rvm__op_info[op].operands);
    if (rvm__op_info[op].inverse == (rvm_op)op)
        printf("` | | itself");
    else
        printf("` | %d | `%s`", rvm__op_info[op].inverse, rvm__op_info[rvm__op_info[op].inverse].name);
}

/* ---- changes in place ---- */

static void print_places(const rvm_change_info *info, int way) {
    for (int k = 0; k < info->places; k++) {
        printf(k ? "<br>" : " | ");
        print_formula(info->out[way][k]);
    }
}

static void print_partials(const rvm_change_info *info) {
    const char *before = " | ";
    for (int operand = 0; operand < info->operands; operand++)
        for (int k = 0; k < info->places; k++) {
            const rvm_term t = info->partials.by[operand][k];
            if (!t.sign) continue;
            printf("%s`%c` by `%c`: `%s%c`", before, "yzw"[k], "ab"[operand], t.sign < 0 ? "-" : "", "yzw"[t.place]);
            before = "<br>";
        }
    printf("%s", *before == ' ' ? " | –" : info->partials.before ? "<br>as before" : "");
}

static void print_changes(void) {
    static const char *const shadows[] = {"stay", "move along", "by the same map", "scaled"};
    printf(
        "\n## Changes in place\n\n"
        "What becomes of the places `y`, `z`, `w`, by operands `a`, `b`; of an instruction with a condition `c`, where that "
        "is "
        "not 0.\n"
        "*Shadows* are those of the places, in tangent and in gradient mode, apart from what operands give: the partials of "
        "the places\n"
        "by them, in places as they are on either side of the instruction, beside the shadows there, or *as before* it. An "
        "instruction\n"
        "of which the condition in the last column but one does not hold afterwards fails (DOMAIN). Nothing else may fail "
        "but "
        "fix, which may\n"
        "overflow, and places that coincide (ALIAS).\n\n"
        "| code | instruction | code | inverse | T | places afterwards | of the inverse | partials | shadows | where | |\n"
        "|--|--|--|--|--|--|--|--|--|--|--|\n");
    for (int op = 2 * RVM__PAIRS_BEFORE_CHANGES; op < RVM_OP_LIMIT; op += 2) {
        const rvm_change_info *info = &rvm__change_info[rvm__change_of((unsigned)op)];
        print_name(op);
        printf(" | ");
        print_types(rvm__op_info[op].types);
        print_places(info, 0);
        if (rvm__op_info[op].inverse == (rvm_op)op)
            printf(" | the same");
        else
            print_places(info, 1);
        print_partials(info);
        printf(" | %s", rvm__op_info[op].types == RVM_TYPES_I ? "–" : shadows[info->shadows]);
        print_cell(info->where);
        printf(" | %s |\n", rvm__op_info[op].doc);
    }
}

static void print_ops(void) {
    printf("\n## The other instructions\n\n"
           "What each means in every mode, and when it fails, is in [semantics.md](semantics.md). A place is a register or "
           "an array\n"
           "element; indices are registers or constants. Operands:\n\n");
    for (const char *at = "ypackitXVW+#LFS*lsdr"; *at; at++) printf("- `%c`: %s\n", *at, letter_text(*at));
    printf("\n| code | instruction | code | inverse | T | |\n|--|--|--|--|--|--|\n");
    for (int op = RVM_OP_start; op < 2 * RVM__PAIRS_BEFORE_CHANGES; op += 2) {
        const rvm_op_info *info = rvm__op_info + op;
        print_name(op);
        printf(" | ");
        if (strpbrk(info->operands, "ypatX"))
            print_types(info->types);
        else
            printf("–");
        printf(" | %s |\n", info->doc);
    }
}

int main(void) {
    printf("# The instruction set\n\n"
           "<!-- Generated from families.def, rows.def, ops.def and inplace.def in isa/table/ by rvm_docgen; change those. "
           "-->\n\n"
           "Every instruction is one table row of `isa/`; this page is printed from the tables. Codes are those of the "
           "bytecode, whose\n"
           "layout is in `isa/rbc/rbc.h`; the low bit of an instruction's code is its direction. In text, `unchecked` "
           "before an\n"
           "instruction drops its assertion, `restore` marks an inverse that takes back what was done, and `reversed`\n"
           "turns the order of a loop or parallel block around; a `forgetting undo` discards what its compute part made;\n"
           "the trips of a `telling` loop tell how far a gradient by checkpoints is; `swept` is of adjoints,\n"
           "for exact runs (semantics.md, section 12).\n\n");
    print_families();
    print_rows();
    if (!docgen_derivatives()) return 1;
    print_ops();
    print_changes();
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

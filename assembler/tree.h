/* tree.h: what the assembler makes of a source: words, names, constants, expressions, statements, and what names stand for.
 */
#ifndef RVM_ASSEMBLER_TREE_H
#define RVM_ASSEMBLER_TREE_H

#include "instruction.h"

typedef struct span {
    uint32_t line, column;
    uint16_t file, length;
} span;

/* clang-format off */
#define KEYWORDS(X) \
    X(fn) X(const) X(include) X(let) X(if) X(else) X(end) X(from) X(while) X(for) X(compute) X(do) X(undo) \
    X(call) X(uncall) X(unchecked) X(and) X(or) X(not) X(in) X(step) X(reg) X(arr) X(set) X(drop) X(parallel) X(forget) \
    X(loop) X(until)
/* clang-format on */
typedef enum keyword {
    KW_NONE,
#define X(word) KW_##word,
    KEYWORDS(X)
#undef X
} keyword;

/* Words with a meaning in their place only, which may be names as well, come last. */
static inline bool is_reserved(uint8_t keyword_) {
    return keyword_ && keyword_ < KW_in;
}

/* ---- names ---- */

typedef struct name {
    struct name *next; /* in its bucket */
    const char *text;  /* ends in NUL */
    uint32_t hash, length;
    int16_t op, row, type; /* as a mnemonic, a row, a type; -1 */
    uint8_t keyword;
    struct var *var; /* visible now */
    struct func *func;
    struct constant *constant;
    struct record *record;     /* a type that a source declares */
    struct label *label;       /* of the function being lowered, when its owner is */
    const struct func *writer; /* the function being lowered, when it changes a place of this name */
    const struct stmt *region; /* undone.c: the last that names it */
} name;

/* ---- constants ---- */

/* A fraction in lowest terms: the limbs of its numerator, low first, then those of its denominator. 0 has no limb, and no
 * sign. */
typedef struct exact {
    bool negative;
    uint16_t n, d;
    uint64_t limb[];
} exact;

/* ---- expressions ---- */

/* Beside rvm_type: constants without a type yet; no value; the types that numbers.def turns into reals, lns + its
 * logarithm's, complex + its parts'; then a number for each type that the sources declare. From T_COMPLEX on a type is a
 * record. */
enum {
    T_INT = RVM_TYPE_COUNT,
    T_REAL,
    T_ERROR,
    T_NONE,
    T_LNS,
    T_COMPLEX = T_LNS + RVM_TYPE_COUNT,
    T_STATE = T_COMPLEX + RVM_TYPE_COUNT,
    MAX_RECORDS = UINT8_MAX - T_COMPLEX
};

typedef enum expr_kind {
    E_EXACT,  /* exact: a constant, T_INT where it is written as a whole number, else T_REAL */
    E_REAL,   /* f: a constant that was rounded */
    E_NAME,   /* name */
    E_INDEX,  /* name, kids: subscripts */
    E_RANGE,  /* kids: lo, hi */
    E_UNARY,  /* operator, kid */
    E_BINARY, /* operator, kids */
    E_CALL,   /* name of a row or type, kids */
    E_FN,     /* callee: its number, a function value */
    /* after checking, besides E_EXACT and E_REAL where no type was met: */
    E_VALUE,   /* value, of its type */
    E_VAR,     /* var: a register, or a whole array */
    E_ELEM,    /* var, kids: all subscripts, i64 */
    E_PART,    /* var, kids: subscripts and ranges; a row or slice */
    E_ROW,     /* row, kids */
    E_POWER,   /* i, kid: a small whole power */
    E_COMPLEX, /* row of numbers.def in op, kids */
    E_PLACE,   /* place: lowered already */
    E_ERROR
} expr_kind;

/* .u behind a name or its subscripts, of which `before` stand before it. */
typedef struct selector {
    struct selector *next;
    struct name *name;
    uint32_t before;
} selector;

typedef struct expr { /* 64 bytes, of which a source makes many */
    uint8_t kind, type, nkids;
    uint8_t op; /* operator, or row */
    uint16_t depth;
    uint16_t signature;   /* of a function value, an i64: 1 + its type; else 0 */
    selector *selector;   /* of E_NAME, E_INDEX: members, from the whole inward */
    const uint8_t *types; /* of a function value's parameters, where some are
                             complex or lns; else NULL */
    bool checked;
    bool raw_bits; /* of E_VALUE: written with its type, f64:0x.. */
    bool guards; /* of an E_ROW, and or or: its second operand, which may fail, is needed only where the first leaves it open
                  */
    span at;
    union {
        int64_t i;
        double f;
        const exact *exact;
        rvm_value value;
        rvm_place place;
        struct name *name;
        struct var *var;
        struct callee *callee;
    } u;
    struct expr **kids;
} expr;

/* ---- types ---- */

/* A type as it stands somewhere, of a parameter, a let or a member. */
typedef struct typed {
    uint8_t type, ndim;
    uint16_t signature;   /* of a function value, an i64: 1 + its type; else 0 */
    const uint8_t *types; /* as in expr */
    uint32_t nlengths;
    expr **lengths; /* of a record: State(n, 2 * n), in the order of its lengths; NULL: under the names that these have */
    expr *dim[RVM_MAX_DIMS];
} typed;

typedef struct member {
    struct name *name;
    typed as;
} member;

/* What a record comes down to: a type that is none, and the dimensions that it has within the record. */
typedef struct leaf {
    uint8_t type, ndim;
} leaf_type;

/* A type of several parts: complex, or what `type` declares; or another name for a type, which stands in its place. */
typedef struct record {
    struct name *name;
    span at; /* of the name */
    size_t offset;
    uint8_t type;              /* its number */
    uint8_t state;             /* 0 not read yet, 1 being read, 2 read, 3 wrong, which was told */
    uint8_t shadow;            /* type of its derivatives, which has no integers; 0: not made yet */
    bool shadows;              /* it is one of another record */
    bool fallback;             /* ?=: another definition comes before it */
    const struct typed *alias; /* what it is another name of; NULL: of nothing */
    uint32_t longest;          /* characters of its longest leaf's name, with the points */
    uint32_t nmembers, nleaves;
    member *members;
    leaf_type *leaves;
} record;

/* ---- statements ---- */

/* A tick behind the name of a function, as 'adj or 'adj[out, x]. */
typedef struct tick {
    struct tick *next;
    uint8_t kind; /* rvm_transform */
    bool listed;  /* with a list of active parameters */
    uint32_t nactive;
    expr **active; /* E_NAME */
    span at;
} tick;

/* A function as a statement names it; with ticks, it is declared before any function is lowered. */
typedef struct callee {
    struct callee *next; /* with ticks: the one before in the source */
    struct name *name;   /* up to the first tick */
    struct name *word;   /* all of it, where it has no list: a raw function may be called so */
    tick *ticks;
    int64_t index; /* in the program; -1: none, which was told */
    const struct param *params;
    uint32_t nparams;
    span at;
} callee;

typedef enum stmt_kind {
    S_LET,    /* name, as, expr, tolerance, post: what it is released as, if not as expr */
    S_UPDATE, /* op, row (-1: the expression's own), args[0] target, expr or args[1..] */
    S_OP,     /* op, args */
    S_CALL,   /* op, callee, args */
    S_IF,     /* expr, post, body, other */
    S_FROM,   /* expr, post: the while part, body */
    S_UNTIL,  /* expr, post, body, which is run before post is tested, other */
    S_FOR,    /* op: for or par; name, args: lo, hi, and of for the step; body */
    S_REGION, /* body, other */
    S_UNCHECKED,
    S_LABEL, /* name */
    S_REG,   /* name, as */
    S_SET,   /* args[0] target, expr, post: a condition */
    S_DROP,  /* args[0] */
    S_PRINT, /* name: the text, a byte of 1 for each of the args */
    S_WHILE, /* expr, body */
} stmt_kind;

typedef struct stmt { /* 160 bytes, of which a source makes many */
    struct stmt *next;
    uint8_t kind, op, flags;
    bool drops;   /* of an if: its condition goes onto the trail */
    bool forgets; /* of a region: it ends by `forget` */
    bool broken;  /* its line is wrong, which was told; what it declares counts as known */
    int16_t row;
    uint16_t nargs;
    span at;
    span name_at;
    span do_at, undo_at; /* of a region */
    struct name *name;
    typed *as; /* of what let or reg makes; else NULL */
    expr **args;
    expr *expr, *post, *tolerance;
    struct callee *callee;
    struct stmt *body, *other;
} stmt;

/* ---- what names stand for ---- */

typedef enum var_kind { V_LOCAL, V_PARAM, V_LENGTH, V_INDEX } var_kind;

typedef struct var {
    struct var *below; /* declared before, still visible */
    struct name *name;
    uint8_t kind, type, ndim; /* ndim 0: a register */
    bool failed;              /* its declaration was wrong: say nothing more */
    bool again;               /* its name stood for something else already */
    uint16_t slot, signature;
    const uint8_t *types; /* as in expr */
    uint32_t from;        /* first instruction where the name holds */
    stmt *let;            /* to be released at the end of its scope */
    span at;
    expr *dim[RVM_MAX_DIMS]; /* of an array */
    const member *member;    /* that it is of `whole` */
    struct var **part, *whole;
    uint32_t nparts; /* of a record: its members, which know it */
} var;

typedef struct param {
    struct name *name;
    typed as;
    span at;
    uint16_t *place; /* of each leaf, among those of the program's function */
} param;

/* A name that a function's statements may change; collected while parsing. */
typedef struct written {
    struct written *next;
    struct name *name;
} written;

typedef struct func {
    struct func *next;
    struct name *name;
    span at;
    uint32_t index, nparams;
    param *params;
    stmt *body;
    written *written;
    span end;             /* of its last word */
    struct name *rule_of; /* of a derivative that is written by hand, what it is of, and of which kind; else NULL */
    tick *rule;
    bool is_raw;
    size_t offset;     /* raw: of its name */
    bool broken;       /* its header is wrong: calls are not looked at */
    struct var *scope; /* its parameters and lengths, once declared */
} func;

typedef struct constant {
    struct constant *next;
    struct name *name;
    span at;
    expr *expr;
    uint8_t type;  /* declared, or T_NONE */
    uint8_t state; /* 0 not looked at, 1 being resolved, 2 done */
} constant;

typedef struct label {
    const func *owner;
    bool placed;
    uint32_t pc;
    span at;
} label;

#endif

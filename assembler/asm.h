/* asm.h: what the files of the assembler share, with tree.h. Not installed.
 *
 * A file uses those above it only, and each recursive descent is within a file.
 *
 *   arena.c         memory of one assembly, names
 *   exact.c         constants as exact fractions
 *   diag.c          messages.def with arguments, kept and sorted by place
 *   types.c         types of the language
 *   tree.c          expressions made, changed, compared
 *   operators.c     operators of expressions, how tightly they bind
 *   hint.c          hints in the user's own words
 *   search.c        where the standard library is
 *   source.c        files: the main one, then the included ones in the order they are named
 *   lex.c           bytes to tokens, a token ahead
 *   scan.c          which files and types there are
 *   parse_*.c       tokens to trees: token, expr, type, table, stmt, block; names are interned, with all about them
 *   parse.c         what stands outside of functions
 *   constant.c      constants where they meet a type
 *   formula.c       complex and lns as trees over reals
 *   fold.c          rows of constants
 *   coerce.c        conversions
 *   numbers.c       operations on complex and lns
 *   check_row.c     operations on all else
 *   derived.c       the names of derived functions: f'grad[out, x]'tan
 *   fn_types.c      function values
 *   check_name.c    what names stand for
 *   check.c         trees of expressions: names and types resolved, conversions inserted, in place
 *   check_stmt.c    what statements ask of their operands
 *   gen.c           registers, instructions, the mirror of temporaries, labels
 *   given.c         arguments that are no place
 *   undone.c        a warning of changes that come to nothing
 *   lower_expr.c    checked expressions to instructions
 *   lower_number.c  statements on complex places
 *   lower_trail.c   set and drop
 *   lower_call.c    call and uncall
 *   raw.c           mnemonics by the letters of their operands
 *   lower_stmt.c    let and updates
 *   lower_whole.c   statements on whole arrays and states
 *   lower_block.c   all statements
 *   lower_fn.c      functions
 *   raw_*.c         functions written wholly raw: tokens to instructions
 *   assemble.c      the public functions, which call all of these
 *   expression.c    an expression over named places, as a source of its own
 *   listing.c       the source with its instructions
 *
 * Memory comes from one arena. A failing allocation sets `oom`: the lexer then yields only ends of file, so that
 * everything above unwinds by itself.
 */
#ifndef RVM_ASSEMBLER_H
#define RVM_ASSEMBLER_H

#include "rvm_asm.h"
#include "transform.h"
#include "tree.h"
#include "program.h"
#include <limits.h>
#include <locale.h>

enum {
    MAX_NESTING = 200, /* blocks in blocks, expressions in expressions */
    MAX_CHAIN = 1000,  /* operations in a row: a + b + c + ... */
    MAX_NAME = 255,
    MAX_TICKED = 4095, /* of a derived function */
    MAX_LENGTHS = 32,  /* of a record */
    LEAF_NAME = 2 * MAX_NAME + 8,
    MAX_SOURCE = 1 << 28,
    MAX_MESSAGES = 1000,
    EXACT_BITS = 4096 /* of a constant's numerator and denominator each */
};

/* ---- the assembler ---- */

typedef struct source {
    const char *name, *path; /* path: real, NULL when from memory */
    char *text;
    size_t size;
    uint16_t *files; /* numbers in the program of what `.file` names */
    uint32_t nfiles, cap_files;
    int32_t number; /* its own in the program, -1 until an instruction comes from it */
} source;

typedef struct message {
    rvm_status code; /* RVM_OK: a warning */
    span at;
    const char *file; /* when it is none of the sources */
    uint32_t order;
    const char *text, *hint;
} message;

/* A function value where one of a type is needed: roles are compared when they are known. */
typedef struct taken {
    struct taken *next;
    uint32_t function, signature;
    span at;
} taken;

/* Of a raw variant's table: what it runs for a function. */
typedef struct derived {
    struct derived *next;
    struct name *fn, *derived;
    uint32_t variant;
    span at;
} derived;

/* An argument that is no place. */
typedef struct given {
    uint32_t function, param;
    span at;
    struct given *next;
} given;

typedef struct assembler {
    rvm_allocator al;
    rvm_asm_options options;
    struct block *blocks; /* the arena */
    name **buckets;
    uint32_t nnames, nbuckets;
    source *sources;
    uint32_t nsources, cap_sources;
    message *messages;
    uint32_t nmessages, cap_messages, nerrors; /* warnings are messages, too */
    func *funcs, **funcs_end;
    constant *constants, **constants_end;
    record *records[MAX_RECORDS];
    uint32_t nrecords;
    given *given; /* latest first */
    derived *derived;
    taken *taken;
    callee *callees, **callees_end;  /* those with ticks */
    uint32_t constant_depth, nsites; /* sites of the trail so far */
    rvm_program *program;
    locale_t c_locale;
    bool silent;  /* no more messages: they would follow from the last */
    bool lenient; /* the function at hand has a broken header */
    bool oom;
} assembler;

/* arena.c */
void *rvm__arena(assembler *a, size_t size); /* zeroed; NULL and a->oom when there is none */
const char *rvm__arena_copy(assembler *a, const char *text, size_t length);
void rvm__arena_free(assembler *a);
name *rvm__intern(assembler *a, const char *text, size_t length);
const char *rvm__keyword_text(keyword k);

/* diag.c: messages by number, their texts in messages.def; the arguments replace $1, $2, $3 and may be NULL */
typedef enum diag {
#define X(id, status, text, hint) D_##id,
#include "messages.def"
#undef X
} diag;
void rvm__diag(assembler *a, span at, diag d, const char *a1, const char *a2, const char *a3);
/* A hint for the message told last, in place of its own. */
void rvm__diag_hint(assembler *a, diag d, const char *a1, const char *a2, const char *a3);
const char *rvm__number(assembler *a, int64_t n);              /* as text, for messages */
const char *rvm__line_of(assembler *a, span here, span there); /* "line 8", or "line 8 of FILE" where that is another */
/* The visible name nearest to `n` in spelling, or NULL; `what` chooses among them. */
typedef enum near_what { NEAR_VALUE, NEAR_FUNC, NEAR_ROW, NEAR_STATEMENT, NEAR_TYPE } near_what;
const char *rvm__near(assembler *a, const name *n, near_what what);
rvm_status rvm__diag_report(assembler *a, rvm_error *err, rvm_diagnostic report, void *userdata);
void rvm__diag_error(assembler *a, span at, const rvm_error *e); /* an error of isa/ as a message there */
void rvm__diag_verify(assembler *a, const rvm_error *e);         /* the verifier's error as a message */

/* Line `line` of a source, without what ends it; NULL where there is none. */
const char *rvm__source_line(const source *s, uint32_t line, size_t *length);

/* source.c */
bool rvm__source_add(assembler *a, const char *shown, const char *path, const char *text, size_t size);
bool rvm__source_include(assembler *a, const char *file, size_t length, uint16_t from, span at);
/* A regular file, whose opening does not wait; NULL: *why says what is wrong. *size: what it says of itself, at most
 * MAX_SOURCE; not all do. */
FILE *rvm__open_source(const char *path, size_t *size, const char **why);
/* Errors: IO (*why), MEMORY. */
rvm_status rvm__read_file(assembler *a, const char *path, char **text, size_t *size, const char **why);

/* search.c: folder k of those that are always searched; false past the last, "" where it does not exist */
bool rvm__search_folder(unsigned k, char folder[PATH_MAX]);

/* lex.c */
typedef enum token_kind { K_EOF, K_LINE, K_NAME, K_INT, K_REAL, K_IMAGINARY, K_STRING, K_PUNCT, K_BAD } token_kind;
typedef struct token {
    uint8_t kind;
    bool whole;  /* K_IMAGINARY: without a point or an exponent */
    bool big;    /* K_INT: above the largest i64; exact has it */
    bool limit;  /* K_INT: the literal is 2^63, an i64 behind a minus */
    bool first;  /* first on its line */
    bool inside; /* unclosed parentheses before it */
    uint32_t punct;
    size_t offset;
    span at;
    const exact *exact; /* of a literal with a point or an exponent, or too big for u; NULL where it is too long */
    union {
        struct name *name;
        int64_t i;
        double f;
    } u;
} token;
typedef struct parser {
    assembler *a;
    const char *text;
    size_t size, pos, line_start;
    uint32_t line;
    uint16_t file;
    bool fresh;       /* nothing on this line yet */
    uint32_t parens;  /* open ( and [: lines go on inside */
    token tok, ahead; /* this one and the next */
    span last;        /* of the token before */
    uint32_t depth;
    unsigned allowed; /* words that end an open block */
    func *fn;         /* being parsed */
} parser;
void rvm__lex_start(parser *p, assembler *a, uint16_t file);
void rvm__lex_next(parser *p);
void rvm__lex_seek(parser *p, size_t offset, uint32_t line); /* go on there, the start of a token or line */
void rvm__lex_skip_line(parser *p);                          /* after an error: go on with the next line */
const char *rvm__token_text(parser *p, const token *t);
static inline uint32_t punct(const char *s) {
    uint32_t v = 0;
    while (*s) v = v << 8 | (unsigned char)*s++;
    return v;
}
static inline bool is_punct(const token *t, const char *s) {
    return t->kind == K_PUNCT && t->punct == punct(s);
}
static inline bool is_keyword(const token *t, keyword k) {
    return t->kind == K_NAME && t->u.name->keyword == k;
}

/* The parser: NULL or false after an error that was told. */
/* parse_token.c */
void rvm__unexpected(parser *p, const char *expected);
bool rvm__expect(parser *p, const char *s, const char *where);
bool rvm__expect_line(parser *p);
name *rvm__parse_new_name(parser *p, const char *what, span *at);

/* parse_type.c */
bool rvm__parse_type(parser *p, uint8_t *type);            /* of what is no function value */
bool rvm__parse_typed(parser *p, typed *out);              /* any type, with dimensions */
bool rvm__parse_record(parser *p);                         /* type NAME = ...: takes its line */
bool rvm__parse_signature(parser *p, uint16_t *signature); /* 1 + that of a function value */

/* parse_expr.c */
expr *rvm__parse_expr(parser *p);
expr *rvm__parse_part(parser *p); /* an expression or a range lo..hi */
/* Parts separated by commas up to the end of the line (close NULL) or `close`, which is taken. */
bool rvm__parse_active(parser *p, tick *t); /* [y, x] behind a tick */
bool rvm__parse_parts(parser *p, const char *close, expr ***items, uint32_t *count, uint32_t limit);
callee *rvm__parse_callee(parser *p);

/* parse_stmt.c */
stmt *rvm__stmt_new(parser *p, stmt_kind kind);
void rvm__stmt_end(parser *p, stmt *s);                    /* gives it its span: its first line */
bool rvm__names_member(const parser *p);                   /* of a name and '.': a place, rather than a raw update */
int rvm__update_op(const token *t);                        /* the update that a token like += stands for, or -1 */
bool rvm__parse_stmt(parser *p, keyword word, stmt **out); /* word: what it begins with; KW_NONE: no keyword */

/* parse_block.c */
/* Up to one of the words in `allowed`, which is left; or, told, to where the block must be over. */
enum { END_end = 1, END_else = 2, END_do = 4, END_undo = 8, END_loop = 16, END_until = 32 };
stmt *rvm__parse_block(parser *p, span opened, const char *opener, unsigned allowed);

/* parse_table.c */
void rvm__parse_file_directive(parser *p);
void rvm__parse_type_directive(parser *p); /* .type, .variant */
void rvm__resolve_derived(assembler *a);   /* once functions have numbers */

/* parse.c */
void rvm__parse_file(assembler *a, uint16_t file);

/* scan.c */
bool rvm__is_type_definition(const parser *p);    /* begins here */
void rvm__scan_file(assembler *a, uint16_t file); /* adds the files that it includes, and the names of its types */

/* operators.c */
typedef struct operator_info {
    const char *text; /* as written */
    uint8_t keyword;
    uint8_t level; /* the higher, the tighter */
    int16_t row;   /* -1: the checker's own */
} operator_info;
enum { LEVEL_NOT = 3, LEVEL_COMPARE = 4, LEVEL_UNARY = 11, LEVEL_POWER = 12 };
enum operator_id { O_OR, O_AND, O_POWER, O_NOT, O_NEG, O_COMPLEMENT, O_OTHERS };
extern const operator_info rvm__operators[];
extern const uint32_t rvm__operator_count;

/* exact.c: NULL where the result is too long, where it has no value (division by 0), and without memory */
typedef enum exact_op { EXACT_ADD, EXACT_SUB, EXACT_MUL, EXACT_DIV, EXACT_IDIV, EXACT_IREM } exact_op; /* towards zero */
const exact *rvm__exact(assembler *a, int64_t v);
const exact *rvm__exact_read(assembler *a, const char *text); /* digits, perhaps with a point and an exponent e */
/* Of one that is too long for that: near enough that it rounds alike; NULL: it is 0, or no number so large. */
const exact *rvm__exact_read_long(assembler *a, const char *text);
const exact *rvm__exact_op(assembler *a, exact_op op, const exact *x, const exact *y);
const exact *rvm__exact_negate(assembler *a, const exact *x);
const exact *rvm__exact_power(assembler *a, const exact *x, const exact *y); /* y is whole */
int rvm__exact_compare(const exact *x, const exact *y);                      /* below 0, 0, above 0 */
bool rvm__exact_is_whole(const exact *x);
bool rvm__exact_i64(const exact *x, int64_t *out); /* false: not whole, or too large */
bool rvm__exact_value(const exact *x, rvm_type type,
                      rvm_value *out);                     /* rounded to nearest, ties to even; false: too large */
double rvm__exact_double(const exact *x);                  /* the same, infinite where it is too large */
double rvm__exact_log(const assembler *a, const exact *x); /* of a positive one */

/* types.c */
bool rvm__is_complex(int type);
bool rvm__is_lns(int type);
bool rvm__is_state(int type);  /* that a source declares */
bool rvm__is_record(int type); /* one of both */
bool rvm__is_value_type(int type);
bool rvm__is_real(int type);                             /* of the machine */
rvm_type rvm__part_type(int type);                       /* of the registers that hold it */
int rvm__number_type(const assembler *a, const name *n); /* complex or lns, that the word means, or -1 */
record *rvm__record(const assembler *a, int type);       /* NULL: it is none */
record *rvm__record_new(assembler *a, name *n, span at);
bool rvm__record_finish(assembler *a, record *r, const member *members, uint32_t n); /* false: told */
bool rvm__add_complex(assembler *a); /* the first records; false: no memory */
const leaf_type *rvm__leaves(const assembler *a, int type, uint32_t *n);
uint32_t rvm__leaf_count(const assembler *a, int type);
/* The lengths that a record leaves open, names that are no constants, in their order: at most MAX_LENGTHS. */
uint32_t rvm__record_lengths(const assembler *a, const record *r, name **list);
/* Of shadows: a record's has the members that are reals; T_NONE where there are none, T_ERROR: told. */
int rvm__shadow_type(assembler *a, int type);
const char *rvm__type_text(assembler *a, int type);
const char *rvm__array_text(assembler *a, int type, int ndim); /* f64[,] */
void rvm__fn_limit(assembler *a, span at, int64_t result);     /* tells of a type or variant that could not be added */

/* tree.c */
expr *rvm__expr_new(assembler *a, expr_kind kind, span at, uint32_t nkids);
expr *rvm__expr_whole(assembler *a, int64_t i, span at); /* a constant */
expr *rvm__expr_copy(assembler *a, const expr *e);       /* with the same kids */
expr *rvm__tree_copy(assembler *a, const expr *e);
expr *rvm__copy_member(assembler *a, const expr *e, name *own); /* of what an unchecked place names; NULL: all of it */
void rvm__failed(expr *e);                                      /* an error in e was told */
void rvm__wrong(assembler *a, expr *e, diag d, const char *a1, const char *a2, const char *a3); /* tell one */
const char *rvm__change_text(const stmt *s); /* what changes places: +=, swap, set */
/* That an operand, v of so many dimensions, or an expression, is not like y, what the statement changes. */
void rvm__tell_unlike(assembler *a, const stmt *s, span at, const typed *y, const var *v, int ndim);
void rvm__become(expr *e, const expr *other);           /* takes the place of a subtree, keeps its own */
bool rvm__is_constant(const expr *e);                   /* checked, and without a type yet */
bool rvm__is_whole(const expr *e);                      /* one that is written as a whole number */
void rvm__set_exact(expr *e, const exact *x, int type); /* T_INT or T_REAL */
void rvm__set_real(expr *e, double v);
void rvm__set_value(expr *e, rvm_value v, int type);
/* Of checked expressions: */
bool rvm__mentions(const expr *e, const var *v);
bool rvm__same_place(const expr *a, const expr *b);
const expr *rvm__finds_place(const expr *e, const expr *place); /* place itself somewhere in e, or NULL */

/* constant.c */
bool rvm__constant_as(assembler *a, expr *e, rvm_type type);               /* e becomes an E_VALUE; false: told */
bool rvm__constant_convert(assembler *a, expr *e, rvm_type type);          /* becomes what type(e) is, a constant still */
expr *rvm__constant_value(assembler *a, double x, rvm_type type, span at); /* a new E_VALUE */
const exact *rvm__exact_fix(assembler *a, int64_t v);                      /* that the bits of a fix are */

/* formula.c: the rows of numbers.def */
typedef struct maker { /* makes the tree of a formula over leaves: parts of the operands a, b, c, then S and T */
    assembler *a;
    rvm_type base;
    span at;
    expr *leaf[8];
} maker;
enum formula_part { FORMULA_S, FORMULA_T, FORMULA_RE, FORMULA_IM };
typedef struct number_row {
    const char *name, *operands;
    char result;
    expr *(*formula)(maker *m, enum formula_part part);
} number_row;
extern const number_row rvm__number_rows[];
expr *rvm__number_formula(maker *m, uint8_t row, enum formula_part part);
/* The first row of a name that takes operands of this kind (C or L), or makes it (complex, lns); -1: none. */
int rvm__number_find(const char *word, char kind);
int rvm__number_fitting(int row, const expr *e); /* another of the same name, where its letters fit e's operands exactly */
expr *rvm__number_node(assembler *a, const char *word, int type, span at, const expr *x, const expr *y); /* y may be NULL */
const expr *rvm__number_real(const expr *e); /* x, where e is complex(x, 0); else NULL */
/* The row that does the operation `word` of lns on the logarithms: `add` for `mul`; NULL where no single row does. */
const char *rvm__lns_row(assembler *a, const char *word);

/* fold.c */
/* e, a row whose operands are constants of a common type T_INT or T_REAL, becomes their value. Tells errors. */
void rvm__fold(assembler *a, expr *e, rvm_row row, int type);
void rvm__fold_complex(assembler *a, expr *e); /* of constants: e becomes complex(re, im) of values */

/* coerce.c */
int rvm__join_types(assembler *a, int x, int y);                            /* the one that they share, or T_ERROR */
void rvm__wrap(assembler *a, expr *e, rvm_row row, int type, expr *second); /* e becomes row(what it was, second) */
bool rvm__coerce(assembler *a, expr *e, int type);                          /* checked e as a value of this type */
bool rvm__coerce_number(assembler *a, expr *e, int type);                   /* of complex or lns */
int rvm__settle(assembler *a, expr *e, int want); /* give a constant its type; the type, or T_ERROR */

/* numbers.c, check_row.c: e, whose operands are checked. want: as for rvm__check */
/* As the operation `word` if an operand is complex or lns; false: none is. */
bool rvm__check_number(assembler *a, expr *e, const char *word, int want);
bool rvm__is_number_call(const name *n); /* conj(z), lns(x) ... */
void rvm__finish_number_call(assembler *a, expr *e, int want);
void rvm__lns_to_real(assembler *a, expr *e, int type);             /* e(kid), a conversion of an lns */
void rvm__finish_row(assembler *a, expr *e, rvm_row row, int want); /* becomes an E_ROW or a constant */
void rvm__finish_logic(assembler *a, expr *e);
bool rvm__is_decided(const expr *e); /* and, or: by its first operand, a constant */
void rvm__finish_power(assembler *a, expr *e, int want);
void rvm__finish_conversion(assembler *a, expr *e, rvm_type type);

/* check_name.c */
void rvm__check_variable(assembler *a, expr *e); /* a name becomes E_VAR; tells of an unknown one */
const var *rvm__check_array(assembler *a,
                            expr *e); /* name[...] becomes E_PART, its subscripts not checked yet; NULL: told */

int rvm__whole_ndim(const expr *e);      /* of what an unchecked name, with subscripts and ranges, stands for */
bool rvm__names_whole(const expr *e);    /* that is an array, a part of one, or a state */
const var *rvm__find_var(const expr *e); /* that an unchecked name or its members stand for, or NULL */

/* check.c */
bool rvm__constant_resolve(assembler *a, constant *c);
/* want: a type that the surroundings need, T_NONE when free. Marks errors with type T_ERROR and tells them. */
void rvm__check(assembler *a, expr *e, int want);
bool rvm__check_value(assembler *a, expr *e, int type);    /* check and coerce */
bool rvm__check_place(assembler *a, expr *e, bool change); /* a scalar place; change: one that may be changed */
/* A name or subscripts: its dimensions (0: a scalar), -1 after an error; becomes E_VAR, E_ELEM or E_PART. */
int rvm__check_part(assembler *a, expr *e);

/* hint.c: in place of the hint of the message told last */
void rvm__hint_foreign(parser *p, const token *t); /* where it is a word of another language */
/* Of a word that has one; what was told last gets it. unknown: of a name there, which may be a comment's first. */
void rvm__hint_word(assembler *a, const char *word);
void rvm__hint_unknown(assembler *a, span at, const char *word);
void rvm__hint_target(assembler *a, const stmt *s, const expr *e); /* an update whose target is an operand */
void rvm__hint_power(assembler *a, const expr *base, const expr *exponent);

/* gen.c */
enum { CLASSES = RVM_TYPE_COUNT * (1 + RVM_MAX_DIMS) }; /* registers by type, arrays by type and dimensions */
typedef struct free_level { /* slots released at this level of regions, to be taken again; 1-based, 0 ends */
    struct free_level *outer;
    uint16_t head[CLASSES];
} free_level;
typedef struct gen {
    assembler *a;
    const func *fn;
    rvm_function *f;
    var *vars;
    uint8_t flags; /* for every instruction: unchecked */
    bool failed;   /* no more room: told once */
    free_level *level;
    uint16_t *reg_next, *array_next; /* the free lists */
    uint32_t cap_reg_next, cap_array_next;
    uint32_t *temps; /* instructions to mirror, and guarded operands */
    uint32_t ntemps, cap_temps;
    struct guard *guarded;
    uint32_t nguarded, cap_guarded;
    struct forward *jumps;
    uint32_t njumps, cap_jumps;
    span at; /* of the statement */
} gen;
typedef struct forward { /* a jump to a label */
    uint32_t pc;
    struct name *name;
    span at;
} forward;
/* e, an and or an or, in a register that holds what it is where the first operand decides; the same takes it back. */
typedef struct guard {
    const expr *e;
    rvm_place first, into;
    void (*emit)(gen *g, const struct guard *x);
} guard;
void rvm__gen_start(gen *g, assembler *a, const func *fn);
void rvm__gen_free(gen *g);
uint16_t rvm__gen_reg(gen *g, rvm_type t);
uint16_t rvm__gen_array(gen *g, rvm_type t, int ndim);
void rvm__gen_free_reg(gen *g, uint16_t slot);
void rvm__gen_free_array(gen *g, uint16_t array);
void rvm__gen_level_open(gen *g, free_level *level);
void rvm__gen_level_hold(gen *g, free_level *level);  /* at `do`: what compute used waits */
void rvm__gen_level_close(gen *g, free_level *level); /* at `undo` */
rvm_place rvm__gen_const(gen *g, rvm_type t, rvm_value v);
rvm_place rvm__gen_slot(uint16_t slot);
rvm_place rvm__gen_whole(uint16_t array);
uint32_t rvm__emit(gen *g, rvm_op op, int row, uint32_t target, const rvm_place *places, uint32_t n, span at);
/* The same, to be mirrored by rvm__unwind; the first place appears and is freed then. */
void rvm__emit_temp(gen *g, rvm_op op, int row, const rvm_place *places, uint32_t n, span at);
void rvm__emit_guarded(gen *g, const guard *x);                                           /* the same */
uint32_t rvm__emit_jump(gen *g, rvm_op op, const rvm_place *c, uint32_t target, span at); /* c may be NULL */
void rvm__gen_aim(gen *g, uint32_t pc, uint32_t target);                                  /* a jump at pc */
rvm_place rvm__gen_site(gen *g);                                                          /* of the trail, a new one */
void rvm__emit_drop(gen *g, int64_t level, rvm_place what, span at); /* the place onto a trail, at a site of its own */
rvm_position rvm__gen_position(gen *g, span at);
void rvm__unwind(gen *g, uint32_t mark);                   /* inverses of the temporaries since mark, last first */
int rvm__part_name(const var *v, char *text, size_t size); /* of a register or array in the program; snprintf's convention */
var *rvm__declare(gen *g, name *n, var_kind kind, const typed *as, span at); /* without a slot yet */
void rvm__gen_var(gen *g, var *v); /* gives it its register or array; two to a complex */
void rvm__gen_free_var(gen *g, const var *v);
void rvm__undeclare(gen *g); /* the last one; its symbol ends here */

void rvm__gen_label(gen *g, name *n, span at); /* stands here */
void rvm__note_jump(gen *g, uint32_t pc, name *n, span at);
void rvm__resolve_jumps(gen *g); /* at the end */

/* check_stmt.c: false after an error that was told */
bool rvm__check_tolerance(assembler *a, expr *e, int type); /* e may be NULL */
bool rvm__check_let(assembler *a, stmt *s);
bool rvm__check_let_state(assembler *a, const stmt *s, const var *v); /* behind that, of a state declared as v */
/* y, which is changed by a function of e, must be no operand: undoing that would need the value that it changed. */
bool rvm__check_target(assembler *a, const stmt *s, const expr *y, const expr *e);
bool rvm__check_factor(assembler *a, const stmt *s, const expr *y, const expr *e);
bool rvm__check_update(assembler *a, const stmt *s);
bool rvm__check_set(assembler *a, const stmt *s);
bool rvm__check_drop(assembler *a, expr *e);
bool rvm__check_condition(assembler *a, expr *e); /* NULL: its line is wrong */

/* lower_expr.c: emits temporaries for what is nested */
rvm_place rvm__lower_operand(gen *g, const expr *e);
rvm_place rvm__lower_temp(gen *g, const expr *e);                         /* in a new register */
rvm_place rvm__lower_register(gen *g, const expr *e);                     /* in a register: a new one if it is in none */
void rvm__lower_condition(gen *g, rvm_op op, rvm_place c, const expr *e); /* let or unlet c as e */
rvm_place rvm__lower_place(gen *g, const expr *e);
rvm_place rvm__lower_part(gen *g, const expr *e);                            /* a view, or the whole array */
uint32_t rvm__lower_root(gen *g, const expr *e, int *row, rvm_place ops[3]); /* the outermost operation's operands */
uint32_t rvm__lower_subs(gen *g, expr *const *subs, uint32_t n, rvm_place *places);
bool rvm__lower_parts(gen *g, const expr *e, expr *parts[2]);        /* of a complex: trees of the real type, over places */
uint32_t rvm__leaf_vars(const var *v, const var **list, uint32_t n); /* behind n others; how many there are then */
expr rvm__leaf_of(const expr *e, const var *v);                      /* that leaf of a checked place or part of a record */
const expr *rvm__lower_subscripts(gen *g, const expr *e);            /* e with those that are computed in registers */
bool rvm__lower_leaves(gen *g, const expr *e, expr **leaf);          /* the place of an operand: two of a complex one */

/* lower_number.c */
void rvm__emit_let_parts(gen *g, const stmt *s, const var *v, rvm_op op);
void rvm__emit_new_parts(gen *g, const stmt *s, const var *v, rvm_op op);
void rvm__lower_update_parts(gen *g, const stmt *s);
void rvm__lower_set_parts(gen *g, const stmt *s);
bool rvm__acts_by_parts(rvm_op op);   /* an instruction that does to a complex, or any record, what it does to each part */
bool rvm__takes_parts(const stmt *s); /* an instruction on complex places that acts on each part by itself */
bool rvm__adds_constant(rvm_op op);   /* a real one, to a complex's real part: inc, dec */
uint32_t rvm__split_op(assembler *a, const stmt *s, stmt half[2]); /* into those, in their order: how many; 0: no memory */
int rvm__op_on_lns(assembler *a, rvm_op op); /* what an instruction on lns is on their logarithms; -1: none, or no memory */
void rvm__lower_lns_sum(gen *g, const stmt *s); /* y += e or y -= e of an lns */

/* lower_trail.c: set is checked before */
void rvm__lower_set(gen *g, const stmt *s);
void rvm__lower_drop(gen *g, const stmt *s);

/* lower_call.c, raw.c, lower_stmt.c: statements of one line */
void rvm__lower_call(gen *g, const stmt *s);
void rvm__lower_op(gen *g, const stmt *s);
void rvm__lower_raw_update(gen *g, const stmt *s);
void rvm__lower_reg(gen *g, const stmt *s);
void rvm__lower_let(gen *g, stmt *s);
void rvm__lower_update(gen *g, const stmt *s);
void rvm__lower_scope_end(gen *g, const var *mark, bool releases); /* names declared since mark */

/* lower_whole.c: updates, instructions and set (without its condition) on whole arrays and states */
bool rvm__on_wholes(const stmt *s);
void rvm__lower_whole(gen *g, const stmt *s);

/* lower_broadcast.c: the same where operands are expressions: arrays of one shape element by element, other places for each
 */
name *rvm__numbered(assembler *a, const char *text, uint32_t number); /* text'3, which no source can say */
/* A function that the assembler writes is declared, under such a name, and lowered behind those of the sources: functions
 * move. False: out of memory. */
bool rvm__add_written(assembler *a, func *fn, const char *stem);
void rvm__lower_print(gen *g, const stmt *s);               /* lower_print.c */
void rvm__lower_broadcast(gen *g, const stmt *s, int ndim); /* of what it changes */

/* undone.c: of a region that is not lowered yet */
void rvm__warn_undone(assembler *a, const stmt *region);

/* lower_block.c */
void rvm__lower_statements(gen *g, stmt *s);

/* declare.c */
void rvm__declare_function(assembler *a, func *fn); /* its parameters, so that calls can be checked */

/* lower_fn.c */
void rvm__lower_function(assembler *a, func *fn);

/* given.c: an argument that is no place, for a function, or for a variant if that is not -1, which is `shown` */
void rvm__note_given(assembler *a, uint32_t function, int64_t variant, uint32_t position, const char *shown, span at);
void rvm__check_given(assembler *a); /* of a verified program, whose roles are known */

/* fn_types.c */
void rvm__check_function(assembler *a, expr *e); /* E_FN: finds the function */
/* Checked e where a value of the type is needed, or with signature 0 none. */
bool rvm__check_function_type(assembler *a, expr *e, uint16_t signature);
void rvm__check_taken(assembler *a); /* of a verified program, whose roles are known */

/* derived.c */
bool rvm__mark_active(assembler *a, const callee *c, const tick *t, uint8_t *active); /* by its list */
/* c's parameters become those of its derivative: named as f's, which it is, or for NULL by c's. */
void rvm__derive_params(assembler *a, callee *c, rvm_transform kind, const uint8_t *active, const rvm_function *f);
void rvm__check_rules(assembler *a);                         /* of a verified program: what lists of rules leave out */
void rvm__declare_derived(assembler *a);                     /* all that the sources name; functions have their parameters */
const char *rvm__function_text(assembler *a, uint32_t fn);   /* as a program calls it */
const char *rvm__callee_text(assembler *a, const callee *c); /* of a function value, its own */
const char *rvm__signature(assembler *a, const callee *c);   /* f(out: f64, x: f64[]); of a function value, numbers */
/* Whether it has a function, which is filled in; tells of an unknown one. */
bool rvm__callee(assembler *a, callee *c);

/* raw_fn.c */
void rvm__lower_raw_fn(assembler *a, func *fn);

#endif

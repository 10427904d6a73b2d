/* instruction.h: opcodes, rows and instructions. Not installed.
 *
 *   enums        from families.def, rows.def, ops.def, inplace.def, and what the tables say of each
 *   rvm_place    an operand: a register, an element, an array
 *   rvm_insn     one decoded instruction; its places stand in the function's place pool
 *
 * A slot number names a register (below nregs) or, from nregs on, a constant: engines keep constants behind the registers
 * in the frame. Types of slots are static, so that an instruction carries none.
 */
#ifndef RVM_INSTRUCTION_H
#define RVM_INSTRUCTION_H

#include "rvm_program.h"

typedef union rvm_value {
    int64_t i;
    double f;
    uint64_t u;
} rvm_value;

/* ---- opcodes: pair index * 2 + direction bit; updates come first ---- */
enum rvm_pair {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc) RVM_PAIR_##name,
#define INVERSE(name, inverse, sym, access, value, seed, sb, sd, doc)
#include "families.def"
#undef FAMILY
#undef INVERSE
#define PAIR(name, inverse, class, operands, types, doc) RVM_PAIR_##name,
#define SELF(name, class, operands, types, doc)          RVM_PAIR_##name,
#include "ops.def"
#undef PAIR
#undef SELF
    RVM__PAIRS_BEFORE_CHANGES,
    RVM__BEFORE_CHANGES = RVM__PAIRS_BEFORE_CHANGES - 1,
#define CHANGE(name, inverse, ...) RVM_PAIR_##name,
#include "inplace.def"
#undef CHANGE
    RVM_PAIR_COUNT
};

typedef enum rvm_op {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc)  RVM_OP_##name = 2 * RVM_PAIR_##name,
#define INVERSE(name, inverse, sym, access, value, seed, sb, sd, doc) RVM_OP_##name = 2 * RVM_PAIR_##inverse + 1,
#include "families.def"
#undef FAMILY
#undef INVERSE
#define PAIR(name, inverse, class, operands, types, doc) RVM_OP_##name = 2 * RVM_PAIR_##name, RVM_OP_##inverse,
#define SELF(name, class, operands, types, doc)          RVM_OP_##name = 2 * RVM_PAIR_##name,
#include "ops.def"
#undef PAIR
#undef SELF
#define ITSELF
#define INVERSE(name, ...)         , RVM_OP_##name
#define CHANGE(name, inverse, ...) RVM_OP_##name = 2 * RVM_PAIR_##name inverse,
#include "inplace.def"
#undef ITSELF
#undef INVERSE
#undef CHANGE
} rvm_op;
enum { RVM_OP_LIMIT = 2 * RVM_PAIR_COUNT }; /* opcodes are below this; some odd ones do not exist */
_Static_assert(RVM_OP_sub == (RVM_OP_add ^ 1) && RVM_OP_cf == (RVM_OP_jmp ^ 1), "the low bit is the direction");
_Static_assert(RVM_OP_unlet < RVM_OP_start, "updates come first");
static inline enum rvm_pair rvm__pair_of(unsigned op) {
    return (enum rvm_pair)(op >> 1);
}
/* The direction bit. */
static inline bool rvm__is_inverse(unsigned op) {
    return op & 1;
}

typedef enum rvm_row {
#define ROW1(name, sig, f, da, doc)         RVM_ROW_##name,
#define ROW2(name, sig, f, da, db, doc)     RVM_ROW_##name,
#define ROW3(name, sig, f, da, db, dc, doc) RVM_ROW_##name,
#include "rows.def"
#undef ROW1
#undef ROW2
#undef ROW3
    RVM_ROW_COUNT
} rvm_row;

typedef enum rvm_sig {
    RVM_SIG_NUM,
    RVM_SIG_REAL,
    RVM_SIG_INT,
    RVM_SIG_QUOT,
    RVM_SIG_CMP,
    RVM_SIG_SEL,
    RVM_SIG_CONV,
    RVM_SIG_POS,
    RVM_SIG_ORD,
    RVM_SIG_COUNT
} rvm_sig;

enum { RVM_TYPES_N = 15, RVM_TYPES_I = 1, RVM_TYPES_R = 14, RVM_TYPES_D = 10 }; /* masks of 1 << rvm_type */
_Static_assert(RVM_TYPES_N == (1 << RVM_TYPE_COUNT) - 1 && RVM_TYPES_D == (1 << RVM_F64 | 1 << RVM_F32), "every type");
/* Whether values of the type stand in the `f` of rvm_value: floating point, rounded, released within a tolerance. */
static inline bool rvm__is_floating(rvm_type t) {
    return RVM_TYPES_D >> t & 1;
}
/* Whether a float holds x: as f32 values must be. */
static inline bool rvm__is_single(double x) {
    return x != x || (double)(float)x == x;
}

/* jmp, jt, jf and their come-froms; counted loops and parallel blocks, at both ends. */
static inline bool rvm__is_jump(unsigned op) {
    const enum rvm_pair pair = rvm__pair_of(op);
    return pair == RVM_PAIR_jmp || pair == RVM_PAIR_jt || pair == RVM_PAIR_jf;
}
static inline bool rvm__is_loop(unsigned op) {
    return rvm__pair_of(op) == RVM_PAIR_for || rvm__pair_of(op) == RVM_PAIR_par;
}

typedef struct rvm_op_info {
    const char *name; /* "add", "sub", "jmp"...; NULL: no such opcode */
    rvm_op inverse;
    rvm_class class;
    const char *operands; /* letters of ops.def; NULL for updates */
    const char *symbol;   /* "+=" for updates, else NULL */
    rvm_role access;      /* of an update's target */
    uint8_t types;
    const char *doc;
} rvm_op_info;

typedef struct rvm_row_info {
    const char *name;
    rvm_sig sig;
    uint8_t arity;
    const char *f, *partial[3]; /* the text vocabulary */
    const char *doc;
} rvm_row_info;

/* ---- changes in place: inplace.def ---- */
enum { RVM_CHANGE_COUNT = RVM_PAIR_COUNT - RVM__PAIRS_BEFORE_CHANGES, RVM_MAX_CHANGED = 3, RVM_MAX_CHANGE_OPERANDS = 2 };
typedef enum rvm_shadows { RVM_SHADOWS_STAY, RVM_SHADOWS_MOVE, RVM_SHADOWS_LINEAR, RVM_SHADOWS_SCALE } rvm_shadows;
typedef enum rvm_exactly { RVM_EXACTLY_NOTHING, RVM_EXACTLY_WHOLE, RVM_EXACTLY_SUM } rvm_exactly;
typedef struct rvm_term { /* a partial: a place that changes, by its number */
    int8_t sign;
    uint8_t place;
} rvm_term;
typedef struct rvm_change_info {
    uint8_t places, operands; /* behind a condition, if there is one */
    bool conditional, domain; /* domain: it may fail for the values it finds */
    rvm_shadows shadows;
    rvm_exactly exact;
    struct {
        bool before; /* of places as they are before the instruction; else on either side */
        rvm_term by[RVM_MAX_CHANGE_OPERANDS][RVM_MAX_CHANGED];
    } partials;
    const char *out[2][RVM_MAX_CHANGED], *where; /* the text vocabulary: forward, and of the inverse */
} rvm_change_info;
extern const rvm_change_info rvm__change_info[RVM_CHANGE_COUNT];

extern const rvm_op_info rvm__op_info[RVM_OP_LIMIT];
/* Of what moves places, by their letter: the positions that they have in an entry of the trail; the places follow. */
static inline uint32_t rvm__positions_at(rvm_op op) {
    const char *letter = rvm__op_info[op].operands;
    while (*letter && *letter != 'm') letter++;
    return (uint32_t)(letter - rvm__op_info[op].operands);
}
extern const rvm_row_info rvm__row_info[RVM_ROW_COUNT];
extern const uint8_t rvm__row_nan[RVM_ROW_COUNT]; /* operands whose NaN makes f one, of floating point, a bit for each */
/* A row that may fail for the values that it finds (DOMAIN). */
static inline bool rvm__row_has_domain(rvm_row row) {
    return rvm__row_info[row].sig == RVM_SIG_QUOT || rvm__row_info[row].sig == RVM_SIG_POS;
}
/* The first operand of type T: those before it are i64. */
static inline int rvm__row_first(rvm_row row) {
    return rvm__row_info[row].sig == RVM_SIG_SEL || rvm__row_info[row].sig == RVM_SIG_ORD;
}
/* Number of an instruction in inplace.def, of class IN_PLACE. */
static inline unsigned rvm__change_of(unsigned op) {
    return (unsigned)rvm__pair_of(op) - RVM__PAIRS_BEFORE_CHANGES;
}
static inline rvm_class rvm__class_of(unsigned op) {
    return rvm__op_info[op].class;
}
/* Whether it is an update by which rounding may lose bits of a real, which exact runs record; the others make a value
 * appear, check it or move it whole. */
static inline bool rvm__op_rounds(unsigned op) {
    return rvm__class_of(op) == RVM_CLASS_UPDATE && (rvm__pair_of(op) == RVM_PAIR_add || rvm__pair_of(op) == RVM_PAIR_mul);
}
/* Whether exact runs keep something of what it loses, of reals. */
bool rvm__op_is_recorded(rvm_op op);
int rvm__op_find(const char *name, size_t length);  /* opcode or -1 */
int rvm__row_find(const char *name, size_t length); /* row or -1 */
/* Types of operand k of a row whose first typed operand is T and whose target has type y: what the verifier, the assembler
 * and the engines share. Returns false where the row is not defined for (y, T). */
bool rvm__row_types(rvm_row row, rvm_type y, rvm_type t, rvm_type operand[3]);
/* Whether op y, row(...) exists for target type y (families: xor is i64 only, and so on). */
bool rvm__update_legal(rvm_op op, rvm_row row, rvm_type y);
/* Whether the last place of an update is the site of what it moves onto the trail. */
static inline bool rvm__op_sets(rvm_op op) {
    return rvm__pair_of(op) == RVM_PAIR_set;
}
/* Whether something goes onto a trail or comes from it, or trails change segments. */
static inline bool rvm__op_on_trail(rvm_op op) {
    return rvm__op_sets(op) || rvm__class_of(op) == RVM_CLASS_TRAIL;
}
static inline bool rvm__op_on_stack(rvm_op op) {
    return rvm__class_of(op) == RVM_CLASS_STACK;
}
/* Places of an instruction, or -1 where the op lets them vary (calls, arrays, views). */
int rvm__op_places(rvm_op op, rvm_row row, uint8_t flags);
char rvm__op_target(rvm_op op); /* 'L', 'F', 'S', or 0: what its text's target is */
static inline bool rvm__op_is_update(rvm_op op) {
    return op < RVM_OP_start;
}
static inline rvm_op rvm__op_inverse(rvm_op op) {
    return rvm__op_info[op].inverse;
}

/* ---- places ---- */
typedef enum rvm_place_kind {
    RVM_PLACE_SLOT,  /* register or constant `slot` */
    RVM_PLACE_ELEM,  /* element of array `slot` at idx[0..nidx), slots of type i64; nidx == dimensions of the array */
    RVM_PLACE_ARRAY, /* the whole array `slot` */
    RVM_PLACE_RANGE, /* in a view: from slot `slot` up to slot idx[0] */
    RVM_PLACE_KIND_COUNT
} rvm_place_kind;

typedef struct rvm_place {
    uint8_t kind, nidx;
    uint16_t slot;
    uint16_t idx[RVM_MAX_DIMS];
} rvm_place;

/* ---- instructions ----
 * Places by instruction: an update has target, operands, and with RVM_FLAG_TOL (unlet and its let, reals) the tolerance
 * last, set and unset the site; the others follow ops.def, L and F being `target`. */
enum rvm_flag {
    RVM_FLAG_UNCHECKED = 1, /* its assertion is dropped: an unchecked block of the source */
    RVM_FLAG_TOL = 2,       /* let/unlet: the last place is an f64 constant, the tolerance of the release */
    RVM_FLAG_RESTORE = 4,   /* an inverse that takes back, rather than a computation of its own (matters with --exact) */
    RVM_FLAG_REVERSED = 8,  /* loops, parallel blocks, at both ends: from the last trip to the first, as their inverse */
    RVM_FLAG_FORGETS = 16,  /* undo: what compute made is discarded, rather than taken back */
    RVM_FLAG_TELLS = 32,    /* for, next: its trips tell how far a run is that goes back from snapshots */
    RVM_FLAG_SWEPT = 64,    /* of a derivative for --exact; with restore: what the function recorded is taken back (of a call
                               or block: by what it runs); alone: arithmetic of shadows, recorded apart (of a call: the
                               callee is marked likewise) */
    RVM_FLAG_ALL = 127
};
/* What stands before a mnemonic in the text for a flag; NULL: nothing does. And the flag of a word, or 0. */
const char *rvm__flag_word(unsigned flag);
unsigned rvm__flag_find(const char *word);
enum rvm_fact {                         /* what the verifier found; never stored in a file */
                RVM_FACT_INBOUNDS0 = 1, /* place k's indices are proved in bounds: RVM_FACT_INBOUNDS0 << k, k < 4 */
                RVM_FACT_ALIAS = 16,    /* two places may be the same element: the engine compares them */
                RVM_FACT_GUARD = 32,    /* par, endpar: roles of elements are not proved, the engine enforces them */
                RVM_FACT_SUMS = 64      /* par, endpar: several instances may add into the same element; within: another
                                           instance may add into the element that this one does, of an array that they do
                                           not only add into */
};

typedef struct rvm_insn {
    uint8_t op;  /* rvm_op */
    uint8_t row; /* rvm_row of an update, else 0 */
    uint8_t flags;
    uint8_t nplaces;
    uint8_t facts;
    uint32_t places; /* first in rvm_function.places */
    uint32_t target; /* L: code index of the paired instruction (for, par too); F: function; S: variant; compute, do, undo:
                        see below */
} rvm_insn; /* target of compute: its do; of do: its undo; of undo: its compute. Filled by the verifier, not stored */

/* With --exact, of a derivative: whether it is arithmetic of shadows; whether it takes back where the code around it
 * records, and records where that takes back; whether it takes back what nobody knows to have been recorded. */
static inline bool rvm__is_of_shadows(const rvm_insn *in) {
    return (in->flags & (RVM_FLAG_SWEPT | RVM_FLAG_RESTORE)) == RVM_FLAG_SWEPT;
}
static inline bool rvm__restores_otherwise(const rvm_insn *in) {
    return (in->flags & (RVM_FLAG_SWEPT | RVM_FLAG_RESTORE)) == (RVM_FLAG_SWEPT | RVM_FLAG_RESTORE);
}
static inline bool rvm__is_foreign(const rvm_insn *in) {
    return (in->flags & (RVM_FLAG_SWEPT | RVM_FLAG_RESTORE)) == RVM_FLAG_RESTORE;
}

/* The flags that an instruction may have. */
static inline unsigned rvm__op_flags(rvm_op op) {
    const unsigned flags = RVM_FLAG_UNCHECKED | RVM_FLAG_RESTORE | RVM_FLAG_SWEPT;
    if (rvm__pair_of(op) == RVM_PAIR_let) return flags | RVM_FLAG_TOL;
    if (rvm__pair_of(op) == RVM_PAIR_undo) return flags | RVM_FLAG_FORGETS;
    if (rvm__pair_of(op) == RVM_PAIR_for) return flags | RVM_FLAG_REVERSED | RVM_FLAG_TELLS;
    return rvm__is_loop(op) ? flags | RVM_FLAG_REVERSED : flags;
}

/* Whether the first place is an array that appears there or disappears, whole or as part of another. */
static inline bool rvm__op_names_array(rvm_op op) {
    return rvm__class_of(op) == RVM_CLASS_ARRAY;
}
/* How a place is accessed, as bits: own is read and accumulate at once. */
enum rvm__access_bits { RVM__BITS_NONE = 0, RVM__BITS_READ = 1, RVM__BITS_ACC = 2, RVM__BITS_OWN = 3 };
/* What a letter says, by its character: rvm__access_bits, and these. */
enum rvm__letter_bits { RVM__LETTER_TOGGLES = 4, RVM__LETTER_VARIES = 8, RVM__LETTER_TYPED = 16 /* as T is */ };
extern const uint8_t rvm__letters[256];

/* A letter for each place of an instruction that has the right number of them: those of ops.def, and for updates y and a, t
 * for a target that appears or disappears, w for one that is set and may be an operand, e for a tolerance. t, X, i and r
 * appear where the direction bit is 0, else they disappear. Those that do stand together, behind constants at most. */
const char *rvm__place_letters(const rvm_insn *in, char buffer[256]);
/* The same one by one, in line, since verifying asks for each several times: where the first place's letter stands, where
 * the next one's, and what it is (`at`), given that of the last place. */
static inline bool rvm__letter_varies(char letter) { /* stands for any number of places */
    return rvm__letters[(unsigned char)letter] & RVM__LETTER_VARIES;
}
static inline const char *rvm__letters_first(const rvm_insn *in) {
    if (!rvm__op_is_update((rvm_op)in->op)) {
        const char *operands = rvm__op_info[in->op].operands;
        return operands + (*operands == 'F' || *operands == 'S');
    }
    return rvm__pair_of(in->op) == RVM_PAIR_let ? "taaa" : rvm__op_sets((rvm_op)in->op) ? "waaaa" : "yaaa";
}
static inline const char *rvm__letters_next(const char *at) {
    return at + (*at && !rvm__letter_varies(*at));
}
/* Of the last place, where that has one of its own; else 0. */
static inline char rvm__letter_last(const rvm_insn *in) {
    if (!rvm__op_is_update((rvm_op)in->op)) return 0;
    return rvm__op_sets((rvm_op)in->op) ? 's' : in->flags & RVM_FLAG_TOL ? 'e' : 0;
}
static inline char rvm__letter_at(const rvm_insn *in, const char *at, char last, uint32_t k) {
    const bool ends = k + 1u == in->nplaces;
    return *at == '+' ? "ka"[ends] : ends && last ? last : *at;
}
static inline bool rvm__letter_toggles(char letter) {
    return rvm__letters[(unsigned char)letter] & RVM__LETTER_TOGGLES;
}
static inline bool rvm__letter_typed(char letter) {
    return rvm__letters[(unsigned char)letter] & RVM__LETTER_TYPED;
}
/* By its letter; '*' apart, which has the access of the parameter. */
static inline unsigned rvm__letter_access(const rvm_insn *in, char letter) {
    if (letter == 'y' && rvm__op_is_update((rvm_op)in->op) && rvm__op_info[in->op].access == RVM_ACC) return RVM__BITS_ACC;
    return rvm__letters[(unsigned char)letter] & RVM__BITS_OWN;
}
static inline unsigned rvm__role_access(rvm_role role) {
    return role == RVM_READ ? RVM__BITS_READ : role == RVM_ACC ? RVM__BITS_ACC : RVM__BITS_OWN;
}

#endif

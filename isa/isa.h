/* isa.h: the instruction set and the program in memory, for the folders above isa/. Not installed.
 *
 *   enums            from families.def, rows.def, ops.def
 *   rvm_insn         one decoded instruction; its places stand in the function's place pool
 *   rvm_function     code, registers, arrays, constants, names, lines
 *   builder          how the assembler and the transforms make programs
 *   verify           proves what the engines rely on, infers roles, fills `target` and `facts`
 *
 * A slot number names a register (below nregs) or, from nregs on, a constant: engines keep constants behind the registers
 * in the frame. Types of slots are static, so that an instruction carries none.
 */
#ifndef RVM_ISA_H
#define RVM_ISA_H

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
#define PAIR(name, inverse, operands, types, doc) RVM_PAIR_##name,
#define SELF(name, operands, types, doc)          RVM_PAIR_##name,
#include "ops.def"
#undef PAIR
#undef SELF
    RVM_PAIR_COUNT
};

typedef enum rvm_op {
#define FAMILY(name, inverse, sym, access, value, seed, sb, sd, doc)  RVM_OP_##name = 2 * RVM_PAIR_##name,
#define INVERSE(name, inverse, sym, access, value, seed, sb, sd, doc) RVM_OP_##name = 2 * RVM_PAIR_##inverse + 1,
#include "families.def"
#undef FAMILY
#undef INVERSE
#define PAIR(name, inverse, operands, types, doc) RVM_OP_##name = 2 * RVM_PAIR_##name, RVM_OP_##inverse,
#define SELF(name, operands, types, doc)          RVM_OP_##name = 2 * RVM_PAIR_##name,
#include "ops.def"
#undef PAIR
#undef SELF
} rvm_op;
enum { RVM_OP_LIMIT = 2 * RVM_PAIR_COUNT }; /* opcodes are below this; some odd ones do not exist */
_Static_assert(RVM_OP_sub == (RVM_OP_add ^ 1) && RVM_OP_cf == (RVM_OP_jmp ^ 1), "the low bit is the direction");
_Static_assert(RVM_OP_unlet < RVM_OP_start, "updates come first");

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
    RVM_SIG_CONV
} rvm_sig;

enum { RVM_TYPES_N = 7, RVM_TYPES_I = 1, RVM_TYPES_R = 6, RVM_TYPES_D = 2 }; /* masks of 1 << rvm_type */

typedef struct rvm_op_info {
    const char *name; /* "add", "sub", "jmp"...; NULL: no such opcode */
    rvm_op inverse;
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

extern const rvm_op_info rvm__op_info[RVM_OP_LIMIT];
extern const rvm_row_info rvm__row_info[RVM_ROW_COUNT];
int rvm__op_find(const char *name, size_t length);  /* opcode or -1 */
int rvm__row_find(const char *name, size_t length); /* row or -1 */
/* Types of operand k of a row whose first typed operand is T and whose target has type y: what the verifier, the assembler
 * and the engines share. Returns false where the row is not defined for (y, T). */
bool rvm__row_types(rvm_row row, rvm_type y, rvm_type t, rvm_type operand[3]);
/* Whether op y, row(...) exists for target type y (families: xor is i64 only, and so on). */
bool rvm__update_legal(rvm_op op, rvm_row row, rvm_type y);
/* Places of an instruction, or -1 where the op lets them vary (calls, arrays, views). */
int rvm__op_places(rvm_op op, rvm_row row, uint8_t flags);
char rvm__op_target(rvm_op op); /* 'L', 'F', or 0: what its text's target is */
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
 * last; the others follow ops.def, L and F being `target`. */
enum rvm_flag {
    RVM_FLAG_UNCHECKED = 1, /* its assertion is dropped: an unchecked block of the source */
    RVM_FLAG_TOL = 2,       /* let/unlet: the last place is an f64 constant, the tolerance of the release */
    RVM_FLAG_RESTORE = 4,   /* an inverse that takes back, rather than a computation of its own (matters with --exact) */
    RVM_FLAG_ALL = 7
};
enum rvm_fact {                         /* what the verifier found; never stored in a file */
                RVM_FACT_INBOUNDS0 = 1, /* place k's indices are proved in bounds: RVM_FACT_INBOUNDS0 << k, k < 4 */
                RVM_FACT_ALIAS = 16     /* two places may be the same element: the engine compares them */
};

typedef struct rvm_insn {
    uint8_t op;  /* rvm_op */
    uint8_t row; /* rvm_row of an update, else 0 */
    uint8_t flags;
    uint8_t nplaces;
    uint8_t facts;
    uint32_t places; /* first in rvm_function.places */
    uint32_t target; /* L: code index of the paired instruction (for, next too); F: function; compute, do, undo: see below */
} rvm_insn; /* target of compute: its do; of do: its undo; of undo: its compute. Filled by the verifier, not stored */

/* A letter for each place of an instruction that has the right number of them: those of ops.def, and for updates y and a, t
 * for a target that appears or disappears, e for a tolerance. t, X and i appear where the direction bit is 0, else they
 * disappear. */
const char *rvm__place_letters(const rvm_insn *in, char buffer[256]);
static inline bool rvm__letter_toggles(char letter) {
    return letter == 't' || letter == 'X' || letter == 'i';
}

typedef struct rvm_param {
    char *name;
    uint8_t type, ndim;         /* ndim 0: scalar */
    uint8_t role;               /* rvm_role, inferred by the verifier */
    uint16_t index;             /* register or array: parameters come first, in order, each kind by itself */
    uint16_t dim[RVM_MAX_DIMS]; /* slots: a length register (set by the call, read-only), or an i64 constant */
} rvm_param;

typedef struct rvm_array_decl {
    uint8_t type, ndim;
} rvm_array_decl;

typedef struct rvm_position {
    uint32_t line;
    uint16_t column, file;
} rvm_position;

/* A source name for a register or array while pc is in [from, to). */
typedef struct rvm_symbol {
    char *name;
    bool is_array;
    uint16_t index;
    uint32_t from, to;
} rvm_symbol;

/* Open-addressed table of element numbers + 1, by a hash of the element; its capacity is 0 or a power of two. */
typedef struct rvm_index {
    uint32_t *slots, cap;
} rvm_index;

typedef struct rvm_function {
    char *name;
    rvm_param *params;
    uint8_t *reg_type; /* rvm_type of register k */
    uint8_t *const_type;
    rvm_value *consts;
    rvm_array_decl *arrays;
    rvm_insn *code; /* code[0] is start, code[ncode - 1] is halt */
    rvm_place *places;
    rvm_position *positions; /* of each instruction */
    rvm_symbol *symbols;
    uint32_t nparams, nregs, nconsts, narrays, ncode, nplaces, nsymbols;
    uint32_t cap_params, cap_regs, cap_consts, cap_arrays, cap_code, cap_places, cap_symbols; /* used by the builder */
    rvm_index const_index;                                                                    /* the same */
} rvm_function;

/* Limits of the format: slots and arrays of a function, parameters and places of an instruction. */
enum { RVM_MAX_REGS = 32767, RVM_MAX_CONSTS = 32767, RVM_MAX_ARRAYS = 65535, RVM_MAX_PARAMS = 255, RVM_MAX_FILES = 4096 };

struct rvm_program {
    rvm_allocator al;
    rvm_function *functions;
    char **files;
    uint32_t nfunctions, nfiles, cap_functions, cap_files;
    rvm_index name_index; /* functions by name */
    uint64_t id[2];       /* of a decoded program; else 0, and rvm_program_id encodes */
    bool verified;
    bool
        roles_claimed; /* decoded: the params' roles are the file's claim, which the verifier compares with what it infers */
};

static inline rvm_type rvm__slot_type(const rvm_function *f, uint16_t slot) {
    return (rvm_type)(slot < f->nregs ? f->reg_type[slot] : f->const_type[slot - f->nregs]);
}
static inline const rvm_place *rvm__places(const rvm_function *f, const rvm_insn *in) {
    return f->places ? f->places + in->places : NULL; /* a function without operands has no pool */
}
static inline rvm_type rvm__place_type(const rvm_function *f, const rvm_place *p) {
    if (p->kind == RVM_PLACE_ELEM || p->kind == RVM_PLACE_ARRAY) return (rvm_type)f->arrays[p->slot].type;
    return p->kind == RVM_PLACE_RANGE ? RVM_I64 : rvm__slot_type(f, p->slot);
}
/* Name of a place's register or array at pc, or NULL. */
const char *rvm__symbol_at(const rvm_function *f, bool is_array, uint16_t index, uint32_t pc);
/* Text of a value as raw mnemonics write it: an i64 as a whole number, an f64 with a point or an exponent, else TYPE:NUMBER
 * or TYPE:0xBITS; reads back as the same bits. snprintf's convention. */
int rvm__value_text(rvm_type t, rvm_value v, char *text, size_t size);
/* Text of a place at pc with source names where known ("x[i]", "%3"); snprintf's convention. */
int rvm__place_text(const rvm_function *f, const rvm_place *p, uint32_t pc, char *text, size_t size);

/* ---- memory and errors (any folder) ---- */
extern const rvm_allocator rvm__libc_allocator;
void *rvm__realloc(const rvm_allocator *al, void *p, size_t old_size, size_t new_size); /* NULL when size 0 or failing */
/* Make room for `need` elements; false when out of memory (the array is unchanged). */
bool rvm__grow(const rvm_allocator *al, void **p, uint32_t *cap, uint32_t need, size_t element_size);
/* The same for two arrays that share a capacity. */
bool rvm__grow_two(const rvm_allocator *al, void **a, size_t a_size, void **b, size_t b_size, uint32_t *cap, uint32_t need);
char *rvm__strdup(const rvm_allocator *al, const char *s, size_t length);
void rvm__strfree(const rvm_allocator *al, char *s);
/* Fill *err (may be NULL) and return the code. Position 0 where there is none. */
rvm_status rvm__fail(rvm_error *err, rvm_status code, const char *file, uint32_t line, uint32_t column, const char *format,
                     ...) __attribute__((format(printf, 6, 7)));
/* The same with the position of instruction pc of function fn. */
rvm_status rvm__fail_at(rvm_error *err, rvm_status code, const rvm_program *p, uint32_t fn, uint32_t pc, const char *format,
                        ...) __attribute__((format(printf, 6, 7)));

/* ---- builder: all return an index, or -1 when out of memory or past a limit of the format ----
 * Names of functions, parameters and symbols are words ([A-Za-z_][A-Za-z0-9_']*), functions' without repetition: -1 else.
 * A file added twice is one file. */
rvm_program *rvm__program_new(const rvm_allocator *al);
bool rvm__is_word(const char *name, size_t length);
int64_t rvm__program_find(const rvm_program *p, const char *name, size_t length); /* function or -1 */
int64_t rvm__program_add_file(rvm_program *p, const char *name);
int64_t rvm__program_add_function(rvm_program *p, const char *name, size_t length);
int64_t rvm__function_add_register(const rvm_program *p, rvm_function *f, rvm_type t);
/* Constants number from 0 here and become slot nregs + k: while building, refer to constant k as RVM_BUILD_CONST + k in
 * places and params, and call rvm__function_finish once all registers are known. Equal constants share one. */
enum { RVM_BUILD_CONST = 1 << 15 };
int64_t rvm__function_add_const(const rvm_program *p, rvm_function *f, rvm_type t, rvm_value v);
int64_t rvm__function_add_array(const rvm_program *p, rvm_function *f, rvm_type t, int ndim);
int64_t rvm__function_add_param(const rvm_program *p, rvm_function *f, const rvm_param *param, const char *name,
                                size_t length);
int64_t rvm__function_add_symbol(const rvm_program *p, rvm_function *f, const rvm_symbol *s, const char *name,
                                 size_t length);
/* Appends an instruction and a copy of its places; returns its pc. */
int64_t rvm__function_emit(const rvm_program *p, rvm_function *f, rvm_op op, rvm_row row, uint8_t flags, uint32_t target,
                           const rvm_place *places, uint32_t nplaces, rvm_position at);
void rvm__function_finish(rvm_function *f); /* once; also sorts the symbols by rvm__symbol_compare */
int rvm__symbol_compare(const void *a, const void *b);

/* ---- encoding ---- */
rvm_status rvm__encode(const rvm_program *p, void **bytes, size_t *size, rvm_error *err);
rvm_status rvm__decode(const void *bytes, size_t size, const char *name, const rvm_allocator *al, rvm_program **out,
                       rvm_error *err);

/* ---- verifier ----
 * Proves: operand kinds, types and slots; pairing of jumps, loops and regions; calls with the right arguments; every place
 * present where used and absent where it appears, alike on all ways to an instruction, and all locals absent at both ends;
 * read-only lengths and loop bounds; static aliasing; regions whose `do` leaves alone what compute used. Fills target, facts
 * and roles, and sets p->verified. Nothing unverified runs. */
rvm_status rvm__verify(rvm_program *p, rvm_error *err);

#endif
